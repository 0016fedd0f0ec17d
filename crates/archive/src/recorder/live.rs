//! The latest figures of a run, shared with a display.

use std::sync::{Arc, Mutex, PoisonError};

use record::{Busy, Live};

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
