//! Tests of requests from input files: errors in the files are reported before a database is
//! touched, or end the run.

use std::io::Write;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::{TestFolder, check};

/// Checks that a run is refused before it begins, with these words.
#[track_caller]
fn refused(job: &str, files: &[(&str, &str)], words: &[&str]) {
    let place = TestFolder::with(&format!("[a]\n{job}\n"));
    for (name, text) in files {
        place.write(name, text);
    }
    for command in ["run", "check"] {
        let ran = place.assay(&[command, "w.ini"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
        }
    }
}

#[test]
fn broken_files_are_refused_with_their_lines() {
    let args = "query = select ?\nquery-args-file = a.csv";
    refused(args, &[], &["there is no file `a.csv`", "in the folder of the workload file"]);
    let ragged = "line 3 of `a.csv`: it has 1 field, and the first record has 2";
    refused(args, &[("a.csv", "1,2\n3,4\n5\n")], &[ragged, "nothing was sent"]);
    let two = "query = select ?, ?\nquery-args-file = a.csv";
    refused(two, &[("a.csv", "1\n2\n")], &["takes field 2, and `a.csv` has 1"]);
    let log = "query-log-file = q.log";
    refused(log, &[("q.log", "1,select 1\nx\n")], &["line 2 of `q.log`: has no comma"]);
    refused(log, &[("q.log", "1,begin\n")], &["line 1 of `q.log`: begins a transaction"]);
    let several = "line 2 of `q.log`: holds several statements: write each on a line of its own";
    refused(log, &[("q.log", "1,select 1;\n2,select 1; select 2\n")], &[several]);
    refused("query-log-file = .", &[], &["`.` cannot be read: is a directory"]);
}

/// All mistakes are reported together, rather than one per run.
#[test]
fn all_files_that_are_missing_or_broken_are_shown_at_once() {
    let args = "query = select ?\nquery-args-file = a.csv";
    let log = "[b]\nquery-log-file = q.log";
    let (no_args, no_log) = ("there is no file `a.csv`", "there is no file `q.log`");
    refused(&format!("{args}\n{log}"), &[], &[no_args, no_log]);
    let script = "[c]\nquery-file = c.sql\nrat = 5";
    let others = ["there is no file `c.sql`", "did you mean `rate`"];
    refused(&format!("{args}\n{log}\n{script}"), &[], &[no_args, no_log, others[0], others[1]]);
    let broken = ["line 2 of `a.csv`", "line 1 of `q.log`"];
    let files = [("a.csv", "1,2\n3\n"), ("q.log", "x\n")];
    refused(&format!("{args}\n{log}"), &files, &broken);
}

#[test]
fn mistakes_in_the_files_of_many_jobs_are_counted_after_the_first_hundred() {
    for (query, code, words, rest) in [
        ("select ?", 0, "have 2 fields, and 1 are used", "warning: 50 more problems not shown"),
        ("select ?, ?, ?", 2, "`a.csv` has 2", "error: 50 more problems not shown"),
    ] {
        let jobs = (0..150)
            .map(|number| format!("[a{number}]\nquery = {query}\nquery-args-file = a.csv\n"));
        let place = TestFolder::with(&jobs.collect::<String>());
        place.write("a.csv", "1,2\n");
        let ran = place.assay(&["check", "w.ini"]).expect(code);
        assert_eq!(ran.stderr.matches(words).count(), 100, "{}", ran.stderr);
        assert!(ran.stderr.contains(rest), "{}", ran.stderr);
    }
}

/// Expects a refusal: in virtual time, where the clock jumps, waiting for a missing writer would
/// never time out.
#[test]
fn a_pipe_is_refused_in_virtual_time() {
    for job in ["query = select ?\nquery-args-file = pipe\nrate = 100", "query-log-file = pipe"] {
        let place = TestFolder::with(&format!("duration = 1s\n[a]\n{job}\n"));
        mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
        let run = ["run", "w.ini", "--url", "sim:mm1", "--virtual", "--out", "r.assay"];
        place.assay(&run).refuses(&["`pipe` is not a regular file", "leave out --virtual"]);
        assert_eq!(place.names(), ["pipe", "w.ini"]);
    }
}

#[test]
fn odd_input_files_run_with_a_warning() {
    let place = TestFolder::with("[a]\nquery-log-file = q.log\n");
    place.write("q.log", "1000,select 1\n5000,select 2\n3000,select 3\n");
    let ran = place.assay(&["run", "w.ini", "--json", "--quiet", "--out", "r.assay"]);
    assert!(ran.stderr.contains("line 3 of `q.log` has a time before"), "{}", ran.stderr);
    assert_eq!(ran.json()["jobs"][0]["completed"], 3);
    assert_eq!(ran.json()["jobs"][0]["model"], "replay");
}

#[test]
fn unused_fields_are_warned_of() {
    let place = TestFolder::with("[a]\nquery = select ?\nquery-args-file = a.csv\n");
    place.write("a.csv", "1,2,3\n");
    let ran = place.assay(&["run", "w.ini", "--json", "--quiet"]);
    assert!(ran.stderr.contains("`a.csv` have 3 fields, and 1 are used"), "{}", ran.stderr);
    assert_eq!(ran.json()["jobs"][0]["completed"], 1);
}

/// A pipe that its writer closes is treated like a file that ends there.
#[test]
fn pipe_feeds_requests_until_its_writer_closes_it() {
    let text = "duration = 30s\n[setup]\nquery = create table t (a text, b text)\n\
                [a]\nquery = insert into t values (?, ${field(2)})\nquery-args-file = pipe\n\
                rate = 1000\n";
    let place = TestFolder::with(text);
    mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
    let pipe = place.at("pipe");
    let writer = std::thread::spawn(move || {
        let mut pipe = std::fs::File::create(pipe).unwrap();
        for number in 0..50 {
            writeln!(pipe, "{number},\"it's {number}\"").unwrap();
        }
    });
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:t.db", "--json", "--quiet"]);
    writer.join().unwrap();
    assert_eq!(ran.json()["jobs"][0]["completed"], 50, "{}", ran.stderr);
    assert_eq!(check(&ran.json(), "files")["status"], "pass");
    let count =
        "[a]\nquery = select * from t where b = 'it''s ' || a\ncount = 1\nexpect-rows = 50\n";
    place.write("count.ini", count);
    let ran = place.assay(&["run", "count.ini", "--url", "sqlite:t.db", "--json", "--quiet"]);
    assert_eq!(ran.json()["jobs"][0]["errors"], 0, "{}", ran.stderr);
}

/// Requests that were due are counted, even if a missing writer left them without input.
#[test]
fn pipe_without_a_writer_makes_the_run_invalid() {
    for (job, unsent) in [
        ("query = select ?\nquery-args-file = pipe\nrate = 100\narrival = uniform", 99),
        ("query = select ?\nquery-args-file = pipe\nconcurrency = 3", 0),
        ("query-log-file = pipe", 0),
    ] {
        let text = format!("duration = 1s\n[a]\n{job}\n[b]\nquery = select 1\nevery = 300ms\n");
        let place = TestFolder::with(&text);
        mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
        let ran = place.assay(&["run", "w.ini", "--json", "--quiet"]);
        assert_eq!(ran.code, 3, "{job} {}", ran.stderr);
        assert_eq!(ran.json()["jobs"][0]["unsent"], unsent, "{job}");
        let files = check(&ran.json(), "files")["explain"].to_string();
        assert!(files.contains("`pipe` of [a] had nothing for requests"), "{job} {files}");
    }
}

#[test]
fn a_pipe_that_breaks_a_line_ends_the_run_as_invalid() {
    let text = "duration = 30s\n[a]\nquery = select ?\nquery-args-file = pipe\n";
    let place = TestFolder::with(text);
    mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
    let pipe = place.at("pipe");
    let writer = std::thread::spawn(move || {
        std::fs::File::create(pipe).unwrap().write_all(b"1\n2\n3,4\n5\n").unwrap();
    });
    let ran = place.assay(&["run", "w.ini", "--json", "--quiet"]);
    writer.join().unwrap();
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert_eq!(ran.json()["jobs"][0]["completed"], 2);
    let files = check(&ran.json(), "files")["explain"].to_string();
    assert!(files.contains("line 3: it has 2 fields, and the first record has 1"), "{files}");
}

/// Expects every request for which the pipe has all records to be sent, and an incomplete end to be
/// reported.
#[test]
fn a_pipe_that_ends_within_a_record_makes_the_run_suspect() {
    for (job, text, completed, words) in [
        ("query = select ?", "1\n2\n30", 3, "`pipe` of [a] ended within a line"),
        (
            "query = select ?\nquery = select ?\nmulti-query-mode = multi-connection",
            "1\n2\n3\n",
            1,
            "it takes 2 records, and the last 1 were not sent",
        ),
    ] {
        let file = format!("duration = 30s\n[a]\n{job}\nquery-args-file = pipe\n");
        let place = TestFolder::with(&file);
        mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
        let pipe = place.at("pipe");
        let writer = std::thread::spawn(move || std::fs::write(pipe, text).unwrap());
        let ran = place.assay(&["run", "w.ini", "--json", "--quiet"]);
        writer.join().unwrap();
        assert_eq!(ran.json()["jobs"][0]["completed"], completed, "{job} {}", ran.stderr);
        let files = check(&ran.json(), "files").clone();
        assert_eq!(files["status"], "suspect", "{job} {files}");
        assert!(files["explain"].to_string().contains(words), "{job} {files}");
    }
}

#[test]
fn waiting_for_a_writer_of_a_pipe_is_reported() {
    let place = TestFolder::with("[a]\nquery = select ?\nquery-args-file = pipe\n");
    mkfifo(&place.at("pipe"), Mode::S_IRWXU).unwrap();
    let mut run = place.start(&["run", "w.ini", "--json"]);
    run.wait_for_line("waiting for a writer of the pipe `pipe`");
    std::fs::write(place.at("pipe"), "1\n2\n").unwrap();
    assert_eq!(run.wait_for_end().json()["jobs"][0]["completed"], 2);
}

/// The parts of a mix end together, and the answer names the file that ended the mix.
#[test]
fn a_mix_that_ends_with_the_file_of_a_part_says_so() {
    let file = "duration = 1h\n[both]\nmix = a: 1, b: 1\n[a]\nquery = select ?\n\
                query-args-file = a.csv\n[b]\nquery = select 1\n";
    let of_one_part = file.replace(", b: 1", "").replace("[b]\nquery = select 1\n", "");
    for (file, pacing, whole) in [
        (file, "rate = 100", false),
        (file, "concurrency = 2", false),
        (file, "count = 1", true),
        (&*of_one_part, "rate = 100", false),
    ] {
        let place = TestFolder::with(&file.replace("[a]", &format!("{pacing}\n[a]")));
        place.write("a.csv", "1\n2\n3\n");
        let ran = place.run_virtually("sim:mm1", &[]);
        let complete = check(&ran.json(), "complete").clone();
        let text = "the file `a.csv` of [a] has no more records, which ended the mix [both]";
        let is_said = complete["explain"].to_string().contains(text);
        assert_eq!((&complete["status"], is_said), (&"pass".into(), !whole), "{complete}");
        let events = place.export_json("r.assay")["events"].to_string();
        assert_eq!(events.contains("file-exhausted"), !whole, "{events}");
    }
}

/// The limiter knows from the connections of a job that its file has ended.
#[test]
fn clients_leave_at_the_end_of_their_file() {
    let place = TestFolder::with(
        "duration = 5s\nwarmup = 0s\n[a]\nquery = select ?\nquery-args-file = a.csv\n\
         concurrency = 2\n[b]\nquery = select 1\nrate = 10\n",
    );
    place.write("a.csv", "1\n2\n3\n");
    place.run_virtually("sim:mm1", &[]);
    let export = place.export_json("r.assay");
    let first = export["intervals"].as_array().unwrap().iter().find(|row| row["job"] == "a");
    let first = first.unwrap();
    assert_eq!((&first["scheduled"], &first["connections"]), (&3.into(), &0.into()), "{first}");
}

/// A rejected statement of a script is reported with its line in the script.
#[test]
fn a_rejected_statement_of_a_script_is_named_with_its_line() {
    let script = "select 1;\n\n-- a comment\nselect nothing from nowhere\n";
    let job = "[a]\nquery = select 1\n";
    for (file, words) in [
        ("[a]\nquery-file = q.sql\n".to_owned(), "statement 2 of [a], line 4 of `q.sql`"),
        (format!("[setup]\nquery-file = q.sql\n{job}"), "of [setup], line 4 of `q.sql`"),
    ] {
        let place = TestFolder::with(&file);
        place.write("q.sql", script);
        let ran = place.assay(&["run", "w.ini", "--url", "sqlite:", "--quiet"]).expect(2);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(ran.stderr.contains("query-file = q.sql"), "{}", ran.stderr);
    }
}
