//! Figures for a display during a run.

use std::sync::{Arc, Mutex, PoisonError};

use base::Nanos;

use crate::delivery::Gauge;
use crate::grid::Interval;

/// The state of the run at the end of the last complete interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// The interval.
    pub interval: Interval,
    /// End of the interval, after time zero.
    pub at: Nanos,
    /// The jobs in the order of the plan.
    pub jobs: Vec<LiveJob>,
}

/// A job in the last complete interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LiveJob {
    /// Rate of requests that came due, per second.
    pub offered_per_s: f64,
    /// Rate of completed requests, per second.
    pub achieved_per_s: f64,
    /// Median response time of the answered requests in its histogram row, if there are any.
    pub p50: Option<Nanos>,
    /// 99th percentile of the same response times.
    pub p99: Option<Nanos>,
    /// Errors since time zero.
    pub errors: u64,
    /// Requests in flight, waiting requests and connections, if every lane reported them.
    pub gauge: Option<Gauge>,
}

/// An observed component and its utilization.
#[derive(Clone, Debug, PartialEq)]
pub struct Busy {
    /// Name of the component, in words.
    pub name: String,
    /// Utilization, 0 to 1.
    pub share: f64,
}

/// A shared view of the latest state. Reading it does not delay the recorder.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    jobs: Arc<Mutex<Option<Arc<Live>>>>,
    busiest: Arc<Mutex<Option<Busy>>>,
}

impl LiveView {
    /// Returns the latest state; `None` before the first interval is complete.
    pub fn latest(&self) -> Option<Arc<Live>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the component with the highest utilization, unless all are idle.
    pub fn busiest(&self) -> Option<Busy> {
        self.busiest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the component with the highest utilization.
    pub fn show_busiest(&self, busiest: Option<Busy>) {
        *self.busiest.lock().unwrap_or_else(PoisonError::into_inner) = busiest;
    }

    pub(super) fn show(&self, live: Live) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(live));
    }
}
