//! Tests that a damaged record of an experiment is an error, and never an answer.

use std::fs;
use std::path::Path;

use base::{Seed, Stream};

use crate::example::assert_matches_schema;
use crate::support::{CommandResult, TestFolder};

const WORKLOAD: &str =
    "url = sim:mm1?service=1ms\nduration = 1s\n[read]\nquery = select 1\nconcurrency = 2\n";

const QUESTION: &str = "[question]\nask = What?\nworkload = w.ini\nrounds = 6\n[arm fast]\n\
                        [arm slow]\noption.service = 1.2ms\n";

/// Returns a folder with the record of a complete experiment, `r.assay`.
fn place() -> TestFolder {
    let place = TestFolder::with(WORKLOAD);
    place.write("e.ini", QUESTION);
    place.assay(&["run", "e.ini", "--virtual", "--quiet", "--out", "r.assay"]).expect(0);
    place
}

/// The commands that read a record.
const READERS: [&[&str]; 5] = [
    &["report", "d.assay"],
    &["report", "d.assay", "--json"],
    &["report", "d.assay", "--run", "3"],
    &["export", "d.assay", "--run", "3", "--format", "json"],
    &["run", "e.ini", "--virtual", "--resume", "d.assay"],
];

/// Writes a copy of the record, changed by SQL, to `d.assay`.
fn write_changed_record(place: &TestFolder, sql: &str) {
    fs::copy(place.at("r.assay"), place.at("d.assay")).unwrap();
    let record = rusqlite::Connection::open(place.at("d.assay")).unwrap();
    record.execute_batch(sql).unwrap();
}

/// Checks that a record with these changes is refused as damaged, whether complete or not.
#[track_caller]
fn assert_refused_as_damaged(place: &TestFolder, sql: &str, words: &str) {
    for state in ["complete", "running"] {
        write_changed_record(place, sql);
        let record = rusqlite::Connection::open(place.at("d.assay")).unwrap();
        let state = format!("update experiment set value = '{state}' where key = 'state'");
        record.execute_batch(&state).unwrap();
        drop(record);
        for reader in [READERS[0], READERS[1], READERS[4]] {
            let ran = place.assay(reader);
            let is_complete = reader == READERS[4] && ran.stderr.contains("is complete");
            // A continuation may notice the damage only after it has measured a run.
            let codes = if reader == READERS[4] { [2, 3] } else { [2, 2] };
            assert!(codes.contains(&ran.code), "{sql}: {reader:?} {ran:?}");
            assert_eq!(ran.stdout, "", "{sql}: {reader:?} {}", ran.stderr);
            let is_refused = ran.stderr.contains("is damaged") && ran.stderr.contains(words);
            assert!(is_refused || is_complete, "{sql}: {reader:?} {}", ran.stderr);
        }
    }
}

#[test]
fn record_whose_runs_or_looks_contradict_each_other_is_damaged() {
    let place = place();
    for (sql, words) in [
        ("update run set attempt = 4294967295, state = 'repeated' where run = 3", "run 3"),
        ("update run set arm = 'slow' where arm = 'fast'", "another plan"),
        (
            "update run set arm = case arm when 'slow' then 'fast' else 'slow' end \
             where run in (1, 2)",
            "another plan",
        ),
        ("update run set arm = 'slwo' where run = 5", "run 5 is of an unknown arm"),
        (
            "update run set phase = 'saturate' where run = 1",
            "run 1 has the unexpected phase `saturate`",
        ),
        (
            "update run set phase = 'capacity' where run = 1",
            "run 1 has the unexpected phase `capacity`",
        ),
        ("update run set round = 4294967290 where run = 12", "run 12"),
        ("update run set round = 0, position = 0", "run 2 counts in the place of another"),
        ("update run set position = 7 where run = 2", "run 2"),
        ("update run set run = 99 where run = 12", "run 99 follows run 11"),
        ("update run set run = -1 where run = 12", "table"),
        ("update run set state = 'counted' where run = 12", "unknown state `counted`"),
        ("delete from run where run > 4", "its looks do not match its runs"),
        ("update look set pairs = 4000000000", "its looks do not match its runs"),
        ("insert into look values (5, 1)", "its looks do not match its runs"),
        ("update experiment set value = x'00ff' where key = 'experiment'", "experiment"),
    ] {
        assert_refused_as_damaged(&place, sql, words);
    }
    write_changed_record(&place, "delete from look");
    place.assay(READERS[0]).refuses(&["is damaged", "marked as complete without its last look"]);
    // Readers ignore an unknown key of the experiment.
    write_changed_record(&place, "insert into experiment values ('more', 'x')");
    place.assay(READERS[0]).expect(0);
}

