//! A connection as its protocol sees it: bytes in order.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rt::Rt;

use super::address::Socket;
use super::tls::{Session, Tls};
use super::{Address, Host, TlsMode};
use crate::Error;

/// How many bytes the buffer of a new connection has room for.
const SMALLEST: usize = 16 << 10;

/// To how many bytes a buffer grows by itself. Only a message that must be whole can make it
/// larger.
const LARGEST: usize = 64 << 10;

/// Largest size of unread data, in bytes, from a server that does not read what it is sent. It is
/// larger than the longest message that is read as a whole.
const MOST_UNREAD: usize = 32 << 20;

/// A buffer of requests that has become larger than this is not kept.
const KEPT: usize = 1 << 20;

/// A way to a server.
pub(crate) struct Channel {
    socket: Socket,
    tls: Option<Box<Session>>,
    address: Address,
    /// What is to be sent next.
    out: Vec<u8>,
    /// How much of it was sent, once its sending has begun.
    written: Option<usize>,
    inbox: Inbox,
    /// Why nothing can be sent any more. What the server said before is still to be read.
    broken: Option<io::Error>,
}

impl Channel {
    /// Connects to a server, without TLS.
    ///
    /// # Errors
    /// Class `Disconnect`; `TooManyConnections` if this process may not open more files.
    pub(crate) async fn connect(rt: &Rt, address: &Address, host: Host) -> Result<Channel, Error> {
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

    /// Goes on with TLS. Returns the hash of the server's certificate that binds an authentication
    /// to it (RFC 5929, `tls-server-end-point`).
    ///
    /// # Errors
    /// The server's certificate is not trusted, or the two have no way in common.
    pub(crate) async fn start_tls(&mut self, tls: &Tls, mode: TlsMode) -> Result<Vec<u8>, Error> {
        let mut session = tls.session(&self.address, mode)?;
        let address = &self.address;
        let socket = &self.socket;
        poll_fn(|context| session.poll_handshake(socket, context))
            .await
            .map_err(|error| super::tls::handshake_failed(address, &error))?;
        let hash = session.end_point();
        self.tls = Some(Box::new(session));
        Ok(hash)
    }

    /// The server's address.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Where a request is written before it is sent.
    #[inline]
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Sends all of [`out`](Channel::out). A server that takes nothing before its answers are
    /// taken is given room for them.
    ///
    /// That the server has gone is no error yet: its last words may still be
    /// [unread](Channel::unread), and [`receive`](Channel::receive) will say so.
    #[inline]
    pub(crate) async fn flush(&mut self) {
        poll_fn(|context| self.poll_flush(context)).await;
    }

    /// [`flush`](Channel::flush) for hand-written futures. Without anything to send it is done.
    #[inline]
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<()> {
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
                    // Neither side may wait for the other to read.
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

    /// Ends the connection of a server that sends and does not read.
    #[cold]
    fn end_flood(&mut self) {
        self.socket.shut_down();
        let words = "the server sends without an end and does not read what it is sent";
        self.broken = Some(io::Error::other(words));
    }

    /// Brings what is to be sent into the form in which it travels.
    #[inline]
    fn seal(&mut self) {
        if let Some(session) = &mut self.tls {
            session.seal(&mut self.out);
        }
    }

    /// Whether nothing can be sent any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Waits until there is more [to read](Channel::unread).
    ///
    /// # Errors
    /// Class `Disconnect`: there will be no more.
    #[inline]
    pub(crate) async fn receive(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_receive(context)).await
    }

    /// [`receive`](Channel::receive) for hand-written futures.
    #[inline]
    pub(crate) fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
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

    /// The host itself, which a name may have led to by chance; `None` on a socket of this machine,
    /// and if the connection is lost.
    #[cold]
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer()
    }

    /// The socket, for whoever waits for its end; `None` if there is no file left for it.
    pub(crate) fn give_up(self) -> Option<OwnedFd> {
        self.socket.give_up().ok()
    }

    /// What has come and is not consumed.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.inbox.unread()
    }

    /// So many bytes were read. `needed` is how long the message is that was not whole: there will
    /// be room for it.
    #[inline]
    pub(crate) fn consume(&mut self, used: usize, needed: usize) {
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
            return super::tls::handshake_failed(&self.address, error);
        }
        Error::disconnect(format!("the connection to {} was lost: {error}", self.address))
    }
}

/// What has come, in a buffer that is used again and again.
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

    /// Where the next bytes go; not empty.
    #[inline]
    fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() {
            // Nobody knows how much of the message is still to come.
            self.make_room(usize::MAX);
        }
        &mut self.bytes[self.end..]
    }

    #[inline]
    fn add(&mut self, count: usize) {
        self.end += count;
    }

    /// Forgets what was read. A buffer that was full will be larger: much is coming.
    #[inline]
    fn consume(&mut self, used: usize) {
        self.start += used;
        if self.start == self.end {
            let was_full = self.end == self.bytes.len();
            (self.start, self.end) = (0, 0);
            self.resize(was_full);
        }
    }

    /// Grows a buffer that was too small, and shrinks one that an unusual message has made large.
    #[inline]
    fn resize(&mut self, was_full: bool) {
        if was_full && self.bytes.len() < LARGEST {
            self.bytes.resize(self.bytes.len() * 2, 0);
        } else if self.bytes.len() > LARGEST {
            self.bytes.truncate(LARGEST);
            self.bytes.shrink_to(LARGEST);
        }
    }

    /// Makes room for a message of so many bytes that begins with what is unread, or for some
    /// bytes more if nobody knows how many.
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

    /// Else a server that announces much and sends it would be read byte by byte.
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
