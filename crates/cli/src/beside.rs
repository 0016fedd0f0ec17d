//! The files beside a workload file.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use workload::Folder;

/// The folder of a workload file. A name with a leading `/` is looked for elsewhere.
#[derive(Debug)]
pub(crate) struct Beside {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// What was read of it: a run must not write over its own source.
    pub(crate) read: RefCell<Vec<PathBuf>>,
}

impl Beside {
    /// Nothing was read of it yet.
    pub(crate) fn folder(folder: PathBuf) -> Beside {
        Beside { folder, read: RefCell::default() }
    }

    /// The folder that a file lies in.
    pub(crate) fn file(path: &Path) -> Beside {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Beside::folder(folder.unwrap_or(Path::new(".")).to_owned())
    }
}

impl Folder for Beside {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let path = self.folder.join(name);
        let file = File::open(&path)?;
        self.read.borrow_mut().push(path);
        // What is no regular file has no length that could be asked for, and perhaps no end.
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > limit {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        }
    }

    fn lacks(&self, name: &str) -> bool {
        matches!(self.folder.join(name).try_exists(), Ok(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_bare_name_is_the_present_one() {
        assert_eq!(Beside::file(Path::new("a.ini")).folder, Path::new("."));
        assert_eq!(Beside::file(Path::new("b/a.ini")).folder, Path::new("b"));
        assert_eq!(Beside::file(Path::new("/a.ini")).folder, Path::new("/"));
    }

    #[test]
    fn a_file_without_end_is_too_large() {
        let error = Beside::folder("/".into()).read("dev/zero", 1_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
