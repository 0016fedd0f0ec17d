//! Rows for COPY in its text format. Manual page of the command COPY, section "Text Format".
//!
//! A row is a line, its fields are separated by tabs, NULL is `\N`. Characters with a special
//! meaning are escaped with a backslash.

use crate::Value;
use crate::value::append_text;

/// A writer of rows in COPY's text format. It appends to the buffer that
/// [`frontend::copy_data`](crate::frontend::copy_data) passes to its closure, or to another buffer,
/// whose content a later call of `copy_data` puts into a message.
#[derive(Debug)]
pub struct CopyText<'o> {
    out: &'o mut Vec<u8>,
    is_begun: bool,
}

impl<'o> CopyText<'o> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: &'o mut Vec<u8>) -> CopyText<'o> {
        CopyText { out, is_begun: false }
    }

    /// Appends a field to the row.
    #[inline]
    pub fn field(&mut self, value: Value<'_>) {
        if self.is_begun {
            self.out.push(b'\t');
        }
        self.is_begun = true;
        match value {
            Value::Null => self.out.extend_from_slice(b"\\N"),
            Value::Text(text) => escape(self.out, text.as_bytes()),
            Value::Int(_) | Value::Real(_) => append_text(self.out, value),
        }
    }

    /// Ends the row.
    #[inline]
    pub fn end_row(&mut self) {
        self.out.push(b'\n');
        self.is_begun = false;
    }
}

/// Appends a text with backslashes before special characters. The parts between them are copied
/// whole.
fn escape(out: &mut Vec<u8>, text: &[u8]) {
    if !is_escaped_anywhere(text) {
        return out.extend_from_slice(text);
    }
    let mut rest = text;
    while let Some(place) = rest.iter().position(|byte| escaped(*byte).is_some()) {
        let (plain, special) = rest.split_at_checked(place).unwrap_or((rest, &[]));
        out.extend_from_slice(plain);
        let Some((first, after)) = special.split_first() else { return };
        out.extend(escaped(*first).map(|letter| [b'\\', letter]).into_iter().flatten());
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Returns true if any byte needs an escape. Tests all bytes without an early exit: the compiler
/// vectorizes this, which is faster than testing one byte after the other.
#[inline]
fn is_escaped_anywhere(text: &[u8]) -> bool {
    text.iter().fold(false, |found, byte| found | matches!(byte, b'\\' | b'\t' | b'\n' | b'\r'))
}

/// Returns the letter that follows the backslash in the escape of a byte.
#[inline]
fn escaped(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        b'\t' => Some(b't'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        _ => None,
    }
}

/// Returns the fields of a row in COPY's text format, with the escapes decoded; `None` is NULL.
/// Escapes by octal or hexadecimal digits, which servers never send, are not decoded. A server
/// sends one line per CopyData.
pub fn copy_text_fields(line: &[u8]) -> impl Iterator<Item = Option<Vec<u8>>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.split(|byte| *byte == b'\t').map(|field| (field != b"\\N").then(|| unescape(field)))
}

fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = field.iter().copied();
    let mut text = Vec::new();
    while let Some(byte) = bytes.next() {
        text.push(match byte {
            b'\\' => match bytes.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(b'v') => 11,
                Some(other) => other,
                None => b'\\',
            },
            byte => byte,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[Value<'_>]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rows = CopyText::new(&mut out);
        values.iter().for_each(|value| rows.field(*value));
        rows.end_row();
        out
    }

    #[test]
    fn a_row_is_a_line_of_escaped_fields() {
        let values = [Value::Int(-7), Value::Null, Value::Real(0.5), Value::Text("a\tb\\c\n\r")];
        assert_eq!(line(&values), b"-7\t\\N\t0.5\ta\\tb\\\\c\\n\\r\n");
        assert_eq!(line(&[Value::Text("\\N"), Value::Text("")]), b"\\\\N\t\n");
    }

    #[test]
    fn escapes_are_found_at_any_position() {
        for byte in 0..=u8::MAX {
            for length in [1, 31, 32, 33, 100] {
                for place in [0, length / 2, length - 1] {
                    let mut text = vec![b'x'; length];
                    text[place] = byte;
                    assert_eq!(is_escaped_anywhere(&text), escaped(byte).is_some(), "{byte}");
                }
            }
        }
    }

    #[test]
    fn rows_follow_each_other() {
        let mut out = Vec::new();
        let mut rows = CopyText::new(&mut out);
        for number in 0..2 {
            rows.field(Value::Int(number));
            rows.field(Value::Text("x"));
            rows.end_row();
        }
        assert_eq!(out, b"0\tx\n1\tx\n");
    }

    #[test]
    fn encoded_messages_round_trip() {
        let text = "\\ \t \n \r \\N \u{e9}";
        let fields: Vec<_> = copy_text_fields(&line(&[Value::Text(text), Value::Null])).collect();
        assert_eq!(fields, [Some(text.as_bytes().to_vec()), None]);
        let fields: Vec<_> = copy_text_fields(b"\\b\\f\\v\\x\\").collect();
        assert_eq!(fields, [Some(b"\x08\x0c\x0bx\\".to_vec())]);
    }
}
