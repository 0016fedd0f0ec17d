//! The comparison of groups of runs, such as the arms of an experiment, over all metrics.

use std::collections::BTreeSet;

use workload::question::{Bet, Deltas, Quantity, RunMetric, TimeStatistic};

use super::arm_id::ArmId;
use super::change::ChangeInterval;
use super::conclusion::Conclusion;
use super::figures::{RunFigures, RunVerdict};
use super::looks::LookPlan;
use super::outcome::BetOutcome;
use super::paired::OrderModel;
use super::sample::{CountedRun, EstimatedChange, NotCompared, Sample, SampleSize, SampleValues};
use crate::limiter::Component;

/// The parts of an experiment's design that determine its statistics.
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
    /// The job whose load saturates the baseline, if the experiment has searched for this load.
    pub saturated: Option<String>,
}

/// The metrics that are judged, and their smallest changes that matter.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Bets on every arm against its baseline.
    pub bets: &'a [Bet],
    /// Metrics that are judged in addition to the metrics of the bets. Without bets and metrics,
    /// the throughput of each job is judged, or its p99 if its rate is given.
    pub metrics: &'a [RunMetric],
    /// Smallest changes that matter.
    pub deltas: &'a Deltas,
    /// The job whose load saturates the baseline. Where this load overloads an arm on purpose, the
    /// throughput that the arms achieve is compared, although the rate is given.
    pub saturated: Option<&'a str>,
}

/// The runs of an arm and of its baseline.
#[derive(Clone, Debug)]
pub struct ArmSample<'a> {
    /// The baseline.
    pub baseline: ArmId,
    /// The arm.
    pub arm: ArmId,
    /// Plan of the looks at these runs.
    pub looks: LookPlan,
    /// The runs of both.
    pub runs: Sample<'a>,
}

/// The comparison of several arms, each with its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The arms that were compared, in their order.
    pub arms: Vec<ArmComparison>,
}

/// The comparison of one arm with its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmComparison {
    /// The baseline.
    pub baseline: ArmId,
    /// The arm.
    pub arm: ArmId,
    /// Number of runs.
    pub size: SampleSize,
    /// Verdicts of the two runs of each pair; empty if the runs were not interleaved.
    pub verdicts: Vec<[RunVerdict; 2]>,
    /// Changes of the metrics: the primary ones first, such as metrics of bets.
    pub changes: Vec<MetricChange>,
    /// Most frequent limiters of the baseline's runs and of the arm's runs.
    pub limiters: [Component; 2],
    /// Overload of the baseline and of the arm: true if the load that saturates the baseline
    /// exceeds the capacity in one of the runs of that side.
    pub overloaded: [bool; 2],
}

/// The change of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricChange {
    /// The metric.
    pub metric: RunMetric,
    /// True if the metric was not declared before the experiment.
    pub is_exploratory: bool,
    /// Probability with which the interval of the change misses the true change. Primary metrics
    /// share the error of a look; an exploratory metric has the whole error of a look.
    pub alpha: f64,
    /// Smallest change that matters, in the unit of [`Compared::change`].
    pub delta: f64,
    /// The change, or the reason why there is none.
    pub compared: Result<Compared, NotCompared>,
    /// Bets on the metric with their outcomes; `None` in place of an outcome if the metric is not
    /// compared, or if the runs were not interleaved.
    pub bets: Vec<(Bet, Option<BetOutcome>)>,
}

/// A change with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Values of the runs.
    pub values: SampleValues,
    /// Means over the runs of the baseline and of the arm, in the unit of the metric.
    pub means: [f64; 2],
    /// Estimated change: a fraction, or a difference for metrics that are compared by difference.
    pub change: f64,
    /// Interval of the change; `None` without scatter.
    pub interval: Option<ChangeInterval>,
    /// Estimate of the change by Hodges and Lehmann, for information.
    pub hodges_lehmann: f64,
    /// Standard deviation of the pairs' differences; `None` if the runs were not interleaved.
    pub spread: Option<f64>,
    /// Change of a run in the second position of its pair relative to a run of the same arm in the
    /// first position; `None` if it was not fitted.
    pub order_effect: Option<f64>,
    /// Conclusion from the interval.
    pub conclusion: Conclusion,
}

