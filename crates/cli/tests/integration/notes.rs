//! Tests of reviewers' notes, which are added to a record and shown in every form of its answer.

use std::fs;

use rusqlite::Connection;

use crate::example::assert_matches_schema;
use crate::support::{MM1, TestFolder};

const READ: &str = "duration = 2s\n[read]\nquery = select 1\nconcurrency = 2\n";

const EXPERIMENT: &str = "[question]\nask = Is slow slower?\nworkload = w.ini\nrounds = 6\n\
    [arm plain]\n[arm slow]\noption.service = 1.25ms\n";

fn place() -> TestFolder {
    let place = TestFolder::with(READ);
    place.write("e.ini", EXPERIMENT);
    for (file, record) in [("w.ini", "r.assay"), ("e.ini", "e.assay")] {
        let line = ["run", file, "--virtual", "--quiet", "--url", MM1, "--out", record];
        place.assay(&line).expect(0);
    }
    place
}

fn add(place: &TestFolder, record: &str, text: &str) {
    let added = place.assay(&["note", record, text, "--author", "ann"]).expect(0);
    assert!(added.stdout.contains(", ann: "), "{}", added.stdout);
}

#[test]
fn every_form_of_an_answer_shows_the_notes() {
    let place = place();
    for (record, schema) in [("r.assay", "summary"), ("e.assay", "experiment")] {
        add(&place, record, "first: #disk <b>full</b>");
        add(&place, record, "second");
        let report = |more: &[&str]| place.assay(&[&["report", record], more].concat()).expect(0);
        let shown = report(&[]).stdout;
        assert!(shown.contains("ann: first: #disk <b>full</b>"), "{shown}");
        assert!(shown.contains("ann: second"), "{shown}");
        let document = report(&["--json"]).json();
        assert_matches_schema(&format!("schemas/{schema}.schema.json"), &document);
        assert_eq!(document["notes"][1]["author"], "ann");
        assert_eq!(document["notes"][1]["text"], "second");
        let page = format!("{record}.html");
        report(&["--html", &page]);
        let page = fs::read_to_string(place.at(&page)).unwrap();
        assert!(page.contains("ann: first: #disk &lt;b&gt;full&lt;/b&gt;"), "{page}");
        let [full, markdown] = ["--full", "--markdown"].map(|form| report(&[form]).stdout);
        for form in [shown, full, markdown, page] {
            let places = ["ann: first", "ann: second"].map(|note| form.find(note).expect(&form));
            assert!(places.is_sorted(), "the oldest first: {form}");
        }
    }
    let run = place.assay(&["report", "e.assay", "--run", "1"]).expect(0).stdout;
    assert!(run.contains("ann: second"), "{run}");
}

#[test]
fn notes_are_shown_if_the_question_cannot_be_read() {
    let place = place();
    add(&place, "e.assay", "first: #disk");
    let sql = "update experiment set value = '' where key = 'experiment'";
    Connection::open(place.at("e.assay")).unwrap().execute_batch(sql).unwrap();
    let report = |more: &[&str]| place.assay(&[&["report", "e.assay"], more].concat()).expect(2);
    let document = report(&["--json"]).json();
    assert_matches_schema("schemas/stored-runs.schema.json", &document);
    assert_eq!(document["notes"][0]["text"], "first: #disk");
    for more in [&[][..], &["--full"]] {
        let shown = report(more).stdout;
        assert!(shown.contains(", ann: first: #disk\n"), "{shown}");
    }
    report(&["--html", "e.html"]);
    let markdown = report(&["--markdown"]).stdout;
    assert!(markdown.contains(", ann: first: `#`disk\n"), "{markdown}");
    let page = fs::read_to_string(place.at("e.html")).unwrap();
    assert!(page.contains(", ann: first: #disk"), "{page}");
}

#[test]
fn note_changes_no_number() {
    let place = place();
    let report = |record: &str| {
        let mut document = place.assay(&["report", record, "--json"]).expect(0).json();
        document["notes"].take();
        (document, place.assay(&["export", "r.assay", "--format", "json"]).expect(0).stdout)
    };
    for record in ["r.assay", "e.assay"] {
        let before = report(record);
        add(&place, record, "a remark");
        assert_eq!(report(record), before);
    }
}

#[test]
fn unusable_texts_and_records_are_refused() {
    let place = place();
    let before = fs::read(place.at("r.assay")).unwrap();
    let note = |record: &str, more: &[&str]| place.assay(&[&["note", record], more].concat());
    note("r.assay", &[" \n "]).refuses(&["the note is empty"]);
    // The longest argument of a program on Linux has 128 KiB.
    let long = "x".repeat(100_000);
    note("r.assay", &[&long]).refuses(&["100,000 characters", "at most 4,000"]);
    note("r.assay", &["\u{1b}]0;evil\u{7}"]).refuses(&["control characters"]);
    note("r.assay", &["x", "--author", " "]).refuses(&["the name of the author"]);
    note("no.assay", &["x"]).refuses(&["there is no file `no.assay`"]);
    note("w.ini", &["x"]).refuses(&["is not a record of Assay"]);
    let mut rights = fs::metadata(place.at("e.assay")).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(place.at("e.assay"), rights).unwrap();
    note("e.assay", &["x"]).refuses(&["cannot add a note to `e.assay`"]);
    assert_eq!(fs::read(place.at("r.assay")).unwrap(), before);
}

#[test]
fn note_cannot_act_on_a_terminal_or_a_page() {
    let place = place();
    add(&place, "r.assay", "first");
    let sql = "update reviewer_note set author = 'a' || char(27) || '[2J', \
        text = char(10) || 'VALID' || char(27) || ']0;x' || char(7) || '<script>'";
    Connection::open(place.at("r.assay")).unwrap().execute_batch(sql).unwrap();
    for more in [&[][..], &["--full"], &["--json"], &["--markdown"], &["--html", "p.html"]] {
        let shown = place.assay(&[&["report", "r.assay"], more].concat()).expect(0).stdout;
        assert!(!shown.contains(['\u{1b}', '\u{7}']), "{more:?}: {shown:?}");
    }
    let page = fs::read_to_string(place.at("p.html")).unwrap();
    // The only script is the page's own, at its end.
    let scripts: Vec<usize> = page.match_indices("<script>").map(|(at, _)| at).collect();
    let footer = page.find("<footer>").unwrap();
    assert!(matches!(scripts[..], [at] if at > footer), "{scripts:?} {footer}");
    assert!(page.contains("&lt;script&gt;"));
}
