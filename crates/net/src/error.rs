//! Errors of connections, and of the URLs that describe them.

use std::fmt;

use base::{Class, Code, OptionError};

/// A failed connection, or a URL that cannot be used as written.
///
/// The type is one pointer wide, because every read passes a result from future to future, and
/// nearly all of these results are `Ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Failure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    class: Class,
    code: Code,
    message: Box<str>,
}

impl Error {
    /// Creates an error from its class, its code and a message.
    #[cold]
    pub fn new(class: Class, code: Code, message: impl Into<Box<str>>) -> Error {
        Error(Box::new(Failure { class, code, message: message.into() }))
    }

    /// Creates the error of a lost or refused connection.
    #[cold]
    pub fn disconnect(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Disconnect, Code::DISCONNECT, message)
    }

    /// Creates the error of a URL, or of a file named in a URL, that cannot be used.
    #[cold]
    pub fn url(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Statement, Code::new("url"), message)
    }

    /// Returns the class of the failure.
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// Returns the code of the failure.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the message, including the remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        Error::url(error.to_string())
    }
}
