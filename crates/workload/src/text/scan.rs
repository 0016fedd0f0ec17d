//! A scanner that splits a statement into text, literals, comments and `${…}`.
//!
//! It knows just enough SQL for that: `'…'`, `"…"` and `` `…` `` with doubled quotes, `--` and
//! `/* */`, and the dialects' own syntax: SQLite's `[…]`, PostgreSQL's `$tag$…$tag$`, `E'…'` and
//! nested comments, MySQL's `#`, and its `--` that needs a blank. `$tag$…$tag$` is a literal in the
//! dialect of SQLite too, because files without a URL and simulated servers have this dialect.
//! SQLite itself has only a named parameter `$tag`, for which Assay has no value. A server setting
//! decides whether a backslash escapes a quote. If a literal is left open under the dialect's
//! default rule, the other rule is tried.

use std::ops::Range;

use base::{Diagnostic, Dialect, executed_comment_mark};

use super::piece::{Piece, mark, skeleton};
use crate::expr::{Ast, AstKind, parse_braced};
use crate::read::Excerpt;
use crate::value::Constant;

/// Maximum number of `${…}` in a statement: protocols count the values of a statement in 16 bits.
pub(crate) const MOST_VALUES: usize = 65_535;

/// Maximum number of `${…}` and placeholders that are scanned before giving up: a printed plan may
/// have a spliced text next to each value.
pub(crate) const MOST_BRACED: usize = 2 * MOST_VALUES + 1;

/// A part of a statement.
#[derive(Debug)]
pub(crate) enum Fragment {
    /// Text that is sent as it is.
    Text(Range<usize>),
    /// The escape `$${` for a literal `${`.
    Dollar,
    /// A `?` or `$2`: a field of the request's record, counted from 1.
    Placeholder(Range<usize>, u32),
    /// `${…}`
    Braced {
        /// Byte range, including the braces.
        range: Range<usize>,
        /// Parsed expression.
        content: Result<Ast, Diagnostic>,
        /// Enclosing literal or comment, if any.
        within: SyntaxContext,
    },
}

/// The syntactic context of a part of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxContext {
    /// Outside literals and comments.
    Open,
    /// A literal: the offset of its opening delimiter and the length of that delimiter, in bytes.
    Literal(usize, usize),
    /// A comment to the end of the line, which begins at this offset.
    LineComment(usize),
    /// A comment between `/*` and `*/`, which begins at this offset.
    BlockComment(usize),
}

/// A statement in parts.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Parts of the statement, in order.
    pub(crate) fragments: Vec<Fragment>,
    /// Offsets of every `;` outside literals and comments.
    pub(crate) semicolons: Vec<usize>,
    /// Offset of the first byte that the server executes, which is neither comment nor white space,
    /// if any.
    pub(crate) code: Option<usize>,
    /// Literal or comment that is still open at the end.
    pub(crate) open: Option<SyntaxContext>,
    /// Offset of the last comment to the end of a line, if any.
    pub(crate) line_comment: Option<usize>,
    /// True if the scan was given up, because there are more than [`MOST_BRACED`] values.
    pub(crate) too_many: bool,
}

/// The positions of the `${…}` in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValuePositions<'m> {
    /// At every `${`, as in a file, where `$${` is the escape for `${`.
    Written,
    /// At these offsets only, in ascending order: the text is sent as it is.
    At(&'m [usize]),
}

/// The meaning of a `$`.
enum DollarKind {
    Value,
    Dollar,
    Plain,
}

