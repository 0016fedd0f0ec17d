//! Commands to the thread of a connection, and its answers.

use rusqlite::InterruptHandle;

use crate::mailbox::Mailbox;
use crate::{Error, Table, Work};

/// The mailbox that a task shares with the thread of its connection.
pub(super) type ConnectionMailbox = Mailbox<Command, Response>;

/// A command to the thread.
#[expect(clippy::large_enum_variant, reason = "there is one per connection")]
pub(super) enum Command {
    /// Run a request. The work is moved to the thread and back, with its memory.
    Run(Work),
    /// Prepare a statement.
    Prepare(Box<str>),
    /// Run a text and return its result.
    Query(Box<str>),
    /// Read the settings.
    Settings,
}

/// The thread's answer to a command. The first answer, without a command, is `Opened`.
pub(super) enum Response {
    /// The handle that interrupts the statements of the opened database.
    Opened(Result<InterruptHandle, Error>),
    /// The work with its reply, and the outcome.
    Finished(Work, Result<(), Error>),
    /// The number of placeholders.
    Prepared(Result<usize, Error>),
    /// The rows.
    Table(Result<Table, Error>),
    /// Names and values.
    Settings(Vec<(String, String)>),
}
