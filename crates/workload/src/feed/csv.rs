//! Parsing of one record of a CSV file (RFC 4180).

use super::records::Records;

/// The result of parsing the beginning of a buffer.
pub(super) enum Parsed {
    /// A record of this length was appended.
    Record(Consumed),
    /// These bytes hold no record and are consumed.
    Nothing(Consumed),
    /// The record continues after these bytes.
    Unfinished,
    /// The bytes are not a valid record.
    Broken(&'static str),
}

/// The length of the consumed input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Consumed {
    pub(super) bytes: usize,
    pub(super) lines: u64,
}

/// Parses the record at the beginning of `bytes`; `is_end` is true if the file ends after `bytes`.
pub(super) fn record(bytes: &[u8], delimiter: u8, is_end: bool, out: &mut Records) -> Parsed {
    match blank(bytes) {
        Some(length) => return Parsed::Nothing(Consumed { bytes: length, lines: 1 }),
        None if bytes.is_empty() || bytes == b"\r" => return Parsed::Unfinished,
        None => {}
    }
    // The first pass finds the end: nothing is written before the record is known to be complete.
    let walk = Walk { bytes, delimiter, is_end };
    match walk.length() {
        Ok(Some(taken)) => match write(&bytes[..taken.bytes], delimiter, out) {
            Ok(()) => Parsed::Record(taken),
            Err(why) => Parsed::Broken(why),
        },
        Ok(None) => Parsed::Unfinished,
        Err(why) => Parsed::Broken(why),
    }
}

/// Returns the length of a blank line at the beginning of the bytes, if there is one.
fn blank(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

struct Walk<'b> {
    bytes: &'b [u8],
    delimiter: u8,
    is_end: bool,
}

impl Walk<'_> {
    /// Returns the length of the first record; `None` if the record is incomplete.
    fn length(&self) -> Result<Option<Consumed>, &'static str> {
        let mut at = 0;
        let mut lines = 0;
        loop {
            at = match self.bytes.get(at) {
                Some(b'"') => match self.quoted(at + 1, &mut lines)? {
                    Some(end) => end,
                    None => return Ok(None),
                },
                _ => self.plain(at)?,
            };
            match self.bytes.get(at) {
                Some(b'\n') => return Ok(Some(Consumed { bytes: at + 1, lines: lines + 1 })),
                Some(_) => at += 1,
                None if self.is_end => return Ok(Some(Consumed { bytes: at, lines: lines + 1 })),
                None => return Ok(None),
            }
        }
    }

    /// Returns the end of an unquoted field.
    fn plain(&self, from: usize) -> Result<usize, &'static str> {
        let rest = &self.bytes[from..];
        let ends = |byte: &u8| *byte == self.delimiter || *byte == b'\n' || *byte == b'"';
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        match rest.get(length) {
            Some(b'"') => Err("found a `\"` in a field that does not begin with one"),
            _ => Ok(from + length),
        }
    }

    /// Returns the end of a quoted field, after its closing quote; `None` if the field is
    /// incomplete.
    fn quoted(&self, from: usize, lines: &mut u64) -> Result<Option<usize>, &'static str> {
        let mut at = from;
        loop {
            match self.bytes.get(at) {
                Some(b'"') if self.bytes.get(at + 1) == Some(&b'"') => at += 2,
                Some(b'"') => return self.behind_quote(at + 1),
                Some(b'\n') => {
                    *lines += 1;
                    at += 1;
                }
                Some(_) => at += 1,
                None if self.is_end => return Err("a quoted field is not closed"),
                None => return Ok(None),
            }
        }
    }

    /// Returns the end of a field after its closing quote; `None` if more bytes are needed.
    fn behind_quote(&self, at: usize) -> Result<Option<usize>, &'static str> {
        match (self.bytes.get(at), self.bytes.get(at + 1)) {
            (None, _) => Ok(self.is_end.then_some(at)),
            (Some(b'\n'), _) => Ok(Some(at)),
            (Some(b'\r'), Some(b'\n')) => Ok(Some(at + 1)),
            (Some(b'\r'), None) => Ok(self.is_end.then_some(at + 1)),
            (Some(byte), _) if *byte == self.delimiter => Ok(Some(at)),
            _ => Err("found text between a closing `\"` and the end of its field"),
        }
    }
}

/// Appends the fields of a complete record.
fn write(record: &[u8], delimiter: u8, out: &mut Records) -> Result<(), &'static str> {
    let text = std::str::from_utf8(record).map_err(|_| "is not UTF-8")?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let mut rest = text;
    loop {
        rest = match rest.strip_prefix('"') {
            Some(quoted) => write_quoted(quoted, out),
            None => {
                let length = rest.bytes().position(|byte| byte == delimiter);
                let length = length.unwrap_or(rest.len());
                out.push_text(&rest[..length]);
                &rest[length..]
            }
        };
        out.end_field();
        if rest.is_empty() {
            return Ok(());
        }
        // The rest begins with the delimiter, which is one byte.
        rest = &rest[1..];
    }
}

/// Appends a field without its quotes and with each CRLF replaced by LF. Returns the text after the
/// field.
fn write_quoted<'r>(field: &'r str, out: &mut Records) -> &'r str {
    let mut rest = field;
    loop {
        let Some(quote) = rest.find('"') else { return "" };
        let mut piece = &rest[..quote];
        while let Some(at) = piece.find("\r\n") {
            out.push_text(&piece[..at]);
            piece = &piece[at + 1..];
        }
        out.push_text(piece);
        rest = &rest[quote + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                out.push_text("\"");
                rest = after;
            }
            None => return rest,
        }
    }
}
