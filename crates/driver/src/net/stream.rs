//! A connected socket.

use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};

use rt::Source;

/// A socket, of one of the two kinds that databases listen on.
pub(super) enum Stream {
    Tcp(Source<TcpStream>),
    Unix(Source<UnixStream>),
}

impl Stream {
    /// Reads what is there. `Ready` with 0 is the end.
    #[inline]
    pub(super) fn poll_read(
        &self,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => stream.poll_read(context, room),
            Stream::Unix(stream) => stream.poll_read(context, room),
        }
    }

    /// Writes as much as the socket takes.
    #[inline]
    pub(super) fn poll_write(
        &self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => stream.poll_write(context, bytes),
            Stream::Unix(stream) => stream.poll_write(context, bytes),
        }
    }
}
