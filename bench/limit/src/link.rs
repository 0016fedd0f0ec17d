//! Connections with and without TLS: blocking during login, non-blocking in the loop.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use net::Address;
use rustix::net::{RecvFlags, SendFlags};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::options::Options;
use limit::arguments::Failure;

/// Longest wait for bytes from the server during login.
const PATIENCE: Duration = Duration::from_secs(30);

/// A blocking connection, used for login.
pub(crate) enum Link {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Link {
    /// Connects without TLS.
    pub(crate) fn connect(options: &Options) -> Result<Link, Failure> {
        let address = Address::Tcp(options.host.clone(), options.port);
        let socket = TcpStream::connect((options.host.as_str(), options.port))
            .map_err(|error| format!("{address}: {error}"))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Link::Plain(socket))
    }

    /// Switches the connection to TLS.
    pub(crate) fn encrypt(self, host: &str) -> Result<Link, Failure> {
        let Link::Plain(socket) = self else { return Err("TLS within TLS".into()) };
        let name = ServerName::try_from(host.to_owned())?;
        let session = ClientConnection::new(configuration()?, name)?;
        Ok(Link::Tls(Box::new(StreamOwned::new(session, socket))))
    }

    /// Waits until at least one byte has arrived, and appends the bytes that have arrived, at most
    /// 16 KiB.
    pub(crate) fn read_more(&mut self, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        let mut piece = [0; 16_384];
        match self.read(&mut piece)? {
            0 => Err("the server has closed the connection".into()),
            length => {
                bytes.extend_from_slice(&piece[..length]);
                Ok(())
            }
        }
    }

    /// Converts the link into a non-blocking connection without TLS.
    pub(crate) fn into_plain(self) -> Result<Plain, Failure> {
        match self {
            Link::Plain(socket) => {
                socket.set_nonblocking(true)?;
                Ok(Plain(socket))
            }
            Link::Tls(_) => Err("TLS was not asked for".into()),
        }
    }

    /// Converts the link into a non-blocking connection with TLS.
    pub(crate) fn into_tls(self) -> Result<Encrypted, Failure> {
        match self {
            Link::Tls(stream) => {
                let (session, socket) = stream.into_parts();
                socket.set_nonblocking(true)?;
                Ok(Encrypted { socket, session })
            }
            Link::Plain(_) => Err("the server does not offer TLS".into()),
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Link::Plain(socket) => socket.read(buffer),
            Link::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Link {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Link::Plain(socket) => socket.write(bytes),
            Link::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Link::Plain(socket) => socket.flush(),
            Link::Tls(stream) => stream.flush(),
        }
    }
}

/// A non-blocking connection, used in the loop.
pub(crate) trait Transport {
    /// Returns the socket to wait for.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Sends a whole request, which must fit into the socket's buffer.
    fn send(&mut self, request: &[u8]) -> io::Result<()>;

    /// Reads available bytes and returns their number, 0 if there are none yet. Reads at most as
    /// many as fit into `buffer`, and with TLS at most about one record; a later call reads the
    /// others.
    ///
    /// # Errors
    /// Fails with `UnexpectedEof` if the server has closed the connection.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
}

/// A connection without TLS.
pub(crate) struct Plain(TcpStream);

impl Transport for Plain {
    fn socket(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    #[inline]
    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        let sent = rustix::net::send(&self.0, request, SendFlags::NOSIGNAL)?;
        whole(sent, request.len())
    }

    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match rustix::net::recv(&self.0, buffer, RecvFlags::empty()) {
            Ok((0, _)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((length, _)) => Ok(length),
            Err(rustix::io::Errno::AGAIN) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

/// A connection with TLS.
pub(crate) struct Encrypted {
    socket: TcpStream,
    session: ClientConnection,
}

impl Transport for Encrypted {
    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.session.writer().write_all(request)?;
        while self.session.wants_write() {
            self.session.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Reads at most 4 KiB, which may be a part of a record.
            let has_read = match self.session.read_tls(&mut self.socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => true,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
                Err(error) => return Err(error),
            };
            self.session.process_new_packets().map_err(io::Error::other)?;
            match self.session.reader().read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && has_read => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                read => return read,
            }
        }
    }
}

fn whole(sent: usize, length: usize) -> io::Result<()> {
    match sent == length {
        true => Ok(()),
        false => Err(io::Error::other("the socket's buffer has no room for a request")),
    }
}

/// Returns the TLS configuration that all connections share. It trusts any certificate, as
/// `sslmode=require` does: the server belongs to the measurement.
fn configuration() -> Result<Arc<ClientConfig>, Failure> {
    static CONFIGURATION: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(made) = CONFIGURATION.get() {
        return Ok(Arc::clone(made));
    }
    let made = net::client_config(net::Trust::Anything, None)?;
    Ok(Arc::clone(CONFIGURATION.get_or_init(|| made)))
}
