//! Classification of SQLite's result codes.
//!
//! The code of an error is the documented name of SQLite's extended result code; the message is
//! SQLite's own (<https://www.sqlite.org/rescode.html>).

use std::fs::File;
use std::io;
use std::path::Path;

use base::{Class, Code};
use rusqlite::ffi;

use super::confined::REMEDY;
use crate::Error;

/// Converts an error of a statement.
pub(super) fn fault(error: rusqlite::Error) -> Error {
    let (code, words) = code_and_message(error);
    let words = match code & PRIMARY {
        ffi::SQLITE_AUTH => format!("{words}: {REMEDY}"),
        _ => words,
    };
    Error::new(class(code), Code::new(name(code)), words)
}

/// Converts an error of opening a database. The class is `TooManyConnections` if no file descriptor
/// is left; otherwise `Disconnect`, whatever the reason. SQLite does not report why it could not
/// open a file, so the file is opened once more without SQLite.
pub(super) fn fault_at_connect(path: &Path, error: rusqlite::Error) -> Error {
    let (code, words) = code_and_message(error);
    let file = path.display();
    let cause = match code & PRIMARY {
        ffi::SQLITE_CANTOPEN => open_error(path),
        _ => None,
    };
    let (class, message) = match cause {
        Some(cause) if is_out_of_descriptors(&cause) => (
            Class::TooManyConnections,
            format!("cannot open the database file `{file}`: {cause}; raise `ulimit -n`"),
        ),
        Some(cause) => {
            (Class::Disconnect, format!("cannot open the database file `{file}`: {cause}"))
        }
        None => {
            let remedy = match code & PRIMARY {
                ffi::SQLITE_NOTADB => "; name another file",
                _ => "",
            };
            let message = format!("cannot use the database file `{file}`: {words}{remedy}");
            (Class::Disconnect, message)
        }
    };
    Error::new(class, Code::new(name(code)), message)
}

/// Returns the reason why a file cannot be opened, or created if it does not exist.
fn open_error(path: &Path) -> Option<io::Error> {
    let cause = File::open(path).err()?;
    if cause.kind() != io::ErrorKind::NotFound {
        return Some(cause);
    }
    match File::create_new(path) {
        Ok(_) => {
            // The file was created only as a test.
            let _ = std::fs::remove_file(path);
            Some(cause)
        }
        Err(cause) => Some(cause),
    }
}

/// Builds the error for a text that SQLite accepts, but that does not hold exactly one statement.
pub(super) fn statement_count_error(why: &str) -> Error {
    Error::new(
        Class::Statement,
        Code::new(name(ffi::SQLITE_MISUSE)),
        format!("the text holds {why}; write exactly one statement"),
    )
}

/// Builds the error for a number of values that differs from the number of placeholders.
pub(super) fn wrong_number_of_values(given: usize, wanted: usize) -> Error {
    Error::new(
        Class::Statement,
        Code::new(name(ffi::SQLITE_RANGE)),
        format!("the statement has {wanted} placeholders and was given {given} values"),
    )
}

/// Builds the error for a request whose caller has gone away meanwhile.
pub(super) fn interrupted() -> Error {
    Error::new(Class::Timeout, Code::new(name(ffi::SQLITE_INTERRUPT)), "interrupted")
}

/// Returns true for `ENFILE` and `EMFILE` on Linux and the BSDs.
pub(super) fn is_out_of_descriptors(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}

fn code_and_message(error: rusqlite::Error) -> (i32, String) {
    match error {
        rusqlite::Error::SqliteFailure(error, words) => {
            let words = words.unwrap_or_else(|| ffi::code_to_str(error.extended_code).to_owned());
            (error.extended_code, words)
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => (error.extended_code, msg),
        // The rest are errors of the binding itself, such as wrong use of it, or a NUL in a path.
        other => (ffi::SQLITE_MISUSE, other.to_string()),
    }
}

/// Mask of the primary code in an extended result code.
const PRIMARY: i32 = 0xff;

/// Returns true for an error that the same text always causes, unlike an interruption or a lock.
pub(super) fn is_about_text(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            error.extended_code & PRIMARY == ffi::SQLITE_ERROR
        }
        _ => false,
    }
}

