//! Rounds of five values around the estimate, in random order.

use base::{Nanos, Seed, Stream};
use workload::question::VariedLoad;

use super::boundary::{
    self, ConditionBoundary, INFORMATIVE_RATIO, binding, growth, is_informative, outcomes,
};
use super::bracket::{Bracket, MANY_REPEATS};
use super::judge::{JUMP, overload, upper_bounds};
use super::order::CapacityOrder;
use super::outcome::TrialOutcome;
use super::replay::{RELAXATIONS, Replay, StopReason, round_to_settable};
use super::result::{Boundary, Interval, Irregular};
use super::trial::{Phase, Trial};

/// The boundary as the search found it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundBoundary {
    pub(super) boundary: Boundary,
    pub(super) estimate: f64,
    pub(super) interval: Interval,
    /// Position of the binding condition; `None` if the failed trials were overloaded.
    pub(super) binding: Option<usize>,
    pub(super) isotonic: Option<f64>,
    /// Steepness of the boundary; `None` if it does not come from the regression, as at a cliff.
    pub(super) steepness: Option<Steepness>,
    pub(super) irregular: Vec<Irregular>,
}

/// Growth and scatter of the binding condition's measure at the boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steepness {
    /// Growth of the logarithm of the measure per unit of the logarithm of the value.
    pub(super) slope: f64,
    /// Number of requests that scatter like one independent request.
    pub(super) dispersion: f64,
}

/// Distance of the outer values of the first round from its center, as a fraction of the center.
const FIRST_SPAN: f64 = 0.06;

/// Largest distance of the outer values of a round from its center, as a fraction of the center,
/// where the boundary is shallow.
const WIDEST_SPAN: f64 = 0.1;

/// Smallest distance of the outer values of a round from its center, as a fraction of the center,
/// where the boundary is steep.
const NARROWEST_SPAN: f64 = 0.01;

/// Intended growth of the logarithm of the measure from the center of a round to its largest value.
const SPAN_LOG_RATIO: f64 = 1.0;

/// Number of rounds after which the total number of rounds is computed.
const PILOT_ROUNDS: u32 = 2;

const FEWEST_ROUNDS: u32 = 3;
const MOST_ROUNDS: u32 = 12;

/// Number of values in a round.
const VALUES: usize = 5;

/// Half of the width that the interval should have at the end, as a fraction of the estimate.
const HALF_WIDTH: f64 = 0.01;

/// Length of a trial of a round, as a multiple of the length with enough requests to judge a value.
const TRIAL_LENGTH: f64 = 2.0;

/// Largest ratio of the ends of a bracket at which a jump between them counts as a cliff.
const CLIFF_RATIO: f64 = 1.005;

/// Largest ratio of the ends of a bracket at which a jump still counts as a cliff, if the bracket
/// could not be narrowed to [`CLIFF_RATIO`].
const STEEP_RATIO: f64 = 1.05;

/// Distance from the center, as a difference of logarithms, up to which trials of the bracket take
/// part in the fit.
const NEAR_CENTER: f64 = 0.12;

/// Half-width of the interval, as a difference of logarithms, above which the regression is not
/// used.
const USELESS_HALF_WIDTH: f64 = 0.15;

/// Largest ratio of neighbouring whole numbers between which a jump is called a cliff.
const WHOLE_NUMBER_CLIFF_RATIO: f64 = 1.02;

/// Smallest disagreement of the two fits that matters, as a fraction of the estimate.
const DISAGREEMENT: f64 = 0.01;

/// State of the rounds.
struct Rounds<'r, 'a> {
    replay: &'r mut Replay<'a>,
    center: f64,
    span: f64,
    window: Nanos,
    /// Trials of all rounds so far.
    trials: Vec<&'a Trial>,
}

/// Runs the rounds around a bracket; `None` if the trials show no boundary.
pub(super) fn rounds(
    replay: &mut Replay<'_>,
    bracket: Bracket,
) -> Result<Option<FoundBoundary>, StopReason> {
    let Some(center) = bracket.center() else { return Ok(None) };
    let window = length(replay, center);
    let mut rounds = Rounds { replay, center, span: FIRST_SPAN, window, trials: Vec::new() };
    rounds.run()
}

