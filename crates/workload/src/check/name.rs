//! Names of sections and of tables.

use crate::wording::quoted;

/// Formats a section's name in brackets.
pub(super) fn bracketed(name: &str) -> String {
    let shown = quoted(name);
    format!("[{}]", shown.trim_matches('`'))
}

/// Returns true if a text is an SQL identifier: words or quoted parts, separated by dots.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some(length) = identifier_part(rest) else {
            return false;
        };
        rest = &rest[length..];
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None => return rest.is_empty(),
        }
    }
}

/// Returns the length of the word or quoted name at the beginning of a text, if there is one.
fn identifier_part(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '`') {
        let length = text[1..].find(first).filter(|length| *length > 0)?;
        return Some(length + 2);
    }
    let in_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let length = text.find(|character| !in_word(character)).unwrap_or(text.len());
    (length > 0 && !first.is_numeric() && !text[..length].contains("${")).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_words_and_quoted_names() {
        for good in ["accounts", "public.accounts", "\"odd name\"", "`a`.b", "größe", "t$1"] {
            assert!(is_identifier(good), "{good}");
        }
        for bad in ["", "a b", "a.", ".a", "\"\"", "\"a", "1a", "a;b", "a\"b\"", "a.${x}"] {
            assert!(!is_identifier(bad), "{bad}");
        }
    }
}
