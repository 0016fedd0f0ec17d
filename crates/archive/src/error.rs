//! Errors of writing and reading records.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of writing or reading a record. Its `Display` names the file, the problem and the
/// remedy; the cause is its `source`.
#[derive(Debug)]
pub struct RecordError {
    path: PathBuf,
    kind: RecordErrorKind,
    source: Option<Cause>,
}

/// The underlying error.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// The problem with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordErrorKind {
    /// The path of a new record exists already.
    Exists,
    /// A new record cannot be created at this path.
    CannotCreate,
    /// A record cannot be continued: the disk is full or has failed.
    CannotWrite,
    /// Another process continues the experiment of this record.
    InUse,
    /// A reviewer's note cannot be added to the record.
    NoNote(NoteRefusal),
    /// The recorder's thread panicked.
    Crashed,
    /// The record of a run that has measured nothing cannot be removed.
    CannotRemove,
    /// No file at this path.
    NotFound,
    /// A directory, or something else that is not a file.
    NotAFile,
    /// The file cannot be read.
    CannotRead,
    /// A file of a different kind, which the text describes.
    NotARecord(&'static str),
    /// A compressed file, as a published bundle is.
    Compressed,
    /// A record of a later version.
    Newer {
        /// Format version of the record.
        version: i64,
        /// Version of Assay that wrote the record, if recorded.
        assay: Option<String>,
    },
    /// The record belongs to an experiment; a single run was expected.
    Experiment,
    /// The record belongs to a single run; an experiment was expected.
    SingleRun,
    /// The experiment has no run with this number.
    NoRun {
        /// Number of the requested run.
        run: u32,
        /// Number of the experiment's last run; 0 if it has none.
        last: u32,
    },
    /// The recorded trials of a search are not those that this version of Assay would make.
    OtherSearch,
    /// A record with damaged content; the text says where.
    Damaged(String),
    /// Data from the record could not be written elsewhere.
    Output,
}

impl RecordErrorKind {
    /// Returns true if the path has no file, or if its file cannot be read or is not the expected
    /// record.
    pub fn is_unreadable(&self) -> bool {
        match self {
            RecordErrorKind::NotFound
            | RecordErrorKind::NotAFile
            | RecordErrorKind::CannotRead
            | RecordErrorKind::NotARecord(_)
            | RecordErrorKind::Compressed
            | RecordErrorKind::Newer { .. }
            | RecordErrorKind::Experiment
            | RecordErrorKind::SingleRun
            | RecordErrorKind::NoRun { .. }
            | RecordErrorKind::OtherSearch
            | RecordErrorKind::Damaged(_) => true,
            RecordErrorKind::Exists
            | RecordErrorKind::CannotCreate
            | RecordErrorKind::CannotWrite
            | RecordErrorKind::InUse
            | RecordErrorKind::NoNote(_)
            | RecordErrorKind::Crashed
            | RecordErrorKind::CannotRemove
            | RecordErrorKind::Output => false,
        }
    }
}

/// The reason why a reviewer's note cannot be added to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteRefusal {
    /// The run has not ended, or was killed.
    NotEnded,
    /// The file or its folder cannot be written.
    Unwritable,
    /// The record already has this number of notes, the maximum.
    Many(u32),
}

impl NoteRefusal {
    fn sentence(self, path: &Path) -> String {
        let path = path.display();
        match self {
            NoteRefusal::NotEnded => format!(
                "the run of `{path}` has not ended, or was killed: notes are added to the records \
                 of runs that have ended"
            ),
            NoteRefusal::Unwritable => format!(
                "cannot add a note to `{path}`: name a record that you may write to, in a folder \
                 that you may write to"
            ),
            NoteRefusal::Many(most) => format!(
                "`{path}` has {most} notes, as many as a record may have: write this one elsewhere"
            ),
        }
    }
}

impl RecordError {
    pub(crate) fn new(path: &Path, kind: RecordErrorKind) -> RecordError {
        RecordError { path: path.to_owned(), kind, source: None }
    }

    pub(crate) fn with_cause(self, source: impl Into<Cause>) -> RecordError {
        RecordError { source: Some(source.into()), ..self }
    }

    /// Returns the problem.
    pub fn kind(&self) -> &RecordErrorKind {
        &self.kind
    }

