//! Writing and reading of the records of experiments.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::WallTime;
use rusqlite::{Connection, OpenFlags};

use crate::error::{RecordError, RecordErrorKind, Trouble, cannot_create, sql_cause};
use crate::open::open_experiment;
use crate::v2::{Figure, LookRow, NoteRow, RunRow, RunState};
use crate::{v1, v2};

/// The longest wait of a transaction for a reader of the record.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The record of an experiment in the process of writing.
///
/// Everything is written between runs. A transaction is on the disk when it has ended, so that the
/// record holds every run that had ended before the process was killed or the machine failed.
#[derive(Debug)]
pub struct ExperimentWriter {
    path: PathBuf,
    connection: Connection,
}

/// The content of an experiment's record beside the rows of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentContent {
    /// Facts about the experiment, by key.
    pub facts: Vec<(String, String)>,
    /// The runs, in the order in which they were made.
    pub runs: Vec<RunRow>,
    /// The looks.
    pub looks: Vec<LookRow>,
    /// The remarks.
    pub notes: Vec<NoteRow>,
}

impl ExperimentContent {
    /// Reads the record of an experiment.
    ///
    /// # Errors
    /// The file does not exist, is not the record of an experiment, or is damaged.
    pub fn read(path: &Path) -> Result<ExperimentContent, RecordError> {
        let opened = open_experiment(path)?;
        content(&opened.connection)
            .map_err(|trouble| trouble.into_read_error(path, "the tables of the experiment"))
    }

    /// Returns a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn content(of: &Connection) -> Result<ExperimentContent, Trouble> {
    Ok(ExperimentContent {
        facts: v2::read_facts(of)?,
        runs: v2::read_runs(of)?,
        looks: v2::read_looks(of)?,
        notes: v2::read_notes(of)?,
    })
}

impl ExperimentWriter {
    /// Creates the record of an experiment with facts about it.
    ///
    /// # Errors
    /// The file exists or cannot be created.
    pub fn create(path: &Path, facts: &[(&str, String)]) -> Result<ExperimentWriter, RecordError> {
        let path = std::path::absolute(path).map_err(|error| cannot_create(path, error))?;
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        created.map_err(|error| cannot_create(&path, error))?;
        let begun = connect(&path).and_then(|connection| {
            begin_file(&connection, facts)?;
            Ok(connection)
        });
        match begun {
            Ok(connection) => Ok(ExperimentWriter { path, connection }),
            Err(trouble) => {
                // The file was created above; a failure to remove it adds nothing to the error.
                let _ = fs::remove_file(&path);
                let error = RecordError::new(&path, RecordErrorKind::CannotCreate);
                Err(match trouble {
                    Trouble::Sql(cause) => error.because(sql_cause(cause)),
                    Trouble::Content(what) => error.because(what),
                })
            }
        }
    }

    /// Opens the record of an interrupted experiment to continue it, and returns its content.
    ///
    /// # Errors
    /// As [`ExperimentContent::read`], or the file cannot be written.
    pub fn resume(path: &Path) -> Result<(ExperimentWriter, ExperimentContent), RecordError> {
        // Reading rolls back what a killed writer left half done.
        let content = ExperimentContent::read(path)?;
        let path = std::path::absolute(path).map_err(|error| cannot_create(path, error))?;
        let connection = connect(&path).map_err(|trouble| trouble.into_write_error(&path))?;
        Ok((ExperimentWriter { path, connection }, content))
    }

    /// Returns the path of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the rows of a run in from its own record, in one transaction, and removes that.
    ///
    /// # Errors
    /// The record cannot be written; the run's own record then stays.
    pub fn add_run(
        &mut self,
        row: &RunRow,
        figures: &[Figure],
        own: &Path,
    ) -> Result<(), RecordError> {
        let written = self.merge(row, figures, own);
        written.map_err(|trouble| trouble.into_write_error(&self.path))?;
        // A file that cannot be removed holds nothing that is not in the record.
        let _ = fs::remove_file(own);
        Ok(())
    }

    fn merge(&mut self, row: &RunRow, figures: &[Figure], own: &Path) -> Result<(), Trouble> {
        let own = std::path::absolute(own).unwrap_or_else(|_| own.to_owned());
        let own = own.to_str().ok_or_else(|| Trouble::content("its path is not UTF-8"))?;
        self.connection.execute("attach database ?1 as own", [own])?;
        let merged = self.in_transaction(|to| {
            v2::merge(to, "own", row.run)?;
            v2::write_run(to, row, figures)
        });
        let detached = self.connection.execute_batch("detach database own");
        merged?;
        Ok(detached?)
    }

