//! The bracket: a value that passes and one that fails, close to each other.

use super::boundary::is_informative;
use super::judge::{DECIDED_ERRORS, is_better};
use super::order::CapacityOrder;
use super::outcome::{FailReason, TrialOutcome};
use super::replay::{Replay, StopReason, round_to_settable};
use super::result::{Irregular, TrialRequest};
use super::trial::{Phase, Trial};

/// Values around the boundary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bracket {
    /// Largest value that passed.
    pub(super) low: Option<f64>,
    /// Smallest value that failed.
    pub(super) high: Option<f64>,
    /// Value that stayed undecided, larger than `low`. It is not a bound, but indicates the
    /// position of the boundary.
    pub(super) undecided: Option<f64>,
}

/// Largest ratio of the ends of a bracket at which it is narrow enough for the rounds.
const NARROW_RATIO: f64 = 1.2;

/// Ratio of the ends of a bracket above which an undecided value at the lower end is too far from
/// the upper end to be the center of the rounds.
const WIDE_RATIO: f64 = 1.5;

/// Maximum number of repeats of an undecided trial before the bracket has both ends. Each repeat is
/// twice as long as the one before.
const FEW_REPEATS: u32 = 1;
/// Maximum number of repeats of an undecided trial in a bracket with both ends.
pub(super) const MANY_REPEATS: u32 = 3;

/// Difference of two measures, in standard errors, at which the smaller one is probably smaller.
const LIKELY_ERRORS: f64 = 2.0;

/// Fraction of the rate that one client could reach with the service times at lower rates. Rates
/// below this fraction are skipped: they leave the server idle most of the time, unless it is
/// slower at these rates.
const IDLE_SHARE: f64 = 0.25;

/// Largest ratio of a rate that is derived from service times to the rate tried before it.
const LARGEST_RATE_RATIO: f64 = 32.0;

/// Maximum number of halvings.
const MOST_HALVINGS: i32 = 10;

impl Bracket {
    /// Doubles or halves the first value until one value does not fail and the next larger one
    /// does. Rates that leave the server idle most of the time are skipped. Stops with an
    /// incomplete bracket if a trial has to be run first, or if no further value can be tried.
    pub(super) fn find(&mut self, replay: &mut Replay<'_>) -> Result<(), StopReason> {
        let order = replay.order;
        let first = round_to_settable(order, order.first);
        let (mut value, mut lowest) = (first, first);
        while self.is_open() {
            self.check_limits(order, value)?;
            let outcome = replay.probe(value, Phase::Bracket, FEW_REPEATS)?;
            if let TrialOutcome::Fail(FailReason::Missing { condition }) = outcome {
                // Other values would have no measure either.
                return Err(StopReason::Irregular(Irregular::NotMeasured { condition }));
            }
            self.add(value, &outcome);
            lowest = lowest.min(value);
            if self.low.is_none() && !self.has_fallen(replay, DECIDED_ERRORS) {
                self.undecided = None;
            }
            value = match self.floor() {
                Some(_) if !self.is_open() => break,
                Some(_) => {
                    let next = round_to_settable(order, next_larger(replay, value));
                    if next == value && self.undecided == Some(value) && is_near(replay, value) {
                        break;
                    }
                    if next == value {
                        return Err(StopReason::Irregular(Irregular::NeverFails {
                            highest: value,
                        }));
                    }
                    next
                }
                None => {
                    let next = round_to_settable(order, lowest / 2.0);
                    if next != lowest && replay.is_confirmable(next) {
                        next
                    } else if next != lowest && lowest == first {
                        // A single failed value does not show that smaller ones fail.
                        let phase = Phase::Bracket;
                        return Err(StopReason::Irregular(Irregular::BudgetSpent { phase }));
                    } else {
                        return self.end_descent(replay);
                    }
                }
            };
        }
        Ok(())
    }

    /// Returns true if no value failed, or if the trials below the failed value are better than
    /// those at the failed value by `errors` standard errors. If not, the failure is not due to the
    /// load.
    fn has_fallen(&self, replay: &Replay<'_>, errors: f64) -> bool {
        let Some(high) = self.high else { return true };
        let (below, at) = below_and_at(replay, high);
        is_better(replay.order, &below, &at, errors)
    }

    /// Ends the search for a value that does not fail, because there is no lower value, or because
    /// the next lower one would have too few requests to be confirmed. The largest value below the
    /// failed one becomes the floor if the measures below the failed value are likely to be better
    /// than those at it.
    fn end_descent(&mut self, replay: &Replay<'_>) -> Result<(), StopReason> {
        let Some(high) = self.high else { return Ok(()) };
        let (below, _) = below_and_at(replay, high);
        if below.is_empty() || !self.has_fallen(replay, LIKELY_ERRORS) {
            return Err(StopReason::Irregular(Irregular::AlwaysFails { lowest: high }));
        }
        self.undecided = below.iter().map(|trial| trial.value).max_by(f64::total_cmp);
        Ok(())
    }

