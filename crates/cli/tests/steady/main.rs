//! Tests that would be disturbed by concurrent tests, so they are in a program of their own. Runs
//! on real servers must be VALID, or their true limiter must be identified. Experiments run on a
//! machine that becomes busy.

#![allow(clippy::unwrap_used, reason = "helpers of tests may, as tests do")]

mod busy;
mod limiters;
#[allow(dead_code, reason = "this program needs a part of what the tests share")]
#[path = "../support/mod.rs"]
mod support;
mod witness;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::Value;

use crate::support::TestFolder;
use crate::witness::ReferenceProbe;

/// Checks that may object because other programs use the machine.
const MACHINE_CHECKS: [&str; 6] =
    ["stall", "processor-wait", "stolen-time", "other-programs", "send-lag", "frequency"];

/// Checks that may object if other programs take the processors for a while. The reference probe
/// must then show that the machine changed; otherwise the objection is a false alarm.
const CHANGED_MACHINE_CHECKS: [&str; 2] = ["drift", "step"];

const WARM_CACHE: &str = "\
duration = 18s
warmup = 3s
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

/// The lock that the tests hold while they use the machine.
static MACHINE: RwLock<()> = RwLock::new(());

/// Reserves the machine for one test.
fn reserve_machine() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Shares the machine with other tests that hardly use it.
fn share_machine() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a file against a private server and returns the document of the run.
fn run(place: &TestFolder, file: &str, url: &str, arguments: &[&str]) -> Value {
    place.assay(&[&["run", file, "--url", url, "--json"], arguments].concat()).json()
}

#[test]
fn moderate_load_on_a_warm_cache_is_valid() {
    let _machine = reserve_machine();
    let place = TestFolder::with(WARM_CACHE);
    let witness = ReferenceProbe::begin();
    let document = run(&place, "w.ini", "testbed:postgres", &[]);
    let machine = witness.end();
    let is_of = |names: &[&str], check: &Value| names.iter().any(|name| check["name"] == *name);
    let excused = |check: &Value| {
        is_of(&MACHINE_CHECKS, check)
            || (machine.changed() && is_of(&CHANGED_MACHINE_CHECKS, check))
    };
    let checks = document["verdict"]["checks"].as_array().unwrap();
    let is_objection =
        |check: &&Value| check["status"] == "suspect" || check["status"] == "invalid";
    let objections = checks.iter().filter(is_objection);
    let (of_the_machine, others): (Vec<&Value>, Vec<&Value>) =
        objections.partition(|check| excused(check));
    assert!(others.is_empty(), "{others:#?} {machine:?}");
    // A busy machine makes a run SUSPECT with a reason, but not INVALID.
    let suspects = of_the_machine.iter().all(|check| check["status"] == "suspect");
    assert!(suspects, "{of_the_machine:#?}");
    for name in ["rate", "arrivals", "gaps", "backlog", "wrong-results", "commits"] {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_eq!(check["status"], "pass", "{check:#}");
    }
    for name in CHANGED_MACHINE_CHECKS {
        let check = checks.iter().find(|check| check["name"] == name).unwrap();
        assert_ne!(check["status"], "not-possible", "{check:#}");
    }
}

/// Runs the study `mixed` on both databases at the same time; each hardly uses the processors.
/// PostgreSQL uses no parallel workers, for which two processors are too few.
#[test]
fn clean_up_of_the_mixed_study_is_reported_as_the_cause() {
    let _machine = reserve_machine();
    let urls = ["testbed:postgres?server.max_parallel_workers_per_gather=0", "testbed:mariadb"];
    let failed = std::thread::scope(|scope| {
        let studies = urls.map(|url| scope.spawn(|| check_clean_up(url)));
        studies.map(|study| study.join().is_err())
    });
    assert_eq!(failed, [false, false], "{urls:?}");
}

/// Runs the study and checks its effect: each clean-up deletes more than half of the table, which
/// makes the reads faster.
fn check_clean_up(url: &str) {
    const STUDY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/mixed.ini");
    const MOST_RUNS: usize = 3;
    const SHORT: [&str; 6] = ["--set", "quarter=11s", "--set", "life=11s", "--set", "readers=2"];
    let place = TestFolder::new();
    // Other programs on the machine may hide an effect, because their noise correlates neighbouring
    // seconds. The test then tries again. Other programs never make a different cause appear, so
    // the test fails at once if the answer names one.
    let runs = (0..MOST_RUNS).map(|_| run(&place, STUDY, url, &SHORT));
    let mut found = runs.filter_map(|document| effect_of_clean_up(&document));
    let effect = found.next().unwrap_or_else(|| panic!("{url}: no effect in {MOST_RUNS} runs"));
    let number = |name: &str| effect[name].as_f64().unwrap();
    let gain = match effect["figure"] == "throughput_per_s" {
        true => number("to") / number("from"),
        false => number("from") / number("to"),
    };
    assert!(gain > 1.2, "{effect:#}");
    // The last of three clean-ups, which come every 11 s.
    assert!((33.0..=35.0).contains(&number("t_s")), "{effect:#}");
    assert_eq!((&effect["began"], &effect["times"]), (&false.into(), &3.into()), "{effect:#}");
}

/// Returns the effect of the clean-ups on the reads; `None` if the document has no such effect. If
/// neighbouring seconds are correlated, the effect may stay undecided.
fn effect_of_clean_up(document: &Value) -> Option<Value> {
    let effects = document["effects"].as_array().unwrap();
    if effects.is_empty() {
        return None;
    }
    let limiter = &document["limiter"];
    let is_true = ["concurrency", "other-programs"].map(|name| limiter["component"] == name);
    assert!(is_true.contains(&true), "{limiter:#}");
    assert!(effects.iter().any(|effect| effect["cause"] == "cleanup"), "{effects:#?}");
    // The inserts may become slower, because the clean-up leaves work to the server.
    let of_reads = |effect: &&Value| effect["cause"] == "cleanup" && effect["job"] == "analytics";
    effects.iter().find(of_reads).cloned()
}
