//! What a run says of itself while it goes, for displays and records. Nothing that a listener does
//! changes the run.

use base::{Nanos, Stamp};
use driver::{Count, Error};

use crate::error::Failed;

/// Something to be shown or noted.
#[derive(Debug)]
pub enum News<'a> {
    /// What kind of server it is and how it is set.
    Settings {
        /// The name of the target; `None` is the main one.
        target: Option<&'a str>,
        /// Names and values.
        settings: Vec<(String, String)>,
    },
    /// The server's own account of what it did until now, before or behind the measured phase; or
    /// why it cannot be had.
    Account(&'a Result<Vec<Count>, String>),
    /// A statement of `[setup]` is about to run.
    Setup {
        /// How many ran before.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// A table is being filled for a while: all writers have connections, or will not get one.
    LoadLasts {
        /// The table.
        table: &'a str,
        /// When that began, on the run's clock.
        began: Stamp,
        /// How long ago that is.
        elapsed: Nanos,
    },
    /// Rows of a table were committed.
    Loading {
        /// The table.
        table: &'a str,
        /// How many rows so far.
        rows: u64,
        /// How many there will be.
        of: u64,
        /// Bytes of values sent so far.
        bytes: u64,
        /// How long it has taken so far.
        elapsed: Nanos,
    },
    /// Rows of a table were inserted because the server does not allow the faster method.
    LoadFellBack {
        /// The table.
        table: &'a str,
        /// The server's words with the remedy.
        why: &'a Error,
    },
    /// No more rows are written into a table, whether it lasted or not.
    LoadEnds,
    /// The rows of a table are about to be counted, in place of a load.
    Counting {
        /// The table.
        table: &'a str,
    },
    /// A pipe is about to be opened, which takes until somebody writes into it.
    AwaitingWriter {
        /// The file as the job names it.
        file: &'a str,
    },
    /// Somebody writes into the pipe, or it cannot be opened.
    WriterCame {
        /// The file as the job names it.
        file: &'a str,
    },
    /// The connections of the jobs are being opened.
    Opening,
    /// Everything is ready.
    TimeZero {
        /// The jobs start at this instant of the run's clock.
        zero: Stamp,
        /// How far ahead that is.
        ahead: Nanos,
    },
    /// The measurement is over.
    Ended,
    /// A statement of `[teardown]` is about to run.
    Teardown {
        /// How many ran before.
        done: usize,
        /// How many there are.
        of: usize,
    },
    /// A statement of `[teardown]` failed; the others run all the same.
    TeardownFailed(Failed),
    /// The last statements of `[teardown]` are not run: the database does not answer.
    TeardownLeft {
        /// The number of statements before them.
        from: usize,
        /// How many there are.
        of: usize,
    },
}

/// Somebody who wants to know.
pub trait Listener: Send + Sync {
    /// Takes notice. Called from any thread of the run, and never on the measured path.
    fn hear(&self, news: &News<'_>);
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Silence;

impl Listener for Silence {
    fn hear(&self, _news: &News<'_>) {}
}
