//! The files that a workload file names.
//!
//! Checking a workload is pure; what it reads beside the file itself comes through this trait, so
//! that a test, a fuzzer or an archive can give it what it likes.

use std::collections::BTreeMap;
use std::io;

use crate::wording::quoted;

/// Where the files are that a workload file names, by the names that it gives them.
pub trait Folder {
    /// The whole of a file.
    ///
    /// # Errors
    /// It cannot be read, or has more than `limit` bytes ([`io::ErrorKind::FileTooLarge`]).
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>>;

    /// Whether it has no such file, as far as it knows, for files that are read only by a run.
    fn lacks(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Whether the plan is only looked at, and its files need not be there. Values that come from
    /// them are NULL then.
    fn is_unread(&self) -> bool {
        false
    }
}

/// The files of a plan that is only looked at, as that of a record is.
#[derive(Clone, Copy, Debug)]
pub struct Unread;

impl Folder for Unread {
    fn read(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_unread(&self) -> bool {
        true
    }
}

/// Why a file cannot be read that may have so many bytes, and what to do.
pub(crate) fn unreadable(name: &str, limit: usize, error: &io::Error) -> (String, String) {
    let name = quoted(name);
    match error.kind() {
        io::ErrorKind::NotFound => (
            format!("there is no file {name}"),
            "without a leading `/` it is looked for beside the workload file".to_owned(),
        ),
        io::ErrorKind::FileTooLarge => {
            (format!("{name} has more than {} MiB", limit >> 20), "name a smaller file".to_owned())
        }
        _ => (format!("{name} cannot be read: {error}"), "name a file that can be read".to_owned()),
    }
}

/// Files in memory: a name and its bytes. The empty one has none.
impl Folder for BTreeMap<String, Vec<u8>> {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        match bytes.len() as u64 > limit {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes.clone()),
        }
    }
}
