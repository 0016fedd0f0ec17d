//! Tests of the record of an experiment: its files, and its single runs.

use std::path::Path;
use std::process::Command;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use crate::example::assert_matches_schema;
use crate::support::TestFolder;

const WORKLOAD: &str = "url = sim:md1?service=1ms\nduration = 20s\nwarmup = 2s\n\
                        [read]\nquery = select 1\nrate = 100\n\
                        [write]\nquery = ${1}\nquery-args-file = ids.csv\nconcurrency = 1\n\
                        think = 50ms\n\
                        [clean-up]\nquery = delete from history /* sim: service=20ms */\n\
                        start = 8s\ncount = 150\n";

const QUESTION: &str = "[question]\nask = What does a slower disk cost?\nworkload = load.ini\n\
                        rounds = 6\nbet = response.p50(read) +0% .. +40%\n[arm fast]\n[arm slow]\n\
                        option.service = 1.2ms\n";

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("load.ini", WORKLOAD);
    let ids: String = (1..=1_000).map(|id| format!("{id}\n")).collect();
    place.write("ids.csv", ids);
    place.write("slower.ini", QUESTION);
    place
}

const RUN: [&str; 6] = ["run", "slower.ini", "--virtual", "--quiet", "--out", "r.assay"];

fn rows(record: &Path, sql: &str) -> Vec<Vec<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(record, flags).unwrap();
    let mut select = connection.prepare(sql).unwrap();
    let columns = select.column_count();
    let text = |row: &rusqlite::Row<'_>, column| row.get::<_, String>(column);
    let rows =
        select.query_map([], |row| (0..columns).map(|column| text(row, column)).collect()).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn exported_run_is_reported_like_the_run_of_the_experiment() {
    let place = place();
    place.assay(&RUN).expect(0);
    let exported = ["export", "r.assay", "--run", "4", "--format", "assay", "--out", "4.assay"];
    place.assay(&exported).expect(0);
    assert_eq!(
        rows(&place.at("4.assay"), "select user_version || '' from pragma_user_version"),
        [["1"]]
    );
    for form in [&["--full"][..], &["--json"]] {
        let of_run = place.assay(&[&["report", "r.assay", "--run", "4"], form].concat()).expect(0);
        let alone = place.assay(&[&["report", "4.assay"], form].concat()).expect(0);
        assert!(of_run.stdout.contains("clean-up"), "{}", of_run.stdout);
        let of_run = of_run.stdout.replace("r.assay --run 4", "r.assay");
        assert_eq!(alone.stdout.replace("4.assay", "r.assay"), of_run);
    }
    // The short answer ends with commands, which name the run.
    let of_run = place.assay(&["report", "r.assay", "--run", "4"]).expect(0).stdout;
    let alone = place.assay(&["report", "4.assay"]).expect(0).stdout;
    let renamed = alone.replace("report 4.assay", "report r.assay --run 4");
    assert_eq!(renamed.replace("4.html", "r-4.html"), of_run);
    assert!(of_run.contains("\nmore    assay report r.assay --run 4 --full\n"), "{of_run}");
    for format in ["json", "csv", "hlog"] {
        let of_run = place.assay(&["export", "r.assay", "--run", "4", "--format", format]);
        let alone = place.assay(&["export", "4.assay", "--format", format]).expect(0);
        assert_eq!(alone.stdout, of_run.expect(0).stdout, "{format}");
    }
    // The examples belong to the run whose workload is shown, which is not the first one.
    let mark = "update excerpt set value = 'of run ' || run where kind = 'examples' and row > 0";
    Connection::open(place.at("r.assay")).unwrap().execute(mark, []).unwrap();
    let full = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    let run = full.lines().find_map(|line| line.strip_prefix("workload of run ")).unwrap();
    for words in [format!("Examples of read: run {run}\n"), format!("example: of run {run}\n")] {
        assert!(full.contains(&words), "{words}: {full}");
    }
}

#[test]
fn record_that_is_exported_needs_a_run_and_a_file() {
    let place = place();
    place.assay(&RUN).expect(0);
    let line = ["export", "r.assay", "--format", "assay"];
    let ran = place.assay(&[&line[..], &["--out", "4.assay"]].concat()).expect(2);
    assert!(ran.stderr.contains("name the run with --run"), "{}", ran.stderr);
    let ran = place.assay(&[&line[..], &["--run", "4"]].concat()).expect(2);
    assert!(ran.stderr.contains("name the new file with --out"), "{}", ran.stderr);
    let ran = place.assay(&[&line[..], &["--run", "4", "--out", "load.ini"]].concat()).expect(2);
    assert!(ran.stderr.contains("load.ini` exists"), "{}", ran.stderr);
}

