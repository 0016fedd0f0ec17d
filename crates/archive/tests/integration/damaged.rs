//! Records with flipped bytes.

use std::fs::File;
use std::os::unix::fs::FileExt;

use archive::{Archive, RecordError, RecordErrorKind};
use base::{Seed, Stream};
use rusqlite::Connection;

use crate::support::{Scenario, TestFolder, chain, read_all, record_with};

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
        recorder.notes().setting("server.version", "17");
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
                // A flip in the text of an error code gives another valid code.
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
