//! A test on a real machine that becomes busy within an experiment.

use std::path::Path;
use std::process::Command;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use rusqlite::Connection;

use crate::reserve_machine;
use crate::support::{Running, TestFolder};

/// Restricts this thread, and the programs that it starts from now on, to one processor.
fn use_one_processor() {
    let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let last = (0..CpuSet::count()).rev().find(|place| all.is_set(*place).unwrap()).unwrap();
    let mut one = CpuSet::new();
    one.set(last).unwrap();
    sched_setaffinity(Pid::from_raw(0), &one).unwrap();
}

/// Starts a program that keeps a processor busy. The program ends when the returned value is
/// dropped, or after 30 s of processor time.
fn busy_program() -> Running {
    Running::of(Command::new("sh").args(["-c", "ulimit -t 30; while :; do :; done"]))
}

/// Returns the canary of each run, in nanoseconds: the time of a request to the null server, taken
/// before the run.
fn canaries(record: &Path) -> Vec<f64> {
    let record = Connection::open(record).unwrap();
    let sql = "select value from setting where name = 'generator.canary_ns' order by run";
    let mut select = record.prepare(sql).unwrap();
    let values = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    values.map(|value| value.unwrap().parse().unwrap()).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// From the seventh run on, three other programs share the only processor. The requests are so long
/// that the send lag does not matter.
#[test]
fn machine_that_becomes_busy_within_an_experiment_is_reported() {
    let _machine = reserve_machine();
    let place = TestFolder::with(
        "url = sim:md1?service=40ms\nduration = 400ms\n[read]\nquery = select 1\nconcurrency = 1\n",
    );
    let aa = "[question]\nask = ?\nworkload = w.ini\ndesign = aa\nrounds = 6\n[arm same]\n";
    place.write("aa.ini", aa);
    let on_one_processor = || {
        use_one_processor();
        let mut run = place.start(&["run", "aa.ini", "--out", "r.assay"]);
        let is_halfway = run.prints_line_before_end("run 7 of");
        let _busy = [(); 3].map(|()| busy_program());
        (is_halfway, run.wait_for_end())
    };
    let (is_halfway, ran) =
        std::thread::scope(|scope| scope.spawn(on_one_processor).join().unwrap());
    // The load generator may fail in too many rounds if the processor has even more to do.
    let is_lost = ran.stdout.contains("No answer: the load generator or the machine failed");
    assert!(is_halfway || is_lost, "{}", ran.stderr);
    if is_halfway {
        let canaries = canaries(&place.at("r.assay"));
        let (before, after) = canaries.split_at(6);
        assert!(median(after) > 1.2 * median(before), "{canaries:?}");
    }
    if !is_lost {
        assert!(ran.stdout_line().contains("the machine became "), "{}", ran.stdout);
        let document = place.assay(&["report", "r.assay", "--json"]).expect(ran.code).json();
        let changes = document["machine_changes"].as_array().unwrap();
        let drift = changes.iter().find(|change| change["arm"].is_null()).unwrap();
        assert!(drift["change_percent"].as_f64() > Some(20.0), "{changes:?}");
    }
}
