//! Replay of recorded trials: the search runs from its beginning, takes each trial that it wants
//! from the record, and stops at the first one that is missing.

use base::Nanos;
use workload::question::VariedLoad;

use super::judge::{LEAST_ALLOWED, judge};
use super::order::CapacityOrder;
use super::outcome::{FailReason, TrialOutcome};
use super::result::{Irregular, JudgedTrial, TrialRequest};
use super::trial::{Phase, Trial};

/// Reason why the search stops.
pub(super) enum StopReason {
    /// A trial is not recorded yet.
    Run(TrialRequest),
    /// The phase cannot continue.
    Irregular(Irregular),
}

/// The recorded trials, of which the search has replayed the first ones.
pub(super) struct Replay<'a> {
    pub(super) order: &'a CapacityOrder,
    trials: &'a [Trial],
    /// Number of trials replayed so far.
    taken: usize,
    /// Total time of the trials replayed so far, without the hold.
    spent: Nanos,
}

/// Number of requests of a trial, unless a condition that allows only a small share requires more.
const USUAL_REQUESTS: f64 = 10_000.0;

/// Number of requests that are expected beyond a bound at the boundary.
const EXCEEDANCES: f64 = 100.0;

/// Length of a trial in relaxation times.
pub(super) const RELAXATIONS: f64 = 100.0;

/// Length of a warm-up in relaxation times.
const WARMUP_RELAXATIONS: f64 = 10.0;

/// Length of the first trial at a value of the bracket, as a multiple of the length with enough
/// requests to judge a value. A quarter decides a value far from the boundary; at other values,
/// longer trials follow.
const FIRST_LENGTH: f64 = 0.25;

/// Maximum number of runs of a trial that stays invalid.
pub(super) const MOST_INVALID: u32 = 3;

/// Largest distance of values with about the same relaxation time, as a difference of logarithms.
const NEAR: f64 = 0.03;

/// Number of trials of the largest allowed length that fit into the search's share of the budget.
const FEWEST_TRIALS: f64 = 12.0;

