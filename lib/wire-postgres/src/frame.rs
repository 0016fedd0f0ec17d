//! The frame of a message: its type, its length and its body. Chapter "Message Formats".
//!
//! ```text
//!  ┌──────┬────────────────────────┬───────────┐
//!  │ type │ length, itself counted │ body …    │   a startup packet has no type
//!  └──────┴────────────────────────┴───────────┘
//!     1               4              length - 4
//! ```

use crate::{ErrorKind, WireError};

/// Length of the header of a message, in bytes.
pub(crate) const HEADER: usize = 5;

/// Longest body of a message that is usually short, in bytes. Libpq treats a longer one as loss of
/// synchronization, and so does this crate.
pub(crate) const MAX_SHORT_BODY: u32 = 30_000;

/// Longest body of a message that must be read as a whole, in bytes: descriptions, notifications,
/// and all messages before a session has begun.
pub(crate) const MAX_WHOLE_BODY: u32 = 1 << 20;

/// Longest body of an error or a notice, in bytes; it can contain any text that a statement raises.
pub(crate) const MAX_REPORT_BODY: u32 = 16 << 20;

/// Longest body of a row, of COPY's data, and of a client's Bind, Parse or Query, in bytes: the
/// limit of an Int32.
pub(crate) const MAX_BODY: u32 = i32::MAX as u32 - 4;

/// A framed message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) tag: u8,
    pub(crate) body: &'a [u8],
    /// Length of the whole message, in bytes.
    pub(crate) length: usize,
}

/// Decodes the type and the body's length of the message that begins with `header`; `None` if the
/// length is invalid.
#[inline]
pub(crate) fn header(header: &[u8; HEADER]) -> Option<(u8, u32)> {
    let [tag, length @ ..] = header;
    // A length less than the length of the length field itself wraps to a value above the limit.
    let length = u32::from_be_bytes(*length).wrapping_sub(4);
    (length <= MAX_BODY).then_some((*tag, length))
}

/// Returns the error for a message with an invalid length, which begins at `at`.
#[cold]
pub(crate) fn invalid_length(at: usize) -> WireError {
    WireError::new(ErrorKind::Length, at.saturating_add(1), "a message's length")
}

/// Checks a body's length against the limit of its message type; `None` means an unknown type.
#[inline]
pub(crate) fn check_length(
    tag: u8,
    length: u32,
    limit: Option<u32>,
    at: usize,
) -> Result<(), WireError> {
    match limit {
        Some(limit) if length <= limit => Ok(()),
        Some(_) => {
            let place = at.saturating_add(1);
            Err(WireError::new(ErrorKind::TooLong, place, "a message's length"))
        }
        None => Err(WireError::new(ErrorKind::UnknownType(tag), at, "a message's type")),
    }
}

/// Returns the first message of `bytes` if it is complete. `limit` returns the longest body that is
/// allowed for a type, in bytes, and `None` for an unknown type.
pub(crate) fn first_message<'a>(
    bytes: &'a [u8],
    limit: fn(u8) -> Option<u32>,
) -> Result<Option<Frame<'a>>, WireError> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
    let (tag, length) = header(head).ok_or_else(|| invalid_length(0))?;
    check_length(tag, length, limit(tag), 0)?;
    let body = usize::try_from(length).ok().and_then(|length| rest.get(..length));
    Ok(body.map(|body| Frame { tag, body, length: HEADER.saturating_add(body.len()) }))
}

/// Appends a message of the given type with the body that `write` appends; nothing if `write` fails
/// or the message is too long.
pub(crate) fn message(
    out: &mut Vec<u8>,
    tag: u8,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let start = out.len();
    out.push(tag);
    let written = length_prefixed(out, write);
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Appends a message without a body.
#[inline]
pub(crate) fn empty_message(out: &mut Vec<u8>, tag: u8) {
    out.extend_from_slice(&[tag, 0, 0, 0, 4]);
}

/// Appends a message with a body of a known size.
#[inline]
pub(crate) fn fixed_size_message<const N: usize>(out: &mut Vec<u8>, tag: u8, body: [u8; N]) {
    out.push(tag);
    out.extend_from_slice(&const { (N as u32).saturating_add(4) }.to_be_bytes());
    out.extend_from_slice(&body);
}

/// Appends a length that includes itself, and the body that `write` appends; nothing after an
/// error.
pub(crate) fn length_prefixed(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out).and_then(|()| close(out, start)).inspect_err(|_| out.truncate(start))
}

/// Writes the number of bytes from `start` to the end of `out` into the four bytes at `start`.
#[inline]
pub(crate) fn close(out: &mut [u8], start: usize) -> Result<(), WireError> {
    let length = out.len().saturating_sub(start);
    let place = out.get_mut(start..).and_then(|tail| tail.first_chunk_mut::<4>());
    match (i32::try_from(length), place) {
        (Ok(length), Some(place)) => {
            *place = length.to_be_bytes();
            Ok(())
        }
        (Err(_), _) | (_, None) => {
            Err(WireError::new(ErrorKind::TooLong, start, "a message's length"))
        }
    }
}

/// Appends a String of the manual: the bytes and a zero byte.
pub(crate) fn string(
    out: &mut Vec<u8>,
    bytes: &[u8],
    context: &'static str,
) -> Result<(), WireError> {
    if let Some(place) = bytes.iter().position(|byte| *byte == 0) {
        return Err(WireError::new(ErrorKind::ZeroByte, place, context));
    }
    out.extend_from_slice(bytes);
    out.push(0);
    Ok(())
}

/// Appends the number of items that follow.
pub(crate) fn count(
    out: &mut Vec<u8>,
    count: usize,
    context: &'static str,
) -> Result<(), WireError> {
    match u16::try_from(count) {
        Ok(count) => {
            out.extend_from_slice(&count.to_be_bytes());
            Ok(())
        }
        Err(_) => Err(WireError::new(ErrorKind::TooLong, out.len(), context)),
    }
}

/// Appends a value that may be NULL.
pub(crate) fn value(
    out: &mut Vec<u8>,
    value: Option<&[u8]>,
    context: &'static str,
) -> Result<(), WireError> {
    let Some(bytes) = value else {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        return Ok(());
    };
    let Ok(length) = i32::try_from(bytes.len()) else {
        return Err(WireError::new(ErrorKind::TooLong, out.len(), context));
    };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_encoding_appends_nothing() {
        let mut out = b"before".to_vec();
        let error = message(&mut out, b'Q', |out| string(out, b"a\0b", "Query, text"));
        assert_eq!(error, Err(WireError::new(ErrorKind::ZeroByte, 1, "Query, text")));
        assert_eq!(out, b"before");
    }

    #[test]
    fn impossible_length_is_an_error() {
        let any = |_| Some(MAX_WHOLE_BODY);
        for length in [0, 3, -1, i32::MIN] {
            let mut bytes = vec![b'Z'];
            bytes.extend_from_slice(&i32::to_be_bytes(length));
            let error = first_message(&bytes, any).unwrap_err();
            assert_eq!((error.kind, error.offset), (ErrorKind::Length, 1));
        }
        let long = first_message(b"Z\x7f\xff\xff\xff", any).unwrap_err();
        assert_eq!(long.kind, ErrorKind::TooLong);
        let unknown = first_message(b"Z\0\0\0\x04", |_| None).unwrap_err();
        assert_eq!(unknown.kind, ErrorKind::UnknownType(b'Z'));
    }
}
