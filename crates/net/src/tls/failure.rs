//! Errors of TLS handshakes.

use std::io;

use base::{Class, Code};
use rustls::CertificateError;

use crate::address::Address;
use crate::error::Error;

/// Builds the error of a handshake that failed on the client's side, with a remedy.
pub(crate) fn handshake_failed(address: &Address, error: &io::Error) -> Error {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let message = match cause {
        Some(rustls::Error::InvalidCertificate(why)) => format!(
            "the certificate of {address} is not trusted: {why}; {}, or write `tls=require` to \
             encrypt without checking the certificate",
            remedy(why)
        ),
        Some(rustls::Error::AlertReceived(alert)) => format!(
            "{address} refused TLS with the alert {alert:?}; it may require a client certificate, \
             or another one: `tls-cert=FILE&tls-key=FILE`"
        ),
        Some(rustls::Error::InvalidMessage(what)) => format!(
            "{address} agreed to TLS, and then sent something else ({what:?}); a proxy on the way \
             may not pass TLS on: connect to the server itself, or write `tls=off`"
        ),
        Some(error) => format!("TLS with {address} failed: {error}"),
        None => format!("TLS with {address} failed: {error}"),
    };
    match cause {
        Some(_) => Error::new(Class::Statement, Code::new("tls"), message),
        None => Error::disconnect(message),
    }
}

/// Builds the error of a handshake that failed on the server's side.
pub(crate) fn accept_failed(client: &Address, error: &io::Error) -> Error {
    let message = format!("TLS with the client at {client} failed: {error}");
    match error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) {
        true => Error::new(Class::Statement, Code::new("tls"), message),
        false => Error::disconnect(message),
    }
}

/// Returns a remedy for an untrusted certificate. The remedy keeps verification on.
fn remedy(why: &CertificateError) -> &'static str {
    match why {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "write the host in the URL as in its certificate"
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "give the server a new one, or correct the clock of this machine"
        }
        _ => "name its authority with `tls-ca=FILE`",
    }
}
