//! Data that a lane of the engine passes to the recorder, once per interval.

use base::{AccountId, Class, Code, Nanos};

use crate::grid::Interval;
use crate::op_log::OpSink;
use crate::statement_set::StatementSet;
use crate::tally::{Sample, Tally};

/// The arrivals of one account in one interval on one lane, and the requests of the account with
/// both intended start and end in that interval. Arrivals and requests that the lane counted after
/// the interval are in a [`LateBatch`] instead.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The account to which the requests belong: a job, a part of a mix, or a job at one server.
    pub account: AccountId,
    /// The interval of the arrivals, the intended starts and the ends.
    pub interval: Interval,
    /// Counts and histograms of the arrivals and requests.
    pub tally: Tally,
}

/// Arrivals and requests that do not fit the current cell of a lane, because an intended start or
/// an end is not in the current interval. Most of them are requests that ended in a later interval
/// than the one in which they were intended to start.
#[derive(Clone, Debug, Default)]
pub struct LateBatch {
    arrivals: Vec<(AccountId, Interval)>,
    requests: Vec<LateRequest>,
    statements: Vec<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct LateRequest {
    account: AccountId,
    start: Interval,
    end: Interval,
    sample: Sample,
    statements: usize,
}

/// A request whose intended start or end was not in the current interval of its lane.
#[derive(Clone, Copy, Debug)]
pub struct LateAnswer<'a> {
    /// The account to which the request belongs.
    pub account: AccountId,
    /// The interval of the request's intended start.
    pub start: Interval,
    /// The interval in which the request's end counts.
    pub end: Interval,
    /// The timestamps, outcome and work of the request.
    pub sample: &'a Sample,
    /// The service times of the request's statements, in order. [`UNANSWERED`](crate::UNANSWERED)
    /// stands for a statement that failed without ending the request.
    pub statements: &'a [Nanos],
}

impl LateBatch {
    /// The number of requests, or of arrivals, at which a `LateBatch` is full and is delivered.
    pub const CAPACITY: usize = 1_024;

    /// Creates an empty `LateBatch` with room for [`LateBatch::CAPACITY`] requests.
    pub fn new() -> LateBatch {
        LateBatch {
            arrivals: Vec::with_capacity(LateBatch::CAPACITY),
            requests: Vec::with_capacity(LateBatch::CAPACITY),
            statements: Vec::with_capacity(4 * LateBatch::CAPACITY),
        }
    }

    /// Adds an arrival that was due in `interval`, before the lane's current interval.
    pub(crate) fn push_arrival(&mut self, account: AccountId, interval: Interval) {
        self.arrivals.push((account, interval));
    }

    pub(crate) fn push(&mut self, late: &LateAnswer<'_>) {
        let LateAnswer { account, start, end, sample, statements } = *late;
        let sample = *sample;
        self.requests.push(LateRequest {
            account,
            start,
            end,
            sample,
            statements: statements.len(),
        });
        self.statements.extend_from_slice(statements);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.arrivals.len() >= LateBatch::CAPACITY || self.requests.len() >= LateBatch::CAPACITY
    }

    /// Returns true if there are neither arrivals nor requests.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.requests.is_empty()
    }

    /// Removes all arrivals and requests without freeing the memory.
    pub fn reset(&mut self) {
        self.arrivals.clear();
        self.requests.clear();
        self.statements.clear();
    }

    /// Returns the account and the interval of the intended start of each late arrival.
    pub fn arrivals(&self) -> impl Iterator<Item = (AccountId, Interval)> {
        self.arrivals.iter().copied()
    }

    /// Returns the requests, in the order in which they were added.
    pub fn requests(&self) -> impl Iterator<Item = LateAnswer<'_>> {
        let mut rest = self.statements.as_slice();
        self.requests.iter().map(move |late| {
            let LateRequest { account, start, end, sample, statements } = late;
            let (statements, tail) = rest.split_at(*statements);
            rest = tail;
            LateAnswer { account: *account, start: *start, end: *end, sample, statements }
        })
    }
}

/// The state of a job on one lane at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Number of requests in flight.
    pub in_flight: u64,
    /// Number of requests that are waiting for a worker or a connection.
    pub queued: u64,
    /// Number of open connections.
    pub connections: u64,
}

impl Gauge {
    /// Adds the gauge of the same job on another lane.
    pub fn merge(&mut self, other: &Gauge) {
        let Gauge { in_flight, queued, connections } = other;
        self.in_flight += in_flight;
        self.queued += queued;
        self.connections += connections;
    }
}

/// An event that concerns the run, a target or a job, rather than one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time of the event, since time zero.
    pub at: Nanos,
    /// Account of the job or part that the event concerns; `None` if the event concerns the whole
    /// run or a target.
    pub account: Option<AccountId>,
    /// Kind of the event.
    pub kind: EventKind,
    /// Error that the event reports; `None` if it reports none.
    pub error: Option<EventError>,
    /// Details in words, for readers.
    pub text: String,
}

