//! Remarks on the jobs of an experiment's runs: meaningless successes, and the errors by class and
//! code with the first text of each. They do not influence the verdict.

use std::cmp::Reverse;

use analyze::compare::{ArmId, RunFigures};
use analyze::{EmptySuccess, ErrorSummary};

use super::sentence;
use crate::number::count;
use crate::words;

/// Maximum number of kinds of errors in an answer; the JSON document has all kinds.
const MOST_ERRORS: usize = 8;

/// Remarks on the jobs of an experiment's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRemarks {
    /// Meaningless successes: jobs without a due request, and statements without a row.
    pub(super) warnings: Vec<JobRemark<EmptySuccess>>,
    /// Errors by class and code, the most frequent first.
    pub(super) errors: Vec<JobRemark<ErrorSummary>>,
}

/// A remark on a job of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobRemark<T> {
    /// The arm.
    pub(super) arm: ArmId,
    /// Name of the job, or of the part of a job.
    pub(super) job: String,
    /// Number of runs to which the remark applies.
    pub(super) runs: u64,
    /// The remark, summed over these runs.
    pub(super) fact: T,
}

impl JobRemarks {
    /// Returns the remarks on runs, each with its arm.
    pub fn of<'r>(runs: impl IntoIterator<Item = (ArmId, &'r RunFigures)>) -> JobRemarks {
        let mut remarks = JobRemarks::default();
        for (arm, figures) in runs {
            for (job, empty_success) in &figures.empty_success {
                let is_same = |known: &EmptySuccess| is_alike(known, empty_success);
                add(&mut remarks.warnings, (arm, job, empty_success), is_same, add_empty_success);
            }
            for (job, error) in &figures.errors {
                let is_same =
                    |known: &ErrorSummary| known.class == error.class && known.code == error.code;
                add(&mut remarks.errors, (arm, job, error), is_same, add_error);
            }
        }
        remarks.errors.sort_by_key(|error| Reverse(error.fact.count));
        remarks
    }

    /// Returns the warnings with their remedies; `arms` are the names of the arms.
    pub(super) fn warnings(&self, arms: &[&str]) -> Vec<String> {
        let line = |one: &JobRemark<EmptySuccess>| {
            let (text, remedy) = (words::warning(&one.fact), words::remedy_of_warning(&one.fact));
            let owner = one.owner(arms, sentence::name_as_code);
            format!("{owner} {text} ({}): {remedy}", count(one.runs, "run"))
        };
        self.warnings.iter().map(line).collect()
    }

    /// Returns the most frequent errors with the first text of each.
    pub(super) fn errors(&self, arms: &[&str]) -> Vec<String> {
        let line = |one: &JobRemark<ErrorSummary>| {
            let ErrorSummary { class, code, count: errors, text } = &one.fact;
            let (class, code) = (class.name(), code.to_string());
            let kind = if class == code { code } else { format!("{class} {code}") };
            let text = text.as_ref().map_or_else(String::new, |text| format!("; first: {text}"));
            // Pages show the line as a quotation, usually of the server's message, in which
            // backticks do not mark code.
            let (owner, errors) = (one.owner(arms, str::to_owned), count(*errors, "error"));
            format!("{owner} {errors} ({kind}) in {}{text}", count(one.runs, "run"))
        };
        let mut lines: Vec<String> = self.errors.iter().take(MOST_ERRORS).map(line).collect();
        if let Some(more) = self.errors.len().checked_sub(MOST_ERRORS).filter(|more| *more > 0) {
            lines.push(format!("{} more in the document of --json", count(more as u64, "code")));
        }
        lines
    }
}

impl<T> JobRemark<T> {
    /// Names the job, and its arm if there are several: `tls [read]`.
    fn owner(&self, arms: &[&str], named: fn(&str) -> String) -> String {
        match arms {
            [_] => format!("[{}]", self.job),
            _ => format!("{} [{}]", named(arms[self.arm.index()]), self.job),
        }
    }
}

