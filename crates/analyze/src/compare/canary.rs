//! The canaries of an experiment, and the changes of the machine that they show.
//!
//! Before each run, a client of the null server measures how fast the machine is. Pairs cancel slow
//! changes of the machine. Pairs do not cancel the effect of a machine that is slower whenever one
//! of the arms runs. In that case the change of a metric may be a change of the machine.

use super::arm_id::ArmId;
use super::change::ChangeInterval;
use super::comparison::{ArmComparison, Comparison, Design};
use super::paired::{Pair, PairOrder, Paired};
use super::sample::CountedRun;
use crate::student::two_sided_p;
use workload::question::{RunMetric, Scale};

/// Probability of reporting a change of the machine by chance: once for all arms together, and once
/// for the drift.
const ALPHA: f64 = 0.01;

/// Smallest difference between arms that matters, as a fraction.
const ARMS_MATTER: f64 = 0.01;

/// Smallest drift over an experiment that matters, as a fraction. It is larger than `ARMS_MATTER`,
/// because pairs cancel most of a drift.
const DRIFT_MATTERS: f64 = 0.05;

/// Smallest number of pairs, or of runs, that is judged.
const FEWEST: usize = 6;

/// A change of the machine during an experiment, as a fraction of the time of a request to the null
/// server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MachineChange {
    /// The machine was faster or slower before the runs of an arm than before the runs of the
    /// baseline.
    BetweenArms {
        /// The arm.
        arm: ArmId,
        /// The change, as a fraction.
        change: f64,
        /// Interval of the change.
        interval: ChangeInterval,
        /// Probability with which the interval misses the true change.
        alpha: f64,
        /// True if the change is at least half as large as the change of a declared metric; `None`
        /// if no declared metric was compared by ratio.
        is_decisive: Option<bool>,
    },
    /// The machine became faster or slower from the first run to the last.
    Drift {
        /// The change, as a fraction.
        change: f64,
    },
}

