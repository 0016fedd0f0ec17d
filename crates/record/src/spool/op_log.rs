//! The op-log: one row per request, for those who want to look at each of them.
//!
//! A lane fills rows of a fixed size into a block of its own, which allocates nothing and waits for
//! nobody. When the writer cannot keep up, rows are dropped and counted; in virtual time the lane
//! waits instead, so that one seed gives one file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{error, fmt};

use base::units::grouped;
use base::{Class, Nanos, Stamp, escaped};

use super::csv::{field, natural};
use super::sink::{FileHealth, Sink, Unwritten, create};
use super::{Block, Hand, Room, Spool};
use crate::balance::Outcome;
use crate::delivery::{Delivery, JobIndex, Outlet, Returned};
use crate::facts::Pace;
use crate::tally::{Effort, Sample};

/// How many rows a lane collects before it hands them over.
pub(super) const ROWS: usize = 1_024;

/// How many blocks all lanes have together beside those that they fill: the writer may lag a
/// quarter of a million requests behind.
pub(super) const BLOCKS: usize = 256;

/// The first line of the format `Csv`.
const HEADER: &str = "job,number,intended_us,noticed_us,assigned_us,sent_us,done_us,outcome,code,\
                      retries,rows,bytes_sent,bytes_received,lane";

/// How requests are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpFormat {
    /// A header and every column, times in µs with three decimals; the file must not exist.
    Csv,
    /// What dbbench's `--query-stats-file` holds: no header; the job, the intended start after time
    /// zero and the response time, both in whole µs, the rows, and how many statements failed. A
    /// request that was rejected or stayed unsent has no row, as no query was made for it. A file
    /// that exists is written anew.
    DbbenchStats,
}

impl OpFormat {
    /// Every format.
    pub const ALL: [OpFormat; 2] = [OpFormat::Csv, OpFormat::DbbenchStats];

    /// Its name in a record.
    pub fn name(self) -> &'static str {
        match self {
            OpFormat::Csv => "csv",
            OpFormat::DbbenchStats => "dbbench-stats",
        }
    }

    /// The option that asks for the file, as its user knows it.
    pub fn option(self) -> &'static str {
        match self {
            OpFormat::Csv => "op-log",
            OpFormat::DbbenchStats => "query-stats-file",
        }
    }

    /// What its user calls the file.
    pub fn title(self) -> &'static str {
        match self {
            OpFormat::Csv => "the op-log",
            OpFormat::DbbenchStats => "the file of --query-stats-file",
        }
    }
}

/// What an op-log is to be.
#[derive(Clone, Debug)]
pub struct OpLogPlan {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: OpFormat,
}

/// Why there is no op-log.
#[derive(Debug)]
pub struct OpLogError {
    path: PathBuf,
    format: OpFormat,
    cause: io::Error,
}

/// What came of an op-log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLogTold {
    /// Its format.
    pub format: OpFormat,
    /// How many rows are in the file.
    pub rows: u64,
    /// How many are not.
    pub dropped: u64,
    /// Why the file could not be written any more, if that is why.
    pub failure: Option<String>,
}

/// An op-log that is being written.
pub struct OpLog {
    plan: OpLogPlan,
    pace: Pace,
    spool: Spool<OpBlock>,
    hand: Hand<OpBlock>,
    counts: Arc<OpCounts>,
}

#[derive(Default)]
struct OpCounts {
    /// Rows that a lane dropped.
    dropped: AtomicU64,
    /// Rows that reached the writer.
    taken: AtomicU64,
    /// Lines before the first of them.
    header: AtomicU64,
}

/// A lane's hand on the op-log.
pub struct OpLane {
    hand: Hand<OpBlock>,
    pace: Pace,
    block: OpBlock,
    dropped: u64,
    counts: Arc<OpCounts>,
}

