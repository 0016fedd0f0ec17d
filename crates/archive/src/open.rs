//! Opening and identifying records.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::units::grouped;
use base::with_suffix;
use confine::{Refusal, check_companions};
use guardian::TemporaryFolder;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, ffi};

use crate::create::{open_database, open_unlocked};
use crate::error::{RecordError, RecordErrorKind, RowError};
use crate::{v1, v2};

/// The longest wait of a reader for a transaction of an active recorder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The first bytes of an SQLite file; further fields of its header are at the offsets below
/// (<https://www.sqlite.org/fileformat2.html#the_database_header>).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The first bytes of a compressed file (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;
const FILE_HEADER: usize = 100;
const PAGE_SIZE_AT: usize = 16;
const CHANGES_AT: usize = 24;
const PAGES_AT: usize = 28;
/// Offset of the value that the change counter had when the number of pages was written.
const VALID_FOR_AT: usize = 92;

/// The place that errors name if a page is damaged.
pub(super) const TABLES: &str = "its tables";

/// A record opened for reading, of a supported version.
pub(super) struct OpenedRecord {
    pub(super) connection: Connection,
    /// The private copy that is read instead of the record, if there is one.
    pub(super) copy: Option<PrivateCopy>,
}

impl OpenedRecord {
    /// Returns the file that is read instead of the record at `path`, or `path` itself.
    pub(super) fn file(&self, path: &Path) -> PathBuf {
        self.copy.as_ref().map_or_else(|| path.to_owned(), PrivateCopy::record)
    }
}

/// Opens the record of a single run, or one run in the record of an experiment, and rolls back the
/// open transaction of a killed writer. Its tables must be the tables of its version; their pages
/// are not checked.
pub(super) fn open(path: &Path, run: Option<u32>) -> Result<OpenedRecord, RecordError> {
    match run {
        None => open_single(path),
        Some(run) => open_run(path, run),
    }
}

fn open_single(path: &Path) -> Result<OpenedRecord, RecordError> {
    let version = read_version(path)?;
    if version == v2::VERSION {
        return Err(RecordError::new(path, RecordErrorKind::Experiment));
    }
    let opened = connect(path, None)?;
    if version > v2::VERSION {
        let assay =
            opened
                .connection
                .query_row("select value from meta where key = 'assay'", [], |row| row.get(0));
        let kind = RecordErrorKind::Newer { version, assay: assay.ok() };
        return Err(RecordError::new(path, kind));
    }
    check_tables(&opened.connection, v1::statements(), &v1::OPTIONAL_TABLES)
        .map_err(|failure| failure.into_read_error(path, TABLES))?;
    Ok(opened)
}

/// Returns true if the first bytes of a file are those of an experiment's record. Its pages are not
/// checked.
pub fn is_experiment(path: &Path) -> bool {
    read_version(path).is_ok_and(|version| version == v2::VERSION)
}

/// Opens the record of an experiment, and checks its tables and pages.
pub(super) fn open_experiment(path: &Path) -> Result<OpenedRecord, RecordError> {
    let opened = open_with_run(path, None)?;
    check_pages(&opened.connection).map_err(|failure| failure.into_read_error(path, TABLES))?;
    Ok(opened)
}

/// Opens the record of an experiment, with tables that show a single run.
fn open_run(path: &Path, run: u32) -> Result<OpenedRecord, RecordError> {
    let opened = open_with_run(path, Some(run))?;
    let select = "select exists (select 1 from main.run where run = ?1)";
    let exists = opened.connection.query_row(select, [run], |row| row.get(0));
    match exists.map_err(|error| RowError::from(error).into_read_error(path, "table `run`"))? {
        true => Ok(opened),
        false => {
            // A damaged page may hide the run.
            let checked = check_pages(&opened.connection);
            checked.map_err(|failure| failure.into_read_error(path, TABLES))?;
            let last = "select coalesce(max(run), 0) from main.run";
            let last = opened.connection.query_row(last, [], |row| row.get(0));
            let last =
                last.map_err(|error| RowError::from(error).into_read_error(path, "table `run`"))?;
            Err(RecordError::new(path, RecordErrorKind::NoRun { run, last }))
        }
    }
}

