//! The thread of one connection: opens the database, then carries out orders until its caller has
//! gone.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};

use super::confined;
use super::counters::Counted;
use super::faults::fault_at_connect;
use super::mail::{Answer, ConnectionMailbox};
use super::options::{Options, Setting};
use super::patience;
use super::session::{Session, pragma};
use crate::Error;

/// Runs the thread until its caller has gone.
pub(super) fn live(
    path: &Path,
    options: &Options,
    mail: &Arc<ConnectionMailbox>,
    counted: Counted,
) {
    // Declared first and so dropped last: the caller learns of the end only when the database is
    // closed.
    let _end = End(mail);
    if let Err(error) = serve(path, options, mail, counted) {
        mail.answer(Answer::Opened(Err(error)));
    }
}

/// Opens the database and carries out orders; the only errors are those of opening.
fn serve(
    path: &Path,
    options: &Options,
    mail: &Arc<ConnectionMailbox>,
    counted: Counted,
) -> Result<(), Error> {
    let mut connection = open(path, Creation::Refused)?;
    let waits = patience::install(&mut connection, options.busy_timeout, mail)
        .map_err(|error| fault_at_connect(path, error))?;
    configure(&connection, path, options)?;
    if options.is_confined {
        confined::install(&mut connection).map_err(|error| fault_at_connect(path, error))?;
    }
    let mut session = Session::new(&connection, path, mail, waits, counted)?;
    mail.answer(Answer::Opened(Ok(connection.get_interrupt_handle())));
    while let Some(order) = mail.next_order() {
        mail.answer(session.carry_out(order));
    }
    Ok(())
}

/// A guard that reports the end of the thread to the caller, even after a panic.
struct End<'a>(&'a ConnectionMailbox);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.thread_has_gone();
    }
}

/// Checks that there is a database at `path` whose connections can have these options.
pub(super) fn try_out(path: &Path, creation: Creation, options: &Options) -> Result<(), Error> {
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
    // The first access to the file detects one that is not a database.
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
