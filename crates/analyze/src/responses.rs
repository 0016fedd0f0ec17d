//! What did the requests of a part of a run take, and how far may that be off by chance?
//!
//! The times are read twice, step by step: what lies above a quantile is known when the quantile
//! is. Each step is a [`Batch`].

use std::ops::Range;

use hdrhistogram::Histogram;
use record::Kind;

use crate::confidence::{Batch, Estimate, Exceedances, quantile, ratio};
use crate::distribution::Quantile;

/// The response times of a job in some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Responses {
    /// How many.
    pub count: u64,
    /// Their mean, in nanoseconds; `None` without a time, as the quantiles.
    pub mean_ns: Option<Estimate>,
    /// The quantiles of [`Quantile::ALL`], in that order, in nanoseconds.
    pub quantiles_ns: [Option<Estimate>; QUANTILES],
}

/// How many quantiles there are.
const QUANTILES: usize = Quantile::ALL.len();

impl Responses {
    /// Those of some steps. `read` gives the response times of the requests that were meant to
    /// start in a step, and is asked twice.
    ///
    /// # Errors
    /// The first that `read` returns.
    pub fn of<E>(
        steps: Range<usize>,
        mut read: impl FnMut(usize) -> Result<Histogram<u64>, E>,
    ) -> Result<Responses, E> {
        let mut gathered = Gathered::default();
        for pass in Gathered::PASSES {
            for step in steps.clone() {
                pass(&mut gathered, &read(step)?);
            }
            gathered.find_bounds();
        }
        Ok(gathered.responses())
    }
}

/// The times of some steps, while they are read.
pub(crate) struct Gathered {
    pooled: Histogram<u64>,
    /// The quantiles of all, once all are pooled.
    bounds: [u64; QUANTILES],
    sums: Vec<Batch>,
    /// How many lie above each quantile.
    above: [Vec<Batch>; QUANTILES],
    /// How many reach it.
    at_least: [Vec<Batch>; QUANTILES],
}

impl Default for Gathered {
    fn default() -> Gathered {
        let pooled = Kind::Response.histogram();
        let [above, at_least] = [const { [const { Vec::new() }; QUANTILES] }; 2];
        Gathered { pooled, bounds: [0; QUANTILES], sums: Vec::new(), above, at_least }
    }
}

impl Gathered {
    /// What is done with the times of each step, twice; the bounds are found after either time.
    pub(crate) const PASSES: [fn(&mut Gathered, &Histogram<u64>); 2] =
        [Gathered::pool, Gathered::batch];

    fn pool(&mut self, times: &Histogram<u64>) {
        self.pooled.add(times).expect("histograms of one kind have the same bounds");
    }

    pub(crate) fn find_bounds(&mut self) {
        self.bounds =
            Quantile::ALL.map(|quantile| self.pooled.value_at_quantile(quantile.fraction));
    }

    fn batch(&mut self, times: &Histogram<u64>) {
        let base = times.len() as f64;
        let amount = if times.is_empty() { 0.0 } else { times.mean() * base };
        self.sums.push(Batch { amount, base });
        let (mut above, mut at_least) = ([0; QUANTILES], [0; QUANTILES]);
        for it in times.iter_recorded() {
            for place in 0..QUANTILES {
                // Values are those of the highest in their bucket, as the bounds are.
                let (value, bound) = (it.value_iterated_to(), self.bounds[place]);
                above[place] += if value > bound { it.count_at_value() } else { 0 };
                at_least[place] += if value >= bound { it.count_at_value() } else { 0 };
            }
        }
        for place in 0..QUANTILES {
            self.above[place].push(Batch { amount: above[place] as f64, base });
            self.at_least[place].push(Batch { amount: at_least[place] as f64, base });
        }
    }

    pub(crate) fn responses(&self) -> Responses {
        let estimate = |place: usize| {
            let (above, at_least) = (&self.above[place], &self.at_least[place]);
            let exceedances = Exceedances { above, at_least };
            quantile(&self.pooled, Quantile::ALL[place].fraction, exceedances)
        };
        Responses {
            count: self.pooled.len(),
            mean_ns: ratio(&self.sums),
            quantiles_ns: std::array::from_fn(estimate),
        }
    }
}
