//! Tests that the bundled workload `accounts.ini` runs unchanged, and that the JSON document of its
//! run conforms to the schema.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{TestFolder, assert_balanced, check, job, number};

/// Reads a file of the repository.
fn repository(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Checks that a document conforms to the schema of summaries.
#[track_caller]
pub(crate) fn assert_valid(summary: &Value) {
    assert_matches_schema("schemas/summary.schema.json", summary);
}

/// Checks that a document conforms to a schema.
#[track_caller]
pub(crate) fn assert_matches_schema(schema: &str, document: &Value) {
    let schema = serde_json::from_str(&repository(schema)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_example_runs_on_sqlite_is_balanced_and_keeps_to_its_schema() {
    let place = TestFolder::with(&repository("workloads/accounts.ini"));
    let shorter = ["--duration", "4s", "--warmup", "1s", "--set", "rows=20k"];
    let mut args = vec!["run", "w.ini", "--url", "sqlite:shop.db", "--json", "--out", "r.assay"];
    args.extend(shorter);
    let ran = place.assay(&args);
    let summary = ran.json();
    // The speed of the machine may affect the verdict and the threshold, and nothing else.
    let expected = match (summary["verdict"]["status"].as_str().unwrap(), met(&summary)) {
        ("INVALID", _) => 3,
        (_, false) => 1,
        (_, true) => 0,
    };
    ran.expect(expected);
    assert_valid(&summary);
    assert_balanced(&summary);
    for (name, model) in [("read", "open"), ("transfer", "closed"), ("report", "timetable")] {
        assert_eq!(job(&summary, name)["model"], model);
        assert_eq!(job(&summary, name)["errors"], 0, "{summary}");
    }
    assert_eq!(check(&summary, "complete")["status"], "pass");
    assert_eq!(summary["loads"][0]["rows"], 20_000);
    let excerpt = |of: &str, kind: &str| {
        let all = summary["excerpts"].as_array().unwrap();
        let found = all.iter().find(|one| one["of"] == of && one["kind"] == kind);
        found.unwrap_or_else(|| panic!("{of} {kind}: {summary}"))["rows"].clone()
    };
    assert_eq!(excerpt("accounts", "columns")[0][0], "id");
    assert_eq!(excerpt("accounts", "rows").as_array().unwrap().len(), 5);
    let example = excerpt("read", "examples")[0][1].as_str().unwrap().to_owned();
    assert!(example.starts_with("select ") && !example.contains('?'), "{example}");
    let results = |job: &str| excerpt(job, "results");
    assert_eq!(results("read")[0][2], "balance");
    assert!(results("read")[0][3].as_str().unwrap().parse::<u64>().is_ok(), "{summary}");
    assert_eq!(results("transfer")[1], serde_json::json!(["2", null, null, "writes"]));
    assert_eq!(results("report").as_array().unwrap().len(), 1);
    // The settings describe the measured database, and not the empty one before the load.
    let bytes = summary["run"]["settings"]["database_bytes"].as_str().unwrap();
    assert!(bytes.parse::<u64>().unwrap() > 100_000, "{bytes}");
    // The teardown dropped the table, and the run has left only its record and the database file.
    assert_eq!(number(&place.at("shop.db"), "select count(*) from sqlite_schema"), 0);
    assert_eq!(place.names(), ["r.assay", "shop.db", "w.ini"]);
}

fn met(summary: &Value) -> bool {
    job(summary, "read")["slo"][0]["met"].as_bool().unwrap()
}

#[test]
fn summary_that_violates_the_schema_is_noticed() {
    let place = TestFolder::with("duration = 2s\n[read]\nquery = select 1\nrate = 50\n");
    let mut summary = place.run_virtually("sim:mm1", &[]).expect(0).json();
    assert_valid(&summary);
    summary["jobs"][0]["scheduled"] = "many".into();
    let found = std::panic::catch_unwind(|| assert_valid(&summary));
    assert!(found.is_err());
}

#[test]
fn transfer_of_the_example_keeps_the_total_balance() {
    let workload = repository("workloads/accounts.ini");
    let place = TestFolder::with(&workload.replace("drop table", "select 1 from"));
    let shorter = ["--duration", "2s", "--warmup", "0s", "--set", "rows=1k", "--json", "--quiet"];
    let mut args = vec!["run", "w.ini", "--url", "sqlite:shop.db", "--out", "r.assay"];
    args.extend(shorter);
    let before = TestFolder::with(&repository("workloads/accounts.ini"));
    before.assay(&["load", "w.ini", "--url", "sqlite:shop.db", "--set", "rows=1k"]).expect(0);
    let summary = place.assay(&args).json();
    assert!(job(&summary, "transfer")["completed"].as_u64().unwrap() > 0);
    let all = "select sum(balance) from accounts";
    assert_eq!(number(&place.at("shop.db"), all), number(&before.at("shop.db"), all));
}
