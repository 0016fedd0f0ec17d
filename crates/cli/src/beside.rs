//! The files beside a workload file.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use workload::Folder;

/// The folder of a workload file. A name with a leading `/` is looked for elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Beside(pub(crate) PathBuf);

impl Beside {
    /// The folder that a file lies in.
    pub(crate) fn file(path: &Path) -> Beside {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Beside(folder.unwrap_or(Path::new(".")).to_owned())
    }
}

impl Folder for Beside {
    fn read(&self, name: &str, limit: u64) -> io::Result<Vec<u8>> {
        let file = File::open(self.0.join(name))?;
        // What is no regular file has no length that could be asked for, and perhaps no end.
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        match bytes.len() as u64 > limit {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        }
    }

    fn lacks(&self, name: &str) -> bool {
        matches!(self.0.join(name).try_exists(), Ok(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_bare_name_is_the_present_one() {
        assert_eq!(Beside::file(Path::new("a.ini")).0, Path::new("."));
        assert_eq!(Beside::file(Path::new("b/a.ini")).0, Path::new("b"));
        assert_eq!(Beside::file(Path::new("/a.ini")).0, Path::new("/"));
    }

    #[test]
    fn a_file_without_end_is_too_large() {
        let error = Beside("/".into()).read("dev/zero", 1_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
