//! Formats of files of requests.

/// The format of a file of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Fields between delimiters; a field that contains a delimiter is quoted.
    Csv {
        /// Delimiter between two fields: one byte, neither a quote nor a line end.
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
        0x1f => r#""\x1f""#.to_owned(),
        0x01 => r#""\x01""#.to_owned(),
        0 => r#""\x00""#.to_owned(),
        plain => format!("\"{}\"", char::from(plain)),
    }
}
