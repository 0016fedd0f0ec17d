//! Limits for one reading of the machine's connections.

/// Maximum number of connections that are read one by one.
pub(super) const MAX_CONNECTIONS: usize = 4_096;

/// Maximum number of ports in one request to the kernel. The size of a request is limited.
pub(super) const MAX_PORTS: usize = 16;

/// Maximum number of Unix sockets that are read.
pub(super) const MAX_UNIX_SOCKETS: usize = 16_384;
