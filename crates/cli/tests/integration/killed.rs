//! Tests that the record of a killed run is complete up to the last second, and that a killed
//! program leaves no process and no temporary folder.

use std::fs::{self, File};
use std::io::Read;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value;

use crate::support::{Running, TestFolder, check, job, wait_until};

/// Waits until `is_there` returns false.
#[track_caller]
pub(crate) fn wait_until_gone(what: &str, is_there: impl Fn() -> bool) {
    wait_until(&format!("the end of {what}"), || !is_there());
}

const EVEN: &str = "\
duration = 1m
[read]
query = select 1
rate = 200
arrival = uniform
slo = p99 < 10s
";

/// A server with a service time that makes the generator's own lag negligible.
const SERVER: &str = "sim:mdc?service=500ms&servers=unlimited";

/// Returns the folder and the export of a run that was killed when it reported its fifth second.
fn killed_after_five_seconds() -> (TestFolder, Value) {
    let place = TestFolder::with(EVEN);
    let mut run = place.start(&["run", "w.ini", "--url", SERVER, "--out", "r.assay"]);
    run.wait_for_second(5, "read");
    run.signal(Signal::SIGKILL);
    assert_eq!(run.wait_for_end().code, -1);
    let export = place.export_json("r.assay");
    (place, export)
}

/// Returns true if the first four seconds of an export have all of their requests, and if all
/// requests of the first three seconds were answered.
fn is_complete(export: &Value) -> bool {
    let count = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let rows = export["intervals"].as_array().unwrap();
    let scheduled: Vec<u64> = rows.iter().map(|row| count(row, "scheduled")).collect();
    // The first of the evenly spaced requests is due 5 ms after time zero.
    scheduled.starts_with(&[199, 200, 200, 200])
        && rows[..3].iter().all(|row| count(row, "completed") == count(row, "scheduled"))
}

/// A busy machine may delay answers by 1.5 s, so the test has up to three attempts.
#[test]
fn invariant_7_run_killed_after_five_seconds_is_complete_up_to_the_fourth() {
    let mut runs = std::iter::repeat_with(killed_after_five_seconds).take(3);
    let (place, export) = runs.find(|(_, export)| is_complete(export)).expect("complete seconds");
    let report = place.assay(&["report", "r.assay"]);
    assert!(report.stdout.contains("Killed, or still running, after"), "{}", report.stdout);
    assert_eq!(report.stderr, "");
    // Requests in flight have no outcome; the verdict depends on their number.
    let is_invalid = report.stdout.starts_with("INVALID") || report.stdout.contains("\nINVALID");
    report.expect(if is_invalid { 3 } else { 0 });
    // The open transaction of the killed run was rolled back, and its journal is gone.
    assert_eq!(place.names(), ["r.assay", "w.ini"]);
    assert_eq!(export["run"]["ended"], Value::Null);
    for format in ["hlog", "csv"] {
        assert!(place.export("r.assay", format).lines().count() >= 4, "{format}");
    }
}

#[test]
fn report_of_a_killed_run_judges_it() {
    let place = TestFolder::with(&EVEN.replace("10s\n", "1us\n"));
    let mut run = place.start(&["run", "w.ini", "--url", SERVER, "--out", "r.assay"]);
    run.wait_for_second(2, "read");
    run.signal(Signal::SIGKILL);
    run.wait_for_end();
    let report = place.assay(&["report", "r.assay", "--json"]);
    let summary = report.json();
    assert_eq!(summary["run"]["ended"], "killed");
    assert_eq!(check(&summary, "complete")["status"], "suspect");
    assert_eq!(job(&summary, "read")["slo"][0]["met"], false);
    report.expect(if summary["verdict"]["status"] == "INVALID" { 3 } else { 1 });
    place.assay(&["report", "r.assay", "--strict"]).expect(3);
}

/// The child of the program and its grandchild (`sleep`) hold a pipe open; end of file shows that
/// both have ended.
#[test]
fn killed_run_leaves_no_temporary_database_and_no_program() {
    let place = TestFolder::with(
        "duration = 1h\n[read]\nquery = select 1\nevery = 100ms\n\
         [program]\ncommand = (sleep 1000; true) > alive; true\nconcurrency = 1\n",
    );
    mkfifo(&place.at("alive"), Mode::S_IRWXU).unwrap();
    let folder = place.at("tmp");
    fs::create_dir(&folder).unwrap();
    let args = ["run", "w.ini", "--url", "sqlite:", "--allow-commands", "--out", "r.assay"];
    let mut run = Running::of(place.command(&args).env("TMPDIR", &folder));
    let mut alive = File::open(place.at("alive")).unwrap();
    run.wait_for_second(1, "read");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    run.signal(Signal::SIGKILL);
    assert_eq!(run.wait_for_end().code, -1);
    assert_eq!(alive.read_to_end(&mut Vec::new()).unwrap(), 0);
    wait_until_gone("the folder", || fs::read_dir(&folder).unwrap().count() > 0);
}

/// Expects neither the folder with the records of the calibration nor its simulated server, a
/// separate process, to be left.
#[test]
fn killed_calibration_leaves_no_folder_and_no_server() {
    let place = TestFolder::new();
    let folder = place.at("tmp");
    fs::create_dir(&folder).unwrap();
    let mut command = place.command(&["calibrate", "--quick", "--no-store"]);
    let mut calibration = Running::in_lockstep(command.env("TMPDIR", &folder));
    calibration.wait_for_line("PostgreSQL's protocol over loopback …");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    calibration.signal(Signal::SIGKILL);
    assert_eq!(calibration.wait_for_end().code, -1);
    wait_until_gone("the folder", || fs::read_dir(&folder).unwrap().count() > 0);
    // Every process of this calibration runs in this folder.
    let path = place.path().canonicalize().unwrap();
    let runs_here = |process: fs::DirEntry| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == path)
    };
    wait_until_gone("a process", || fs::read_dir("/proc").unwrap().flatten().any(runs_here));
}
