//! Samples of long runs, which are merged beyond two hours.

use std::io::{BufRead, BufReader};
use std::path::Path;

use archive::{Archive, RecordFacts, Recorder, SeriesReadings};
use base::Nanos;
use record::{
    Delivery, End, EndKind, Gauge, Header, Outlet, Pace, Reading, SampleBins, SampleKind, Thinning,
};
use rusqlite::Connection;

use crate::killed::{child, path_of_child};
use crate::support::{self, TestFolder, chain};

const HOUR: u64 = 3_600;

const WEEK: u64 = 168 * HOUR;

/// Returns the header of a run of this many seconds.
fn header(seconds: u64) -> Header {
    Header { duration: Some(Nanos::from_secs(seconds)), ..support::header(Pace::Real) }
}

/// Returns the readings at a second: a gauge, a counter that is reset once, the clock, and a gauge
/// that is constant.
fn readings(second: u64) -> Vec<Reading> {
    let s = second as f64;
    let counted = if second < 9_010 { 2.5 * s } else { 2.5 * (s - 9_010.0) };
    vec![
        Reading::of("host", "run-queue", "tasks", 4.0 + (s * 0.7).sin()),
        Reading::of("host", "user", "s", counted + (s * 0.3).sin()),
        Reading::of("host", "wall-clock", "s", 1e-5 * s),
        Reading::of("host", "memory", "bytes", 8e9),
    ]
}

/// Samples each second of a run, each time a microsecond later within the second.
fn sample(facts: &RecordFacts, seconds: impl Iterator<Item = u64>) {
    seconds.for_each(|second| facts.readings(at(second), readings(second)));
}

fn at(second: u64) -> Nanos {
    Nanos::from_secs(second) + Nanos::from_micros(second)
}

fn end(seconds: u64) -> End {
    End { at: Nanos::from_secs(seconds), kind: EndKind::Completed, text: String::new() }
}

/// Returns a series of a record.
fn of(all: &[SeriesReadings], metric: &str) -> SeriesReadings {
    all.iter().find(|it| it.series.metric == metric).cloned().unwrap()
}

/// Returns the samples of a metric before they are merged.
fn samples(metric: &str, seconds: impl Iterator<Item = u64>) -> Vec<(Nanos, f64)> {
    let value = |second| {
        let found = readings(second).into_iter().find(|it| it.series.metric == metric);
        (at(second), found.unwrap().value)
    };
    seconds.map(value).collect()
}

#[test]
fn samples_beyond_two_hours_are_merged() {
    let place = TestFolder::new("thinned");
    let header = header(3 * HOUR);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    sample(&recorder.facts(), 0..=3 * HOUR);
    recorder.finish(end(3 * HOUR)).unwrap();
    let series = Archive::open(&place.record()).unwrap().series().unwrap();
    let bins = SampleBins::new(header.warmup, header.duration);
    for (metric, kind, rows, ranges) in [
        ("run-queue", SampleKind::Gauge, 7_200 + 61, 60),
        // Two more rows at the reset.
        ("user", SampleKind::Counter, 7_200 + 63, 60),
        ("memory", SampleKind::Gauge, 7_200 + 61, 0),
    ] {
        let found = of(&series, metric);
        let (mut thinning, mut expected) = (Thinning::new(bins), Vec::new());
        let all = samples(metric, 0..=3 * HOUR);
        all.iter().for_each(|sample| thinning.add(0, kind, *sample, &mut expected));
        expected.extend(thinning.end().into_iter().map(|(_, row)| row));
        let points: Vec<(Nanos, f64)> = expected.iter().map(|row| (row.at, row.value)).collect();
        assert_eq!(found.points, points, "{metric}");
        assert_eq!(found.points[..7_200], all[..7_200], "{metric}");
        assert_eq!(found.points.last(), all.last(), "{metric}");
        assert_eq!((found.points.len(), found.ranges.len()), (rows, ranges), "{metric}");
        assert!(found.ranges.iter().all(|range| points.iter().any(|(at, _)| *at == range.at)));
    }
}

#[test]
fn readings_that_are_not_finite_are_missing_and_do_not_end_the_record() {
    let place = TestFolder::new("not-finite");
    let recorder = Recorder::create(&place.record(), &header(10)).unwrap();
    let facts = recorder.facts();
    for (second, value) in [(1, 1.0), (2, f64::NAN), (3, f64::INFINITY), (4, 4.0)] {
        let reading = || vec![Reading::of("host", "run-queue", "tasks", value)];
        facts.readings(at(second), reading());
        facts.load_readings("t", at(second), reading());
    }
    recorder.finish(end(10)).unwrap();
    let series = Archive::open(&place.record()).unwrap().series().unwrap();
    assert_eq!(of(&series, "run-queue").points, [(at(1), 1.0), (at(4), 4.0)]);
    // Infinite values that another program wrote to the record are missing, too.
    let changed = Connection::open(place.record()).unwrap();
    for table in ["sample", "load_sample"] {
        changed.execute(&format!("update {table} set value = 9e999 where value = 4"), []).unwrap();
    }
    changed.close().unwrap();
    let series = Archive::open(&place.record()).unwrap().series().unwrap();
    assert_eq!(of(&series, "run-queue").points, [(at(1), 1.0)]);
}

#[test]
fn same_samples_of_a_long_run_make_the_same_rows() {
    let dumps = ["one", "other"].map(|name| {
        let place = TestFolder::new(name);
        let recorder = Recorder::create(&place.record(), &header(3 * HOUR)).unwrap();
        sample(&recorder.facts(), 7_100..7_500);
        recorder.finish(end(3 * HOUR)).unwrap();
        support::dump(&place.record())
    });
    assert!(dumps[0].contains("sample_range ["), "{}", dumps[0].len());
    assert_eq!(dumps[0], dumps[1]);
}

