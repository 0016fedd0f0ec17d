//! A run in which nothing is wrong, on a real server and for as long as runs are. In a program of
//! its own, because other tests beside it would be what is wrong.

use std::process::Command;

use serde_json::Value;

/// What a machine does to a generator that shares it with others. Whatever else objects would be a
/// false alarm.
const OF_THE_MACHINE: [&str; 5] =
    ["stall", "processor-wait", "stolen-time", "send-lag", "frequency"];

const WARM_CACHE: &str = "\
duration = 60s
warmup = 5s
[params]
rows = 20k
[setup]
query = create table account (id bigint primary key, balance bigint)
[load account]
rows = ${rows}
columns = id: row(), balance: uniform(0, 1000)
[read]
query = select balance from account where id = ${uniform(1, rows)}
rate = 300
expect-rows = 1
";

#[test]
fn a_minute_of_moderate_load_on_a_warm_cache_is_valid() {
    let place = tempfile::TempDir::with_prefix("assay-test-").unwrap();
    std::fs::write(place.path().join("w.ini"), WARM_CACHE).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run", "w.ini", "--url", "testbed:postgres", "--json"])
        .current_dir(place.path())
        .env("XDG_STATE_HOME", place.path().join("state"))
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let checks = document["verdict"]["checks"].as_array().unwrap();
    let is_objection =
        |check: &&Value| check["status"] == "suspect" || check["status"] == "invalid";
    let of_the_machine = |check: &&Value| OF_THE_MACHINE.iter().any(|name| check["name"] == *name);
    let objections: Vec<&Value> = checks.iter().filter(is_objection).collect();
    let (machine, others): (Vec<&Value>, Vec<&Value>) =
        objections.into_iter().partition(of_the_machine);
    assert!(others.is_empty(), "{others:#?}");
    // A machine that is busy makes a run SUSPECT, and says so; it does not spoil it altogether.
    assert!(machine.iter().all(|check| check["status"] == "suspect"), "{machine:#?}");
    for name in ["rate", "arrivals", "gaps", "backlog", "drift", "step", "wrong-results", "commits"]
    {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["status"], "pass", "{check:#}");
    }
}
