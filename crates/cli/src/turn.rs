//! A turn: a right that one thread has at a time, and for which others wait for a limited time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Nanos;

/// A right that one thread has at a time.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Longest wait for it.
    longest: Nanos,
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The right, until it is dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct TurnGuard<'t>(&'t Turn);

impl Turn {
    /// Creates a right for which threads wait at most this long.
    pub(crate) fn new(longest: Nanos) -> Turn {
        Turn { longest, is_taken: Mutex::new(false), freed: Condvar::new() }
    }

    /// Takes the right; `None` if it does not become free in time.
    pub(crate) fn take(&self) -> Option<TurnGuard<'_>> {
        let wait = Duration::from_nanos(self.longest.0);
        let waited = self.freed.wait_timeout_while(self.is_taken(), wait, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *is_taken {
            return None;
        }
        *is_taken = true;
        Some(TurnGuard(self))
    }

    fn is_taken(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        *self.0.is_taken() = false;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turn_is_given_to_one_thread_and_not_waited_for_without_end() {
        let turn = Turn::new(Nanos::from_millis(10));
        let first = turn.take();
        assert!(first.is_some() && turn.take().is_none());
        drop(first);
        assert!(turn.take().is_some());
        let patient = Turn::new(Nanos::from_secs(100_000));
        let first = patient.take();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| patient.take().is_some());
            drop(first);
            assert!(second.join().unwrap());
        });
    }
}
