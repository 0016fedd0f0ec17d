//! Who is still there? Every thread that may have a program is on the roll until it has ended, and
//! its program with it.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// How long the end of a run waits for the ends of its programs: more than the second that a
/// program gets. What the kernel has not ended by then it cannot end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many are there.
#[derive(Debug, Default)]
pub(super) struct Roll {
    there: Mutex<usize>,
    left: Condvar,
}

/// Somebody on the roll, as long as it lives.
pub(super) struct Presence(Arc<Roll>);

impl Roll {
    pub(super) fn enter(self: &Arc<Roll>) -> Presence {
        *self.there.lock().expect("nothing panics under the lock") += 1;
        Presence(Arc::clone(self))
    }

    /// Waits until nobody is there.
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
