//! Comparison of a search with the one that it repeats.

use super::result::{Boundary, Capacity, Interval, Irregular};
use super::search::{LOCATED, is_wide};
use crate::compare::RepetitionOutcome;
use workload::question::VariedLoad;

/// Error of an estimate that chance within a search does not show: the published searches are
/// within it in 80 % of the cases or more.
const ERROR: f64 = 0.02;

/// Compares the result of a search with the one that it repeats; both vary this load.
///
/// Even if the estimates agree, a confirmed value contradicts a search whose final trial failed at
/// this value or a smaller one, or that missed a lower bound.
///
/// Two estimates of smooth boundaries agree if their intervals overlap, each widened to at least ±2
/// % of its estimate. At other boundaries, or without an estimate, the ranges from the confirmed
/// value to the smallest one that failed must overlap, each widened by 2 %. An overlap with a range
/// that is too wide to locate the boundary decides nothing. Without two such ranges, the results
/// agree if all values passed in both searches, or all failed in both; they contradict each other
/// if one confirmed a value and all values of the other failed, or if no value of one failed and it
/// confirmed a value beyond the one that fails in the other.
pub fn repeat_capacity(
    load: &VariedLoad,
    first: &Capacity,
    second: &Capacity,
) -> RepetitionOutcome {
    if refutes(first, second) || refutes(second, first) {
        return RepetitionOutcome::Contradicts;
    }
    let both = |range: fn(&Capacity) -> Option<Interval>| range(first).zip(range(second));
    if let Some((one, other)) = both(widened).or_else(|| both(range)) {
        let overlap = one.low <= other.high && other.low <= one.high;
        return match overlap {
            false => RepetitionOutcome::Contradicts,
            true if is_located(load, first, one) && is_located(load, second, other) => {
                RepetitionOutcome::Holds
            }
            true => RepetitionOutcome::Undecided,
        };
    }
    if exceeds(first, second) || exceeds(second, first) {
        return RepetitionOutcome::Contradicts;
    }
    let never = [first, second].map(never_fails);
    let always =
        [first, second].map(|one| has(one, |it| matches!(it, Irregular::AlwaysFails { .. })));
    let confirmed = [first, second].map(|one| one.sustained.is_some());
    match (never, always, confirmed) {
        ([true, true], ..) | (_, [true, true], _) => RepetitionOutcome::Holds,
        (_, [true, false], [_, true]) | (_, [false, true], [true, _]) => {
            RepetitionOutcome::Contradicts
        }
        _ => RepetitionOutcome::Undecided,
    }
}

/// Returns true if a search says enough for another one to agree with it: the range of the
/// boundary is narrow, and the confirmed value not far below it.
fn is_located(load: &VariedLoad, capacity: &Capacity, range: Interval) -> bool {
    let is_named = has(capacity, |why| matches!(why, Irregular::NotLocated { .. }));
    // Both ends of a range are widened by its error.
    !is_named && !is_wide(load, range, LOCATED * (1.0 + ERROR) / (1.0 - ERROR))
}

/// Returns true if a search shows that a value which another one confirmed does not hold.
fn refutes(one: &Capacity, other: &Capacity) -> bool {
    let Some(kept) = other.sustained.filter(|_| !has(other, is_unmet)) else { return false };
    has(one, is_unmet)
        || has(one, |it| matches!(it, Irregular::HoldFailed { value } if *value <= kept))
}

/// Returns true if a search in which no value failed confirmed a larger value than the one that
/// fails in another search.
fn exceeds(one: &Capacity, other: &Capacity) -> bool {
    let (Some(kept), Some(fails)) = (one.sustained, other.fails) else { return false };
    never_fails(one) && kept * (1.0 - ERROR) > fails * (1.0 + ERROR)
}

fn never_fails(capacity: &Capacity) -> bool {
    has(capacity, |it| matches!(it, Irregular::NeverFails { .. }))
}

fn is_unmet(why: &Irregular) -> bool {
    matches!(why, Irregular::Unmet { .. })
}

fn has(capacity: &Capacity, wanted: impl Fn(&Irregular) -> bool) -> bool {
    capacity.irregular.iter().any(wanted)
}

