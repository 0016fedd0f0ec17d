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

/// Where the latest picture hangs. Looking at it costs nobody else anything.
#[derive(Clone, Debug, Default)]
pub struct LiveView(Arc<Mutex<Option<Arc<Live>>>>);

impl LiveView {
    /// The latest picture; `None` before the first interval is complete.
    pub fn latest(&self) -> Option<Arc<Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn show(&self, live: Live) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(live));
    }
}
