//! The change of a metric between two groups of runs that were not interleaved.
//!
//! Welch's t on the means of the runs' logarithms ("The generalization of Student's problem when
//! several different population variances are involved", 1947). Such an interval covers the scatter
//! of runs within each group, and not what changed between the groups: the machine's drift is a
//! part of the estimate. With the drift of ordinary machines a third of the comparisons of equal
//! groups are significant, so every answer must say that the runs were not paired.

use workload::question::Scale;

use super::change::{ChangeInterval, Incomparable, inner, outer};
use crate::student::{critical_t, two_sided_p};

/// The estimated change between two groups of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpaired {
    scale: Scale,
    estimate: f64,
    error: f64,
    freedom: f64,
    /// Number of runs of the baseline and of the arm.
    pub runs: [u32; 2],
}

/// Fewest runs of a group: a single run has no scatter.
const FEWEST: usize = 2;

impl Unpaired {
    /// Estimates the change from the values of a metric, one of each run.
    ///
    /// # Errors
    /// A single run on either side, or a value of 0 where ratios are compared.
    pub fn of(baseline: &[f64], arm: &[f64], scale: Scale) -> Result<Unpaired, Incomparable> {
        let has = baseline.len().min(arm.len());
        if has < FEWEST {
            return Err(Incomparable::TooFew { has: has as u32, needs: FEWEST as u32 });
        }
        let [baseline, arm] = [Group::of(baseline, scale)?, Group::of(arm, scale)?];
        let error = (baseline.squared_error + arm.squared_error).sqrt();
        Ok(Unpaired {
            scale,
            estimate: arm.mean - baseline.mean,
            error,
            freedom: freedom(&baseline, &arm),
            runs: [baseline.runs as u32, arm.runs as u32],
        })
    }

    /// Returns the estimated change.
    pub fn change(&self) -> f64 {
        outer(self.estimate, self.scale)
    }

    /// Returns the interval that misses the true change with a probability of `alpha` if nothing
    /// but the arm changed between the groups; `None` without scatter.
    pub fn interval(&self, alpha: f64) -> Option<ChangeInterval> {
        (self.error > 0.0).then(|| {
            let half_width = critical_t(alpha, self.freedom) * self.error;
            ChangeInterval::around(self.estimate, half_width, self.scale)
        })
    }

    /// Returns the probability of an estimate at least so far from zero if the groups are equal;
    /// `None` without scatter.
    pub fn p_value(&self) -> Option<f64> {
        (self.error > 0.0).then(|| two_sided_p(self.estimate / self.error, self.freedom))
    }
}

/// Mean of a group of runs.
struct Group {
    runs: usize,
    mean: f64,
    squared_error: f64,
}

impl Group {
    fn of(values: &[f64], scale: Scale) -> Result<Group, Incomparable> {
        let values: Vec<f64> =
            values.iter().map(|value| inner(*value, scale)).collect::<Result<_, _>>()?;
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok(Group { runs: values.len(), mean, squared_error: squares / (n - 1.0) / n })
    }
}

/// Returns the degrees of freedom by Welch and Satterthwaite, at least 1.
fn freedom(a: &Group, b: &Group) -> f64 {
    let sum = a.squared_error + b.squared_error;
    let part = |group: &Group| group.squared_error.powi(2) / (group.runs as f64 - 1.0);
    let parts = part(a) + part(b);
    if parts > 0.0 { (sum * sum / parts).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means 3 and 7, variances 2.5 and 10, five runs each: t = -4 / √2.5 = -2.5298 with
    /// 2.5² / ((0.25 + 4) / 4) = 5.882 degrees of freedom.
    #[test]
    fn test_is_that_of_welch() {
        let unpaired = Unpaired::of(
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[3.0, 5.0, 7.0, 9.0, 11.0],
            Scale::Difference,
        );
        let unpaired = unpaired.unwrap();
        assert!((unpaired.change() - 4.0).abs() < 1e-12);
        assert!((unpaired.error - 2.5f64.sqrt()).abs() < 1e-12);
        assert!((unpaired.freedom - 5.882_353).abs() < 1e-6);
        let p = unpaired.p_value().unwrap();
        assert!((0.044..0.046).contains(&p), "{p}");
        assert!(unpaired.interval(0.05).unwrap().excludes_zero());
        assert!(!unpaired.interval(0.04).unwrap().excludes_zero());
    }

    #[test]
    fn one_run_against_one_run_is_refused() {
        let one = Incomparable::TooFew { has: 1, needs: 2 };
        assert_eq!(Unpaired::of(&[1.0], &[2.0], Scale::Ratio), Err(one));
        assert_eq!(Unpaired::of(&[1.0, 2.0, 3.0], &[2.0], Scale::Ratio), Err(one));
        let zero = Unpaired::of(&[0.0, 1.0], &[2.0, 3.0], Scale::Ratio);
        assert_eq!(zero, Err(Incomparable::NotPositive));
    }

    #[test]
    fn groups_without_scatter_give_no_interval() {
        let equal = Unpaired::of(&[2.0, 2.0], &[3.0, 3.0], Scale::Ratio).unwrap();
        assert!((equal.change() - 0.5).abs() < 1e-12);
        assert_eq!((equal.interval(0.05), equal.p_value()), (None, None));
    }
}
