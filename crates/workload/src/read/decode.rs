//! Decoding of file contents.

use base::Diagnostic;

use crate::wording;

/// The largest workload file in bytes: 64 MiB.
pub const LARGEST_FILE: usize = 64 << 20;

/// Decodes the bytes of a file as text.
///
/// # Errors
/// A file above [`LARGEST_FILE`], an SQLite database such as a record, UTF-16, bytes that are not
/// UTF-8, or a NUL byte. The diagnostic has no span, because there is no text to show. For an
/// invalid byte, its message names the line and the offset.
pub fn decode(bytes: &[u8]) -> Result<String, Diagnostic> {
    if bytes.len() > LARGEST_FILE {
        return Err(too_large(bytes.len()));
    }
    if bytes.starts_with(b"SQLite format 3\0") {
        return Err(record_instead_of_file());
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(utf_16());
    }
    match std::str::from_utf8(bytes) {
        Err(fault) => Err(not_text(bytes, fault.valid_up_to(), "is not UTF-8")),
        Ok(text) => match text.find('\0') {
            Some(at) => Err(not_text(bytes, at, "is not a valid character")),
            None => Ok(text.to_owned()),
        },
    }
}

fn too_large(length: usize) -> Diagnostic {
    let megabytes = length / (1 << 20);
    wording::error(
        None,
        format!("the file has {megabytes} MiB: a workload file has at most 64 MiB"),
    )
    .help("give the data in a `[load TABLE]` section instead of in statements")
}

fn record_instead_of_file() -> Diagnostic {
    wording::error(None, "the file is an SQLite database, not a workload")
        .help("to read the record of a run, use `assay report FILE`")
}

fn utf_16() -> Diagnostic {
    wording::error(None, "the file is UTF-16, and workload files are UTF-8")
        .help("save it as UTF-8 in your editor")
}

fn not_text(bytes: &[u8], at: usize, why: &str) -> Diagnostic {
    let line = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let byte = bytes.get(at).copied().unwrap_or_default();
    wording::error(
        None,
        format!("the file is not a text: byte 0x{byte:02x} in line {line}, at offset {at}, {why}"),
    )
    .help("workload files are UTF-8 text; is this the right file?")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(decode(bytes).unwrap_err().message, expected);
    }

    #[test]
    fn invalid_utf8_is_refused_with_its_position() {
        check(
            b"[a]\nquery = \xff",
            "the file is not a text: byte 0xff in line 2, at offset 12, is not UTF-8",
        );
        check(
            b"a\0",
            "the file is not a text: byte 0x00 in line 1, at offset 1, is not a valid character",
        );
        check(b"caf\xc3", "the file is not a text: byte 0xc3 in line 1, at offset 3, is not UTF-8");
        check(b"\xff\xfe[\0", "the file is UTF-16, and workload files are UTF-8");
        check(b"SQLite format 3\0...", "the file is an SQLite database, not a workload");
        check(
            &vec![b' '; LARGEST_FILE + (1 << 20)],
            "the file has 65 MiB: a workload file has at most 64 MiB",
        );
    }

    #[test]
    fn plain_text_maps_to_itself() {
        assert_eq!(decode("é\r\n".as_bytes()).unwrap(), "é\r\n");
        assert_eq!(decode(b"").unwrap(), "");
    }
}
