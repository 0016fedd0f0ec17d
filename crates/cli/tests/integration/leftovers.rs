//! Tests of continuations that find something in the database: tables that stay without
//! `[teardown]`, and changes that an interrupted `after` has not undone.

use nix::sys::signal::Signal;
use rusqlite::Connection;

use crate::experiment_end::assert_ended;
use crate::experiment_faults::{
    ARMS, RUN, SLOW, SQLITE_WORKLOAD, assert_says, is_marked, place, record_content, tables,
};
use crate::support::{TestFolder, number, wait_until};

const RESUME: [&str; 4] = ["run", "e.ini", "--resume", "r.assay"];

/// Returns a folder with the record of an interrupted experiment without `[teardown]`, whose
/// `[setup]` begins with `create`.
fn interrupted(create: &str) -> TestFolder {
    let (workload, _) = SQLITE_WORKLOAD.split_once("[teardown]").unwrap();
    let workload = workload.replace("create table t (id integer primary key", create);
    let place = place(&workload, &format!("{ARMS}concurrency(read) = 2\n"));
    let mut run = place.start_in_lockstep(&RUN);
    run.wait_for_line("run 2 of");
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    assert_eq!(tables(&place), 1);
    place
}

/// Checks that a continuation is refused with these words, changes nothing in the record, and
/// succeeds after the user has executed the statement `by_hand`.
#[track_caller]
fn check(create: &str, words: &[&str], by_hand: &str) {
    let place = interrupted(create);
    let before = record_content(&place.at("r.assay"));
    let ran = place.assay(&RESUME).refuses(words);
    assert_says(&ran, &["may have left", "as a [teardown] would", "with --resume r.assay"]);
    // Another target or another file would not be accepted, so the message must not suggest it.
    for impossible in ["--url", "on-duplicate", "restore"] {
        assert!(!ran.stderr.contains(impossible), "{impossible}: {}", ran.stderr);
    }
    assert!(record_content(&place.at("r.assay")) == before, "the record has changed");
    Connection::open(place.at("t.db")).unwrap().execute(by_hand, []).unwrap();
    assert_ended(&place, &place.assay(&RESUME), 6);
}

#[test]
fn resumed_experiment_names_a_leftover_table_with_the_remedy() {
    let words = ["statement 1 of [setup]", "w.ini:4:", "table t already exists", "drop it first"];
    check("create table t (id integer primary key", &words, "drop table t");
}

#[test]
fn resumed_experiment_reports_leftover_rows() {
    let words = ["w.ini:5:", "UNIQUE constraint failed: t.id", "delete them first"];
    check("create table if not exists t (id integer primary key", &words, "delete from t");
    let words = ["after the load, table t has 2000 rows; expected 1000", "delete them first"];
    check("create table if not exists t (id integer", &words, "delete from t");
}

/// The workload itself removes the data of the previous process.
#[test]
fn resumed_experiment_replaces_the_tables_that_its_setup_drops() {
    let place = interrupted("drop table if exists t\nquery = create table t (id integer");
    assert_ended(&place, &place.assay(&RESUME), 6);
    assert_eq!(tables(&place), 1);
}

/// Expects the statement before the interrupted run to be undone first: the statement creates a
/// table, which it could not do twice.
#[test]
fn step_whose_undoing_was_interrupted_is_undone_when_the_experiment_is_resumed() {
    // The statement is slow until the test changes the number in the table `most`.
    let slow = SLOW.replace("1000000000", "(select x from most)");
    let steps = format!(
        "before = create table changed (x)\nafter = create table mark (x)\nafter = {slow}\n\
         after = drop table mark\nafter = drop table changed\n"
    );
    let place = place(SQLITE_WORKLOAD, &format!("{ARMS}{steps}"));
    let database = Connection::open(place.at("t.db")).unwrap();
    database.execute_batch("create table most as select 1000000000 as x").unwrap();
    interrupt_after(&place, "run 1 of");
    database.execute_batch("update most set x = 1").unwrap();
    let ran = place.assay(&RESUME);
    assert_ended(&place, &ran, 6);
    assert_eq!(tables(&place), 1, "{}", ran.stderr);
}

/// Interrupts an experiment in the `after` of the run that `line` announces. Expects three tables
/// to be left: `changed` and `mark` of the arm's statements, and one that the test created.
fn interrupt_after(place: &TestFolder, line: &str) {
    let mut run = place.start(&RUN);
    run.wait_for_line(line);
    wait_until("the statements after a run", || is_marked(place.path()));
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end().expect(130);
    assert!(ran.stdout.contains("No answer: the experiment was interrupted"), "{}", ran.stdout);
    assert_eq!(tables(place), 3, "{}", ran.stderr);
}

/// The second statement before the first run fails, and so does the statement after the run.
/// Expects the message to name the remedy, and the continuation to undo the first statement, which
/// cannot be executed twice.
#[test]
fn failed_first_run_whose_undoing_failed_can_be_resumed() {
    let steps = "before = insert into changed values (1)\n\
                 before = insert into missing values (1)\n\
                 after = delete from changed where exists (select * from missing)\n";
    let experiment = format!(
        "[question]\nask = What?\nworkload = w.ini\ndifferences = several\n\
         [arm slow]\nthink(read) = 1ms\n{steps}\
         [arm fast]\n{steps}[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n"
    );
    let place = place(SQLITE_WORKLOAD, &experiment);
    let database = Connection::open(place.at("t.db")).unwrap();
    database.execute_batch("create table changed (x integer primary key)").unwrap();
    let ran = place.assay(&RUN).expect(2);
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "the changes before the run may still be there; undo them and continue with \
                 --resume r.assay if the statement of `before` works then";
    assert!(said.contains(words), "{}", ran.stderr);
    let changes = || number(&place.at("t.db"), "select count(*) from changed");
    assert_eq!(changes(), 1, "{}", ran.stderr);
    database.execute_batch("create table missing as select 1 as x").unwrap();
    let ran = place.assay(&RESUME);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!((&document["state"], changes()), (&"complete".into(), 0), "{}", ran.stderr);
}

/// The last run is recorded before its `after` is interrupted, so no run is missing.
#[test]
fn experiment_whose_last_after_was_interrupted_can_be_resumed() {
    // The statement is slow if the table `ran` has four rows.
    let most = "(select case count(*) when 4 then 1000000000 else 1 end from ran)";
    let steps = format!(
        "before = create table changed (x)\nbefore = insert into ran values (1)\n\
         after = create table mark (x)\nafter = {}\nafter = drop table mark\n\
         after = drop table changed\n",
        SLOW.replace("1000000000", most)
    );
    let experiment = format!(
        "[question]\nask = What?\nworkload = w.ini\ndifferences = several\n\
         [arm slow]\nthink(read) = 1ms\n{steps}\
         [arm fast]\n{steps}[sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n"
    );
    let place = place(SQLITE_WORKLOAD, &experiment);
    let database = Connection::open(place.at("t.db")).unwrap();
    database.execute_batch("create table ran (x)").unwrap();
    interrupt_after(&place, "run 4 of");
    database.execute_batch("insert into ran values (1)").unwrap();
    let ran = place.assay(&RESUME);
    let document = place.assay(&["report", "r.assay", "--json"]).json();
    assert_eq!(document["state"], "complete", "{}", ran.stderr);
    assert_eq!(tables(&place), 1, "{}", ran.stderr);
}
