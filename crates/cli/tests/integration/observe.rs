//! Tests of `assay observe`, and of the observation during a run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;
use testbed::{Kind, Options, Server};

use crate::support::{CommandResult, Running, TestFolder};

fn unseen(document: &Value) -> Vec<&str> {
    let unseen = document["limiter"]["unseen"].as_array().unwrap();
    unseen.iter().map(|it| it["what"].as_str().unwrap()).collect()
}

/// The possible limiters of a busy loop, which on a shared machine may lack processor time.
const OF_A_LOOP: [&str; 3] = ["generator-thread", "generator-cpu", "other-programs"];

#[test]
fn a_busy_program_is_limited_by_its_own_thread() {
    let place = TestFolder::new();
    let spin = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; exit 3";
    let ran = place.assay(&["observe", "--every", "200ms", "--json", "--", "sh", "-c", spin]);
    let ran = ran.expect(0);
    assert!(ran.stderr.contains("ended with exit status: 3"), "{}", ran.stderr);
    let limiter = ran.json()["limiter"]["component"].clone();
    assert!(OF_A_LOOP.iter().any(|known| limiter == *known), "{limiter}");
}

#[test]
fn running_process_is_observed_and_the_cost_is_reported() {
    let place = TestFolder::new();
    let mut shell = Command::new("sh");
    let busy = Running::of(shell.args(["-c", "while :; do :; done"]));
    let number = busy.id().to_string();
    let line = ["observe", "--pid", &number, "--duration", "3s", "--out", "r.assay", "--json"];
    let ran = place.assay(&line).expect(0);
    drop(busy);
    let document = ran.json();
    let limiter = document["limiter"]["component"].clone();
    assert!(OF_A_LOOP.iter().any(|known| limiter == *known), "{limiter}");
    let share = document["observing_share"].as_f64().expect("what observing costs");
    assert!(share > 0.0 && share < 0.5, "{share}");
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    let shown = text.lines().find(|line| line.starts_with("observing"));
    assert!(shown.is_some_and(|line| line.contains("% of one core")), "{text}");
    assert!(text.contains(&format!("`process {number} (sh)` for ")), "{text}");
}

#[test]
fn unobservable_process_is_reported() {
    let place = TestFolder::new();
    let nothing = place.assay(&["observe"]).expect(2);
    assert!(nothing.stderr.contains("there is nothing to observe"), "{}", nothing.stderr);
    let none = place.assay(&["observe", "--", "no-such-program"]).expect(2);
    let words = ["cannot be started", "help: write a program that the shell finds"];
    assert!(words.iter().all(|word| none.stderr.contains(word)), "{}", none.stderr);
    let gone = place.assay(&["observe", "--pid", "4194304"]).expect(2);
    let words = ["there is no process 4194304", "help: name the number of a process that runs"];
    assert!(words.iter().all(|word| gone.stderr.contains(word)), "{}", gone.stderr);
    let two = place.assay(&["observe", "--pid", "1", "--", "true"]).expect(2);
    assert!(two.stderr.contains("two programs"), "{}", two.stderr);
    // An unreachable server does not prevent the observation of the program.
    let url = "postgres://u@127.0.0.1:1/d";
    let ran = place.assay(&["observe", url, "--json", "--", "sleep", "2"]).expect(0);
    let document = ran.json();
    assert!(unseen(&document).contains(&"database"), "{document:#}");
    let warnings = ran.stderr.matches("warning: cannot observe the database: ").count();
    assert_eq!(warnings, 1, "{}", ran.stderr);
    let processes = "warning: cannot observe the processes of the database: no visible process";
    assert_eq!(ran.stderr.matches(processes).count(), 1, "{}", ran.stderr);
    let url = "postgres://u@127.0.0.1:1,127.0.0.1:2/d";
    let ran = place.assay(&["observe", url, "--", "sleep", "1"]).expect(0);
    let several = "warning: cannot observe the database: the URL names several servers";
    assert_eq!(ran.stderr.matches(several).count(), 1, "{}", ran.stderr);
    let blind = place.assay(&["observe", "--", "true"]).expect(0);
    assert!(
        blind.stderr.contains("warning: no URL: the database is not observed"),
        "{}",
        blind.stderr
    );
}

