//! Texts of the user in messages.
//!
//! Texts from a file can be long and can hold control characters. They are cut and escaped here to
//! keep every message one readable line.

use std::fmt::Write as _;

use base::units::grouped;
use base::{Diagnostic, Severity, Span, closest};

/// The maximum number of characters of a text that a message repeats.
const MAX_QUOTED: usize = 60;

/// The number of known words with which an unknown one is compared: enough for the tables and for
/// any file written by hand, and few enough to be fast on a huge file.
const MOST_COMPARED: usize = 200;

/// The maximum number of names of the user that a message lists.
const MOST_LISTED: usize = 10;

/// Returns the words of a text that could be names, including empty words between adjacent
/// separators.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
}

/// Encloses a text in backquotes, cut after [`MAX_QUOTED`] characters and with its control
/// characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == MAX_QUOTED {
            out.push('…');
            break;
        }
        if character.is_control() {
            let _ = write!(out, "{}", character.escape_default());
        } else {
            out.push(character);
        }
    }
    out.push('`');
    out
}

/// Returns an error at a position; `span` is `None` if the text did not come from the file.
pub(crate) fn error(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        option: None,
        message: message.into(),
        span,
        label: String::new(),
        help: None,
    }
}

/// Returns a warning at a position; `span` is `None` if the text did not come from the file.
pub(crate) fn warning(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..error(span, message) }
}

/// Returns the known word nearest to an unknown one; `None` if none is similar.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let short = known.into_iter().filter(|known| known.len() <= 64);
    closest(word, short.take(MOST_COMPARED))
}

/// Returns the duration that an invalid text probably means, if there is one: `10ms` for `10 ms`,
/// `10s` for `10sec`.
pub(crate) fn suggested_duration(text: &str) -> Option<String> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, word) = (&text[..unit_at], text[unit_at..].trim_start());
    let units: [(&str, &[&str]); 7] = [
        ("ns", &["ns", "nsec", "nanosecond"]),
        ("us", &["us", "µs", "μs", "usec", "microsecond"]),
        ("ms", &["ms", "msec", "millisecond"]),
        ("s", &["s", "sec", "second"]),
        ("m", &["m", "min", "minute"]),
        ("h", &["h", "hr", "hour"]),
        ("d", &["d", "day"]),
    ];
    let is_word = |name: &&str| word == *name || word.strip_suffix('s') == Some(*name);
    let (unit, _) = units.iter().find(|(_, names)| names.iter().any(is_word))?;
    let meant = format!("{number}{unit}");
    (meant != text && base::units::parse_duration(&meant).is_ok()).then_some(meant)
}

/// Joins words as `a`, `a and b`, `a, b and c`, with `last` as the last conjunction.
pub(crate) fn enumeration(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// Lists names of the user, at most [`MOST_LISTED`], with the number of the others: `a, b and c`,
/// or `a, b, c and 490 more`.
pub(crate) fn name_list<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let mut names = names.into_iter();
    let first: Vec<N> = names.by_ref().take(MOST_LISTED).collect();
    let others = match names.count() {
        0 => None,
        others => Some(format!("{} more", grouped(others as u64))),
    };
    let first = first.iter().map(|name| name.as_ref());
    let words: Vec<&str> = first.chain(others.as_deref()).collect();
    enumeration(&words, "and")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_duration_spellings_are_suggested() {
        for (text, meant) in [
            ("10 ms", "10ms"),
            ("10sec", "10s"),
            ("1min", "1m"),
            ("1.5  hours", "1.5h"),
            ("20 µs", "20us"),
            ("2 days", "2d"),
        ] {
            assert_eq!(suggested_duration(text).as_deref(), Some(meant), "{text}");
        }
        for text in ["10ms", "10", "", "ms", "10 m s", "10 ms + 1", "x 10 ms", "10x", "1.2.3 s"] {
            assert_eq!(suggested_duration(text), None, "{text}");
        }
    }

    #[test]
    fn a_quoted_text_is_one_short_line() {
        assert_eq!(quoted("rate"), "`rate`");
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"x".repeat(61)), format!("`{}…`", "x".repeat(60)));
    }

    #[test]
    fn words_are_joined_with_commas_and_or() {
        assert_eq!(enumeration(&["yes", "no"], "or"), "yes or no");
        assert_eq!(enumeration(&["a", "b", "c"], "and"), "a, b and c");
    }

    #[test]
    fn list_of_names_counts_those_that_it_leaves_out() {
        let list = |names: usize| name_list((0..names).map(|number| format!("n{number}")));
        assert_eq!(list(1), "n0");
        assert_eq!(list(10), "n0, n1, n2, n3, n4, n5, n6, n7, n8 and n9");
        assert_eq!(list(11), "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 1 more");
        assert_eq!(list(5_010), "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 5,000 more");
    }
}
