//! A scanner that splits a shell command into text, quoted parts and `${…}`.
//!
//! Of the shell's syntax it knows `'…'`, `"…"`, `\`, and `#` at the beginning of a comment: just
//! enough to tell whether a spliced-in value forms a word of its own. (POSIX.1-2024, Shell Command
//! Language, 2.2 and 2.3.) The shell checks everything else.

use super::scan::{Fragment, MOST_BRACED, Scan, SyntaxContext, ValuePositions};
use crate::expr::parse_braced;
use crate::read::Excerpt;

/// Splits a command into its parts. No `;` is reported.
pub(crate) fn scan(source: Excerpt<'_>, marks: ValuePositions<'_>) -> Scan {
    let mut scanner = Scanner {
        source,
        bytes: source.text().as_bytes(),
        at: 0,
        flushed: 0,
        within: SyntaxContext::Open,
        scan: Scan::default(),
    };
    let mut values = 0;
    while scanner.at < scanner.bytes.len() && !scanner.scan.too_many {
        if marks.has_dollar(scanner.bytes, scanner.at) {
            scanner.take(3, Fragment::Dollar);
        } else if marks.has_value(scanner.bytes, scanner.at) {
            values += 1;
            scanner.scan.too_many = values > MOST_BRACED;
            scanner.braced();
        } else {
            scanner.step();
        }
    }
    scanner.flush();
    scanner.scan.open = match scanner.within {
        SyntaxContext::Open | SyntaxContext::LineComment(_) => None,
        open @ (SyntaxContext::Literal(..) | SyntaxContext::BlockComment(_)) => Some(open),
    };
    scanner.scan
}

struct Scanner<'p> {
    source: Excerpt<'p>,
    bytes: &'p [u8],
    at: usize,
    /// Start of the text that is not yet in a fragment.
    flushed: usize,
    within: SyntaxContext,
    scan: Scan,
}

impl Scanner<'_> {
    fn flush(&mut self) {
        if self.flushed < self.at {
            self.scan.fragments.push(Fragment::Text(self.flushed..self.at));
        }
    }

    fn take(&mut self, length: usize, fragment: Fragment) {
        self.flush();
        self.scan.fragments.push(fragment);
        self.at += length;
        self.flushed = self.at;
    }

    fn braced(&mut self) {
        let (content, end) = parse_braced(self.source, self.at + 2);
        let range = self.at..end;
        // A backslash would escape the quote that is put around the value.
        let within = match (self.within, self.at.checked_sub(1)) {
            (SyntaxContext::Open, Some(before)) if self.is_escape(before) => {
                SyntaxContext::Literal(before, 1)
            }
            (within, _) => within,
        };
        self.take(end - self.at, Fragment::Braced { range, content, within });
    }

    /// Returns true if the byte at this offset is a backslash that escapes the next byte.
    fn is_escape(&self, place: usize) -> bool {
        let before = self.bytes[..=place].iter().rev().take_while(|byte| **byte == b'\\');
        before.count() % 2 == 1
    }

    /// Consumes the next byte, together with the byte after it if that byte is escaped and is not a
    /// `$`.
    fn step(&mut self) {
        let at = self.at;
        let byte = self.bytes[at];
        // A `$` is never consumed with the byte before it: it may begin a value.
        let protects = byte == b'\\' && self.bytes.get(at + 1) != Some(&b'$');
        match (self.within, byte) {
            (SyntaxContext::Open, b'\'' | b'"') => self.within = SyntaxContext::Literal(at, 1),
            (SyntaxContext::Open, b'#') if self.begins_word() => {
                self.within = SyntaxContext::LineComment(at)
            }
            (SyntaxContext::Open, _) if protects => self.at += 1,
            (SyntaxContext::Literal(start, _), _) => match self.bytes[start] {
                quote if quote == byte => self.within = SyntaxContext::Open,
                b'"' if protects => self.at += 1,
                _ => {}
            },
            (
                SyntaxContext::Open
                | SyntaxContext::LineComment(_)
                | SyntaxContext::BlockComment(_),
                _,
            ) => {}
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    fn begins_word(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        before.is_none_or(|byte| b" \t;&|()".contains(&byte))
    }
}

/// Quotes a text from `start` to its end as one word of the shell: with single quotes, unless no
/// character needs them. (POSIX.1-2024, Shell Command Language, 2.2.)
pub(crate) fn quote_for_shell(start: usize, out: &mut String) {
    let means_itself = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,+@%".contains(&byte);
    let word = &out.as_bytes()[start..];
    if !word.is_empty() && word.iter().copied().all(means_itself) {
        return;
    }
    let mut at = start;
    while let Some(quote) = out[at..].find('\'') {
        out.insert_str(at + quote + 1, "\\''");
        at += quote + 4;
    }
    out.insert(start, '\'');
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    /// Scans a command, and compares the text in which each `${…}` is marked with its context.
    fn check(text: &str, expected: &str) {
        let located = LocatedText::whole(text, 0);
        let scan = scan(located.excerpt(), ValuePositions::Written);
        let mut shown = String::new();
        for fragment in &scan.fragments {
            match fragment {
                Fragment::Text(range) => shown.push_str(&text[range.clone()]),
                Fragment::Dollar => shown.push_str("[$]"),
                Fragment::Placeholder(..) => shown.push_str("[field]"),
                Fragment::Braced { within, .. } => shown.push_str(match within {
                    SyntaxContext::Open => "[value]",
                    SyntaxContext::Literal(..) => "[quoted]",
                    SyntaxContext::LineComment(_) | SyntaxContext::BlockComment(_) => {
                        "[in comment]"
                    }
                }),
            }
        }
        if scan.open.is_some() {
            shown.push_str(" open");
        }
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn values_are_found_outside_quotes_and_comments() {
        check("a ${1}; b ${2} | c", "a [value]; b [value] | c");
        check("'${1}' \"${2}\" ${3}", "'[quoted]' \"[quoted]\" [value]");
        check("a # ${1} it's", "a # [in comment] it's");
        check("a#b ${1} $${HOME}", "a#b [value] [$]HOME}");
    }

    #[test]
    fn a_backslash_protects_what_follows() {
        check("a \\' ${1}", "a \\' [value]");
        check("\"a\\\" ${1}\" ${2}", "\"a\\\" [quoted]\" [value]");
        check("'a\\' ${1}", "'a\\' [value]");
        check("a \\${1} \\\\${2}", "a \\[quoted] \\\\[value]");
        check("a \\é ${1}", "a \\é [value]");
        check("a \\$${1} \\$x", "a \\[$]1} \\$x");
        check("a \\", "a \\");
    }

    #[test]
    fn unclosed_quotes_are_reported() {
        check("it's", "it's open");
        check("say \"it's", "say \"it's open");
    }
}
