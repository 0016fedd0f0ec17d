//! What a database said instead of an answer.

use std::fmt;

use base::{Class, Code};

/// A failed attempt to connect, prepare or run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    class: Class,
    code: Code,
    message: Box<str>,
}

impl Error {
    /// An error with the database's own code and words.
    pub fn new(class: Class, code: Code, message: impl Into<Box<str>>) -> Error {
        Error { class, code, message: message.into() }
    }

    /// The connection was lost or refused.
    pub fn disconnect(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Disconnect, Code::DISCONNECT, message)
    }

    /// What becomes of an error after which the transaction cannot be rolled back, and why it
    /// cannot: nothing good can come of a session that is in the midst of one.
    pub(crate) fn without_rollback(&self, why: &str) -> Error {
        let first = self.message();
        Error::disconnect(format!("{first}, and the transaction cannot be rolled back: {why}"))
    }

    /// What kind of failure it is.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The database's code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The database's words.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Error {}
