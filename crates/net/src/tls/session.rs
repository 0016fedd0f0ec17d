//! The TLS state of one connection, for a client or a server.
//!
//! The TLS library does no I/O: TLS records are encrypted and decrypted between the channel's
//! buffers and the socket. With TLS, too, a request is therefore one write and one read.

use std::io::{self, Read, Write};
use std::task::{Context, Poll, ready};

use rustls::{Connection, ProtocolVersion};

use super::end_point;
use crate::socket::Socket;

/// Minimum size of the buffer into which encrypted bytes are read, in bytes: the maximum content of
/// a TLS record (RFC 8446, section 5.1).
const READ_SIZE: usize = 16 << 10;

/// The encryption that both ends of a connection have negotiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    /// The version of the protocol, as servers write it: `TLSv1.3`.
    pub version: &'static str,
    /// The name of the cipher suite, as in the registry of IANA.
    pub cipher: String,
}

/// The TLS state of one connection.
pub(crate) struct TlsSession {
    connection: Connection,
    /// Encrypted bytes from the socket; `decrypted..end` is not yet passed to the TLS library.
    encrypted: Vec<u8>,
    decrypted: usize,
    end: usize,
    /// Encrypted bytes that are sent next.
    out: Vec<u8>,
    /// True once application data, or the end of the stream, has been received from the other end.
    has_received_data: bool,
}

impl TlsSession {
    /// Creates the state of a connection whose handshake has not begun. `early` are encrypted bytes
    /// that have already been read from the socket.
    pub(super) fn new(mut connection: Connection, early: &[u8]) -> TlsSession {
        // A request of any size is encrypted as a whole.
        connection.set_buffer_limit(None);
        let mut encrypted = early.to_vec();
        encrypted.resize(early.len().max(READ_SIZE), 0);
        TlsSession {
            connection,
            encrypted,
            decrypted: 0,
            end: early.len(),
            out: Vec::new(),
            has_received_data: false,
        }
    }

    /// Polls the handshake.
    pub(crate) fn poll_handshake(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            while self.connection.wants_write() {
                self.connection.write_tls(&mut self.out)?;
            }
            while !self.out.is_empty() {
                let count = ready!(socket.poll_write(context, &self.out))?;
                self.out.drain(..count);
            }
            if !self.connection.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            // If the handshake messages are long, the library accepts only part of them at once.
            if self.decrypted == self.end && ready!(self.poll_encrypted(socket, context))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            if let Err(error) = self.decrypt() {
                // Send the other end an alert with the reason.
                let _ = self.connection.write_tls(&mut self.out);
                let _ = socket.poll_write(context, &self.out);
                return Poll::Ready(Err(error));
            }
        }
    }

    /// Returns true if the server may still refuse TLS. For the client, the handshake is complete
    /// before the server has checked the client's certificate; the server checks it before it sends
    /// any data (RFC 8446, section 4.4.2.4).
    pub(crate) fn may_be_refused(&self) -> bool {
        matches!(self.connection, Connection::Client(_)) && !self.has_received_data
    }

    /// Returns the hash of the other end's certificate (RFC 5929, `tls-server-end-point`); empty if
    /// the other end has presented no certificate, or one that gives no binding.
    pub(crate) fn end_point(&self) -> Vec<u8> {
        let certificate = self.connection.peer_certificates().and_then(<[_]>::first);
        certificate.map(|der| end_point::hash(der)).unwrap_or_default()
    }

    /// Returns the negotiated version and cipher; `None` before the end of the handshake.
    pub(crate) fn encryption(&self) -> Option<Encryption> {
        let suite = self.connection.negotiated_cipher_suite()?.suite();
        let version = match self.connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2",
            ProtocolVersion::TLSv1_3 => "TLSv1.3",
            other => other.as_str().unwrap_or("TLS"),
        };
        // The library adds a prefix to the names of the TLS 1.3 suites.
        let cipher = suite.as_str().unwrap_or("unknown").replacen("TLS13_", "TLS_", 1);
        Some(Encryption { version, cipher })
    }

    /// Replaces the content of `out` by its encrypted form.
    pub(crate) fn encrypt(&mut self, out: &mut Vec<u8>) {
        self.out.clear();
        let encrypted = self.connection.writer().write_all(out).and_then(|()| {
            while self.connection.wants_write() {
                self.connection.write_tls(&mut self.out)?;
            }
            Ok(())
        });
        encrypted.expect("memory takes what is written to it");
        std::mem::swap(out, &mut self.out);
    }

    /// Reads decrypted bytes. `Ready` with 0 bytes means the end of the stream.
    pub(crate) fn poll_read(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            match self.connection.reader().read(room) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                other => {
                    self.has_received_data = true;
                    return Poll::Ready(other);
                }
            }
            if self.decrypted == self.end && ready!(self.poll_encrypted(socket, context))? == 0 {
                return Poll::Ready(Ok(0));
            }
            self.decrypt()?;
        }
    }

    /// Reads encrypted bytes from the socket.
    fn poll_encrypted(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let count = ready!(socket.poll_read(context, &mut self.encrypted))?;
        (self.decrypted, self.end) = (0, count);
        Poll::Ready(Ok(count))
    }

    /// Passes encrypted bytes to the TLS library, which may accept only part of them at once.
    fn decrypt(&mut self) -> io::Result<()> {
        let mut rest = &self.encrypted[self.decrypted..self.end];
        self.connection.read_tls(&mut rest)?;
        self.decrypted = self.end - rest.len();
        self.connection.process_new_packets().map_err(io::Error::other)?;
        Ok(())
    }
}
