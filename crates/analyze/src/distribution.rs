//! Summary numbers of a distribution of times.

use hdrhistogram::Histogram;
use record::{BucketCount, bucket_counts};

/// A distribution of times in nanoseconds. Quantiles come from a merged histogram, never from
/// averages of quantiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Number of measured times. The other numbers are meaningless if this is 0.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Standard deviation.
    pub stddev_ns: f64,
    /// Quantiles of [`Quantile::ALL`], in that order.
    pub quantiles_ns: [u64; 5],
    /// Largest time.
    pub max_ns: u64,
}

/// A quantile that reports show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Name in JSON.
    pub name: &'static str,
    /// Name in text.
    pub label: &'static str,
    /// Fraction of times that do not exceed it.
    pub fraction: f64,
}

impl Quantile {
    /// p50, p90, p95, p99 and p99.9.
    pub const ALL: [Quantile; 5] = [
        Quantile { name: "p50", label: "p50", fraction: 0.50 },
        Quantile { name: "p90", label: "p90", fraction: 0.90 },
        Quantile { name: "p95", label: "p95", fraction: 0.95 },
        Quantile { name: "p99", label: "p99", fraction: 0.99 },
        Quantile { name: "p99_9", label: "p99.9", fraction: 0.999 },
    ];
}

impl Distribution {
    /// Summarizes a histogram of nanoseconds.
    pub fn of(histogram: &Histogram<u64>) -> Distribution {
        Distribution::of_times(&bucket_counts(histogram))
    }

    /// Summarizes times by bucket, from the shortest. The numbers equal those of a histogram of
    /// these times, but are computed from the given buckets alone: the functions of a histogram go
    /// through all of its buckets for each number.
    pub fn of_times(times: &[BucketCount]) -> Distribution {
        let Some(last) = times.last() else { return Distribution::default() };
        let count: u64 = times.iter().map(|it| it.count).sum();
        let total = count as f64;
        let middles = || times.iter().map(|it| (it.bucket.middle() as f64, it.count as f64));
        let mean = mean_ns(times).unwrap_or_default();
        let square = |time: f64| (time - mean) * (time - mean);
        let squares = middles().fold(0.0, |sum, (time, count)| sum + square(time) * count);
        Distribution {
            count,
            mean_ns: mean,
            stddev_ns: (squares / total).sqrt(),
            quantiles_ns: quantiles(times, total),
            max_ns: last.bucket.highest,
        }
    }

    /// Returns the value of the quantile with this name in [`Quantile::ALL`], in nanoseconds;
    /// `None` if there is no such quantile, or no time was measured.
    pub fn quantile_ns(&self, name: &str) -> Option<u64> {
        let place = Quantile::ALL.iter().position(|quantile| quantile.name == name)?;
        (self.count > 0).then(|| self.quantiles_ns[place])
    }
}

/// Returns the mean of times, each counted as the middle of its bucket; `None` without times.
pub(crate) fn mean_ns(times: &[BucketCount]) -> Option<f64> {
    let total = times.iter().map(|it| it.count).sum::<u64>() as f64;
    let add =
        |mean: f64, it: &BucketCount| mean + it.bucket.middle() as f64 * it.count as f64 / total;
    (!times.is_empty()).then(|| times.iter().fold(0.0, add))
}

/// Returns the quantiles of [`Quantile::ALL`] of `total` times: each is the upper edge of the
/// bucket that holds the ⌈q·n⌉-th time.
fn quantiles(times: &[BucketCount], total: f64) -> [u64; 5] {
    let mut rest = times.iter();
    let (mut seen, mut value) = (0, 0);
    Quantile::ALL.map(|quantile| {
        let rank = (quantile.fraction * total).ceil().max(1.0) as u64;
        while seen < rank
            && let Some(next) = rest.next()
        {
            seen += next.count;
            value = next.bucket.highest;
        }
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Kind;

    #[test]
    fn a_distribution_has_the_numbers_of_its_histogram() {
        let mut histogram = Kind::Response.histogram::<u64>();
        (1..=1_000).for_each(|value| histogram.saturating_record(value));
        let distribution = Distribution::of(&histogram);
        assert_eq!(distribution.quantiles_ns, [500, 900, 950, 990, 999]);
        assert_eq!((distribution.count, distribution.max_ns), (1_000, 1_000));
        assert_eq!(distribution.quantile_ns("p99"), Some(990));
        assert!((distribution.mean_ns - 500.5).abs() < 1e-9);
        histogram.saturating_record_n(9_876_543, 77);
        let distribution = Distribution::of(&histogram);
        assert_eq!(distribution.mean_ns, histogram.mean());
        assert_eq!(distribution.stddev_ns, histogram.stdev());
        let quantiles = Quantile::ALL.map(|it| histogram.value_at_quantile(it.fraction));
        assert_eq!(distribution.quantiles_ns, quantiles);
        assert_eq!(distribution.max_ns, histogram.max());
    }

    #[test]
    fn empty_distribution_has_no_quantiles() {
        let nothing = Distribution::of(&Kind::Response.histogram());
        assert_eq!(nothing, Distribution::default());
        assert_eq!(nothing.quantile_ns("p50"), None);
    }
}
