//! Summaries of whole files.

use std::io::Read;

use base::{Dialect, Nanos};

use super::format::Format;
use super::reader::{Fault, MIN_READ, ReadResult, Reader};
use super::records::Records;
use crate::text::holds_several;

/// The contents of a whole file, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of groups of records.
    pub groups: u64,
    /// Number of fields of each record; 0 without records.
    pub width: usize,
    /// Number of records left over at the end, too few for a group.
    pub left_over: usize,
    /// In a log, the number of the first line with an earlier time than the line above it, if any.
    pub backwards: Option<u64>,
    /// Time from the first line of a log until its last line is due.
    pub length: Nanos,
}

/// Reads a whole file and summarizes it. `language` is the dialect of a log's statements.
///
/// # Errors
/// Fails if the file cannot be read, or at the first line that is not a valid record.
pub fn examine(
    from: impl Read,
    format: Format,
    per_group: usize,
    language: Dialect,
) -> Result<Summary, Fault> {
    let mut reader = Reader::new(from, format, per_group);
    reader.statements = Some((language, holds_several));
    let mut block = [Records::default()];
    loop {
        block[0].reset(per_group);
        if reader.fill(&mut block, |_| 0, |block| block.bytes() >= MIN_READ)? == ReadResult::End {
            return Ok(Summary {
                groups: reader.groups,
                width: reader.width.unwrap_or(0),
                left_over: reader.left_over(),
                backwards: reader.backwards,
                length: reader.latest,
            });
        }
    }
}