/// Returns the length of the window of a trial: [`TRIAL_LENGTH`] times the length with enough
/// requests to judge a value. If three rounds would then not fit into the budget, the length is
/// shorter, but never shorter than `order.trial`.
fn length(replay: &Replay<'_>, center: f64) -> Nanos {
    let left = replay.time_left(Phase::Round(1)).as_secs_f64();
    let most = left / f64::from(FEWEST_ROUNDS * VALUES as u32) - replay.overhead_s(center);
    let wanted = replay.window(center, TRIAL_LENGTH).as_secs_f64();
    Nanos::from_secs_f64(wanted.min(most).max(0.0)).max(replay.order.trial)
}

impl<'a> Rounds<'_, 'a> {
    fn run(&mut self) -> Result<Option<FoundBoundary>, StopReason> {
        let (mut round, mut planned, mut has_narrowed) = (1, MOST_ROUNDS, false);
        let mut irregular = Vec::new();
        while round <= planned {
            match self.round(round) {
                Err(StopReason::Irregular(why)) => {
                    let is_spent = matches!(why, Irregular::BudgetSpent { .. });
                    if !is_spent || round <= FEWEST_ROUNDS {
                        irregular.push(why);
                    }
                    break;
                }
                it => it?,
            }
            if !has_narrowed && !self.has_informative(round) {
                has_narrowed = true;
                match self.narrow() {
                    Ok(None) => {}
                    Err(StopReason::Irregular(why)) => {
                        irregular.push(why);
                        break;
                    }
                    found => return found,
                }
            }
            if round <= PILOT_ROUNDS {
                self.lengthen();
            }
            if round == PILOT_ROUNDS {
                planned = self.plan();
            }
            if round == planned
                && planned < MOST_ROUNDS
                && self.boundary().is_some_and(|it| it.is_curved())
            {
                // In a narrower span, the measures are closer to a straight line.
                self.span = (self.span / 2.0).max(NARROWEST_SPAN);
                planned = MOST_ROUNDS.min(planned + 1);
                self.recenter(round, false);
            } else {
                self.recenter(round, true);
            }
            round += 1;
        }
        let cut = irregular.last().cloned();
        match (self.found(irregular), cut) {
            (None, Some(why)) => Err(StopReason::Irregular(why)),
            (found, _) => Ok(found),
        }
    }

    /// Runs one round.
    fn round(&mut self, round: u32) -> Result<(), StopReason> {
        let values = values(self.replay.order, self.center, self.span, round);
        for value in values {
            self.trials.push(self.replay.valid_trial(value, Phase::Round(round), self.window)?);
        }
        Ok(())
    }

    /// Returns the boundary of all trials of the rounds, together with nearby trials of the
    /// bracket. `None` if they show no boundary, if its interval is too wide, or if, below it, the
    /// server refuses connections or far more requests fail than chance explains.
    fn boundary(&self) -> Option<ConditionBoundary> {
        let is_near = |trial: &&Trial| {
            let is_of_round = matches!(trial.phase, Phase::Round(_));
            is_of_round || (trial.value / self.center).ln().abs() <= NEAR_CENTER
        };
        let mut trials: Vec<&Trial> = self.replay.valid_trials().filter(is_near).collect();
        // Exclude trials shorter than half the current length, if enough others remain: short
        // trials depend on their initial state.
        let is_long =
            |trial: &&Trial| trial.window.as_secs_f64() * 2.0 >= self.window.as_secs_f64();
        let long: Vec<&Trial> = trials.iter().copied().filter(is_long).collect();
        if long.len() >= PILOT_ROUNDS as usize * VALUES {
            trials = long;
        }
        let found = binding(self.replay.order, &trials, self.center)?;
        let crossing = self.center * found.crossing.x.exp();
        let is_refused = self.first_refused().is_some_and(|refused| refused < crossing);
        (found.crossing.half_width <= USELESS_HALF_WIDTH && !is_refused).then_some(found)
    }

    /// Returns the smallest value at which the server refuses connections, or at which requests
    /// fail in far larger numbers than chance explains.
    fn first_refused(&self) -> Option<f64> {
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        boundary::first_refused(self.replay.order, &valid)
    }

    /// Returns true if the server refuses requests at a value, and the measures locate no boundary
    /// below this value.
    fn refuses(&self) -> bool {
        self.first_refused().is_some() && self.boundary().is_none()
    }

    /// Lengthens the trials of the next rounds if the dispersion between trials shows a longer
    /// relaxation time than single trials could. The new length leaves time for three more rounds.
    fn lengthen(&mut self) {
        let Some(found) = self.boundary() else { return };
        let Some(per_s) = self.replay.throughput(self.center) else { return };
        let relaxation = (found.dispersion - 1.0).max(0.0) / (2.0 * per_s);
        let left = self.replay.time_left(Phase::Round(PILOT_ROUNDS)).as_secs_f64();
        let overhead = self.replay.overhead_s(self.center);
        let most = left / f64::from(FEWEST_ROUNDS * VALUES as u32) - overhead;
        let wanted = (RELAXATIONS * relaxation).min(most);
        self.window = self.window.max(Nanos::from_secs_f64(wanted.max(0.0)));
    }

    fn of_round(&self, round: u32) -> impl Iterator<Item = &&'a Trial> {
        self.trials.iter().filter(move |trial| trial.phase == Phase::Round(round))
    }

    fn has_informative(&self, round: u32) -> bool {
        let all: Vec<&Trial> = self.replay.valid_trials().collect();
        !self.refuses()
            && self.of_round(round).any(|trial| is_informative(self.replay.order, trial, &all))
    }

    /// Moves the center to the estimate, by at most the span of the last round. Without an estimate
    /// by the regression, the center moves to the crossing of the isotonic fit or, without a
    /// crossing, by the span: down if most trials of the round failed, otherwise up. If `adapts`,
    /// fits the span to the slope of the regression.
    fn recenter(&mut self, round: u32, adapts: bool) {
        let boundary = self.boundary();
        let by = match &boundary {
            Some(boundary) => boundary.crossing.x,
            None => {
                let fails = |it: &&&Trial| {
                    matches!(boundary::judge_alone(self.replay.order, it), TrialOutcome::Fail(_))
                };
                let failed = self.of_round(round).filter(fails).count();
                let isotonic = self.isotonic().map(|it| (it / self.center).ln());
                isotonic.unwrap_or(self.span * if failed * 2 > VALUES { -1.0 } else { 1.0 })
            }
        };
        self.center *= by.clamp(-self.span, self.span).exp();
        if let Some(boundary) = boundary.filter(|_| adapts) {
            self.span =
                (SPAN_LOG_RATIO / boundary.crossing.slope).clamp(NARROWEST_SPAN, WIDEST_SPAN);
        }
    }

    /// Returns the lowest crossing of the isotonic fits of all trials.
    fn isotonic(&self) -> Option<f64> {
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        let positions = 0..self.replay.order.conditions.len();
        let crossings =
            positions.filter_map(|it| boundary::isotonic(self.replay.order, it, &valid));
        crossings.min_by(f64::total_cmp)
    }

    /// Returns the number of rounds that makes the interval narrow enough, within the budget.
    fn plan(&self) -> u32 {
        let overhead = self.replay.overhead_s(self.center);
        let cost = VALUES as f64 * (self.window.as_secs_f64() + overhead);
        let left = self.replay.time_left(Phase::Round(PILOT_ROUNDS)).as_secs_f64();
        let affordable = PILOT_ROUNDS + (left / cost) as u32;
        let needed = match self.boundary() {
            None => MOST_ROUNDS,
            Some(boundary) => {
                // Use two standard errors, because the interval of the few trials so far is wider.
                let ratio = 2.0 * boundary.crossing.error / HALF_WIDTH;
                (f64::from(PILOT_ROUNDS) * ratio * ratio).ceil().min(f64::from(MOST_ROUNDS)) as u32
            }
        };
        needed.clamp(FEWEST_ROUNDS, MOST_ROUNDS).min(affordable.max(PILOT_ROUNDS))
    }

    /// Halves the range between the values that pass and those that fail, when no trial of a round
    /// was near the boundary. Returns the cliff in this range or, for numbers of clients, the
    /// boundary between two neighbouring numbers. `None` if there is neither; the rounds then
    /// continue, around a trial near the boundary if there is one.
    fn narrow(&mut self) -> Result<Option<FoundBoundary>, StopReason> {
        let order = self.replay.order;
        let mut gap = self.gap();
        while let Some(middle) = gap.middle(order, CLIFF_RATIO) {
            let outcome = self.replay.probe(middle, Phase::Shrink, MANY_REPEATS)?;
            gap.add(middle, &outcome);
            let all: Vec<&Trial> = self.replay.valid_trials().collect();
            let mut at_middle = all.iter().filter(|trial| trial.value == middle);
            if !self.refuses() && at_middle.any(|trial| is_informative(order, trial, &all)) {
                self.center = middle;
                let (low, high) = gap.low.zip(gap.high).unwrap_or((middle, middle));
                self.span = (high / low).ln().clamp(NARROWEST_SPAN, WIDEST_SPAN);
                return Ok(None);
            }
        }
        let Some((low, high)) = gap.low.zip(gap.high).filter(|_| gap.undecided.is_none()) else {
            return Ok(None);
        };
        let limit = if order.vary.is_whole() { WHOLE_NUMBER_CLIFF_RATIO } else { CLIFF_RATIO };
        if high / low <= limit && self.is_jump(low, high) || order.vary.is_whole() {
            return Ok(Some(self.step(low, high, limit)));
        }
        (self.center, self.span) = ((low * high).sqrt(), NARROWEST_SPAN);
        Ok(None)
    }

    /// Returns true if the measures are far from their bounds on both sides of a range. At its
    /// upper end, a trial that was overloaded or had failed requests counts as far beyond the
    /// bounds. With such a trial and a narrow range, it is enough that the measures at the lower
    /// end are not near their bounds. Refused requests that decide the boundary always count as a
    /// jump.
    fn is_jump(&self, low: f64, high: f64) -> bool {
        if self.refuses() {
            return true;
        }
        let order = self.replay.order;
        let all: Vec<&Trial> = self.replay.valid_trials().collect();
        let at = |value: f64| -> Vec<&Trial> {
            all.iter().copied().filter(|trial| trial.value == value).collect()
        };
        let (below, above) = (at(low), at(high));
        let is_lost =
            |trial: &&Trial| trial.limited_failures > 0 || overload(order, trial).is_some();
        let is_lost = above.iter().any(is_lost);
        let most = match is_lost && high / low <= CLIFF_RATIO {
            true => (-INFORMATIVE_RATIO).exp(),
            false => 1.0 / JUMP,
        };
        let is_far_below = |it| growth(order, it, &below, &all).is_some_and(|it| it <= most);
        let is_far_above = |it| growth(order, it, &above, &all).is_some_and(|it| it >= JUMP);
        upper_bounds(order).all(is_far_below) && (is_lost || upper_bounds(order).any(is_far_above))
    }

    /// Returns the bracket of all trials so far: the smallest value that fails, and the largest one
    /// below it that passes.
    fn gap(&self) -> Bracket {
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        let outcomes = outcomes(self.replay.order, &valid);
        let high = outcomes.iter().find(|(_, it)| matches!(it, TrialOutcome::Fail(_)));
        let high = high.map(|(value, _)| *value);
        let passes = |(value, outcome): &&(f64, TrialOutcome)| {
            *outcome == TrialOutcome::Pass && high.is_none_or(|high| *value < high)
        };
        let low = outcomes.iter().rfind(passes).map(|(value, _)| *value);
        Bracket { low, high, undecided: None }
    }

    /// Returns two neighbouring numbers of clients: the smaller one passes and the larger one
    /// fails. No fit can be more precise, because there is no number between them.
    fn neighbours(&self) -> Option<(f64, f64)> {
        let Bracket { low, high, .. } = self.gap();
        let is_whole = self.replay.order.vary.is_whole();
        low.zip(high).filter(|(low, high)| is_whole && high - low <= 1.0)
    }

    /// Returns the boundary between two neighbouring values. The boundary is a cliff if the ratio
    /// of the values is at most `limit`, or if refused requests decide it.
    fn step(&self, low: f64, high: f64, limit: f64) -> FoundBoundary {
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        let outcomes = outcomes(self.replay.order, &valid);
        let binding = binding_at(&outcomes, high);
        let inversion = boundary::inversion(self.replay.order, &valid);
        let is_cliff = high / low <= limit;
        let estimate = if is_cliff { (low * high).sqrt() } else { low };
        FoundBoundary {
            // Refused requests are a cliff between any two numbers of clients.
            boundary: match (&inversion, is_cliff || binding.is_none() && self.refuses()) {
                (Some(_), _) => Boundary::NonMonotone,
                (None, true) => Boundary::Cliff,
                (None, false) => Boundary::Smooth,
            },
            estimate,
            interval: Interval { low, high },
            binding,
            isotonic: None,
            steepness: None,
            irregular: inversion.into_iter().collect(),
        }
    }

    fn found(&self, mut irregular: Vec<Irregular>) -> Option<FoundBoundary> {
        let order = self.replay.order;
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        let inversion = boundary::inversion(order, &valid);
        let class = if inversion.is_some() { Boundary::NonMonotone } else { Boundary::Smooth };
        let found = self.boundary();
        // Look for a drift first: it explains an inversion, and may prevent the regression from
        // finding a boundary.
        let mut judged = match &found {
            Some(found) => found.condition..found.condition + 1,
            None => 0..order.conditions.len(),
        };
        irregular.extend(judged.find_map(|it| boundary::drift(order, it, &self.trials)));
        irregular.extend(inversion);
        if let Some((low, high)) = self.neighbours() {
            // Further rounds would add nothing.
            irregular.retain(|why| !matches!(why, Irregular::BudgetSpent { .. }));
            let step = self.step(low, high, WHOLE_NUMBER_CLIFF_RATIO);
            return Some(FoundBoundary { irregular, ..step });
        }
        let Some(found) = found else { return self.boundary_by_order(class, irregular) };
        let at = |x: f64| self.center * x.exp();
        let (x, half) = (found.crossing.x, found.crossing.half_width);
        let estimate = at(x);
        let isotonic = boundary::isotonic(order, found.condition, &valid);
        let apart = isotonic.map_or(0.0, |isotonic| (isotonic / estimate).ln().abs());
        if let Some(isotonic) = isotonic.filter(|_| apart > half.max(DISAGREEMENT)) {
            irregular.push(Irregular::FitsDisagree { regression: estimate, isotonic });
        }
        if found.is_uncertain {
            irregular.push(Irregular::Curved);
        }
        let steepness =
            Steepness { slope: found.crossing.slope, dispersion: found.dispersion.max(1.0) };
        Some(FoundBoundary {
            boundary: class,
            estimate,
            interval: Interval { low: at(x - half), high: at(x + half) },
            binding: Some(found.condition),
            isotonic,
            steepness: Some(steepness),
            irregular,
        })
    }

    /// Returns the boundary by the order of the outcomes alone, if the regression has none. The
    /// boundary lies between the smallest value that fails and the largest one below it that
    /// passes. A jump of the measures across a narrow range is a cliff, even if the search ended
    /// early. The class of a wider range is unknown.
    fn boundary_by_order(
        &self,
        class: Boundary,
        irregular: Vec<Irregular>,
    ) -> Option<FoundBoundary> {
        let gap = self.gap();
        let (low, high) = gap.low.zip(gap.high)?;
        let boundary = match class {
            Boundary::Smooth if high / low <= STEEP_RATIO && self.is_jump(low, high) => {
                Boundary::Cliff
            }
            Boundary::Smooth => Boundary::NotReached,
            other => other,
        };
        let isotonic = self.isotonic().filter(|it| (low..=high).contains(it));
        let valid: Vec<&Trial> = self.replay.valid_trials().collect();
        Some(FoundBoundary {
            boundary,
            estimate: isotonic.unwrap_or((low * high).sqrt()),
            interval: Interval { low, high },
            binding: binding_at(&outcomes(self.replay.order, &valid), high),
            isotonic,
            steepness: None,
            irregular,
        })
    }
}

