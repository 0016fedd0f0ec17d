//! Facts that a server has returned about itself, for the record.

use crate::table::Table;

/// Value of a fact that cannot be read.
pub(crate) const UNKNOWN: &str = "unknown";

/// Facts about a server, as received from it.
pub(crate) struct ServerFacts<'a> {
    /// The version, unchanged.
    pub(crate) version: &'a str,
    /// The word for the TLS mode.
    pub(crate) tls: &'a str,
    /// The settings by name; `None` if they could not be read.
    pub(crate) settings: Option<&'a Table>,
    /// The server's status of this connection's encryption; `None` if it could not be read.
    pub(crate) tls_status: Option<&'a Table>,
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

/// Returns the same, or [`UNKNOWN`] if the setting was not found.
pub(crate) fn told(found: Option<&Table>, wanted: &str, empty: &str) -> String {
    value(found, wanted, empty).unwrap_or_else(|| UNKNOWN.to_owned())
}
