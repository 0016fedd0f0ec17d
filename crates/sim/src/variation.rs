//! Variation of a server's speed from run to run, which comparisons of runs must expect.

use base::{Seed, Stream};

/// Variation of all service times from run to run. A run has one factor, for its whole length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variation {
    /// Standard deviation of independent noise: 0.02 is about 2 %.
    pub noise: f64,
    /// Standard deviation of drift, which is similar in consecutive runs.
    pub drift: f64,
    /// Growth of the service times from each run to the next: 0.01 is 1 %.
    pub trend: f64,
    /// Seed of the drift, the same for all runs of a series.
    pub series: Seed,
    /// Position of the run in its series, from 0.
    pub run: u32,
}

/// Correlation of the drift of consecutive runs.
const MEMORY: f64 = 0.9;

impl Variation {
    /// Returns the factor of all service times in the run of a server with this seed.
    ///
    /// The logarithm of the factor has three terms: a normally distributed number that depends on
    /// `seed`, the value of a stationary first-order autoregressive process that depends on
    /// `series` and `run`, and the trend over the runs so far.
    pub fn factor(&self, seed: Seed) -> f64 {
        let noise = match self.noise > 0.0 {
            true => self.noise * Stream::new(seed, "sim", "noise").draw(0).normal(),
            false => 0.0,
        };
        let drift = if self.drift > 0.0 { self.drift * self.walk() } else { 0.0 };
        let trend = self.trend.ln_1p() * f64::from(self.run);
        (noise + drift + trend).exp()
    }

    /// Returns the value of the autoregressive process at this run; its variance is 1.
    fn walk(&self) -> f64 {
        let stream = Stream::new(self.series, "sim", "drift");
        let step = (1.0 - MEMORY * MEMORY).sqrt();
        let first = stream.draw(0).normal();
        (1..=u64::from(self.run))
            .fold(first, |value, run| MEMORY * value + step * stream.draw(run).normal())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deviation(values: &[f64]) -> f64 {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
    }

    #[test]
    fn steady_server_has_the_factor_one() {
        assert_eq!(Variation::default().factor(Seed(3)), 1.0);
    }

    #[test]
    fn trend_grows_from_run_to_run() {
        let of = |run| Variation { trend: 0.01, run, ..Variation::default() }.factor(Seed(3));
        assert_eq!(of(0), 1.0);
        assert!((of(10) - 1.01f64.powi(10)).abs() < 1e-12, "{}", of(10));
    }

    #[test]
    fn noise_depends_on_the_seed_alone() {
        let of = |seed, run| Variation { noise: 0.02, run, ..Variation::default() }.factor(seed);
        assert_eq!(of(Seed(1), 0), of(Seed(1), 7));
        let all: Vec<f64> = (0..2_000).map(|seed| of(Seed(seed), 0).ln()).collect();
        assert!((0.019..0.021).contains(&deviation(&all)), "{}", deviation(&all));
    }

    #[test]
    fn drift_is_similar_in_consecutive_runs() {
        let of = |series, run| {
            let variation =
                Variation { drift: 0.02, series: Seed(series), run, ..Variation::default() };
            variation.factor(Seed(9)).ln()
        };
        let first: Vec<f64> = (0..2_000).map(|series| of(series, 0)).collect();
        let later: Vec<f64> = (0..2_000).map(|series| of(series, 30)).collect();
        let steps: Vec<f64> = (0..2_000).map(|series| of(series, 31) - of(series, 30)).collect();
        assert!((0.019..0.021).contains(&deviation(&first)), "{}", deviation(&first));
        assert!((0.019..0.021).contains(&deviation(&later)), "{}", deviation(&later));
        // Consecutive runs differ by √(2 (1 − 0.9)) of the standard deviation.
        assert!((0.0085..0.0094).contains(&deviation(&steps)), "{}", deviation(&steps));
    }
}
