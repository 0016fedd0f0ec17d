//! The runs of two groups, and the estimates from them.

use workload::question::{ChangeRange, RunMetric};

use super::arm_id::ArmId;
use super::change::{ChangeInterval, Incomparable};
use super::conclusion::{Conclusion, conclude, pairs_to_conclude};
use super::figures::{Missing, RunFigures, RunVerdict};
use super::outcome::{BetOutcome, judge_bet};
use super::paired::{OrderModel, Pair, PairOrder, Paired};
use super::unpaired::Unpaired;

/// A run that counts, with its position in an experiment.
#[derive(Clone, Copy, Debug)]
pub struct CountedRun<'a> {
    /// Number of the round.
    pub round: u32,
    /// The arm.
    pub arm: ArmId,
    /// Position within the round, from 0.
    pub position: u32,
    /// Figures of the run.
    pub figures: &'a RunFigures,
}

/// Reason why a metric was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompared {
    /// A run does not have the metric.
    Missing(Missing),
    /// No change can be computed from the values of the metric.
    Incomparable(Incomparable),
    /// The arms have different data, and this difference is not declared.
    OtherData,
    /// Commits survive a crash in one arm only, and this difference is not declared.
    OtherDurability,
    /// Runs of the arm or of its baseline are INVALID.
    InvalidRuns,
}

/// The runs of a baseline and of an arm.
#[derive(Clone, Debug)]
pub enum Sample<'a> {
    /// Pairs of runs of the same round.
    Pairs {
        /// For each round, the run of the baseline and the run of the arm.
        pairs: Vec<[CountedRun<'a>; 2]>,
        /// Treatment of the order of runs.
        order: OrderModel,
    },
    /// Runs of the baseline and of the arm that were not interleaved.
    Groups([Vec<&'a RunFigures>; 2]),
}

/// Number of runs behind a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleSize {
    /// Pairs of runs of the same round.
    Pairs(u32),
    /// Runs of the baseline and of the arm that were not interleaved.
    Groups([u32; 2]),
}

/// Values of a metric in the runs behind a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleValues {
    /// Values of each pair, in the order of rounds.
    Pairs(Vec<Pair>),
    /// Values of the baseline and of the arm in runs that were not interleaved.
    Groups([Vec<f64>; 2]),
}

impl<'a> Sample<'a> {
    /// Returns the number of runs.
    pub fn size(&self) -> SampleSize {
        match self {
            Sample::Pairs { pairs, .. } => SampleSize::Pairs(pairs.len() as u32),
            Sample::Groups(groups) => SampleSize::Groups([0, 1].map(|of| groups[of].len() as u32)),
        }
    }

    /// Returns the verdicts of the two runs of each pair; empty if the runs were not interleaved.
    pub(super) fn verdicts(&self) -> Vec<[RunVerdict; 2]> {
        match self {
            Sample::Pairs { pairs, .. } => {
                let verdict = |run: &CountedRun<'_>| run.figures.verdict.clone();
                pairs.iter().map(|pair| pair.each_ref().map(verdict)).collect()
            }
            Sample::Groups(_) => Vec::new(),
        }
    }

    /// Returns the runs of the baseline (0) or of the arm (1).
    pub(super) fn side(&self, side: usize) -> Vec<&'a RunFigures> {
        match self {
            Sample::Pairs { pairs, .. } => pairs.iter().map(|pair| pair[side].figures).collect(),
            Sample::Groups(groups) => groups[side].clone(),
        }
    }

    /// Returns the first run of the baseline.
    pub(super) fn first(&self) -> Option<&'a RunFigures> {
        match self {
            Sample::Pairs { pairs, .. } => pairs.first().map(|pair| pair[0].figures),
            Sample::Groups([baseline, _]) => baseline.first().copied(),
        }
    }

    /// Estimates the change of a metric. `overloading` is the saturated job, if its load overloads
    /// a run: the throughput of this job is then compared in all runs.
    pub(super) fn estimate(
        &self,
        metric: &RunMetric,
        overloading: Option<&str>,
    ) -> Result<EstimatedChange, NotCompared> {
        let scale = metric.quantity.scale();
        let value = |figures: &RunFigures| match overloading {
            Some(job) => figures.get_carried(metric, job).map_err(NotCompared::Missing),
            None => figures.get(metric).map_err(NotCompared::Missing),
        };
        match self {
            Sample::Pairs { pairs, order } => {
                let pair = |[baseline, arm]: &[CountedRun<'_>; 2]| {
                    let order = match baseline.position < arm.position {
                        true => PairOrder::BaselineFirst,
                        false => PairOrder::ArmFirst,
                    };
                    let (baseline, arm) = (value(baseline.figures)?, value(arm.figures)?);
                    Ok(Pair { baseline, arm, order })
                };
                let values = pairs.iter().map(pair).collect::<Result<Vec<Pair>, NotCompared>>()?;
                let estimate = Estimate::Paired(Paired::of(&values, scale, *order)?);
                Ok(EstimatedChange { values: SampleValues::Pairs(values), estimate })
            }
            Sample::Groups([baseline, arm]) => {
                let values = |runs: &[&RunFigures]| {
                    runs.iter().map(|run| value(run)).collect::<Result<Vec<f64>, NotCompared>>()
                };
                let [baseline, arm] = [values(baseline)?, values(arm)?];
                let estimate = Estimate::Unpaired(Unpaired::of(&baseline, &arm, scale)?);
                Ok(EstimatedChange { values: SampleValues::Groups([baseline, arm]), estimate })
            }
        }
    }
}

