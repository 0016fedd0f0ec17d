//! Judgement of the trials at one value, and of the trials that confirm a value.

use workload::question::{Condition, VariedLoad};
use workload::{Side, is_job_or_part};

use super::order::CapacityOrder;
use super::outcome::{FailReason, InvalidReason, TrialOutcome};
use super::trial::{ExceedanceCount, LoadLimit, Measure, Trial};
use crate::student::critical_t;

/// Distance of a measure from its bound, in standard errors, beyond which the outcome is decided.
/// If the true value lies exactly at the bound, chance exceeds this distance in one of 160 trials,
/// in each direction.
pub(super) const DECIDED_ERRORS: f64 = 2.5;

/// Minimum fraction of the offered requests that must be answered; a shortfall that chance can
/// explain is allowed.
const LEAST_ACHIEVED: f64 = 0.99;

/// Minimum factor between a measure and its bound on each side of a cliff. If the side above the
/// cliff is overloaded, only the side below it must be far from the bound.
pub(super) const JUMP: f64 = 30.0;

/// Minimum number of requests beyond its bound that a condition must allow in all trials of a
/// confirmation together. At the bound, zero slow requests then occur by chance in 2 % of the cases
/// (e⁻⁴).
pub(super) const LEAST_ALLOWED: f64 = 4.0;

/// Dispersion of a count whose correlation is unknown.
pub(super) const UNKNOWN_DISPERSION: f64 = 10.0;

/// Judges the trials of one value together. Invalid trials count only if there are no others.
pub(super) fn judge(order: &CapacityOrder, trials: &[&Trial]) -> TrialOutcome {
    judge_at(order, trials, DECIDED_ERRORS)
}

/// Judges one trial by itself.
pub fn judge_trial(order: &CapacityOrder, trial: &Trial) -> TrialOutcome {
    judge(order, &[trial])
}

/// Judges the trials of one value together. The outcome is decided at a distance of `decided`
/// standard errors; [`judge`] uses [`DECIDED_ERRORS`].
pub(super) fn judge_at(order: &CapacityOrder, trials: &[&Trial], decided: f64) -> TrialOutcome {
    let valid: Vec<&Trial> = trials.iter().copied().filter(|it| it.invalid.is_empty()).collect();
    if valid.is_empty() {
        let checks = trials.iter().flat_map(|trial| trial.invalid.iter().cloned()).collect();
        return TrialOutcome::Invalid(InvalidReason::Instrument { checks });
    }
    let overloaded = valid.iter().filter_map(|trial| {
        let reason = overload(order, trial)?;
        Some((errors_of(trial, &reason), reason))
    });
    let doubted = match overloaded.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((errors, reason)) if decided <= DECIDED_ERRORS || errors >= decided => {
            return TrialOutcome::Fail(reason);
        }
        it => it.is_some(),
    };
    let judged = (0..order.conditions.len()).map(|position| {
        let measures: Vec<Measure> = valid.iter().filter_map(|it| it.measure(position)).collect();
        (position, distance(order, position, &measures))
    });
    let mut closest: Option<(usize, Distance)> = None;
    for (condition, distance) in judged {
        let Some(distance) = distance else {
            return TrialOutcome::Fail(FailReason::Missing { condition });
        };
        if closest.is_none_or(|(_, known)| distance.errors > known.errors) {
            closest = Some((condition, distance));
        }
    }
    match closest {
        Some((condition, Distance { errors, ratio })) if errors >= decided => {
            TrialOutcome::Fail(FailReason::Condition { condition, ratio })
        }
        Some((condition, Distance { errors, .. })) if doubted || errors > -decided => {
            TrialOutcome::Undecided { condition, distance: errors }
        }
        Some(_) | None => TrialOutcome::Pass,
    }
}

