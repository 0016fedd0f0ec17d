//! Temporary folders that are removed when this process ends.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Guardian;

/// Maximum number of names that are tried: killed processes with the same process id may have left
/// their folders.
const NAMES: u32 = 1_000;

/// Maximum number of attempts to remove a folder: other processes may write into it meanwhile.
const REMOVALS: u32 = 10;

/// A temporary folder that only its user can enter, removed with its content when it is dropped or
/// this process ends.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// The guardian; `None` if it could not be started. The folder then stays if this process is
    /// killed.
    _guardian: Option<Guardian>,
}

impl TemporaryFolder {
    /// Makes a folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// The parent does not exist or is not writable.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<TemporaryFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let process = std::process::id();
        for _ in 0..NAMES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}-{process}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    // Not before the folder is made: one with this name may be another user's.
                    let absolute = std::path::absolute(&path);
                    let guardian = absolute.and_then(|path| Guardian::of_folder(&path));
                    return Ok(TemporaryFolder { path, _guardian: guardian.ok() });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the guardian, which tries for longer.
        let _ = (0..REMOVALS).find(|_| fs::remove_dir_all(&self.path).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn scratch() -> TemporaryFolder {
        TemporaryFolder::new(&std::env::temp_dir(), "assay-guardian").expect("a folder")
    }

    #[test]
    fn folder_is_private_and_removed_with_its_content() {
        let folder = scratch();
        let path = folder.path().to_owned();
        assert_eq!(fs::metadata(&path).expect("a folder").permissions().mode() & 0o777, 0o700);
        fs::write(path.join("file"), "x").expect("a file");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn taken_folder_name_is_skipped() {
        let parent = scratch();
        let first = TemporaryFolder::new(parent.path(), "a").expect("a folder");
        let (stem, number) = first.path().to_str().expect("a text").rsplit_once('-').expect("a -");
        let next: u32 = number.parse::<u32>().expect("a number") + 1;
        for taken in next..next + 20 {
            let _ = fs::create_dir(format!("{stem}-{taken}"));
        }
        let second = TemporaryFolder::new(parent.path(), "a").expect("a folder");
        assert!(second.path().is_dir() && second.path() != first.path());
    }
}
