//! Tests of servers whose answers never end: time limits and the first signal still apply, and
//! memory stays bounded.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use testbed::Kind;

use crate::faulty_server::{EndlessAnswer, FaultyRequest, FaultyServer};
use crate::support::{CommandResult, Running, TestFolder, assert_balanced, job};

/// Maximum memory that an endless answer may add, in bytes.
const MAX_EXTRA_MEMORY: u64 = 64_000_000;

/// Lengths of the runs whose memory is measured, in seconds: of the first run, and of further ones
/// if the memory was not observed. The record has a sample of the memory for a second only if each
/// thread of the generator reaches the end of that second less than a second late.
const RUN_SECONDS: [u32; 3] = [1, 4, 16];

/// Number of clients that read long answers.
const CLIENTS: u32 = 64;

const FLOODS: [EndlessAnswer; 2] = [EndlessAnswer::ShortMessages, EndlessAnswer::Rows];

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

/// The kinds of servers, each with the values of the key `prepare`.
const MODES: [(Kind, &str); 4] = [
    (Kind::Postgres, "no"),
    (Kind::Postgres, "yes"),
    (Kind::Mariadb, "no"),
    (Kind::Mariadb, "yes"),
];

/// The statement whose answer never ends.
const ODD_STATEMENT: FaultyRequest = FaultyRequest::Statement("odd");

const RESULTS_FILE: &str = "query-results-file = rows.csv\n";

/// Returns a query that is an [`ODD_STATEMENT`]. On MySQL, a `select` has only one result.
fn odd_query(kind: Kind, answer: EndlessAnswer) -> &'static str {
    let has_results = matches!((kind, answer), (Kind::Mariadb, EndlessAnswer::ShortMessages));
    if has_results { "call odd()" } else { "select 'odd'" }
}

/// Checks all cases at the same time. Each of them mostly waits.
fn check_together<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Sync) {
    let check = &check;
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || check(case));
        }
    });
}

fn start(place: &TestFolder, server: &FaultyServer) -> Running {
    place.start(&["run", "w.ini", "--json", "--out", "r.assay", "--url", &server.url()])
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
    for answer in FLOODS {
        check_together(MODES, |(kind, prepare)| {
            let said = format!("{answer:?} of {kind:?}, prepare = {prepare}");
            let query = odd_query(kind, answer);
            let job_of = |name: &str| {
                format!("[{name}]\nquery = {query}\nprepare = {prepare}\nconcurrency = 1\n")
            };
            let (limited, other) = (job_of("limited"), job_of("other"));
            let workload =
                format!("duration = 1s\ndrain = 300ms\n{limited}timeout = 200ms\n{other}");
            let server = FaultyServer::endless(kind, ODD_STATEMENT, answer);
            let summary = start(&TestFolder::with(&workload), &server).wait_for_end().json();
            assert_balanced(&summary);
            for (name, code) in [("limited", "timeout"), ("other", "drain")] {
                let job = job(&summary, name);
                assert!(job["timeouts"].as_u64() > Some(0), "{said}: {job}");
                assert_eq!(job["timeouts"], job["scheduled"], "{said}: {job}");
                // On a busy machine the last request of a job with a timeout may still run when the
                // drain ends.
                let codes = job["errors_by_code"].as_array().unwrap();
                assert!(codes.iter().any(|it| it["code"] == code), "{said}: {job}");
            }
        });
    }
}

#[test]
fn one_signal_ends_a_run_whose_answers_have_no_end() {
    let measured = |query: &str, prepare: &str| {
        format!(
            "duration = 1h\ndrain = 300ms\n[read]\nquery = {query}\nprepare = {prepare}\n\
             concurrency = 1\n"
        )
    };
    let setup = "[setup]\nquery = select 'odd'\n[read]\nquery = select 1\n";
    for answer in FLOODS {
        let measured =
            MODES.map(|(kind, prepare)| (kind, measured(odd_query(kind, answer), prepare)));
        let workloads: Vec<_> =
            measured.into_iter().chain(KINDS.map(|kind| (kind, setup.to_owned()))).collect();
        check_together(&workloads, |(kind, workload)| {
            let server = FaultyServer::endless(*kind, ODD_STATEMENT, answer);
            let ran = interrupted(workload, &server).expect(130);
            let said = format!("{answer:?} of {kind:?}: {workload}");
            assert_eq!(ran.json()["run"]["ended"], "interrupted", "{said}");
        });
    }
}

