//! Input files of requests: the records of a CSV file, or the lines of a query log. Here, a record
//! is an entry of such a file, not the record of a run.
//!
//! ```text
//! bytes ─Reader─▶ Records (blocks of a few hundred groups) ─▶ one Group per request
//! ```
//!
//! A reader has one buffer and returns complete records before it waits for more: a file of any
//! size takes constant memory, and records of a pipe are available as soon as they are written.
//! Quotes in CSV follow RFC 4180 strictly. Lines may also end with LF, and blank lines are skipped.
//! Every record must have as many fields as the first.

mod csv;
mod examine;
pub(crate) mod format;
mod log;
pub(crate) mod reader;
pub(crate) mod records;

#[cfg(test)]
mod tests;

pub use examine::{Summary, examine};
pub use format::Format;
pub(crate) use format::written_delimiter;
pub use reader::{Fault, ReadResult, Reader};
pub use records::{Group, Record, Records};
