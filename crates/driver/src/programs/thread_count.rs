//! A count of live program threads. A thread is counted until it has ended, and its program with
//! it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Maximum time for which the end of a run waits for the end of its programs. Longer than the grace
/// periods of a program; a process that survives SIGKILL that long is stuck in the kernel.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of live threads.
#[derive(Debug, Default)]
pub(super) struct ThreadCount {
    running: Mutex<usize>,
    exited: Condvar,
}

/// A counted thread, until it is dropped.
pub(super) struct ThreadGuard(Arc<ThreadCount>);

impl ThreadCount {
    pub(super) fn enter(self: &Arc<ThreadCount>) -> ThreadGuard {
        *self.running.lock().expect("nothing panics under the lock") += 1;
        ThreadGuard(Arc::clone(self))
    }

    /// Waits until the count is zero, at most [`EXIT_TIMEOUT`].
    pub(super) fn wait_for_all(&self) {
        let running = self.running.lock().expect("nothing panics under the lock");
        let waited = self.exited.wait_timeout_while(running, EXIT_TIMEOUT, |running| *running > 0);
        drop(waited.expect("nothing panics under the lock"));
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        *self.0.running.lock().expect("nothing panics under the lock") -= 1;
        self.0.exited.notify_all();
    }
}
