//! Orders to the thread of a connection, and its answers.

use rusqlite::InterruptHandle;

use crate::mailbox::Mailbox;
use crate::{Error, Table, Work};

/// The mailbox that a task shares with the thread of its connection.
pub(super) type ConnectionMailbox = Mailbox<Order, Answer>;

/// An order to the thread.
pub(super) enum Order {
    /// Carry out a request. The work travels with its memory, there and back.
    Run(Work),
    /// Prepare a statement.
    Prepare(Box<str>),
    /// Run a text and return its result.
    Query(Box<str>),
    /// Read the settings.
    Settings,
}

/// The thread's answer to an order. The first answer, without an order, is `Opened`.
pub(super) enum Answer {
    /// The handle that interrupts the statements of the opened database.
    Opened(Result<InterruptHandle, Error>),
    /// The work with its reply, and the outcome.
    Ran(Work, Result<(), Error>),
    /// The number of placeholders.
    Prepared(Result<usize, Error>),
    /// The rows.
    Table(Result<Table, Error>),
    /// Names and values.
    Settings(Vec<(String, String)>),
}
