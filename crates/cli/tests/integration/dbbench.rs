//! Tests of dbbench files, run with dbbench's flags against SQLite: the statements sent, their
//! number, and the cases in which dbbench itself loses something.

use std::io::Write;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{CommandResult, TestFolder, assert_balanced, job, number};

/// Runs `w.ini`, the dbbench file of the folder, on `t.db` with these flags, until it ends.
fn dbbench(place: &TestFolder, flags: &[&str]) -> CommandResult {
    let args = [&["dbbench", "--driver", "sqlite", "--database", "t.db"], flags, &["w.ini"]];
    let ran = place.assay(&args.concat());
    // On a busy machine the verdict may be INVALID, but the same statements are sent.
    assert!([0, 3].contains(&ran.code), "{}\n{}", ran.stdout, ran.stderr);
    ran
}

/// Returns the document of the only run in a folder.
fn document(place: &TestFolder) -> Value {
    let names = place.names();
    let mut records = names.iter().filter(|name| name.ends_with(".assay"));
    let (Some(record), None) = (records.next(), records.next()) else { panic!("{names:?}") };
    place.assay(&["report", record, "--json"]).json()
}

/// Returns the document of a run with jobs, after checking its balance.
fn summary(place: &TestFolder) -> Value {
    let summary = document(place);
    assert_balanced(&summary);
    summary
}

fn rows(place: &TestFolder, condition: &str) -> i64 {
    number(&place.at("t.db"), &format!("select count(*) from t where {condition}"))
}

const TABLE: &str = "[setup]\nquery=create table t (a text, b text)\n";

#[test]
fn records_are_sent_in_order_until_there_are_no_more() {
    // The job has one client and no rate: with a rate, a late statement and the next one would be
    // sent over two connections, and SQLite might take either first.
    let place = TestFolder::with(&format!(
        "{TABLE}[in]\nquery=insert into t values (?, ?)\nconcurrency=1\nquery-args-file=a.csv\n"
    ));
    place.write("a.csv", "1,\"a, \"\"b\"\"\"\r\n\r\n2,\\N\n3,\"two\nlines\"\n");
    let ran = dbbench(&place, &[]);
    assert!(ran.stderr.contains("running until every job has reached its end"), "{}", ran.stderr);
    assert_eq!(rows(&place, "true"), 3);
    assert_eq!(rows(&place, "a = '1' and b = 'a, \"b\"'"), 1);
    // A NULL in a results file comes back as two characters.
    assert_eq!(rows(&place, "a = '2' and b = '\\N' and rowid = 2"), 1);
    assert_eq!(rows(&place, "b = 'two' || char(10) || 'lines' and rowid = 3"), 1);
}

/// Expects byte order marks to be skipped. Dbbench itself sends such a mark as a part of the first
/// value, or reports a malformed time.
#[test]
fn a_byte_order_mark_is_skipped_in_all_files() {
    let place = TestFolder::with(&format!(
        "{TABLE}[in]\nquery=insert into t values (?, 'args')\nquery-args-file=a.csv\n\
         [log]\nquery-log-file=q.log\n"
    ));
    place.write("a.csv", "\u{feff}\"1\"\n2\n");
    place.write("q.log", "\u{feff}0,insert into t values ('1', 'log')\n");
    dbbench(&place, &[]);
    assert_eq!((rows(&place, "a = '1'"), rows(&place, "true")), (2, 3));
}

#[test]
fn files_that_are_not_utf_8_are_refused_before_anything_is_sent() {
    for (job, name, bytes) in [
        ("query=insert into t values (?, '')\nquery-args-file=a", "a", &b"1\n\xe9\n"[..]),
        ("query-log-file=q", "q", b"0,select 1\n1,select '\xe9'\n"),
    ] {
        let place = TestFolder::with(&format!("{TABLE}[in]\n{job}\n"));
        place.write(name, bytes);
        let args = ["dbbench", "--driver", "sqlite", "--database", "t.db", "w.ini"];
        place.assay(&args).refuses(&[&format!("line 2 of `{name}`: is not UTF-8")]);
        assert!(!place.at("t.db").exists());
    }
}

