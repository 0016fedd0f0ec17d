//! Tests of the observation of other machines over ssh. A script replaces `ssh` and runs the
//! command locally.

use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{CommandResult, Running, TestFolder, wait_until};

/// A script that drops its options and the host, as ssh does, and runs the rest in a local shell.
const LOCAL_SSH_SCRIPT: &str = "#!/bin/sh
while [ \"$1\" != -- ]; do shift; done
shift 2
echo \"$$\" > ssh.pid
echo \"$*\" > asked
exec sh -c \"exec $*\"
";

/// Creates a folder that holds a workload file, a script under the name `ssh`, and a link to
/// `assay`.
fn place(workload: &str, ssh: &str) -> TestFolder {
    let place = TestFolder::with(workload);
    place.write("ssh.text", ssh);
    let (text, path) = (place.at("ssh.text"), place.at("ssh"));
    let status = Command::new("install").arg("-m755").args([text, path]).status();
    assert!(status.unwrap().success());
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), place.at("assay")).unwrap();
    place
}

/// Returns the command that runs the program with the folder's `ssh` first in the path.
fn command(place: &TestFolder, args: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = place.command(args);
    command.env("PATH", format!("{}:{path}", place.path().display()));
    command
}

fn assay(place: &TestFolder, args: &[&str], environment: &[(&str, &str)]) -> CommandResult {
    CommandResult::of(command(place, args).envs(environment.iter().copied()))
}

/// Returns the number of series of a component that have readings.
fn count(place: &TestFolder, component: &str) -> i64 {
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let sql = "select count(distinct s.series) from series s join sample using (series) \
               where component = ?";
    record.query_row(sql, [component], |row| row.get(0)).unwrap()
}

fn last_value(place: &TestFolder, component: &str, metric: &str) -> Option<f64> {
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let sql = "select value from series join sample using (series) where component = ? and \
               metric = ? order by at_s desc limit 1";
    record.query_row(sql, [component, metric], |row| row.get(0)).ok()
}

fn unseen_components(document: &Value) -> Vec<(String, String)> {
    let unseen = document["limiter"]["unseen"].as_array().unwrap();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    unseen.iter().map(|it| (text(it, "what"), text(it, "why"))).collect()
}

#[test]
fn samples_of_another_machine_are_recorded_under_its_name() {
    let server = testbed::shared(testbed::Kind::Postgres);
    let workload = "duration = 4s\n[observe]\nevery = 250ms\nhost = ssh://u@db1:2222\n\
                    [a]\nquery = select 1\nrate = 50\n";
    let place = place(workload, LOCAL_SSH_SCRIPT);
    let url = server.url().to_string();
    let args = ["run", "w.ini", "--allow-commands", "--json", "--out", "r.assay", "--url", &url];
    let ran = assay(&place, &args, &[("ASSAY_PASSWORD", server.password().expose())]);
    let document = ran.json();
    let missing = unseen_components(&document);
    assert!(missing.iter().all(|(what, _)| what != "db1" && what != "db1/clock"), "{missing:?}");
    for component in ["db1/host", "db1/cpu 0", "db1/server", "host", "server"] {
        assert!(count(&place, component) > 3, "{component}: {missing:?}");
    }
    // On `db1` Assay generates no load, but its observation has a cost.
    assert_eq!(count(&place, "db1/generator"), 1);
    assert!(last_value(&place, "db1/generator", "observing").is_some_and(|s| s > 0.0));
    let offset_s = last_value(&place, "db1/host", "clock-offset").unwrap();
    assert!(offset_s.abs() < 0.5, "{offset_s}");
    let asked = std::fs::read_to_string(place.at("asked")).unwrap();
    let port = server.port();
    assert_eq!(asked.trim(), format!("assay observe --stdio --every 250ms --port {port}"));
    // The observing process has ended.
    let number = std::fs::read_to_string(place.at("ssh.pid")).unwrap();
    let process = format!("/proc/{}", number.trim());
    wait_until("the end of ssh", || !std::path::Path::new(&process).exists());
}

