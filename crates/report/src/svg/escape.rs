//! Texts in XML and HTML.

use base::is_terminal_control;

/// Escapes a text for content and quoted attributes of XML and HTML. Line ends and tabs become
/// blanks. Control characters, characters that would reverse other text, and some invisible ones
/// become their codes: `[U+202E]`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => push_visible(&mut out, other),
        }
    }
    out
}

/// Replaces the same characters as [`escaped`], for a text that a script shows as text.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| push_visible(&mut out, character));
    out
}

fn push_visible(out: &mut String, character: char) {
    match character {
        '\n' | '\r' | '\t' => out.push(' '),
        code if is_terminal_control(code) || is_no_xml(code) => {
            out.push_str(&format!("[U+{:04X}]", u32::from(code)));
        }
        other => out.push(other),
    }
}

/// Returns true for the characters, other than control characters, that XML 1.0 does not allow
/// (section 2.2).
fn is_no_xml(character: char) -> bool {
    matches!(character, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_texts_are_escaped_in_markup() {
        for (text, expected) in [
            ("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"),
            ("a & \"b\"", "a &amp; &quot;b&quot;"),
            ("two\nlines", "two lines"),
            ("\u{202e}evil\u{0}", "[U+202E]evil[U+0000]"),
            ("\u{1b}[2J", "[U+001B][2J"),
            ("\u{ffff}", "[U+FFFF]"),
            ("]]>", "]]&gt;"),
            ("مرحبا 😀 表", "مرحبا 😀 表"),
        ] {
            assert_eq!(escaped(text), expected, "{text:?}");
        }
        assert_eq!(visible("<b>\n\u{202e}evil\u{0}"), "<b> [U+202E]evil[U+0000]");
    }
}
