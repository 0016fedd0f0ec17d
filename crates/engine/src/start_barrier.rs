//! The barrier at which the lanes of a run agree on time zero.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};

use base::{Clock, Nanos, Stamp};
use rt::Rt;

use crate::error::RunFailure;

/// Minimum time from the moment when the last lane is ready to time zero. With many lanes, the time
/// is longer, because each lane must learn time zero before it comes.
const LEAD: Nanos = Nanos::from_millis(50);

/// Interval at which a ready lane checks whether time zero is known, for each sixteen lanes of the
/// run. If the interval did not grow with the number of lanes, hundreds of polling lanes would
/// delay those that are not ready.
const READY_POLL: Nanos = Nanos::from_millis(1);

/// The barrier at which the lanes of a run agree on time zero.
pub(crate) struct StartBarrier {
    /// Number of lanes of the run.
    lanes: u16,
    /// Number of lanes that are ready.
    ready: AtomicU16,
    /// Time zero; [`Stamp::NEVER`] until it is known.
    zero: AtomicU64,
    /// True if a lane withdrew.
    given_up: AtomicBool,
    /// The failure of the first lane that failed.
    failed: Mutex<Option<RunFailure>>,
}

impl StartBarrier {
    /// Creates the barrier of a run.
    pub(crate) fn new(lanes: u16) -> StartBarrier {
        StartBarrier {
            lanes,
            ready: AtomicU16::new(0),
            zero: AtomicU64::new(Stamp::NEVER.0),
            given_up: AtomicBool::new(false),
            failed: Mutex::new(None),
        }
    }

    /// Withdraws this lane, which cancels the run unless time zero is already set. `failed` is
    /// `None` if a stop was requested or the lane panicked.
    pub(crate) fn give_up(&self, failed: Option<RunFailure>) {
        if let Some(failed) = failed {
            self.failed.lock().expect("nothing panics here").get_or_insert(failed);
        }
        self.given_up.store(true, Ordering::Release);
    }

    /// Returns the reason why the run could not begin; `None` if no lane failed.
    pub(crate) fn take_failure(&self) -> Option<RunFailure> {
        self.failed.lock().expect("nothing panics here").take()
    }

    /// Returns time zero, if it was ever set.
    pub(crate) fn known_zero(&self) -> Option<Stamp> {
        let zero = Stamp(self.zero.load(Ordering::Acquire));
        (zero != Stamp::NEVER).then_some(zero)
    }

    /// Waits for the other lanes and returns time zero. The last lane determines time zero, and
    /// calls `announce` before the other lanes learn it. Returns `None` if a lane gave up before.
    pub(crate) async fn zero(&self, rt: &Rt, announce: impl FnOnce(Stamp)) -> Option<Stamp> {
        let is_last = self.ready.fetch_add(1, Ordering::AcqRel) + 1 == self.lanes;
        let poll = READY_POLL * u64::from(self.lanes.div_ceil(16));
        if is_last && !self.given_up.load(Ordering::Acquire) {
            let zero = rt.now() + LEAD.max(poll * 3);
            announce(zero);
            self.zero.store(zero.0, Ordering::Release);
        }
        loop {
            if let Some(zero) = self.known_zero() {
                return Some(zero);
            }
            if self.given_up.load(Ordering::Acquire) {
                return None;
            }
            rt.sleep(poll).await;
        }
    }
}
