//! Exports in open formats, compared with the record as other programs would read them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use archive::RecordErrorKind;
use archive::export::{self, write_hlog};
use archive::{Archive, IntervalCounts, RecordError};
use base::{Class, Nanos};
use record::{EndKind, EventKind, Kind, Pace};
use serde_json::{Value, json as value};

use crate::schema::{
    check_that_every_field_matters, check_that_faults_are_noticed, complaints, schema, text_of,
};
use crate::support::{DIRECTORY, TestFolder};
use crate::table_record::{NAMES, record};

const SCHEMA: &str = "export.schema.json";

/// A function that exports a record in one format.
type Export = fn(&Archive, &mut Vec<u8>) -> Result<(), RecordError>;

/// Formats by name.
const FORMATS: [(&str, Export); 2] = [("csv", csv), ("json", export::json)];

fn written(export: Export, archive: &Archive) -> String {
    let mut out = Vec::new();
    export(archive, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns a record in virtual time, and its export as a JSON document.
fn virtual_document(place: &TestFolder) -> (Archive, Value) {
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    let document = serde_json::from_str(&written(export::json, &archive)).unwrap();
    (archive, document)
}

/// Returns a document in which no array is empty: in real time there are samples of the generator.
fn full(place: &TestFolder) -> Value {
    let archive = record(&place.path("real.assay"), Pace::Real);
    serde_json::from_str(&written(export::json, &archive)).unwrap()
}

/// Parses comma-separated values strictly: RFC 4180, section 2, rules 1 to 7, with a line break
/// after the last record too.
fn parse_csv(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut record = Vec::new();
        loop {
            let (cell, after) = parse_cell(rest)?;
            record.push(cell);
            match (after.strip_prefix(','), after.strip_prefix("\r\n")) {
                (Some(next), _) => rest = next,
                (None, Some(next)) => {
                    rest = next;
                    break;
                }
                (None, None) => return Err(format!("neither comma nor line break: {after:.20}")),
            }
        }
        records.push(record);
    }
    let columns = records.first().map_or(0, Vec::len);
    match records.iter().position(|record| record.len() != columns) {
        None => Ok(records),
        Some(line) => Err(format!("record {line} has not {columns} fields")),
    }
}

/// Parses a field, and returns it with the rest of the text.
fn parse_cell(text: &str) -> Result<(String, &str), String> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\r', '\n', '"']).unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut cell = String::new();
    loop {
        let (part, after) = rest.split_once('"').ok_or("a quote is not closed")?;
        cell.push_str(part);
        let Some(escaped) = after.strip_prefix('"') else { return Ok((cell, after)) };
        cell.push('"');
        rest = escaped;
    }
}

#[test]
fn the_reader_of_tables_is_strict() {
    let cells = parse_csv("a,\"b \"\"c\"\",\r\n\"\r\n,\r\n").unwrap();
    assert_eq!(cells, [["a", "b \"c\",\r\n"], ["", ""]].map(|row| row.map(str::to_owned)));
    for wrong in ["a,b", "a\nb\r\n", "a\"b\r\n", "\"a\r\n", "a,b\r\na\r\n", "\"a\"b\r\n"] {
        assert!(parse_csv(wrong).is_err(), "{wrong}");
    }
}

/// Returns a column of a table, with the job of each row.
fn column<'a>(table: &'a [Vec<String>], name: &str) -> Vec<(&'a str, &'a str)> {
    let place = table[0].iter().position(|title| title == name).unwrap_or_else(|| {
        panic!("there is no column {name}");
    });
    table[1..].iter().map(|row| (row[0].as_str(), row[place].as_str())).collect()
}

/// Returns the sum of a column over the rows of each job.
fn sums<'a>(cells: impl IntoIterator<Item = (&'a str, u64)>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (job, number) in cells {
        *sums.entry(job.trim_start_matches('\'').to_owned()).or_insert(0) += number;
    }
    sums
}

/// A function that reads a column's value from a row of the record.
type Scalar = fn(&IntervalCounts) -> u64;

