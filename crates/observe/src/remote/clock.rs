//! The offset between the clock of another machine and the clock of this one.
//!
//! The answer to a request holds the remote time. The remote clock was read between sending and
//! receiving, on average in the middle, and the error is smaller for a shorter round trip (D. L.
//! Mills, RFC 5905, chapter 8). The remote side reports the first reading of its wall clock plus
//! the time that has passed since then on its monotonic clock, so its time makes no steps during
//! the watch.

use base::{Clock, Monotonic, Nanos, Stamp, WallTime};

/// One request to the remote clock, and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockExchange {
    /// Time at which the request was sent.
    pub(super) sent: Stamp,
    /// Time at which the answer was received.
    pub(super) received_at: Stamp,
    /// Remote time at which the answer was sent, in nanoseconds since 1970.
    pub(super) clock: i64,
}

impl ClockExchange {
    /// Returns the round trip time. The error of the offset is at most half of this time.
    pub(super) fn delay(self) -> Nanos {
        self.received_at.since(self.sent)
    }

    /// Returns the middle between sending and receiving, by this machine's monotonic clock.
    fn middle(self) -> i128 {
        (i128::from(self.sent.0) + i128::from(self.received_at.0)) / 2
    }

    /// Converts a remote time to an instant of this machine, limited to the range from `earliest`
    /// to `latest`.
    pub(super) fn stamp(self, there: i64, earliest: Stamp, latest: Stamp) -> Stamp {
        let here = i128::from(there) - i128::from(self.clock) + self.middle();
        let here = u64::try_from(here.max(0)).unwrap_or(u64::MAX);
        Stamp(here).min(latest).max(earliest)
    }

    /// Returns the seconds by which the remote clock is ahead of this machine's clock.
    pub(super) fn offset_s(self, here: ClockReference) -> f64 {
        let here = i128::from(here.wall.0) - (i128::from(here.stamp.0) - self.middle());
        (i128::from(self.clock) - here) as f64 / 1e9
    }
}

/// Readings of this machine's two clocks at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockReference {
    wall: WallTime,
    stamp: Stamp,
}

impl ClockReference {
    /// Reads this machine's wall clock and monotonic clock.
    pub(super) fn now() -> ClockReference {
        ClockReference { wall: WallTime::now(), stamp: Monotonic.now() }
    }

    /// Returns the current time in nanoseconds since 1970, without steps: this reading of the wall
    /// clock plus the monotonic time since then.
    pub(super) fn now_ns(self) -> i64 {
        self.wall.after(Monotonic.now().since(self.stamp)).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn echo(sent: u64, received_at: u64, clock: i64) -> ClockExchange {
        ClockExchange { sent: Stamp(sent), received_at: Stamp(received_at), clock }
    }

    #[test]
    fn clock_difference_of_an_hour_is_corrected() {
        // On this machine, stamp 50 s is 100 s after 1970. The remote clock is one hour ahead.
        let here =
            ClockReference { wall: WallTime(100 * SECOND), stamp: Stamp(50 * SECOND as u64) };
        let echo = echo(49_000_000_000, 51_000_000_000, 3_700 * SECOND);
        assert_eq!(echo.offset_s(here), 3_600.0);
        let latest = Stamp(u64::MAX);
        let stamp = echo.stamp(3_702 * SECOND, Stamp::ZERO, latest);
        assert_eq!(stamp, Stamp(52 * SECOND as u64));
        assert_eq!(echo.delay(), Nanos::from_secs(2));
    }

    #[test]
    fn any_remote_time_maps_to_an_instant_of_the_run() {
        let (earliest, latest) = (Stamp(10), Stamp(20));
        for clock in [i64::MIN, -1, 0, 1, i64::MAX] {
            for there in [i64::MIN, -1, 0, 1, i64::MAX] {
                let stamp = echo(12, 14, clock).stamp(there, earliest, latest);
                assert!((earliest..=latest).contains(&stamp), "{clock} {there}: {stamp:?}");
            }
            assert!(echo(0, u64::MAX, clock).offset_s(ClockReference::now()).is_finite());
        }
    }
}
