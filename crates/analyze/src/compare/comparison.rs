//! The comparison of the arms of an experiment, over all metrics.

use std::collections::BTreeSet;

use workload::question::{Bet, Deltas, Quantity, RunMetric, TimeStatistic};

use super::change::{ChangeInterval, Incomparable};
use super::conclusion::{Conclusion, conclude, pairs_to_conclude};
use super::figures::{Missing, RunFigures};
use super::looks::LookPlan;
use super::outcome::{BetOutcome, judge_bet};
use super::paired::{OrderModel, Pair, PairOrder, Paired};
use crate::limiter::Component;

/// The parts of an experiment's design that its statistics follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// Number of arms, the baseline included; at least 2.
    pub arms: usize,
    /// Plan of the looks.
    pub looks: LookPlan,
    /// Treatment of the order of runs.
    pub order: OrderModel,
    /// Bets on every arm against the baseline.
    pub bets: Vec<Bet>,
    /// Smallest changes that matter.
    pub deltas: Deltas,
}

/// A run that counts, at its place in an experiment.
#[derive(Clone, Copy, Debug)]
pub struct CountedRun<'a> {
    /// Number of the round.
    pub round: u32,
    /// Index of the arm; the baseline is 0.
    pub arm: usize,
    /// Position within the round, from 0.
    pub position: u32,
    /// Figures of the run.
    pub figures: &'a RunFigures,
}

/// The comparison of all arms with the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of pairs that were compared.
    pub pairs: u32,
    /// Probability with which one interval of a primary metric misses the true change.
    pub alpha: f64,
    /// Arms other than the baseline, in their order.
    pub arms: Vec<ArmComparison>,
}

/// The comparison of one arm with the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmComparison {
    /// Index of the arm.
    pub arm: usize,
    /// Changes of the metrics: those of bets and other primary ones first.
    pub changes: Vec<MetricChange>,
    /// Most frequent limiter of the baseline's runs and of the arm's.
    pub limiters: [Component; 2],
}

/// The change of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricChange {
    /// The metric.
    pub metric: RunMetric,
    /// True if it was not declared before the experiment.
    pub is_exploratory: bool,
    /// The change, or the reason why there is none.
    pub compared: Result<Compared, NotCompared>,
    /// Bets on it with their outcomes; a bet on a metric that is not compared has none.
    pub bets: Vec<(Bet, Option<BetOutcome>)>,
}

/// A change with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Number of pairs.
    pub pairs: u32,
    /// Means over the runs of the baseline and of the arm, in the unit of the metric.
    pub means: [f64; 2],
    /// Values of each pair, in the order of rounds.
    pub values: Vec<Pair>,
    /// Estimated change.
    pub change: f64,
    /// Interval of the change; `None` without scatter.
    pub interval: Option<ChangeInterval>,
    /// Estimate by Hodges and Lehmann, for information.
    pub hodges_lehmann: f64,
    /// Standard deviation of the pairs' differences.
    pub spread: f64,
    /// Change of a second run against a first one, if it was fitted.
    pub order_effect: Option<f64>,
    /// Conclusion.
    pub conclusion: Conclusion,
}

/// Reason why a metric was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompared {
    /// A run does not have it.
    Missing(Missing),
    /// Its values have no change.
    Incomparable(Incomparable),
}

