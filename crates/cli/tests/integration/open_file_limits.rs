//! Tests of the limit of open files: runs with more connections, and a sweep with more runs, than
//! the limit allows.

use std::process::Command;

use testbed::Kind;
use testbed::wire_server::{Simulation, WireServer};

use crate::support::{CommandResult, TestFolder, assert_balanced, job};

/// Returns a workload with this many clients.
fn workload_with_clients(count: u32) -> String {
    format!("duration = 3s\n[read]\nquery = select 1\nconcurrency = {count}\nthink = 200ms\n")
}

/// Runs the program under a limit of open files, given as arguments of `ulimit`, against a server
/// that answers at once.
fn run(place: &TestFolder, ulimit: &str, kind: Kind, more: &[&str]) -> CommandResult {
    let server = WireServer::start(Simulation::at_once(kind)).unwrap();
    let scheme = match kind {
        Kind::Postgres => "postgres",
        Kind::Mariadb | Kind::Mysql => "mysql",
    };
    let url = format!("{scheme}://ann:hunter2@{}/shop", server.address());
    let args = ["run", "w.ini", "--url", &url, "--json", "--quiet", "--out", "r.assay"];
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {ulimit} && exec \"$0\" \"$@\"")]);
    command.arg(env!("CARGO_BIN_EXE_assay")).args(args).args(more);
    CommandResult::of(place.run_in_folder(&mut command))
}

/// Checks that all clients got a connection.
#[track_caller]
fn assert_all_connected(ran: &CommandResult, place: &TestFolder, connections: u32) {
    let summary = ran.json();
    assert_balanced(&summary);
    let read = job(&summary, "read");
    assert_eq!((&read["connections"], &read["errors"]), (&connections.into(), &0.into()));
    let events = place.export_json("r.assay")["events"].to_string();
    assert!(!events.contains("files"), "{events}");
}

#[test]
fn low_limit_of_open_files_is_raised_to_the_hard_limit() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let place = TestFolder::with(&workload_with_clients(150));
        assert_all_connected(&run(&place, "-Sn 64", kind, &[]), &place, 150);
    }
}

/// The check precedes the first connection, and no record is left.
#[test]
fn too_many_connections_for_the_file_limit_are_refused_with_the_needed_limit() {
    let place = TestFolder::with(&workload_with_clients(150));
    let ran = run(&place, "-n 64", Kind::Postgres, &["--threads", "2"]);
    let ran = ran.refuses(&["150 connections", "this process may open 64", "`ulimit -n "]);
    assert_eq!(place.names(), ["w.ini"]);
    assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    // The suggested limit suffices, and is not much higher than needed.
    let (_, needed) = ran.stderr.split_once("`ulimit -n ").unwrap();
    let needed: u32 = needed.split('`').next().unwrap().parse().unwrap();
    assert!((151..300).contains(&needed), "{}", ran.stderr);
    let ran = run(&place, &format!("-n {needed}"), Kind::Postgres, &["--threads", "2"]);
    assert_all_connected(&ran, &place, 150);
    let less = run(&place, &format!("-n {}", needed - 1), Kind::Postgres, &["--threads", "2"]);
    less.expect(2);
}

/// An open job is refused only if its initial connections exceed the limit. Later, the limit only
/// keeps the job from opening more connections.
#[test]
fn open_job_needs_files_for_its_initial_connections_only() {
    let open = "duration = 3s\n[read]\nquery = select 1\nrate = 50\n";
    let place = TestFolder::with(&format!("connections = 8\nmax-connections = 9\n{open}"));
    let summary = run(&place, "-n 64", Kind::Postgres, &[]).json();
    assert_balanced(&summary);
    assert!(job(&summary, "read")["connections"].as_u64() >= Some(8), "{summary}");
    let place = TestFolder::with(&format!("connections = 8\n{open}"));
    run(&place, "-n 64", Kind::Postgres, &[]).json();
    let place = TestFolder::with(&format!("connections = 100\n{open}"));
    run(&place, "-n 64", Kind::Postgres, &[]).refuses(&["100 connections", "`ulimit -n "]);
}

/// Simulated servers need no files, in any number.
#[test]
fn simulated_target_needs_no_open_files() {
    let place = TestFolder::with(&workload_with_clients(1_000));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_assay")]);
    command.args(["run", "w.ini", "--url", "sim:mmc?service=1ms&servers=unlimited", "--json"]);
    command.args(["--quiet", "--out", "r.assay"]);
    let ran = CommandResult::of(place.run_in_folder(&mut command));
    assert_all_connected(&ran, &place, 1_000);
}

/// All 70 runs of the sweep belong to one round, so their answer needs the records of all of them:
/// the warm-up of each run ends where the longest warm-up ends.
#[test]
fn answer_of_a_sweep_needs_fewer_open_files_than_runs() {
    let place = TestFolder::with(
        "url = sim:mm1?service=1ms\nduration = 60s\nwarmup = auto\n[read]\nquery = select 1\n\
         concurrency = 1\nthink = 1s\n",
    );
    let sweep = "[sweep]\nvary = concurrency(read): 1..70 +1\nrepeats = 1\n";
    place.write("e.ini", format!("[question]\nask = ?\nworkload = w.ini\n{sweep}"));
    let runs_in_answer = |args: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_assay")]);
        command.args(args).arg("--json");
        let answer = CommandResult::of(place.run_in_folder(&mut command)).json();
        answer["runs"].as_array().unwrap().len()
    };
    let run = ["run", "e.ini", "--virtual", "--quiet", "--out", "r.assay"];
    assert_eq!(runs_in_answer(&run), 70);
    assert_eq!(runs_in_answer(&["report", "r.assay"]), 70);
}
