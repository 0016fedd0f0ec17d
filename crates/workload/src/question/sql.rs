//! Tokens of SQL statements: enough to tell what a statement before or after a run changes.
//!
//! Words in literals and comments are not mistaken for keywords. Comments to the end of the line
//! follow the dialect, as do nested comments and comments whose text MySQL executes. All other
//! tokens are those that the dialects have in common, so a string that escapes a quote with a
//! backslash ends early.

use base::{Dialect, executed_comment_mark};

use crate::text::begins_line_comment;

/// A token of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'s> {
    pub(super) kind: TokenKind,
    /// Its text, with its quotes.
    pub(super) text: &'s str,
    /// Its position in the statement, in bytes.
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword, a number, or a name, which may contain dots.
    Word,
    /// A text between double quotes or backquotes.
    Name,
    /// A text between single quotes.
    Literal,
    /// Any other character.
    Symbol,
}

impl Token<'_> {
    /// Returns true if the token is this word, unquoted, in upper or lower case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// Returns the text without quotes.
    pub(super) fn content(&self) -> String {
        match self.kind {
            TokenKind::Word | TokenKind::Symbol => self.text.to_owned(),
            TokenKind::Name | TokenKind::Literal => {
                let quote = &self.text[..1];
                let inner = &self.text[1..];
                inner.strip_suffix(quote).unwrap_or(inner).replace(&quote.repeat(2), quote)
            }
        }
    }
}

/// Returns the tokens of a statement, without white space, comments and the last `;`. In the
/// dialect of MySQL, the text of `/*! … */` is not a comment, because the server executes it.
pub(super) fn tokens(statement: &str, dialect: Dialect) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut start, mut is_in_executed_comment) = (0, false);
    while let Some(first) = statement[start..].chars().next() {
        let rest = &statement[start..];
        let length = match first {
            _ if first.is_whitespace() => first.len_utf8(),
            _ if begins_line_comment(rest.as_bytes(), dialect) => {
                rest.find('\n').unwrap_or(rest.len())
            }
            '/' if rest.starts_with("/*") => {
                let mark = executed_comment_mark(rest).filter(|_| dialect == Dialect::Mysql);
                is_in_executed_comment |= mark.is_some();
                mark.unwrap_or_else(|| comment_length(rest, dialect))
            }
            '*' if is_in_executed_comment && rest.starts_with("*/") => {
                is_in_executed_comment = false;
                2
            }
            _ => {
                let (kind, length) = token(first, rest);
                found.push(Token { kind, text: &rest[..length], start });
                length
            }
        };
        start += length;
    }
    if found.last().is_some_and(|last| last.is_symbol(";")) {
        found.pop();
    }
    found
}

/// Returns the length, in bytes, of the comment between `/*` and `*/` at the beginning of a text. A
/// comment that does not end extends to the end of the text. Comments nest in PostgreSQL only.
fn comment_length(text: &str, dialect: Dialect) -> usize {
    let nests = dialect == Dialect::Postgres;
    let (mut at, mut depth) = ("/*".len(), 1_usize);
    while depth > 0 {
        at += match text.as_bytes().get(at..at + 2) {
            None => return text.len(),
            Some(b"*/") => {
                depth -= 1;
                2
            }
            Some(b"/*") if nests => {
                depth += 1;
                2
            }
            Some(_) => 1,
        };
    }
    at
}

/// Returns the kind of the token at the beginning of a text, and its length in bytes.
fn token(first: char, text: &str) -> (TokenKind, usize) {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    match first {
        '\'' => (TokenKind::Literal, quoted_length(text, '\'')),
        '"' | '`' => (TokenKind::Name, quoted_length(text, first)),
        _ if is_of_word(first) => {
            (TokenKind::Word, text.find(|c: char| !is_of_word(c)).unwrap_or(text.len()))
        }
        _ => (TokenKind::Symbol, first.len_utf8()),
    }
}

