//! The contents of a file that the server requested.
//!
//! Protocol manual: "LOCAL INFILE Request", "LOCAL INFILE Data". The data are sent as packets that
//! continue the sequence of the request, and an empty packet ends them; an empty packet alone
//! refuses the request.

use crate::frame;

/// Largest part of a file in one packet, in bytes. The server's limit is `max_allowed_packet`,
/// whose default is at least 1 MiB in every version.
pub const FILE_PACKET: usize = 1 << 20;

/// The first byte of the request.
pub(crate) const FILE_REQUEST: u8 = 0xFB;

/// Appends a part of the file, in packets of at most [`FILE_PACKET`] bytes, the first with sequence
/// number `sequence`. Returns the sequence number of the next packet.
pub fn file_data(out: &mut Vec<u8>, sequence: u8, data: &[u8]) -> u8 {
    data.chunks(FILE_PACKET).fold(sequence, |sequence, piece| {
        frame::packet(out, sequence, |out| out.extend_from_slice(piece))
    })
}

/// Appends the end of the file. Returns the sequence number of the server's reply.
pub fn file_end(out: &mut Vec<u8>, sequence: u8) -> u8 {
    frame::packet(out, sequence, |_| {})
}
