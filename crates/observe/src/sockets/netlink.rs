//! Requests for the kernel's socket statistics: `sock_diag(7)` over `netlink(7)`, with the layouts
//! of `linux/netlink.h`. Numbers are in host byte order, except where a layout specifies network
//! order.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// Message type of the requests, `SOCK_DIAG_BY_FAMILY` of `linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;

/// Flags of a request for the single socket that the request names, `NLM_F_REQUEST`.
const SINGLE_FLAGS: u16 = 0x1;

/// Flags of a request for all matching sockets, `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP_FLAGS: u16 = 0x301;

/// Message types `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// Lengths of the header of a message and of an attribute, in bytes.
const HEADER_BYTES: usize = 16;
const ATTRIBUTE_HEADER_BYTES: usize = 4;

/// Size of the receive buffer in bytes: the kernel sends pieces of up to 32 KiB.
const BUFFER_BYTES: usize = 32 << 10;

/// Time limit for an answer.
const RECEIVE_TIMEOUT: Duration = Duration::from_millis(200);

/// Maximum number of pieces that are received in answer to one request.
const MAX_DATAGRAMS: usize = 4_096;

/// A netlink socket for requests.
#[derive(Debug)]
pub(super) struct Diagnostics {
    socket: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Diagnostics {
    /// Opens the socket.
    ///
    /// # Errors
    /// The system does not support such sockets, or does not allow one.
    pub(super) fn open() -> io::Result<Diagnostics> {
        let (family, flags) = (AddressFamily::NETLINK, SocketFlags::CLOEXEC);
        let protocol = Some(netlink::SOCK_DIAG);
        let socket = rustix::net::socket_with(family, SocketType::RAW, flags, protocol)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(RECEIVE_TIMEOUT))?;
        Ok(Diagnostics { socket, buffer: vec![0; BUFFER_BYTES], sequence: 0 })
    }

    /// Sends a request, and passes each socket of the answer to `on_socket` until `on_socket`
    /// returns `DumpControl::Stop`.
    ///
    /// # Errors
    /// The kernel refuses the request, does not answer in time, or does not end its answer.
    pub(super) fn dump(
        &mut self,
        request: &[u8],
        mut on_socket: impl FnMut(&[u8]) -> DumpControl,
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = with_header(self.sequence, DUMP_FLAGS, request);
        rustix::net::send(&self.socket, &message, SendFlags::empty())?;
        let mut control = DumpControl::Continue;
        for _ in 0..MAX_DATAGRAMS {
            let (_, length) =
                rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
            let buffer = self.buffer.get(..length).unwrap_or_default();
            for message in Messages(buffer) {
                let Message { kind, sequence, content } = message;
                if sequence != self.sequence {
                    continue;
                }
                match kind {
                    DONE => return Ok(()),
                    ERROR => return Err(kernel_error(content)),
                    // The rest of an answer is received in any case; otherwise it would be taken
                    // for the next answer.
                    BY_FAMILY if control == DumpControl::Continue => control = on_socket(content),
                    _ => {}
                }
            }
        }
        Err(io::Error::other("the answer has no end"))
    }
}

impl Diagnostics {
    /// Requests one socket; `None` if the socket no longer exists. The kernel finds the socket by
    /// its addresses and need not search its tables.
    ///
    /// # Errors
    /// The kernel does not answer in time.
    pub(super) fn request_one(&mut self, request: &[u8]) -> io::Result<Option<&[u8]>> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = with_header(self.sequence, SINGLE_FLAGS, request);
        rustix::net::send(&self.socket, &message, SendFlags::empty())?;
        let (_, length) =
            rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty())?;
        let buffer = self.buffer.get(..length).unwrap_or_default();
        let mut answers = Messages(buffer).filter(|message| message.sequence == self.sequence);
        let answer = answers.find(|message| message.kind == BY_FAMILY);
        Ok(answer.map(|message| message.content))
    }
}

/// The decision of a callback on further messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DumpControl {
    /// The callback needs no more messages.
    Stop,
    /// The callback needs the next message.
    Continue,
}

/// Returns a request with the header of a netlink message in front.
fn with_header(sequence: u32, flags: u16, request: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER_BYTES + request.len()).unwrap_or(0);
    let mut message = Vec::with_capacity(HEADER_BYTES + request.len());
    message.extend(length.to_ne_bytes());
    message.extend(BY_FAMILY.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend(request);
    message
}

