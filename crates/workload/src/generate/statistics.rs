//! Test helpers that compare samples with distributions.
//!
//! The draws of a test are always the same: a test that passes once always passes. Chance exceeds
//! the bounds once in some ten thousand tests.

/// The allowed error of a mean, in standard errors.
const ERRORS: f64 = 5.0;

/// The bound of the Kolmogorov-Smirnov statistic times the square root of the sample size. Chance
/// exceeds it with a probability of 2·exp(-2·2.2²), one in 8,000.
const LARGEST_DISTANCE: f64 = 2.2;

/// Checks a sample against its cumulative distribution function (Kolmogorov-Smirnov test).
#[track_caller]
pub(crate) fn kolmogorov_smirnov(sample: &[f64], law: impl Fn(f64) -> f64) {
    let distance = distance(sample, law);
    assert!(distance < LARGEST_DISTANCE, "the largest distance is {distance}");
}

fn distance(sample: &[f64], law: impl Fn(f64) -> f64) -> f64 {
    let mut sample = sample.to_vec();
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distances = sample.iter().enumerate().map(|(at, value)| {
        let expected = law(*value);
        (expected - at as f64 / n).abs().max(((at + 1) as f64 / n - expected).abs())
    });
    distances.fold(0.0, f64::max) * n.sqrt()
}

/// Checks counts against their probabilities (Pearson's chi-square test).
#[track_caller]
pub(crate) fn chi_square(counts: &[u32], law: &[f64]) {
    let (statistic, bound) = (pearson(counts, law), bound(counts.len() as f64 - 1.0));
    assert!(statistic < bound, "chi-square {statistic} of at most {bound}: {counts:?}");
}

fn pearson(counts: &[u32], law: &[f64]) -> f64 {
    assert_eq!(counts.len(), law.len());
    let sum: f64 = law.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "the probabilities add up to {sum}");
    let n: f64 = counts.iter().copied().map(f64::from).sum();
    let parts = counts.iter().zip(law).map(|(count, probability)| {
        let expected = probability * n;
        (f64::from(*count) - expected).powi(2) / expected
    });
    parts.sum()
}

/// Returns the bound that chi-square exceeds as rarely as a normal number exceeds four standard
/// deviations (Wilson and Hilferty, 1931).
fn bound(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + 4.0 * spread.sqrt()).powi(3)
}

/// Checks the mean of a sample against the mean of a distribution, within five standard errors.
#[track_caller]
pub(crate) fn assert_mean(sample: &[f64], mean: f64, deviation: f64) {
    let found = sample.iter().sum::<f64>() / sample.len() as f64;
    let bound = ERRORS * deviation / (sample.len() as f64).sqrt();
    assert!((found - mean).abs() < bound, "the mean is {found}, not {mean} ± {bound}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_of_another_distribution_is_rejected() {
        let n = 50_000;
        let even: Vec<f64> = (0..n).map(|at| (f64::from(at) + 0.5) / f64::from(n)).collect();
        assert!(distance(&even, |x| x) < LARGEST_DISTANCE);
        assert!(distance(&even, |x| x.powf(1.03)) > LARGEST_DISTANCE);
        assert!(pearson(&[1_000, 1_000, 1_000], &[1.0 / 3.0; 3]) < bound(2.0));
        assert!(pearson(&[1_150, 1_000, 850], &[1.0 / 3.0; 3]) > bound(2.0));
    }

    #[test]
    #[should_panic(expected = "the mean is 0.5, not 0.51")]
    fn wrong_mean_is_rejected() {
        assert_mean(&[0.5; 50_000], 0.51, 1.0 / 12.0_f64.sqrt());
    }

    #[test]
    fn bounds_have_their_nominal_false_alarm_rate() {
        // For an even number of degrees of freedom the probability is a finite sum.
        for freedom in [2, 10, 100] {
            let half = bound(f64::from(freedom)) / 2.0;
            let terms = (1..freedom / 2).scan(1.0, |term, k| {
                *term *= half / f64::from(k);
                Some(*term)
            });
            let probability = (-half).exp() * (1.0 + terms.sum::<f64>());
            assert!((1.5e-5..4e-5).contains(&probability), "{freedom}: {probability}");
        }
    }
}
