//! The boundary in the trials: outcomes by value, crossings of the conditions, inversions, drift.

use base::Nanos;
use workload::Side;
use workload::question::Condition;

use super::isotonic::{Level, isotonic_crossing};
use super::judge::{
    DECIDED_ERRORS, difference_of_counts, judge, judge_at, limiting, mean_ratio, overload,
    pooled_at, ratio,
};
use super::order::CapacityOrder;
use super::outcome::{FailReason, TrialOutcome};
use super::regression::{Crossing, Fit, Point, Response, Terms};
use super::result::Irregular;
use super::trial::{ExceedanceCount, LoadLimit, Measure, Phase, Trial};

/// Logarithm of the largest ratio between a measure and its bound, in either direction, at which a
/// trial helps to locate the boundary.
pub(super) const INFORMATIVE_RATIO: f64 = 1.39;

/// Value of [`INFORMATIVE_RATIO`] for a lower bound on the throughput of another job. This
/// throughput changes slowly with the load.
const INFORMATIVE_LOWER_BOUND: f64 = 0.22;

/// Minimum number of trials that a fit keeps when it is narrowed.
const FEWEST_NEAR: usize = 6;

/// Number of times that a fit is narrowed to the trials near its crossing.
const NARROWINGS: u32 = 3;

/// Minimum distance of a measure from its bound, in standard errors, for an outcome that can be
/// part of an inversion: a larger value passes while a smaller one fails. It is large because there
/// are many pairs of values near the boundary, and because the errors of short trials are
/// themselves uncertain.
const INVERSION_ERRORS: f64 = 4.0;

/// Significance level of a curvature or a drift, which counts as real if its p-value is smaller.
const REAL_P: f64 = 0.01;

/// Significance level of the curvature at which the crossing is taken from a curve instead of a
/// line.
const CURVE_P: f64 = 0.05;

/// Maximum distance of the curve's crossing from the line's, as a difference of logarithms. Beyond
/// it, the line's crossing is used.
const LARGEST_MOVE: f64 = 0.05;

/// Smallest drift of the capacity that matters, as a fraction of the capacity.
const MATERIAL_DRIFT: f64 = 0.02;

/// Number of failed trials, those at the smallest values, in which a limit of the load is sought.
const LOWEST_FAILED: usize = 3;

/// Minimum number of slow requests at low loads, and also near a value, for a comparison of their
/// shares. Fewer could be due to chance.
const FEWEST_SLOW: u64 = 20;

/// Minimum ratio of the share of slow requests at low loads to that near a value, for the two to
/// count as equal. The ratio is 0.71 for the median of a queue with exponential times if the
/// boundary is at half of the queue's capacity, and 1 for a server that stalls at times.
const EQUAL_SHARES_RATIO: f64 = 0.8;

/// Minimum difference of the two shares of slow requests, in standard errors, at which the share
/// near a value counts as larger even if the ratio reaches [`EQUAL_SHARES_RATIO`].
const GROWTH_ERRORS: f64 = 2.0;

/// Minimum ratio of a trial's mean service time to the mean service time of a quiet trial, at which
/// the server counts as busy.
const BUSY_RATIO: f64 = 2.0;

/// The boundary of one condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConditionBoundary {
    /// Position of the condition.
    pub(super) condition: usize,
    /// Crossing of the condition's bound: by a curve if the trials are curved, or else by a line.
    pub(super) crossing: Crossing,
    /// Dispersion of the condition's counts.
    pub(super) dispersion: f64,
    /// Probability that chance alone makes the trials this curved.
    p_of_curve: f64,
    /// True if the trials are curved and no curve crosses the bound near the line's crossing.
    pub(super) is_uncertain: bool,
}

/// Returns the outcome of all trials at each value, in ascending order of the values.
pub(super) fn outcomes(order: &CapacityOrder, trials: &[&Trial]) -> Vec<(f64, TrialOutcome)> {
    outcomes_at(order, trials, DECIDED_ERRORS)
}

