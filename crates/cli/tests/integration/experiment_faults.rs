//! Tests of experiments that fail, are interrupted or are killed.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::experiment_end::assert_ended;
use crate::support::{
    CommandResult, Running, TestFolder, UNUSED_ADDRESS, ended_runs, number, wait_until,
};

/// A workload on a database file, with data.
pub(crate) const SQLITE_WORKLOAD: &str = "\
url = sqlite:t.db
duration = 100ms
[setup]
query = create table t (id integer primary key, v integer)
[load t]
rows = 1000
columns = id: row(), v: uniform(1, 10)
[read]
query = select v from t where id = ${uniform(1, 1000)}
concurrency = 1
[teardown]
query = drop table t
";

pub(crate) const ARMS: &str =
    "[question]\nask = What?\nworkload = w.ini\nrounds = 6\n[arm without]\n[arm with]\n";

/// A statement that takes minutes.
pub(crate) const SLOW: &str = "with recursive c(x) as (select 1 union all select x + 1 from c \
                    where x < 1000000000) select count(*) from c";

/// A workload on a simulated server, which takes almost no real time with `--virtual`.
pub(crate) const SIMULATED: &str =
    "url = sim:mm1?service=1ms\nduration = 2s\n[read]\nquery = select 1\nconcurrency = 2\n";

pub(crate) const SLOWER: &str = "\
[question]
ask = What?
workload = w.ini
bet = throughput -5% .. -25%
[arm fast]
[arm slow]
option.service = 1.2ms
";

pub(crate) fn place(workload: &str, experiment: &str) -> TestFolder {
    let place = TestFolder::with(workload);
    place.write("e.ini", experiment);
    place
}

pub(crate) const RUN: [&str; 4] = ["run", "e.ini", "--out", "r.assay"];
pub(crate) const VIRTUAL: [&str; 5] = ["run", "e.ini", "--virtual", "--out", "r.assay"];
pub(crate) const RESUME: [&str; 5] = ["run", "e.ini", "--virtual", "--resume", "r.assay"];

/// Returns the answer from a full text, without the lines that say when the experiment was
/// continued. The checks, which follow the answer, are left out.
pub(crate) fn without_notes(full: &str) -> String {
    let (answer, _) = full.split_once("\nchecks\n").unwrap();
    let Some(start) = answer.find("\nnote ") else { return answer.to_owned() };
    let end = answer.find("\ncommand ").unwrap();
    let notes = answer[start..end].trim().lines();
    let is_note = |line: &str| line.contains("Z: resumed ") || line.ends_with("in the record");
    assert!(notes.into_iter().all(is_note), "{answer}");
    format!("{}{}", &answer[..start], &answer[end..])
}

