//! Tests that a success without any result is reported as suspicious, and that errors are shown
//! with their message.

use crate::example::assert_matches_schema;
use crate::support::{TestFolder, job};

/// Runs a file on a new database with a table of one row.
fn ran(jobs: &str) -> (TestFolder, String) {
    let setup = "create table t (id integer primary key, v int)";
    let text = format!(
        "duration = 2s\n[setup]\nquery = {setup}\nquery = insert into t values (1, 0)\n{jobs}"
    );
    let place = TestFolder::with(&text);
    let args = ["run", "w.ini", "--url", "sqlite:t.db", "--quiet", "--out", "r.assay"];
    let text = place.assay(&args).stdout;
    (place, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn select_without_any_row_in_the_run_is_warned_of() {
    let (place, text) = ran("[none]\nquery = select v from t where id = 7\nrate = 50\n\
                             [some]\nquery = select v from t where id = 1\nrate = 50\n\
                             [meant]\nquery = select v from t where id = 7\nrate = 50\n\
                             expect-rows = 0\n");
    assert!(text.contains("Warning: [none] had "), "{text}");
    assert!(text.contains("and no row was returned or changed: compare its values"), "{text}");
    assert_eq!(text.matches("Warning").count(), 1, "{text}");
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(job(&summary, "none")["warnings"][0]["name"], "no-rows");
    assert_eq!(job(&summary, "none")["warnings"][0]["statements"], serde_json::json!([]));
    assert_eq!(job(&summary, "some")["warnings"], serde_json::json!([]));
    assert_eq!(job(&summary, "meant")["warnings"], serde_json::json!([]));
}

#[test]
fn statement_without_any_row_is_warned_of_though_others_have_rows() {
    let statements = "query = select v from t where id = 7\n\
                      query = update t set v = v + 1 where id = 1\n\
                      query = delete from t where id = 7\nrate = 50\n";
    let (place, text) = ran(&format!(
        "[pay]\ntransaction = yes\n{statements}\
         [meant]\nexpect-rows = 1\n{statements}\
         [failing]\nquery = insert into t values (1, 0)\n\
         query = select v from t where id = 7\nrate = 50\n"
    ));
    assert!(text.contains("Warning: [pay] had "), "{text}");
    let words = "answers to statements 1 and 3, and no row was returned or changed: compare the";
    assert!(text.contains(words), "{text}");
    assert_eq!(text.matches("Warning").count(), 1, "{text}");
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    assert_matches_schema("schemas/summary.schema.json", &summary);
    let warning = &job(&summary, "pay")["warnings"][0];
    assert_eq!(warning["name"], "no-rows");
    assert_eq!(warning["statements"], serde_json::json!([1, 3]));
    for other in ["meant", "failing"] {
        assert_eq!(job(&summary, other)["warnings"], serde_json::json!([]), "{other}");
    }
    let markdown = place.assay(&["report", "r.assay", "--markdown"]).stdout;
    assert!(markdown.contains("answers to statements 1 and 3, and no row"), "{markdown}");
}

#[test]
fn a_timetable_that_is_first_due_after_the_end_is_warned_of() {
    let (place, text) = ran("[late]\nquery = select v from t\nevery = 1h\n");
    let words = "Warning: [late] made no request: its first was due 3,600 s after time zero";
    assert!(text.contains(words), "{text}");
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(job(&summary, "late")["warnings"][0]["name"], "nothing-due");
}

#[test]
fn a_log_that_is_longer_than_the_run_is_warned_of_before_it_begins() {
    let place = TestFolder::with("duration = 1s\n[a]\nquery-log-file = q.log\n");
    place.write("q.log", "1000000,select 1\n5000000,select 2\n");
    let said = place.assay(&["run", "w.ini", "--quiet", "--out", "r.assay"]).stderr;
    let words = "the last line of `q.log` is due at `4s`, and the job ends before";
    assert!(said.contains(words), "{said}");
    let whole = "duration = 5s\n[a]\nquery-log-file = q.log\n";
    place.write("w.ini", whole);
    let said = place.assay(&["check", "w.ini"]).stderr;
    assert!(!said.contains("the last line"), "{said}");
}

#[test]
fn each_error_code_has_its_first_text_in_text_and_json() {
    let (place, text) = ran("[twice]\nquery = insert into t values (1, 0)\nrate = 50\n");
    let words = "UNIQUE constraint failed: t.id";
    let code = "SQLITE_CONSTRAINT_PRIMARYKEY";
    assert!(text.contains(&format!("{code}, 100 % of the requests: {words}")), "{text}");
    let full = place.assay(&["report", "r.assay", "--full"]).stdout;
    let full = full.split_whitespace().collect::<Vec<_>>().join(" ");
    let below = full.split_once("errors of requests class code").unwrap().1;
    assert!(below.contains(&format!("first {code} {words}")), "{full}");
    let summary = place.assay(&["report", "r.assay", "--json"]).json();
    let error = &job(&summary, "twice")["errors_by_code"][0];
    assert!(error["text"].as_str().unwrap().starts_with(words), "{error}");
}

#[test]
fn answer_of_an_experiment_has_warnings_and_first_texts_by_arm() {
    let place = TestFolder::with(
        "url = sqlite:t.db\nduration = 200ms\n[setup]\n\
         query = create table t (id integer primary key, v int)\n\
         query = insert into t values (1, 0)\n\
         [none]\nquery = select v from t where id = 7\nrate = 50\n\
         [twice]\nquery = insert into t values (1, 0)\nrate = 50\n",
    );
    let question = "[question]\nask = ?\nworkload = w.ini\nrounds = 6\n[arm one]\n[arm two]\n\
                    rate(none) = 60\n";
    place.write("e.ini", question);
    let ran = place.assay(&["run", "e.ini", "--quiet", "--full", "--out", "r.assay"]).expect(3);
    let code = "SQLITE_CONSTRAINT_PRIMARYKEY";
    for arm in ["one", "two"] {
        let warning = format!("\nwarning    `{arm}` [none] had ");
        assert!(ran.stdout.contains(&warning), "{}", ran.stdout);
        let line = ran.stdout.lines().find(|line| line.contains(&format!("   {arm} [twice] ")));
        let line = line.expect("a line for the errors");
        // A busy machine may end the experiment after fewer rounds.
        assert!(line.starts_with("errors ") && line.contains(&format!(" {code}) in ")), "{line}");
        assert!(line.contains("; first: UNIQUE constraint failed: t.id"), "{line}");
    }
    let remedy = " What to do: read the first text of each error; accept a code";
    assert_eq!(ran.stdout.matches(remedy).count(), 1, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("\n  errors: in ").count(), 1, "{}", ran.stdout);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["warnings"].as_array().unwrap().len(), 2, "{document}");
    assert_eq!(document["warnings"][0]["name"], "no-rows");
    assert_eq!(document["errors"][0]["code"], code);
    let checks = document["remedies"].as_array().unwrap().iter().map(|one| &one["check"]);
    assert!(checks.into_iter().any(|check| check == "errors"), "{document}");
    for format in ["--markdown", "--html"] {
        let text = match format {
            "--html" => {
                place.assay(&["report", "r.assay", "--html", "r.html"]).expect(3);
                std::fs::read_to_string(place.at("r.html")).unwrap()
            }
            _ => place.assay(&["report", "r.assay", format]).stdout,
        };
        assert!(text.contains("and no row was returned or changed"), "{text}");
        assert!(text.contains("UNIQUE constraint failed"), "{text}");
    }
}
