//! Progress events of a run, for displays and records. A listener cannot change the run.

use base::{Nanos, Stamp};
use driver::{Count, Error};
use record::Excerpt;

use crate::error::RunFailure;

/// A progress event of a run.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// Version and settings of a target's server, or further facts about the server. May be sent
    /// several times for a target.
    Settings {
        /// The name of the target; `None` is the main one.
        target: Option<&'a str>,
        /// Names and values of the settings or facts.
        settings: Vec<(String, String)>,
    },
    /// The server's own statistics until now, or the reason why they cannot be read. Sent before
    /// and after the measured phase.
    ServerStatistics(&'a Result<Vec<Count>, String>),
    /// A statement of `[setup]` is about to run.
    Setup {
        /// The number of statements that have already run. Statements that create indexes on a
        /// table with `indexes = after` run last, after the loads.
        done: usize,
        /// The number of all statements.
        of: usize,
    },
    /// Every statement of `[setup]` before the loads has run; from now on, `[teardown]` may undo
    /// the setup.
    SetupDone,
    /// A load takes long. All its writers have connections or were refused. Sent at most once for a
    /// load.
    LongLoad {
        /// The table's name.
        table: &'a str,
        /// Beginning of the load, on the run's clock.
        began: Stamp,
        /// Time since the beginning.
        elapsed: Nanos,
    },
    /// Rows of a table were committed, or its load ended.
    Loading {
        /// The table's name.
        table: &'a str,
        /// The number of rows so far.
        rows: u64,
        /// The number of all rows.
        of: u64,
        /// Bytes in which the committed rows were sent.
        bytes: u64,
        /// Time from the beginning of the load to the latest commit.
        elapsed: Nanos,
    },
    /// Rows of a table were written with `insert`, because the server does not allow the faster
    /// method.
    LoadFallback {
        /// The table's name.
        table: &'a str,
        /// The server's reason, with a remedy.
        why: &'a Error,
    },
    /// A load ended. Also sent if no [`RunEvent::LongLoad`] was sent for this load.
    LoadEnded,
    /// The rows of a table are about to be counted, in place of a load.
    Counting {
        /// The table's name.
        table: &'a str,
    },
    /// A pipe is about to be opened. Opening blocks until the pipe has a writer.
    AwaitingWriter {
        /// The file as the job names it.
        file: &'a str,
    },
    /// The pipe has a writer, or cannot be opened.
    WriterConnected {
        /// The file as the job names it.
        file: &'a str,
    },
    /// The columns, indexes or first rows of a table, the reason why they are not known, or results
    /// of the examples of a job or part.
    Excerpt(Excerpt),
    /// The connections of the jobs are being opened.
    Opening,
    /// All lanes are ready, and time zero is set.
    TimeZero {
        /// Time zero, at which the jobs start, on the run's clock.
        zero: Stamp,
        /// Time from now until time zero.
        time_left: Nanos,
    },
    /// The measured phase is over.
    Ended,
    /// A statement of `[teardown]` is about to run.
    Teardown {
        /// The number of statements that ran before.
        done: usize,
        /// The number of all statements.
        of: usize,
    },
    /// A statement of `[teardown]` failed, and the other statements still run; or the teardown got
    /// no connection, and [`RunEvent::TeardownSkipped`] follows.
    TeardownFailed(RunFailure),
    /// The last statements of `[teardown]` are not run, because the database does not answer or
    /// accepts no connection.
    TeardownSkipped {
        /// The number of statements before the skipped ones.
        from: usize,
        /// The number of all statements.
        of: usize,
    },
}

/// A receiver of the progress events of a run.
pub trait Listener: Send + Sync {
    /// Handles an event. Called from any thread of the run, and never on the measured path.
    fn on_event(&self, event: &RunEvent<'_>);
}

/// A listener that ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct NoListener;

impl Listener for NoListener {
    fn on_event(&self, _event: &RunEvent<'_>) {}
}
