//! Reading of a record while another thread checks it.
//!
//! The checks of a long record take as long as a third of its reading, and concern the whole file.
//! Whatever is read meanwhile counts only if they pass. The sums of its seal are compared with
//! those of the rows that were read, so no row is read for them alone.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::error::{RecordError, RecordErrorKind, RowError};
use crate::open::{TABLES, check_pages, connect_again, open};
use crate::reader::Archive;
use crate::v1::{self, Seal};

/// Number of SQLite's operations between two looks at the result of the checks.
const OPERATIONS: i32 = 10_000;

/// Opens a record, or one run in the record of an experiment, and reads it with `read` while
/// another thread checks it. The checks are those of [`Archive::open`], with the same errors.
///
/// `read` may meet damage that [`Archive::open`] would have refused. Its result is then dropped,
/// and its statements fail once the damage is known: pages that refer to each other have no end.
///
/// # Errors
/// As [`Archive::open`] and [`Archive::open_run`], and the error of `read` for an intact record.
pub fn open_and_read<T>(
    path: &Path,
    run: Option<u32>,
    read: impl FnOnce(&Archive) -> Result<T, RecordError>,
) -> Result<(Archive, T), RecordError> {
    read_beside(path, run, read).or_else(|fault| {
        // Which of several faults is found first must not depend on the threads.
        Archive::open_checked(path, run)?;
        Err(fault)
    })
}

fn read_beside<T>(
    path: &Path,
    run: Option<u32>,
    read: impl FnOnce(&Archive) -> Result<T, RecordError>,
) -> Result<(Archive, T), RecordError> {
    let mut archive = Archive::unchecked(path, open(path, run)?)?;
    let is_damaged = Arc::new(AtomicBool::new(false));
    archive.stop_when(&is_damaged, OPERATIONS)?;
    let database = archive.database().to_owned();
    let check = || {
        let checked = check(&database, run);
        is_damaged.store(checked.is_err(), Ordering::Relaxed);
        checked.map_err(|failure| failure.into_read_error(path, TABLES))
    };
    let (read, seal) = thread::scope(|scope| {
        let begun = thread::Builder::new().name("check".to_owned()).spawn_scoped(scope, check);
        let thread = begun
            .map_err(|cause| RecordError::new(path, RecordErrorKind::CannotRead).because(cause))?;
        let read = read(&archive);
        let checked = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((read, checked?))
    })?;
    if let Some(seal) = seal {
        archive.check_sums(seal)?;
    }
    Ok((archive, read?))
}

/// Checks the pages of a record and the number of rows in each table, and returns the seal. The
/// record of a killed run has none.
fn check(database: &Path, run: Option<u32>) -> Result<Option<Seal>, RowError> {
    let connection = connect_again(database, run)?;
    check_pages(&connection)?;
    match v1::read_end(&connection)? {
        Some(_) => Seal::read(&connection).map(Some),
        None => Ok(None),
    }
}
