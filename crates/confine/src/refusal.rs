//! Reasons why a file is refused.

use std::fmt;
use std::io;

/// The option that lifts the restrictions on the files that a workload file may name.
pub const ALLOW_FILES_OPTION: &str = "--allow-files";

/// The reason why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The path leads out of the folder: it is absolute, or contains a `..`. Also the reason for a
    /// path in a URL that is not UTF-8.
    Outside,
    /// The path leads through a symbolic link.
    Link,
    /// A component of the name begins with a dot: such files configure programs and contain their
    /// keys.
    Hidden,
    /// The name of an output does not end in `.csv`.
    NotCsv,
    /// The output file already exists.
    Exists,
    /// The file is a device or a socket. For a file next to a database: it is neither a regular
    /// file nor a link.
    Special,
    /// The file is a pipe, whose opening may wait for ever.
    Pipe,
    /// The name of a database does not end in one of
    /// [`DATABASE_EXTENSIONS`](crate::DATABASE_EXTENSIONS).
    NotDatabaseName,
    /// The existing file with the name of a database is not an SQLite database.
    NotDatabase,
    /// The journal of a database names another file, which SQLite would delete.
    Journal,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Refusal::Outside => "a name that leads out of the folder",
            Refusal::Link => "a symbolic link",
            Refusal::Hidden => "a name with a part that begins with a dot",
            Refusal::NotCsv => "an output whose name does not end in `.csv`",
            Refusal::Exists => {
                return write!(
                    f,
                    "the file exists: move it, or overwrite it with {ALLOW_FILES_OPTION}"
                );
            }
            Refusal::Special => "a device or a socket",
            Refusal::Pipe => "a pipe in place of a file",
            Refusal::NotDatabaseName => {
                "a database whose name does not end in `.db`, `.sqlite` or `.sqlite3`"
            }
            Refusal::NotDatabase => "a file that is not an SQLite database",
            Refusal::Journal => "a database with a journal that names another file",
        };
        write!(f, "{why} needs {ALLOW_FILES_OPTION}")
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, refusal)
    }
}
