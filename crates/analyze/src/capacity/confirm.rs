//! Confirmation of a value by trials with fresh seeds.

use base::Nanos;

use super::judge::{confirms, is_futile, mean_ratio, overload};
use super::order::CapacityOrder;
use super::replay::{MOST_INVALID, Pause, Replay, settable};
use super::result::Irregular;
use super::trial::{Phase, Trial};

/// Result of the confirmation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Confirmed {
    /// Confirmed value.
    pub(super) sustained: Option<f64>,
    /// Number of trials that confirmed it.
    pub(super) confirmations: u32,
    /// Irregularities of the confirmation.
    pub(super) irregular: Vec<Irregular>,
}

/// Number of values that are tried: the first one and three steps down.
const MOST_ATTEMPTS: u32 = 4;

/// Factor of each step down.
const STEP_DOWN: f64 = 0.97;

/// Length of a trial, as a multiple of the requests that judge a value.
const LENGTH: f64 = 4.0;

/// Confirms a value, or one of the next lower ones.
pub(super) fn confirm(replay: &mut Replay<'_>, value: f64) -> Result<Confirmed, Pause> {
    let order = replay.order;
    let mut value = below(order, value);
    let mut lowest = None;
    for attempt in 1..=MOST_ATTEMPTS {
        let trials = match attempt_at(replay, value, attempt) {
            Err(Pause::Irregular(irregular)) => {
                let irregular = vec![irregular];
                return Ok(Confirmed { irregular, ..Confirmed::default() });
            }
            trials => trials?,
        };
        if trials.len() >= order.confirmations as usize && confirms(order, &trials) {
            return hold(replay, value, trials.len() as u32, &trials);
        }
        lowest = Some(value);
        let lower = below(order, value * STEP_DOWN);
        if lower >= value {
            break;
        }
        value = lower;
    }
    let irregular = lowest.map(|lowest| Irregular::NotConfirmed { lowest });
    Ok(Confirmed { irregular: irregular.into_iter().collect(), ..Confirmed::default() })
}

/// Runs the trials of one attempt, until it is futile.
fn attempt_at<'a>(
    replay: &mut Replay<'a>,
    value: f64,
    attempt: u32,
) -> Result<Vec<&'a Trial>, Pause> {
    let phase = Phase::Confirm(attempt);
    let window = length(replay, value, attempt);
    let mut trials = Vec::new();
    while trials.len() < replay.order.confirmations as usize && !is_futile(replay.order, &trials) {
        trials.push(replay.valid_trial(value, phase, window)?);
    }
    Ok(trials)
}

/// Returns the length of the trials: an attempt takes at most half of the time that is left, the
/// last one all of it.
fn length(replay: &Replay<'_>, value: f64, attempt: u32) -> Nanos {
    let share = if attempt == MOST_ATTEMPTS { 1.0 } else { 0.5 };
    let left = replay.left(Phase::Confirm(attempt)).as_secs_f64() * share;
    let most = left / f64::from(replay.order.confirmations) - replay.overhead_s(value);
    let wanted = replay.window(value, LENGTH).as_secs_f64();
    Nanos::from_secs_f64(wanted.min(most).max(0.0)).max(replay.order.trial)
}

/// Runs the final trial, if there is to be one, and returns the confirmed value.
fn hold(
    replay: &mut Replay<'_>,
    value: f64,
    confirmations: u32,
    trials: &[&Trial],
) -> Result<Confirmed, Pause> {
    let order = replay.order;
    let mut irregular = unmet(order, trials);
    let Some(window) = order.hold else {
        return Ok(Confirmed { sustained: Some(value), confirmations, irregular });
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
        irregular.push(Irregular::GeneratorLimited { value });
        return Ok(Confirmed { irregular, ..Confirmed::default() });
    };
    let holds = |position| mean_ratio(order, position, &[trial]).is_some_and(|it| it < 1.0);
    if overload(order, trial).is_none() && (0..order.conditions.len()).all(holds) {
        return Ok(Confirmed { sustained: Some(value), confirmations, irregular });
    }
    irregular.push(Irregular::HoldFailed { value });
    Ok(Confirmed { irregular, ..Confirmed::default() })
}

/// Returns the conditions with a lower bound that do not hold in the mean of the trials.
fn unmet(order: &CapacityOrder, trials: &[&Trial]) -> Vec<Irregular> {
    let is_unmet = |position: &usize| {
        let has_lower_bound = order.conditions[*position].slo.side == workload::Side::Above;
        has_lower_bound && !mean_ratio(order, *position, trials).is_some_and(|ratio| ratio < 1.0)
    };
    let unmet = (0..order.conditions.len()).filter(is_unmet);
    unmet.map(|condition| Irregular::Unmet { condition }).collect()
}

/// Returns the largest settable value that is not above this one.
fn below(order: &CapacityOrder, value: f64) -> f64 {
    match order.vary.is_whole() {
        true => value.floor().max(1.0),
        false => settable(&order.vary, value),
    }
}
