//! Writing and reading of the records of experiments.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use base::WallTime;
use record::{Excerpt, InputFile, Note};
use rusqlite::Connection;

use crate::create::{attach, connect, create};
use crate::error::{RecordError, RecordErrorKind, RowError};
use crate::open::{open, open_experiment};
use crate::reader::Archive;
use crate::reviewer_note::read_reviewer_notes;
use crate::v2::{Figure, LookRow, RunRow, RunState};
use crate::{v1, v2};

/// The record of an experiment that is being written.
///
/// Everything is written between runs. A transaction is on the disk when it has ended: the record
/// holds every run that was added before the process was killed or the machine failed. If the
/// record was deleted or damaged in the meantime, a failed write returns the error of reading it.
///
/// The file is locked: no other process continues the same experiment; reading it is not affected.
#[derive(Debug)]
pub struct ExperimentWriter {
    path: PathBuf,
    connection: Connection,
    /// The lock, which ends with the process. It is released after the connection is closed,
    /// because closing the file ends the locks of SQLite on it.
    _lock: Option<File>,
}

/// The content of an experiment's record without the measurements of its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExperimentContent {
    /// Path of the record; empty if there is none yet.
    path: PathBuf,
    /// Facts about the experiment, by key.
    pub facts: Vec<(String, String)>,
    /// The files that were read before the runs, sorted by path.
    pub files: Vec<InputFile>,
    /// The runs, in the order of their execution.
    pub runs: Vec<RunRow>,
    /// The looks: evaluations after which the experiment may end.
    pub looks: Vec<LookRow>,
    /// The remarks of the program and the notes of reviewers, the oldest first.
    pub notes: Vec<Note>,
    /// Excerpts of the tables and statements, from the first run that has excerpts.
    pub excerpts: Vec<Excerpt>,
}

impl ExperimentContent {
    /// Reads the record of an experiment.
    ///
    /// # Errors
    /// The file does not exist, is not the record of an experiment, or is damaged.
    pub fn read(path: &Path) -> Result<ExperimentContent, RecordError> {
        let opened = open_experiment(path)?;
        content(path, &opened.connection)
            .map_err(|failure| failure.into_read_error(path, "the tables of the experiment"))
    }

    /// Reads the metrics of all runs, each with the number of its run, as they were stored.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn figures(&self) -> Result<Vec<(u32, Figure)>, RecordError> {
        let opened = open_experiment(&self.path)?;
        v2::read_figures(&opened.connection)
            .map_err(|failure| failure.into_read_error(&self.path, "the metrics of the runs"))
    }

    /// Opens a run of the record. The pages of the whole record were checked when this content was
    /// read, and are not checked again for each run.
    ///
    /// # Errors
    /// As for [`Archive::open_run`].
    pub fn open_run(&self, run: u32) -> Result<Archive, RecordError> {
        Archive::read_sealed(&self.path, open(&self.path, Some(run))?)
    }

    /// Returns the error for an inconsistent record, for callers that interpret its content.
    pub fn damaged(path: &Path, what: String) -> RecordError {
        RecordError::new(path, RecordErrorKind::Damaged(what))
    }

    /// Returns the error for a search whose recorded trials differ from those that this version
    /// would make.
    pub fn of_another_search(path: &Path) -> RecordError {
        RecordError::new(path, RecordErrorKind::OtherSearch)
    }

    /// Returns the value of a fact; `None` if the record does not have the fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn content(path: &Path, of: &Connection) -> Result<ExperimentContent, RowError> {
    let content = ExperimentContent {
        path: path.to_owned(),
        facts: v2::read_facts(of)?,
        files: v1::read_files(of)?,
        runs: v2::read_runs(of)?,
        looks: v2::read_looks(of)?,
        notes: sorted_by_time([v2::read_notes(of)?, read_reviewer_notes(of)?].concat()),
        excerpts: v2::read_excerpts(of)?,
    };
    check_runs(&content.runs)?;
    Ok(content)
}