/// Some requests of one lane, in the order in which they were settled.
struct OpBlock {
    lane: u16,
    /// Time zero.
    zero: Stamp,
    rows: Vec<OpRow>,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpRow {
    pub(crate) job: JobIndex,
    pub(crate) number: u64,
    pub(crate) sample: Sample,
    /// How many of its statements failed.
    pub(crate) failed: u32,
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

impl OpLogTold {
    /// What is missing in the file, in a sentence, if something is.
    pub fn loss(&self) -> Option<String> {
        let OpLogTold { format, rows, dropped, failure } = self;
        if *dropped == 0 && failure.is_none() {
            return None;
        }
        let all = grouped(rows + dropped);
        let why = match failure {
            Some(failure) => format!("it could not be written any longer: {failure}"),
            None => "its writer could not keep up".to_owned(),
        };
        let (lost, title) = (grouped(*dropped), format.title());
        Some(format!("{lost} of {all} requests are missing in {title}: {why}"))
    }
}

impl OpLog {
    /// Creates the file and starts its writer. `jobs` are the names of the jobs.
    ///
    /// # Errors
    /// There is such a file already and the format does not overwrite it, or none can be made.
    pub fn create(plan: &OpLogPlan, jobs: &[&str], pace: Pace) -> Result<OpLog, OpLogError> {
        let path = plan.path.as_path();
        let file = match plan.format {
            OpFormat::Csv => File::create_new(path),
            OpFormat::DbbenchStats => create(path),
        };
        let failed = |cause| OpLogError { path: path.to_owned(), format: plan.format, cause };
        let file = Box::new(file.map_err(failed)?);
        OpLog::start(file, plan, jobs, pace).map_err(failed)
    }

    /// Starts the writer of a file that was created.
    pub(super) fn start(
        file: Box<dyn Write + Send>,
        plan: &OpLogPlan,
        jobs: &[&str],
        pace: Pace,
    ) -> io::Result<OpLog> {
        let counts = Arc::new(OpCounts::default());
        let mut sink = Sink::new(file, FileHealth::default());
        if plan.format == OpFormat::Csv {
            sink.buffer().extend_from_slice(HEADER.as_bytes());
            sink.line();
            counts.header.store(1, Ordering::Relaxed);
        }
        let mut pen = Pen::new(plan.format, jobs, Arc::clone(&counts));
        let room = Room { blocks: BLOCKS, weight: usize::MAX };
        let append = move |block: &OpBlock, sink: &mut Sink| pen.append(block, sink);
        let (spool, hand) = Spool::start(sink, room, OpBlock::new, append)?;
        Ok(OpLog { plan: plan.clone(), pace, spool, hand, counts })
    }

    /// The hand of a lane.
    pub fn lane(&self, lane: u16) -> OpLane {
        OpLane {
            hand: self.hand.clone(),
            pace: self.pace,
            block: OpBlock { lane, ..OpBlock::new() },
            dropped: 0,
            counts: Arc::clone(&self.counts),
        }
    }

    /// Waits until every lane has ended and everything is written, but not for a file that does not
    /// grow any more, and only while `waits` says so.
    pub fn finish(self, waits: impl FnMut() -> bool) -> OpLogTold {
        let OpLog { plan, pace: _, spool, hand, counts } = self;
        drop(hand);
        let written = spool.finish(waits);
        let rows = written.lines.saturating_sub(counts.header.load(Ordering::Relaxed));
        let taken = counts.taken.load(Ordering::Relaxed);
        let dropped = counts.dropped.load(Ordering::Relaxed) + taken.saturating_sub(rows);
        let said = |failure: Unwritten| format!("{} after {} bytes", failure.cause, written.bytes);
        OpLogTold { format: plan.format, rows, dropped, failure: written.failure.map(said) }
    }

    /// Removes the file, for runs that end before anything was measured. A pipe, a device or a link
    /// was not made by the run.
    pub fn discard(self) {
        let path = self.plan.path.clone();
        self.finish(|| true);
        if fs::symlink_metadata(&path).is_ok_and(|file| file.is_file()) {
            // A file that cannot be removed is empty, and says as little.
            let _ = fs::remove_file(path);
        }
    }
}

impl OpLane {
    /// Time zero is at `zero`.
    pub(crate) fn begin(&mut self, zero: Stamp) {
        self.block.zero = zero;
    }

    /// Notes a request.
    #[inline]
    pub(crate) fn push(&mut self, row: OpRow) {
        if self.block.rows.len() == ROWS && !self.hand_over() {
            self.dropped += 1;
            return;
        }
        self.block.rows.push(row);
    }

    /// Hands over what there is; false if the writer has no room for it.
    #[cold]
    pub(crate) fn hand_over(&mut self) -> bool {
        if self.block.rows.is_empty() {
            return true;
        }
        let (lane, zero) = (self.block.lane, self.block.zero);
        let was_taken = match self.pace {
            Pace::Real => self.hand.try_swap(&mut self.block),
            Pace::Virtual => {
                self.hand.swap(&mut self.block);
                true
            }
        };
        (self.block.lane, self.block.zero) = (lane, zero);
        was_taken
    }
}

/// The lane has ended. It waits for room for its last rows: nothing is measured any more.
impl Drop for OpLane {
    fn drop(&mut self) {
        if !self.block.rows.is_empty() {
            self.hand.swap(&mut self.block);
        }
        self.counts.dropped.fetch_add(self.dropped, Ordering::Relaxed);
    }
}

/// An outlet whose lane has an op-log.
pub struct Logged<O> {
    outlet: O,
    ops: Option<OpLane>,
}

impl<O> Logged<O> {
    /// The outlet with an op-log beside it.
    pub fn new(outlet: O, ops: OpLane) -> Logged<O> {
        Logged { outlet, ops: Some(ops) }
    }
}

impl<O: Outlet> Outlet for Logged<O> {
    fn deliver(&mut self, delivery: Delivery) {
        self.outlet.deliver(delivery);
    }

    fn returned(&mut self) -> Option<Returned> {
        self.outlet.returned()
    }

    fn is_broken(&self) -> bool {
        self.outlet.is_broken()
    }

    fn ops(&mut self) -> Option<OpLane> {
        self.ops.take()
    }
}

/// What turns rows into lines.
struct Pen {
    format: OpFormat,
    /// The names of the jobs, quoted where they need it.
    jobs: Vec<Vec<u8>>,
    counts: Arc<OpCounts>,
}

impl Pen {
    fn new(format: OpFormat, jobs: &[&str], counts: Arc<OpCounts>) -> Pen {
        let quoted = |name: &&str| {
            let mut quoted = Vec::new();
            field(escaped(name).as_bytes(), &mut quoted);
            quoted
        };
        Pen { format, jobs: jobs.iter().map(quoted).collect(), counts }
    }

    fn append(&mut self, block: &OpBlock, sink: &mut Sink) {
        let mut lines = 0;
        for row in &block.rows {
            let is_line = match self.format {
                OpFormat::Csv => {
                    self.append_all(row, block, sink.buffer());
                    true
                }
                OpFormat::DbbenchStats => self.append_stats(row, block.zero, sink.buffer()),
            };
            if is_line {
                sink.line();
                lines += 1;
            }
        }
        self.counts.taken.fetch_add(lines, Ordering::Relaxed);
    }

    fn append_all(&self, row: &OpRow, block: &OpBlock, out: &mut Vec<u8>) {
        let Sample { life, sent, outcome, effort } = row.sample;
        out.extend_from_slice(&self.jobs[usize::from(row.job.0)]);
        out.push(b',');
        natural(row.number, out);
        let known = [
            Some(life.intended),
            Some(life.noticed),
            sent.then_some(life.assigned),
            sent.then_some(life.sent),
            Some(life.done),
        ];
        for stamp in known {
            out.push(b',');
            if let Some(stamp) = stamp {
                micros(stamp.since(block.zero), out);
            }
        }
        let (word, code) = described(&outcome);
        out.push(b',');
        out.extend_from_slice(word.as_bytes());
        out.push(b',');
        field(escaped(code).as_bytes(), out);
        let Effort { rows, bytes_sent, bytes_received, retries, busy_waits: _ } = effort;
        for number in [retries.into(), rows, bytes_sent, bytes_received, block.lane.into()] {
            out.push(b',');
            natural(number, out);
        }
    }

    /// Appends the five columns of dbbench's file, if there is a row for this request.
    fn append_stats(&self, row: &OpRow, zero: Stamp, out: &mut Vec<u8>) -> bool {
        let Sample { life, sent: _, outcome, effort } = row.sample;
        match outcome {
            Outcome::Completed | Outcome::Failed(_) => {}
            Outcome::Rejected | Outcome::Unsent => return false,
        }
        out.extend_from_slice(&self.jobs[usize::from(row.job.0)]);
        let start = life.intended.since(zero).0 / 1_000;
        let response = life.response().0 / 1_000;
        for number in [start, response, effort.rows, u64::from(row.failed)] {
            out.push(b',');
            natural(number, out);
        }
        true
    }
}

/// A time in µs, to the nanosecond.
pub(super) fn micros(time: Nanos, out: &mut Vec<u8>) {
    natural(time.0 / 1_000, out);
    let below = time.0 % 1_000;
    out.push(b'.');
    for digit in [below / 100, below / 10 % 10, below % 10] {
        out.push(b'0' + digit as u8);
    }
}

/// The word for an outcome, and its code. An accepted timeout is an accepted error: its code tells.
fn described(outcome: &Outcome) -> (&'static str, &str) {
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
                "cannot create {title} `{path}`: name a file in a directory that exists and \
                 can be written"
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
