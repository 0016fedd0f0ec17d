//! Failures of `[teardown]`, which do not end an experiment.

use std::error::Error;
use std::sync::{Mutex, PoisonError};

use engine::{Listener, RunEvent};

/// A listener that keeps the failures of a teardown.
#[derive(Default)]
pub(super) struct TeardownFailures(Mutex<Vec<String>>);

impl TeardownFailures {
    /// Returns a sentence for each failure, in order.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for TeardownFailures {
    fn on_event(&self, event: &RunEvent<'_>) {
        let sentence = match event {
            RunEvent::TeardownFailed(failed) => {
                let cause = failed.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("{failed}{cause}")
            }
            RunEvent::TeardownSkipped { from, of } => {
                format!("{} of {of} statements of [teardown] did not run", of - from)
            }
            _ => return,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    }
}
