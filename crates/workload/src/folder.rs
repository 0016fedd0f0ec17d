//! Access to the files that a workload file names.
//!
//! Checking a workload is pure: the files that the workload names are read through the trait
//! [`Folder`]. A test, a fuzzer or an archive can supply files of its own.

use std::collections::BTreeMap;
use std::io;

use crate::wording::quoted;

/// A source of the files that a workload file names, by name.
pub trait Folder {
    /// Returns the whole contents of a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or has more than `limit` bytes
    /// ([`io::ErrorKind::FileTooLarge`]).
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>>;

    /// Returns true if the file is known not to exist. Used for files that are not read before the
    /// run.
    fn is_known_missing(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Returns true if the plan is only displayed and its files may be missing. The values that the
    /// files would supply are then NULL.
    fn is_unread(&self) -> bool {
        false
    }
}

/// A folder without files, for plans that are only displayed, such as plans of records.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Folder for NoFiles {
    fn read(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_unread(&self) -> bool {
        true
    }
}

/// Returns the message about a file that cannot be read, and the help text of the message. The file
/// may have up to `limit` bytes.
pub(crate) fn unreadable(name: &str, limit: usize, error: &io::Error) -> (String, String) {
    let name = quoted(name);
    match error.kind() {
        io::ErrorKind::NotFound => (
            format!("there is no file {name}"),
            "without a leading `/` it is looked for in the folder of the workload file".to_owned(),
        ),
        io::ErrorKind::FileTooLarge => {
            (format!("{name} has more than {} MiB", limit >> 20), "name a smaller file".to_owned())
        }
        _ => (format!("{name} cannot be read: {error}"), "name a file that can be read".to_owned()),
    }
}

/// Files in memory: names and their bytes. An empty map has no files.
impl Folder for BTreeMap<String, Vec<u8>> {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.get(name).ok_or(io::ErrorKind::NotFound)?;
        match bytes.len() as u64 > limit {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(bytes.clone()),
        }
    }
}
