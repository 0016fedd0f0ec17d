//! Processes that are killed while recording.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use archive::{Archive, Recorder};
use record::{Kind, Pace};

use crate::support::{READ, Scenario, TestFolder, header, keep_step, ledgers};

/// The environment variable with the path of the record, for a child process of this test.
const RECORD: &str = "ASSAY_TEST_RECORD";

/// Records in real time, as fast as the disk allows, and prints which intervals are written.
fn record_until_killed(path: &Path) {
    let header = header(Pace::Real);
    let recorder = Recorder::create(path, &header).unwrap();
    let live = recorder.live();
    Scenario::QUICK.run(ledgers(&header, 2, || recorder.outlet()), |_, second| {
        keep_step(&recorder, &live, second);
        // The live view shows an interval after the previous interval is written, and before the
        // shown one is.
        if let Some(written) = second.checked_sub(2) {
            println!("written {written}");
        }
    });
}

/// Runs this test binary again as a child that records. `wrap` may put another program in front.
pub(crate) fn child(test: &str, path: &Path, wrap: impl FnOnce(Command) -> Command) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    let mut command = wrap(command);
    command.env(RECORD, path).stdout(Stdio::piped()).spawn().unwrap()
}

/// Returns the path of the record in a child process that records; `None` in the test itself.
pub(crate) fn path_of_child() -> Option<std::ffi::OsString> {
    std::env::var_os(RECORD)
}

#[test]
fn invariant_7_a_killed_process_leaves_a_record_up_to_the_last_second() {
    if let Some(path) = path_of_child() {
        return record_until_killed(path.as_ref());
    }
    let name = "killed::invariant_7_a_killed_process_leaves_a_record_up_to_the_last_second";
    for lines in [1, 2, 7, 30, 75, 150] {
        let place = TestFolder::new("killed");
        let mut child = child(name, &place.record(), |command| command);
        let said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let written = said.filter_map(|line| line.strip_prefix("written ")?.parse::<u32>().ok());
        let written = written.take(lines).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_is_whole_up_to(&place.record(), written);
    }
}

fn assert_is_whole_up_to(path: &Path, written: u32) {
    let archive = Archive::open(path).unwrap();
    assert_eq!(archive.end(), None);
    let rows = archive.intervals(READ).unwrap();
    let intervals: Vec<u32> = rows.iter().map(|row| row.interval).collect();
    let last = *intervals.last().unwrap();
    assert!(last >= written, "{written} were written, {last} are there");
    assert_eq!(intervals, (0..=last).collect::<Vec<_>>());
    let response = archive.histogram_rows(READ, Kind::Response).unwrap();
    assert!(response.len() > last as usize / 2);
    // Requests that began at the end of the last second may have been answered in the next.
    for row in &rows[..written as usize] {
        let expected = if row.interval == 0 { 15 } else { 30 };
        assert_eq!((row.counts.arrivals, row.counts.open()), (expected, 0), "{row:?}");
    }
}
