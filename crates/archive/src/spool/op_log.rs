//! The op-log: one row per request, for external analysis.
//!
//! A lane fills rows of fixed size into its own block, without allocating or waiting. If the writer
//! cannot keep up, rows are dropped and counted; in virtual time the lane waits instead, and the
//! same seed gives the same file.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, fmt, mem};

use base::{Class, Nanos, Stamp, escaped, spreadsheet_cell};
use record::{
    Delivery, OpFormat, OpLogReport, OpRow, OpSink, Outcome, Outlet, Pace, RequestWork, Returned,
    Sample,
};

use super::csv::{field, write_number};
use super::sink::{FileHealth, Sink, WriteFailure, create};
use super::thread::{Block, PendingLimits, Spool, SpoolHandle};

/// The number of rows in a block.
pub(super) const ROWS: usize = 1_024;

/// The number of empty blocks that all lanes share at the beginning, in addition to the block that
/// each lane fills: the writer may lag a quarter of a million requests behind.
pub(super) const BLOCKS: usize = 256;

/// The header line of the format `Csv`.
const HEADER: &str = "job,number,intended_us,noticed_us,assigned_us,sent_us,done_us,outcome,code,\
                      retries,rows,bytes_sent,bytes_received,lane";

/// The path and format of an op-log.
#[derive(Clone, Debug)]
pub struct OpLogPlan {
    /// Path of the file.
    pub path: PathBuf,
    /// Format of the file.
    pub format: OpFormat,
}

/// The reason why an op-log could not be created.
#[derive(Debug)]
pub struct OpLogError {
    path: PathBuf,
    format: OpFormat,
    cause: io::Error,
}

/// An op-log that is being written.
pub struct OpLog {
    plan: OpLogPlan,
    pace: Pace,
    spool: Spool<OpBlock>,
    handle: SpoolHandle<OpBlock>,
    counts: Arc<OpCounts>,
}

#[derive(Default)]
struct OpCounts {
    /// Number of rows dropped by lanes.
    dropped: AtomicU64,
    /// Number of lines in the blocks that lanes have handed over.
    handed_over: AtomicU64,
    /// Number of header lines: 1 in the format `Csv`, otherwise 0.
    header: AtomicU64,
}

/// A lane's handle to the op-log.
pub struct OpLogHandle {
    handle: SpoolHandle<OpBlock>,
    pace: Pace,
    format: OpFormat,
    block: OpBlock,
    /// Number of lines in the file for the rows of `block`.
    lines: u64,
    /// Number of lines in the blocks that have been handed over.
    handed_over: u64,
    dropped: u64,
    counts: Arc<OpCounts>,
}

/// Some requests of one lane, in the order in which they ended.
struct OpBlock {
    lane: u16,
    /// Time zero of the run.
    zero: Stamp,
    rows: Vec<OpRow>,
}

impl OpBlock {
    fn new() -> OpBlock {
        OpBlock { lane: 0, zero: Stamp::ZERO, rows: Vec::with_capacity(ROWS) }
    }
}

impl Block for OpBlock {
    fn weight(&self) -> usize {
        self.rows.len() * size_of::<OpRow>()
    }

    fn clear(&mut self) {
        self.rows.clear();
    }
}

impl OpLog {
    /// Creates the file and starts its writer. `accounts` are the names of the accounts, in the
    /// order of their ids.
    ///
    /// # Errors
    /// Fails if the file exists and the format does not overwrite it, if it cannot be created, or
    /// if no thread can be started.
    pub fn create(plan: &OpLogPlan, accounts: &[&str], pace: Pace) -> Result<OpLog, OpLogError> {
        let path = plan.path.as_path();
        let file = match plan.format {
            OpFormat::Csv => File::create_new(path),
            OpFormat::DbbenchStats => create(path),
        };
        let failed = |cause| OpLogError { path: path.to_owned(), format: plan.format, cause };
        let sink = Sink::of_file(file.map_err(failed)?, FileHealth::default());
        OpLog::start(sink, plan, accounts, pace).map_err(failed)
    }

    /// Starts the writer of a file that has been created.
    pub(super) fn start(
        mut sink: Sink,
        plan: &OpLogPlan,
        accounts: &[&str],
        pace: Pace,
    ) -> io::Result<OpLog> {
        let counts = Arc::new(OpCounts::default());
        if plan.format == OpFormat::Csv {
            sink.buffer().extend_from_slice(HEADER.as_bytes());
            sink.end_line();
            counts.header.store(1, Ordering::Relaxed);
        }
        let pen = RowFormatter::new(plan.format, accounts);
        let room = PendingLimits { blocks: BLOCKS, weight: usize::MAX };
        let append = move |block: &OpBlock, sink: &mut Sink| pen.append(block, sink);
        let (spool, handle) = Spool::start(sink, room, OpBlock::new, append)?;
        Ok(OpLog { plan: plan.clone(), pace, spool, handle, counts })
    }

