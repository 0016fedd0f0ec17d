//! Features that the specification has and this version does not.
//!
//! This is the only list of them. Each is answered with "not supported by this version" instead of
//! "unknown", and is removed from the list when it is implemented.

use base::{Diagnostic, Span};

use crate::wording;

/// A feature that this version does not have, and what to write instead.
pub(crate) struct Missing {
    pub(crate) name: &'static str,
    instead: &'static str,
}

const fn missing(name: &'static str, instead: &'static str) -> Missing {
    Missing { name, instead }
}

const ONE_BY_ONE: &str = "run the file once for each, with `--set` or `--url`";

/// First words of the names of unsupported sections.
pub(crate) const SECTIONS: &[Missing] = &[missing("saturate", ONE_BY_ONE)];

/// Unsupported keys, in any section.
pub(crate) const KEYS: &[Missing] =
    &[missing("script", "write its statements here, each as a `query`")];

fn find<'m>(list: &'m [Missing], name: &str) -> Option<&'m Missing> {
    list.iter().find(|missing| missing.name == name)
}

/// Returns true if a section is not supported by this version.
pub(crate) fn section(name: &str) -> bool {
    let word = name.split_whitespace().next().unwrap_or_default();
    find(SECTIONS, word).is_some()
}

/// Returns true if a key is not supported by this version, with or without a dialect suffix.
pub(crate) fn key(name: &str) -> bool {
    find(KEYS, without_dialect(name)).is_some()
}

/// Returns a key without its dialect suffix.
fn without_dialect(name: &str) -> &str {
    name.split_once('.').map_or(name, |(base, _)| base)
}

/// Returns the error `X is not supported by this version of assay`, with the alternative as its
/// help.
///
/// `what` is written as in the file: `[capacity]`, `uuid()`, or the name of a key.
pub(crate) fn error(span: Option<Span>, what: &str) -> Diagnostic {
    Diagnostic { help: instead(what), ..wording::error(span, refusal(what)) }
}

fn refusal(what: &str) -> String {
    format!("{} is not supported by this version of assay", wording::quoted(what))
}

fn instead(what: &str) -> Option<String> {
    let list = |list, name| find(list, name).map(|missing| missing.instead.to_owned());
    if let Some(section) = what.strip_prefix('[') {
        return list(SECTIONS, section.split([' ', ']']).next()?);
    }
    list(KEYS, without_dialect(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn unsupported_keys_are_not_in_the_table_of_keys() {
        for Missing { name, .. } in KEYS {
            assert!(keys::ALL.iter().all(|key| key.name != *name), "{name}");
        }
    }

    #[test]
    fn unsupported_keys_name_an_alternative() {
        let named = |list: &[Missing], before: &str, behind: &str| -> Vec<String> {
            list.iter().map(|missing| format!("{before}{}{behind}", missing.name)).collect()
        };
        let all = [
            named(SECTIONS, "[", " a]"),
            named(SECTIONS, "[", "]"),
            named(KEYS, "", ""),
            named(KEYS, "", ".mysql"),
        ];
        for what in all.concat() {
            assert!(error(None, &what).help.is_some(), "{what}");
        }
    }
}
