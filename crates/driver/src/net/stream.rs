//! A connected socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// A socket, of one of the two kinds that databases listen on.
pub(super) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Reads what is there. `Ready` without a byte is the end.
    ///
    /// A read that leaves room in the buffer has emptied the socket, which the runtime remembers:
    /// the next one waits without asking the kernel in vain. (Its `try_read` does not.)
    #[inline]
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_read(context, room),
            Stream::Unix(stream) => Pin::new(stream).poll_read(context, room),
        }
    }

    /// Writes as much as the socket takes.
    #[inline]
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Stream::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }
}
