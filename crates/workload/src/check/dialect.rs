//! Keys that hold for one database only: `query.mysql = …`.
//!
//! Of a key that stands once, the line for the target's dialect wins over the plain one. Of a key
//! that may be repeated, plain lines and those for the dialect hold together, in their order.

use base::Dialect;

/// A key's name without its dialect, and the dialect if it names one that there is.
pub(super) fn split(name: &str) -> (&str, Option<Dialect>) {
    let parts = name.split_once('.');
    let named = parts.and_then(|(base, word)| Some((base, Dialect::from_name(word)?)));
    named.map_or((name, None), |(base, dialect)| (base, Some(dialect)))
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
