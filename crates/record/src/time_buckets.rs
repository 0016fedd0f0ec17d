//! Counts of times since the start of a run, in a few buckets for a monitoring system. The buckets
//! are the same in every run.

use base::Nanos;

use crate::times::{Scale, Times};

/// The exponent of the first boundary: 2^(−40/2) s, about a microsecond.
const FIRST: i32 = -40;

/// Number of boundaries. The last one is 2^(24/2) s, which is more than an hour.
const BOUNDARIES: usize = 65;

/// Counts of times in buckets. The boundaries, in seconds, are powers of √2, as in Prometheus'
/// native histograms with schema 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeBuckets {
    counts: [u64; BOUNDARIES],
    /// Sum of the recorded times.
    sum: Nanos,
}

impl Default for TimeBuckets {
    fn default() -> TimeBuckets {
        TimeBuckets { counts: [0; BOUNDARIES], sum: Nanos::ZERO }
    }
}

impl TimeBuckets {
    /// Adds the times of an interval. In the sum, every time counts as the middle of its bucket in
    /// `times`.
    pub fn add(&mut self, times: &Times, scale: Scale) {
        let counters = times.counts().iter().enumerate();
        for (index, count) in counters.filter(|(_, count)| **count > 0) {
            let bucket = scale.bucket(index);
            let middle = bucket.lowest + (bucket.highest - bucket.lowest) / 2;
            self.add_at(Nanos(bucket.highest), u64::from(*count));
            self.sum += Nanos(middle) * u64::from(*count);
        }
    }

    /// Adds one time.
    pub fn add_one(&mut self, time: Nanos) {
        self.add_at(time, 1);
        self.sum += time;
    }

    fn add_at(&mut self, time: Nanos, count: u64) {
        let exponent = (time.as_secs_f64().log2() * 2.0).ceil();
        // A time of zero has the exponent −∞, which becomes the first bucket.
        let index = (exponent - f64::from(FIRST)).clamp(0.0, (BOUNDARIES - 1) as f64);
        self.counts[index as usize] += count;
    }

    /// Returns each boundary in seconds, with the number of recorded times up to it. Times beyond
    /// the last boundary count as if they were equal to it.
    pub fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut sum = 0;
        (FIRST..).zip(&self.counts).map(move |(exponent, count)| {
            sum += count;
            ((f64::from(exponent) / 2.0).exp2(), sum)
        })
    }

    /// Returns the number of recorded times.
    pub fn len(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns true if no times are recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the recorded times.
    pub fn sum(&self) -> Nanos {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::Kind;

    #[test]
    fn times_are_counted_up_to_their_boundary() {
        let mut buckets = TimeBuckets::default();
        for nanos in [0, 1, 1_000_000, 1_000_000_000, 1_000_000_001, 3_600_000_000_000] {
            buckets.add_one(Nanos(nanos));
        }
        let up_to = |second: f64| {
            let all: Vec<(f64, u64)> = buckets.cumulative().collect();
            let found = all.iter().find(|(boundary, _)| (boundary / second - 1.0).abs() < 1e-9);
            found.unwrap_or_else(|| panic!("{second}")).1
        };
        assert_eq!([up_to(2f64.powi(-20)), up_to(2f64.powi(-10)), up_to(1.0)], [2, 2, 4]);
        assert_eq!([up_to(2f64.powi(-9)), up_to(4096.0)], [3, 6]);
        assert_eq!((buckets.len(), buckets.sum().0), (6, 3_602_001_000_002));
    }

    #[test]
    fn times_of_an_interval_agree_with_its_requests() {
        let (mut times, mut one_by_one) = (Times::new(Kind::Response), TimeBuckets::default());
        for nanos in (1..1_000u64).map(|index| index * index * index) {
            times.record(nanos);
            one_by_one.add_one(Nanos(nanos));
        }
        let mut of_interval = TimeBuckets::default();
        of_interval.add(&times, Scale::of(Kind::Response));
        assert_eq!(of_interval.len(), one_by_one.len());
        let ratio = of_interval.sum().as_secs_f64() / one_by_one.sum().as_secs_f64();
        assert!((ratio - 1.0).abs() < 0.001, "{ratio}");
        let pairs = of_interval.cumulative().zip(one_by_one.cumulative());
        assert!(pairs.into_iter().all(|((_, of), (_, one))| one >= of && one - of <= 1));
    }
}
