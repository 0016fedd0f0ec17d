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
    /// The server to which the error is attributed; the first node if it is attributed to none.
    node: NodeId,
    /// True if the message contains the address of the server.
    names_server: bool,
    /// True if a new session ended because the server did not answer in time.
    is_unanswered: bool,
}

impl Error {
    /// Creates an error with a code and a message, from the database or from Assay itself.
    ///
    /// The message becomes one [`printable`] line, because it is written to records, logs and
    /// terminals.
    pub fn new(class: Class, code: Code, message: impl Into<Box<str>>) -> Error {
        let message = message.into();
        let message = match printable(&message) {
            Cow::Borrowed(_) => message,
            Cow::Owned(changed) => changed.into(),
        };
        Error(Box::new(ErrorDetails {
            class,
            code,
            message,
            node: NodeId::default(),
            names_server: false,
            is_unanswered: false,
        }))
    }

    /// Creates the error of a lost or refused connection.
    pub fn disconnect(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Disconnect, Code::DISCONNECT, message)
    }

    /// Creates the error of a new session whose first statements the server did not answer in time:
    /// the server may have stopped, or may be a pooler without a free session.
    pub fn unanswered(message: impl Into<Box<str>>) -> Error {
        let mut error = Error::disconnect(message);
        error.0.is_unanswered = true;
        error
    }

    /// Creates the error of a URL that cannot be used as written.
    pub(crate) fn url(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Statement, Code::new("url"), message)
    }

    /// Creates the error of a lost or refused connection, with a message that contains the address
    /// of the server.
    #[cold]
    pub(crate) fn disconnect_naming_server(message: impl Into<Box<str>>) -> Error {
        let mut error = Error::disconnect(message);
        error.0.names_server = true;
        error
    }

    /// Returns the same error in class `Disconnect`, for a server that closed the connection after
    /// it had sent the error.
    pub(crate) fn as_disconnect(&self) -> Error {
        Error(Box::new(ErrorDetails { class: Class::Disconnect, ..(*self.0).clone() }))
    }

    /// Returns the same error with the address of the server in front of the message, unless the
    /// message has it already.
    #[cold]
    pub(crate) fn with_server(mut self, address: &impl fmt::Display) -> Error {
        if !self.0.names_server {
            self.0.message = format!("{address}: {}", self.message()).into();
            self.0.names_server = true;
        }
        self
    }

    /// Returns the error to report when the transaction cannot be rolled back after this error, for
    /// the reason `why`. It is a disconnect: a session stuck in a transaction is unusable.
    pub(crate) fn without_rollback(&self, why: &str) -> Error {
        let first = self.message();
        let both = format!("{first}, and the transaction cannot be rolled back: {why}");
        let mut disconnect = Error::disconnect(both);
        disconnect.0.names_server = self.0.names_server;
        disconnect
    }

    /// Returns the same error, attributed to this server of its target.
    #[cold]
    pub fn of_node(mut self, node: NodeId) -> Error {
        self.0.node = node;
        self
    }

    /// Returns the server to which a connection attempt failed; the first node for an error that is
    /// attributed to no server.
    pub fn node(&self) -> NodeId {
        self.0.node
    }

    /// Returns the class of the failure.
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// Returns true if a new session ended because the server did not answer in time; false for
    /// every other error, such as a closed connection.
    pub fn is_unanswered(&self) -> bool {
        self.0.is_unanswered
    }

    /// Returns the code, from the database or from Assay itself.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the message, from the database or from Assay itself.
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

/// Converts a network error: the error of a connection, whose message contains the address, or the
/// error of a URL.
impl From<net::Error> for Error {
    #[cold]
    fn from(error: net::Error) -> Error {
        let mut own = Error::new(error.class(), error.code(), error.message());
        own.0.names_server = true;
        own
    }
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        Error::url(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_the_server_is_added_once() {
        let of_server = Error::new(Class::Statement, Code::new("42P01"), "no table on db1:5432");
        let named = of_server.with_server(&"db1:5432");
        assert_eq!(named.message(), "db1:5432: no table on db1:5432");
        assert_eq!(named.clone().with_server(&"db1:5432"), named);
        let stuck = named.without_rollback("gone").with_server(&"db1:5432");
        let words =
            "db1:5432: no table on db1:5432, and the transaction cannot be rolled back: gone";
        assert_eq!((stuck.class(), stuck.message()), (Class::Disconnect, words));
        let lost = net::Error::disconnect("db1:5432 closed the connection");
        let lost = Error::from(lost).as_disconnect().with_server(&"db1:5432");
        assert_eq!(lost.message(), "db1:5432 closed the connection");
        let malformed_message = Error::disconnect_naming_server("db1:5432 does not speak SQL");
        assert_eq!(malformed_message.clone().with_server(&"db1:5432"), malformed_message);
    }
}