/// Adds a fact about a job of an arm to the remark on the same fact, or as a new remark.
fn add<T: Clone>(
    all: &mut Vec<JobRemark<T>>,
    (arm, job, fact): (ArmId, &String, &T),
    is_same: impl Fn(&T) -> bool,
    add: impl Fn(&mut T, &T),
) {
    let mut known = all.iter_mut();
    match known.find(|one| one.arm == arm && one.job == *job && is_same(&one.fact)) {
        Some(known) => {
            known.runs = known.runs.saturating_add(1);
            add(&mut known.fact, fact);
        }
        None => all.push(JobRemark { arm, job: job.clone(), runs: 1, fact: fact.clone() }),
    }
}

/// Returns true for two warnings of one kind about the same statements.
fn is_alike(known: &EmptySuccess, other: &EmptySuccess) -> bool {
    known.name() == other.name() && known.statement_numbers() == other.statement_numbers()
}

fn add_empty_success(known: &mut EmptySuccess, other: &EmptySuccess) {
    match (known, other) {
        (EmptySuccess::NoRows { answers, .. }, EmptySuccess::NoRows { answers: more, .. }) => {
            *answers = answers.saturating_add(*more);
        }
        (EmptySuccess::NothingDue { .. } | EmptySuccess::NoRows { .. }, _) => {}
    }
}

fn add_error(known: &mut ErrorSummary, other: &ErrorSummary) {
    known.count = known.count.saturating_add(other.count);
    known.text = known.text.take().or_else(|| other.text.clone());
}

#[cfg(test)]
mod tests {
    use analyze::Component;
    use analyze::compare::RunVerdict;
    use base::{Class, Code};

    use super::super::fixtures::{experiment, text_of};
    use super::*;

    fn figures(answers: u64, errors: &[(&'static str, u64, Option<&str>)]) -> RunFigures {
        let error = |(code, count, text): &(&'static str, u64, Option<&str>)| {
            let text = text.map(str::to_owned);
            let (class, code) = (Class::Constraint, Code::new(code));
            ("read".to_owned(), ErrorSummary { class, code, count: *count, text })
        };
        RunFigures {
            verdict: RunVerdict::new([]),
            jobs: vec!["read".to_owned()],
            metrics: Vec::new(),
            missing: Vec::new(),
            carried: Vec::new(),
            rates: Vec::new(),
            cpu: Vec::new(),
            slos: Vec::new(),
            empty_success: vec![(
                "read".to_owned(),
                EmptySuccess::NoRows { answers, statements: Vec::new() },
            )],
            errors: errors.iter().map(error).collect(),
            limiter: Component::Unknown,
            limiter_finding: analyze::limiting::LimiterFinding::Satisfied,
            facts: Vec::new(),
        }
    }

    #[test]
    fn remarks_add_up_the_runs_of_an_arm() {
        let runs = [
            (ArmId(1), figures(10, &[("23505", 2, None)])),
            (ArmId(0), figures(7, &[])),
            (ArmId(1), figures(20, &[("23505", 3, Some("duplicate key")), ("23514", 9, None)])),
        ];
        let mut view = experiment();
        view.remarks = JobRemarks::of(runs.iter().map(|(arm, figures)| (*arm, figures)));
        let text = text_of(&view);
        let lines = "\nwarning    `tls` [read] had 30 answers, and no row was returned or changed \
                     (2 runs): compare its values with those in the table; if no rows are \
                     expected, write `expect-rows = 0`\n\
                     warning    `plain` [read] had 7 answers";
        assert!(text.contains(lines), "{text}");
        let lines = "\nerrors     tls [read] 9 errors (constraint 23514) in 1 run\n\
                     errors     tls [read] 5 errors (constraint 23505) in 2 runs; first: \
                     duplicate key\n";
        assert!(text.contains(lines), "{text}");
        view.arms.truncate(1);
        view.remarks = JobRemarks::of([(ArmId::BASELINE, &runs[0].1)]);
        assert!(text_of(&view).contains("\nwarning    [read] had 10 "), "{}", text_of(&view));
        assert!(!text_of(&experiment()).contains("warning"));
    }

    #[test]
    fn rare_errors_are_only_counted() {
        let codes = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"].map(|code| (code, 1, None));
        let remarks = JobRemarks::of([(ArmId::BASELINE, &figures(1, &codes))]);
        let lines = remarks.errors(&["plain", "tls"]);
        assert_eq!(lines.len(), MOST_ERRORS + 1);
        assert_eq!(lines[MOST_ERRORS], "2 codes more in the document of --json");
    }
}
