//! Response times of a part of a run, with confidence intervals.
//!
//! The times are read twice, step by step, because the times above a quantile can be counted only
//! when the quantile is known. Each step is a [`Batch`].

use std::ops::Range;

use hdrhistogram::Histogram;
use record::{BucketCount, Kind};

use crate::confidence::{Batch, Estimate, Exceedances, quantile, ratio};
use crate::distribution::Quantile;

/// The response times of a job in some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Responses {
    /// Number of measured times.
    pub count: u64,
    /// Mean, in nanoseconds. Mean and quantiles are `None` if there are no times.
    pub mean_ns: Option<Estimate>,
    /// Quantiles of [`Quantile::ALL`], in that order, in nanoseconds.
    pub quantiles_ns: [Option<Estimate>; QUANTILES],
}

/// Number of quantiles.
const QUANTILES: usize = Quantile::ALL.len();

impl Responses {
    /// Estimates the response times of some steps. `read` returns the response times of the
    /// requests whose intended start lies in a step, in ascending order, and is called twice for
    /// each step.
    ///
    /// # Errors
    /// The first error that `read` returns.
    pub fn of<E>(
        steps: Range<usize>,
        mut read: impl FnMut(usize) -> Result<Vec<BucketCount>, E>,
    ) -> Result<Responses, E> {
        let mut gathered = ResponseCollector::default();
        for pass in ResponseCollector::PASSES {
            for step in steps.clone() {
                pass(&mut gathered, &read(step)?);
            }
            gathered.find_bounds();
        }
        Ok(gathered.responses())
    }
}

/// The times of some steps, while they are read.
pub(crate) struct ResponseCollector {
    pooled: Histogram<u64>,
    /// Quantiles of all times, once all are pooled.
    bounds: [u64; QUANTILES],
    sums: Vec<Batch>,
    /// Times above each quantile, by step.
    above: [Vec<Batch>; QUANTILES],
    /// Times equal to or above each quantile, by step.
    at_least: [Vec<Batch>; QUANTILES],
}

impl Default for ResponseCollector {
    fn default() -> ResponseCollector {
        let pooled = Kind::Response.histogram();
        let [above, at_least] = [const { [const { Vec::new() }; QUANTILES] }; 2];
        ResponseCollector { pooled, bounds: [0; QUANTILES], sums: Vec::new(), above, at_least }
    }
}

impl ResponseCollector {
    /// The passes over the times of the steps. The bounds are computed after each pass.
    pub(crate) const PASSES: [fn(&mut ResponseCollector, &[BucketCount]); 2] =
        [ResponseCollector::pool, ResponseCollector::batch];

    fn pool(&mut self, times: &[BucketCount]) {
        times.iter().for_each(|it| self.pooled.saturating_record_n(it.bucket.highest, it.count));
    }

    pub(crate) fn find_bounds(&mut self) {
        self.bounds =
            Quantile::ALL.map(|quantile| self.pooled.value_at_quantile(quantile.fraction));
    }

    fn batch(&mut self, times: &[BucketCount]) {
        let base = times.iter().map(|it| it.count).sum::<u64>() as f64;
        let mut mean = 0.0;
        let (mut above, mut at_least) = ([0; QUANTILES], [0; QUANTILES]);
        for BucketCount { bucket, count } in times {
            mean += bucket.middle() as f64 * *count as f64 / base;
            for index in 0..QUANTILES {
                // The bounds are the upper edges of their buckets.
                let (value, bound) = (bucket.highest, self.bounds[index]);
                above[index] += if value > bound { *count } else { 0 };
                at_least[index] += if value >= bound { *count } else { 0 };
            }
        }
        self.sums.push(Batch { amount: mean * base, base });
        for index in 0..QUANTILES {
            self.above[index].push(Batch { amount: above[index] as f64, base });
            self.at_least[index].push(Batch { amount: at_least[index] as f64, base });
        }
    }

    pub(crate) fn responses(&self) -> Responses {
        let estimate = |index: usize| {
            let (above, at_least) = (&self.above[index], &self.at_least[index]);
            let exceedances = Exceedances { above, at_least };
            quantile(&self.pooled, Quantile::ALL[index].fraction, exceedances)
        };
        Responses {
            count: self.pooled.len(),
            mean_ns: ratio(&self.sums),
            quantiles_ns: std::array::from_fn(estimate),
        }
    }
}
