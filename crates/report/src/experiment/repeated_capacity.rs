//! The comparison of a capacity search with the search that it repeats, in words.

use analyze::capacity::{CapacityRepetition, RepetitionReason, SEARCH_ERROR, SearchFinding};
use analyze::compare::RepetitionOutcome;

use super::capacity::CapacityView;
use crate::number::{self, NONE};

/// The results of a capacity search and of its repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedCapacity {
    /// The estimate, range or failure that the first search found, in words.
    pub first: String,
    /// The estimate, range or failure that the repetition found, in words.
    pub second: String,
    /// Both findings as numbers, and the reason for the outcome.
    pub repetition: CapacityRepetition,
    /// The outcome. If the workloads differ or the runs are the same, it is weaker than the reason
    /// alone would imply.
    pub outcome: RepetitionOutcome,
}

impl RepeatedCapacity {
    /// Creates the comparison of two searches.
    pub(super) fn new(
        [first, second]: [&CapacityView; 2],
        repetition: CapacityRepetition,
    ) -> RepeatedCapacity {
        let [of_first, of_second] = repetition.findings;
        RepeatedCapacity {
            first: in_words(first, of_first),
            second: in_words(second, of_second),
            outcome: repetition.outcome(),
            repetition,
        }
    }

    /// Returns the line with the findings of both searches, the outcome and its reason.
    pub(super) fn line(&self) -> String {
        let RepeatedCapacity { first, second, outcome, .. } = self;
        let (outcome, reason) = (outcome.name(), self.reason());
        format!("capacity: first {first}, now {second}: {outcome}; {reason}")
    }

    /// Returns the reason for the outcome.
    fn reason(&self) -> String {
        let ranges = match self.repetition.findings[0] {
            SearchFinding::Estimate { .. } => "the intervals of the estimates",
            _ => "the ranges from the confirmed value to the one that fails",
        };
        match self.repetition.reason {
            RepetitionReason::Overlap => format!("{ranges} overlap"),
            RepetitionReason::OverlapWithinError => {
                let error = number::percent(SEARCH_ERROR);
                format!("{ranges} overlap if each is widened by {error}, the error of a search")
            }
            RepetitionReason::NotLocated(searches) => {
                let too_wide = match searches {
                    [true, true] => "neither locates",
                    [true, false] => "the first does not locate",
                    [false, _] => "the second does not locate",
                };
                format!("{ranges} overlap, but {too_wide} the boundary")
            }
            RepetitionReason::Disjoint => format!("{ranges} do not overlap"),
            RepetitionReason::Refuted => {
                "the value that one search confirmed did not hold in the other".to_owned()
            }
            RepetitionReason::PassesBeyond => {
                "one search confirmed more than the value that fails in the other".to_owned()
            }
            RepetitionReason::AlwaysFails => {
                "one search confirmed a value, and every value failed in the other".to_owned()
            }
            RepetitionReason::ConfirmedAgain => {
                "the value that the first confirmed was confirmed again".to_owned()
            }
            RepetitionReason::BothPass => "no value failed in either search".to_owned(),
            RepetitionReason::BothFail => "every value failed in both searches".to_owned(),
            RepetitionReason::NoBoundary => "not both searches found the boundary".to_owned(),
        }
    }
}

