//! Tests of files other than the record: results files and op-logs.

use std::fs::File;
use std::io::Read;
use std::process::Command;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::Value;

use crate::disk::limited;
use crate::support::{CommandResult, MM1, TestFolder, assert_balanced, check, job};

/// Values that need quoting or escaping, in a table that exists for one run.
const TABLE: &str = "\
[setup]
query = create table t (id integer primary key, a text, b text, x real, raw blob)
query = insert into t values (1, null, '', 1.5, x'00ff0a'), (2, 'a,b', ' a', 2, x'')
query = insert into t values (3, 'say \"hi\"', '\\.', 1e21, null)
query = insert into t values (4, char(9) || 'tab', 'two' || char(10) || 'lines', -0.1, x'22')
[teardown]
query = drop table t
";

/// The rows of the table in a results file.
const ROWS: &[u8] = b"1,\\N,,1.5,\"\x00\xff\n\"\n\
2,\"a,b\",\" a\",2.0,\n\
3,\"say \"\"hi\"\"\",\"\\.\",1e21,\\N\n\
4,\"\ttab\",\"two\nlines\",-0.1,\"\"\"\"\n";

fn results_of(requests: u32, more: &str) -> String {
    format!(
        "duration = 60s\n{TABLE}[read]\nquery = select * from t order by id\ncount = {requests}\n\
         query-results-file = found.csv\n{more}"
    )
}

/// Arguments of a run that may write results to pipes and devices.
const TO_PIPES_AND_DEVICES: [&str; 6] =
    ["run", "w.ini", "--allow-files", "--out", "r.assay", "--json"];

/// Runs a workload and checks that its files are complete, whatever the verdict.
#[track_caller]
fn run_to_its_end(place: &TestFolder, args: &[&str]) {
    let ran = place.assay(&[args, &["--json", "--out", "r.assay", "--quiet"]].concat());
    let summary = ran.json();
    assert_eq!(check(&summary, "files")["status"], "pass");
    assert_eq!(summary["run"]["ended"], "completed");
}

/// Expects every output to show at most 2^63 - 1 rows: a server may report more, but a record and
/// its readers cannot store more.
#[test]
fn numbers_of_rows_are_limited_wherever_they_are_shown() {
    let claim = "query = select 1 /* sim: rows=18446744073709551615 */\n";
    let place = TestFolder::with(&format!(
        "duration = 2s\n[a]\n{claim}{claim}rate = 10\narrival = uniform\n"
    ));
    let summary = place.run_virtually("sim:mm1", &["--op-log", "ops.csv"]).expect(0).json();
    let most = i64::MAX;
    assert_eq!(job(&summary, "a")["rows"], most, "{summary}");
    let ops = std::fs::read_to_string(place.at("ops.csv")).unwrap();
    let row = ops.lines().nth(1).unwrap();
    assert!(row.split(',').any(|field| field == most.to_string()), "{row}");
    let exports = ["csv", "json"].map(|format| place.export("r.assay", format));
    for shown in [&summary.to_string(), &ops, &exports[0], &exports[1]] {
        // The plan is also shown, and contains the number as text.
        let shown = shown.replace("rows=18446744073709551615", "");
        assert!(shown.contains(&most.to_string()), "{shown}");
        assert!(!shown.contains("18446744073709551615"), "{shown}");
        assert!(!shown.contains("9223372036854775808"), "{shown}");
    }
}

#[test]
fn returned_rows_are_written_byte_for_byte_in_the_folder_of_the_record() {
    let place = TestFolder::new();
    std::fs::create_dir(place.at("folder")).unwrap();
    let changed = "query = update t set x = x\nquery = select id from t where id < 3\n";
    place.write("folder/w.ini", results_of(3, changed));
    place.write("found.csv", "what was there before, and is longer than that\n".repeat(99));
    run_to_its_end(&place, &["run", "folder/w.ini", "--allow-files"]);
    let found = std::fs::read(place.at("found.csv")).unwrap();
    assert_eq!(found, [ROWS, b"1\n2\n"].concat().repeat(3));
}

/// Expects an error of the request. A server determines the length of its answer, but must not
/// determine how much memory the answer takes.
#[test]
fn answer_that_a_results_file_cannot_take_is_an_error_of_its_request() {
    let place = TestFolder::with(
        "duration = 60s\n[read]\nlet = key: sequence()\nconcurrency = 1\ncount = 3\n\
         query = select ${key}, zeroblob(case ${key} when 2 then 17000000 else 0 end)\n\
         query-results-file = found.csv\n",
    );
    let ran = place.assay(&["run", "w.ini", "--json", "--out", "r.assay", "--quiet"]);
    let summary = ran.json();
    let job = &summary["jobs"][0];
    assert_eq!((&job["errors"], &job["completed"]), (&1.into(), &2.into()), "{job}");
    assert!(job["errors_by_code"].to_string().contains("\"results\""), "{job}");
    let found = std::fs::read_to_string(place.at("found.csv")).unwrap();
    assert_eq!(found, "1,\n3,\n");
}

