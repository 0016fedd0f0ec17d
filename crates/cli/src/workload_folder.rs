//! Access to the files that a workload file refers to.

use std::cell::RefCell;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use confine::Files;
use workload::Folder;

/// Access to the files that a workload file names, with a list of those read so far.
#[derive(Debug)]
pub(crate) struct WorkloadFolder {
    /// The folders in which files may be opened.
    pub(crate) files: Files,
    /// Paths of the files read so far: a run must not overwrite its own input.
    pub(crate) read: RefCell<Vec<PathBuf>>,
}

impl WorkloadFolder {
    /// Creates an instance that has read nothing yet.
    pub(crate) fn new(files: Files) -> WorkloadFolder {
        WorkloadFolder { files, read: RefCell::default() }
    }
}

/// Returns the folder of a file; `.` for a name without a folder.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

impl Folder for WorkloadFolder {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.files.open(name)?;
        self.read.borrow_mut().push(self.files.input(name));
        // A file that is not regular has no known length, and may be endless.
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > limit {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        }
    }

    fn is_known_missing(&self, name: &str) -> bool {
        self.files.is_regular(name).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_of_a_bare_name_is_the_current_one() {
        assert_eq!(folder_of(Path::new("a.ini")), Path::new("."));
        assert_eq!(folder_of(Path::new("b/a.ini")), Path::new("b"));
        assert_eq!(folder_of(Path::new("/a.ini")), Path::new("/"));
    }

    #[test]
    fn endless_file_is_refused_as_too_large() {
        let error = WorkloadFolder::new(Path::new("/").into()).read("dev/zero", 1_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
