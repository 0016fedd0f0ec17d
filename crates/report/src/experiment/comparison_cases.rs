//! The answer of a comparison as test cases.

use analyze::Status;
use analyze::compare::{ArmComparison, JudgedLimit, MetricChange, RegressionOutcome};

use super::comparison::{ComparisonView, ObjectionView};
use super::comparison_text::limit;
use super::repetition::RepetitionView;
use super::{cases, objection, sentence};
use crate::cases::{TestCase, TestGroup, TestResult, TestSuite};

impl TestSuite {
    /// Returns the test cases of a comparison: the validity of its groups and, for arms of one
    /// experiment, their differences and the machine; then objections, metrics, repetitions and
    /// limits. A check that is SUSPECT is an error if `is_strict`.
    pub fn of_comparison(view: &ComparisonView, is_strict: bool) -> TestSuite {
        let groups = view.groups.iter();
        let mut cases: Vec<TestCase> =
            groups.map(|group| cases::case_of_validity(group, is_strict)).collect();
        if view.has_arms() {
            let differences = [&view.undeclared, &view.differences].map(Vec::as_slice);
            let several = view.has_several_differences;
            cases.push(cases::case_of_undeclared(&view.groups, differences, several, is_strict));
            let machine_lines = view.machine_lines();
            cases.push(cases::case_of_machine(view.machine_status(), &machine_lines, is_strict));
        }
        cases.extend(view.objections.iter().map(|one| case_of_objection(view, one, is_strict)));
        let changes = view.declared_changes();
        cases.extend(changes.map(|(arm, change)| case_of_change(view, arm, change)));
        cases.extend(view.repetitions.iter().flat_map(repetition_cases_of_record));
        cases.extend(view.limits.iter().map(|one| case_of_limit(view, one)));
        TestSuite { name: "comparison".to_owned(), cases }
    }
}

fn case_of_objection(view: &ComparisonView, one: &ObjectionView, is_strict: bool) -> TestCase {
    let group = &view.groups[one.objection.group].name;
    let status = if one.is_accepted { Status::Suspect } else { Status::Invalid };
    TestCase {
        group: TestGroup::Validity,
        name: format!("{group}: {}", one.objection.kind().name()),
        result: TestResult::of_status(status, is_strict),
        text: objection::reason(&one.objection, group),
    }
}

fn case_of_change(view: &ComparisonView, arm: &ArmComparison, change: &MetricChange) -> TestCase {
    let [baseline, name] = [arm.baseline, arm.arm].map(|of| &view.groups[of.index()].name);
    TestCase {
        group: TestGroup::Comparison,
        name: format!("{name}: {}", change.metric),
        result: cases::compared_result(change),
        text: sentence::answer(name, baseline, change),
    }
}

/// Returns the cases of a repetition. Their names begin with the name of its record.
fn repetition_cases_of_record(
    (record, view): &(String, RepetitionView),
) -> impl Iterator<Item = TestCase> + '_ {
    let cases = cases::cases_of_repetition(view);
    cases.map(move |case| TestCase { name: format!("{record}: {}", case.name), ..case })
}

fn case_of_limit(view: &ComparisonView, one: &JudgedLimit) -> TestCase {
    let name = &view.groups[one.arm.index()].name;
    TestCase {
        group: TestGroup::Regression,
        name: format!("{name}: {}", one.limit),
        result: match one.outcome {
            Ok(RegressionOutcome::Within) => TestResult::Passed,
            Ok(RegressionOutcome::Exceeded) => TestResult::Failure,
            Ok(RegressionOutcome::Undecided) => TestResult::Skipped,
            Err(_) => TestResult::Error,
        },
        text: limit(view, one),
    }
}