    /// Returns the handle of a lane.
    pub fn lane(&self, lane: u16) -> OpLogHandle {
        OpLogHandle {
            handle: self.handle.clone(),
            pace: self.pace,
            format: self.plan.format,
            block: OpBlock { lane, ..OpBlock::new() },
            lines: 0,
            handed_over: 0,
            dropped: 0,
            counts: Arc::clone(&self.counts),
        }
    }

    /// Waits until every lane has ended and everything is written.
    ///
    /// Stops waiting if the file makes no progress for about ten seconds, or if `waits`, which is
    /// called at least every 50 ms, returns false.
    pub fn finish(self, waits: impl FnMut() -> bool) -> OpLogReport {
        let OpLog { plan, pace: _, spool, handle, counts } = self;
        drop(handle);
        let written = spool.finish(waits);
        let rows = written.lines.saturating_sub(counts.header.load(Ordering::Relaxed));
        let handed_over = counts.handed_over.load(Ordering::Relaxed);
        let dropped = counts.dropped.load(Ordering::Relaxed) + handed_over.saturating_sub(rows);
        let said =
            |failure: WriteFailure| format!("{} after {} bytes", failure.cause, written.bytes);
        OpLogReport { format: plan.format, rows, dropped, failure: written.failure.map(said) }
    }

