//! Creating and opening files.

use std::path::Path;

use archive::{Archive, RecordErrorKind, Recorder};
use record::Pace;
use rusqlite::Connection;

use crate::support::{
    READ, Scenario, TestFolder, chain, header, keep_step, ledgers, read_all, record,
};

/// Returns the reason why a record is refused. Opening it and reading it must give the same reason.
fn refused(path: &Path) -> String {
    let reason = chain(&Archive::open(path).err().expect("this is no record"));
    let read = archive::open_and_read(path, None, read_all);
    assert_eq!(chain(&read.err().expect("this is no record")), reason);
    let skipped = archive::open_and_read(path, None, |_| Ok(()));
    assert_eq!(chain(&skipped.err().expect("this is no record")), reason);
    reason
}

fn not_created(path: &Path) -> String {
    chain(&Recorder::create(path, &header(Pace::Real)).err().expect("this is no place"))
}

#[test]
fn a_record_is_never_overwritten() {
    let place = TestFolder::new("exists");
    std::fs::write(place.record(), "precious").unwrap();
    let message = not_created(&place.record());
    assert!(message.contains("exists, and a record is never overwritten"), "{message}");
    assert_eq!(std::fs::read(place.record()).unwrap(), b"precious");
    let message = not_created(place.directory());
    assert!(message.contains("is not a file: name a record"), "{message}");
}

#[test]
fn unwritable_record_place_is_found_before_the_run() {
    let place = TestFolder::new("nowhere");
    let nowhere = place.directory().join("missing/run.assay");
    let message = not_created(&nowhere);
    assert!(message.contains("name a file in a directory that exists"), "{message}");
    assert!(message.ends_with("No such file or directory (os error 2)"), "{message}");
    let message = not_created(Path::new("/proc/run.assay"));
    assert!(message.starts_with("cannot create the record `/proc/run.assay`"), "{message}");
}

#[test]
fn names_special_to_sqlite_are_plain_names() {
    let place = TestFolder::new("odd");
    for name in [":memory:", "file:x?mode=memory", "ü \u{1f600}.assay"] {
        let path = place.directory().join(name);
        record(&path, Scenario { seconds: 1, ..Scenario::SHORT }, 1);
        assert!(std::fs::metadata(&path).unwrap().len() > 10_000);
        assert_eq!(Archive::open(&path).unwrap().header().workload, "shop.ini");
    }
}

#[test]
fn file_of_another_kind_is_identified() {
    let place = TestFolder::new("foreign");
    let path = place.record();
    let message = refused(&path);
    assert!(message.starts_with("there is no file `"), "{message}");
    assert!(message.contains("run.assay`: name a record"), "{message}");
    for odd in [place.directory(), Path::new("/dev/null")] {
        assert!(refused(odd).contains("is not a file: name a record"), "{}", refused(odd));
    }
    for (content, expected) in [
        (&b""[..], "an empty file"),
        (b"duration = 10s", "a file of another kind"),
        (b"SQLite format 3\0 cut", "a file of another kind"),
        (&[0; 4_096], "a file of another kind"),
    ] {
        std::fs::write(&path, content).unwrap();
        let message = refused(&path);
        assert!(
            message.contains(&format!("not a record of Assay: it is {expected}; name a file")),
            "{message}"
        );
    }
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("create table t (a)").unwrap();
    assert!(refused(&path).contains("it is an SQLite database of another program; name a file"));
}

#[test]
fn a_record_of_a_later_version_says_which_program_reads_it() {
    let place = TestFolder::new("newer");
    record(&place.record(), Scenario { seconds: 1, ..Scenario::SHORT }, 1);
    let change = Connection::open(place.record()).unwrap();
    let later = "pragma user_version = 7; update meta set value = '9.9.1' where key = 'assay'";
    change.execute_batch(later).unwrap();
    let message = refused(&place.record());
    assert!(message.contains("was written by Assay 9.9.1 in version 7 of the format"), "{message}");
    assert!(message.ends_with("read it with that Assay or a later one"), "{message}");
    // A later version is refused regardless of its tables.
    change.execute_batch("drop table meta").unwrap();
    assert!(refused(&place.record()).contains("was written in version 7 of the format"));
}

