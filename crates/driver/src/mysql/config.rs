//! The servers of a URL, their keys, and the files that statements may load.

use std::path::PathBuf;

use base::UrlOption;
use confine::Files;
use net::PasswordFile;

use crate::Error;
use crate::service::{Service, ServiceKind};

pub(super) const KIND: ServiceKind = ServiceKind {
    name: "MySQL",
    port: 3306,
    password_file: PasswordFile::MyCnf,
    options: &["server-public-key"],
};

/// State shared by all connections.
#[derive(Debug)]
pub(super) struct ServiceConfig {
    pub(super) service: Service,
    pub(super) key: TrustedKey,
    /// Access to the files that statements load.
    pub(super) files: Files,
}

/// The server keys with which a password may be encrypted on a TCP connection without TLS.
#[derive(Clone, Debug)]
pub(super) enum TrustedKey {
    /// Any key from a server on this machine, where no attacker is in between.
    AnyIfLocal,
    /// Any key.
    Any,
    /// Exactly this key, in PEM.
    Known(Vec<u8>),
}

/// The option `server-public-key` as written.
pub(super) enum KeyOption {
    /// The option is absent.
    Unset,
    Ask,
    File(PathBuf),
}

/// Reads the option `server-public-key`.
pub(super) fn read_option(given: UrlOption<'_>, key: &mut KeyOption) -> Result<(), Error> {
    *key = match given.value {
        "ask" => KeyOption::Ask,
        _ => KeyOption::File(given.path()?),
    };
    Ok(())
}

impl KeyOption {
    /// Reads the file that the option names.
    pub(super) fn read(self) -> Result<TrustedKey, Error> {
        let path = match self {
            KeyOption::Unset => return Ok(TrustedKey::AnyIfLocal),
            KeyOption::Ask => return Ok(TrustedKey::Any),
            KeyOption::File(path) => path,
        };
        let file = path.display();
        let pem = std::fs::read(&path).map_err(|error| {
            Error::url(format!("cannot read `{file}` of the option `server-public-key`: {error}"))
        })?;
        if !String::from_utf8_lossy(&pem).contains("PUBLIC KEY-----") {
            return Err(Error::url(format!(
                "`{file}` of the option `server-public-key` contains no public key in PEM format; \
                 the server shows its own by `show status like \
                 'Caching_sha2_password_rsa_public_key'`"
            )));
        }
        Ok(TrustedKey::Known(pem))
    }
}