#[test]
fn each_statement_of_a_request_takes_a_record_and_an_incomplete_group_is_left() {
    let place = TestFolder::with(&format!(
        "{TABLE}[in]\nquery=insert into t values (?, 'one')\n\
         query=insert into t values (?, 'two')\n\
         multi-query-mode=multi-connection\nquery-args-file=a.tsv\nquery-args-delim=\"\\t\"\n"
    ));
    place.write("a.tsv", "1\n2\n3\n");
    dbbench(&place, &[]);
    assert_eq!(rows(&place, "a = '1' and b = 'one' or a = '2' and b = 'two'"), 2);
    assert_eq!(rows(&place, "true"), 2);
    assert_eq!(job(&summary(&place), "in")["scheduled"], 1);
}

#[test]
fn a_batch_shares_its_record_and_counts_as_one() {
    let place = TestFolder::with(&format!(
        "{TABLE}[shared]\nquery=insert into t values (?, 'shared')\nrate=100\nbatch-size=3\n\
         query-args-file=a.csv\n[counted]\nquery=insert into t values (0, 'counted')\n\
         rate=200\nbatch-size=5\ncount=4\n"
    ));
    place.write("a.csv", "1\n2\n");
    dbbench(&place, &[]);
    assert_eq!(rows(&place, "b = 'shared' and a = '1'"), 3);
    assert_eq!(rows(&place, "b = 'shared'"), 6);
    assert_eq!(rows(&place, "b = 'counted'"), 20);
}

#[test]
fn records_come_through_a_named_pipe() {
    let place = TestFolder::with(&format!(
        "{TABLE}[in]\nquery=insert into t values (?, '')\nconcurrency=4\nquery-args-file=pipe\n"
    ));
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    let pipe = place.at("pipe");
    let writer = std::thread::spawn(move || {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
        (0..16).for_each(|number| writeln!(pipe, "{number}").unwrap());
    });
    dbbench(&place, &[]);
    writer.join().unwrap();
    assert_eq!((rows(&place, "true"), rows(&place, "a = '15'")), (16, 1));
}

/// Expects one job's results to be another job's input, through a named pipe.
#[test]
fn one_job_feeds_another() {
    let place = TestFolder::with(&format!(
        "{TABLE}[pump]\nquery=select 'good evening'\nrate=20\nbatch-size=4\ncount=4\n\
         query-results-file=pipe\n\
         [sink]\nquery=insert into t values (?, '')\nconcurrency=20\nquery-args-file=pipe\n"
    ));
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    dbbench(&place, &[]);
    assert_eq!(rows(&place, "a = 'good evening'"), 16);
}

#[test]
fn results_and_a_row_per_request_are_written() {
    let place = TestFolder::with(
        "[setup]\nquery=create table t (a text)\n\
         [kept]\nquery=select 'a, b', null\ncount=2\nquery-results-file=kept.csv\n\
         [returned]\nquery=insert into t values ('new') returning a\ncount=1\n\
         query-results-file=returned.csv\n\
         [failing]\nquery=select abs(-9223372036854775808)\ncount=3\n\
         [failing twice]\nquery=select abs(-9223372036854775808)\nquery=select 1\n\
         query=select abs(-9223372036854775808)\ncount=4\n\
         multi-query-mode=multi-connection\n\
         [late]\nquery=select 1, 'late'\nstart=300ms\ncount=1\n",
    );
    place.write("stats.csv", "of an earlier run\n");
    dbbench(&place, &["--query-stats-file", "stats.csv"]);
    let read = |name: &str| std::fs::read_to_string(place.at(name)).unwrap();
    assert_eq!(read("kept.csv"), "\"a, b\",\\N\n".repeat(2));
    // Dbbench looks only at the first word of the statement, and writes no results here.
    assert_eq!(read("returned.csv"), "new\n");
    let stats = read("stats.csv");
    let rows: Vec<Vec<&str>> = stats.lines().map(|line| line.split(',').collect()).collect();
    let of = |job: &str, rows_returned: &str, failed: &str| {
        let is_such = |row: &&Vec<&str>| row[0] == job && row[3] == rows_returned;
        rows.iter().filter(is_such).filter(|row| row.len() == 5 && row[4] == failed).count()
    };
    assert_eq!((of("kept", "1", "0"), of("failing", "0", "1"), rows.len()), (2, 3, 11), "{stats}");
    assert_eq!(of("failing twice", "0", "2"), 4, "{stats}");
    // Starts are in whole microseconds since the end of the setup, whenever the job starts.
    let late = rows.iter().find(|row| row[0] == "late").expect("a row");
    assert_eq!(late[1], "300000", "{stats}");
    assert!(late[2].parse::<u64>().is_ok(), "{stats}");
}

