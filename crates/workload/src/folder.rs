//! The files that a workload file names.
//!
//! Checking a workload is pure; what it reads beside the file itself comes through this trait, so
//! that a test, a fuzzer or an archive can give it what it likes.

use std::collections::BTreeMap;
use std::io;

/// Where the files are that a workload file names, by the names that it gives them.
pub trait Folder {
    /// The whole of a file.
    ///
    /// # Errors
    /// It cannot be read, or has more than `limit` bytes ([`io::ErrorKind::FileTooLarge`]).
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>>;
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
