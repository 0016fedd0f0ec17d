//! Keys that hold for one database only: `query.mysql = …`.
//!
//! Of a key that stands once, the line for the target's dialect wins over the plain one. Of a key
//! that may be repeated, plain lines and those for the dialect hold together, in their order.

use base::Dialect;

use crate::read::{Entry, Section};

/// A key's name without its dialect, and the dialect if it names one that there is.
pub(super) fn split(name: &str) -> (&str, Option<Dialect>) {
    let parts = name.split_once('.');
    let named = parts.and_then(|(base, word)| Some((base, Dialect::from_name(word)?)));
    named.map_or((name, None), |(base, dialect)| (base, Some(dialect)))
}

/// The line of a section that sets a key that stands once, for a database that speaks `dialect`.
/// For those who must know before the section is checked as a whole.
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
    fn a_dialect_stands_behind_the_first_point() {
        assert_eq!(split("query.mysql"), ("query", Some(Dialect::Mysql)));
        assert_eq!(split("query"), ("query", None));
        assert_eq!(split("query.oracle"), ("query.oracle", None));
        assert_eq!(split("a.b.mysql"), ("a.b.mysql", None));
    }
}