fn class(code: i32) -> Class {
    if code == ffi::SQLITE_READONLY_DBMOVED {
        return Class::Disconnect;
    }
    match code & PRIMARY {
        ffi::SQLITE_CONSTRAINT => Class::Constraint,
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL | ffi::SQLITE_SCHEMA => {
            Class::Conflict
        }
        ffi::SQLITE_INTERRUPT => Class::Timeout,
        ffi::SQLITE_FULL
        | ffi::SQLITE_IOERR
        | ffi::SQLITE_NOMEM
        | ffi::SQLITE_READONLY
        | ffi::SQLITE_CORRUPT
        // `SQLITE_NOTADB` is about an attached file: the main file is checked when it is opened.
        | ffi::SQLITE_NOTADB
        | ffi::SQLITE_CANTOPEN
        | ffi::SQLITE_PERM
        | ffi::SQLITE_NOLFS
        | ffi::SQLITE_INTERNAL => Class::Server,
        _ => Class::Statement,
    }
}

/// Defines `name`, which returns the name of a result code. An extended code that is not in the
/// list gets the name of its primary code, and an unknown primary code gets `SQLITE_ERROR`.
macro_rules! names {
    ($($name:ident)*) => {
        fn name(code: i32) -> &'static str {
            match code {
                $(ffi::$name => stringify!($name),)*
                _ if code & PRIMARY != code => name(code & PRIMARY),
                _ => "SQLITE_ERROR",
            }
        }
    };
}