    /// Changes the state of runs.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn set_state(&mut self, runs: &[u32], state: RunState) -> Result<(), RecordError> {
        self.written(|to| runs.iter().try_for_each(|run| v2::write_state(to, *run, state)))
    }

    /// Writes facts; a later value replaces an earlier one.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn set_facts(&mut self, facts: &[(&str, String)]) -> Result<(), RecordError> {
        self.written(|to| facts.iter().try_for_each(|(key, value)| v2::write_fact(to, key, value)))
    }

    /// Records a look.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn add_look(&mut self, look: LookRow) -> Result<(), RecordError> {
        self.written(|to| v2::write_look(to, look))
    }

    /// Adds a remark.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn add_note(&mut self, at: WallTime, text: &str) -> Result<(), RecordError> {
        self.written(|to| v2::write_note(to, at, text))
    }

    fn written(
        &mut self,
        write: impl FnOnce(&Connection) -> Result<(), Trouble>,
    ) -> Result<(), RecordError> {
        self.in_transaction(write).map_err(|trouble| trouble.into_write_error(&self.path))
    }

    fn in_transaction(
        &mut self,
        write: impl FnOnce(&Connection) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let transaction = self.connection.transaction()?;
        write(&transaction)?;
        Ok(transaction.commit()?)
    }
}

fn connect(path: &Path) -> Result<Connection, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(LOCK_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "page_size", 8_192)?;
    Ok(connection)
}

fn begin_file(connection: &Connection, facts: &[(&str, String)]) -> Result<(), Trouble> {
    connection.execute_batch("begin immediate")?;
    connection.pragma_update(None, "application_id", v1::APPLICATION)?;
    connection.pragma_update(None, "user_version", v2::VERSION)?;
    for (_, statement) in v2::statements() {
        connection.execute_batch(statement)?;
    }
    for (key, value) in facts {
        v2::write_fact(connection, key, value)?;
    }
    Ok(connection.execute_batch("commit")?)
}

#[cfg(test)]
mod tests {
    use base::{AccountId, Nanos};
    use record::{End, EndKind};

    use super::*;
    use crate::export;
    use crate::reader::Archive;
    use crate::support::{Place, header};
    use crate::writer::{Second, Writer};

    fn row(run: u32) -> RunRow {
        RunRow {
            run,
            round: 0,
            position: run - 1,
            arm: format!("arm-{run}"),
            attempt: 0,
            state: RunState::Counts,
            verdict: "valid".to_owned(),
            objections: String::new(),
            seed: u64::MAX - 5,
        }
    }

    /// Writes the record of a run with this setting.
    fn run(place: &Place, name: &str, setting: &str) -> PathBuf {
        let path = place.path(name);
        let mut writer = Writer::create(&path, &header()).unwrap();
        writer.set_setting("work_mem", setting).unwrap();
        writer.save_second(AccountId(0), 0, &Second::default()).unwrap();
        let end = End { at: Nanos(1), kind: EndKind::Completed, text: String::new() };
        writer.seal(&end, &[Default::default()], 0).unwrap();
        writer.commit().unwrap();
        path
    }

    #[test]
    fn runs_are_read_one_by_one_as_they_were_written() {
        let place = Place::new("experiment");
        let record = place.path("e.assay");
        let facts = [("ask", "what?".to_owned())];
        let mut writer = ExperimentWriter::create(&record, &facts).unwrap();
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
        assert_eq!(content.fact("ask"), Some("what?"));
        let kind = |opened: Result<Archive, RecordError>| opened.err().unwrap().kind().clone();
        assert_eq!(kind(Archive::open_run(&record, 3)), RecordErrorKind::NoRun(3));
        assert_eq!(kind(Archive::open(&record)), RecordErrorKind::Experiment);
    }

    #[test]
    fn experiment_is_resumed_with_its_looks_and_states() {
        let place = Place::new("resumed");
        let record = place.path("e.assay");
        let mut writer = ExperimentWriter::create(&record, &[]).unwrap();
        writer.add_run(&row(1), &[], &run(&place, "run.assay", "1")).unwrap();
        writer.add_look(LookRow { pairs: 8, is_decided: false }).unwrap();
        writer.add_note(WallTime(7), "odd").unwrap();
        drop(writer);
        let (mut writer, content) = ExperimentWriter::resume(&record).unwrap();
        assert_eq!(content.looks, [LookRow { pairs: 8, is_decided: false }]);
        assert_eq!(content.notes, [NoteRow { at: WallTime(7), text: "odd".to_owned() }]);
        writer.set_state(&[1], RunState::Abandoned).unwrap();
        writer.set_facts(&[("state", "complete".to_owned())]).unwrap();
        let content = ExperimentContent::read(&record).unwrap();
        assert_eq!(content.runs[0].state, RunState::Abandoned);
        assert_eq!(content.fact("state"), Some("complete"));
    }

    #[test]
    fn run_whose_record_is_no_record_leaves_the_experiment_as_it_was() {
        let place = Place::new("broken");
        let record = place.path("e.assay");
        let mut writer = ExperimentWriter::create(&record, &[]).unwrap();
        let own = place.path("run.assay");
        fs::write(&own, b"no record").unwrap();
        assert!(writer.add_run(&row(1), &[], &own).is_err());
        assert!(own.exists());
        writer.add_run(&row(1), &[], &run(&place, "other.assay", "1")).unwrap();
        assert_eq!(ExperimentContent::read(&record).unwrap().runs, [row(1)]);
    }
}