fn outcomes_at(order: &CapacityOrder, trials: &[&Trial], decided: f64) -> Vec<(f64, TrialOutcome)> {
    let mut sorted = trials.to_vec();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    let by_value = sorted.chunk_by(|a, b| a.value == b.value);
    by_value.map(|trials| (trials[0].value, judge_at(order, trials, decided))).collect()
}

/// Returns the boundary of the condition whose bound is reached at the lowest value; `None` if the
/// trials reach no bound.
pub(super) fn binding(
    order: &CapacityOrder,
    trials: &[&Trial],
    center: f64,
) -> Option<ConditionBoundary> {
    let all = order.conditions.iter().enumerate();
    let boundaries = all.filter_map(|(position, it)| of_condition(it, position, trials, center));
    boundaries.min_by(|a, b| a.crossing.x.total_cmp(&b.crossing.x))
}

fn of_condition(
    condition: &Condition,
    position: usize,
    trials: &[&Trial],
    center: f64,
) -> Option<ConditionBoundary> {
    let mut points = points(condition, position, trials, center);
    let mut fit = Fit::of(&points, Terms::Line)?;
    for _ in 0..NARROWINGS {
        let is_near = |point: &&Point| fit.at(point.x).abs() <= INFORMATIVE_RATIO;
        let near: Vec<Point> = points.iter().filter(is_near).copied().collect();
        if near.len() < FEWEST_NEAR || near.len() == points.len() {
            break;
        }
        let Some(narrower) = Fit::of(&near, Terms::Line).filter(|it| it.crossing().is_some())
        else {
            break;
        };
        (points, fit) = (near, narrower);
    }
    let line = fit.crossing()?;
    let curve = Fit::of(&points, Terms::Curve);
    let p_of_curve = curve.map_or(1.0, |curve| curve.p_of_third());
    let curved = curve.and_then(|curve| curve.curved_crossing(line.x));
    let is_near = |curved: &Crossing| (curved.x - line.x).abs() <= LARGEST_MOVE;
    let curved = curved.filter(|curved| p_of_curve < CURVE_P && is_near(curved));
    let crossing = curved.unwrap_or(line);
    let is_uncertain = curved.is_none() && p_of_curve < REAL_P;
    let dispersion = fit.dispersion;
    Some(ConditionBoundary { condition: position, crossing, dispersion, p_of_curve, is_uncertain })
}

fn points(condition: &Condition, position: usize, trials: &[&Trial], center: f64) -> Vec<Point> {
    let point = |(number, trial): (usize, &&Trial)| {
        let y = match (trial.measure(position)?, condition.allowed_share()) {
            (Measure::Count(counted), Some(allowed)) if counted.total > 0 => Response::Count {
                count: counted.exceeded as f64,
                allowed: counted.total as f64 * allowed,
            },
            (measure, _) => Response::LogRatio(ratio(condition, measure)?.ln()),
        };
        let is_finite = !matches!(y, Response::LogRatio(log) if !log.is_finite());
        let x = (trial.value / center).ln();
        is_finite.then_some(Point { x, other: number as f64, y })
    };
    trials.iter().enumerate().filter_map(point).collect()
}

impl ConditionBoundary {
    /// Returns true if the trials are curved by more than chance explains.
    pub(super) fn is_curved(&self) -> bool {
        self.p_of_curve < REAL_P
    }
}

/// Returns the value at which the isotonic fit of a condition crosses the bound; `None` if it does
/// not cross it.
pub(super) fn isotonic(order: &CapacityOrder, condition: usize, trials: &[&Trial]) -> Option<f64> {
    let judged = order.conditions.get(condition)?;
    let level = |trial: &&Trial| {
        let x = trial.value.ln();
        match (trial.measure(condition)?, judged.allowed_share()) {
            (Measure::Count(counted), Some(allowed)) if counted.total > 0 => {
                let weight = counted.total as f64;
                let ratio = (counted.exceeded as f64 + 0.5) / (weight * allowed);
                Some(Level { x, log_ratio: ratio.ln(), weight })
            }
            (measure, _) => {
                let log_ratio = ratio(judged, measure)?.ln();
                log_ratio.is_finite().then_some(Level { x, log_ratio, weight: 1.0 })
            }
        }
    };
    let levels: Vec<Level> = trials.iter().filter_map(level).collect();
    isotonic_crossing(&levels).map(f64::exp)
}