/// Compares the arms of an experiment over the first `pairs` rounds. A round counts if every arm
/// has a run in it.
pub fn compare(design: &Design, runs: &[CountedRun<'_>], pairs: u32) -> Comparison {
    let rounds = complete_rounds(design, runs, pairs);
    let sample = |arm: ArmId| ArmSample {
        baseline: ArmId::BASELINE,
        arm,
        looks: design.looks,
        runs: Sample::Pairs {
            pairs: rounds.iter().map(|round| [round[0], round[arm.index()]]).collect(),
            order: design.order,
        },
    };
    let samples: Vec<ArmSample<'_>> = (1..design.arms).map(ArmId).map(sample).collect();
    let terms = Terms {
        bets: &design.bets,
        metrics: &[],
        deltas: &design.deltas,
        saturated: design.saturated.as_deref(),
    };
    compare_samples(terms, &samples)
}

/// Compares arms with their baselines. All primary metrics share the error of a look.
pub fn compare_samples(terms: Terms<'_>, samples: &[ArmSample<'_>]) -> Comparison {
    let primary: Vec<Vec<RunMetric>> =
        samples.iter().map(|sample| primary_metrics(terms, &sample.runs)).collect();
    let count = primary.iter().map(Vec::len).sum();
    let arm = |(sample, primary)| compare_arm(terms, sample, primary, count);
    Comparison { arms: samples.iter().zip(primary).map(arm).collect() }
}

impl Comparison {
    /// Returns true if every primary metric that can be compared is decided. A metric without a bet
    /// or without an interval is decided by its conclusion, any other metric by its bets.
    pub fn is_decided(&self) -> bool {
        let changes = self.arms.iter().flat_map(|arm| &arm.changes);
        changes.filter(|change| !change.is_exploratory).all(MetricChange::is_decided)
    }
}

impl MetricChange {
    /// Withdraws the comparison and the outcomes of its bets.
    pub fn refuse(&mut self, reason: NotCompared) {
        self.compared = Err(reason);
        self.bets.iter_mut().for_each(|(_, outcome)| *outcome = None);
    }

    fn is_decided(&self) -> bool {
        let Ok(compared) = &self.compared else { return true };
        if self.bets.is_empty() || compared.interval.is_none() {
            return compared.conclusion.is_decided();
        }
        self.bets.iter().all(|(_, outcome)| outcome.is_none_or(|outcome| outcome.is_decided()))
    }
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
        (0..design.arms).map(ArmId).map(of_arm).collect::<Option<Vec<CountedRun<'a>>>>()
    };
    numbers.into_iter().filter_map(round).take(pairs as usize).collect()
}

fn compare_arm(
    terms: Terms<'_>,
    sample: &ArmSample<'_>,
    primary: Vec<RunMetric>,
    count: usize,
) -> ArmComparison {
    let ArmSample { baseline, arm, looks, runs } = sample;
    let alpha = looks.alpha(count);
    let exploratory = exploratory_metrics(&primary, runs);
    let mut changes: Vec<MetricChange> =
        primary.into_iter().map(|metric| metric_change(terms, runs, metric, alpha)).collect();
    changes.extend(exploratory.into_iter().map(|metric| MetricChange {
        is_exploratory: true,
        ..metric_change(terms, runs, metric, looks.alpha(1))
    }));
    ArmComparison {
        baseline: *baseline,
        arm: *arm,
        size: runs.size(),
        verdicts: runs.verdicts(),
        changes,
        limiters: [0, 1].map(|side| limiter(&runs.side(side))),
        overloaded: overloaded(terms, runs),
    }
}

