//! Successes of jobs that did nothing, and the first text of each error.

use analyze::{EmptySuccess, ErrorSummary, Evidence, summarize};
use base::{Class, Code, Nanos};
use record::{Event, EventError, EventKind, StatementAnswers};

use crate::support::{MIXED, OPEN, PER_S, event, nothing, steady};

const SECONDS: u64 = 60;

fn empty_success(evidence: &Evidence) -> Option<EmptySuccess> {
    summarize(evidence).jobs[0].empty_success.clone()
}

fn without_rows(workload: &str) -> Evidence {
    let mut evidence = steady(workload);
    evidence.jobs[0].steps.iter_mut().for_each(|step| step.ends.rows = 0);
    evidence
}

#[test]
fn job_whose_answers_never_had_a_row_is_reported() {
    let mut evidence = without_rows(OPEN);
    let answers = SECONDS * PER_S;
    let no_rows = EmptySuccess::NoRows { answers, statements: Vec::new() };
    assert_eq!(empty_success(&evidence), Some(no_rows));
    evidence.jobs[0].steps[3].ends.rows = 1;
    assert_eq!(empty_success(&evidence), None, "a row of the warm-up is one");
    assert_eq!(
        summarize(&without_rows(MIXED)).jobs[1].empty_success,
        None,
        "the other job has its rows"
    );
}

/// A job with four statements, of which the second does not ask for rows.
const FOUR: &str = "duration = 60s\n[pay]\nquery = select v from t where id = 7\nquery = do \
                    sleep(0)\nquery = update t set v = 1 where id = 7\nquery = insert into t \
                    values (1)\nrate = 50\n";

/// Returns the number of answers without a row and the numbers of their statements, in a run of
/// `file` with these answers to each statement; `None` if nothing is reported.
fn statements_without_rows(
    file: &str,
    answers: Option<[(u64, bool); 4]>,
) -> Option<(u64, Vec<u32>)> {
    let mut evidence = steady(file);
    let answered = |(count, has_rows)| StatementAnswers { count, has_rows };
    evidence.jobs[0].statements = answers.map(|all| all.map(answered).to_vec());
    let found = empty_success(&evidence)?;
    let EmptySuccess::NoRows { answers, .. } = found else { panic!("{found:?}") };
    Some((answers, found.statement_numbers()))
}

#[test]
fn statements_that_never_had_a_row_are_reported_though_others_had_one() {
    let check = |answers, expected: Option<(u64, &[u32])>| {
        let found = statements_without_rows(FOUR, answers);
        let found = found.as_ref().map(|(answers, numbers)| (*answers, numbers.as_slice()));
        assert_eq!(found, expected, "{answers:?}");
    };
    check(Some([(9, true), (9, false), (9, true), (9, true)]), None);
    check(Some([(9, false), (9, false), (9, true), (9, true)]), Some((9, &[1])));
    check(Some([(9, true), (9, false), (8, false), (9, true)]), Some((8, &[3])));
    check(Some([(9, false), (9, false), (8, false), (9, true)]), Some((17, &[1, 3])));
    // The third statement always failed, so the fourth was never reached.
    check(Some([(9, true), (9, false), (0, false), (0, false)]), None);
    // A record of an earlier version does not have the answers to each statement.
    check(None, None);
    let expected = format!("{FOUR}expect-rows = 1\n");
    let answers = [(9, false), (9, false), (9, true), (9, true)];
    assert_eq!(statements_without_rows(&expected, Some(answers)), None);
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

/// The accounts are the mix, then its parts.
#[test]
fn mix_without_a_request_is_reported_once() {
    let mix = "duration = 60s\n[m]\nmix = a, b\nrate = 1000\n[a]\nquery = select 1\n\
               [b]\nquery = select 2\n";
    let reported = |evidence: &Evidence| -> Vec<bool> {
        summarize(evidence).jobs.iter().map(|job| job.empty_success.is_some()).collect()
    };
    assert_eq!(reported(&nothing(mix)), [true, false, false]);
    let mut evidence = steady(mix);
    evidence.jobs[2].steps.clear();
    assert_eq!(reported(&evidence), [false, false, true]);
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

#[test]
fn each_part_of_a_mix_has_its_own_text_and_the_mix_the_first_of_them() {
    let mut evidence = steady(
        "duration = 60s\n[m]\nmix = a, b\nrate = 1000\n[a]\nquery = select 1\n\
         [b]\nquery = select 2\n[other]\nquery = select 3\nrate = 1000\n",
    );
    let code = Code::new("23505");
    for job in &mut evidence.jobs {
        job.failures = vec![(Class::Constraint, code, 3)];
    }
    evidence.events = vec![
        error(5, 1, code, "key of a (23505)"),
        error(4, 2, code, "key of b (23505)"),
        error(1, 3, code, "key of another job (23505)"),
    ];
    let jobs = summarize(&evidence).jobs;
    let texts: Vec<_> = jobs.iter().map(|job| job.errors_by_code[0].text.as_deref()).collect();
    let [own, other] = ["key of b (23505)", "key of another job (23505)"].map(Some);
    assert_eq!(texts, [own, Some("key of a (23505)"), own, other]);
    // Reconnecting is done for the whole mix.
    evidence.events.push(error(2, 0, code, "while reconnecting (23505)"));
    let whole = &summarize(&evidence).jobs[0];
    assert_eq!(whole.errors_by_code[0].text.as_deref(), Some("while reconnecting (23505)"));
}

#[test]
fn failing_mixes_and_jobs_in_turn_have_their_own_texts() {
    let mixes = 20;
    let of_mix = |n: u16| format!("[m{n}]\nmix = a, b\nrate = 1\n[j{n}]\nquery = x\nrate = 1\n");
    let jobs: String = (0..mixes).map(of_mix).collect();
    let parts = "[a]\nquery = select 1\n[b]\nquery = select 2\n";
    let mut evidence = nothing(&format!("duration = 60s\n{jobs}{parts}"));
    let code = Code::new("23505");
    for job in &mut evidence.jobs {
        job.failures = vec![(Class::Constraint, code, 3)];
    }
    // The accounts are those of a mix, its two parts and a job, again and again.
    let events = (0..mixes).flat_map(|n| [3, 2, 1].map(|place| 4 * n + place));
    evidence.events =
        events.map(|it| error(9_000 - u64::from(it), it, code, &format!("text {it}"))).collect();
    let jobs = summarize(&evidence).jobs;
    for (own, job) in jobs.iter().enumerate() {
        // The second part of a mix fails before the first.
        let first = if own % 4 == 0 { own + 2 } else { own };
        let text = format!("text {first}");
        assert_eq!(job.errors_by_code[0].text.as_deref(), Some(text.as_str()), "{}", job.name);
    }
}

/// A record holds only parts of a long text: the text belongs to the error whose code it contains.
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
