//! Records with flipped bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use archive::{Archive, RecordError, RecordErrorKind};
use base::{Seed, Stream};
use rusqlite::Connection;

use crate::support::{READ, Scenario, TestFolder, WRITE, chain, read_all, record_with};

/// The number of damaged files to read.
const FILES: u64 = 1_500;

/// One in this many damaged files is also read while another thread checks it.
const BESIDE: u64 = 4;

/// Damage never causes a panic, and a damaged record is never read as a shorter one.
#[test]
fn invariant_7_flipped_bytes_are_an_error_or_do_not_matter() {
    let place = TestFolder::new("flipped");
    let scenario = Scenario { seconds: 6, ..Scenario::SHORT };
    record_with(&place.record(), scenario, 1, |recorder| {
        recorder.facts().setting("server.version", "17");
    });
    flip(&place, FILES);
}

/// The record of a killed run has no seal; SQLite's own checks remain.
#[test]
fn invariant_7_flipped_bytes_in_the_record_of_a_killed_run_cause_no_panic_either() {
    let place = TestFolder::new("flipped-killed");
    record_with(&place.record(), Scenario { seconds: 6, ..Scenario::SHORT }, 1, |_| {});
    let unseal = "delete from seal; delete from meta where key like 'ended%'";
    Connection::open(place.record()).unwrap().execute_batch(unseal).unwrap();
    assert_eq!(Archive::open(&place.record()).unwrap().end(), None);
    flip(&place, FILES / 5);
}

fn flip(place: &TestFolder, files: u64) {
    let whole = std::fs::read(place.record()).unwrap();
    let rows = read_all(&Archive::open(&place.record()).unwrap()).unwrap();
    let file = File::options().write(true).open(place.record()).unwrap();
    let stream = Stream::new(Seed(5), "flip", "bytes");
    let mut read = 0;
    for number in 0..files {
        let mut draw = stream.draw(number);
        let flips: Vec<(usize, u8)> = (0..1 + draw.below(3))
            .map(|_| (draw.below(whole.len() as u64) as usize, draw.below(256) as u8))
            .collect();
        for (at, byte) in &flips {
            file.write_all_at(&[*byte], *at as u64).unwrap();
        }
        let found = Archive::open(&place.record()).and_then(|archive| read_all(&archive));
        if number.is_multiple_of(BESIDE) {
            let beside = archive::open_and_read(&place.record(), None, read_all);
            let beside = beside.map(|(_, found)| found).map_err(|error| chain(&error));
            let expected = found.as_ref().copied().map_err(|error| chain(error));
            assert_eq!(beside, expected, "{flips:?}");
        }
        match found {
            Ok(found) => {
                // A changed error code is another valid code, which may add a row.
                assert!(found >= rows, "{flips:?}: {found} of {rows} rows");
                read += 1;
            }
            Err(error) => assert!(
                matches!(
                    error.kind(),
                    RecordErrorKind::Damaged(_)
                        | RecordErrorKind::NotARecord(_)
                        | RecordErrorKind::Compressed
                        | RecordErrorKind::Newer { .. }
                        | RecordErrorKind::Experiment
                ),
                "{flips:?}: {error}"
            ),
        }
        for (at, _) in &flips {
            file.write_all_at(&whole[*at..=*at], *at as u64).unwrap();
        }
    }
    assert!((files / 10..files * 9 / 10).contains(&read), "{read} were read");
}

/// Pages that refer to each other could be read forever: the error of the check ends the reading.
#[test]
fn reading_ends_when_a_check_fails() {
    let place = TestFolder::new("endless");
    record_with(&place.record(), Scenario { seconds: 6, ..Scenario::SHORT }, 1, |_| {});
    let page: i64 = {
        let select = "select (rootpage - 1) * page_size from sqlite_schema, pragma_page_size
            where name = 'histogram'";
        let connection = Connection::open(place.record()).unwrap();
        connection.query_row(select, [], |row| row.get(0)).unwrap()
    };
    let file = File::options().write(true).open(place.record()).unwrap();
    file.write_all_at(&[0xff; 100], page.cast_unsigned()).unwrap();
    let error = archive::open_and_read(&place.record(), None, |archive| {
        for _ in 0..1_000_000 {
            archive.settings()?;
        }
        panic!("the reading was not ended");
    });
    let error: RecordError = error.map(|(_, ())| ()).unwrap_err();
    let opened = Archive::open(&place.record()).err().unwrap();
    assert_eq!(chain(&error), chain(&opened));
}

/// Readers add up the counts of all outcomes, and those of all accounts. Forged counts with a valid
/// seal must not make such a sum wrap to a small number.
#[test]
fn record_whose_counts_exceed_any_sum_is_damaged() {
    let place = TestFolder::new("forged");
    record_with(&place.record(), Scenario { seconds: 6, ..Scenario::SHORT }, 1, |_| {});
    let largest = i64::MAX - 1;
    let forge = |job: u16, count: i64| {
        let columns = ["completed", "errors", "rejected"];
        let set = columns.map(|column| format!("{column} = iif(interval = 5, {count}, 0)"));
        let sealed = columns.map(|column| format!("'{column}'")).join(", ");
        let connection = Connection::open(place.record()).unwrap();
        let forged = format!(
            "update interval set {} where job = {job};
            update seal set total = {count} where job = {job} and what in ({sealed});",
            set.join(", ")
        );
        connection.execute_batch(&forged).unwrap();
    };
    let read = || {
        let archive = Archive::open(&place.record()).unwrap();
        [READ, WRITE].map(|account| {
            let found = archive.intervals(account).map(|rows| rows.len());
            found.map_err(|error| chain(&error))
        })
    };
    for ([reads, writes], is_damaged) in [
        ([1, 1], [false, false]),
        ([largest, 1], [true, false]),
        ([largest / 4, largest / 4], [false, true]),
    ] {
        forge(0, reads);
        forge(1, writes);
        let found = read();
        assert_eq!(found.clone().map(|found| found.is_err()), is_damaged, "{found:?}");
        let errors = found.into_iter().filter_map(Result::err);
        errors.for_each(|error| assert!(error.contains("the sum of all counts"), "{error}"));
    }
}

#[test]
fn a_record_that_is_cut_short_is_damaged() {
    let place = TestFolder::new("cut");
    record_with(&place.record(), Scenario { seconds: 6, ..Scenario::SHORT }, 1, |_| {});
    let length = std::fs::metadata(place.record()).unwrap().len();
    let file = File::options().write(true).open(place.record()).unwrap();
    for part in (0..16).rev() {
        file.set_len(length * part / 16 + 99).unwrap();
        let found = Archive::open(&place.record()).and_then(|archive| read_all(&archive));
        let error = found.unwrap_err();
        assert!(
            matches!(error.kind(), RecordErrorKind::Damaged(_) | RecordErrorKind::NotARecord(_)),
            "{part}: {error}"
        );
    }
}
