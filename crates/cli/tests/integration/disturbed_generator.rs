//! Tests that a load generator that is kept from its work reports this, and does not blame the
//! database.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{MM1, TestFolder, check};

/// A workload with an open job. A run takes eight seconds, unless a test replaces the duration.
const OPEN: &str = "duration = 8s\n[read]\nquery = select 1\nrate = 200\n";

/// A real server.
const POSTGRES: &str = "testbed:postgres";

/// A process that keeps a processor busy until the test ends.
struct BusyProcess(Child);

impl BusyProcess {
    fn on(processor: &str) -> BusyProcess {
        let mut command = Command::new("taskset");
        // The limit on processor time ends the process if the test is killed.
        command.args(["-c", processor, "sh", "-c", "ulimit -t 30; while :; do :; done"]);
        BusyProcess(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for BusyProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_objection(check: &Value) -> bool {
    ["suspect", "invalid"].contains(&check["status"].as_str().unwrap())
}

#[test]
fn frozen_generator_is_distinguished_from_a_slow_database() {
    let place = TestFolder::with(&OPEN.replace("8s", "14s"));
    let mut run = place.start(&["run", "w.ini", "--url", POSTGRES, "--json", "--out", "r.assay"]);
    run.wait_for_second(2, "read");
    run.signal(Signal::SIGSTOP);
    assert!(Command::new("sleep").arg("0.4").status().unwrap().success());
    run.signal(Signal::SIGCONT);
    let summary = run.wait_for_end().json();
    assert_ne!(summary["verdict"]["status"], "VALID");
    let stall = check(&summary, "stall");
    assert!(is_objection(stall), "{stall}");
    assert!(stall["value"].as_f64().unwrap() >= 280.0, "{stall}");
    let words = stall["explain"].as_str().unwrap();
    assert!(words.contains("the load generator or its machine, not the database"), "{words}");
    let again = place.assay(&["report", "r.assay", "--full"]).stdout;
    assert!(again.contains("stalled for"), "{again}");
}

#[test]
fn a_busy_loop_on_the_processor_of_the_generator_is_noticed() {
    let place = TestFolder::with(OPEN);
    let _busy = [BusyProcess::on("0"), BusyProcess::on("0"), BusyProcess::on("0")];
    let args = ["run", "w.ini", "--url", POSTGRES, "--json", "--out", "r.assay", "--cpus", "0"];
    let summary = place.assay(&args).json();
    assert_ne!(summary["verdict"]["status"], "VALID");
    let reasons = ["send-lag", "processor-wait", "stall"].map(|name| check(&summary, name));
    assert!(reasons.iter().any(|check| is_objection(check)), "{reasons:?}");
    let words = check(&summary, "processor-wait")["explain"].as_str().unwrap();
    assert!(!words.contains("probably"), "{words}");
    let others = check(&summary, "other-programs");
    assert!(is_objection(others), "{others}");
    let programs = summary["limiter"]["seen"]["programs"].as_array().unwrap();
    let loops = programs.iter().find(|program| program["name"] == "sh");
    assert!(loops.is_some_and(|sh| sh["pid"].as_u64() > Some(0)), "{programs:?}");
}

/// Returns the names of a process's threads, and the processors that each may run on.
fn threads(pid: u32) -> Vec<(String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let thread = |task: PathBuf| {
        // A thread may have ended meanwhile.
        let status = std::fs::read_to_string(task.join("status")).ok()?;
        let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        Some((value("Name:")?.trim().to_owned(), value("Cpus_allowed_list:")?.trim().to_owned()))
    };
    tasks.filter_map(|task| thread(task.unwrap().path())).collect()
}

/// Returns the processors on which this test may run.
fn own_processors() -> String {
    let (_, list) = threads(std::process::id()).remove(0);
    list
}

/// The lane announces time zero and thereby starts the observers. The record, the op-log and the
/// results are written by threads of their own. None of these threads may use the lane's processor,
/// unless it is the only one.
#[test]
fn other_threads_avoid_the_processor_of_a_bound_lane() {
    let place = TestFolder::with(
        "duration = 1m\n[read]\nquery = select 1\nrate = 100\nquery-results-file = rows.csv\n",
    );
    let args = ["run", "w.ini", "--url", "sqlite:", "--out", "r.assay", "--cpus", "0"];
    let mut run = place.start(&[&args[..], &["--op-log", "ops.csv"]].concat());
    run.wait_for_second(1, "read");
    let threads = threads(run.id());
    run.signal(Signal::SIGINT);
    assert!(run.wait_for_end().code != 2, "{threads:?}");
    let processors = |name: &str| -> Vec<&str> {
        let named = threads.iter().filter(|(thread, _)| thread == name);
        named.map(|(_, list)| list.as_str()).collect()
    };
    assert_eq!(processors("lane-0"), ["0"]);
    // The list itself is not compared, because its form depends on the machine.
    let is_alone = own_processors() == "0";
    for (name, number) in [("watch", 1), ("watch-database", 1), ("recorder", 1), ("spool", 2)] {
        let of_it = processors(name);
        assert_eq!(of_it.len(), number, "{name}");
        let has_first = |list: &&str| list.split([',', '-']).next() == Some("0");
        assert!(of_it.iter().all(|list| has_first(list) == is_alone), "{name}: {of_it:?}");
    }
}

/// Expects no percentiles for an overload. Two workers whose requests sleep for 10 ms can execute
/// 200 requests per second.
#[test]
fn overloaded_real_server_has_no_percentiles() {
    let place = TestFolder::with(
        "duration = 8s\ndrain = 1s\n[slow]\nquery = select pg_sleep(0.01)\nrate = 400\n\
         concurrency = 2\n",
    );
    let args = ["run", "w.ini", "--url", POSTGRES, "--out", "r.assay"];
    let text = place.assay(&args).stdout;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("response withheld: the load exceeds the capacity"), "{text}");
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(summary["jobs"][0]["response_ms"]["withheld"], "exceeds capacity");
    assert_eq!(summary["jobs"][0]["response_ms"]["p99"], Value::Null);
    assert_eq!(summary["jobs"][0]["estimates"], serde_json::json!([]));
    assert!(is_objection(check(&summary, "backlog")));
}

#[test]
fn every_check_is_in_the_document_and_has_a_place_in_the_guide() {
    let place = TestFolder::with("duration = 3s\n[read]\nquery = select 1\nrate = 200\n");
    let summary = place.run_virtually(MM1, &[]).json();
    let guide = include_str!("../../../../docs/checks.md");
    let checks = summary["verdict"]["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 32);
    for check in checks {
        let name = check["name"].as_str().unwrap();
        assert!(guide.contains(&format!("\n### {name}\n")), "{name}");
    }
}
