//! What a record holds, as far as judgements need it.

use std::ops::Range;

use base::{Class, Code, Nanos};
use hdrhistogram::Histogram;
use record::{Counts, Ends, Event, Kind};
use workload::Plan;

use crate::account::Account;
use crate::distribution::Distribution;
use crate::phases::Disturbance;
use crate::responses::Responses;
use crate::steps::Steps;
use crate::surroundings::Surroundings;
use crate::warmup::WarmupEnd;

/// A run as its record tells it.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What was to be done.
    pub plan: Plan,
    /// The reason why the record's own plan could not be used, if it could not: it is unreadable,
    /// or its jobs are not those of the record. Then `plan` is made from the jobs of the record.
    pub unread_plan: Option<String>,
    /// Whether time was simulated.
    pub is_virtual: bool,
    /// How many lanes the measured phase had.
    pub threads: u16,
    /// Whether their threads spin instead of sleeping.
    pub spins: bool,
    /// What is known of the end of its warm-up.
    pub warmup: WarmupEnd,
    /// The steps that it is divided into, up to its end.
    pub steps: Steps,
    /// How the run ended; `None` if it was killed.
    pub ended: Option<HowEnded>,
    /// The jobs in the plan's order.
    pub jobs: Vec<JobEvidence>,
    /// The jobs at each server of targets that are several.
    pub nodes: Vec<NodeEvidence>,
    /// The jobs that come and go, with what the others' requests took meanwhile.
    pub disturbances: Vec<Disturbance>,
    /// What happened.
    pub events: Vec<Event>,
    /// What the generator used.
    pub client: Vec<ClientSample>,
    /// The tables that were filled.
    pub loads: Vec<LoadEvidence>,
    /// What was watched beside the requests; nothing in virtual time.
    pub observed: Vec<Observed>,
    /// What could not be observed, and why.
    pub unseen: Vec<(String, String)>,
    /// Where it took place.
    pub surroundings: Surroundings,
    /// What the server counted by itself.
    pub account: Account,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
    /// Its duration was over, or its jobs had made their requests.
    Completed,
    /// The user ended it.
    Interrupted,
    /// An error of a job with `on-error = stop` ended it.
    StoppedByError,
    /// The record could not be kept any longer.
    RecorderFailed,
    /// The target was not reachable any more at the end.
    TargetLost,
    /// A file that a job reads or writes could not be read or written any longer.
    FileFailed,
    /// The queue of a job with `on-queue-full = stop` was full.
    QueueFull,
    /// A mistake in the program that ran it: something panicked.
    InternalError,
}

/// One job.
#[derive(Clone, Debug)]
pub struct JobEvidence {
    /// What came of its steps, from the first; steps in which nothing happened may be missing at
    /// the end.
    pub steps: Vec<Step>,
    /// The distributions of the window.
    pub window: Vec<(Kind, Histogram<u64>)>,
    /// The response times of the window as estimates, with what chance may do to them.
    pub estimates: Responses,
    /// The response times of each probe: consecutive parts of the window.
    pub probes: Vec<(Range<usize>, Distribution)>,
    /// The same in at most [`ROWS`] parts: of a few probes each, by their merged histograms.
    pub course: Vec<(Range<usize>, Distribution)>,
    /// The same in parts of one length, as many as [`Steps::parts`] makes, by which a steady state
    /// is told from a change.
    pub parts: Vec<(Range<usize>, Distribution)>,
    /// The errors of the window.
    pub failures: Vec<(Class, Code, u64)>,
}

/// A job at one of several servers: its requests that were sent there.
#[derive(Clone, Debug)]
pub struct NodeEvidence {
    /// The job's place in the plan.
    pub job: usize,
    /// The server's address.
    pub address: String,
    /// What came of them.
    pub requests: JobEvidence,
}

/// The most parts that the course of a window has, so that it can be read as a table.
pub const ROWS: usize = 20;

/// The scalars of a job in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// By intended start.
    pub counts: Counts,
    /// By end.
    pub ends: Ends,
    /// The most connections that were open at the end of an interval, if all lanes said so.
    pub connections: Option<u64>,
}

/// What the generator's process had used by an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientSample {
    /// When, since time zero.
    pub at: Nanos,
    /// Processor time in user mode.
    pub user: Nanos,
    /// Processor time in the kernel.
    pub system: Nanos,
    /// The largest resident memory so far, in bytes.
    pub peak_rss_bytes: u64,
}