#[test]
fn record_keeps_the_files_that_were_read() {
    let place = place();
    place.assay(&RUN).expect(0);
    place.assay(&["run", "load.ini", "--virtual", "--quiet", "--out", "one.assay"]).expect(0);
    let sql = "select path, sha256, text from file order by path";
    let files = rows(&place.at("r.assay"), sql);
    let paths: Vec<&str> = files.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(paths, ["ids.csv", "load.ini", "slower.ini"]);
    assert_eq!((files[1][2].as_str(), files[2][2].as_str()), (WORKLOAD, QUESTION));
    assert!(files.iter().all(|row| row[1].len() == 64), "{files:?}");
    assert_eq!(rows(&place.at("one.assay"), sql), files[..2]);
}

#[test]
fn resume_names_the_file_that_has_changed() {
    let place = place();
    place.assay(&RUN).expect(0);
    let resumed = ["run", "slower.ini", "--virtual", "--resume", "r.assay"];
    let interrupted = "update experiment set value = 'interrupted' where key = 'state'";
    Connection::open(place.at("r.assay")).unwrap().execute(interrupted, []).unwrap();
    let before = std::fs::read_to_string(place.at("ids.csv")).unwrap();
    place.write("ids.csv", before.replace("17\n", "18\n"));
    let ran = place.assay(&resumed).expect(2);
    let words = "`ids.csv` has changed since the experiment began";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    place.write("ids.csv", before);
    for (sql, words) in [
        ("update file set path = 'b.csv' where path = 'ids.csv'", "`ids.csv` was not read when"),
        ("update file set path = 'ids.csv' where path = 'b.csv'", ""),
        (
            "insert into file select 'a.csv', bytes, sha256, text from file limit 1",
            "`a.csv` was read when the experiment began, but is no longer used",
        ),
        ("delete from file where path = 'a.csv'", ""),
    ] {
        Connection::open(place.at("r.assay")).unwrap().execute(sql, []).unwrap();
        if !words.is_empty() {
            let ran = place.assay(&resumed).expect(2);
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
    }
    let ran = place.assay(&resumed).expect(0);
    let note = ran.stdout.lines().find(|line| line.starts_with("note ")).unwrap();
    assert!(note.ends_with("Z: resumed after 12 runs"), "{note}");
}

#[test]
fn invariant_8_text_of_a_file_with_a_password_is_not_kept() {
    let place = TestFolder::new();
    let secret = "url = sim:mm1\nduration = 5s\n[params]\npw = hunter2-kept\n[target other]\n\
                  url = postgres://ann:${pw}@localhost:1/d\n[read]\nquery = select 1\nrate = 5\n";
    place.write("secret.ini", secret);
    place.assay(&["run", "secret.ini", "--virtual", "--quiet", "--out", "r.assay"]).expect(0);
    let found =
        rows(&place.at("r.assay"), "select path, iif(text is null, 'withheld', text) from file");
    assert_eq!(found, [["secret.ini", "withheld"]]);
    let bytes = std::fs::read(place.at("r.assay")).unwrap();
    assert!(!bytes.windows(12).any(|part| part == b"hunter2-kept"));
}

/// Adds a setting to every run of an experiment. `value` is an SQL expression over the run's row in
/// the table `run`.
pub(crate) fn set_in_record(record: &Path, name: &str, value: &str) {
    let sql = format!(
        "insert into setting select run, '{name}', {value} from run;
        update seal set total = total + 1 where what = 'rows of setting'"
    );
    Connection::open(record).unwrap().execute_batch(&sql).unwrap();
}

#[test]
fn setting_that_differs_between_arms_or_rounds_makes_the_answer_suspect() {
    for (value, line) in [
        ("iif(arm = 'slow', '8MB', '4MB')", "is `4MB` in `fast`, `8MB` in `slow`"),
        (
            "iif(arm = 'slow' and round > 2, '8MB', '4MB')",
            "is `4MB` in round 1 of `slow`, `8MB` in round 4 of `slow`",
        ),
    ] {
        let place = place();
        place.assay(&RUN).expect(0);
        set_in_record(&place.at("r.assay"), "work_mem", value);
        let ran = place.assay(&["report", "r.assay", "--full"]).expect(0);
        let line = format!(
            "\nSUSPECT: 1 undeclared difference\n  fast: 6 runs\n  slow: 6 runs\n  undeclared \
             difference: setting, work_mem {line}\n"
        );
        assert!(ran.stdout.contains(&line), "{line}: {}", ran.stdout);
        assert!(ran.stdout.starts_with("No claim about response.p50(read)"), "{}", ran.stdout);
        assert!(ran.stdout.contains("all runs differ by +20.0 %"), "{}", ran.stdout);
        place.assay(&["report", "r.assay", "--strict"]).expect(3);
    }
}

/// Expects a SUSPECT answer. After a restart of the server between the two runs of a round, as
/// after a crash, the second run begins with cold caches.
#[test]
fn pair_that_spans_two_starts_of_the_server_makes_the_answer_suspect() {
    let place = place();
    place.assay(&RUN).expect(0);
    let restarted = "iif(round > 2 or (round = 2 and arm = 'slow'), 'second', 'first')";
    set_in_record(&place.at("r.assay"), "database.server_id", restarted);
    let difference = |arms: [&str; 2]| {
        format!(
            "undeclared difference: environment, database.server_id is `first` in round 3 of `{}`, \
             `second` in round 3 of `{}`: their pair spans two starts of the server, or two \
             servers",
            arms[0], arms[1]
        )
    };
    let words = difference(["fast", "slow"]);
    for form in ["--full", "--markdown"] {
        let said = place.assay(&["report", "r.assay", form]).expect(0).stdout_line();
        assert!(said.replace('\\', "").contains(&words), "{words}: {said}");
    }
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["verdict"], "SUSPECT");
    assert_eq!(document["undeclared_differences"][0]["rounds"], json!([2, 2]));
    let compared = place.assay(&["compare", "r.assay"]).expect(0).stdout_line();
    let words = difference(["r.assay#fast", "r.assay#slow"]);
    assert!(compared.contains(&words), "{words}: {compared}");
    place.assay(&["report", "r.assay", "--strict"]).expect(3);
}