/// Returns the error in an error message, which contains the negative error number.
fn kernel_error(content: &[u8]) -> io::Error {
    let code = u32_at(content, 0).map_or(0, |code| i32::from_ne_bytes(code.to_ne_bytes()));
    io::Error::from_raw_os_error(code.checked_neg().unwrap_or(0))
}

/// One message of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message<'a> {
    kind: u16,
    sequence: u32,
    content: &'a [u8],
}

/// Iterator over the messages of a piece.
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        let length = usize::try_from(u32_at(self.0, 0)?).ok()?;
        let message = self.0.get(..length)?;
        let found = Message {
            kind: u16_at(message, 4)?,
            sequence: u32_at(message, 8)?,
            content: message.get(HEADER_BYTES..)?,
        };
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(found)
    }
}

/// Iterator over the attributes after the fixed part of a message: their types and contents.
pub(super) struct Attributes<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)?;
        let content = self.0.get(ATTRIBUTE_HEADER_BYTES..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, content))
    }
}

/// Encodes an attribute of a request.
pub(super) fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(ATTRIBUTE_HEADER_BYTES + content.len()).unwrap_or(0);
    let mut attribute = Vec::with_capacity(ATTRIBUTE_HEADER_BYTES + content.len());
    attribute.extend(length.to_ne_bytes());
    attribute.extend(kind.to_ne_bytes());
    attribute.extend(content);
    attribute
}

/// Returns the bytes at an offset.
fn at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Reads a number in host order at an offset.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    at(bytes, offset).map(u16::from_ne_bytes)
}

/// Reads a number in host order at an offset.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    at(bytes, offset).map(u32::from_ne_bytes)
}

/// Reads a number in host order at an offset.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    at(bytes, offset).map(u64::from_ne_bytes)
}

/// Reads a number in network order at an offset.
pub(super) fn network_u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    at(bytes, offset).map(u16::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn netlink_messages_are_split_by_length() {
        let buffer =
            [with_header(7, DUMP_FLAGS, b"abc\0"), with_header(8, DUMP_FLAGS, b"")].concat();
        let found: Vec<Message<'_>> = Messages(&buffer).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Message { kind: BY_FAMILY, sequence: 7, content: b"abc\0" });
        assert_eq!(found[1].content, b"");
    }

    #[test]
    fn truncated_or_malformed_message_ends_iteration() {
        let buffer = with_header(7, DUMP_FLAGS, b"abc\0");
        for length in 0..buffer.len() {
            assert_eq!(Messages(&buffer[..length]).count(), 0, "{length}");
        }
        for odd in [[0; 16], [255; 16]] {
            assert_eq!(Messages(&odd).count(), 0);
            assert_eq!(Attributes(&odd).count(), 0);
        }
        // An attribute whose length is shorter than its own header.
        assert_eq!(Attributes(&[3, 0, 1, 0, 9, 9, 9, 9]).count(), 0);
    }

    #[test]
    fn netlink_attributes_are_padded() {
        let bytes = [attribute(2, b"abc"), vec![0], attribute(5, b"")].concat();
        let found: Vec<(u16, &[u8])> = Attributes(&bytes).collect();
        assert_eq!(found, [(2, b"abc".as_slice()), (5, b"".as_slice())]);
    }

    #[test]
    fn netlink_refusal_has_the_reason_of_the_kernel() {
        let refused = kernel_error(&(-2_i32).to_ne_bytes());
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        assert_eq!(kernel_error(&[1]).raw_os_error(), Some(0));
        assert_eq!(kernel_error(&i32::MIN.to_ne_bytes()).raw_os_error(), Some(0));
    }

    #[test]
    fn invalid_netlink_request_is_refused_and_the_next_one_answered() {
        let mut diagnostics = Diagnostics::open().unwrap();
        let none = |_: &[u8]| panic!("there is no such family");
        assert!(diagnostics.dump(&[99, 0, 0, 0], none).is_err());
        let mut count = 0;
        let request = super::super::tcp::request(super::super::connection::Family::V4, &[1]);
        let count_one = |_: &[u8]| {
            count += 1;
            DumpControl::Continue
        };
        diagnostics.dump(&request, count_one).unwrap();
        assert_eq!(count, 0, "port 1 has no connections");
    }
}
