//! Results as test cases, for CI systems.
//!
//! A stated condition that was not met is a failure. Measurements that cannot be believed, or that
//! do not exist, are an error. An assertion that could not be decided is skipped.

use analyze::Status;

use crate::page::{CheckRow, JobSection, Page, Remark, slo_with_number};

/// The test cases of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestSuite {
    /// Name of the suite: the question, or the workload.
    pub name: String,
    /// The cases.
    pub cases: Vec<TestCase>,
}

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Kind of the assertion that is tested.
    pub group: TestGroup,
    /// Name of the case.
    pub name: String,
    /// The result.
    pub result: TestResult,
    /// Finding in words; may be empty.
    pub text: String,
}

/// The kind of a test case, by the assertion that it tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestGroup {
    /// The measurement was made as intended, and is credible.
    Validity,
    /// A declared metric was compared.
    Comparison,
    /// A bet on a change held.
    Bet,
    /// An SLO of a job was met.
    Slo,
    /// A limit for regressions was respected.
    Regression,
    /// A repetition confirmed the first answer.
    Repetition,
}

/// The result of a test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestResult {
    /// The assertion is true.
    Passed,
    /// The assertion is false.
    Failure,
    /// The measurement is INVALID or missing.
    Error,
    /// The assertion was not decided.
    Skipped,
}

impl TestGroup {
    /// Returns the name of this kind of test case in documents.
    pub fn name(self) -> &'static str {
        match self {
            TestGroup::Validity => "validity",
            TestGroup::Comparison => "comparison",
            TestGroup::Bet => "bet",
            TestGroup::Slo => "slo",
            TestGroup::Regression => "regression",
            TestGroup::Repetition => "repetition",
        }
    }
}

impl TestResult {
    /// Returns the result of a check. A check that is SUSPECT is an error if `is_strict`.
    pub fn of_status(status: Status, is_strict: bool) -> TestResult {
        match status {
            Status::Invalid => TestResult::Error,
            Status::Suspect if is_strict => TestResult::Error,
            Status::Suspect | Status::Pass => TestResult::Passed,
            Status::NotPossible => TestResult::Skipped,
        }
    }
}

impl TestSuite {
    /// Returns the test cases of a single run: one for its end, then its checks and its SLOs. A
    /// check that is SUSPECT is an error if `is_strict`.
    pub fn of_page(page: &Page, is_strict: bool) -> TestSuite {
        let mut cases = vec![case_of_end(page)];
        cases.extend(page.verdict.checks.iter().map(|check| of_check(check, is_strict)));
        cases.extend(page.jobs.iter().flat_map(of_job));
        TestSuite { name: page.run.about.workload.clone(), cases }
    }

    /// Returns the number of cases with a result.
    pub fn count(&self, result: TestResult) -> usize {
        self.cases.iter().filter(|case| case.result == result).count()
    }
}

fn case_of_end(page: &Page) -> TestCase {
    let (result, text) = match &page.headline.ending {
        None => (TestResult::Passed, String::new()),
        Some(Remark::Sentence { lead, rest, .. }) => (TestResult::Error, format!("{lead}{rest}")),
        Some(Remark::Note(text)) => (TestResult::Error, text.clone()),
    };
    TestCase { group: TestGroup::Validity, name: "the run was completed".to_owned(), result, text }
}

fn of_check(check: &CheckRow, is_strict: bool) -> TestCase {
    TestCase {
        group: TestGroup::Validity,
        name: check.name.to_owned(),
        result: TestResult::of_status(check.status, is_strict),
        text: check.sentence.clone(),
    }
}

fn of_job(job: &JobSection) -> impl Iterator<Item = TestCase> + '_ {
    let job = &job.summary;
    job.slos.iter().map(|slo| TestCase {
        group: TestGroup::Slo,
        name: format!("{}: {}", job.name, slo.text),
        result: if slo.met { TestResult::Passed } else { TestResult::Failure },
        text: slo_with_number(job, slo),
    })
}
