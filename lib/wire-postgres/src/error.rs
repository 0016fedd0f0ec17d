//! What can be wrong with bytes: a [`WireError`] says what, where, and in which field.

use std::fmt;

/// Bytes that are not the protocol, or a text that cannot be put into it.
///
/// After an error while reading, the place of the next message is not known: the connection can
/// only be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// Where, in bytes from the first that was given to the function that failed.
    pub offset: usize,
    /// The message and the field, as the protocol's manual calls them.
    pub context: &'static str,
}

/// What can be wrong with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A length that cannot be: negative, or less than the length field itself.
    Length,
    /// A message longer than its kind may be.
    TooLong,
    /// A field reaches beyond the end of its message.
    Truncated,
    /// A message goes on after its last field.
    Surplus,
    /// A string without the zero byte at its end.
    Unterminated,
    /// A string with a zero byte within, which would end it early.
    ZeroByte,
    /// A message of a type that the manual does not list for this side.
    UnknownType(u8),
    /// A field with a value that the manual does not list.
    Value,
    /// A message that cannot come now.
    Unexpected,
    /// Bytes behind the answer to an SSLRequest: somebody put them there before the encryption
    /// began.
    Stuffed,
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
            ErrorKind::Length => "a length that cannot be",
            ErrorKind::TooLong => "longer than it may be",
            ErrorKind::Truncated => "reaches beyond the end of the message",
            ErrorKind::Surplus => "the message goes on after its last field",
            ErrorKind::Unterminated => "a string that does not end",
            ErrorKind::ZeroByte => "a zero byte within a string",
            ErrorKind::Value => "a value that the protocol does not know",
            ErrorKind::Unexpected => "a message that cannot come now",
            ErrorKind::Stuffed => "bytes that came before the encryption began",
        };
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_and_where() {
        let error = WireError::new(ErrorKind::UnknownType(b'\n'), 7, "a message's type");
        let text = r"a message's type: a message of unknown type `\n` (at byte 7)";
        assert_eq!(error.to_string(), text);
    }
}
