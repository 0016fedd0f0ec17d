//! Tests of signals: the first signal ends a run cleanly, the second ends it at once.

use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use rusqlite::Connection;

use crate::support::{Running, TestFolder, assert_balanced, check, job, number, wait_until};

const TABLE: &str = "\
duration = 1m
[setup]
query = create table t (a integer primary key, b text)
[load t]
rows = 2000
columns = a: row(), b: text(3)
[read]
query = select b from t where a = ${uniform(1, 2000)}
rate = 100
[write]
query = update t set b = ${text(5)} where a = ${uniform(1, 2000)}
concurrency = 2
think = 10ms
[teardown]
query = drop table t
";

const RUN: [&str; 7] = ["run", "w.ini", "--url", "sqlite:t.db", "--json", "--out", "r.assay"];

/// Checks that after a signal during a run, requests in flight are finished, the table is dropped
/// and an answer is printed.
fn a_signal_ends_the_run_cleanly(signal: Signal) {
    let place = TestFolder::with(TABLE);
    // The tests may have been started with SIGHUP ignored.
    let mut command = Command::new("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_assay")]).args(RUN);
    let mut run = Running::of(place.run_in_folder(&mut command));
    run.wait_for_second(2, "read");
    run.signal(signal);
    let ran = run.wait_for_end().expect(130);
    let summary = ran.json();
    assert_balanced(&summary);
    assert_eq!(summary["run"]["ended"], "interrupted");
    assert_eq!(check(&summary, "complete")["status"], "suspect");
    assert!(job(&summary, "read")["completed"].as_u64().unwrap() > 0);
    let tables = "select count(*) from sqlite_schema where name = 't'";
    assert_eq!(number(&place.at("t.db"), tables), 0);
    assert_eq!(place.export_json("r.assay")["run"]["ended"], "interrupted");
    assert_eq!(place.names(), ["r.assay", "t.db", "w.ini"]);
}

#[test]
fn an_interrupt_ends_the_run_cleanly() {
    a_signal_ends_the_run_cleanly(Signal::SIGINT);
}

#[test]
fn a_request_to_terminate_ends_the_run_cleanly() {
    a_signal_ends_the_run_cleanly(Signal::SIGTERM);
}

#[test]
fn the_end_of_the_terminal_ends_the_run_cleanly() {
    a_signal_ends_the_run_cleanly(Signal::SIGHUP);
}

#[test]
fn run_under_nohup_outlives_its_terminal() {
    let place = TestFolder::with("duration = 3s\n[read]\nquery = select 1\nrate = 20\n");
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_assay")).args(["run", "w.ini", "--url", "sim:mm1", "--json"]);
    let mut run = Running::of(place.run_in_folder(&mut command).stdin(Stdio::null()));
    run.wait_for_second(1, "read");
    run.signal(Signal::SIGHUP);
    assert_eq!(run.wait_for_end().json()["run"]["ended"], "completed");
}

#[test]
fn a_run_without_an_end_of_its_own_is_complete_when_it_is_ended() {
    let place = TestFolder::with("[read]\nquery = select 1\nrate = 100\n");
    let mut run = place.start(&["run", "w.ini", "--url", "sim:mm1", "--json", "--out", "r.assay"]);
    run.wait_for_second(1, "read");
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_eq!(check(&summary, "complete")["status"], "pass");
    assert_balanced(&summary);
}

#[test]
fn an_interrupt_while_a_table_is_filled_ends_the_run_and_drops_the_table() {
    let place = TestFolder::with(&TABLE.replace("rows = 2000", "rows = 50M"));
    let mut run = place.start(&RUN);
    run.wait_for_line("loading t:");
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_eq!(summary["run"]["ended"], "interrupted");
    assert_eq!(job(&summary, "read")["scheduled"], 0);
    assert!(summary["loads"][0]["rows"].as_u64().unwrap() < 50_000_000);
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_schema"), 0);
}

