//! A single run of an experiment as a record of its own.

use std::path::Path;

use archive::{Archive, ExperimentContent, ExperimentWriter, RecordErrorKind, RunRow, export};
use base::{Nanos, WallTime};
use record::{Excerpt, ExcerptKind, InputFile, Load, Reading};
use rusqlite::{Connection, OpenFlags};

use crate::support::{Scenario, TestFolder, dump, record_with};

fn row(run: u32) -> RunRow {
    let verdict = "valid".to_owned();
    RunRow { position: run - 1, verdict, seed: 7, ..RunRow::new(run, "plain") }
}

fn file() -> InputFile {
    InputFile {
        path: "shop.ini".to_owned(),
        bytes: 3,
        sha256: "ba7816bf".to_owned(),
        text: Some("abc".to_owned()),
    }
}

fn excerpt() -> Excerpt {
    Excerpt {
        subject: "accounts".to_owned(),
        kind: ExcerptKind::Rows,
        titles: vec!["id".to_owned(), "owner".to_owned()],
        rows: vec![vec![Some("1".to_owned()), None]],
    }
}

/// Writes a record with loads, observations and settings, and with the files of the experiment.
fn single(path: &Path, setting: &str) {
    record_with(path, Scenario::SHORT, 1, |recorder| {
        let facts = recorder.facts();
        facts.setting("work_mem", setting);
        facts.file(file());
        facts.excerpt(excerpt());
        let (table, started) = ("accounts".to_owned(), WallTime(1_795_292_103_000_000_000));
        facts.load(Load { table, started, length: Nanos::from_secs(2), rows: 9, bytes: 90 });
        let looks = |number| vec![Reading::of("sessions", "looks", "looks", number)];
        facts.load_readings("accounts", Nanos::from_secs(1), looks(10.0));
        for (second, number) in [(3, 10.0), (7_201, 11.0), (7_202, 21.0), (7_203, 22.0)] {
            facts.readings(Nanos::from_secs(second), looks(number));
        }
    });
}

/// Returns the version, the rows and the statements of a record, its seal included.
fn whole(path: &Path) -> (i64, String, Vec<(String, String)>) {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    let version = connection.query_row("pragma user_version", [], |row| row.get(0)).unwrap();
    let sql = "select name, sql from sqlite_schema where sql is not null
        union all select 'seal ' || what || job, total from seal order by 1";
    let mut select = connection.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        let value: rusqlite::types::Value = row.get(1)?;
        Ok((row.get(0)?, format!("{value:?}")))
    };
    let rows = select.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap();
    (version, dump(path), rows)
}

#[test]
fn exported_run_is_the_record_that_was_moved_in() {
    let place = TestFolder::new("single");
    let experiment = place.record().with_file_name("e.assay");
    let mut writer = ExperimentWriter::create(&experiment, &[], &[file()]).unwrap();
    let mut expected = Vec::new();
    for (number, setting) in [(1, "1MB"), (2, "2MB")] {
        let own = place.record().with_file_name("own.assay");
        single(&own, setting);
        expected.push(whole(&own));
        writer.add_run(&row(number), &[], &own).unwrap();
    }
    for (number, expected) in (1..).zip(&expected) {
        let exported = place.record().with_file_name(format!("{number}.assay"));
        export::single_run(&experiment, number, None, &exported).unwrap();
        assert_eq!(whole(&exported), *expected);
        assert_eq!(expected.0, 1, "the version");
        let archive = Archive::open(&exported).unwrap();
        assert_eq!(archive.files().unwrap(), [file()]);
        assert_eq!(archive.excerpts().unwrap(), [excerpt()]);
        assert_eq!(archive.loads().unwrap()[0].load.rows, 9);
        let looks = &archive.series().unwrap()[0];
        assert_eq!((looks.points.len(), looks.ranges[0].most), (3, 10.0));
    }
}

#[test]
fn run_is_not_exported_over_a_file_or_from_a_single_run() {
    let place = TestFolder::new("single-refused");
    let experiment = place.record().with_file_name("e.assay");
    let mut writer = ExperimentWriter::create(&experiment, &[], &[]).unwrap();
    single(&place.record(), "1MB");
    let to = place.record().with_file_name("new.assay");
    let kind = |from: &Path, run, to: &Path| {
        export::single_run(from, run, None, to).unwrap_err().kind().clone()
    };
    assert_eq!(kind(&place.record(), 1, &to), RecordErrorKind::SingleRun);
    assert_eq!(kind(&experiment, 1, &to), RecordErrorKind::NoRun { run: 1, last: 0 });
    assert!(!to.exists());
    let own = place.record().with_file_name("own.assay");
    single(&own, "1MB");
    writer.add_run(&row(1), &[], &own).unwrap();
    let before = std::fs::read(place.record()).unwrap();
    assert_eq!(kind(&experiment, 1, &place.record()), RecordErrorKind::Exists);
    assert_eq!(std::fs::read(place.record()).unwrap(), before);
}

#[test]
fn experiment_of_an_earlier_build_is_continued_and_read_without_excerpts() {
    let place = TestFolder::new("without-excerpts");
    let experiment = place.path("e.assay");
    drop(ExperimentWriter::create(&experiment, &[], &[]).unwrap());
    let older = "drop table excerpt; drop table sample_range";
    Connection::open(&experiment).unwrap().execute_batch(older).unwrap();
    let (mut writer, _) = ExperimentWriter::resume(&experiment).unwrap();
    single(&place.path("own.assay"), "1MB");
    writer.add_run(&row(1), &[], &place.path("own.assay")).unwrap();
    let archive = Archive::open_run(&experiment, 1).unwrap();
    assert_eq!(archive.loads().unwrap().len(), 1);
    assert_eq!(archive.series().unwrap()[0].ranges.len(), 1, "its table was added");
    assert_eq!(archive.excerpts().unwrap(), []);
    assert_eq!(ExperimentContent::read(&experiment).unwrap().excerpts, []);
    export::single_run(&experiment, 1, None, &place.path("one.assay")).unwrap();
    assert_eq!(Archive::open(&place.path("one.assay")).unwrap().excerpts().unwrap(), []);
}