/// The error that an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventError {
    /// Class of the error.
    pub class: Class,
    /// Error code of the database, or one of Assay's own.
    pub code: Code,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// The target, or one of its servers, began to refuse connections.
    OutageBegan,
    /// The target, or the server that refused connections, accepted a connection again.
    OutageEnded,
    /// The target accepts fewer connections than requested.
    ConnectionLimit,
    /// A request of a job was rejected for the first time on one lane, because the queue was full.
    /// With `on-queue-full = stop`, the run ends.
    QueueFull,
    /// An error code occurred for the first time in a job or part, on one lane. The text of the
    /// event is the message of the error.
    FirstError,
    /// An error of a job or part with `on-error = stop` ended the run.
    StoppedByError,
    /// The user interrupted the run.
    Interrupted,
    /// The recorder could not keep up, or could not write the record.
    RecorderFailed,
    /// A file of the workload could no longer be read or written, had no input for requests that
    /// waited for it, or is a log that was not read to the last line that was due.
    FileFailed,
    /// An input that was read from a pipe ended within a line or within a request.
    FileCutOff,
    /// The input file of a part of a mix was exhausted, which ended the mix.
    FileExhausted,
    /// The op-log lacks some requests of the run.
    OpLogIncomplete,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [EventKind; 12] = [
        EventKind::OutageBegan,
        EventKind::OutageEnded,
        EventKind::ConnectionLimit,
        EventKind::QueueFull,
        EventKind::FirstError,
        EventKind::StoppedByError,
        EventKind::Interrupted,
        EventKind::RecorderFailed,
        EventKind::FileFailed,
        EventKind::FileCutOff,
        EventKind::FileExhausted,
        EventKind::OpLogIncomplete,
    ];

    /// Returns the name of this kind in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::OutageBegan => "outage-began",
            EventKind::OutageEnded => "outage-ended",
            EventKind::ConnectionLimit => "connection-limit",
            EventKind::QueueFull => "queue-full",
            EventKind::FirstError => "first-error",
            EventKind::StoppedByError => "stopped-by-error",
            EventKind::Interrupted => "interrupted",
            EventKind::RecorderFailed => "recorder-failed",
            EventKind::FileFailed => "file-failed",
            EventKind::FileCutOff => "file-cut-off",
            EventKind::FileExhausted => "file-exhausted",
            EventKind::OpLogIncomplete => "op-log-incomplete",
        }
    }

    /// Returns the kind with this name; `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A message from a lane to the recorder.
#[derive(Debug)]
pub enum Delivery {
    /// The cell of one account for an interval that has ended on the lane.
    Cell(Box<Cell>),
    /// Arrivals and requests that did not fit a cell.
    Late(Box<LateBatch>),
    /// The state of every job and part on the lane at the end of an interval.
    Gauges {
        /// The number of the lane.
        lane: u16,
        /// The interval that has ended.
        interval: Interval,
        /// The gauges of the plan's jobs and parts, in the order of their accounts. Those of a part
        /// are zero: a part has no queue and no connections of its own.
        gauges: Vec<Gauge>,
    },
    /// An event.
    Event(Event),
    /// For each account, the statements that returned or changed a row on the lane. Sent once, when
    /// the lane ends.
    WithRows(Vec<StatementSet>),
}

/// Memory that is returned to a lane for reuse.
#[derive(Debug)]
pub enum Returned {
    /// An empty cell.
    Cell(Box<Cell>),
    /// An empty `LateBatch`.
    Late(Box<LateBatch>),
}

/// A lane's connection to the recorder. In real time, its methods must never block.
pub trait Outlet {
    /// Passes a message to the recorder.
    fn deliver(&mut self, delivery: Delivery);

    /// Takes memory that the recorder has returned for reuse; `None` if there is none.
    fn take_returned(&mut self) -> Option<Returned>;

    /// Returns true if the record can no longer be written, so the run must end.
    fn is_broken(&self) -> bool;

    /// Returns the lane's sink for the rows of the op-log, if there is an op-log. Called once.
    fn ops(&mut self) -> Option<Box<dyn OpSink + Send>> {
        None
    }
}

impl<O: Outlet + ?Sized> Outlet for Box<O> {
    fn deliver(&mut self, delivery: Delivery) {
        (**self).deliver(delivery);
    }

    fn take_returned(&mut self) -> Option<Returned> {
        (**self).take_returned()
    }

    fn is_broken(&self) -> bool {
        (**self).is_broken()
    }

    fn ops(&mut self) -> Option<Box<dyn OpSink + Send>> {
        (**self).ops()
    }
}