#[track_caller]
pub(crate) fn assert_says(ran: &CommandResult, words: &[&str]) {
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` is not in: {}", ran.stderr);
    }
}

pub(crate) fn tables(place: &TestFolder) -> i64 {
    // The tables of SQLite's own statistics stay.
    number(&place.at("t.db"), "select count(*) from sqlite_schema where name not like 'sqlite_%'")
}

#[test]
fn unreachable_server_of_an_arm_leaves_no_record() {
    let arms = format!("{ARMS}url = postgres://ann@{UNUSED_ADDRESS}/shop\n");
    let place = place(&SQLITE_WORKLOAD.replace("sqlite:t.db", "sqlite:"), &arms);
    let ran = place.assay(&RUN).expect(4);
    assert_says(&ran, &["[arm with]: ", UNUSED_ADDRESS, "no server listens there; start it"]);
    assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
    assert_eq!(place.names(), ["e.ini", "w.ini"]);
}

/// If a server cannot be reached at the start, a run with `--json` prints its document and keeps
/// the record, although the document only says why there is no result.
#[test]
fn unreachable_server_at_the_start_gives_a_document() {
    let workload = SQLITE_WORKLOAD.replace("sqlite:t.db", "sqlite:");
    let (at, missing) = ("postgres://ann@127.0.0.1:1/shop", "sqlite:missing/t.db");
    let ask = "[question]\nask = What?\nworkload = w.ini\n";
    let arms = |url: &str| format!("{ARMS}url = {url}\n");
    let sweep = format!("{ask}[sweep]\nvary = concurrency(read): 1, 2\n");
    let search = format!(
        "{ask}[capacity]\nslo = p99(read) < 1s\nvary = concurrency(read)\ntrial = 1s\nbudget = 1m\n"
    );
    for (url, experiment, reason) in [
        ("sqlite:", arms(at), "no server listens there; start it"),
        ("sqlite:", arms(missing), "missing"),
        (at, sweep, "no server listens there; start it"),
        (missing, search, "missing"),
    ] {
        let place = place(&workload.replace("sqlite:", url), &experiment);
        let ran = place.assay(&[&RUN[..], &["--json"]].concat()).expect(4);
        assert_says(&ran, &[reason]);
        assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
        let document = ran.json();
        assert_matches_schema("schemas/experiment.schema.json", &document);
        assert_eq!(
            (&document["state"], &document["verdict"]),
            (&"interrupted".into(), &"INVALID".into())
        );
        assert_eq!(document["runs"], Value::Array(Vec::new()), "{document}");
        let notes = document["notes"].as_array().unwrap();
        assert_eq!(notes.len(), 1, "{document}");
        assert!(notes[0]["text"].as_str().unwrap().contains(reason), "{document}");
        let report = place.assay(&["report", "r.assay"]).expect(3);
        assert!(report.stdout_line().contains(reason), "{}", report.stdout);
        assert_eq!(place.names(), ["e.ini", "r.assay", "w.ini"]);
    }
}

/// Expects no document: a wrong file is an error of the user, and there is no answer to give.
#[test]
fn failing_setup_gives_no_document() {
    let workload = SQLITE_WORKLOAD.replace("create table", "create tabel");
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    let ran = place.assay(&[&RUN[..], &["--json"]].concat()).expect(2);
    assert_eq!(ran.stdout, "");
    assert!(!place.at("r.assay").exists(), "{:?}", place.names());
}

/// The tables of the first arm, which has a database of its own, are not left behind.
#[test]
fn failing_setup_of_one_arm_tears_down_the_others() {
    let place = place(SQLITE_WORKLOAD, &format!("{ARMS}url = sqlite:u.db\n"));
    let other = rusqlite::Connection::open(place.at("u.db")).unwrap();
    other.execute_batch("create table t (id integer)").unwrap();
    let ran = place.assay(&RUN).expect(2);
    assert_says(&ran, &["preparing the data for [arm without]", "statement 1 of [setup]"]);
    assert_eq!(tables(&place), 0);
    assert_eq!(place.names(), ["e.ini", "t.db", "u.db", "w.ini"]);
}

/// Nothing is prepared on the first server for runs that the second server cannot execute.
#[test]
fn unreachable_server_of_an_arm_is_found_before_the_tables_of_another_are_made() {
    let arms = format!("{ARMS}url = postgres://ann@{UNUSED_ADDRESS}/shop\n");
    let place = place(SQLITE_WORKLOAD, &arms);
    let ran = place.assay(&RUN).expect(4);
    assert_says(&ran, &["[arm with]: the target does not answer: ", UNUSED_ADDRESS]);
    assert!(!ran.stderr.contains("preparing the data"), "{}", ran.stderr);
}

#[test]
fn failing_statement_of_an_experiment_is_named_with_its_key() {
    for (lines, key, tables_left) in [
        (
            ("", "before = create index i on t (v)\nbefore = nonsense\nafter = drop index i\n"),
            "before",
            0,
        ),
        (("", "before = select 1\nafter = select 2\nafter = nonsense\n"), "after", 0),
        (("restore = select 1\nrestore = nonsense\n", "concurrency(read) = 2\n"), "restore", 0),
    ] {
        let arms = ARMS.replace("[arm without]", &format!("{}[arm without]", lines.0));
        let place = place(SQLITE_WORKLOAD, &format!("{arms}{}", lines.1));
        let ran = place.assay(&RUN).expect(2);
        let statement = format!("the database rejects statement 2 of `{key}`\n");
        let text = std::fs::read_to_string(place.at("e.ini")).unwrap();
        let line = text.lines().position(|line| line.ends_with("nonsense")).unwrap() + 1;
        assert_says(&ran, &["[arm with", &statement, &format!("e.ini:{line}:"), "syntax error"]);
        assert!(!ran.stderr.contains("[setup]"), "{}", ran.stderr);
        // The teardown ran, and the earlier measurements stay in the record.
        assert_eq!(tables(&place), tables_left, "{key}");
        let keeps = place.names().contains(&"r.assay".to_owned());
        assert_eq!(keeps, ran.stderr.contains("continue with --resume r.assay"), "{}", ran.stderr);
        assert_eq!(keeps, ran.stderr.contains("run 1: "), "{}", ran.stderr);
    }
}

#[test]
fn failing_setup_of_an_experiment_points_to_its_line() {
    let workload = SQLITE_WORKLOAD.replace("create table", "create tabel");
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    let ran = place.assay(&RUN).expect(2);
    assert_says(&ran, &["statement 1 of [setup]", "w.ini:4:", "tabel"]);
    assert!(!place.names().contains(&"r.assay".to_owned()), "{:?}", place.names());
}

#[test]
fn failing_teardown_of_an_experiment_is_a_warning_with_its_answer() {
    let workload =
        SQLITE_WORKLOAD.replace("drop table t", "drop table other\nquery = drop table t");
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    let ran = place.assay(&RUN);
    assert_says(&ran, &["warning: the database rejects statement 1 of [teardown]", "other"]);
    assert_ended(&place, &ran, 6);
    assert_eq!(tables(&place), 0);
    let words = "Z: the database rejects statement 1 of [teardown]";
    assert!(ran.stdout_line().contains(words), "{}", ran.stdout);
    assert_eq!(place.assay(&["report", "r.assay"]).stdout, ran.stdout);
    let markdown = place.assay(&["report", "r.assay", "--markdown"]).stdout;
    assert!(markdown.contains("- note: 2") && markdown.contains("statement 1 of"), "{markdown}");
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["notes"].as_array().unwrap().len(), 1);
    assert!(document["notes"][0]["text"].as_str().unwrap().contains("[teardown]"), "{document}");
}

/// Interrupts an experiment after a line of its output, and checks that it ends soon and is
/// reported as interrupted.
#[track_caller]
fn interrupted_at(place: &TestFolder, line: &str) -> CommandResult {
    let mut run = place.start_in_lockstep(&RUN);
    run.wait_for_line(line);
    interrupt(place, run)
}

/// Interrupts an experiment once `is_there` is true after a line of its output, and checks that it
/// ends soon and is reported as interrupted.
#[track_caller]
fn interrupted(place: &TestFolder, line: &str, is_there: impl Fn(&Path) -> bool) -> CommandResult {
    let mut run = place.start(&RUN);
    run.wait_for_line(line);
    wait_until("the moment of the interrupt", || is_there(place.path()));
    interrupt(place, run)
}

/// Interrupts an experiment, and checks that it ends soon and is reported as interrupted.
#[track_caller]
fn interrupt(place: &TestFolder, run: Running) -> CommandResult {
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end().expect(130);
    assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    let left: Vec<String> =
        place.names().into_iter().filter(|name| name.contains("assay")).collect();
    assert_eq!(left, ["r.assay"]);
    assert_eq!(tables(place), 0, "{}", ran.stderr);
    ran
}

/// Returns true if the database has a table `mark`.
pub(crate) fn is_marked(place: &Path) -> bool {
    let connection = rusqlite::Connection::open(place.join("t.db")).unwrap();
    connection.query_row("select 1 from sqlite_schema where name = 'mark'", [], |_| Ok(())).is_ok()
}

/// Returns true if the database file has grown.
fn is_filled(place: &Path) -> bool {
    std::fs::metadata(place.join("t.db")).is_ok_and(|file| file.len() > 200_000)
}

#[test]
fn interrupt_in_a_load_ends_the_experiment() {
    let workload = SQLITE_WORKLOAD.replace("1000\ncol", "50M\ncol");
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    interrupted(&place, "preparing the data", is_filled);
}

#[test]
fn interrupt_in_a_reload_ends_the_experiment() {
    let workload = SQLITE_WORKLOAD.replace("1000\ncol", "20k\ncol");
    let arms = ARMS.replace("[arm without]", "restore = reload\n[arm without]");
    let place = place(&workload, &format!("{arms}concurrency(read) = 2\n"));
    interrupted_at(&place, "run 1: ");
    // The load of the resumed experiment is complete.
    let mut run = place.start_in_lockstep(&["run", "e.ini", "--resume", "r.assay"]);
    run.wait_for_line("run 2: ");
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
}

/// Expects the forecast to include the canary, which takes 2.2 s for a run of 30 s.
#[test]
fn forecast_counts_the_runs_and_their_least_time() {
    let workload = SIMULATED.replace("duration = 2s", "duration = 30s");
    for (more, words) in [
        ("", "2 arms, 16 to 40 runs, at least 8m35s200ms to 21m28s, without setup and loads"),
        ("rounds = 10\n", "2 arms, 20 runs, at least 10m44s, without setup and loads"),
        (
            "restore = reload\nrounds = 10\n",
            "20 runs, at least 10m44s, without setup, loads, and restoring and settling before",
        ),
    ] {
        let place = place(&workload, &SLOWER.replace("bet = ", &format!("{more}bet = ")));
        let mut run = place.start(&RUN);
        run.wait_for_line(words);
        run.wait_for_line("run 1 of at most ");
        run.signal(Signal::SIGINT);
        run.wait_for_end().expect(130);
    }
    let place = place(SIMULATED, &SLOWER.replace("bet = ", "rounds = 6\nbet = "));
    let ran = place.assay(&VIRTUAL).expect(0);
    assert_says(&ran, &["experiment: 2 arms, 12 runs, without setup and loads\n"]);
    assert_says(&ran, &["run 1 of at most 12: round 1, ", "run 12 of at most 12: round 6, "]);
    assert_says(&ran, &["at most 1s left\n"]);
}

#[test]
fn interrupt_in_a_run_leaves_the_runs_before_it() {
    let place = place(SQLITE_WORKLOAD, &format!("{ARMS}concurrency(read) = 2\n"));
    place.write("w.ini", SQLITE_WORKLOAD.replace("100ms", "2s"));
    let ended = ended_runs(&interrupted_at(&place, "run 2 of").stderr);
    // If the interrupt is late, more runs have ended.
    assert!(!ended.is_empty());
    let kept = number(&place.at("r.assay"), "select count(*) from run");
    assert_eq!(kept, i64::try_from(ended.len()).unwrap(), "{ended:?}");
    let values = "select count(*) from excerpt where run = 1 and kind = 'rows' and row > 0";
    assert_eq!(number(&place.at("r.assay"), values), 10, "five rows of the loaded table");
}

#[test]
fn interrupt_in_a_statement_ends_it_and_undoes_it() {
    let before =
        format!("before = create table mark (x)\nbefore = {SLOW}\nafter = drop table mark\n");
    let place_of_before = place(SQLITE_WORKLOAD, &format!("{ARMS}{before}"));
    let ran = interrupted(&place_of_before, "preparing the data", is_marked);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let restore = format!("restore = create table mark (x)\nrestore = {SLOW}\n[arm without]");
    let arms = ARMS.replace("[arm without]", &restore);
    let workload = format!("{SQLITE_WORKLOAD}query = drop table mark\n");
    let place = place(&workload, &format!("{arms}before = select 1\nafter = nonsense\n"));
    // The statements after a run that was not begun have nothing to undo.
    let ran = interrupted(&place, "preparing the data", is_marked);
    assert!(!ran.stderr.contains("nonsense"), "{}", ran.stderr);
}

/// Expects the statement before a run to be undone: the statement creates a table, which it could
/// not do twice.
#[test]
fn step_that_a_killed_experiment_left_is_undone_when_it_is_resumed() {
    let before = "before = create table mark (x)\nafter = drop table mark\n";
    let place = place(&SQLITE_WORKLOAD.replace("100ms", "300ms"), &format!("{ARMS}{before}"));
    let mut run = place.start(&RUN);
    run.wait_for_line("run 1 of");
    wait_until("the table of the statement", || {
        if !is_marked(place.path()) {
            return false;
        }
        // The table is dropped after the run, perhaps between the check and the signal.
        run.signal(Signal::SIGSTOP);
        let is_still_there = is_marked(place.path());
        if !is_still_there {
            run.signal(Signal::SIGCONT);
        }
        is_still_there
    });
    run.signal(Signal::SIGKILL);
    run.wait_for_end();
    assert!(is_marked(place.path()));
    let ran = place.assay(&["run", "e.ini", "--resume", "r.assay"]);
    assert_ended(&place, &ran, 6);
    assert_eq!(tables(&place), 0, "{}", ran.stderr);
}

#[test]
fn interrupt_in_a_statement_after_a_run_is_noted() {
    let after = format!("before = select 1\nafter = create table mark (x)\nafter = {SLOW}\n");
    let workload = format!("{SQLITE_WORKLOAD}query = drop table mark\n");
    let place = place(&workload, &format!("{ARMS}{after}"));
    let ran = interrupted(&place, "run 1 of", is_marked);
    let words = "with: an interrupt ended `after` before all of it was done";
    assert_says(&ran, &[words]);
    let noted = format!("select count(*) from note where text = '{words}'");
    assert_eq!(number(&place.at("r.assay"), &noted), 1);
}

#[test]
fn second_interrupt_ends_a_teardown_and_leaves_the_answer() {
    let teardown = format!("create table mark (x)\nquery = {SLOW}");
    let workload = SQLITE_WORKLOAD.replace("drop table t", &teardown);
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    let mut run = place.start(&RUN);
    wait_until("the table of the teardown", || {
        assert!(run.is_running());
        is_marked(place.path())
    });
    run.signal(Signal::SIGINT);
    run.wait_for_line("Ctrl-C again: at once");
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end();
    assert!([0, 3, 130].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    assert_ended(&place, &place.assay(&["report", "r.assay"]), 6);
}

#[test]
fn record_in_use_is_not_resumed_by_another_process() {
    let place = place(SIMULATED, SLOWER);
    let mut run = place.start(&["run", "e.ini", "--out", "r.assay", "--duration", "1m"]);
    run.wait_for_line("run 1 of");
    let resume = ["run", "e.ini", "--resume", "r.assay", "--duration", "1m"];
    let ran = place.assay(&resume).refuses(&["`r.assay` is in use by another process"]);
    assert!(!ran.stderr.contains("continue with --resume"), "{}", ran.stderr);
    // The other process continues its run.
    wait_until("the record of its run", || {
        assert!(run.is_running());
        place.names().contains(&"r.assay-run".to_owned())
    });
    let report = place.assay(&["report", "r.assay"]).expect(3);
    assert!(report.stdout.contains("No answer"), "{}", report.stdout);
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    assert_eq!(place.names(), ["e.ini", "r.assay", "w.ini"]);
}

#[test]
fn errors_in_every_run_of_an_arm_make_the_answer_invalid() {
    let place = place(SIMULATED, &SLOWER.replace("service = 1.2ms", "errors = 0.5"));
    let ran = place.assay(&VIRTUAL).expect(3);
    assert!(ran.stdout.starts_with("INVALID\n\n"), "{}", ran.stdout);
    let words =
        ["\nINVALID, 8 of 16 runs: ", "  fast: 8 runs\n", "slow: 8 runs; 8 INVALID (", "errors"];
    for word in words {
        assert!(ran.stdout.contains(word), "`{word}`: {}", ran.stdout);
    }
    // An arm that does not do the work supports neither a claim nor a bet.
    let sentence = "throughput(read) is not compared: runs of the arm or its baseline are \
                    INVALID (`slow` against `fast`)";
    let report = |form: &str| place.assay(&["report", "r.assay", form]).expect(3).stdout;
    let [full, markdown] = ["--full", "--markdown"].map(report);
    assert!(full.starts_with(&format!("{sentence}\n")), "{full}");
    for text in [&ran.stdout, &full, &markdown] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("not compared: runs of the arm or its baseline are INVALID"),
            "{text}"
        );
        assert!(words.contains(": not judged") && !words.contains(" lowers "), "{text}");
    }
    let document = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
    let declared = &document["comparison"][0];
    assert_eq!(declared["bets"][0]["outcome"], "not-judged", "{declared}");
    assert_eq!(declared["verdict"], "not-compared", "{declared}");
    assert!(declared["change_percent"].is_null(), "{declared}");
    // The figures of the arm are there, without a claim.
    let exploratory = |it: &&Value| it["exploratory"] == true && it["job"] == "read";
    let all = document["comparison"].as_array().unwrap();
    assert!(all.iter().filter(exploratory).any(|it| !it["change_percent"].is_null()));
}

/// Returns the arm, the verdict and the point of each declared metric.
fn declared(place: &TestFolder) -> Vec<[String; 3]> {
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    let rows = document["comparison"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |it: &Value| ["arm", "verdict", "point"].map(|key| text(&it[key]));
    rows.filter(|it| it["exploratory"] == false).map(row).collect()
}

#[test]
fn only_arms_with_invalid_runs_or_such_a_baseline_are_not_compared() {
    let wrong = "[arm wrong]\noption.errors = 0.5\n";
    let slow = "[arm slow]\noption.service = 1.2ms\n";
    let ask = "[question]\nask = What?\nworkload = w.ini\n";
    let expect = |arms: &str, expected: &[[&str; 3]]| {
        let place = place(SIMULATED, &format!("{ask}{arms}"));
        place.assay(&VIRTUAL);
        assert_eq!(declared(&place), expected, "{arms}");
    };
    expect(
        &format!("[arm fast]\n{wrong}{slow}"),
        &[["wrong", "not-compared", ""], ["slow", "worse", ""]],
    );
    expect(&format!("{wrong}[arm fast]\n"), &[["fast", "not-compared", ""]]);
    let sweep = "[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 3\n";
    expect(
        &format!("{sweep}[arm fast]\n{wrong}"),
        &[["wrong", "not-compared", "1"], ["wrong", "not-compared", "2"]],
    );
}

/// Expects the round to be repeated, and then the experiment to end. The generator is stopped in
/// every run until no repetition is left.
#[test]
fn failed_instrument_repeats_a_round_and_then_ends_the_experiment() {
    let workload = "url = sim:mdc?service=1ms&servers=64\nduration = 1s\n[read]\nquery = select 1\n\
                    rate = 200\narrival = uniform\n";
    let arms = "[question]\nask = What?\nworkload = w.ini\nrounds = 6\n[arm fast]\n[arm slow]\n\
                option.service = 2ms\n";
    let place = place(workload, arms);
    let ran = place.start(&RUN).wait_for_end_with_pauses().expect(3);
    let repeated = "is repeated: the load generator or the machine failed";
    assert_eq!(ran.stderr.matches(repeated).count(), 2, "{}", ran.stderr);
    let words = "\nNo answer: the load generator or the machine failed";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let resume = ["run", "e.ini", "--resume", "r.assay"];
    place.assay(&resume).refuses(&["the load generator or the machine failed", "begin anew"]);
}

/// Returns a folder with the record of an experiment that ended before its only look. `changes` are
/// further statements on the record.
fn record_without_look(changes: &str) -> TestFolder {
    let place = place(SIMULATED, &SLOWER.replace("bet = ", "rounds = 6\nbet = "));
    place.assay(&VIRTUAL).expect(0);
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let interrupted = "delete from look; \
                       update experiment set value = 'interrupted' where key = 'state';";
    record.execute_batch(&format!("{interrupted} {changes}")).unwrap();
    place
}

#[test]
fn answer_after_a_repeated_round_counts_its_runs() {
    let place = record_without_look("update run set state = 'repeated' where round = 2");
    let ran = place.assay(&RESUME).expect(0);
    assert_says(&ran, &["run 13 of at most 14: round 3, ", "run 14 of"]);
    for words in ["6 interleaved pairs)", " fast, slow: 6 runs each; 1 repeated "] {
        assert!(ran.stdout_line().contains(words), "{words}: {}", ran.stdout);
    }
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_eq!(document["arms"][1]["repeated"], 1);
}

#[test]
fn resumed_experiment_forgets_the_arm_that_was_not_in_effect() {
    let place = record_without_look(
        "update experiment set value = 'not-in-effect' where key = 'state'; \
         insert into experiment values ('invalid-arm', '[arm slow]: it is not in effect')",
    );
    let report = place.assay(&["report", "r.assay"]).expect(3);
    assert!(report.stdout.contains("an arm is INVALID. [arm slow]: it is"), "{}", report.stdout);
    let ran = place.assay(&RESUME).expect(0);
    assert!(!ran.stdout.contains("not in effect"), "{}", ran.stdout);
    let stale = "select count(*) from experiment where key = 'invalid-arm'";
    assert_eq!(number(&place.at("r.assay"), stale), 0);
}

/// Returns a folder with the record of an experiment that was interrupted in its third round. At
/// least one round then counts, even if a busy machine makes the first invalid.
fn interrupted_record() -> TestFolder {
    let place = place(SQLITE_WORKLOAD, &format!("{ARMS}concurrency(read) = 2\n"));
    place.write("w.ini", SQLITE_WORKLOAD.replace("100ms", "300ms"));
    let mut run = place.start_in_lockstep(&RUN);
    run.wait_for_line("run 6 of");
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    place
}

#[test]
fn experiment_that_differs_from_its_record_is_not_resumed() {
    let place = interrupted_record();
    let resume = ["run", "e.ini", "--resume", "r.assay"];
    let check = |more: &[&str], words: &[&str]| {
        place.assay(&[&resume[..], more].concat()).refuses(words);
    };
    let help = "same files, options and server";
    let workload = "the workload or its options have changed: `";
    check(&["--seed", "7"], &[workload, "`seed = 7` now", help]);
    check(&["--duration", "1s"], &[workload, "`duration = 300ms` then, `duration = 1s` now", help]);
    let command = "the options of the command line have changed: `assay run e.ini` then, `";
    check(&["--threads", "2"], &[command, "--threads 2` now", help]);
    let rounds = ARMS.replace("rounds = 6", "rounds = 7");
    place.write("e.ini", format!("{rounds}concurrency(read) = 2\n"));
    check(&[], &["`e.ini` has changed since the experiment began", help]);
    place.write("e.ini", format!("{ARMS}concurrency(read) = 2\n"));
    place.write("w.ini", SQLITE_WORKLOAD);
    check(&[], &["`w.ini` has changed since the experiment began", help]);
    place.write("w.ini", SQLITE_WORKLOAD.replace("100ms", "300ms"));
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    record.execute("update experiment set value = '0.0.9' where key = 'assay'", []).unwrap();
    check(&[], &["another version of assay made its runs", help]);
    let resume = |record: &str, words: &[&str]| {
        place.assay(&["run", "e.ini", "--resume", record]).refuses(words);
    };
    resume("none.assay", &["there is no file `none.assay`"]);
    resume("w.ini", &["`w.ini` is not a record of Assay"]);
    resume(".", &["`.` is not a file"]);
    let single = ["run", "w.ini", "--url", "sim:mm1", "--virtual", "--out", "single.assay"];
    place.assay(&single).expect(0);
    let words = ["`single.assay` is the record of a single run", "of an experiment with --resume"];
    resume("single.assay", &words);
}

