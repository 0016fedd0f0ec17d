//! The end of `[setup]`, after which `[teardown]` may run, and the failures of the latter, which do
//! not end an experiment.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{Listener, RunEvent};

/// A listener to statements beside the runs.
#[derive(Default)]
pub(super) struct AsideEvents {
    is_set_up: AtomicBool,
    failures: Mutex<Vec<String>>,
}

impl AsideEvents {
    /// Returns true if `[setup]` has ended. What it did not make may belong to another user, and is
    /// not torn down.
    pub(super) fn is_set_up(&self) -> bool {
        self.is_set_up.load(Ordering::Acquire)
    }

    /// Returns a sentence for each failure of a teardown, in order.
    pub(super) fn take_failures(&self) -> Vec<String> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for AsideEvents {
    fn on_event(&self, event: &RunEvent<'_>) {
        let sentence = match event {
            RunEvent::SetupDone => return self.is_set_up.store(true, Ordering::Release),
            RunEvent::TeardownFailed(failed) => {
                let cause = failed.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                format!("{failed}{cause}")
            }
            RunEvent::TeardownSkipped { from, of } => {
                format!("{} of {of} statements of [teardown] did not run", of - from)
            }
            _ => return,
        };
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    }
}