impl ValuePositions<'_> {
    /// Returns the meaning of the `$` at this offset.
    fn sign(self, bytes: &[u8], at: usize) -> DollarKind {
        let rest = bytes.get(at..).unwrap_or_default();
        match self {
            ValuePositions::At(marks) if marks.binary_search(&at).is_ok() => DollarKind::Value,
            ValuePositions::At(_) => DollarKind::Plain,
            ValuePositions::Written if rest.starts_with(b"$${") => DollarKind::Dollar,
            ValuePositions::Written if rest.starts_with(b"${") => DollarKind::Value,
            ValuePositions::Written => DollarKind::Plain,
        }
    }

    /// Returns true if a `${…}` begins at this offset.
    pub(crate) fn has_value(self, bytes: &[u8], at: usize) -> bool {
        matches!(self.sign(bytes, at), DollarKind::Value)
    }

    /// Returns true if an escape `$${` is at this offset.
    pub(crate) fn has_dollar(self, bytes: &[u8], at: usize) -> bool {
        matches!(self.sign(bytes, at), DollarKind::Dollar)
    }
}

/// Settings for scanning a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanOptions<'m> {
    pub(crate) dialect: Dialect,
    /// True if `?` or `$1` refers to a field of a record.
    pub(crate) placeholders: bool,
    pub(crate) marks: ValuePositions<'m>,
}

/// Returns true if the pieces form one statement that can be printed with its texts spliced in.
/// `scan` is the scanner of its language.
///
/// Such a statement has no `;`, no open literal or comment, no control character except tabs and
/// line ends, and no value in a literal or a comment unless it is spliced in. The result depends
/// only on the pieces and the scanner.
pub(crate) fn is_sound(
    pieces: &[Piece],
    scan: impl for<'m> Fn(Excerpt<'_>, ValuePositions<'m>) -> Scan,
) -> bool {
    let (text, marks) = skeleton(pieces);
    let located = crate::read::LocatedText::outside(&text);
    let scan = scan(located.excerpt(), ValuePositions::At(&marks));
    let misplaced = |fragment: &Fragment| match fragment {
        Fragment::Text(_) | Fragment::Dollar | Fragment::Placeholder(..) => false,
        Fragment::Braced { range, within, .. } => {
            *within != SyntaxContext::Open && !text[range.clone()].starts_with("${raw(")
        }
    };
    let braced = |fragment: &&Fragment| matches!(fragment, Fragment::Braced { .. });
    let odd = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    scan.semicolons.is_empty()
        && !text.contains(odd)
        && scan.open.is_none()
        && scan.fragments.iter().filter(braced).count() == marks.len()
        && !scan.fragments.iter().any(misplaced)
}

/// Returns true if `text`, with the given scan, has the given pieces: the same texts, with the
/// values at the same positions.
pub(crate) fn has_pieces(text: &str, scan: Scan, pieces: &[Piece]) -> bool {
    if !scan.semicolons.is_empty() || scan.open.is_some() || scan.too_many {
        return false;
    }
    let (mut found, mut marks) = (String::new(), Vec::new());
    for fragment in &scan.fragments {
        match fragment {
            Fragment::Text(range) => found.push_str(&text[range.clone()]),
            Fragment::Dollar => found.push_str("${"),
            Fragment::Placeholder(..) => return false,
            Fragment::Braced { range, within, .. } => {
                let is_raw = text[range.clone()].starts_with("${raw(");
                if !is_raw && *within != SyntaxContext::Open {
                    return false;
                }
                marks.push(found.len());
                found.push_str(mark(is_raw));
            }
        }
    }
    (found, marks) == skeleton(pieces)
}

/// Splits a statement into its parts.
pub(crate) fn scan(source: Excerpt<'_>, options: ScanOptions<'_>) -> Scan {
    let usual = options.dialect == Dialect::Mysql;
    let standard = Scanner::new(source, options, usual).run();
    let ambiguous = standard.open.is_some() && source.text().contains('\\');
    if ambiguous {
        let other = Scanner::new(source, options, !usual).run();
        if other.open.is_none() {
            return other;
        }
    }
    standard
}

/// A statement of a script.
pub(crate) struct ScriptPart<'p> {
    /// The statement, with the comments before it.
    pub(crate) text: Excerpt<'p>,
    /// Offset of the first byte after the comments at the beginning.
    pub(crate) code: usize,
}

