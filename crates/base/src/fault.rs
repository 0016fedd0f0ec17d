//! Database errors: their class and code.

use std::fmt;

/// The class of an error, for the engine's decisions and the record's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// The database understood the statement and refused it: syntax, missing table, wrong type.
    Statement,
    /// A constraint was violated: duplicate key, foreign key, check.
    Constraint,
    /// The transaction conflicted with a concurrent one and may succeed if retried: deadlock,
    /// serialization failure, lock wait timeout.
    Conflict,
    /// The request took longer than its `timeout`, or was still in flight when the drain ended.
    Timeout,
    /// The connection ended while the request was in flight, or the target refuses connections.
    Disconnect,
    /// The server accepts no further connection.
    TooManyConnections,
    /// The server is out of space or memory, lacks a permission, or is shutting down.
    Server,
    /// A request returned or changed a number of rows that the workload does not expect.
    WrongResult,
}

impl Class {
    /// Every class, in the order in which they are reported.
    pub const ALL: [Class; 8] = [
        Class::Statement,
        Class::Constraint,
        Class::Conflict,
        Class::Timeout,
        Class::Disconnect,
        Class::TooManyConnections,
        Class::Server,
        Class::WrongResult,
    ];

    /// Returns the name of this class in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Statement => "statement",
            Class::Constraint => "constraint",
            Class::Conflict => "conflict",
            Class::Timeout => "timeout",
            Class::Disconnect => "disconnect",
            Class::TooManyConnections => "too-many-connections",
            Class::Server => "server",
            Class::WrongResult => "wrong-result",
        }
    }

    /// Returns the class with a name, if there is one.
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Returns true if no connection is left after an error of this class.
    pub fn ends_connection(self) -> bool {
        matches!(self, Class::Timeout | Class::Disconnect | Class::TooManyConnections)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error code as text. A database's own is an SQLSTATE (`40001`), an error number (`1213`) or an
/// SQLite result code (`SQLITE_BUSY`); Assay's are words (`timeout`, `disconnect`). At most
/// [`Code::CAPACITY`] bytes, stored inline: counting an error allocates nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    length: u8,
    bytes: [u8; Code::CAPACITY],
}

impl Code {
    /// Maximum length of a code in bytes; longer ones are cut.
    pub const CAPACITY: usize = 31;
    /// The code of a request that ended by its timeout.
    pub const TIMEOUT: Code = Code::literal("timeout");
    /// The code of a request that was still unanswered when the drain of the run ended.
    pub const DRAIN: Code = Code::literal("drain");
    /// The code of a request whose connection was lost or refused.
    pub const DISCONNECT: Code = Code::literal("disconnect");
    /// The code of a connection that was accepted, for example by a full pooler, but got no
    /// session.
    pub const NO_SESSION: Code = Code::literal("no-session");

    /// The code of a request that returned or changed an unexpected number of rows.
    pub const ROWS: Code = Code::literal("rows");

    /// The code of a request whose returned rows take more memory than `query-results-file` allows
    /// for one request or for the run.
    pub const RESULTS: Code = Code::literal("results");

    /// Makes a code from a text, cut at a character boundary if it is too long.
    pub fn new(text: &str) -> Code {
        let mut end = text.len().min(Code::CAPACITY);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Code::literal(&text[..end])
    }

    const fn literal(text: &str) -> Code {
        let mut bytes = [0; Code::CAPACITY];
        let mut i = 0;
        while i < text.len() {
            bytes[i] = text.as_bytes()[i];
            i += 1;
        }
        Code { length: text.len() as u8, bytes }
    }

    /// Returns the code as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or("?")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Code({})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_code_is_truncated_at_a_character_boundary() {
        assert_eq!(Code::new("40001").as_str(), "40001");
        assert_eq!(Code::new(&"é".repeat(20)).as_str(), "é".repeat(15));
        assert_eq!(Code::new(""), Code::new(""));
    }

    #[test]
    fn every_class_is_found_by_its_name() {
        for class in Class::ALL {
            assert_eq!(Class::from_name(class.name()), Some(class));
        }
        assert_eq!(Class::from_name("?"), None);
    }
}