fn open_with_run(path: &Path, run: Option<u32>) -> Result<OpenedRecord, RecordError> {
    match read_version(path)? {
        v2::VERSION => {}
        v1::VERSION => return Err(RecordError::new(path, RecordErrorKind::SingleRun)),
        version => {
            let kind = RecordErrorKind::Newer { version, assay: None };
            return Err(RecordError::new(path, kind));
        }
    }
    let opened = connect(path, run)?;
    check_tables(&opened.connection, v2::statements(), &v2::OPTIONAL_TABLES)
        .map_err(|failure| failure.into_read_error(path, TABLES))?;
    Ok(opened)
}

/// Returns true if a file is compressed, as published bundles are, and therefore no record.
pub fn is_compressed(path: &Path) -> bool {
    read_version(path).is_err_and(|error| *error.kind() == RecordErrorKind::Compressed)
}

/// Reads the version of a record from the header of the file.
fn read_version(path: &Path) -> Result<i64, RecordError> {
    let error = |kind| RecordError::new(path, kind);
    let cannot_read = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => error(RecordErrorKind::NotFound),
        _ => error(RecordErrorKind::CannotRead).with_cause(cause),
    };
    let metadata = fs::metadata(path).map_err(cannot_read)?;
    if !metadata.is_file() {
        return Err(error(RecordErrorKind::NotAFile));
    }
    let not_a_record = |found| Err(error(RecordErrorKind::NotARecord(found)));
    if metadata.len() == 0 {
        return not_a_record("an empty file");
    }
    if let Ok((v1::APPLICATION, version @ 1..)) = read_numbers(path) {
        return Ok(version);
    }
    // The file is not a record, or cannot be read. So no connection of this process has a lock on
    // it that closing it could end.
    let mut header = Vec::with_capacity(FILE_HEADER);
    let file = File::open(path).map_err(cannot_read)?;
    file.take(FILE_HEADER as u64).read_to_end(&mut header).map_err(cannot_read)?;
    if header.starts_with(GZIP) {
        return Err(error(RecordErrorKind::Compressed));
    }
    if header.len() < FILE_HEADER || !header.starts_with(MAGIC) {
        return not_a_record("a file of another kind");
    }
    let number = |at: usize| {
        let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
        i64::from(i32::from_be_bytes(bytes))
    };
    match (number(APPLICATION_AT), number(VERSION_AT)) {
        (v1::APPLICATION, 1..) => Ok(number(VERSION_AT)),
        (v1::APPLICATION, _) => not_a_record("an SQLite database without a version"),
        _ => not_a_record("an SQLite database of another program"),
    }
}

/// Reads the application and the version of an SQLite file through SQLite, which closes a file only
/// when no connection of this process has a lock on it. Closing any other handle of the file would
/// end these locks, and another process could then write while this one reads or writes.
fn read_numbers(path: &Path) -> rusqlite::Result<(i64, i64)> {
    let connection = open_unlocked(path)?;
    // A file with fewer pages than its header states is accepted: it is cut off, or a transaction
    // is being written.
    connection.pragma_update(None, "writable_schema", true)?;
    let number = |select: &str| connection.query_row(select, [], |row| row.get(0));
    Ok((number("pragma application_id")?, number("pragma user_version")?))
}

/// Connects to a record. With `run`, the tables of an experiment's record then show only this run.
fn connect(path: &Path, run: Option<u32>) -> Result<OpenedRecord, RecordError> {
    if let Err(refusal) = check_companions(path) {
        let place = match refusal == Refusal::Journal {
            true => "the file of its last transaction names another file",
            false => "a file next to it is a link or a special file",
        };
        return Err(RecordError::new(path, RecordErrorKind::Damaged(place.to_owned())));
    }
    match connect_to(path, OpenFlags::SQLITE_OPEN_READ_ONLY, run) {
        Ok(connection) => return Ok(OpenedRecord { connection, copy: None }),
        Err(RowError::Sql(cause)) if has_hot_journal(&cause) => {}
        Err(failure) => return Err(unreadable(path, failure)),
    }
    // The writer was killed inside a transaction. The rollback changes the file or, if it is not
    // writable, a copy of it.
    if let Ok(connection) = connect_to(path, OpenFlags::SQLITE_OPEN_READ_WRITE, run) {
        return Ok(OpenedRecord { connection, copy: None });
    }
    open_copy(path, run)
}

