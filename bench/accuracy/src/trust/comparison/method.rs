//! The method of an experiment, with the mistakes that can be planted in it.

use analyze::compare::{
    ArmId, ArmSample, ChangeInterval, Compared, Comparison, Conclusion, CountedRun, Design,
    JudgedLimit, Look, LookPlan, MetricChange, NextStep, OrderModel, RegressionOutcome, Repeats,
    RoundState, RunFigures, RunVerdict, Sample, Terms, Unpaired, compare, compare_samples,
    judge_limits, judge_regression, judge_round,
};
use analyze::{CheckKind, Status, WarmupEnd, end_of_warmup};
use archive::{RunRow, RunState};
use base::Nanos;
use lab::experiment::{counted_run, rounds_to_continue_from, shared_warm_up};
use workload::question::{Bet, Deltas, Quantity, RegressionLimit, RunMetric, Scale};

use super::machine_model::{LENGTH_S, ModelRun, Order, ThroughputModel};
use crate::trust::drawn_figures;

/// The method of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    pub(super) order: Order,
    pub(super) analysis: Analysis,
    pub(super) warmup: WarmupRule,
    pub(super) looks: LookState,
    pub(super) suspect: SuspectRule,
    pub(super) error: BetError,
    pub(super) forecast: ForecastBasis,
    pub(super) alarm: AlarmBasis,
}

/// The analysis of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Analysis {
    /// Pairs of runs are compared.
    Paired,
    /// Runs are compared as two groups: the planted mistake.
    Unpaired,
}

/// The rule for the warm-up.
#[derive(Clone, Copy, Debug)]
pub(super) enum WarmupRule {
    /// All runs of a round are cut at the latest end of a warm-up among them.
    LatestOfTheRound,
    /// Each run is cut at the end of its own warm-up: the planted mistake.
    PerArm,
}

/// The looks of an experiment that is resumed after every round.
#[derive(Clone, Copy, Debug)]
pub(super) enum LookState {
    /// Looks continue from the recorded ones.
    Recorded,
    /// Each resumption looks again: the planted mistake.
    Forgotten,
}

/// The treatment of SUSPECT runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum SuspectRule {
    /// SUSPECT runs count.
    Counts,
    /// SUSPECT runs are left out in the arm, but not in the baseline: the planted mistake.
    DroppedInOneArm,
}

/// The error probability of several bets.
#[derive(Clone, Copy, Debug)]
pub(super) enum BetError {
    /// The bets share an error probability of 5 %.
    Shared,
    /// Each bet has an error probability of 5 %: the planted mistake.
    Each,
}

/// The scatter from which further pairs are forecast.
#[derive(Clone, Copy, Debug)]
pub(super) enum ForecastBasis {
    /// The scatter of the pairs.
    Pairs,
    /// The scatter of single runs, whose variance is half the variance of the differences: the
    /// planted mistake.
    Runs,
}

/// The value that is compared with the limit for regressions to decide about an alarm.
#[derive(Clone, Copy, Debug)]
pub(super) enum AlarmBasis {
    /// The whole interval of the change.
    Interval,
    /// The estimated change alone: the planted mistake.
    Estimate,
}

/// The method without a mistake.
pub(super) const CORRECT: Method = Method {
    order: Order::Random,
    analysis: Analysis::Paired,
    warmup: WarmupRule::LatestOfTheRound,
    looks: LookState::Recorded,
    suspect: SuspectRule::Counts,
    error: BetError::Shared,
    forecast: ForecastBasis::Pairs,
    alarm: AlarmBasis::Interval,
};

/// The result of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) comparison: Comparison,
    /// Interval by Welch's t, if the analysis is unpaired.
    unpaired: Option<Unpaired>,
}

impl Answer {
    /// Returns the ends of the interval of the throughput's change.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        let change = self.comparison.arms.first()?.changes.first()?;
        let interval = match &self.unpaired {
            Some(unpaired) => unpaired.interval(change.alpha),
            None => change.compared.as_ref().ok()?.interval,
        };
        interval.map(|interval| [interval.low, interval.high])
    }

    /// Returns true if the interval excludes zero.
    pub(super) fn is_significant(&self) -> bool {
        self.interval().is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }

    /// Returns the comparison of the throughput.
    pub(super) fn throughput(&self) -> Option<&Compared> {
        self.comparison.arms.first()?.changes.first()?.compared.as_ref().ok()
    }
}

impl Method {
    /// Judges the pairs of an experiment up to the last planned look.
    pub(super) fn judge(&self, runs: &[ModelRun], looks: LookPlan, bets: &[&str]) -> Answer {
        let figures: Vec<RunFigures> = runs.iter().map(figures).collect();
        let unpaired = match self.analysis {
            Analysis::Paired => None,
            Analysis::Unpaired => Some(unpaired(runs)),
        };
        Answer { comparison: self.compare(runs, &figures, looks, bets), unpaired }
    }

