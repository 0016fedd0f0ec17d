//! A listener to the statements outside of the runs. It notes the end of `[setup]`, after which
//! `[teardown]` may run, and the failures of `[teardown]`, which do not end an experiment.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use base::Class;
use engine::{Listener, RunEvent, RunFailure};
use workload::question::StatementKey;

use super::error::Problem;

/// A failure of a teardown.
pub(super) struct TeardownFailure {
    /// A sentence about the failure.
    pub(super) sentence: String,
    /// The cause of the failure.
    cause: Cause,
}

/// The cause of a failure of a teardown.
enum Cause {
    /// A statement, given by its number from 1, failed or was not answered.
    Statement(usize, driver::Error),
    /// No statement was rejected: the target could not be reached or was lost, or statements were
    /// skipped. The text is the reason.
    Unreachable(String),
}

impl TeardownFailure {
    fn of(failed: &RunFailure) -> TeardownFailure {
        let cause = failed.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        let sentence = format!("{failed}{cause}");
        let cause = match failed {
            RunFailure::Statement { place, error } if error.class() != Class::Disconnect => {
                Cause::Statement(place.statement.unwrap_or_default(), error.clone())
            }
            RunFailure::Statement { error, .. } => Cause::Unreachable(error.to_string()),
            RunFailure::Unreachable(unreachable) => Cause::Unreachable(unreachable.to_string()),
            _ => Cause::Unreachable(sentence.clone()),
        };
        TeardownFailure { sentence, cause }
    }

    /// Returns the problem of an experiment that executes the statements of this key like a
    /// teardown.
    pub(super) fn of_key(self, key: StatementKey) -> Problem {
        match self.cause {
            Cause::Statement(number, error) => Problem::Statement { key, number, error },
            Cause::Unreachable(reason) => Problem::Unreachable(reason),
        }
    }
}

/// A listener to statements outside of the runs.
#[derive(Default)]
pub(super) struct SetupEvents {
    is_set_up: AtomicBool,
    failures: Mutex<Vec<TeardownFailure>>,
}

impl SetupEvents {
    /// Returns true if `[setup]` has ended. Until then, the tables are not torn down, because they
    /// may belong to another user.
    pub(super) fn is_set_up(&self) -> bool {
        self.is_set_up.load(Ordering::Acquire)
    }

    /// Removes and returns the failures of teardowns since the last call, in order.
    pub(super) fn take_failures(&self) -> Vec<TeardownFailure> {
        std::mem::take(&mut *self.failures.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for SetupEvents {
    fn on_event(&self, event: &RunEvent<'_>) {
        let failure = match event {
            RunEvent::SetupDone => return self.is_set_up.store(true, Ordering::Release),
            RunEvent::TeardownFailed(failed) => TeardownFailure::of(failed),
            RunEvent::TeardownSkipped { from, of } => {
                let sentence =
                    format!("{} of {of} statements of [teardown] did not run", of - from);
                TeardownFailure { cause: Cause::Unreachable(sentence.clone()), sentence }
            }
            _ => return,
        };
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
    }
}
