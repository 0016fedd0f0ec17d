//! The latest figures of a run, shared with a display.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use record::{ComponentUtilization, LiveState};

/// A shared view of the latest state. A reader locks it only to copy a pointer or one component, so
/// reading hardly delays the recorder.
#[derive(Clone, Debug, Default)]
pub struct LiveView {
    jobs: Arc<Mutex<Option<Arc<LiveState>>>>,
    busiest: Arc<Mutex<Option<ComponentUtilization>>>,
    counts_times: Arc<AtomicBool>,
}

impl LiveView {
    /// Returns the latest state; `None` before the first interval is complete.
    pub fn latest(&self) -> Option<Arc<LiveState>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the recorder count response times since time zero. Must be called before the outlets
    /// of the lanes are created.
    pub fn count_times(&self) {
        self.counts_times.store(true, Ordering::Relaxed);
    }

    /// Returns true if response times since time zero are counted.
    pub(super) fn counts_times(&self) -> bool {
        self.counts_times.load(Ordering::Relaxed)
    }

    /// Returns the component with the highest utilization; `None` if all are almost idle.
    pub fn busiest(&self) -> Option<ComponentUtilization> {
        self.busiest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the component with the highest utilization.
    pub fn show_busiest(&self, busiest: Option<ComponentUtilization>) {
        *self.busiest.lock().unwrap_or_else(PoisonError::into_inner) = busiest;
    }

    pub(super) fn show(&self, live: LiveState) {
        *self.jobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(live));
    }
}
