//! Confirmation of a value by trials with fresh seeds.

use base::Nanos;

use super::judge::{
    JUMP, confirms, is_futile, is_limiting, limiting, mean_ratio, overload, upper_bound,
    upper_bounds, would_confirm,
};
use super::order::CapacityOrder;
use super::replay::{MOST_INVALID, Replay, StopReason, round_to_settable};
use super::result::Irregular;
use super::rounds::{FoundBoundary, Steepness};
use super::trial::{Phase, Trial};

/// Result of the confirmation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Confirmation {
    /// Confirmed value; `None` if no value was confirmed.
    pub(super) sustained: Option<f64>,
    /// Number of trials that confirmed the value.
    pub(super) confirmations: u32,
    /// Irregularities of the confirmation.
    pub(super) irregular: Vec<Irregular>,
}

/// Number of values that are tried: the first one and three steps down.
const MOST_ATTEMPTS: u32 = 4;

/// Factor of the first step down if the slope is unknown, as at a cliff. Cliffs of real servers
/// move by several percent within minutes. Each further step is larger, because the step before was
/// too small.
const STEP_DOWN: f64 = 0.95;

/// Factors of the smallest and the largest step down from a value, if the slope is known.
const SMALLEST_STEP: f64 = 0.98;
const LARGEST_STEP: f64 = 0.94;

/// Intended ratio of the upper bound of the mean measure to the allowed measure after a step down.
const AIMED_RATIO: f64 = 0.85;

/// Factor of the step down after the first attempt if the measure of a trial is at least [`JUMP`]
/// times its bound. Also the largest factor after a value that the generator cannot produce.
const STEP_FROM_CLIFF: f64 = 0.92;

/// Aim of a step down after an overload, as a fraction of the load that the server still answered.
const BELOW_CARRIED: f64 = 0.98;
/// Smallest factor of a step down after an overload or from a cliff.
const LARGEST_RETREAT: f64 = 0.85;

/// Lowest fraction of the estimate at which the confirmation starts, unless only a lower value is
/// likely to be confirmed. The lower end of the estimate's interval is not used if it is still
/// lower, because the confirmation itself protects against a value that is too high.
const LOWEST_START: f64 = 0.96;

/// Lowest fraction of the estimate at which the confirmation starts if the scatter of the trials
/// makes higher values unlikely to be confirmed.
const LOWEST_PROMISING: f64 = 0.935;

/// Number of standard errors below the allowed measure at which a mean is likely to confirm its
/// value: 2.57 for the bound (Student's t with 5 degrees of freedom), and a margin for the scatter
/// of the mean itself.
const PROMISING_ERRORS: f64 = 4.5;

/// Largest share of the remaining time that an attempt takes, unless it is the last one. The rest
/// is for the next attempts.
const ATTEMPT_SHARE: f64 = 0.5;

/// Largest share of the remaining time that the last attempt takes. The rest is a reserve, because
/// the warm-ups may become a little longer.
const LAST_ATTEMPT_SHARE: f64 = 0.95;

/// Length of a trial, as a multiple of the length with enough requests to judge a value.
const TRIAL_LENGTH: f64 = 4.0;

/// Confirms a value near the boundary or, if it is not confirmed, one of the next lower values.
pub(super) fn confirm(
    replay: &mut Replay<'_>,
    found: &FoundBoundary,
) -> Result<Confirmation, StopReason> {
    let start = found.interval.low.max(LOWEST_START * found.estimate);
    let start = match found.steepness {
        Some(steepness) => start.min(found.estimate * promising(replay, found, steepness)),
        None => start,
    };
    confirm_at(replay, start, found.steepness.map(|it| it.slope))
}

/// Confirms the value `start` or, if it is not confirmed, one of the next lower values.
pub(super) fn confirm_at(
    replay: &mut Replay<'_>,
    start: f64,
    slope: Option<f64>,
) -> Result<Confirmation, StopReason> {
    let order = replay.order;
    let mut value = round_down(order, start);
    let (mut lowest, mut limited, mut spent) = (None, None, None);
    for attempt in 1..=MOST_ATTEMPTS {
        let Attempt { trials, cut } = attempt_at(replay, value, attempt)?;
        let enough = match cut {
            Some(Irregular::BudgetSpent { .. }) => CapacityOrder::FEWEST_CONFIRMATIONS,
            Some(_) | None => order.confirmations,
        };
        let is_enough = trials.len() >= enough as usize;
        if is_enough && confirms(order, &trials) {
            let mut confirmed = hold(replay, value, &trials)?;
            confirmed.irregular.extend(limited);
            return Ok(confirmed);
        }
        let factor = step_down(order, &trials, slope, attempt);
        let lower = match cut {
            None => {
                lowest = Some(value);
                round_down(order, value * factor)
            }
            Some(why @ Irregular::BudgetSpent { .. }) => {
                spent = Some(why);
                break;
            }
            Some(why) => {
                limited = Some(why);
                round_down(order, value * factor.min(STEP_FROM_CLIFF))
            }
        };
        if lower >= value {
            break;
        }
        value = lower;
    }
    let not_confirmed = lowest.map(|lowest| Irregular::NotConfirmed { lowest });
    let irregular = [not_confirmed, limited, spent].into_iter().flatten().collect();
    Ok(Confirmation { irregular, ..Confirmation::default() })
}

