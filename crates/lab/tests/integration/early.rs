//! Tests of runs that ended before time zero, while tables were filled.

use std::path::Path;
use std::sync::Arc;

use archive::{Archive, RecordErrorKind, Recorder};
use base::{Nanos, Target, WallTime};
use engine::{NoListener, Options};
use lab::{Order, RecordPlace};
use record::{EndKind, Load};

use crate::support::{TestFolder, WORKLOAD, check, ended, header, plan, read};

const TABLE: &str = "[load t]\nrows = 1000\ncolumns = a: row()\n";

/// Records half of a load, and returns the recorder, which is still running.
fn record_half_a_load(path: &Path, workload: &str) -> Recorder {
    let recorder = Recorder::create(path, &header(workload)).unwrap();
    recorder.facts().load(Load {
        table: "t".to_owned(),
        started: WallTime(1_795_292_103_000_000_000),
        length: Nanos::from_millis(1_500),
        rows: 500,
        bytes: 4_000,
    });
    recorder
}

/// Drops the recorder and waits until the load is in the file.
fn wait_until_written(recorder: Recorder, path: &Path) {
    drop(recorder);
    let is_written = || {
        let archive = Archive::open(path).ok()?;
        Some(!archive.loads().ok()?.is_empty())
    };
    while is_written() != Some(true) {
        std::thread::yield_now();
    }
}

/// Checks the record of a run that ended during its load. `expected` has the verdict, and the
/// results of the checks `complete` and `window`. A `kind` of `None` stands for a killed run.
#[track_caller]
fn check_verdict(workload: &str, kind: Option<EndKind>, expected: [&str; 3]) {
    let place = TestFolder::new();
    let recorder = record_half_a_load(&place.record(), workload);
    match kind {
        Some(kind) => drop(recorder.finish(ended(kind, Nanos::ZERO)).unwrap()),
        // A recorder that is dropped writes its data and leaves the record of a killed run.
        None => wait_until_written(recorder, &place.record()),
    }
    let (evidence, summary) = read(&place.record());
    assert_eq!((evidence.end(), evidence.steps.window().len()), (Nanos::ZERO, 0));
    let found = ["complete", "window"].map(|name| check(&summary, name).0);
    assert_eq!([summary.verdict.word(), found[0], found[1]], expected, "{:?}", summary.verdict);
    let load = &summary.loads[0];
    assert_eq!((load.rows, load.rows_per_s), (500, Some(500.0 / 1.5)));
    let start = evidence.steps.warmup().as_secs_f64();
    assert_eq!((summary.window.start_s, summary.window.end_s), (start, start));
    for job in &summary.jobs {
        assert_eq!((job.counts.balance.scheduled(), job.throughput_per_s), (0, None));
        assert_eq!((job.response.count, job.probes.len()), (0, 0));
    }
}

#[test]
fn a_run_that_ended_before_its_jobs_began_has_no_result() {
    let workload = format!("{WORKLOAD}{TABLE}");
    let verdict = ["INVALID", "suspect", "invalid"];
    check_verdict(&workload, None, verdict);
    check_verdict(&workload, Some(EndKind::Interrupted), verdict);
}

#[test]
fn a_load_that_was_cut_short_is_suspect_and_has_its_rows() {
    let workload = format!("duration = 0s\n{TABLE}");
    let verdict = ["SUSPECT", "suspect", "not-possible"];
    check_verdict(&workload, None, verdict);
    check_verdict(&workload, Some(EndKind::Interrupted), verdict);
    let whole = ["VALID", "pass", "not-possible"];
    check_verdict(&workload, Some(EndKind::Completed), whole);
}

/// Two runs that begin in the same second would have records of the same name.
#[test]
fn taken_record_name_gets_a_number_if_allowed() {
    let place = TestFolder::new();
    let order = |record| Order {
        workload: "shop.ini".to_owned(),
        command: "assay run shop.ini".to_owned(),
        version: "0.1.0".to_owned(),
        ..Order::new(
            plan("duration = 1s\n[read]\nquery = select 1\nrate = 10\n"),
            Target::parse("sim:mm1").unwrap(),
            Options::simulated(),
            record,
        )
    };
    let run = |record| lab::run(order(record), Arc::new(NoListener), |_| {});
    for name in ["run.assay", "run-2.assay", "run-3.assay"] {
        let done = run(RecordPlace::Numbered(place.record())).unwrap();
        assert_eq!(done.record, place.record().with_file_name(name));
        assert_eq!(Archive::open(&done.record).unwrap().end().unwrap().kind, EndKind::Completed);
    }
    match run(RecordPlace::Exactly(place.record())) {
        Err(lab::Error::Record(error)) => assert_eq!(*error.kind(), RecordErrorKind::Exists),
        other => panic!("{other:?}"),
    }
}