#[test]
fn arms_of_other_durability_or_data_are_not_compared() {
    for (name, baseline, own, kind, reason) in [
        ("fsync", "on", "off", "durability", "the durability of commits differs between the arms"),
        ("database.size_bytes", "1000", "9000", "data", "the arms have other data"),
    ] {
        let place = place();
        place.assay(&RUN).expect(0);
        let value = format!("iif(arm = 'slow', '{own}', '{baseline}')");
        set_in_record(&place.at("r.assay"), name, &value);
        let ran = place.assay(&["report", "r.assay", "--full"]).expect(3);
        let answer = format!("response.p50(read) is not compared: {reason}");
        assert!(ran.stdout.to_lowercase().starts_with(&answer.to_lowercase()), "{}", ran.stdout);
        let line = format!("{kind}, {name} is `{baseline}` in `fast`, `{own}` in `slow`\n");
        assert!(ran.stdout.contains(&line), "{}", ran.stdout);
        let document = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
        assert_matches_schema("schemas/experiment.schema.json", &document);
        let found = &document["undeclared_differences"][0];
        assert_eq!((&found["kind"], &found["rounds"]), (&json!(kind), &json!(null)));
        assert_eq!(document["verdict"], "SUSPECT");
        for compare in [
            &["compare", "r.assay"][..],
            &["compare", "r.assay#fast", "r.assay#slow"],
            &["compare", "r.assay", "--fail-on", "response.p50(read) > +1%"],
        ] {
            let ran = place.assay(compare).expect(3);
            let is_refused = ran.stdout.to_lowercase().starts_with(&answer.to_lowercase());
            assert!(is_refused && ran.stdout.contains("\nSUSPECT\n"), "{}", ran.stdout);
            let line = format!("`{baseline}` in `r.assay#fast`, `{own}` in `r.assay#slow`\n");
            assert!(ran.stdout.contains(&line), "{}", ran.stdout);
            let document = place.assay(&[compare, &["--json"]].concat()).expect(3).json();
            assert_matches_schema("schemas/comparison.schema.json", &document);
            assert_eq!(document["undeclared_differences"][0]["kind"], kind);
        }
    }
}

