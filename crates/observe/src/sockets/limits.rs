//! Limits of one reading of the machine's connections.

/// Maximum number of connections that are read one by one.
pub(super) const MOST: usize = 4_096;

/// Maximum number of ports in one request to the kernel, whose size is limited.
pub(super) const MOST_PORTS: usize = 16;

/// Maximum number of Unix sockets that are read.
pub(super) const MOST_ENDS: usize = 16_384;
