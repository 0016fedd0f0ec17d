//! `assay history` on the command line: changes over a folder of records.

use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::{PermissionsExt, symlink};

use rusqlite::Connection;
use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::support::{CommandResult, TestFolder};

/// A workload of ten thousand requests, whose throughput scatters by 1 % between runs.
const READ: &str = "duration = 11s\nwarmup = 1s\n[read]\nquery = select 1\nconcurrency = 2\n";

const FAST: &str = "sim:mm1?service=1ms";

/// A server that is 5 % slower.
const SLOW: &str = "sim:mm1?service=1.05ms";

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("read.ini", READ);
    fs::create_dir(place.at("nightly")).unwrap();
    place
}

/// Runs a workload file at these URLs, recorded as `nightly/01.assay` and so on.
fn records(place: &TestFolder, file: &str, urls: &[&str], more: &[&str]) {
    for (number, url) in (1..).zip(urls) {
        let (record, seed) = (format!("nightly/{number:02}.assay"), number.to_string());
        let line = ["run", file, "--virtual", "--quiet", "--url", url, "--out", &record];
        place.assay(&[&line[..], &["--seed", &seed], more].concat()).expect(0);
    }
}

/// Records an experiment in `nightly` once for each of these seeds, which are also the names of the
/// records.
fn experiments(place: &TestFolder, file: &str, url: &str, seeds: RangeInclusive<u32>) {
    for seed in seeds {
        let (record, seed) = (format!("nightly/{seed:02}.assay"), seed.to_string());
        let line = ["run", file, "--virtual", "--quiet", "--url", url, "--out", &record];
        place.assay(&[&line[..], &["--seed", &seed]].concat()).expect(0);
    }
}

/// Returns the file of a sweep over numbers of clients.
fn sweep(values: &str) -> String {
    let question = "[question]\nask = ?\nworkload = read.ini\n";
    format!("{question}[sweep]\nvary = concurrency(read): {values}\nrepeats = 2\n")
}

const SEARCH: &str = "duration = 10s\nwarmup = 1s\n[question]\nask = ?\n[capacity]\n\
                      slo = p99(read) < 20ms\nvary = rate(read)\nhighest = 2k\n\
                      [read]\nquery = select 1\n";

/// Returns, for each series, the name of its point and the number of its records.
fn points(document: &Value) -> Vec<(&str, usize)> {
    let of = |series: &Value| series["records"].as_array().unwrap().len();
    let all = document["series"].as_array().unwrap().iter();
    all.map(|series| (series["point"]["value"].as_str().unwrap_or_default(), of(series))).collect()
}

/// Returns the document of the records in `nightly`.
fn document(place: &TestFolder, more: &[&str]) -> Value {
    let ran = place.assay(&[&["history", "nightly", "--json"], more].concat()).expect(0);
    let document = ran.json();
    assert_matches_schema("schemas/history.schema.json", &document);
    document
}

/// Returns the values of these keys for each skipped file.
fn skipped<'d, const N: usize>(document: &'d Value, keys: [&str; N]) -> Vec<[&'d str; N]> {
    let files = document["skipped"].as_array().unwrap();
    files.iter().map(|one| keys.map(|key| one[key].as_str().unwrap())).collect()
}

/// Returns a metric of the first series.
fn metric<'d>(document: &'d Value, name: &str) -> &'d Value {
    let metrics = document["series"][0]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["metric"] == name).unwrap()
}

fn with_step() -> Vec<&'static str> {
    [[FAST; 8], [SLOW; 8]].concat()
}

