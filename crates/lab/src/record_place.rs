//! The path of a record.

use std::ffi::OsStr;
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

    pub(crate) fn create(&self, header: &Header) -> Result<Recorder, RecordError> {
        let path = match self {
            RecordPlace::Exactly(path) => return Recorder::create(path, header),
            RecordPlace::Numbered(path) => path,
        };
        let mut created = Recorder::create(path, header);
        for number in 2..=MOST_NUMBERED {
            let is_taken =
                created.as_ref().is_err_and(|error| *error.kind() == RecordErrorKind::Exists);
            if !is_taken {
                break;
            }
            created = Recorder::create(&numbered(path, number), header);
        }
        created
    }
}

/// Returns a path with a number after its file stem.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}
