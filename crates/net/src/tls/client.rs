//! The TLS set-up of clients: trusted authorities, and the certificate of the client itself.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt;

use super::files::{Identity, PemFile};
use super::session::TlsSession;
use crate::address::Address;
use crate::error::Error;
use crate::options::{Options, TlsMode};

/// The TLS set-ups of a client, one for each mode in use. Built once per driver.
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
        let made = |mode, trust: fn(&Options) -> Trust| match modes.contains(&mode) {
            true => client_config(trust(options), options.tls_identity.as_ref()).map(Some),
            false => Ok(None),
        };
        let verified = |options: &Options| match &options.tls_ca {
            Some(path) => Trust::Authority(path.clone()),
            None => Trust::System,
        };
        Ok(ClientTls {
            require: made(TlsMode::Require, |_| Trust::Anything)?,
            verify: made(TlsMode::Verify, verified)?,
        })
    }

    /// Creates the client side of a new connection.
    pub(crate) fn session(&self, address: &Address, mode: TlsMode) -> Result<TlsSession, Error> {
        let config = match mode {
            TlsMode::Off => None,
            TlsMode::Require => self.require.clone(),
            TlsMode::Verify => self.verify.clone(),
        };
        let config = config.ok_or_else(|| Error::url("TLS was not prepared in this mode"))?;
        let name = ServerName::try_from(address.host().to_owned())
            .map_err(|_| Error::url(format!("`{}` is not a valid name for TLS", address.host())))?;
        let connection = ClientConnection::new(config, name)
            .map_err(|error| Error::url(format!("TLS cannot begin: {error}")))?;
        Ok(TlsSession::new(connection.into(), &[]))
    }
}

/// The server certificates that a client accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Any certificate, without verification.
    Anything,
    /// Certificates signed by an authority that the operating system trusts.
    System,
    /// Certificates signed by the authority, or one of several, in this PEM file.
    Authority(PathBuf),
}

/// Builds the TLS set-up of a client, with the certificate that the client presents if the server
/// requests one.
///
/// # Errors
/// A file cannot be read or has the wrong content.
pub fn client_config(
    trust: Trust,
    identity: Option<&Identity>,
) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let impossible = |error: rustls::Error| Error::url(format!("TLS cannot be set up: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(impossible)?;
    let builder = match trust {
        Trust::Anything => {
            let verifier = Arc::new(AcceptAnyCertificate(provider));
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
        Trust::Authority(path) => builder.with_root_certificates(roots(PemFile::ca(&path))?),
        Trust::System => builder.with_platform_verifier().map_err(|error| {
            Error::url(format!(
                "the system's trusted certificates cannot be read: {error}; name an authority with \
                 `tls-ca=FILE`"
            ))
        })?,
    };
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (chain, key) = identity.read()?;
            builder.with_client_auth_cert(chain, key).map_err(|error| identity.mismatch(&error))?
        }
    };
    Ok(Arc::new(config))
}

fn roots(file: PemFile<'_>) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in file.certificates()? {
        roots.add(certificate).map_err(|error| {
            Error::url(format!("{file} contains no certificate authority: {error}"))
        })?;
    }
    Ok(roots)
}

/// A verifier that accepts every certificate. Handshake signatures are still verified.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprepared_tls_mode_starts_no_session_and_reads_no_file() {
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