/// Returns the reason why a trial fails whatever its measures are, if one of these is true:
///
/// * Requests were rejected or ended in errors, in a job without a condition on failures.
/// * Connections were refused, in a search that varies the number of clients.
/// * The load of a job exceeded the capacity ([`Trial::exceeds_capacity`]).
/// * The load was not achieved, and the varied job has no condition on failures.
pub(super) fn overload(order: &CapacityOrder, trial: &Trial) -> Option<FailReason> {
    let Trial { rejected, errors, .. } = *trial;
    if rejected > 0 {
        return Some(FailReason::QueueFull { rejected });
    }
    if errors > 0 {
        return Some(FailReason::Errors { errors });
    }
    if let (VariedLoad::Concurrency { .. }, Some(LoadLimit::AcceptedConnections(connections))) =
        (&order.vary, trial.load_limit)
    {
        return Some(FailReason::Connections { connections });
    }
    if trial.exceeds_capacity {
        return Some(FailReason::Backlog);
    }
    let offered = trial.offered_per_s.filter(|offered| *offered > 0.0)?;
    let share = trial.achieved_per_s / offered;
    let reason = FailReason::Achieved { share };
    // Requests that are open at an end of a short window can cause a shortfall by chance.
    let is_short = share < LEAST_ACHIEVED && errors_of(trial, &reason) >= DECIDED_ERRORS;
    (is_short && !order.limits_failures_of_varied()).then_some(reason)
}

/// Returns the size of an overload, in standard errors; infinite if chance cannot cause it.
pub(super) fn errors_of(trial: &Trial, reason: &FailReason) -> f64 {
    // Failed requests come in bursts, as slow ones do.
    let of_count = |count: u64| (count as f64 / UNKNOWN_DISPERSION).sqrt();
    match *reason {
        FailReason::Errors { errors: count } | FailReason::QueueFull { rejected: count } => {
            of_count(count)
        }
        FailReason::Backlog => trial.backlog_t.unwrap_or(f64::INFINITY),
        FailReason::Achieved { share } => {
            let window = trial.window.as_secs_f64();
            let offered = trial.offered_per_s.unwrap_or(0.0) * window;
            // Both the number of arrivals and the number of answers vary by chance.
            (LEAST_ACHIEVED - share) * (offered / 2.0).sqrt()
        }
        FailReason::Connections { .. }
        | FailReason::Condition { .. }
        | FailReason::Missing { .. } => f64::INFINITY,
    }
}

/// Returns true if the measure of any condition that limits the load is better in `trials` than in
/// `others` by this number of standard errors, or if `others` were overloaded. The measure of an
/// upper bound also counts as better if there are no standard errors.
pub(super) fn is_better(
    order: &CapacityOrder,
    trials: &[&Trial],
    others: &[&Trial],
    errors: f64,
) -> bool {
    let measures = |trials: &[&Trial], position: usize| -> Vec<Measure> {
        trials.iter().filter_map(|trial| trial.measure(position)).collect()
    };
    let is_overloaded = others.iter().any(|trial| overload(order, trial).is_some());
    let differs = |position: usize| {
        let [few, many] = [trials, others].map(|it| measures(it, position));
        match (pooled(&few), pooled(&many)) {
            (Some(few), Some(many)) => difference_of_counts(few, many) >= errors,
            (None, _) | (_, None) => {
                let difference = difference_of_values(&few, &many);
                match order.conditions[position].slo.side {
                    Side::Below => difference >= errors,
                    Side::Above => -difference >= errors,
                }
            }
        }
    };
    is_overloaded || limiting(order).any(differs)
}

/// Returns the excess of the second share over the first, in standard errors.
pub(super) fn difference_of_counts(few: ExceedanceCount, many: ExceedanceCount) -> f64 {
    let total = [few, many].map(|it| it.total.max(1) as f64);
    let share = (few.exceeded + many.exceeded) as f64 / (total[0] + total[1]);
    let dispersion = many.dispersion.unwrap_or(UNKNOWN_DISPERSION).max(1.0);
    let variance = share * (1.0 - share) * dispersion * (1.0 / total[0] + 1.0 / total[1]);
    (many.share() - few.share()) / variance.max(f64::MIN_POSITIVE).sqrt()
}

