//! Temporary folders that are removed when this process ends.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Guardian;

/// Maximum number of names that are tried: killed processes with the same process id may have left
/// their folders.
const MAX_NAMES: u32 = 1_000;

/// Maximum number of attempts to remove a folder: other processes may write into it meanwhile.
const MAX_REMOVALS: u32 = 10;

/// A temporary folder that only the current user can enter. It is removed with its content when
/// this value is dropped or this process ends.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// The guardian; `None` if it could not be started. The folder then stays if this process is
    /// killed.
    _guardian: Option<Guardian>,
}

impl TemporaryFolder {
    /// Creates a folder whose name begins with `prefix`.
    ///
    /// # Errors
    /// The parent does not exist or is not writable, or the names that were tried are all taken.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<TemporaryFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let stem = stem(parent, prefix)?;
        // The guardian comes first: without one, the folder would stay if this process were killed
        // just after creating it.
        let mut guardian = Guardian::of_numbered(&stem).ok();
        let mut guard = |number: Option<u32>| {
            if let Some(guardian) = &mut guardian {
                guardian.guard_folder(number);
            }
        };
        for _ in 0..MAX_NAMES {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = numbered(&stem, number);
            // A folder that exists is another process's, and must not be removed.
            if path.symlink_metadata().is_ok() {
                continue;
            }
            guard(Some(number));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(TemporaryFolder { path, _guardian: guardian }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => guard(None),
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the guardian, which tries for longer.
        let _ = (0..MAX_REMOVALS).find(|_| fs::remove_dir_all(&self.path).is_ok());
    }
}

/// Returns the absolute path of this process's folders in `parent`, without their numbers. Other
/// programs are given the path, and may work in another folder than this process.
fn stem(parent: &Path, prefix: &str) -> io::Result<PathBuf> {
    std::path::absolute(parent.join(format!("{prefix}-{}-", std::process::id())))
}

/// Returns the path of the folder with this number.
fn numbered(stem: &Path, number: u32) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(number.to_string());
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    /// The variable with the parent of the folders that a child process of a test creates.
    const PARENT: &str = "ASSAY_TEST_PARENT";

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

    #[test]
    fn folder_in_a_relative_parent_has_an_absolute_path() {
        let here = std::env::current_dir().expect("a folder");
        assert!(stem(Path::new("t"), "a").expect("a path").starts_with(here.join("t")));
    }

    /// Returns a value as soon as there is one, for at most a minute.
    #[expect(clippy::disallowed_methods, reason = "another process is watched")]
    fn wait_for<T>(what: &str, find: impl Fn() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            match find() {
                Some(found) => return found,
                None => assert!(began.elapsed().as_secs() < 60, "{what}"),
            }
        }
    }

    #[test]
    fn folder_of_killed_process_is_removed() {
        if let Some(parent) = std::env::var_os(PARENT) {
            let _folder = TemporaryFolder::new(parent.as_ref(), "a").expect("a folder");
            std::thread::park();
        }
        for _ in 0..10 {
            let parent = scratch();
            let mut maker = Command::new(std::env::current_exe().expect("this test"));
            maker.args(["folder::tests::folder_of_killed_process_is_removed"]);
            maker.arg("--exact").env(PARENT, parent.path()).stdout(Stdio::null());
            let mut maker = maker.spawn().expect("a process");
            let entry = || fs::read_dir(parent.path()).expect("a folder").next();
            let folder = wait_for("no folder", entry).expect("an entry").path();
            maker.kill().expect("a living process");
            maker.wait().expect("a status");
            wait_for("the folder stays", || (!folder.exists()).then_some(()));
        }
    }

    #[test]
    fn withdrawn_folder_of_another_process_is_kept() {
        let parent = scratch();
        let stem = parent.path().join("a-");
        let other = numbered(&stem, 7);
        fs::create_dir(&other).expect("a folder");
        let mut guardian = Guardian::of_numbered(&stem).expect("a guardian");
        guardian.guard_folder(Some(7));
        guardian.guard_folder(None);
        drop(guardian);
        assert!(other.exists());
        let mut guardian = Guardian::of_numbered(&stem).expect("a guardian");
        guardian.guard_folder(Some(7));
        drop(guardian);
        assert!(!other.exists());
    }
}
