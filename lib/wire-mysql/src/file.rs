//! The content of a file that the server asked for.
//!
//! Protocol manual: "LOCAL INFILE Request", "LOCAL INFILE Data". The data go as packets, in the
//! sequence of the request, and an empty packet ends them; an empty packet alone refuses.

use crate::frame;

/// The longest piece of a file in one packet: `max_allowed_packet` limits it, which is at least
/// 1 MiB unless someone made it smaller than any server's default.
pub const FILE_PACKET: usize = 1 << 20;

/// The first byte of the request.
pub(crate) const FILE_REQUEST: u8 = 0xFB;

/// Appends a piece of the file, in packets of at most [`FILE_PACKET`] bytes, the first with number
/// `sequence`. Returns the number of the next packet.
pub fn file_data(out: &mut Vec<u8>, sequence: u8, data: &[u8]) -> u8 {
    data.chunks(FILE_PACKET).fold(sequence, |sequence, piece| {
        frame::packet(out, sequence, |out| out.extend_from_slice(piece))
    })
}

/// Appends the end of the file. Returns the number of the server's answer.
pub fn file_end(out: &mut Vec<u8>, sequence: u8) -> u8 {
    frame::packet(out, sequence, |_| {})
}
