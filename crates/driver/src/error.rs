//! Errors that databases return.

use std::borrow::Cow;
use std::fmt;

use base::{Class, Code, NodeId, OptionError, printable};

/// A failed attempt to connect, prepare or run.
///
/// One pointer wide, because every answer passes a result from future to future and nearly all of
/// these results are `Ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorDetails>);

/// Class, code and message of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ErrorDetails {
    class: Class,
    code: Code,
    message: Box<str>,
    /// The server, if its target has several.
    node: NodeId,
}

impl Error {
    /// Creates an error with the database's own code and message.
    ///
    /// The message becomes one [`printable`] line, because it is written to records, logs and
    /// terminals.
    pub fn new(class: Class, code: Code, message: impl Into<Box<str>>) -> Error {
        let message = message.into();
        let message = match printable(&message) {
            Cow::Borrowed(_) => message,
            Cow::Owned(changed) => changed.into(),
        };
        Error(Box::new(ErrorDetails { class, code, message, node: NodeId::default() }))
    }

    /// Creates the error of a lost or refused connection.
    pub fn disconnect(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Disconnect, Code::DISCONNECT, message)
    }

    /// Creates the error of a URL that cannot be used as written.
    pub(crate) fn url(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Statement, Code::new("url"), message)
    }

    /// Returns the same error in class `Disconnect`, for a server that hung up after sending it.
    pub(crate) fn as_disconnect(&self) -> Error {
        Error::new(Class::Disconnect, self.code(), self.message())
    }

    /// Returns the same error with `place` in front of the message, unless the message contains it
    /// already.
    #[cold]
    pub(crate) fn with_source(self, place: &impl fmt::Display) -> Error {
        let place = place.to_string();
        match self.message().contains(&place) {
            true => self,
            false => Error::new(self.class(), self.code(), format!("{place}: {}", self.message())),
        }
    }

    /// Returns the error to report when the transaction cannot be rolled back after this one, for
    /// the reason `why`. It is a disconnect: a session stuck in a transaction is unusable.
    pub(crate) fn without_rollback(&self, why: &str) -> Error {
        let first = self.message();
        Error::disconnect(format!("{first}, and the transaction cannot be rolled back: {why}"))
    }

    /// Returns the same error, attributed to this server of its target.
    #[cold]
    pub fn of_node(mut self, node: NodeId) -> Error {
        self.0.node = node;
        self
    }

    /// Returns the server that refused a connection; the first if the target has one.
    pub fn node(&self) -> NodeId {
        self.0.node
    }

    /// Returns the class of the failure.
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// Returns the database's code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the database's message.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0.message, self.0.code)
    }
}

impl std::error::Error for Error {}

impl From<net::Error> for Error {
    #[cold]
    fn from(error: net::Error) -> Error {
        Error::new(error.class(), error.code(), error.message())
    }
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        Error::url(error.to_string())
    }
}
