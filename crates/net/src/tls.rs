//! TLS between this client and a server.
//!
//! The TLS library does no I/O of its own: records are encrypted and decrypted between the
//! channel's buffers and the socket. A request thus remains one write and one read.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::address::{Address, Socket};
use crate::end_point;
use crate::error::Error;
use crate::options::{Options, TlsMode};

/// Number of encrypted bytes read from the socket at once: the maximum size of a record.
const SEALED: usize = 16 << 10;

/// TLS configurations for the modes in use. Built once per driver.
#[derive(Clone, Debug)]
pub struct ClientTls {
    require: Option<Arc<ClientConfig>>,
    verify: Option<Arc<ClientConfig>>,
}

impl ClientTls {
    /// Reads the certificates and keys that these modes need.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong content.
    pub fn new(options: &Options, modes: &[TlsMode]) -> Result<ClientTls, Error> {
        let made = |mode| match modes.contains(&mode) {
            true => config(options, Trust::of(mode, options)?).map(Some),
            false => Ok(None),
        };
        Ok(ClientTls { require: made(TlsMode::Require)?, verify: made(TlsMode::Verify)? })
    }

    /// Creates the client side of a new connection.
    pub(crate) fn session(&self, address: &Address, mode: TlsMode) -> Result<Session, Error> {
        let config = match mode {
            TlsMode::Off => None,
            TlsMode::Require => self.require.clone(),
            TlsMode::Verify => self.verify.clone(),
        };
        let config = config.ok_or_else(|| Error::url("TLS was not prepared in this mode"))?;
        let name = ServerName::try_from(address.host().to_owned())
            .map_err(|_| Error::url(format!("`{}` is no name for TLS", address.host())))?;
        let mut connection = ClientConnection::new(config, name)
            .map_err(|error| Error::url(format!("TLS cannot begin: {error}")))?;
        // Requests of any size are encrypted whole.
        connection.set_buffer_limit(None);
        Ok(Session {
            connection,
            sealed: vec![0; SEALED],
            opened: 0,
            end: 0,
            out: Vec::new(),
            was_heard: false,
        })
    }
}

/// The certificates that are accepted.
enum Trust {
    Anybody,
    System,
    Roots(RootCertStore),
}

impl Trust {
    fn of(mode: TlsMode, options: &Options) -> Result<Trust, Error> {
        Ok(match (mode, &options.tls_ca) {
            (TlsMode::Off | TlsMode::Require, _) => Trust::Anybody,
            (TlsMode::Verify, Some(path)) => Trust::Roots(roots(path)?),
            (TlsMode::Verify, None) => Trust::System,
        })
    }
}

fn config(options: &Options, trust: Trust) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let impossible = |error: rustls::Error| Error::url(format!("TLS cannot be set up: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(impossible)?;
    let builder = match trust {
        Trust::Anybody => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnybody(provider)))
        }
        Trust::Roots(roots) => builder.with_root_certificates(roots),
        Trust::System => builder.with_platform_verifier().map_err(|error| {
            Error::url(format!(
                "the system's certificates of those who are trusted cannot be read: {error}; name \
                 an authority with `tls-ca=FILE`"
            ))
        })?,
    };
    let config = match &options.tls_identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate, "tls-cert")?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
                unreadable("tls-key", key, &error, "a private key in PEM that is not encrypted")
            })?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                Error::url(format!("`tls-cert` and `tls-key` do not belong together: {error}"))
            })?
        }
    };
    Ok(Arc::new(config))
}

fn roots(path: &Path) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, "tls-ca")? {
        roots.add(certificate).map_err(|error| {
            let file = path.display();
            Error::url(format!("`{file}` of the option `tls-ca` holds no authority: {error}"))
        })?;
    }
    Ok(roots)
}

fn certificates(path: &Path, option: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let what = "a certificate in PEM";
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => {
            let file = path.display();
            Err(Error::url(format!(
                "`{file}` of the option `{option}` holds no certificate in PEM"
            )))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(unreadable(option, path, &error, what)),
    }
}

fn unreadable(
    option: &str,
    path: &Path,
    error: &rustls::pki_types::pem::Error,
    what: &str,
) -> Error {
    let file = path.display();
    Error::url(match error {
        rustls::pki_types::pem::Error::Io(error) => {
            format!("cannot read `{file}` of the option `{option}`: {error}")
        }
        _ => format!("`{file}` of the option `{option}` does not hold {what}"),
    })
}