/// Columns that count something.
const SCALARS: [(&str, Scalar); 17] = [
    ("scheduled", |row| row.counts.arrivals),
    ("completed", |row| row.counts.balance.completed()),
    ("errors", |row| row.counts.balance.errors()),
    ("rejected", |row| row.counts.balance.rejected()),
    ("unsent", |row| row.counts.balance.unsent()),
    ("open", |row| row.counts.open()),
    ("timeouts", |row| row.counts.timeouts),
    ("accepted_errors", |row| row.counts.accepted_errors),
    ("retries", |row| row.counts.retries),
    ("busy_waits", |row| row.counts.busy_waits),
    ("rows", |row| row.counts.rows),
    ("bytes_sent", |row| row.counts.bytes_sent),
    ("bytes_received", |row| row.counts.bytes_received),
    ("overflows", |row| row.counts.overflows),
    ("ended_completed", |row| row.ends.completed),
    ("ended_errors", |row| row.ends.errors),
    ("ended_rows", |row| row.ends.rows),
];

/// Returns the sum of a scalar over the rows of each job of a record.
fn recorded_sums(archive: &Archive, scalar: Scalar) -> BTreeMap<String, u64> {
    let jobs = archive.accounts().zip(NAMES);
    let rows = jobs.flat_map(|(job, name)| {
        let rows = archive.intervals(job).unwrap();
        rows.into_iter().map(move |row| (name, scalar(&row)))
    });
    sums(rows)
}

#[test]
fn a_table_is_read_by_any_reader_and_adds_up_to_the_record() {
    let place = TestFolder::new("export");
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    let table = parse_csv(&written(csv, &archive)).unwrap();
    for (name, scalar) in SCALARS {
        let cells = column(&table, name).into_iter();
        let found = sums(cells.map(|(job, cell)| (job, cell.parse().unwrap())));
        assert_eq!(found, recorded_sums(&archive, scalar), "{name}");
    }
    let completed = recorded_sums(&archive, |row| row.counts.balance.completed());
    assert_eq!(completed[NAMES[0]], 180);
    let times = column(&table, "response_count").into_iter();
    let times = sums(times.map(|(job, cell)| (job, cell.parse().unwrap_or(0))));
    for (job, name) in archive.accounts().zip(NAMES) {
        let histogram = archive.histogram(job, Kind::Response, 0..u32::MAX).unwrap();
        assert_eq!(times[name], histogram.len(), "{name}");
    }
}

