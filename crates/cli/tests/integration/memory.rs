//! Tests that a run is refused with a message if the limit on memory is too low.

use std::process::Command;

use crate::support::{CommandResult, TestFolder};

const READ: &str = "duration = 300ms\n[a]\nquery = select 1\nrate = 100\n";

/// Runs the program with this limit on its address space, in KiB.
fn limited(place: &TestFolder, kib: u32, args: &[&str]) -> CommandResult {
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_assay")]).args(args);
    place.run_in_folder(&mut command);
    CommandResult::of(&mut command)
}

#[test]
fn run_that_exceeds_the_memory_limit_is_refused() {
    let place = TestFolder::with(READ);
    // The limits leave enough room for the program itself.
    for (kib, threads) in [(70_000, "1"), (300_000, "1"), (80_000, "4"), (700_000, "4")] {
        let args = ["run", "w.ini", "--url", "sim:mm1", "--threads", threads, "--out", "r.assay"];
        let allowed = format!("may have {} MiB", kib >> 10);
        let ran = limited(&place, kib, &args).refuses(&["of address space", &allowed]);
        // The recommended limit is enough.
        let (_, advice) = ran.stderr.split_once("`ulimit -v ").unwrap();
        let kib: u32 = advice.split_once('`').unwrap().0.parse().unwrap();
        let enough = limited(&place, kib, &args);
        assert!(enough.code == 0 || enough.code == 3, "{}", enough.stderr);
        std::fs::remove_file(place.at("r.assay")).unwrap();
        assert_eq!(place.names(), ["w.ini"]);
    }
}

/// Expects no run to end with SIGABRT, which is how a failed allocation ends a program.
#[test]
fn limit_on_memory_never_aborts_a_run() {
    let place = TestFolder::with(READ);
    // The limits leave enough room for the program itself.
    for kib in (70_000..=1_500_000).step_by(200_000) {
        for (url, threads) in [("sim:mm1", "1"), ("sqlite:", "4")] {
            let record = format!("{kib}-{threads}.assay");
            let args = ["run", "w.ini", "--url", url, "--threads", threads, "--out", &record];
            let ran = limited(&place, kib, &args);
            assert!((0..=4).contains(&ran.code), "{kib} {url}: {} {}", ran.code, ran.stderr);
            assert!(!ran.stderr.contains("memory allocation"), "{kib} {url}: {}", ran.stderr);
        }
    }
}
