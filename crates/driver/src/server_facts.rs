//! Facts that a server has returned about itself, for the record.

use net::Encryption;
use record::environment::{NONE, UNKNOWN};

use crate::table::Table;

/// The fact with the version of TLS on the client's own connection; `none` without TLS. A server
/// behind a pooler reports about its connection to the pooler.
pub const CLIENT_TLS_VERSION: &str = "client_tls_version";

/// The fact with the cipher of the client's own connection; `none` without TLS.
pub const CLIENT_TLS_CIPHER: &str = "client_tls_cipher";

/// Facts about a server, as received from it, and about the connection to it.
pub(crate) struct ServerFacts<'a> {
    /// The version, unchanged.
    pub(crate) version: &'a str,
    /// The TLS mode, as a URL writes it.
    pub(crate) tls: &'a str,
    /// The encryption of the client's connection; `None` without TLS.
    pub(crate) encryption: Option<Encryption>,
    /// The settings by name; `None` if they could not be read.
    pub(crate) settings: Option<&'a Table>,
    /// The server's status of this connection's encryption; `None` if it could not be read.
    pub(crate) tls_status: Option<&'a Table>,
}

/// Returns the facts about the encryption of the client's own connection.
pub(crate) fn own_encryption(encryption: Option<&Encryption>) -> [(String, String); 2] {
    let version = encryption.map_or(NONE, |encryption| encryption.version);
    let cipher = encryption.map_or(NONE, |encryption| &encryption.cipher);
    [(CLIENT_TLS_VERSION, version), (CLIENT_TLS_CIPHER, cipher)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Returns the value of a setting, with `empty` in place of an empty value.
pub(crate) fn value(found: Option<&Table>, wanted: &str, empty: &str) -> Option<String> {
    found?.rows.iter().find_map(|row| match row.as_slice() {
        [Some(name), Some(value)] if name.eq_ignore_ascii_case(wanted) => Some(match &**value {
            "" => empty.to_owned(),
            value => value.to_owned(),
        }),
        _ => None,
    })
}

/// Returns the value of a setting, or [`UNKNOWN`] if it was not found.
pub(crate) fn value_or(found: Option<&Table>, wanted: &str, empty: &str) -> String {
    value(found, wanted, empty).unwrap_or_else(|| UNKNOWN.to_owned())
}