/// A refused resumption leaves the record as it was, so the next report says how the experiment
/// ended.
#[test]
fn experiment_is_not_resumed_on_a_server_of_another_version() {
    let place = interrupted_record();
    let path = place.at("r.assay");
    let record = rusqlite::Connection::open(&path).unwrap();
    let changed = record
        .execute("update setting set value = 'SQLite 3.7.1' where name = 'server'", [])
        .unwrap();
    assert!(changed > 0);
    for (changes, end) in [
        ("", "the experiment was interrupted"),
        // A busy machine may have repeated some rounds already. The runs of repeated rounds do not
        // count, but they were measured on a server, too.
        ("update run set state = 'repeated'", "the experiment was interrupted"),
        (
            "update experiment set value = 'not-in-effect' where key = 'state'; \
             insert into experiment values ('invalid-arm', '[arm with]: it is away')",
            "an arm is INVALID. [arm with]: it is away",
        ),
        (
            "update experiment set value = 'running' where key = 'state'; \
             delete from experiment where key = 'invalid-arm'",
            "the experiment was killed, or is still running",
        ),
    ] {
        record.execute_batch(changes).unwrap();
        let before = record_content(&path);
        let report = || place.assay(&["report", "r.assay", "--full"]).expect(3).stdout;
        let reported = report();
        assert!(reported.starts_with(&format!("No answer: {end}")), "{reported}");
        let ran = place.assay(&["run", "e.ini", "--resume", "r.assay"]).expect(2);
        let words = ["the server is SQLite 3.", "that of the earlier runs was SQLite 3.7.1"];
        assert_says(&ran, &words);
        assert!(record_content(&path) == before, "the record has changed");
        assert_eq!(report(), reported);
        assert_eq!(tables(&place), 0);
        assert_eq!(place.names(), ["e.ini", "r.assay", "t.db", "w.ini"]);
    }
}