/// Returns the changes of the machine that the canaries show and that their noise does not explain.
pub fn machine_changes(
    design: &Design,
    runs: &[CountedRun<'_>],
    comparison: &Comparison,
) -> Vec<MachineChange> {
    let arms = comparison.arms.iter().filter_map(|arm| between_arms(design, runs, arm));
    arms.chain(drift(runs)).collect()
}

fn between_arms(
    design: &Design,
    runs: &[CountedRun<'_>],
    arm: &ArmComparison,
) -> Option<MachineChange> {
    let baseline = runs.iter().filter(|run| run.arm == ArmId::BASELINE);
    let pair = |baseline: &CountedRun<'_>| {
        let own = runs.iter().find(|run| run.arm == arm.arm && run.round == baseline.round)?;
        let order = match baseline.position < own.position {
            true => PairOrder::BaselineFirst,
            false => PairOrder::ArmFirst,
        };
        Some(Pair { baseline: baseline.figures.canary_ns()?, arm: own.figures.canary_ns()?, order })
    };
    let pairs: Vec<Pair> = baseline.filter_map(pair).collect();
    if pairs.len() < FEWEST {
        return None;
    }
    let paired = Paired::of(&pairs, Scale::Ratio, design.order).ok()?;
    let alpha = ALPHA / (design.arms - 1) as f64;
    let interval = paired.interval(alpha)?;
    let change = paired.change();
    // The machine's change is a ratio, so only a metric's change that is a ratio is compared with
    // it.
    let is_ratio = |metric: &RunMetric| metric.quantity.scale() == Scale::Ratio;
    let declared = arm.changes.iter().filter(|one| !one.is_exploratory && is_ratio(&one.metric));
    let is_explained = |by: f64| change.abs() * 2.0 >= by.abs();
    let declared = declared.filter_map(|one| one.compared.as_ref().ok());
    // Without values, the maximum is `None`: nothing was compared with the machine's change.
    let is_decisive = declared.map(|it| is_explained(it.change)).max();
    let arm = arm.arm;
    (interval.excludes_zero() && change.abs() >= ARMS_MATTER)
        .then_some(MachineChange::BetweenArms { arm, change, interval, alpha, is_decisive })
}

/// Returns the drift of the machine, from a line fitted to the logarithms of the canaries' times in
/// the order of the runs; `None` if they show no drift that matters.
fn drift(runs: &[CountedRun<'_>]) -> Option<MachineChange> {
    let mut ordered: Vec<&CountedRun<'_>> = runs.iter().collect();
    ordered.sort_by_key(|run| (run.round, run.position));
    let values: Vec<f64> =
        ordered.into_iter().filter_map(|run| run.figures.canary_ns()).map(f64::ln).collect();
    let n = values.len() as f64;
    if values.len() < FEWEST {
        return None;
    }
    let (middle, mean) = ((n - 1.0) / 2.0, values.iter().sum::<f64>() / n);
    let places = || values.iter().enumerate().map(|(place, value)| (place as f64 - middle, value));
    let square = places().map(|(place, _)| place * place).sum::<f64>();
    let slope = places().map(|(place, value)| place * (value - mean)).sum::<f64>() / square;
    let rest = places().map(|(place, value)| (value - mean - slope * place).powi(2)).sum::<f64>();
    let error = (rest / (n - 2.0) / square).sqrt();
    let change = (slope * (n - 1.0)).exp() - 1.0;
    let is_beyond_noise = error == 0.0 || two_sided_p(slope / error, n - 2.0) < ALPHA;
    (is_beyond_noise && change.abs() >= DRIFT_MATTERS).then_some(MachineChange::Drift { change })
}

#[cfg(test)]
mod tests {
    use record::environment::generator::CANARY;
    use workload::question::{Deltas, Quantity, RunMetric};

    use super::*;
    use crate::compare::{LookPlan, OrderModel, RunFigures, compare};

    const NOISE: [f64; 8] = [0.004, -0.006, 0.002, 0.0, -0.003, 0.006, -0.004, 0.001];

    fn figures(throughput: f64, canary: f64) -> RunFigures {
        RunFigures {
            metrics: vec![(RunMetric::of(Quantity::Throughput, "read"), throughput)],
            facts: vec![(CANARY.to_owned(), canary.to_string())],
            ..RunFigures::bare(&["read"])
        }
    }

    /// Returns the changes of a machine whose canary is 300 times `at(arm, share of the
    /// experiment)`, with noise, while the throughput of the second arm is higher by `change`.
    fn changes(change: f64, at: impl Fn(usize, f64) -> f64) -> Vec<MachineChange> {
        let design = Design {
            arms: 2,
            looks: LookPlan::Auto,
            order: OrderModel::Random,
            bets: Vec::new(),
            deltas: Deltas::default(),
            saturated: None,
        };
        let position = |round: usize, arm: usize| (round / 2 + arm) % 2;
        let place = |round: usize, arm: usize| (round * 2 + position(round, arm)) as f64 / 15.0;
        let run = |round: usize, arm: usize| {
            let noise = 1.0 + NOISE[(round + arm * 3) % 8];
            let throughput =
                1_000.0 * (1.0 + change * arm as f64) * (1.0 + NOISE[round] * arm as f64);
            figures(throughput, 300.0 * noise * at(arm, place(round, arm)))
        };
        let all: Vec<(usize, usize, RunFigures)> = (0..8)
            .flat_map(|round| [0, 1].map(|arm| (round, arm)))
            .map(|(round, arm)| (round, arm, run(round, arm)))
            .collect();
        let counted: Vec<CountedRun<'_>> = all
            .iter()
            .map(|(round, arm, figures)| CountedRun {
                round: *round as u32,
                arm: ArmId(*arm),
                position: position(*round, *arm) as u32,
                figures,
            })
            .collect();
        machine_changes(&design, &counted, &compare(&design, &counted, 8))
    }

    #[test]
    fn machine_that_stays_the_same_is_not_mentioned() {
        assert_eq!(changes(-0.1, |_, _| 1.0), []);
    }

    #[test]
    fn machine_that_is_slower_in_one_arm_is_named_and_may_be_decisive() {
        for (change, expected) in [(-0.1, true), (-0.3, false)] {
            let found = changes(change, |arm, _| 1.0 + 0.08 * arm as f64);
            let [MachineChange::BetweenArms { arm: ArmId(1), change: by, is_decisive, .. }] =
                found[..]
            else {
                panic!("{found:?}");
            };
            assert!((0.07..0.09).contains(&by), "{found:?}");
            assert_eq!(is_decisive, Some(expected), "{found:?}");
        }
    }

    /// An arm without any throughput has no ratio to the baseline.
    #[test]
    fn machine_is_compared_with_no_change_if_no_declared_metric_has_a_ratio() {
        let found = changes(-1.0, |arm, _| 1.0 + 0.08 * arm as f64);
        let [MachineChange::BetweenArms { is_decisive, .. }] = found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(is_decisive, None, "{found:?}");
    }

    #[test]
    fn machine_that_slows_down_in_both_arms_drifts() {
        let found = changes(-0.1, |_, share| 1.0 + 0.2 * share);
        let [MachineChange::Drift { change }] = found[..] else { panic!("{found:?}") };
        assert!((0.15..0.25).contains(&change), "{found:?}");
    }

    #[test]
    fn too_few_canaries_show_no_drift() {
        let runs: Vec<RunFigures> =
            (0..4).map(|n| figures(1.0, 300.0 + 100.0 * f64::from(n))).collect();
        let counted: Vec<CountedRun<'_>> = (0..)
            .zip(&runs)
            .map(|(round, figures)| CountedRun {
                round,
                arm: ArmId::BASELINE,
                position: 0,
                figures,
            })
            .collect();
        assert_eq!(drift(&counted), None);
    }
}
