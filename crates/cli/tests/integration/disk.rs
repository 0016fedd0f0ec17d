//! Tests that a full disk ends the run, and that the record up to then can be read.

use std::process::Command;

use crate::support::{CommandResult, Running, TestFolder, check};

/// Returns the command that runs the program with a limit on the size of files, in blocks of 512
/// bytes. The limit simulates a full disk.
pub(crate) fn limited(place: &TestFolder, blocks: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_assay")]).args(args);
    place.run_in_folder(&mut command);
    command
}

#[test]
fn a_full_disk_ends_the_run_as_invalid_and_leaves_what_was_recorded() {
    // Many different times in several histograms: the record grows by some 100 KiB every second.
    let place = TestFolder::with(
        "duration = 1h\n[a]\nquery = select 1\nrate = 2k\n[b]\nquery = select 2\nrate = 2k\n",
    );
    let url = "sim:mmc?service=1ms&servers=64";
    let args = ["run", "w.ini", "--virtual", "--url", url, "--json", "--out", "r.assay"];
    let ran = CommandResult::of(&mut limited(&place, 8_000, &args)).expect(3);
    let words = "error: cannot continue to write the record `";
    assert!(ran.stderr.contains(words) && ran.stderr.contains("r.assay"), "{}", ran.stderr);
    assert!(ran.stderr.contains("make room on its disk"), "{}", ran.stderr);
    assert!(ran.stderr.contains("help: its content so far can be read"), "{}", ran.stderr);
    let summary = ran.json();
    assert_eq!(summary["verdict"]["status"], "INVALID");
    assert_eq!(check(&summary, "complete")["status"], "invalid");
    assert!(summary["jobs"][0]["completed"].as_u64().unwrap() > 0);
    assert!(summary["window"]["end_s"].as_f64().unwrap() < 3_600.0);
    // With free space again, the record can be read.
    let report = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
    assert_eq!(report["verdict"]["status"], "INVALID");
    assert_eq!(report["jobs"], summary["jobs"]);
    assert!(place.export("r.assay", "csv").lines().count() > 10);
}

#[test]
fn a_disk_that_is_full_in_real_time_stops_the_run_before_its_end() {
    let place = TestFolder::with(
        "duration = 1h\n[a]\nquery = select 1\nrate = 500\n[b]\nquery = select 2\nrate = 500\n",
    );
    let url = "sim:mmc?service=1ms&servers=64";
    let args = ["run", "w.ini", "--url", url, "--out", "r.assay"];
    // The limit must be reached soon, to keep the test short.
    let ran = Running::of(&mut limited(&place, 600, &args)).wait_for_end().expect(3);
    assert!(ran.stderr.contains("cannot continue to write the record `"), "{}", ran.stderr);
    assert!(ran.stdout.contains("INVALID"), "{}", ran.stdout);
    let report = place.assay(&["report", "r.assay", "--json"]).expect(3).json();
    // The window ends with the last second in the record. On a busy machine, all requests may have
    // ended after it.
    let rate = report["jobs"][0]["throughput_per_s"].as_f64().unwrap();
    let window = report["window"]["end_s"].as_f64().unwrap();
    assert!(window == 0.0 || (100.0..560.0).contains(&rate), "{rate}/s in {window} s");
    assert_eq!(report["run"]["ended"], "recorder-failed");
}

#[test]
fn export_to_a_full_disk_fails_and_leaves_no_file() {
    let place = TestFolder::with("duration = 20s\n[a]\nquery = select 1\nrate = 500\n");
    place.run_virtually("sim:mm1", &[]).expect(0);
    let args = ["export", "r.assay", "--format", "json", "--out", "out.json"];
    CommandResult::of(&mut limited(&place, 8, &args)).refuses(&[
        "cannot write",
        "has room for it",
        "File too large",
    ]);
    assert_eq!(place.names(), ["r.assay", "w.ini"]);
}

