//! Early ends of a run: reason and time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use base::{Nanos, Stamp};
use record::EndKind;

/// Interval at which a lane checks for a stop request and other outside events.
pub(crate) const CHECK_INTERVAL: Nanos = Nanos::from_millis(50);

/// A handle to end a run early, such as from a signal handler or from one of its lanes. Clones
/// refer to the same run. All lanes check the handle every [`CHECK_INTERVAL`].
#[derive(Clone, Debug)]
pub struct Stop(Arc<State>);

#[derive(Debug)]
struct State {
    /// The [`EndKind`] as a number; [`EndKind::Completed`] until an end is requested.
    reason: AtomicU8,
    /// End of the schedule on every lane, on the run's clock; [`Stamp::NEVER`] if there is none.
    end: AtomicU64,
    /// True if work in flight is given up at once.
    at_once: AtomicBool,
    /// True if something panicked, which overrides every other reason.
    has_panicked: AtomicBool,
    /// The stop of the set of runs to which this run or this teardown belongs; `None` if there is
    /// no set.
    parent: Option<Stop>,
    /// True if a graceful stop of the parent does not end this run. An immediate stop always does.
    ignores_graceful_stop: bool,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop::with_parent(None, false)
    }
}

impl Stop {
    /// Returns a stop for one of several runs. A stop of `self` stops all runs; a stop of one run
    /// does not stop the others.
    pub fn child(&self) -> Stop {
        Stop::with_parent(Some(self.clone()), false)
    }

    /// Returns a stop for a teardown. An immediate stop of `self` ends the teardown; a graceful
    /// one does not.
    pub fn child_for_teardown(&self) -> Stop {
        Stop::with_parent(Some(self.clone()), true)
    }

    fn with_parent(parent: Option<Stop>, ignores_graceful_stop: bool) -> Stop {
        let end = AtomicU64::new(Stamp::NEVER.0);
        let reason = AtomicU8::new(EndKind::Completed as u8);
        Stop(Arc::new(State {
            reason,
            end,
            at_once: AtomicBool::new(false),
            has_panicked: AtomicBool::new(false),
            parent,
            ignores_graceful_stop,
        }))
    }

    /// Requests a graceful end as soon as possible, with drain and teardown.
    pub fn interrupt(&self) {
        self.request(EndKind::Interrupted);
    }

    /// Requests an immediate end, without a drain and without a teardown: work in flight is given
    /// up.
    pub fn interrupt_at_once(&self) {
        self.interrupt();
        self.0.at_once.store(true, Ordering::Release);
    }

    /// Returns true if the run is to end without waiting for anything.
    pub fn is_at_once(&self) -> bool {
        self.0.at_once.load(Ordering::Acquire)
            || self.0.parent.as_ref().is_some_and(Stop::is_at_once)
    }

    /// Returns the reason why the run ends or has ended: [`EndKind::InternalError`] after a panic,
    /// and [`EndKind::Completed`] if no end that applies to this run was requested.
    pub fn reason(&self) -> EndKind {
        if self.has_panicked() {
            return EndKind::InternalError;
        }
        let reason = self.0.reason.load(Ordering::Acquire);
        match EndKind::ALL.into_iter().find(|kind| *kind as u8 == reason) {
            Some(EndKind::Completed) | None => {
                let parent = self.0.parent.as_ref();
                let parent =
                    parent.filter(|parent| !self.0.ignores_graceful_stop || parent.is_at_once());
                parent.map_or(EndKind::Completed, Stop::reason)
            }
            Some(reason) => reason,
        }
    }

    /// Returns true if an end was requested, or something panicked.
    pub fn is_requested(&self) -> bool {
        self.reason() != EndKind::Completed
    }

    /// Records a panic, which makes the numbers invalid, whatever else ended the run.
    pub(crate) fn note_panic(&self) {
        self.0.has_panicked.store(true, Ordering::Release);
    }

    /// Returns true if something panicked.
    pub(crate) fn has_panicked(&self) -> bool {
        self.0.has_panicked.load(Ordering::Acquire)
    }

    /// Requests a graceful end for `reason`, unless an end was requested before.
    pub(crate) fn request(&self, reason: EndKind) {
        if self.reason() != EndKind::Completed {
            return;
        }
        let none = EndKind::Completed as u8;
        let _ =
            self.0.reason.compare_exchange(none, reason as u8, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Returns the end of the schedule, on the run's clock; [`Stamp::NEVER`] if there is none.
    pub(crate) fn end(&self) -> Stamp {
        Stamp(self.0.end.load(Ordering::Acquire))
    }

    /// Moves the end of the schedule to `at`, unless the end is already earlier.
    pub(crate) fn end_by(&self, at: Stamp) {
        self.0.end.fetch_min(at.0, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_and_the_earliest_end_count() {
        let stop = Stop::default();
        assert!(!stop.is_requested());
        stop.request(EndKind::StoppedByError);
        stop.interrupt();
        assert_eq!(stop.reason(), EndKind::StoppedByError);
        stop.end_by(Stamp(20));
        stop.end_by(Stamp(30));
        assert_eq!(stop.end(), Stamp(20));
    }

    #[test]
    fn run_stops_with_its_set_but_does_not_stop_it() {
        let all = Stop::default();
        let one = all.child();
        one.request(EndKind::QueueFull);
        one.end_by(Stamp(7));
        assert_eq!((all.reason(), all.end()), (EndKind::Completed, Stamp::NEVER));
        let next = all.child();
        all.interrupt();
        assert_eq!((one.reason(), next.reason()), (EndKind::QueueFull, EndKind::Interrupted));
        all.interrupt_at_once();
        assert!(next.is_at_once());
        next.request(EndKind::RecorderFailed);
        assert_eq!(next.reason(), EndKind::Interrupted);
    }

    #[test]
    fn teardown_ignores_a_graceful_stop() {
        let all = Stop::default();
        all.interrupt();
        let last = all.child_for_teardown();
        assert_eq!((last.reason(), last.is_at_once()), (EndKind::Completed, false));
        all.interrupt_at_once();
        assert_eq!((last.reason(), last.is_at_once()), (EndKind::Interrupted, true));
    }

    #[test]
    fn a_panic_counts_before_every_other_reason() {
        let stop = Stop::default();
        stop.interrupt();
        stop.note_panic();
        stop.interrupt_at_once();
        assert_eq!(stop.reason(), EndKind::InternalError);
        assert!(stop.is_requested());
    }
}
