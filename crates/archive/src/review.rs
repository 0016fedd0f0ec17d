//! Notes of reviewers, which are added to the record of a run that has ended, or of an experiment
//! that is not in progress.
//!
//! The measurements and their sums are not changed.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use nix::unistd::{AccessFlags, access};
use record::Note;
use rusqlite::{Connection, TransactionBehavior};

use crate::create::{connect, disable_triggers};
use crate::error::{Cause, NoteRefusal, RecordError, RecordErrorKind, RowError, sql_cause};
use crate::experiment::ExperimentContent;
use crate::reader::Archive;
use crate::reviewer_note::{self, MOST_NOTES};

/// Held while this process has a record open to lock it against a running experiment. Closing the
/// file ends all POSIX locks of this process on it, including those of SQLite, so no other thread
/// may be adding a note.
static NOTING: Mutex<()> = Mutex::new(());

/// Checks that a reviewer's note can be added to a record. Nothing is written.
///
/// # Errors
/// As for [`add_note`]; the number of notes is not checked.
pub fn check_note(path: &Path) -> Result<(), RecordError> {
    let _noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
    open_to_note(path).map(drop)
}

/// Adds a reviewer's note to a record, in one transaction that is flushed to the disk. Several
/// programs may do so at once.
///
/// # Errors
/// The file is not a record or is damaged; it cannot be written; its run has not ended or was
/// killed; its experiment is in progress; or it has the maximum number of notes.
pub fn add_note(path: &Path, note: &Note) -> Result<(), RecordError> {
    let _noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
    let file = open_to_note(path)?;
    let written = connect(path)
        .map_err(Failure::from)
        .and_then(|mut connection| write(&mut connection, note));
    // The file is closed only now that the connection and its locks are closed too.
    drop(file);
    written.map_err(|failure| match failure {
        Failure::Full => {
            RecordError::new(path, RecordErrorKind::NoNote(NoteRefusal::Many(MOST_NOTES)))
        }
        Failure::Row(RowError::Sql(cause)) => cannot_write_note(path, sql_cause(cause)),
        Failure::Row(failure) => failure.into_read_error(path, "the notes of reviewers"),
    })
}

