//! Counting of times on the measured path.
//!
//! The buckets are the same as in HdrHistogram, and [`Times::to_histogram`] converts to the type of
//! the crate `hdrhistogram` for queries. To merge or empty a histogram, that crate visits all of
//! its counters, thousands or tens of thousands. An interval of a quiet job fills only a few dozen.
//! [`Times`] visits only the counters between the first and the last nonzero one, and counts a time
//! at a quarter of the cost.

use base::Nanos;
use hdrhistogram::Histogram;

use crate::kind::{HIGHEST, Kind};

/// The bucket boundaries for one [`Kind`] of time. With h = 2^`half`, the first 2h buckets are one
/// nanosecond wide, the next h buckets two nanoseconds, the next h four, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Binary logarithm of the number of buckets per power of two. That number is the smallest
    /// power of two that is at least 10^digits.
    half: u32,
}

/// The range of times of one counter, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Shortest time that is counted.
    pub lowest: u64,
    /// Longest time that is counted.
    pub highest: u64,
}

impl Scale {
    /// Returns the bucket boundaries for a kind of time.
    pub fn of(kind: Kind) -> Scale {
        Scale { half: 10u64.pow(kind.digits().into()).next_power_of_two().ilog2() }
    }

    /// Returns the number of counters up to [`HIGHEST`].
    pub fn buckets(self) -> usize {
        let powers = (HIGHEST.0 >> (self.half + 1)).ilog2() + 2;
        (powers as usize + 1) << self.half
    }

    /// Returns the index of the counter of a time, which must not exceed [`HIGHEST`].
    #[inline]
    pub(crate) fn index(self, time: u64) -> usize {
        let narrowest = (2 << self.half) - 1;
        let power = 63 - self.half - (time | narrowest).leading_zeros();
        ((power as usize) << self.half) + (time >> power) as usize
    }

    /// Returns the bucket of the counter at an index.
    pub fn bucket(self, index: usize) -> Bucket {
        let power = (index >> self.half).saturating_sub(1);
        let lowest = ((index - (power << self.half)) as u64) << power;
        Bucket { lowest, highest: lowest + (1 << power) - 1 }
    }
}

impl Bucket {
    /// Returns the middle of the bucket, which represents its times in a mean.
    pub fn middle(self) -> u64 {
        self.lowest + (self.highest - self.lowest).div_ceil(2)
    }
}

/// The number of recorded times of one kind in each bucket.
#[derive(Clone, Debug)]
pub struct Times {
    scale: Scale,
    counts: Box<[u32]>,
    /// Number of recorded times.
    total: u64,
    /// Index of the first nonzero counter; `usize::MAX` if there is none.
    first: usize,
    /// Index after the last nonzero counter; 0 if there is none.
    end: usize,
}

impl Times {
    /// Creates an empty `Times` for a kind of time.
    pub fn new(kind: Kind) -> Times {
        let scale = Scale::of(kind);
        let counts = vec![0; scale.buckets()].into_boxed_slice();
        Times { scale, counts, total: 0, first: usize::MAX, end: 0 }
    }

    /// Counts a time in nanoseconds; a longer time than [`HIGHEST`] counts as [`HIGHEST`].
    #[inline]
    pub fn record(&mut self, time: u64) {
        self.add_at(self.scale.index(time.min(HIGHEST.0)), 1);
    }

    /// Adds to the counter at an index.
    ///
    /// # Panics
    /// Panics if the index is not less than [`Scale::buckets`].
    #[inline]
    pub fn add_at(&mut self, index: usize, count: u32) {
        let counter = &mut self.counts[index];
        *counter = counter.saturating_add(count);
        self.total += u64::from(count);
        self.first = self.first.min(index);
        self.end = self.end.max(index + 1);
    }

    /// Adds the times of another interval or lane, of the same kind.
    pub fn merge(&mut self, other: &Times) {
        if other.is_empty() {
            return;
        }
        let filled = other.first..other.end;
        let pairs = self.counts[filled.clone()].iter_mut().zip(&other.counts[filled]);
        for (counter, count) in pairs {
            *counter = counter.saturating_add(*count);
        }
        self.total += other.total;
        self.first = self.first.min(other.first);
        self.end = self.end.max(other.end);
    }

