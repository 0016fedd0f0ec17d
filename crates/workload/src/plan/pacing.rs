//! When the requests of a job start.

use base::{Nanos, Rate};

use crate::expr::Expr;
use crate::shape::{Recorded, Shape};

/// When requests start (specification, section 4).
#[derive(Clone, Debug, PartialEq)]
pub enum Pacing {
    /// Arrivals by schedule, as many connections as needed: queueing happens in the database.
    Open {
        /// When arrivals fall.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
    },
    /// Arrivals into one queue that is served by a fixed number of workers.
    Queue {
        /// When arrivals fall.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
        /// How many workers serve the queue, one connection each.
        workers: u32,
        /// How many requests may wait; the next is rejected.
        limit: u32,
        /// What that does to the run.
        on_full: OnQueueFull,
    },
    /// Fixed times, not traffic.
    Timetable {
        /// When arrivals fall.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
    },
    /// A fixed number of clients, each with one request at a time.
    Closed {
        /// How many.
        clients: u32,
        /// How long a client pauses between an answer and its next request.
        think: Option<Expr>,
    },
    /// Arrivals at the times of a log, as many connections as needed.
    Replay,
    /// None of its own: the section is part of a mix.
    Part {
        /// The place of the mix among the jobs of the plan.
        of: usize,
        /// What the section is called.
        section: String,
    },
}

/// When arrivals fall after the job's start.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// A Poisson process: independent exponential gaps.
    Poisson(Rate),
    /// Even gaps; the n-th arrival is at ⌊n·10⁹/rate⌋ ns, the first one period after the start.
    Uniform(Rate),
    /// Even gaps of exactly this length, the first after one of them.
    Every(Nanos),
    /// A rate that varies.
    Varying {
        /// How.
        shape: Shape,
        /// A Poisson process of that rate; or its n-th arrival when n are expected.
        arrival: Arrival,
    },
    /// These instants.
    Recorded(Recorded),
}

/// How the arrivals of a rate are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// At random, independently of one another.
    Poisson,
    /// Evenly.
    Uniform,
}

/// What an arrival does that finds its queue full, apart from being rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnQueueFull {
    /// Nothing: the run goes on.
    Reject,
    /// It ends the run, which is then INVALID.
    Stop,
}

impl Schedule {
    /// Arrivals per second between two instants after the job's start, on average.
    pub(super) fn mean_per_s(&self, from: Nanos, until: Option<Nanos>) -> Option<f64> {
        let mean = |arrivals: &dyn Fn(Nanos) -> f64| {
            let until = until.filter(|until| *until > from)?;
            Some((arrivals(until) - arrivals(from)) / (until.saturating_sub(from)).as_secs_f64())
        };
        match self {
            Schedule::Poisson(_) | Schedule::Uniform(_) | Schedule::Every(_) => {
                Some(self.highest_per_s())
            }
            Schedule::Varying { shape, .. } => mean(&|t| shape.expected(t).as_f64()),
            Schedule::Recorded(recorded) => mean(&|t| recorded.before(t) as f64),
        }
    }

    /// When the first arrival is due, since the job's start; `None` where chance or a shape says.
    pub fn first(&self) -> Option<Nanos> {
        match self {
            Schedule::Every(period) => Some(*period),
            Schedule::Uniform(rate) => Some(rate.nth_uniform(1)),
            Schedule::Recorded(Recorded(times)) => times.first().copied(),
            Schedule::Poisson(_) | Schedule::Varying { .. } => None,
        }
    }

    /// Arrivals per second: of a rate that varies the highest, of recorded instants those of the
    /// busiest second.
    pub fn highest_per_s(&self) -> f64 {
        match self {
            Schedule::Poisson(rate) | Schedule::Uniform(rate) => rate.as_f64(),
            Schedule::Every(period) => 1.0 / period.as_secs_f64(),
            Schedule::Varying { shape, .. } => shape.highest().as_f64(),
            Schedule::Recorded(recorded) => recorded.busiest_second() as f64,
        }
    }

    /// Whether there is a different number of arrivals in one second than in another by intent, not
    /// by chance.
    pub fn varies(&self) -> bool {
        match self {
            Schedule::Poisson(_) | Schedule::Uniform(_) | Schedule::Every(_) => false,
            Schedule::Varying { .. } | Schedule::Recorded(_) => true,
        }
    }
}
