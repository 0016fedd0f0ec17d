//! Tokens of Rust source code, from which paths such as `crate::a::b` are read.

/// A token of Rust code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// An identifier or keyword.
    Word(String),
    /// `::`.
    Colons,
    /// Any other character of the code, white space excepted.
    Sign(char),
}

/// Splits code into tokens, without comments, string literals and character literals.
pub(super) fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = quoted(rest) {
            length
        } else if rest.starts_with("::") {
            tokens.push(Token::Colons);
            2
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            end
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length in bytes of the string or character literal that the code begins with; for a
/// lifetime, the length of its quote alone. `None` if the code begins with anything else.
fn quoted(code: &str) -> Option<usize> {
    let prefix = code.find(|c| !matches!(c, 'b' | 'c' | 'r')).filter(|length| *length <= 2)?;
    let is_raw = code[..prefix].ends_with('r');
    let literal = &code[prefix..];
    let hashes = literal.bytes().take_while(|byte| *byte == b'#').count();
    if is_raw && literal[hashes..].starts_with('"') {
        let closing = format!("\"{}", "#".repeat(hashes));
        let start = prefix + hashes + 1;
        return Some(
            code[start..].find(&closing).map_or(code.len(), |at| start + at + closing.len()),
        );
    }
    if let Some(text) = literal.strip_prefix('"') {
        return Some(prefix + 1 + escaped(text, '"'));
    }
    let text = literal.strip_prefix('\'').filter(|_| prefix <= 1)?;
    let mut characters = text.chars();
    let (first, second) = (characters.next()?, characters.next());
    // A lifetime has no closing quote after its first character.
    let is_character = first == '\\' || second == Some('\'');
    Some(prefix + 1 + if is_character { escaped(text, '\'') } else { 0 })
}

/// Returns the length up to and including the closing quote; a `\` escapes the next character.
fn escaped(text: &str, quote: char) -> usize {
    let mut is_protected = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if is_protected => is_protected = false,
            '\\' => is_protected = true,
            _ if character == quote => return at + character.len_utf8(),
            _ => {}
        }
    }
    text.len()
}