#[test]
fn one_signal_ends_a_run_whose_server_is_silent_after_the_login() {
    check_together(KINDS, |kind| {
        let server =
            FaultyServer::endless(kind, FaultyRequest::Statement(""), EndlessAnswer::Silence);
        let ran = interrupted("[read]\nquery = select 1\n", &server).expect(130);
        assert_eq!(ran.json()["run"]["ended"], "interrupted", "{kind:?}: {}", ran.stderr);
    });
}

#[test]
fn one_signal_ends_a_load_whose_answer_has_no_end() {
    // More rows than all buffers between client and server hold.
    let load = "[load odd]\nrows = 1M\ncolumns = id: row(), words: text(100)\n\
                [read]\nquery = select 1\n";
    let asked = [
        (Kind::Postgres, FaultyRequest::Statement("copy odd")),
        (Kind::Mariadb, FaultyRequest::Statement("load data local")),
    ];
    let cases = [EndlessAnswer::ShortMessages, EndlessAnswer::UnreadData]
        .into_iter()
        .flat_map(|answer| asked.map(|(kind, asked)| (kind, asked, answer)));
    check_together(cases, |(kind, asked, answer)| {
        let server = FaultyServer::endless(kind, asked, answer);
        let summary = interrupted(load, &server).expect(130).json();
        assert_eq!(summary["run"]["ended"], "interrupted", "{answer:?} of {kind:?}");
        assert_eq!(summary["loads"][0]["rows"], 0, "{answer:?} of {kind:?}");
    });
}

#[test]
fn one_signal_ends_a_teardown_whose_answer_has_no_end() {
    let workload = "duration = 300ms\n[read]\nquery = select 1\nevery = 100ms\n\
                    [teardown]\nquery = drop table odd\nquery = drop table other\n";
    let answers = [EndlessAnswer::Silence, EndlessAnswer::ShortMessages, EndlessAnswer::Rows];
    let cases = answers.into_iter().flat_map(|answer| KINDS.map(|kind| (kind, answer)));
    check_together(cases, |(kind, answer)| {
        let ran = interrupted(workload, &FaultyServer::endless(kind, ODD_STATEMENT, answer));
        let said = format!("{answer:?} of {kind:?}: {}", ran.stderr);
        // Everything was measured before the signal.
        assert_eq!(ran.json()["run"]["ended"], "completed", "{said}");
        assert_ne!(ran.code, 130, "{said}");
        assert!(ran.stderr.contains("the running statement is cancelled"), "{said}");
    });
}

/// A run whose memory is measured.
#[derive(Clone, Copy, Debug)]
struct MemoryCase {
    kind: Kind,
    prepare: &'static str,
    answer: EndlessAnswer,
    clients: u32,
    /// Further keys of the job.
    more: &'static str,
}

impl MemoryCase {
    /// Checks that endless answers add little to the memory of the same run without them.
    fn check(self) {
        let server = FaultyServer::endless(self.kind, ODD_STATEMENT, self.answer);
        let without = self.peak_memory(&server, "even", "");
        let with = self.peak_memory(&server, "odd", self.more);
        let said = format!("{self:?}: {with} instead of {without}");
        assert!(with <= without + MAX_EXTRA_MEMORY, "{said}");
    }

