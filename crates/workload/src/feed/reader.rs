//! Reading of files into blocks of records.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use base::{Dialect, Nanos};

use super::csv::{self, Consumed, Parsed};
use super::format::Format;
use super::log;
use super::records::Records;

/// The smallest size of a read, in bytes.
pub(super) const MIN_READ: usize = 64 << 10;

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The size limit of a record, in bytes.
const LARGEST_RECORD: usize = 64 << 20;

/// An error in a file of records.
#[derive(Debug)]
pub enum Fault {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// A line is not a valid record.
    Broken {
        /// Line number, from 1.
        line: u64,
        /// The problem, as the second half of a sentence that begins with the line, or as a
        /// sentence of its own.
        why: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            Fault::Broken { line, why } => write!(f, "line {line}: {why}"),
        }
    }
}

impl std::error::Error for Fault {}

/// The state of a reader after it has filled blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadResult {
    /// The buffer has no complete record. The next call with empty blocks reads from the file,
    /// which may wait.
    NeedsReading,
    /// The block of the next group is full; more records may follow.
    Full,
    /// The end of the file is reached.
    End,
}

/// A function that returns true for a text of more than one statement in a dialect.
pub(super) type IsMultiStatement = fn(&str, Dialect) -> bool;

/// A reader of records.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    format: Format,
    /// Dialect of a log's statements, and the test for a text of several statements; `None` if
    /// statements are not checked.
    pub(super) statements: Option<(Dialect, IsMultiStatement)>,
    buffer: Vec<u8>,
    /// The unparsed part of the buffer.
    start: usize,
    end: usize,
    at_end: bool,
    has_begun: bool,
    /// True if the latest record ended at the end of the file, without a line end.
    is_cut_off: bool,
    line: u64,
    /// Number of fields of each record.
    pub(super) width: Option<usize>,
    /// The records of an incomplete group.
    group: Records,
    per_group: usize,
    pub(super) groups: u64,
    first_micros: Option<i64>,
    pub(super) latest: Nanos,
    pub(super) backwards: Option<u64>,
}

impl<R: Read> Reader<R> {
    /// Creates a reader at the beginning of a file, which returns records in groups of `per_group`.
    pub fn new(from: R, format: Format, per_group: usize) -> Reader<R> {
        let mut group = Records::default();
        group.reset(per_group);
        Reader {
            group,
            per_group: per_group.max(1),
            from,
            format,
            statements: None,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            at_end: false,
            has_begun: false,
            is_cut_off: false,
            line: 1,
            width: None,
            groups: 0,
            first_micros: None,
            latest: Nanos::ZERO,
            backwards: None,
        }
    }

    /// Appends groups to blocks until a block is full or the buffer has no complete record;
    /// `of(number)` selects the block of each group.
    ///
    /// If all blocks are empty, reads from the file, which may wait.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or at the first line that is not a valid record.
    pub fn fill(
        &mut self,
        blocks: &mut [Records],
        of: impl Fn(u64) -> usize,
        is_full: impl Fn(&Records) -> bool,
    ) -> Result<ReadResult, Fault> {
        loop {
            let block = &mut blocks[of(self.groups)];
            if is_full(block) {
                return Ok(ReadResult::Full);
            }
            if self.parse_record()? {
                if self.group.records() == self.per_group {
                    block.push_group(&self.group, self.groups, self.latest);
                    self.group.reset(self.per_group);
                    self.groups += 1;
                }
            } else if self.at_end {
                return Ok(ReadResult::End);
            } else if blocks.iter().any(|block| !block.is_empty()) {
                return Ok(ReadResult::NeedsReading);
            } else {
                self.read()?;
            }
        }
    }

    /// Returns true if the last record has no line end, and may therefore be incomplete.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Returns the number of records left over at the end, too few for a group.
    pub fn left_over(&self) -> usize {
        self.group.records()
    }

    /// Parses one record of the buffer; returns false if the buffer has no complete record.
    fn parse_record(&mut self) -> Result<bool, Fault> {
        if !self.has_begun && !self.begin() {
            return Ok(false);
        }
        loop {
            let bytes = &self.buffer[self.start..self.end];
            let (parsed, micros) = match self.format {
                Format::Csv { delimiter } => {
                    (csv::record(bytes, delimiter, self.at_end, &mut self.group), 0)
                }
                Format::Log => log::line(bytes, self.at_end, &mut self.group),
            };
            match parsed {
                Parsed::Record(taken) => {
                    self.is_cut_off = !bytes[..taken.bytes].ends_with(b"\n");
                    self.check_width()?;
                    self.check_statement()?;
                    self.note_time(micros);
                    self.skip(taken);
                    return Ok(true);
                }
                Parsed::Nothing(taken) => self.skip(taken),
                Parsed::Unfinished => return Ok(false),
                Parsed::Broken(why) => return Err(self.broken_record(why)),
            }
        }
    }

    /// Skips a byte order mark. Returns false if more bytes are needed to recognize it.
    fn begin(&mut self) -> bool {
        let bytes = &self.buffer[self.start..self.end];
        self.has_begun = self.at_end
            || bytes.len() >= BYTE_ORDER_MARK.len()
            || !BYTE_ORDER_MARK.starts_with(bytes);
        if bytes.starts_with(BYTE_ORDER_MARK) {
            self.start += BYTE_ORDER_MARK.len();
        }
        self.has_begun
    }

    fn skip(&mut self, taken: Consumed) {
        self.start += taken.bytes;
        self.line += taken.lines;
    }

    fn broken_record(&self, why: impl Into<String>) -> Fault {
        Fault::Broken { line: self.line, why: why.into() }
    }

    /// Ends a record and checks that it has as many fields as the first record.
    fn check_width(&mut self) -> Result<(), Fault> {
        let fields = self.group.end_record();
        let width = *self.width.get_or_insert(fields);
        match fields == width {
            true => Ok(()),
            false => {
                let noun = if fields == 1 { "field" } else { "fields" };
                let why = format!("it has {fields} {noun}, and the first record has {width}");
                Err(self.broken_record(why))
            }
        }
    }

    /// Checks that a line of a log is one statement.
    fn check_statement(&self) -> Result<(), Fault> {
        let (Format::Log, Some((dialect, holds_several))) = (self.format, self.statements) else {
            return Ok(());
        };
        let record = self.group.group(0).record(0);
        let statement = record.and_then(|record| record.field(0)).unwrap_or_default();
        match holds_several(statement, dialect) {
            true => {
                Err(self.broken_record("holds several statements: write each on a line of its own"))
            }
            false => Ok(()),
        }
    }

    /// Records the time at which a line of a log is due. A line with an earlier time than the line
    /// above is due at the same time as that line.
    fn note_time(&mut self, micros: i64) {
        let first = *self.first_micros.get_or_insert(micros);
        let since = micros.saturating_sub(first);
        let at = Nanos(u64::try_from(since).unwrap_or(0).saturating_mul(1_000));
        if since < 0 || at < self.latest {
            self.backwards.get_or_insert(self.line);
        }
        self.latest = self.latest.max(at);
    }

    /// Reads the available bytes, and appends them to the unparsed bytes.
    fn read(&mut self) -> Result<(), Fault> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end >= LARGEST_RECORD {
            return Err(self.broken_record("it begins a record of more than 64 MiB"));
        }
        if self.buffer.len() < self.end + MIN_READ {
            let wanted = (2 * self.end).max(MIN_READ) + self.end;
            self.buffer.resize(wanted, 0);
        }
        let length = loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(length) => break length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Fault::Unreadable(error)),
            }
        };
        self.end += length;
        self.at_end = length == 0;
        Ok(())
    }
}
