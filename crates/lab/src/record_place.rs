//! The path of a record.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use archive::{RecordError, RecordErrorKind, Recorder};
use record::Header;

/// The path of a record. An existing file is never overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordPlace {
    /// The given path, which must not exist.
    Exactly(PathBuf),
    /// The given path or, if a file exists there, a path with a number after the name. Two runs
    /// that begin in the same second therefore get different files.
    Numbered(PathBuf),
}

/// The highest number tried for a record's name.
const MAX_NUMBER: u32 = 10_000;

impl RecordPlace {
    /// Returns the requested path. The path of the record itself may have a number in addition.
    pub fn path(&self) -> &Path {
        match self {
            RecordPlace::Exactly(path) | RecordPlace::Numbered(path) => path,
        }
    }

    /// Creates a file with `create`, at the requested path or at the first numbered path that is
    /// not taken. `create` must fail if the file exists, and `is_taken` must recognise this error.
    /// No other process can then take a path between its choice and the creation of the file.
    /// Returns the last result of `create`; if all paths are taken, its first result.
    pub fn create_with<T>(
        &self,
        mut create: impl FnMut(&Path) -> T,
        is_taken: impl Fn(&T) -> bool,
    ) -> T {
        let created = create(self.path());
        match self {
            RecordPlace::Numbered(path) if is_taken(&created) => {
                let mut others = numbered_paths(path).map(|name| create(&name));
                others.find(|created| !is_taken(created)).unwrap_or(created)
            }
            RecordPlace::Exactly(_) | RecordPlace::Numbered(_) => created,
        }
    }

    pub(crate) fn create(&self, header: &Header) -> Result<Recorder, RecordError> {
        self.create_with(
            |path| Recorder::create(path, header),
            |created| created.as_ref().is_err_and(|error| *error.kind() == RecordErrorKind::Exists),
        )
    }
}

/// Returns the paths with a number after the file stem, from 2 on.
fn numbered_paths(path: &Path) -> impl Iterator<Item = PathBuf> {
    (2..=MAX_NUMBER).map(|number| numbered_path(path, number))
}

fn numbered_path(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;

    use guardian::TemporaryFolder;

    use super::*;

    /// Creates an empty file.
    fn create(path: &Path) -> io::Result<PathBuf> {
        File::create_new(path).map(|_| path.to_owned())
    }

    fn is_taken(created: &io::Result<PathBuf>) -> bool {
        created.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    }

    #[test]
    fn name_that_another_process_takes_meanwhile_gets_the_next_number() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-names").unwrap();
        let path = folder.path().join("r.assay");
        let place = RecordPlace::Numbered(path.clone());
        let created = place.create_with(
            |name| {
                // Another process takes the name first, twice.
                if name != folder.path().join("r-3.assay") {
                    create(name).unwrap();
                }
                create(name)
            },
            is_taken,
        );
        assert_eq!(created.unwrap(), folder.path().join("r-3.assay"));
        let created = RecordPlace::Exactly(path).create_with(create, is_taken);
        assert_eq!(created.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn threads_that_create_a_record_of_one_name_at_once_all_get_one() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-names").unwrap();
        let place = RecordPlace::Numbered(folder.path().join("r.assay"));
        let mut names: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..16).map(|_| scope.spawn(|| place.create_with(create, is_taken))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 16, "{names:?}");
    }
}
