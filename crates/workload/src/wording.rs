//! How does a message speak of a text that the user wrote?
//!
//! Texts from a file can be long and can hold control characters; what is quoted in a message is
//! cut and escaped here, so that every message stays one readable line.

use std::fmt::Write as _;

use base::{Diagnostic, Severity, Span, closest};

/// How many characters of a text a message repeats.
const SHOWN: usize = 60;

/// How many known words an unknown one is compared with: enough for the tables and for any file
/// written by hand, and few enough that a huge file stays fast.
const COMPARED: usize = 200;

/// The text between backquotes, cut after [`SHOWN`] characters.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN {
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

/// An error at a place, or at none when the text did not come from the file.
pub(crate) fn error(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        message: message.into(),
        span,
        label: String::new(),
        help: None,
    }
}

/// A warning at a place, or at none.
pub(crate) fn warning(span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..error(span, message) }
}

/// The known word nearest to an unknown one.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let short = known.into_iter().filter(|known| known.len() <= 64);
    closest(word, short.take(COMPARED))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn enumeration(words: &[&str], last: &str) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_one_short_line() {
        assert_eq!(quoted("rate"), "`rate`");
        assert_eq!(quoted("a\nb"), "`a\\nb`");
        assert_eq!(quoted(&"x".repeat(61)), format!("`{}…`", "x".repeat(60)));
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(enumeration(&["yes", "no"], "or"), "yes or no");
        assert_eq!(enumeration(&["a", "b", "c"], "and"), "a, b and c");
    }
}
