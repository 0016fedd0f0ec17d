//! Tests that a statement rejected by the database is reported as an error in the workload file.

use crate::support::{TestFolder, number};

/// Runs a workload on SQLite and checks that it is refused, without a record.
#[track_caller]
fn refused(workload: &str, words: &[&str]) -> TestFolder {
    let place = TestFolder::with(workload);
    place.assay(&["run", "w.ini", "--url", "sqlite:t.db", "--quiet"]).refuses(words);
    assert_eq!(place.names(), ["t.db", "w.ini"]);
    place
}

#[test]
fn rejected_job_statement_is_shown_with_the_database_error() {
    refused(
        "duration = 1s\n[read]\nquery = select 1\nquery = selct 2\n",
        &[
            "error: the database rejects statement 2 of [read]",
            " --> w.ini:4:9",
            "^^^^^^^",
            "near \"selct\": syntax error",
        ],
    );
    refused(
        "duration = 1s\n[read]\nquery = select a from nowhere\n",
        &["statement 1 of [read]", " --> w.ini:3:9", "no such table: nowhere"],
    );
}

#[test]
fn wrong_column_is_corrected_in_the_statement_or_the_definition() {
    let place = TestFolder::with(
        "duration = 1s\n[setup]\nquery = create table t (a int)\n\
         [read]\nquery = select b from t\n",
    );
    place.assay(&["run", "w.ini", "--url", "sqlite:t.db", "--quiet"]).refuses(&[
        "no such column: b",
        "help: correct its name in the statement, or add it to the table's definition in [setup]",
    ]);
}

#[test]
fn rejected_setup_statement_is_shown_and_teardown_is_skipped() {
    let place = refused(
        "duration = 1s\n[setup]\nquery = create table mine (a int)\nquery = create tble t (a int)\n\
         [read]\nquery = select 1\n[teardown]\nquery = drop table mine\n",
        &["statement 2 of [setup]", " --> w.ini:4:9", "near \"tble\": syntax error"],
    );
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_schema"), 1);
}

#[test]
fn a_load_into_a_table_that_is_not_there_is_named() {
    refused(
        "duration = 1s\n[load t]\nrows = 5\ncolumns = a: row()\n[read]\nquery = select 1\n",
        &[
            "rejects the rows of [load t]",
            " --> w.ini:2:1",
            "no such table: t",
            "help: create it in",
        ],
    );
}

#[test]
fn a_statement_that_fails_before_time_zero_tears_the_setup_down() {
    let place = refused(
        "duration = 1s\n[setup]\nquery = create table t (a int)\n\
         [read]\nquery = select b from t\n[teardown]\nquery = drop table t\n",
        &["statement 1 of [read]", " --> w.ini:5:9", "no such column: b"],
    );
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_schema"), 0);
}

#[test]
fn a_teardown_that_fails_is_a_warning_and_the_answer_stands() {
    let place =
        TestFolder::with("[read]\nquery = select 1\ncount = 5\n[teardown]\nquery = drop table t\n");
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:t.db", "--json", "--out", "r.assay"]);
    assert_eq!(ran.json()["jobs"][0]["completed"], 5);
    let warning = "warning: the database rejects statement 1 of [teardown]: no such table: t";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    assert_ne!(ran.code, 2);
}

#[test]
fn unsupported_load_method_is_refused_before_setup() {
    let place = TestFolder::with(
        "[setup]\nquery = create table t (a integer)\n[load t]\nrows = 1\nmethod = copy\n\
         columns = a: row()\n[read]\nquery = select 1\n",
    );
    place.assay(&["run", "w.ini", "--url", "sqlite:t.db"]).refuses(&[
        "[load t]",
        "no method `copy`",
        "`method = auto`",
    ]);
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_schema"), 0);
}