#[test]
fn step_of_five_percent_is_found_with_its_place_and_size() {
    let place = place();
    records(&place, "read.ini", &with_step(), &["--label", "v1"]);
    let document = document(&place, &[]);
    let throughput = metric(&document, "throughput");
    let [change] = &throughput["changes"].as_array().unwrap()[..] else {
        panic!("{throughput}");
    };
    assert_eq!((&change["before"], &change["after"]), (&7.into(), &8.into()));
    let percent = change["change_percent"].as_f64().unwrap();
    assert!((-6.5..-3.0).contains(&percent), "{change}");
    assert!(change["p_value"].as_f64().unwrap() <= 0.01, "{change}");
    let interval = change["interval_percent"].as_array().unwrap();
    assert!(interval[0].as_f64() < Some(percent) && Some(percent) < interval[1].as_f64());
    assert_eq!(change["machine"], Value::Null, "virtual runs have no canary");
    let differences = change["differences"].as_array().unwrap();
    let fact = &differences[0];
    assert_eq!(
        (&fact["name"], &fact["before"], &fact["after"]),
        (&"target".into(), &FAST.into(), &SLOW.into())
    );
    let record = &document["series"][0]["records"][8];
    assert_eq!((&record["file"], &record["label"]), (&"09.assay".into(), &"v1".into()));
}

/// `compare` refuses such records; a history must name the difference itself.
#[test]
fn changed_durability_is_named_as_a_difference() {
    let place = place();
    records(&place, "read.ini", &with_step(), &[]);
    for number in 1..=16 {
        let record = Connection::open(place.at(&format!("nightly/{number:02}.assay"))).unwrap();
        let fsync = if number <= 8 { "on" } else { "off" };
        record.execute("insert into setting values ('fsync', ?)", [fsync]).unwrap();
        let sealed = "update seal set total = total + 1 where what = 'rows of setting'";
        assert_eq!(record.execute(sealed, []), Ok(1));
    }
    let document = document(&place, &[]);
    let change = &metric(&document, "throughput")["changes"][0];
    let facts = change["differences"].as_array().unwrap();
    let fsync = facts.iter().find(|fact| fact["name"] == "fsync");
    let values = fsync.map(|fact| (&fact["before"], &fact["after"]));
    assert_eq!(values, Some((&"on".into(), &"off".into())), "{change}");
}

