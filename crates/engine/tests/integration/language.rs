//! Workload language: mixes, sessions, records of files and lines of logs, in virtual time.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use base::{AccountId, Nanos, StatementId};
use driver::Simulated;
use engine::{Options, RunOutcome, Stop};
use record::{EndKind, EventKind, Kind, StatementSet, Totals};
use sim::{Config, Service};
use workload::Plan;

use crate::support::{run_on, virtually};

/// Returns the plan of a workload file without errors.
fn plan(text: &str) -> Plan {
    let (plan, diagnostics) = workload::plan(text, &workload::Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// Runs a file on `threads` threads against a server that takes 1 ms per statement.
fn run(text: &str, folder: &Path, threads: u16) -> (Totals, RunOutcome) {
    let plan = plan(text);
    let config = Config::new(Service::Constant(Nanos::from_millis(1)), None);
    let options = Options { files: folder.into(), ..virtually(threads) };
    let server = Simulated::new(config, plan.seed);
    run_on(&plan, server, &options, &Stop::default())
}

/// Runs a file like [`run`]. A run that has not ended after a minute counts as hung.
fn run_unless_hung(text: &str, folder: &Path, threads: u16) -> (Totals, RunOutcome) {
    let (sender, receiver) = sync_channel(1);
    let (file, folder) = (text.to_owned(), folder.to_owned());
    std::thread::spawn(move || {
        sender.send(run(&file, &folder, threads)).expect("the test waits");
    });
    receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{text} hangs"))
}

/// Returns the scheduled, completed and unsent requests of a job.
fn balance(totals: &Totals, job: u16) -> (u64, u64, u64) {
    let balance = totals.account(AccountId(job)).window.counts.balance;
    (balance.scheduled(), balance.completed(), balance.unsent())
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

const MIX: &str = "duration = 60s\n[mix]\nmix = read: 3, write: 1\nrate = 1000\n\
                   [read]\nquery = a\n[write]\nquery = b\nquery = c\n";

#[test]
fn a_mix_counts_each_request_in_itself_and_in_its_part() {
    let (totals, _) = run(MIX, Path::new(""), 1);
    let [mix, read, write] = [0, 1, 2].map(|job| balance(&totals, job).0);
    assert_eq!(mix, read + write);
    // Five standard errors of a share of three quarters.
    let share = read as f64 / mix as f64;
    assert!((share - 0.75).abs() < 5.0 * (0.1875 / mix as f64).sqrt(), "{share}");
    let statements = |job: u16, place| {
        let histograms = &totals.account(AccountId(job)).window.histograms;
        histograms.of(Kind::Statement(StatementId(place))).len()
    };
    assert_eq!([statements(1, 0), statements(2, 0), statements(2, 1)], [read, write, write]);
}

/// The section of a request depends on its number alone.
#[test]
fn the_parts_of_a_mix_are_the_same_on_any_number_of_threads() {
    let counts = |threads| {
        let (totals, _) = run(MIX, Path::new(""), threads);
        [0, 1, 2].map(|job| balance(&totals, job))
    };
    assert_eq!(counts(1), counts(3));
}

/// The timer of a part with a timeout does not end a later request of a part without one.
#[test]
fn timeout_applies_to_its_part_only() {
    let text = "duration = 20s\n[mix]\nmix = a, b\nconcurrency = 1\n\
                [a]\nquery = select 1\ntimeout = 50ms\n\
                [b]\nquery = select 2 /* sim: service=100ms */\n";
    let (totals, _) = run(text, Path::new(""), 1);
    for job in [0, 1, 2] {
        let (scheduled, completed, _) = balance(&totals, job);
        assert!(completed == scheduled && completed > 0, "{job}: {completed} of {scheduled}");
    }
}

#[test]
fn clients_of_a_closed_mix_take_turns_too() {
    let text = MIX.replace("rate = 1000", "concurrency = 4\ncount = 1000");
    let (totals, _) = run(&text, Path::new(""), 2);
    let [mix, read, write] = [0, 1, 2].map(|job| balance(&totals, job).1);
    assert_eq!((mix, read + write), (1_000, 1_000));
    assert!((650..850).contains(&read), "{read}");
}

/// A session takes the time of its statements and of the pauses between them.
#[test]
fn a_session_thinks_between_its_statements() {
    let text = "duration = 10s\n[s]\nquery = a\nquery = b\nquery = c\nrate = 50\n\
                session = yes\nthink = 20ms\n";
    let (totals, _) = run(text, Path::new(""), 1);
    let job = totals.account(AccountId(0));
    let (scheduled, completed, _) = balance(&totals, 0);
    assert_eq!(scheduled, completed);
    let histograms = &job.window.histograms;
    let expected = 3e6 + 2.0 * 20e6;
    assert!((histograms.of(Kind::Service).mean() / expected - 1.0).abs() < 1e-3);
    for place in 0..3 {
        let statement = histograms.of(Kind::Statement(StatementId(place)));
        assert_eq!(statement.len(), completed);
        assert!((statement.mean() / 1e6 - 1.0).abs() < 0.01, "{}", statement.mean());
    }
}

/// Each pause of a session is drawn independently.
#[test]
fn think_times_of_a_session_differ() {
    let text = "duration = 100s\n[s]\nquery = a\nquery = b\nquery = c\nrate = 50\n\
                session = yes\nthink = exp(20ms)\n";
    let (totals, _) = run(text, Path::new(""), 1);
    let service = totals.account(AccountId(0)).window.histograms.of(Kind::Service);
    // The sum of two independent exponential pauses has a standard deviation of √2 times their
    // mean; if the two were equal, it would be twice their mean.
    let expected = 2_f64.sqrt() * 20e6;
    assert!((service.stdev() / expected - 1.0).abs() < 0.06, "{}", service.stdev());
}

#[test]
fn timeout_may_end_a_session_during_think_time() {
    let text = "duration = 10s\n[s]\nquery = a\nquery = b\nrate = 5\nsession = yes\n\
                think = 20ms\ntimeout = 10ms\n";
    let (totals, _) = run(text, Path::new(""), 1);
    let counts = totals.account(AccountId(0)).window.counts;
    assert!(counts.balance.scheduled() > 0);
    assert_eq!(counts.timeouts, counts.balance.scheduled());
}

/// A job of any model ends with its records, and each record is taken once.
#[test]
fn a_job_ends_with_the_records_of_its_file() {
    let records: String = (0..1_000).map(|n| format!("{n},x\n")).collect();
    let folder = folder_with(&[("a.csv", &records)]);
    for pacing in ["rate = 500", "rate = 500\nconcurrency = 3", "concurrency = 7", "every = 1ms"] {
        for threads in [1, 3] {
            let text = format!("[a]\nquery = a ? ?\nquery-args-file = a.csv\n{pacing}\n");
            let (totals, finished) = run(&text, folder.path(), threads);
            let expected = (1_000, 1_000, 0);
            assert_eq!(balance(&totals, 0), expected, "{pacing} on {threads} threads");
            assert_eq!(finished.end, EndKind::Completed);
        }
    }
}

const CLOSED_MIX: &str = "[mix]\nmix = a\nconcurrency = 3\n";

/// One lane has two clients, the other has one. The file is far longer than what is read ahead.
#[test]
fn clients_of_unequal_lanes_are_busy_until_their_file_ends() {
    let records: String = (0..20_000).map(|n| format!("{n}\n")).collect();
    let folder = folder_with(&[("a.csv", &records)]);
    let job = "[a]\nquery = a ?\nquery-args-file = a.csv\n";
    for (first, last, account) in [("", "concurrency = 3\n", 0), (CLOSED_MIX, "", 1)] {
        let text = format!("duration = 60s\n{first}{job}{last}");
        let (totals, finished) = run_unless_hung(&text, folder.path(), 2);
        assert_eq!(balance(&totals, account), (20_000, 20_000, 0), "{text}");
        // Three clients send 20,000 requests of 1 ms in 6,667 ms.
        let length = finished.measured.expect("a measured phase").length;
        assert!(length < Nanos::from_millis(6_700), "{length} {text}");
    }
}

/// So many requests wait for the only connection of one lane, and for the two of the other, that
/// further arrivals are held back. The lanes then take records at different speeds.
#[test]
fn lane_that_is_behind_its_schedule_does_not_delay_another() {
    let folder = folder_with(&[("a.csv", &"x\n".repeat(600_000))]);
    let text = "duration = 5s\nconnections = 3\nmax-connections = 3\n[a]\nquery = a ?\n\
                query-args-file = a.csv\nrate = 100k\narrival = uniform\n";
    let (totals, finished) = run_unless_hung(text, folder.path(), 2);
    let (scheduled, completed, _) = balance(&totals, 0);
    assert_eq!(scheduled, 499_999);
    // The connections are busy for 15 s: during the schedule and the drain.
    assert!(completed.abs_diff(45_000) < 200, "{completed}");
    assert_eq!(finished.end, EndKind::Completed);
}

#[test]
fn a_batch_shares_a_record_and_a_count_may_come_first() {
    let folder = folder_with(&[("a.csv", "1\n2\n3\n")]);
    let run = |more: &str| {
        let text = format!("[a]\nquery = a ?\nquery-args-file = a.csv\n{more}\n");
        balance(&run(&text, folder.path(), 1).0, 0).1
    };
    assert_eq!(run("rate = 10\nbatch-size = 5"), 15);
    assert_eq!(run("rate = 10\ncount = 2"), 2);
    assert_eq!(run("concurrency = 5\ncount = 2"), 2);
}

#[test]
fn separate_statements_take_a_record_each() {
    let folder = folder_with(&[("a.csv", "1\n2\n3\n4\n5\n")]);
    let text = "[a]\nquery = a ?\nquery = b ?\nmulti-query-mode = multi-connection\n\
                query-args-file = a.csv\n";
    let (totals, _) = run(text, folder.path(), 1);
    assert_eq!(balance(&totals, 0).1, 2);
}

/// With `multi-query-mode = multi-connection`, a statement after a failed one is still sent; in
/// other modes it is not.
#[test]
fn separate_statement_is_sent_after_one_that_failed() {
    let mut config = Config::new(Service::Constant(Nanos::from_millis(1)), None);
    config.errors = 1.0;
    for (flow, sent) in [("multi-query-mode = multi-connection\n", 3), ("", 1)] {
        let plan = plan(&format!("[a]\nquery = a\nquery = b\nquery = c\ncount = 5\n{flow}"));
        let server = Simulated::new(config.clone(), plan.seed);
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        let window = &totals.account(AccountId(0)).window;
        assert_eq!(window.counts.balance.errors(), 5, "{flow}");
        let took = window.histograms.of(Kind::Error).max() as f64 / 1e6;
        assert!((took - f64::from(sent)).abs() < 0.1, "{took} ms {flow}");
    }
}

#[test]
fn a_part_of_a_mix_may_have_a_file() {
    let folder = folder_with(&[("a.csv", "1\n2\n3\n")]);
    for pacing in ["rate = 100", "concurrency = 2"] {
        let text = format!(
            "duration = 60s\n[mix]\nmix = a, b\n{pacing}\n\
             [a]\nquery = a ?\nquery-args-file = a.csv\n[b]\nquery = b\n"
        );
        let (totals, _) = run(&text, folder.path(), 1);
        assert_eq!(balance(&totals, 1), (3, 3, 0), "{pacing}");
        assert_eq!(balance(&totals, 0).0, 3 + balance(&totals, 2).0, "{pacing}");
    }
}

#[test]
fn a_log_is_replayed_with_its_gaps() {
    let log = "1000000,a\n1500000,b\n1500000,c\n4200000,d\n";
    let folder = folder_with(&[("q.log", log)]);
    for threads in [1, 2] {
        let text = "[r]\nquery-log-file = q.log\nstart = 1s\n";
        let (totals, finished) = run(text, folder.path(), threads);
        assert_eq!(balance(&totals, 0), (4, 4, 0));
        let intervals = &totals.account(AccountId(0)).intervals;
        let arrivals: Vec<u64> = intervals.iter().map(|(counts, _)| counts.arrivals).collect();
        assert_eq!(arrivals[..5], [0, 3, 0, 0, 1], "on {threads} threads");
        assert_eq!(finished.end, EndKind::Completed);
    }
    let (totals, _) =
        run("[r]\nquery-log-file = q.log\ncount = 3\nstop = 500ms\n", folder.path(), 1);
    assert_eq!(balance(&totals, 0), (1, 1, 0));
}

#[test]
fn truncated_file_ends_the_run() {
    let folder = folder_with(&[("a.csv", "1\n2\n3,4\n"), ("q.log", "1,a\nx,b\n")]);
    for (job, completed) in [
        ("query = a ?\nquery-args-file = a.csv\nrate = 10", 2),
        ("query = a ?\nquery-args-file = a.csv", 2),
        ("query-log-file = q.log", 1),
        ("query-log-file = gone.log", 0),
    ] {
        let (totals, finished) = run(&format!("duration = 60s\n[a]\n{job}\n"), folder.path(), 1);
        assert_eq!(balance(&totals, 0).1, completed, "{job}");
        assert_eq!(finished.end, EndKind::FileFailed, "{job}");
    }
}

/// The rows of all statements of a request count together, in any flow, against the `expect-rows`
/// of their own section.
#[test]
fn expected_rows_are_counted_over_a_whole_request() {
    // The simulated server returns one row for each statement.
    for flow in [
        "",
        "multi-query-mode = multi-connection\n",
        "rate = 10\nsession = yes\nthink = 1ms\n",
        "transaction = yes\n",
    ] {
        for (expected, errors) in [(2, 0), (1, 3), (5, 3)] {
            let text =
                format!("[a]\nquery = a\nquery = b\ncount = 3\nexpect-rows = {expected}\n{flow}");
            let (totals, _) = run(&text, Path::new(""), 1);
            let balance = totals.account(AccountId(0)).window.counts.balance;
            assert_eq!(balance.errors(), errors, "{expected} {flow}");
        }
    }
    let text = "[m]\nmix = a\ncount = 3\nconcurrency = 1\n[a]\nquery = a\nexpect-rows = 5\n";
    let (totals, _) = run(text, Path::new(""), 1);
    assert_eq!(totals.account(AccountId(0)).window.counts.balance.errors(), 3);
}

/// Runs a file with the settings `keys` for [a], whose statements return the given numbers of rows;
/// `None` stands for an error. Returns which statements had rows.
fn with_rows(keys: &str, statements: &[Option<u32>], threads: u16) -> Vec<bool> {
    let query = |rows: &Option<u32>| match rows {
        Some(rows) => format!("query = select /* sim: rows={rows} */\n"),
        None => "query = select /* sim: error=23505 */\n".to_owned(),
    };
    let queries: String = statements.iter().map(query).collect();
    let text = format!("[a]\n{queries}count = 5\n{keys}");
    let (totals, _) = run(&text, Path::new(""), threads);
    let set = totals.account(AccountId(0)).with_rows;
    (0..statements.len()).map(|index| set.contains(index)).collect()
}

#[test]
fn statements_with_rows_are_counted_however_they_are_sent() {
    for keys in [
        "",
        "multi-query-mode = multi-connection\n",
        "concurrency = 4\n",
        "rate = 10\nsession = yes\nthink = 1ms\n",
        "transaction = yes\n",
        "transaction = yes\npipeline = yes\n",
        "reconnect = per-transaction\n",
        "prepare = no\n",
    ] {
        for threads in [1, 3] {
            let keys = match threads {
                1 => keys.to_owned(),
                _ if keys.contains("concurrency") || keys.contains("rate") => keys.to_owned(),
                _ => format!("{keys}concurrency = 3\n"),
            };
            let found = with_rows(&keys, &[Some(0), Some(2), Some(0)], threads);
            assert_eq!(found, [false, true, false], "{keys} {threads}");
        }
    }
}

#[test]
fn statement_after_a_failed_one_has_rows_only_if_it_is_sent() {
    let statements = [Some(1), None, Some(1)];
    assert_eq!(with_rows("", &statements, 1), [true, false, false]);
    let separately = "multi-query-mode = multi-connection\n";
    assert_eq!(with_rows(separately, &statements, 1), [true, false, true]);
}

#[test]
fn each_part_of_a_mix_reports_the_first_error_with_each_code() {
    for (statement, keys) in
        [("select /* sim: error=23505 */", ""), ("select 1", "expect-rows = 5\n")]
    {
        let text = format!(
            "duration = 2s\n[m]\nmix = a, b\nrate = 100\n\
             [a]\nquery = {statement}\n{keys}[b]\nquery = {statement}\n{keys}"
        );
        let (totals, _) = run(&text, Path::new(""), 1);
        let first = totals.events.iter().filter(|event| event.kind == EventKind::FirstError);
        let first: Vec<_> = first.map(|event| (event.account, event.text.as_str())).collect();
        let [one, other] = first.as_slice() else { panic!("{first:?}") };
        let mut accounts = [one.0, other.0];
        accounts.sort();
        assert_eq!(accounts, [1, 2].map(|part| Some(AccountId(part))), "{text}");
        // A code in parentheses follows the text.
        assert!(one.1 == other.1 && !one.1.starts_with(" ("), "{first:?}");
    }
}

#[test]
fn statements_with_rows_belong_to_the_part_of_a_mix() {
    let text = MIX
        .replace("query = a", "query = select /* sim: rows=0 */")
        .replace("query = b", "query = select /* sim: rows=0 */");
    let (totals, _) = run(&text, Path::new(""), 1);
    let set = |job: u16| totals.account(AccountId(job)).with_rows;
    assert_eq!(set(0), StatementSet::default());
    assert_eq!(set(1), StatementSet::default());
    assert_eq!([0, 1].map(|index| set(2).contains(index)), [false, true]);
}

/// An open job, a timetable and a replay send all their requests, however slow the server is.
#[test]
fn log_lines_faster_than_the_answers_wait_and_are_not_rejected() {
    let log: String = (0..250_000).map(|n| format!("{n},select {n}\n")).collect();
    let folder = folder_with(&[("q.log", &log)]);
    for (job, sent) in [
        ("query-log-file = q.log", 250_000),
        ("query = a\nrate = 1M\ncount = 250000", 250_000),
        ("query = a\nevery = 1s\nbatch-size = 150000\ncount = 1", 150_000),
    ] {
        let text = format!("max-connections = 4\nconnections = 4\n[a]\n{job}\n");
        let (totals, _) = run(&text, folder.path(), 1);
        assert_eq!(balance(&totals, 0), (sent, sent, 0), "{job}");
        let histograms = &totals.account(AccountId(0)).window.histograms;
        // The last requests waited for almost the whole time, and the generator was never late.
        assert!(histograms.of(Kind::Wait).max() > 35_000_000_000, "{job}");
        assert!(histograms.of(Kind::SendLag).max() < 1_000_000, "{job}");
    }
}

/// Memory use is measured elsewhere; this test shows that no line is lost between blocks.
#[test]
fn many_lines_keep_their_times() {
    let log: String = (0..100_000).map(|n| format!("{},select {n}\n", n * 100)).collect();
    let folder = folder_with(&[("q.log", &log)]);
    let (totals, _) = run("[r]\nquery-log-file = q.log\n", folder.path(), 2);
    let intervals = &totals.account(AccountId(0)).intervals;
    let arrivals: Vec<u64> = intervals.iter().map(|(counts, _)| counts.arrivals).collect();
    assert_eq!(arrivals[..10], [10_000; 10]);
    assert_eq!(balance(&totals, 0).1, 100_000);
}