/// Messages call the file by the name of its dbbench flag.
#[test]
fn row_per_request_file_that_cannot_be_written_names_its_flag() {
    let place = TestFolder::with("[a]\nquery=select 1\ncount=3\nquery-results-file=kept.csv\n");
    let refused = |stats: &str, words: &[&str]| {
        let flags = ["--driver", "sqlite", "--database", "t.db", "--query-stats-file", stats];
        let ran = place.assay(&[&["dbbench"], &flags[..], &["w.ini"]].concat()).refuses(words);
        assert!(!ran.stderr.contains("op-log"), "{}", ran.stderr);
    };
    refused("no/stats.csv", &["cannot create the file of --query-stats-file `no/stats.csv`"]);
    refused("kept.csv", &["the results file `kept.csv` of [a] is the file of --query-stats-file"]);
    assert_eq!(place.names(), ["t.db", "w.ini"]);
}

/// As in dbbench, the file is overwritten, unless the run itself needs it.
#[test]
fn row_per_request_file_must_differ_from_other_files() {
    const FILE: &str = "[setup]\nquery-file=setup.sql\n[a]\nquery=select ?\n\
                        query-args-file=in.csv\n[b]\nquery-log-file=q.log\n";
    const FILES: [(&str, &str); 4] = [
        ("w.ini", FILE),
        ("setup.sql", "create table if not exists t (a);\n"),
        ("in.csv", "1\n2\n"),
        ("q.log", "0,select 1\n"),
    ];
    let place = TestFolder::new();
    FILES.iter().for_each(|(name, text)| place.write(name, text));
    std::os::unix::fs::symlink("in.csv", place.at("link")).unwrap();
    std::fs::create_dir(place.at("other")).unwrap();
    let refused = |stats: &str, what: &str| {
        let flags = ["--driver", "sqlite", "--database", "t.db", "--query-stats-file", stats];
        let words = format!("error: the file of --query-stats-file `{stats}` is {what}: ");
        place.assay(&[&["dbbench"], &flags[..], &["w.ini"]].concat()).refuses(&[&words]);
    };
    refused("t.db", "the database of the run");
    assert!(!place.at("t.db").exists());
    dbbench(&place, &["--query-stats-file", "stats.csv"]);
    refused("t.db", "the database of the run");
    refused("t.db-wal", "a part of the database of the run");
    refused("in.csv", "the file that [a] reads");
    refused("link", "the file that [a] reads");
    refused("other/../q.log", "the file that [b] reads");
    refused("setup.sql", "a file that the workload is made of");
    refused("w.ini", "the workload file");
    for (name, text) in FILES {
        assert_eq!(std::fs::read_to_string(place.at(name)).unwrap(), text, "{name}");
    }
    assert_eq!(rows(&place, "true"), 0);
    // The file of an earlier run is not needed by this one.
    dbbench(&place, &["--query-stats-file", "stats.csv"]);
    assert_eq!(std::fs::read_to_string(place.at("stats.csv")).unwrap().lines().count(), 3);
}

/// Answers call the file by the name of its dbbench flag.
#[test]
fn answer_names_the_row_per_request_file_as_given() {
    for (stats, shown, is_incomplete) in [
        ("stats.csv", "query-stats-file  3 requests, 0 missing", false),
        ("/dev/full", "query-stats-file  0 requests, 3 missing", true),
    ] {
        let place = TestFolder::with("[a]\nquery=select 1\ncount=3\n");
        let ran = dbbench(&place, &["--query-stats-file", stats]);
        let name = place.names().into_iter().find(|name| name.ends_with(".assay")).unwrap();
        let report = place.assay(&["report", &name, "--full"]);
        assert!(report.stdout.contains(shown), "{stats}: {}", report.stdout);
        let is_reported = ran.stdout.contains("query-stats-file-incomplete: ");
        assert_eq!(is_reported, is_incomplete, "{stats}: {}", ran.stdout);
        let all = [ran.stdout, ran.stderr, report.stdout, report.stderr].concat();
        assert!(!all.contains("op-log"), "{all}");
    }
}