    /// Compares the pairs of an experiment up to the last planned look, by the figures of its runs.
    fn compare(
        &self,
        runs: &[ModelRun],
        figures: &[RunFigures],
        looks: LookPlan,
        bets: &[&str],
    ) -> Comparison {
        let all: Vec<CountedRun<'_>> = self
            .rows(runs, looks)
            .iter()
            .zip(runs)
            .zip(figures)
            .filter_map(|((row, run), figures)| counted_run(row, run.arm, figures))
            .collect();
        let design = Design {
            arms: 2,
            looks,
            order: match self.order {
                Order::Random | Order::Fixed => OrderModel::Random,
                Order::Counterbalanced => OrderModel::Counterbalanced,
            },
            bets: bets.iter().map(|bet| Bet::parse(bet).expect("a bet")).collect(),
            deltas: Deltas::default(),
            saturated: None,
        };
        compare(&design, &all, looks.most_pairs())
    }

    /// Judges an experiment with a bet on each of several jobs, given by their runs, and returns
    /// true if any of them shows a difference.
    pub(super) fn finds_in_any_job(&self, jobs: &[Vec<ModelRun>], looks: LookPlan) -> bool {
        let Some(runs) = jobs.first() else { return false };
        let figures: Vec<RunFigures> = (0..runs.len()).map(|run| of_jobs(jobs, run)).collect();
        let bets: Vec<String> =
            (0..jobs.len()).map(|job| format!("throughput({}) -5% .. -25%", name(job))).collect();
        let bets: Vec<&str> = bets.iter().map(String::as_str).collect();
        let together = match self.error {
            BetError::Shared => bets.len(),
            BetError::Each => 1,
        };
        bets.chunks(together).any(|bets| {
            let comparison = self.compare(runs, &figures, looks, bets);
            comparison.arms[0].changes.iter().any(|it| !it.is_exploratory && is_significant(it))
        })
    }

    /// Judges a limit for regressions on two groups of runs that were not interleaved, as `assay
    /// compare --fail-on` does, and returns true if it is exceeded.
    pub(super) fn exceeds(&self, limit: &str, groups: &[Vec<ModelRun>; 2]) -> bool {
        let of_group = |runs: &Vec<ModelRun>| runs.iter().map(figures).collect::<Vec<_>>();
        let figures: [Vec<RunFigures>; 2] = groups.each_ref().map(of_group);
        let limits = RegressionLimit::parse_list(limit).expect("a limit");
        let metrics: Vec<RunMetric> = limits.iter().map(|limit| limit.metric.clone()).collect();
        let deltas = Deltas::default();
        let terms = Terms { bets: &[], metrics: &metrics, deltas: &deltas, saturated: None };
        let runs = Sample::Groups(figures.each_ref().map(|runs| runs.iter().collect()));
        let looks = LookPlan::Fixed(LookPlan::FEWEST);
        let sample = ArmSample { baseline: ArmId::BASELINE, arm: ArmId(1), looks, runs };
        let comparison = compare_samples(terms, &[sample]);
        let judged = judge_limits(&limits, &comparison, |_, metric| figures[0][0].resolve(metric));
        judged.iter().any(|limit| self.is_exceeded(limit))
    }

    fn is_exceeded(&self, judged: &JudgedLimit) -> bool {
        let outcome = match self.alarm {
            AlarmBasis::Interval => judged.outcome,
            AlarmBasis::Estimate => {
                let compared = judged.change.as_ref().and_then(|it| it.compared.as_ref().ok());
                let point = compared.map(|it| ChangeInterval { low: it.change, high: it.change });
                Ok(judge_regression(judged.limit.change, point))
            }
        };
        outcome == Ok(RegressionOutcome::Exceeded)
    }

    /// Returns the number of further pairs that would probably decide an experiment with `pairs`
    /// pairs; `None` if the experiment is decided already, or if no number is forecast.
    pub(super) fn forecast(&self, runs: &[ModelRun], pairs: u32) -> Option<u32> {
        let answer = self.judge(runs, LookPlan::Fixed(pairs), &[]);
        let Conclusion::Undecided { more_pairs } = answer.throughput()?.conclusion else {
            return None;
        };
        let more = more_pairs?;
        Some(match self.forecast {
            ForecastBasis::Pairs => more,
            ForecastBasis::Runs => ((pairs + more) / 2).saturating_sub(pairs).max(1),
        })
    }

    /// Returns the rows of the runs in the record of an experiment.
    fn rows(&self, runs: &[ModelRun], looks: LookPlan) -> Vec<RunRow> {
        let of_round = |round: &[ModelRun]| {
            let verdicts: Vec<RunVerdict> = round.iter().map(verdict).collect();
            let repeats = Repeats { pairs: looks.most_pairs(), ..Repeats::default() };
            let state = match judge_round(&verdicts, repeats) {
                RoundState::Counts | RoundState::Lost => RunState::Counts,
                RoundState::Repeat => RunState::Repeated,
            };
            let row = move |run: &ModelRun| match self.suspect {
                SuspectRule::DroppedInOneArm if run.arm != ArmId::BASELINE && run.is_suspect => {
                    row(run, RunState::Repeated)
                }
                SuspectRule::DroppedInOneArm | SuspectRule::Counts => row(run, state),
            };
            round.iter().map(row).collect::<Vec<RunRow>>()
        };
        runs.chunk_by(|one, other| one.round == other.round).flat_map(of_round).collect()
    }