/// Returns, first for the baseline and then for the arm, true if the load of the saturated job
/// exceeds the capacity in one of the runs of that side.
fn overloaded(terms: Terms<'_>, runs: &Sample<'_>) -> [bool; 2] {
    let exceeds = |run: &&RunFigures| terms.saturated.is_some_and(|job| run.exceeds_capacity(job));
    [0, 1].map(|side| runs.side(side).iter().any(exceeds))
}

/// Returns the saturated job if its load overloads the baseline or the arm.
fn overloading_job<'a>(terms: Terms<'a>, runs: &Sample<'_>) -> Option<&'a str> {
    terms.saturated.filter(|_| overloaded(terms, runs).contains(&true))
}

/// Returns the declared metrics: the metrics of the bets and of the terms. If there are none, the
/// throughput or the p99 of each job is declared or, without jobs, the rates of the loads.
pub(super) fn primary_metrics(terms: Terms<'_>, runs: &Sample<'_>) -> Vec<RunMetric> {
    let Some(figures) = runs.first() else { return Vec::new() };
    let mut declared: Vec<RunMetric> = terms
        .bets
        .iter()
        .map(|bet| &bet.metric)
        .chain(terms.metrics)
        .map(|metric| figures.resolve(metric))
        .collect();
    if declared.is_empty() {
        declared = default_metrics(figures, overloading_job(terms, runs));
    }
    let mut distinct = Vec::new();
    for metric in declared {
        if !distinct.contains(&metric) {
            distinct.push(metric);
        }
    }
    distinct
}

fn default_metrics(figures: &RunFigures, overloading: Option<&str>) -> Vec<RunMetric> {
    let of_jobs = figures.jobs.iter().map(|job| default_metric(figures, job, overloading));
    let is_load = |metric: &&RunMetric| metric.quantity == Quantity::Load;
    let loads = figures.metrics.iter().map(|(metric, _)| metric).filter(is_load).cloned();
    match figures.jobs.is_empty() {
        true => loads.collect(),
        false => of_jobs.collect(),
    }
}

/// Returns the throughput of a job, or its p99 if the throughput only equals the given rate and
/// this rate overloads no run.
fn default_metric(figures: &RunFigures, job: &str, overloading: Option<&str>) -> RunMetric {
    let throughput = RunMetric::of(Quantity::Throughput, job);
    match figures.get(&throughput) {
        Err(_) if overloading != Some(job) => {
            RunMetric::of(Quantity::Response(TimeStatistic::P99), job)
        }
        Ok(_) | Err(_) => throughput,
    }
}

/// Returns the metrics that were not declared and need not be declared, in the order of reports. At
/// least one run has each of them.
fn exploratory_metrics(primary: &[RunMetric], runs: &Sample<'_>) -> Vec<RunMetric> {
    let runs = [runs.side(0), runs.side(1)].concat();
    let measured: BTreeSet<&RunMetric> =
        runs.iter().flat_map(|run| run.metrics.iter().map(|(metric, _)| metric)).collect();
    let is_other =
        |metric: &&RunMetric| !primary.contains(metric) && !metric.quantity.must_be_declared();
    measured.into_iter().filter(is_other).cloned().collect()
}

fn metric_change(
    terms: Terms<'_>,
    runs: &Sample<'_>,
    metric: RunMetric,
    alpha: f64,
) -> MetricChange {
    let estimated = runs.estimate(&metric, overloading_job(terms, runs));
    let bets = terms.bets.iter().filter(|bet| {
        let resolved = runs.first().map(|figures| figures.resolve(&bet.metric));
        resolved.as_ref() == Some(&metric)
    });
    let outcome = |bet: &Bet| {
        let estimated = estimated.as_ref().ok();
        (bet.clone(), estimated.and_then(|known| known.estimate.judge_bet(bet.range, alpha)))
    };
    let bets = bets.map(outcome).collect();
    let delta = terms.deltas.of(&metric);
    let compared = estimated.map(|estimated| compared(estimated, &metric, delta, alpha));
    MetricChange { metric, is_exploratory: false, alpha, delta, compared, bets }
}