/// Returns the statements of a script: the texts between `;`, except those that consist of comments
/// only.
pub(crate) fn split(source: Excerpt<'_>, dialect: Dialect) -> Vec<ScriptPart<'_>> {
    let options = ScanOptions { dialect, placeholders: false, marks: ValuePositions::Written };
    let ends = scan(source, options).semicolons;
    let starts = std::iter::once(0).chain(ends.iter().map(|end| end + 1));
    let ends = ends.iter().copied().chain([source.text().len()]);
    starts
        .zip(ends)
        .map(|(start, end)| source.part(start..end).trim())
        .filter_map(|text| Some(ScriptPart { text, code: scan(text, options).code? }))
        .collect()
}

/// Returns true if a text is more than one statement: something follows a `;`.
pub(crate) fn holds_several(text: &str, dialect: Dialect) -> bool {
    // Most texts have no `;` except one at their end, and need no scan.
    let ends = |c: char| c == ';' || c.is_whitespace();
    text.trim_end_matches(ends).contains(';')
        && split(crate::read::LocatedText::outside(text).excerpt(), dialect).len() > 1
}

/// Returns true if a text begins with a comment to the end of the line. In MySQL a `--` needs a
/// blank after it; without a blank, it is two minus signs.
pub(crate) fn begins_line_comment(text: &[u8], dialect: Dialect) -> bool {
    let is_mysql = dialect == Dialect::Mysql;
    match text {
        [b'-', b'-', after @ ..] => !is_mysql || after.first().is_none_or(|byte| *byte <= b' '),
        [b'#', ..] => is_mysql,
        _ => false,
    }
}

struct Scanner<'p> {
    source: Excerpt<'p>,
    bytes: &'p [u8],
    options: ScanOptions<'p>,
    /// True if a backslash escapes the next character of a literal.
    backslash: bool,
    /// Nesting depth of comments at the current position.
    depth: usize,
    /// Highest number of a placeholder so far; the next plain `?` has the number after it.
    placeholders: u32,
    at: usize,
    /// Start of the text that is not yet in a fragment.
    flushed: usize,
    /// End of the last value or placeholder that is not spliced in, as an offset in bytes.
    value_end: Option<usize>,
    within: SyntaxContext,
    values: usize,
    scan: Scan,
}