#[test]
fn samples_of_a_long_load_are_merged() {
    let place = TestFolder::new("thinned-load");
    let recorder = Recorder::create(&place.record(), &header(60)).unwrap();
    let facts = recorder.facts();
    facts.load(record::Load {
        table: "t".to_owned(),
        started: base::WallTime(1),
        length: Nanos::from_secs(3 * HOUR),
        rows: 3,
        bytes: 4,
    });
    (0..=3 * HOUR).for_each(|second| facts.load_readings("t", at(second), readings(second)));
    recorder.finish(end(60)).unwrap();
    let loads = Archive::open(&place.record()).unwrap().loads().unwrap();
    let queue = of(&loads[0].series, "run-queue");
    // Six bins of ten minutes, and the last sample.
    assert_eq!(queue.points.len(), 7_200 + 7);
    assert_eq!(queue.points.last(), samples("run-queue", 3 * HOUR..=3 * HOUR).last());
}

/// Records in real time up to the middle of a bin, and waits to be killed.
fn record_until_killed(path: &Path) {
    let recorder = Recorder::create(path, &header(3 * HOUR)).unwrap();
    let (mut outlet, live) = (recorder.outlet(), recorder.live());
    sample(&recorder.facts(), 7_100..7_290);
    for interval in 0..2 {
        outlet.deliver(Delivery::Gauges { lane: 0, interval, gauges: vec![Gauge::default(); 2] });
    }
    // Dropping the outlet waits until the recorder's queue has taken both deliveries.
    drop(outlet);
    // The live view shows an interval after the previous interval is written, and before the shown
    // one is.
    while live.latest().is_none_or(|live| live.interval < 1) {
        std::thread::yield_now();
    }
    println!("written");
    loop {
        std::thread::park();
    }
}

#[test]
fn killed_process_loses_the_samples_of_one_bin() {
    if let Some(path) = path_of_child() {
        return record_until_killed(path.as_ref());
    }
    let place = TestFolder::new("thinned-killed");
    let name = "thinned::killed_process_loses_the_samples_of_one_bin";
    let mut child = child(name, &place.record(), |command| command);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(said.any(|line| line == "written"));
    child.kill().unwrap();
    child.wait().unwrap();
    let archive = Archive::open(&place.record()).unwrap();
    assert_eq!(archive.end(), None);
    let memory = of(&archive.series().unwrap(), "memory");
    assert_eq!(memory.points.len(), 100 + 1, "those of two hours, and a minute");
    assert_eq!(memory.points.last().unwrap().0, at(7_259));
}

#[test]
fn record_with_a_missing_or_added_range_is_damaged() {
    for (change, message) in [
        ("delete from sample_range where series = 0", "rows of sample_range, and there are"),
        ("insert into sample_range values (0, 1.0, 2, 3, 4)", "rows of sample_range"),
    ] {
        let place = TestFolder::new("thinned-damaged");
        let recorder = Recorder::create(&place.record(), &header(3 * HOUR)).unwrap();
        sample(&recorder.facts(), 7_100..7_500);
        recorder.finish(end(3 * HOUR)).unwrap();
        Connection::open(place.record()).unwrap().execute_batch(change).unwrap();
        let found = chain(&Archive::open(&place.record()).err().unwrap());
        assert!(found.contains(message), "{found}");
    }
}

/// A program that does not know the table of ranges copies a run without it. The copy is readable.
#[test]
fn record_without_the_table_of_ranges_is_read() {
    let place = TestFolder::new("thinned-older");
    let recorder = Recorder::create(&place.record(), &header(3 * HOUR)).unwrap();
    sample(&recorder.facts(), 7_100..7_500);
    recorder.finish(end(3 * HOUR)).unwrap();
    Connection::open(place.record()).unwrap().execute_batch("drop table sample_range").unwrap();
    let queue = of(&Archive::open(&place.record()).unwrap().series().unwrap(), "run-queue");
    assert_eq!((queue.points.len(), queue.ranges.len()), (101 + 5, 0));
}

/// The record of a week, with 109 MB of three jobs and the 230 series of a busy PostgreSQL on a
/// machine with two processors, stays below 200 MB. Eight series are measured here.
#[test]
fn samples_of_a_week_fit_into_a_record() {
    const SERIES: u64 = 8;
    let place = TestFolder::new("thinned-week");
    let recorder = Recorder::create(&place.record(), &header(WEEK)).unwrap();
    let facts = recorder.facts();
    let empty = std::fs::metadata(place.record()).unwrap().len();
    let rest = (7_200..=WEEK).step_by(100);
    for second in (0..7_200).chain(rest) {
        let value = |series: u64| (second * (series + 3)) as f64 * 0.37 + (second % 7) as f64;
        let reading = |series| Reading::of(&format!("disk d{series}"), "busy", "s", value(series));
        facts.readings(at(second), (0..SERIES).map(reading).collect());
    }
    recorder.finish(end(WEEK)).unwrap();
    let bytes = (std::fs::metadata(place.record()).unwrap().len() - empty) / SERIES;
    let rows = of(&Archive::open(&place.record()).unwrap().series().unwrap(), "busy");
    assert_eq!(rows.points.len() as u64, 7_200 + (WEEK - 7_200) / 600 + 1);
    let all = 230 * bytes + 109_000_000;
    assert!(all < 200_000_000, "{bytes} bytes for each series, {all} in all");
}
