//! Judgement of regressions against a baseline, for continuous integration.

use workload::question::RegressionLimit;

use super::arm_id::ArmId;
use super::change::ChangeInterval;
use super::comparison::{ArmComparison, Compared, Comparison, MetricChange};
use super::figures::Missing;
use super::sample::NotCompared;

/// The outcome of a limit for regressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionOutcome {
    /// The whole interval lies beyond the limit.
    Exceeded,
    /// The whole interval lies on the allowed side.
    Within,
    /// The interval includes the limit, or there is no interval.
    Undecided,
}

/// A limit, judged for one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedLimit {
    /// The limit.
    pub limit: RegressionLimit,
    /// The arm.
    pub arm: ArmId,
    /// The change that is judged; `None` if the comparison does not have the metric.
    pub change: Option<MetricChange>,
    /// The outcome, or the reason why it cannot be judged.
    pub outcome: Result<RegressionOutcome, NotCompared>,
}

/// Judges limits for each arm of a comparison.
pub fn judge_limits(limits: &[RegressionLimit], comparison: &Comparison) -> Vec<JudgedLimit> {
    let judged = comparison.arms.iter().flat_map(|compared| {
        let arm = compared.arm;
        limits.iter().map(move |limit| {
            let change = change_of(limit, compared);
            let compared = change.map(|change| change.compared.as_ref());
            let compared = compared.unwrap_or(Err(&NotCompared::Missing(Missing::NotMeasured)));
            let judge = |compared: &Compared| judge_regression(limit.change, compared.interval);
            let outcome = compared.map(judge).map_err(|reason| *reason);
            JudgedLimit { limit: limit.clone(), arm, change: change.cloned(), outcome }
        })
    });
    judged.collect()
}

/// Returns the change of the metric of a limit. A limit without a name applies to the only job or
/// table.
fn change_of<'c>(limit: &RegressionLimit, arm: &'c ArmComparison) -> Option<&'c MetricChange> {
    let is_it = |change: &&MetricChange| {
        let is_named = limit.metric.of.is_none() || limit.metric.of == change.metric.of;
        !change.is_exploratory && change.metric.quantity == limit.metric.quantity && is_named
    };
    arm.changes.iter().find(is_it)
}

/// Judges a limit: a change for the worse, negative if less is worse, never 0.
pub fn judge_regression(limit: f64, interval: Option<ChangeInterval>) -> RegressionOutcome {
    let Some(ChangeInterval { low, high }) = interval else {
        return RegressionOutcome::Undecided;
    };
    let (near, far) = if limit < 0.0 { (-high, -low) } else { (low, high) };
    match limit.abs() {
        limit if near > limit => RegressionOutcome::Exceeded,
        limit if far <= limit => RegressionOutcome::Within,
        _ => RegressionOutcome::Undecided,
    }
}

impl RegressionOutcome {
    /// Returns the name of this outcome in documents.
    pub fn name(self) -> &'static str {
        match self {
            RegressionOutcome::Exceeded => "exceeded",
            RegressionOutcome::Within => "within",
            RegressionOutcome::Undecided => "undecided",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_must_be_significant_and_beyond_its_size() {
        let judge = |limit, low, high| judge_regression(limit, Some(ChangeInterval { low, high }));
        assert_eq!(judge(-0.03, -0.08, -0.04), RegressionOutcome::Exceeded);
        assert_eq!(judge(-0.03, -0.08, -0.02), RegressionOutcome::Undecided);
        assert_eq!(judge(-0.03, -0.02, 0.04), RegressionOutcome::Within);
        assert_eq!(judge(-0.03, 0.04, 0.08), RegressionOutcome::Within);
        assert_eq!(judge(0.1, 0.11, 0.2), RegressionOutcome::Exceeded);
        assert_eq!(judge(0.1, 0.05, 0.2), RegressionOutcome::Undecided);
        assert_eq!(judge(0.1, -0.2, 0.1), RegressionOutcome::Within);
        assert_eq!(judge_regression(-0.03, None), RegressionOutcome::Undecided);
    }
}
