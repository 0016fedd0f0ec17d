//! What is known about a server, for the record.

use crate::Table;

/// For what cannot be read.
pub(crate) const UNKNOWN: &str = "unknown";

/// What a server has told of itself.
pub(crate) struct Known<'a> {
    /// The version as it came.
    pub(crate) version: &'a str,
    /// The word for the kind of encryption.
    pub(crate) tls: &'a str,
    /// The settings by name, if it has returned them.
    pub(crate) settings: Option<&'a Table>,
    /// How the connection is encrypted, as the server sees it; the same.
    pub(crate) tls_status: Option<&'a Table>,
}

/// The value of a setting; `empty` is what stands for none at all.
pub(crate) fn value(found: Option<&Table>, wanted: &str, empty: &str) -> Option<String> {
    found?.rows.iter().find_map(|row| match row.as_slice() {
        [Some(name), Some(value)] if name.eq_ignore_ascii_case(wanted) => Some(match &**value {
            "" => empty.to_owned(),
            value => value.to_owned(),
        }),
        _ => None,
    })
}

/// The same, or that it is not known.
pub(crate) fn told(found: Option<&Table>, wanted: &str, empty: &str) -> String {
    value(found, wanted, empty).unwrap_or_else(|| UNKNOWN.to_owned())
}