/// Returns the fraction of the estimate at which one attempt is likely to confirm the value: if the
/// trials of the attempt scatter like those of the search, the upper bound of their mean lies below
/// the allowed measure.
fn promising(replay: &Replay<'_>, found: &FoundBoundary, steepness: Steepness) -> f64 {
    let order = replay.order;
    let allowed = found.binding.and_then(|it| order.conditions[it].allowed_share());
    let Some(allowed) = allowed else { return 1.0 };
    let window = length(replay, found.estimate, 1).as_secs_f64();
    let per_s = replay.throughput(found.estimate).unwrap_or(0.0);
    let requests = window * per_s * f64::from(order.confirmations);
    let error = (steepness.dispersion / (requests * allowed).max(1.0)).sqrt();
    let margin = (1.0 + PROMISING_ERRORS * error).ln() / steepness.slope;
    (-margin).exp().max(LOWEST_PROMISING)
}

/// Returns the factor from a value that was not confirmed to the next lower one.
///
/// With a known slope, the factor lowers the upper bound of the mean measure to [`AIMED_RATIO`].
/// After an overload, the next value lies below the load that the server still answered. Without a
/// slope the boundary is a cliff, and the step depends only on the number of the attempt. The step
/// is larger if a trial exceeds its bound by so much that its value must lie beyond the cliff.
fn step_down(order: &CapacityOrder, trials: &[&Trial], slope: Option<f64>, attempt: u32) -> f64 {
    let overloaded: Vec<&&Trial> =
        trials.iter().filter(|trial| overload(order, trial).is_some()).collect();
    let carried = overloaded.iter().filter_map(|trial| carried_share(trial));
    let by_default = STEP_DOWN.powi(attempt.cast_signed());
    if let Some(share) = carried.min_by(f64::total_cmp) {
        return (share * BELOW_CARRIED).min(by_default).max(LARGEST_RETREAT);
    }
    let jumps = |trial: &&Trial| {
        upper_bounds(order).any(|it| trial.ratio(order, it).is_some_and(|ratio| ratio >= JUMP))
    };
    if trials.iter().any(jumps) {
        return STEP_FROM_CLIFF.powi(attempt.cast_signed()).max(LARGEST_RETREAT);
    }
    // A single trial has no bound.
    let bound = |it| upper_bound(order, it, trials).or_else(|| mean_ratio(order, it, trials));
    let bounds = limiting(order).filter_map(bound);
    let worst = bounds.fold(1.0, f64::max);
    match slope.filter(|slope| *slope > 0.0 && overloaded.is_empty()) {
        Some(slope) => {
            (-(worst / AIMED_RATIO).ln() / slope).exp().clamp(LARGEST_STEP, SMALLEST_STEP)
        }
        None => by_default,
    }
}

/// Returns the share of the offered requests that were answered; `None` if no rate was offered.
fn carried_share(trial: &Trial) -> Option<f64> {
    let offered = trial.offered_per_s.filter(|offered| *offered > 0.0)?;
    Some(trial.achieved_per_s / offered)
}

/// Valid trials of one attempt.
struct Attempt<'a> {
    trials: Vec<&'a Trial>,
    /// Reason why the attempt could not continue; `None` if it has enough trials, or if more would
    /// be futile.
    cut: Option<Irregular>,
}