/// Several clients write to one file, and the rows of a statement stay together.
#[test]
fn the_rows_of_a_statement_follow_each_other() {
    let place = TestFolder::with(
        "duration = 60s\n[read]\nlet = key: sequence()\nconcurrency = 8\ncount = 2000\n\
         query = select ${key}, 1 union all select ${key}, 2 union all select ${key}, 3\n\
         query-results-file = found.csv\n",
    );
    run_to_its_end(&place, &["run", "w.ini", "--threads", "2"]);
    let found = std::fs::read_to_string(place.at("found.csv")).unwrap();
    let lines: Vec<&str> = found.lines().collect();
    let mut keys = Vec::new();
    for rows in lines.chunks(3) {
        let key = rows[0].strip_suffix(",1").unwrap();
        assert_eq!(rows, [format!("{key},1"), format!("{key},2"), format!("{key},3")]);
        keys.push(key.parse::<u32>().unwrap());
    }
    keys.sort_unstable();
    assert_eq!(keys, (1..=2_000).collect::<Vec<_>>());
}

/// The job writes more than the pipe can hold. The pipe is closed when its job ends, although
/// another job continues: otherwise this test would never reach the end of the pipe.
#[test]
fn a_pipe_is_read_during_the_run_and_ends_with_its_job() {
    let job = "[other]\nquery = select 1\nevery = 50ms\n";
    let place = TestFolder::with(&results_of(5_000, job));
    mkfifo(&place.at("found.csv"), Mode::S_IRWXU).unwrap();
    let run = place.start(&["run", "w.ini", "--allow-files", "--out", "r.assay", "--json"]);
    let mut found = Vec::new();
    File::open(place.at("found.csv")).unwrap().read_to_end(&mut found).unwrap();
    assert!(found == ROWS.repeat(5_000), "{} bytes", found.len());
    run.signal(nix::sys::signal::Signal::SIGINT);
    let summary = run.wait_for_end().expect(130).json();
    assert_eq!(check(&summary, "files")["status"], "pass");
}

#[test]
fn unread_pipe_makes_the_run_invalid_and_does_not_block_it() {
    // The pipe and the buffer before it have room for some seventy of these rows.
    let long = "select printf('%.10000c', 'x')";
    let file = results_of(5_000, "").replace("60s\n", "200ms\ndrain = 0s\n");
    let place = TestFolder::with(&file.replace("select * from t order by id", long));
    mkfifo(&place.at("found.csv"), Mode::S_IRWXU).unwrap();
    let run = place.assay(&TO_PIPES_AND_DEVICES).expect(3);
    let summary = run.json();
    let files = check(&summary, "files")["explain"].as_str().unwrap();
    assert!(files.contains("did not accept the data in time, in line "), "{files}");
    // The request whose rows did not fit had ended by then, and no further request was begun.
    let job = &summary["jobs"][0];
    assert!(job["completed"].as_u64().unwrap() > 64, "{job}");
    assert_eq!(job["completed"], job["scheduled"]);
}

#[test]
fn pipe_that_is_not_read_for_the_stall_timeout_ends_the_run() {
    let keys = "60s\nstall-timeout = 1s\n";
    let place = TestFolder::with(&results_of(1_000_000, "").replace("60s\n", keys));
    mkfifo(&place.at("found.csv"), Mode::S_IRWXU).unwrap();
    let summary = place.assay(&TO_PIPES_AND_DEVICES).expect(3).json();
    assert_eq!(summary["run"]["ended"], "file-failed");
    assert!(summary["window"]["end_s"].as_f64().unwrap() < 60.0, "{summary}");
    let files = check(&summary, "files")["explain"].as_str().unwrap();
    assert!(files.contains("did not accept the data in time"), "{files}");
}