/// Returns the notes sorted, the oldest first: an interrupted experiment may have received a note
/// before it was continued.
fn sorted_by_time(mut notes: Vec<Note>) -> Vec<Note> {
    notes.sort_by_key(|note| note.at);
    notes
}

/// Largest number that a record may have for a round, a position in a round, or an attempt.
const LARGEST_POSITION: u32 = 100_000;

/// Checks the rules that every writer of runs observes: the runs are numbered consecutively from 1,
/// and at most one run counts for each position in a round of a phase.
fn check_runs(runs: &[RunRow]) -> Result<(), RowError> {
    let mut counting = BTreeSet::new();
    for (row, expected) in runs.iter().zip(1..) {
        let RunRow { run, round, position, attempt, phase, .. } = *row;
        if run != expected {
            return Err(RowError::content(format!("run {run} follows run {}", expected - 1)));
        }
        if [round, position, attempt].into_iter().any(|number| number > LARGEST_POSITION) {
            return Err(RowError::content(format!(
                "run {run} has an impossible position in its round"
            )));
        }
        if row.state == RunState::Counts && !counting.insert((phase, round, position)) {
            return Err(RowError::content(format!("run {run} counts in the place of another run")));
        }
    }
    Ok(())
}

impl ExperimentWriter {
    /// Creates the record of an experiment. It contains facts about the experiment, and the files
    /// that were read before the runs.
    ///
    /// # Errors
    /// The record exists or cannot be created.
    pub fn create(
        path: &Path,
        facts: &[(&str, String)],
        files: &[InputFile],
    ) -> Result<ExperimentWriter, RecordError> {
        let connection = create(path, v2::VERSION, |connection| {
            for (_, statement) in v2::statements() {
                connection.execute_batch(statement)?;
            }
            facts.iter().try_for_each(|(key, value)| v2::write_fact(connection, key, value))?;
            files.iter().try_for_each(|file| v1::write_file(connection, file))
        })?;
        let _lock = lock(path)?;
        Ok(ExperimentWriter { path: path.to_owned(), connection, _lock })
    }

    /// Opens the record of an interrupted experiment to continue it, and returns its content.
    ///
    /// # Errors
    /// As for [`ExperimentContent::read`], or another process continues the experiment, or a table
    /// that the record lacks cannot be added. A read-only record that lacks no table is opened
    /// without an error, and the first write fails.
    pub fn resume(path: &Path) -> Result<(ExperimentWriter, ExperimentContent), RecordError> {
        // A file that cannot be opened for writing is not locked. The error comes from reading it
        // or, if it can be read, from the first write.
        let _lock = lock(path)?;
        // Reading rolls back the open transaction of a killed writer.
        let content = ExperimentContent::read(path)?;
        let connected = connect(path).and_then(|connection| {
            v2::add_sample_range(&connection)?;
            Ok(connection)
        });
        let connection = connected.map_err(|failure| failure.into_write_error(path))?;
        Ok((ExperimentWriter { path: path.to_owned(), connection, _lock }, content))
    }

    /// Returns the path of the record, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the rows of a run from its own record to this one, in one transaction, and removes its
    /// own record. The rows of input files are not moved: this record has them already.
    ///
    /// # Errors
    /// The record cannot be written; the run's own record is then not removed.
    pub fn add_run(
        &mut self,
        row: &RunRow,
        figures: &[Figure],
        own: &Path,
    ) -> Result<(), RecordError> {
        let written = self.merge(row, figures, own);
        written.map_err(|failure| self.write_error(failure))?;
        // If the file cannot be removed, nothing is lost: this record has all of its rows.
        let _ = fs::remove_file(own);
        Ok(())
    }

    fn merge(&mut self, row: &RunRow, figures: &[Figure], own: &Path) -> Result<(), RowError> {
        attach(&self.connection, own, "own")?;
        let merged = self.in_transaction(|to| {
            v2::merge(to, "own", row.run)?;
            v2::write_run(to, row, figures)
        });
        let detached = self.connection.execute_batch("detach database own");
        merged?;
        Ok(detached?)
    }

