//! Records of version 1, created in November 2026 and stored as fixtures: every later program still
//! reports and exports them.
//!
//! Each `NAME.assay.gz` comes with its report as JSON in `NAME.json` and as text in `NAME.txt`.
//! Except for `postgres`, `NAME.csv` has its rows, one per second and job. The
//! form of the JSON never changes, and its numbers change only if a check is corrected. Tables only
//! gain columns at their end. If a change of wording alters the text on purpose, run the test once
//! with `UPDATE=1`, and look at the difference.
//!
//! * `virtual`: two jobs and a timetable in virtual time, with an op-log.
//! * `sqlite`: a private SQLite database with a load, on a busy machine.
//! * `postgres`: a private PostgreSQL with a load, observed, on a busy machine.
//! * `killed`: a run in real time, ended by `kill -9` before its end, with its journal.
//! * `mix`: a mix of two parts beside another job, in virtual time.
//! * `hosts`: a mix of two parts beside another job, on two hosts of PostgreSQL, observed, on a
//!   busy machine.
//!
//! The last two were created three days after the others, and then reduced to the content that the
//! first program wrote. Removed were the tables `account`, `event_error`, `excerpt`, `file` and
//! `sample_range`, their sums in `seal`, `setup-timeout` in the plan, and the settings that the
//! record `postgres` does not have, such as `database.default.…`. The remaining content has the
//! same schema. The parts and hosts of their jobs follow from names alone: `shop/look`,
//! `shop@127.0.0.1:55411`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support::{TestFolder, number};

/// Records of whole and killed runs, each with the exit code of its report.
const READABLE: [(&str, i32); 6] =
    [("virtual", 0), ("sqlite", 3), ("postgres", 3), ("killed", 0), ("mix", 0), ("hosts", 3)];

/// Records whose table is also stored, in `NAME.csv`, with one row per second and job.
const WITH_TABLE: [&str; 5] = ["virtual", "sqlite", "killed", "mix", "hosts"];

/// The name of a damage, and the function that damages the record `virtual` in this way. The file
/// `NAME.stderr` has the message that `assay report` must then print.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 4] = [
    ("truncated", truncate),
    ("overwritten", overwrite),
    ("without-a-row", |record| change(record, "delete from interval where interval = 3")),
    ("with-another-maximum", |record| {
        change(record, "update histogram set max_ns = max_ns + 1 where kind = 'response'");
    }),
];

/// Cuts a record in half.
fn truncate(record: &Path) {
    let bytes = fs::read(record).unwrap();
    fs::write(record, &bytes[..bytes.len() / 2]).unwrap();
}

/// Overwrites the second half of a record.
fn overwrite(record: &Path) {
    let mut bytes = fs::read(record).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(b'x');
    fs::write(record, bytes).unwrap();
}

fn change(record: &Path, statement: &str) {
    rusqlite::Connection::open(record).unwrap().execute(statement, []).unwrap();
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/records-v1").join(name)
}

fn expected(name: &str) -> String {
    fs::read_to_string(fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns a folder with a copy of a record, and of its journal if it has one.
fn copied(name: &str) -> TestFolder {
    let place = TestFolder::new();
    for file in [format!("{name}.assay"), format!("{name}.assay-journal")] {
        if let Ok(packed) = File::open(fixture(&format!("{file}.gz"))) {
            let mut unpacked = File::create(place.at(&file)).unwrap();
            io::copy(&mut GzDecoder::new(packed), &mut unpacked).unwrap();
        }
    }
    place
}

#[test]
fn older_records_give_the_same_documents() {
    for (name, code) in READABLE {
        let record = format!("{name}.assay");
        let ran = copied(name).assay(&["report", &record, "--json"]).expect(code);
        assert_eq!(ran.stdout, expected(&format!("{name}.json")), "{name}");
        assert_eq!(ran.stderr, "", "{name}");
    }
}

/// The names of the jobs show which of them are parts of a mix, and which are jobs at one host.
#[test]
fn older_records_name_the_parts_of_a_mix_and_the_hosts_of_a_job() {
    for (name, hosts) in [("mix", 0), ("hosts", 2)] {
        let place = copied(name);
        let record = format!("{name}.assay");
        let accounts = "select count(*) from sqlite_schema where name = 'account'";
        assert_eq!(number(&place.at(&record), accounts), 0);
        let document = place.assay(&["report", &record, "--json"]).json();
        let nodes = |job: &Value| job["nodes"].as_array().map_or(0, Vec::len);
        let jobs = document["jobs"].as_array().unwrap();
        let second = if name == "mix" { "shop/buy" } else { "shop/note" };
        let other = if name == "mix" { "report" } else { "poll" };
        let names: Vec<&str> = jobs.iter().map(|job| job["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["shop", "shop/look", second, other]);
        assert_eq!([nodes(&jobs[0]), nodes(&jobs[3])], [hosts, hosts], "{document}");
    }
}

#[test]
fn older_records_give_the_same_tables() {
    for name in WITH_TABLE {
        let place = copied(name);
        let table = place.export(&format!("{name}.assay"), "csv");
        let known = expected(&format!("{name}.csv"));
        assert_eq!(table.lines().count(), known.lines().count(), "{name}");
        for (line, known) in table.lines().zip(known.lines()) {
            let rest = line.strip_prefix(known);
            assert!(rest.is_some_and(|rest| rest.starts_with(',')), "{name}: {line}");
        }
    }
}

#[test]
fn older_records_give_the_same_texts() {
    for (name, code) in READABLE {
        let record = format!("{name}.assay");
        let ran = copied(name).assay(&["report", &record, "--full"]).expect(code);
        let text = format!("{name}.txt");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(fixture(&text), &ran.stdout).unwrap();
        }
        assert_eq!(ran.stdout, expected(&text), "{name}: see the head of this file");
    }
}

#[test]
fn damaged_older_records_are_refused_with_the_same_message() {
    for (name, damage) in DAMAGES {
        let place = copied("virtual");
        damage(&place.at("virtual.assay"));
        let ran = place.assay(&["report", "virtual.assay"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}: {}", ran.stderr);
        assert_eq!(ran.stderr, expected(&format!("{name}.stderr")), "{name}");
    }
}
