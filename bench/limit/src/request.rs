//! The repeated request and the pattern of its reply, learned once from an exchange that the
//! protocol's own crate has parsed completely.

use limit::arguments::Failure;

/// The encoding of an id in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    /// PostgreSQL's int4 in binary.
    BigEndian32,
    /// MySQL's `LONGLONG` in binary.
    LittleEndian64,
    /// Six decimal digits, padded with zeros.
    Digits6,
}

/// The placeholder id. Its bytes occur nowhere else in a request, and so mark the position of the
/// id.
pub(crate) const MARK: u32 = 987_654;

/// A request that is sent repeatedly, each time with a different id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    /// Offset of the id in `bytes`.
    at: usize,
    id: Id,
    reply: Reply,
}

/// The pattern of a reply.
///
/// All rows of the table have the same length, and so have all replies. Only the first and the last
/// bytes are compared: an error has a different beginning, and an incomplete reply a different
/// length.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reply {
    length: usize,
    head: [u8; 5],
    tail: [u8; 6],
}

/// The result of comparing received bytes with the pattern of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    Complete,
    Partial,
    Wrong,
}

impl Request {
    /// Creates a request from `bytes`, which contain [`MARK`] as the id, and from its `reply`.
    pub(crate) fn new(bytes: Vec<u8>, id: Id, reply: &[u8]) -> Result<Request, Failure> {
        let at = find(&bytes, id.encode(MARK).as_slice()).ok_or("a request without its id")?;
        let (Some(head), Some(tail)) = (reply.first_chunk(), reply.last_chunk()) else {
            return Err("a reply of a few bytes".into());
        };
        let reply = Reply { length: reply.len(), head: *head, tail: *tail };
        Ok(Request { bytes, at, id, reply })
    }

    /// Returns the request for one row.
    #[inline]
    pub(crate) fn for_row(&mut self, row: u32) -> &[u8] {
        let place = &mut self.bytes[self.at..];
        match self.id {
            Id::BigEndian32 => place[..4].copy_from_slice(&row.to_be_bytes()),
            Id::LittleEndian64 => place[..8].copy_from_slice(&u64::from(row).to_le_bytes()),
            Id::Digits6 => place[..6].copy_from_slice(&digits(row)),
        }
        &self.bytes
    }

    /// Compares received bytes with the pattern of the reply.
    #[inline]
    pub(crate) fn compare(&self, bytes: &[u8]) -> Match {
        let Reply { length, head, tail } = &self.reply;
        if bytes.len() == *length && bytes.starts_with(head) && bytes.ends_with(tail) {
            return Match::Complete;
        }
        let seen = bytes.len().min(head.len());
        match bytes.len() < *length && bytes[..seen] == head[..seen] {
            true => Match::Partial,
            false => Match::Wrong,
        }
    }
}

/// The bytes of an id.
struct Encoded([u8; 8], usize);

impl Encoded {
    fn as_slice(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

impl Id {
    fn encode(self, row: u32) -> Encoded {
        let mut bytes = [0; 8];
        let length = match self {
            Id::BigEndian32 => {
                bytes[..4].copy_from_slice(&row.to_be_bytes());
                4
            }
            Id::LittleEndian64 => {
                bytes = u64::from(row).to_le_bytes();
                8
            }
            Id::Digits6 => {
                bytes[..6].copy_from_slice(&digits(row));
                6
            }
        };
        Encoded(bytes, length)
    }
}

#[inline]
fn digits(row: u32) -> [u8; 6] {
    let mut rest = row;
    let mut text = [b'0'; 6];
    for digit in text.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    text
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: &[u8] = b"head-and-body-and-tail";

    fn request(bytes: &[u8], id: Id) -> Request {
        Request::new(bytes.to_vec(), id, REPLY).expect("a request with its id")
    }

    #[test]
    fn row_id_replaces_the_marker() {
        let mark = MARK.to_be_bytes();
        let mut request = request(&[b"B", &mark[..], b"E"].concat(), Id::BigEndian32);
        assert_eq!(request.for_row(7), b"B\0\0\0\x07E");
        let mark = u64::from(MARK).to_le_bytes();
        let mut request = self::request(&[b"B", &mark[..]].concat(), Id::LittleEndian64);
        assert_eq!(request.for_row(258), b"B\x02\x01\0\0\0\0\0\0");
        let mut request = self::request(b"id = 987654;", Id::Digits6);
        assert_eq!(request.for_row(4_096), b"id = 004096;");
        assert_eq!(request.for_row(100_000), b"id = 100000;");
        assert!(Request::new(b"id = 1".to_vec(), Id::Digits6, REPLY).is_err());
    }

    #[test]
    fn reply_matches_by_length_and_both_ends() {
        let request = request(b"987654", Id::Digits6);
        assert_eq!(request.compare(REPLY), Match::Complete);
        assert_eq!(request.compare(b"head-AND-BODY-and-tail"), Match::Complete);
        assert_eq!(request.compare(b"HEAD-and-body-and-tail"), Match::Wrong);
        assert_eq!(request.compare(b"head-and-body-and-TAIL"), Match::Wrong);
        assert_eq!(request.compare(b"head-and-body-and-tail+"), Match::Wrong);
        assert_eq!(request.compare(b"head-and-"), Match::Partial);
        assert_eq!(request.compare(b"he"), Match::Partial);
        assert_eq!(request.compare(b"Error"), Match::Wrong);
    }
}