names! {
    SQLITE_ERROR SQLITE_INTERNAL SQLITE_PERM SQLITE_ABORT SQLITE_BUSY SQLITE_LOCKED SQLITE_NOMEM
    SQLITE_READONLY SQLITE_INTERRUPT SQLITE_IOERR SQLITE_CORRUPT SQLITE_NOTFOUND SQLITE_FULL
    SQLITE_CANTOPEN SQLITE_PROTOCOL SQLITE_EMPTY SQLITE_SCHEMA SQLITE_TOOBIG SQLITE_CONSTRAINT
    SQLITE_MISMATCH SQLITE_MISUSE SQLITE_NOLFS SQLITE_AUTH SQLITE_FORMAT SQLITE_RANGE SQLITE_NOTADB

    SQLITE_ABORT_ROLLBACK SQLITE_AUTH_USER
    SQLITE_BUSY_RECOVERY SQLITE_BUSY_SNAPSHOT SQLITE_BUSY_TIMEOUT
    SQLITE_CANTOPEN_CONVPATH SQLITE_CANTOPEN_DIRTYWAL SQLITE_CANTOPEN_FULLPATH
    SQLITE_CANTOPEN_ISDIR SQLITE_CANTOPEN_NOTEMPDIR SQLITE_CANTOPEN_SYMLINK
    SQLITE_CONSTRAINT_CHECK SQLITE_CONSTRAINT_COMMITHOOK SQLITE_CONSTRAINT_DATATYPE
    SQLITE_CONSTRAINT_FOREIGNKEY SQLITE_CONSTRAINT_FUNCTION SQLITE_CONSTRAINT_NOTNULL
    SQLITE_CONSTRAINT_PINNED SQLITE_CONSTRAINT_PRIMARYKEY SQLITE_CONSTRAINT_ROWID
    SQLITE_CONSTRAINT_TRIGGER SQLITE_CONSTRAINT_UNIQUE SQLITE_CONSTRAINT_VTAB
    SQLITE_CORRUPT_INDEX SQLITE_CORRUPT_SEQUENCE SQLITE_CORRUPT_VTAB
    SQLITE_ERROR_MISSING_COLLSEQ SQLITE_ERROR_RETRY SQLITE_ERROR_SNAPSHOT
    SQLITE_IOERR_ACCESS SQLITE_IOERR_AUTH SQLITE_IOERR_BEGIN_ATOMIC SQLITE_IOERR_BLOCKED
    SQLITE_IOERR_CHECKRESERVEDLOCK SQLITE_IOERR_CLOSE SQLITE_IOERR_COMMIT_ATOMIC
    SQLITE_IOERR_CONVPATH SQLITE_IOERR_CORRUPTFS SQLITE_IOERR_DATA SQLITE_IOERR_DELETE
    SQLITE_IOERR_DELETE_NOENT SQLITE_IOERR_DIR_CLOSE SQLITE_IOERR_DIR_FSYNC SQLITE_IOERR_FSTAT
    SQLITE_IOERR_FSYNC SQLITE_IOERR_GETTEMPPATH SQLITE_IOERR_IN_PAGE SQLITE_IOERR_LOCK
    SQLITE_IOERR_MMAP SQLITE_IOERR_NOMEM SQLITE_IOERR_RDLOCK SQLITE_IOERR_READ
    SQLITE_IOERR_ROLLBACK_ATOMIC SQLITE_IOERR_SEEK SQLITE_IOERR_SHMLOCK SQLITE_IOERR_SHMMAP
    SQLITE_IOERR_SHMOPEN SQLITE_IOERR_SHMSIZE SQLITE_IOERR_SHORT_READ SQLITE_IOERR_TRUNCATE
    SQLITE_IOERR_UNLOCK SQLITE_IOERR_VNODE SQLITE_IOERR_WRITE
    SQLITE_LOCKED_SHAREDCACHE SQLITE_LOCKED_VTAB
    SQLITE_READONLY_CANTINIT SQLITE_READONLY_CANTLOCK SQLITE_READONLY_DBMOVED
    SQLITE_READONLY_DIRECTORY SQLITE_READONLY_RECOVERY SQLITE_READONLY_ROLLBACK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: i32, class: Class, name: &str) {
        let error = fault(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert_eq!((error.class(), error.code().as_str()), (class, name));
    }

    #[test]
    fn every_code_has_its_documented_name_and_a_class() {
        for (code, class, name) in [
            (2067, Class::Constraint, "SQLITE_CONSTRAINT_UNIQUE"),
            (1555, Class::Constraint, "SQLITE_CONSTRAINT_PRIMARYKEY"),
            (5, Class::Conflict, "SQLITE_BUSY"),
            (517, Class::Conflict, "SQLITE_BUSY_SNAPSHOT"),
            (6, Class::Conflict, "SQLITE_LOCKED"),
            (9, Class::Timeout, "SQLITE_INTERRUPT"),
            (13, Class::Server, "SQLITE_FULL"),
            (3594, Class::Server, "SQLITE_IOERR_CHECKRESERVEDLOCK"),
            (7, Class::Server, "SQLITE_NOMEM"),
            (8, Class::Server, "SQLITE_READONLY"),
            (1032, Class::Disconnect, "SQLITE_READONLY_DBMOVED"),
            (11, Class::Server, "SQLITE_CORRUPT"),
            (26, Class::Server, "SQLITE_NOTADB"),
            (1, Class::Statement, "SQLITE_ERROR"),
            (20, Class::Statement, "SQLITE_MISMATCH"),
            (25, Class::Statement, "SQLITE_RANGE"),
        ] {
            check(code, class, name);
        }
    }

    #[test]
    fn unknown_extended_code_has_its_primary_name() {
        check(19 | 99 << 8, Class::Constraint, "SQLITE_CONSTRAINT");
        check(77, Class::Statement, "SQLITE_ERROR");
    }

    #[test]
    fn exhausted_descriptors_are_too_many_connections() {
        let error = std::io::Error::from_raw_os_error;
        assert!(is_out_of_descriptors(&error(24)) && is_out_of_descriptors(&error(23)));
        assert!(!is_out_of_descriptors(&error(2)));
    }

    #[test]
    fn code_names_fit_the_capacity() {
        for code in 0..=0xffff {
            assert!(name(code).len() <= Code::CAPACITY, "{}", name(code));
        }
    }
}
