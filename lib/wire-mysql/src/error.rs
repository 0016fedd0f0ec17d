//! What can be wrong with bytes, and where.

use std::fmt;

/// Bytes that cannot be what they should be, or that must not be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where: the number of bytes before the fault in what was given.
    pub offset: usize,
    /// In which message and field.
    pub context: &'static str,
}

/// What is wrong with some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The payload ends before the field does.
    Truncated,
    /// The payload goes on behind its last field.
    Trailing,
    /// The field has a value that it cannot have.
    Value,
    /// A packet is missing, doubled or of another conversation.
    Sequence {
        /// The number that the packet had to have.
        expected: u8,
        /// The number that it has.
        found: u8,
    },
    /// The message cannot come here.
    Order,
    /// Longer than the named limit.
    TooLong,
    /// The other side asks for what this crate does not speak.
    Unsupported,
    /// The other side asks for what would show the password to others.
    Insecure,
}

impl WireError {
    /// The same fault in bytes that were given with `before` others in front of them.
    #[cold]
    pub(crate) fn behind(self, before: usize) -> WireError {
        WireError { offset: self.offset.saturating_add(before), ..self }
    }
}

/// A fault at a place.
#[cold]
pub(crate) fn fault(kind: ErrorKind, offset: usize, context: &'static str) -> WireError {
    WireError { kind, offset, context }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WireError { kind, offset, context } = self;
        write!(f, "{context}: {kind} (at byte {offset})")
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Truncated => f.write_str("it ends too early"),
            ErrorKind::Trailing => f.write_str("bytes are left at its end"),
            ErrorKind::Value => f.write_str("it has a value that it cannot have"),
            ErrorKind::Sequence { expected, found } => {
                write!(f, "packet {found} came in place of packet {expected}")
            }
            ErrorKind::Order => f.write_str("it cannot come here"),
            ErrorKind::TooLong => f.write_str("it is too long"),
            ErrorKind::Unsupported => f.write_str("it is not supported"),
            ErrorKind::Insecure => f.write_str("it would show the password to others"),
        }
    }
}

impl std::error::Error for WireError {}
