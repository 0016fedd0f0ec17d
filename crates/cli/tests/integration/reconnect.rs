//! Tests of requests that open a connection of their own, on SQLite and on a simulated server.

use crate::support::{TestFolder, assert_balanced, check, job, number};

/// Two clients that write, with a new connection for each transaction. The number of rows shows
/// that every transaction took effect.
const WRITE: &str = "\
duration = 1m
[setup]
query = create table t (a int)
[write]
query = insert into t values (${sequence()})
query = select count(*) from t
transaction = yes
concurrency = 2
count = 60
reconnect = per-transaction
";

#[test]
fn each_request_on_sqlite_has_a_connection_and_counts_it_as_service() {
    let place = TestFolder::with(WRITE);
    let url = "sqlite:t.db?synchronous=off";
    let ran = place.assay(&["run", "w.ini", "--url", url, "--json", "--out", "r.assay"]);
    let summary = ran.json();
    assert_balanced(&summary);
    let write = job(&summary, "write");
    assert_eq!(write["completed"], 60, "{summary}");
    assert_eq!(number(&place.at("t.db"), "select count(*) from t"), 60);
    for name in ["connections", "errors", "outage"] {
        assert_eq!(check(&summary, name)["status"], "pass", "{summary}");
    }
    let mean = |times: &serde_json::Value| times["mean"].as_f64().unwrap();
    let statements = write["statements"].as_array().unwrap();
    let statements: f64 = statements.iter().map(|statement| mean(&statement["service_ms"])).sum();
    assert!(statements < mean(&write["service_ms"]), "connecting takes time: {write}");
}

#[test]
fn a_statement_that_no_connection_could_prepare_ends_the_run_before_it_begins() {
    let rejected = WRITE.replace("select count(*) from t", "select b from t");
    let place = TestFolder::with(&rejected);
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:t.db", "--quiet"]);
    ran.refuses(&["rejects statement 2 of [write]", " --> w.ini:6:9", "no such column: b"]);
}

/// The time of a statement excludes connecting, even if it is the only one of its request.
#[test]
fn report_separates_connecting_from_the_statement() {
    let place = TestFolder::with(
        "duration = 10s\n[read]\nquery = select 1\nrate = 100\nreconnect = per-transaction\n",
    );
    let summary = place.run_virtually("sim:mdc?connect=5ms&servers=unlimited", &[]).json();
    let read = job(&summary, "read");
    let about = |times: &serde_json::Value, ms: f64| {
        let mean = times["mean"].as_f64().unwrap();
        assert!((mean - ms).abs() < 0.01 * ms, "{mean}: {read}");
    };
    about(&read["service_ms"], 6.0);
    about(&read["statements"][0]["service_ms"], 1.0);
    let report = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    let words = "connecting belongs to the service time and is not timed apart";
    assert!(report.contains(words), "{report}");
}