/// Returns the outcome of one trial.
pub(super) fn judge_alone(order: &CapacityOrder, trial: &Trial) -> TrialOutcome {
    judge(order, &[trial])
}

/// Returns true if a trial was not overloaded and one of its measures is near the bound. `all` are
/// the trials of the search.
pub(super) fn is_informative(order: &CapacityOrder, trial: &Trial, all: &[&Trial]) -> bool {
    let is_near = |position: usize| {
        let near = match order.conditions[position].slo.side {
            Side::Below => INFORMATIVE_RATIO,
            Side::Above => INFORMATIVE_LOWER_BOUND,
        };
        growth(order, position, &[trial], all).is_some_and(|growth| growth.ln().abs() <= near)
    };
    overload(order, trial).is_none() && limiting(order).any(is_near)
}

/// Returns the growth of a condition's measure in trials at one value, on a scale on which the
/// bound is 1. For a share of slow requests, 0 is a share of zero. For a mean time, 0 is the
/// smallest measure of trials at half of this value or less: a mean contains the service time,
/// which may be near the bound at every load. `None` if a trial has no measure. `all` are the
/// trials of the search.
pub(super) fn growth(
    order: &CapacityOrder,
    position: usize,
    trials: &[&Trial],
    all: &[&Trial],
) -> Option<f64> {
    let condition = order.conditions.get(position)?;
    let ratio = mean_ratio(order, position, trials)?;
    let load = trials.first()?.value;
    let at_low_load = || {
        let low = all.iter().filter(|trial| trial.value * 2.0 <= load);
        low.filter_map(|trial| trial.ratio(order, position)).min_by(f64::total_cmp)
    };
    let is_time = condition.allowed_share().is_none() && condition.slo.side == Side::Below;
    let low = is_time.then(at_low_load).flatten().filter(|low| *low < 1.0);
    let low = low.unwrap_or(0.0);
    Some((ratio - low) / (1.0 - low))
}

/// Returns the smallest value at which the server refuses connections to some of the varied
/// clients, or at which far more requests than chance explains find the queue full or fail.
/// Requests of a job whose failures a condition limits do not count.
pub(super) fn first_refused(order: &CapacityOrder, trials: &[&Trial]) -> Option<f64> {
    let is_refused = |outcome: &TrialOutcome| {
        matches!(
            outcome,
            TrialOutcome::Fail(
                FailReason::Errors { .. }
                    | FailReason::QueueFull { .. }
                    | FailReason::Connections { .. }
            )
        )
    };
    let outcomes = outcomes_at(order, trials, INVERSION_ERRORS);
    outcomes.into_iter().find(|(_, outcome)| is_refused(outcome)).map(|(value, _)| value)
}

/// Returns [`Irregular::LossInversion`] if a larger value passes while a smaller one fails, both by
/// far more than chance explains.
pub(super) fn inversion(order: &CapacityOrder, trials: &[&Trial]) -> Option<Irregular> {
    let outcomes = outcomes_at(order, trials, INVERSION_ERRORS);
    let fails = outcomes.iter().find(|(_, it)| matches!(it, TrialOutcome::Fail(_)))?.0;
    let passes = outcomes.iter().rfind(|(_, it)| *it == TrialOutcome::Pass)?.0;
    (passes > fails).then_some(Irregular::LossInversion { fails, passes })
}

/// Returns the irregularity if the trials of the confirmation contradict the search, whose interval
/// of the boundary begins at `low`.
pub(super) fn contradiction(
    order: &CapacityOrder,
    trials: &[&Trial],
    low: f64,
) -> Option<Irregular> {
    inversion(order, trials).or_else(|| {
        let of_confirmation = |trial: &&&Trial| matches!(trial.phase, Phase::Confirm(_));
        let confirming: Vec<&Trial> = trials.iter().filter(of_confirmation).copied().collect();
        let outcomes = outcomes_at(order, &confirming, INVERSION_ERRORS);
        let fails = outcomes.iter().find(|(_, it)| matches!(it, TrialOutcome::Fail(_)))?.0;
        (fails <= low).then_some(Irregular::BoundaryMoved { fails, low })
    })
}