    /// Halves the bracket geometrically until it is narrow, or a value is undecided.
    pub(super) fn shrink(&mut self, replay: &mut Replay<'_>) -> Result<(), StopReason> {
        while let Some(middle) = self.middle(replay.order, NARROW_RATIO) {
            let outcome = replay.probe(middle, Phase::Shrink, MANY_REPEATS)?;
            self.add(middle, &outcome);
            if self.undecided == Some(middle) {
                break;
            }
        }
        Ok(())
    }

    /// Narrows the range between the largest value that did not fail and a value that the generator
    /// cannot produce, until a value fails or the range is narrow. Returns the reasons why the
    /// range cannot be narrowed further; empty if a value failed.
    pub(super) fn approach(
        &mut self,
        replay: &mut Replay<'_>,
        limit: f64,
    ) -> Result<Vec<Irregular>, TrialRequest> {
        let (order, mut limit) = (replay.order, limit);
        let mut irregular = Vec::new();
        while self.high.is_none() {
            let floor = self.floor();
            let middle = floor.and_then(|floor| middle_between(order, floor, limit, NARROW_RATIO));
            let Some(middle) = middle else { break };
            let tried = self
                .check_limits(order, middle)
                .and_then(|()| replay.probe(middle, Phase::Shrink, FEW_REPEATS));
            match tried {
                Ok(outcome) => self.add(middle, &outcome),
                Err(StopReason::Irregular(Irregular::GeneratorLimited { value })) => limit = value,
                // The value that passed can still be confirmed.
                Err(StopReason::Irregular(why)) => {
                    irregular.push(why);
                    break;
                }
                Err(StopReason::Run(request)) => return Err(request),
            }
        }
        if self.high.is_none() {
            irregular.insert(0, Irregular::GeneratorLimited { value: limit });
        }
        Ok(irregular)
    }

    /// Returns the settable value in the geometric middle of the bracket; `None` if an end is
    /// missing, if the ratio of the ends is at most `narrow`, or if no settable value lies between
    /// them.
    pub(super) fn middle(&self, order: &CapacityOrder, narrow: f64) -> Option<f64> {
        let (low, high) = self.floor().zip(self.high)?;
        middle_between(order, low, high, narrow)
    }

    /// Returns the value around which the rounds begin; `None` for an empty bracket.
    pub(super) fn center(&self) -> Option<f64> {
        let is_close = |floor: &f64| self.high.is_some_and(|high| high / floor <= WIDE_RATIO);
        let undecided = self.undecided.filter(is_close);
        let middle = self.floor().zip(self.high).map(|(low, high)| (low * high).sqrt());
        undecided.or(middle).or(self.floor()).or(self.high)
    }

    pub(super) fn add(&mut self, value: f64, outcome: &TrialOutcome) {
        match outcome {
            TrialOutcome::Pass => {
                self.low = Some(value);
                self.undecided = self.undecided.filter(|undecided| *undecided > value);
            }
            TrialOutcome::Fail(_) => {
                self.high = Some(value);
                self.undecided = self.undecided.filter(|undecided| *undecided < value);
            }
            TrialOutcome::Undecided { .. } => self.undecided = Some(value),
            // Invalid trials are repeated and never arrive here.
            TrialOutcome::Invalid(_) => {}
        }
    }

    /// Returns an error if a value may not be tried. For a rate that the load generator cannot
    /// produce, the error names this rate. Beyond the limit of doubling, the error names the
    /// largest value that did not fail; beyond the limit of halving, the smallest one that failed.
    /// The named value need not be half or twice `value`, because values may be rounded, or limited
    /// by [`CapacityOrder::highest`].
    fn check_limits(&self, order: &CapacityOrder, value: f64) -> Result<(), StopReason> {
        let ceiling = order.ceiling_per_s.map_or(f64::INFINITY, |ceiling| ceiling / 2.0);
        if !order.vary.is_whole() && value > ceiling {
            return Err(StopReason::Irregular(Irregular::GeneratorLimited { value }));
        }
        if let Some(highest) = self.floor().filter(|_| order.is_far_above_first(value)) {
            return Err(StopReason::Irregular(Irregular::NeverFails { highest }));
        }
        let is_far_below = (value / order.first).log2() < -f64::from(MOST_HALVINGS);
        if let Some(lowest) = self.high.filter(|_| is_far_below) {
            return Err(StopReason::Irregular(Irregular::AlwaysFails { lowest }));
        }
        Ok(())
    }

    /// Returns the largest value that did not fail.
    fn floor(&self) -> Option<f64> {
        self.undecided.or(self.low)
    }

    fn is_open(&self) -> bool {
        self.floor().zip(self.high).is_none()
    }
}

