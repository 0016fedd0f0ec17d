//! Pacing of jobs: models, schedules and arrivals.

use base::{Nanos, Rate};

use crate::expr::Expr;
use crate::shape::{Recorded, Shape};

/// The model that determines when requests start; `docs/models.md` describes the models.
#[derive(Clone, Debug, PartialEq)]
pub enum Pacing {
    /// Arrivals by schedule, as many connections as needed: queueing happens in the database.
    Open {
        /// Times of the arrivals.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
    },
    /// Arrivals into one queue that is served by a fixed number of workers.
    Queue {
        /// Times of the arrivals.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
        /// Number of workers that serve the queue, one connection each.
        workers: u32,
        /// Largest number of waiting requests; further ones are rejected.
        limit: u32,
        /// Effect of a full queue on the run.
        on_full: OnQueueFull,
    },
    /// Arrivals at fixed times, one period apart.
    Timetable {
        /// Times of the arrivals.
        schedule: Schedule,
        /// Requests per arrival.
        batch: u32,
    },
    /// A fixed number of clients, each with one request at a time.
    Closed {
        /// Number of clients.
        clients: u32,
        /// Think time of a client between an answer and its next request.
        think: Option<Expr>,
    },
    /// Arrivals at the times of a query log, as many connections as needed.
    Replay,
}

/// The times of arrivals after the job's start.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// A Poisson process: independent, exponentially distributed times between arrivals.
    Poisson(Rate),
    /// Equal times between arrivals; for n = 1, 2, …, the n-th arrival is ⌊n·10⁹/rate⌋ ns after the
    /// start, so the first one comes after one period.
    Uniform(Rate),
    /// Exactly this time between two arrivals, and between the start and the first arrival.
    Every(Nanos),
    /// A varying rate.
    Varying {
        /// The rate as a function of time.
        shape: Shape,
        /// A Poisson process of the varying rate, or the n-th arrival at the time by which n
        /// arrivals are expected.
        arrival: Arrival,
    },
    /// Recorded instants.
    Recorded(Recorded),
}

/// The distribution of the arrivals of a rate over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// At random, independently of one another.
    Poisson,
    /// Evenly: the n-th arrival is at the time by which n arrivals are expected.
    Uniform,
}

/// The effect on the run of an arrival that is rejected because its queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnQueueFull {
    /// The run continues.
    Reject,
    /// The run ends and is INVALID.
    Stop,
}

impl Schedule {
    /// Returns the mean rate between two instants after the job's start, in arrivals per second;
    /// `None` for a varying rate or recorded instants if there is no end, or no time in between.
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

    /// Returns the time from the job's start to the first arrival; `None` for random or varying
    /// schedules.
    pub fn first(&self) -> Option<Nanos> {
        match self {
            Schedule::Every(period) => Some(*period),
            Schedule::Uniform(rate) => Some(rate.nth_uniform(1)),
            Schedule::Recorded(Recorded(times)) => times.first().copied(),
            Schedule::Poisson(_) | Schedule::Varying { .. } => None,
        }
    }

    /// Returns the highest rate in arrivals per second: of recorded instants, the rate of the
    /// busiest second.
    pub fn highest_per_s(&self) -> f64 {
        match self {
            Schedule::Poisson(rate) | Schedule::Uniform(rate) => rate.as_f64(),
            Schedule::Every(period) => 1.0 / period.as_secs_f64(),
            Schedule::Varying { shape, .. } => shape.highest().as_f64(),
            Schedule::Recorded(recorded) => recorded.busiest_second() as f64,
        }
    }

    /// Returns true if the number of arrivals per second differs over time intentionally, not by
    /// chance.
    pub fn varies(&self) -> bool {
        match self {
            Schedule::Poisson(_) | Schedule::Uniform(_) | Schedule::Every(_) => false,
            Schedule::Varying { .. } | Schedule::Recorded(_) => true,
        }
    }
}
