//! Tests that equal seeds give equal results: the same bytes in virtual time, on any display and in
//! any folder.

use serde_json::Value;

use crate::support::{CommandResult, Running, TestFolder};

/// A workload with every kind of event: queues, errors, retries, timeouts, rejections.
const LIVELY: &str = "\
duration = 20s
warmup = 2s
[read]
query = select ${zipf(1, 1000)}, ${text(3, 9)}, ${timestamp(-1h)}
rate = 300
timeout = 20ms
[queue]
query = select 2
rate = 150
concurrency = 1
queue-limit = 5
retry = 2 on 40001
[closed]
query = select 3
concurrency = 3
think = exp(5ms)
[clock]
query = select 4
every = 500ms
";

const SERVER: &str = "sim:mmc?service=3ms&servers=4&errors=0.01&disconnects=0.001&outage=9s..10s";

const FORMATS: [&str; 3] = ["hlog", "csv", "json"];

/// Checks that a run ended with an answer. The run has too many errors to be valid.
#[track_caller]
fn answered(ran: CommandResult) {
    ran.expect(3);
}

fn run(place: &TestFolder, record: &str, more: &[&str]) {
    let mut args = vec!["run", "w.ini", "--virtual", "--url", SERVER, "--out", record];
    args.extend(more);
    answered(place.assay(&args));
}

fn exports(place: &TestFolder, record: &str) -> Vec<String> {
    FORMATS.iter().map(|format| place.export(record, format)).collect()
}

#[test]
fn invariant_4_two_runs_with_one_seed_export_the_same_bytes_in_any_folder() {
    let (here, there) = (TestFolder::with(LIVELY), TestFolder::with(LIVELY));
    run(&here, "r.assay", &[]);
    // Another folder, another name, an absolute path of the file, and a later time.
    let file = there.at("w.ini");
    let there_too = TestFolder::new();
    let args = ["run", file.to_str().unwrap(), "--virtual", "--url", SERVER, "--out"];
    let record = there_too.at("another-name.assay");
    answered(there_too.assay(&[&args[..], &[record.to_str().unwrap()]].concat()));
    let [ours, theirs] = [exports(&here, "r.assay"), exports(&there_too, "another-name.assay")];
    for ((format, ours), theirs) in FORMATS.iter().zip(&ours).zip(&theirs) {
        assert!(ours.len() > 1_000, "{format} holds something");
        assert!(ours == theirs, "{format}: {}", first_difference(ours, theirs));
    }
}

fn first_difference(ours: &str, theirs: &str) -> String {
    let pair = ours.lines().zip(theirs.lines()).find(|(ours, theirs)| ours != theirs);
    format!("{:.300}\n{:.300}", pair.unwrap_or_default().0, pair.unwrap_or_default().1)
}

#[test]
fn another_seed_is_another_run() {
    let place = TestFolder::with(LIVELY);
    run(&place, "42.assay", &["--seed", "42"]);
    run(&place, "43.assay", &["--seed", "43"]);
    let ours = intended(&place, "42.assay", &["read", "queue"]);
    assert_ne!(ours, intended(&place, "43.assay", &["read", "queue"]));
    // A timetable is not random.
    let clock = intended(&place, "42.assay", &["clock"]);
    assert_eq!(clock, intended(&place, "43.assay", &["clock"]));
}

#[test]
fn more_threads_keep_the_schedule() {
    let place = TestFolder::with(LIVELY);
    run(&place, "1.assay", &[]);
    run(&place, "3.assay", &["--threads", "3"]);
    let jobs = ["read", "queue", "clock"];
    let ours = intended(&place, "1.assay", &jobs);
    assert!(ours.len() >= 3 * 20, "{}", ours.len());
    assert_eq!(ours, intended(&place, "3.assay", &jobs));
}

/// Returns the number of intended starts of each job in each second.
fn intended(place: &TestFolder, record: &str, jobs: &[&str]) -> Vec<(String, String, u64)> {
    let export = place.export_json(record);
    let rows = export["intervals"].as_array().unwrap();
    let of_jobs = rows.iter().filter(|row| jobs.contains(&row["job"].as_str().unwrap()));
    let key = |row: &Value| {
        let job = row["job"].as_str().unwrap().to_owned();
        (job, row["start_s"].to_string(), row["scheduled"].as_u64().unwrap())
    };
    of_jobs.map(key).collect()
}

#[test]
fn invariant_5_display_does_not_change_the_record() {
    let place = TestFolder::with(LIVELY);
    run(&place, "plain.assay", &[]);
    let plain = exports(&place, "plain.assay");
    for (name, option) in [("quiet.assay", "--quiet"), ("json.assay", "--json")] {
        run(&place, name, &[option]);
        assert!(exports(&place, name) == plain, "{option}");
    }
    let terminal = ["run", "w.ini", "--virtual", "--url", SERVER, "--out", "terminal.assay"];
    let shown = crate::terminal::on_a_terminal(&mut place.command(&terminal));
    answered(shown.ran);
    assert!(exports(&place, "terminal.assay") == plain, "a terminal");
    // Progress is read from a pipe while it is written.
    let mut args = terminal.to_vec();
    args[6] = "piped.assay";
    let mut piped = Running::of(&mut place.command(&args));
    piped.wait_for_line("running");
    answered(piped.wait_for_end());
    assert!(exports(&place, "piped.assay") == plain, "a pipe");
}
