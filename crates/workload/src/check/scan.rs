//! What in a statement is text, what is a literal, what is a comment, and where are the `${…}`?
//!
//! Only as much of SQL is known as is needed for that: `'…'`, `"…"` and `` `…` `` with doubled
//! quotes, PostgreSQL's `$tag$…$tag$`, `--` and `/* */`. Whether a backslash protects a quote
//! differs between databases; it is taken to do so only where the literals do not end otherwise.

use std::ops::Range;

use base::Diagnostic;

use crate::expr::{Ast, parse_braced};
use crate::read::Excerpt;

/// How many `${…}` a statement may have: protocols count the values of a statement in 16 bits.
const MOST_VALUES: usize = 65_535;

/// A part of a statement.
#[derive(Debug)]
pub(super) enum Fragment {
    /// Text that is sent as it is.
    Text(Range<usize>),
    /// `$${`, which stands for `${`.
    Dollar,
    /// `${…}`
    Braced {
        /// Where it stands, with its braces.
        range: Range<usize>,
        /// What it holds.
        content: Result<Ast, Diagnostic>,
        /// What it stands in.
        within: Within,
    },
}

/// What a part of a statement stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// The statement itself.
    Open,
    /// A literal that begins at this offset with this many bytes.
    Literal(usize, usize),
    /// A comment to the end of the line.
    LineComment(usize),
    /// A comment between `/*` and `*/`.
    BlockComment(usize),
}

/// A statement in parts.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The parts in order.
    pub(super) fragments: Vec<Fragment>,
    /// The first `;` outside literals and comments.
    pub(super) semicolon: Option<usize>,
    /// What is still open at the end.
    pub(super) open: Option<Within>,
    /// Where a comment to the end of the line begins.
    pub(super) line_comment: Option<usize>,
    /// Whether there are more `${…}` than a statement may have.
    pub(super) too_many: bool,
}

/// Whether a statement that was put together still is one, and could stand in a file: it has no
/// `;`, no open literal, no control character, no `\` at its end, and this many `${…}`, those with
/// values outside literals.
pub(super) fn is_sound(text: &str, values: usize) -> bool {
    let passage = crate::read::Passage::outside(text);
    let scan = scan(passage.excerpt());
    let misplaced = |fragment: &Fragment| match fragment {
        Fragment::Text(_) | Fragment::Dollar => false,
        Fragment::Braced { range, within, .. } => {
            *within != Within::Open && !text[range.clone()].starts_with("${raw(")
        }
    };
    let braced = |fragment: &&Fragment| matches!(fragment, Fragment::Braced { .. });
    let odd = |character: char| character.is_control() && character != '\t';
    scan.semicolon.is_none()
        && !text.ends_with('\\')
        && !text.contains(odd)
        && scan.open.is_none()
        && scan.fragments.iter().filter(braced).count() == values
        && !scan.fragments.iter().any(misplaced)
}

/// Takes a statement apart.
pub(super) fn scan(source: Excerpt<'_>) -> Scan {
    let standard = Scanner::new(source, false).run();
    let ambiguous = standard.open.is_some() && source.text().contains('\\');
    if ambiguous {
        let escaped = Scanner::new(source, true).run();
        if escaped.open.is_none() {
            return escaped;
        }
    }
    standard
}

struct Scanner<'p> {
    source: Excerpt<'p>,
    bytes: &'p [u8],
    /// Whether a backslash protects the next character of a literal.
    backslash: bool,
    at: usize,
    /// Where the text begins that is not yet a fragment.
    flushed: usize,
    within: Within,
    values: usize,
    scan: Scan,
}

impl<'p> Scanner<'p> {
    fn new(source: Excerpt<'p>, backslash: bool) -> Scanner<'p> {
        Scanner {
            source,
            bytes: source.text().as_bytes(),
            backslash,
            at: 0,
            flushed: 0,
            within: Within::Open,
            values: 0,
            scan: Scan::default(),
        }
    }

    fn run(mut self) -> Scan {
        while self.at < self.bytes.len() && !self.scan.too_many {
            if !self.dollar() {
                self.step();
            }
        }
        self.flush(self.bytes.len());
        self.scan.open = match self.within {
            Within::Open | Within::LineComment(_) => None,
            open @ (Within::Literal(..) | Within::BlockComment(_)) => Some(open),
        };
        self.scan
    }

    fn peek(&self, offset: usize) -> Option<u8> {
        self.bytes.get(self.at + offset).copied()
    }

    fn flush(&mut self, end: usize) {
        if self.flushed < end {
            self.scan.fragments.push(Fragment::Text(self.flushed..end));
        }
    }

    /// Takes `$${` and `${…}`, which mean the same everywhere.
    fn dollar(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"$${") {
            self.flush(self.at);
            self.scan.fragments.push(Fragment::Dollar);
            self.at += 3;
        } else if rest.starts_with(b"${") {
            self.flush(self.at);
            self.braced();
        } else {
            return false;
        }
        self.flushed = self.at;
        true
    }

