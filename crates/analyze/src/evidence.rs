//! What a record holds, as far as judgements need it.

use std::ops::Range;

use base::{Class, Code, Nanos};
use hdrhistogram::Histogram;
use record::{Counts, Ends, Event, Gauge, Grid, Kind};
use workload::Plan;

/// A run as its record tells it.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What was to be done.
    pub plan: Plan,
    /// Whether time was simulated.
    pub is_virtual: bool,
    /// How many lanes the measured phase had.
    pub threads: u16,
    /// Where the intervals lie.
    pub grid: Grid,
    /// How the run ended; `None` if it was killed.
    pub ended: Option<HowEnded>,
    /// When the schedule ended, since time zero; of a killed run, when its record ends.
    pub end: Nanos,
    /// The jobs in the plan's order.
    pub jobs: Vec<JobEvidence>,
    /// What happened.
    pub events: Vec<Event>,
    /// What the generator used.
    pub client: Vec<ClientSample>,
    /// The tables that were filled.
    pub loads: Vec<LoadEvidence>,
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
}

/// One job.
#[derive(Clone, Debug)]
pub struct JobEvidence {
    /// Its intervals from the first.
    pub intervals: Vec<Interval>,
    /// The distributions of the window.
    pub window: Vec<(Kind, Histogram<u64>)>,
    /// The response times of each probe: consecutive parts of the window.
    pub probes: Vec<(Range<record::Interval>, Histogram<u64>)>,
    /// The errors of the window.
    pub failures: Vec<(Class, Code, u64)>,
}

/// The scalars of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// By intended start.
    pub counts: Counts,
    /// By end.
    pub ends: Ends,
    /// What the job looked like as it ended.
    pub gauge: Gauge,
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
    /// The intervals of the window.
    pub fn window(&self) -> Range<record::Interval> {
        let first = self.grid.first_of_window();
        let last = match self.end.0.checked_sub(1) {
            Some(last) if self.end > self.grid.warmup() => {
                self.grid.interval(Nanos(last)).saturating_add(1)
            }
            _ => first,
        };
        first..last.max(first)
    }

    /// How long the window is.
    pub fn window_length(&self) -> Nanos {
        self.end.saturating_sub(self.grid.warmup())
    }
}

impl JobEvidence {
    /// The intervals of a range; those that the record does not reach are empty.
    pub fn range(&self, range: Range<record::Interval>) -> impl Iterator<Item = Interval> {
        range.map(|interval| self.intervals.get(interval as usize).copied().unwrap_or_default())
    }

    /// The counts of a range of intervals, by intended start.
    pub fn counts(&self, range: Range<record::Interval>) -> Counts {
        let mut sum = Counts::default();
        self.range(range).for_each(|interval| sum.merge(&interval.counts));
        sum
    }

    /// The counts of a range of intervals, by end.
    pub fn ends(&self, range: Range<record::Interval>) -> Ends {
        let mut sum = Ends::default();
        self.range(range).for_each(|interval| sum.merge(&interval.ends));
        sum
    }

    /// A distribution of the window.
    pub fn histogram(&self, kind: Kind) -> Option<&Histogram<u64>> {
        self.window.iter().find(|(k, _)| *k == kind).map(|(_, histogram)| histogram)
    }
}