#[test]
fn table_has_the_quantiles_of_the_answer() {
    let place = TestFolder::new("export");
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    let table = parse_csv(&written(csv, &archive)).unwrap();
    let first = archive.accounts().next().unwrap();
    let mut compared = 0;
    for (kind, name) in [(Kind::Response, "response"), (Kind::Service, "service")] {
        for (quantile, fraction) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)] {
            let cells = column(&table, &format!("{name}_{quantile}_ms"));
            let of_job = cells.into_iter().filter(|(job, _)| *job == NAMES[0]).zip(0..);
            for ((_, cell), interval) in of_job.filter(|((_, cell), _)| !cell.is_empty()) {
                let times = archive.histogram(first, kind, interval..interval + 1).unwrap();
                let ns = (cell.parse::<f64>().unwrap() * 1e6).round() as u64;
                assert_eq!(ns, times.value_at_quantile(fraction), "{name} {quantile}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 24, "{compared}");
}

#[test]
fn csv_marks_the_rows_of_the_window() {
    let place = TestFolder::new("export");
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    let table = parse_csv(&written(csv, &archive)).unwrap();
    let starts = column(&table, "start_s").into_iter().zip(column(&table, "in_window"));
    let rows: Vec<(&str, &str)> = starts
        .filter(|((job, _), _)| *job == NAMES[0])
        .map(|((_, start), (_, is_in))| (start, is_in))
        .collect();
    let expected = [("0", "no"), ("0.5", "no"), ("1.5", "yes"), ("2.5", "yes"), ("3.5", "yes")];
    assert_eq!(rows[..5], expected);
    let expected = [("4.5", "yes"), ("5.5", "yes"), ("6.5", "no")];
    assert_eq!(rows[5..], expected, "what comes after the end is drained");
}

#[test]
fn cell_that_looks_like_a_formula_is_escaped() {
    let place = TestFolder::new("export");
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    let table = parse_csv(&written(csv, &archive)).unwrap();
    let jobs: Vec<&str> = table[1..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!((jobs[0], jobs[jobs.len() - 1]), (NAMES[0], "'=größe"));
}

#[test]
fn a_document_keeps_to_the_schema() {
    let place = TestFolder::new("export");
    let schema = schema(SCHEMA);
    assert_eq!(complaints(&schema, &virtual_document(&place).1), [""; 0]);
    let full = full(&place);
    let tables = ["jobs", "loads", "events", "client", "intervals", "failures", "histograms"];
    for table in tables {
        assert_ne!(full[table], value!([]), "{table}");
    }
    check_that_every_field_matters(&schema, &full, "/settings");
}

#[test]
fn schema_checks_words_formats_and_bounds() {
    let other = || value!("other");
    let faults = [
        ("/schema", value!("assay.export/2")),
        ("/run/pace", other()),
        ("/run/ended", other()),
        ("/run/ended", Value::Null),
        ("/run/ended_at_s", Value::Null),
        ("/run/started", other()),
        ("/run/time_zero", other()),
        ("/run/seed", other()),
        ("/settings/journal_mode", value!(1)),
        ("/jobs/0/model", other()),
        ("/jobs/0/arrival", other()),
        ("/jobs/0/statements/0", value!(1)),
        ("/loads/0/started", other()),
        ("/events/0/kind", other()),
        ("/failures/0/class", other()),
        ("/failures/0/count", value!(0)),
        ("/intervals/0/completed", value!(-1)),
        ("/intervals/0/completed", value!(0.5)),
        ("/histograms/0/kind", value!("statement-0")),
        ("/histograms/0/buckets", value!([])),
        ("/histograms/0/buckets/0", value!([1])),
        ("/histograms/0/buckets/0", value!([1, 1, 1])),
        ("/histograms/0/buckets/0", value!([1, 0])),
    ];
    check_that_faults_are_noticed(&schema(SCHEMA), &full(&TestFolder::new("export")), &faults);
}

#[test]
fn schema_lists_the_names_of_the_record() {
    let schema = text_of(SCHEMA);
    let words = |place: &str| schema.pointer(place).unwrap()["enum"].clone();
    assert_eq!(words("/$defs/run/properties/pace"), value!(Pace::ALL.map(Pace::name)));
    let endings = EndKind::ALL.into_iter().map(|kind| Some(kind.name())).chain([None]);
    assert_eq!(words("/$defs/run/properties/ended"), value!(endings.collect::<Vec<_>>()));
    assert_eq!(words("/$defs/event/properties/kind"), value!(EventKind::ALL.map(EventKind::name)));
    assert_eq!(words("/$defs/failure/properties/class"), value!(Class::ALL.map(Class::name)));
}

#[test]
fn a_document_adds_up_to_the_record() {
    let place = TestFolder::new("export");
    let (archive, document) = virtual_document(&place);
    let rows = |table: &str| document[table].as_array().unwrap().iter();
    let of_job = |row: &'_ Value| row["job"].as_str().unwrap().to_owned();
    for (name, scalar) in SCALARS {
        let cells: Vec<(String, u64)> =
            rows("intervals").map(|row| (of_job(row), row[name].as_u64().unwrap())).collect();
        let found = sums(cells.iter().map(|(job, number)| (job.as_str(), *number)));
        assert_eq!(found, recorded_sums(&archive, scalar), "{name}");
    }
    for (job, name) in archive.accounts().zip(NAMES) {
        for kind in archive.kinds(job) {
            let histogram = archive.histogram(job, kind, 0..u32::MAX).unwrap();
            let of_kind = |row: &&Value| of_job(row) == name && row["kind"] == kind.name();
            let counts = rows("histograms").filter(of_kind).map(|row| {
                let buckets = row["buckets"].as_array().unwrap().iter();
                let count: u64 = buckets.map(|bucket| bucket[1].as_u64().unwrap()).sum();
                assert_eq!(row["count"], count);
                count
            });
            assert_eq!(counts.sum::<u64>(), histogram.len(), "{name} {}", kind.name());
        }
        let failures = archive.failures(job, 0..u32::MAX).unwrap();
        let found = rows("failures").filter(|row| of_job(row) == name);
        let found: u64 = found.map(|row| row["count"].as_u64().unwrap()).sum();
        assert_eq!(found, failures.iter().map(|failure| failure.count).sum::<u64>(), "{name}");
    }
    let errors = recorded_sums(&archive, |row| row.counts.balance.errors());
    assert_eq!((errors[NAMES[0]], errors[NAMES[1]]), (0, 26));
}

#[test]
fn exported_bucket_is_its_upper_edge() {
    let place = TestFolder::new("export");
    let (archive, document) = virtual_document(&place);
    let rows = document["histograms"].as_array().unwrap().iter();
    let largest = rows
        .filter(|row| row["kind"] == "response" && row["job"] == NAMES[0])
        .flat_map(|row| row["buckets"].as_array().unwrap())
        .map(|bucket| bucket[0].as_u64().unwrap())
        .max();
    let read = archive.accounts().next().unwrap();
    let histogram = archive.histogram(read, Kind::Response, 0..u32::MAX).unwrap();
    assert_eq!(largest, Some(histogram.max()));
    assert!(largest > Some(Nanos::from_secs(3).0), "the slow request took three seconds");
}

#[test]
fn export_does_not_depend_on_the_path_of_the_record() {
    for (format, export) in FORMATS {
        let place = TestFolder::new("export");
        let path = place.path("run.assay");
        let archive = record(&path, Pace::Virtual);
        let first = written(export, &archive);
        assert_eq!(written(export, &archive), first, "{format}");
        let copy = place.path("copy.assay");
        std::fs::copy(&path, &copy).unwrap();
        assert_eq!(written(export, &Archive::open(&copy).unwrap()), first, "{format}");
        let again = record(&place.path("again.assay"), Pace::Virtual);
        assert_eq!(written(export, &again), first, "{format}");
        for secret in [DIRECTORY, "run.assay", "hunter2"] {
            assert!(!first.contains(secret), "{secret} is in the {format}");
        }
    }
}

/// A writer that takes a limited number of bytes.
struct FullDisk {
    room: usize,
    flushes: bool,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.room.min(bytes.len()) {
            0 if !bytes.is_empty() => Err(io::ErrorKind::StorageFull.into()),
            taken => {
                self.room -= taken;
                Ok(taken)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.flushes { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}

#[test]
fn full_disk_at_any_byte_is_an_output_error() {
    let place = TestFolder::new("export");
    let archive = record(&place.path("run.assay"), Pace::Virtual);
    type Exporter = fn(&Archive, &mut FullDisk) -> Result<(), RecordError>;
    let formats: [(Exporter, usize); 3] = [
        (csv, written(csv, &archive).len()),
        (export::json, written(export::json, &archive).len()),
        (write_hlog, written(write_hlog, &archive).len()),
    ];
    for (export, length) in formats {
        let mut enough = FullDisk { room: length, flushes: true };
        export(&archive, &mut enough).unwrap();
        assert_eq!(enough.room, 0);
        for room in (0..length).step_by(length / 50).chain([length - 1]) {
            let error = export(&archive, &mut FullDisk { room, flushes: true }).unwrap_err();
            assert_eq!(*error.kind(), RecordErrorKind::Output, "{room} of {length} bytes");
        }
        let error = export(&archive, &mut FullDisk { room: length, flushes: false }).unwrap_err();
        assert_eq!(*error.kind(), RecordErrorKind::Output, "the last bytes stay in a buffer");
    }
}

/// Exports the table of a run whose warm-up was given.
fn csv(archive: &Archive, out: &mut impl std::io::Write) -> Result<(), RecordError> {
    export::csv(archive, archive.grid().warmup(), out)
}
