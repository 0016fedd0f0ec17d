//! The answer of an experiment as test cases.

use analyze::Status;
use analyze::compare::{ArmComparison, BetOutcome, Conclusion, MetricChange, RepetitionOutcome};

use super::bets::{self, JudgedBet};
use super::capacity::CapacityView;
use super::lines;
use super::repetition::RepetitionView;
use super::saturation::SaturationView;
use super::sweep::SweepView;
use super::view::{ArmView, DifferenceView, ExperimentState, ExperimentView};
use crate::cases::{TestCase, TestGroup, TestResult, TestSuite};

impl TestSuite {
    /// Returns the test cases of an experiment: its validity, its comparisons, bets and SLOs, and
    /// its repetition. A check that is SUSPECT is an error if `is_strict`.
    pub fn of_experiment(view: &ExperimentView, is_strict: bool) -> TestSuite {
        let mut cases = vec![case_of_answer(view)];
        cases.extend(view.saturation.iter().map(case_of_saturation));
        match (&view.capacity, &view.sweep) {
            (Some(search), _) => cases.push(case_of_trials(search, is_strict)),
            (None, Some(sweep)) => cases.extend(cases_of_points(view, sweep, is_strict)),
            (None, None) => {
                cases.extend(view.arms.iter().map(|arm| case_of_validity(arm, is_strict)));
            }
        }
        let differences = [&view.undeclared, &view.differences].map(Vec::as_slice);
        let several = view.has_several_differences;
        cases.push(case_of_undeclared(&view.arms, differences, several, is_strict));
        cases.push(case_of_machine(view.machine_status(), &lines::machine(view), is_strict));
        let changes = view.declared_changes();
        cases.extend(changes.map(|(arm, change)| case_of_change(view, arm, change)));
        if view.state == ExperimentState::Complete {
            cases.extend(bets::judged_bets(view).map(|bet| case_of_bet(&bet)));
        }
        match &view.capacity {
            Some(search) => cases.push(case_of_capacity(view, search)),
            None => cases.extend(view.arms.iter().flat_map(cases_of_slos)),
        }
        cases.extend(view.repetition.iter().flat_map(cases_of_repetition));
        TestSuite { name: view.question.clone(), cases }
    }
}

fn case_of_answer(view: &ExperimentView) -> TestCase {
    let (result, text) = match view.state {
        ExperimentState::Complete => (TestResult::Passed, String::new()),
        ExperimentState::Interrupted
        | ExperimentState::InstrumentFailed
        | ExperimentState::NotInEffect
        | ExperimentState::NotObserved => {
            (TestResult::Error, lines::answers(view, &view.record).join(". "))
        }
    };
    let name = "the experiment was completed".to_owned();
    TestCase { group: TestGroup::Validity, name, result, text }
}

/// Returns the test case of a search for saturation: it passes if the search found a load.
fn case_of_saturation(search: &SaturationView) -> TestCase {
    let sentence = search.sentence();
    TestCase {
        group: TestGroup::Validity,
        name: format!("load of the arms: {}", search.goal()),
        result: if sentence.is_some() { TestResult::Passed } else { TestResult::Error },
        text: sentence.or(search.failure()).or(search.progress()).unwrap_or_default(),
    }
}

/// Returns the test cases about the validity of the points of each arm.
fn cases_of_points<'v>(
    view: &'v ExperimentView,
    sweep: &'v SweepView,
    is_strict: bool,
) -> impl Iterator<Item = TestCase> + use<'v> {
    view.arms.iter().zip(&sweep.curves).map(move |(arm, curve)| TestCase {
        group: TestGroup::Validity,
        name: format!("points of {}", arm.name),
        result: TestResult::of_status(curve.status(), is_strict),
        text: lines::counts(arm),
    })
}

/// Returns the test case about the validity of an arm's runs.
pub(super) fn case_of_validity(arm: &ArmView, is_strict: bool) -> TestCase {
    TestCase {
        group: TestGroup::Validity,
        name: format!("runs of {}", arm.name),
        result: TestResult::of_status(arm.validity.status(), is_strict),
        text: lines::counts(arm),
    }
}

