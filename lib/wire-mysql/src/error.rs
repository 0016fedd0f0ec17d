//! Protocol errors and their positions.

use std::fmt;

/// A protocol error: received bytes that are malformed or request something insecure, or data that
/// cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Position of the error in the given bytes: the number of bytes before the error. Without
    /// meaning for data that cannot be sent.
    pub offset: usize,
    /// Name of the message and the field.
    pub context: &'static str,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The payload ends before the field does.
    Truncated,
    /// The payload continues after its last field.
    Trailing,
    /// The value of the field is invalid.
    Value,
    /// A packet is missing, duplicated or from another exchange.
    Sequence {
        /// Expected sequence number.
        expected: u8,
        /// Actual sequence number.
        found: u8,
    },
    /// The message is not allowed at this point.
    Order,
    /// The message or field is too long, or there are too many commands or authentication switches.
    TooLong,
    /// The other side requires a feature that this crate does not support.
    Unsupported,
    /// The other side requests something that would expose the password.
    Insecure,
}

impl WireError {
    /// Returns the same error with an offset that is larger by `before` bytes.
    #[cold]
    pub(crate) fn shifted_by(self, before: usize) -> WireError {
        WireError { offset: self.offset.saturating_add(before), ..self }
    }
}

/// Creates an error at an offset.
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
            ErrorKind::Value => f.write_str("it has an invalid value"),
            ErrorKind::Sequence { expected, found } => {
                write!(f, "packet {found} came in place of packet {expected}")
            }
            ErrorKind::Order => f.write_str("it is not allowed here"),
            ErrorKind::TooLong => f.write_str("it is too long"),
            ErrorKind::Unsupported => f.write_str("it is not supported"),
            ErrorKind::Insecure => f.write_str("it would show the password to others"),
        }
    }
}

impl std::error::Error for WireError {}
