//! Comparison of a search with the search that it repeats.

use super::result::{Boundary, Capacity, Interval, Irregular};
use super::search::{LOCATED_RATIO, is_wide};
use crate::compare::RepetitionOutcome;
use workload::question::VariedLoad;

/// Error of a search in addition to its interval, as a fraction of the value. In the published
/// table (`docs/capacity.md`), at least 75 % of the estimates on each system are within this error.
/// Ranges are widened by this error before they are compared.
pub const SEARCH_ERROR: f64 = 0.02;

/// The comparison of a search with the search that it repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityRepetition {
    /// The compared parts of the results: of the first search, and of its repetition.
    pub findings: [SearchFinding; 2],
    /// Reason of the outcome.
    pub reason: RepetitionReason,
}

/// The part of the result of a search that is compared with the result of another search. Values
/// are requests per second, or clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SearchFinding {
    /// Estimate of a smooth boundary.
    Estimate {
        /// The estimate.
        estimate: f64,
        /// Interval of the estimate ([`Capacity::interval`]).
        interval: Interval,
    },
    /// Range from the confirmed value to the smallest failed value above it. At a non-monotone
    /// boundary, the range ends at the largest value that passed although a smaller one failed.
    Range(Interval),
    /// Largest value that passed; no larger one failed.
    AtLeast(f64),
    /// Smallest value that failed; none was confirmed.
    Below(f64),
    /// Confirmed value whose final trial failed.
    HoldFailed(f64),
    /// Position of the condition that does not hold at the result.
    Unmet(usize),
    /// No value passed or failed.
    Nothing,
}

/// The reason of the outcome of a repeated search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepetitionReason {
    /// The ranges, or the intervals of the estimates, overlap.
    Overlap,
    /// The ranges overlap only after each was widened by [`SEARCH_ERROR`].
    OverlapWithinError,
    /// The ranges overlap, but at least one is too wide to locate the boundary. The first element
    /// is true if the range of the first search is too wide, the second if the range of its
    /// repetition is too wide.
    NotLocated([bool; 2]),
    /// The ranges do not overlap, although each was widened.
    Disjoint,
    /// A value that one search confirmed does not hold in the other.
    Refuted,
    /// One search, in which no value failed, confirmed a value above the smallest one that fails in
    /// the other search.
    PassesBeyond,
    /// One search confirmed a value, and all values failed in the other.
    AlwaysFails,
    /// The boundaries cannot be compared, but the repetition confirmed the value that the first
    /// search confirmed, or up to a quarter or two clients more.
    ConfirmedAgain,
    /// No value failed in either search.
    BothPass,
    /// All values failed in both searches.
    BothFail,
    /// A search has no boundary to compare.
    NoBoundary,
}

/// Compares the result of a search with the result of its repetition; both searches vary `load`.
///
/// Even if the estimates agree, the results contradict each other if one search refutes a value
/// that the other confirmed. It does so if its final trial failed at this value or a smaller one,
/// or if it missed a lower bound.
///
/// Two estimates of smooth boundaries agree if their intervals overlap, each widened to at least
/// ±2 % of its estimate. If there are no two such estimates, the ranges of the two boundaries must
/// overlap, each widened by 2 %. A range begins at the confirmed value, and ends at the smallest
/// failed value above it or at a larger value that passed nevertheless. An overlap with a range
/// that is too wide to locate the boundary says nothing about the boundary.
///
/// If the searches do not both have such a range, the results agree if all values passed in both
/// searches, or all failed in both. The results contradict each other if one search confirmed a
/// value and all values of the other failed. They also contradict each other if one search, in
/// which no value failed, confirmed a value above the smallest failed value of the other. The
/// difference must be larger than errors of [`SEARCH_ERROR`] in both values can explain.
///
/// If the boundaries cannot be compared, the answer still holds if the repetition confirmed the
/// same value (within 2 %), or up to a quarter or two clients more.
pub fn repeat_capacity(
    load: &VariedLoad,
    first: &Capacity,
    second: &Capacity,
) -> CapacityRepetition {
    let both = [first, second];
    if refutes(first, second) || refutes(second, first) {
        let findings = both.map(SearchFinding::unconfirmed_finding);
        return CapacityRepetition { findings, reason: RepetitionReason::Refuted };
    }
    let ranges = |of: fn(&Capacity) -> Option<Range>| of(first).zip(of(second));
    if let Some((one, other)) = ranges(Range::of_estimate).or_else(|| ranges(Range::of_values)) {
        let located = [(first, &one), (second, &other)].map(|it| is_located(load, it.0, it.1));
        let reason = one.reason(&other, located).or_confirmed_again(load, first, second);
        return CapacityRepetition { findings: [one.finding, other.finding], reason };
    }
    let reason = reason_without_ranges(first, second).or_confirmed_again(load, first, second);
    CapacityRepetition { findings: both.map(SearchFinding::of), reason }
}

