//! Tests that `check` prints a plan that is a workload file, and that `load` fills tables for a
//! later run.

use serde_json::Value;

use crate::support::{TestFolder, number};

const FILE: &str = "\
duration = 2s ; a comment
[params]
rows = 2k
[setup]
query = create table t (a integer primary key, b text)
[load t]
rows = ${rows}
columns = a: row(), b: text(3, 9)
[read]
let = a: uniform(1, rows)
query = select b from t where a = ${a} and b <> 'it''s; no comment'
rate = 50
slo = p99 < 10s, failed < 50%
[write]
query = update t set b = ${pick('x', 'y')} where a = ${zipf(1, rows)}
concurrency = 2
think = exp(20ms)
retry = 2 on SQLITE_BUSY
[teardown]
query = drop table t
";

#[test]
fn printed_plan_is_checked_to_the_same_plan() {
    let place = TestFolder::with(FILE);
    place.write("example.ini", include_str!("../../../../workloads/accounts.ini"));
    for file in ["w.ini", "example.ini"] {
        let url = "sim:mm1?service=2ms";
        let first = place.assay(&["check", file, "--url", url, "--set", "rows=7"]).expect(0);
        assert_eq!(first.stderr, "");
        for words in ["[read]", "rows = 7", "concurrency = ", url] {
            assert!(first.stdout.contains(words), "{words}: {}", first.stdout);
        }
        place.write("plan.ini", &first.stdout);
        let second = place.assay(&["check", "plan.ini"]).expect(0);
        assert_eq!(second.stdout, first.stdout);
    }
}

#[test]
fn check_touches_no_database_and_makes_no_file() {
    let place = TestFolder::with(FILE);
    place.assay(&["check", "w.ini", "--url", "sqlite:t.db"]).expect(0);
    place.assay(&["check", "w.ini", "--url", "sqlite:no/such/folder/t.db"]).expect(0);
    place.assay(&["check", "w.ini", "--url", "sim:mm1?outage=0s..1h"]).expect(0);
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn load_fills_the_tables_and_leaves_them_for_a_run_that_skips_it() {
    let place = TestFolder::with(FILE);
    let url = ["--url", "sqlite:t.db", "--quiet"];
    let assay = |args: &[&str]| place.assay(&[args, &url[..]].concat());
    let load = assay(&["load", "w.ini", "--json", "--out", "l.assay"]).expect(0).json();
    assert_eq!(load["loads"][0]["rows"], 2_000);
    assert_eq!(load["jobs"].as_array().unwrap().len(), 0);
    assert_eq!(kinds_of_excerpts(&load), ["columns", "indexes", "rows"]);
    assert_eq!(number(&place.at("t.db"), "select count(*) from t"), 2_000);
    let values = "select count(*) from t where a between 1 and 2000 and length(b) between 3 and 9";
    assert_eq!(number(&place.at("t.db"), values), 2_000);

    // The table exists, so only a run without setup can begin.
    let words = ["[setup]", "table t already exists", "run with `--loaded`", "or drop it"];
    assay(&["run", "w.ini", "--out", "no.assay"]).refuses(&words);
    let again = assay(&["load", "w.ini", "--out", "no.assay"]).refuses(&["drop it first"]);
    assert!(!again.stderr.contains("--loaded"), "{}", again.stderr);
    let other = ["run", "w.ini", "--loaded", "--set", "rows=3k", "--out", "no.assay"];
    let words = [
        "[load t]",
        "table t has 2000 rows; expected 3000\n",
        "help: write `rows = 2000` to use it as it is, or drop the table and run without --loaded",
    ];
    assay(&other).refuses(&words);
    assert_eq!(place.names(), ["l.assay", "t.db", "w.ini"]);

    let run = assay(&["run", "w.ini", "--loaded", "--json", "--out", "r.assay"]);
    let summary = run.json();
    assert_eq!(summary["loads"].as_array().unwrap().len(), 0);
    assert_eq!(kinds_of_excerpts(&summary), ["columns", "indexes"], "rows may be confidential");
    assert!(summary["jobs"][0]["completed"].as_u64().unwrap() > 0, "{summary}");
    // The teardown of the run dropped the table.
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_schema"), 0);
}

/// Returns the kinds of the excerpts of the table.
fn kinds_of_excerpts(document: &Value) -> Vec<&str> {
    let excerpts = document["excerpts"].as_array().unwrap().iter();
    let of_table = excerpts.filter(|excerpt| excerpt["of"] == "t");
    of_table.map(|excerpt| excerpt["kind"].as_str().unwrap()).collect()
}

#[test]
fn load_reports_only_its_tables() {
    let place = TestFolder::with(FILE);
    let ran = place.assay(&["load", "w.ini", "--out", "l.assay"]).expect(0);
    for words in ["setup, statement 1 of 1", "loading t: 2,000 of 2,000 rows (100 %) in "] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    for words in ["connections", "running", "warm-up"] {
        assert!(!ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    let answer = ran.stdout.lines().find(|line| line.starts_with("t  2,000 rows, ")).unwrap();
    assert!(answer.contains("B, loaded in "), "{answer}");
    assert!(answer.contains("/s (1 observation)"), "{answer}");
    for words in ["VALID", "imit", "not possible"] {
        assert!(!ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let words = "target    sqlite: (a temporary file)";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn missing_loaded_tables_are_not_rejected_rows() {
    let place = TestFolder::with(FILE);
    // An empty file is an empty database.
    place.write("new.db", "");
    let run = ["run", "w.ini", "--loaded", "--url", "sqlite:new.db"];
    place.assay(&run).refuses(&[
        "[load t]: the rows of table t cannot be counted: no such table: t (SQLITE_ERROR)\n",
        "help: run without --loaded",
    ]);
}

#[test]
fn loaded_is_refused_for_a_temporary_target() {
    let place = TestFolder::with(FILE);
    let run = ["run", "w.ini", "--loaded", "--url", "sim:mm1", "--virtual"];
    place.assay(&run).refuses(&[
        "this target keeps no data\n",
        "help: leave out --loaded",
        "w.ini:6:1",
    ]);
}

#[test]
fn a_file_without_jobs_is_for_load_and_one_without_tables_for_run() {
    let place = TestFolder::with("[load t]\nrows = 5\ncolumns = a: row()\n");
    place.assay(&["run", "w.ini"]).refuses(&["has no job", "`assay load`"]);
    place.write("w.ini", "[read]\nquery = select 1\n");
    place.assay(&["load", "w.ini"]).refuses(&["neither [setup] nor [load TABLE]"]);
    place.write("w.ini", "[teardown]\nquery = drop table t\n");
    place.assay(&["run", "w.ini"]).refuses(&["the file has no job"]);
    place.assay(&["load", "w.ini"]).refuses(&["neither [setup] nor [load TABLE]"]);
    place.assay(&["check", "w.ini"]).expect(0);
    place.write("w.ini", "[setup]\n[teardown]\n");
    for command in ["check", "load", "run"] {
        place.assay(&[command, "w.ini"]).refuses(&["the file has no job"]);
    }
    assert_eq!(place.names(), ["w.ini"]);
}
