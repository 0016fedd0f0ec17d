//! Does the process keep going?
//!
//! A thread that wants to wake up every few milliseconds and does not for much longer has been
//! stopped, or the machine has: what was meant to be measured in that time was not. The method is
//! that of jHiccup (Tene): the load generator cannot tell this from a slow database, a thread that
//! asks nobody can.

use base::{Nanos, Stamp};

/// How often the thread wakes up. jHiccup does every millisecond; but where a waking takes 20 to 40
/// µs, as on a virtual machine, that is 2 to 4 % of a processor. What lasts for 20 ms is always
/// found like this, and what is told of it is less than a tick too short.
pub(crate) const TICK: Nanos = Nanos::from_millis(10);

/// How much later than that counts as standing still: longer than a busy scheduler's turns.
const STALL: Nanos = Nanos::from_millis(10);

/// When the thread was awake last.
pub(crate) struct Pace {
    last: Stamp,
}

/// A time in which nothing went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// When it should have gone on.
    pub(crate) begin: Stamp,
    /// How long it did not.
    pub(crate) length: Nanos,
}

impl Pace {
    /// From now on.
    pub(crate) fn new(now: Stamp) -> Pace {
        Pace { last: now }
    }

    /// When the thread wants to wake up.
    pub(crate) fn next(&self) -> Stamp {
        self.last + TICK
    }

    /// It is awake: has it stood still?
    pub(crate) fn awake(&mut self, now: Stamp) -> Option<Stall> {
        let begin = self.next();
        self.last = now;
        let length = now.since(begin);
        (length >= STALL).then_some(Stall { begin, length })
    }

    /// It was busy until now, and knows it.
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
    fn only_what_is_long_counts() {
        let mut pace = Pace::new(at(0));
        assert_eq!(pace.awake(at(10_010)), None);
        assert_eq!(pace.awake(at(30_009)), None);
        let begin = at(40_009);
        assert_eq!(pace.awake(at(340_009)), Some(Stall { begin, length: Nanos::from_millis(300) }));
        assert_eq!(pace.next(), at(350_009));
    }

    #[test]
    fn its_own_work_is_no_stall() {
        let mut pace = Pace::new(at(0));
        pace.busy_until(at(50_000));
        assert_eq!(pace.awake(at(60_020)), None);
    }

    #[test]
    fn a_stop_of_two_ticks_is_found_wherever_it_begins() {
        for begin in 0..TICK.0 / 1_000 {
            let mut pace = Pace::new(at(0));
            // Due within the stop, it is awake when that ends.
            let stall = pace.awake(at(begin + 20_000));
            let length = stall.map(|stall| stall.length.0 / 1_000);
            assert!(length.is_some_and(|length| (10_000..=20_000).contains(&length)), "{begin}");
        }
    }
}
