//! `json(name: value, …)`: a JSON object.

use std::ops::Range;
use std::sync::Arc;

use base::Values;

use crate::value::{Datum, write_int, write_real};

/// A JSON object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Json<E> {
    members: Vec<Member<E>>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member<E> {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: E,
    /// The text before its value: comma, name and colon.
    head: Arc<str>,
    /// True if the value is itself a JSON object.
    nested: bool,
}

/// The largest size of a number's text, in bytes.
const LONGEST_NUMBER: u64 = 400;

/// The largest size of an escaped byte, in bytes: `\u001f`.
const LONGEST_ESCAPE: u64 = 6;

impl<E> Json<E> {
    /// Creates an object without members.
    pub(crate) fn new() -> Json<E> {
        Json { members: Vec::new() }
    }

    /// Appends a member; `nested` is true if its value is itself a JSON object.
    pub(crate) fn push(&mut self, name: &str, value: E, nested: bool) {
        let head = head(name, self.members.is_empty());
        self.members.push(Member { name: name.to_owned(), value, head, nested });
    }

    /// Returns the members in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member<E>> {
        self.members.iter()
    }

    /// Returns the largest size of the object in bytes, given the largest size of a value's text.
    pub(crate) fn longest(&self, longest: impl Fn(&E) -> u64) -> u64 {
        let member = |member: &Member<E>| {
            let text = longest(&member.value).saturating_mul(LONGEST_ESCAPE);
            text.max(LONGEST_NUMBER).saturating_add(member.head.len() as u64 + 2)
        };
        self.members.iter().map(member).fold(2, u64::saturating_add)
    }

    /// Evaluates the object and returns its JSON text.
    ///
    /// The text of each value is appended to the buffer and then replaced by its JSON form. The
    /// text of a nested object already is JSON and is kept.
    pub(crate) fn value(
        &self,
        mut eval: impl FnMut(&E, &mut Values) -> Datum,
        out: &mut Values,
    ) -> Datum {
        let start = out.text_bytes();
        out.text(|out| out.push('{'));
        for member in &self.members {
            out.text(|out| out.push_str(&member.head));
            let scrap = out.text_bytes();
            let datum = eval(&member.value, out);
            match datum {
                Datum::Text(_) if member.nested => {}
                Datum::Text(text) => quote(out, scrap, text.bytes()),
                _ => bare(out, scrap, datum),
            }
        }
        out.text(|out| out.push('}'));
        Datum::Text(out.text_since(start))
    }
}

/// Replaces the buffer from byte `scrap` on by a JSON string of the text at `text`, which may lie
/// in the replaced part.
fn quote(out: &mut Values, scrap: usize, text: Range<usize>) {
    replace(out, scrap, |out| {
        out.push('"');
        let (mut at, end) = (text.start, text.end);
        while at < end {
            let plain = out.as_bytes()[at..end].iter().take_while(|byte| is_plain(**byte)).count();
            out.extend_from_within(at..at + plain);
            at += plain;
            if at < end {
                escape(out.as_bytes()[at], out);
                at += 1;
            }
        }
        out.push('"');
    });
}

/// Replaces the buffer from byte `scrap` on by a value that is not a text.
fn bare(out: &mut Values, scrap: usize, datum: Datum) {
    replace(out, scrap, |out| match datum {
        Datum::Int(number) => write_int(number, out),
        Datum::Real(number) => write_real(number, out),
        Datum::Duration(nanos) => write_seconds(nanos, out),
        Datum::Timestamp(time) => {
            out.push('"');
            time.write_sql(out);
            out.push('"');
        }
        Datum::Null | Datum::Text(_) => out.push_str("null"),
    });
}

/// Calls `write` to append to the buffer, then removes the part from `scrap` to the previous end.
fn replace(out: &mut Values, scrap: usize, write: impl FnOnce(&mut String)) {
    out.text(|out| {
        let end = out.len();
        write(out);
        out.drain(scrap..end);
    });
}

/// Returns true if a byte needs no escape in a string.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

fn escape(byte: u8, out: &mut String) {
    let short = match byte {
        b'"' | b'\\' => char::from(byte),
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        _ => {
            out.push_str("\\u00");
            for digit in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
            }
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

/// Writes a duration as an exact number of seconds: `1.5`.
fn write_seconds(nanos: i64, out: &mut String) {
    let (seconds, mut rest) =
        (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if nanos < 0 {
        out.push('-');
    }
    write_int(seconds as i64, out);
    let mut unit = 100_000_000;
    while rest > 0 {
        if unit == 100_000_000 {
            out.push('.');
        }
        out.push(char::from(b'0' + (rest / unit) as u8));
        (rest, unit) = (rest % unit, unit / 10);
    }
}

/// Returns the text before a member's value.
fn head(name: &str, first: bool) -> Arc<str> {
    let mut values = Values::new();
    let text = values.text(|out| out.push_str(name)).bytes();
    quote(&mut values, 0, text);
    let name = values.text_since(0);
    let comma = if first { "" } else { "," };
    Arc::from(format!("{comma}{}:", values.resolve(name)))
}
