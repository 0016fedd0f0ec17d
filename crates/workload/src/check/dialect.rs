//! Keys that apply to one database only: `query.mysql = …`.
//!
//! For a key that may be set once, the line for the target's dialect overrides the plain line. For
//! a key that may be repeated, plain lines and lines for the dialect apply together, in file order.

use base::Dialect;

use crate::read::{Entry, Section};

/// Splits a key into its name and the dialect after the name, if the dialect is known.
pub(super) fn split(name: &str) -> (&str, Option<Dialect>) {
    let parts = name.split_once('.');
    let named = parts.and_then(|(base, word)| Some((base, Dialect::from_name(word)?)));
    named.map_or((name, None), |(base, dialect)| (base, Some(dialect)))
}

/// Returns the line of a section that sets a non-repeatable key, for a database that speaks
/// `dialect`.
///
/// For callers that need one key before the section is checked as a whole.
pub(super) fn line<'f>(
    section: &'f Section<'f>,
    key: &str,
    dialect: Dialect,
) -> Option<&'f Entry<'f>> {
    let with = |wanted: Option<Dialect>| {
        section.entries.iter().find(|entry| split(entry.key().text()) == (key, wanted))
    };
    with(Some(dialect)).or_else(|| with(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialect_follows_the_first_point() {
        assert_eq!(split("query.mysql"), ("query", Some(Dialect::Mysql)));
        assert_eq!(split("query"), ("query", None));
        assert_eq!(split("query.oracle"), ("query.oracle", None));
        assert_eq!(split("a.b.mysql"), ("a.b.mysql", None));
    }
}