/// Returns the irregularity if slow requests do not depend on the load. Up to half of `value`, the
/// share of requests beyond a bound is at least half of the allowed share; between half of `value`
/// and `value`, it is not larger.
pub(super) fn load_independence(
    order: &CapacityOrder,
    trials: &[&Trial],
    value: f64,
) -> Option<Irregular> {
    let is_carried = |it: &&Trial| it.value <= value && overload(order, it).is_none();
    let carried = trials.iter().copied().filter(is_carried);
    let (low, near): (Vec<&Trial>, Vec<&Trial>) = carried.partition(|it| it.value * 2.0 <= value);
    let at = low.iter().map(|trial| trial.value).max_by(f64::total_cmp)?;
    limiting(order).find_map(|condition| {
        let allowed = order.conditions[condition].allowed_share()?;
        let [low, near] = [pooled_at(condition, &low)?, pooled_at(condition, &near)?];
        let share = low.share();
        let are_enough = low.exceeded.min(near.exceeded) >= FEWEST_SLOW;
        let is_frequent = share >= allowed / 2.0 && are_enough;
        let is_named = is_frequent && !has_grown(low, near);
        is_named.then_some(Irregular::Independent { condition, value: at, share })
    })
}

/// Returns true if the share of slow requests is larger near a value than at low loads: by more
/// than chance explains, or by so much that the load may be the reason.
fn has_grown(low: ExceedanceCount, near: ExceedanceCount) -> bool {
    low.share() < EQUAL_SHARES_RATIO * near.share()
        || difference_of_counts(low, near) >= GROWTH_ERRORS
}

/// Returns the irregularity if the measures of trials at the same values change over the search.
pub(super) fn drift(
    order: &CapacityOrder,
    condition: usize,
    trials: &[&Trial],
) -> Option<Irregular> {
    let center = trials.first()?.value;
    let points = points(order.conditions.get(condition)?, condition, trials, center);
    let fit = Fit::of(&points, Terms::Other)?;
    let [_, slope, per_trial] = fit.coefficients;
    // More requests beyond the bound at the same value mean a lower capacity.
    let change = -per_trial * (points.len() as f64 - 1.0) / slope;
    let is_drift = slope > 0.0 && fit.p_of_third() < REAL_P && change.abs() > MATERIAL_DRIFT;
    is_drift.then_some(Irregular::Drifts { change })
}

/// Returns the limit of the load that most of the lowest failed trials reached. Trials whose
/// service times show a busy server do not count, because more connections would not have helped
/// them. Trials in which clients got no connection always count.
pub(super) fn load_limit(order: &CapacityOrder, trials: &[&Trial]) -> Option<LoadLimit> {
    let fails = |trial: &&&Trial| matches!(judge(order, &[**trial]), TrialOutcome::Fail(_));
    let (mut failed, others): (Vec<&Trial>, Vec<&Trial>) = trials.iter().partition(|it| fails(it));
    failed.sort_by(|a, b| a.value.total_cmp(&b.value));
    failed.truncate(LOWEST_FAILED);
    let quiet = shortest_service(others);
    let lacks_connections =
        |trial: &Trial| matches!(overload(order, trial), Some(FailReason::Connections { .. }));
    let limits = failed.iter().filter(|trial| lacks_connections(trial) || !is_busy(trial, quiet));
    let limits: Vec<LoadLimit> = limits.filter_map(|trial| trial.load_limit).collect();
    limits.first().copied().filter(|_| limits.len() * 2 > failed.len())
}

/// Returns the shortest mean service time of some trials; `None` if it is unknown.
pub(super) fn shortest_service<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Option<Nanos> {
    trials.into_iter().filter_map(|trial| trial.service).min()
}

/// Returns true if the service times of a trial show a busy server; `quiet` is the mean service
/// time of a quiet trial.
pub(super) fn is_busy(trial: &Trial, quiet: Option<Nanos>) -> bool {
    let both = trial.service.zip(quiet);
    both.is_some_and(|(service, quiet)| service.as_secs_f64() >= BUSY_RATIO * quiet.as_secs_f64())
}