/// Something that was watched beside the requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What it is a part of: `host`, `generator`, a thread.
    pub component: String,
    /// Its name there.
    pub metric: String,
    /// When it was read, since time zero, in order, and what it was.
    pub points: Vec<(Nanos, f64)>,
}

impl Observed {
    /// By how much it grew in the window, which need not end with a point: from the last that is
    /// not after its begin to the first that is not before its end. `None` if there are not two.
    pub fn growth(&self, window: &Range<Nanos>) -> Option<Growth> {
        let before = self.points.iter().rev().find(|(at, _)| *at <= window.start);
        let first = before.or(self.points.first())?;
        let last = self.points.iter().find(|(at, _)| *at >= window.end).or(self.points.last())?;
        let span = last.0.saturating_sub(first.0);
        (span > Nanos::ZERO).then_some(Growth { by: last.1 - first.1, span })
    }
}

/// By how much something grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// By so much.
    pub by: f64,
    /// In so long.
    pub span: Nanos,
}

impl Growth {
    /// This and another one after it.
    pub(crate) fn and(self, other: Growth) -> Growth {
        Growth { by: self.by + other.by, span: self.span + other.span }
    }
}

/// A table that was filled.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadEvidence {
    /// The table.
    pub table: String,
    /// How many rows.
    pub rows: u64,
    /// Bytes of values.
    pub bytes: u64,
    /// How long it took.
    pub took: Nanos,
    /// How far it was, over time.
    pub points: Vec<LoadPoint>,
    /// What was watched meanwhile, with instants since it began; nothing in virtual time.
    pub observed: Vec<Observed>,
    /// Sources that could not be observed meanwhile, each with the reason.
    pub unseen: Vec<(String, String)>,
    /// The reason why its rows were inserted although the server has a faster method, with the
    /// remedy.
    pub fallback: Option<String>,
}

/// How far a load was at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadPoint {
    /// Rows so far.
    pub rows: u64,
    /// How long after the load began.
    pub at: Nanos,
    /// Processor time of the generator since the first point, if it was recorded.
    pub client_cpu: Option<Nanos>,
}

impl Evidence {
    /// When the schedule ended, since time zero; of a killed run, when its record ends.
    pub fn end(&self) -> Nanos {
        self.steps.end()
    }

    /// What was watched of a component, if it was.
    pub fn observed(&self, component: &str, metric: &str) -> Option<&Observed> {
        observed(&self.observed, component, metric)
    }

    /// From the end of the warm-up to the end of the schedule.
    pub fn window(&self) -> Range<Nanos> {
        self.steps.warmup()..self.end()
    }

    /// How long the window is.
    pub fn window_length(&self) -> Nanos {
        self.end().saturating_sub(self.steps.warmup())
    }
}

impl LoadEvidence {
    /// What was watched of a component, if it was.
    pub fn observed(&self, component: &str, metric: &str) -> Option<&Observed> {
        observed(&self.observed, component, metric)
    }
}

fn observed<'o>(all: &'o [Observed], component: &str, metric: &str) -> Option<&'o Observed> {
    all.iter().find(|it| it.component == component && it.metric == metric)
}

impl Step {
    /// Adds another part of the same step.
    pub fn merge(&mut self, other: &Step) {
        let Step { counts, ends, connections } = other;
        self.counts.merge(counts);
        self.ends.merge(ends);
        self.connections = self.connections.max(*connections);
    }
}

impl JobEvidence {
    /// Some steps; those that the record does not reach are empty.
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = Step> {
        range.map(|step| self.steps.get(step).copied().unwrap_or_default())
    }

    /// The counts of some steps, by intended start.
    pub fn counts(&self, range: Range<usize>) -> Counts {
        let mut sum = Counts::default();
        self.range(range).for_each(|step| sum.merge(&step.counts));
        sum
    }

    /// The counts of some steps, by end.
    pub fn ends(&self, range: Range<usize>) -> Ends {
        let mut sum = Ends::default();
        self.range(range).for_each(|step| sum.merge(&step.ends));
        sum
    }

    /// Errors of the window with a code.
    pub fn failed_with(&self, code: Code) -> u64 {
        let with_it = self.failures.iter().filter(|(_, known, _)| *known == code);
        with_it.map(|(_, _, count)| count).sum()
    }

    /// A distribution of the window.
    pub fn histogram(&self, kind: Kind) -> Option<&Histogram<u64>> {
        self.window.iter().find(|(k, _)| *k == kind).map(|(_, histogram)| histogram)
    }
}