#[test]
fn a_second_interrupt_ends_the_run_at_once_and_the_record_can_be_read() {
    // The server stalls from the beginning, and the run would wait an hour for it.
    let place =
        TestFolder::with("duration = 2h\ndrain = 1h\n[read]\nquery = select 1\nrate = 100\n");
    let url = "sim:mm1?stall=3h&stall-every=4h";
    let mut run = place.start(&["run", "w.ini", "--url", url, "--out", "r.assay"]);
    run.wait_for_second(1, "read");
    run.signal(Signal::SIGINT);
    run.wait_for_line("ending the run");
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(summary["run"]["ended"], "interrupted");
    assert_balanced(&summary);
    let read = job(&summary, "read");
    assert!(read["scheduled"].as_u64().unwrap() > 50, "{read}");
    assert_eq!(read["completed"], 0);
    assert_eq!(place.names(), ["r.assay", "w.ini"]);
}

#[test]
fn an_interrupt_ends_even_a_setup_that_never_returns() {
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let place =
        TestFolder::with(&format!("[setup]\nquery = {endless}\n[read]\nquery = select 1\n"));
    let mut run = place.start(&RUN);
    run.wait_for_line("setup, statement 1 of 1");
    run.signal(Signal::SIGINT);
    run.wait_for_line("ending the run: the running statement is cancelled");
    let summary = run.wait_for_end().expect(130).json();
    assert_eq!(summary["run"]["ended"], "interrupted");
    assert_eq!(place.export_json("r.assay")["run"]["ended"], "interrupted");
    // The database is closed, and its write-ahead log is merged into the file.
    assert_eq!(place.names(), ["r.assay", "t.db", "w.ini"]);
}

#[test]
fn setup_that_never_returns_ends_in_time() {
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let file = format!(
        "setup-timeout = 500ms\n[setup]\nquery = {endless}\n[load t]\nrows = 1\n\
                        columns = id: row()\n[read]\nquery = select 1\n"
    );
    let place = TestFolder::with(&file);
    for command in ["run", "load"] {
        let ran = place.assay(&[command, "w.ini", "--url", "sqlite:t.db"]).expect(4);
        for words in [
            "there is no answer to statement 1 of [setup]",
            "w.ini:3:",
            "nothing was answered within `setup-timeout = 500ms`",
            "write a longer `setup-timeout`",
        ] {
            assert!(ran.stderr.contains(words), "`{words}` is not in: {}", ran.stderr);
        }
    }
}

#[test]
fn count_that_never_returns_ends_in_time() {
    let place = TestFolder::with(
        "setup-timeout = 500ms\n[load t]\nrows = 1\ncolumns = id: row()\n[read]\n\
         query = select 1\n",
    );
    let endless = "create view t as with recursive n (id) as (select 1 union all select id + 1 \
                   from n) select id from n";
    Connection::open(place.at("t.db")).unwrap().execute(endless, ()).unwrap();
    let ran = place.assay(&["run", "w.ini", "--loaded", "--url", "sqlite:t.db"]).expect(4);
    for words in [
        "there is no answer to a count of the rows of [load t]",
        "w.ini:2:",
        "nothing was answered within `setup-timeout = 500ms`",
        "write a longer `setup-timeout`",
    ] {
        assert!(ran.stderr.contains(words), "`{words}` is not in: {}", ran.stderr);
    }
}

#[test]
fn temporary_database_is_removed_after_an_immediate_end() {
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let job = "duration = 1s\n[read]\nquery = select 1\nrate = 20";
    let place = TestFolder::with(&format!("{job}\n[teardown]\nquery = {endless}\n"));
    let mut command = place.command(&["run", "w.ini", "--url", "sqlite:", "--out", "r.assay"]);
    let mut run = Running::of(command.env("TMPDIR", place.path()));
    run.wait_for_line("teardown, statement 1 of 1");
    // The journal of the record may or may not exist at this moment.
    let mut names = place.names();
    names.retain(|name| !name.starts_with("r.assay"));
    assert_eq!(names.len(), 2, "the workload and the database: {names:?}");
    run.signal(Signal::SIGINT);
    run.wait_for_line("ending the run:");
    run.signal(Signal::SIGINT);
    run.wait_for_end();
    wait_until("the end of the database", || place.names() == ["r.assay", "w.ini"]);
}