    /// Replaces the rows and the figures of runs, in one transaction.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn replace_figures(&mut self, runs: &[(RunRow, Vec<Figure>)]) -> Result<(), RecordError> {
        self.write_in_transaction(|to| {
            runs.iter().try_for_each(|(row, figures)| {
                v2::remove_run(to, row.run)?;
                v2::write_run(to, row, figures)
            })
        })
    }

    /// Changes the state of runs.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn set_state(&mut self, runs: &[u32], state: RunState) -> Result<(), RecordError> {
        self.write_in_transaction(|to| {
            runs.iter().try_for_each(|run| v2::write_state(to, *run, state))
        })
    }

    /// Writes facts; a later value replaces an earlier one.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn set_facts(&mut self, facts: &[(&str, String)]) -> Result<(), RecordError> {
        self.write_in_transaction(|to| {
            facts.iter().try_for_each(|(key, value)| v2::write_fact(to, key, value))
        })
    }

    /// Removes a fact, if it exists.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn remove_fact(&mut self, key: &str) -> Result<(), RecordError> {
        self.write_in_transaction(|from| v2::remove_fact(from, key))
    }

    /// Records a look, a planned evaluation of the experiment.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn add_look(&mut self, look: LookRow) -> Result<(), RecordError> {
        self.write_in_transaction(|to| v2::write_look(to, look))
    }

    /// Adds a remark of the program.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn add_note(&self, at: WallTime, text: &str) -> Result<(), RecordError> {
        // One statement is a transaction of its own.
        v2::write_note(&self.connection, at, text).map_err(|failure| self.write_error(failure))
    }

    fn write_in_transaction(
        &mut self,
        write: impl FnOnce(&Connection) -> Result<(), RowError>,
    ) -> Result<(), RecordError> {
        self.in_transaction(write).map_err(|failure| self.write_error(failure))
    }

    /// Converts the error of a failed transaction. If the record was deleted or damaged, returns
    /// the error of reading it instead.
    fn write_error(&self, failure: RowError) -> RecordError {
        let error = failure.into_write_error(&self.path);
        match ExperimentContent::read(&self.path) {
            // Damage explains the failed write; a lock or a failing disk is no damage.
            Err(cause) if *cause.kind() != RecordErrorKind::CannotRead => cause,
            Ok(_) | Err(_) => error,
        }
    }

    fn in_transaction(
        &mut self,
        write: impl FnOnce(&Connection) -> Result<(), RowError>,
    ) -> Result<(), RowError> {
        let transaction = self.connection.transaction()?;
        write(&transaction)?;
        Ok(transaction.commit()?)
    }
}

/// Locks the record of an experiment against other writers; returns `None` if the file cannot be
/// opened for writing. On a file system without locks, nothing is locked.
fn lock(path: &Path) -> Result<Option<File>, RecordError> {
    let Ok(file) = OpenOptions::new().write(true).open(path) else { return Ok(None) };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(RecordError::new(path, RecordErrorKind::InUse)),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(file)),
    }
}

#[cfg(test)]
mod tests {
    use base::{AccountId, Nanos};
    use record::{End, EndKind};

    use super::*;
    use crate::error::RecordErrorKind;
    use crate::export;
    use crate::support::{TestFolder, header};
    use crate::writer::{IntervalData, Writer};

    fn row(run: u32) -> RunRow {
        let (verdict, seed) = ("valid".to_owned(), u64::MAX - 5);
        RunRow { position: run - 1, verdict, seed, ..RunRow::new(run, format!("arm-{run}")) }
    }

    /// Writes the record of a run with this value of a setting, and returns its path.
    fn run(place: &TestFolder, name: &str, setting: &str) -> PathBuf {
        let path = place.path(name);
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.set_setting("work_mem", setting).unwrap();
        writer.save_second(AccountId(0), 0, &IntervalData::default()).unwrap();
        let end = End { at: Nanos(1), kind: EndKind::Completed, text: String::new() };
        writer.seal(&end, &[Default::default()], 0).unwrap();
        writer.commit().unwrap();
        path
    }

