//! Consistent copies of records.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::create::{connect, disable_triggers};
use crate::error::{RecordError, RecordErrorKind, RowError, cannot_create, sql_cause};
use crate::open::{OpenedRecord, open, open_experiment};

/// Copies a record, of a run or an experiment, to a new file, byte by byte.
///
/// Changes that a killed writer left incomplete are rolled back first. No writer changes the record
/// during the copy, so the copy needs no journal. A program that writes the record waits up to a
/// minute for the copy, and then fails: copy only records that are complete. The pages of an
/// experiment's record are checked for damage. Seals, and the pages of a run's record, are not.
///
/// # Errors
/// The file is not a record or is damaged, or the copy exists or cannot be written.
pub fn copy_record(path: &Path, to: &Path) -> Result<(), RecordError> {
    let opened = match open(path, None) {
        Err(error) if *error.kind() == RecordErrorKind::Experiment => open_experiment(path)?,
        other => other?,
    };
    let from = opened.file(path);
    begin_read(&opened).map_err(|failure| failure.into_read_error(path, "its first page"))?;
    let unreadable =
        |cause: io::Error| RecordError::new(path, RecordErrorKind::CannotRead).with_cause(cause);
    let mut copy = File::create_new(to).map_err(|cause| cannot_create(to, cause))?;
    // Closing this file at the end of the function ends all locks of this process on it, SQLite's
    // too. Nothing is read after that.
    let mut from = File::open(from).map_err(unreadable)?;
    let copied = io::copy(&mut from, &mut copy);
    copied.map_err(|cause| RecordError::new(to, RecordErrorKind::CannotWrite).with_cause(cause))?;
    Ok(())
}

/// Removes a fact from the copy of an experiment's record, and overwrites its bytes in the file.
///
/// # Errors
/// The copy cannot be written, or is not the record of an experiment.
pub fn remove_fact(copy: &Path, key: &str) -> Result<(), RecordError> {
    let removed = connect(copy).and_then(|connection| {
        disable_triggers(&connection)?;
        connection.execute_batch("pragma secure_delete = on")?;
        connection.execute("delete from experiment where key = ?", [key])?;
        Ok(())
    });
    removed.map_err(|failure| match failure {
        RowError::Sql(cause) => {
            RecordError::new(copy, RecordErrorKind::CannotWrite).with_cause(sql_cause(cause))
        }
        RowError::Content(_) => failure.into_read_error(copy, "the facts of the experiment"),
    })
}

/// Begins a read transaction, which lasts as long as the connection and keeps writers away.
fn begin_read(opened: &OpenedRecord) -> Result<(), RowError> {
    opened.connection.execute_batch("begin")?;
    Ok(opened.connection.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::experiment::{ExperimentContent, ExperimentWriter};
    use crate::open::tests::killed;
    use crate::reader::Archive;
    use crate::support::TestFolder;

    #[test]
    fn removed_fact_leaves_no_bytes() {
        let place = TestFolder::new("forgotten");
        let (path, to) = (place.path("e.assay"), place.path("copy.assay"));
        let facts = [("path", "/home/ann/e.ini".to_owned()), ("state", "complete".to_owned())];
        drop(ExperimentWriter::create(&path, &facts, &[]).unwrap());
        copy_record(&path, &to).unwrap();
        let has_path = || fs::read(&to).unwrap().windows(9).any(|part| part == b"/home/ann");
        assert!(has_path());
        remove_fact(&to, "path").unwrap();
        assert!(!has_path());
        let content = ExperimentContent::read(&to).unwrap();
        assert_eq!((content.fact("path"), content.fact("state")), (None, Some("complete")));
    }

    #[test]
    fn copy_of_a_record_with_a_hot_journal_is_whole_without_it() {
        let place = TestFolder::new("copied-hot");
        let (path, to) = (killed(&place), place.path("copy.assay"));
        copy_record(&path, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), fs::read(&path).unwrap());
        let settings = Archive::open(&to).unwrap().settings().unwrap();
        assert_eq!(settings, [("kept".to_owned(), "yes".to_owned())]);
        let error = copy_record(&path, &to).unwrap_err();
        assert_eq!((error.kind(), error.path()), (&RecordErrorKind::Exists, to.as_path()));
        fs::write(&path, "no record").unwrap();
        assert!(copy_record(&path, &place.path("other.assay")).is_err());
    }
}
