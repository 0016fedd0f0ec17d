//! Instants and spans on the run's monotonic clock.
//!
//! A [`Stamp`] is an instant, a [`Nanos`] a span. The types keep them apart: a stamp plus a span is
//! a stamp, and the sum of two stamps does not compile.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A span of time in whole nanoseconds; never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The empty span.
    pub const ZERO: Nanos = Nanos(0);
    /// The longest span, about 584 years: means "never".
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Makes a span of whole microseconds.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros * 1_000)
    }

    /// Makes a span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis * 1_000_000)
    }

    /// Makes a span of whole seconds.
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs * 1_000_000_000)
    }

    /// Makes the span of `secs` seconds, rounded down; negative and undefined spans are zero, spans
    /// beyond [`Nanos::MAX`] are [`Nanos::MAX`].
    pub fn from_secs_f64(secs: f64) -> Nanos {
        Nanos((secs * 1e9) as u64)
    }

    /// Returns this span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns this span in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns this span less `other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;

    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        *self = *self + other;
    }
}

impl Mul<u64> for Nanos {
    type Output = Nanos;

    fn mul(self, times: u64) -> Nanos {
        Nanos(self.0.saturating_mul(times))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        spans.fold(Nanos::ZERO, Add::add)
    }
}

impl fmt::Display for Nanos {
    /// Writes an exact text that [`crate::units::parse_duration`] parses, in whole units from the
    /// largest down: `1m30s`, `250ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let units = [
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("ns", 1),
        ];
        let mut rest = self.0;
        for (unit, size) in units {
            if rest >= size {
                write!(f, "{}{unit}", rest / size)?;
                rest %= size;
            }
        }
        Ok(())
    }
}

/// An instant on the run's monotonic clock, in nanoseconds since an origin that depends on the
/// clock. In virtual time, the clock begins at the origin and the executor moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The clock's origin.
    pub const ZERO: Stamp = Stamp(0);
    /// An instant that never comes.
    pub const NEVER: Stamp = Stamp(u64::MAX);

    /// Returns the span from `earlier` to this instant; zero if this instant is before `earlier`.
    pub const fn since(self, earlier: Stamp) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Nanos> for Stamp {
    type Output = Stamp;

    fn add(self, span: Nanos) -> Stamp {
        Stamp(self.0.saturating_add(span.0))
    }
}

impl Sub<Nanos> for Stamp {
    type Output = Stamp;

    fn sub(self, span: Nanos) -> Stamp {
        Stamp(self.0.saturating_sub(span.0))
    }
}

/// A source of the run's time, real or simulated.
pub trait Clock {
    /// Returns the current instant. Never earlier than an instant returned before.
    fn now(&self) -> Stamp;
}

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
///
/// It is not read through `std::time::Instant` because the pacing timer needs the kernel's own
/// numbers: a deadline is armed as an absolute time without reading the clock again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now(&self) -> Stamp {
        let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
        let time = time.expect("every Linux has this clock");
        Stamp(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_as_the_shortest_exact_duration() {
        assert_eq!(Nanos::from_millis(90_000).to_string(), "1m30s");
        assert_eq!(Nanos::from_millis(250).to_string(), "250ms");
        assert_eq!(Nanos(1_000_000_001).to_string(), "1s1ns");
        assert_eq!(Nanos::ZERO.to_string(), "0s");
    }

    #[test]
    fn a_later_stamp_seen_from_an_earlier_one_is_not_negative() {
        assert_eq!(Stamp(5).since(Stamp(7)), Nanos::ZERO);
        assert_eq!(Stamp(7).since(Stamp(5)), Nanos(2));
    }

    #[test]
    fn monotonic_clock_never_goes_back() {
        let readings: Vec<Stamp> = (0..1_000).map(|_| Monotonic.now()).collect();
        assert!(readings.is_sorted());
        assert!(readings[0] > Stamp::ZERO);
    }
}