#[test]
fn an_interrupt_ends_even_the_counting_of_a_table() {
    // An endless view replaces a table that takes hours to count.
    let endless = "create view t as with recursive n (i) as (select 1 union all select i + 1 from \
                   n) select i as a from n";
    let table = "[load t]\nrows = 5\ncolumns = a: row()\n[read]\nquery = select 1\n";
    let place = TestFolder::with(table);
    rusqlite::Connection::open(place.at("t.db")).unwrap().execute_batch(endless).unwrap();
    let run = ["run", "w.ini", "--url", "sqlite:t.db", "--loaded", "--json", "--out", "r.assay"];
    let mut run = place.start(&run);
    run.wait_for_line("counting the rows of t");
    run.signal(Signal::SIGINT);
    assert_eq!(run.wait_for_end().expect(130).json()["run"]["ended"], "interrupted");
}

#[test]
fn a_second_interrupt_ends_even_a_teardown_that_never_returns() {
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let job = "duration = 1s\n[read]\nquery = select 1\nrate = 20";
    let place = TestFolder::with(&format!("{job}\n[teardown]\nquery = {endless}\n"));
    let mut run = place.start(&RUN);
    run.wait_for_line("teardown, statement 1 of 1");
    run.signal(Signal::SIGINT);
    run.wait_for_line("ending the run:");
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().json();
    assert_eq!(summary["run"]["ended"], "completed");
    assert_balanced(&summary);
}

#[test]
fn second_interrupt_skips_the_teardown() {
    // After the first interrupt, the run waits for the endless request until the drain ends.
    let endless = "with recursive n (i) as (select 1 union all select i + 1 from n) \
                   select count(*) from n";
    let workload = TABLE.replace("duration = 1m", "duration = 1m\ndrain = 1h");
    let place = TestFolder::with(&format!("{workload}[long]\nquery = {endless}\ncount = 1\n"));
    let mut run = place.start(&RUN);
    run.wait_for_second(1, "read");
    run.signal(Signal::SIGINT);
    run.wait_for_line("ending the run:");
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_balanced(&summary);
    assert_eq!(job(&summary, "long")["timeouts"], 1);
    let tables = "select count(*) from sqlite_schema where name = 't'";
    assert_eq!(number(&place.at("t.db"), tables), 1);
}

/// Requests that are still in flight at the end of the drain time out at that moment, in real time
/// as well.
#[test]
fn a_run_ends_with_its_drain_however_long_a_request_takes() {
    let file = "duration = 1s\ndrain = 1s\n[read]\nquery = select 1\nevery = 500ms\n";
    let place = TestFolder::with(file);
    let url = "sim:md1?service=1h";
    let summary = place.assay(&["run", "w.ini", "--url", url, "--json"]).json();
    assert_balanced(&summary);
    let read = job(&summary, "read");
    assert_eq!((&read["timeouts"], &read["scheduled"]), (&1.into(), &1.into()), "{summary}");
    assert_eq!(read["errors_by_code"][0]["code"], "drain");
}

#[test]
fn an_interrupted_run_ends_with_its_drain_however_long_a_request_takes() {
    let file = "duration = 1h\ndrain = 1s\n[read]\nquery = select 1\nrate = 20\n";
    let place = TestFolder::with(file);
    let mut run = place.start(&["run", "w.ini", "--url", "sim:md1?service=1h", "--json"]);
    run.wait_for_second(1, "read");
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_balanced(&summary);
    assert_eq!(job(&summary, "read")["completed"], 0);
}

#[test]
fn interrupt_in_the_teardown_leaves_the_run_complete() {
    let slow = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000000) \
                select count(*) from n";
    let file = format!(
        "duration = 1s\n[read]\nquery = select 1\nevery = 300ms\n[teardown]\nquery = {slow}\n"
    );
    let place = TestFolder::with(&file);
    let mut run = place.start(&["run", "w.ini", "--json", "--url", "sqlite:t.db"]);
    run.wait_for_line("teardown, statement 1 of 1");
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end();
    assert_eq!(ran.json()["run"]["ended"], "completed", "{}", ran.stderr);
    assert_ne!(ran.code, 130);
}