#[test]
fn record_whose_question_cannot_be_read_shows_its_runs_and_no_answer() {
    let place = place();
    for (text, reason) in [
        ("", "needs a section `[question]`"),
        ("[question]", "needs a section"),
        ("[question]\nask = x\nworkload = w.ini\n[arm a]", "arms with different names"),
        ("[question]\nask = x\nworkload = w.ini\n[arm a]\n[arm a]", "different names"),
        (
            "[question]\nask = x\nworkload = w.ini\nrounds = 4294967295\n[arm fast]\n[arm slow]",
            "rounds",
        ),
        (
            "[question]\nask = x\nworkload = w.ini\nbet = nothing +1% .. +2%\n[arm fast]\n\
             [arm slow]",
            "nothing",
        ),
    ] {
        write_changed_record(
            &place,
            &format!("update experiment set value = '{text}' where key = 'experiment'"),
        );
        let words = ["the question in the record `d.assay` cannot be read: ", reason, "help: use"];
        let shown = place.assay(READERS[0]).expect(2);
        assert!(words.iter().all(|word| shown.stderr.contains(word)), "{}", shown.stderr);
        let answer = "No answer: the question cannot be read: ";
        assert!(shown.stdout.starts_with(answer), "{}", shown.stdout);
        let runs = shown.stdout.lines().filter(|line| line.contains("VALID")).count();
        assert_eq!(runs, 12, "{}", shown.stdout);
        let document = place.assay(READERS[1]).expect(2).json();
        assert_matches_schema("schemas/stored-runs.schema.json", &document);
        let runs = document["runs"].as_array().unwrap();
        let of = |arm: &str| runs.iter().filter(|run| run["arm"] == arm).count();
        assert_eq!((of("fast"), of("slow")), (6, 6), "{document}");
        let metrics = runs[1]["metrics"].as_array().unwrap();
        let is_known = |metric: &serde_json::Value| {
            metric["metric"] == "throughput" && metric["value"].as_f64() > Some(0.0)
        };
        assert!(metrics.iter().any(is_known), "{metrics:?}");
        place.assay(READERS[2]).expect(0);
        place.assay(READERS[4]).refuses(&[]);
    }
    let args = ["report", "d.assay", "--full", "--html", "d.html"];
    let full = place.assay(&args).expect(2);
    let page = fs::read_to_string(place.at("d.html")).unwrap();
    for words in ["throughput(read)", "the question cannot be read", "assay report d.assay --run N"]
    {
        assert!(full.stdout.contains(words) && page.contains(words), "{words}: {}", full.stdout);
    }
    let markdown = place.assay(&["report", "d.assay", "--markdown"]).expect(2).stdout;
    assert!(markdown.contains("(12 of 12)") || markdown.contains("| 12 |"), "{markdown}");
}

/// Checks that every reader ends with an error or with its output for the intact record.
fn assert_refused_or_intact(place: &TestFolder, what: &str, expected: &[CommandResult]) {
    let bytes = fs::read(place.at("d.assay")).unwrap();
    for (reader, expected) in READERS.iter().zip(expected) {
        // Each reader gets a fresh copy, because a reader may roll back a transaction in it, and a
        // resumed experiment writes to it.
        fs::write(place.at("d.assay"), &bytes).unwrap();
        let ran = place.assay(reader);
        assert!(!ran.stderr.contains("panicked"), "{what}: {reader:?}: {}", ran.stderr);
        let is_error = ran.code == 2 && ran.stdout.is_empty() && ran.stderr.contains("error: ");
        let is_intact = ran.code == expected.code && ran.stdout == expected.stdout;
        assert!(is_error || is_intact, "{what}: {reader:?}: {} {}", ran.stdout, ran.stderr);
    }
}

fn outputs_of_intact_record(place: &TestFolder) -> Vec<CommandResult> {
    fs::copy(place.at("r.assay"), place.at("d.assay")).unwrap();
    READERS.iter().map(|reader| place.assay(reader)).collect()
}

fn length(path: &Path) -> usize {
    usize::try_from(fs::metadata(path).unwrap().len()).unwrap()
}

#[test]
fn record_of_an_experiment_that_is_cut_anywhere_is_refused() {
    let place = place();
    let expected = outputs_of_intact_record(&place);
    let whole = fs::read(place.at("r.assay")).unwrap();
    // Lengths at the boundaries and in the middle of pages of 8 KiB; the fuzz target covers the
    // rest.
    let steps = 12;
    for step in 0..steps {
        let cut = (whole.len() * step / steps) / 4_096 * 4_096 + 4_096 * (step % 2);
        fs::write(place.at("d.assay"), &whole[..cut.min(whole.len() - 1)]).unwrap();
        assert_refused_or_intact(&place, &format!("cut at {cut}"), &expected);
    }
}

#[test]
fn record_of_an_experiment_with_changed_bytes_is_refused_or_read_as_it_is() {
    let place = place();
    let expected = outputs_of_intact_record(&place);
    let whole = fs::read(place.at("r.assay")).unwrap();
    let stream = Stream::new(Seed(22), "damage", "bytes");
    for number in 0..25 {
        let mut bytes = whole.clone();
        let at = stream.draw(2 * number).below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << stream.draw(2 * number + 1).below(8);
        fs::write(place.at("d.assay"), &bytes).unwrap();
        assert_refused_or_intact(&place, &format!("byte {at}"), &expected);
    }
    assert!(length(&place.at("r.assay")) == whole.len());
}