impl<'a> Replay<'a> {
    pub(super) fn new(order: &'a CapacityOrder, trials: &'a [Trial]) -> Replay<'a> {
        Replay { order, trials, taken: 0, spent: Nanos::ZERO }
    }

    /// Returns the trials replayed so far.
    pub(super) fn consumed(&self) -> &'a [Trial] {
        &self.trials[..self.taken]
    }

    /// Returns the valid trials replayed so far.
    pub(super) fn valid_trials(&self) -> impl Iterator<Item = &'a Trial> + use<'a> {
        self.consumed().iter().filter(|trial| trial.invalid.is_empty())
    }

    /// Returns the outcome of each trial replayed so far, judged by itself.
    pub(super) fn judged_trials(&self) -> Vec<JudgedTrial> {
        let judged = |trial: &Trial| JudgedTrial {
            value: trial.value,
            phase: trial.phase,
            outcome: judge(self.order, &[trial]),
        };
        self.consumed().iter().map(judged).collect()
    }

    /// Returns the total time of all trials replayed so far, the hold included.
    pub(super) fn total_time(&self) -> Nanos {
        self.consumed().iter().fold(Nanos::ZERO, |sum, trial| sum + trial.took)
    }

    /// Returns the time that is left of the budget for a phase; practically unlimited for the hold.
    pub(super) fn time_left(&self, phase: Phase) -> Nanos {
        let Some(share) = self.share_of_budget(phase) else { return Nanos(u64::MAX / 4) };
        let budget = self.order.budget.as_secs_f64() * share;
        Nanos::from_secs_f64((budget - self.spent.as_secs_f64()).max(0.0))
    }

    /// Returns a trial at this value, with a window of this length, from the record.
    ///
    /// # Errors
    /// The trial is not recorded yet, or the budget of the phase does not cover it.
    pub(super) fn trial(
        &mut self,
        value: f64,
        phase: Phase,
        window: Nanos,
    ) -> Result<&'a Trial, StopReason> {
        // Check the budget for a recorded trial as for a new one: a resumed search must stop where
        // the first one did.
        let warmup = self.warmup(value);
        if self.overhead_s(value) + window.as_secs_f64() > self.time_left(phase).as_secs_f64() {
            return Err(StopReason::Irregular(Irregular::BudgetSpent { phase }));
        }
        let Some(trial) = self.trials.get(self.taken) else {
            let number = self.taken;
            return Err(StopReason::Run(TrialRequest { value, phase, warmup, window, number }));
        };
        self.taken += 1;
        self.spent = match self.share_of_budget(phase) {
            Some(_) => self.spent + trial.took,
            None => self.spent,
        };
        Ok(trial)
    }

    /// Returns a valid trial at this value; invalid trials are repeated.
    ///
    /// # Errors
    /// As for [`Replay::trial`], and if the trial stays invalid.
    pub(super) fn valid_trial(
        &mut self,
        value: f64,
        phase: Phase,
        window: Nanos,
    ) -> Result<&'a Trial, StopReason> {
        for _ in 0..MOST_INVALID {
            let trial = self.trial(value, phase, window)?;
            if trial.invalid.is_empty() {
                return Ok(trial);
            }
        }
        Err(StopReason::Irregular(Irregular::GeneratorLimited { value }))
    }

    /// Returns the outcome at this value. A trial that has no measure, or is undecided (in the
    /// bracket, only if it seems to fail), is repeated with twice the length, at most `extensions`
    /// times, and all trials of this call are judged together.
    ///
    /// # Errors
    /// As for [`Replay::valid_trial`]; a budget that does not cover a repeat is not an error.
    pub(super) fn probe(
        &mut self,
        value: f64,
        phase: Phase,
        extensions: u32,
    ) -> Result<TrialOutcome, StopReason> {
        let mut window = self.window(value, FIRST_LENGTH);
        let mut trials = vec![self.valid_trial(value, phase, window)?];
        for _ in 0..extensions {
            let outcome = judge(self.order, &trials);
            if !deserves_repeat(&outcome, phase) {
                return Ok(outcome);
            }
            window = window + window;
            // An undecided value is near the boundary, so the search can continue without an
            // extension.
            match self.valid_trial(value, phase, window) {
                Err(StopReason::Irregular(Irregular::BudgetSpent { .. })) => break,
                trial => trials.push(trial?),
            }
        }
        Ok(judge(self.order, &trials))
    }

    /// Returns the length of the window of a trial at this value: the length that yields enough
    /// requests to judge the value, multiplied by `times`, or [`RELAXATIONS`] relaxation times if
    /// that is longer. The result is at most what the budget allows, and at least `order.trial`.
    pub(super) fn window(&self, value: f64, times: f64) -> Nanos {
        let relaxations = RELAXATIONS * self.relaxation_s(value);
        let requests = self.requests() / self.throughput(value).unwrap_or(f64::INFINITY);
        let wanted = (times * requests).max(relaxations);
        let most = self.search_s() / FEWEST_TRIALS - self.overhead_s(value);
        let window = Nanos::from_secs_f64(wanted.min(most).max(0.0));
        window.max(self.order.trial)
    }

    /// Returns the time from the start of a trial to its window.
    pub(super) fn warmup(&self, value: f64) -> Nanos {
        let settled = Nanos::from_secs_f64(WARMUP_RELAXATIONS * self.relaxation_s(value));
        self.order.warmup.max(settled.min(self.order.trial))
    }

    /// Returns the time of a trial outside of its window, in seconds: the mean of the trials so
    /// far, including time to restore the data, but at least the warm-up and the drain.
    pub(super) fn overhead_s(&self, value: f64) -> f64 {
        let least = (self.warmup(value) + self.order.drain).as_secs_f64();
        let outside = |trial: &Trial| trial.took.as_secs_f64() - trial.window.as_secs_f64();
        let sum: f64 = self.consumed().iter().map(outside).sum();
        least.max(sum / self.taken.max(1) as f64)
    }

    /// Returns the search's share of the budget, in seconds.
    fn search_s(&self) -> f64 {
        self.order.budget.as_secs_f64() * (1.0 - self.order.confirmation_share())
    }

    /// Returns true if the trials of the first attempt to confirm a value can have enough requests
    /// for a confirmation.
    pub(super) fn is_confirmable(&self, value: f64) -> bool {
        let Some(per_s) = self.throughput(value) else { return true };
        let reserved = self.order.budget.as_secs_f64() * self.order.confirmation_share();
        let trials = f64::from(self.order.confirmations);
        // As in `length` of `confirm`: no trial is shorter than requested.
        let shortest = self.order.trial.as_secs_f64();
        let window = (reserved / 2.0 / trials - self.overhead_s(value)).max(shortest);
        per_s * window * trials * self.smallest_share() >= LEAST_ALLOWED
    }

    /// Returns the smallest share of requests, above 0, that any condition allows to exceed its
    /// bound; 1 if no condition allows any.
    fn smallest_share(&self) -> f64 {
        let allowed = self.order.conditions.iter().filter_map(|it| it.allowed_share());
        allowed.filter(|share| *share > 0.0).fold(1.0, f64::min)
    }

    /// Returns the number of requests of a trial.
    fn requests(&self) -> f64 {
        USUAL_REQUESTS.max(EXCEEDANCES / self.smallest_share())
    }

    /// Returns the expected requests per second at a value; `None` if it is unknown.
    pub(super) fn throughput(&self, value: f64) -> Option<f64> {
        match self.order.vary {
            VariedLoad::Rate { .. } => Some(value),
            VariedLoad::Concurrency { .. } => {
                let nearest = self.nearest(value)?;
                Some(nearest.achieved_per_s).filter(|it| *it > 0.0)
            }
        }
    }

    /// Returns the longest relaxation time of the trials at about this value or, if it is unknown,
    /// the relaxation time of the trial at the nearest value, in seconds; 0 if both are unknown. A
    /// short trial underestimates its relaxation time.
    fn relaxation_s(&self, value: f64) -> f64 {
        let is_about = |trial: &&Trial| (trial.value / value).ln().abs() <= NEAR;
        let about = self.valid_trials().filter(is_about).filter_map(|trial| trial.relaxation).max();
        let nearest = || self.nearest(value).and_then(|trial| trial.relaxation);
        about.or_else(nearest).map_or(0.0, Nanos::as_secs_f64)
    }

    /// Returns, of the valid trials whose load did not exceed the capacity, the one with the
    /// nearest value; the latest if there are several.
    fn nearest(&self, value: f64) -> Option<&'a Trial> {
        let distance = |trial: &Trial| (trial.value / value).ln().abs();
        let carried = self.valid_trials().filter(|trial| !trial.exceeds_capacity);
        carried.fold(None, |best: Option<&Trial>, trial| match best {
            Some(known) if distance(known) < distance(trial) => Some(known),
            Some(_) | None => Some(trial),
        })
    }

    /// Returns the share of the budget that a phase and the phases before it may take together;
    /// `None` for a phase outside of the budget.
    fn share_of_budget(&self, phase: Phase) -> Option<f64> {
        match phase {
            Phase::Bracket | Phase::Shrink | Phase::Round(_) => {
                Some(1.0 - self.order.confirmation_share())
            }
            Phase::Confirm(_) => Some(1.0),
            Phase::Hold => None,
        }
    }
}

/// Rounds a value to one that can be set: a whole number of clients, at least 1, or a rate with
/// five significant digits; and at most the largest value that may be tried.
pub(super) fn round_to_settable(order: &CapacityOrder, value: f64) -> f64 {
    let rounded = match order.vary.is_whole() {
        true => value.round().max(1.0),
        false => {
            let digits = 4 - value.abs().log10().floor() as i32;
            let scale = 10f64.powi(digits);
            (value * scale).round() / scale
        }
    };
    order.highest.map_or(rounded, |highest| rounded.min(highest))
}

/// Returns true if a longer trial at the same value is more informative than a trial at the next
/// value. A job with few requests may have none in a short trial. In the bracket, a trial that
/// seems to pass is not repeated: the next value is larger either way, and a repetition at a low
/// rate seldom has enough requests to decide.
fn deserves_repeat(outcome: &TrialOutcome, phase: Phase) -> bool {
    match outcome {
        TrialOutcome::Undecided { distance, .. } => phase != Phase::Bracket || *distance > 0.0,
        TrialOutcome::Fail(FailReason::Missing { .. }) => true,
        TrialOutcome::Pass | TrialOutcome::Fail(_) | TrialOutcome::Invalid(_) => false,
    }
}
