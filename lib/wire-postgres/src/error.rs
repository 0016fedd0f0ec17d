//! Protocol errors: a [`WireError`] has the kind, the position and the field.

use std::fmt;

/// An error in bytes that violate the protocol, or in a text that the protocol cannot encode.
///
/// After an error while reading, the position of the next message is unknown: the connection must
/// be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Position of the error in bytes. For decoding, it is a position in the decoded bytes. For
    /// encoding, it is a position in the text that cannot be encoded. If a message, a list or a
    /// value is too long, or the letter of a field of a report is zero, it is a position in the
    /// output buffer.
    pub offset: usize,
    /// The message and the field, as the protocol's manual calls them.
    pub context: &'static str,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An invalid length: negative, or less than the length field itself.
    Length,
    /// A message or a list that is longer than allowed.
    TooLong,
    /// A field reaches beyond the end of its message.
    Truncated,
    /// A message continues after its last field.
    Surplus,
    /// A string without the zero byte at its end.
    Unterminated,
    /// A string with a zero byte inside, which would end it early.
    ZeroByte,
    /// A message of a type that this side does not send, or that this crate does not support.
    UnknownType(u8),
    /// A field with a value that the manual does not list, or that contradicts earlier messages.
    Value,
    /// A message that is not allowed at this point.
    Unexpected,
    /// Bytes after the answer to an SSLRequest: an attacker may have inserted them before
    /// encryption began.
    InjectedBytes,
}

impl WireError {
    pub(crate) fn new(kind: ErrorKind, offset: usize, context: &'static str) -> WireError {
        WireError { kind, offset, context }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WireError { kind, offset, context } = self;
        write!(f, "{context}: {kind} (at byte {offset})")
    }
}

impl std::error::Error for WireError {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            ErrorKind::UnknownType(tag) => {
                return write!(f, "a message of unknown type `{}`", tag.escape_ascii());
            }
            ErrorKind::Length => "an invalid length",
            ErrorKind::TooLong => "longer than the limit",
            ErrorKind::Truncated => "reaches beyond the end of the message",
            ErrorKind::Surplus => "the message goes on after its last field",
            ErrorKind::Unterminated => "a string that does not end",
            ErrorKind::ZeroByte => "a zero byte within a string",
            ErrorKind::Value => "a value that the protocol does not know",
            ErrorKind::Unexpected => "a message that is not allowed here",
            ErrorKind::InjectedBytes => "bytes that came before the encryption began",
        };
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_kind_and_position() {
        let error = WireError::new(ErrorKind::UnknownType(b'\n'), 7, "a message's type");
        let text = r"a message's type: a message of unknown type `\n` (at byte 7)";
        assert_eq!(error.to_string(), text);
    }
}