/// Returns the finding of a search in words: `44,972–52,908/s`, `at least 16 clients`.
fn in_words(view: &CapacityView, finding: SearchFinding) -> String {
    let value = |value: f64| view.value(value);
    match finding {
        SearchFinding::Estimate { .. } => view.estimate(),
        SearchFinding::Range(range) => number::range(&value(range.low), &value(range.high)),
        SearchFinding::AtLeast(least) => format!("at least {}", value(least)),
        SearchFinding::Below(fails) => format!("below {}", value(fails)),
        SearchFinding::HoldFailed(failed) => format!("{} did not hold", value(failed)),
        SearchFinding::Unmet(position) => {
            let condition = view.order.conditions.get(position);
            let condition = condition.map_or_else(|| NONE.to_owned(), ToString::to_string);
            format!("{condition} does not hold")
        }
        SearchFinding::Nothing => "no result".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use analyze::capacity::{Boundary, Capacity, Interval, Irregular, RepetitionReason};

    use super::super::capacity::tests::search;
    use super::super::fixtures::{experiment, text_of};
    use super::super::repetition::RepetitionView;
    use super::super::view::ExperimentView;
    use super::super::{experiment_html, experiment_json, experiment_markdown, experiment_text};
    use super::*;
    use crate::text::Style;

    /// Returns a search without an estimate. The search confirmed `low` and failed at `high`.
    fn range(low: Option<f64>, high: Option<f64>, irregular: Vec<Irregular>) -> CapacityView {
        let view = search();
        let found = Capacity {
            sustained: low,
            fails: high,
            estimate: None,
            interval: None,
            boundary: Boundary::NotReached,
            irregular,
            ..view.found.unwrap()
        };
        CapacityView { found: Some(found), ..view }
    }

    fn with(search: CapacityView) -> ExperimentView {
        ExperimentView { capacity: Some(search), ..experiment() }
    }

    fn repeated(first: CapacityView, second: CapacityView) -> ExperimentView {
        let (first, second) = (with(first), with(second));
        let repetition = RepetitionView::of(&first, &second, |_| 0.01);
        ExperimentView { repetition: Some(repetition), ..second }
    }

    /// Returns an experiment that repeats a search and contradicts its answer. Such searches were
    /// made on 29 November 2026.
    fn contradicted() -> ExperimentView {
        let first = range(Some(44_972.0), Some(52_908.0), Vec::new());
        repeated(first, range(Some(56_623.0), Some(66_615.0), Vec::new()))
    }

    #[test]
    fn all_forms_say_which_ranges_contradict_each_other() {
        let view = contradicted();
        let line = "capacity: first 44,972–52,908/s, now 56,623–66,615/s: contradicts; the ranges \
                    from the confirmed value to the one that fails do not overlap";
        assert!(text_of(&view).contains(&format!("\n  {line}\n")), "{}", text_of(&view));
        let short = experiment_text(&view, &Style { color: false, width: usize::MAX });
        let page = experiment_html(&view).replace('\u{a0}', " ");
        for form in [&short, &page, &experiment_markdown(&view)] {
            assert!(form.contains(line), "{form}");
        }
    }

    #[test]
    fn document_has_the_compared_ranges_as_numbers() {
        let capacity = experiment_json(&contradicted())["repetition"]["capacity"].clone();
        let expected = serde_json::json!({
            "first": "44,972–52,908/s",
            "now": "56,623–66,615/s",
            "outcome": "contradicts",
            "reason": "disjoint",
            "compared": [
                { "kind": "range", "estimate": null, "low": 44_972.0, "high": 52_908.0 },
                { "kind": "range", "estimate": null, "low": 56_623.0, "high": 66_615.0 },
            ],
        });
        assert_eq!(capacity, expected);
    }

    #[track_caller]
    fn check(first: CapacityView, second: CapacityView, expected: &str) {
        let view = repeated(first, second);
        let lines = view.repetition.unwrap().lines();
        assert_eq!(lines, [format!("capacity: {expected}")]);
    }

    #[test]
    fn intervals_of_estimates_are_compared_where_both_are_known() {
        let mut second = search();
        let found = second.found.as_mut().unwrap();
        (found.estimate, found.interval) =
            (Some(790.0), Some(Interval { low: 779.0, high: 800.0 }));
        let words = "first 770/s (95 % interval of the search 755–785/s), now 790/s (95 % interval \
                     of the search 779–800/s): holds; the intervals of the estimates overlap";
        check(search(), second, words);
    }

    #[test]
    fn each_reason_is_a_clause() {
        let regular = || range(Some(760.0), Some(780.0), Vec::new());
        let near = range(Some(785.0), Some(800.0), Vec::new());
        let words = "first 760–780/s, now 785–800/s: holds; the ranges from the confirmed value to \
                     the one that fails overlap if each is widened by 2 %, the error of a search";
        check(regular(), near, words);
        let wide = || range(Some(500.0), Some(800.0), Vec::new());
        let overlap = |searches: &str, which: &str| {
            format!(
                "{searches}: undecided; the ranges from the confirmed value to the one that fails \
                 overlap, but {which} the boundary"
            )
        };
        let words = overlap("first 760–780/s, now 500–800/s", "the second does not locate");
        check(regular(), wide(), &words);
        let words = overlap("first 500–800/s, now 760–780/s", "the first does not locate");
        check(wide(), regular(), &words);
        let wider = range(Some(480.0), Some(800.0), Vec::new());
        check(wide(), wider, &overlap("first 500–800/s, now 480–800/s", "neither locates"));
        let words = "first 500–800/s, now 500–800/s: holds; the value that the first confirmed was \
                     confirmed again";
        check(wide(), wide(), words);
        let never = || {
            let why = Irregular::NeverFails { highest: 900.0 };
            range(Some(900.0), None, vec![why])
        };
        let always = || {
            let why = Irregular::AlwaysFails { lowest: 100.0 };
            range(None, Some(100.0), vec![why])
        };
        let words = "first at least 900/s, now 760–780/s: contradicts; one search confirmed more \
                     than the value that fails in the other";
        check(never(), regular(), words);
        let words = "first below 100/s, now 760–780/s: contradicts; one search confirmed a value, \
                     and every value failed in the other";
        check(always(), regular(), words);
        let words = "first at least 900/s, now at least 900/s: holds; no value failed in either \
                     search";
        check(never(), never(), words);
        let words =
            "first below 100/s, now below 100/s: holds; every value failed in both searches";
        check(always(), always(), words);
        let words = "first no result, now 760–780/s: undecided; not both searches found the \
                     boundary";
        check(range(None, None, Vec::new()), regular(), words);
        let failed = range(None, None, vec![Irregular::HoldFailed { value: 760.0 }]);
        let words = "first 760–780/s, now 760/s did not hold: contradicts; the value that one \
                     search confirmed did not hold in the other";
        check(regular(), failed, words);
        let unmet = range(Some(760.0), None, vec![Irregular::Unmet { condition: 0 }]);
        let words = "first p99(read) < 20ms does not hold, now 760–780/s: contradicts; the value \
                     that one search confirmed did not hold in the other";
        check(unmet, regular(), words);
    }

    #[test]
    fn search_of_another_workload_keeps_its_ranges_and_does_not_contradict() {
        let repetition = contradicted().repetition.unwrap().with_different_workload([None, None]);
        let line = repetition.lines().pop().unwrap();
        let words = "capacity: first 44,972–52,908/s, now 56,623–66,615/s: undecided; ";
        assert!(line.starts_with(words), "{line}");
    }

    #[test]
    fn contract_of_the_document_has_every_reason() {
        use RepetitionReason::{
            AlwaysFails, BothFail, BothPass, ConfirmedAgain, Disjoint, NoBoundary, NotLocated,
            Overlap, OverlapWithinError, PassesBeyond, Refuted,
        };
        let schema = include_str!("../../../../schemas/experiment.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let place = "/properties/repetition/properties/capacity/properties/reason/enum";
        let allowed = schema.pointer(place).unwrap().as_array().unwrap();
        let reasons = [
            Overlap,
            OverlapWithinError,
            NotLocated([true; 2]),
            Disjoint,
            Refuted,
            PassesBeyond,
            AlwaysFails,
            ConfirmedAgain,
            BothPass,
            BothFail,
            NoBoundary,
        ];
        let allowed: Vec<&str> = allowed.iter().filter_map(|name| name.as_str()).collect();
        assert_eq!(allowed, reasons.map(RepetitionReason::name));
    }
}
