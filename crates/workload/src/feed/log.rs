//! Parsing of one line of a query log: `MICROSECONDS,STATEMENT`.

use super::csv::{Consumed, Parsed};
use super::records::Records;

/// Parses the line at the beginning of `bytes` and returns its time in microseconds.
pub(super) fn line(bytes: &[u8], is_end: bool, out: &mut Records) -> (Parsed, i64) {
    let length = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(length) => length,
        None if is_end && !bytes.is_empty() => bytes.len(),
        None => return (Parsed::Unfinished, 0),
    };
    let taken = Consumed { bytes: (length + 1).min(bytes.len()), lines: 1 };
    let line = bytes[..length].strip_suffix(b"\r").unwrap_or(&bytes[..length]);
    if line.is_empty() {
        return (Parsed::Nothing(taken), 0);
    }
    match parts(line) {
        Ok((micros, statement)) => {
            out.push_text(statement);
            out.end_field();
            (Parsed::Record(taken), micros)
        }
        Err(why) => (Parsed::Broken(why), 0),
    }
}

fn parts(line: &[u8]) -> Result<(i64, &str), &'static str> {
    let text = std::str::from_utf8(line).map_err(|_| "is not UTF-8")?;
    let (micros, statement) =
        text.split_once(',').ok_or("has no comma: write `MICROSECONDS,STATEMENT`")?;
    let micros = micros
        .parse()
        .map_err(|_| "does not begin with a whole number of microseconds and a comma")?;
    let statement = statement.trim();
    let word = statement.split_whitespace().next().unwrap_or_default();
    match word.trim_end_matches(';').to_ascii_lowercase().as_str() {
        "" => Err("has no statement after its time"),
        "begin" => Err("begins a transaction, and each line takes any connection: remove it"),
        "use" => Err("changes the database of one connection of many: remove it"),
        _ => Ok((micros, statement)),
    }
}
