//! Overload that sustains itself: the server is slower with a backlog than without one, answers
//! fewer requests than before, and so never works the backlog off.
//!
//! The field calls it a metastable failure (Bronson et al., "Metastable Failures in Distributed
//! Systems", HotOS 2021; Huang et al., "Metastable Failures in the Wild", OSDI 2022).

use super::boundary::{is_busy, shortest_service};
use super::judge::{DECIDED_ERRORS, errors_of, judge};
use super::order::CapacityOrder;
use super::outcome::{FailReason, TrialOutcome};
use super::result::{Irregular, Metastable};
use super::trial::{LoadLimit, Trial};

/// Largest fraction of a rate that is clearly less than the rate.
const LESS_FRACTION: f64 = 0.9;

/// Advised number of connections as a multiple of the least number that keeps the server busy. The
/// least number follows from Little's law: the highest answered rate, times the shortest mean
/// service time, as the window of a transport protocol follows from bandwidth and delay.
///
/// A server that follows the universal scalability law without contention answers the most requests
/// with twice the least number, and 8 % fewer with three times the least number. With only twice
/// the least number, service times would not even double in an overload, so [`is_busy`] could not
/// tell the overload from a limit of the connections.
const HEADROOM: f64 = 3.0;

/// Minimum number of connections that are advised, unless half of the busy connections is fewer. By
/// default, an open job opens at least this many before it starts.
const FEWEST_ADVISED: u64 = 4;

/// Puts an overload that may sustain itself first among the irregularities of a search, and removes
/// those that the overload explains. Looks for an overload only if there are such irregularities,
/// or others that leave the boundary or the confirmed value uncertain. `trials` are the valid ones,
/// in the order in which they ran.
pub(super) fn explain(order: &CapacityOrder, trials: &[&Trial], irregular: &mut Vec<Irregular>) {
    if !irregular.iter().any(|why| is_explained(why) || why.is_without_boundary()) {
        return;
    }
    if let Some(found) = metastable(order, trials) {
        irregular.retain(|why| !is_explained(why));
        irregular.insert(0, Irregular::Metastable(found));
    }
}

/// Returns true for an irregularity that a self-sustaining overload explains: an inversion, or a
/// boundary that moved.
fn is_explained(why: &Irregular) -> bool {
    matches!(why, Irregular::LossInversion { .. } | Irregular::BoundaryMoved { .. })
}

/// Returns the overload at the smallest rate that shows it. Three trials together show it, in the
/// order of time:
///
/// 1. a trial passes;
/// 2. a trial at the same or a smaller rate fails. Its service times are long, and it answers
///    clearly less than it was offered;
/// 3. a trial passes in which the server answers clearly more than in the second trial.
///
/// Without the first trial the server may have improved, and without the third one it may have
/// degraded. The events in between are unknown: another program may have taken the processor.
fn metastable(order: &CapacityOrder, trials: &[&Trial]) -> Option<Metastable> {
    let passes = |trial: &&Trial| judge(order, &[*trial]) == TrialOutcome::Pass;
    let passed: Vec<&Trial> = trials.iter().copied().filter(passes).collect();
    let quiet = shortest_service(passed.iter().copied());
    let shown = trials.iter().enumerate().filter_map(|(position, trial)| {
        let answered_per_s = answered_of_overload(order, trial)?;
        let was_carried = |it: &&Trial| it.value >= trial.value && passes(it);
        let recovered =
            |it: &&Trial| answered_per_s < LESS_FRACTION * it.achieved_per_s && passes(it);
        let is_shown = is_busy(trial, quiet)
            && trials[..position].iter().any(was_carried)
            && trials[position + 1..].iter().any(recovered);
        is_shown.then_some((*trial, answered_per_s))
    });
    let (trial, answered_per_s) = shown.min_by(|a, b| a.0.value.total_cmp(&b.0.value))?;
    let connections = busy_connections(trial);
    Some(Metastable {
        fails: trial.value,
        answered_per_s,
        passes: passed.iter().map(|it| it.value).fold(trial.value, f64::max),
        connections,
        advised: connections.and_then(|busy| advised(&passed, busy)),
    })
}