impl<'p> Scanner<'p> {
    fn new(source: Excerpt<'p>, options: ScanOptions<'p>, backslash: bool) -> Scanner<'p> {
        Scanner {
            source,
            bytes: source.text().as_bytes(),
            options,
            backslash,
            depth: 0,
            placeholders: 0,
            at: 0,
            flushed: 0,
            value_end: None,
            within: SyntaxContext::Open,
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
            SyntaxContext::Open | SyntaxContext::LineComment(_) => None,
            open @ (SyntaxContext::Literal(..) | SyntaxContext::BlockComment(_)) => Some(open),
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

    /// Consumes `$${` or `${…}`, which have the same meaning everywhere; returns false if neither
    /// is here.
    fn dollar(&mut self) -> bool {
        match self.options.marks.sign(self.bytes, self.at) {
            DollarKind::Plain => return false,
            DollarKind::Dollar => {
                self.flush(self.at);
                self.scan.fragments.push(Fragment::Dollar);
                self.at += 3;
            }
            DollarKind::Value => {
                self.flush(self.at);
                self.braced();
            }
        }
        self.flushed = self.at;
        true
    }

    fn braced(&mut self) {
        self.values += 1;
        self.scan.too_many |= self.values > MOST_BRACED;
        let (content, end) = parse_braced(self.source, self.at + 2);
        let range = self.at..end;
        let within = self.within;
        if within == SyntaxContext::Open {
            self.scan.code.get_or_insert(self.at);
        }
        let breaks = content.as_ref().is_ok_and(|ast| self.splices_a_line_break(ast));
        if !content.as_ref().is_ok_and(|ast| self.is_spliced(ast)) {
            self.value_end = Some(end);
        }
        if let (SyntaxContext::LineComment(_), true) = (within, breaks) {
            self.within = SyntaxContext::Open;
        }
        self.scan.fragments.push(Fragment::Braced { range, content, within });
        self.at = end;
    }

    /// Consumes the next byte, or several bytes that belong together.
    fn step(&mut self) {
        let byte = self.bytes[self.at];
        match self.within {
            SyntaxContext::Open => self.step_open(byte),
            SyntaxContext::Literal(start, length) => self.step_literal(byte, start, length),
            SyntaxContext::LineComment(_) => {
                if byte == b'\n' {
                    self.within = SyntaxContext::Open;
                }
                self.at += 1;
            }
            SyntaxContext::BlockComment(_) => self.step_comment(byte),
        }
    }

    fn step_comment(&mut self, byte: u8) {
        let nests = self.options.dialect == Dialect::Postgres;
        match (byte, self.peek(1)) {
            (b'*', Some(b'/')) => {
                self.depth -= 1;
                self.at += 2;
                if self.depth == 0 {
                    self.within = SyntaxContext::Open;
                }
            }
            (b'/', Some(b'*')) if nests => {
                self.depth += 1;
                self.at += 2;
            }
            _ => self.at += 1,
        }
    }

    fn step_open(&mut self, byte: u8) {
        let at = self.at;
        if begins_line_comment(&self.bytes[at..], self.options.dialect) {
            self.within = SyntaxContext::LineComment(at);
            self.scan.line_comment = Some(at);
            self.at += 1;
            return;
        }
        if self.placeholder(byte) {
            return;
        }
        match (byte, self.peek(1)) {
            (b'\'' | b'"' | b'`', _) => self.within = SyntaxContext::Literal(at, 1),
            (b'[', _) if self.options.dialect == Dialect::Sqlite => {
                self.within = SyntaxContext::Literal(at, 1);
            }
            (b'/', Some(b'*')) => {
                if self.begins_executed_comment() {
                    self.scan.code.get_or_insert(at);
                }
                self.within = SyntaxContext::BlockComment(at);
                self.depth = 1;
                self.at += 2;
                return;
            }
            (b'$', _) => {
                if let Some(length) = self.dollar_tag() {
                    self.within = SyntaxContext::Literal(at, length);
                    self.at += length - 1;
                }
            }
            (b';', _) => self.scan.semicolons.push(at),
            _ => {}
        }
        if byte != b';' && !byte.is_ascii_whitespace() {
            self.scan.code.get_or_insert(at);
        }
        self.at += 1;
    }

    /// Returns true if a comment begins here whose text the server executes. A statement may be
    /// such a comment, as in the output of mysqldump.
    fn begins_executed_comment(&self) -> bool {
        let rest = &self.source.text()[self.at..];
        self.options.dialect == Dialect::Mysql && executed_comment_mark(rest).is_some()
    }

    /// Consumes a `?`, `?2` or `$2` that refers to a field of a record; returns false if none is
    /// here.
    fn placeholder(&mut self, byte: u8) -> bool {
        let sign = match self.options.dialect {
            Dialect::Mysql => byte == b'?',
            Dialect::Postgres => byte == b'$' && !self.is_in_word(),
            Dialect::Sqlite => byte == b'?' || byte == b'$' && !self.is_in_word(),
        };
        if !self.options.placeholders || !sign {
            return false;
        }
        let after = &self.bytes[self.at + 1..];
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = if self.options.dialect == Dialect::Mysql { 0 } else { digits };
        let end = self.at + 1 + digits;
        let number = self.source.text()[self.at + 1..end].parse().ok().filter(|n| *n > 0);
        // `?0` and too large a number are left in the text for the server to reject.
        let next = self.placeholders.checked_add(1).filter(|_| byte == b'?' && digits == 0);
        let Some(number) = number.or(next) else { return false };
        self.placeholders = self.placeholders.max(number);
        self.flush(self.at);
        self.scan.fragments.push(Fragment::Placeholder(self.at..end, number));
        self.scan.code.get_or_insert(self.at);
        self.values += 1;
        self.scan.too_many |= self.values > MOST_BRACED;
        self.at = end;
        self.flushed = end;
        self.value_end = Some(end);
        true
    }

    /// Returns true if a letter, a digit, a `_` or a value ends at the current position. A value is
    /// sent as `?1` or as a literal, and a `$` right after it starts no token.
    fn is_in_word(&self) -> bool {
        if self.value_end == Some(self.at) {
            return true;
        }
        let before = self.at.checked_sub(1).map(|at| self.bytes[at]);
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80)
    }

