//! A byte stream to a server, with or without TLS.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rt::Rt;

use crate::address::{Address, Host, Socket};
use crate::error::Error;
use crate::options::TlsMode;
use crate::tls::{ClientTls, Session, handshake_failed};

/// Initial size of a connection's receive buffer, in bytes.
const SMALLEST: usize = 16 << 10;

/// Size, in bytes, up to which a receive buffer grows by itself. Only a message that must be held
/// whole makes it larger.
const LARGEST: usize = 64 << 10;

/// Maximum size, in bytes, of unread data from a server that does not read what it is sent. Larger
/// than the longest message that is held whole.
const MOST_UNREAD: usize = 32 << 20;

/// Capacity, in bytes, above which a send buffer is shrunk after use.
const KEPT: usize = 1 << 20;

/// A connected byte stream to a server.
pub struct Channel {
    socket: Socket,
    tls: Option<Box<Session>>,
    address: Address,
    /// Data to be sent next.
    out: Vec<u8>,
    /// Number of its bytes already sent; `None` until sending begins.
    written: Option<usize>,
    inbox: Inbox,
    /// The reason why nothing can be sent any more. Data received before may still be unread.
    broken: Option<io::Error>,
}

impl Channel {
    /// Connects to a server, without TLS.
    ///
    /// # Errors
    /// Class `Disconnect`; `TooManyConnections` if this process may not open more files.
    pub async fn connect(rt: &Rt, address: &Address, host: Host) -> Result<Channel, Error> {
        Ok(Channel {
            socket: address.connect(rt, host).await?,
            tls: None,
            address: address.clone(),
            out: Vec::new(),
            written: None,
            inbox: Inbox::new(SMALLEST),
            broken: None,
        })
    }

    /// Switches to TLS. Returns the hash of the server's certificate for channel binding (RFC 5929,
    /// `tls-server-end-point`).
    ///
    /// # Errors
    /// The server's certificate is not trusted, or client and server share no protocol version or
    /// cipher.
    pub async fn start_tls(&mut self, tls: &ClientTls, mode: TlsMode) -> Result<Vec<u8>, Error> {
        let mut session = tls.session(&self.address, mode)?;
        let address = &self.address;
        let socket = &self.socket;
        poll_fn(|context| session.poll_handshake(socket, context))
            .await
            .map_err(|error| handshake_failed(address, &error))?;
        let hash = session.end_point();
        self.tls = Some(Box::new(session));
        Ok(hash)
    }

    /// Returns the server's address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the buffer in which a request is written before it is sent.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Sends all of [`out`](Channel::out), reading answers meanwhile if the server does not accept
    /// more before they are read.
    ///
    /// A lost connection is not reported here: the server's last message may still be
    /// [unread](Channel::unread), and [`receive`](Channel::receive) reports the loss.
    #[inline]
    pub async fn flush(&mut self) {
        poll_fn(|context| self.poll_flush(context)).await;
    }

