//! What a database said instead of an answer.

use std::borrow::Cow;
use std::fmt;

use base::{Class, Code, printable};

/// A failed attempt to connect, prepare or run.
///
/// One pointer wide: results are handed up from future to future with each answer, and nearly all
/// of them are without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Told>);

/// What was said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    class: Class,
    code: Code,
    message: Box<str>,
    /// Place of the server in its target's list.
    node: u16,
}

impl Error {
    /// An error with the database's own code and words, which become one [`printable`] line: they
    /// are written to records, logs and terminals.
    pub fn new(class: Class, code: Code, message: impl Into<Box<str>>) -> Error {
        let message = message.into();
        let message = match printable(&message) {
            Cow::Borrowed(_) => message,
            Cow::Owned(changed) => changed.into(),
        };
        Error(Box::new(Told { class, code, message, node: 0 }))
    }

    /// The connection was lost or refused.
    pub fn disconnect(message: impl Into<Box<str>>) -> Error {
        Error::new(Class::Disconnect, Code::DISCONNECT, message)
    }

    /// The same, said by a server that has hung up then.
    pub(crate) fn as_last_words(&self) -> Error {
        Error::new(Class::Disconnect, self.code(), self.message())
    }

    /// The same with the place that it came from, unless it is named already.
    #[cold]
    pub(crate) fn told_by(self, place: &impl fmt::Display) -> Error {
        let place = place.to_string();
        match self.message().contains(&place) {
            true => self,
            false => Error::new(self.class(), self.code(), format!("{place}: {}", self.message())),
        }
    }

    /// What becomes of an error after which the transaction cannot be rolled back, and why it
    /// cannot: nothing good can come of a session that is in the midst of one.
    pub(crate) fn without_rollback(&self, why: &str) -> Error {
        let first = self.message();
        Error::disconnect(format!("{first}, and the transaction cannot be rolled back: {why}"))
    }

    /// The same error of the server at this place of its target's list.
    #[cold]
    pub fn of_node(mut self, node: usize) -> Error {
        self.0.node = node as u16;
        self
    }

    /// Place of the server that refused a connection, in its target's list; 0 if there is one
    /// server.
    pub fn node(&self) -> usize {
        self.0.node.into()
    }

    /// What kind of failure it is.
    pub fn class(&self) -> Class {
        self.0.class
    }

    /// The database's code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The database's words.
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
