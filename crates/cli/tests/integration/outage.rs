//! Tests of outages: a target that becomes unreachable and returns causes errors, but does not end
//! the run.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{TestFolder, assert_balanced, check, job, number, number_after};

const READ: &str = "duration = 20s\n[read]\nquery = select 1\nrate = 200\narrival = uniform\n";

fn events<'a>(export: &'a Value, kind: &str) -> Vec<&'a Value> {
    let events = export["events"].as_array().unwrap();
    events.iter().filter(|event| event["kind"] == kind).collect()
}

#[test]
fn invariant_9_a_server_that_is_away_for_a_while_is_recorded_and_the_run_continues() {
    let place = TestFolder::with(READ);
    let ran = place.run_virtually("sim:md1?outage=8s..10s", &[]);
    let summary = ran.json();
    assert_balanced(&summary);
    assert_eq!(check(&summary, "outage")["status"], "suspect");
    let away = check(&summary, "outage")["value"].as_f64().unwrap();
    // The back-off finds the server again at most a second after its return.
    assert!((2.0..3.0).contains(&away), "{away}");
    let read = job(&summary, "read");
    assert_eq!(read["scheduled"], 200 * 20 - 1);
    let errors = read["errors"].as_f64().unwrap();
    assert!((200.0 * away - errors).abs() <= 2.0, "{errors} in {away} s");
    assert_eq!(read["errors_by_code"][0]["code"], "disconnect");

    let export = place.export_json("r.assay");
    assert_eq!(
        (events(&export, "outage-began").len(), events(&export, "outage-ended").len()),
        (1, 1)
    );
    assert!((8.0..8.1).contains(&events(&export, "outage-began")[0]["at_s"].as_f64().unwrap()));
    let rows = export["intervals"].as_array().unwrap();
    let failed = |row: &Value| row["errors"].as_u64().unwrap();
    assert!(rows.iter().all(|row| row["open"] == 0));
    assert_eq!(failed(&rows[7]), 0);
    assert_eq!(failed(&rows[9]), 200);
    assert_eq!(failed(&rows[15]), 0);
}

/// Logins are refused, as after a changed password or a dropped database. The outage lasts as long
/// as the refusals.
#[test]
fn refused_logins_are_an_outage_of_their_length() {
    for job in ["rate = 200\narrival = uniform", "concurrency = 4\nthink = 20ms"] {
        let place = TestFolder::with(&format!("duration = 20s\n[read]\nquery = select 1\n{job}\n"));
        let ran = place.run_virtually("sim:mdc?outage=8s..10s&outage-code=28P01", &[]);
        let summary = ran.json();
        assert_balanced(&summary);
        let away = check(&summary, "outage")["value"].as_f64().unwrap();
        assert!((2.0..3.0).contains(&away), "{job}: {away}");
        let text = events(&place.export_json("r.assay"), "outage-began")[0]["text"].to_string();
        assert!(text.contains("the simulated server refuses the login"), "{text}");
    }
}

#[test]
fn target_that_refuses_logins_to_the_end_is_lost() {
    for job in [
        "rate = 200",
        "concurrency = 4",
        "rate = 200\noutage = wait",
        "rate = 200\n\
                 concurrency = 4",
        "rate = 200\nreconnect = per-transaction",
    ] {
        let place = TestFolder::with(&format!("duration = 20s\n[read]\nquery = select 1\n{job}\n"));
        let url = "sim:mdc?outage=8s..90s&outage-code=3D000";
        let args = ["run", "w.ini", "--virtual", "--url", url, "--out", "r.assay"];
        let ran = place.assay(&args).expect(4);
        let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!said.contains("exceeds the capacity"), "{job}: {said}");
        assert!(said.contains("refuses the login"), "{job}: {said}");
        let export = place.export_json("r.assay");
        assert_eq!(events(&export, "outage-began").len(), 1, "{job}");
    }
}

#[test]
fn a_lost_connection_is_an_error_and_no_outage() {
    let place = TestFolder::with(READ);
    let summary = place.run_virtually("sim:md1?disconnects=0.002", &[]).json();
    assert_balanced(&summary);
    assert_eq!(check(&summary, "outage")["status"], "pass");
    assert!(job(&summary, "read")["errors"].as_u64().unwrap() > 0);
}

#[test]
fn a_database_file_that_is_moved_away_and_back_costs_errors_and_not_the_run() {
    let workload = "\
duration = 1m
[setup]
query = create table t (a int)
[write]
query = insert into t values (${sequence()})
rate = 100
arrival = uniform
";
    let place = TestFolder::with(workload);
    let url = "sqlite:t.db?journal=memory&synchronous=off";
    let mut run = place.start(&["run", "w.ini", "--url", url, "--json", "--out", "r.assay"]);
    run.wait_for_matching_line("some are written", |line| {
        number_after(line, "achieved/s").is_some_and(|n| n > 0.0)
    });
    fs::rename(place.at("t.db"), place.at("away.db")).unwrap();
    run.wait_for_matching_line("none is written", |line| {
        number_after(line, "achieved/s") == Some(0.0)
    });
    assert!(!place.at("t.db").exists(), "no empty file takes its place");
    fs::rename(place.at("away.db"), place.at("t.db")).unwrap();
    run.wait_for_matching_line("some are written", |line| {
        number_after(line, "achieved/s").is_some_and(|n| n > 0.0)
    });
    run.signal(Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_balanced(&summary);
    assert_eq!(check(&summary, "outage")["status"], "suspect");
    let completed = job(&summary, "write")["completed"].as_i64().unwrap();
    assert!(job(&summary, "write")["errors"].as_u64().unwrap() > 0, "{summary}");
    // The restored file contains the completed rows.
    assert_eq!(number(&place.at("t.db"), "select count(*) from t"), completed);
    let export = place.export_json("r.assay");
    assert!(!events(&export, "outage-began").is_empty());
    assert!(!events(&export, "outage-ended").is_empty());
}
