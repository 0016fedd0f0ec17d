//! A packet that has not been received completely.

use crate::answer::ERR;
use crate::frame::{HEADER, Header, MAX_PAYLOAD};

/// Longest part of an ERR packet that is read, in bytes; the rest of its message is skipped. The
/// limit keeps a server from determining how much memory its errors take.
pub(crate) const MAX_READ_ERROR: usize = 5 << 10;

/// Largest capacity that is kept for the next incomplete packet, in bytes. It is small because
/// every session may keep that much.
const MAX_KEPT_CAPACITY: usize = 4 << 10;

/// An incomplete packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartialPacket {
    /// The received bytes of its header, and the first byte of its payload.
    pub(crate) head: [u8; HEADER + 1],
    /// Number of bytes received in `head`.
    pub(crate) length: u8,
    /// Number of outstanding bytes of the payload after its first byte.
    pub(crate) left: usize,
    /// True if the payload is buffered to be decoded; false if it is skipped.
    pub(crate) is_gathered: bool,
}

impl PartialPacket {
    /// Returns the header once it and the first byte of the payload, if there is one, have been
    /// received.
    pub(crate) fn header(&self) -> Option<Header> {
        let [head @ .., _] = self.head;
        let header = Header::decode(head);
        let needed = if header.length == 0 { HEADER } else { HEADER.saturating_add(1) };
        let is_read = usize::from(self.length) >= HEADER && usize::from(self.length) >= needed;
        is_read.then_some(header)
    }

    /// Appends a byte of the header or the first byte of the payload.
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(place) = self.head.get_mut(usize::from(self.length)) {
            *place = byte;
            self.length = self.length.saturating_add(1);
        }
    }
}

/// The part received so far of a payload that can be decoded only when it is complete.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatheredPayload(Vec<u8>);

impl GatheredPayload {
    /// Appends a piece of the payload of `packet`. Of an ERR packet, only the first
    /// [`MAX_READ_ERROR`] bytes are kept.
    #[cold]
    pub(crate) fn push(&mut self, packet: PartialPacket, piece: &[u8]) {
        let [.., first] = packet.head;
        let most = if first == ERR { MAX_READ_ERROR } else { MAX_PAYLOAD };
        let room = most.saturating_sub(self.0.len());
        self.0.extend_from_slice(piece.get(..room).unwrap_or(piece));
    }

    /// Takes the payload.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    /// Keeps the memory of a payload that was read, if it is at most [`MAX_KEPT_CAPACITY`].
    pub(crate) fn reuse(&mut self, mut payload: Vec<u8>) {
        if payload.capacity() <= MAX_KEPT_CAPACITY {
            payload.clear();
            self.0 = payload;
        }
    }
}