/// Builds the error of a failed TLS handshake, with a remedy.
pub(crate) fn handshake_failed(address: &Address, error: &io::Error) -> Error {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let message = match cause {
        Some(rustls::Error::InvalidCertificate(why)) => format!(
            "the certificate of {address} is not trusted: {why}; {}, or write `tls=require` to \
             encrypt without knowing who answers",
            remedy(why)
        ),
        Some(rustls::Error::AlertReceived(alert)) => format!(
            "{address} refused TLS with the alert {alert:?}; it may want a certificate of this \
             client, or another one: `tls-cert=FILE&tls-key=FILE`"
        ),
        Some(error) => format!("TLS with {address} failed: {error}"),
        None => format!("TLS with {address} failed: {error}"),
    };
    match cause {
        Some(_) => Error::new(base::Class::Statement, base::Code::new("tls"), message),
        None => Error::disconnect(message),
    }
}

/// Returns the remedy for an untrusted certificate, other than disabling verification.
fn remedy(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "name the host in the URL as its certificate does"
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "give the server a new one, or set the clock of this machine right"
        }
        _ => "name its authority with `tls-ca=FILE`",
    }
}

/// A verifier that accepts every certificate. Handshake signatures are still verified.
#[derive(Debug)]
struct AcceptAnybody(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// The TLS state of one connection.
pub(crate) struct Session {
    connection: ClientConnection,
    /// Encrypted bytes from the socket; `opened..end` is not yet passed to the TLS library.
    sealed: Vec<u8>,
    opened: usize,
    end: usize,
    /// Encrypted bytes to be sent next.
    out: Vec<u8>,
    /// True once application data or the end of the stream has been read.
    was_heard: bool,
}

impl Session {
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
            // The library accepts only part of a long flight at once.
            if self.opened == self.end && ready!(self.poll_sealed(socket, context))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            if let Err(error) = self.open() {
                // Send the alert with the reason to the other end.
                let _ = self.connection.write_tls(&mut self.out);
                let _ = socket.poll_write(context, &self.out);
                return Poll::Ready(Err(error));
            }
        }
    }

    /// Returns true if the server may still refuse TLS: it checks this client's certificate when
    /// the handshake is already complete on our side (RFC 8446, section 4.4.2.4), before it sends
    /// any data.
    pub(crate) fn may_be_refused(&self) -> bool {
        !self.was_heard
    }

    /// Returns the hash of the server's certificate (RFC 5929, `tls-server-end-point`).
    pub(crate) fn end_point(&self) -> Vec<u8> {
        let certificate = self.connection.peer_certificates().and_then(<[_]>::first);
        certificate.map(|der| end_point::hash(der)).unwrap_or_default()
    }

    /// Replaces the content of `out` by its encrypted form.
    pub(crate) fn seal(&mut self, out: &mut Vec<u8>) {
        self.out.clear();
        let sealed = self.connection.writer().write_all(out).and_then(|()| {
            while self.connection.wants_write() {
                self.connection.write_tls(&mut self.out)?;
            }
            Ok(())
        });
        sealed.expect("memory takes what is written to it");
        std::mem::swap(out, &mut self.out);
    }

    /// Reads decrypted bytes. `Ready` with 0 is the end of the stream.
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
                    self.was_heard = true;
                    return Poll::Ready(other);
                }
            }
            if self.opened == self.end && ready!(self.poll_sealed(socket, context))? == 0 {
                return Poll::Ready(Ok(0));
            }
            self.open()?;
        }
    }

    /// Reads encrypted bytes from the socket.
    fn poll_sealed(
        &mut self,
        socket: &Socket,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let count = ready!(socket.poll_read(context, &mut self.sealed))?;
        (self.opened, self.end) = (0, count);
        Poll::Ready(Ok(count))
    }

    /// Passes as many of the encrypted bytes to the TLS library as it accepts before the decrypted
    /// ones are read.
    fn open(&mut self) -> io::Result<()> {
        let mut rest = &self.sealed[self.opened..self.end];
        self.connection.read_tls(&mut rest)?;
        self.opened = self.end - rest.len();
        self.connection.process_new_packets().map_err(io::Error::other)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_was_not_prepared_begins_nothing_and_reads_nothing() {
        let mut options = Options::parse("any", &[], &[], |_| Ok::<(), Error>(())).unwrap();
        options.tls_ca = Some("no/such/authority.pem".into());
        let far = Address::Tcp("db.example".to_owned(), 5432);
        let tls = ClientTls::new(&options, &[TlsMode::Off, TlsMode::Require]).unwrap();
        assert!(tls.session(&far, TlsMode::Require).is_ok());
        for mode in [TlsMode::Off, TlsMode::Verify] {
            assert!(tls.session(&far, mode).is_err(), "{mode:?}");
        }
        let unread = ClientTls::new(&options, &[TlsMode::Verify]).unwrap_err();
        assert!(unread.message().contains("no/such/authority.pem"), "{unread}");
    }
}
