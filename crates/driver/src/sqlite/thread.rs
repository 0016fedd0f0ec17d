//! The thread of one connection: opens the database, then executes commands until its caller has
//! gone.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use super::busy_timeout;
use super::confined;
use super::counters::ConnectionCounts;
use super::faults::fault_at_connect;
use super::messages::{ConnectionMailbox, Response};
use super::options::{Options, Setting};
use super::session::{Session, pragma};
use crate::Error;

/// Runs the thread until its caller has gone.
pub(super) fn run_thread(
    path: &Path,
    options: &Options,
    mailbox: &Arc<ConnectionMailbox>,
    counted: ConnectionCounts,
) {
    // Declared first and so dropped last: the caller learns of the end only when the database is
    // closed.
    let _exit_guard = ExitGuard(mailbox);
    if let Err(error) = serve(path, options, mailbox, counted) {
        mailbox.answer(Response::Opened(Err(error)));
    }
}

/// Opens the database and executes commands; the only errors are errors of opening.
fn serve(
    path: &Path,
    options: &Options,
    mailbox: &Arc<ConnectionMailbox>,
    counted: ConnectionCounts,
) -> Result<(), Error> {
    let mut connection = open(path, Creation::Refused)?;
    let waits = busy_timeout::install(&mut connection, options.busy_timeout, mailbox)
        .map_err(|error| fault_at_connect(path, error))?;
    configure(&connection, path, options)?;
    if options.is_confined {
        confined::install(&mut connection).map_err(|error| fault_at_connect(path, error))?;
    }
    let mut session = Session::new(&connection, path, mailbox, waits, counted)?;
    mailbox.answer(Response::Opened(Ok(connection.get_interrupt_handle())));
    while let Some(command) = mailbox.next_command() {
        mailbox.answer(session.execute(command));
    }
    Ok(())
}

/// A guard that reports the end of the thread to the caller, even after a panic.
struct ExitGuard<'a>(&'a ConnectionMailbox);

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        self.0.thread_exited();
    }
}

/// Checks that there is a database at `path` whose connections can have these options.
pub(super) fn check_options(
    path: &Path,
    creation: Creation,
    options: &Options,
) -> Result<(), Error> {
    configure(&open(path, creation)?, path, options)
}

/// Treatment of a missing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Creation {
    /// The file is created.
    Allowed,
    /// A missing file is an error: it existed before and has been removed.
    Refused,
}

fn open(path: &Path, creation: Creation) -> Result<Connection, Error> {
    // Each connection is used by its own thread alone, so SQLite needs no mutex for it.
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if creation == Creation::Allowed {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    Connection::open_with_flags(path, flags).map_err(|error| fault_at_connect(path, error))
}

/// Sets the options and verifies that they took effect.
fn configure(connection: &Connection, path: &Path, options: &Options) -> Result<(), Error> {
    let failed = |error| fault_at_connect(path, error);
    // The first access to the file shows whether the file is a database.
    pragma(connection, "schema_version").map_err(failed)?;
    for Setting { option, pragma: name, value } in options.settings() {
        if pragma(connection, name).map_err(failed)? == value {
            continue;
        }
        connection.execute_batch(&format!("pragma {name} = {value}")).map_err(failed)?;
        let granted = pragma(connection, name).map_err(failed)?;
        if granted != value {
            return Err(Error::url(format!(
                "`{value}` of the option `{option}` is not granted for `{}`, where SQLite \
                 keeps `{granted}`; write that or leave the option out",
                path.display()
            )));
        }
    }
    Ok(())
}
