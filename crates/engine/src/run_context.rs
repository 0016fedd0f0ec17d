//! The context that all lanes and phases of one run share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use archive::FileHealth;
use base::{ById, WallTime};
use workload::{JobId, Plan};

use crate::events::Listener;
use crate::feed::InputFiles;
use crate::options::JobExamples;
use crate::parts::Parts;
use crate::rules::Rules;
use crate::stop::Stop;
use crate::targets::Drivers;

/// The context of one run. Clones share its contents.
#[derive(Clone)]
pub(crate) struct RunContext<D> {
    pub(crate) plan: Arc<Plan>,
    pub(crate) drivers: Drivers<D>,
    /// The parts of each job, with their statements.
    pub(crate) parts: Arc<ById<JobId, Arc<Parts>>>,
    /// The run's wall-clock start, the origin of the values of `timestamp()`.
    pub(crate) started: WallTime,
    /// The files from which jobs take their input.
    pub(crate) feeds: InputFiles,
    /// The rules of measurement.
    pub(crate) rules: Rules,
    /// True if the listener gets excerpts of the loaded tables and results of the examples.
    pub(crate) shows_tables: bool,
    /// The examples of statements whose results the listener gets, if `shows_tables` is true and
    /// the run fills the tables of the examples.
    pub(crate) examples: Arc<[JobExamples]>,
    pub(crate) stop: Stop,
    pub(crate) listener: Arc<dyn Listener>,
    /// Health of the results files.
    pub(crate) files: FileHealth,
    /// True if the server's statistics were read before the lanes began, and are to be read again.
    pub(crate) has_server_stats: Arc<AtomicBool>,
}
