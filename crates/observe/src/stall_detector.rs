//! Detection of stalls of this process.
//!
//! If a thread that should wake every few milliseconds wakes much later, the process or the whole
//! machine was stalled, and requests of that time were not measured correctly. The method comes
//! from jHiccup (Tene): the load generator cannot distinguish a stall from a slow database, but a
//! thread that sends no requests can.

use base::{Nanos, Stamp};

/// Time between two wake-ups. jHiccup uses 1 ms, but if a wake-up takes 20 to 40 µs, as on a
/// virtual machine, this would be 2 to 4 % of a processor. With 10 ms, a stall of 20 ms is always
/// found, and its reported length is too short by less than one tick.
pub(crate) const TICK: Nanos = Nanos::from_millis(10);

/// Minimum delay of a wake-up that counts as a stall. It is longer than a time slice of a busy
/// scheduler.
const MIN_STALL: Nanos = Nanos::from_millis(10);

/// Detects stalls from the time at which the thread was last awake.
pub(crate) struct StallDetector {
    last: Stamp,
}

/// A period in which the process did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// Time at which the thread should have woken up.
    pub(crate) begin: Stamp,
    /// Delay until the thread woke up.
    pub(crate) length: Nanos,
}

impl StallDetector {
    /// Starts at the given time.
    pub(crate) fn new(now: Stamp) -> StallDetector {
        StallDetector { last: now }
    }

    /// Returns the time of the next wake-up.
    pub(crate) fn next_wake_up(&self) -> Stamp {
        self.last + TICK
    }

    /// Notes a wake-up, and returns the stall that delayed it, if there was one.
    pub(crate) fn on_wake_up(&mut self, now: Stamp) -> Option<Stall> {
        let begin = self.next_wake_up();
        self.last = now;
        let length = now.since(begin);
        (length >= MIN_STALL).then_some(Stall { begin, length })
    }

    /// Notes that the thread itself was working until now, which does not count as a stall.
    pub(crate) fn busy_until(&mut self, now: Stamp) {
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Stamp {
        Stamp::ZERO + Nanos::from_micros(micros)
    }

    #[test]
    fn stalls_have_a_minimum_length() {
        let mut detector = StallDetector::new(at(0));
        assert_eq!(detector.on_wake_up(at(10_010)), None);
        assert_eq!(detector.on_wake_up(at(30_009)), None);
        let begin = at(40_009);
        assert_eq!(
            detector.on_wake_up(at(340_009)),
            Some(Stall { begin, length: Nanos::from_millis(300) })
        );
        assert_eq!(detector.next_wake_up(), at(350_009));
    }

    #[test]
    fn sampling_time_is_not_a_stall() {
        let mut detector = StallDetector::new(at(0));
        detector.busy_until(at(50_000));
        assert_eq!(detector.on_wake_up(at(60_020)), None);
    }

    #[test]
    fn a_stop_of_two_ticks_is_found_wherever_it_begins() {
        for begin in 0..TICK.0 / 1_000 {
            let mut detector = StallDetector::new(at(0));
            // If the wake-up is due while the process is stalled, it happens at the end of the
            // stall.
            let stall = detector.on_wake_up(at(begin + 20_000));
            let length = stall.map(|stall| stall.length.0 / 1_000);
            assert!(length.is_some_and(|length| (10_000..=20_000).contains(&length)), "{begin}");
        }
    }
}
