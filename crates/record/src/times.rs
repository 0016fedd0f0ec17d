//! Counting times on the measured path.
//!
//! The buckets are those of HdrHistogram, and [`Times::to_histogram`] gives its own type, which
//! answers whatever is asked of a distribution. That type goes through all of its counters, tens of
//! thousands, to be added or emptied, and an interval of a quiet job fills a few dozens. Here only
//! those between the first and the last that hold anything are touched, and to count a time costs
//! a quarter.

use base::Nanos;
use hdrhistogram::Histogram;

use crate::histogram::{HIGHEST, Kind};

/// How the times of a kind fall into buckets: the first 2 × `half` are a nanosecond wide, the next
/// `half` are two, the next four, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The logarithm of half the number of buckets that tell the values of one power of two apart:
    /// the power of two that is at least ten to the digits.
    half: u32,
}

/// The times that one counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
}

impl Scale {
    pub(crate) fn of(kind: Kind) -> Scale {
        Scale { half: 10u64.pow(kind.digits().into()).next_power_of_two().ilog2() }
    }

    /// How many counters reach up to [`HIGHEST`].
    pub(crate) fn places(self) -> usize {
        let powers = (HIGHEST.0 >> (self.half + 1)).ilog2() + 2;
        (powers as usize + 1) << self.half
    }

    /// The place of the counter of a time that is not beyond [`HIGHEST`].
    #[inline]
    fn place(self, time: u64) -> usize {
        let narrowest = (2 << self.half) - 1;
        let power = 63 - self.half - (time | narrowest).leading_zeros();
        ((power as usize) << self.half) + (time >> power) as usize
    }

    /// The bucket of the counter at a place.
    pub(crate) fn bucket(self, place: usize) -> Bucket {
        let power = (place >> self.half).saturating_sub(1);
        let lowest = ((place - (power << self.half)) as u64) << power;
        Bucket { lowest, highest: lowest + (1 << power) - 1 }
    }
}

/// How often each time occurred, of one kind.
#[derive(Clone, Debug)]
pub struct Times {
    scale: Scale,
    counts: Box<[u32]>,
    /// All of them.
    total: u64,
    /// The place of the first counter that is not zero; beyond all without any.
    first: usize,
    /// The place behind the last counter that is not zero; 0 without any.
    end: usize,
}

impl Times {
    /// No time yet, of a kind.
    pub fn new(kind: Kind) -> Times {
        let scale = Scale::of(kind);
        let counts = vec![0; scale.places()].into_boxed_slice();
        Times { scale, counts, total: 0, first: usize::MAX, end: 0 }
    }

    /// Counts a time in nanoseconds, one beyond [`HIGHEST`] as that.
    #[inline]
    pub(crate) fn record(&mut self, time: u64) {
        self.add_at(self.scale.place(time.min(HIGHEST.0)), 1);
    }

    /// Adds to the counter at a place.
    #[inline]
    pub(crate) fn add_at(&mut self, place: usize, count: u32) {
        let counter = &mut self.counts[place];
        *counter = counter.saturating_add(count);
        self.total += u64::from(count);
        self.first = self.first.min(place);
        self.end = self.end.max(place + 1);
    }

    /// Adds other times of the same kind.
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

    /// Forgets all of them and keeps the memory.
    pub(crate) fn reset(&mut self) {
        if !self.is_empty() {
            self.counts[self.first..self.end].fill(0);
            (self.total, self.first, self.end) = (0, usize::MAX, 0);
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The upper edge of the bucket of the longest, in nanoseconds; 0 without any.
    pub fn max(&self) -> u64 {
        let last = self.end.checked_sub(1);
        last.map_or(0, |last| self.scale.bucket(last).highest)
    }

    /// The upper edge of the bucket of the quantile `q`, as HdrHistogram has it: of the ⌈q·n⌉-th
    /// time, in order; of the first at 0, where HdrHistogram has the lower edge. `None` without any
    /// time.
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let rank = (q * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let counters = self.counts().iter().enumerate().skip(self.first);
        let mut reached = counters.filter(|(_, count)| {
            seen += u64::from(**count);
            seen >= rank
        });
        reached.next().map(|(place, _)| Nanos(self.scale.bucket(place).highest))
    }

    /// The counters up to the last that is not zero, from place 0.
    pub(crate) fn counts(&self) -> &[u32] {
        &self.counts[..self.end]
    }

    /// The same as the `hdrhistogram` crate's own type.
    pub fn to_histogram(&self, kind: Kind) -> Histogram<u32> {
        let mut histogram = kind.histogram();
        for (place, &count) in self.counts().iter().enumerate().filter(|(_, count)| **count > 0) {
            histogram.saturating_record_n(self.scale.bucket(place).lowest, count);
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
    fn the_buckets_are_those_of_hdrhistogram() {
        for kind in KINDS {
            let scale = Scale::of(kind);
            let histogram = kind.histogram::<u64>();
            assert_eq!(scale.places(), histogram.distinct_values());
            for place in 0..scale.places() {
                let Bucket { lowest, highest } = scale.bucket(place);
                assert_eq!(histogram.highest_equivalent(lowest), highest);
                assert_eq!(histogram.lowest_equivalent(highest), lowest);
                assert_eq!((scale.place(lowest), scale.place(highest)), (place, place));
            }
        }
    }

    /// Times of all magnitudes, some beyond the range.
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
        fn what_is_counted_added_and_emptied_is_what_hdrhistogram_has(
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
