//! The answer of a comparison as test cases.

use analyze::Status;
use analyze::compare::{JudgedLimit, RegressionOutcome};

use super::comparison::{ComparisonView, ObjectionView};
use super::comparison_text::limit;
use super::view::ArmView;
use super::{lines, objection, sentence};
use crate::cases::{TestCase, TestGroup, TestResult, TestSuite};

impl TestSuite {
    /// Returns the test cases of a comparison: the validity of its groups, objections, metrics and
    /// limits.
    pub fn of_comparison(view: &ComparisonView, is_strict: bool) -> TestSuite {
        let mut cases: Vec<TestCase> =
            view.groups.iter().map(|group| validity(group, is_strict)).collect();
        cases.extend(view.objections.iter().map(|one| objected(view, one, is_strict)));
        cases.extend(changes(view));
        cases.extend(view.limits.iter().map(|one| regression(view, one)));
        TestSuite { name: "comparison".to_owned(), cases }
    }
}

fn validity(group: &ArmView, is_strict: bool) -> TestCase {
    TestCase {
        group: TestGroup::Validity,
        name: format!("runs of {}", group.name),
        result: TestResult::of_status(group.validity.status(), is_strict),
        text: lines::counts(group),
    }
}

fn objected(view: &ComparisonView, one: &ObjectionView, is_strict: bool) -> TestCase {
    let group = &view.groups[one.objection.group].name;
    let status = if one.is_accepted { Status::Suspect } else { Status::Invalid };
    TestCase {
        group: TestGroup::Validity,
        name: format!("{group}: {}", one.objection.kind().name()),
        result: TestResult::of_status(status, is_strict),
        text: objection::reason(&one.objection, group),
    }
}

fn changes(view: &ComparisonView) -> impl Iterator<Item = TestCase> + '_ {
    view.arms().flat_map(move |arm| {
        let declared = arm.changes.iter().filter(|change| !change.is_exploratory);
        declared.map(move |change| {
            let [baseline, name] = [arm.baseline, arm.arm].map(|of| &view.groups[of].name);
            let has_interval =
                change.compared.as_ref().is_ok_and(|compared| compared.interval.is_some());
            TestCase {
                group: TestGroup::Comparison,
                name: format!("{name}: {}", change.metric),
                result: if has_interval { TestResult::Passed } else { TestResult::Error },
                text: sentence::answer(name, baseline, change, arm.alpha),
            }
        })
    })
}

fn regression(view: &ComparisonView, one: &JudgedLimit) -> TestCase {
    let name = view.arms().nth(one.place).map_or("", |arm| &view.groups[arm.arm].name);
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