/// Opens a copy of a record and its journal.
fn open_copy(path: &Path, run: Option<u32>) -> Result<OpenedRecord, RecordError> {
    let copy = PrivateCopy::of(path)
        .map_err(|cause| RecordError::new(path, RecordErrorKind::CannotRead).with_cause(cause))?;
    let connection = connect_to(&copy.record(), OpenFlags::SQLITE_OPEN_READ_WRITE, run)
        .map_err(|failure| unreadable(path, failure))?;
    Ok(OpenedRecord { connection, copy: Some(copy) })
}

/// Returns the error for a record whose first page SQLite does not accept. If the file is only cut
/// off, which SQLite reports as malformed, the error states its actual and its expected size.
fn unreadable(path: &Path, failure: RowError) -> RecordError {
    let error = failure.into_read_error(path, "its first page");
    match (error.kind(), FileSizes::read(path)) {
        (RecordErrorKind::Damaged(_), Ok(sizes)) if sizes.actual < sizes.expected => {
            let [actual, expected] = [sizes.actual, sizes.expected].map(grouped);
            let place = format!("it is cut off after {actual} of {expected} bytes");
            RecordError::new(path, RecordErrorKind::Damaged(place))
        }
        _ => error,
    }
}

/// The sizes of a record, in bytes.
struct FileSizes {
    actual: u64,
    /// Size according to the file's own header; 0 if the header does not state it.
    expected: u64,
}

impl FileSizes {
    fn read(path: &Path) -> io::Result<FileSizes> {
        // No connection can read the first page. So no connection has a lock that closing
        // this file could end.
        let mut file = File::open(path)?;
        let actual = file.metadata()?.len();
        let mut header = [0; FILE_HEADER];
        file.read_exact(&mut header)?;
        let number = |at: usize| {
            u64::from(u32::from_be_bytes([
                header[at],
                header[at + 1],
                header[at + 2],
                header[at + 3],
            ]))
        };
        let page = match u16::from_be_bytes([header[PAGE_SIZE_AT], header[PAGE_SIZE_AT + 1]]) {
            1 => 65_536,
            size => u64::from(size),
        };
        // An old version of SQLite may not have updated the number of pages.
        let is_valid = number(CHANGES_AT) == number(VALID_FOR_AT);
        let expected = if is_valid { page * number(PAGES_AT) } else { 0 };
        Ok(FileSizes { actual, expected })
    }
}

/// Opens another connection to a record that [`open`] has opened.
pub(super) fn connect_again(database: &Path, run: Option<u32>) -> Result<Connection, RowError> {
    connect_to(database, OpenFlags::SQLITE_OPEN_READ_ONLY, run)
}