/// Compares the arms over the first rounds, `pairs` of them. A round counts if every arm has a run
/// in it.
pub fn compare(design: &Design, runs: &[CountedRun<'_>], pairs: u32) -> Comparison {
    let rounds = complete_rounds(design, runs, pairs);
    let arms = (1..design.arms).map(|arm| {
        let pairs: Vec<RunPair<'_>> =
            rounds.iter().map(|round| RunPair { baseline: round[0], arm: round[arm] }).collect();
        compare_arm(design, arm, &pairs)
    });
    let arms: Vec<ArmComparison> = arms.collect();
    let primary = arms.iter().flat_map(|arm| &arm.changes).filter(|change| !change.is_exploratory);
    let alpha = design.looks.alpha(primary.count());
    Comparison { pairs: rounds.len() as u32, alpha, arms }
}

impl Comparison {
    /// Returns true if every primary metric that can be compared is decided: by its bets, or by its
    /// conclusion if there is no bet on it.
    pub fn is_decided(&self) -> bool {
        let changes = self.arms.iter().flat_map(|arm| &arm.changes);
        changes.filter(|change| !change.is_exploratory).all(MetricChange::is_decided)
    }
}

impl MetricChange {
    fn is_decided(&self) -> bool {
        let Ok(compared) = &self.compared else { return true };
        if self.bets.is_empty() || compared.interval.is_none() {
            return compared.conclusion.is_decided();
        }
        self.bets.iter().all(|(_, outcome)| outcome.is_none_or(|outcome| outcome.is_decided()))
    }
}

/// The two runs of a pair.
#[derive(Clone, Copy)]
struct RunPair<'a> {
    baseline: CountedRun<'a>,
    arm: CountedRun<'a>,
}

/// Returns the runs of the first complete rounds, each by arm.
fn complete_rounds<'a>(
    design: &Design,
    runs: &[CountedRun<'a>],
    pairs: u32,
) -> Vec<Vec<CountedRun<'a>>> {
    let numbers: BTreeSet<u32> = runs.iter().map(|run| run.round).collect();
    let round = |number: u32| {
        let of_arm = |arm| runs.iter().find(|run| run.round == number && run.arm == arm).copied();
        (0..design.arms).map(of_arm).collect::<Option<Vec<CountedRun<'a>>>>()
    };
    numbers.into_iter().filter_map(round).take(pairs as usize).collect()
}