#[test]
fn executions_whose_metrics_are_refused_have_no_answer() {
    let place = place();
    place.assay(&RUN).expect(0);
    place.assay(&[&RUN[..5], &["again.assay", "--seed", "2"]].concat()).expect(0);
    for record in ["r.assay", "again.assay"] {
        set_in_record(&place.at(record), "fsync", "iif(arm = 'slow', 'off', 'on')");
    }
    let line = ["compare", "r.assay", "again.assay"];
    let ran = place.assay(&line).expect(3);
    let words = "response.p50(read) of `slow`: first not compared, now not compared: undecided";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let document = place.assay(&[&line[..], &["--json"]].concat()).expect(3).json();
    assert_matches_schema("schemas/comparison.schema.json", &document);
    assert_eq!(document["verdict"], "SUSPECT");
}

#[test]
fn differences_between_rounds_make_a_comparison_suspect() {
    let place = place();
    place.assay(&RUN).expect(0);
    let value = "iif(arm = 'slow' and round > 2, '8MB', '4MB')";
    set_in_record(&place.at("r.assay"), "work_mem", value);
    let ran = place.assay(&["compare", "r.assay"]).expect(0);
    let line = "\nSUSPECT\n  r.assay#fast: 6 runs\n  r.assay#slow: 6 runs\n  undeclared \
                difference: setting, work_mem is `4MB` in round 1 of `r.assay#slow`, `8MB` in \
                round 4 of `r.assay#slow`\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    place.assay(&["compare", "r.assay", "--strict"]).expect(3);
}

/// A continuation removes the reason that an earlier process recorded, so the answer no longer
/// gives it.
#[test]
fn arm_that_is_in_effect_after_a_resume_is_not_called_invalid() {
    let place = place();
    let expected = place.assay(&RUN).expect(0).stdout_line();
    let ended = "update experiment set value = 'not-in-effect' where key = 'state';
                 insert into experiment values ('invalid-arm', '[arm slow]: stale')";
    Connection::open(place.at("r.assay")).unwrap().execute_batch(ended).unwrap();
    let report = place.assay(&["report", "r.assay"]).expect(3).stdout;
    assert!(report.contains("\nNo answer: an arm is INVALID. [arm slow]: stale\n"), "{report}");
    let resume = ["run", "slower.ini", "--virtual", "--resume", "r.assay"];
    let ran = place.assay(&resume).expect(0);
    assert!(!ran.stdout.contains("stale"), "{}", ran.stdout);
    let answer = "No claim about response.p50(read)";
    assert!(expected.contains(answer) && ran.stdout.contains(answer), "{}", ran.stdout);
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_eq!(document["invalid_arm"], serde_json::Value::Null);
}

#[test]
fn machine_that_drifted_is_reported_by_run_as_by_report() {
    let place = place();
    place.assay(&RUN).expect(0);
    set_in_record(&place.at("r.assay"), "generator.canary_ns", "300 * (1 + 0.02 * run)");
    let interrupted = "update experiment set value = 'interrupted' where key = 'state'";
    Connection::open(place.at("r.assay")).unwrap().execute(interrupted, []).unwrap();
    let ran = place.assay(&["run", "slower.ini", "--virtual", "--resume", "r.assay"]).expect(0);
    assert!(ran.stdout.contains("  the machine became "), "{}", ran.stdout);
    assert_eq!(place.assay(&["report", "r.assay"]).expect(0).stdout, ran.stdout);
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    let changes = document["machine_changes"].as_array().unwrap();
    let [drift] = changes.as_slice() else { panic!("{changes:?}") };
    // The canary changes from 1.02 to 1.24 times 300 ns.
    let percent = drift["change_percent"].as_f64().unwrap();
    assert!((20.5..22.5).contains(&percent), "{drift}");
    assert_eq!((&drift["arm"], &drift["decisive"]), (&json!(null), &json!(false)));
    let words = format!(
        "the machine became {percent:.1} % slower during the experiment, before the runs of every \
         arm"
    );
    for form in ["--full", "--markdown"] {
        let said = place.assay(&["report", "r.assay", form]).expect(0).stdout_line();
        assert!(said.contains(&words), "{words}: {said}");
    }
}