fn connect_to(path: &Path, access: OpenFlags, run: Option<u32>) -> Result<Connection, RowError> {
    let connection = open_database(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // The file is untrusted: nothing in its schema is executed, and malformed pages are errors.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Reads the first page, which also detects a journal.
    connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?;
    if let Some(run) = run {
        v2::show_run(&connection, run)?;
    }
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn has_hot_journal(error: &rusqlite::Error) -> bool {
    let codes = [ffi::SQLITE_READONLY_ROLLBACK, ffi::SQLITE_READONLY_CANTLOCK];
    error.sqlite_error().is_some_and(|error| codes.contains(&error.extended_code))
}

/// Compares the tables of a record with those that its version has.
fn check_tables(
    connection: &Connection,
    statements: impl Iterator<Item = (&'static str, &'static str)>,
    optional: &[&str],
) -> Result<(), RowError> {
    let mut select = connection.prepare("select sql from sqlite_schema where name = ?1")?;
    for (name, expected) in statements {
        let mut rows = select.query([name])?;
        let is_ours = match rows.next()? {
            Some(row) => row.get_ref(0)?.as_str().is_ok_and(|sql| sql == expected),
            None => optional.contains(&name),
        };
        if !is_ours {
            return Err(RowError::content(format!("`{name}` is not that of this version")));
        }
    }
    Ok(())
}

/// Lets SQLite check the pages of all tables.
pub(super) fn check_pages(connection: &Connection) -> Result<(), RowError> {
    let fault: String = connection.query_row("pragma integrity_check(1)", [], |row| row.get(0))?;
    if fault == "ok" { Ok(()) } else { Err(RowError::content(fault.replace('\n', " "))) }
}

/// A copy of a record in the temporary directory, removed after reading.
pub(super) struct PrivateCopy {
    folder: TemporaryFolder,
}

impl PrivateCopy {
    const NAME: &str = "record.assay";

    fn of(path: &Path) -> io::Result<PrivateCopy> {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-record")?;
        let copy = PrivateCopy { folder };
        fs::copy(path, copy.record())?;
        let journal = with_suffix(path, "-journal");
        if journal.exists() {
            fs::copy(journal, with_suffix(&copy.record(), "-journal"))?;
        }
        Ok(copy)
    }

    fn record(&self) -> PathBuf {
        self.folder.path().join(PrivateCopy::NAME)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;

    use super::*;
    use crate::reader::Archive;
    use crate::support::{TestFolder, header};
    use crate::writer::Writer;

    /// Creates a record as left by a writer that is killed while it writes, with its journal.
    pub(crate) fn killed(place: &TestFolder) -> PathBuf {
        let (path, copy) = (place.path("run.assay"), place.path("killed.assay"));
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.set_setting("kept", "yes").unwrap();
        writer.commit().unwrap();
        // With a small cache, pages of an open transaction are written to the file.
        writer.connection().pragma_update(None, "cache_size", 1).unwrap();
        for number in 0..1_000 {
            writer.set_setting(&format!("lost {number}"), &"x".repeat(500)).unwrap();
        }
        fs::copy(&path, &copy).unwrap();
        fs::copy(with_suffix(&path, "-journal"), with_suffix(&copy, "-journal")).unwrap();
        copy
    }

    fn settings(opened: &OpenedRecord) -> Vec<String> {
        let mut select = opened.connection.prepare("select name from setting").unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn invariant_7_unfinished_transaction_of_a_killed_writer_is_rolled_back() {
        let place = TestFolder::new("rolled-back");
        let path = killed(&place);
        assert_eq!(settings(&open(&path, None).unwrap()), ["kept"]);
        assert!(!with_suffix(&path, "-journal").exists());
        assert_eq!(Archive::open(&path).unwrap().end(), None);
    }

    /// Returns a journal whose rollback changes nothing but makes SQLite delete the file
    /// `super_journal`.
    fn journal_naming(super_journal: &Path, pages: u32) -> Vec<u8> {
        const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        let name = super_journal.as_os_str().as_encoded_bytes();
        let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
        let numbers = |numbers: &[u32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
        };
        // Number of pages in the journal, nonce, number of pages of the database, sizes of sectors
        // and pages.
        let mut journal = [&MAGIC[..], &numbers(&[0, 1, pages, 512, 8_192])].concat();
        journal.resize(512, 0);
        journal.extend(numbers(&[1]));
        journal.extend(name);
        journal.extend(numbers(&[name.len() as u32, sum]));
        journal.extend(MAGIC);
        journal
    }

    /// A record and the files next to it may come from an untrusted source. A journal that names
    /// another file is refused.
    #[test]
    fn record_does_not_make_sqlite_delete_another_file() {
        let place = TestFolder::new("super-journal");
        let (path, victim) = (place.path("run.assay"), place.path("victim.txt"));
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.commit().unwrap();
        drop(writer);
        fs::write(&victim, "kept").unwrap();
        let pages = fs::metadata(&path).unwrap().len() / 8_192;
        let journal = journal_naming(&victim, pages as u32);
        fs::write(with_suffix(&path, "-journal"), journal).unwrap();
        let error = Archive::open(&path).map(drop).unwrap_err();
        assert!(error.to_string().contains("names another file"), "{error}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
        fs::remove_file(with_suffix(&path, "-journal")).unwrap();
        assert!(Archive::open(&path).is_ok());
        std::os::unix::fs::symlink(&victim, with_suffix(&path, "-wal")).unwrap();
        let error = Archive::open(&path).map(drop).unwrap_err();
        assert!(error.to_string().contains("next to it is a link"), "{error}");
    }

    #[test]
    fn compressed_file_is_not_a_record() {
        let place = TestFolder::new("compressed");
        let path = place.path("r.tar.gz");
        for (bytes, expected) in [(&[0x1f, 0x8b, 8, 0][..], true), (&[0x1f], false), (MAGIC, false)]
        {
            fs::write(&path, bytes).unwrap();
            assert_eq!(is_compressed(&path), expected, "{bytes:?}");
            assert!(open(&path, None).is_err());
        }
        assert!(!is_compressed(&place.path("missing.tar.gz")));
    }

    #[test]
    fn lock_of_another_connection_outlasts_the_opening_of_the_record() {
        let place = TestFolder::new("locked %3f?#");
        let path = place.path("run.assay");
        drop(Writer::create(&path, &header()).unwrap());
        // Closing this file would end the locks too.
        let file = File::open(&path).unwrap();
        let is_reserved = || {
            let mut lock = libc::flock {
                l_type: libc::F_WRLCK as _,
                l_whence: libc::SEEK_SET as _,
                l_start: 0x4000_0001,
                l_len: 1,
                l_pid: 0,
            };
            fcntl(&file, FcntlArg::F_OFD_GETLK(&mut lock)).unwrap();
            i32::from(lock.l_type) != libc::F_UNLCK
        };
        let writer = open_database(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        assert!(!is_reserved());
        writer.execute_batch("begin immediate").unwrap();
        assert!(is_reserved());
        assert!(open(&path, None).is_ok() && !is_experiment(&path) && !is_compressed(&path));
        assert!(is_reserved());
    }

    #[test]
    fn record_that_is_cut_off_is_distinguished_from_a_bad_first_page() {
        let place = TestFolder::new("cut");
        let path = place.path("run.assay");
        let mut writer = Writer::create(&path, &header()).unwrap();
        for number in 0..1_000 {
            writer.set_setting(&format!("set {number}"), &"x".repeat(100)).unwrap();
        }
        writer.commit().unwrap();
        drop(writer);
        let whole = fs::read(&path).unwrap();
        let size = grouped(whole.len() as u64);
        let check = |bytes: &[u8], expected: &str| {
            fs::write(&path, bytes).unwrap();
            let message = open(&path, None).err().unwrap().to_string();
            assert!(message.contains(expected), "{message}");
        };
        for cut in [20_000, whole.len() - 20_000] {
            let after = grouped(cut as u64);
            check(
                &whole[..cut],
                &format!("is damaged: it is cut off after {after} of {size} byte"),
            );
        }
        let mut bytes = whole.clone();
        bytes[FILE_HEADER..FILE_HEADER + 8].fill(0xff);
        check(&bytes, "is damaged: its first page;");
    }

    #[test]
    fn read_only_record_is_rolled_back_in_a_copy() {
        let place = TestFolder::new("copied");
        let path = killed(&place);
        let before = fs::read(&path).unwrap();
        let opened = open_copy(&path, None).unwrap();
        assert_eq!(settings(&opened), ["kept"]);
        let directory = opened.copy.as_ref().unwrap().folder.path().to_owned();
        assert!(directory.exists());
        drop(opened);
        assert!(!directory.exists());
        assert!(with_suffix(&path, "-journal").exists());
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn the_tables_are_found_in_the_schema() {
        let names: Vec<&str> = v1::statements().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 25, "{names:?}");
        assert!(names.contains(&"interval") && names.contains(&"bucket"), "{names:?}");
    }
}
