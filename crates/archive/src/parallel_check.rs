//! Reading of a record while another thread checks it.
//!
//! The checks of a long record take a third of the time of its reading, and concern the whole file.
//! The content is used only if the checks pass. If the rows of `interval` were read for all
//! accounts, their sums are compared with the sums in the seal, and the rows are not read again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;

use crate::error::{RecordError, RecordErrorKind, RowError};
use crate::open::{TABLES, check_pages, connect_again, open};
use crate::reader::Archive;
use crate::v1::{self, Seal};

/// Number of operations of SQLite's virtual machine after which a statement tests whether damage
/// has been found, and ends if so.
const OPERATIONS: i32 = 10_000;

/// Opens the record of a single run, or one run in the record of an experiment, and reads it with
/// `read` while another thread makes the checks of [`Archive::open`], with the same errors.
///
/// `read` may meet damage that [`Archive::open`] would have refused. Its result is then dropped.
/// Its statements fail as soon as the damage is known, because pages that refer to each other could
/// be read forever. After any error the record is checked once more and then read again: the
/// returned error does not depend on the timing of the threads, and a record that was written in
/// the meantime does not count as damaged.
///
/// # Errors
/// As for [`Archive::open`] and [`Archive::open_run`], and the error of `read` for an intact
/// record.
pub fn open_and_read<T>(
    path: &Path,
    run: Option<u32>,
    read: impl Fn(&Archive) -> Result<T, RecordError>,
) -> Result<(Archive, T), RecordError> {
    read_while_checking(path, run, &read).or_else(|_| {
        let archive = Archive::open_checked(path, run)?;
        let content = read(&archive)?;
        Ok((archive, content))
    })
}

fn read_while_checking<T>(
    path: &Path,
    run: Option<u32>,
    read: impl Fn(&Archive) -> Result<T, RecordError>,
) -> Result<(Archive, T), RecordError> {
    let mut opened = open(path, run)?;
    let is_damaged = Arc::new(AtomicBool::new(false));
    let failure = |failure: RowError| failure.into_read_error(path, TABLES);
    interrupt_when_damaged(&mut opened.connection, &is_damaged).map_err(failure)?;
    let database = opened.connection.path().map_or(path, Path::new).to_owned();
    let check = || {
        let checked = check(&database, run);
        is_damaged.store(checked.is_err(), Ordering::Relaxed);
        checked.map_err(failure)
    };
    let (archive, content, seal) = thread::scope(|scope| {
        let begun = thread::Builder::new().name("check".to_owned()).spawn_scoped(scope, check);
        let thread = begun.map_err(|cause| {
            RecordError::new(path, RecordErrorKind::CannotRead).with_cause(cause)
        })?;
        let archive = Archive::read_unchecked(path, opened);
        let read = archive.and_then(|archive| Ok((read(&archive)?, archive)));
        let checked = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (content, archive) = read?;
        Ok((archive, content, checked?))
    })?;
    // If the run has ended since it was read, its seal counts more rows than were read.
    if let Some(seal) = seal.filter(|_| archive.end().is_some()) {
        archive.check_sums(seal)?;
    }
    Ok((archive, content))
}

/// Makes statements fail once the record is known to be damaged.
fn interrupt_when_damaged(
    connection: &mut Connection,
    is_damaged: &Arc<AtomicBool>,
) -> Result<(), RowError> {
    let is_damaged = Arc::clone(is_damaged);
    let handler = move || is_damaged.load(Ordering::Relaxed);
    Ok(connection.progress_handler(OPERATIONS, Some(handler))?)
}

/// Checks the pages of a record, counts the rows of its tables, and returns the seal with these
/// numbers; `None` if the run has not ended or was killed.
fn check(database: &Path, run: Option<u32>) -> Result<Option<Seal>, RowError> {
    let connection = connect_again(database, run)?;
    check_pages(&connection)?;
    match v1::read_end(&connection)? {
        Some(_) => Seal::read(&connection).map(Some),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::open::tests::killed;
    use crate::support::TestFolder;

    #[test]
    fn intact_record_is_read_again_after_a_fault() {
        let place = TestFolder::new("read-again");
        let path = killed(&place);
        let calls = Cell::new(0);
        let read = |archive: &Archive| {
            calls.set(calls.get() + 1);
            match calls.get() {
                1 => Err(RecordError::new(&path, RecordErrorKind::CannotRead)),
                _ => Ok(archive.end().is_none()),
            }
        };
        let (_, is_killed) = open_and_read(&path, None, read).unwrap();
        assert!(is_killed && calls.get() == 2);
    }
}
