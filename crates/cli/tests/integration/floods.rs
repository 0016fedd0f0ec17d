//! Tests of servers whose answers never end: time limits and the first signal still apply.

use nix::sys::signal::Signal;

use crate::faulty_server::{EndlessAnswer, FaultyServer, MatchedMessage};
use crate::support::{CommandResult, Running, TestFolder, assert_balanced, job};

/// Maximum memory that an endless answer may add, in bytes.
const MAX_EXTRA_MEMORY: u64 = 64 << 20;

/// Number of clients that read long answers.
const CLIENTS: u32 = 64;

const FLOODS: [EndlessAnswer; 2] = [EndlessAnswer::Notices, EndlessAnswer::Rows];

/// The statement whose answer never ends.
const ODD_STATEMENT: MatchedMessage = MatchedMessage(b'Q', "odd");

fn start(place: &TestFolder, server: &FaultyServer) -> Running {
    let url = format!("postgres://ann@{}/shop", server.address());
    place.start(&["run", "w.ini", "--json", "--out", "r.assay", "--url", &url])
}

/// Interrupts a run by a single signal once an endless answer has begun, and returns its result.
fn interrupted(workload: &str, server: &FaultyServer) -> CommandResult {
    let place = TestFolder::with(workload);
    let run = start(&place, server);
    server.wait_for_answer();
    run.signal(Signal::SIGINT);
    run.wait_for_end()
}

#[test]
fn timeout_and_drain_end_requests_with_endless_answers() {
    let workload = "duration = 1s\ndrain = 300ms\n\
                    [limited]\nquery = select 'odd'\nprepare = no\nconcurrency = 1\n\
                    timeout = 200ms\n\
                    [other]\nquery = select 'odd'\nprepare = no\nconcurrency = 1\n";
    for answer in FLOODS {
        let server = FaultyServer::endless(ODD_STATEMENT, answer);
        let summary = start(&TestFolder::with(workload), &server).wait_for_end().json();
        assert_balanced(&summary);
        for (name, code) in [("limited", "timeout"), ("other", "drain")] {
            let job = job(&summary, name);
            assert!(job["timeouts"].as_u64() > Some(0), "{answer:?}: {job}");
            assert_eq!(job["timeouts"], job["scheduled"], "{answer:?}: {job}");
            // On a busy machine the last request of a job with a timeout may still run when the
            // drain ends.
            let codes = job["errors_by_code"].as_array().unwrap();
            assert!(codes.iter().any(|it| it["code"] == code), "{answer:?}: {job}");
        }
    }
}

#[test]
fn one_signal_ends_a_run_whose_answers_have_no_end() {
    let measured = "duration = 1h\ndrain = 300ms\n\
                    [read]\nquery = select 'odd'\nprepare = no\nconcurrency = 1\n";
    let setup = "[setup]\nquery = select 'odd'\n[read]\nquery = select 1\n";
    for answer in FLOODS {
        for workload in [measured, setup] {
            let ran =
                interrupted(workload, &FaultyServer::endless(ODD_STATEMENT, answer)).expect(130);
            assert_eq!(ran.json()["run"]["ended"], "interrupted", "{answer:?}: {workload}");
        }
    }
}

#[test]
fn one_signal_ends_a_load_whose_answer_has_no_end() {
    let load = "[load odd]\nrows = 10\ncolumns = id: row()\n[read]\nquery = select 1\n";
    let server = FaultyServer::endless(MatchedMessage(b'Q', "copy odd"), EndlessAnswer::Notices);
    let summary = interrupted(load, &server).expect(130).json();
    assert_eq!(summary["run"]["ended"], "interrupted");
    assert_eq!(summary["loads"][0]["rows"], 0);
}

#[test]
fn one_signal_ends_a_teardown_whose_answer_has_no_end() {
    let workload = "duration = 300ms\n[read]\nquery = select 1\nevery = 100ms\n\
                    [teardown]\nquery = drop table odd\nquery = drop table other\n";
    for answer in [EndlessAnswer::Silence, EndlessAnswer::Notices, EndlessAnswer::Rows] {
        let ran = interrupted(workload, &FaultyServer::endless(ODD_STATEMENT, answer));
        // Everything was measured before the signal.
        assert_eq!(ran.json()["run"]["ended"], "completed", "{answer:?}: {}", ran.stderr);
        assert_ne!(ran.code, 130, "{answer:?}: {}", ran.stderr);
        let words = "the running statement is cancelled";
        assert!(ran.stderr.contains(words), "{answer:?}: {}", ran.stderr);
    }
}

/// Runs a statement for a second and returns the maximum memory that the process had, as the kernel
/// reports it (`VmHWM`).
fn peak_memory(server: &FaultyServer, statement: &str, clients: u32, more: &str) -> u64 {
    let place = TestFolder::with(&format!(
        "duration = 1s\ndrain = 300ms\n[read]\nquery = select '{statement}'\nprepare = no\n\
         concurrency = {clients}\n{more}"
    ));
    let summary = start(&place, server).wait_for_end().json();
    let client = summary["client"]["peak_rss_bytes"].as_u64();
    client.filter(|bytes| *bytes > 1 << 20).expect("the memory was observed")
}

#[test]
fn answers_without_end_take_little_memory() {
    const FILE: &str = "query-results-file = rows.csv\n";
    for (answer, clients, more) in [
        (EndlessAnswer::Rows, 2, ""),
        (EndlessAnswer::Rows, CLIENTS, FILE),
        (EndlessAnswer::LongRows, CLIENTS, FILE),
    ] {
        let server = FaultyServer::endless(ODD_STATEMENT, answer);
        let without = peak_memory(&server, "even", clients, "");
        let with = peak_memory(&server, "odd", clients, more);
        let said = format!("{answer:?}, {more}: {with} instead of {without}");
        assert!(with <= without + MAX_EXTRA_MEMORY, "{said}");
    }
}

#[test]
fn large_answers_of_many_clients_share_the_memory_of_results_files() {
    let server = FaultyServer::answering_together(ODD_STATEMENT, CLIENTS.into(), 4 << 20);
    let place = TestFolder::with(&format!(
        "duration = 2s\n[read]\nquery = select 'odd'\nprepare = no\nconcurrency = {CLIENTS}\n\
         query-results-file = rows.csv\n"
    ));
    let summary = start(&place, &server).wait_for_end().json();
    assert_balanced(&summary);
    let read = job(&summary, "read");
    let first = &read["errors_by_code"][0];
    assert_eq!(first["code"], "results", "{read}");
    let text = first.to_string();
    assert!(text.contains("limit of `query-results-file` for one run"), "{text}");
    // Once written, answers made room for others.
    let completed = read["completed"].as_u64().unwrap();
    assert!(completed > 0, "{read}");
    let file = std::fs::read(place.at("rows.csv")).unwrap();
    assert_eq!(file.iter().filter(|byte| **byte == b'\n').count() as u64, completed);
}

#[test]
fn rows_of_a_timed_out_answer_are_not_written() {
    let server = FaultyServer::endless(ODD_STATEMENT, EndlessAnswer::SomeRows);
    let place = TestFolder::with(
        "duration = 1s\n[read]\nquery = select 'odd'\nprepare = no\nconcurrency = 1\n\
         timeout = 200ms\nquery-results-file = rows.csv\n",
    );
    let summary = start(&place, &server).wait_for_end().json();
    assert!(job(&summary, "read")["timeouts"].as_u64() > Some(0), "{summary}");
    assert_eq!(std::fs::read_to_string(place.at("rows.csv")).unwrap(), "");
}
