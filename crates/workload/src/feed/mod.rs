//! What do requests get from files? Records of a CSV file, or the lines of a log.
//!
//! ```text
//! bytes ─Reader─▶ Records (blocks of a few hundred groups) ─▶ one Group per request
//! ```
//!
//! A reader keeps one buffer and gives back what it has before it would have to wait, so that a
//! file of any size takes constant memory and a pipe is as prompt as its writer. The rules of CSV
//! are those of RFC 4180, strictly: every record has as many fields as the first.

mod csv;
mod log;
mod reader;
mod records;

#[cfg(test)]
mod tests;

pub use reader::{Fault, More, Reader, Summary, examine};
pub use records::{Group, Record, Records};

/// How a file of requests is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Fields between delimiters, quoted where they hold one.
    Csv {
        /// What stands between two fields: one byte, neither a quote nor a line end.
        delimiter: u8,
    },
    /// A line is `MICROSECONDS,STATEMENT`.
    Log,
}
