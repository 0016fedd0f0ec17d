//! A mutex that threads wait for only for a limited time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base::Nanos;

/// A mutex without data and with a limited wait.
#[derive(Debug)]
pub(crate) struct TimedMutex {
    /// Longest wait for the lock.
    max_wait: Nanos,
    is_locked: Mutex<bool>,
    unlocked: Condvar,
}

/// A lock of a [`TimedMutex`], which is released when this value is dropped, even by a panic.
#[derive(Debug)]
pub(crate) struct TimedMutexGuard<'t>(&'t TimedMutex);

impl TimedMutex {
    /// Creates a mutex for which threads wait at most this long.
    pub(crate) fn new(max_wait: Nanos) -> TimedMutex {
        TimedMutex { max_wait, is_locked: Mutex::new(false), unlocked: Condvar::new() }
    }

    /// Locks the mutex; `None` if another thread still holds it after the longest wait.
    pub(crate) fn lock(&self) -> Option<TimedMutexGuard<'_>> {
        let wait = Duration::from_nanos(self.max_wait.0);
        let waited =
            self.unlocked.wait_timeout_while(self.is_locked(), wait, |is_locked| *is_locked);
        let (mut is_locked, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *is_locked {
            return None;
        }
        *is_locked = true;
        Some(TimedMutexGuard(self))
    }

    fn is_locked(&self) -> MutexGuard<'_, bool> {
        self.is_locked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TimedMutexGuard<'_> {
    fn drop(&mut self) {
        *self.0.is_locked() = false;
        self.0.unlocked.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_holds_the_lock_and_others_wait_for_a_limited_time() {
        let mutex = TimedMutex::new(Nanos::from_millis(10));
        let first = mutex.lock();
        assert!(first.is_some() && mutex.lock().is_none());
        drop(first);
        assert!(mutex.lock().is_some());
        let patient = TimedMutex::new(Nanos::from_secs(100_000));
        let first = patient.lock();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| patient.lock().is_some());
            drop(first);
            assert!(second.join().unwrap());
        });
    }
}