/// The processes of the server are found by their port on `db1`. They are not found on this
/// machine, where the URL names their socket by another path.
#[test]
fn processor_time_on_another_machine_ends_the_steps_of_a_search_for_saturation() {
    let server = testbed::shared(testbed::Kind::Postgres);
    let there = format!("exec $* --port {}", server.port());
    let workload = "duration = 2s\n[observe]\nevery = 250ms\nhost = ssh://u@db1\n\
                    [read]\nquery = select 1\nconcurrency = 1\n";
    let place = place(workload, &LOCAL_SSH_SCRIPT.replace("exec $*", &there));
    std::os::unix::fs::symlink(server.socket(), place.at("db1.socket")).unwrap();
    let mut url = server.url_over_socket();
    url.options = vec![("socket".to_owned(), place.at("db1.socket").display().to_string())];
    place.write(
        "e.ini",
        "[question]\nask = Which is faster?\nworkload = w.ini\nrounds = 6\n[arm a]\n[arm b]\n\
         before = select 1\n[saturate]\nvary = concurrency(read)\nvalues = 1, 2\n\
         until = cpu(database) >= 1%\n",
    );
    let url = url.to_string();
    let args = ["run", "e.ini", "--allow-commands", "--out", "r.assay", "--url", &url];
    let mut command = command(&place, &args);
    let mut run = Running::of(command.env("ASSAY_PASSWORD", server.password().expose()));
    // If other programs use the machine, the checks of the load generator may fail.
    if !run.prints_line_before_end("all arms run at concurrency(read) = ") {
        let ran = run.wait_for_end().expect(3);
        assert!(
            ran.stdout_line().contains("the load generator or the machine failed"),
            "{}",
            ran.stdout
        );
        return;
    }
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    assert_eq!(count(&place, "server"), 0);
    let document = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
    let saturate = &document["saturate"];
    // On a busy machine, a server may get less processor time in the first step.
    let outcome = saturate["outcome"].as_str();
    assert!(matches!(outcome, Some("at-first" | "reached")), "{saturate:#}");
    let last = saturate["steps"].as_array().unwrap().last().unwrap();
    let percent = last["cpu_percent"].as_f64().unwrap();
    assert!((1.0..=110.0).contains(&percent), "{saturate:#}");
}

#[test]
fn unreachable_machine_causes_only_a_notice() {
    let workload = "duration = 2s\n[observe]\nhost = ssh://u@db1\n[a]\nquery = select 1\n\
                    rate = 50\n";
    let refuses =
        "#!/bin/sh\necho 'u@db1: Permission denied (publickey,password).' >&2\nexit 255\n";
    let place = place(workload, refuses);
    // The verdict of a run of two seconds does not matter here.
    let document = assay(&place, &["run", "w.ini", "--allow-commands", "--json"], &[]).json();
    let missing = unseen_components(&document);
    let (_, why) = missing.iter().find(|(what, _)| what == "db1").expect("db1 is missing");
    assert!(why.contains("asks for a password: set up a key"), "{why}");
    let text = assay(&place, &["run", "w.ini", "--allow-commands"], &[]).stdout;
    assert!(text.contains("Incomplete data for db1: ssh to db1 asks for a password"), "{text}");
}

/// A load whose check constraint costs 10 µs or more per row, so the load takes 0.2 s or more.
const LOADED: &str = "[observe]
host = ssh://u@db1
[setup]
query = create table t (v int check (length(hex(zeroblob(20000 + v % 2))) > 0))
[load t]
rows = 20000
columns = v: row()
";

#[test]
fn unreachable_machine_is_reported_for_a_load() {
    let refuses = "#!/bin/sh\necho 'ssh: connect to host db1 port 22: Connection refused' >&2\n\
                   exit 255\n";
    let place = place(LOADED, refuses);
    let args = ["load", "w.ini", "--allow-commands", "--json", "--out", "r.assay"];
    let args = [&args[..], &["--url", "sqlite:t.db"]].concat();
    let document = assay(&place, &args, &[]).expect(0).json();
    let load = &document["loads"][0];
    let unseen = load["unseen"].as_array().unwrap();
    let db1 = unseen.iter().find(|it| it["what"] == "db1");
    let db1 = db1.unwrap_or_else(|| panic!("{load:#}"));
    assert!(db1["why"].as_str().unwrap().contains("Connection refused"), "{load:#}");
    let text = place.assay(&["report", "r.assay"]).expect(0).stdout;
    let shown = text.contains("Incomplete data for db1 while t was filled: ");
    assert!(shown || load["length_s"].as_f64().unwrap() < 1.0, "{text}");
}

#[test]
fn program_and_another_machine_are_observed_together() {
    let place = place("", LOCAL_SSH_SCRIPT);
    let host = ["--host", "ssh://db1", "--every", "200ms", "--out", "r.assay"];
    let line = [&["observe"][..], &host, &["--", "sleep", "2"]].concat();
    assay(&place, &line, &[]).expect(0);
    assert!(count(&place, "db1/host") > 3 && count(&place, "host") > 3);
    let secret = ["observe", "--host", "ssh://u:geheim@db1", "--", "true"];
    let ran = assay(&place, &secret, &[]).expect(2);
    assert!(ran.stderr.contains("has a password"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("geheim"), "{}", ran.stderr);
}

#[test]
fn remote_samples_are_sent_until_the_input_ends() {
    // The input is empty, so the observer ends after its greeting.
    let ran = TestFolder::new().assay(&["observe", "--stdio"]).expect(0);
    let greeting: Value = serde_json::from_str(ran.stdout.trim()).unwrap();
    assert_eq!(greeting["assay-observe"], 1, "{greeting}");
    let ran = TestFolder::new().assay(&["observe", "--stdio", "--pid", "1"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}
