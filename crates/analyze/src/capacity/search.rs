//! The search: from the recorded trials to the next one, or to the result.

use super::boundary::{outcomes, own_limit};
use super::bracket::Bracket;
use super::confirm::{Confirmed, confirm, confirm_at};
use super::order::CapacityOrder;
use super::outcome::TrialOutcome;
use super::replay::{Pause, Replay};
use super::result::{Boundary, Capacity, Irregular, Step};
use super::rounds::{Found, rounds};
use super::trial::Trial;

/// Returns the next step of a search. `trials` are all trials so far, in the order in which they
/// were requested; the result depends on nothing else.
pub fn next_step(order: &CapacityOrder, trials: &[Trial]) -> Step {
    let mut replay = Replay::new(order, trials);
    match search(&mut replay) {
        Ok(capacity) => Step::Done(Box::new(capacity)),
        Err(request) => request,
    }
}

/// What the search knows before the confirmation.
struct Knowledge {
    found: Option<Found>,
    bracket: Bracket,
    irregular: Vec<Irregular>,
}

fn search(replay: &mut Replay<'_>) -> Result<Capacity, Step> {
    let knowledge = explore(replay)?;
    let confirmed = match (&knowledge.found, knowledge.bracket.low) {
        (Some(found), _) => confirm(replay, found).map_err(run)?,
        (None, Some(low)) => confirm_at(replay, low, None).map_err(run)?,
        (None, None) => Confirmed::default(),
    };
    Ok(result(replay, knowledge, confirmed))
}

/// Runs the bracket and the rounds.
fn explore(replay: &mut Replay<'_>) -> Result<Knowledge, Step> {
    let mut bracket = Bracket::default();
    let mut irregular = Vec::new();
    let steps: [fn(&mut Bracket, &mut Replay<'_>) -> Result<(), Pause>; 2] =
        [Bracket::find, Bracket::shrink];
    for step in steps {
        match step(&mut bracket, replay) {
            Ok(()) => {}
            Err(Pause::Irregular(why)) => {
                irregular.push(why);
                return Ok(Knowledge { found: None, bracket, irregular });
            }
            Err(pause) => return Err(run(pause)),
        }
    }
    match rounds(replay, bracket) {
        Ok(found) => Ok(Knowledge { found, bracket, irregular }),
        Err(Pause::Irregular(why)) => {
            irregular.push(why);
            Ok(Knowledge { found: None, bracket, irregular })
        }
        Err(pause) => Err(run(pause)),
    }
}

fn run(pause: Pause) -> Step {
    match pause {
        Pause::Run(request) => Step::Run(request),
        Pause::Irregular(_) => unreachable!("irregularities are handled where they arise"),
    }
}

fn result(replay: &Replay<'_>, knowledge: Knowledge, confirmed: Confirmed) -> Capacity {
    let order = replay.order;
    let valid: Vec<&Trial> = replay.valid().collect();
    let Knowledge { found, bracket, mut irregular } = knowledge;
    irregular.extend(own_limit(order, &valid).map(Irregular::LimitedBy));
    irregular.extend(found.iter().flat_map(|found| found.irregular.clone()));
    irregular.extend(confirmed.irregular);
    let above = confirmed.sustained.or(bracket.low).unwrap_or(0.0);
    let failed = outcomes(order, &valid)
        .into_iter()
        .find(|(value, outcome)| *value > above && matches!(outcome, TrialOutcome::Fail(_)));
    let reached = found.as_ref().map(|found| found.boundary);
    Capacity {
        slo: order.conditions.iter().map(|it| it.slo.text.as_str()).collect::<Vec<_>>().join(", "),
        sustained: confirmed.sustained,
        fails: failed.map(|(value, _)| value),
        estimate: found.as_ref().map(|found| found.estimate),
        interval: found.as_ref().map(|found| found.interval),
        confirmations: confirmed.confirmations,
        binding: found.as_ref().and_then(|found| found.binding),
        boundary: reached.unwrap_or(Boundary::NotReached),
        irregular,
        trials: replay.judged(),
        isotonic: found.and_then(|found| found.isotonic),
        took: replay.took(),
    }
}
