//! Tests that an experiment keeps its earlier runs if its disk becomes full, and that a
//! continuation adds the missing runs.

use std::path::Path;
use std::process::Command;

use crate::disk::limited;
use crate::experiment_faults::{
    RESUME, SIMULATED, SLOWER, VIRTUAL, assert_says, content_of_runs, lost_rows, place,
    record_content, without_notes,
};
use crate::support::{CommandResult, TestFolder, number};

/// Runs the undisturbed experiment, recorded in `whole.assay`, and returns its answer.
fn whole(place: &TestFolder) -> String {
    let whole = ["run", "e.ini", "--virtual", "--full", "--out", "whole.assay"];
    without_notes(&place.assay(&whole).expect(0).stdout)
}

/// Checks that the record of an experiment that was cut short has the first runs of the undisturbed
/// one, and no data of any other run. Returns the number of its runs.
#[track_caller]
fn assert_has_first_runs(cut: &Path, whole: &Path) -> i64 {
    let kept = number(cut, "select count(*) from run");
    let rows = content_of_runs(cut, i64::MAX);
    assert!(rows.len() > 20, "{}", rows.len());
    assert_eq!(rows, content_of_runs(whole, kept));
    kept
}

/// Checks that a continuation has kept every row and added only rows that the undisturbed
/// experiment has too. `stderr` is the progress of the continuation, and `kept` is the number of
/// runs before it.
#[track_caller]
fn assert_completed([before, after]: [Vec<String>; 2], whole: &Path, stderr: &str, kept: i64) {
    assert_eq!(lost_rows(&before, &after), Vec::<&String>::new());
    assert_eq!(after, record_content(whole));
    let first = stderr.lines().find(|line| line.contains(" of at most ")).unwrap_or_default();
    assert!(first.starts_with(&format!("run {} of ", kept + 1)), "{stderr}");
}

/// Size of a page of a record, in bytes.
const PAGE: u64 = 8_192;

/// Runs the experiment on a disk that becomes full in the experiment's fifth round. `length` is the
/// length of the whole record, in bytes. The record grows by whole pages; the runs are the same
/// each time.
fn on_disk_that_is_full_in_round_5(place: &TestFolder, length: u64) -> CommandResult {
    for pages in (1..length * 4 / 5 / PAGE).rev() {
        let blocks = u32::try_from(pages * PAGE / 512).unwrap();
        let ran = CommandResult::of(&mut limited(place, blocks, &VIRTUAL)).expect(3);
        if !ran.stderr.contains(": round 6, ") {
            return ran;
        }
        std::fs::remove_file(place.at("r.assay")).unwrap();
    }
    panic!("no disk is full in round 5")
}

#[test]
fn full_disk_keeps_the_rounds_before_and_is_resumed_to_the_same_record() {
    let place = place(SIMULATED, SLOWER);
    let expected = whole(&place);
    let [cut, whole] = ["r.assay", "whole.assay"].map(|name| place.at(name));
    let length = std::fs::metadata(&whole).unwrap().len();
    let ran = on_disk_that_is_full_in_round_5(&place, length);
    let words = ["cannot continue to write the record `", "continue with --resume r.assay"];
    assert_says(&ran, &words);
    assert_says(&ran, &["run 9 of at most 40: round 5, "]);
    let kept = assert_has_first_runs(&cut, &whole);
    assert!([8, 9].contains(&kept), "{kept}");
    let report = place.assay(&["report", "r.assay"]).expect(3);
    assert!(report.stdout.contains("No answer"), "{}", report.stdout);
    place.assay(&["report", "r.assay", "--run", "1"]).expect(0);
    let before = record_content(&cut);
    let resumed = place.assay(&[&RESUME[..], &["--full"]].concat()).expect(0);
    assert_eq!(without_notes(&resumed.stdout).replace("r.assay", "whole.assay"), expected);
    assert_completed([before, record_content(&cut)], &whole, &resumed.stderr, kept);
    assert_eq!(place.names(), ["e.ini", "r.assay", "w.ini", "whole.assay"]);
}

/// A script that runs an experiment on a file system of `$1` bytes, and continues it after
/// enlarging the file system. It copies the record after each of the two steps, with its journal.
/// Exit code 77: the file system could not be mounted.
const SMALL_DISK: &str = "mkdir small && mount -t tmpfs -o size=$1 none small || exit 77
cp e.ini w.ini small && cd small
\"$0\" run e.ini --virtual --out r.assay > ../full.out 2> ../full.err
echo $? > ../full.code
mount -o remount,size=64m none . || exit 1
mkdir ../cut ../resumed && cp r.assay* ../cut || exit 1
\"$0\" run e.ini --virtual --full --resume r.assay > ../resumed.out 2> ../resumed.err || exit 1
cp r.assay* ../resumed";

/// The kernel must let this user mount a file system, as root or in a user namespace. If it
/// refuses, this test checks nothing; the test above, which limits the size of files, does not need
/// this permission.
#[test]
fn file_system_without_space_keeps_the_runs_before_and_is_resumed_to_the_same_record() {
    let place = place(SIMULATED, SLOWER);
    let expected = whole(&place);
    let whole = place.at("whole.assay");
    let length = std::fs::metadata(&whole).unwrap().len();
    // The record of a run, which is merged at the end of the run, needs some 200 KiB in addition.
    let size = (length * 3 / 4 + (256 << 10)).to_string();
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", SMALL_DISK, env!("CARGO_BIN_EXE_assay"), &size]);
    let ran = CommandResult::of(place.run_in_folder(&mut command));
    if !place.at("full.code").exists() {
        let is_refused = ["not permitted", "denied"].map(|words| ran.stderr.contains(words));
        assert!(is_refused.contains(&true), "{} {}", ran.code, ran.stderr);
        return;
    }
    let text = |name: &str| std::fs::read_to_string(place.at(name)).unwrap();
    assert_eq!(ran.code, 0, "{} {}", ran.stderr, text("resumed.err"));
    assert_eq!(text("full.code"), "3\n", "{}", text("full.err"));
    for words in ["database or disk is full", "continue with --resume r.assay"] {
        assert!(text("full.err").contains(words), "{words}: {}", text("full.err"));
    }
    assert!(text("full.out").contains("\nNo answer: "), "{}", text("full.out"));
    let resumed = without_notes(&text("resumed.out"));
    assert_eq!(resumed.replace("r.assay", "whole.assay"), expected);
    let [cut, resumed] = ["cut/r.assay", "resumed/r.assay"].map(|name| place.at(name));
    let kept = assert_has_first_runs(&cut, &whole);
    assert!(kept > 0, "{}", text("full.err"));
    let both = [record_content(&cut), record_content(&resumed)];
    assert_completed(both, &whole, &text("resumed.err"), kept);
}