#[test]
fn record_without_series_is_read() {
    let place = TestFolder::new("older");
    crate::support::record_with(&place.record(), Scenario::SHORT, 1, |recorder| {
        recorder.facts().load(record::Load {
            table: "t".to_owned(),
            started: base::WallTime(1),
            length: base::Nanos(2),
            rows: 3,
            bytes: 4,
        });
    });
    let old = "drop table series; drop table sample; drop table load_sample";
    Connection::open(place.record()).unwrap().execute_batch(old).unwrap();
    let archive = Archive::open(&place.record()).unwrap();
    assert_eq!(archive.series().unwrap(), []);
    let loads = archive.loads().unwrap();
    assert_eq!((loads[0].load.rows, loads[0].series.len()), (3, 0));
}

#[test]
fn a_record_with_other_tables_is_not_trusted() {
    let place = TestFolder::new("trap");
    record(&place.record(), Scenario { seconds: 1, ..Scenario::SHORT }, 1);
    let trap = "drop table client; create view client as
        with recursive n (i) as (select 1 union all select i + 1 from n)
        select i as client, i as at_s, 1 as cpu_user_s, 1 as cpu_system_s, 1 as rss_bytes,
            1 as peak_rss_bytes, 1 as threads from n";
    Connection::open(place.record()).unwrap().execute_batch(trap).unwrap();
    let message = refused(&place.record());
    assert!(message.contains("`client` is not that of this version"), "{message}");
}

#[test]
fn record_with_a_missing_row_is_damaged() {
    for (loss, expected) in [
        ("delete from event", "there were 1 rows of event, and there are 0"),
        ("delete from interval where job = 1", "of job 1, and there are 0"),
        ("delete from histogram where interval = 3 and kind = 'wait'", "rows of histogram"),
        ("delete from failure where code = 'timeout' and job = 1", "rows of failure"),
        ("update interval set completed = completed + 1 where interval = 2", "completed of job 0"),
        ("delete from seal", "table `seal`"),
        ("delete from meta where key = 'seed'", "table `meta` has no `seed`"),
        ("update meta set value = 'gone' where key = 'ended'", "table `meta` has no `ended`"),
        ("delete from statement where place = 1", "table `statement`"),
        ("delete from job where job = 0", "table `job`"),
    ] {
        let place = TestFolder::new("lost");
        crate::support::record_with(&place.record(), Scenario::SHORT, 1, |recorder| {
            use record::{Delivery, Event, EventKind, Outlet};
            let (at, kind) = (base::Nanos(5), EventKind::QueueFull);
            let event = Event { at, account: None, kind, error: None, text: String::new() };
            recorder.outlet().deliver(Delivery::Event(event));
        });
        Connection::open(place.record()).unwrap().execute_batch(loss).unwrap();
        let message = refused(&place.record());
        assert!(message.contains("is damaged") && message.contains(expected), "{loss}: {message}");
    }
}

#[test]
fn histogram_that_contradicts_its_row_is_named() {
    let place = TestFolder::new("histogram");
    record(&place.record(), Scenario::SHORT, 1);
    let change = "update histogram set count = count + 1
        where job = 0 and kind = 'response' and interval = 5";
    Connection::open(place.record()).unwrap().execute_batch(change).unwrap();
    let archive = Archive::open(&place.record()).unwrap();
    let message = chain(&read_all(&archive).unwrap_err());
    assert!(message.contains("table `histogram`, job 0, response, interval 5"), "{message}");
    assert!(archive.intervals(READ).is_ok(), "the rest can be read");
}

#[test]
fn a_record_can_be_read_while_it_is_written() {
    let place = TestFolder::new("during");
    let header = header(Pace::Real);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let lanes = ledgers(&header, 1, || recorder.outlet());
    let live = recorder.live();
    Scenario::SHORT.run(lanes, |_, second| {
        keep_step(&recorder, &live, second);
        if second == 9 {
            let archive = Archive::open(&place.record()).unwrap();
            assert!(archive.end().is_none());
            assert!(archive.intervals(READ).unwrap().len() >= 8);
        }
    });
    recorder.finish(crate::support::end()).unwrap();
}

#[test]
fn errors_have_their_classes() {
    let place = TestFolder::new("kind");
    let error = Archive::open(&place.record()).err().unwrap();
    assert_eq!((error.kind(), error.path()), (&RecordErrorKind::NotFound, &*place.record()));
}
