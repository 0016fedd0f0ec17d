//! The options of one run that are not part of its plan.

use std::path::PathBuf;

use base::WallTime;
use rt::Processors;

use crate::prepare::Prepare;
use crate::rules::Rules;

/// Examples of the statements of a job or part that uses the main target, one for each statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobExamples {
    /// The name of the job or part.
    pub subject: String,
    /// The statements with their values as literals, except the values of secret parameters.
    pub statements: Vec<String>,
}

/// The options of one run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of lanes of the measured phase.
    pub threads: u16,
    /// The processors to which the lanes' threads are bound in turn; empty leaves them unbound.
    pub cpus: Vec<usize>,
    /// True if the lanes' threads never sleep, but spin while they wait.
    pub spin: bool,
    /// True if time is simulated.
    pub is_virtual: bool,
    /// The preparation of the data.
    pub prepare: Prepare,
    /// True if the listener gets excerpts of the loaded tables and results of the examples.
    pub shows_tables: bool,
    /// The examples of statements whose results the listener gets, if `shows_tables` is true and
    /// the run fills the tables of the examples.
    pub examples: Vec<JobExamples>,
    /// True if `[teardown]` runs at the end.
    pub teardown: bool,
    /// The files that the workload file names.
    pub files: confine::Files,
    /// The run's wall-clock start, the origin of the values of `timestamp()`.
    pub started: WallTime,
    /// The rules of measurement: [`Rules::STANDARD`], except where the self-test or another test
    /// plants a fault.
    pub rules: Rules,
}

impl Options {
    /// Returns options for one lane in virtual time and a workload without files.
    pub fn simulated() -> Options {
        Options { is_virtual: true, ..Options::in_real_time() }
    }

    /// Returns options for one lane on an unbound thread and a workload without files.
    pub fn in_real_time() -> Options {
        Options {
            threads: 1,
            cpus: Vec::new(),
            spin: false,
            is_virtual: false,
            prepare: Prepare::Fresh,
            shows_tables: true,
            examples: Vec::new(),
            teardown: true,
            files: PathBuf::new().into(),
            started: WallTime::EPOCH,
            rules: Rules::STANDARD,
        }
    }

    /// Returns the processors for the threads that observe, read files or write files during a run:
    /// those to which no lane is bound, or all processors if a lane is bound to each of them.
    ///
    /// The threads are bound because an unbound thread would move to the processor of a lane when
    /// the database keeps the other processors busy.
    pub fn unbound_processors(&self) -> Processors {
        let lanes = usize::from(self.threads.max(1));
        let of_lanes = Processors::of(&self.cpus[..self.cpus.len().min(lanes)]);
        Processors::of_this_thread().without(of_lanes)
    }
}
