//! Formats of files of requests.

/// The format of a file of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Fields between delimiters; a field that contains a delimiter is quoted.
    Csv {
        /// Delimiter between two fields: one byte, neither a `"` nor a line end.
        delimiter: u8,
    },
    /// Lines of the form `MICROSECONDS,STATEMENT`.
    Log,
}

/// Formats a delimiter as it is written in a workload file.
pub(crate) fn written_delimiter(delimiter: u8) -> String {
    match delimiter {
        b'\t' => r#""\t""#.to_owned(),
        b'\\' => r#""\\""#.to_owned(),
        // A workload file has no other control characters than tabs and line ends.
        control if control.is_ascii_control() => format!(r#""\x{control:02x}""#),
        plain => format!("\"{}\"", char::from(plain)),
    }
}