/// The pipe belongs to its reader, and was not created by the run.
#[test]
fn a_pipe_for_a_row_per_request_outlives_a_run_that_measured_nothing() {
    let place =
        TestFolder::with("[setup]\nquery=insert into nowhere values (1)\n[a]\nquery=select 1\n");
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    let flags = ["--driver", "sqlite", "--database", "t.db", "--query-stats-file", "pipe"];
    let ran = place.assay(&[&["dbbench"], &flags[..], &["w.ini"]].concat());
    ran.refuses(&["no such table: nowhere"]);
    assert!(place.at("pipe").exists());
}

/// Expects the run not to be held up. Opening the pipe would wait for a reader, and the end of the
/// run would wait with it.
#[test]
fn pipe_for_a_row_per_request_without_a_reader_holds_up_no_run() {
    let place =
        TestFolder::with(&format!("{TABLE}[a]\nquery=insert into t values ('', '')\ncount=9\n"));
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    dbbench(&place, &["--query-stats-file", "pipe"]);
    assert_eq!(rows(&place, "true"), 9);
    assert!(place.at("pipe").exists());
}

#[test]
fn a_log_is_replayed() {
    let place = TestFolder::with(&format!("{TABLE}[replay]\nquery-log-file=q.log\n"));
    let line = |micros: u32| format!("{micros},insert into t values ('{micros}', 'a, b')\n");
    // Dbbench ends silently at a line of more than 64 KiB.
    let long = format!("7000050,insert into t values ('', '{}')\n", "x".repeat(70_000));
    let lines = [line(7_000_000), line(7_000_009), long, line(7_000_099), line(7_040_000)];
    place.write("q.log", lines.concat());
    dbbench(&place, &[]);
    assert_eq!((rows(&place, "b = 'a, b'"), rows(&place, "length(b) = 70000")), (4, 1));
}

#[test]
fn statements_are_read_from_a_file() {
    let place = TestFolder::with(
        "[setup]\nquery-file=tables.sql\n[in]\nquery-file=in.sql\ncount=3\n\
         multi-query-mode=multi-connection\n",
    );
    place.write("tables.sql", "create table t (a text, b text);\ninsert into t values (0, 0);\n");
    place
        .write("in.sql", "insert into t values (1, ';');\ninsert into t values (2, '');\n-- end\n");
    dbbench(&place, &[]);
    assert_eq!((rows(&place, "true"), rows(&place, "b = ';'")), (7, 3));
}

/// Three jobs follow each other; their schedule depends on the file alone.
#[test]
fn jobs_start_and_stop_at_their_times() {
    let place = TestFolder::with(&format!(
        "duration=1s\n{TABLE}[fill]\nquery=insert into t values ('fill', '')\nqueue-depth=2\n\
         stop=300ms\ncount=40\n[once]\nquery=insert into t values ('once', '')\nstart=400ms\n\
         count=1\n[again]\nquery=insert into t values ('again', 1), ('again', 2), ('again', 3)\n\
         start=600ms\nrate=100\n[never]\nquery=insert into t values ('never', '')\nstart=500ms\n\
         stop=400ms\n[teardown]\nquery=insert into t values ('teardown', '')\n"
    ));
    let ran = dbbench(&place, &[]);
    assert!(ran.stderr.contains("the job stops at `400ms`, but starts at `500ms`"));
    // Ticks at 610 ms, 620 ms, … 990 ms.
    assert_eq!(rows(&place, "a = 'again'"), 3 * 39);
    assert_eq!(rows(&place, "a in ('once', 'teardown')"), 2);
    assert_eq!(rows(&place, "a = 'never'"), 0);
    let summary = summary(&place);
    let filled = job(&summary, "fill")["completed"].as_i64().unwrap();
    assert_eq!(rows(&place, "a = 'fill'"), filled);
    assert!(filled <= 40);
}

/// A statement that takes noticeable time on any machine, and can be cancelled at once.
const SLOW: &str = "with recursive c (n) as (select 1 union all select n + 1 from c \
                    where n < 3000000) insert into t select max(n), 'slow' from c";