/// Returns the reason of the outcome of two searches that do not both have a range.
fn reason_without_ranges(first: &Capacity, second: &Capacity) -> RepetitionReason {
    if exceeds(first, second) || exceeds(second, first) {
        return RepetitionReason::PassesBeyond;
    }
    let never = [first, second].map(never_fails);
    let always =
        [first, second].map(|one| has_any(one, |it| matches!(it, Irregular::AlwaysFails { .. })));
    let confirmed = [first, second].map(|one| one.sustained.is_some());
    match (never, always, confirmed) {
        ([true, true], ..) => RepetitionReason::BothPass,
        (_, [true, true], _) => RepetitionReason::BothFail,
        (_, [true, false], [_, true]) | (_, [false, true], [true, _]) => {
            RepetitionReason::AlwaysFails
        }
        _ => RepetitionReason::NoBoundary,
    }
}

impl CapacityRepetition {
    /// Returns the outcome, which follows from the reason.
    pub fn outcome(&self) -> RepetitionOutcome {
        match self.reason {
            RepetitionReason::Overlap
            | RepetitionReason::OverlapWithinError
            | RepetitionReason::ConfirmedAgain
            | RepetitionReason::BothPass
            | RepetitionReason::BothFail => RepetitionOutcome::Holds,
            RepetitionReason::NotLocated(_) | RepetitionReason::NoBoundary => {
                RepetitionOutcome::Undecided
            }
            RepetitionReason::Disjoint
            | RepetitionReason::Refuted
            | RepetitionReason::PassesBeyond
            | RepetitionReason::AlwaysFails => RepetitionOutcome::Contradicts,
        }
    }
}

impl RepetitionReason {
    /// Returns [`RepetitionReason::ConfirmedAgain`] in place of a reason that decides nothing, if
    /// the repetition confirmed the value again.
    fn or_confirmed_again(
        self,
        load: &VariedLoad,
        first: &Capacity,
        second: &Capacity,
    ) -> RepetitionReason {
        match self {
            RepetitionReason::NotLocated(_) | RepetitionReason::NoBoundary
                if is_confirmed_again(load, first, second) =>
            {
                RepetitionReason::ConfirmedAgain
            }
            reason => reason,
        }
    }

    /// Returns the name of this reason in documents.
    pub fn name(self) -> &'static str {
        match self {
            RepetitionReason::Overlap => "overlap",
            RepetitionReason::OverlapWithinError => "overlap-within-error",
            RepetitionReason::NotLocated(_) => "not-located",
            RepetitionReason::Disjoint => "disjoint",
            RepetitionReason::Refuted => "refuted",
            RepetitionReason::PassesBeyond => "passes-beyond",
            RepetitionReason::AlwaysFails => "always-fails",
            RepetitionReason::ConfirmedAgain => "confirmed-again",
            RepetitionReason::BothPass => "both-pass",
            RepetitionReason::BothFail => "both-fail",
            RepetitionReason::NoBoundary => "no-boundary",
        }
    }
}

impl SearchFinding {
    /// Returns the name of this kind of finding in documents.
    pub fn name(self) -> &'static str {
        match self {
            SearchFinding::Estimate { .. } => "estimate",
            SearchFinding::Range(_) => "range",
            SearchFinding::AtLeast(_) => "at-least",
            SearchFinding::Below(_) => "below",
            SearchFinding::HoldFailed(_) => "hold-failed",
            SearchFinding::Unmet(_) => "unmet",
            SearchFinding::Nothing => "nothing",
        }
    }

    /// Returns the finding from the values that passed and failed.
    fn of(capacity: &Capacity) -> SearchFinding {
        let of_end = |why: &Irregular| match why {
            Irregular::NeverFails { highest } => Some(SearchFinding::AtLeast(*highest)),
            Irregular::AlwaysFails { lowest } => Some(SearchFinding::Below(*lowest)),
            _ => None,
        };
        match (capacity.sustained, capacity.fails) {
            (Some(low), Some(high)) => SearchFinding::Range(Interval { low, high }),
            (Some(confirmed), None) => SearchFinding::AtLeast(confirmed),
            (None, Some(fails)) => SearchFinding::Below(fails),
            (None, None) => {
                capacity.irregular.iter().find_map(of_end).unwrap_or(SearchFinding::Nothing)
            }
        }
    }

    /// Returns the condition that does not hold, or the value whose final trial failed. If there is
    /// neither, returns the finding from the values.
    fn unconfirmed_finding(capacity: &Capacity) -> SearchFinding {
        let of_failure = |why: &Irregular| match why {
            Irregular::HoldFailed { value } => Some(SearchFinding::HoldFailed(*value)),
            Irregular::Unmet { condition } => Some(SearchFinding::Unmet(*condition)),
            _ => None,
        };
        let failed = capacity.irregular.iter().find_map(of_failure);
        failed.unwrap_or_else(|| SearchFinding::of(capacity))
    }
}