    /// Runs a statement and returns the maximum memory that the process had, as the kernel reports
    /// it (`VmHWM`), in bytes.
    fn peak_memory(self, server: &FaultyServer, statement: &str, more: &str) -> u64 {
        let MemoryCase { prepare, clients, .. } = self;
        let mut outputs = String::new();
        let observed = RUN_SECONDS.into_iter().find_map(|seconds| {
            let place = TestFolder::with(&format!(
                "duration = {seconds}s\ndrain = 300ms\n[read]\nquery = select '{statement}'\n\
                 prepare = {prepare}\nconcurrency = {clients}\nthink = 50ms\n{more}"
            ));
            let ran = start(&place, server).wait_for_end();
            outputs.extend([ran.stdout.as_str(), ran.stderr.as_str()]);
            ran.json()["client"]["peak_rss_bytes"].as_u64()
        });
        let peak = observed.unwrap_or_default();
        assert!(peak > 1 << 20, "the memory was not observed: {self:?}: {outputs}");
        peak
    }
}

#[test]
fn answers_without_end_take_little_memory() {
    let [postgres_text, postgres_prepared, mysql_text, mysql_prepared] = MODES;
    let case = |(kind, prepare), answer, clients, more| MemoryCase {
        kind,
        prepare,
        answer,
        clients,
        more,
    };
    let (rows, long_rows) = (EndlessAnswer::Rows, EndlessAnswer::LongRows);
    check_together(
        [
            case(postgres_text, rows, 2, ""),
            case(postgres_prepared, rows, CLIENTS, RESULTS_FILE),
            case(mysql_prepared, rows, 2, ""),
            case(mysql_text, rows, CLIENTS, RESULTS_FILE),
        ],
        MemoryCase::check,
    );
    check_together(MODES.map(|mode| case(mode, long_rows, CLIENTS, RESULTS_FILE)), |case| {
        case.check();
    });
}

/// The limit on additional memory holds for all clients together.
#[test]
fn answers_without_end_of_a_thousand_clients_take_little_memory() {
    // The server runs in this process, and has as many connections as the clients.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
    let (answer, clients, more) = (EndlessAnswer::LargeRows, 1_000, RESULTS_FILE);
    check_together([MODES[0], MODES[3]], |(kind, prepare)| {
        MemoryCase { kind, prepare, answer, clients, more }.check();
    });
}

#[test]
fn large_answers_of_many_clients_share_the_memory_of_results_files() {
    check_together(MODES, |(kind, prepare)| {
        let clients = CLIENTS.into();
        let server = FaultyServer::answering_together(kind, ODD_STATEMENT, clients, 4 << 20);
        let place = TestFolder::with(&format!(
            "duration = 2s\n[read]\nquery = select 'odd'\nprepare = {prepare}\n\
             concurrency = {CLIENTS}\n{RESULTS_FILE}"
        ));
        let summary = start(&place, &server).wait_for_end().json();
        assert_balanced(&summary);
        let read = job(&summary, "read");
        let first = &read["errors_by_code"][0];
        assert_eq!(first["code"], "results", "{kind:?}, prepare = {prepare}: {read}");
        let text = first.to_string();
        assert!(text.contains("limit of `query-results-file` for one run"), "{text}");
        // Answers that were written made room for other answers.
        let completed = read["completed"].as_u64().unwrap();
        assert!(completed > 0, "{kind:?}, prepare = {prepare}: {read}");
        let file = std::fs::read(place.at("rows.csv")).unwrap();
        assert_eq!(file.iter().filter(|byte| **byte == b'\n').count() as u64, completed);
    });
}

#[test]
fn rows_of_a_timed_out_answer_are_not_written() {
    check_together(MODES, |(kind, prepare)| {
        let server = FaultyServer::endless(kind, ODD_STATEMENT, EndlessAnswer::SomeRows);
        let place = TestFolder::with(&format!(
            "duration = 1s\n[read]\nquery = select 'odd'\nprepare = {prepare}\nconcurrency = 1\n\
             timeout = 200ms\n{RESULTS_FILE}"
        ));
        let summary = start(&place, &server).wait_for_end().json();
        assert!(job(&summary, "read")["timeouts"].as_u64() > Some(0), "{summary}");
        assert_eq!(std::fs::read_to_string(place.at("rows.csv")).unwrap(), "");
    });
}
