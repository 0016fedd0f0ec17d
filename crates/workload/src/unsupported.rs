//! Features that this version does not support, with their alternatives.
//!
//! This is the only list of them. Their use is reported as "not supported by this version" instead
//! of "unknown", and a feature is removed from the list when it is implemented.

use base::{Diagnostic, Span};

use crate::wording;

/// A feature that this version does not have, and its alternative.
pub(crate) struct UnsupportedFeature {
    pub(crate) name: &'static str,
    instead: &'static str,
}

const fn unsupported(name: &'static str, instead: &'static str) -> UnsupportedFeature {
    UnsupportedFeature { name, instead }
}

/// Unsupported keys, in any section.
pub(crate) const KEYS: &[UnsupportedFeature] =
    &[unsupported("script", "write its statements here, each as a `query`")];

fn find<'m>(list: &'m [UnsupportedFeature], name: &str) -> Option<&'m UnsupportedFeature> {
    list.iter().find(|feature| feature.name == name)
}

/// Returns true if a key is not supported by this version, with or without a dialect suffix.
pub(crate) fn is_unsupported_key(name: &str) -> bool {
    find(KEYS, without_dialect(name)).is_some()
}

/// Returns a key without its dialect suffix.
fn without_dialect(name: &str) -> &str {
    name.split_once('.').map_or(name, |(base, _)| base)
}

/// Returns the error `X is not supported by this version of assay`, with the alternative as its
/// help.
///
/// `what` is the name of a key, with or without a dialect suffix.
pub(crate) fn error(span: Option<Span>, what: &str) -> Diagnostic {
    Diagnostic { help: alternative(what), ..wording::error(span, refusal(what)) }
}

fn refusal(what: &str) -> String {
    format!("{} is not supported by this version of assay", wording::quoted(what))
}

fn alternative(what: &str) -> Option<String> {
    find(KEYS, without_dialect(what)).map(|feature| feature.instead.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn unsupported_keys_are_not_in_the_table_of_keys() {
        for UnsupportedFeature { name, .. } in KEYS {
            assert!(keys::ALL.iter().all(|key| key.name != *name), "{name}");
        }
    }

    #[test]
    fn unsupported_keys_name_an_alternative() {
        let named = |list: &[UnsupportedFeature], after: &str| -> Vec<String> {
            list.iter().map(|feature| format!("{}{after}", feature.name)).collect()
        };
        for what in [named(KEYS, ""), named(KEYS, ".mysql")].concat() {
            assert!(error(None, &what).help.is_some(), "{what}");
        }
    }
}