/// Returns the test case that passes if the arms differ only in what was declared. Its text also
/// lists the differences that may follow from a declared one.
pub(super) fn case_of_undeclared(
    arms: &[ArmView],
    [undeclared, others]: [&[DifferenceView]; 2],
    has_several: bool,
    is_strict: bool,
) -> TestCase {
    let status = if undeclared.is_empty() { Status::Pass } else { Status::Suspect };
    let several = has_several.then(|| lines::SEVERAL_DIFFERENCES.to_owned());
    let found = undeclared.iter().map(|one| lines::undeclared(arms, one));
    let others = others.iter().map(|one| format!("differs: {}", lines::difference(arms, one)));
    TestCase {
        group: TestGroup::Validity,
        name: "the arms differ only in what was declared".to_owned(),
        result: TestResult::of_status(status, is_strict),
        text: several.into_iter().chain(found).chain(others).collect::<Vec<String>>().join("; "),
    }
}

/// Returns the test case that passes if the machine did not change between the arms.
pub(super) fn case_of_machine(status: Status, sentences: &[String], is_strict: bool) -> TestCase {
    TestCase {
        group: TestGroup::Validity,
        name: "the machine was the same for all arms".to_owned(),
        result: TestResult::of_status(status, is_strict),
        text: sentences.join("; "),
    }
}

fn case_of_change(view: &ExperimentView, arm: &ArmComparison, change: &MetricChange) -> TestCase {
    let name = format!("{}: {}", view.arms[arm.arm.index()].name, change.metric);
    let (result, text) = (compared_result(change), view.sentence(arm, change));
    TestCase { group: TestGroup::Comparison, name, result, text }
}

/// Returns the result of a declared metric: an error if it was not compared, or if a single run
/// allows no conclusion. Any other conclusion passes, even `worse`: bets and SLOs judge the change.
pub(super) fn compared_result(change: &MetricChange) -> TestResult {
    match change.compared.as_ref().map(|compared| compared.conclusion) {
        Ok(
            Conclusion::Better
            | Conclusion::Worse
            | Conclusion::Equivalent
            | Conclusion::Undecided { .. }
            | Conclusion::NoScatter,
        ) => TestResult::Passed,
        Ok(Conclusion::SingleRun) | Err(_) => TestResult::Error,
    }
}

fn case_of_bet(one: &JudgedBet<'_>) -> TestCase {
    TestCase {
        group: TestGroup::Bet,
        name: format!("{}: {}", one.subject(), one.bet),
        result: match one.outcome {
            Some(BetOutcome::Held) => TestResult::Passed,
            Some(BetOutcome::Failed) => TestResult::Failure,
            Some(BetOutcome::Undecided { .. }) | None => TestResult::Skipped,
        },
        text: one.sentence(),
    }
}

/// Returns the test cases of a repetition: for its metrics, best points and search.
pub(super) fn cases_of_repetition(view: &RepetitionView) -> impl Iterator<Item = TestCase> + '_ {
    let of_metrics = view.metrics.iter().map(|metric| TestCase {
        group: TestGroup::Repetition,
        name: format!("{}: {}", metric.arm, metric.metric),
        result: repeated_result(metric.outcome(), metric.is_missing()),
        text: metric.line(view.alpha),
    });
    let of_search = view.capacity.iter().map(|it| TestCase {
        group: TestGroup::Repetition,
        name: "capacity".to_owned(),
        result: repeated_result(it.outcome, false),
        text: it.line(),
    });
    let of_best = view.best.iter().map(|it| TestCase {
        group: TestGroup::Repetition,
        name: match it.arm.is_empty() {
            true => "best point".to_owned(),
            false => format!("{}: best point", it.arm),
        },
        result: repeated_result(it.outcome, false),
        text: it.line(),
    });
    of_metrics.chain(of_best).chain(of_search)
}