fn compare_arm(design: &Design, arm: usize, pairs: &[RunPair<'_>]) -> ArmComparison {
    let primary = primary_metrics(design, pairs);
    let count = primary.len() * (design.arms - 1);
    let change = |metric: RunMetric, is_exploratory: bool| {
        let alpha = design.looks.alpha(if is_exploratory { 1 } else { count });
        metric_change(design, pairs, metric, is_exploratory, alpha)
    };
    let exploratory = exploratory_metrics(&primary, pairs);
    let mut changes: Vec<MetricChange> =
        primary.into_iter().map(|metric| change(metric, false)).collect();
    changes.extend(exploratory.into_iter().map(|metric| change(metric, true)));
    let of_baseline = limiter(pairs.iter().map(|pair| pair.baseline));
    let of_arm = limiter(pairs.iter().map(|pair| pair.arm));
    ArmComparison { arm, changes, limiters: [of_baseline, of_arm] }
}

/// Returns the metrics that were declared: those of the bets, otherwise the throughput of each job,
/// or its p99 if the throughput is only its rate.
fn primary_metrics(design: &Design, pairs: &[RunPair<'_>]) -> Vec<RunMetric> {
    let Some(first) = pairs.first() else { return Vec::new() };
    let figures = first.baseline.figures;
    let declared: Vec<RunMetric> = match design.bets.is_empty() {
        false => design.bets.iter().map(|bet| figures.resolve(&bet.metric)).collect(),
        true => figures.jobs.iter().map(|job| default_metric(figures, job)).collect(),
    };
    let mut distinct = Vec::new();
    for metric in declared {
        if !distinct.contains(&metric) {
            distinct.push(metric);
        }
    }
    distinct
}

fn default_metric(figures: &RunFigures, job: &str) -> RunMetric {
    let throughput = RunMetric::of(Quantity::Throughput, job);
    match figures.get(&throughput) {
        Ok(_) => throughput,
        Err(_) => RunMetric::of(Quantity::Response(TimeStatistic::P99), job),
    }
}

/// Returns the other metrics that at least one run has, in the order of reports.
fn exploratory_metrics(primary: &[RunMetric], pairs: &[RunPair<'_>]) -> Vec<RunMetric> {
    let runs = pairs.iter().flat_map(|pair| [pair.baseline, pair.arm]);
    let measured: BTreeSet<&RunMetric> =
        runs.flat_map(|run| run.figures.metrics.iter().map(|(metric, _)| metric)).collect();
    let others = measured.into_iter().filter(|metric| !primary.contains(metric));
    others.cloned().collect()
}

fn metric_change(
    design: &Design,
    pairs: &[RunPair<'_>],
    metric: RunMetric,
    is_exploratory: bool,
    alpha: f64,
) -> MetricChange {
    let estimated = estimate(design, pairs, &metric);
    let bets = design.bets.iter().filter(|bet| {
        let resolved = pairs.first().map(|pair| pair.baseline.figures.resolve(&bet.metric));
        resolved.as_ref() == Some(&metric)
    });
    let outcome = |bet: &Bet| {
        let paired = estimated.as_ref().ok().map(|(_, paired)| paired);
        (bet.clone(), paired.map(|paired| judge_bet(bet.range, paired, alpha)))
    };
    let bets = bets.map(outcome).collect();
    let compared = estimated.map(|(values, paired)| {
        compared(values, &paired, metric.quantity, design.deltas.of(&metric), alpha)
    });
    MetricChange { metric, is_exploratory, compared, bets }
}

fn estimate(
    design: &Design,
    pairs: &[RunPair<'_>],
    metric: &RunMetric,
) -> Result<(Vec<Pair>, Paired), NotCompared> {
    let value = |run: CountedRun<'_>| run.figures.get(metric).map_err(NotCompared::Missing);
    let pair = |pair: &RunPair<'_>| {
        let order = match pair.baseline.position < pair.arm.position {
            true => PairOrder::BaselineFirst,
            false => PairOrder::ArmFirst,
        };
        Ok(Pair { baseline: value(pair.baseline)?, arm: value(pair.arm)?, order })
    };
    let values = pairs.iter().map(pair).collect::<Result<Vec<Pair>, NotCompared>>()?;
    let paired = Paired::of(&values, metric.quantity.scale(), design.order);
    Ok((values, paired.map_err(NotCompared::Incomparable)?))
}

fn compared(
    values: Vec<Pair>,
    paired: &Paired,
    quantity: Quantity,
    delta: f64,
    alpha: f64,
) -> Compared {
    let n = values.len() as f64;
    let mean = |of: fn(&Pair) -> f64| values.iter().map(of).sum::<f64>() / n;
    let interval = paired.interval(alpha);
    let more_pairs = || pairs_to_conclude(paired, delta, alpha);
    Compared {
        pairs: paired.pairs(),
        means: [mean(|pair| pair.baseline), mean(|pair| pair.arm)],
        change: paired.change(),
        interval,
        hodges_lehmann: paired.hodges_lehmann(),
        spread: paired.spread(),
        order_effect: paired.order_effect(),
        conclusion: conclude(interval, quantity.better(), delta, more_pairs),
        values,
    }
}

/// Returns the most frequent limiter, the first of several.
fn limiter<'a>(runs: impl Iterator<Item = CountedRun<'a>>) -> Component {
    let limiters: Vec<Component> = runs.map(|run| run.figures.limiter).collect();
    let count = |limiter: Component| limiters.iter().filter(|other| **other == limiter).count();
    let most = limiters.iter().rev().max_by_key(|limiter| count(**limiter));
    most.copied().unwrap_or(Component::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::figures::RunVerdict;
    use workload::question::ChangeRange;

    /// Figures of a closed job `read` and an open job `write`.
    fn figures(throughput: f64, p99: f64) -> RunFigures {
        let mut figures = RunFigures {
            verdict: RunVerdict::new([]),
            jobs: vec!["read".to_owned(), "write".to_owned()],
            metrics: Vec::new(),
            slos: Vec::new(),
            missing: Vec::new(),
            limiter: Component::DatabaseCpu,
            facts: Vec::new(),
        };
        let time = Quantity::Response(TimeStatistic::P99);
        figures.add(RunMetric::of(Quantity::Throughput, "read"), Ok(throughput));
        figures.add(RunMetric::of(time, "read"), Ok(1e3 / throughput));
        figures.add(RunMetric::of(Quantity::Throughput, "write"), Err(Missing::OfferedRate));
        figures.add(RunMetric::of(time, "write"), Ok(p99));
        figures
    }

    /// Eight rounds: the arm has 10 % less throughput, and the same p99 of `write`.
    fn experiment() -> Vec<[RunFigures; 2]> {
        let noise = [0.01, -0.01, 0.005, 0.0, -0.005, 0.01, -0.01, 0.0];
        let round = |e: &f64| {
            let p99 = 5.0 * (1.0 + 2.0 * e);
            [figures(1_000.0, 5.0), figures(900.0 * (1.0 + e), p99)]
        };
        noise.iter().map(round).collect()
    }

    fn counted(rounds: &[[RunFigures; 2]]) -> Vec<CountedRun<'_>> {
        let mut all = Vec::new();
        for (round, runs) in (0..).zip(rounds) {
            for (arm, figures) in runs.iter().enumerate() {
                let position = (arm as u32 + round) % 2;
                all.push(CountedRun { round, arm, position, figures });
            }
        }
        all
    }

    fn design(bets: &[&str]) -> Design {
        Design {
            arms: 2,
            looks: LookPlan::Auto,
            order: OrderModel::Random,
            bets: bets.iter().map(|bet| Bet::parse(bet).unwrap()).collect(),
            deltas: Deltas::default(),
        }
    }

    #[test]
    fn every_metric_is_compared_and_bets_come_first() {
        let rounds = experiment();
        let design = design(&["throughput(read) -5% .. -25%", "response.p99(write) +10% .. +40%"]);
        let comparison = compare(&design, &counted(&rounds), 8);
        assert_eq!((comparison.pairs, comparison.alpha), (8, 0.05 / 6.0));
        let changes = &comparison.arms[0].changes;
        let names: Vec<String> = changes.iter().map(|it| it.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "response.p99(write)", "response.p99(read)"]);
        let exploratory: Vec<bool> = changes.iter().map(|it| it.is_exploratory).collect();
        assert_eq!(exploratory, [false, false, true]);
        let throughput = changes[0].compared.as_ref().unwrap();
        assert!((throughput.change - -0.1).abs() < 0.001, "{throughput:?}");
        assert_eq!(throughput.conclusion, Conclusion::Worse);
        assert_eq!(changes[0].bets[0].1, Some(BetOutcome::Held));
        assert_eq!(changes[1].bets[0].1, Some(BetOutcome::Failed));
        assert_eq!(changes[1].compared.as_ref().unwrap().conclusion, Conclusion::Equivalent);
        assert!(comparison.is_decided());
        assert_eq!(comparison.arms[0].limiters, [Component::DatabaseCpu; 2]);
    }

    #[test]
    fn open_job_that_keeps_up_is_judged_by_its_p99() {
        let rounds = experiment();
        let comparison = compare(&design(&[]), &counted(&rounds), 8);
        let changes = &comparison.arms[0].changes;
        let declared = changes.iter().filter(|change| !change.is_exploratory);
        let names: Vec<String> = declared.map(|it| it.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "response.p99(write)"]);
        let bet = design(&["throughput(write) -5% .. -25%"]);
        let comparison = compare(&bet, &counted(&rounds), 8);
        let refused = &comparison.arms[0].changes[0];
        assert_eq!(refused.compared, Err(NotCompared::Missing(Missing::OfferedRate)));
        assert_eq!(refused.bets[0].1, None);
    }

    #[test]
    fn look_judges_its_first_complete_rounds() {
        let rounds = experiment();
        let mut runs = counted(&rounds);
        runs.retain(|run| (run.round, run.arm) != (1, 1));
        let comparison = compare(&design(&[]), &runs, 6);
        let throughput = comparison.arms[0].changes[0].compared.as_ref().unwrap();
        assert_eq!(comparison.pairs, 6);
        assert_eq!(throughput.values[1].arm, rounds[2][1].metrics[0].1);
    }

    #[test]
    fn wide_interval_leaves_a_bet_undecided() {
        let rounds = experiment();
        let design = design(&["throughput(read) -10% .. -25%"]);
        let comparison = compare(&design, &counted(&rounds), 8);
        let (bet, outcome) = &comparison.arms[0].changes[0].bets[0];
        assert_eq!(bet.range, ChangeRange { low: -0.25, high: -0.1 });
        assert!(matches!(outcome, Some(BetOutcome::Undecided { .. })), "{outcome:?}");
        assert!(!comparison.is_decided());
    }
}
