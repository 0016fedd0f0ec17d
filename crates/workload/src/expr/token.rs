//! The tokens of expressions.

use std::ops::Range;

use crate::value::Operator;

/// A token and its range in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: TokenKind,
    /// Its range in the text.
    pub(crate) range: Range<usize>,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A number or a duration.
    Number,
    /// A text with its quotes.
    Text,
    /// A text whose quote is not closed.
    OpenText,
    /// A name.
    Name,
    /// An operator.
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `=`
    Equals,
    /// `:`
    Colon,
    /// `${`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// Any other character.
    Other,
    /// The end of the text.
    End,
}

/// Returns the first token at or after `at`.
pub(crate) fn next(text: &str, at: usize) -> Token {
    let rest = &text[at..];
    let start = at + rest.len() - rest.trim_start().len();
    let rest = &text[start..];
    let (kind, length) = word(rest);
    Token { kind, range: start..start + length }
}

fn word(rest: &str) -> (TokenKind, usize) {
    let Some(first) = rest.chars().next() else {
        return (TokenKind::End, 0);
    };
    let one = |kind| (kind, 1);
    match first {
        '(' => one(TokenKind::Open),
        ')' => one(TokenKind::Close),
        ',' => one(TokenKind::Comma),
        '=' => one(TokenKind::Equals),
        ':' => one(TokenKind::Colon),
        '}' => one(TokenKind::CloseBrace),
        '+' => one(TokenKind::Operator(Operator::Add)),
        '-' => one(TokenKind::Operator(Operator::Subtract)),
        '*' => one(TokenKind::Operator(Operator::Multiply)),
        '/' => one(TokenKind::Operator(Operator::Divide)),
        '%' => one(TokenKind::Operator(Operator::Modulo)),
        '$' if rest.starts_with("${") => (TokenKind::OpenBrace, 2),
        '\'' | '"' => quoted(rest.as_bytes()),
        _ if first.is_ascii_digit() || first == '.' => (TokenKind::Number, number_length(rest)),
        _ if is_name_start(first) => (TokenKind::Name, name_length(rest)),
        _ => (TokenKind::Other, first.len_utf8()),
    }
}

fn quoted(rest: &[u8]) -> (TokenKind, usize) {
    match crate::read::closing_quote(rest, 0) {
        Some(end) => (TokenKind::Text, end + 1),
        None => (TokenKind::OpenText, 1),
    }
}

/// Returns the length of the number at the beginning of a text: its digits, points and unit, and
/// the sign of an exponent, as in `1e-3`.
fn number_length(rest: &str) -> usize {
    let mut exponent = false;
    let mut plain = true;
    for (at, character) in rest.char_indices() {
        let sign = exponent && matches!(character, '+' | '-');
        if !sign && character != '.' && !character.is_alphanumeric() {
            return at;
        }
        exponent = plain && at > 0 && matches!(character, 'e' | 'E');
        plain = plain && (character.is_ascii_digit() || character == '.');
    }
    rest.len()
}

fn name_length(rest: &str) -> usize {
    rest.find(|character| !is_name_part(character)).unwrap_or(rest.len())
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The longest name of a parameter or variable, in bytes.
pub(crate) const LONGEST_NAME: usize = 64;

/// Returns true if a text is a valid name of a parameter or variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.chars().next().is_some_and(is_name_start)
        && text.chars().all(is_name_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        let mut at = 0;
        loop {
            let token = next(text, at);
            if token.kind == TokenKind::End {
                return words;
            }
            at = token.range.end;
            words.push(&text[token.range]);
        }
    }

    #[test]
    fn words_end_at_non_word_characters() {
        assert_eq!(
            words("zipf(1, rows, s=0.99)"),
            ["zipf", "(", "1", ",", "rows", ",", "s", "=", "0.99", ")"]
        );
        assert_eq!(words("1e-3-2"), ["1e-3", "-", "2"]);
        assert_eq!(words("1m30s-5e"), ["1m30s", "-", "5e"]);
        assert_eq!(words("5µs*x"), ["5µs", "*", "x"]);
        assert_eq!(words("'it''s'\"\\\"\""), ["'it''s'", "\"\\\"\""]);
        assert_eq!(words("${a}}#é"), ["${", "a", "}", "}", "#", "é"]);
        assert_eq!(words("a:3,'b': 1"), ["a", ":", "3", ",", "'b'", ":", "1"]);
        assert_eq!(words("'open, x"), ["'", "open", ",", "x"]);
    }
}