    #[test]
    fn error_of_writing_a_deleted_or_damaged_record_is_that_of_reading_it() {
        let place = TestFolder::new("lost-experiment");
        let write_after = |name: &str, damage: &dyn Fn(&ExperimentWriter)| {
            let record = place.path(name);
            let mut writer = ExperimentWriter::create(&record, &[], &[]).unwrap();
            damage(&writer);
            writer.set_facts(&[("state", "x".repeat(100_000))]).unwrap_err().kind().clone()
        };
        let deleted = write_after("deleted", &|writer| fs::remove_file(writer.path()).unwrap());
        assert_eq!(deleted, RecordErrorKind::NotFound);
        let cut = write_after("cut", &|writer| {
            let file = OpenOptions::new().write(true).open(writer.path()).unwrap();
            file.set_len(5_000).unwrap();
        });
        assert!(matches!(cut, RecordErrorKind::Damaged(_)), "{cut:?}");
        let full = write_after("full", &|writer| {
            writer.connection.pragma_update(None, "max_page_count", 1).unwrap();
        });
        assert_eq!(full, RecordErrorKind::CannotWrite);
    }

    #[test]
    fn runs_are_read_one_by_one_as_they_were_written() {
        let place = TestFolder::new("experiment");
        let record = place.path("e.assay");
        let facts = [("ask", "what?".to_owned())];
        let mut writer = ExperimentWriter::create(&record, &facts, &[]).unwrap();
        let mut expected = Vec::new();
        for number in 1..=2 {
            let own = run(&place, "run.assay", &format!("{number}MB"));
            let archive = Archive::open(&own).unwrap();
            let mut bytes = Vec::new();
            export::json(&archive, &mut bytes).unwrap();
            expected.push((bytes, archive.settings().unwrap()));
            drop(archive);
            let figure = Figure { of: "read".into(), metric: "throughput".into(), value: 1.5 };
            writer.add_run(&row(number), &[figure], &own).unwrap();
            assert!(!own.exists());
        }
        for (number, (bytes, settings)) in (1..).zip(&expected) {
            let archive = Archive::open_run(&record, number).unwrap();
            let mut again = Vec::new();
            export::json(&archive, &mut again).unwrap();
            assert_eq!((&again, &archive.settings().unwrap()), (bytes, settings));
        }
        let content = ExperimentContent::read(&record).unwrap();
        assert_eq!(content.runs, [row(1), row(2)]);
        let figure = Figure { of: "read".into(), metric: "throughput".into(), value: 1.5 };
        assert_eq!(content.figures().unwrap(), [(1, figure.clone()), (2, figure)]);
        assert_eq!(content.fact("ask"), Some("what?"));
        for (number, (_, settings)) in (1..).zip(&expected) {
            assert_eq!(&content.open_run(number).unwrap().settings().unwrap(), settings);
        }
        let kind = |opened: Result<Archive, RecordError>| opened.err().unwrap().kind().clone();
        let no_run = RecordErrorKind::NoRun { run: 3, last: 2 };
        assert_eq!(kind(content.open_run(3)), no_run);
        assert_eq!(kind(Archive::open_run(&record, 3)), no_run);
        assert_eq!(kind(Archive::open(&record)), RecordErrorKind::Experiment);
    }

