//! A position in a rate that follows a sine.

use base::Nanos;

use super::level::{Expected, Level};

/// The largest number of iterations of the search for an instant of a sine: the number of
/// bisections that a period of 2⁶⁴ nanoseconds would need. Newton's steps usually need far fewer.
const MOST_ROUNDS: u32 = 64;

/// Difference of two successive results, in nanoseconds, below which the search ends.
const TOLERANCE: f64 = 0.25;

/// A rate that follows a sine around a mean, and the position reached in it. Rates are in
/// billionths of an arrival per second; a rate multiplied by nanoseconds gives multiples of 10⁻¹⁸
/// arrivals.
#[derive(Clone, Debug)]
pub(super) struct SinePosition {
    mean: f64,
    amplitude: f64,
    length: f64,
    period: Nanos,
    /// Arrivals expected in a period, in multiples of 10⁻¹⁸.
    all: u128,
    /// The number of the current period.
    number: u128,
    /// The instant found most recently, in nanoseconds since the beginning of the current period,
    /// and the arrivals expected from that beginning to the instant, in multiples of 10⁻¹⁸.
    last: (f64, f64),
}

impl SinePosition {
    /// Creates a sine at its start.
    pub(super) fn new(mean: Level, amplitude: Level, period: Nanos) -> SinePosition {
        SinePosition {
            mean: mean.0 as f64,
            amplitude: amplitude.0 as f64,
            length: period.0 as f64,
            period,
            all: u128::from(mean.0) * u128::from(period.0),
            number: 0,
            last: (0.0, 0.0),
        }
    }

    #[inline]
    /// Returns the instant by which `arrivals` are expected. `arrivals` must not decrease from call
    /// to call.
    pub(super) fn at(&mut self, arrivals: Expected) -> Nanos {
        let passed = arrivals.0 - self.all * self.number;
        let inside = if passed < self.all {
            passed
        } else {
            self.number = arrivals.0 / self.all;
            self.last = (0.0, 0.0);
            arrivals.0 % self.all
        };
        let start = u128::from(self.period.0) * self.number;
        let phase = self.time_of(inside as f64);
        Nanos(u64::try_from(start).unwrap_or(u64::MAX)) + Nanos(phase as u64)
    }

    /// Returns the number of arrivals expected from the beginning of a period to the instant `t`
    /// nanoseconds later, in multiples of 10⁻¹⁸.
    pub(super) fn expected(&self, t: f64) -> f64 {
        let sine = libm::sin(std::f64::consts::PI * t / self.length);
        // 1 − cos(2x) as 2 sin²(x), which avoids cancellation.
        self.mean * t + self.half_period_gain() * sine * sine
    }

    /// Returns the number of arrivals expected in the first half of a period beyond those of the
    /// mean rate, in multiples of 10⁻¹⁸.
    fn half_period_gain(&self) -> f64 {
        self.amplitude * self.length / std::f64::consts::PI
    }

    fn rate(&self, t: f64) -> f64 {
        self.mean + self.amplitude * libm::sin(std::f64::consts::TAU * t / self.length)
    }

    /// Returns the instant in a period by which `arrivals` are expected, by Newton's method,
    /// bracketed by bisection.
    fn time_of(&mut self, arrivals: f64) -> f64 {
        let (then, expected_then) = self.last;
        let mut early = then.max((arrivals - self.half_period_gain()) / self.mean);
        let mut late = (arrivals / self.mean).min(self.length).max(early);
        let mut t = then + (arrivals - expected_then) / self.rate(then).max(self.mean / 64.0);
        if t < early || t > late {
            t = (early + late) / 2.0;
        }
        for _ in 0..MOST_ROUNDS {
            let error = self.expected(t) - arrivals;
            *(if error > 0.0 { &mut late } else { &mut early }) = t;
            let mut next = t - error / self.rate(t);
            // True also when the rate is zero, so `next` is infinite or not a number.
            if !(early..=late).contains(&next) {
                next = (early + late) / 2.0;
            }
            let step = (next - t).abs();
            t = next;
            if step < TOLERANCE {
                break;
            }
        }
        self.last = (t, arrivals);
        t
    }
}
