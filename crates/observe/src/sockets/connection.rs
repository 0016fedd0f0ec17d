//! TCP connections as one side sees them.

/// A TCP connection as one side sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Connection {
    /// Ports, addresses and inode of the socket.
    pub(super) key: [u8; 40],
    /// Fields by which the kernel finds the socket again: `struct inet_diag_sockid`.
    pub(super) family: u8,
    pub(super) identity: [u8; 48],
    pub(super) is_established: bool,
    pub(super) inode: u32,
    pub(super) local_port: u16,
    pub(super) remote_port: u16,
    /// Received bytes that were not read.
    pub(super) receive_queue: u32,
    /// Bytes that were not sent yet.
    pub(super) send_queue: u32,
    pub(super) counted: Counted,
}

/// Counters of a connection; times in microseconds. `None` if this kernel does not report one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) busy: Option<u64>,
    pub(super) receiver_limited: Option<u64>,
    pub(super) buffer_limited: Option<u64>,
    pub(super) round_trip: Option<u32>,
    pub(super) round_trip_least: Option<u32>,
    pub(super) retransmits: Option<u64>,
    /// Segments with data.
    pub(super) data_sent: Option<u64>,
    pub(super) data_received: Option<u64>,
    /// Bytes that the other side acknowledged, and bytes received from it.
    pub(super) bytes_sent: Option<u64>,
    pub(super) bytes_received: Option<u64>,
    /// Time since data was last sent, and since data was last received, in milliseconds. The kernel
    /// counts it in its ticks, of up to 10 ms.
    pub(super) since_sent_ms: Option<u32>,
    pub(super) since_received_ms: Option<u32>,
}
