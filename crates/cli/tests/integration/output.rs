//! Tests of the output streams: one answer on stdout, progress on stderr, no file overwritten.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{CommandResult, MM1, TestFolder};

const READ: &str = "duration = 30s\n[read]\nquery = select 1\nrate = 100\n";

const ESCAPE: char = '\u{1b}';

#[test]
fn hyphen_is_refused_as_a_file_name() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 10\n");
    place.run_virtually(MM1, &[]).expect(0);
    for option in ["--html", "--junit"] {
        place.assay(&["report", "r.assay", option, "-"]).refuses(&[option, "not a stream"]);
    }
    place.assay(&["run", "w.ini", "--out", "-"]).refuses(&["--out", "not a stream"]);
    assert!(!place.at("-").exists());
    place.assay(&["check", "-"]).refuses(&["cannot read `-`", "write `/dev/stdin`"]);
    let mut command = place.command(&["check", "/dev/stdin"]);
    let read = CommandResult::of(command.stdin(File::open(place.at("w.ini")).unwrap()));
    assert!(read.expect(0).stdout.contains("[read]"));
}

/// Returns the times of the given kind from the first table of a full answer: column titles with
/// times in milliseconds.
fn times_of<'t>(full: &'t str, kind: &str) -> Vec<(&'t str, f64)> {
    let mut lines = full.lines().skip_while(|line| !line.trim_start().starts_with("count "));
    let titles = lines.next().unwrap().split_whitespace().skip(1);
    let line = lines.find(|line| line.trim_start().starts_with(kind)).unwrap();
    let words: Vec<&str> = line.trim_start()[kind.len()..].split_whitespace().skip(1).collect();
    let ms = |unit: &str| match unit {
        "s" => 1e3,
        "ms" => 1.0,
        "µs" => 1e-3,
        other => panic!("{other}: {line}"),
    };
    let value = |it: &[&str]| it[0].replace(',', "").parse::<f64>().unwrap() * ms(it[1]);
    titles.zip(words.chunks(2).map(value)).collect()
}

#[test]
fn csv_of_a_second_has_the_quantiles_of_the_text() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 20k\n");
    place.run_virtually("sim:mmc?service=1ms&servers=64", &[]);
    let table = place.export("r.assay", "csv");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let (titles, second) = (rows.next().unwrap(), rows.next().unwrap());
    let mut report = place.command(&["report", "r.assay", "--full"]);
    let full = CommandResult::of(report.env("COLUMNS", "100")).stdout;
    for kind in ["response", "service"] {
        let mut compared = 0;
        for (title, ms) in times_of(&full, kind) {
            if title == "mean" || title == "stddev" {
                continue;
            }
            let column = format!("{kind}_{}_ms", title.replace('.', "_"));
            let place = titles.iter().position(|it| *it == column);
            let place = place.unwrap_or_else(|| panic!("there is no column {column}"));
            let exact: f64 = second[place].parse().unwrap();
            assert!((ms / exact - 1.0).abs() < 0.006, "{column}: {exact}, text {ms}");
            compared += 1;
        }
        assert_eq!(compared, 6, "{full}");
    }
}

#[test]
fn figure_or_page_that_exists_is_not_replaced() {
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nrate = 10\n");
    place.run_virtually(MM1, &[]).expect(0);
    place.write("old", "old");
    for (args, option) in
        [(&["--png", "throughput", "--out", "old"][..], "--out"), (&["--html", "old"], "--html")]
    {
        let refused = place.assay(&[&["report", "r.assay"], args].concat());
        let help = format!("name another file with {option}, or move this one away");
        refused.refuses(&["`old` exists, and a file is never overwritten", &help]);
    }
    place.assay(&["report", "r.assay", "--html", "no/x"]).refuses(&["cannot write", "can be wri"]);
    assert_eq!(std::fs::read(place.at("old")).unwrap(), b"old");
}

#[test]
fn a_file_that_exists_is_never_overwritten() {
    let place = TestFolder::with(READ);
    place.write("r.assay", "precious");
    place.run_virtually(MM1, &[]).refuses(&["`", "r.assay` exists", "never overwritten", "--out"]);
    let load = "[load t]\nrows = 1\ncolumns = a: row()\n";
    place.write("l.ini", load);
    place.assay(&["load", "l.ini", "--out", "r.assay"]).refuses(&["r.assay` exists"]);
    place.assay(&["load", "l.ini", "--out", "."]).refuses(&["is not a file: name a record"]);
    assert_eq!(std::fs::read(place.at("r.assay")).unwrap(), b"precious");

    std::fs::remove_file(place.at("r.assay")).unwrap();
    place.run_virtually(MM1, &[]).expect(0);
    place.write("out", "precious");
    let export = ["export", "r.assay", "--format", "csv", "--out", "out"];
    place.assay(&export).refuses(&["the file `out` exists already\n", "another file with --out"]);
    assert_eq!(std::fs::read(place.at("out")).unwrap(), b"precious");
}

