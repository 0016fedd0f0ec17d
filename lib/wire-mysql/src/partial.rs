//! A packet that has not been received completely.

use crate::frame::{HEADER, Header};

/// An incomplete packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartialPacket {
    /// The received bytes of its header and of the first byte of its payload.
    pub(crate) head: [u8; HEADER + 1],
    pub(crate) length: u8,
    /// Number of outstanding bytes of the payload.
    pub(crate) left: usize,
    pub(crate) is_gathered: bool,
}

impl PartialPacket {
    /// Returns the header if it and the first byte of the payload have been received.
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
