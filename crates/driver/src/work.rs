//! One request as a driver sees it.

use base::{Class, Code, Nanos, Rows, Stamp, Values};

use crate::Error;

/// A prepared statement of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatementId(pub u16);

impl StatementId {
    /// The id of the statement that is prepared when `before` others are.
    ///
    /// # Errors
    /// The connection has as many statements as there are ids.
    pub(crate) fn nth(before: usize) -> Result<StatementId, Error> {
        u16::try_from(before).map(StatementId).map_err(|_| {
            Error::new(
                Class::Statement,
                Code::new("too-many-statements"),
                "a connection can hold at most 65,536 prepared statements",
            )
        })
    }
}

/// The steps of a request with their values, and the answer. One per client, used again and again.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// What is to be done, in order.
    pub steps: Vec<Step>,
    /// The values of all steps.
    pub values: Values,
    /// Whether steps are sent without waiting for the answers of those before. Only the steps of a
    /// transaction may be; a database without such a way takes them one after the other.
    pub is_pipelined: bool,
    /// What came of it.
    pub reply: Reply,
    /// The rows that the statements returned, if they [are wanted](Rows::is_wanted): those of each
    /// statement that was answered without an error, in order. The caller has emptied it.
    pub capture: Rows,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begins a transaction.
    Begin,
    /// Runs a prepared statement.
    Execute {
        /// The statement.
        statement: StatementId,
        /// The place of its first value in [`Work::values`].
        first: u32,
        /// How many values it takes.
        count: u32,
    },
    /// Runs a text that is not prepared, as it may differ from request to request.
    ExecuteText {
        /// The place of the text in [`Work::values`].
        text: u32,
    },
    /// Commits the transaction.
    Commit,
}

/// What came of a request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// S: when the first byte was sent; `None` if nothing was.
    pub sent: Option<Stamp>,
    /// D: when the last byte of the last answer was read.
    pub done: Stamp,
    /// The service time of each statement that was answered without an error, in order, without
    /// `Begin` and `Commit`.
    pub statements: Vec<Nanos>,
    /// Rows returned or affected.
    pub rows: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Times that a write waited for another's lock.
    pub busy_waits: u32,
}

impl Reply {
    /// Makes ready for the next request and keeps the memory.
    pub fn reset(&mut self) {
        let Reply { sent, done, statements, rows, bytes_sent, bytes_received, busy_waits } = self;
        *sent = None;
        *done = Stamp::ZERO;
        statements.clear();
        (*rows, *bytes_sent, *bytes_received, *busy_waits) = (0, 0, 0, 0);
    }
}
