//! The folder for the temporary files of tests.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

/// A folder whose files are in memory (`tmpfs(5)`).
const IN_MEMORY: &str = "/dev/shm";

/// Smallest free space for the files of tests, in bytes: several times what they use at a time.
const LEAST_SPACE: u64 = 8 << 30;

/// Returns a folder in memory for the temporary files of tests. Returns `None` if the user has
/// chosen a folder with `TMPDIR`, if there is too little memory, or if programs in this folder
/// cannot be executed: then the tests use the usual folder.
///
/// A private server has a thousand files, which are soon removed. Before an ext4 file system
/// without a journal creates a file, it looks at the files that were removed in the last minutes.
/// On such a disk, tests with servers take up to three times as much processor time.
pub(super) fn folder() -> Option<&'static Path> {
    let folder = Path::new(IN_MEMORY);
    let is_chosen = std::env::var_os("TMPDIR").is_some();
    (!is_chosen && free_space(folder) >= LEAST_SPACE).then_some(folder)
}

/// Returns the usable space of the file system of a folder, in bytes; 0 if there is no such folder.
fn free_space(folder: &Path) -> u64 {
    statvfs(folder).map_or(0, |space| usable(space.f_bavail * space.f_frsize, space.f_flag))
}

/// Returns the number of usable bytes of a file system with `free` bytes and these flags: 0 if
/// programs cannot be executed there, because tests write programs and execute them.
fn usable(free: u64, flags: StatVfsMountFlags) -> u64 {
    match flags.contains(StatVfsMountFlags::NOEXEC) {
        true => 0,
        false => free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_that_is_missing_has_no_space() {
        assert!(free_space(&std::env::temp_dir()) > 0);
        assert_eq!(free_space(Path::new("/nonexistent")), 0);
    }

    #[test]
    fn file_system_without_programs_has_no_space() {
        assert_eq!(usable(9, StatVfsMountFlags::NODEV), 9);
        assert_eq!(usable(9, StatVfsMountFlags::NODEV | StatVfsMountFlags::NOEXEC), 0);
    }
}
