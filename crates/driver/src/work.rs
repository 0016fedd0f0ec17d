//! One request, as passed to a driver.

use base::{Class, Code, Nanos, Rows, Stamp, Values};
use record::StatementSet;

use crate::Error;

/// A prepared statement, by its number on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PreparedId(pub u16);

impl PreparedId {
    /// Returns the index among the statements of the connection.
    #[inline]
    pub fn index(self) -> usize {
        self.0.into()
    }

    /// Returns the id of a statement that is prepared after `before` others on the same connection.
    ///
    /// # Errors
    /// The connection has used up all ids.
    pub(crate) fn nth(before: usize) -> Result<PreparedId, Error> {
        u16::try_from(before).map(PreparedId).map_err(|_| {
            Error::new(
                Class::Statement,
                Code::new("too-many-statements"),
                "a connection can hold at most 65,536 prepared statements",
            )
        })
    }
}

/// The steps of a request with their values, and the reply. One per client, reused for each
/// request.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The values of all steps.
    pub values: Values,
    /// True if steps are sent without waiting for the answers to earlier ones. Allowed only within
    /// a transaction; a database without pipelining runs the steps one after the other.
    pub is_pipelined: bool,
    /// The outcome.
    pub reply: Reply,
    /// The rows that the statements returned, if they [are wanted](Rows::is_wanted): the rows of
    /// each statement that was answered without an error, in order. The caller has emptied this
    /// buffer.
    pub capture: Rows,
}

/// A step of a request: a statement, or the beginning or the commit of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begins a transaction.
    Begin,
    /// Runs a prepared statement.
    Execute {
        /// The statement.
        statement: PreparedId,
        /// Index of its first value in [`Work::values`].
        first: u32,
        /// Number of values that the statement takes.
        count: u32,
    },
    /// Runs a text without preparing it, because the text may differ from request to request.
    ExecuteText {
        /// Index of the text in [`Work::values`].
        text: u32,
    },
    /// Commits the transaction.
    Commit,
}

/// The outcome of a request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Time at which the first byte was sent; `None` if nothing was sent.
    pub sent: Option<Stamp>,
    /// Time at which the last byte of the last answer was read.
    pub done: Stamp,
    /// Service time of each statement that was answered without an error, in order, without `Begin`
    /// and `Commit`. If the statements were pipelined, each time begins when the steps of this
    /// `Work` (a whole transaction, or a part of one) are sent.
    pub statements: Vec<Nanos>,
    /// The statements of `statements` that returned or changed a row.
    pub with_rows: StatementSet,
    /// Number of rows returned or affected.
    pub rows: u64,
    /// Number of bytes sent.
    pub bytes_sent: u64,
    /// Number of bytes received.
    pub bytes_received: u64,
    /// Number of times that a statement waited for another connection's lock. Only SQLite's driver
    /// counts these waits.
    pub busy_waits: u32,
}

impl Reply {
    /// Resets the reply for the next request and keeps its memory.
    pub fn reset(&mut self) {
        let Reply {
            sent,
            done,
            statements,
            with_rows,
            rows,
            bytes_sent,
            bytes_received,
            busy_waits,
        } = self;
        *sent = None;
        *done = Stamp::ZERO;
        statements.clear();
        *with_rows = StatementSet::default();
        (*rows, *bytes_sent, *bytes_received, *busy_waits) = (0, 0, 0, 0);
    }

    /// Adds a statement that was answered without an error: its service time, and the number of
    /// rows that it returned or affected.
    #[inline]
    pub fn add_statement(&mut self, service: Nanos, rows: u64) {
        self.with_rows.insert_if(self.statements.len(), rows > 0);
        self.statements.push(service);
        self.rows = self.rows.saturating_add(rows);
    }
}