    /// Judges an experiment with planned looks that is interrupted and resumed after every round,
    /// and returns true if any look finds a difference.
    pub(super) fn finds_at_any_look(&self, runs: &[ModelRun]) -> bool {
        let plan = LookPlan::Auto;
        let rows = self.rows(runs, plan);
        let mut taken: Vec<Look> = Vec::new();
        for made in 1..=plan.most_pairs() {
            let of_record = rows.iter().filter(|row| row.round < made);
            let due = match self.looks {
                LookState::Recorded => due_pairs(plan, of_record, &taken),
                LookState::Forgotten => (made >= plan.looks()[0]).then_some(made),
            };
            let Some(pairs) = due else { continue };
            let first: Vec<ModelRun> =
                runs.iter().filter(|run| run.round < pairs).copied().collect();
            let answer = self.judge(&first, plan, &[]);
            taken.push(Look { pairs, is_decided: false });
            if answer.is_significant() {
                return true;
            }
        }
        false
    }

    /// Replaces the throughput of each run by its throughput after the warm-up. `models` gives the
    /// throughput in each second of a run, for each arm.
    pub(super) fn remove_warmup(
        &self,
        runs: &mut [ModelRun],
        models: [ThroughputModel; 2],
        seed: u64,
    ) {
        for round in runs.chunks_mut(2) {
            let seconds: Vec<Vec<f64>> =
                round.iter().map(|run| models[run.arm.index()].seconds(run, seed)).collect();
            let cuts: Vec<Nanos> = seconds.iter().map(|seconds| warmup_end(seconds)).collect();
            let latest = shared_warm_up(cuts.iter().copied());
            for ((run, seconds), cut) in round.iter_mut().zip(&seconds).zip(&cuts) {
                let cut = match self.warmup {
                    WarmupRule::LatestOfTheRound => latest,
                    WarmupRule::PerArm => *cut,
                };
                let window = &seconds[cut.as_secs_f64() as usize..];
                run.throughput = window.iter().sum::<f64>() / window.len() as f64;
            }
        }
    }
}

/// Returns the number of pairs of the look that is due first when an interrupted experiment
/// continues from its record; `None` if no look is due before the next run.
fn due_pairs<'r>(
    plan: LookPlan,
    runs: impl Iterator<Item = &'r RunRow> + Clone,
    taken: &[Look],
) -> Option<u32> {
    let made = runs.clone().map(|row| row.round + 1).max().unwrap_or_default();
    let mut judged = rounds_to_continue_from(runs, 2, taken);
    loop {
        match plan.next(taken, judged) {
            NextStep::Look { pairs } => return Some(pairs),
            NextStep::Run { .. } if judged < made => judged += 1,
            NextStep::Run { .. } | NextStep::Finished => return None,
        }
    }
}

/// Returns the end of the warm-up of a run.
fn warmup_end(seconds: &[f64]) -> Nanos {
    match end_of_warmup([seconds]) {
        WarmupEnd::Found(start) => Nanos::from_secs(start.steps as u64),
        WarmupEnd::Given | WarmupEnd::TooShort | WarmupEnd::NoSteadyJob => {
            unreachable!("{LENGTH_S} s are enough")
        }
    }
}

fn figures(run: &ModelRun) -> RunFigures {
    drawn_figures(run.throughput, verdict(run))
}

/// Returns the figures of the run with the index `run` in an experiment with several jobs.
fn of_jobs(jobs: &[Vec<ModelRun>], run: usize) -> RunFigures {
    let metric = |(job, runs): (usize, &Vec<ModelRun>)| {
        (RunMetric::of(Quantity::Throughput, name(job)), runs[run].throughput)
    };
    RunFigures {
        jobs: (0..jobs.len()).map(name).collect(),
        metrics: jobs.iter().enumerate().map(metric).collect(),
        ..figures(&jobs[0][run])
    }
}

/// Returns the name of a job.
fn name(job: usize) -> String {
    format!("job-{}", job + 1)
}

/// Returns true if the interval of a change excludes zero.
fn is_significant(change: &MetricChange) -> bool {
    let interval = change.compared.as_ref().ok().and_then(|compared| compared.interval);
    interval.is_some_and(|interval| interval.excludes_zero())
}

fn verdict(run: &ModelRun) -> RunVerdict {
    RunVerdict::new(run.is_suspect.then_some((CheckKind::Drift, Status::Suspect)))
}

fn row(run: &ModelRun, state: RunState) -> RunRow {
    let number = 2 * run.round + run.position + 1;
    RunRow { round: run.round, position: run.position, state, ..RunRow::new(number, "") }
}

fn unpaired(runs: &[ModelRun]) -> Unpaired {
    let of = |arm: ArmId| -> Vec<f64> {
        runs.iter().filter(|run| run.arm == arm).map(|run| run.throughput).collect()
    };
    Unpaired::of(&of(ArmId::BASELINE), &of(ArmId(1)), Scale::Ratio).expect("there are runs")
}