impl SampleSize {
    /// Returns the number of pairs; `None` if the runs were not interleaved.
    pub fn pairs(self) -> Option<u32> {
        match self {
            SampleSize::Pairs(pairs) => Some(pairs),
            SampleSize::Groups(_) => None,
        }
    }

    /// Returns the number of runs of the baseline and of the arm.
    pub fn runs(self) -> [u32; 2] {
        match self {
            SampleSize::Pairs(pairs) => [pairs; 2],
            SampleSize::Groups(runs) => runs,
        }
    }
}

impl SampleValues {
    /// Returns the values of the baseline and of the arm.
    pub fn sides(&self) -> [Vec<f64>; 2] {
        match self {
            SampleValues::Pairs(pairs) => [
                pairs.iter().map(|pair| pair.baseline).collect(),
                pairs.iter().map(|pair| pair.arm).collect(),
            ],
            SampleValues::Groups(groups) => groups.clone(),
        }
    }

    /// Returns the values of each pair; empty if the runs were not interleaved.
    pub fn pairs(&self) -> &[Pair] {
        match self {
            SampleValues::Pairs(pairs) => pairs,
            SampleValues::Groups(_) => &[],
        }
    }

    /// Returns the number of runs.
    pub fn size(&self) -> SampleSize {
        match self {
            SampleValues::Pairs(pairs) => SampleSize::Pairs(pairs.len() as u32),
            SampleValues::Groups(values) => {
                SampleSize::Groups([0, 1].map(|of| values[of].len() as u32))
            }
        }
    }

    /// Returns the means of the baseline and of the arm.
    pub(super) fn means(&self) -> [f64; 2] {
        self.sides().map(|values| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// The estimated change of a metric, with the values behind it.
pub(super) struct EstimatedChange {
    pub(super) values: SampleValues,
    pub(super) estimate: Estimate,
}

/// An estimated change.
pub(super) enum Estimate {
    Paired(Paired),
    Unpaired(Unpaired),
}

impl Estimate {
    pub(super) fn change(&self) -> f64 {
        match self {
            Estimate::Paired(paired) => paired.change(),
            Estimate::Unpaired(unpaired) => unpaired.change(),
        }
    }

    pub(super) fn interval(&self, alpha: f64) -> Option<ChangeInterval> {
        match self {
            Estimate::Paired(paired) => paired.interval(alpha),
            Estimate::Unpaired(unpaired) => unpaired.interval(alpha),
        }
    }

    pub(super) fn hodges_lehmann(&self) -> f64 {
        match self {
            Estimate::Paired(paired) => paired.hodges_lehmann(),
            Estimate::Unpaired(unpaired) => unpaired.hodges_lehmann(),
        }
    }

    pub(super) fn spread(&self) -> Option<f64> {
        match self {
            Estimate::Paired(paired) => Some(paired.spread()),
            Estimate::Unpaired(_) => None,
        }
    }

    pub(super) fn order_effect(&self) -> Option<f64> {
        match self {
            Estimate::Paired(paired) => paired.order_effect(),
            Estimate::Unpaired(_) => None,
        }
    }

    /// Draws the conclusion for a metric; `delta` is its smallest change that matters.
    pub(super) fn conclude(&self, metric: &RunMetric, delta: f64, alpha: f64) -> Conclusion {
        let better = metric.quantity.better();
        match self {
            Estimate::Unpaired(unpaired) if !unpaired.has_several_runs() => Conclusion::SingleRun,
            Estimate::Unpaired(unpaired) => {
                conclude(unpaired.interval(alpha), better, delta, || None)
            }
            Estimate::Paired(paired) => {
                let more_pairs = || pairs_to_conclude(paired, delta, alpha);
                conclude(paired.interval(alpha), better, delta, more_pairs)
            }
        }
    }

    /// Judges a bet; `None` if the runs were not interleaved.
    pub(super) fn judge_bet(&self, range: ChangeRange, alpha: f64) -> Option<BetOutcome> {
        match self {
            Estimate::Paired(paired) => Some(judge_bet(range, paired, alpha)),
            Estimate::Unpaired(_) => None,
        }
    }
}

impl From<Incomparable> for NotCompared {
    fn from(reason: Incomparable) -> NotCompared {
        NotCompared::Incomparable(reason)
    }
}