/// Returns the interval of the estimate of a smooth boundary, which is never narrower than its
/// error.
fn widened(capacity: &Capacity) -> Option<Interval> {
    if capacity.boundary != Boundary::Smooth {
        return None;
    }
    let (estimate, interval) = (capacity.estimate?, capacity.interval?);
    Some(Interval {
        low: interval.low.min(estimate * (1.0 - ERROR)),
        high: interval.high.max(estimate * (1.0 + ERROR)),
    })
}

/// Returns the range from the confirmed value up to the smallest one that failed: a cliff lies
/// somewhere in it, and may move from one minute to the next.
fn range(capacity: &Capacity) -> Option<Interval> {
    let (low, high) = capacity.sustained.zip(capacity.fails)?;
    Some(Interval { low: low * (1.0 - ERROR), high: high * (1.0 + ERROR) })
}

#[cfg(test)]
mod tests {
    use base::Nanos;

    use super::super::trial::Phase;
    use super::*;

    fn found(estimate: f64, low: f64, high: f64) -> Capacity {
        Capacity {
            slo: "p99(read) < 20ms".to_owned(),
            sustained: Some(low),
            fails: Some(high),
            estimate: Some(estimate),
            interval: Some(Interval { low, high }),
            slope: None,
            confirmations: 6,
            binding: Some(0),
            boundary: Boundary::Smooth,
            irregular: Vec::new(),
            trials: Vec::new(),
            isotonic: None,
            took: Nanos::ZERO,
        }
    }

    fn repeated(first: &Capacity, second: &Capacity) -> RepetitionOutcome {
        repeat_capacity(&VariedLoad::Rate { job: "read".to_owned() }, first, second)
    }

    /// 2 clients are half of 4, and next to 3.
    #[test]
    fn neighbouring_numbers_of_clients_are_a_narrow_range() {
        let clients = VariedLoad::Concurrency { job: "read".to_owned() };
        let outcome = |first, second| repeat_capacity(&clients, &first, &second);
        let two = || found(2.0, 2.0, 3.0);
        assert_eq!(outcome(two(), two()), RepetitionOutcome::Holds);
        assert_eq!(outcome(two(), found(5.0, 5.0, 6.0)), RepetitionOutcome::Contradicts);
        assert_eq!(outcome(two(), found(2.0, 2.0, 5.0)), RepetitionOutcome::Undecided);
        assert_eq!(repeated(&two(), &two()), RepetitionOutcome::Undecided);
    }

    fn without(why: Irregular, sustained: Option<f64>) -> Capacity {
        let irregular = vec![why];
        let found = found(1.0, 1.0, 1.0);
        Capacity { estimate: None, interval: None, sustained, fails: None, irregular, ..found }
    }

    #[test]
    fn estimates_agree_if_their_intervals_overlap() {
        let first = found(770.0, 760.0, 780.0);
        let outcome = |estimate, low, high| repeated(&first, &found(estimate, low, high));
        assert_eq!(outcome(790.0, 779.0, 800.0), RepetitionOutcome::Holds);
        assert_eq!(outcome(900.0, 880.0, 920.0), RepetitionOutcome::Contradicts);
        assert_eq!(outcome(600.0, 590.0, 610.0), RepetitionOutcome::Contradicts);
    }

    #[test]
    fn intervals_are_never_narrower_than_the_error_of_a_search() {
        let (first, second) = (found(770.0, 769.9, 770.1), found(790.0, 789.9, 790.1));
        assert_eq!(repeated(&first, &second), RepetitionOutcome::Holds);
        let third = found(830.0, 829.9, 830.1);
        assert_eq!(repeated(&first, &third), RepetitionOutcome::Contradicts);
    }

    #[test]
    fn ranges_of_cliffs_must_overlap() {
        let cliff = |sustained, fails| Capacity {
            sustained: Some(sustained),
            fails: Some(fails),
            boundary: Boundary::Cliff,
            ..found(fails, fails, fails)
        };
        let first = cliff(70_236.0, 72_408.0);
        let outcome = |second| repeated(&first, &second);
        assert_eq!(outcome(cliff(68_660.0, 74_004.0)), RepetitionOutcome::Holds);
        assert_eq!(outcome(cliff(60_000.0, 62_000.0)), RepetitionOutcome::Contradicts);
        // Cliffs that are known to half a percent, 1.5 % and 8 % apart.
        assert_eq!(repeated(&cliff(800.0, 804.0), &cliff(816.0, 820.0)), RepetitionOutcome::Holds);
        let apart = repeated(&cliff(800.0, 804.0), &cliff(866.0, 870.0));
        assert_eq!(apart, RepetitionOutcome::Contradicts);
        let unconfirmed = Capacity { sustained: None, ..cliff(1.0, 74_004.0) };
        assert_eq!(outcome(unconfirmed), RepetitionOutcome::Undecided);
    }

