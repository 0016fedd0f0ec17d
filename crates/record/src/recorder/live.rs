//! What a display shows while the run goes.

use std::sync::{Arc, Mutex, PoisonError};

use base::Nanos;

use crate::delivery::Gauge;
use crate::grid::Interval;

/// The run as the last complete interval left it.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// The interval.
    pub interval: Interval,
    /// When it ended, after time zero.
    pub at: Nanos,
    /// The jobs in the order of the plan.
    pub jobs: Vec<LiveJob>,
}

/// A job in the last complete interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveJob {
    /// Requests that came due, per second.
    pub offered_per_s: f64,
    /// Requests that were completed, per second.
    pub achieved_per_s: f64,
    /// The median response time of the requests of its histogram row that have been answered, if
    /// any has.
    pub p50: Option<Nanos>,
    /// Their 99th percentile.
    pub p99: Option<Nanos>,
    /// Errors since time zero.
    pub errors: u64,
    /// Requests in flight and waiting, and connections, if every lane said so.
    pub gauge: Option<Gauge>,
}

/// A component that is observed, and how much of its time it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// Which, in words.
    pub name: String,
    /// The part of its time, 0 to 1.
    pub share: f64,
}

/// Where the latest picture hangs. Looking at it costs nobody else anything.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    jobs: Arc<Mutex<Option<Arc<Live>>>>,
    busiest: Arc<Mutex<Option<Busy>>>,
}

impl LiveView {
    /// The latest picture; `None` before the first interval is complete.
    pub fn latest(&self) -> Option<Arc<Live>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The component with the least time to spare, if any has anything to do.
    pub fn busiest(&self) -> Option<Busy> {
        self.busiest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says which component has the least time to spare.
    pub fn show_busiest(&self, busiest: Option<Busy>) {
        *self.busiest.lock().unwrap_or_else(PoisonError::into_inner) = busiest;
    }

    pub(super) fn show(&self, live: Live) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(live));
    }
}