/// A range that is compared with another one.
struct Range {
    /// The finding with this range.
    finding: SearchFinding,
    /// Ends of the range.
    ends: Interval,
    /// Ends of the range, widened by the error of a search.
    widened: Interval,
}

impl Range {
    /// Returns the interval of the estimate of a smooth boundary.
    fn of_estimate(capacity: &Capacity) -> Option<Range> {
        if capacity.boundary != Boundary::Smooth {
            return None;
        }
        let (estimate, interval) = (capacity.estimate?, capacity.interval?);
        let widened = Interval {
            low: interval.low.min(estimate * (1.0 - SEARCH_ERROR)),
            high: interval.high.max(estimate * (1.0 + SEARCH_ERROR)),
        };
        let finding = SearchFinding::Estimate { estimate, interval };
        Some(Range { finding, ends: interval, widened })
    }

    /// Returns the range from the confirmed value to the smallest failed value above it, or to a
    /// larger value that passed nevertheless. A cliff lies somewhere in this range, and may move
    /// from one minute to the next.
    fn of_values(capacity: &Capacity) -> Option<Range> {
        let (low, fails) = capacity.sustained.zip(capacity.fails)?;
        let passing = capacity.irregular.iter().filter_map(Irregular::passes_beyond);
        let high = passing.fold(fails, f64::max);
        let ends = Interval { low, high };
        let widened =
            Interval { low: low * (1.0 - SEARCH_ERROR), high: high * (1.0 + SEARCH_ERROR) };
        Some(Range { finding: SearchFinding::Range(ends), ends, widened })
    }

    /// Returns the reason of the outcome for this range and the range of the repetition. The
    /// elements of `located` are true if the first search, and if its repetition, locates its
    /// boundary.
    fn reason(&self, other: &Range, located: [bool; 2]) -> RepetitionReason {
        match located {
            _ if !overlap(self.widened, other.widened) => RepetitionReason::Disjoint,
            [true, true] if overlap(self.ends, other.ends) => RepetitionReason::Overlap,
            [true, true] => RepetitionReason::OverlapWithinError,
            _ => RepetitionReason::NotLocated(located.map(|it| !it)),
        }
    }
}

fn overlap(one: Interval, other: Interval) -> bool {
    one.low <= other.high && other.low <= one.high
}

/// Returns true if a search locates its boundary well enough for a comparison with another search:
/// the range of the boundary is narrow, and the confirmed value is not far below this range.
fn is_located(load: &VariedLoad, capacity: &Capacity, range: &Range) -> bool {
    let is_named = has_any(capacity, |why| matches!(why, Irregular::NotLocated { .. }));
    // `widened` was widened by the error of a search at both ends.
    let most = LOCATED_RATIO * (1.0 + SEARCH_ERROR) / (1.0 - SEARCH_ERROR);
    !is_named && !is_wide(load, range.widened, most)
}

/// Returns true if the second search confirmed the value that the first one confirmed. A much
/// larger value does not count, because the first search then missed the boundary.
fn is_confirmed_again(load: &VariedLoad, first: &Capacity, second: &Capacity) -> bool {
    let (Some(low), Some(high)) = (first.sustained, second.sustained) else { return false };
    high >= low * (1.0 - SEARCH_ERROR) && !is_wide(load, Interval { low, high }, LOCATED_RATIO)
}

/// Returns true if a search shows that a value confirmed by another search does not hold.
fn refutes(one: &Capacity, other: &Capacity) -> bool {
    let confirmed = other.sustained.filter(|_| !has_any(other, is_unmet));
    let Some(confirmed) = confirmed else { return false };
    has_any(one, is_unmet)
        || has_any(one, |it| matches!(it, Irregular::HoldFailed { value } if *value <= confirmed))
}

