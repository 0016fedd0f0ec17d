//! A count of live program threads. A thread is counted until it has ended, and its program with
//! it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Time that the end of a run waits for its programs to end. Longer than the grace period of a
/// program; a process that survives SIGKILL that long is stuck in the kernel.
const PATIENCE: Duration = Duration::from_secs(5);

/// The number of live threads.
#[derive(Debug, Default)]
pub(super) struct ThreadCount {
    there: Mutex<usize>,
    left: Condvar,
}

/// A counted thread, until it is dropped.
pub(super) struct Presence(Arc<ThreadCount>);

impl ThreadCount {
    pub(super) fn enter(self: &Arc<ThreadCount>) -> Presence {
        *self.there.lock().expect("nothing panics under the lock") += 1;
        Presence(Arc::clone(self))
    }

    /// Waits until the count is zero, at most [`PATIENCE`].
    pub(super) fn wait_for_all(&self) {
        let there = self.there.lock().expect("nothing panics under the lock");
        let waited = self.left.wait_timeout_while(there, PATIENCE, |there| *there > 0);
        drop(waited.expect("nothing panics under the lock"));
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        *self.0.there.lock().expect("nothing panics under the lock") -= 1;
        self.0.left.notify_all();
    }
}