/// Returns the rows of all tables of a record, sorted and prefixed with the names of their tables.
/// Notes of the program are left out, because a continuation adds one.
pub(crate) fn record_content(record: &Path) -> Vec<String> {
    let connection = rusqlite::Connection::open(record).unwrap();
    let names = "select name from sqlite_schema where type = 'table' and name <> 'note'";
    rows(&connection, &names_of(&connection, names), "")
}

/// Returns the rows about the runs of a record up to the run number `last`, sorted and prefixed
/// with the names of their tables.
pub(crate) fn content_of_runs(record: &Path, last: i64) -> Vec<String> {
    let connection = rusqlite::Connection::open(record).unwrap();
    let tables = tables_of_runs(&connection);
    rows(&connection, &tables, &format!("where run <= {last}"))
}

/// Returns the rows that a record has lost, except the state of its experiment.
pub(crate) fn lost_rows<'r>(before: &'r [String], after: &[String]) -> Vec<&'r String> {
    let is_state = |row: &String| row.starts_with("experiment [Text(\"state\"");
    let is_lost = |row: &&String| after.binary_search(row).is_err() && !is_state(row);
    before.iter().filter(is_lost).collect()
}

/// Returns the names of the tables that have rows for each run.
fn tables_of_runs(record: &rusqlite::Connection) -> Vec<String> {
    let names = "select schema.name from sqlite_schema as schema \
                 join pragma_table_info(schema.name) as info \
                 where schema.type = 'table' and info.name = 'run' order by schema.name";
    names_of(record, names)
}

