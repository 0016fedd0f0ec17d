//! The path of a record.

use std::ffi::OsStr;
use std::iter;
use std::path::{Path, PathBuf};

use archive::{RecordError, RecordErrorKind, Recorder};
use record::Header;

/// The path of a record. An existing file is never overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// This file, which must not exist.
    Exactly(PathBuf),
    /// This file, or one with a number after its name if it exists: two runs that begin in the same
    /// second keep both records.
    Numbered(PathBuf),
}

/// The highest number tried for a record's name.
const MOST_NUMBERED: u32 = 10_000;

impl RecordPlace {
    /// Returns the requested path; the record itself may get a number.
    pub fn path(&self) -> &Path {
        match self {
            RecordPlace::Exactly(path) | RecordPlace::Numbered(path) => path,
        }
    }

    /// Returns a path at which no file exists now; for a requested path, that path in any case.
    pub fn free_path(&self) -> PathBuf {
        match self {
            RecordPlace::Exactly(path) => path.clone(),
            RecordPlace::Numbered(path) => {
                names(path).find(|name| !name.exists()).unwrap_or_else(|| path.clone())
            }
        }
    }

    pub(crate) fn create(&self, header: &Header) -> Result<Recorder, RecordError> {
        let path = match self {
            RecordPlace::Exactly(path) => return Recorder::create(path, header),
            RecordPlace::Numbered(path) => path,
        };
        let is_taken = |created: &Result<Recorder, RecordError>| {
            created.as_ref().is_err_and(|error| *error.kind() == RecordErrorKind::Exists)
        };
        let mut created = names(path).map(|name| Recorder::create(&name, header));
        let free = created.find(|created| !is_taken(created));
        free.unwrap_or_else(|| Recorder::create(path, header))
    }
}

/// Returns a path, then the same path with the numbers from 2 after its file stem.
fn names(path: &Path) -> impl Iterator<Item = PathBuf> {
    iter::once(path.to_owned()).chain((2..=MOST_NUMBERED).map(|number| numbered(path, number)))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}