/// Returns the value to try after one that did not fail: its double or the largest rate at which
/// the server is still idle most of the time, whichever is larger. That rate follows from the
/// longest mean service time so far, so no trials in between are needed.
fn next_larger(replay: &Replay<'_>, value: f64) -> f64 {
    let doubled = value * 2.0;
    if replay.order.vary.is_whole() {
        return doubled;
    }
    let service = replay.valid_trials().filter_map(|trial| trial.service).max();
    let idle = service.map_or(0.0, |service| IDLE_SHARE / service.as_secs_f64());
    let most = replay.order.first * 2f64.powi(CapacityOrder::MOST_DOUBLINGS);
    idle.min(value * LARGEST_RATE_RATIO).min(most).max(doubled)
}

/// Returns the valid trials below a value, and the valid trials at this value.
fn below_and_at<'a>(replay: &Replay<'a>, value: f64) -> (Vec<&'a Trial>, Vec<&'a Trial>) {
    let trials = replay.valid_trials().filter(|trial| trial.value <= value);
    trials.partition(|trial| trial.value < value)
}

/// Returns true if a trial at a value is near a bound, and so the value is near the boundary.
fn is_near(replay: &Replay<'_>, value: f64) -> bool {
    let all: Vec<&Trial> = replay.valid_trials().collect();
    let mut at = all.iter().filter(|trial| trial.value == value);
    at.any(|trial| is_informative(replay.order, trial, &all))
}

/// Returns the settable value in the geometric middle of two values; `None` if their ratio is at
/// most `narrow`, or if no settable value lies between them.
fn middle_between(order: &CapacityOrder, low: f64, high: f64, narrow: f64) -> Option<f64> {
    let middle = round_to_settable(order, (low * high).sqrt());
    (high / low > narrow && middle > low && middle < high).then_some(middle)
}

#[cfg(test)]
mod tests {
    use base::Nanos;
    use workload::question::VariedLoad;

    use super::super::outcome::FailReason;
    use super::super::synthetic::{order, run, trial};
    use super::*;

    /// Returns the values that the bracket tries at a server with this service time. Beyond 6,000
    /// requests per second or 6,000 clients, half of the requests are slow.
    fn tried(vary: VariedLoad, service: Nanos) -> Vec<f64> {
        let (_, trials) = run(&CapacityOrder { vary, ..order() }, |request| {
            let share = if request.value > 6_000.0 { 0.5 } else { 0.001 };
            Trial { service: Some(service), ..trial(request, request.value, share) }
        });
        let bracket = trials.iter().filter(|trial| trial.phase == Phase::Bracket);
        bracket.map(|trial| trial.value).collect()
    }

    #[test]
    fn rates_at_which_the_server_is_idle_are_skipped() {
        let tried_at =
            |micros| tried(VariedLoad::Rate { job: "read".to_owned() }, Nanos::from_micros(micros));
        assert_eq!(tried_at(50), [100.0, 3_200.0, 6_400.0], "32 times at most");
        assert_eq!(tried_at(100), [100.0, 2_500.0, 5_000.0, 10_000.0]);
        let doubled = [100.0, 200.0, 400.0, 800.0, 1_600.0, 3_200.0, 6_400.0];
        assert_eq!(tried_at(1_250), doubled, "one client reaches 800 per second");
    }

    /// Numbers of clients are doubled, because each further client adds a request in progress.
    #[test]
    fn numbers_of_clients_are_not_skipped() {
        let clients = VariedLoad::Concurrency { job: "read".to_owned() };
        assert_eq!(tried(clients, Nanos::from_micros(50))[..2], [100.0, 200.0]);
    }

    /// The next value is neither twice the largest one nor half of the smallest one: it is limited
    /// by `highest`, or rounded to a whole number of clients.
    #[test]
    fn search_names_the_last_value_that_was_tried() {
        let rates = CapacityOrder { highest: Some(20e6), ..order() };
        let (capacity, _) = run(&rates, |it| trial(it, it.value, 0.0));
        let highest = 13_107_000.0;
        assert_eq!(capacity.irregular.first(), Some(&Irregular::NeverFails { highest }));
        let vary = VariedLoad::Concurrency { job: "read".to_owned() };
        let clients = CapacityOrder { vary, first: 3_000.0, ..order() };
        let (capacity, _) = run(&clients, |it| trial(it, 100.0 * it.value, 0.5));
        assert_eq!(capacity.irregular.first(), Some(&Irregular::AlwaysFails { lowest: 3.0 }));
    }

    #[test]
    fn undecided_value_moves_no_bound() {
        let mut bracket = Bracket { low: Some(100.0), high: Some(400.0), undecided: None };
        bracket.add(200.0, &TrialOutcome::Undecided { condition: 0, distance: 1.0 });
        assert_eq!((bracket.low, bracket.high), (Some(100.0), Some(400.0)));
        bracket.add(300.0, &TrialOutcome::Fail(FailReason::Backlog));
        assert_eq!(bracket.center(), Some(200.0));
        bracket.add(250.0, &TrialOutcome::Pass);
        assert_eq!(bracket, Bracket { low: Some(250.0), high: Some(300.0), undecided: None });
    }
}