/// Returns the excess of the second mean over the first, in standard errors; infinite if either
/// mean has no standard error.
fn difference_of_values(few: &[Measure], many: &[Measure]) -> f64 {
    let mean = |measures: &[Measure]| {
        let (mut sum, mut squares, mut number) = (0.0, 0.0, 0.0);
        for measure in measures {
            let Measure::Value { value, standard_error: Some(error) } = measure else { continue };
            (sum, squares, number) = (sum + value, squares + error.powi(2), number + 1.0);
        }
        (number > 0.0).then(|| (sum / number, squares / (number * number)))
    };
    match mean(few).zip(mean(many)) {
        Some(((few, a), (many, b))) => (many - few) / (a + b).max(f64::MIN_POSITIVE).sqrt(),
        None => f64::INFINITY,
    }
}

impl Trial {
    /// Returns the measured value of the condition at `position`, divided by its allowed value; for
    /// a lower bound, the reverse ratio. The ratio is below 1 if the condition holds, and `None` if
    /// nothing was measured.
    pub fn ratio(&self, order: &CapacityOrder, position: usize) -> Option<f64> {
        ratio(order.conditions.get(position)?, self.measure(position)?)
    }
}

/// Distance of a measure from its bound.
#[derive(Clone, Copy)]
struct Distance {
    /// Distance in standard errors; negative if the condition holds.
    errors: f64,
    /// Ratio of the measured value to the bound; for a lower bound, the reverse ratio.
    ratio: f64,
}

/// Returns the distance of the measures of several trials from the bound of their condition; `None`
/// if nothing was measured.
fn distance(order: &CapacityOrder, position: usize, measures: &[Measure]) -> Option<Distance> {
    let condition = order.conditions.get(position)?;
    if let Some(allowed) = condition.allowed_share() {
        let counted = pooled(measures).filter(|counted| counted.total > 0)?;
        let dispersion = counted.dispersion.unwrap_or(UNKNOWN_DISPERSION).max(1.0);
        let variance = allowed * (1.0 - allowed) * dispersion / counted.total as f64;
        let beyond = counted.share() - allowed;
        let errors = beyond / variance.max(f64::MIN_POSITIVE).sqrt();
        return Some(Distance { errors, ratio: counted.share() / allowed });
    }
    let (mut sum, mut squares, mut number, mut is_exact) = (0.0, 0.0, 0.0, true);
    for measure in measures {
        let Measure::Value { value, standard_error } = measure else { continue };
        sum += value;
        squares += standard_error.unwrap_or(0.0).powi(2);
        number += 1.0;
        is_exact &= standard_error.is_none();
    }
    let value = (number > 0.0).then(|| sum / number)?;
    let bound = condition.slo.bound;
    let (beyond, ratio) = match condition.slo.side {
        Side::Below => (value - bound, value / bound),
        Side::Above if is_limiting(order, position) => (bound - value, bound / value),
        // A lower bound that may hold at a larger load is judged at the end of the search.
        Side::Above => return Some(Distance { errors: f64::NEG_INFINITY, ratio: bound / value }),
    };
    let error = squares.sqrt() / number;
    let errors = match is_exact || error <= 0.0 {
        // A value without a standard error is always decided.
        true if beyond >= 0.0 => f64::INFINITY,
        true => f64::NEG_INFINITY,
        false => beyond / error,
    };
    Some(Distance { errors, ratio })
}

/// Returns the sum of the counts of a condition in some trials; `None` without counts.
pub(super) fn pooled_at(position: usize, trials: &[&Trial]) -> Option<ExceedanceCount> {
    let measures = trials.iter().filter_map(|trial| trial.measure(position));
    pooled(&measures.collect::<Vec<Measure>>()).filter(|counted| counted.total > 0)
}

