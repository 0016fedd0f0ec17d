//! Creation of records that are written in whole transactions, outside of runs.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{RecordError, RecordErrorKind, RowError, cannot_create, sql_cause};
use crate::v1;

/// The longest wait of a transaction for a reader of the record.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Creates a record of a version, which must not exist, and fills it in its first transaction; a
/// file that cannot be filled is removed. Returns its absolute path.
pub(crate) fn create(
    path: &Path,
    version: i64,
    fill: impl FnOnce(&Connection) -> Result<(), RowError>,
) -> Result<(PathBuf, Connection), RecordError> {
    let path = std::path::absolute(path).map_err(|error| cannot_create(path, error))?;
    let created = OpenOptions::new().write(true).create_new(true).open(&path);
    created.map_err(|error| cannot_create(&path, error))?;
    let begun = connect(&path).and_then(|connection| {
        connection.execute_batch("begin immediate")?;
        connection.pragma_update(None, "application_id", v1::APPLICATION)?;
        connection.pragma_update(None, "user_version", version)?;
        fill(&connection)?;
        connection.execute_batch("commit")?;
        Ok(connection)
    });
    match begun {
        Ok(connection) => Ok((path, connection)),
        Err(failure) => {
            // The file was created above; a failure to remove it adds nothing to the error.
            let _ = fs::remove_file(&path);
            let error = RecordError::new(&path, RecordErrorKind::CannotCreate);
            Err(match failure {
                RowError::Sql(cause) => error.because(sql_cause(cause)),
                RowError::Content(what) => error.because(what),
            })
        }
    }
}

/// Connects to a record for writing. A transaction is on the disk when it has ended.
pub(crate) fn connect(path: &Path) -> Result<Connection, RowError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "page_size", 8_192)?;
    Ok(connection)
}

/// Attaches a record under a name.
pub(crate) fn attach(to: &Connection, record: &Path, name: &str) -> Result<(), RowError> {
    let record = std::path::absolute(record).unwrap_or_else(|_| record.to_owned());
    let record = record.to_str().ok_or_else(|| RowError::content("its path is not UTF-8"))?;
    to.execute(&format!("attach database ?1 as {name}"), [record])?;
    Ok(())
}