fn names_of(record: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut select = record.prepare(sql).unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn rows(record: &rusqlite::Connection, tables: &[String], condition: &str) -> Vec<String> {
    let mut all = Vec::new();
    for name in tables {
        let mut select = record.prepare(&format!("select * from {name} {condition}")).unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<rusqlite::types::Value> =
                (0..columns).map(|column| row.get(column).unwrap()).collect();
            all.push(format!("{name} {values:?}"));
        }
    }
    all.sort_unstable();
    all
}

/// Each process is killed at a different moment: before its first run, during a run, in the
/// transaction that merges a run, or after that transaction.
#[test]
fn experiment_killed_again_and_again_has_the_same_content_and_looks() {
    let place = place(SIMULATED, &SLOWER.replace("bet = ", "rounds = 6\nbet = "));
    let whole = ["run", "e.ini", "--virtual", "--full", "--out", "whole.assay"];
    let expected = without_notes(&place.assay(&whole).expect(0).stdout);
    let journal = place.at("r.assay-journal");
    let moments = ["starting", "preparing", " of at most ", ": VALID", " of at most "];
    let mut killed = 0;
    loop {
        let line = if killed > 0 { &RESUME } else { &VIRTUAL };
        // The journal appears only after the line of output for which the test waits.
        let awaits_journal = killed % 5 == 4;
        let mut run = match awaits_journal {
            true => place.start(line),
            false => place.start_in_lockstep(line),
        };
        let is_over = !run.prints_line_before_end(moments[killed % moments.len()]);
        while !is_over && awaits_journal && !journal.exists() && run.is_running() {
            std::hint::spin_loop();
        }
        if run.is_running() {
            run.signal(Signal::SIGKILL);
        }
        run.wait_for_end();
        if is_over {
            break;
        }
        killed += 1;
        assert!(killed < 200, "it makes no progress");
    }
    assert!(killed >= 5, "{killed}");
    let report = place.assay(&["report", "r.assay", "--full"]).expect(0);
    assert_eq!(without_notes(&report.stdout).replace("r.assay", "whole.assay"), expected);
    assert_eq!(record_content(&place.at("r.assay")), record_content(&place.at("whole.assay")));
    assert_eq!(place.names(), ["e.ini", "r.assay", "w.ini", "whole.assay"]);
}

