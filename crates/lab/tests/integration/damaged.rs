//! Tests of damaged records: whatever numbers a record contains, memory use and running time must
//! stay limited.

use std::path::Path;

use analyze::finding::Completeness;
use analyze::{CheckKind, Finding};
use archive::Archive;
use base::Nanos;
use record::EndKind;

use crate::support::{self, Run, TestFolder, ended};

/// Changes a record of two seconds with an SQL statement, and returns the error of reading it;
/// `readable` if there is none.
fn read_changed_record(statement: &str) -> String {
    let place = TestFolder::new();
    write_changed_record(&place, statement);
    let archive = Archive::open(&place.record()).unwrap();
    lab::evidence(&archive).map_or_else(|error| error.to_string(), |_| "readable".to_owned())
}

/// Writes a record of two seconds, and changes it with an SQL statement.
fn write_changed_record(place: &TestFolder, statement: &str) {
    let mut run = Run::begin(&place.record());
    for second in 0..2 {
        run.record_requests(0, second, 10);
        (0..2).for_each(|lane| run.end_second(lane, second));
    }
    let Run { recorder, lanes, .. } = run;
    lanes.into_iter().for_each(record::Ledger::finish);
    recorder.finish(ended(EndKind::Completed, Nanos::from_secs(2))).unwrap();
    change(&place.record(), statement);
}

fn change(path: &Path, statement: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    assert_eq!(connection.execute(statement, []).unwrap(), 1, "{statement}");
}

#[test]
fn record_with_a_missing_day_is_damaged() {
    let moved = |to: &str| {
        let statement = format!("update interval set interval = {to} where interval = 1");
        read_changed_record(&statement)
    };
    assert_eq!(moved("86400"), "readable");
    assert!(moved("86402").contains("no interval from 1 to 86402"), "{}", moved("86402"));
    assert!(moved("4294967295").contains("no interval from 1 to 4294967295"));
}

#[test]
fn a_record_that_ends_long_after_its_last_interval_is_damaged() {
    let end = |ns: &str| {
        let statement = format!("update meta set value = {ns} where key = 'ended_at_ns'");
        read_changed_record(&statement)
    };
    assert_eq!(end("60000000000"), "readable");
    let answer = end("9000000000000000000");
    assert!(answer.contains("no interval from 2 to 4294967295"), "{answer}");
}

#[test]
fn a_record_needs_no_file_that_its_plan_names() {
    let plan = |value: &str| {
        let text = support::WORKLOAD.replace("select 1", &format!("select ${{{value}}}"));
        let quoted = text.replace('\'', "''");
        read_changed_record(&format!("update meta set value = '{quoted}' where key = 'plan'"))
    };
    assert_eq!(plan("csv('gone.csv', 'name')"), "readable");
}

#[test]
fn record_whose_plan_cannot_be_read_shows_its_measurements_with_a_note() {
    let others = ["[other]\nquery = select 1\n", "[observe]\nhost = ssh://a\n"];
    for plan in ["this is no plan", "", "[a]\nquery = ${\n"].into_iter().chain(others) {
        let place = TestFolder::new();
        write_changed_record(
            &place,
            &format!("update meta set value = '{plan}' where key = 'plan'"),
        );
        let archive = Archive::open(&place.record()).unwrap();
        let evidence = lab::evidence(&archive).unwrap();
        let why = evidence.unread_plan.clone().expect("a reason");
        assert!(!why.is_empty());
        let summary = analyze::summarize(&evidence);
        assert_eq!(summary.jobs.len(), 1);
        assert_eq!(summary.jobs[0].name, archive.header().jobs[0].name);
        assert_eq!(summary.jobs[0].counts.balance.scheduled(), 10);
        assert!(summary.jobs[0].response.count > 0);
        assert_eq!(summary.verdict.word(), "SUSPECT");
        let mut checks = summary.verdict.checks.iter();
        let complete = checks.find(|check| check.kind == CheckKind::Complete).unwrap();
        let Finding::Complete(Completeness::Ended { unread_plan, .. }) = &complete.finding else {
            panic!("{complete:?}");
        };
        assert_eq!(unread_plan.as_ref(), Some(&why));
        assert!(lab::end_of_warmup(&archive).is_ok());
    }
}
