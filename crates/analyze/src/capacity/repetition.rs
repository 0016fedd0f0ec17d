//! Comparison of a search with the one that it repeats.

use super::result::{Capacity, Interval, Irregular};
use crate::compare::RepetitionOutcome;

/// Error of an estimate that chance within a search does not show: the published searches are
/// within it in 80 % of the cases or more.
const ERROR: f64 = 0.02;

/// Compares the result of a search with the one that it repeats.
///
/// Two estimates agree if their intervals overlap, each widened to ±2 % of its estimate at least.
/// Without two estimates the results agree if all values passed in both, or all failed; and a
/// confirmed value contradicts a search in which all values fail.
pub fn repeat_capacity(first: &Capacity, second: &Capacity) -> RepetitionOutcome {
    if let (Some(one), Some(other)) = (widened(first), widened(second)) {
        return match one.low <= other.high && other.low <= one.high {
            true => RepetitionOutcome::Holds,
            false => RepetitionOutcome::Contradicts,
        };
    }
    let never =
        [first, second].map(|one| has(one, |it| matches!(it, Irregular::NeverFails { .. })));
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

fn has(capacity: &Capacity, wanted: impl Fn(&Irregular) -> bool) -> bool {
    capacity.irregular.iter().any(wanted)
}

/// Returns the interval of the estimate, which is never narrower than its error.
fn widened(capacity: &Capacity) -> Option<Interval> {
    let (estimate, interval) = (capacity.estimate?, capacity.interval?);
    Some(Interval {
        low: interval.low.min(estimate * (1.0 - ERROR)),
        high: interval.high.max(estimate * (1.0 + ERROR)),
    })
}

#[cfg(test)]
mod tests {
    use base::Nanos;

    use super::super::result::Boundary;
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

    fn without(why: Irregular, sustained: Option<f64>) -> Capacity {
        let irregular = vec![why];
        let found = found(1.0, 1.0, 1.0);
        Capacity { estimate: None, interval: None, sustained, irregular, ..found }
    }

    #[test]
    fn estimates_agree_if_their_intervals_overlap() {
        let first = found(770.0, 760.0, 780.0);
        let outcome = |estimate, low, high| repeat_capacity(&first, &found(estimate, low, high));
        assert_eq!(outcome(790.0, 779.0, 800.0), RepetitionOutcome::Holds);
        assert_eq!(outcome(900.0, 880.0, 920.0), RepetitionOutcome::Contradicts);
        assert_eq!(outcome(600.0, 590.0, 610.0), RepetitionOutcome::Contradicts);
    }

    #[test]
    fn intervals_are_never_narrower_than_the_error_of_a_search() {
        let (first, second) = (found(770.0, 769.9, 770.1), found(790.0, 789.9, 790.1));
        assert_eq!(repeat_capacity(&first, &second), RepetitionOutcome::Holds);
        let third = found(830.0, 829.9, 830.1);
        assert_eq!(repeat_capacity(&first, &third), RepetitionOutcome::Contradicts);
    }

    #[test]
    fn results_without_estimates_agree_if_they_are_of_one_kind() {
        let never = without(Irregular::NeverFails { highest: 9.0 }, Some(9.0));
        let always = without(Irregular::AlwaysFails { lowest: 0.1 }, None);
        assert_eq!(repeat_capacity(&never, &never), RepetitionOutcome::Holds);
        assert_eq!(repeat_capacity(&always, &always), RepetitionOutcome::Holds);
        assert_eq!(repeat_capacity(&never, &always), RepetitionOutcome::Contradicts);
        let regular = found(770.0, 760.0, 780.0);
        assert_eq!(repeat_capacity(&always, &regular), RepetitionOutcome::Contradicts);
        assert_eq!(repeat_capacity(&never, &regular), RepetitionOutcome::Undecided);
    }
}