/// Returns the sum of the counts, and the mean of their dispersions, weighted by the numbers of
/// requests; `None` without counts.
fn pooled(measures: &[Measure]) -> Option<ExceedanceCount> {
    let counts = measures.iter().filter_map(|measure| match measure {
        Measure::Count(counted) => Some(*counted),
        Measure::Value { .. } | Measure::Missing => None,
    });
    counts.reduce(|sum, more| {
        let total = sum.total + more.total;
        let weighted = |it: ExceedanceCount| it.dispersion.map(|by| by * it.total as f64);
        let dispersion = match (weighted(sum), weighted(more)) {
            (Some(a), Some(b)) if total > 0 => Some((a + b) / total as f64),
            _ => sum.dispersion.or(more.dispersion),
        };
        ExceedanceCount { exceeded: sum.exceeded + more.exceeded, total, dispersion }
    })
}

/// Returns true if independent trials at one value confirm it: none was overloaded, and each
/// condition that limits the load has enough requests and an upper 97.5 % bound of the mean measure
/// below the allowed value. In simulations at the true capacity, a nominal 95 % bound accepted 8 %
/// of the values, so the 97.5 % bound is used.
pub(super) fn confirms(order: &CapacityOrder, trials: &[&Trial]) -> bool {
    let carried = trials.iter().all(|trial| overload(order, trial).is_none());
    carried && limiting(order).all(|position| is_below(order, position, trials))
}

/// Returns true if it is already unlikely that the trials will confirm their value: one was
/// overloaded, or their mean measure is not below the allowed value.
pub(super) fn is_futile(order: &CapacityOrder, trials: &[&Trial]) -> bool {
    let is_overloaded = trials.iter().any(|trial| overload(order, trial).is_some());
    // After at least half of the trials, a mean at or above the allowed value is futile. Before,
    // it is futile only if the other trials cannot lower the mean enough.
    let half = order.confirmations.div_ceil(2) as usize;
    let least = if trials.len() >= half { 1.0 } else { f64::from(order.confirmations) };
    let exceeds = |position: usize| {
        mean_ratio(order, position, trials).map_or(trials.len() >= half, |it| it >= least)
    };
    is_overloaded || limiting(order).any(exceeds)
}

/// Returns the mean ratio of the measures of a condition to the allowed value; `None` if a trial
/// has no measure.
pub(super) fn mean_ratio(order: &CapacityOrder, position: usize, trials: &[&Trial]) -> Option<f64> {
    let ratios = ratios(order.conditions.get(position)?, position, trials);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    (ratios.len() == trials.len() && !trials.is_empty()).then_some(mean)
}

/// Returns the positions of the conditions with an upper bound.
pub(super) fn upper_bounds(order: &CapacityOrder) -> impl Iterator<Item = usize> {
    let conditions = &order.conditions;
    (0..conditions.len()).filter(move |position| conditions[*position].slo.side == Side::Below)
}

/// Returns the positions of the conditions that [limit the load](is_limiting).
pub(super) fn limiting(order: &CapacityOrder) -> impl Iterator<Item = usize> {
    (0..order.conditions.len()).filter(move |position| is_limiting(order, *position))
}

/// Returns true if the condition limits the load: a larger load may violate it, but never makes it
/// hold. This is true of an upper bound, and of a lower bound on the throughput of another job,
/// which then gets less of the server.
pub(super) fn is_limiting(order: &CapacityOrder, position: usize) -> bool {
    let condition = &order.conditions[position];
    match condition.slo.side {
        Side::Below => true,
        Side::Above => !is_job_or_part(&condition.job, order.vary.job()),
    }
}

fn is_below(order: &CapacityOrder, position: usize, trials: &[&Trial]) -> bool {
    has_enough_requests(order, position, trials)
        && upper_bound(order, position, trials).is_some_and(|bound| bound < 1.0)
}

/// Returns true if the trials have enough requests to judge the condition. With fewer, zero slow
/// requests may be chance.
fn has_enough_requests(order: &CapacityOrder, position: usize, trials: &[&Trial]) -> bool {
    let Some(allowed) = order.conditions[position].allowed_share() else { return true };
    mean_total(position, trials) * trials.len() as f64 * allowed >= LEAST_ALLOWED
}

/// Returns the upper 97.5 % bound of the mean ratio of a condition's measures to the allowed value;
/// `None` if a trial has no measure, or there are fewer than two trials.
pub(super) fn upper_bound(
    order: &CapacityOrder,
    position: usize,
    trials: &[&Trial],
) -> Option<f64> {
    upper_bound_of(order, position, trials, trials.len())
}