    #[test]
    fn overlap_with_a_wide_range_decides_nothing() {
        let wide = Capacity {
            sustained: Some(372.0),
            fails: Some(752.0),
            boundary: Boundary::NotReached,
            ..found(388.0, 200.0, 752.0)
        };
        let second =
            Capacity { sustained: Some(742.0), fails: Some(773.0), ..found(811.0, 791.0, 832.0) };
        assert_eq!(repeated(&wide, &second), RepetitionOutcome::Undecided);
        assert_eq!(repeated(&second, &wide), RepetitionOutcome::Undecided);
        assert_eq!(repeated(&wide, &wide), RepetitionOutcome::Undecided);
        let apart = Capacity { sustained: Some(900.0), fails: Some(950.0), ..second.clone() };
        assert_eq!(repeated(&wide, &apart), RepetitionOutcome::Contradicts);
        // The intervals overlap, and one confirmed half of the other's value.
        let why = vec![Irregular::NotLocated { low: 400.0, high: 832.0 }];
        let low = Capacity { sustained: Some(400.0), irregular: why, ..second.clone() };
        assert_eq!(repeated(&second, &low), RepetitionOutcome::Undecided);
        assert_eq!(repeated(&second, &second), RepetitionOutcome::Holds);
    }

    #[test]
    fn confirmed_value_contradicts_one_that_did_not_hold() {
        let first = found(770.0, 760.0, 780.0);
        let failed = |why, sustained| {
            let second = Capacity { irregular: vec![why], sustained, ..first.clone() };
            (repeated(&first, &second), repeated(&second, &second))
        };
        let expected = (RepetitionOutcome::Contradicts, RepetitionOutcome::Holds);
        assert_eq!(failed(Irregular::HoldFailed { value: 760.0 }, None), expected);
        let higher = Irregular::HoldFailed { value: 768.0 };
        assert_eq!(
            failed(higher, None).0,
            RepetitionOutcome::Holds,
            "760 may hold where 768 fails"
        );
        assert_eq!(failed(Irregular::Unmet { condition: 1 }, Some(760.0)), expected);
        let spent = Irregular::BudgetSpent { phase: Phase::Confirm(1) };
        assert_eq!(failed(spent, None).0, RepetitionOutcome::Holds, "nothing was refuted");
    }

    #[test]
    fn range_replaces_an_estimate_that_is_missing() {
        let spent = Irregular::BudgetSpent { phase: Phase::Shrink };
        let first = Capacity { fails: Some(72_408.0), ..without(spent, Some(70_236.0)) };
        let agrees = found(71_000.0, 70_900.0, 71_100.0);
        assert_eq!(repeated(&first, &agrees), RepetitionOutcome::Holds);
        let differs = found(80_000.0, 79_000.0, 81_000.0);
        assert_eq!(repeated(&first, &differs), RepetitionOutcome::Contradicts);
    }

    #[test]
    fn results_without_estimates_agree_if_they_are_of_one_kind() {
        let never = without(Irregular::NeverFails { highest: 9.0 }, Some(9.0));
        let always = without(Irregular::AlwaysFails { lowest: 0.1 }, None);
        assert_eq!(repeated(&never, &never), RepetitionOutcome::Holds);
        assert_eq!(repeated(&always, &always), RepetitionOutcome::Holds);
        assert_eq!(repeated(&never, &always), RepetitionOutcome::Contradicts);
        let regular = found(770.0, 760.0, 780.0);
        assert_eq!(repeated(&always, &regular), RepetitionOutcome::Contradicts);
        assert_eq!(repeated(&never, &regular), RepetitionOutcome::Undecided);
        let beyond = without(Irregular::NeverFails { highest: 1_000.0 }, Some(1_000.0));
        assert_eq!(repeated(&regular, &beyond), RepetitionOutcome::Contradicts);
        assert_eq!(repeated(&beyond, &regular), RepetitionOutcome::Contradicts);
        let near = without(Irregular::NeverFails { highest: 790.0 }, Some(790.0));
        assert_eq!(repeated(&regular, &near), RepetitionOutcome::Undecided);
    }
}
