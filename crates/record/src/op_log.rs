//! The op-log, one row per request: its rows, formats and result. `archive` writes the file.

use base::units::grouped;
use base::{AccountId, Stamp};

use crate::tally::Sample;

/// The row of one request.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The account of the request's job, or of its part of a mix.
    pub account: AccountId,
    /// Number of the request in its job, from 0.
    pub number: u64,
    /// Times, outcome and work of the request.
    pub sample: Sample,
    /// Number of statements of the request that failed.
    pub failed: u32,
}

/// A lane's sink for the rows of its requests. It is on the measured path: in real time it must not
/// block or allocate.
pub trait OpSink {
    /// Sets the instant of time zero, before the first request.
    fn begin(&mut self, zero: Stamp);

    /// Adds the row of a request that has ended.
    fn push(&mut self, row: &OpRow);

    /// Passes the rows that were added so far to the writer of the file. Called once per interval.
    fn hand_over(&mut self);
}

/// The format of an op-log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpFormat {
    /// A header and one row per request with all columns; times are in µs since time zero, with
    /// three decimals. The file must not exist yet.
    Csv,
    /// The format of dbbench's `--query-stats-file`, without a header. The columns are the name of
    /// the job or part, the intended start (from time zero, in whole µs), the response time (in
    /// whole µs), the number of returned or affected rows, and the number of failed statements.
    /// Requests that were rejected or left unsent are not in the file. An existing file is
    /// overwritten.
    DbbenchStats,
}

impl OpFormat {
    /// All formats.
    pub const ALL: [OpFormat; 2] = [OpFormat::Csv, OpFormat::DbbenchStats];

    /// Returns the name of this format in records.
    pub fn name(self) -> &'static str {
        match self {
            OpFormat::Csv => "csv",
            OpFormat::DbbenchStats => "dbbench-stats",
        }
    }

    /// Returns the name of the command-line option that requests an op-log in this format, without
    /// its dashes.
    pub fn option(self) -> &'static str {
        match self {
            OpFormat::Csv => "op-log",
            OpFormat::DbbenchStats => "query-stats-file",
        }
    }

    /// Returns the words by which messages refer to the file.
    pub fn title(self) -> &'static str {
        match self {
            OpFormat::Csv => "the op-log",
            OpFormat::DbbenchStats => "the file of --query-stats-file",
        }
    }
}

/// The result of writing an op-log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLogReport {
    /// Format of the file.
    pub format: OpFormat,
    /// Number of rows in the file, without the header.
    pub rows: u64,
    /// Number of rows that are missing in the file: the writer could not keep up, or could no
    /// longer write.
    pub dropped: u64,
    /// Reason why the file could not be written to the end; `None` if it could.
    pub failure: Option<String>,
}

impl OpLogReport {
    /// Returns a sentence about the missing rows of the file; `None` if no rows are missing and the
    /// file was written to the end.
    pub fn loss(&self) -> Option<String> {
        let OpLogReport { format, rows, dropped, failure } = self;
        if *dropped == 0 && failure.is_none() {
            return None;
        }
        let all = grouped(rows + dropped);
        let why = match failure {
            Some(failure) => format!("it could no longer be written: {failure}"),
            None => "its writer could not keep up".to_owned(),
        };
        let (lost, title) = (grouped(*dropped), format.title());
        Some(format!("{lost} of {all} requests are missing in {title}: {why}"))
    }
}
