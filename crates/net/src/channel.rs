//! A buffered byte stream between a client and a server, with or without TLS.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, ready};

use rt::Rt;

use crate::address::Address;
use crate::error::Error;
use crate::options::TlsMode;
use crate::receive_buffer::{MAX_KEPT_SIZE, ReceiveBuffer, ReceiveMemory};
use crate::socket::{Host, Socket, connect_to};
use crate::tls::{ClientTls, Encryption, ServerTls, TlsSession, accept_failed, handshake_failed};

/// Maximum number of unread bytes from a peer that sends without reading. It exceeds the length of
/// the longest message that must be buffered whole.
const MOST_UNREAD: usize = 18 << 20;

/// Capacity, in bytes, above which a send buffer is shrunk after use.
const MAX_KEPT_CAPACITY: usize = 1 << 20;

/// A connected, buffered byte stream to the other end: to a server or, if this process is the
/// server, to a client.
pub struct Channel {
    socket: Socket,
    tls: Option<Box<TlsSession>>,
    address: Address,
    /// Data that are sent next.
    out: Vec<u8>,
    /// Number of bytes of `out` that are already sent; `None` until sending begins.
    written: Option<usize>,
    receive_buffer: ReceiveBuffer,
    /// The reason why nothing more can be sent. Data that were received before may still be unread.
    broken: Option<io::Error>,
}

impl Channel {
    /// Connects to a server, without TLS. The receive buffer takes its space from `memory`, which
    /// the connections of a driver share.
    ///
    /// # Errors
    /// Class `Disconnect`; `TooManyConnections` if this process may not open more files.
    pub async fn connect(
        rt: &Rt,
        address: &Address,
        host: Host,
        memory: &ReceiveMemory,
    ) -> Result<Channel, Error> {
        let socket = connect_to(rt, address, host).await?;
        Ok(Channel::new(socket, address.clone(), memory.clone()))
    }

    /// Creates a channel over a socket, without TLS. `address` names the other end in messages. The
    /// receive buffer takes its space from `memory`, which several channels may share.
    pub fn new(socket: Socket, address: Address, memory: ReceiveMemory) -> Channel {
        Channel {
            socket,
            tls: None,
            address,
            out: Vec::new(),
            written: None,
            receive_buffer: ReceiveBuffer::new(memory),
            broken: None,
        }
    }

    /// Switches to TLS as the client. Returns the hash of the server's certificate for channel
    /// binding (RFC 5929, `tls-server-end-point`). The hash is empty if the certificate gives no
    /// binding.
    ///
    /// # Errors
    /// Class `Statement` if the server's certificate is not trusted, or client and server share no
    /// protocol version or cipher; class `Disconnect` if the connection is lost.
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

    /// Switches to TLS as the server. All [unread](Channel::unread) bytes belong to the handshake.
    ///
    /// # Errors
    /// Class `Statement` if the client does not trust the certificate, or client and server share
    /// no protocol version or cipher; class `Disconnect` if the connection is lost.
    pub async fn accept_tls(&mut self, tls: &ServerTls) -> Result<(), Error> {
        let mut session = tls.session(self.receive_buffer.unread())?;
        self.receive_buffer.consume(self.receive_buffer.unread().len());
        let socket = &self.socket;
        poll_fn(|context| session.poll_handshake(socket, context))
            .await
            .map_err(|error| accept_failed(&self.address, &error))?;
        self.tls = Some(Box::new(session));
        Ok(())
    }

    /// Returns the encryption of this connection; `None` without TLS.
    pub fn encryption(&self) -> Option<Encryption> {
        self.tls.as_ref()?.encryption()
    }

