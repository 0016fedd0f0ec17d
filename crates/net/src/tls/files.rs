//! Certificates and keys in PEM files.

use std::fmt;
use std::path::{Path, PathBuf};

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::Error;

/// The PEM files with which a client or a server proves its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// File of the certificate, and of the certificates that lead from it to an authority.
    pub certificate: PathBuf,
    /// File of the private key, which must not be encrypted.
    pub key: PathBuf,
}

/// A certificate with the chain to its authority, and the private key.
pub(super) type ChainAndKey = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Identity {
    /// Reads the certificate chain and the key.
    pub(super) fn read(&self) -> Result<ChainAndKey, Error> {
        let chain = PemFile { path: &self.certificate, option: "tls-cert" }.certificates()?;
        let file = PemFile { path: &self.key, option: "tls-key" };
        let key = PrivateKeyDer::from_pem_file(file.path).map_err(|error| {
            file.unreadable(&error, "a private key in PEM that is not encrypted")
        })?;
        Ok((chain, key))
    }

    /// Builds the error for a certificate and a key that do not belong together.
    pub(super) fn mismatch(&self, error: &rustls::Error) -> Error {
        Error::url(format!("`tls-cert` and `tls-key` do not belong together: {error}"))
    }
}

/// A PEM file that an option names.
#[derive(Clone, Copy)]
pub(super) struct PemFile<'a> {
    path: &'a Path,
    option: &'static str,
}

impl fmt::Display for PemFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of the option `{}`", self.path.display(), self.option)
    }
}

impl PemFile<'_> {
    /// Returns the file of trusted authorities.
    pub(super) fn ca(path: &Path) -> PemFile<'_> {
        PemFile { path, option: "tls-ca" }
    }

    /// Reads the certificates in the file, which must have at least one.
    pub(super) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let read = CertificateDer::pem_file_iter(self.path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>);
        match read {
            Ok(certificates) if certificates.is_empty() => {
                Err(Error::url(format!("{self} contains no certificate in PEM format")))
            }
            Ok(certificates) => Ok(certificates),
            Err(error) => Err(self.unreadable(&error, "a certificate in PEM")),
        }
    }

    fn unreadable(&self, error: &pem::Error, expected: &str) -> Error {
        Error::url(match error {
            pem::Error::Io(error) => format!("cannot read {self}: {error}"),
            _ => format!("{self} does not hold {expected}"),
        })
    }
}
