//! Tests of files that are not records, of incomplete records, and of records from another version.

use std::fs;

use crate::support::TestFolder;

/// Checks that `report` and `export` refuse a file with these words.
#[track_caller]
fn refused(place: &TestFolder, file: &str, words: &[&str]) {
    place.assay(&["report", file]).refuses(words);
    place.assay(&["report", file, "--json"]).refuses(words);
    for format in ["hlog", "csv", "json"] {
        let out = ["export", file, "--format", format, "--out", "out"];
        place.assay(&out).refuses(words);
        assert!(!place.at("out").exists(), "{format}");
        place.assay(&["export", file, "--format", format]).refuses(words);
    }
}

/// Creates a folder with a small record, `r.assay`.
fn recorded() -> TestFolder {
    let place = TestFolder::with("duration = 5s\n[read]\nquery = select 1\nrate = 100\n");
    place.run_virtually("sim:mm1", &[]).expect(0);
    place
}

#[test]
fn file_that_is_not_a_record_is_refused_and_its_kind_named() {
    let place = TestFolder::new();
    place.write("empty", "");
    place.write("text.assay", "a text, and nothing but a text\n".repeat(50));
    fs::create_dir(place.at("folder.assay")).unwrap();
    let other = rusqlite::Connection::open(place.at("other.assay")).unwrap();
    other.execute_batch("create table t (a int); insert into t values (1)").unwrap();
    other.close().unwrap();
    refused(&place, "missing.assay", &["error: there is no file `missing.assay`: name a record"]);
    refused(&place, "empty", &["`empty` is not a record of Assay: it is an empty file"]);
    refused(&place, "text.assay", &["`text.assay` is not a record", "a file of another kind"]);
    refused(&place, "folder.assay", &["`folder.assay` is not a file"]);
    refused(&place, "other.assay", &["is not a record", "an SQLite database of another program"]);
    refused(&place, "text.assay/x", &["text.assay/x"]);
}

#[test]
fn a_record_of_a_later_version_is_refused_with_who_wrote_it() {
    let place = recorded();
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    record.pragma_update(None, "user_version", 7).unwrap();
    record.close().unwrap();
    let assay = format!("by Assay {}", env!("CARGO_PKG_VERSION"));
    refused(&place, "r.assay", &["`r.assay` was written", &assay, "version 7", "or a later one"]);
}

#[test]
fn a_record_that_lost_its_end_is_refused() {
    let place = recorded();
    let whole = fs::read(place.at("r.assay")).unwrap();
    for part in [50, 100, 4_096, whole.len() / 2, whole.len() - 1] {
        place.write("part.assay", &whole[..part]);
        refused(&place, "part.assay", &["part.assay"]);
    }
}

#[test]
fn corrupted_record_never_gives_a_different_answer() {
    let place = recorded();
    let whole = fs::read(place.at("r.assay")).unwrap();
    let answer = place.assay(&["report", "r.assay", "--json"]).stdout;
    let mut refusals = 0;
    for at in (100..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at..at + 8.min(whole.len() - at)].fill(0xa5);
        place.write("r.assay", &bytes);
        let ran = place.assay(&["report", "r.assay", "--json"]);
        assert!(!ran.stderr.contains("panicked"), "{at}: {}", ran.stderr);
        match ran.code {
            2 => refusals += 1,
            _ => assert_eq!(ran.stdout, answer, "{at}"),
        }
    }
    assert!(refusals > 0);
}