    /// Returns the address of the other end.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the buffer in which a request is written before it is sent.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Sends all of [`out`](Channel::out). While the other end accepts no data, reads from it,
    /// because it may be waiting until its own data are read.
    ///
    /// A lost connection is not reported here: the other end's last message may still be
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
            self.encrypt();
        }
        let mut written = self.written.unwrap_or(0);
        while written < self.out.len() && self.broken.is_none() {
            match self.socket.poll_write(context, &self.out[written..]) {
                Poll::Ready(Ok(count)) => written += count,
                Poll::Ready(Err(error)) => self.broken = Some(error),
                Poll::Pending => {
                    self.written = Some(written);
                    if self.receive_buffer.unread().len() > MOST_UNREAD {
                        self.end_flood();
                        continue;
                    }
                    // If client and server both waited for the other to read, neither would
                    // continue.
                    if let Err(error) = ready!(self.poll_receive(context)) {
                        self.broken = Some(io::Error::other(error));
                    }
                }
            }
        }
        self.written = None;
        self.out.clear();
        if self.out.capacity() > MAX_KEPT_CAPACITY {
            self.out.shrink_to(MAX_KEPT_SIZE);
        }
        Poll::Ready(())
    }

    /// Closes the connection to a server that sends without reading.
    #[cold]
    fn end_flood(&mut self) {
        self.socket.shut_down();
        let words = "the server sends without end and does not read its requests";
        self.broken = Some(io::Error::other(words));
    }

    /// Encrypts the data that are sent next, if TLS is on.
    #[inline]
    fn encrypt(&mut self) {
        if let Some(session) = &mut self.tls {
            session.encrypt(&mut self.out);
        }
    }

    /// Returns true if nothing more can be sent.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Waits until there is more [to read](Channel::unread).
    ///
    /// # Errors
    /// Class `Disconnect` at the end of the stream, if the connection is lost, or if the receive
    /// buffers of all connections would exceed [`ReceiveMemory::LIMIT`]; class `Statement` if the
    /// server refuses TLS after the handshake.
    #[inline]
    pub async fn receive(&mut self) -> Result<(), Error> {
        poll_fn(|context| self.poll_receive(context)).await
    }

    /// Polls [`receive`](Channel::receive), for hand-written futures.
    #[inline]
    pub fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(room) = self.receive_buffer.free_space() else {
            return Poll::Ready(Err(self.out_of_memory()));
        };
        let read = match &mut self.tls {
            None => ready!(self.socket.poll_read(context, room)),
            Some(session) => ready!(session.poll_read(&self.socket, context, room)),
        };
        Poll::Ready(match read {
            Ok(0) => Err(self.closed_by_peer()),
            Ok(count) => {
                self.receive_buffer.advance(count);
                Ok(())
            }
            Err(error) => Err(self.connection_lost(&error)),
        })
    }

    /// Returns true if bytes from the other end, or the end of the stream, have already arrived.
    pub async fn has_input(&mut self) -> bool {
        let is_unread = !self.unread().is_empty();
        poll_fn(|context| Poll::Ready(is_unread || self.poll_receive(context).is_ready())).await
    }

    /// Returns the address to which this connection's host name was resolved; `None` for a Unix
    /// domain socket, or if the connection is lost.
    #[cold]
    pub fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer()
    }

    /// Returns the socket, for a caller that waits until the other end closes it; `None` if this
    /// process has reached its limit of open files.
    pub fn into_socket(self) -> Option<OwnedFd> {
        self.socket.into_owned_fd().ok()
    }

    /// Returns the bytes that were received and not yet consumed.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        self.receive_buffer.unread()
    }

    /// Consumes `used` bytes, and makes room for an incomplete message of `needed` bytes. If there
    /// is too little memory for it, a later [`receive`](Channel::receive) fails.
    #[inline]
    pub fn consume(&mut self, used: usize, needed: usize) {
        self.receive_buffer.consume(used);
        self.receive_buffer.make_room(needed);
    }

    /// Returns the error of an answer for which too little memory is left.
    #[cold]
    fn out_of_memory(&self) -> Error {
        Error::disconnect(format!(
            "the incomplete answers of all connections take more than {} MiB; the last is from {}",
            ReceiveMemory::LIMIT >> 20,
            self.address
        ))
    }

    #[cold]
    fn closed_by_peer(&self) -> Error {
        match &self.broken {
            Some(error) => self.connection_lost(error),
            None => Error::disconnect(format!("{} closed the connection", self.address)),
        }
    }

    #[cold]
    fn connection_lost(&self, error: &io::Error) -> Error {
        if self.tls.as_ref().is_some_and(|session| session.may_be_refused()) {
            return handshake_failed(&self.address, error);
        }
        Error::disconnect(format!("the connection to {} was lost: {error}", self.address))
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;

    use rcgen::{CertificateParams, KeyPair};
    use rt::{Options as RtOptions, run_real};

    use super::*;
    use crate::{Identity, Options};

    /// Returns the TLS set-ups of a server and of a client that trusts it, and the folder with
    /// their files.
    fn tls_pair() -> (ServerTls, ClientTls, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let parameters = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let file = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let certificate = file("certificate.pem", certificate.pem());
        let key = file("key.pem", key.serialize_pem());
        let mut options =
            Options::parse("any", &[], &[], |_| Ok::<(), Error>(())).expect("options");
        options.tls_ca = Some(certificate.clone());
        let client = ClientTls::new(&options, &[TlsMode::Verify]).expect("a client");
        let server = ServerTls::new(&Identity { certificate, key }).expect("a server");
        (server, client, folder)
    }

    /// Returns both ends of a connection, without TLS.
    fn channel_pair(rt: &Rt) -> (Channel, Channel) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).expect("a connection");
        let (server, _) = listener.accept().expect("a connection");
        let end = |stream: TcpStream| {
            stream.set_nonblocking(true).expect("a socket");
            let socket = Socket::new(rt, OwnedFd::from(stream)).expect("a socket");
            let address = Address::Tcp("localhost".to_owned(), address.port());
            Channel::new(socket, address, ReceiveMemory::default())
        };
        (end(client), end(server))
    }

    async fn transfer(from: &mut Channel, to: &mut Channel, bytes: &[u8]) {
        from.out().extend_from_slice(bytes);
        from.flush().await;
        while to.unread().len() < bytes.len() {
            to.receive().await.expect("bytes");
        }
        assert_eq!(to.unread(), bytes);
        to.consume(bytes.len(), 0);
    }

    #[test]
    fn both_roles_exchange_bytes_over_tls() {
        let (server_tls, client_tls, _folder) = tls_pair();
        run_real(&RtOptions::default(), async |rt| {
            let (mut client, mut server) = channel_pair(&rt);
            let accepted = rt.spawn(async move {
                server.accept_tls(&server_tls).await.expect("a handshake");
                server
            });
            assert_eq!(client.encryption(), None);
            client.start_tls(&client_tls, TlsMode::Verify).await.expect("a handshake");
            let mut server = accepted.await;
            let Encryption { version, cipher } = client.encryption().expect("an encryption");
            assert_eq!((version, &cipher[..8]), ("TLSv1.3", "TLS_AES_"));
            transfer(&mut client, &mut server, b"request").await;
            transfer(&mut server, &mut client, b"answer").await;
        })
        .expect("a runtime");
    }

    /// A MySQL client begins the TLS handshake without waiting for an answer. The server may thus
    /// have read the beginning of the handshake before it switches to TLS.
    #[test]
    fn handshake_that_was_read_with_earlier_bytes_is_completed() {
        let (server_tls, client_tls, _folder) = tls_pair();
        run_real(&RtOptions::default(), async |rt| {
            let (mut client, mut server) = channel_pair(&rt);
            let accepted = rt.spawn(async move {
                server.receive().await.expect("the beginning of the handshake");
                server.accept_tls(&server_tls).await.expect("a handshake");
                server
            });
            client.start_tls(&client_tls, TlsMode::Verify).await.expect("a handshake");
            let mut server = accepted.await;
            transfer(&mut client, &mut server, b"request").await;
        })
        .expect("a runtime");
    }

    #[test]
    fn client_that_does_not_trust_the_server_fails_at_both_ends() {
        let (server_tls, ..) = tls_pair();
        let (_, client_tls, _folder) = tls_pair();
        run_real(&RtOptions::default(), async |rt| {
            let (mut client, mut server) = channel_pair(&rt);
            let accepted = rt.spawn(async move { server.accept_tls(&server_tls).await });
            let error = client.start_tls(&client_tls, TlsMode::Verify).await.unwrap_err();
            assert!(error.message().contains("is not trusted"), "{error}");
            let error = accepted.await.unwrap_err();
            assert!(error.message().starts_with("TLS with the client at "), "{error}");
            assert_eq!(error.code().as_str(), "tls");
        })
        .expect("a runtime");
    }
}
