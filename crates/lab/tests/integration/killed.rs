//! Tests of runs that are killed while requests are open.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use analyze::finding::{Completeness, RunEnd};
use analyze::{Evidence, Finding, Summary};
use base::Nanos;
use record::{EndKind, Kind, LateBatch};

use crate::support::{Run, SEED, TestFolder, check, ended, read};

/// The environment variable with the path of the record that a child process of this test writes.
const RECORD: &str = "ASSAY_TEST_RECORD";

/// The number of late answers that make a lane deliver them before its second ends.
const FLOOD: u64 = LateBatch::CAPACITY as u64;

/// Records five seconds of ten requests each on lane 0. Some of these requests stay open: one in
/// second 0, which is the warm-up, three in second 2, two in second 3, and four in second 4. Lane 0
/// completes all five seconds; lane 1 completes all but second 4.
fn record_five_seconds(run: &mut Run) {
    for (second, open) in [(0, 1), (1, 0), (2, 3), (3, 2), (4, 4)] {
        run.record_requests(0, second, 10 - open);
        for number in 0..open {
            // This request never gets an outcome.
            let _ = run.arrive(0, second * 1_000 + 900 + number);
        }
        run.end_second(0, second);
        if second < 4 {
            run.end_second(1, second);
        }
    }
}

/// Records until this process is killed. The late answers of lane 1 end in second 5, and the lane
/// delivers them before its second 4 ends. The record therefore has counts of second 5, which no
/// lane has completed.
fn record_until_killed(path: &Path) {
    let mut run = Run::begin(path);
    let late: Vec<_> = (0..FLOOD).map(|_| run.arrive(1, 1_999)).collect();
    record_five_seconds(&mut run);
    for request in late {
        run.answer(1, request, 5_200);
    }
    run.end_second(1, 4);
    run.wait_until_written(4);
    println!("written");
    // Until it is killed.
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Records in a child process, kills it, and reads its record.
fn read_killed_record(test: &str) -> (Evidence, Summary) {
    let place = TestFolder::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(RECORD, place.record())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line == "written"), "the child has recorded five seconds");
    child.kill().unwrap();
    child.wait().unwrap();
    read(&place.record())
}

#[test]
fn requests_open_at_a_kill_are_unsent_at_their_least_age() {
    if let Some(path) = std::env::var_os(RECORD) {
        return record_until_killed(path.as_ref());
    }
    let name = "killed::requests_open_at_a_kill_are_unsent_at_their_least_age";
    let (evidence, summary) = read_killed_record(name);
    assert_eq!((evidence.ended, evidence.plan.seed), (None, SEED));
    assert_eq!(evidence.end(), Nanos::from_secs(5), "second 5 is not whole");
    assert_eq!(evidence.jobs[0].steps.len(), 5);
    let unsent = evidence.jobs[0].steps.iter().map(|row| row.counts.balance.unsent());
    assert_eq!(unsent.collect::<Vec<_>>(), [1, 0, 3, 2, 4]);

    let job = &summary.jobs[0];
    assert_eq!(job.counts.balance.scheduled(), 40 + FLOOD);
    assert_eq!(job.counts.balance.unsent(), 9);
    assert_eq!(job.throughput_per_s, Some(31.0 / 4.0), "ends in second 5 are not in the window");
    // Of the open requests in the window, all except the four of the last second have a response
    // time: two of 1 s, and three of 2 s.
    let response = evidence.jobs[0].histogram(Kind::Response).unwrap();
    assert_eq!(response.len(), 36 + FLOOD);
    let around = |ms: u64| response.count_between((ms - 1) * 1_000_000, (ms + 1) * 1_000_000);
    assert_eq!((around(1_000), around(2_000)), (2, 3));
    assert_eq!(evidence.jobs[0].histogram(Kind::Service).unwrap().len(), 31 + FLOOD);
    let probes: Vec<(f64, u64)> =
        job.probes.iter().map(|probe| (probe.start_s, probe.response.count)).collect();
    assert_eq!(probes, [(1.0, 20 + FLOOD), (3.0, 16)]);

    assert_eq!(check(&summary, "balance").0, "pass");
    let (status, finding) = check(&summary, "complete");
    assert_eq!(status, "suspect");
    let end = RunEnd::Killed { open: 10 };
    let at = Some(Nanos::from_secs(5));
    let expected = Completeness::Ended { end, at, unread_plan: None };
    assert_eq!(finding, Finding::Complete(expected));
    // The late answers alone outnumber the requests of the schedule.
    assert_eq!(check(&summary, "rate").0, "invalid");
    assert_eq!(summary.verdict.word(), "INVALID");
}

#[test]
fn request_open_at_a_regular_end_is_lost() {
    let place = TestFolder::new();
    let mut run = Run::begin(&place.record());
    record_five_seconds(&mut run);
    let Run { recorder, lanes, .. } = run;
    lanes.into_iter().for_each(record::Ledger::finish);
    recorder.finish(ended(EndKind::Completed, Nanos::from_secs(5))).unwrap();
    let (evidence, summary) = read(&place.record());
    assert_eq!(evidence.jobs[0].histogram(Kind::Response).unwrap().len(), 31);
    assert_eq!(summary.jobs[0].counts.balance.unsent(), 0);
    assert_eq!(check(&summary, "balance").0, "invalid");
    assert_eq!(check(&summary, "complete").0, "pass");
    assert_eq!(summary.verdict.word(), "INVALID");
}
