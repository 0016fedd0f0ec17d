//! The method of an experiment, with the mistakes that can be made in it.

use analyze::compare::{
    Compared, Comparison, CountedRun, Design, Look, LookPlan, NextStep, OrderModel, RunFigures,
    RunVerdict, Unpaired, compare,
};
use analyze::{CheckKind, Status, WarmupEnd, end_of_warmup};
use workload::question::{Bet, Deltas, Scale};

use super::laboratory::{Course, LENGTH_S, ModelRun, Order};
use crate::trust::drawn_figures;

/// The method of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    pub(super) order: Order,
    pub(super) analysis: Analysis,
    pub(super) warmup: WarmupRule,
    pub(super) looks: LookState,
    pub(super) suspect: SuspectRule,
}

/// The analysis of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Analysis {
    /// Pairs of runs are compared.
    Paired,
    /// Runs are compared as two groups, a mistake planted on purpose.
    Unpaired,
}

/// The rule for the warm-up.
#[derive(Clone, Copy, Debug)]
pub(super) enum WarmupRule {
    /// The latest cut of a round, for all its runs.
    LatestOfTheRound,
    /// The mistake: the cut of each run.
    PerArm,
}

/// The looks of an experiment that is resumed after every round.
#[derive(Clone, Copy, Debug)]
pub(super) enum LookState {
    /// Those of the record.
    Recorded,
    /// The mistake: each resumption looks again.
    Forgotten,
}

/// The treatment of SUSPECT runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum SuspectRule {
    /// They count.
    Counts,
    /// The mistake: those of the arm, and not those of the baseline, are left out.
    DroppedInOneArm,
}

/// The method without a mistake.
pub(super) const HONEST: Method = Method {
    order: Order::Coin,
    analysis: Analysis::Paired,
    warmup: WarmupRule::LatestOfTheRound,
    looks: LookState::Recorded,
    suspect: SuspectRule::Counts,
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

    /// Returns true if the interval excludes that nothing changed.
    pub(super) fn is_significant(&self) -> bool {
        self.interval().is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }

    /// Returns the comparison of the throughput.
    pub(super) fn throughput(&self) -> Option<&Compared> {
        self.comparison.arms.first()?.changes.first()?.compared.as_ref().ok()
    }
}

impl Method {
    /// Judges the first pairs of an experiment.
    pub(super) fn judge(&self, runs: &[ModelRun], looks: LookPlan, bets: &[&str]) -> Answer {
        let left_out = |run: &ModelRun| match self.suspect {
            SuspectRule::Counts => false,
            SuspectRule::DroppedInOneArm => run.arm == 1 && run.is_suspect,
        };
        let counted: Vec<&ModelRun> = runs.iter().filter(|run| !left_out(run)).collect();
        let figures: Vec<RunFigures> = counted.iter().map(|run| figures(run)).collect();
        let all: Vec<CountedRun<'_>> = counted
            .iter()
            .zip(&figures)
            .map(|(run, figures)| CountedRun {
                round: run.round,
                arm: run.arm,
                position: run.position,
                figures,
            })
            .collect();
        let design = Design {
            arms: 2,
            looks,
            order: match self.order {
                Order::Coin | Order::Fixed => OrderModel::Random,
                Order::Counterbalanced => OrderModel::Counterbalanced,
            },
            bets: bets.iter().map(|bet| Bet::parse(bet).expect("a bet")).collect(),
            deltas: Deltas::default(),
        };
        let unpaired = match self.analysis {
            Analysis::Paired => None,
            Analysis::Unpaired => Some(unpaired(&counted)),
        };
        Answer { comparison: compare(&design, &all, looks.most_pairs()), unpaired }
    }

    /// Judges an experiment with planned looks that is interrupted and resumed after every round,
    /// and returns true if any look finds a difference.
    pub(super) fn finds_at_any_look(&self, runs: &[ModelRun]) -> bool {
        let plan = LookPlan::Auto;
        let mut taken: Vec<Look> = Vec::new();
        for pairs in 1..=plan.most_pairs() {
            let due = match self.looks {
                LookState::Recorded => match plan.next(&taken, pairs) {
                    NextStep::Look { pairs } => Some(pairs),
                    NextStep::Run { .. } | NextStep::Finished => None,
                },
                LookState::Forgotten => (pairs >= plan.looks()[0]).then_some(pairs),
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

    /// Replaces the throughput of each run by that after its warm-up, with a course per arm.
    pub(super) fn cut(&self, runs: &mut [ModelRun], courses: [Course; 2], seed: u64) {
        for round in runs.chunks_mut(2) {
            let seconds: Vec<Vec<f64>> =
                round.iter().map(|run| courses[run.arm].seconds(run, seed)).collect();
            let cuts: Vec<usize> = seconds.iter().map(|seconds| end(seconds)).collect();
            let latest = cuts.iter().copied().max().unwrap_or_default();
            for ((run, seconds), cut) in round.iter_mut().zip(&seconds).zip(&cuts) {
                let cut = match self.warmup {
                    WarmupRule::LatestOfTheRound => latest,
                    WarmupRule::PerArm => *cut,
                };
                let window = &seconds[cut..];
                run.throughput = window.iter().sum::<f64>() / window.len() as f64;
            }
        }
    }
}

/// Returns the end of the warm-up, in seconds.
fn end(seconds: &[f64]) -> usize {
    match end_of_warmup([seconds]) {
        WarmupEnd::Found(cut) => cut.steps,
        WarmupEnd::Given | WarmupEnd::TooShort | WarmupEnd::NoSteadyJob => {
            unreachable!("{LENGTH_S} s are enough")
        }
    }
}

fn figures(run: &ModelRun) -> RunFigures {
    let suspect = run.is_suspect.then_some((CheckKind::Drift, Status::Suspect));
    drawn_figures(run.throughput, RunVerdict::new(suspect))
}

fn unpaired(runs: &[&ModelRun]) -> Unpaired {
    let of = |arm: usize| -> Vec<f64> {
        runs.iter().filter(|run| run.arm == arm).map(|run| run.throughput).collect()
    };
    Unpaired::of(&of(0), &of(1), Scale::Ratio).expect("there are runs")
}
