//! Packets: three bytes of length, one of sequence, and the payload.
//!
//! Protocol manual: "MySQL Packets", "Sending More Than 16MB". A payload of 2²⁴ - 1 bytes or more
//! is sent in several packets; the last one is shorter than that and may be empty.

use crate::error::{ErrorKind, WireError, fault};

/// Length of the header of a packet, in bytes.
pub const HEADER: usize = 4;

/// Longest payload of one packet, in bytes; a packet of this length is followed by another one.
pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

/// Longest payload of several packets, in bytes: the maximum of `max_allowed_packet`.
pub const MAX_JOINED: usize = 1 << 30;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Length of its payload in bytes, at most [`MAX_PAYLOAD`].
    pub length: usize,
    /// Sequence number within the exchange, which starts at 0 and wraps.
    pub sequence: u8,
}

impl Header {
    /// Decodes a header.
    #[inline]
    pub fn decode(bytes: [u8; HEADER]) -> Header {
        let word = u32::from_le_bytes(bytes);
        Header { length: (word & 0xFF_FFFF) as usize, sequence: (word >> 24) as u8 }
    }

    /// Encodes the header. A length above [`MAX_PAYLOAD`] is truncated to 24 bits.
    #[inline]
    pub fn encode(self) -> [u8; HEADER] {
        let length = self.length as u32 & 0xFF_FFFF;
        (length | u32::from(self.sequence) << 24).to_le_bytes()
    }

    /// Returns true if the payload continues in the next packet.
    #[inline]
    pub fn continues_in_next(self) -> bool {
        self.length == MAX_PAYLOAD
    }
}

/// Appends a payload in as many packets as necessary, the first with sequence number `sequence`.
/// Returns the next sequence number; if the payload ends the request, this is the number of the
/// reply's first packet.
pub fn packet(out: &mut Vec<u8>, sequence: u8, payload: impl FnOnce(&mut Vec<u8>)) -> u8 {
    let start = open(out);
    payload(out);
    close(out, start, sequence)
}

/// Reserves space for the header of a packet and returns its offset.
pub(crate) fn open(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER]);
    start
}

/// Ends the payload that was opened at `start`. Returns the next sequence number.
pub(crate) fn close(out: &mut Vec<u8>, start: usize, sequence: u8) -> u8 {
    let length = out.len().saturating_sub(start.saturating_add(HEADER));
    if length >= MAX_PAYLOAD {
        return split(out, start, sequence, length);
    }
    put_header(out, start, Header { length, sequence });
    sequence.wrapping_add(1)
}

fn put_header(out: &mut [u8], at: usize, header: Header) {
    if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = header.encode();
    }
}

/// Inserts headers between the parts of a long payload, starting with the last part. Returns the
/// next sequence number.
fn split(out: &mut Vec<u8>, start: usize, sequence: u8, length: usize) -> u8 {
    let breaks = length / MAX_PAYLOAD;
    out.resize(out.len().saturating_add(breaks.saturating_mul(HEADER)), 0);
    for piece in (0..=breaks).rev() {
        let skipped = piece.saturating_mul(MAX_PAYLOAD);
        let from = start.saturating_add(HEADER).saturating_add(skipped);
        let taken = length.saturating_sub(skipped).min(MAX_PAYLOAD);
        let head = start.saturating_add(skipped).saturating_add(piece.saturating_mul(HEADER));
        out.copy_within(from..from.saturating_add(taken), head.saturating_add(HEADER));
        // The sequence number wraps.
        let sequence = sequence.wrapping_add(piece as u8);
        put_header(out, head, Header { length: taken, sequence });
    }
    sequence.wrapping_add(breaks as u8).wrapping_add(1)
}

/// The result of [`Payloads::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextPayload<'a> {
    /// Number of bytes consumed.
    pub used: usize,
    /// Sequence number of the next packet from either side; a reply begins with it.
    pub sequence: u8,
    /// The payload; `None` if more bytes are needed.
    pub payload: Option<&'a [u8]>,
}

/// An extractor of payloads from packets, for the login and for servers.
///
/// The replies of a session after login are read by [`Replies`](crate::Replies), which buffers at
/// most one packet.
#[derive(Clone, Debug, Default)]
pub struct Payloads {
    sequence: u8,
    joined: Vec<u8>,
    is_joining: bool,
}

impl Payloads {
    /// Creates an extractor that expects packet 0.
    pub fn new() -> Payloads {
        Payloads::default()
    }

