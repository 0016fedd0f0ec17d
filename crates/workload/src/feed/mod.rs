//! Input files of requests: the records of a CSV file, or the lines of a query log.
//!
//! ```text
//! bytes ─Reader─▶ Records (blocks of a few hundred groups) ─▶ one Group per request
//! ```
//!
//! A reader has one buffer and returns complete records before it waits for more: a file of any
//! size takes constant memory, and records of a pipe are available as soon as they are written. CSV
//! follows RFC 4180 strictly, and every record must have as many fields as the first.

mod csv;
mod log;
mod reader;
mod records;

#[cfg(test)]
mod tests;

pub use reader::{Fault, More, Reader, Summary, examine};
pub use records::{Group, Record, Records};

/// The format of a file of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields between delimiters; a field that contains one is quoted.
    Csv {
        /// Delimiter between two fields: one byte, neither a quote nor a line end.
        delimiter: u8,
    },
    /// Lines of the form `MICROSECONDS,STATEMENT`.
    Log,
}
