//! Comma-separated values in the form of Go's `encoding/csv` (its documentation, type `Writer`):
//! dbbench writes that form, and its users compare files byte for byte.

use base::{Field, RowPart, Rows};

use super::sink::Sink;

/// The text for NULL.
const NULL: &[u8] = b"\\N";

/// Number of bytes of a text that are appended at once.
const PIECE: usize = 16 << 10;

/// Appends rows, one line each.
pub(super) fn rows(rows: &Rows, sink: &mut Sink) {
    let mut is_first = true;
    for part in rows.parts() {
        match part {
            RowPart::End => {
                sink.end_line();
                is_first = true;
            }
            RowPart::Field(value) => {
                if !std::mem::replace(&mut is_first, false) {
                    sink.buffer().push(b',');
                }
                append(value, sink);
            }
        }
    }
}

/// Appends a value. Numbers have the same form as everywhere in Assay: reals have just enough
/// digits to be distinguished from all others.
fn append(value: Field<'_>, sink: &mut Sink) {
    let out = sink.buffer();
    match value {
        Field::Null => out.extend_from_slice(NULL),
        Field::Int(number) => {
            if number < 0 {
                out.push(b'-');
            }
            write_number(number.unsigned_abs(), out);
        }
        Field::Real(number) => out.extend_from_slice(format!("{number:?}").as_bytes()),
        Field::Bytes(bytes) => append_text(bytes, sink),
    }
}

/// Appends a text, in quotes if needed, piece by piece.
fn append_text(text: &[u8], sink: &mut Sink) {
    let are_quoted = needs_quotes(text);
    if are_quoted {
        sink.buffer().push(b'"');
    }
    for piece in text.chunks(PIECE) {
        match are_quoted {
            true => double_quotes(piece, sink.buffer()),
            false => sink.buffer().extend_from_slice(piece),
        }
        sink.flush_if_full();
    }
    if are_quoted {
        sink.buffer().push(b'"');
    }
}

/// Appends a text, in quotes if needed.
pub(super) fn field(text: &[u8], out: &mut Vec<u8>) {
    if !needs_quotes(text) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    double_quotes(text, out);
    out.push(b'"');
}

/// Appends a text with its quotes doubled.
fn double_quotes(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
}

/// Returns true if a text needs quotes. An empty text does not; `\.` does, because PostgreSQL reads
/// it as the end of the data.
fn needs_quotes(text: &[u8]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b',' | b'"' | b'\r' | b'\n');
    text == b"\\." || text.iter().any(is_special) || begins_with_a_space(text)
}

/// Returns true if the first character is white space by Unicode; invalid UTF-8 is not.
fn begins_with_a_space(text: &[u8]) -> bool {
    let first = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(first) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&first[..error.valid_up_to()]).unwrap_or_default(),
    };
    valid.starts_with(char::is_whitespace)
}

/// Appends a number in decimal digits.
pub(super) fn write_number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use super::super::sink::FileHealth;
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut out = Vec::new();
        field(text.as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{text:?}");
    }

    /// Cases from the documentation of Go's `Writer`, and from the comments in its source.
    #[test]
    fn texts_are_quoted_as_go_quotes_them() {
        for plain in ["", "a", "a b ", "it's", "\\", "\\N", "a\\.", "x\ty", "ß", "\u{b}a".trim()] {
            check(plain, plain);
        }
        check("a,b", "\"a,b\"");
        check("say \"hi\"", "\"say \"\"hi\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("a\r", "\"a\r\"");
        check("\\.", "\"\\.\"");
        for space in [" ", "\t", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{2003}", "\u{3000}"] {
            check(&format!("{space}x"), &format!("\"{space}x\""));
        }
    }

    #[test]
    fn invalid_utf8_is_written_unchanged() {
        let mut out = Vec::new();
        field(b"\xa0\xff\x00", &mut out);
        assert_eq!(out, b"\xa0\xff\x00");
    }

    #[test]
    fn numbers_are_written_with_all_their_digits() {
        let mut sink = Sink::new(Box::new(std::io::sink()), FileHealth::default());
        for value in [Field::Int(i64::MIN), Field::Int(0), Field::Int(7), Field::Null] {
            append(value, &mut sink);
            sink.buffer().push(b' ');
        }
        for number in [1.0, 0.1, -1.5e300, 1e21] {
            append(Field::Real(number), &mut sink);
            sink.buffer().push(b' ');
        }
        let text = String::from_utf8(sink.buffer().clone()).unwrap();
        assert_eq!(text, "-9223372036854775808 0 7 \\N 1.0 0.1 -1.5e300 1e21 ");
    }
}