/// Leaves `r.assay` in the state after a machine failure during the merge of a run of
/// `whole.assay`: a part of the run's rows is in the file, and the journal that removes them is
/// next to it.
fn fail_within_a_merge(place: &TestFolder, run: u32) {
    let [whole, cut] = ["whole.assay", "cut.assay"].map(|name| place.at(name));
    std::fs::copy(&whole, &cut).unwrap();
    let record = rusqlite::Connection::open(&cut).unwrap();
    let tables = tables_of_runs(&record);
    let execute = |sql: String| record.execute_batch(&sql).unwrap();
    tables.iter().for_each(|table| execute(format!("delete from {table} where run >= {run}")));
    let running = "update experiment set value = 'running' where key = 'state'";
    execute(format!("delete from look; {running}"));
    execute(format!("attach database '{}' as whole; begin", whole.display()));
    for table in tables.iter().filter(|table| table.as_str() < "run") {
        let rows = format!("select * from whole.{table} where run = {run}");
        execute(format!("insert into main.{table} {rows}"));
    }
    record.cache_flush().unwrap();
    for end in ["", "-journal"] {
        let from = place.at(&format!("cut.assay{end}"));
        std::fs::copy(from, place.at(&format!("r.assay{end}"))).unwrap();
    }
    execute("rollback".to_owned());
    drop(record);
    // Without its journal the file has rows of the run.
    std::fs::copy(place.at("r.assay"), &cut).unwrap();
    assert!(number(&cut, &format!("select count(*) from histogram where run = {run}")) > 0);
    std::fs::remove_file(cut).unwrap();
}