    /// Sets the next sequence number: 0 before each command, or the number that [`packet`]
    /// returned.
    pub fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Returns the next payload at the beginning of `bytes`. The packets of a long payload are
    /// joined; all of them but the last are consumed before the payload is complete.
    ///
    /// # Errors
    /// `Sequence`, or `TooLong` for a payload of more than [`MAX_JOINED`] bytes.
    pub fn next<'a>(&'a mut self, bytes: &'a [u8]) -> Result<NextPayload<'a>, WireError> {
        let mut used = 0_usize;
        if !self.is_joining {
            self.joined.clear();
        }
        loop {
            let given = bytes.get(used..).unwrap_or_default();
            let Some((header, payload, _)) = first_whole_packet(given) else {
                return Ok(NextPayload { used, sequence: self.sequence, payload: None });
            };
            check_sequence(self.sequence, header).map_err(|error| error.shifted_by(used))?;
            self.sequence = self.sequence.wrapping_add(1);
            used = used.saturating_add(HEADER).saturating_add(payload.len());
            if !header.continues_in_next() && !self.is_joining {
                return Ok(NextPayload { used, sequence: self.sequence, payload: Some(payload) });
            }
            if self.joined.len().saturating_add(payload.len()) > MAX_JOINED {
                return Err(fault(ErrorKind::TooLong, used, "packets of one payload"));
            }
            self.joined.extend_from_slice(payload);
            self.is_joining = header.continues_in_next();
            if !self.is_joining {
                return Ok(NextPayload {
                    used,
                    sequence: self.sequence,
                    payload: Some(&self.joined),
                });
            }
        }
    }
}

/// Returns the packet at the beginning of some bytes, if it is complete, and the bytes after it.
#[inline]
pub(crate) fn first_whole_packet(bytes: &[u8]) -> Option<(Header, &[u8], &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    let header = Header::decode(*head);
    let (payload, after) = rest.split_at_checked(header.length)?;
    Some((header, payload, after))
}

/// Checks that a packet has the expected sequence number.
#[inline]
pub(crate) fn check_sequence(expected: u8, header: Header) -> Result<(), WireError> {
    let found = header.sequence;
    if found == expected {
        return Ok(());
    }
    Err(fault(ErrorKind::Sequence { expected, found }, 3, "packet, sequence number"))
}

/// Returns the first payload of some bytes and the bytes after it; `None` unless the packet is
/// complete, shorter than [`MAX_PAYLOAD`] and has the right sequence number. The upper byte of
/// `sequence` holds this number, which is incremented if a payload is returned.
#[inline]
pub(crate) fn usual_packet<'b>(
    bytes: &'b [u8],
    sequence: &mut u32,
) -> Option<(&'b [u8], &'b [u8])> {
    let (head, body) = bytes.split_first_chunk()?;
    // A wrong sequence number makes the length too large.
    let length = (u32::from_le_bytes(*head) ^ *sequence) as usize;
    if length >= MAX_PAYLOAD {
        return None;
    }
    let split = body.split_at_checked(length)?;
    *sequence = sequence.wrapping_add(1 << 24);
    Some(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(length: usize, sequence: u8) {
        let payload: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let mut out = b"before".to_vec();
        let next = packet(&mut out, sequence, |out| out.extend_from_slice(&payload));
        let packets = length / MAX_PAYLOAD + 1;
        assert_eq!(out.len(), 6 + length + packets * HEADER);
        assert_eq!(next, sequence.wrapping_add(packets as u8));
        let mut payloads = Payloads::new();
        payloads.expect(sequence);
        let taken = payloads.next(&out[6..]).expect("our own packets");
        assert_eq!((taken.used, taken.sequence), (out.len() - 6, next));
        assert!(taken.payload == Some(&payload[..]), "the payload of {length} bytes comes back");
    }

    #[test]
    fn payloads_of_any_length_round_trip() {
        for length in [0, 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD] {
            there_and_back(length, 255);
        }
    }

    #[test]
    fn unfinished_packet_consumes_nothing() {
        let mut payloads = Payloads::new();
        for bytes in [&b""[..], b"\x02\0\0", b"\x02\0\0\0a"] {
            assert_eq!(
                payloads.next(bytes),
                Ok(NextPayload { used: 0, sequence: 0, payload: None })
            );
        }
        let whole = NextPayload { used: 6, sequence: 1, payload: Some(&b"ab"[..]) };
        assert_eq!(payloads.next(b"\x02\0\0\0abc"), Ok(whole));
    }

    #[test]
    fn a_packet_out_of_order_is_refused() {
        let error = Payloads::new().next(b"\0\0\0\x01").expect_err("packet 1 is not packet 0");
        assert_eq!(error.kind, ErrorKind::Sequence { expected: 0, found: 1 });
        assert_eq!(
            error.to_string(),
            "packet, sequence number: packet 1 came in place of packet 0 (at byte 3)"
        );
    }
}
