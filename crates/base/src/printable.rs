//! Text from files and servers, made safe for a terminal.
//!
//! All text that the program prints and did not write itself passes through [`printable`]: on a
//! terminal a control character can move the cursor, rename the window or hide the text above it,
//! and a line end can forge a message.

use std::borrow::Cow;

/// Returns the text on one line, without characters that a terminal acts on.
///
/// Line ends and tabs become blanks; every other character for which [`is_terminal_control`] is
/// true becomes U+FFFD. Each character is replaced by one character.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return Cow::Borrowed(text);
    }
    let replaced = text.chars().map(|character| match character {
        '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
        other if is_terminal_control(other) => '\u{fffd}',
        other => other,
    });
    Cow::Owned(replaced.collect())
}

/// Returns the text as [`printable`] does, but shows ASCII control characters other than tabs as
/// their pictures (␛), for excerpts in which they are the problem.
pub(crate) fn with_control_pictures(text: &str) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return Cow::Borrowed(text);
    }
    let picture = |character: char| match character {
        '\t' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)),
        '\x7f' => Some('\u{2421}'),
        _ => None,
    };
    let pictures: String = text.chars().map(|c| picture(c).unwrap_or(c)).collect();
    Cow::Owned(printable(&pictures).into_owned())
}

/// Returns the text as [`printable`] does, but keeps its line ends, for output where each line is
/// indented and cannot pass for a message of its own.
pub(crate) fn printable_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

/// Returns the text with escapes (`\u{1b}`) for characters that a terminal acts on. Each of these
/// characters has an escape of its own, for files in which different texts should stay different.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_terminal_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match is_terminal_control(character) {
            true => shown.extend(character.escape_unicode()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Returns a JSON document with JSON escapes (`\u001b`) for characters that a terminal acts on. Its
/// parsed content is unchanged. Line ends between values are not escaped.
///
/// JSON itself requires this only below U+0020 (RFC 8259, section 7).
pub fn printable_json(document: &str) -> Cow<'_, str> {
    let is_replaced = |character: char| character != '\n' && is_terminal_control(character);
    if !document.contains(is_replaced) {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len() + 64);
    for character in document.chars() {
        match is_replaced(character) {
            true => {
                let mut units = [0; 2];
                let units = character.encode_utf16(&mut units);
                units.iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
            }
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// Returns true if a terminal or a line reader acts on the character instead of showing it: control
/// characters (C0, DEL and C1), bidirectional controls (Unicode Standard Annex 9, section 2), line
/// and paragraph separators, the byte order mark, and the invisible tags of plane 14.
pub fn is_terminal_control(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_control_characters_is_unchanged() {
        for text in ["", "select 1", "naïve 表 😀 👩\u{200d}🔬"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(printable_json(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn control_characters_and_line_ends_are_replaced_one_for_one() {
        let text = "a\x1b[2J\u{9b}1m\r\nVALID\u{202e}\u{2029}\u{7f}\u{e0041}";
        let shown = printable(text);
        assert_eq!(shown, "a\u{fffd}[2J\u{fffd}1m  VALID\u{fffd} \u{fffd}\u{fffd}");
        assert_eq!(shown.chars().count(), text.chars().count());
        assert!(
            !shown.contains(is_terminal_control) && !escaped(text).contains(is_terminal_control)
        );
    }

    #[test]
    fn control_characters_of_excerpts_have_pictures() {
        assert_eq!(with_control_pictures("a\x1b\tb\r\x7f\u{9b}"), "a␛ b␍␡\u{fffd}");
    }

    #[test]
    fn line_ends_are_kept_where_lines_are_indented() {
        assert_eq!(printable_lines("a\x1b\n\tb\r\nc"), "a\u{fffd}\n b \nc");
    }

    #[test]
    fn escaped_texts_stay_different() {
        assert_eq!(escaped("a\x1b"), "a\\u{1b}");
        assert_ne!(escaped("a\x1b"), escaped("a\u{7}"));
    }

    #[test]
    fn a_json_document_keeps_its_lines_and_escapes_its_texts() {
        let document = "{\n  \"a\": \"\u{9b}2J\u{e0041}\"\n}";
        assert_eq!(printable_json(document), "{\n  \"a\": \"\\u009b2J\\udb40\\udc41\"\n}");
    }
}
