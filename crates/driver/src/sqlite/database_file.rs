//! The location of the database file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use base::{Class, Code, Endpoint};
use guardian::TemporaryFolder;

use super::faults::is_out_of_descriptors;
use crate::Error;

/// A database file that exists or can be created. Its path is absolute: a relative path would
/// depend on the working directory, and SQLite would interpret `file:…` and `:memory:` itself.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    /// True if the file did not exist.
    pub(super) is_new: bool,
    /// The temporary folder, removed when this is dropped; `None` for a file that the URL names.
    /// Because the whole folder is removed, the files that SQLite creates next to the database are
    /// removed too. The thread of an abandoned connection may still be ending, and then cannot
    /// create such files again.
    folder: Option<TemporaryFolder>,
}

impl DatabaseFile {
    /// Finds the file of an endpoint.
    pub(super) fn find(endpoint: &Endpoint) -> Result<DatabaseFile, Error> {
        DatabaseFile::check(endpoint)?;
        match endpoint {
            Endpoint::Temporary => DatabaseFile::temporary(),
            Endpoint::File(path) => DatabaseFile::named(path),
            Endpoint::Named(_) | Endpoint::Network { .. } => {
                unreachable!("a `sqlite:` URL names a file or nothing")
            }
        }
    }

    fn temporary() -> Result<DatabaseFile, Error> {
        let parent = std::env::temp_dir();
        let folder = TemporaryFolder::new(&parent, "assay").map_err(|cause| {
            let parent = parent.display();
            unusable(format!(
                "cannot make a folder in `{parent}` for the temporary database: {cause}; \
                 set TMPDIR or name a file: sqlite:FILE"
            ))
        })?;
        Ok(DatabaseFile {
            path: folder.path().join("database"),
            is_new: true,
            folder: Some(folder),
        })
    }

    /// Checks that the file exists already.
    pub(super) fn must_exist(&self) -> Result<(), Error> {
        match self.is_new {
            false => Ok(()),
            true if self.folder.is_some() => {
                // Class `Statement`: the flag contradicts the URL; no file access has failed.
                let why = "--loaded needs a file: a temporary database is empty";
                Err(Error::url(why.to_owned()))
            }
            true => Err(unusable(format!("there is no database file `{}`", self.path.display()))),
        }
    }

    /// Checks that an endpoint can be a database, without accessing files.
    pub(super) fn check(endpoint: &Endpoint) -> Result<(), Error> {
        match endpoint {
            Endpoint::File(path) if path.as_os_str() == ":memory:" => Err(Error::url(
                "each connection to `:memory:` would have its own database; write `sqlite:` for a \
                 temporary file that the connections share"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn named(path: &Path) -> Result<DatabaseFile, Error> {
        let shown = path.display();
        let absolute = std::path::absolute(path)
            .map_err(|cause| unusable(format!("cannot use the path `{shown}`: {cause}")))?;
        let is_new = match fs::metadata(&absolute) {
            Ok(found) if found.is_dir() => {
                return Err(unusable(format!("`{shown}` is a directory; name a file in it")));
            }
            Ok(found) if !found.is_file() => {
                return Err(unusable(format!(
                    "`{shown}` is not a regular file; name another file"
                )));
            }
            Ok(_) => {
                File::open(&absolute).map_err(|cause| unreadable(path, &cause))?;
                false
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => true,
            Err(cause) => return Err(unreadable(path, &cause)),
        };
        match absolute.parent() {
            Some(parent) if is_new && !parent.is_dir() => Err(unusable(format!(
                "there is no directory `{}` for the database file `{shown}`; create it first",
                parent.display()
            ))),
            _ => Ok(DatabaseFile { path: absolute, is_new, folder: None }),
        }
    }
}

fn unreadable(path: &Path, cause: &io::Error) -> Error {
    let message = format!("cannot read the database file `{}`: {cause}", path.display());
    match is_out_of_descriptors(cause) {
        true => cannot_open(Class::TooManyConnections, format!("{message}; raise `ulimit -n`")),
        false => unusable(message),
    }
}

fn unusable(message: String) -> Error {
    cannot_open(Class::Disconnect, message)
}

fn cannot_open(class: Class, message: String) -> Error {
    Error::new(class, Code::new("SQLITE_CANTOPEN"), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> TemporaryFolder {
        TemporaryFolder::new(&std::env::temp_dir(), "assay").unwrap()
    }

    fn refused(path: &Path) -> String {
        let error = DatabaseFile::find(&Endpoint::File(path.to_owned())).unwrap_err();
        error.message().replace(&*path.to_string_lossy(), "PATH")
    }

    #[test]
    fn temporary_folder_is_removed_with_its_content() {
        let place = DatabaseFile::find(&Endpoint::Temporary).unwrap();
        let folder = place.path.parent().unwrap().to_owned();
        assert!(place.is_new && folder.is_dir());
        fs::write(&place.path, "x").unwrap();
        fs::write(folder.join("database-wal"), "y").unwrap();
        drop(place);
        assert!(!folder.exists());
    }

    #[test]
    fn temporary_database_paths_are_unique() {
        let places: Vec<DatabaseFile> =
            (0..10).map(|_| DatabaseFile::find(&Endpoint::Temporary).unwrap()).collect();
        for (index, place) in places.iter().enumerate() {
            assert!(places[..index].iter().all(|other| other.path != place.path));
        }
    }

    #[test]
    fn existing_database_file_is_not_new() {
        let folder = scratch();
        let path = folder.path().join("file:x?y.db");
        let place = |path: &Path| DatabaseFile::find(&Endpoint::File(path.to_owned())).unwrap();
        assert!(place(&path).is_new);
        fs::write(&path, "").unwrap();
        assert!(!place(&path).is_new);
        assert_eq!(place(&path).path, path);
        assert!(place(Path::new("file:y.db")).path.is_absolute());
    }

    #[test]
    fn a_path_that_cannot_be_a_database_is_refused_with_the_reason() {
        let folder = scratch();
        assert_eq!(refused(folder.path()), "`PATH` is a directory; name a file in it");
        let message = refused(&folder.path().join("no/such/x.db"));
        let parent = folder.path().join("no/such");
        assert_eq!(
            message,
            format!(
                "there is no directory `{}` for the database file `PATH`; create it first",
                parent.display()
            )
        );
        assert_eq!(
            refused(Path::new("/dev/null")),
            "`PATH` is not a regular file; name another file"
        );
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(
            refused(&file.join("x.db")),
            "cannot read the database file `PATH`: Not a directory (os error 20)"
        );
        assert!(refused(Path::new(":memory:")).contains("write `sqlite:`"));
    }

    #[test]
    fn existing_file_without_a_free_descriptor_is_too_many_connections() {
        let error = |number| unreadable(Path::new("x"), &io::Error::from_raw_os_error(number));
        for error in [error(23), error(24)] {
            assert_eq!(error.class(), Class::TooManyConnections);
            assert!(error.message().ends_with("; raise `ulimit -n`"), "{}", error.message());
        }
        assert_eq!(error(13).class(), Class::Disconnect);
    }
}
