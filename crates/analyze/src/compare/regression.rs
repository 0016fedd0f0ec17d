//! Judgement of regressions against a baseline, for continuous integration.

use workload::question::{RegressionLimit, RunMetric};

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
    /// The outcome, or the reason why the limit cannot be judged.
    pub outcome: Result<RegressionOutcome, NotCompared>,
}

/// Judges limits for each arm of a comparison. `resolve` returns a metric with the name of the job
/// or table that it belongs to in the runs of a baseline.
pub fn judge_limits(
    limits: &[RegressionLimit],
    comparison: &Comparison,
    resolve: impl Fn(ArmId, &RunMetric) -> RunMetric,
) -> Vec<JudgedLimit> {
    let resolve = &resolve;
    let judged = comparison.arms.iter().flat_map(|compared| {
        let arm = compared.arm;
        limits.iter().map(move |limit| {
            let change = change_of(&resolve(compared.baseline, &limit.metric), compared);
            let compared = change.map(|change| change.compared.as_ref());
            let compared = compared.unwrap_or(Err(&NotCompared::Missing(Missing::NotMeasured)));
            let judge = |compared: &Compared| judge_regression(limit.change, compared.interval);
            let outcome = compared.map(judge).map_err(|reason| *reason);
            JudgedLimit { limit: limit.clone(), arm, change: change.cloned(), outcome }
        })
    });
    judged.collect()
}

/// Returns the change of a declared metric.
fn change_of<'c>(metric: &RunMetric, arm: &'c ArmComparison) -> Option<&'c MetricChange> {
    arm.changes.iter().find(|change| !change.is_exploratory && change.metric == *metric)
}

/// Judges a change by a limit: the largest accepted change for the worse. The limit is negative if
/// a decrease is worse, and never 0.
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
    use crate::compare::{ArmSample, LookPlan, RunFigures, Sample, Terms, compare_samples};
    use workload::question::Deltas;

    /// The whole database has grown by a half, and the table not at all.
    #[test]
    fn unnamed_limit_applies_to_whole_database() {
        let run = |whole: f64, of_table: f64| {
            let mut figures = RunFigures::bare(&[]);
            for (metric, value) in [("size(t)", of_table), ("size", whole)] {
                figures.add(RunMetric::parse(metric).unwrap(), Ok(value));
            }
            figures
        };
        let before = [run(1_000.0, 100.0), run(1_001.0, 100.1)];
        let after = [run(1_500.0, 100.0), run(1_501.0, 100.1)];
        let limits = RegressionLimit::parse_list("size(t) > +5%, size > +5%").unwrap();
        let metrics: Vec<RunMetric> = limits.iter().map(|limit| limit.metric.clone()).collect();
        let deltas = Deltas::default();
        let terms = Terms { bets: &[], metrics: &metrics, deltas: &deltas, saturated: None };
        let runs = Sample::Groups([&before, &after].map(|runs| runs.iter().collect()));
        let looks = LookPlan::Fixed(LookPlan::FEWEST);
        let sample = ArmSample { baseline: ArmId::BASELINE, arm: ArmId(1), looks, runs };
        let comparison = compare_samples(terms, &[sample]);
        let judged = judge_limits(&limits, &comparison, |_, metric| before[0].resolve(metric));
        let outcomes: Vec<_> = judged.iter().map(|one| one.outcome).collect();
        assert_eq!(outcomes, [Ok(RegressionOutcome::Within), Ok(RegressionOutcome::Exceeded)]);
    }

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