/// Expects nothing to be sent after the stop. Dbbench itself sends one more statement per job.
#[test]
fn nothing_is_sent_after_the_stop() {
    let place = TestFolder::with(&format!("{TABLE}[slow]\nquery={SLOW}\nstop=20ms\n"));
    dbbench(&place, &[]);
    assert_eq!(rows(&place, "true"), 1);
}

/// Expects a request for every tick. Dbbench itself silently drops ticks for which it is too late.
#[test]
fn no_tick_is_missed() {
    let place = TestFolder::with("[ticks]\nquery=select 1\nrate=5000\ncount=1000\n");
    dbbench(&place, &[]);
    let summary = summary(&place);
    let counted = |key: &str| job(&summary, "ticks")[key].as_u64();
    assert_eq!((counted("scheduled"), counted("completed")), (Some(1_000), Some(1_000)));
}

/// Expects the error to be counted, and the run to continue. Dbbench itself ends at the first error
/// that is not accepted, without teardown and report.
#[test]
fn an_error_is_counted_and_the_run_continues_to_its_teardown() {
    let place = TestFolder::with(
        "error=SQLITE_CONSTRAINT_PRIMARYKEY\n[setup]\nquery=create table t (a text, b text)\n\
         query=create table one (a integer primary key)\n\
         [wrong]\nquery=insert into t values (abs(-9223372036854775808), '')\ncount=3\n\
         [taken]\nquery=insert into one values (1)\ncount=3\n\
         [teardown]\nquery=insert into t values ('teardown', '')\n",
    );
    dbbench(&place, &[]);
    assert_eq!((rows(&place, "true"), rows(&place, "a = 'teardown'")), (1, 1));
    let summary = summary(&place);
    let counted = |name: &str, key: &str| job(&summary, name)[key].as_i64();
    assert_eq!(
        (counted("wrong", "errors"), counted("wrong", "accepted_errors")),
        (Some(3), Some(0))
    );
    assert_eq!(
        (counted("taken", "errors"), counted("taken", "accepted_errors")),
        (Some(2), Some(2))
    );
}

/// Expects an interrupted run to say so, and to tear down. Dbbench itself reports such a run like a
/// complete one, and SIGTERM kills it without a teardown.
#[test]
fn an_interrupted_run_says_so_and_tears_down() {
    let endless = format!(
        "{TABLE}[endless]\nquery=select 1\n[teardown]\nquery=insert into t values ('down', '')\n"
    );
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let place = TestFolder::with(&endless);
        let args = ["dbbench", "--url", "sqlite:t.db", "w.ini"];
        let mut running = place.start(&args);
        running.wait_for_line("running until Ctrl-C");
        running.signal(signal);
        running.wait_for_end().expect(130);
        assert_eq!(rows(&place, "a = 'down'"), 1);
    }
}

#[test]
fn file_that_dbbench_reads_as_empty_is_an_error() {
    let place = TestFolder::with("; nothing\n[setup]\n[global]\nduration=5s\n");
    let run = |args: &[&str]| place.assay(&[&["dbbench"], args].concat());
    run(&["--driver", "sqlite", "none.ini"]).refuses(&["cannot read `none.ini`"]);
    run(&["--driver", "sqlite", "w.ini"]).refuses(&["the file has no job"]);
    assert_eq!(place.names(), ["w.ini"]);
}

/// Like dbbench, Assay runs the statements regardless of the duration, and in the same order.
#[test]
fn a_file_without_jobs_sets_up_and_tears_down() {
    let inserted = |text: &str| format!("query=insert into t values ('{text}', '')\n");
    let (up, down) = (inserted("up"), inserted("down"));
    for (file, expected) in [
        (format!("{TABLE}{up}[teardown]\n{down}"), 2),
        (format!("duration=1h\n{TABLE}{up}"), 1),
        (format!("[teardown]\nquery=create table t (a text, b text)\n{down}"), 1),
    ] {
        let place = TestFolder::with(&file);
        let ran = dbbench(&place, &["--query-stats-file", "stats.csv"]);
        assert_eq!((ran.code, rows(&place, "true")), (0, expected), "{file}\n{}", ran.stderr);
        assert!(ran.stdout.contains("was measured: there is no job"), "{}", ran.stdout);
        assert!(ran.stdout.contains("measured  nothing, started"), "{}", ran.stdout);
        assert_eq!(document(&place)["jobs"].as_array().map(Vec::len), Some(0), "{file}");
    }
    let place = TestFolder::with("[setup]\nquery=no\n[teardown]\nquery=create table t (a text)\n");
    let flags = ["dbbench", "--driver", "sqlite", "--database", "t.db", "w.ini"];
    place.assay(&flags).refuses(&["w.ini:2"]);
    assert_eq!(number(&place.at("t.db"), "select count(*) from sqlite_master"), 0);
}