/// Expects the run to end as INVALID. `/dev/full` behaves like a full disk.
#[test]
fn a_results_file_that_cannot_be_written_ends_the_run_as_invalid() {
    let place =
        TestFolder::with(&results_of(1_000_000, "rate = 1k\n").replace("found.csv", "/dev/full"));
    let summary = place.assay(&TO_PIPES_AND_DEVICES).expect(3).json();
    let words = "the results file `/dev/full` of [read] could not be written: No space left on \
                 device (os error 28), in line 1 after 0 bytes";
    assert_eq!(check(&summary, "files")["explain"], words);
    assert_eq!(check(&summary, "files")["status"], "invalid");
    assert_eq!(summary["run"]["ended"], "file-failed");
    assert_eq!(summary["run"]["ended_because"], words);
    assert!(summary["window"]["end_s"].as_f64().unwrap() < 60.0);
    assert_balanced(&summary);
    let events = place.export_json("r.assay")["events"].clone();
    assert_eq!((&events[0]["kind"], &events[0]["job"]), (&"file-failed".into(), &"read".into()));
}

/// The run is INVALID even if only the last data does not fit.
#[test]
fn a_results_file_that_fails_at_its_end_makes_the_run_invalid() {
    let place = TestFolder::with(&results_of(1, "").replace("found.csv", "/dev/full"));
    let summary = place.assay(&TO_PIPES_AND_DEVICES).expect(3).json();
    assert_eq!(check(&summary, "files")["status"], "invalid");
    assert_eq!(summary["jobs"][0]["completed"], 1);
}

#[test]
fn a_results_file_that_cannot_be_opened_is_an_error_and_what_was_set_up_is_torn_down() {
    let place = TestFolder::with(&results_of(1, "").replace("found.csv", "nowhere/found.csv"));
    let args = ["run", "w.ini", "--allow-files", "--url", "sqlite:x.db", "--out", "r.assay"];
    place.assay(&args).refuses(&["`nowhere/found.csv` of [read] cannot be opened", "No such file"]);
    assert_eq!(crate::support::number(&place.at("x.db"), "select count(*) from sqlite_schema"), 0);
    assert!(!place.at("r.assay").exists());
}