/// Returns true if `number` trials in total would confirm the value, provided that they scatter
/// like the trials so far.
pub(super) fn would_confirm(order: &CapacityOrder, trials: &[&Trial], number: usize) -> bool {
    let is_below = |position: usize| {
        upper_bound_of(order, position, trials, number).is_some_and(|bound| bound < 1.0)
    };
    limiting(order).all(is_below)
}

/// Returns the upper bound that `number` trials would have if they scatter like these.
fn upper_bound_of(
    order: &CapacityOrder,
    position: usize,
    trials: &[&Trial],
    number: usize,
) -> Option<f64> {
    let condition = order.conditions.get(position)?;
    let ratios = ratios(condition, position, trials);
    let n = ratios.len() as f64;
    if ratios.len() < trials.len() || ratios.len() < 2 {
        return None;
    }
    let mean = ratios.iter().sum::<f64>() / n;
    let variance = ratios.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Counts scatter at least as much as the counts of independent requests.
    let least = match condition.allowed_share() {
        Some(allowed) => mean / (allowed * mean_total(position, trials)).max(f64::MIN_POSITIVE),
        None => 0.0,
    };
    let number = number as f64;
    // One-sided 97.5 % is two-sided 95 %.
    Some(mean + critical_t(0.05, number - 1.0) * (variance.max(least) / number).sqrt())
}

fn mean_total(position: usize, trials: &[&Trial]) -> f64 {
    let totals = trials.iter().map(|trial| match trial.measure(position) {
        Some(Measure::Count(counted)) => counted.total as f64,
        Some(Measure::Value { .. } | Measure::Missing) | None => 0.0,
    });
    totals.sum::<f64>() / trials.len().max(1) as f64
}

/// Returns the [`ratio`] of each trial for the condition at `position`. Trials in which nothing was
/// measured are left out.
fn ratios(condition: &Condition, position: usize, trials: &[&Trial]) -> Vec<f64> {
    let measures = trials.iter().filter_map(|trial| trial.measure(position));
    measures.filter_map(|measure| ratio(condition, measure)).collect()
}

/// Returns the measured value divided by the allowed value; for a lower bound, the reverse ratio.
/// The ratio is below 1 if the condition holds, and `None` if nothing was measured.
pub(super) fn ratio(condition: &Condition, measure: Measure) -> Option<f64> {
    match (measure, condition.allowed_share(), condition.slo.side) {
        (Measure::Count(counted), Some(allowed), _) if counted.total > 0 => {
            Some(counted.share() / allowed)
        }
        (Measure::Value { value, .. }, _, Side::Below) => Some(value / condition.slo.bound),
        (Measure::Value { value, .. }, _, Side::Above) => Some(condition.slo.bound / value),
        (Measure::Count(_) | Measure::Missing, _, _) => None,
    }
}