/// Returns true if no value failed in the first search, and it confirmed a value above the smallest
/// failed value of the second. The difference must be larger than errors of [`SEARCH_ERROR`] in
/// both values can explain.
fn exceeds(one: &Capacity, other: &Capacity) -> bool {
    let (Some(confirmed), Some(fails)) = (one.sustained, other.fails) else { return false };
    never_fails(one) && confirmed * (1.0 - SEARCH_ERROR) > fails * (1.0 + SEARCH_ERROR)
}

fn never_fails(capacity: &Capacity) -> bool {
    has_any(capacity, |it| matches!(it, Irregular::NeverFails { .. }))
}

fn is_unmet(why: &Irregular) -> bool {
    matches!(why, Irregular::Unmet { .. })
}

fn has_any(capacity: &Capacity, wanted: impl Fn(&Irregular) -> bool) -> bool {
    capacity.irregular.iter().any(wanted)
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

    fn compared(first: &Capacity, second: &Capacity) -> CapacityRepetition {
        repeat_capacity(&VariedLoad::Rate { job: "read".to_owned() }, first, second)
    }

    fn repeated(first: &Capacity, second: &Capacity) -> RepetitionOutcome {
        compared(first, second).outcome()
    }

    /// 2 clients are half of 4, but adjacent to 3.
    #[test]
    fn neighbouring_numbers_of_clients_are_a_narrow_range() {
        let clients = VariedLoad::Concurrency { job: "read".to_owned() };
        let outcome = |first, second| repeat_capacity(&clients, &first, &second).outcome();
        let two = || found(2.0, 2.0, 3.0);
        assert_eq!(outcome(two(), two()), RepetitionOutcome::Holds);
        assert_eq!(outcome(two(), found(5.0, 5.0, 6.0)), RepetitionOutcome::Contradicts);
        assert_eq!(outcome(two(), found(2.0, 1.0, 5.0)), RepetitionOutcome::Undecided);
        let reason = |first, second| compared(&first, &second).reason;
        assert_eq!(reason(two(), two()), RepetitionReason::ConfirmedAgain, "as rates");
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

    /// 800/s passed although 700/s fails: the boundary is somewhere up to 800/s.
    #[test]
    fn range_of_a_non_monotone_boundary_ends_at_the_value_that_passed() {
        let found = |sustained, fails| Capacity {
            sustained: Some(sustained),
            fails: Some(fails),
            boundary: Boundary::NonMonotone,
            ..without(Irregular::LossInversion { fails, passes: 800.0 }, None)
        };
        let first = found(650.0, 700.0);
        let cliff = Capacity {
            sustained: Some(790.0),
            fails: Some(850.0),
            boundary: Boundary::Cliff,
            ..without(Irregular::Curved, None)
        };
        let load = VariedLoad::Rate { job: "read".to_owned() };
        let outcome = |first: &Capacity| repeat_capacity(&load, first, &cliff).outcome();
        assert_eq!(outcome(&first), RepetitionOutcome::Holds);
        let monotone = Capacity { irregular: vec![Irregular::Curved], ..first };
        assert_eq!(outcome(&monotone), RepetitionOutcome::Contradicts);
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
        let reason = RepetitionReason::ConfirmedAgain;
        assert_eq!(compared(&wide, &wide).reason, reason, "the confirmed value is the same");
        let apart = Capacity { sustained: Some(900.0), fails: Some(950.0), ..second.clone() };
        assert_eq!(repeated(&wide, &apart), RepetitionOutcome::Contradicts);
        // The intervals overlap, and one search confirmed half of the other's value.
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
        assert_eq!(repeated(&regular, &near), RepetitionOutcome::Holds, "790 was confirmed");
        assert_eq!(repeated(&near, &regular), RepetitionOutcome::Undecided, "760 is less");
    }

    /// The two searches of `experiments/capacity/select.ini` on 29 November 2026.
    #[test]
    fn value_confirmed_again_holds_without_a_located_boundary() {
        let search = |sustained, fails| Capacity {
            sustained: Some(sustained),
            fails: Some(fails),
            boundary: Boundary::NotReached,
            ..without(Irregular::NotLocated { low: sustained, high: fails }, None)
        };
        let (first, second) = (search(57_429.0, 79_883.0), search(62_369.0, 69_508.0));
        let outcome = |first: &Capacity, second: &Capacity| {
            let repetition = compared(first, second);
            (repetition.outcome(), repetition.reason)
        };
        let again = (RepetitionOutcome::Holds, RepetitionReason::ConfirmedAgain);
        assert_eq!(outcome(&first, &second), again);
        assert_eq!(outcome(&first, &search(56_400.0, 70_000.0)), again, "within 2 %");
        let undecided = (RepetitionOutcome::Undecided, RepetitionReason::NotLocated([true, true]));
        assert_eq!(outcome(&second, &first), undecided, "less was confirmed");
        assert_eq!(outcome(&first, &search(72_000.0, 95_000.0)), undecided, "a quarter more");
        let refuted = Capacity {
            irregular: vec![Irregular::HoldFailed { value: 57_000.0 }],
            ..second.clone()
        };
        assert_eq!(outcome(&first, &refuted).1, RepetitionReason::Refuted);
    }

    #[track_caller]
    fn check(
        (first, second): (&Capacity, &Capacity),
        findings: [SearchFinding; 2],
        reason: RepetitionReason,
    ) {
        assert_eq!(compared(first, second), CapacityRepetition { findings, reason });
        let findings = [findings[1], findings[0]];
        let reason = match reason {
            RepetitionReason::NotLocated([one, other]) => {
                RepetitionReason::NotLocated([other, one])
            }
            reason => reason,
        };
        assert_eq!(compared(second, first), CapacityRepetition { findings, reason });
    }

    fn cliff(low: f64, high: f64) -> Capacity {
        Capacity { boundary: Boundary::Cliff, estimate: None, ..found(low, low, high) }
    }

    #[test]
    fn compared_ranges_are_those_that_the_searches_print() {
        let range = |low, high| SearchFinding::Range(Interval { low, high });
        let estimate = |estimate, low, high| SearchFinding::Estimate {
            estimate,
            interval: Interval { low, high },
        };
        let (first, now) = (cliff(44_972.0, 52_908.0), cliff(56_623.0, 66_615.0));
        let findings = [range(44_972.0, 52_908.0), range(56_623.0, 66_615.0)];
        check((&first, &now), findings, RepetitionReason::Disjoint);
        let (one, other) = (found(770.0, 760.0, 780.0), found(775.0, 770.0, 790.0));
        let findings = [estimate(770.0, 760.0, 780.0), estimate(775.0, 770.0, 790.0)];
        check((&one, &other), findings, RepetitionReason::Overlap);
        // One search has no estimate.
        let findings = [range(760.0, 780.0), range(750.0, 770.0)];
        check((&one, &cliff(750.0, 770.0)), findings, RepetitionReason::Overlap);
        let findings = [range(760.0, 780.0), range(785.0, 800.0)];
        check((&one, &cliff(785.0, 800.0)), findings, RepetitionReason::OverlapWithinError);
        let findings = [range(760.0, 780.0), range(600.0, 800.0)];
        let reason = RepetitionReason::NotLocated([false, true]);
        check((&one, &cliff(600.0, 800.0)), findings, reason);
    }

    #[test]
    fn searches_without_two_ranges_are_compared_by_their_ends() {
        let range = SearchFinding::Range(Interval { low: 760.0, high: 780.0 });
        let regular = found(770.0, 760.0, 780.0);
        let never = without(Irregular::NeverFails { highest: 1_000.0 }, Some(900.0));
        let always = without(Irregular::AlwaysFails { lowest: 100.0 }, None);
        let (most, least) = (SearchFinding::AtLeast(900.0), SearchFinding::Below(100.0));
        check((&regular, &never), [range, most], RepetitionReason::PassesBeyond);
        check((&regular, &always), [range, least], RepetitionReason::AlwaysFails);
        check((&never, &never), [most, most], RepetitionReason::BothPass);
        check((&always, &always), [least, least], RepetitionReason::BothFail);
        let spent = || Irregular::BudgetSpent { phase: Phase::Bracket };
        let nothing = SearchFinding::Nothing;
        check((&regular, &without(spent(), None)), [range, nothing], RepetitionReason::NoBoundary);
        let failing = Capacity { fails: Some(780.0), ..without(spent(), None) };
        let below = SearchFinding::Below(780.0);
        check((&failing, &never), [below, most], RepetitionReason::PassesBeyond);
        let unheld = without(Irregular::HoldFailed { value: 760.0 }, None);
        let failed = SearchFinding::HoldFailed(760.0);
        check((&regular, &unheld), [range, failed], RepetitionReason::Refuted);
        let unmet = without(Irregular::Unmet { condition: 1 }, Some(760.0));
        let unmet = Capacity { fails: Some(780.0), ..unmet };
        check((&regular, &unmet), [range, SearchFinding::Unmet(1)], RepetitionReason::Refuted);
    }
}