    /// Empties the counters and keeps their memory.
    pub(crate) fn reset(&mut self) {
        if !self.is_empty() {
            self.counts[self.first..self.end].fill(0);
            (self.total, self.first, self.end) = (0, usize::MAX, 0);
        }
    }

    /// Returns the number of recorded times.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Returns true if no times are recorded.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns the upper edge of the longest time's bucket, in nanoseconds; 0 if no times are
    /// recorded.
    pub fn max(&self) -> u64 {
        let last = self.end.checked_sub(1);
        last.map_or(0, |last| self.scale.bucket(last).highest)
    }

    /// Returns the quantile `q` as the upper edge of its bucket, as HdrHistogram does; `None` if
    /// there are no times.
    ///
    /// The bucket holds the ⌈q·n⌉-th time in order. For q = 0 it holds the first time, for which
    /// HdrHistogram returns the lower edge.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = (q * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let counters = self.counts().iter().enumerate().skip(self.first);
        let mut reached = counters.filter(|(_, count)| {
            seen += u64::from(**count);
            seen >= rank
        });
        reached.next().map(|(index, _)| Nanos(self.scale.bucket(index).highest))
    }

    /// Returns the counters from index 0 up to the last nonzero one.
    pub fn counts(&self) -> &[u32] {
        &self.counts[..self.end]
    }

    /// Returns the index of the first nonzero counter, and the counters from it up to the last
    /// nonzero one; 0 and an empty slice if there are no times.
    pub fn filled(&self) -> (usize, &[u32]) {
        let first = self.first.min(self.end);
        (first, &self.counts[first..self.end])
    }

    /// Converts the times to the histogram type of the `hdrhistogram` crate.
    pub fn to_histogram(&self, kind: Kind) -> Histogram<u32> {
        let mut histogram = kind.histogram();
        for (index, &count) in self.counts().iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(self.scale.bucket(index).lowest, count);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [Kind; 2] = [Kind::Response, Kind::Wait];

    #[test]
    fn the_buckets_agree_with_hdrhistogram() {
        for kind in KINDS {
            let scale = Scale::of(kind);
            let histogram = kind.histogram::<u64>();
            assert_eq!(scale.buckets(), histogram.distinct_values());
            for index in 0..scale.buckets() {
                let Bucket { lowest, highest } = scale.bucket(index);
                assert_eq!(histogram.highest_equivalent(lowest), highest);
                assert_eq!(histogram.lowest_equivalent(highest), lowest);
                assert_eq!((scale.index(lowest), scale.index(highest)), (index, index));
            }
        }
    }

    /// Generates times of all magnitudes, some beyond the range.
    fn any_times() -> impl Strategy<Value = Vec<u64>> {
        let time = (0u32..45, any::<u64>()).prop_map(|(bits, time)| time % (1 << bits));
        proptest::collection::vec(time, 0..100)
    }

    fn times(kind: Kind, of: &[u64]) -> Times {
        let mut times = Times::new(kind);
        of.iter().for_each(|time| times.record(*time));
        times
    }

    #[test]
    fn every_quantile_is_an_upper_edge() {
        let first = times(Kind::Wait, &[256, 1_000]);
        assert_eq!(first.quantile(0.0), Some(Nanos(257)));
        assert_eq!(first.quantile(0.5), Some(Nanos(257)));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn counting_adding_and_emptying_agree_with_hdrhistogram(
            first in any_times(),
            second in any_times(),
            kind in proptest::sample::select(KINDS.to_vec()),
        ) {
            let mut theirs = kind.histogram::<u32>();
            for time in first.iter().chain(&second) {
                theirs.saturating_record((*time).min(HIGHEST.0));
            }
            let mut ours = times(kind, &first);
            ours.merge(&times(kind, &second));
            prop_assert_eq!(&ours.to_histogram(kind), &theirs);
            prop_assert_eq!((ours.len(), ours.max()), (theirs.len(), theirs.max()));
            for q in [0.001, 0.25, 0.5, 0.99, 1.0].into_iter().filter(|_| !theirs.is_empty()) {
                prop_assert_eq!(ours.quantile(q), Some(Nanos(theirs.value_at_quantile(q))));
            }
            ours.reset();
            prop_assert_eq!(ours.quantile(0.5), None);
            prop_assert!(ours.is_empty() && ours.max() == 0);
            ours.merge(&times(kind, &second));
            prop_assert_eq!(ours.to_histogram(kind), times(kind, &second).to_histogram(kind));
        }
    }
}