/// Opens a record to which a note can be added, and locks it against a running experiment.
fn open_to_note(path: &Path) -> Result<File, RecordError> {
    check_writable(path)?;
    check_ended(path)?;
    let file = File::open(path).map_err(|cause| cannot_write_note(path, cause))?;
    // An experiment in progress has locked its record.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Err(RecordError::new(path, RecordErrorKind::InUse)),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Refuses a record if its file or folder cannot be written: SQLite creates a journal in the
/// folder. A read-only file or folder is refused even if this process, for example as root, could
/// write it.
fn check_writable(path: &Path) -> Result<(), RecordError> {
    // If the file cannot be found, the reader reports this.
    let Ok(file) = fs::metadata(path) else { return Ok(()) };
    if !file.is_file() {
        return Ok(());
    }
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let folder = parent.unwrap_or(Path::new("."));
    let is_read_only = |path: &Path| fs::metadata(path).is_ok_and(|it| it.permissions().readonly());
    if is_read_only(path) || is_read_only(folder) {
        return Err(RecordError::new(path, RecordErrorKind::NoNote(NoteRefusal::Unwritable)));
    }
    let rights = AccessFlags::W_OK;
    let allowed = access(path, rights).and_then(|()| access(folder, rights));
    allowed.map_err(|cause| cannot_write_note(path, std::io::Error::from(cause)))
}

/// Refuses a file that is not an intact record, and the record of a run that has no end. A run in
/// progress looks like one that was killed.
fn check_ended(path: &Path) -> Result<(), RecordError> {
    match Archive::open(path) {
        Ok(archive) if archive.end().is_none() => {
            Err(RecordError::new(path, RecordErrorKind::NoNote(NoteRefusal::NotEnded)))
        }
        Ok(_) => Ok(()),
        Err(error) if *error.kind() == RecordErrorKind::Experiment => {
            ExperimentContent::read(path).map(|_| ())
        }
        Err(error) => Err(error),
    }
}

fn cannot_write_note(path: &Path, cause: impl Into<Cause>) -> RecordError {
    RecordError::new(path, RecordErrorKind::NoNote(NoteRefusal::Unwritable)).with_cause(cause)
}

/// The reason why a note is not written.
enum Failure {
    /// The record has the maximum number of notes.
    Full,
    Row(RowError),
}

impl From<RowError> for Failure {
    fn from(failure: RowError) -> Failure {
        Failure::Row(failure)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Row(error.into())
    }
}

fn write(to: &mut Connection, note: &Note) -> Result<(), Failure> {
    disable_triggers(to)?;
    let transaction = to.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if reviewer_note::create(&transaction)? >= MOST_NOTES {
        return Err(Failure::Full);
    }
    reviewer_note::insert(&transaction, note)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::thread;

    use base::WallTime;
    use record::{End, EndKind};

    use super::*;
    use crate::experiment::ExperimentWriter;
    use crate::support::{TestFolder, header};
    use crate::writer::{IntervalData, Writer};

    /// Writes the record of a run, with an end if `has_ended` is true.
    fn run(place: &TestFolder, has_ended: bool) -> PathBuf {
        let path = place.path("run.assay");
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.save_second(base::AccountId(0), 0, &IntervalData::default()).unwrap();
        if has_ended {
            let end = End { at: base::Nanos(1), kind: EndKind::Completed, text: String::new() };
            writer.seal(&end, &[Default::default()], 0).unwrap();
        }
        writer.commit().unwrap();
        path
    }

    fn note(text: &str) -> Note {
        Note::by("ann", text, WallTime(7)).unwrap()
    }

    fn kind(path: &Path) -> RecordErrorKind {
        add_note(path, &note("n")).unwrap_err().kind().clone()
    }

    fn notes(path: &Path) -> Vec<Note> {
        Archive::open(path).unwrap().facts().unwrap().notes
    }

    /// Returns the export of a record, its schema and the sum of its seal, without the table of the
    /// notes.
    fn dump(path: &Path) -> Vec<Vec<u8>> {
        let archive = Archive::open(path).unwrap();
        let mut export = Vec::new();
        crate::export::json(&archive, &mut export).unwrap();
        let connection = Connection::open(path).unwrap();
        let sql = "select name || coalesce(sql, '') from sqlite_schema
            where name <> 'reviewer_note'";
        let mut select = connection.prepare(sql).unwrap();
        let schema = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let mut all: Vec<Vec<u8>> = schema.map(|text| text.unwrap().into_bytes()).collect();
        all.push(export);
        let seal = "select count(*) || ' ' || sum(total) from seal";
        all.push(connection.query_row(seal, [], |row| row.get::<_, String>(0)).unwrap().into());
        all
    }

    #[test]
    fn notes_are_read_as_they_were_added_and_change_nothing_else() {
        let place = TestFolder::new("noted");
        let path = run(&place, true);
        let before = dump(&path);
        assert!(notes(&path).is_empty());
        let texts = ["first #tag", "'; drop table meta; --", "naïve 表 😀"];
        texts.iter().for_each(|text| add_note(&path, &note(text)).unwrap());
        assert_eq!(notes(&path), texts.map(note));
        assert_eq!(dump(&path), before);
    }

    #[test]
    fn notes_of_several_threads_are_all_kept() {
        let place = TestFolder::new("many");
        let path = run(&place, true);
        thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    (0..5).for_each(|n| add_note(path, &note(&format!("{writer}.{n}"))).unwrap());
                });
            }
        });
        let mut texts: Vec<String> = notes(&path).into_iter().map(|note| note.text).collect();
        texts.sort();
        let expected = (0..4).flat_map(|writer| (0..5).map(move |n| format!("{writer}.{n}")));
        assert_eq!(texts, expected.collect::<Vec<_>>());
    }

    #[test]
    fn record_without_an_end_takes_no_note() {
        let place = TestFolder::new("going-on");
        assert_eq!(kind(&run(&place, false)), RecordErrorKind::NoNote(NoteRefusal::NotEnded));
        assert_eq!(kind(&place.path("none.assay")), RecordErrorKind::NotFound);
        fs::write(place.path("text.assay"), "text").unwrap();
        assert!(matches!(kind(&place.path("text.assay")), RecordErrorKind::NotARecord(_)));
    }

    #[test]
    fn experiment_takes_notes_unless_it_is_in_progress() {
        let place = TestFolder::new("of-experiment");
        let path = place.path("e.assay");
        let writer = ExperimentWriter::create(&path, &[], &[]).unwrap();
        writer.add_note(WallTime(1), "teardown failed").unwrap();
        assert_eq!(kind(&path), RecordErrorKind::InUse);
        assert_eq!(*check_note(&path).unwrap_err().kind(), RecordErrorKind::InUse);
        drop(writer);
        add_note(&path, &note("repeated on db2")).unwrap();
        let own = Note { at: WallTime(1), author: None, text: "teardown failed".to_owned() };
        let notes = ExperimentContent::read(&path).unwrap().notes;
        assert_eq!(notes, [own, note("repeated on db2")]);
        // A note does not prevent the continuation of the experiment.
        let (writer, _) = ExperimentWriter::resume(&path).unwrap();
        writer.add_note(WallTime(9), "continued").unwrap();
        let notes = ExperimentContent::read(&path).unwrap().notes;
        let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(texts, ["teardown failed", "repeated on db2", "continued"], "oldest first");
    }

    #[test]
    fn read_only_record_is_left_alone() {
        let place = TestFolder::new("read-only");
        let path = run(&place, true);
        let before = fs::read(&path).unwrap();
        let mut rights = fs::metadata(&path).unwrap().permissions();
        rights.set_readonly(true);
        fs::set_permissions(&path, rights).unwrap();
        assert_eq!(kind(&path), RecordErrorKind::NoNote(NoteRefusal::Unwritable));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn record_in_a_read_only_folder_is_left_alone() {
        let place = TestFolder::new("in-read-only");
        let path = run(&place, true);
        check_note(&path).unwrap();
        let folder = path.parent().unwrap();
        let set = |read_only| {
            let mut rights = fs::metadata(folder).unwrap().permissions();
            rights.set_readonly(read_only);
            fs::set_permissions(folder, rights).unwrap();
        };
        set(true);
        let checked = check_note(&path).map_err(|error| error.kind().clone());
        let added = kind(&path);
        set(false);
        let refused = RecordErrorKind::NoNote(NoteRefusal::Unwritable);
        assert_eq!((checked, added), (Err(refused.clone()), refused));
        assert!(notes(&path).is_empty());
    }

    #[test]
    fn record_takes_a_limited_number_of_notes() {
        let place = TestFolder::new("full");
        let path = run(&place, true);
        add_note(&path, &note("first")).unwrap();
        let sql = "with recursive n(n) as (select 2 union all select n + 1 from n where n < 1000)
            insert into reviewer_note select n, 0, 'ann', 'text' from n";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        assert_eq!(kind(&path), RecordErrorKind::NoNote(NoteRefusal::Many(MOST_NOTES)));
        assert_eq!(notes(&path).len(), 1_000);
    }

    #[test]
    fn foreign_table_or_trigger_is_neither_used_nor_executed() {
        let place = TestFolder::new("foreign");
        let path = run(&place, true);
        add_note(&path, &note("first")).unwrap();
        let sql = "create trigger evil after insert on reviewer_note begin delete from seal; end";
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        add_note(&path, &note("second")).unwrap();
        let count = "select count(*) from seal";
        let connection = Connection::open(&path).unwrap();
        assert_ne!(connection.query_row(count, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
        let sql = "drop table reviewer_note; create view reviewer_note as select 1 as note";
        connection.execute_batch(sql).unwrap();
        drop(connection);
        assert!(matches!(kind(&path), RecordErrorKind::Damaged(_)));
    }
}