#[test]
fn machine_that_is_slower_in_one_arm_makes_a_comparison_suspect() {
    let place = place();
    place.assay(&RUN).expect(0);
    let canary = "300 * iif(arm = 'slow', 1.2, 1) * (1 + 0.001 * ((run * 7) % 5))";
    set_in_record(&place.at("r.assay"), "generator.canary_ns", canary);
    let report = place.assay(&["report", "r.assay"]).expect(0);
    let words = "before the runs of `slow` than before those of `fast` (99 % CI";
    assert!(report.stdout_line().contains(words), "{}", report.stdout);
    for (line, words) in [
        (&["compare", "r.assay"][..], "slower before the runs of `r.assay#slow`"),
        (&["compare", "r.assay#slow", "r.assay#fast"], "faster before the runs of `r.assay#fast`"),
    ] {
        let ran = place.assay(line).expect(0);
        assert!(ran.stdout.contains(words), "{}", ran.stdout);
        assert!(ran.stdout.contains("\nSUSPECT\n"), "{}", ran.stdout);
        let document = place.assay(&[line, &["--json"]].concat()).expect(0).json();
        assert_matches_schema("schemas/comparison.schema.json", &document);
        assert_eq!(document["machine_changes"][0]["decisive"], true);
    }
}

const DOCUMENT: &str = include_str!("../../../../docs/record.md");

/// Returns the documented queries over all runs.
fn queries() -> Vec<&'static str> {
    let (_, over_all_runs) = DOCUMENT.split_once("## Five queries").unwrap();
    let blocks = over_all_runs.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

/// Returns SQLite's answer to a query, as JSON.
fn of_sqlite(record: &Path, sql: &str) -> serde_json::Value {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(record, flags).unwrap();
    let mut select = connection.prepare(sql).unwrap();
    let columns = select.column_count();
    let value = |row: &rusqlite::Row<'_>, column| {
        Ok(match row.get(column)? {
            Value::Integer(number) => json!(number as f64),
            Value::Real(number) => json!(number),
            Value::Text(text) => json!(text),
            Value::Null | Value::Blob(_) => json!(null),
        })
    };
    let row = |row: &rusqlite::Row<'_>| {
        (0..columns).map(|column| value(row, column)).collect::<Result<Vec<_>, _>>()
    };
    let rows: Result<Vec<_>, _> = select.query_map([], row).unwrap().collect();
    json!(rows.unwrap())
}

/// Returns DuckDB's answers to queries on the same file.
fn of_duckdb(record: &Path, queries: &[&str]) -> serde_json::Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = root.join("../../target/tools/duckdb");
    let ran = Command::new("python3")
        .env("PYTHONPATH", packages)
        .arg(root.join("tests/duckdb/queries.py"))
        .arg(record)
        .args(queries)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}: `make test` installs DuckDB");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// Returns true if two values are equal; numbers may have been added up in a different order.
fn is_same(one: &serde_json::Value, other: &serde_json::Value) -> bool {
    match (one.as_f64(), other.as_f64(), one.as_array(), other.as_array()) {
        (Some(one), Some(other), ..) => (one - other).abs() <= one.abs() * 1e-9,
        (.., Some(one), Some(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

#[test]
fn documented_queries_over_all_runs_answer_alike_in_sqlite_and_duckdb() {
    let place = TestFolder::new();
    place.write(
        "disk.ini",
        "url = sim:mm1?service=1ms\nduration = 10s\n[read]\nquery = select 1\nconcurrency = 4\n",
    );
    place.write("slower.ini", QUESTION.replace("load.ini", "disk.ini"));
    place.assay(&RUN).expect(0);
    let record = place.at("r.assay");
    // Settings of simulated servers are the same in all runs.
    let other = "insert into setting select run, 'work_mem', run || 'MB' from run";
    Connection::open(&record).unwrap().execute(other, []).unwrap();
    let queries = queries();
    assert_eq!(queries.len(), 5);
    let of_duckdb = of_duckdb(&record, &queries);
    for (query, of_duckdb) in queries.iter().zip(of_duckdb.as_array().unwrap()) {
        let of_sqlite = of_sqlite(&record, query);
        assert!(!of_sqlite.as_array().unwrap().is_empty(), "{query}");
        assert!(is_same(&of_sqlite, of_duckdb), "{query}: {of_sqlite} {of_duckdb}");
    }
    let means = of_sqlite(&record, queries[1]);
    assert_eq!(
        (&means[0][0], &means[0][2], &means[0][3]),
        (&json!("fast"), &json!("response.p99"), &json!(6.0))
    );
    let changes = of_sqlite(&record, queries[2]);
    let change = changes[0][3].as_f64().unwrap();
    assert!((-25.0..-5.0).contains(&change), "{changes}");
}