/// Returns the requests that the server answered per second in a trial; failed requests count as
/// answered. `None` unless the trial failed and the server answered clearly less than it was
/// offered, by more than chance explains.
fn answered_of_overload(order: &CapacityOrder, trial: &Trial) -> Option<f64> {
    let offered_per_s = trial.offered_per_s.filter(|offered| *offered > 0.0)?;
    let failed = (trial.errors + trial.limited_failures) as f64 / trial.window.as_secs_f64();
    let answered_per_s = trial.achieved_per_s + failed;
    let share = answered_per_s / offered_per_s;
    let is_short = errors_of(trial, &FailReason::Achieved { share }) >= DECIDED_ERRORS;
    let fails = matches!(judge(order, &[trial]), TrialOutcome::Fail(_));
    (fails && is_short && share < LESS_FRACTION).then_some(answered_per_s)
}

/// Returns the number of connections that were busy: all of them if requests waited for one, or
/// else their mean number by Little's law. `None` if the service time is unknown.
fn busy_connections(trial: &Trial) -> Option<u64> {
    match trial.load_limit {
        Some(LoadLimit::OwnConnections(all) | LoadLimit::AcceptedConnections(all)) => Some(all),
        None => Some((trial.achieved_per_s * trial.service?.as_secs_f64()).round() as u64),
    }
}

/// Returns the advised number of connections: enough for the load of the passing trials, but at
/// most half of the connections that were busy in the overload. `None` if the service time is
/// unknown, or fewer than two connections were busy.
fn advised(passed: &[&Trial], busy: u64) -> Option<u64> {
    let service = shortest_service(passed.iter().copied())?;
    let answered_per_s = passed.iter().map(|it| it.achieved_per_s).fold(0.0, f64::max);
    let needed = (HEADROOM * answered_per_s * service.as_secs_f64()).ceil() as u64;
    let fewer = busy / 2;
    (fewer > 0).then_some(needed.max(FEWEST_ADVISED).min(fewer))
}

#[cfg(test)]
mod tests {
    use base::Nanos;

    use super::super::result::TrialRequest;
    use super::super::synthetic::{order, trial};
    use super::super::trial::Phase;
    use super::*;

    /// Returns a trial with the offered rate `value`, in which the server answers `answered_per_s`.
    fn answering(value: f64, answered_per_s: f64, service_us: u64) -> Trial {
        let (phase, window) = (Phase::Round(1), Nanos::from_secs(4));
        let request = TrialRequest { value, phase, warmup: Nanos::ZERO, window, number: 0 };
        Trial {
            achieved_per_s: answered_per_s,
            service: Some(Nanos::from_micros(service_us)),
            ..trial(&request, value, if answered_per_s < value { 0.8 } else { 0.0 })
        }
    }

    fn pass(value: f64) -> Trial {
        answering(value, value, 60)
    }

    /// Returns an overload with all 97 connections busy.
    fn overload(value: f64, answered_per_s: f64) -> Trial {
        let service_us = (97.0 / answered_per_s * 1e6) as u64;
        let load_limit = Some(LoadLimit::AcceptedConnections(97));
        Trial { load_limit, ..answering(value, answered_per_s, service_us) }
    }

    /// Returns the trials of a real search: `select 1` on PostgreSQL bound to one processor.
    fn searched() -> Vec<Trial> {
        vec![
            pass(46_792.0),
            overload(93_584.0, 62_677.0),
            pass(64_322.0),
            overload(62_502.0, 41_282.0),
            overload(58_861.0, 42_678.0),
            pass(57_041.0),
        ]
    }

    fn found(trials: &[Trial]) -> Option<Metastable> {
        metastable(&order(), &trials.iter().collect::<Vec<&Trial>>())
    }

    #[test]
    fn overload_below_a_rate_that_passes_before_and_later_is_metastable() {
        let expected = Metastable {
            fails: 58_861.0,
            answered_per_s: 42_678.0,
            passes: 64_322.0,
            connections: Some(97),
            // 64,322/s with 60 µs keep 3.86 connections busy.
            advised: Some(12),
        };
        assert_eq!(found(&searched()), Some(expected));
    }

