//! The reply to an SSLRequest. Chapter "SSL Session Encryption".

use crate::{ErrorKind, WireError};

/// A server's reply to an SSLRequest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslAnswer {
    /// TLS begins with the next byte (`S`).
    Accepted,
    /// TLS is not available; the session may continue without it (`N`).
    Refused,
}

/// Reads the reply to an SSLRequest from all bytes received since; `None` if there are none.
///
/// # Errors
/// The reply is any other byte, or more bytes follow it. An `E` begins an error message, which a
/// client must not display because it is not authenticated. Additional bytes were sent before
/// encryption began, and would be mistaken for encrypted bytes of the server (CVE-2021-23222).
pub fn ssl_answer(bytes: &[u8]) -> Result<Option<SslAnswer>, WireError> {
    let context = "the answer to SSLRequest";
    let answer = match bytes.first() {
        None => return Ok(None),
        Some(b'S') => SslAnswer::Accepted,
        Some(b'N') => SslAnswer::Refused,
        Some(_) => return Err(WireError::new(ErrorKind::Value, 0, context)),
    };
    match bytes.len() {
        1 => Ok(Some(answer)),
        _ => Err(WireError::new(ErrorKind::InjectedBytes, 1, context)),
    }
}

/// Appends the reply to an SSLRequest, or the refusal of a GSSENCRequest. A server that accepts a
/// GSSENCRequest sends a different byte (`G`).
pub fn answer_ssl(out: &mut Vec<u8>, answer: SslAnswer) {
    out.push(match answer {
        SslAnswer::Accepted => b'S',
        SslAnswer::Refused => b'N',
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_one_byte_and_nothing_may_follow() {
        let check = |bytes: &[u8], expected| {
            assert_eq!(ssl_answer(bytes).map_err(|error| error.kind), expected);
        };
        check(b"", Ok(None));
        check(b"S", Ok(Some(SslAnswer::Accepted)));
        check(b"N", Ok(Some(SslAnswer::Refused)));
        check(b"SR", Err(ErrorKind::InjectedBytes));
        check(b"NR", Err(ErrorKind::InjectedBytes));
        check(b"E\0\0\0\x08", Err(ErrorKind::Value));
    }

    #[test]
    fn encoded_messages_round_trip() {
        for answer in [SslAnswer::Accepted, SslAnswer::Refused] {
            let mut out = Vec::new();
            answer_ssl(&mut out, answer);
            assert_eq!(ssl_answer(&out), Ok(Some(answer)));
        }
    }
}
