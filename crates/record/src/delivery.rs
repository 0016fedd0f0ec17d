//! What passes from a lane of the engine to whoever keeps the record, once per interval.

use base::Nanos;

use crate::grid::Interval;
use crate::spool::OpLane;
use crate::tally::{Sample, Tally};

/// A job by its place in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobIndex(pub u16);

/// The requests of one job that began and ended in one interval of one lane.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The job.
    pub job: JobIndex,
    /// The interval.
    pub interval: Interval,
    /// Its requests.
    pub tally: Tally,
}

/// Requests whose answers came in a later interval than that of their intended start, one by one.
#[derive(Clone, Debug, Default)]
pub struct LateBatch {
    arrivals: Vec<(JobIndex, Interval)>,
    requests: Vec<LateRequest>,
    statements: Vec<Nanos>,
}

#[derive(Clone, Copy, Debug)]
struct LateRequest {
    job: JobIndex,
    start: Interval,
    end: Interval,
    sample: Sample,
    statements: usize,
}

/// A request with a late answer.
#[derive(Clone, Copy, Debug)]
pub struct Late<'a> {
    /// The job.
    pub job: JobIndex,
    /// The interval of its intended start.
    pub start: Interval,
    /// The interval of its end.
    pub end: Interval,
    /// The request.
    pub sample: &'a Sample,
    /// The service times of its statements.
    pub statements: &'a [Nanos],
}

impl LateBatch {
    /// How many requests or arrivals a batch holds before it is handed over.
    pub const CAPACITY: usize = 1_024;

    /// An empty batch with room for [`LateBatch::CAPACITY`] requests.
    pub fn new() -> LateBatch {
        LateBatch {
            arrivals: Vec::with_capacity(LateBatch::CAPACITY),
            requests: Vec::with_capacity(LateBatch::CAPACITY),
            statements: Vec::with_capacity(4 * LateBatch::CAPACITY),
        }
    }

    /// An arrival that the pacer noticed an interval late.
    pub(crate) fn push_arrival(&mut self, job: JobIndex, interval: Interval) {
        self.arrivals.push((job, interval));
    }

    pub(crate) fn push(&mut self, late: &Late<'_>) {
        let Late { job, start, end, sample, statements } = *late;
        let sample = *sample;
        self.requests.push(LateRequest { job, start, end, sample, statements: statements.len() });
        self.statements.extend_from_slice(statements);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.arrivals.len() >= LateBatch::CAPACITY || self.requests.len() >= LateBatch::CAPACITY
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.requests.is_empty()
    }

    /// Forgets everything and keeps the memory.
    pub fn reset(&mut self) {
        self.arrivals.clear();
        self.requests.clear();
        self.statements.clear();
    }

    /// The late arrivals, with the interval of their intended start.
    pub fn arrivals(&self) -> impl Iterator<Item = (JobIndex, Interval)> {
        self.arrivals.iter().copied()
    }

    /// The late requests.
    pub fn requests(&self) -> impl Iterator<Item = Late<'_>> {
        let mut rest = self.statements.as_slice();
        self.requests.iter().map(move |late| {
            let LateRequest { job, start, end, sample, statements } = late;
            let (statements, tail) = rest.split_at(*statements);
            rest = tail;
            Late { job: *job, start: *start, end: *end, sample, statements }
        })
    }
}

/// What a job of a lane looked like at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Requests under way.
    pub in_flight: u64,
    /// Requests that wait for a worker.
    pub queued: u64,
    /// Connections that are open.
    pub connections: u64,
}

impl Gauge {
    /// Adds another lane's part of the same job.
    pub fn merge(&mut self, other: &Gauge) {
        let Gauge { in_flight, queued, connections } = other;
        self.in_flight += in_flight;
        self.queued += queued;
        self.connections += connections;
    }
}

/// Something that happened to the run and not to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, since time zero.
    pub at: Nanos,
    /// The job that it is about, if it is about one.
    pub job: Option<JobIndex>,
    /// What.
    pub kind: EventKind,
    /// The details in words.
    pub text: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// The target refused connections from here on.
    OutageBegan,
    /// The target accepted connections again.
    OutageEnded,
    /// The target accepts fewer connections than were asked for.
    ConnectionLimit,
    /// A queue was full: arrivals are rejected from here on.
    QueueFull,
    /// An error code was seen for the first time; the text is the database's.
    FirstError,
    /// An error ended the run because its job says `on-error = stop`.
    StoppedByError,
    /// The user ended the run.
    Interrupted,
    /// The record could not keep up or could not be written.
    RecorderFailed,
    /// A file that the workload reads or writes could not be read or written any longer.
    FileFailed,
    /// What came through a pipe may have been cut off at its end.
    FileCutOff,
    /// A file of one part of a mix had no record left, which ended the mix.
    FileExhausted,
    /// Requests of the run are missing in its op-log.
    OpLogIncomplete,
}

impl EventKind {
    /// Every kind.
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

    /// The word for this kind in records and reports.
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

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One thing that a lane hands over.
#[derive(Debug)]
pub enum Delivery {
    /// A finished interval of one job.
    Cell(Box<Cell>),
    /// Requests with late answers.
    Late(Box<LateBatch>),
    /// What every job of the lane looked like as the interval ended.
    Gauges {
        /// The lane.
        lane: u16,
        /// The interval.
        interval: Interval,
        /// One gauge per job of the plan.
        gauges: Vec<Gauge>,
    },
    /// Something that happened.
    Event(Event),
}

/// What comes back to a lane, to be used again.
#[derive(Debug)]
pub enum Returned {
    /// A cell, reset.
    Cell(Box<Cell>),
    /// A batch, reset.
    Late(Box<LateBatch>),
}

/// Where a lane hands over its part of the record. It must never make a real-time lane wait.
pub trait Outlet {
    /// Takes what the lane hands over.
    fn deliver(&mut self, delivery: Delivery);

    /// Something to be used again, if there is any.
    fn returned(&mut self) -> Option<Returned>;

    /// Whether the record can no longer be kept, so that the run must end.
    fn is_broken(&self) -> bool;

    /// The lane's hand on the op-log, if there is one. Asked for once.
    fn ops(&mut self) -> Option<OpLane> {
        None
    }
}

impl<O: Outlet + ?Sized> Outlet for Box<O> {
    fn deliver(&mut self, delivery: Delivery) {
        (**self).deliver(delivery);
    }

    fn returned(&mut self) -> Option<Returned> {
        (**self).returned()
    }

    fn is_broken(&self) -> bool {
        (**self).is_broken()
    }

    fn ops(&mut self) -> Option<OpLane> {
        (**self).ops()
    }
}