/// The run is executed again, even if its own record is whole.
#[test]
fn hot_journal_beside_a_torn_record_of_the_run_is_resumed_to_the_same_content() {
    let place = place(SIMULATED, &SLOWER.replace("bet = ", "rounds = 6\nbet = "));
    let whole = ["run", "e.ini", "--virtual", "--full", "--out", "whole.assay"];
    let expected = without_notes(&place.assay(&whole).expect(0).stdout);
    let run = ["export", "whole.assay", "--run", "8", "--format", "assay", "--out", "own.assay"];
    place.assay(&run).expect(0);
    let own = std::fs::read(place.at("own.assay")).unwrap();
    std::fs::remove_file(place.at("own.assay")).unwrap();
    for length in [own.len(), own.len() / 2, 100, 0] {
        fail_within_a_merge(&place, 8);
        place.write("r.assay-run", &own[..length]);
        // Neither the run's record nor its journal is read again.
        place.write("r.assay-run-journal", &own[..length.min(512)]);
        let ran = place.assay(&[&RESUME[..], &["--full"]].concat()).expect(0);
        assert_says(&ran, &["run 8 of at most 12: round 4, "]);
        assert!(!ran.stderr.contains("run 7 of"), "{}", ran.stderr);
        assert_eq!(without_notes(&ran.stdout).replace("r.assay", "whole.assay"), expected);
        let [resumed, whole] =
            ["r.assay", "whole.assay"].map(|record| record_content(&place.at(record)));
        assert_eq!(resumed, whole, "{length}");
        assert_eq!(place.names(), ["e.ini", "r.assay", "w.ini", "whole.assay"]);
        std::fs::remove_file(place.at("r.assay")).unwrap();
    }
}