#[test]
fn text_of_a_step_fits_a_terminal_and_names_the_records() {
    let place = place();
    records(&place, "read.ini", &with_step(), &["--label", "v1"]);
    let ran = place.assay(&["history", "nightly"]).expect(0);
    for words in [
        "read.ini on sim:mm1: 16 records\n",
        "Change after 08.assay (v1), in 09.assay (v1)\n",
        "differs  target: sim:mm1?service=1ms → sim:mm1?service=1.05ms\n",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let bars = |line: &str| line.chars().filter(|c| ('▁'..='█').contains(c)).count();
    assert!(ran.stdout.lines().any(|line| bars(line) == 16), "{}", ran.stdout);
    let widest = ran.stdout.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{}", ran.stdout);
}

#[test]
fn records_without_a_step_have_no_change() {
    let place = place();
    records(&place, "read.ini", &[FAST; 16], &[]);
    let ran = place.assay(&["history", "nightly"]).expect(0);
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(first, "No change in 16 records of 1 series in nightly");
    let document = document(&place, &["--metric", "response.p95", "--metric", "throughput(read)"]);
    let metrics = document["series"][0]["metrics"].as_array().unwrap();
    let names: Vec<&Value> = metrics.iter().map(|metric| &metric["metric"]).collect();
    assert_eq!(names, ["throughput", "response.p95"]);
    assert!(metrics.iter().all(|metric| metric["changes"] == Value::Array(Vec::new())));
}

#[test]
fn records_of_other_plans_are_series_of_their_own() {
    let place = place();
    records(&place, "read.ini", &with_step(), &[]);
    // These runs have a different duration, and no step. In one series with the other runs, they
    // would hide the step.
    for number in 1..=16 {
        let record = format!("nightly/{number:02}.b.assay");
        let line = ["run", "read.ini", "--virtual", "--quiet", "--url", FAST, "--out", &record];
        let seed = number.to_string();
        place.assay(&[&line[..], &["--duration", "5s", "--seed", &seed]].concat()).expect(0);
    }
    let document = document(&place, &["--metric", "throughput"]);
    let series = document["series"].as_array().unwrap();
    let sizes: Vec<usize> =
        series.iter().map(|one| one["records"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [16, 16]);
    assert_eq!(metric(&document, "throughput")["changes"].as_array().unwrap().len(), 1);
    let words = "duration is 5s, and 11s in the first series of this name";
    assert_eq!(series[1]["difference"], words);
}

#[test]
fn files_that_cannot_be_used_are_named_and_skipped() {
    let place = place();
    records(&place, "read.ini", &[FAST; 4], &[]);
    place.write("nightly/foreign.assay", "a text");
    place.write("nightly/empty.assay", "");
    place.write("nightly/notes.txt", "not named like a record");
    let whole = fs::read(place.at("nightly/01.assay")).unwrap();
    place.write("nightly/cut.assay", &whole[..whole.len() / 2]);
    let later = || {
        let mut bytes = whole.clone();
        // The version of the format: "user_version" in the header of SQLite's file.
        bytes[60..64].copy_from_slice(&9_i32.to_be_bytes());
        bytes
    };
    place.write("nightly/later.assay", later());
    place.write("nightly/killed.assay", &whole);
    let killed = rusqlite::Connection::open(place.at("nightly/killed.assay")).unwrap();
    killed.execute("delete from meta where key like 'ended%'", []).unwrap();
    drop(killed);
    fs::create_dir(place.at("nightly/.hidden")).unwrap();
    place.write("nightly/.hidden/x.assay", "not read");
    fs::create_dir(place.at("nightly/2026")).unwrap();
    fs::rename(place.at("nightly/04.assay"), place.at("nightly/2026/04.assay")).unwrap();
    let document = document(&place, &[]);
    let pairs = skipped(&document, ["file", "reason"]);
    let expected = [
        ["cut.assay", "damaged"],
        ["empty.assay", "not-a-record"],
        ["foreign.assay", "not-a-record"],
        ["killed.assay", "unfinished"],
        ["later.assay", "newer"],
    ];
    assert_eq!(pairs, expected);
    let records = document["series"][0]["records"].as_array().unwrap();
    assert_eq!((records.len(), &records[3]["file"]), (4, &"2026/04.assay".into()));
    let text = place.assay(&["history", "nightly"]).expect(0).stdout;
    let words = "skipped  foreign.assay: not a record: a file of another kind\n";
    assert!(text.contains(words), "{text}");
}

#[test]
fn invalid_records_are_left_out_and_counted() {
    let place = place();
    records(&place, "read.ini", &with_step(), &[]);
    let line = ["run", "read.ini", "--virtual", "--quiet", "--out", "nightly/04.bad.assay"];
    let url = ["--url", "sim:mm1?service=1ms&errors=0.2"];
    place.assay(&[&line[..], &url].concat()).expect(3);
    let document = document(&place, &["--metric", "throughput"]);
    let record = &document["series"][0]["records"][4];
    assert_eq!((&record["file"], &record["verdict"]), (&"04.bad.assay".into(), &"INVALID".into()));
    assert!(record["left_out"].as_array().unwrap().contains(&"errors".into()), "{record}");
    let throughput = metric(&document, "throughput");
    assert_eq!(throughput["points"].as_array().unwrap().len(), 16);
    let text = place.assay(&["history", "nightly"]).expect(0).stdout;
    assert!(text.contains("left out  1 INVALID record: 04.bad.assay\n"), "{text}");
}

#[test]
fn arms_of_experiments_are_series_with_the_label_of_the_experiment() {
    let place = place();
    place.write(
        "slower.ini",
        "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n[arm fast]\n[arm slow]\n\
         option.service = 2ms\n",
    );
    let line = ["run", "slower.ini", "--virtual", "--quiet", "--url", FAST, "--out"];
    place.assay(&[&line[..], &["nightly/e.assay", "--label", "v2"]].concat()).expect(0);
    let document = document(&place, &["--metric", "throughput"]);
    let series = document["series"].as_array().unwrap();
    let arms: Vec<&Value> = series.iter().map(|one| &one["arm"]["name"]).collect();
    assert_eq!(arms, ["fast", "slow"]);
    assert_eq!(series[1]["records"][0]["label"], "v2");
    let report = place.assay(&["report", "nightly/e.assay"]).expect(0).stdout;
    assert!(report.lines().any(|line| line.split_whitespace().eq(["label", "v2"])), "{report}");
    let json = place.assay(&["report", "nightly/e.assay", "--json"]).expect(0).json();
    assert_eq!(json["label"], "v2");
    let markdown = place.assay(&["report", "nightly/e.assay", "--markdown"]).expect(0).stdout;
    assert!(markdown.contains(" Record: `e.assay` Label: `v2`\n"), "{markdown}");
    place.assay(&["report", "nightly/e.assay", "--html", "e.html"]).expect(0);
    let page = fs::read_to_string(place.at("e.html")).unwrap();
    let row = "<bdi>label</bdi></dt><dd class=\"text\"><bdi>v2</bdi></dd>";
    assert!(page.contains(row), "{page}");
}

/// Expects each point to be one series, although the runs of a sweep are in a different order with
/// a different seed.
#[test]
fn points_of_a_sweep_are_series_whatever_the_order_of_its_runs() {
    let place = place();
    place.write("sweep.ini", sweep("1, 2, 4"));
    experiments(&place, "sweep.ini", FAST, 1..=6);
    let document = document(&place, &[]);
    assert_eq!(points(&document), [("1", 6), ("2", 6), ("4", 6)]);
    let first = &document["series"][0];
    assert_eq!(
        (&first["point"]["vary"], &first["difference"]),
        (&"concurrency(read)".into(), &Value::Null)
    );
    let text = place.assay(&["history", "nightly"]).expect(0).stdout;
    assert!(text.starts_with("No change in 6 records of 3 series in nightly\n"), "{text}");
    let lead = "arm workload, concurrency(read) = 4: 6 records\n";
    assert!(text.contains(lead), "{text}");
}

/// Expects no change of the other points. The mean over all points would rise because of the new
/// point.
#[test]
fn new_point_of_a_sweep_is_no_change_of_the_others() {
    let place = place();
    place.write("sweep.ini", sweep("1, 2"));
    experiments(&place, "sweep.ini", FAST, 1..=8);
    place.write("sweep.ini", sweep("1, 2, 16"));
    experiments(&place, "sweep.ini", FAST, 9..=16);
    let document = document(&place, &["--metric", "response.p50", "--metric", "throughput"]);
    assert_eq!(points(&document), [("1", 16), ("2", 16), ("16", 8)]);
    for series in document["series"].as_array().unwrap() {
        for metric in series["metrics"].as_array().unwrap() {
            assert_eq!(metric["changes"], Value::Array(Vec::new()), "{metric}");
        }
    }
}

#[test]
fn capacity_of_searches_is_a_series_of_its_own_results() {
    let place = place();
    place.write("search.ini", SEARCH);
    experiments(&place, "search.ini", FAST, 1..=1);
    experiments(&place, "search.ini", "sim:mm1?service=1.25ms", 2..=2);
    let document = document(&place, &[]);
    let [series] = &document["series"].as_array().unwrap()[..] else { panic!("{document:#}") };
    let metrics = series["metrics"].as_array().unwrap();
    let names: Vec<&Value> = metrics.iter().map(|metric| &metric["metric"]).collect();
    assert_eq!(names, ["sustained", "estimate"], "no mean over trials of other loads");
    for metric in metrics {
        assert_eq!((&metric["job"], &metric["unit"]), (&"read".into(), &"requests/s".into()));
        let points = metric["points"].as_array().unwrap();
        let values: Vec<&Value> = points.iter().map(|point| &point["value"]).collect();
        let reported = ["nightly/01.assay", "nightly/02.assay"].map(|record| {
            let report = place.assay(&["report", record, "--json"]).expect(0).json();
            report["capacity"][metric["metric"].as_str().unwrap()].clone()
        });
        assert_eq!(values, reported.each_ref());
    }
    let text = place.assay(&["history", "nightly", "--metric", "sustained(read)"]).expect(0).stdout;
    assert!(text.contains("\n  sustained(read)  ") && !text.contains("estimate"), "{text}");
}

/// Expects the saturating load to be a metric, and both records of an arm to be in one series
/// although their loads differ. Four servers of 100 requests per second each are saturated by four
/// clients, and eight servers by eight clients.
#[test]
fn saturating_load_is_a_metric_of_one_series() {
    let place = place();
    place.write("read.ini", "duration = 20s\nwarmup = 2s\n[read]\nquery = select 1\n");
    place.write(
        "full.ini",
        "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n[arm a]\n[arm b]\n\
         option.service = 12ms\n[saturate]\nvary = concurrency(read)\nvalues = 1..64 x2\n\
         until = throughput gains < 10%\n",
    );
    experiments(&place, "full.ini", "sim:mmc?service=10ms&servers=4", 1..=1);
    experiments(&place, "full.ini", "sim:mmc?service=10ms&servers=8", 2..=2);
    let document = document(&place, &[]);
    let series = document["series"].as_array().unwrap();
    let arms: Vec<&Value> = series.iter().map(|one| &one["arm"]["name"]).collect();
    assert_eq!((arms, points(&document)), (vec![&"a".into(), &"b".into()], vec![("", 2); 2]));
    let saturated = metric(&document, "saturated");
    assert_eq!((&saturated["job"], &saturated["unit"]), (&"read".into(), &"clients".into()));
    let values: Vec<&Value> =
        saturated["points"].as_array().unwrap().iter().map(|point| &point["value"]).collect();
    assert_eq!(values, [&Value::from(4.0), &Value::from(8.0)]);
    let text = place.assay(&["history", "nightly", "--metric", "saturated(read)"]).expect(0).stdout;
    assert!(text.contains("8 clients") && !text.contains("throughput"), "{text}");
}

/// Expects a failure if the step, which is eight values old, lies within the given number of newest
/// values.
#[test]
fn recent_changes_fail_if_they_are_asked_to() {
    let place = place();
    records(&place, "read.ini", &with_step(), &[]);
    let run = |within: &str, code| {
        let line = ["history", "nightly", "--metric", "throughput", "--json", "--fail-within"];
        let line = [&line[..], &[within]].concat();
        let document = place.assay(&line).expect(code).json();
        assert_matches_schema("schemas/history.schema.json", &document);
        document
    };
    let found = run("8", 1);
    let changes = metric(&found, "throughput")["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["values_since"]), (1, &8.into()));
    assert_eq!((&found["fail_within"], &found["recent_changes"]), (&8.into(), &1.into()));
    let older = run("7", 0);
    assert_eq!(older["recent_changes"], 0);
    assert_eq!(document(&place, &[])["recent_changes"], Value::Null);
    let line = ["history", "nightly", "--metric", "throughput", "--fail-within", "10"];
    let text = place.assay(&line).expect(1).stdout;
    assert!(text.contains("\n1 recent change, within the newest 10 values"), "{text}");
    let words = "--fail-within 3 never fails: a change has 4 values or more after it";
    place.assay(&["history", "nightly", "--fail-within", "3"]).refuses(&[words]);
}

/// Expects runs in virtual time, which have no date, to be in the order of the numbers in their
/// names.
#[test]
fn records_without_a_date_are_in_the_order_of_their_numbers() {
    let place = place();
    for number in [10, 9, 100] {
        let record = format!("nightly/{number}.assay");
        let line = ["run", "read.ini", "--virtual", "--quiet", "--url", FAST, "--out", &record];
        place.assay(&line).expect(0);
    }
    let document = document(&place, &[]);
    let records = document["series"][0]["records"].as_array().unwrap();
    let files: Vec<&Value> = records.iter().map(|record| &record["file"]).collect();
    assert_eq!(files, ["9.assay", "10.assay", "100.assay"]);
}

#[test]
fn folder_that_cannot_be_read_is_named_and_the_others_count() {
    let place = place();
    records(&place, "read.ini", &[FAST], &[]);
    let locked = place.at("nightly/locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = place.command_with_ordinary_rights(&["history", "nightly", "--json"]);
    let document = CommandResult::of(&mut command).expect(0).json();
    let skipped = &document["skipped"][0];
    assert_eq!((&skipped["file"], &skipped["reason"]), (&"locked".into(), &"unreadable".into()));
    let details = skipped["details"].as_str().unwrap();
    assert!(details.starts_with("cannot read the folder: Permission denied"), "{details}");
    assert_eq!(document["series"][0]["records"].as_array().unwrap().len(), 1);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Expects the history to name each link, and each folder that is too deep. Otherwise a folder with
/// nothing but links would seem to be empty.
#[test]
fn links_and_folders_that_are_too_deep_are_named() {
    let place = place();
    records(&place, "read.ini", &[FAST], &[]);
    fs::create_dir(place.at("elsewhere")).unwrap();
    fs::rename(place.at("nightly/01.assay"), place.at("elsewhere/01.assay")).unwrap();
    symlink("../elsewhere/01.assay", place.at("nightly/link.assay")).unwrap();
    symlink("../elsewhere", place.at("nightly/folder")).unwrap();
    symlink("../read.ini", place.at("nightly/notes.txt")).unwrap();
    nix::unistd::mkfifo(&place.at("nightly/pipe.assay"), nix::sys::stat::Mode::S_IRUSR).unwrap();
    fs::create_dir_all(place.at("nightly/2/3/4/5/6/7/8/9")).unwrap();
    let document = document(&place, &[]);
    let shown = skipped(&document, ["file", "reason", "details"]);
    let expected = [
        ["2/3/4/5/6/7/8/9", "unreadable", "more than 8 levels deep"],
        ["folder", "unreadable", "a link, which is not followed"],
        ["link.assay", "unreadable", "a link, which is not followed"],
        ["pipe.assay", "unreadable", "not an ordinary file"],
    ];
    assert_eq!(shown, expected);
    let text = place.assay(&["history", "nightly"]).expect(0).stdout;
    let words = "skipped  link.assay: unreadable: a link, which is not followed\n";
    assert!(text.contains(words), "{text}");
}

/// The record is intact, but claims to have a write-ahead log. SQLite writes files next to such a
/// database, so it cannot read the record in a folder without write permission.
#[test]
fn experiment_that_cannot_be_read_is_not_called_damaged() {
    let place = place();
    place.write("sweep.ini", sweep("1, 2"));
    experiments(&place, "sweep.ini", FAST, 1..=1);
    let mut bytes = fs::read(place.at("nightly/01.assay")).unwrap();
    // The versions for writing and for reading in the header of SQLite's file.
    bytes[18..20].fill(2);
    place.write("nightly/01.assay", bytes);
    let nightly = place.at("nightly");
    fs::set_permissions(&nightly, fs::Permissions::from_mode(0o500)).unwrap();
    let mut command = place.command_with_ordinary_rights(&["history", "nightly", "--json"]);
    let document = CommandResult::of(&mut command).expect(0).json();
    fs::set_permissions(&nightly, fs::Permissions::from_mode(0o700)).unwrap();
    let [reason, details] = skipped(&document, ["reason", "details"])[0];
    assert_eq!(reason, "unreadable", "{details}");
    let has_cause = details.contains("attempt to write a readonly database");
    assert!(details.starts_with("cannot read `nightly/01.assay`: ") && has_cause, "{details}");
}

#[test]
fn search_of_another_version_is_skipped_and_not_called_damaged() {
    let place = place();
    place.write("search.ini", SEARCH);
    experiments(&place, "search.ini", FAST, 1..=1);
    let connection = rusqlite::Connection::open(place.at("nightly/01.assay")).unwrap();
    connection.execute("delete from experiment where key = 'search-method'", []).unwrap();
    drop(connection);
    let document = document(&place, &[]);
    let skipped = &document["skipped"][0];
    let words = "its capacity search was made by another version of Assay";
    assert_eq!((&skipped["reason"], &skipped["details"]), (&"unreadable".into(), &words.into()));
}

/// Expects the first search to count with its stored answer, and the second to be skipped, because
/// its stored answer is damaged.
#[test]
fn searches_of_another_version_count_with_their_stored_answers() {
    let place = place();
    place.write("search.ini", SEARCH);
    experiments(&place, "search.ini", FAST, 1..=2);
    let before = document(&place, &["--metric", "sustained"]);
    let points = metric(&before, "sustained")["points"].as_array().unwrap();
    let change = |record: &str, statement: &str| {
        let connection = rusqlite::Connection::open(place.at(record)).unwrap();
        assert_eq!(connection.execute(statement, []).unwrap(), 1, "{statement}");
    };
    for record in ["nightly/01.assay", "nightly/02.assay"] {
        change(record, "update experiment set value = '3' where key = 'search-method'");
    }
    change("nightly/02.assay", "update experiment set value = '{}' where key = 'search-answer'");
    let document = document(&place, &["--metric", "sustained"]);
    let kept = metric(&document, "sustained")["points"].as_array().unwrap();
    assert_eq!(kept[..], points[..1]);
    let skipped = &document["skipped"][0];
    assert_eq!((&skipped["file"], &skipped["reason"]), (&"02.assay".into(), &"damaged".into()));
}

/// Marks a record of virtual time as one of real time.
fn mark_as_real(place: &TestFolder, record: &str) {
    let connection = rusqlite::Connection::open(place.at(record)).unwrap();
    let marked = connection
        .execute("update meta set value = 'real' where key = 'pace' and value = 'virtual'", [])
        .unwrap();
    assert!(marked > 0, "{record}");
}

/// Expects copies to be named, and to count once. Two copies are in published bundles; the third
/// was made by hand before the original got a note.
#[test]
fn copies_of_a_record_count_once_and_are_named() {
    let place = place();
    records(&place, "read.ini", &[FAST; 3], &[]);
    place.write("sweep.ini", sweep("1, 2"));
    let line = ["run", "sweep.ini", "--virtual", "--quiet", "--url", FAST];
    place.assay(&[&line[..], &["--out", "nightly/e.assay"]].concat()).expect(0);
    for record in ["01", "02", "03", "e"] {
        mark_as_real(&place, &format!("nightly/{record}.assay"));
    }
    for record in ["01", "e"] {
        let (record, out) =
            (format!("nightly/{record}.assay"), format!("nightly/{record}-published"));
        place.assay(&["publish", &record, "--folder", "--out", &out]).expect(0);
    }
    fs::copy(place.at("nightly/02.assay"), place.at("nightly/02-again.assay")).unwrap();
    place.assay(&["note", "nightly/02.assay", "looks good"]).expect(0);
    let document = document(&place, &[]);
    let shown = skipped(&document, ["file", "reason", "details"]);
    let expected = [
        ["01-published/01.assay", "copy", "the same measurement as 01.assay"],
        ["02.assay", "copy", "the same measurement as 02-again.assay"],
        ["e-published/e.assay", "copy", "the same measurement as e.assay"],
    ];
    assert_eq!(shown, expected);
    assert_eq!(points(&document), [("", 3), ("1", 1), ("2", 1)]);
    let text = place.assay(&["history", "nightly"]).expect(0).stdout;
    let words = "skipped  01-published/01.assay: copy: the same measurement as 01.assay\n";
    assert!(text.contains(words), "{text}");
}

/// Copies cannot be excluded: in virtual time, a repetition looks like a copy.
#[test]
fn repetitions_in_virtual_time_count_as_records() {
    let place = place();
    for (number, url) in (1..).zip([[FAST; 6], [SLOW; 6]].concat()) {
        let record = format!("nightly/{number:02}.assay");
        let line = ["run", "read.ini", "--virtual", "--quiet", "--url", url, "--out", &record];
        place.assay(&line).expect(0);
    }
    let document = document(&place, &["--metric", "throughput"]);
    assert_eq!(document["skipped"], Value::Array(Vec::new()));
    assert_eq!(points(&document), [("", 12)]);
}

#[test]
fn label_is_kept_in_the_record_and_shown() {
    let place = place();
    let line = ["run", "read.ini", "--virtual", "--quiet", "--url", FAST, "--out"];
    place.assay(&[&line[..], &["a.assay", "--label", " 3f2a91c "]].concat()).expect(0);
    place.assay(&[&line[..], &["b.assay", "--seed", "2"]].concat()).expect(0);
    let label = |record| {
        let document = place.assay(&["report", record, "--json"]).expect(0).json();
        document["run"]["settings"]["assay.label"].clone()
    };
    assert_eq!((label("a.assay"), label("b.assay")), ("3f2a91c".into(), Value::Null));
    let text = place.assay(&["report", "a.assay"]).expect(0).stdout;
    assert!(text.lines().any(|line| line.split_whitespace().eq(["label", "3f2a91c"])), "{text}");
    let markdown = place.assay(&["report", "a.assay", "--markdown"]).expect(0).stdout;
    assert!(markdown.contains(" Record: `a.assay` Label: `3f2a91c`\n"), "{markdown}");
    let compared = place.assay(&["compare", "a.assay", "b.assay"]).expect(3).stdout;
    assert!(!compared.contains("label"), "a label is no difference: {compared}");
    let refused = place.assay(&[&line[..], &["c.assay", "--label", ""]].concat());
    refused.refuses(&["the label is empty"]);
}

#[test]
fn wrong_folder_and_unknown_metric_are_errors_of_usage() {
    let place = place();
    place.assay(&["history", "nothing"]).refuses(&["there is no folder `nothing`"]);
    place.assay(&["history", "read.ini"]).refuses(&["`read.ini` is a file"]);
    records(&place, "read.ini", &[FAST], &[]);
    let unknown = place.assay(&["history", "nightly", "--metric", "throughput(raed)"]);
    unknown.refuses(&["no record has `throughput(raed)`", "did you mean `throughput(read)`?"]);
    place.assay(&["history", "nightly", "--metric", "trhoughput"]).refuses(&["throughput"]);
    let few = place.assay(&["history", "nightly"]).expect(0).stdout;
    assert!(few.contains("too few  1 value; a change can be found in 12 or more"), "{few}");
}

#[test]
fn folder_without_records_has_an_empty_history() {
    let place = place();
    let ran = place.assay(&["history", "nightly"]).expect(0);
    assert_eq!(ran.stdout, "No change in 0 records of 0 series in nightly\n");
    // Without records, it is unknown which jobs exist. The command must not fail here, because the
    // folder is empty when a CI pipeline runs for the first time.
    for metric in ["throughput", "throughput(raed)"] {
        assert_eq!(document(&place, &["--metric", metric])["series"], Value::Array(Vec::new()));
    }
    place.assay(&["history", "nightly", "--metric", "trhoughput"]).refuses(&["throughput"]);
}
