//! Facts that a server has returned about itself, for the record.

use net::Encryption;
use record::environment::{NONE, UNKNOWN};

use crate::facts::shortened;
use crate::table::Table;

/// Maximum length of a setting and of the version, in characters, not counting the length and the
/// hash that are appended if it is cut. The longest setting is a list of all SQL modes.
const LONGEST_SETTING: usize = 1_000;

/// The fact with the version of TLS on the client's own connection; `none` without TLS. The report
/// of the server does not replace it: behind a pooler, the server reports about its connection to
/// the pooler.
pub const CLIENT_TLS_VERSION: &str = "client_tls_version";

/// The fact with the cipher of the client's own connection; `none` without TLS.
pub const CLIENT_TLS_CIPHER: &str = "client_tls_cipher";

/// Facts about a server, as received from it, and about the connection to it.
pub(crate) struct ServerFacts<'a> {
    /// The version, unchanged.
    pub(crate) version: &'a str,
    /// The TLS mode, as written in a URL.
    pub(crate) tls: &'a str,
    /// The encryption of the client's connection; `None` without TLS.
    pub(crate) encryption: Option<Encryption>,
    /// The settings by name; `None` if they could not be read.
    pub(crate) settings: Option<&'a Table>,
    /// The encryption of the server's connection, as the server reports it; `None` if it could not
    /// be read.
    pub(crate) tls_status: Option<&'a Table>,
}

/// Returns the facts about the encryption of the client's own connection.
pub(crate) fn own_encryption(encryption: Option<&Encryption>) -> [(String, String); 2] {
    let version = encryption.map_or(NONE, |encryption| encryption.version);
    let cipher = encryption.map_or(NONE, |encryption| &encryption.cipher);
    [(CLIENT_TLS_VERSION, version), (CLIENT_TLS_CIPHER, cipher)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Returns the version of a server, cut if it is too long.
pub(crate) fn version(found: &str) -> String {
    shortened(found, LONGEST_SETTING)
}

/// Returns the value of a setting, cut if it is too long, with `empty` in place of an empty value;
/// `None` if `found` does not contain the setting.
pub(crate) fn value(found: Option<&Table>, wanted: &str, empty: &str) -> Option<String> {
    found?.rows.iter().find_map(|row| match row.as_slice() {
        [Some(name), Some(value)] if name.eq_ignore_ascii_case(wanted) => Some(match &**value {
            "" => empty.to_owned(),
            value => shortened(value, LONGEST_SETTING),
        }),
        _ => None,
    })
}

/// Returns the value of a setting, or [`UNKNOWN`] if it was not found.
pub(crate) fn value_or(found: Option<&Table>, wanted: &str, empty: &str) -> String {
    value(found, wanted, empty).unwrap_or_else(|| UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_setting_is_truncated_and_marked() {
        let row = |name: &str, value: String| vec![Some(name.to_owned()), Some(value)];
        let rows = vec![
            row("jit", "x".repeat(Table::LIMIT / 2)),
            row("sql_mode", "é".repeat(LONGEST_SETTING)),
            row("fsync", String::new()),
        ];
        let table = Table { columns: Vec::new(), rows, is_cut: false };
        let found = |name| value_or(Some(&table), name, "empty");
        let cut = format!("{}… (8388608 characters, 559cd503)", "x".repeat(LONGEST_SETTING));
        assert_eq!(found("JIT"), cut);
        assert_eq!(found("sql_mode"), "é".repeat(LONGEST_SETTING));
        assert_eq!((found("fsync"), found("none")), ("empty".to_owned(), UNKNOWN.to_owned()));
        assert_eq!(version(&"1".repeat(2_000)).chars().count(), LONGEST_SETTING + 29);
    }
}
