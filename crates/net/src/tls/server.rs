//! The TLS set-up of servers.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::{ServerConfig, ServerConnection};

use super::files::Identity;
use super::session::TlsSession;
use crate::error::Error;

/// The TLS set-up of a server. Clients need no certificate.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<ServerConfig>);

impl ServerTls {
    /// Reads the certificate and the key of the server.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong content.
    pub fn new(identity: &Identity) -> Result<ServerTls, Error> {
        let (chain, key) = identity.read()?;
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::url(format!("TLS cannot be set up: {error}")))?
            .with_no_client_auth();
        let config = builder.with_single_cert(chain, key);
        Ok(ServerTls(Arc::new(config.map_err(|error| identity.mismatch(&error))?)))
    }

    /// Returns the set-up for the TLS library.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.0
    }

    /// Creates the server side of a new connection. `early` are the bytes that have already been
    /// read from it.
    pub(crate) fn session(&self, early: &[u8]) -> Result<TlsSession, Error> {
        let connection = ServerConnection::new(Arc::clone(&self.0))
            .map_err(|error| Error::url(format!("TLS cannot begin: {error}")))?;
        Ok(TlsSession::new(connection.into(), early))
    }
}
