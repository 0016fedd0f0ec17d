//! Merged counts of times by bucket, for reading records.
//!
//! To merge, empty or iterate over a histogram, the `hdrhistogram` crate visits all of its
//! counters, thousands or tens of thousands. A second of a job fills a few hundred of them.
//! [`TimesSum`] visits only the counters between the first and the last nonzero one, and returns
//! only nonzero ones.

use hdrhistogram::Histogram;

use crate::kind::{HIGHEST, Kind};
use crate::times::{Bucket, Scale};

/// A bucket with the number of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketCount {
    /// Range of times.
    pub bucket: Bucket,
    /// Number of recorded times in the bucket.
    pub count: u64,
}

/// The merged counts of times of one kind. It can be cleared and reused without a new allocation.
#[derive(Clone, Debug)]
pub struct TimesSum {
    scale: Scale,
    counts: Vec<u64>,
    /// Index of the first nonzero counter; `usize::MAX` if there is none.
    first: usize,
    /// Index after the last nonzero counter; 0 if there is none.
    end: usize,
}

impl TimesSum {
    /// Creates an empty `TimesSum` for a kind of time.
    pub fn new(kind: Kind) -> TimesSum {
        let scale = Scale::of(kind);
        TimesSum { scale, counts: vec![0; scale.buckets()], first: usize::MAX, end: 0 }
    }

    /// Sets all counters to zero.
    pub fn clear(&mut self) {
        if self.end > 0 {
            self.counts[self.first..self.end].fill(0);
            (self.first, self.end) = (usize::MAX, 0);
        }
    }

    /// Adds to the counter at an index.
    ///
    /// # Panics
    /// Panics if the index is not less than [`Scale::buckets`].
    #[inline]
    pub fn add_at(&mut self, index: usize, count: u64) {
        let counter = &mut self.counts[index];
        *counter = counter.saturating_add(count);
        self.first = self.first.min(index);
        self.end = self.end.max(index + 1);
    }

    /// Adds a time in nanoseconds, `count` times; a longer time than [`HIGHEST`] counts as
    /// [`HIGHEST`].
    pub fn add_time(&mut self, time: u64, count: u64) {
        self.add_at(self.scale.index(time.min(HIGHEST.0)), count);
    }

    /// Adds times of the same kind.
    pub fn add(&mut self, times: &[BucketCount]) {
        times.iter().for_each(|it| self.add_time(it.bucket.lowest, it.count));
    }

    /// Returns the buckets that have times, from the shortest.
    pub fn times(&self) -> impl Iterator<Item = BucketCount> + '_ {
        let first = self.first.min(self.end);
        let counts = (first..).zip(&self.counts[first..self.end]);
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(index, &count)| BucketCount { bucket: self.scale.bucket(index), count })
    }

    /// Adds the counted times to a histogram of the same kind.
    pub fn add_to(&self, histogram: &mut Histogram<u64>) {
        self.times().for_each(|it| histogram.saturating_record_n(it.bucket.lowest, it.count));
    }
}

/// Returns the buckets of a histogram that have times, from the shortest.
pub fn bucket_counts(histogram: &Histogram<u64>) -> Vec<BucketCount> {
    let counted = histogram.iter_recorded().map(|it| {
        let highest = it.value_iterated_to();
        let lowest = histogram.lowest_equivalent(highest);
        BucketCount { bucket: Bucket { lowest, highest }, count: it.count_at_value() }
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_times() -> impl Strategy<Value = Vec<(u64, u64)>> {
        let time = (0u32..45, any::<u64>(), 1u64..9);
        let time = time.prop_map(|(bits, time, count)| (time % (1 << bits), count));
        proptest::collection::vec(time, 0..100)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]

        #[test]
        fn sums_agree_with_hdrhistogram(
            first in any_times(),
            second in any_times(),
            kind in proptest::sample::select(vec![Kind::Response, Kind::Wait]),
        ) {
            let mut sum = TimesSum::new(kind);
            for times in [&first, &second, &Vec::new()] {
                let mut theirs = kind.histogram::<u64>();
                for (time, count) in times {
                    theirs.saturating_record_n((*time).min(HIGHEST.0), *count);
                }
                sum.clear();
                times.iter().for_each(|(time, count)| sum.add_time(*time, *count));
                let ours: Vec<BucketCount> = sum.times().collect();
                prop_assert_eq!(&ours, &bucket_counts(&theirs));
                let mut added = kind.histogram::<u64>();
                sum.add_to(&mut added);
                prop_assert_eq!(&added, &theirs);
                let middles = ours.iter().map(|it| it.bucket.middle());
                let expected = ours.iter().map(|it| theirs.median_equivalent(it.bucket.highest));
                prop_assert!(middles.eq(expected));
                let mut again = TimesSum::new(kind);
                again.add(&ours);
                prop_assert!(again.times().eq(ours.iter().copied()));
            }
        }
    }
}