/// Returns the length, in bytes, of the quoted text at the beginning of a text. A doubled quote in
/// it is one quote, and does not end it.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut end = 1;
    while let Some(at) = text[end..].find(quote) {
        end += at + 1;
        if !text[end..].starts_with(quote) {
            return end;
        }
        end += 1;
    }
    text.len()
}

/// Returns the parts of a list that commas outside of parentheses separate.
pub(super) fn elements<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let mut depth = 0_usize;
    tokens
        .split(|token| {
            match token.text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && token.is_symbol(",")
        })
        .collect()
}

/// Returns the part of a statement that has these tokens.
pub(super) fn text_of<'s>(statement: &'s str, tokens: &[Token<'s>]) -> &'s str {
    match tokens {
        [] => "",
        [first, ..] => {
            let last = tokens[tokens.len() - 1];
            &statement[first.start..last.start + last.text.len()]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts_in(dialect: Dialect, statement: &str) -> Vec<&str> {
        tokens(statement, dialect).iter().map(|token| token.text).collect()
    }

    fn texts(statement: &str) -> Vec<&str> {
        texts_in(Dialect::Postgres, statement)
    }

    #[test]
    fn words_in_literals_and_comments_are_ignored() {
        let expected = ["set", "x", "=", "'it''s global'", "`a``b`"];
        assert_eq!(texts("set x='it''s global' /* -- ' */ `a``b`; -- persist"), expected);
        assert_eq!(texts("select pg_catalog.f(1.5)"), ["select", "pg_catalog.f", "(", "1.5", ")"]);
        assert_eq!(texts("a 'open"), ["a", "'open"]);
        assert_eq!(texts("ü/*"), ["ü"]);
        assert_eq!(texts("a /*/ b */ c"), ["a", "c"]);
    }

    #[test]
    fn comments_to_the_end_of_the_line_follow_the_dialect() {
        let statement = "# one\nset a = 5--1 # ' two\n, b = 2 -- three";
        let expected = ["set", "a", "=", "5", "-", "-", "1", ",", "b", "=", "2"];
        assert_eq!(texts_in(Dialect::Mysql, statement), expected);
        assert_eq!(texts("select a #> b --c"), ["select", "a", "#", ">", "b"]);
    }

    #[test]
    fn comments_that_the_server_executes_are_read() {
        let statement = "/*!40101 set */ x = 1 /* a */ /*M! * 2*/*/* b */3";
        let expected = ["set", "x", "=", "1", "*", "2", "*", "3"];
        assert_eq!(texts_in(Dialect::Mysql, statement), expected);
        assert_eq!(texts(statement), ["x", "=", "1", "*", "3"]);
    }

    #[test]
    fn comments_nest_in_postgres_only() {
        let statement = "/* a /* b */ c */ set x = 1 /**/";
        let rest = ["set", "x", "=", "1"];
        assert_eq!(texts(statement), rest);
        for dialect in [Dialect::Mysql, Dialect::Sqlite] {
            assert_eq!(texts_in(dialect, statement), [&["c", "*", "/"][..], &rest].concat());
        }
        assert_eq!(texts("a /* b /* c */ d"), ["a"]);
        assert_eq!(texts("a /*/**/*/ b /*"), ["a", "b"]);
    }

    #[test]
    fn quotes_are_not_part_of_the_content() {
        let contents = |statement: &str| {
            let all = tokens(statement, Dialect::Postgres);
            all.iter().map(Token::content).collect::<Vec<String>>()
        };
        assert_eq!(contents("'it''s' \"A\" `b` c '"), ["it's", "A", "b", "c", ""]);
    }

    #[test]
    fn commas_in_parentheses_do_not_separate() {
        let statement = "f(1, 2) , 3,'4,5'";
        let all = tokens(statement, Dialect::Postgres);
        let parts: Vec<&str> =
            elements(&all).into_iter().map(|part| text_of(statement, part)).collect();
        assert_eq!(parts, ["f(1, 2)", "3", "'4,5'"]);
    }
}
