//! A server that stops working for a while at the beginning of each period.

use base::{Nanos, Stamp};

/// Conversion between time and work done, both as spans of time: without stalls, the work done is
/// the time passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stalls {
    /// Start of the first period; before it the server does not stall.
    pub(crate) origin: Stamp,
    pub(crate) stall: Nanos,
    pub(crate) every: Nanos,
}

impl Stalls {
    /// Returns the time at which work of length `service` (above zero) that begins at `start` is
    /// done.
    pub(crate) fn finish(&self, start: Stamp, service: Nanos) -> Stamp {
        debug_assert!(service > Nanos::ZERO);
        if self.stall == Nanos::ZERO || start + service <= self.origin {
            return start + service;
        }
        if start < self.origin {
            let before = self.origin.since(start);
            return self.finish(self.origin, service.saturating_sub(before));
        }
        self.origin + self.time_of(self.work_until(start.since(self.origin)) + service)
    }

    /// Returns the work done within this time after the start of the first period.
    fn work_until(&self, time: Nanos) -> Nanos {
        let periods = time.0 / self.every.0;
        let in_period = Nanos(time.0 % self.every.0);
        self.work_per_period() * periods + in_period.saturating_sub(self.stall)
    }

    /// Returns the earliest time by which `work` is done.
    fn time_of(&self, work: Nanos) -> Nanos {
        let per_period = self.work_per_period().0;
        let periods = work.0 / per_period;
        let rest = Nanos(work.0 % per_period);
        if rest == Nanos::ZERO && periods > 0 {
            // The last nanosecond of work ends with its period, not after the next stall.
            return self.every * periods;
        }
        self.every * periods + self.stall + rest
    }

    fn work_per_period(&self) -> Nanos {
        self.every.saturating_sub(self.stall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_end_of_a_stall() {
        let stalls = Stalls { origin: Stamp(100), stall: Nanos(10), every: Nanos(50) };
        for (start, service, end) in [
            (0, 20, 20),     // before the first period
            (95, 5, 100),    // done as the first stall begins
            (95, 10, 115),   // interrupted by the first stall
            (100, 1, 111),   // arrived during a stall
            (105, 1, 111),   // likewise
            (110, 40, 150),  // exactly until the next stall
            (110, 41, 161),  // one more
            (120, 200, 370), // across five stalls
        ] {
            assert_eq!(
                stalls.finish(Stamp(start), Nanos(service)),
                Stamp(end),
                "{start} {service}"
            );
        }
    }

    #[test]
    fn work_takes_its_time_without_stalls() {
        let none = Stalls { origin: Stamp(0), stall: Nanos::ZERO, every: Nanos(50) };
        assert_eq!(none.finish(Stamp(7), Nanos(100)), Stamp(107));
    }
}