/// Returns the condition that fails at a value; `None` if the trials at this value were overloaded.
fn binding_at(outcomes: &[(f64, TrialOutcome)], value: f64) -> Option<usize> {
    match outcomes.iter().find(|(at, _)| *at == value)? {
        (_, TrialOutcome::Fail(reason)) => reason.condition(),
        _ => None,
    }
}

/// Returns the values of a round in random order.
fn values(order: &CapacityOrder, center: f64, span: f64, round: u32) -> [f64; VALUES] {
    let steps = [-2.0, -1.0, 0.0, 1.0, 2.0];
    let mut values = match order.vary {
        VariedLoad::Rate { .. } => steps.map(|step| center * (1.0 + step * span / 2.0)),
        VariedLoad::Concurrency { .. } => {
            let width = (center * span / 2.0).round().max(1.0);
            steps.map(|step| center.round() + step * width)
        }
    };
    shuffle(&mut values, order.seed, round);
    values.map(|value| round_to_settable(order, value))
}

/// Shuffles the values of a round (Fisher and Yates).
fn shuffle(values: &mut [f64; VALUES], seed: Seed, round: u32) {
    let mut draw = Stream::new(seed, "capacity", "order").draw(u64::from(round));
    for last in (1..VALUES).rev() {
        values.swap(last, draw.below(last as u64 + 1) as usize);
    }
}