    /// Returns true if the value of an expression is spliced in.
    fn is_spliced(&self, ast: &Ast) -> bool {
        let AstKind::Call(name, _) = &ast.kind else { return false };
        self.source.part(name.clone()).text() == "raw"
    }

    /// Returns true if an expression splices a text with a line break, which would end a comment.
    fn splices_a_line_break(&self, ast: &Ast) -> bool {
        let AstKind::Call(_, arguments) = &ast.kind else { return false };
        self.is_spliced(ast)
            && arguments.iter().any(|argument| match &argument.value.kind {
                AstKind::Constant(Constant::Text(text)) => text.contains('\n'),
                _ => false,
            })
    }

    fn step_literal(&mut self, byte: u8, start: usize, length: usize) {
        let opening = &self.bytes[start..start + length];
        let quote = opening[0];
        let protects = self.backslash || self.is_escape_string(start);
        // `${…}` and `$${` have the same meaning after a backslash as everywhere else.
        let before_text =
            matches!(self.options.marks.sign(self.bytes, self.at + 1), DollarKind::Plain);
        let escaped = protects && before_text && byte == b'\\' && matches!(quote, b'\'' | b'"');
        let doubled = !matches!(quote, b'$' | b'[') && byte == quote && self.peek(1) == Some(quote);
        if escaped || doubled {
            self.at += 2;
        } else if quote == b'[' {
            self.within = if byte == b']' { SyntaxContext::Open } else { self.within };
            self.at += 1;
        } else if self.bytes[self.at..].starts_with(opening) && !self.ends_with_brace(length) {
            self.within = SyntaxContext::Open;
            self.at += length;
        } else {
            self.at += 1;
        }
    }

    /// Returns true if the literal that begins at `start` is PostgreSQL's `E'…'`.
    fn is_escape_string(&self, start: usize) -> bool {
        let before = |back: usize| start.checked_sub(back).map(|at| self.bytes[at]);
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        self.options.dialect == Dialect::Postgres
            && matches!(before(1), Some(b'e' | b'E'))
            && !before(2).is_some_and(word)
    }

    /// Returns the length of a `$tag$` that begins here; `None` if none does. A `$` after a letter
    /// is part of a name, as is every `$` in MySQL.
    fn dollar_tag(&self) -> Option<usize> {
        let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let name = &self.bytes[self.at + 1..];
        let escape = self.options.marks.has_dollar(self.bytes, self.at + 1);
        let is_name = self.options.dialect == Dialect::Mysql || self.is_in_word();
        if escape || is_name || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let length = 2 + name.iter().position(|byte| !in_word(*byte))?;
        (name[length - 2] == b'$' && !self.ends_with_brace(length)).then_some(length)
    }