#[test]
fn page_figure_and_test_cases_for_a_full_disk_leave_no_file() {
    let place = TestFolder::with("duration = 20s\n[a]\nquery = select 1\nrate = 500\n");
    place.run_virtually("sim:mm1", &[]).expect(0);
    for args in [
        &["--html", "new"][..],
        &["--svg", "throughput", "--out", "new"],
        &["--png", "throughput", "--out", "new"],
        &["--junit", "new"],
    ] {
        let args = [&["report", "r.assay"][..], args].concat();
        let ran = CommandResult::of(&mut limited(&place, 1, &args)).expect(2);
        for words in ["error: cannot write `new`: File too large", "make room on its disk"] {
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
        assert_eq!(place.names(), ["r.assay", "w.ini"], "{args:?}");
    }
}

#[test]
fn answer_that_cannot_be_written_has_a_remedy() {
    let place = TestFolder::with("duration = 1s\n[a]\nquery = select 1\nrate = 100\n");
    place.run_virtually("sim:mm1", &[]).expect(0);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let ran = CommandResult::with_stdout(place.command(&["report", "r.assay"]), full.into());
    ran.refuses(&["cannot write to stdout: No space left", "help: make room on the disk"]);
}

#[test]
fn a_disk_without_room_for_a_record_is_an_error_and_leaves_nothing() {
    let place = TestFolder::with("duration = 1s\n[a]\nquery = select 1\n");
    let args = ["run", "w.ini", "--virtual", "--url", "sim:mm1", "--out", "r.assay"];
    let ran =
        CommandResult::of(&mut limited(&place, 8, &args)).refuses(&["cannot create the record `"]);
    assert!(ran.stderr.contains("r.assay"), "{}", ran.stderr);
    assert_eq!(place.names(), ["w.ini"]);
}

/// A run has failed even if only its last data, written at the end of the run, does not fit on the
/// disk.
#[test]
fn a_disk_that_is_full_at_the_very_end_of_a_run_ends_it() {
    let place = TestFolder::with(
        "duration = 14s\n[a]\nquery = select 1\nrate = 500\n[b]\nquery = select 2\nrate = 500\n",
    );
    let url = "sim:mmc?service=1ms&servers=64";
    let args = ["run", "w.ini", "--virtual", "--url", url, "--json", "--out", "r.assay"];
    let ran = Running::of(&mut limited(&place, 400, &args)).wait_for_end().expect(3);
    assert!(ran.stderr.contains("cannot continue to write the record `"), "{}", ran.stderr);
    // The record may not even have room for the failure itself.
    let summary = ran.json();
    assert_eq!(summary["run"]["ended"], "recorder-failed");
    assert_eq!(summary["jobs"][0]["scheduled"], 0);
}

/// The exit code is that of an INVALID run, and not of an error in the workload file, because
/// requests were measured before the damage.
#[test]
fn record_that_is_deleted_or_cut_during_the_run_makes_it_invalid() {
    for (damage, state, cause) in [
        ("rm r.assay", "is gone", "deleted or moved"),
        ("truncate -s 5000 r.assay", "cannot be read: ", "cut or overwritten"),
    ] {
        let job = "duration = 3s\n[a]\nquery = select 1\nrate = 500\n";
        let damaging = format!("[damage]\ncommand = {damage}\nstart = 1200ms\ncount = 1\n");
        let place = TestFolder::with(&format!("{job}{damaging}"));
        let url = "sim:mmc?service=1ms&servers=64";
        let args = ["run", "w.ini", "--allow-commands", "--url", url, "--out", "r.assay"];
        let ran = place.assay(&args).expect(3);
        let words = "error: the run was made, and its record `";
        for words in [words, state, cause] {
            assert!(ran.stderr.contains(words), "`{words}`: {}", ran.stderr);
        }
        for claim in ["stays readable", "can be read"] {
            assert!(!ran.stderr.contains(claim), "{}", ran.stderr);
        }
    }
}

/// The exit code is that of a lost target, which takes precedence over a lost record. The run is
/// shorter than the time between two writes to the record.
#[test]
fn lost_target_decides_the_exit_code_of_a_run_whose_record_is_deleted() {
    let place = TestFolder::with(
        "duration = 700ms\n[a]\nquery = select 1\nrate = 500\n\
         [damage]\ncommand = rm r.assay\nstart = 200ms\ncount = 1\n",
    );
    let url = "sim:mmc?service=1ms&servers=64&outage=100ms..1h";
    let args = ["run", "w.ini", "--allow-commands", "--url", url, "--out", "r.assay"];
    let ran = place.assay(&args).expect(4);
    assert!(ran.stderr.contains("r.assay` is gone"), "{}", ran.stderr);
}

/// The arms of an experiment whose answer needs 12 runs.
const ARMS: &str = "rounds = 6\n[arm fast]\n[arm slow]\noption.service = 2ms\n";

/// Runs an experiment, recorded in `e.assay`, with a program that damages a file during the run of
/// this number.
fn run_with_damage(question: &str, run: u32, damage: &str) -> CommandResult {
    let place = TestFolder::with(
        "url = sim:mmc?service=1ms&servers=64\nduration = 300ms\n[a]\nquery = select 1\n\
         concurrency = 1\n[damage]\ncommand = sh damage.sh\nstart = 50ms\ncount = 1\n",
    );
    place.write("e.ini", format!("[question]\nask = What?\nworkload = w.ini\n{question}"));
    place.write("damage.sh", format!("echo >> runs\n[ $(wc -l < runs) -ne {run} ] || {damage}\n"));
    place.assay(&["run", "e.ini", "--allow-commands", "--out", "e.assay"])
}

/// Checks that an experiment with damage is INVALID because this record was lost, and that its
/// messages make no false claim about the record.
#[track_caller]
fn assert_lost(ran: CommandResult, record: &str, [state, cause]: [&str; 2]) -> CommandResult {
    let ran = ran.expect(3);
    let lost = format!("error: requests were measured, and the record `{record}` {state}");
    let remedy = format!("help: it was {cause} during the experiment: leave it alone");
    for words in [lost, remedy] {
        assert!(ran.stderr.contains(&words), "`{words}`: {}", ran.stderr);
    }
    for claim in ["make room", "as `assay run` printed it"] {
        assert!(!ran.stderr.contains(claim), "{}", ran.stderr);
    }
    ran
}

const GONE: [&str; 2] = ["is gone", "deleted or moved"];
const UNREADABLE: [&str; 2] = ["cannot be read: ", "cut or overwritten"];

/// The exit code is that of an INVALID experiment, and not of an error in a file of the user,
/// because requests were measured before the damage.
#[test]
fn record_that_is_deleted_or_cut_during_an_experiment_makes_it_invalid() {
    let sweep = "[sweep]\nvary = concurrency(a): 1, 2\n";
    let search = "[capacity]\nslo = p99(a) < 1s\nvary = concurrency(a)\ntrial = 1s\nbudget = 1m\n";
    for (question, run, damage, words) in [
        (ARMS, 1, "rm e.assay", GONE),
        (ARMS, 3, "rm e.assay", GONE),
        (ARMS, 3, "truncate -s 5000 e.assay", UNREADABLE),
        (sweep, 2, "rm e.assay", GONE),
        (search, 2, "truncate -s 5000 e.assay", UNREADABLE),
    ] {
        let ran = assert_lost(run_with_damage(question, run, damage), "e.assay", words);
        assert_eq!(ran.stdout, "", "{damage} {question}");
        assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
    }
}

#[test]
fn record_of_a_run_that_is_deleted_or_cut_leaves_the_runs_before_it() {
    let saturate = "[saturate]\nvary = concurrency(a)\nvalues = 1..64 x2\n\
                    until = throughput gains < 5%\n";
    let saturate = format!("{ARMS}{saturate}");
    let search = "[capacity]\nslo = p99(a) < 1s\nvary = concurrency(a)\ntrial = 1s\nbudget = 1m\n";
    for (question, run, damage, words) in [
        (ARMS, 2, "truncate -s 5000 e.assay-run", UNREADABLE),
        (ARMS, 12, "rm e.assay-run", GONE),
        (saturate.as_str(), 2, "rm e.assay-run", GONE),
        (search, 2, "rm e.assay-run", GONE),
    ] {
        let ran = assert_lost(run_with_damage(question, run, damage), "e.assay-run", words);
        let continues = "help: the runs so far are in `e.assay`; continue with --resume e.assay";
        assert!(ran.stderr.contains(continues), "{}", ran.stderr);
        assert!(!ran.stdout.is_empty(), "{damage} {question}");
    }
}

#[test]
fn record_of_the_first_run_of_an_experiment_that_is_deleted_leaves_nothing() {
    let ran = assert_lost(run_with_damage(ARMS, 1, "rm e.assay-run"), "e.assay-run", GONE);
    assert_eq!(ran.stdout, "");
    assert!(!ran.stderr.contains("--resume"), "{}", ran.stderr);
}

/// SQLite ignores a dangling link, but readers of records refuse it: the experiment is recorded to
/// its end, but its answer cannot be read.
#[test]
fn record_that_cannot_be_read_after_the_last_run_makes_the_experiment_invalid() {
    let ran = run_with_damage(ARMS, 12, "ln -s nowhere e.assay-wal");
    let ran = assert_lost(ran, "e.assay", UNREADABLE);
    assert_eq!(ran.stdout, "");
}
