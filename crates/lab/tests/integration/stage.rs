//! Tests of several runs on one stage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::Archive;
use base::Target;
use engine::{NoListener, Options, Prepare, RunFailure};
use lab::{Error, Order, RecordPlace, RunResult, Stage};
use record::EndKind;

use crate::support::{TestFolder, plan, read};

/// A workload that fills a table, adds rows to it, and drops it.
const GROWING: &str = "duration = 200ms\n[setup]\nquery = create table t (a integer)\n\
    [load t]\nrows = 5\ncolumns = a: row()\n\
    [add]\nquery = insert into t values (0)\nconcurrency = 1\nthink = 20ms\n\
    [teardown]\nquery = drop table t\n";

fn order(workload: &str, target: &Target, options: Options, record: PathBuf) -> Order {
    Order {
        workload: "shop.ini".to_owned(),
        command: "assay run shop.ini".to_owned(),
        version: "0.1.0".to_owned(),
        ..Order::new(plan(workload), target.clone(), options, RecordPlace::Numbered(record))
    }
}

/// Runs a workload on a stage.
fn run_on(stage: &Stage, order: Order) -> Result<RunResult, Error> {
    lab::run_on(stage, order, Arc::new(NoListener), |_| {})
}

/// Returns the number of rows in the table, or `None` if there is no table.
fn rows(database: &Path) -> Option<i64> {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.query_row("select count(*) from t", [], |row| row.get(0)).ok()
}

#[test]
fn next_run_on_a_stage_finds_the_rows_of_the_previous_one() {
    let place = TestFolder::new();
    let database = place.record().with_file_name("t.db");
    let target = Target::parse(&format!("sqlite:{}", database.display())).unwrap();
    let options = |prepare, teardown| Options { prepare, teardown, ..Options::in_real_time() };
    let fresh = options(Prepare::Fresh, false);
    let stage = Stage::open(&plan(GROWING), &target, &fresh).unwrap();
    let run = |options| run_on(&stage, order(GROWING, &target, options, place.record()));

    assert_eq!(run(fresh).unwrap().end, EndKind::Completed);
    let after_first = rows(&database).expect("no teardown ran");
    assert!(after_first > 5, "{after_first}");

    match run(options(Prepare::Verify, true)) {
        Err(Error::Failed(RunFailure::Unsupported { reason, .. })) => {
            assert!(reason.contains("rows; expected 5"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(rows(&database), Some(after_first));

    assert_eq!(run(options(Prepare::Keep, false)).unwrap().end, EndKind::Completed);
    assert!(rows(&database) > Some(after_first));
    assert_eq!(run(options(Prepare::Keep, true)).unwrap().end, EndKind::Completed);
    assert_eq!(rows(&database), None);
}

#[test]
fn temporary_database_exists_as_long_as_its_stage() {
    let place = TestFolder::new();
    let target = Target::parse("sqlite:").unwrap();
    let options = |prepare, teardown| Options { prepare, teardown, ..Options::in_real_time() };
    let stage = Stage::open(&plan(GROWING), &target, &options(Prepare::Fresh, false)).unwrap();
    for (prepare, teardown) in [(Prepare::Fresh, false), (Prepare::Keep, true)] {
        let options = options(prepare, teardown);
        let done = run_on(&stage, order(GROWING, &target, options, place.record())).unwrap();
        assert_eq!(done.end, EndKind::Completed);
        let (_, summary) = read(&done.record);
        let balance = summary.jobs[0].counts.balance;
        assert_eq!((balance.errors(), balance.completed() > 0), (0, true), "{balance:?}");
    }
}

#[test]
fn simulated_server_is_new_for_each_run_on_a_stage() {
    let place = TestFolder::new();
    let workload = "duration = 10s\n[read]\nquery = select 1\nrate = 700\n";
    let target = Target::parse("sim:mm1?service=1ms").unwrap();
    let options = Options::simulated();
    let stage = Stage::open(&plan(workload), &target, &options).unwrap();
    let run = || {
        let order = order(workload, &target, options.clone(), place.record());
        let done = run_on(&stage, order).unwrap();
        let (_, summary) = read(&done.record);
        format!("{:?}", summary.jobs)
    };
    assert_eq!(run(), run());
}

#[test]
fn load_keeps_the_table_and_shows_no_teardown() {
    let place = TestFolder::new();
    let database = place.record().with_file_name("t.db");
    let target = Target::parse(&format!("sqlite:{}", database.display())).unwrap();
    let order = order(GROWING, &target, Options::in_real_time(), place.record());
    let done = lab::load(order, Arc::new(NoListener)).unwrap();
    assert_eq!(rows(&database), Some(5));
    let text = Archive::open(&done.record).unwrap().header().plan.clone();
    assert!(text.contains("[load t]") && !text.contains("[teardown]"), "{text}");
}
