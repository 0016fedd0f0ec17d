//! What does the specification have that this version has not?
//!
//! The one list of them. Each is answered with "not supported by this version" instead of
//! "unknown", and leaves the list when it is built.

/// First words of section names.
pub(crate) const SECTIONS: &[&str] =
    &["target", "observe", "threshold", "question", "arm", "sweep", "saturate", "capacity"];

/// Keys, in whatever section.
pub(crate) const KEYS: &[&str] = &[
    "mix",
    "session",
    "command",
    "query-file",
    "query-args-file",
    "query-args-delim",
    "query-results-file",
    "query-log-file",
    "multi-query-mode",
    "reconnect",
    "outage",
    "on-queue-full",
    "expect-rows",
    "target",
    "script",
    "pipeline",
    "prepare",
];

/// What may follow a key behind a dot: the key then holds for one database only.
const DIALECTS: &[&str] = &["mysql", "postgres", "sqlite"];

/// Generators.
pub(crate) const GENERATORS: &[&str] = &[
    "pareto", "hotspot", "latest", "nurand", "client", "digits", "hex", "uuid", "weighted", "json",
    "point", "polygon", "csv", "null",
];

/// Rates that vary.
pub(crate) const RATES: &[&str] = &["ramp", "sine", "steps", "trace"];

/// Whether a section is one of those.
pub(crate) fn section(name: &str) -> bool {
    let word = name.split_whitespace().next().unwrap_or_default();
    SECTIONS.contains(&word)
}

/// Whether a key is one of those; `known` says whether a name is a key of this version.
pub(crate) fn key(name: &str, known: impl Fn(&str) -> bool) -> bool {
    let (base, dialect) = name.split_once('.').unzip();
    let dialect = dialect.is_some_and(|dialect| DIALECTS.contains(&dialect));
    KEYS.contains(&base.filter(|_| dialect).unwrap_or(name)) || dialect && base.is_some_and(known)
}

/// Whether a generator is one of those.
pub(crate) fn generator(name: &str) -> bool {
    GENERATORS.contains(&name)
}

/// The function of a rate that varies, if the text is one.
pub(crate) fn rate(text: &str) -> Option<&'static str> {
    let name = text.split('(').next().unwrap_or_default().trim();
    RATES.iter().copied().find(|rate| *rate == name && name.len() < text.len())
}

/// `X is not supported by this version of assay`.
pub(crate) fn message(what: &str) -> String {
    format!("{} is not supported by this version of assay", crate::wording::quoted(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys;

    #[test]
    fn nothing_is_both_known_and_missing() {
        for name in KEYS {
            assert!(keys::ALL.iter().all(|key| key.name != *name), "{name}");
        }
        for name in GENERATORS {
            assert!(crate::generate::find(name).is_none(), "{name}");
        }
    }
}