/// Expects exactly the planned looks. The true change lies at an end of the bet's range, so the bet
/// stays undecided until the last look.
#[test]
fn experiment_killed_between_looks_takes_the_planned_looks() {
    let place = place(SIMULATED, &SLOWER.replace("-25%", "-16.67%"));
    let whole = ["run", "e.ini", "--virtual", "--out", "whole.assay"];
    place.assay(&whole).expect(0);
    let looks =
        |record: &str, what: &str| number(&place.at(record), &format!("select {what} from look"));
    assert_eq!((looks("whole.assay", "count(*)"), looks("whole.assay", "sum(pairs)")), (3, 40));
    let mut taken = Vec::new();
    loop {
        let mut run = place.start_in_lockstep(if taken.is_empty() { &VIRTUAL } else { &RESUME });
        // Waits for a whole round, and for the first run of the next one.
        let is_over = !(0..3).all(|_| run.prints_line_before_end(": VALID"));
        if run.is_running() {
            run.signal(Signal::SIGKILL);
        }
        run.wait_for_end();
        if is_over {
            break;
        }
        taken.push(looks("r.assay", "count(*)"));
        assert!(taken.len() < 100, "it makes no progress");
    }
    assert!([0, 1, 2].iter().all(|looks| taken.contains(looks)), "{taken:?}");
    let [own, expected] = ["r.assay", "whole.assay"].map(|record| {
        let report = place.assay(&["report", record, "--full"]).expect(0);
        without_notes(&report.stdout).replace(record, "whole.assay")
    });
    assert_eq!(own, expected);
    assert_eq!(record_content(&place.at("r.assay")), record_content(&place.at("whole.assay")));
}