    /// Returns the path of the record.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            RecordErrorKind::Exists => write!(
                f,
                "`{path}` exists, and a record is never overwritten: name another file with --out, \
                 or move this one away"
            ),
            RecordErrorKind::CannotCreate => write!(
                f,
                "cannot create the record `{path}`: with --out, name a file in a directory that \
                 exists, can be written to and has space"
            ),
            RecordErrorKind::CannotWrite => f.write_str(&cannot_write(&self.path)),
            RecordErrorKind::InUse => write!(
                f,
                "`{path}` is in use by another process: wait until that has ended, or end it"
            ),
            RecordErrorKind::NoNote(refusal) => f.write_str(&refusal.sentence(&self.path)),
            RecordErrorKind::Crashed => {
                write!(
                    f,
                    "the recorder of `{path}` crashed; this is a bug in Assay, please report it"
                )
            }
            RecordErrorKind::CannotRemove => write!(
                f,
                "cannot remove the record `{path}`, which holds no requests: remove it yourself"
            ),
            RecordErrorKind::NotFound => write!(
                f,
                "there is no file `{path}`: name a record, as `assay run` printed it at its end"
            ),
            RecordErrorKind::NotAFile => {
                write!(f, "`{path}` is not a file: name a record, its name ends in .assay")
            }
            RecordErrorKind::CannotRead => {
                write!(f, "cannot read `{path}`: name a record that you have the right to read")
            }
            RecordErrorKind::NotARecord(found) => write!(
                f,
                "`{path}` is not a record of Assay: it is {found}; name a file that `assay run` \
                 wrote"
            ),
            RecordErrorKind::Compressed => f.write_str(&compressed_file(&self.path)),
            RecordErrorKind::Newer { version, assay } => {
                f.write_str(&newer_version(&self.path, *version, assay.as_deref()))
            }
            RecordErrorKind::Experiment => write!(
                f,
                "`{path}` is the record of an experiment: name one of its runs with --run"
            ),
            RecordErrorKind::SingleRun => {
                write!(f, "`{path}` is the record of a single run: leave out --run")
            }
            RecordErrorKind::NoRun { run, last } => {
                write!(f, "the experiment of `{path}` has no run {run}: {}", existing_runs(*last))
            }
            RecordErrorKind::OtherSearch => f.write_str(&other_trials(&self.path)),
            RecordErrorKind::Damaged(place) => write!(
                f,
                "the record `{path}` is damaged: {place}; use a copy of it if there is one"
            ),
            RecordErrorKind::Output => write!(
                f,
                "cannot write what was read from `{path}`: write to a disk that has room for it"
            ),
        }
    }
}

/// Returns the message about a record that cannot be continued.
fn cannot_write(path: &Path) -> String {
    format!(
        "cannot continue to write the record `{}`: make room on its disk, or name a file on \
         another one with --out",
        path.display()
    )
}

/// Returns the part of a message that names the runs of an experiment.
fn existing_runs(last: u32) -> String {
    match last {
        0 => "it has no run yet".to_owned(),
        1 => "its only run is 1".to_owned(),
        last => format!("its runs are 1 to {last}"),
    }
}

fn other_trials(path: &Path) -> String {
    format!(
        "the search of `{}` was made by a version of Assay that tries other values: read its \
         trials with --run, or search again",
        path.display()
    )
}

fn compressed_file(path: &Path) -> String {
    format!(
        "`{}` is not a record of Assay: it is compressed, as a published bundle is; unpack it with \
         `tar xzf`, and name the record in it",
        path.display()
    )
}

fn newer_version(path: &Path, version: i64, assay: Option<&str>) -> String {
    let writer = assay.map(|assay| format!(" by Assay {assay}")).unwrap_or_default();
    format!(
        "`{}` was written{writer} in version {version} of the format, later than any that this \
         program knows: read it with that Assay or a later one",
        path.display()
    )
}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as &(dyn Error + 'static))
    }
}

/// An error without the path of the record.
#[derive(Debug)]
pub(crate) enum RowError {
    /// An error of SQLite.
    Sql(rusqlite::Error),
    /// A value that Assay never writes.
    Content(String),
}