/// A results file is truncated at the start, so it must not be a file that is needed.
#[test]
fn results_file_overwrites_no_file_that_the_run_needs() {
    let place = TestFolder::new();
    place.write("in.csv", "1\n2\n");
    place.write("q.log", "0,select 1\n");
    std::os::unix::fs::symlink("in.csv", place.at("link")).unwrap();
    let refused = |job: &str, args: &[&str], what: &str| {
        place.write("w.ini", format!("[a]\ncount = 1\n{job}\n"));
        let ran = place.assay(&[&["run", "w.ini"], args].concat());
        assert_eq!(ran.code, 2, "{job}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("is {what}, and is emptied")), "{}", ran.stderr);
    };
    let reads = "the file that [a] reads";
    let args = "query = select ?\nquery-args-file = in.csv\nquery-results-file";
    refused(&format!("{args} = in.csv"), &[], reads);
    refused(&format!("{args} = ./link"), &[], reads);
    refused("query-log-file = q.log\nquery-results-file = q.log", &[], reads);
    let select = "query = select 1\nquery-results-file";
    refused(&format!("{select} = w.ini"), &[], "the workload file");
    let shop = &["--url", "sqlite:shop.db"];
    refused(&format!("{select} = shop.db"), shop, "the database of the run");
    refused(&format!("{select} = r.assay"), &["--out", "r.assay"], "the record of the run");
    refused(&format!("{select} = ops.csv"), &["--op-log", "ops.csv"], "the op-log");
    place.write("w.ini", "[a]\nquery = select 1\n");
    let log = ["run", "w.ini", "--url", "sqlite:shop.db", "--op-log", "./shop.db"];
    place.assay(&log).refuses(&["the op-log `./shop.db` is the database of the run"]);
    place.write("found.csv", "");
    std::os::unix::fs::symlink("found.csv", place.at("other")).unwrap();
    let second = "[b]\nquery = select 1\nquery-results-file = other";
    refused(&format!("{select} = found.csv\n{second}"), &[], "the results file of [a]");
    assert_eq!(std::fs::read_to_string(place.at("in.csv")).unwrap(), "1\n2\n");
    assert!(!place.at("r.assay").exists() && !place.at("shop.db").exists());
}

#[test]
fn new_file_that_the_run_needs_is_refused_before_the_database_is_created() {
    let load = "[load t]\nrows = 1\ncolumns = a: row()\n";
    let job = "duration = 1s\n[a]\nquery = select 1\n";
    let place = TestFolder::with(&format!("{job}{load}"));
    place.write("found.ini", format!("{job}query-results-file = found.csv\n"));
    let question = "[question]\nask = Which disk?\nworkload = w.ini\n";
    place.write("e.ini", format!("{question}[arm one]\n[arm two]\nurl = sqlite:two.db\n"));
    place.write("p.ini", format!("url = sqlite:${{db}}.db\n{job}[params]\ndb = one\n"));
    let points =
        "[question]\nask = Which disk?\nworkload = p.ini\n[sweep]\nvary = set.db: one, two\n";
    place.write("points.ini", points);
    let before = place.names();
    let [database, record] = ["the database of the run", "the record of the run"];
    let cases = "the file of --junit";
    for (line, words) in [
        ("run w.ini --url sqlite:n --out n", format!("`n` is both {record} and {database}")),
        ("load w.ini --url sqlite:n --out ./n", format!("`./n` is both {record} and {database}")),
        ("run w.ini --url sqlite:n --junit n", format!("`n` is both {cases} and {database}")),
        ("load w.ini --url sqlite:n --junit n", format!("`n` is both {cases} and {database}")),
        ("load w.ini --out n --junit n", format!("`n` is both {cases} and {record}")),
        ("run w.ini --op-log n --junit n", format!("`n` is both {cases} and the op-log")),
        ("run found.ini --junit found.csv", "and the results file of [a]".to_owned()),
        ("run e.ini --url sqlite:n --out two.db", format!("`two.db` is both {record} and")),
        ("run e.ini --url sqlite:n --junit two.db", format!("`two.db` is both {cases} and")),
        ("run e.ini --url sqlite:n --out x --junit x", format!("is both {cases} and {record}")),
        ("run points.ini --out two.db", format!("`two.db` is both {record} and {database}")),
        ("observe sqlite:n --out n -- true", format!("`n` is both {record} and {database}")),
    ] {
        place.assay(&line.split(' ').collect::<Vec<_>>()).refuses(&[&words]);
    }
    assert_eq!(place.names(), before);
}

#[test]
fn a_check_touches_no_results_file() {
    let place = TestFolder::with(&results_of(1, ""));
    let ran = place.assay(&["check", "w.ini"]).expect(0);
    assert!(ran.stdout.contains("\nquery-results-file = found.csv\n"), "{}", ran.stdout);
    assert_eq!(place.names(), ["w.ini"]);
}

/// A workload whose requests end in every possible way.
const EVERY_END: &str = "duration = 20s\nwarmup = 5s\ndrain = 10ms\n[read]\nquery = select 1\n\
                         rate = 700\ntimeout = 8ms\nerror = 40001\nretry = 1 on 40001\n\
                         [\"odd\", name]\nquery = select 2\nrate = 400\nconcurrency = 1\n\
                         queue-limit = 10\n";
const ERRORS: &str = "sim:mm1?service=1ms&errors=0.1&error-code=40001";

/// Returns the cells of each row of an op-log.
fn ops(place: &TestFolder, name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(place.at(name)).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("job,number,intended_us,"));
    let cells = |line: &str| {
        let line = line.replace("\"\"\"odd\"\", name\"", "odd");
        line.split(',').map(str::to_owned).collect()
    };
    lines.map(cells).collect()
}

fn sum(export: &Value, column: &str) -> u64 {
    let intervals = export["intervals"].as_array().unwrap().iter();
    intervals.map(|interval| interval[column].as_u64().unwrap()).sum()
}

#[test]
fn an_op_log_has_a_row_for_each_request_and_agrees_with_the_record() {
    let place = TestFolder::with(EVERY_END);
    let ran = place.run_virtually(ERRORS, &["--op-log", "ops.csv", "--threads", "2"]);
    let summary = ran.json();
    let ops = ops(&place, "ops.csv");
    let export = place.export_json("r.assay");
    assert_eq!(ops.len() as u64, sum(&export, "scheduled"), "{}", ran.stderr);
    let printed = serde_json::json!({"rows": ops.len(), "dropped": 0, "failure": null});
    assert_eq!((&summary["run"]["op_log"], &export["run"]["op_log"]), (&printed, &printed));
    let with = |outcome: &str| ops.iter().filter(|row| row[7] == outcome).count() as u64;
    let errors = with("error") + with("timeout") + with("accepted-error");
    for (column, counted) in [
        ("completed", with("completed")),
        ("errors", errors),
        ("timeouts", with("timeout")),
        ("accepted_errors", with("accepted-error")),
        ("rejected", with("rejected")),
        ("unsent", with("unsent")),
    ] {
        assert_eq!(sum(&export, column), counted, "{column}");
        assert!(counted > 0, "{column}");
    }
    for (place, column) in [(9, "retries"), (11, "bytes_sent"), (12, "bytes_received")] {
        let total: u64 = ops.iter().map(|row| row[place].parse::<u64>().unwrap()).sum();
        assert_eq!(total, sum(&export, column), "{column}");
    }
    for row in &ops {
        let never_sent = matches!(row[7].as_str(), "rejected" | "unsent");
        assert_eq!(row[5].is_empty(), never_sent, "{row:?}");
        let times = row[2..7].iter().filter(|cell| !cell.is_empty());
        assert!(times.map(|cell| cell.parse::<f64>().unwrap()).is_sorted(), "{row:?}");
    }
}

