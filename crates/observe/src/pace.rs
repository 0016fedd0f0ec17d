//! Does the process keep going?
//!
//! A thread that wants to wake up every millisecond and does not for much longer has been stopped,
//! or the machine has: what was meant to be measured in that time was not. The method is that of
//! jHiccup (Tene): the load generator cannot tell this from a slow database, a thread that asks
//! nobody can.

use base::{Nanos, Stamp};

/// How often the thread wakes up.
pub(crate) const TICK: Nanos = Nanos::from_millis(1);

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
        assert_eq!(pace.awake(at(1_010)), None);
        assert_eq!(pace.awake(at(12_009)), None);
        let begin = at(13_009);
        assert_eq!(pace.awake(at(313_009)), Some(Stall { begin, length: Nanos::from_millis(300) }));
        assert_eq!(pace.next(), at(314_009));
    }

    #[test]
    fn its_own_work_is_no_stall() {
        let mut pace = Pace::new(at(0));
        pace.busy_until(at(50_000));
        assert_eq!(pace.awake(at(51_020)), None);
    }
}
