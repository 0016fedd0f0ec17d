//! Deadlines of connections.

use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Stamp};

/// An instant by which an operation must be finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Stamp);

impl Deadline {
    /// Returns the instant this long from now.
    pub(crate) fn after(span: Nanos) -> Deadline {
        Deadline(Monotonic.now() + span)
    }

    /// Returns the time that is left; `None` if there is none.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = self.0.since(Monotonic.now());
        (left > Nanos::ZERO).then(|| Duration::from_nanos(left.0))
    }
}