    /// Removes the file, for runs that end before anything is measured. Pipes, devices and links
    /// are kept, because the run did not create them.
    pub fn discard(self) {
        let path = self.plan.path.clone();
        self.finish(|| true);
        if fs::symlink_metadata(&path).is_ok_and(|file| file.is_file()) {
            // A file that cannot be removed has at most its header line, and does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

impl OpSink for OpLogHandle {
    fn begin(&mut self, zero: Stamp) {
        self.block.zero = zero;
    }

    fn push(&mut self, row: &OpRow) {
        if self.block.rows.len() == ROWS && !self.swap_block() {
            self.dropped += u64::from(has_line(self.format, row));
            return;
        }
        self.block.rows.push(*row);
        self.lines += u64::from(has_line(self.format, row));
    }

    fn hand_over(&mut self) {
        // If there is no room, the lane keeps the block. If there is still none when the block is
        // full, further rows are dropped.
        self.swap_block();
    }
}

impl OpLogHandle {
    /// Hands over the current block; returns false if the writer has no room.
    #[cold]
    fn swap_block(&mut self) -> bool {
        if self.block.rows.is_empty() {
            return true;
        }
        let (lane, zero) = (self.block.lane, self.block.zero);
        let was_taken = match self.pace {
            Pace::Real => self.handle.try_swap(&mut self.block),
            Pace::Virtual => {
                self.handle.swap(&mut self.block);
                true
            }
        };
        (self.block.lane, self.block.zero) = (lane, zero);
        if was_taken {
            self.handed_over += mem::take(&mut self.lines);
        }
        was_taken
    }
}

/// Ends a lane. Its last rows wait for the writer, but the lane does not: a pipe without a reader
/// would keep it forever.
impl Drop for OpLogHandle {
    fn drop(&mut self) {
        self.handed_over += self.lines;
        let rows = mem::take(&mut self.block.rows);
        if !rows.is_empty() {
            self.handle.hand_in(OpBlock { rows, ..self.block });
        }
        self.counts.handed_over.fetch_add(self.handed_over, Ordering::Relaxed);
        self.counts.dropped.fetch_add(self.dropped, Ordering::Relaxed);
    }
}

/// An outlet with an op-log.
pub struct OpLogOutlet<O> {
    outlet: O,
    ops: Option<OpLogHandle>,
}

impl<O> OpLogOutlet<O> {
    /// Adds an op-log to an outlet.
    pub fn new(outlet: O, ops: OpLogHandle) -> OpLogOutlet<O> {
        OpLogOutlet { outlet, ops: Some(ops) }
    }
}

impl<O: Outlet> Outlet for OpLogOutlet<O> {
    fn deliver(&mut self, delivery: Delivery) {
        self.outlet.deliver(delivery);
    }

    fn take_returned(&mut self) -> Option<Returned> {
        self.outlet.take_returned()
    }

    fn is_broken(&self) -> bool {
        self.outlet.is_broken()
    }

    fn ops(&mut self) -> Option<Box<dyn OpSink + Send>> {
        self.ops.take().map(|ops| Box::new(ops) as Box<dyn OpSink + Send>)
    }
}

/// A formatter of rows as lines.
struct RowFormatter {
    format: OpFormat,
    /// Names of the accounts, quoted where needed. In `Csv`, no spreadsheet reads them as formulas.
    accounts: Vec<Vec<u8>>,
}

impl RowFormatter {
    fn new(format: OpFormat, accounts: &[&str]) -> RowFormatter {
        let quoted = |name: &&str| {
            let name = match format {
                OpFormat::Csv => spreadsheet_cell(name, escaped),
                // dbbench adds no apostrophe to names, and its users compare files.
                OpFormat::DbbenchStats => escaped(name),
            };
            let mut quoted = Vec::new();
            field(name.as_bytes(), &mut quoted);
            quoted
        };
        RowFormatter { format, accounts: accounts.iter().map(quoted).collect() }
    }

    fn append(&self, block: &OpBlock, sink: &mut Sink) {
        for row in block.rows.iter().filter(|row| has_line(self.format, row)) {
            match self.format {
                OpFormat::Csv => self.append_all(row, block, sink.buffer()),
                OpFormat::DbbenchStats => self.append_stats(row, block.zero, sink.buffer()),
            }
            sink.end_line();
        }
    }

    fn append_all(&self, row: &OpRow, block: &OpBlock, out: &mut Vec<u8>) {
        let Sample { timestamps, sent, outcome, work } = row.sample;
        out.extend_from_slice(&self.accounts[row.account.index()]);
        out.push(b',');
        write_number(row.number, out);
        let known = [
            Some(timestamps.intended),
            Some(timestamps.noticed),
            sent.then_some(timestamps.assigned),
            sent.then_some(timestamps.sent),
            Some(timestamps.done),
        ];
        for stamp in known {
            out.push(b',');
            if let Some(stamp) = stamp {
                write_micros(stamp.since(block.zero), out);
            }
        }
        let (word, code) = name_and_code(&outcome);
        out.push(b',');
        out.extend_from_slice(word.as_bytes());
        out.push(b',');
        field(escaped(code).as_bytes(), out);
        let RequestWork { rows, bytes_sent, bytes_received, retries, busy_waits: _ } = work;
        for number in [retries.into(), rows, bytes_sent, bytes_received, block.lane.into()] {
            out.push(b',');
            write_number(number, out);
        }
    }

    /// Appends the five columns of dbbench's file.
    fn append_stats(&self, row: &OpRow, zero: Stamp, out: &mut Vec<u8>) {
        let Sample { timestamps, sent: _, outcome: _, work } = row.sample;
        out.extend_from_slice(&self.accounts[row.account.index()]);
        let start = timestamps.intended.since(zero).0 / 1_000;
        let response = timestamps.response().0 / 1_000;
        for number in [start, response, work.rows, u64::from(row.failed)] {
            out.push(b',');
            write_number(number, out);
        }
    }
}

/// Returns true if a request has a line in a file of this format.
fn has_line(format: OpFormat, row: &OpRow) -> bool {
    match (format, row.sample.outcome) {
        (OpFormat::Csv, _) | (_, Outcome::Completed | Outcome::Failed(_)) => true,
        (OpFormat::DbbenchStats, Outcome::Rejected | Outcome::Unsent) => false,
    }
}

/// Appends a time in µs with three decimals.
pub(super) fn write_micros(time: Nanos, out: &mut Vec<u8>) {
    write_number(time.0 / 1_000, out);
    let below = time.0 % 1_000;
    out.push(b'.');
    for digit in [below / 100, below / 10 % 10, below % 10] {
        out.push(b'0' + digit as u8);
    }
}

/// Returns the name of an outcome, and its code. An accepted timeout is an accepted error,
/// identified by its code.
fn name_and_code(outcome: &Outcome) -> (&'static str, &str) {
    match outcome {
        Outcome::Completed => ("completed", ""),
        Outcome::Rejected => ("rejected", ""),
        Outcome::Unsent => ("unsent", ""),
        Outcome::Failed(failure) => {
            let word = match failure.accepted {
                true => "accepted-error",
                false if failure.class == Class::Timeout => "timeout",
                false => "error",
            };
            (word, failure.code.as_str())
        }
    }
}

impl fmt::Display for OpLogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, title) = (self.path.display(), self.format.title());
        match self.cause.kind() {
            io::ErrorKind::AlreadyExists => {
                write!(
                    f,
                    "`{path}` exists, and an op-log is never overwritten: name another file with \
                     --op-log, or move that one away"
                )
            }
            _ => write!(
                f,
                "cannot create {title} `{path}`: name a file in a directory that exists, can be \
                 written to and has space"
            ),
        }
    }
}

impl error::Error for OpLogError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self.cause.kind() {
            io::ErrorKind::AlreadyExists => None,
            _ => Some(&self.cause),
        }
    }
}
