//! Creation of records, and connections that write them in whole transactions, outside of runs.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::percent_encoded;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{RecordError, RecordErrorKind, RowError, cannot_create, sql_cause};
use crate::v1;

/// The longest wait of a transaction for a reader of the record.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Creates a record of a format version at a path where no file exists, and fills it in its first
/// transaction; a file that cannot be filled is removed.
pub(crate) fn create(
    path: &Path,
    version: i64,
    fill: impl FnOnce(&Connection) -> Result<(), RowError>,
) -> Result<Connection, RecordError> {
    create_file(path)?;
    let begun = connect(path).and_then(|connection| {
        connection.execute_batch("begin immediate")?;
        connection.pragma_update(None, "application_id", v1::APPLICATION)?;
        connection.pragma_update(None, "user_version", version)?;
        fill(&connection)?;
        connection.execute_batch("commit")?;
        Ok(connection)
    });
    begun.map_err(|failure| remove_unfilled(path, failure))
}

/// Creates the empty file of a record, which must not exist.
pub(crate) fn create_file(path: &Path) -> Result<(), RecordError> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    created.map(drop).map_err(|error| cannot_create(path, error))
}

/// Removes the file of a record that could not be filled, and returns the error.
pub(crate) fn remove_unfilled(path: &Path, failure: RowError) -> RecordError {
    // The file has just been created; a failure to remove it adds nothing to the error.
    let _ = fs::remove_file(path);
    let error = RecordError::new(path, RecordErrorKind::CannotCreate);
    match failure {
        RowError::Sql(cause) => error.with_cause(sql_cause(cause)),
        RowError::Content(what) => error.with_cause(what),
    }
}

/// Opens the database at a path.
pub(crate) fn open_database(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(database_path(path), flags)
}

/// Opens the database at a path to read its first page without locks. Its journal is not read.
pub(crate) fn open_unlocked(path: &Path) -> rusqlite::Result<Connection> {
    let path = database_path(path);
    let encoded = percent_encoded(path.as_os_str().as_encoded_bytes());
    // Only a file that is said to be immutable is read without locks.
    let address = format!("file://{encoded}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(address, flags)
}

/// Returns the absolute path of a record for SQLite, for which a relative one could have a special
/// meaning, like `:memory:`. Errors and answers show the path as it was given.
fn database_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Connects to a record for writing. A transaction is on the disk when it has ended.
pub(crate) fn connect(path: &Path) -> Result<Connection, RowError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open_database(path, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "page_size", 8_192)?;
    Ok(connection)
}

/// Makes a connection execute no trigger of its record, which may come from an untrusted source.
pub(crate) fn disable_triggers(connection: &Connection) -> Result<(), RowError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(())
}

/// Attaches a record under a name.
pub(crate) fn attach(to: &Connection, record: &Path, name: &str) -> Result<(), RowError> {
    let record = database_path(record);
    let record = record.to_str().ok_or_else(|| RowError::content("its path is not UTF-8"))?;
    to.execute(&format!("attach database ?1 as {name}"), [record])?;
    Ok(())
}