    /// Each change of the trials removes one part of the evidence, and no metastable failure is
    /// found.
    #[test]
    fn other_reasons_of_an_overload_are_not_metastable() {
        let without = |words: &str, change: &dyn Fn(&mut Vec<Trial>)| {
            let mut trials = searched();
            change(&mut trials);
            assert_eq!(found(&trials), None, "{words}");
        };
        without("the server degraded", &|trials| trials.truncate(5));
        without("the server passes later, but not more than it answered", &|trials| {
            trials[5] = pass(43_000.0);
        });
        without("the server improved", &|trials| trials.rotate_left(3));
        without("no larger rate passed", &|trials| trials[2] = pass(58_000.0));
        let of_overloads = |words: &str, change: &dyn Fn(&mut Trial)| {
            without(words, &|trials| {
                let is_overload = |trial: &&mut Trial| trial.load_limit.is_some();
                trials.iter_mut().filter(is_overload).for_each(change);
            });
        };
        of_overloads("nearly everything was answered", &|it| it.achieved_per_s = 0.91 * it.value);
        of_overloads("services were quick: requests waited for something else", &|it| {
            it.service = Some(Nanos::from_micros(119));
        });
        of_overloads("requests failed", &|it| it.errors = (0.3 * it.value * 4.0) as u64);
        of_overloads("requests failed, and a condition allows it", &|it| {
            it.limited_failures = (0.3 * it.value * 4.0) as u64;
        });
        of_overloads("the job is closed", &|it| it.offered_per_s = None);
    }

    /// Of ten requests, two may be open at the end of the window.
    #[test]
    fn few_requests_are_chance() {
        let of = |per_s: f64| {
            let achieved_per_s = 0.8 * per_s;
            let trial = Trial { achieved_per_s, exceeds_capacity: true, ..pass(per_s) };
            answered_of_overload(&order(), &trial)
        };
        assert_eq!(of(2.5), None);
        assert_eq!(of(250.0), Some(200.0));
    }

    #[test]
    fn busy_connections_follow_from_littles_law_if_none_was_waited_for() {
        let mut trials = searched();
        trials.iter_mut().for_each(|trial| trial.load_limit = None);
        assert_eq!(found(&trials).unwrap().connections, Some(97));
    }

    #[test]
    fn advised_connections_are_at_least_four_and_at_most_half_of_the_busy_ones() {
        let of = |per_s: f64, busy: u64| advised(&[&pass(per_s)], busy);
        // The mean service time is 60 µs.
        assert_eq!(of(100_000.0, 97), Some(18));
        assert_eq!(of(1_000.0, 97), Some(4));
        assert_eq!(of(100_000.0, 20), Some(10));
        assert_eq!(of(100_000.0, 1), None);
    }

    #[test]
    fn searches_without_a_plain_boundary_are_explained() {
        let trials = searched();
        let trials: Vec<&Trial> = trials.iter().collect();
        let explained = |irregular: &[Irregular], trials: &[&Trial]| {
            let mut irregular = irregular.to_vec();
            explain(&order(), trials, &mut irregular);
            irregular.iter().map(Irregular::name).collect::<Vec<&str>>()
        };
        let inversion = Irregular::LossInversion { fails: 58_861.0, passes: 64_322.0 };
        let moved = Irregular::BoundaryMoved { fails: 58_861.0, low: 60_000.0 };
        let unconfirmed = Irregular::NotConfirmed { lowest: 44_450.0 };
        let both = [unconfirmed.clone(), inversion.clone()];
        assert_eq!(explained(&both, &trials), ["metastable failure", "not confirmed"]);
        assert_eq!(explained(&[moved], &trials), ["metastable failure"]);
        assert_eq!(explained(&[unconfirmed], &trials), ["metastable failure", "not confirmed"]);
        assert_eq!(explained(&[inversion], &trials[..5]), ["loss inversion"]);
        assert_eq!(explained(&[], &trials), [""; 0]);
        let drifts = Irregular::Drifts { change: -0.1 };
        assert_eq!(explained(&[drifts], &trials), ["degrades from trial to trial"]);
    }
}