    fn braced(&mut self) {
        self.values += 1;
        self.scan.too_many = self.values > MOST_VALUES;
        let (content, end) = parse_braced(self.source, self.at + 2);
        let range = self.at..end;
        self.scan.fragments.push(Fragment::Braced { range, content, within: self.within });
        self.at = end;
    }

    /// Takes the next byte, or more of them where more belong together.
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        match self.within {
            Within::Open => self.step_open(byte),
            Within::Literal(start, length) => self.step_literal(byte, start, length),
            Within::BlockComment(_) if byte == b'*' && self.peek(1) == Some(b'/') => {
                self.within = Within::Open;
                self.at += 2;
            }
            Within::LineComment(_) | Within::BlockComment(_) => self.at += 1,
        }
    }

    fn step_open(&mut self, byte: u8) {
        let at = self.at;
        match (byte, self.peek(1)) {
            (b'\'' | b'"' | b'`', _) => self.within = Within::Literal(at, 1),
            (b'-', Some(b'-')) => {
                self.within = Within::LineComment(at);
                self.scan.line_comment = Some(at);
            }
            (b'/', Some(b'*')) => {
                self.within = Within::BlockComment(at);
                self.at += 1;
            }
            (b'$', _) => {
                if let Some(length) = self.tag() {
                    self.within = Within::Literal(at, length);
                    self.at += length - 1;
                }
            }
            (b';', _) => {
                self.scan.semicolon.get_or_insert(at);
            }
            _ => {}
        }
        self.at += 1;
    }

    fn step_literal(&mut self, byte: u8, start: usize, length: usize) {
        let opening = &self.bytes[start..start + length];
        let quote = opening[0];
        let escaped = self.backslash && byte == b'\\' && matches!(quote, b'\'' | b'"');
        let doubled = quote != b'$' && byte == quote && self.peek(1) == Some(quote);
        if escaped || doubled {
            self.at += 2;
        } else if self.bytes[self.at..].starts_with(opening) && !self.brace_behind(length) {
            self.within = Within::Open;
            self.at += length;
        } else {
            self.at += 1;
        }
    }

    /// The length of a `$tag$` that begins here; a `$` behind a letter is part of a name.
    fn tag(&self) -> Option<usize> {
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let name = &self.bytes[self.at + 1..];
        let escape = name.starts_with(b"$${");
        if escape || before.is_some_and(in_word) || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let length = 2 + name.iter().position(|byte| !in_word(*byte))?;
        (name[length - 2] == b'$' && !self.brace_behind(length)).then_some(length)
    }

    /// Whether the last `$` of a tag of this length begins a `${` instead.
    fn brace_behind(&self, length: usize) -> bool {
        self.bytes[self.at] == b'$' && self.peek(length) == Some(b'{')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Passage;

    /// The statement with `[…]` around each `${…}` and what it stands in.
    fn check(text: &str, expected: &str) {
        let passage = Passage::whole(text, 0);
        let scan = scan(passage.excerpt());
        let mut shown = String::new();
        for fragment in &scan.fragments {
            match fragment {
                Fragment::Text(range) => shown.push_str(&text[range.clone()]),
                Fragment::Dollar => shown.push_str("[$]"),
                Fragment::Braced { within, .. } => shown.push_str(match within {
                    Within::Open => "[value]",
                    Within::Literal(..) => "[in literal]",
                    Within::LineComment(_) | Within::BlockComment(_) => "[in comment]",
                }),
            }
        }
        if let Some(at) = scan.semicolon {
            shown.push_str(&format!(" semicolon {at}"));
        }
        if scan.open.is_some() {
            shown.push_str(" open");
        }
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn values_are_found_outside_literals_and_comments() {
        check("a = ${1} and b = ${2}", "a = [value] and b = [value]");
        check("'${1}' \"${2}\" `${3}`", "'[in literal]' \"[in literal]\" `[in literal]`");
        check("'it''s ${1}' ${2}", "'it''s [in literal]' [value]");
        check("/* ${1} */ ${2} -- ${3}", "/* [in comment] */ [value] -- [in comment]");
        check("$${x} ${pick('}')} $$${", "[$]x} [value] $[$]");
    }

    #[test]
    fn semicolons_count_outside_literals_and_comments() {
        check("a;", "a; semicolon 1");
        check("';' \";\" `;` /* ; */ -- ;", "';' \";\" `;` /* ; */ -- ;");
        check("$$ ; ' $$ $q$ ; $$ $q$ a$b;c$", "$$ ; ' $$ $q$ ; $$ $q$ a$b;c$ semicolon 26");
        check("$1; $2", "$1; $2 semicolon 2");
        check("$q${1}; $q$ ; $q${2} $q$", "$q[value]; $q$ ; $q[in literal] $q$ semicolon 6");
    }

    #[test]
    fn a_backslash_protects_a_quote_only_where_it_must() {
        check("'it\\'s; ok' ${1}", "'it\\'s; ok' [value]");
        check("'C:\\' ${1}", "'C:\\' [value]");
        check("'open", "'open open");
        check("'open \\", "'open \\ open");
        check("/* open", "/* open open");
    }
}