impl Trial {
    /// Returns the measure of the condition at this position.
    pub(super) fn measure(&self, position: usize) -> Option<Measure> {
        self.measures.get(position).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::TrialRequest;
    use super::super::synthetic::{failed_below, order, trial};
    use super::super::trial::Phase;
    use super::*;
    use base::Nanos;
    use workload::Metric;

    /// One refused request is chance, ten thousand are not.
    #[test]
    fn gravest_overload_of_a_value_decides() {
        let of = |errors: u64| Trial { errors, ..trial(&request(), 500.0, 0.0) };
        let [slight, grave] = [of(1), of(10_000)];
        let outcome = judge_at(&order(), &[&slight, &grave], 4.0);
        let reason = FailReason::Errors { errors: 10_000 };
        assert_eq!(outcome, TrialOutcome::Fail(reason));
        let outcome = judge_at(&order(), &[&slight], 4.0);
        assert!(matches!(outcome, TrialOutcome::Undecided { .. }), "{outcome:?}");
    }

    /// At 10 requests per second and response times of one second, a window of 200 requests may end
    /// with two more open requests than it began with.
    #[test]
    fn shortfall_of_few_requests_is_chance() {
        let of = |per_s: f64, share: f64| {
            let (offered_per_s, achieved_per_s) = (Some(per_s), share * per_s);
            let trial = Trial { offered_per_s, achieved_per_s, ..trial(&request(), per_s, 0.0) };
            overload(&order(), &trial).map(|reason| reason.name())
        };
        assert_eq!((of(10.0, 0.9), of(10.0, 0.7)), (None, Some("achieved")));
        assert_eq!((of(1_000.0, 0.98), of(1_000.0, 0.96)), (None, Some("achieved")));
        assert_eq!(of(100_000.0, 0.98), Some("achieved"));
    }

    /// Three trials of 100 requests each allow three slow requests, fewer than the required four;
    /// three trials of 200 allow six.
    #[test]
    fn too_few_requests_do_not_confirm_a_value() {
        let of = |total: u64| {
            let counted = ExceedanceCount { exceeded: 0, total, dispersion: None };
            Trial { measures: vec![Measure::Count(counted)], ..trial(&request(), 500.0, 0.0) }
        };
        let confirmed = |total: u64| {
            let trial = of(total);
            confirms(&order(), &[&trial, &trial, &trial])
        };
        assert_eq!((confirmed(100), confirmed(200)), (false, true));
    }

    fn request() -> TrialRequest {
        TrialRequest {
            value: 500.0,
            phase: Phase::Bracket,
            warmup: Nanos::from_secs(1),
            window: Nanos::from_secs(20),
            number: 0,
        }
    }

    fn counted(exceeded: u64, dispersion: Option<f64>) -> Trial {
        let counted = ExceedanceCount { exceeded, total: 10_000, dispersion };
        Trial { measures: vec![Measure::Count(counted)], ..trial(&request(), 500.0, 0.0) }
    }

    #[track_caller]
    fn check(trial: &Trial, expected: &TrialOutcome) {
        assert_eq!(&judge(&order(), &[trial]), expected);
    }

    /// The standard error of 100 expected exceedances among 10,000 requests is 9.95.
    #[test]
    fn count_is_decided_beyond_chance_and_undecided_within() {
        check(&counted(75, Some(1.0)), &TrialOutcome::Pass);
        assert_eq!(judge(&order(), &[&counted(125, Some(1.0))]).name(), "fail");
        for exceeded in [76, 100, 124] {
            let outcome = judge(&order(), &[&counted(exceeded, Some(1.0))]);
            assert_eq!(outcome.name(), "undecided", "{exceeded}");
        }
    }

    #[test]
    fn correlated_requests_decide_less() {
        assert_eq!(judge(&order(), &[&counted(150, Some(4.0))]).name(), "fail");
        assert_eq!(judge(&order(), &[&counted(149, Some(4.0))]).name(), "undecided");
        assert_eq!(judge(&order(), &[&counted(150, None)]).name(), "undecided");
    }

    #[test]
    fn trials_at_one_value_are_judged_together() {
        let two = [&counted(120, Some(1.0)), &counted(120, Some(1.0))];
        assert_eq!(judge(&order(), &two[..1]).name(), "undecided");
        assert_eq!(judge(&order(), &two).name(), "fail");
    }

    #[test]
    fn load_that_is_not_carried_fails_whatever_the_quantile_is() {
        let good = || counted(0, Some(1.0));
        let fails = |trial: Trial, reason| check(&trial, &TrialOutcome::Fail(reason));
        fails(Trial { exceeds_capacity: true, ..good() }, FailReason::Backlog);
        fails(Trial { errors: 1, ..good() }, FailReason::Errors { errors: 1 });
        fails(Trial { rejected: 3, ..good() }, FailReason::QueueFull { rejected: 3 });
        let slow = Trial { achieved_per_s: 475.0, ..good() };
        fails(slow, FailReason::Achieved { share: 0.95 });
        let missing = Trial { measures: vec![Measure::Missing], ..good() };
        fails(missing, FailReason::Missing { condition: 0 });
    }

    #[test]
    fn condition_on_failures_allows_them() {
        let mut order = order();
        order.conditions.push(failed_below("read", 5));
        let failing = |errors| {
            let mut trial = Trial { limited_failures: errors, ..counted(0, Some(1.0)) };
            let counted =
                ExceedanceCount { exceeded: errors, total: 10_000, dispersion: Some(1.0) };
            trial.measures.push(Measure::Count(counted));
            trial
        };
        assert_eq!(judge(&order, &[&failing(400)]), TrialOutcome::Pass);
        let fails = FailReason::Condition { condition: 1, ratio: 1.2 };
        assert_eq!(judge(&order, &[&failing(600)]), TrialOutcome::Fail(fails));
    }

    /// A trial fails if a job has failures and no condition on the failures of this job allows
    /// them.
    #[test]
    fn condition_on_failures_of_another_job_allows_no_failures_of_this_one() {
        let mut order = order();
        order.conditions.push(failed_below("pay", 5));
        let none = ExceedanceCount { exceeded: 0, total: 10_000, dispersion: Some(1.0) };
        let none = Measure::Count(none);
        let fails = |trial: Trial, reason| {
            let trial = Trial { measures: vec![none, none], ..trial };
            assert_eq!(judge(&order, &[&trial]), TrialOutcome::Fail(reason));
        };
        let good = || counted(0, Some(1.0));
        fails(Trial { errors: 7, ..good() }, FailReason::Errors { errors: 7 });
        fails(Trial { rejected: 7, ..good() }, FailReason::QueueFull { rejected: 7 });
        let slow = Trial { achieved_per_s: 475.0, ..good() };
        fails(slow.clone(), FailReason::Achieved { share: 0.95 });
        // Failures of a part of the varied job may be the missing answers.
        for job in ["read", "read/one"] {
            order.conditions[1] = failed_below(job, 5);
            let trial = Trial { measures: vec![none, none], ..slow.clone() };
            assert_eq!(judge(&order, &[&trial]), TrialOutcome::Pass, "{job}");
        }
    }

    #[test]
    fn invalid_trials_count_only_if_there_are_no_others() {
        let invalid = Trial { invalid: vec!["stall".to_owned()], ..counted(9_000, Some(1.0)) };
        let checks = vec!["stall".to_owned()];
        check(&invalid, &TrialOutcome::Invalid(InvalidReason::Instrument { checks }));
        let valid = counted(0, Some(1.0));
        assert_eq!(judge(&order(), &[&invalid, &valid]), TrialOutcome::Pass);
    }

    #[test]
    fn value_is_decided_by_its_standard_error() {
        let mut order = order();
        order.conditions[0].slo.metric = Metric::Response(workload::Statistic::Mean);
        let outcome = |value: f64, standard_error| {
            let measures = vec![Measure::Value { value: value * 1e6, standard_error }];
            judge(&order, &[&Trial { measures, ..counted(0, None) }]).name()
        };
        assert_eq!(outcome(19.0, Some(1e5)), "pass");
        assert_eq!(outcome(19.9, Some(1e5)), "undecided");
        assert_eq!(outcome(21.0, Some(1e5)), "fail");
        assert_eq!((outcome(19.99, None), outcome(20.0, None)), ("pass", "fail"));
    }

    #[test]
    fn confirmation_needs_the_bound_of_the_mean_below_what_is_allowed() {
        let trials = |counts: [u64; 6]| counts.map(|count| counted(count, Some(1.0)));
        let confirms = |counts| {
            let trials = trials(counts);
            confirms(&order(), &trials.iter().collect::<Vec<_>>())
        };
        assert!(confirms([60, 70, 80, 90, 70, 65]));
        assert!(!confirms([60, 70, 150, 90, 130, 65]));
        assert!(!confirms([95, 96, 97, 96, 95, 97]), "counts scatter as independent requests do");
        let mut refused = trials([0; 6]);
        refused[2].errors = 1;
        assert!(!super::confirms(&order(), &refused.iter().collect::<Vec<_>>()));
    }
}
