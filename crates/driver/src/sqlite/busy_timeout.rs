//! Waiting for another connection's lock, and stopping when the caller has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{Clock, Monotonic, Nanos};

use super::messages::ConnectionMailbox;

/// First pause before a lock is tried again. Each pause is twice as long as the previous one, up to
/// [`LONGEST_PAUSE`].
const FIRST_PAUSE: Nanos = Nanos::from_micros(50);

const LONGEST_PAUSE: Nanos = Nanos::from_millis(5);

/// Number of instructions of SQLite's virtual machine after which a running statement checks that
/// its caller is still there. They take some tens of microseconds.
///
/// An interrupt alone is not enough: SQLite forgets an interrupt that comes between two statements.
const INSTRUCTIONS_PER_CHECK: i32 = 10_000;

/// A counter of lock waits on one connection.
#[derive(Clone, Default)]
pub(super) struct BusyWaits(Arc<AtomicU32>);

impl BusyWaits {
    /// Returns the number of waits since the last call.
    pub(super) fn take(&self) -> u32 {
        self.0.swap(0, Ordering::Relaxed)
    }

    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes a connection wait for locks at most `limit`, and give up when its caller has gone.
pub(super) fn install(
    connection: &mut rusqlite::Connection,
    limit: Nanos,
    mailbox: &Arc<ConnectionMailbox>,
) -> rusqlite::Result<BusyWaits> {
    let waits = BusyWaits::default();
    let mut handler = BusyHandler {
        limit,
        waited: Nanos::ZERO,
        waits: waits.clone(),
        mailbox: Arc::clone(mailbox),
    };
    connection.busy_handler(Some(move |tries| handler.wait(tries)))?;
    let mailbox = Arc::clone(mailbox);
    connection.progress_handler(INSTRUCTIONS_PER_CHECK, Some(move || mailbox.is_abandoned()))?;
    Ok(waits)
}

/// State of the busy handler: the wait for a lock in growing pauses.
struct BusyHandler {
    limit: Nanos,
    /// Time waited for the current lock.
    waited: Nanos,
    waits: BusyWaits,
    mailbox: Arc<ConnectionMailbox>,
}

impl BusyHandler {
    /// Pauses before another attempt to get a lock; `tries` is the number of earlier pauses for the
    /// same lock. Returns true if the lock should be tried again.
    fn wait(&mut self, tries: i32) -> bool {
        if tries == 0 {
            self.waited = Nanos::ZERO;
        }
        let left = self.limit.saturating_sub(self.waited);
        if left == Nanos::ZERO {
            return false;
        }
        if tries == 0 {
            self.waits.count();
        }
        let begun = Monotonic.now();
        let still_wanted = self.mailbox.wait(pause_after(tries).min(left));
        // Only the pauses count, not the work between them: a statement may wait for several locks.
        self.waited += Monotonic.now().since(begun);
        still_wanted
    }
}

fn pause_after(tries: i32) -> Nanos {
    let doublings = tries.clamp(0, 16) as u32;
    (FIRST_PAUSE * (1 << doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handler(limit: Nanos) -> BusyHandler {
        BusyHandler {
            limit,
            waited: Nanos::ZERO,
            waits: BusyWaits::default(),
            mailbox: Arc::new(ConnectionMailbox::new()),
        }
    }

    #[test]
    fn lock_polls_back_off_to_a_limit() {
        assert_eq!(pause_after(0), Nanos::from_micros(50));
        assert_eq!(pause_after(3), Nanos::from_micros(400));
        assert_eq!(pause_after(7), LONGEST_PAUSE);
        assert_eq!(pause_after(i32::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn busy_timeout_applies_to_each_lock_separately() {
        let mut handler = handler(Nanos::from_micros(300));
        for lock in 1..=2 {
            let begun = Monotonic.now();
            let mut tries = 0;
            while handler.wait(tries) {
                tries += 1;
            }
            assert!(Monotonic.now().since(begun) >= Nanos::from_micros(300));
            assert!(tries <= 3, "naps of 50, 100 and 150 us or longer");
            assert_eq!(handler.waits.take(), 1, "lock {lock}");
        }
    }

    #[test]
    fn zero_busy_timeout_does_not_wait() {
        let mut handler = handler(Nanos::ZERO);
        assert!(!handler.wait(0));
        assert_eq!(handler.waits.take(), 0);
    }

    #[test]
    fn lock_wait_ends_when_caller_has_gone() {
        let mut handler = handler(Nanos::from_secs(3_600));
        handler.mailbox.hang_up();
        assert!(!handler.wait(0));
    }
}