#[test]
fn export_to_a_file_equals_that_to_stdout() {
    let place = TestFolder::with(READ);
    place.run_virtually(MM1, &[]).expect(0);
    for format in ["hlog", "csv", "json"] {
        let to = ["export", "r.assay", "--format", format, "--out", format];
        assert_eq!(place.assay(&to).expect(0).stdout, "");
        let written = std::fs::read_to_string(place.at(format)).unwrap();
        assert_eq!(written, place.export("r.assay", format));
    }
}

#[test]
fn unnamed_records_get_unique_names() {
    let place = TestFolder::with(READ);
    let run = ["run", "w.ini", "--virtual", "--url", MM1, "--quiet"];
    for _ in 0..3 {
        place.assay(&run).expect(0);
    }
    let names = place.names();
    let records = names.iter().filter(|name| name.starts_with("run-2") && name.ends_with(".assay"));
    assert_eq!(records.count(), 3, "{names:?}");
}

#[test]
fn closed_stdout_is_not_an_error() {
    let place = TestFolder::with(READ);
    place.run_virtually(MM1, &[]).expect(0);
    for args in [
        &["report", "r.assay"][..],
        &["report", "r.assay", "--json"],
        &["export", "r.assay", "--format", "json"],
        &["export", "r.assay", "--format", "hlog"],
        &["export", "r.assay", "--format", "csv"],
        &["check", "w.ini"],
        &["run", "--help"],
    ] {
        // The reading end is closed before anything is written.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = CommandResult::with_stdout(place.command(args), writer.into()).expect(0);
        assert_eq!(ran.stderr, "", "{args:?}");
    }
    let mut head = place.command(&["export", "r.assay", "--format", "json"]);
    let mut head = head.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(head.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"schema\":"));
    assert_eq!(head.wait().unwrap().code(), Some(0));
}

#[test]
fn closed_stderr_does_not_end_the_run() {
    let place = TestFolder::with(READ);
    let mut command =
        place.command(&["run", "w.ini", "--virtual", "--url", MM1, "--out", "r.assay"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stderr(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("VALID"));
}

#[test]
fn full_text_is_neither_a_document_nor_a_page() {
    let place = TestFolder::new();
    for other in ["--json", "--markdown", "--environment", "--figures"] {
        place.assay(&["report", "r.assay", "--full", other]).refuses(&["--full", other]);
    }
}

#[test]
fn json_output_is_exactly_one_document() {
    let place = TestFolder::with(&format!("{READ}slo = p99 < 1us\n"));
    let ran = place.run_virtually(MM1, &[]).expect(1);
    let mut documents = serde_json::Deserializer::from_str(&ran.stdout).into_iter::<Value>();
    assert!(documents.next().unwrap().unwrap().is_object());
    assert!(documents.next().is_none());
    assert!(ran.stderr.contains("running"), "{}", ran.stderr);
    let quiet = place.assay(&["run", "w.ini", "--virtual", "--url", MM1, "--json", "--quiet"]);
    assert_eq!(quiet.expect(1).stderr, "");
}

#[test]
fn pipes_get_no_escape_sequences() {
    let place = TestFolder::with(READ);
    let bad = "[read]\nrat = 1\n";
    place.write("bad.ini", bad);
    for (args, code) in [
        (&["run", "w.ini", "--virtual", "--url", MM1, "--out", "r.assay"][..], 0),
        (&["report", "r.assay"], 0),
        (&["check", "bad.ini"], 2),
        (&["run", "--help"], 0),
        (&["run", "--nonsense"], 2),
    ] {
        let ran = place.assay(args).expect(code);
        assert!(!ran.stdout.contains(ESCAPE) && !ran.stderr.contains(ESCAPE), "{args:?}");
    }
}

#[test]
fn plain_lines_come_once_a_second_at_most() {
    let place = TestFolder::with(
        "duration = 10s\n[a]\nquery = select 1\nrate = 50\n[b]\nquery = select 2\n",
    );
    let args = ["run", "w.ini", "--url", "sim:mm1", "--out", "r.assay"];
    let mut run = place.start(&args);
    run.wait_for_second(3, "a");
    run.signal(Signal::SIGINT);
    let ran = run.wait_for_end().expect(130);
    let lines = |job: &str| -> Vec<String> {
        let of_job =
            ran.stderr.lines().filter(|line| line.contains(job) && line[2..].starts_with(':'));
        of_job.map(|line| line[..5].to_owned()).collect()
    };
    let (of_a, of_b) = (lines(" a: "), lines(" b: "));
    let mut seconds = of_a.clone();
    seconds.dedup();
    assert_eq!(of_a, seconds, "{}", ran.stderr);
    assert_eq!(of_a, of_b);
    assert!(of_a.len() >= 2, "{}", ran.stderr);
}

#[test]
fn plan_shows_the_extra_statements_of_a_transaction() {
    let job = "[move]\nquery = select 1\nquery = select 2\ncount = 20\n";
    for (transaction, is_said) in [("yes", true), ("no", false)] {
        let place = TestFolder::with(&format!("{job}transaction = {transaction}\n"));
        let ran = place.assay(&["run", "w.ini", "--quiet", "--full"]);
        let words = "begin and commit belong to the service time and are not timed apart: of the";
        assert_eq!(ran.stdout.contains(words), is_said, "{}", ran.stdout);
    }
}