/// Expects the error before anything is sent. Dbbench itself finds the error only when it reaches
/// the line during the run, and then ends at once.
#[test]
fn a_broken_file_is_found_before_anything_is_sent() {
    let place = TestFolder::with(&format!(
        "{TABLE}[in]\nquery=insert into t values (?, ?)\nquery-args-file=a.csv\n"
    ));
    let run = || place.assay(&["dbbench", "--driver", "sqlite", "--database", "t.db", "w.ini"]);
    run().refuses(&["there is no file `a.csv`", " --> w.ini:5:17"]);
    place.write("a.csv", "1,2\n3\n");
    run().refuses(&["line 2 of `a.csv`", "correct the line: nothing was sent"]);
    place.write("w.ini", "[replay]\nquery-log-file=a.csv\n");
    for broken in ["1,\n", "1\n", "1,begin\n", "x,select 1\n"] {
        place.write("a.csv", broken);
        run().refuses(&["line 1 of `a.csv`"]);
    }
    assert_eq!(place.names(), ["a.csv", "w.ini"]);
}

#[test]
fn relative_names_begin_at_the_base_folder() {
    let place = TestFolder::with(
        "[setup]\nquery-file=t.sql\n\
         [in]\nquery=insert into t values (?, '')\nquery-args-file=a.csv\n",
    );
    std::fs::create_dir(place.at("data")).unwrap();
    place.write("data/t.sql", "create table t (a text, b text);");
    place.write("data/a.csv", "1\n");
    let refused = ["there is no file `t.sql`"];
    place.assay(&["dbbench", "--driver", "sqlite", "w.ini"]).refuses(&refused);
    for folder in ["no", "w.ini"] {
        let words = format!("--base-dir: there is no folder `{folder}`");
        let flags = ["dbbench", "--base-dir", folder, "--driver", "sqlite", "w.ini"];
        place.assay(&flags).refuses(&[&words, "= help: name the folder"]);
    }
    dbbench(&place, &["--base-dir", "data"]);
    assert_eq!(rows(&place, "a = '1'"), 1);
}

#[test]
fn flags_follow_gos_syntax() {
    let place = TestFolder::with("[a]\nquery=select 1\ncount=3\n");
    let refused = |args: &[&str], words: &str| {
        place.assay(&[&["dbbench"], args].concat()).refuses(&[words]);
    };
    refused(&[], "there is no file to run");
    refused(&["w.ini", "--driver", "sqlite"], "flags come first");
    refused(&["--driver", "sqlite", "w.ini", "w.ini"], "more than one file");
    refused(&["--drivr", "sqlite", "w.ini"], "did you mean --driver?");
    refused(&["--driver"], "--driver has no value");
    refused(
        &["--driver", "mssql", "w.ini"],
        "assay has none; expected sqlite, sim, postgres, mysql",
    );
    refused(&["--driver", "testbed", "w.ini"], "unknown driver `testbed`");
    for flags in [&["-driver=sqlite", "-database", "x.db"][..], &["--url=sqlite:x.db", "--"]] {
        place.assay(&[&["dbbench"], flags, &["w.ini"]].concat());
        std::fs::remove_file(place.at("x.db")).unwrap();
    }
}

#[test]
fn programs_of_dbbench_files_need_the_flag() {
    let place = TestFolder::with("[a]\ncommand=true\ncount=2\n");
    let refused = place.assay(&["dbbench", "--driver", "sqlite", "w.ini"]);
    refused.refuses(&["the file wants to run these programs", "add --allow-commands"]);
    let ran = dbbench(&place, &["--allow-commands"]);
    assert!(ran.stdout.contains("assay dbbench --url=sqlite:t.db --allow-commands w.ini"));
    assert!(!ran.stderr.contains("--url"), "{}", ran.stderr);
    assert_eq!(job(&summary(&place), "a")["completed"], 2);
}

