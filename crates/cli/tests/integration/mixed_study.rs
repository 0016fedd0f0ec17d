//! Tests of the mixed-traffic study: its data has the claimed properties, and it sends the claimed
//! statements.

use serde_json::Value;

use crate::support::{CommandResult, TestFolder, assert_balanced, job, number};
use crate::workloads::documented_commands;

const MIXED: &str = include_str!("../../../../workloads/mixed.ini");
const DBBENCH: &str = include_str!("../../../../workloads/mixed-dbbench.ini");

/// The database. Commits do not wait for the disk, because other tests may keep the disk busy for
/// longer than the next writer waits.
const DATABASE: &str = "sqlite:t.db?synchronous=off";

/// Number of rows that the shortened files load.
const LOADED: i64 = 2_000;

/// Returns the file with these replacements. The teardown is removed, so the table stays.
fn changed(text: &str, words: &[(&str, &str)]) -> String {
    let (mut text, _) = text.split_once("[teardown]").map(|(a, b)| (a.to_owned(), b)).unwrap();
    for (old, new) in words {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replace(old, new);
    }
    text
}

/// Checks the run of a study against its table: every completed insert added a row, and the
/// clean-ups deleted loaded rows. Returns the numbers of inserts and clean-ups.
#[track_caller]
fn judge(place: &TestFolder, ran: &CommandResult, summary: &Value) -> [u64; 2] {
    // On a busy machine the verdict may be INVALID, but the same statements are sent.
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    assert_balanced(summary);
    let completed = |name: &str| {
        let job = job(summary, name);
        assert_eq!(job["completed"], job["scheduled"], "{job}");
        job["completed"].as_u64().unwrap()
    };
    let (inserts, cleanups) = (completed("insert"), completed("cleanup"));
    assert!(completed("analytics") > 0);
    let database = place.at("t.db");
    let last = number(&database, "select max(id) from t");
    assert_eq!(last - LOADED, i64::try_from(inserts).unwrap());
    let left = number(&database, &format!("select count(*) from t where id <= {LOADED}"));
    assert_eq!(left < LOADED, cleanups > 0, "{left} are left after {cleanups} clean-ups");
    [inserts, cleanups]
}

#[test]
fn mixed_study_sends_exactly_its_statements() {
    let place = TestFolder::new();
    place.write("mixed.ini", changed(MIXED, &[]));
    let shorter = ["quarter=1s", "rows=2k", "life=200ms", "pause=10ms"];
    let shorter = shorter.iter().flat_map(|set| ["--set", set]);
    let args = ["run", "mixed.ini", "--url", DATABASE, "--json", "--quiet", "--out", "r.assay"];
    let ran = place.assay(&args.into_iter().chain(shorter).collect::<Vec<_>>());
    assert_eq!(ran.stderr, "");
    let [inserts, cleanups] = judge(&place, &ran, &ran.json());
    assert_eq!(cleanups, 3);
    // 400 are expected from a Poisson process of 100 per second in four seconds. The bounds are ten
    // standard deviations away.
    assert!((200..600).contains(&inserts), "{inserts}");
}

#[test]
fn mixed_study_of_dbbench_sends_exactly_its_statements() {
    let place = TestFolder::new();
    let shorter = [("duration=40s", "duration=3s"), ("rate=0.1\n", "rate=1\n"), ("99999", "1999")];
    place.write("mixed-dbbench.ini", changed(DBBENCH, &shorter));
    let [command] = &documented_commands(DBBENCH)[..] else { panic!("one command") };
    let (name, flags) = command.words.split_first().unwrap();
    let [_, options] = DATABASE.split('?').collect::<Vec<_>>()[..] else { panic!("{DATABASE}") };
    let more = ["--database", "t.db", "--params", options, "--query-stats-file", "each.csv"];
    let flags = flags.iter().map(String::as_str);
    let args: Vec<&str> = [name.as_str()].into_iter().chain(more).chain(flags).collect();
    let ran = place.assay(&args);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let record = place.names().into_iter().find(|name| name.ends_with(".assay")).unwrap();
    let summary = place.assay(&["report", &record, "--json"]).json();
    // Ticks every 10 ms and every second; the first comes one period after the start, and the last
    // before the end.
    assert_eq!(judge(&place, &ran, &summary), [299, 2]);
    let each = std::fs::read_to_string(place.at("each.csv")).unwrap();
    let rows = |job: &str| each.lines().filter(|line| line.starts_with(job)).count();
    assert_eq!((rows("insert,"), rows("cleanup,")), (299, 2));
}

/// Without dbbench mode, the rates are Poisson arrivals, and the first clean-up is due after the
/// end.
#[test]
fn mixed_study_of_dbbench_runs_without_dbbench_mode() {
    let place = TestFolder::new();
    place.write("mixed-dbbench.ini", changed(DBBENCH, &[("99999", "1999")]));
    let args = ["run", "mixed-dbbench.ini", "--duration", "1s", "--url", DATABASE, "--json"];
    let ran = place.assay(&[&args[..], &["--quiet", "--out", "r.assay"]].concat());
    let [inserts, cleanups] = judge(&place, &ran, &ran.json());
    assert_eq!(cleanups, 0);
    assert!((1..200).contains(&inserts), "{inserts}");
}

/// Returns the number of rows of the study that will be older than the retention time in this many
/// seconds.
fn expired(place: &TestFolder, database: &str, seconds: i64) -> i64 {
    let bound = format!("datetime('now', '-3600 seconds', '{seconds} seconds')");
    let sql = format!("select count(*) from t where insert_date < {bound}");
    number(&place.at(database), &sql)
}

#[test]
fn each_clean_up_of_the_mixed_study_deletes_half_of_the_table() {
    let place = TestFolder::new();
    for (name, seconds, text) in [("mixed.ini", 12, MIXED), ("mixed-dbbench.ini", 10, DBBENCH)] {
        place.write(name, text);
        assert_eq!(place.assay(&["check", name]).expect(0).stderr, "");
        let (database, record) = (format!("{name}.db"), format!("{name}.assay"));
        let url = format!("sqlite:{database}");
        place.assay(&["load", name, "--quiet", "--url", &url, "--out", &record]).expect(0);
        let loaded = number(&place.at(&database), "select count(*) from t");
        for quarter in 1..=3 {
            let inserted = 100 * seconds * quarter;
            let gone = match quarter {
                1 => 0,
                _ => expired(&place, &database, seconds * (quarter - 1)),
            };
            let goes = expired(&place, &database, seconds * quarter) - gone;
            let there = loaded + inserted - gone;
            assert!(2 * goes >= there, "{name}: {goes} of {there} in quarter {quarter}");
        }
    }
}
