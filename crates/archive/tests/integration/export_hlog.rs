//! Histogram logs, read by the tools of HdrHistogram.

use std::path::{Path, PathBuf};
use std::process::Command;

use archive::Archive;
use archive::export::{hlog_tag, write_hlog};
use base::WallTime;
use record::Kind;
use serde_json::Value;

use crate::support::{READ, Scenario, TestFolder, WRITE, record_with};

const ZERO: WallTime = WallTime(1_795_292_110_250_000_000);

/// Returns the log of a short run.
fn log(place: &TestFolder) -> (Archive, String) {
    record_with(&place.record(), Scenario::SHORT, 2, |recorder| recorder.facts().time_zero(ZERO));
    let archive = Archive::open(&place.record()).unwrap();
    let mut log = Vec::new();
    write_hlog(&archive, &mut log).unwrap();
    (archive, String::from_utf8(log).unwrap())
}

#[test]
fn hlog_states_its_start_time_and_is_ordered() {
    let place = TestFolder::new("legend");
    let (_, log) = log(&place);
    let (legend, lines): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with(['#', '"']));
    let expected = [
        "#[Logged with Assay 0.1.0]",
        "#[Histogram log format version 1.3]",
        "#[StartTime: 1795292110.250 (seconds since epoch), 2026-11-21T20:15:10Z]",
        "#[BaseTime: 1795292110.250 (seconds since epoch)]",
    ];
    assert_eq!(legend[..4], expected);
    assert!(lines[0].starts_with("Tag=read.response,0.000,0.500,"), "{}", lines[0]);
    let starts = lines.iter().map(|line| line.split(',').nth(1).unwrap().parse().unwrap());
    let starts: Vec<f64> = starts.collect();
    assert!(starts.is_sorted());
    assert_eq!(starts.last(), Some(&19.5));
}

#[test]
fn two_jobs_never_share_a_tag() {
    assert_eq!(hlog_tag("read", Kind::Statement(base::StatementId(0))), "read.statement-1");
    assert_eq!(hlog_tag("write now", Kind::SendLag), "write%20now.send-lag");
    assert_eq!(hlog_tag("a,b\n%20", Kind::Error), "a%2Cb%0A%2520.error");
    assert_eq!(hlog_tag("größe\u{a0}", Kind::Wait), "größe%C2%A0.wait");
}

/// HdrHistogram's reader for JavaScript finds the same tags, counts and quantiles.
#[test]
fn a_log_is_read_by_hdrhistograms_own_tools() {
    let place = TestFolder::new("hlog");
    let (archive, log) = log(&place);
    let path = place.directory().join("run.hlog");
    std::fs::write(&path, log).unwrap();
    let found = read_with_node(&path);
    let found = found.as_array().unwrap();
    let mut expected_tags = 0;
    for (job, name) in [(READ, "read"), (WRITE, "write%20now")] {
        for kind in archive.kinds(job) {
            let tag = format!("{name}.{}", kind.name());
            let found = found.iter().find(|found| found["tag"] == tag.as_str()).expect(&tag);
            let merged = archive.histogram(job, kind, 0..u32::MAX).unwrap();
            assert_eq!(found["count"], merged.len(), "{tag}");
            let rows = archive.histogram_rows(job, kind).unwrap();
            assert_eq!(found["rows"], rows.len(), "{tag}");
            let quantiles = [0.5, 0.9, 0.99, 0.999, 1.0].map(|q| merged.value_at_quantile(q));
            assert_eq!(found["quantiles"], serde_json::json!(quantiles), "{tag}");
            let start = 1_795_292_110_250.0 + archive.grid().start(rows[0]).as_millis_f64();
            assert_eq!(found["start_ms"].as_f64(), Some(start), "{tag}");
            expected_tags += 1;
        }
    }
    assert_eq!(found.len(), expected_tags);
}

fn read_with_node(log: &Path) -> Value {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/hlog");
    let reader = directory.join("node_modules/hdr-histogram-js");
    assert!(reader.exists(), "HdrHistogram's reader is not installed: run scripts/setup test");
    let read = run(Command::new("node").arg(directory.join("read.mjs")).arg(log));
    serde_json::from_slice(&read).unwrap()
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output.stdout
}