/// Runs the trials of one attempt, until it is futile or cannot continue. An undecided attempt is
/// extended once, by half as many trials, if these are likely to confirm the value and can be
/// afforded. Trials at a lower value could not be combined with the trials so far.
fn attempt_at<'a>(
    replay: &mut Replay<'a>,
    value: f64,
    attempt: u32,
) -> Result<Attempt<'a>, StopReason> {
    let order = replay.order;
    let phase = Phase::Confirm(attempt);
    let window = length(replay, value, attempt);
    let mut trials = Vec::new();
    let wanted = order.confirmations as usize;
    if let Some(cut) = add_trials(replay, (value, phase, window), &mut trials, wanted)? {
        return Ok(Attempt { trials, cut: Some(cut) });
    }
    let extended = wanted + order.confirmations.div_ceil(2) as usize;
    let is_undecided = !is_futile(order, &trials) && !confirms(order, &trials);
    let time_s = (window.as_secs_f64() + replay.overhead_s(value)) * (extended - wanted) as f64;
    let next_s = order.cost(order.trial).as_secs_f64() * f64::from(order.confirmations);
    let left_s = replay.time_left(phase).as_secs_f64();
    // The extension must fit into the remaining time, and not prevent another whole attempt that
    // fits without the extension.
    let is_affordable = time_s <= left_s && (time_s + next_s <= left_s || next_s > left_s);
    if is_undecided && is_affordable && would_confirm(order, &trials, extended) {
        let cut = add_trials(replay, (value, phase, window), &mut trials, extended)?;
        if cut.is_some() {
            // Ignore an incomplete extension: evaluating it would accept more values by chance.
            trials.truncate(wanted);
        }
        return Ok(Attempt { trials, cut });
    }
    Ok(Attempt { trials, cut: None })
}

/// Adds valid trials until there are `wanted` of them, or more would be futile. Returns the reason
/// if a trial cannot be run; otherwise `None`.
fn add_trials<'a>(
    replay: &mut Replay<'a>,
    (value, phase, window): (f64, Phase, Nanos),
    trials: &mut Vec<&'a Trial>,
    wanted: usize,
) -> Result<Option<Irregular>, StopReason> {
    while trials.len() < wanted && !is_futile(replay.order, trials) {
        match replay.valid_trial(value, phase, window) {
            Err(StopReason::Irregular(why)) => return Ok(Some(why)),
            trial => trials.push(trial?),
        }
    }
    Ok(None)
}

/// Returns the length of the window of a trial. An attempt takes at most half of the remaining
/// time; the last attempt may take nearly all of it. A window is never shorter than
/// [`CapacityOrder::trial`].
fn length(replay: &Replay<'_>, value: f64, attempt: u32) -> Nanos {
    let share = if attempt == MOST_ATTEMPTS { LAST_ATTEMPT_SHARE } else { ATTEMPT_SHARE };
    let left = replay.time_left(Phase::Confirm(attempt)).as_secs_f64() * share;
    let most = left / f64::from(replay.order.confirmations) - replay.overhead_s(value);
    let wanted = replay.window(value, TRIAL_LENGTH).as_secs_f64();
    Nanos::from_secs_f64(wanted.min(most).max(0.0)).max(replay.order.trial)
}

/// Runs the final trial, if the search has a hold. Returns the confirmation, without a value if the
/// final trial failed.
fn hold(
    replay: &mut Replay<'_>,
    value: f64,
    trials: &[&Trial],
) -> Result<Confirmation, StopReason> {
    let order = replay.order;
    let confirmations = trials.len() as u32;
    let mut irregular = unmet_conditions(order, trials);
    let Some(window) = order.hold else {
        return Ok(Confirmation { sustained: Some(value), confirmations, irregular });
    };
    let mut held = None;
    for _ in 0..MOST_INVALID {
        let trial = replay.trial(value, Phase::Hold, window)?;
        if trial.invalid.is_empty() {
            held = Some(trial);
            break;
        }
    }
    let Some(trial) = held else {
        // The load generator or its machine failed, not the server: the confirmation by the shorter
        // trials is still true.
        irregular.push(Irregular::NotHeld { value });
        return Ok(Confirmation { sustained: Some(value), confirmations, irregular });
    };
    let holds = |position| mean_ratio(order, position, &[trial]).is_some_and(|it| it < 1.0);
    if overload(order, trial).is_none() && (0..order.conditions.len()).all(holds) {
        return Ok(Confirmation { sustained: Some(value), confirmations, irregular });
    }
    irregular.push(Irregular::HoldFailed { value });
    Ok(Confirmation { irregular, ..Confirmation::default() })
}

/// Returns an irregularity for each lower bound that the mean of the trials does not meet. Lower
/// bounds that limit the load are left out.
fn unmet_conditions(order: &CapacityOrder, trials: &[&Trial]) -> Vec<Irregular> {
    let is_unmet = |position: &usize| {
        !is_limiting(order, *position)
            && !mean_ratio(order, *position, trials).is_some_and(|ratio| ratio < 1.0)
    };
    let unmet = (0..order.conditions.len()).filter(is_unmet);
    unmet.map(|condition| Irregular::Unmet { condition }).collect()
}

/// Rounds a value to one that can be set. Numbers of clients are rounded down, and rates to the
/// nearest value.
fn round_down(order: &CapacityOrder, value: f64) -> f64 {
    match order.vary.is_whole() {
        true => round_to_settable(order, value.floor()),
        false => round_to_settable(order, value),
    }
}