    #[test]
    fn experiment_is_resumed_with_its_looks_and_states() {
        let place = TestFolder::new("resumed");
        let record = place.path("e.assay");
        let mut writer = ExperimentWriter::create(&record, &[], &[]).unwrap();
        writer.add_run(&row(1), &[], &run(&place, "run.assay", "1")).unwrap();
        writer.add_look(LookRow { pairs: 8, is_decided: false }).unwrap();
        writer.add_note(WallTime(7), "odd").unwrap();
        drop(writer);
        let (mut writer, content) = ExperimentWriter::resume(&record).unwrap();
        assert_eq!(content.looks, [LookRow { pairs: 8, is_decided: false }]);
        let note = Note { at: WallTime(7), author: None, text: "odd".to_owned() };
        assert_eq!(content.notes, [note]);
        writer.set_state(&[1], RunState::Abandoned).unwrap();
        writer.set_facts(&[("state", "complete".to_owned())]).unwrap();
        writer.set_facts(&[("invalid-arm", "[arm one]".to_owned())]).unwrap();
        writer.remove_fact("invalid-arm").unwrap();
        let content = ExperimentContent::read(&record).unwrap();
        assert_eq!(content.fact("invalid-arm"), None);
        assert_eq!(content.runs[0].state, RunState::Abandoned);
        assert_eq!(content.fact("state"), Some("complete"));
    }

    /// The transaction of a run must be on the disk before the run's own record is removed.
    /// SQLite's `synchronous` must therefore be 2, which is `full`.
    #[test]
    fn every_transaction_of_an_experiment_is_flushed() {
        let place = TestFolder::new("flushed");
        let record = place.path("e.assay");
        let synchronous = |writer: &ExperimentWriter| -> i64 {
            let pragma = "pragma synchronous";
            writer.connection.query_row(pragma, [], |row| row.get(0)).unwrap()
        };
        let writer = ExperimentWriter::create(&record, &[], &[]).unwrap();
        assert_eq!(synchronous(&writer), 2);
        drop(writer);
        assert_eq!(synchronous(&ExperimentWriter::resume(&record).unwrap().0), 2);
    }

    /// Copies a record and its journal, as a failing machine leaves them on the disk.
    fn copied(record: &Path, to: &Path) {
        for end in ["", "-journal"] {
            let [from, to] = [record, to].map(|path| format!("{}{end}", path.display()));
            fs::copy(from, to).unwrap();
        }
    }

    #[test]
    fn experiment_interrupted_within_a_merge_is_resumed_without_the_run() {
        let place = TestFolder::new("hot-journal");
        let [record, copy] = ["e.assay", "copy.assay"].map(|name| place.path(name));
        let mut writer = ExperimentWriter::create(&record, &[], &[]).unwrap();
        writer.add_run(&row(1), &[], &run(&place, "run.assay", "1")).unwrap();
        let before = fs::read(&record).unwrap();
        let own = run(&place, "run.assay", "2");
        attach(&writer.connection, &own, "own").unwrap();
        let merged = writer.in_transaction(|to| {
            v2::merge(to, "own", 2)?;
            v2::write_run(to, &row(2), &[])?;
            // Changed pages are on the disk before the transaction ends.
            to.cache_flush()?;
            copied(&record, &copy);
            Ok(())
        });
        merged.unwrap();
        assert_ne!(fs::read(&copy).unwrap(), before);
        let (mut resumed, content) = ExperimentWriter::resume(&copy).unwrap();
        assert_eq!(content.runs, [row(1)]);
        resumed.add_run(&row(2), &[], &own).unwrap();
        let runs = |path: &Path| ExperimentContent::read(path).unwrap().runs;
        assert_eq!(runs(&copy), [row(1), row(2)]);
        assert_eq!(runs(&record), [row(1), row(2)]);
        Archive::open_run(&copy, 2).unwrap();
    }

    #[test]
    fn invalid_run_record_leaves_the_experiment_unchanged() {
        let place = TestFolder::new("broken");
        let record = place.path("e.assay");
        let mut writer = ExperimentWriter::create(&record, &[], &[]).unwrap();
        let own = place.path("run.assay");
        fs::write(&own, b"no record").unwrap();
        assert!(writer.add_run(&row(1), &[], &own).is_err());
        assert!(own.exists());
        writer.add_run(&row(1), &[], &run(&place, "other.assay", "1")).unwrap();
        assert_eq!(ExperimentContent::read(&record).unwrap().runs, [row(1)]);
    }
}