impl RowError {
    pub(crate) fn content(what: impl Into<String>) -> RowError {
        RowError::Content(what.into())
    }

    /// Converts the error to an error of a writer.
    pub(crate) fn into_write_error(self, path: &Path) -> RecordError {
        match self {
            RowError::Sql(error) => {
                RecordError::new(path, RecordErrorKind::CannotWrite).with_cause(sql_cause(error))
            }
            RowError::Content(_) => self.into_read_error(path, ""),
        }
    }

    /// Converts the error to a reader's error; `place` names the part of the record that was read.
    /// SQLite errors about the environment (locks, permissions, a full or failing disk) are not
    /// damage.
    pub(crate) fn into_read_error(self, path: &Path, place: &str) -> RecordError {
        let damaged = |what: String| RecordError::new(path, RecordErrorKind::Damaged(what));
        match self {
            RowError::Content(what) if place.is_empty() => damaged(what),
            RowError::Content(what) => damaged(format!("{place}: {what}")),
            RowError::Sql(error) => match error.sqlite_error_code() {
                Some(code) if is_environmental(code) => {
                    RecordError::new(path, RecordErrorKind::CannotRead).with_cause(sql_cause(error))
                }
                Some(_) | None => damaged(place.to_owned()).with_cause(sql_cause(error)),
            },
        }
    }
}

fn is_environmental(code: rusqlite::ErrorCode) -> bool {
    use rusqlite::ErrorCode as Code;
    let surroundings = [
        Code::PermissionDenied,
        Code::DatabaseBusy,
        Code::DatabaseLocked,
        Code::OutOfMemory,
        Code::ReadOnly,
        Code::SystemIoFailure,
        Code::DiskFull,
        Code::CannotOpen,
        Code::FileLockingProtocolFailed,
    ];
    surroundings.contains(&code)
}

/// Returns an error of SQLite as a cause. The error's own cause only describes the error code, and
/// is left out if the message already ends with this description.
pub(crate) fn sql_cause(error: rusqlite::Error) -> Cause {
    let words = error.to_string();
    let meaning =
        error.sqlite_error().map(|number| rusqlite::ffi::code_to_str(number.extended_code));
    match meaning.is_some_and(|meaning| words.ends_with(meaning)) {
        true => words.into(),
        false => error.into(),
    }
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> RowError {
        RowError::Sql(error)
    }
}

/// Converts a file system error to the error of a record that cannot be created.
pub(crate) fn cannot_create(path: &Path, error: io::Error) -> RecordError {
    match error.kind() {
        io::ErrorKind::AlreadyExists if path.is_dir() => {
            RecordError::new(path, RecordErrorKind::NotAFile)
        }
        io::ErrorKind::AlreadyExists => RecordError::new(path, RecordErrorKind::Exists),
        _ => RecordError::new(path, RecordErrorKind::CannotCreate).with_cause(error),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_full_disk_is_no_damage_of_a_record() {
        let kind = |number| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(number), None);
            RowError::Sql(error).into_read_error(Path::new("r.assay"), "its tables").kind().clone()
        };
        assert_eq!(kind(ffi::SQLITE_FULL), RecordErrorKind::CannotRead);
        let damaged = RecordErrorKind::Damaged("its tables".to_owned());
        assert_eq!(kind(ffi::SQLITE_CORRUPT), damaged);
    }

    /// Returns the texts of [`sql_cause`] for an SQLite error and of its source, if it has one.
    fn chain(number: i32, words: Option<&str>) -> (String, Option<String>) {
        let words = words.map(str::to_owned);
        let cause = sql_cause(rusqlite::Error::SqliteFailure(ffi::Error::new(number), words));
        (cause.to_string(), cause.source().map(|source| source.to_string()))
    }

    #[test]
    fn meaning_of_an_sqlite_code_is_a_cause_unless_the_message_has_it() {
        let meaning = ffi::code_to_str(ffi::SQLITE_FULL);
        let numbered = format!("Error code 13: {meaning}");
        assert_eq!(chain(13, Some(meaning)), (meaning.to_owned(), None));
        assert_eq!(chain(13, None), (numbered.clone(), None));
        assert_eq!(chain(13, Some("disk is full")), ("disk is full".to_owned(), Some(numbered)));
    }
}
