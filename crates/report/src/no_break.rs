//! Blanks at which no line may break: between a number and its unit, and within an interval.

use std::borrow::Cow;

/// No-break space.
const NO_BREAK: char = '\u{a0}';

/// Units that follow a number and a blank. A word that ends in `/s` is a unit, too.
const UNITS: [&str; 17] = [
    "%", "ns", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "MiB", "GiB", "MHz",
    "GHz", "points",
];

/// Returns a sentence in which a number stays on one line with its unit, and with the other end of
/// its interval.
pub(crate) fn with_no_break_spaces(text: &str) -> Cow<'_, str> {
    let inner: Vec<usize> = blanks(text).filter(|at| is_inner(text, *at)).collect();
    if inner.is_empty() {
        return Cow::Borrowed(text);
    }
    let keep =
        |(at, character)| if inner.binary_search(&at).is_ok() { NO_BREAK } else { character };
    Cow::Owned(text.char_indices().map(keep).collect())
}

/// Returns the words of a text; a number and its unit are one word, and so is an interval.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut begin = 0;
    let ends = blanks(text).filter(|at| !is_inner(text, *at)).chain([text.len()]);
    ends.map(move |end| {
        let word = &text[begin..end];
        begin = end + 1;
        word
    })
}

/// Returns the positions of the blanks of a text, in bytes.
fn blanks(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(' ').map(|(at, _)| at)
}

/// Returns true if no line may break at the blank at this position, in bytes.
fn is_inner(text: &str, at: usize) -> bool {
    is_within_number(&text[..at], &text[at + 1..])
}

/// Returns true if a blank between these texts separates a number from its unit, or belongs to an
/// interval.
fn is_within_number(before: &str, after: &str) -> bool {
    let begins_number = |text: &str| {
        let digits = text.trim_start_matches(['+', '−', '-']);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let ends_number = before.ends_with(|c: char| c.is_ascii_digit() || c == '%');
    let ends_at_digit = before.ends_with(|c: char| c.is_ascii_digit());
    (ends_at_digit && begins_with_unit(after))
        || (ends_number && after.starts_with("… "))
        || (before.ends_with(" …") && begins_number(after))
}

fn begins_with_unit(text: &str) -> bool {
    let is_of_unit = |c: char| c.is_alphabetic() || ['%', '/'].contains(&c);
    let end = text.find(|c: char| !is_of_unit(c)).unwrap_or(text.len());
    let (unit, rest) = text.split_at(end);
    let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric() || ['_', '-'].contains(&c));
    is_whole && (UNITS.contains(&unit) || unit.ends_with("/s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_stays_with_its_unit_and_with_its_interval() {
        for (text, expected) in [
            ("waited for 94.9 % of it", "waited for 94.9~% of it"),
            ("p99 1.40 ms, limit 30 ms.", "p99 1.40~ms, limit 30~ms."),
            ("(95 % CI −8.12 … +1.28 %, 8 pairs)", "(95~% CI −8.12~…~+1.28~%, 8 pairs)"),
            ("5.52 … 9.97 %", "5.52~…~9.97~%"),
            ("3.4 MB/s and 20 requests/s", "3.4~MB/s and 20~requests/s"),
            ("8 s-shaped", "8 s-shaped"),
            ("3 servers", "3 servers"),
            ("a ms", "a ms"),
            ("cut … and 3 more", "cut … and 3 more"),
            ("é 5 % é", "é 5~% é"),
            ("a  b", "a  b"),
            ("", ""),
        ] {
            assert_eq!(with_no_break_spaces(text).replace(NO_BREAK, "~"), expected);
            let expected: Vec<String> =
                expected.split(' ').map(|word| word.replace('~', " ")).collect();
            assert_eq!(words(text).collect::<Vec<&str>>(), expected);
        }
    }
}
