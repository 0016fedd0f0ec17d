//! Formatting of constants in a form that parses to the same value.

use base::Nanos;

/// Formats a duration with its sign: `250ms`, `-1h`.
pub(crate) fn duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    format!("{sign}{}", Nanos(nanos.unsigned_abs()))
}

/// Formats a double as the shortest text that parses to the same value, with a decimal point.
pub(crate) fn real(number: f64) -> String {
    let text = number.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// Quotes a text: with single quotes if possible, otherwise with double quotes and escapes.
pub(crate) fn quoted(text: &str) -> String {
    if is_plain(text) { format!("'{}'", text.replace('\'', "''")) } else { escaped(text) }
}

/// Returns true if a text can be written in a line unchanged: it has no control characters and
/// nothing that begins a comment.
pub(crate) fn is_plain(text: &str) -> bool {
    let mut blank = false;
    text.chars().all(|character| {
        let comment = blank && character == ';';
        blank = character.is_whitespace();
        !character.is_control() && !comment
    }) && !text.starts_with(';')
}

fn escaped(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ';' => out.push_str("\\;"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character.is_control() => out.extend(character.escape_unicode()),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Returns the text of a quoted token; `None` if it has an unknown escape.
pub(crate) fn unquoted(token: &str) -> Option<String> {
    let quote = token.chars().next()?;
    let inner = token.get(1..token.len().checked_sub(1)?)?;
    if quote == '\'' {
        return Some(inner.replace("''", "'"));
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        match character {
            '"' => {
                rest.next();
                out.push('"');
            }
            '\\' => out.push(escape(&mut rest)?),
            _ => out.push(character),
        }
    }
    Some(out)
}

/// Returns the character of an escape, given the text after its backslash; `None` if it is unknown.
fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match rest.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        same @ ('"' | '\'' | '\\' | ';') => same,
        'u' => {
            let (digits, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
            *rest = after.chars();
            let short = digits.len() <= 6;
            let code = u32::from_str_radix(digits, 16).ok().filter(|code| short && *code > 0)?;
            char::from_u32(code)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for text in [
            "",
            "plain",
            "it's",
            "\"",
            "a ; b",
            ";",
            "\\",
            "line\nbreak\ttab\r",
            "\u{1}é\u{85}",
            "${x}",
            "a;b",
            "'\"\\",
            "\u{3000};",
        ] {
            let written = quoted(text);
            assert_eq!(unquoted(&written).as_deref(), Some(text), "{written}");
            assert!(is_plain(&written), "{written}");
        }
    }

    #[test]
    fn unknown_escapes_are_refused() {
        for token in ["\"\\x\"", "\"\\u{}\"", "\"\\u{0}\"", "\"\\u{d800}\""] {
            assert_eq!(unquoted(token), None, "{token}");
        }
    }

    #[test]
    fn reals_keep_their_point() {
        assert_eq!(real(2.0), "2.0");
        assert_eq!(real(0.1), "0.1");
        assert_eq!(real(1e-7), "0.0000001");
    }
}
