//! TCP connections, as one of their two sides sees them.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use record::environment::NetworkPath;

/// Address family of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// IPv4.
    V4,
    /// IPv6, including dual-stack sockets whose peer uses IPv4.
    V6,
}

impl Family {
    /// Both families.
    pub(super) const ALL: [Family; 2] = [Family::V4, Family::V6];

    /// Returns `AF_INET` or `AF_INET6`.
    pub(super) fn number(self) -> u8 {
        match self {
            Family::V4 => 2,
            Family::V6 => 10,
        }
    }

    /// Returns the family with this number; `None` for other families.
    pub(super) fn from_number(number: u8) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.number() == number)
    }

    /// Parses the address in a field, which has room for an IPv6 address. If an IPv6 socket has an
    /// IPv4 peer, the address is returned as IPv4.
    pub(super) fn address(self, field: &[u8]) -> Option<IpAddr> {
        Some(match self {
            Family::V4 => Ipv4Addr::from(*field.first_chunk::<4>()?).into(),
            Family::V6 => Ipv6Addr::from(*field.first_chunk::<16>()?).to_canonical(),
        })
    }
}

/// A TCP connection, as one of its two sides sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Connection {
    /// Ports, addresses and inode of the socket.
    pub(super) key: [u8; 40],
    pub(super) family: Family,
    /// Fields by which the kernel finds the socket again: `struct inet_diag_sockid`.
    pub(super) identity: [u8; 48],
    pub(super) is_established: bool,
    pub(super) inode: u32,
    /// Addresses of both ends. An IPv4 address always has the same form, even on an IPv6 socket.
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// Number of received bytes that have not been read.
    pub(super) receive_queue: u32,
    /// Number of bytes that have not been sent yet.
    pub(super) send_queue: u32,
    pub(super) counters: ConnectionCounters,
}

impl Connection {
    /// Returns true if both ends are on this machine.
    pub(super) fn is_local(&self) -> bool {
        NetworkPath::between(Some(self.local.ip()), self.remote.ip()).is_here()
    }
}

/// Counters of a connection. Times are in microseconds unless their names say otherwise. A counter
/// is `None` if this kernel does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ConnectionCounters {
    pub(super) busy: Option<u64>,
    pub(super) receiver_limited: Option<u64>,
    pub(super) buffer_limited: Option<u64>,
    pub(super) round_trip: Option<u32>,
    pub(super) round_trip_least: Option<u32>,
    pub(super) retransmits: Option<u64>,
    /// Numbers of segments with data.
    pub(super) data_sent: Option<u64>,
    pub(super) data_received: Option<u64>,
    /// Numbers of bytes that the other side acknowledged, and of bytes received from it.
    pub(super) bytes_sent: Option<u64>,
    pub(super) bytes_received: Option<u64>,
    /// Time since data was last sent, and since data was last received, in milliseconds. The kernel
    /// counts these times in ticks of up to 10 ms.
    pub(super) since_sent_ms: Option<u32>,
    pub(super) since_received_ms: Option<u32>,
    /// Time since the last acknowledgement was received, with or without data, in milliseconds.
    pub(super) since_acknowledged_ms: Option<u32>,
    /// Number of segments that were sent and have not been acknowledged.
    pub(super) unacknowledged: Option<u32>,
}

/// Longest time, in milliseconds, after which received data is acknowledged by a separate segment
/// (`TCP_DELACK_MAX` of Linux). A later acknowledgement is the answer to a probe.
const LATEST_ACKNOWLEDGEMENT_MS: u32 = 200;

/// Direction of the last data transfer on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastTransfer {
    /// Data was last sent: a request has not been answered yet.
    Awaiting,
    /// Data was received last.
    Answered,
    /// Data was last sent and last received in the same tick of the kernel. Either a request was
    /// sent immediately after an answer, or a request was answered immediately.
    OneTick,
}

impl ConnectionCounters {
    /// Returns the direction of the last data transfer; `None` if unknown.
    ///
    /// If data was last sent and last received in one tick, an unanswered request is recognised by
    /// its acknowledgement. There is none yet, or it is a segment without data that arrived after
    /// the last data. An answer, in contrast, acknowledges its request itself.
    pub(super) fn last_transfer(&self) -> Option<LastTransfer> {
        let (sent, received) = (self.since_sent_ms?, self.since_received_ms?);
        let unacknowledged = self.unacknowledged.is_some_and(|segments| segments > 0);
        let after_data = received.saturating_sub(self.since_acknowledged_ms?);
        let is_acknowledged_alone = (1..=LATEST_ACKNOWLEDGEMENT_MS).contains(&after_data);
        Some(match sent.cmp(&received) {
            Ordering::Less => LastTransfer::Awaiting,
            Ordering::Greater => LastTransfer::Answered,
            Ordering::Equal if unacknowledged || is_acknowledged_alone => LastTransfer::Awaiting,
            Ordering::Equal => LastTransfer::OneTick,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_data_decides_whose_turn_it_is() {
        for (sent, received, acknowledged, unacknowledged, expected) in [
            (5, 900, 5, 1, LastTransfer::Awaiting),
            (900, 5, 5, 0, LastTransfer::Answered),
            // The next request was sent immediately after the answer.
            (400, 400, 360, 0, LastTransfer::Awaiting),
            (20, 20, 20, 1, LastTransfer::Awaiting),
            (400, 400, 400, 0, LastTransfer::OneTick),
            // The last acknowledgement answered a probe.
            (90_000, 90_000, 12_000, 0, LastTransfer::OneTick),
        ] {
            let counters = ConnectionCounters {
                since_sent_ms: Some(sent),
                since_received_ms: Some(received),
                since_acknowledged_ms: Some(acknowledged),
                unacknowledged: Some(unacknowledged),
                ..ConnectionCounters::default()
            };
            assert_eq!(counters.last_transfer(), Some(expected), "{counters:?}");
        }
        assert_eq!(ConnectionCounters::default().last_transfer(), None);
    }
}
