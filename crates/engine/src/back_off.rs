//! Pauses after failed attempts to connect.

use base::Nanos;

/// The pause after the first failure.
pub(crate) const FIRST_PAUSE: Nanos = Nanos::from_millis(50);

/// The longest pause between two attempts.
pub(crate) const LONGEST_PAUSE: Nanos = Nanos::from_secs(1);

/// Pause of a closed job's client after a request that could not open its own connection. Without
/// a pause, the client would send refused requests in a tight loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackOff(Nanos);

impl BackOff {
    /// Returns the pause before the next request: zero if the last request got a connection.
    pub(crate) fn pause(self) -> Nanos {
        self.0
    }

    /// Returns the back-off after one more refusal: twice as long, from [`FIRST_PAUSE`] to
    /// [`LONGEST_PAUSE`].
    pub(crate) fn longer(self) -> BackOff {
        BackOff((self.0 * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE))
    }
}