#[test]
fn invariant_8_a_password_is_in_no_message() {
    let place = TestFolder::with("[a]\nquery=select 1\n");
    for args in [
        &["--password", "hunter2", "--port", "-1", "w.ini"][..],
        &["--passwrd=hunter2", "w.ini"],
        &["w.ini", "--password=hunter2"],
        &["--url", "mysql://ann:hunter2@h/d?tsl=off", "w.ini"],
        &["--url", "mysq://ann:hunter2@h/d", "w.ini"],
        &["--password=hunter2", "--driver", "sqlite", "w.ini"],
        &["--params", "password=hunter2", "w.ini"],
        &["--intermediate-stats=hunter2", "w.ini"],
    ] {
        let ran = place.assay(&[&["dbbench"], args].concat()).refuses(&[]);
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
}

#[test]
fn help_and_version_succeed_on_stdout() {
    let place = TestFolder::new();
    for help in ["-h", "--help"] {
        let ran = place.assay(&["dbbench", help]).expect(0);
        assert!(ran.stdout.contains("--base-dir FOLDER"), "{}", ran.stdout);
    }
    let version = place.assay(&["--version"]).expect(0).stdout;
    assert_eq!(place.assay(&["dbbench", "--version"]).expect(0).stdout, version);
}

#[test]
fn reports_go_to_stderr_at_the_requested_interval() {
    let place = TestFolder::with("duration=1500ms\n[a]\nquery=select 1\nrate=20\n");
    // On a busy machine, the report of a second may be left out.
    let is_report = |line: &str| line.starts_with("00:0") && line.contains(" a: offered/s");
    let reports = |ran: &CommandResult| ran.stderr.lines().any(is_report);
    let ran = dbbench(&place, &[]);
    assert!(reports(&ran), "{}", ran.stderr);
    let ran = dbbench(&place, &["--intermediate-stats=false"]);
    assert!(!ran.stderr.contains("offered/s"), "{}", ran.stderr);
    assert!(ran.stderr.contains("running 1s500ms"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("whole seconds"), "{}", ran.stderr);
    let ran = dbbench(&place, &["--intermediate-stats-interval=250ms"]);
    assert!(ran.stderr.contains("reported every 1s, not every 250ms"), "{}", ran.stderr);
    assert!(reports(&ran), "{}", ran.stderr);
}

#[test]
fn parameters_of_the_drivers_are_translated_or_explained() {
    let place = TestFolder::with("[a]\nquery=select 1\ncount=3\n");
    let said = |flags: &[&str], words: &[&str]| {
        place.assay(&[&["dbbench"], flags, &["w.ini"]].concat()).refuses(words);
    };
    let nobody = ["dbbench", "--port=1", "--params", "parseTime=true", "w.ini"];
    let ran = place.assay(&nobody).expect(4);
    let warning = "warning: --params: `parseTime` has no effect: ";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    said(&["--params", "tls=preferred"], &["error: --params: `tls=preferred` is not accepted: "]);
    said(&["--url=postgres://h?search_path=x"], &["--url: `search_path` is not accepted"]);
}

#[test]
fn flags_without_effect_are_reported_and_others_recorded() {
    let place = TestFolder::with("[a]\nquery=select 1\nrate=20\ncount=3\n");
    let flags = ["--confidence=0.95", "--max-idle-conns=7", "--max-active-conns=9"];
    let ran = dbbench(&place, &flags);
    for name in ["confidence", "max-idle-conns"] {
        let warning = format!("warning: --{name} has no effect: ");
        assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("--max-sample-count"), "{}", ran.stderr);
    let command = "assay dbbench --url=sqlite:t.db --max-active-conns=9 w.ini";
    assert!(ran.stdout.contains(command), "{}", ran.stdout);
    let names = place.names();
    let record = names.iter().find(|name| name.ends_with(".assay")).unwrap();
    let plan = number(
        &place.at(record),
        "select count(*) from meta where value like '%max-connections = 9%'",
    );
    assert_eq!(plan, 1);
}
