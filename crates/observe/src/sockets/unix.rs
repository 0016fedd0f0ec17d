//! Connections over Unix sockets: `struct unix_diag_req` and `unix_diag_msg` of
//! `linux/unix_diag.h`. For these connections, the kernel reports the queues but no times.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::netlink::{Attributes, u32_at};

/// Requested attributes, `UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN`.
const SHOWN_ATTRIBUTES: u32 = 0x1 | 0x4 | 0x10;

/// Attributes `UNIX_DIAG_NAME`, `UNIX_DIAG_PEER` and `UNIX_DIAG_RQLEN`.
const NAME: u16 = 0;
const PEER: u16 = 2;
const QUEUES: u16 = 4;

/// Bit of the established state, `1 << TCP_ESTABLISHED`.
const ESTABLISHED: u32 = 1 << 1;

/// Length of `struct unix_diag_msg`, in bytes.
const MESSAGE_BYTES: usize = 16;

/// A connected socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnixSocket {
    /// Inode of the socket.
    pub(super) inode: u32,
    /// Inode of the other end.
    pub(super) peer: u32,
    /// Path of the socket; `None` for a socket of a client, which has no path.
    pub(super) path: Option<PathBuf>,
    /// Number of received bytes that have not been read, and number of sent bytes that the other
    /// end has not read.
    pub(super) queues: (u32, u32),
}

/// Encodes a request for all connected sockets.
pub(super) fn request() -> Vec<u8> {
    let mut request = vec![1, 0, 0, 0];
    for number in [ESTABLISHED, 0, SHOWN_ATTRIBUTES, 0, 0] {
        request.extend(number.to_ne_bytes());
    }
    request
}

/// Parses the socket of a message.
pub(super) fn parse_socket(message: &[u8]) -> Option<UnixSocket> {
    let inode = u32_at(message, 4)?;
    let mut end = UnixSocket { inode, peer: 0, path: None, queues: (0, 0) };
    for (kind, content) in Attributes(message.get(MESSAGE_BYTES..)?) {
        match kind {
            NAME => {
                let name = String::from_utf8_lossy(content);
                let name = name.trim_end_matches('\0');
                end.path = name.starts_with('/').then(|| Path::new(name).to_owned());
            }
            PEER => end.peer = u32_at(content, 0)?,
            QUEUES => end.queues = (u32_at(content, 0)?, u32_at(content, 4)?),
            _ => {}
        }
    }
    Some(end)
}

/// Separates the ends: returns those of clients, and those of the server, whose path is the
/// server's.
pub(super) fn split_by_side(
    ends: &[UnixSocket],
    is_server: impl Fn(&Path) -> bool,
) -> [Vec<&UnixSocket>; 2] {
    let at_server: Vec<&UnixSocket> =
        ends.iter().filter(|end| end.path.as_deref().is_some_and(&is_server)).collect();
    let peers: BTreeSet<u32> = at_server.iter().map(|end| end.peer).collect();
    let at_clients = ends.iter().filter(|end| peers.contains(&end.inode)).collect();
    [at_clients, at_server]
}

#[cfg(test)]
mod tests {
    use super::super::netlink::attribute;
    use super::*;

    fn message(inode: u32, peer: u32, path: &str, queues: (u32, u32)) -> Vec<u8> {
        let mut message = vec![1, 1, 1, 0];
        message.extend(inode.to_ne_bytes());
        message.extend([0; 8]);
        let mut name = attribute(NAME, path.as_bytes());
        name.resize(name.len().next_multiple_of(4), 0);
        message.extend(name);
        message.extend(attribute(PEER, &peer.to_ne_bytes()));
        let queues = [queues.0.to_ne_bytes(), queues.1.to_ne_bytes()].concat();
        message.extend(attribute(QUEUES, &queues));
        message
    }

    #[test]
    fn both_ends_of_a_connection_are_found() {
        let messages = [
            message(1, 2, "/run/s.sock", (10, 20)),
            message(2, 1, "", (30, 40)),
            message(3, 4, "/run/other.sock", (1, 1)),
            message(4, 3, "\0abstract", (1, 1)),
        ];
        let ends: Vec<UnixSocket> =
            messages.iter().map(|message| parse_socket(message).unwrap()).collect();
        let [clients, server] = split_by_side(&ends, |path| path == Path::new("/run/s.sock"));
        assert_eq!((clients.len(), server.len()), (1, 1));
        assert_eq!((clients[0].queues, server[0].queues), ((30, 40), (10, 20)));
    }

    #[test]
    fn truncated_message_gives_less_or_nothing() {
        let whole = message(1, 2, "/run/s.sock", (10, 20));
        for length in 0..whole.len() {
            assert_eq!(
                parse_socket(&whole[..length]).is_some(),
                length >= MESSAGE_BYTES,
                "{length}"
            );
        }
    }
}