    /// Polls [`flush`](Channel::flush), for hand-written futures. Ready at once if there is nothing
    /// to send.
    #[inline]
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.out.is_empty() {
            return Poll::Ready(());
        }
        if self.written.is_none() {
            self.seal();
        }
        let mut written = self.written.unwrap_or(0);
        while written < self.out.len() && self.broken.is_none() {
            match self.socket.poll_write(context, &self.out[written..]) {
                Poll::Ready(Ok(count)) => written += count,
                Poll::Ready(Err(error)) => self.broken = Some(error),
                Poll::Pending => {
                    self.written = Some(written);
                    if self.inbox.unread().len() > MOST_UNREAD {
                        self.end_flood();
                        continue;
                    }
                    // Client and server must not both wait for the other to read.
                    self.inbox.make_room(usize::MAX);
                    if let Err(error) = ready!(self.poll_receive(context)) {
                        self.broken = Some(io::Error::other(error));
                    }
                }
            }
        }
        self.written = None;
        self.out.clear();
        if self.out.capacity() > KEPT {
            self.out.shrink_to(LARGEST);
        }
        Poll::Ready(())
    }

    /// Shuts down the connection to a server that sends without reading.
    #[cold]
    fn end_flood(&mut self) {
        self.socket.shut_down();
        let words = "the server sends without an end and does not read what it is sent";
        self.broken = Some(io::Error::other(words));
    }

    /// Encrypts the data to be sent, if TLS is on.
    #[inline]
    fn seal(&mut self) {
        if let Some(session) = &mut self.tls {
            session.seal(&mut self.out);
        }
    }

    /// Returns true if nothing can be sent any more.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Waits until there is more [to read](Channel::unread).
    ///
    /// # Errors
    /// Class `Disconnect` at the end of the stream.
    #[inline]
    pub async fn receive(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_receive(context)).await
    }

    /// Polls [`receive`](Channel::receive), for hand-written futures.
    #[inline]
    pub fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let room = self.inbox.room();
        let read = match &mut self.tls {
            None => ready!(self.socket.poll_read(context, room)),
            Some(session) => ready!(session.poll_read(&self.socket, context, room)),
        };
        Poll::Ready(match read {
            Ok(0) => Err(self.hung_up()),
            Ok(count) => {
                self.inbox.add(count);
                Ok(())
            }
            Err(error) => Err(self.lost(&error)),
        })
    }

    /// Returns the host that the name resolved to for this connection; `None` on a Unix domain
    /// socket, and if the connection is lost.
    #[cold]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer()
    }

    /// Returns the socket, to wait for its end; `None` if the operating system grants no file
    /// descriptor for it.
    pub fn give_up(self) -> Option<OwnedFd> {
        self.socket.give_up().ok()
    }

    /// Returns the bytes received and not yet consumed.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        self.inbox.unread()
    }

    /// Consumes `used` bytes. `needed` is the length of the message that was incomplete, for which
    /// room is made.
    #[inline]
    pub fn consume(&mut self, used: usize, needed: usize) {
        self.inbox.consume(used);
        self.inbox.make_room(needed);
    }

    #[cold]
    fn hung_up(&self) -> Error {
        match &self.broken {
            Some(error) => self.lost(error),
            None => Error::disconnect(format!("{} closed the connection", self.address)),
        }
    }

    #[cold]
    fn lost(&self, error: &io::Error) -> Error {
        if self.tls.as_ref().is_some_and(|session| session.may_be_refused()) {
            return handshake_failed(&self.address, error);
        }
        Error::disconnect(format!("the connection to {} was lost: {error}", self.address))
    }
}

/// A reused buffer of received bytes.
struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbox {
    fn new(size: usize) -> Inbox {
        Inbox { bytes: vec![0; size], start: 0, end: 0 }
    }

    #[inline]
    fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the free space for the next bytes; never empty.
    #[inline]
    fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            // The rest of the message is of unknown length.
            self.make_room(usize::MAX);
        }
        &mut self.bytes[self.end..]
    }

    #[inline]
    fn add(&mut self, count: usize) {
        self.end += count;
    }

    /// Drops the bytes that were read. A buffer that was full grows, because much data is arriving.
    #[inline]
    fn consume(&mut self, used: usize) {
        self.start += used;
        if self.start == self.end {
            let was_full = self.end == self.bytes.len();
            (self.start, self.end) = (0, 0);
            self.resize(was_full);
        }
    }

    /// Grows a buffer that was full, and shrinks one that an unusually long message has enlarged.
    #[inline]
    fn resize(&mut self, was_full: bool) {
        if was_full && self.bytes.len() < LARGEST {
            self.bytes.resize(self.bytes.len() * 2, 0);
        } else if self.bytes.len() > LARGEST {
            self.bytes.truncate(LARGEST);
            self.bytes.shrink_to(LARGEST);
        }
    }

    /// Makes room for a message of `message` bytes that begins with the unread ones, but for at
    /// most [`LARGEST`] further bytes at once.
    fn make_room(&mut self, message: usize) {
        let unread = self.end - self.start;
        let wanted = message.min(unread + LARGEST);
        if self.bytes.len() - self.start >= wanted {
            return;
        }
        self.bytes.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, unread);
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a server that announces and sends much data would be read byte by byte.
    #[test]
    fn an_inbox_that_is_full_gets_room_for_many_bytes() {
        let mut inbox = Inbox::new(SMALLEST);
        for _ in 0..100 {
            let room = inbox.room().len();
            assert!(room >= SMALLEST, "there is room for {room} bytes");
            inbox.add(room);
        }
        let unread = inbox.unread().len();
        inbox.consume(unread);
        assert!(inbox.bytes.len() <= LARGEST, "{} bytes are kept", inbox.bytes.len());
    }
}