/// The observation ignores the first Ctrl-C, which is meant for the program: the terminal sends it
/// to the program as well.
#[test]
fn signals_end_the_observation_and_not_the_program() {
    let place = TestFolder::new();
    let program = "echo begun >&2; sleep 4; echo done > out.txt";
    let line = ["observe", "--json", "--out", "r.assay", "--", "sh", "-c", program];
    let mut observed = place.start(&line);
    observed.wait_for_line("begun");
    observed.signal(Signal::SIGINT);
    observed.signal(Signal::SIGTERM);
    let ran = observed.wait_for_end().expect(130);
    assert_eq!(ran.json()["run"]["ended"], "interrupted");
    let text = place.assay(&["report", "r.assay"]).expect(0).stdout_line();
    assert!(text.contains("it went on"), "{text}");
    // The program holds stderr open, and stderr was read to its end, so the program has ended.
    assert_eq!(std::fs::read_to_string(place.at("out.txt")).unwrap(), "done\n");
}

#[test]
fn argument_in_another_encoding_reaches_the_program() {
    let place = TestFolder::new();
    let program = r#"test "$1" = "$(printf '\351')""#;
    let mut command = place.command(&["observe", "--json", "--", "sh", "-c", program, "sh"]);
    let ran = CommandResult::of(command.arg(OsStr::from_bytes(b"\xe9"))).expect(0);
    assert!(!ran.stderr.contains("exit status"), "{}", ran.stderr);
}

#[test]
fn a_secret_of_the_program_is_in_no_record() {
    let place = TestFolder::new();
    let line = ["observe", "--out", "r.assay", "--", "true", "--password=geheim", "-pgeheim"];
    place.assay(&line).expect(0);
    let bytes = std::fs::read(place.at("r.assay")).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"geheim"));
}

#[test]
fn database_is_not_queried_if_disabled() {
    let server = testbed::shared(Kind::Postgres);
    let workload = "duration = 3s\n[observe]\ndatabase = no\n[a]\nquery = select 1\nrate = 50\n";
    let place = TestFolder::with(workload);
    let mut command =
        place.command(&["run", "w.ini", "--out", "r.assay", "--url", &server.url().to_string()]);
    command.env("ASSAY_PASSWORD", server.password().expose());
    CommandResult::of(&mut command);
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let count = |component: &str| -> i64 {
        let sql = "select count(*) from series where component = ?";
        record.query_row(sql, [component], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("sessions"), count("waits")), (0, 0));
    assert!(count("server") > 5 && count("sockets generator") > 3);
}

/// A check constraint that costs PostgreSQL 10 µs or more per row.
const LOADED: &str = "[setup]
query = create table costly (v bigint check (factorial(120 + v % 2) > 0))
[load costly]
rows = 200000
columns = v: uniform(1, 1000000)
";

#[test]
fn load_reports_its_limiter() {
    let server = Server::start(&Options::postgres()).unwrap();
    let place = TestFolder::with(LOADED);
    let url = server.url().to_string();
    let mut command =
        place.command(&["load", "w.ini", "--json", "--out", "r.assay", "--url", &url]);
    command.env("ASSAY_PASSWORD", server.password().expose());
    let load = CommandResult::of(&mut command).expect(0).json()["loads"][0].clone();
    let s = |field: &str| load[field].as_f64().unwrap_or_else(|| panic!("{field}: {load:#}"));
    // The rows cost 2 s or more of processor time, even if the session had to wait for a processor.
    assert!(s("server_cpu_s") > 1.0, "{load:#}");
    assert!(s("server_cpu_s") < 1.5 * s("length_s"), "{load:#}");
    assert!(!load["because"].as_str().unwrap().is_empty());
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let sql = "select count(distinct metric) from series join load_sample using (series) where \
               table_name = 'costly' and component = ?";
    for component in ["server", "generator", "sessions", "waits", "sockets server", "host"] {
        let count: i64 = record.query_row(sql, [component], |row| row.get(0)).unwrap();
        assert!(count > 0, "{component}");
    }
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(text.contains("server CPU") && text.contains("limited"), "{text}");
}

#[test]
fn brief_load_is_not_observed() {
    let place = TestFolder::with(
        "[setup]\nquery = create table t (v int)\n[load t]\nrows = 10\ncolumns = v: row()\n",
    );
    let line = ["load", "w.ini", "--json", "--out", "r.assay", "--url", "sqlite:t.db"];
    let load = place.assay(&line).expect(0).json()["loads"][0].clone();
    assert_eq!((&load["limiter"], &load["server_cpu_s"]), (&"unknown".into(), &Value::Null));
    assert!(load["because"].as_str().unwrap().contains("too short"), "{load:#}");
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let sql = "select count(*) from load_sample";
    let count: i64 = record.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
}
