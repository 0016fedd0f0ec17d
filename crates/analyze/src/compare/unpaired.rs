//! The change of a metric between two groups of runs that were not interleaved.
//!
//! The method is Welch's t on the means of the runs' values, or of their logarithms if ratios are
//! compared ("The generalization of Student's problem when several different population variances
//! are involved", 1947). Its interval covers the scatter of runs within each group, but not changes
//! between the groups: the machine's drift is a part of the estimate. With the drift of ordinary
//! machines, a third of the comparisons of equal groups are significant, so every answer must say
//! that the runs were not paired.

use workload::question::Scale;

use super::change::{ChangeInterval, Incomparable, median, to_change, to_scale};
use super::standard_error::{StandardError, scatter};
use crate::moments::mean;

/// The estimated change between two groups of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpaired {
    scale: Scale,
    /// Differences between every run of the arm and every run of the baseline.
    differences: Vec<f64>,
    estimate: f64,
    /// Standard error of the estimate; `None` without scatter.
    error: Option<StandardError>,
    has_several_runs: bool,
}

impl Unpaired {
    /// Estimates the change from the values of a metric, one of each run.
    ///
    /// # Errors
    /// Fails if a group has no run, or with a value of 0 or less if ratios are compared.
    pub fn of(baseline: &[f64], arm: &[f64], scale: Scale) -> Result<Unpaired, Incomparable> {
        let fewest = baseline.len().min(arm.len());
        if fewest == 0 {
            return Err(Incomparable::TooFew { has: 0, needs: 1 });
        }
        let to_scale = |values: &[f64]| {
            values.iter().map(|value| to_scale(*value, scale)).collect::<Result<Vec<f64>, _>>()
        };
        let [baseline, arm] = [to_scale(baseline)?, to_scale(arm)?];
        let has_several_runs = fewest > 1;
        let error = || StandardError::of_difference(error(&baseline), error(&arm));
        let differences = arm.iter().flat_map(|own| baseline.iter().map(move |other| own - other));
        Ok(Unpaired {
            scale,
            estimate: mean(&arm) - mean(&baseline),
            error: has_several_runs.then(error).flatten(),
            has_several_runs,
            differences: differences.collect(),
        })
    }

    /// Returns true if both groups have more than one run: a single run has no scatter.
    pub fn has_several_runs(&self) -> bool {
        self.has_several_runs
    }

    /// Returns the estimated change.
    pub fn change(&self) -> f64 {
        to_change(self.estimate, self.scale)
    }

    /// Returns the interval that misses the true change with a probability of `alpha` if nothing
    /// but the arm changed between the groups; `None` without scatter, or if a group has a single
    /// run.
    pub fn interval(&self, alpha: f64) -> Option<ChangeInterval> {
        let half_width = self.error?.half_width(alpha);
        Some(ChangeInterval::around(self.estimate, half_width, self.scale))
    }

    /// Returns the change by Hodges and Lehmann: the median of the differences between every run of
    /// the arm and every run of the baseline.
    pub fn hodges_lehmann(&self) -> f64 {
        to_change(median(self.differences.clone()), self.scale)
    }
}

/// Returns the standard error of the mean of at least two values; `None` without scatter.
fn error(values: &[f64]) -> Option<StandardError> {
    let (n, mean) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = scatter((squares / (n - 1.0)).sqrt(), values);
    let error = deviation / n.sqrt();
    (error > 0.0).then_some(StandardError { error, freedom: n - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means 3 and 7, variances 2.5 and 10, five runs each: t = -4 / √2.5 = -2.5298 with
    /// 2.5² / ((0.25 + 4) / 4) = 5.882 degrees of freedom.
    #[test]
    fn test_agrees_with_welch() {
        let unpaired = Unpaired::of(
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[3.0, 5.0, 7.0, 9.0, 11.0],
            Scale::Difference,
        );
        let unpaired = unpaired.unwrap();
        assert!((unpaired.change() - 4.0).abs() < 1e-12);
        let StandardError { error, freedom } = unpaired.error.unwrap();
        assert!((error - 2.5f64.sqrt()).abs() < 1e-12);
        assert!((freedom - 5.882_353).abs() < 1e-6);
        // The probability of this t without a change is 0.045.
        assert!(unpaired.interval(0.046).unwrap().excludes_zero());
        assert!(!unpaired.interval(0.044).unwrap().excludes_zero());
    }

    #[test]
    fn single_run_has_a_change_and_no_interval() {
        for baseline in [&[1.0][..], &[0.5, 2.0]] {
            let single = Unpaired::of(baseline, &[2.0], Scale::Ratio).unwrap();
            assert!((single.change() - 1.0).abs() < 1e-12, "{single:?}");
            assert!(!single.has_several_runs());
            assert_eq!(single.interval(0.05), None);
        }
        let none = Unpaired::of(&[], &[2.0], Scale::Ratio);
        assert_eq!(none, Err(Incomparable::TooFew { has: 0, needs: 1 }));
        let zero = Unpaired::of(&[0.0, 1.0], &[2.0, 3.0], Scale::Ratio);
        assert_eq!(zero, Err(Incomparable::NotPositive));
    }

    #[test]
    fn groups_without_scatter_give_no_interval() {
        for same in [2.0, 0.1, 1e9 / 7.0] {
            let equal = Unpaired::of(&[same; 3], &[same * 1.5; 3], Scale::Ratio).unwrap();
            assert!((equal.change() - 0.5).abs() < 1e-12);
            assert_eq!(equal.interval(0.05), None, "{same}");
        }
    }

    #[test]
    fn one_outlier_does_not_move_the_change_by_hodges_and_lehmann() {
        let outlier = Unpaired::of(&[1.0, 1.0, 1.0], &[1.1, 1.1, 9.0], Scale::Ratio).unwrap();
        assert!((outlier.hodges_lehmann() - 0.1).abs() < 1e-12, "{outlier:?}");
        assert!(outlier.change() > 0.5);
    }
}