fn compared(estimated: EstimatedChange, metric: &RunMetric, delta: f64, alpha: f64) -> Compared {
    let EstimatedChange { values, estimate } = estimated;
    Compared {
        means: values.means(),
        change: estimate.change(),
        interval: estimate.interval(alpha),
        hodges_lehmann: estimate.hodges_lehmann(),
        spread: estimate.spread(),
        order_effect: estimate.order_effect(),
        conclusion: estimate.conclude(metric, delta, alpha),
        values,
    }
}

/// Returns the most frequent limiter; if several are equally frequent, the one that occurs first in
/// the runs.
fn limiter(runs: &[&RunFigures]) -> Component {
    let limiters: Vec<Component> = runs.iter().map(|run| run.limiter).collect();
    Component::most_frequent(&limiters).unwrap_or(Component::Unknown)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::figures::Missing;
    use workload::question::ChangeRange;

    /// Returns the figures of a closed job `read` and an open job `write`.
    pub(in crate::compare) fn figures(throughput: f64, p99: f64) -> RunFigures {
        let bare = RunFigures::bare(&["read", "write"]);
        let mut figures = RunFigures { limiter: Component::DatabaseCpu, ..bare };
        let time = Quantity::Response(TimeStatistic::P99);
        figures.add(RunMetric::of(Quantity::Throughput, "read"), Ok(throughput));
        figures.add(RunMetric::of(time, "read"), Ok(1e3 / throughput));
        figures.add(RunMetric::of(Quantity::Throughput, "write"), Err(Missing::OfferedRate));
        figures.add(RunMetric::of(time, "write"), Ok(p99));
        figures
    }

    /// Returns eight rounds: the arm has 10 % less throughput, and the same p99 of `write`.
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
                all.push(CountedRun { round, arm: ArmId(arm), position, figures });
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
            saturated: None,
        }
    }

    #[test]
    fn every_metric_is_compared_and_bets_come_first() {
        let rounds = experiment();
        let design = design(&["throughput(read) -5% .. -25%", "response.p99(write) +10% .. +40%"]);
        let comparison = compare(&design, &counted(&rounds), 8);
        let arm = &comparison.arms[0];
        assert_eq!(arm.size, SampleSize::Pairs(8));
        let changes = &comparison.arms[0].changes;
        let names: Vec<String> = changes.iter().map(|it| it.metric.to_string()).collect();
        assert_eq!(names, ["throughput(read)", "response.p99(write)", "response.p99(read)"]);
        let exploratory: Vec<bool> = changes.iter().map(|it| it.is_exploratory).collect();
        assert_eq!(exploratory, [false, false, true]);
        let alphas: Vec<f64> = changes.iter().map(|it| it.alpha).collect();
        assert_eq!(alphas, [0.05 / 6.0, 0.05 / 6.0, 0.05 / 3.0]);
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
    fn send_lag_is_compared_only_if_it_is_declared() {
        let mut rounds = experiment();
        let lag = RunMetric::of(Quantity::SendLag(TimeStatistic::P99), "read");
        let noise = [0.03, 0.031, 0.029, 0.03, 0.032, 0.03, 0.031, 0.03];
        for (runs, ms) in rounds.iter_mut().zip(noise) {
            runs[0].add(lag.clone(), Ok(ms));
            runs[1].add(lag.clone(), Ok(0.06 - ms));
        }
        let compared = |bets: &[&str], delta: &str| {
            let deltas = Deltas::parse(delta).unwrap();
            let design = Design { deltas, ..design(bets) };
            compare(&design, &counted(&rounds), 8).arms.remove(0).changes
        };
        let undeclared = compared(&["throughput(read) -5% .. -25%"], "1%");
        assert!(undeclared.iter().all(|change| change.metric != lag), "{undeclared:?}");
        let declared = compared(&["send-lag.p99(read) -20% .. +20%"], "send-lag.p99 10%");
        assert_eq!((&declared[0].metric, declared[0].is_exploratory), (&lag, false));
        let change = declared[0].compared.as_ref().unwrap();
        assert_eq!(change.conclusion, Conclusion::Equivalent);
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

    /// Returns the figures of the open job `read`, which completes `per_s` requests per second: its
    /// whole rate if it keeps up.
    fn offered(per_s: f64, keeps_up: bool) -> RunFigures {
        let mut figures = RunFigures::bare(&["read"]);
        let of = |quantity| RunMetric::of(quantity, "read");
        let p99 = Quantity::Response(TimeStatistic::P99);
        for quantity in [Quantity::Throughput, Quantity::Rows] {
            figures.carried.push((of(quantity), per_s));
            let measured = if keeps_up { Err(Missing::OfferedRate) } else { Ok(per_s) };
            figures.add(of(quantity), measured);
        }
        let response = if keeps_up { Ok(5.0) } else { Err(Missing::ExceedsCapacity) };
        figures.add(of(p99), response);
        figures.add(of(Quantity::Service(TimeStatistic::P99)), Ok(4.0));
        figures
    }

    /// Compares eight rounds at 300 requests per second with an arm that completes only about 250.
    fn compared_at_300(arm_keeps_up: bool, saturated: Option<&str>) -> ArmComparison {
        let round = |second: usize| {
            let noise = [0.3, -0.2, 0.1, 0.0, -0.3, 0.2, -0.1, 0.4][second];
            [offered(300.0, true), offered(250.0 + noise, arm_keeps_up)]
        };
        let rounds: Vec<[RunFigures; 2]> = (0..8).map(round).collect();
        let saturated = saturated.map(str::to_owned);
        compare(&Design { saturated, ..design(&[]) }, &counted(&rounds), 8).arms.remove(0)
    }

    /// Returns the declared metrics.
    fn declared(arm: &ArmComparison) -> Vec<String> {
        let declared = arm.changes.iter().filter(|change| !change.is_exploratory);
        declared.map(|change| change.metric.to_string()).collect()
    }

    #[test]
    fn arms_overloaded_by_a_saturating_rate_are_compared_by_throughput() {
        let arm = compared_at_300(false, Some("read"));
        assert_eq!(
            (arm.overloaded, declared(&arm)),
            ([false, true], vec!["throughput(read)".into()])
        );
        let throughput = arm.changes[0].compared.as_ref().unwrap();
        assert_eq!(throughput.means[0], 300.0);
        assert!((throughput.change + 1.0 / 6.0).abs() < 0.001, "{throughput:?}");
        assert_eq!(throughput.conclusion, Conclusion::Worse);
        let of = |name: &str| {
            let change = arm.changes.iter().find(|change| change.metric.to_string() == name);
            change.unwrap().compared.clone()
        };
        assert!(of("rows(read)").is_ok());
        let exceeds = NotCompared::Missing(Missing::ExceedsCapacity);
        assert_eq!(of("response.p99(read)"), Err(exceeds));
        assert_eq!(of("service.p99(read)"), Err(exceeds));
    }

    #[test]
    fn throughput_is_not_judged_at_a_carried_or_unsaturating_rate() {
        for (keeps_up, saturated) in [(true, Some("read")), (false, Some("pay")), (false, None)] {
            let arm = compared_at_300(keeps_up, saturated);
            assert_eq!(arm.overloaded, [false; 2], "{saturated:?}");
            assert_eq!(declared(&arm), ["response.p99(read)"], "{saturated:?}");
        }
    }

    #[test]
    fn look_judges_its_first_complete_rounds() {
        let rounds = experiment();
        let mut runs = counted(&rounds);
        runs.retain(|run| (run.round, run.arm) != (1, ArmId(1)));
        let comparison = compare(&design(&[]), &runs, 6);
        let throughput = comparison.arms[0].changes[0].compared.as_ref().unwrap();
        let SampleValues::Pairs(pairs) = &throughput.values else { panic!("{throughput:?}") };
        assert_eq!((pairs.len(), pairs[1].arm), (6, rounds[2][1].metrics[0].1));
    }

    #[test]
    fn wide_interval_leaves_a_bet_undecided() {
        let rounds = experiment();
        let design = design(&["throughput(read) -10% .. -25%"]);
        let comparison = compare(&design, &counted(&rounds), 8);
        let (bet, outcome) = &comparison.arms[0].changes[0].bets[0];
        assert_eq!(bet.range, ChangeRange { first: -0.1, last: -0.25 });
        assert!(matches!(outcome, Some(BetOutcome::Undecided { .. })), "{outcome:?}");
        assert!(!comparison.is_decided());
    }

    fn groups(groups: [&[RunFigures]; 2], metrics: &[&str]) -> ArmComparison {
        let metrics: Vec<RunMetric> =
            metrics.iter().map(|metric| RunMetric::parse(metric).unwrap()).collect();
        let deltas = Deltas::default();
        let terms = Terms { bets: &[], metrics: &metrics, deltas: &deltas, saturated: None };
        let runs = Sample::Groups(groups.map(|runs| runs.iter().collect()));
        let (baseline, arm) = (ArmId(4), ArmId(2));
        let sample = ArmSample { baseline, arm, looks: LookPlan::Fixed(6), runs };
        compare_samples(terms, &[sample]).arms.remove(0)
    }

    #[test]
    fn groups_are_compared_by_their_means() {
        let main = [figures(1_000.0, 5.0), figures(1_010.0, 5.1), figures(990.0, 4.9)];
        let pr = [figures(900.0, 5.0), figures(905.0, 5.1)];
        let arm = groups([&main, &pr], &[]);
        assert_eq!((arm.baseline, arm.arm), (ArmId(4), ArmId(2)));
        assert_eq!(arm.size, SampleSize::Groups([3, 2]));
        assert_eq!(arm.changes[0].alpha, 0.025);
        let throughput = arm.changes[0].compared.as_ref().unwrap();
        assert_eq!(throughput.conclusion, Conclusion::Worse, "{throughput:?}");
        assert_eq!(throughput.means, [1_000.0, 902.5]);
        let p99 = arm.changes[1].compared.as_ref().unwrap();
        assert_eq!(p99.conclusion, Conclusion::Equivalent);
    }

    #[test]
    fn named_metrics_are_judged_instead_of_the_throughput() {
        let main = [figures(1_000.0, 5.0), figures(1_010.0, 5.1)];
        let arm = groups([&main, &main], &["response.p99(write)", "throughput(write)"]);
        let declared: Vec<String> = arm
            .changes
            .iter()
            .filter(|change| !change.is_exploratory)
            .map(|change| change.metric.to_string())
            .collect();
        assert_eq!(declared, ["response.p99(write)", "throughput(write)"]);
        assert_eq!(arm.changes[1].compared, Err(NotCompared::Missing(Missing::OfferedRate)));
    }

    #[test]
    fn one_run_against_one_run_has_figures_and_no_claim() {
        let arm = groups([&[figures(1_000.0, 5.0)], &[figures(500.0, 5.0)]], &[]);
        let throughput = arm.changes[0].compared.as_ref().unwrap();
        assert_eq!(throughput.conclusion, Conclusion::SingleRun);
        assert_eq!((throughput.means, throughput.interval), ([1_000.0, 500.0], None));
        assert!((throughput.change - -0.5).abs() < 1e-12);
    }
}