fn repeated_result(outcome: RepetitionOutcome, is_missing: bool) -> TestResult {
    match outcome {
        RepetitionOutcome::Holds => TestResult::Passed,
        RepetitionOutcome::Contradicts => TestResult::Failure,
        RepetitionOutcome::Undecided if is_missing => TestResult::Error,
        RepetitionOutcome::Undecided => TestResult::Skipped,
    }
}

/// Returns the test case about the validity of a search.
fn case_of_trials(search: &CapacityView, is_strict: bool) -> TestCase {
    TestCase {
        group: TestGroup::Validity,
        name: "trials of the search".to_owned(),
        result: TestResult::of_status(search.verdict(), is_strict),
        text: search.counts(),
    }
}

/// Returns the test case that passes if a search has confirmed a value. It is a failure if the
/// conditions were missed, and an error if no value was confirmed for another reason.
fn case_of_capacity(view: &ExperimentView, search: &CapacityView) -> TestCase {
    let is_sustained = search.found.as_ref().is_some_and(|found| found.sustained.is_some());
    TestCase {
        group: TestGroup::Slo,
        name: search.goal(),
        result: match is_sustained {
            _ if search.misses_conditions() => TestResult::Failure,
            true => TestResult::Passed,
            false => TestResult::Error,
        },
        text: lines::answers(view, &view.record).join(". "),
    }
}

fn cases_of_slos(arm: &ArmView) -> impl Iterator<Item = TestCase> + '_ {
    arm.slos.iter().map(|slo| TestCase {
        group: TestGroup::Slo,
        name: format!("{}: {} {}", arm.name, slo.job, slo.text),
        result: if slo.missed == 0 { TestResult::Passed } else { TestResult::Failure },
        text: lines::slo_outcome(slo),
    })
}

#[cfg(test)]
mod tests {
    use analyze::saturate::{NextSaturationStep, SaturationKind};
    use workload::question::Saturated;

    use super::super::fixtures::{experiment, search, text_of};
    use super::super::{experiment_html, experiment_markdown};
    use super::*;

    /// Returns an experiment that was interrupted after this number of steps.
    fn interrupted(steps: usize) -> ExperimentView {
        let search = search(Saturated::Gain { least: 0.02 }, SaturationKind::Reached, 0.4);
        let next = NextSaturationStep::Run { step: steps, value: 32.0, attempt: 0 };
        let made = search.steps[..steps].to_vec();
        ExperimentView {
            state: ExperimentState::Interrupted,
            saturation: Some(SaturationView { steps: made, next, ..search }),
            ..experiment()
        }
    }

    #[track_caller]
    fn check(view: &ExperimentView, words: &str, has_steps: bool) {
        let suite = TestSuite::of_experiment(view, false);
        let case = suite.cases.iter().find(|case| case.name.starts_with("load of the arms"));
        let case = case.expect("the case of the load");
        assert_eq!((case.result, case.text.as_str()), (TestResult::Error, words));
        let text = text_of(view);
        let answer =
            format!("No answer: the experiment was interrupted; {words}. --resume continues it\n");
        assert!(text.starts_with(&answer), "{text}");
        assert_eq!(text.contains("\nsteps of [saturate] on `plain`\n"), has_steps, "{text}");
        let markdown = experiment_markdown(view);
        assert!(markdown.contains(words), "{markdown}");
        assert_eq!(markdown.contains("steps: "), has_steps, "{markdown}");
        let page = experiment_html(view);
        assert!(page.contains(words), "{page}");
        assert_eq!(page.contains("Steps of the search for saturation"), has_steps, "{page}");
    }

    #[test]
    fn unfinished_load_search_counts_its_steps() {
        check(&interrupted(0), "the load is not found yet: 0 steps were made", false);
        check(&interrupted(1), "the load is not found yet: 1 step was made", true);
        check(&interrupted(2), "the load is not found yet: 2 steps were made", true);
    }

    #[test]
    fn repeated_step_is_not_made() {
        let mut view = interrupted(2);
        view.saturation.as_mut().unwrap().steps[1].state = "repeated";
        check(&view, "the load is not found yet: 1 step was made", true);
    }
}