    /// Returns true if the last `$` of a tag of this length at the current position begins a `${`
    /// instead.
    fn ends_with_brace(&self, length: usize) -> bool {
        let last = self.at + length - 1;
        self.bytes[self.at] == b'$' && self.options.marks.has_value(self.bytes, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    /// Scans a statement, and compares the text in which each `${…}` is replaced by its context in
    /// brackets.
    fn check(text: &str, expected: &str) {
        check_as(Dialect::Sqlite, text, expected);
    }

    fn check_as(dialect: Dialect, text: &str, expected: &str) {
        let located = LocatedText::whole(text, 0);
        let options = ScanOptions { dialect, placeholders: true, marks: ValuePositions::Written };
        let scan = scan(located.excerpt(), options);
        let mut shown = String::new();
        for fragment in &scan.fragments {
            match fragment {
                Fragment::Text(range) => shown.push_str(&text[range.clone()]),
                Fragment::Dollar => shown.push_str("[$]"),
                Fragment::Placeholder(_, number) => shown.push_str(&format!("[{number}]")),
                Fragment::Braced { within, .. } => shown.push_str(match within {
                    SyntaxContext::Open => "[value]",
                    SyntaxContext::Literal(..) => "[in literal]",
                    SyntaxContext::LineComment(_) | SyntaxContext::BlockComment(_) => {
                        "[in comment]"
                    }
                }),
            }
        }
        if let Some(at) = scan.semicolons.first() {
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
        check("$1; $2", "[1]; [2] semicolon 2");
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

    #[test]
    fn placeholders_are_found_outside_literals_and_comments() {
        check("a = ? and '?' /* ? */ = ? -- ?", "a = [1] and '?' /* ? */ = [2] -- ?");
        check("?2 ? a$1 $3", "[2] [3] a$1 [3]");
        check("?0 ?4294967296 ? ?4294967295 ?", "?0 ?4294967296 [1] [4294967295] ?");
        check_as(Dialect::Mysql, "? # ?\n ?5 $1", "[1] # ?\n [2]5 $1");
        check_as(Dialect::Postgres, "$2 ? $1 $tag$ $1 $tag$", "[2] ? [1] $tag$ $1 $tag$");
    }

    #[test]
    fn each_dialect_has_its_own_comments_and_literals() {
        check_as(
            Dialect::Mysql,
            "a # it's ; ${1}\n; b",
            "a # it's ; [in comment]\n; b semicolon 16",
        );
        check_as(Dialect::Mysql, "1--1; 2 -- ; ${1}", "1--1; 2 -- ; [in comment] semicolon 4");
        check_as(Dialect::Mysql, "'it\\'s ;' $$;", "'it\\'s ;' $$; semicolon 12");
        check_as(Dialect::Postgres, "/* /* ; */ ; */ ; ", "/* /* ; */ ; */ ;  semicolon 16");
        check_as(Dialect::Postgres, "E'it\\'s ;' 'C:\\' ;", "E'it\\'s ;' 'C:\\' ; semicolon 17");
        check_as(Dialect::Sqlite, "a # b'c'", "a # b'c'");
        check_as(Dialect::Sqlite, "[c;d] [?'] ${1}", "[c;d] [?'] [value]");
        check_as(Dialect::Postgres, "a[1] ; a[$1]", "a[1] ; a[[1]] semicolon 5");
    }

    #[test]
    fn any_line_break_ends_a_comment() {
        check("a -- ;\n;", "a -- ;\n; semicolon 7");
        check("a -- ${raw(\"\\n\")} ${1}", "a -- [in comment] [value]");
        check("a -- ${raw(\"n\")} ${1}", "a -- [in comment] [in comment]");
    }

    #[test]
    fn script_is_split_at_statement_ends() {
        let check = |text: &str, expected: &[&str]| {
            let located = LocatedText::whole(text, 0);
            let pieces = split(located.excerpt(), Dialect::Mysql);
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.text()).collect();
            assert_eq!(texts, expected, "{text}");
        };
        check("a;\nb;\n", &["a", "b"]);
        check("a ';' -- ;\n, c; # end\n-- more;\n", &["a ';' -- ;\n, c"]);
        check(";;/* */;${1};", &["${1}"]);
        check("", &[]);
    }

    #[test]
    fn comment_is_a_statement_only_if_the_server_executes_it() {
        let script = "/*!40101 set names utf8 */;\n/* a */;\n-- b\n/*M!100100 c */;";
        let located = LocatedText::whole(script, 0);
        for (dialect, expected) in [
            (Dialect::Mysql, &["/*!40101 set names utf8 */", "-- b\n/*M!100100 c */"][..]),
            (Dialect::Postgres, &[][..]),
            (Dialect::Sqlite, &[][..]),
        ] {
            let pieces = split(located.excerpt(), dialect);
            let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.text()).collect();
            assert_eq!(texts, expected, "{dialect:?}");
        }
    }
}
