//! Successes of jobs that did nothing, and the first text of each error.

use analyze::{EmptySuccess, ErrorSummary, Evidence, summarize};
use base::{Class, Code, Nanos};
use record::{Event, EventError, EventKind};

use crate::support::{MIXED, OPEN, PER_S, event, nothing, steady};

const SECONDS: u64 = 60;

fn empty_success(evidence: &Evidence) -> Option<EmptySuccess> {
    summarize(evidence).jobs[0].empty_success
}

fn without_rows(workload: &str) -> Evidence {
    let mut evidence = steady(workload);
    evidence.jobs[0].steps.iter_mut().for_each(|step| step.ends.rows = 0);
    evidence
}

#[test]
fn job_whose_answers_never_had_a_row_is_reported() {
    let mut evidence = without_rows(OPEN);
    assert_eq!(empty_success(&evidence), Some(EmptySuccess::NoRows { answers: SECONDS * PER_S }));
    evidence.jobs[0].steps[3].ends.rows = 1;
    assert_eq!(empty_success(&evidence), None, "a row of the warm-up is one");
    assert_eq!(
        summarize(&without_rows(MIXED)).jobs[1].empty_success,
        None,
        "the other job has its rows"
    );
}

#[test]
fn expected_empty_answers_are_not_reported() {
    assert_eq!(empty_success(&without_rows(&format!("{OPEN}expect-rows = 0\n"))), None);
    let of = |statement| OPEN.replace("select 1", statement);
    assert_eq!(empty_success(&without_rows(&of("do sleep(1)"))), None);
    assert!(empty_success(&without_rows(&of("update t set v = 1 where id = 7"))).is_some());
}

#[test]
fn job_without_a_request_is_reported_with_its_first_due_time() {
    let slow = "duration = 60s\n[late]\nquery = select 1\nevery = 2m\nstart = 5s\n";
    let first = Some(Nanos::from_secs(125));
    assert_eq!(empty_success(&nothing(slow)), Some(EmptySuccess::NothingDue { first }));
    // The first request was due during the run, and something else prevented it.
    assert_eq!(empty_success(&nothing(OPEN)), Some(EmptySuccess::NothingDue { first: None }));
    assert_eq!(empty_success(&steady(OPEN)), None);
}

/// Returns the first error of a job with a code.
fn error(at_ms: u64, job: u16, code: Code, text: &str) -> Event {
    let error = Some(EventError { class: Class::Statement, code });
    Event { error, ..event(at_ms, Some(job), EventKind::FirstError, text) }
}

#[test]
fn each_code_has_the_text_of_its_first_error() {
    let mut evidence = steady(MIXED);
    let codes = ["22012", "23505", "42P01"].map(Code::new);
    evidence.jobs[0].failures = vec![
        (Class::Statement, codes[0], 3),
        (Class::Constraint, codes[1], 2),
        (Class::Statement, codes[2], 1),
        (Class::Disconnect, Code::DISCONNECT, 1),
    ];
    evidence.events = vec![
        error(9, 0, Code::new("22012"), "of another thread, later (22012)"),
        error(3, 0, Code::new("22012"), "division by zero (22012)"),
        error(1, 1, Code::new("22012"), "of another job (22012)"),
        error(2, 0, Code::new("23505"), "while reconnecting: twice (23505)"),
        event(2, Some(0), EventKind::StoppedByError, "not a first error (42P01)"),
        event(4, None, EventKind::OutageBegan, "the target refuses connections"),
    ];
    let errors = summarize(&evidence).jobs[0].errors_by_code.clone();
    let texts: Vec<_> = errors.iter().map(|error| error.text.as_deref()).collect();
    assert_eq!(
        texts,
        [
            Some("division by zero (22012)"),
            Some("while reconnecting: twice (23505)"),
            None,
            Some("the target refuses connections"),
        ]
    );
    let ErrorSummary { class, count, .. } = errors[1];
    assert_eq!((class, count), (Class::Constraint, 2));
}

/// A record holds a part of a long text.
#[test]
fn text_of_a_long_error_is_found_by_its_code() {
    let mut evidence = steady(OPEN);
    let code = Code::new("C".repeat(Code::CAPACITY).as_str());
    evidence.jobs[0].failures = vec![(Class::Statement, code, 3)];
    let text = format!("{}…{} ({code})", "x".repeat(4_030), "y".repeat(29));
    evidence.events =
        vec![error(1, 0, Code::new("other"), &"x".repeat(4_096)), error(2, 0, code, &text)];
    let errors = summarize(&evidence).jobs[0].errors_by_code.clone();
    assert_eq!(errors[0].text.as_deref(), Some(text.as_str()));
}