#[test]
fn one_seed_gives_one_op_log() {
    let place = TestFolder::with(EVERY_END);
    for name in ["one", "two"] {
        let (log, record) = (format!("{name}.csv"), format!("{name}.assay"));
        let args = ["run", "w.ini", "--virtual", "--url", ERRORS, "--quiet", "--threads", "3"];
        place.assay(&[&args[..], &["--op-log", &log, "--out", &record]].concat());
    }
    let read = |name: &str| std::fs::read(place.at(name)).unwrap();
    assert!(read("one.csv") == read("two.csv"));
    assert_eq!(place.export("one.assay", "json"), place.export("two.assay", "json"));
}

#[test]
fn an_op_log_is_never_overwritten() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 100\n");
    place.write("ops.csv", "mine");
    place.run_virtually(MM1, &["--op-log", "ops.csv"]).refuses(&["`ops.csv` exists", "--op-log"]);
    assert_eq!(std::fs::read_to_string(place.at("ops.csv")).unwrap(), "mine");
    place.run_virtually(MM1, &["--op-log", "no/ops.csv"]).refuses(&["cannot create the op-log"]);
    assert_eq!(place.names(), ["ops.csv", "w.ini"]);
}

/// The result is as good as without an op-log, and every output reports the missing rows.
#[test]
fn a_full_disk_ends_the_op_log_and_not_the_run() {
    let place = TestFolder::with("duration = 20s\n[read]\nquery = select 1\nrate = 2k\n");
    let args = ["run", "w.ini", "--virtual", "--url", "sim:mmc?service=1ms&servers=64", "--out"];
    let args = [&args[..], &["r.assay", "--op-log", "ops.csv"]].concat();
    let mut command: Command = limited(&place, 2_000, &args);
    let ran = CommandResult::of(&mut command).expect(0);
    let ops = ops(&place, "ops.csv").len() as u64 - 1;
    let export = place.export_json("r.assay");
    let printed = &export["run"]["op_log"];
    let dropped = printed["dropped"].as_u64().unwrap();
    assert!(dropped > 1_000 && printed["failure"].as_str().unwrap().contains("File too large"));
    assert_eq!(printed["rows"].as_u64().unwrap() + dropped, sum(&export, "scheduled"));
    // The last line in the file may be incomplete.
    assert!((ops..=ops + 1).contains(&printed["rows"].as_u64().unwrap()));
    let words = "requests are missing in the op-log: it could no longer be written";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    assert!(ran.stdout.contains("VALID") && ran.stdout.contains("op-log"), "{}", ran.stdout);
    assert_eq!(export["events"][0]["kind"], "op-log-incomplete");
    assert!(export["events"][0]["text"].as_str().unwrap().contains(words));
}

/// Returns the number of rows in the op-log of a run that is killed when it reports its fifth
/// second, and the number of rows of its fourth second or later.
fn rows_of_a_killed_run() -> [usize; 2] {
    let place = TestFolder::with("duration = 1m\n[read]\nquery = select 1\nrate = 200\n");
    let args = ["run", "w.ini", "--url", MM1, "--out", "r.assay", "--op-log", "ops.csv"];
    let mut run = place.start(&args);
    run.wait_for_second(5, "read");
    run.signal(nix::sys::signal::Signal::SIGKILL);
    run.wait_for_end();
    let rows = ops(&place, "ops.csv");
    assert_eq!(place.export_json("r.assay")["run"]["op_log"], Value::Null);
    let late = rows.iter().filter(|row| row[2].parse::<f64>().unwrap() >= 3e6);
    [rows.len(), late.count()]
}

/// Each lane hands over its rows once a second, and they are written at once. A busy machine may
/// delay this, but not in every attempt.
#[test]
fn an_op_log_of_a_killed_run_misses_a_second_at_most() {
    let is_whole = |[rows, late]: &[usize; 2]| *rows >= 700 && *late > 0;
    let attempts = std::iter::repeat_with(rows_of_a_killed_run).take(3);
    let missing: Vec<[usize; 2]> = attempts.take_while(|rows| !is_whole(rows)).collect();
    assert!(missing.len() < 3, "{missing:?}");
}
