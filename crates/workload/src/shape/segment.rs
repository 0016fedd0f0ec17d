//! Segments of a varying rate. The rate is constant or linear within a segment.

use base::Nanos;

use super::level::{Expected, Level};

/// A constant or linear segment of a rate. A linear segment has an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateSegment {
    /// Time from the job's start to the beginning of the segment.
    pub(super) start: Nanos,
    /// Length of the segment; without an end, up to [`Nanos::MAX`] after the start of the job.
    pub(super) length: Nanos,
    /// Rate at the beginning.
    pub(super) from: Level,
    /// Rate at the end.
    pub(super) to: Level,
}

impl RateSegment {
    /// Creates a segment with a constant rate until the start of the next one, or without an end.
    pub(super) fn constant(start: Nanos, next: Option<Nanos>, level: Level) -> RateSegment {
        let length = next.unwrap_or(Nanos::MAX).saturating_sub(start);
        RateSegment { start, length, from: level, to: level }
    }

    /// Returns the time from the job's start to the end of the segment.
    pub(super) fn end(&self) -> Nanos {
        self.start + self.length
    }

    /// Returns the rate at an instant within the segment, in arrivals per second.
    pub(super) fn rate_at(&self, t: Nanos) -> f64 {
        let part = t.saturating_sub(self.start).0 as f64 / self.length.0.max(1) as f64;
        self.from.as_f64() + part * (self.to.as_f64() - self.from.as_f64())
    }

    /// Returns the arrivals expected from the beginning of the segment to an instant within it.
    pub(super) fn expected(&self, t: Nanos) -> Expected {
        let passed = t.saturating_sub(self.start);
        let (from, to) = (u128::from(self.from.0), u128::from(self.to.0));
        if self.from == self.to {
            return Expected(from * u128::from(passed.0));
        }
        if passed == self.length {
            return self.all();
        }
        // The lower rate as a rectangle, exactly, plus the triangle above it.
        let rectangle = from.min(to) * u128::from(passed.0);
        let rise = from.abs_diff(to) as f64;
        let (passed, length) = (passed.0 as f64, self.length.0 as f64);
        let triangle = match from < to {
            true => rise * passed * (passed / length) / 2.0,
            false => rise * passed * (1.0 - passed / length / 2.0),
        };
        Expected(rectangle + triangle as u128)
    }

    /// Returns the arrivals expected in the whole segment.
    pub(super) fn all(&self) -> Expected {
        let twice = u128::from(self.from.0) + u128::from(self.to.0);
        Expected(twice * u128::from(self.length.0) / 2)
    }

    /// Returns the time from the beginning of the segment until `arrivals` are expected; `arrivals`
    /// is at most [`RateSegment::all`].
    #[inline]
    pub(super) fn time_of(&self, arrivals: Expected) -> Nanos {
        if arrivals.0 == 0 {
            return Nanos::ZERO;
        }
        if self.from == self.to {
            let nanos = arrivals.0 / u128::from(self.from.0);
            return Nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        }
        // From the end with the lower rate, to avoid cancellation.
        let slope = self.from.0.abs_diff(self.to.0) as f64 / self.length.0 as f64;
        let nanos = match self.from < self.to {
            true => time_on_ramp(self.from, slope, arrivals.0) as u64,
            false => {
                let rest = self.all().0.saturating_sub(arrivals.0);
                (self.length.0 as f64 - time_on_ramp(self.to, slope, rest)) as u64
            }
        };
        Nanos(nanos).min(self.length)
    }
}

/// Returns the time, in nanoseconds, until `arrivals` (in multiples of 10⁻¹⁸) are expected at a
/// rate that begins with `from` and rises by `slope` per nanosecond. This is the root t of
/// from·t + slope·t²/2 = arrivals, in the form that avoids cancellation.
fn time_on_ramp(from: Level, slope: f64, arrivals: u128) -> f64 {
    let (a, arrivals) = (from.0 as f64, arrivals as f64);
    let root = (a * a + 2.0 * slope * arrivals).sqrt();
    if root > 0.0 { 2.0 * arrivals / (a + root) } else { 0.0 }
}
