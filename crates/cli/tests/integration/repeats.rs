//! Tests of `assay repeat`, which runs the experiment or the run of a record again.

use std::fmt::Write as _;
use std::fs;

use nix::sys::signal::Signal;
use rusqlite::Connection;

use crate::example::assert_matches_schema;
use crate::support::{TestFolder, number};

/// Runs an experiment in virtual time, and removes its files, because the record contains them.
fn experiment(url: &str, arm: &str, more: &str) -> TestFolder {
    let place = TestFolder::new();
    let workload = "duration = 10s\n[read]\nquery = select 1\nconcurrency = 4\n";
    place.write("read.ini", format!("url = {url}\n{workload}"));
    let question = "[question]\nask = What does a slower disk cost?\nworkload = read.ini\n\
                    rounds = 8\n";
    place.write("slower.ini", format!("{question}{more}\n[arm fast]\n[arm slow]\n{arm}\n"));
    let line = ["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet", "--seed", "7"];
    place.assay(&line);
    for name in ["read.ini", "slower.ini"] {
        fs::remove_file(place.at(name)).unwrap();
    }
    place
}

const URL: &str = "sim:mm1?service=1ms";
const SLOWER: &str = "option.service = 1.2ms";

#[test]
fn repetition_with_another_seed_confirms_the_answer() {
    let place = experiment(URL, SLOWER, "");
    let line = ["repeat", "r.assay", "--seed", "8", "--out", "again.assay", "--quiet"];
    let ran = place.assay(&[&line[..], &["--junit", "r.xml"]].concat()).expect(0);
    assert!(ran.stdout.contains("\n`slow` lowers throughput(read) by 1"), "{}", ran.stdout);
    let words = "\nThe first answer holds (r.assay)\n  throughput(read) of `slow`: first −1";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    assert!(ran.stdout_line().contains("95 % CI: holds "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("repeat  assay repeat again.assay\n"), "{}", ran.stdout);
    let full = place.assay(&["report", "again.assay", "--full"]).expect(0).stdout;
    assert!(full.contains("command    assay run slower.ini --seed 8 --virtual\n"), "{full}");
    let xml = fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(xml.contains("classname=\"assay.repetition\" name=\"slow: throughput(read)\"><system"));
    assert_eq!(place.names(), ["again.assay", "r.assay", "r.xml"]);
    let report = place.assay(&["report", "again.assay"]).expect(0).stdout;
    assert!(!report.contains("first answer"), "{report}");
}

/// With one server and no pauses, one client is as fast as two: more clients gain nothing.
#[test]
fn best_point_of_a_sweep_is_repeated() {
    let place = TestFolder::new();
    place.write("read.ini", format!("url = {URL}\nduration = 10s\n[read]\nquery = select 1\n"));
    let question = "[question]\nask = ?\nworkload = read.ini\n[sweep]\n\
                    vary = concurrency(read): 1, 2, 4\nbest = lowest response.mean(read)\n";
    place.write("sweep.ini", question);
    place.assay(&["run", "sweep.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    let line = ["repeat", "r.assay", "--seed", "8", "--out", "again.assay", "--quiet"];
    let ran = place.assay(&[&line[..], &["--junit", "r.xml"]].concat()).expect(0);
    let words = "\nThe first answer holds (r.assay)\n  best point: first 1, now 1: holds\n";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let xml = fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(xml.contains("classname=\"assay.repetition\" name=\"best point\""), "{xml}");
    let line = ["repeat", "r.assay", "--out", "same.assay", "--quiet"];
    let ran = place.assay(&line).expect(0);
    assert!(ran.stdout.contains("\n  runs: the same again, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("best point: first 1, now 1: undecided\n"), "{}", ran.stdout);
}

/// The answer of a repetition names the folder that the first command named.
#[test]
fn experiment_of_a_folder_is_repeated_under_its_name() {
    let place = TestFolder::new();
    fs::create_dir(place.at("slow disk")).unwrap();
    let workload = "duration = 10s\n[read]\nquery = select 1\nconcurrency = 4\n";
    place.write("slow disk/read.ini", format!("url = {URL}\n{workload}"));
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 8\n[arm fast]\n\
                    [arm slow]\n";
    place.write("slow disk/experiment.ini", format!("{question}{SLOWER}\n"));
    place.assay(&["run", "slow disk", "--virtual", "--out", "1.assay", "--quiet"]).expect(0);
    fs::remove_dir_all(place.at("slow disk")).unwrap();
    for (record, again, seed) in [("1.assay", "2.assay", "3"), ("2.assay", "3.assay", "4")] {
        let line = ["repeat", record, "--out", again, "--quiet", "--seed", seed];
        let ran = place.assay(&[&line[..], &["--full"]].concat()).expect(0);
        let words = format!("\ncommand    assay run 'slow disk' --seed {seed} --virtual\n");
        assert!(ran.stdout.contains(&words), "{}", ran.stdout);
        assert!(place.assay(&["report", again, "--full"]).expect(0).stdout.contains(&words));
    }
}

/// The record contains neither the secret nor the files, which may contain the secret.
#[test]
fn experiment_with_a_secret_is_repeated_with_its_files_and_the_secret() {
    let place = TestFolder::new();
    let workload = "duration = 10s\n[params]\npassword = none\n[target other]\n\
                    url = postgres://ann:${password}@localhost:1/d\n[read]\nquery = select 1\n\
                    concurrency = 4\n";
    place.write("read.ini", format!("url = {URL}\n{workload}"));
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 8\n[arm fast]\n\
                    [arm slow]\n";
    place.write("slower.ini", format!("{question}{SLOWER}\n"));
    let secret = ["--set", "password=hush-hush"];
    let line = ["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"];
    place.assay(&[&line[..], &secret].concat()).expect(0);
    let repeat = ["repeat", "r.assay", "--seed", "8", "--out", "again.assay", "--quiet"];
    let words = "the record does not hold the value of `password`, which is secret";
    place.assay(&repeat).refuses(&[words, "give it with --set password=VALUE"]);
    let ran = place.assay(&[&repeat[..], &secret].concat()).expect(0);
    assert!(ran.stdout.contains("\nThe first answer holds (r.assay)\n"), "{}", ran.stdout);
    let full = place.assay(&["report", "again.assay", "--full"]).expect(0).stdout;
    assert!(full.contains("--set 'password=(secret)'"), "{full}");
    for record in ["r.assay", "again.assay"] {
        let bytes = fs::read(place.at(record)).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"hush-hush"), "{record}");
    }
}

/// A private server is started again, with the settings of the arms. The first experiment has an
/// answer even on a busy machine: its requests are long, and one valid point of the sweep for each
/// arm is enough for an answer.
#[test]
fn experiment_of_a_private_server_is_repeated_with_its_settings() {
    let place = TestFolder::new();
    let workload = "url = testbed:postgres\nduration = 1s\n[read]\n\
                    query = select pg_sleep(0.1)\nconcurrency = 1\n";
    place.write("read.ini", workload);
    let question = "[question]\nask = ?\nworkload = read.ini\n\
                    [sweep]\nvary = concurrency(read): 1, 2\nrepeats = 1\n";
    let arms = "[arm small]\n[arm large]\nserver.work_mem = 8MB\n";
    place.write("mem.ini", format!("{question}{arms}"));
    let line = ["run", "mem.ini", "--allow-commands", "--out", "r.assay", "--quiet"];
    place.assay(&line).expect(0);
    let repeat = ["repeat", "r.assay", "--out", "again.assay", "--quiet"];
    place.assay(&repeat).refuses(&["--allow-commands"]);
    let ran = place.assay(&[&repeat[..], &["--allow-commands"]].concat());
    assert!(matches!(ran.code, 0 | 1 | 3), "{}", ran.stderr);
    let record = Connection::open(place.at("again.assay")).unwrap();
    // A sweep executes all of its runs, even on a busy machine: two points of two arms.
    let counting = "select count(*) from run where state = 'counts'";
    assert_eq!(number(&place.at("again.assay"), counting), 4);
    let sql = "select group_concat(distinct arm || ' ' || value) from setting join run using (run) \
               where name = 'work_mem' order by 1";
    let shown: String = record.query_row(sql, [], |row| row.get(0)).unwrap();
    assert!(shown.contains("small 4MB") && shown.contains("large 8MB"), "{shown}");
}

/// In virtual time, the same seed gives the same random numbers, so the repetition is no
/// independent confirmation.
#[test]
fn repetition_with_the_same_seed_makes_the_same_runs_and_confirms_nothing() {
    let place = experiment(URL, SLOWER, "");
    let line = ["repeat", "r.assay", "--out", "again.assay", "--quiet"];
    let document = place.assay(&[&line[..], &["--json"]].concat()).expect(0).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    let repetition = &document["repetition"];
    assert_eq!(repetition["same_runs"], true);
    assert_eq!(repetition["outcome"], "undecided");
    assert_eq!(repetition["metrics"][0]["outcome"], "undecided");
    assert_eq!(repetition["metrics"][0]["difference_percent"], 0.0);
    let first = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_eq!(first["comparison"], document["comparison"]);
    let seeds = |document: &serde_json::Value| {
        let runs = document["runs"].as_array().unwrap();
        runs.iter().map(|run| run["seed"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(seeds(&first), seeds(&document));
    fs::remove_file(place.at("again.assay")).unwrap();
    let ran = place.assay(&line).expect(0);
    for words in [
        " The first answer is neither confirmed nor contradicted (r.assay) runs: the same again, \
         which confirms nothing: ",
        "; repeat with another --seed ",
        ": undecided ",
    ] {
        assert!(ran.stdout_line().contains(words), "{words}: {}", ran.stdout);
    }
    fs::remove_file(place.at("again.assay")).unwrap();
    let other = [&line[..], &["--seed", "8", "--json"]].concat();
    let document = place.assay(&other).expect(0).json();
    assert_eq!(document["repetition"]["same_runs"], false);
    assert!(seeds(&first).iter().all(|seed| !seeds(&document).contains(seed)), "{document}");
}

#[test]
fn repetition_elsewhere_contradicts_another_change() {
    let place = experiment(URL, SLOWER, "");
    let url = "sim:mm1?service=0.4ms";
    let line = ["repeat", "r.assay", "--url", url, "--out", "again.assay", "--quiet", "--full"];
    let ran = place.assay(&[&line[..], &["--junit", "r.xml"]].concat()).expect(1);
    assert!(ran.stdout.contains("The first answer is contradicted (r.assay)"), "{}", ran.stdout);
    assert!(ran.stdout.contains(": contradicts\n"), "{}", ran.stdout);
    let xml = fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(xml.contains("name=\"slow: throughput(read)\"><failure message=\"throughput(read) of"));
}

/// With long pauses, the speed of the server hardly matters, so the repetition measures a different
/// change.
#[test]
fn repetition_with_another_parameter_contradicts_nothing() {
    let place = TestFolder::new();
    let workload = "duration = 10s\n[params]\nthink = 1ms\n[read]\nquery = select 1\n\
                    concurrency = 4\nthink = ${think}\n";
    place.write("read.ini", format!("url = {URL}\n{workload}"));
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 8\n[arm fast]\n[arm slow]\n";
    place.write("slower.ini", format!("{question}{SLOWER}\n"));
    place.assay(&["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    let line = ["repeat", "r.assay", "--set", "think=40ms", "--out", "again.assay", "--quiet"];
    let said = place.assay(&[&line[..], &["--full"]].concat()).expect(0).stdout_line();
    for words in [
        "The first answer is neither confirmed nor contradicted (r.assay)",
        "workload: first `think of [read] = 1ms`, now `think of [read] = 40ms`: changes of another \
         workload",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn other_target_is_refused_if_every_arm_has_its_own() {
    let place = TestFolder::new();
    place.write("read.ini", "duration = 10s\n[read]\nquery = select 1\nconcurrency = 4\n");
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n[arm fast]\n";
    place.write("slower.ini", format!("{question}url = {URL}\n[arm slow]\nurl = sim:md1\n"));
    place.assay(&["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    let words = "every arm of the experiment has a `url` of its own";
    place.assay(&["repeat", "r.assay", "--url", "sim:mmc"]).refuses(&[words]);
}

#[test]
fn answer_without_a_claim_is_neither_confirmed_nor_contradicted() {
    let place = experiment("sim:mm1?service=1ms&noise=0.05", "option.service = 1.01ms", "");
    let line = ["repeat", "r.assay", "--seed", "8", "--out", "again.assay", "--quiet"];
    let ran = place.assay(&[&line[..], &["--markdown"]].concat()).expect(0);
    let words = "**The first answer is neither confirmed nor contradicted (r.assay)**\n- ";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    assert!(ran.stdout.contains(": undecided\n"), "{}", ran.stdout);
}

#[test]
fn experiment_without_an_answer_is_not_repeated() {
    let place = experiment("sim:mm1?service=1ms&errors=0.2", SLOWER, "");
    place
        .assay(&["repeat", "r.assay"])
        .refuses(&["`r.assay` is INVALID: there is nothing to confirm"]);
    let place = TestFolder::new();
    fs::create_dir(place.at("in")).unwrap();
    let workload = "url = sim:mm1\nduration = 60s\n[a]\nquery = select 1\nrate = 500\n";
    place.write("in/read.ini", workload);
    let arms = "[arm a]\n[arm b]\noption.service = 0.9ms\n";
    place.write("in/q.ini", format!("[question]\nask = ?\nworkload = read.ini\n{arms}"));
    let mut running =
        place.start_in_lockstep(&["run", "in/q.ini", "--virtual", "--out", "r.assay"]);
    running.wait_for_line("run 3 of");
    running.signal(Signal::SIGKILL);
    running.wait_for_end();
    let answer = place.assay(&["report", "r.assay"]).stdout;
    let words = "\nresume  assay run in/q.ini --virtual --resume r.assay\n";
    assert!(answer.contains(words), "{answer}");
    let words = ["`r.assay` has no answer yet", "--resume"];
    place.assay(&["repeat", "r.assay"]).refuses(&words);
    assert!(!place.names().iter().any(|name| name.starts_with("experiment-")));
}

#[test]
fn damaged_and_foreign_records_are_not_repeated() {
    let place = experiment(URL, SLOWER, "");
    place.assay(&["repeat", "no.assay"]).refuses(&["no.assay"]);
    place.write("text.assay", "text");
    place.assay(&["repeat", "text.assay"]).refuses(&["text.assay"]);
    let bytes = fs::read(place.at("r.assay")).unwrap();
    place.write("cut.assay", &bytes[..bytes.len() / 2]);
    place.assay(&["repeat", "cut.assay"]).refuses(&["cut.assay"]);
    let record = Connection::open(place.at("r.assay")).unwrap();
    record.execute("update file set path = '../' || path", []).unwrap();
    place.assay(&["repeat", "r.assay"]).refuses(&["does not keep the file `slower.ini`"]);
    record.execute("update file set path = 'slower.ini' where path like '%slower%'", []).unwrap();
    place.assay(&["repeat", "r.assay"]).refuses(&["`../read.ini` lies outside"]);
    record.execute("delete from file", []).unwrap();
    place.assay(&["repeat", "r.assay"]).refuses(&["older version"]);
    place.assay(&["observe", "--duration", "1s", "--out", "o.assay"]).expect(0);
    place.assay(&["repeat", "o.assay"]).refuses(&["cannot be repeated", "`assay run`"]);
}

#[test]
fn file_without_recorded_text_is_taken_from_the_current_folder() {
    let place = TestFolder::new();
    let mut rows = String::new();
    (0..200_000).for_each(|row| writeln!(rows, "{row}").unwrap());
    place.write("big.csv", &rows);
    let job = "[read]\nquery = select ?\nquery-args-file = big.csv\nconcurrency = 1\n";
    place.write("w.ini", format!("url = {URL}\nduration = 5s\n{job}"));
    place.assay(&["run", "w.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    fs::remove_file(place.at("w.ini")).unwrap();
    let line = ["repeat", "r.assay", "--out", "again.assay", "--quiet"];
    place.assay(&line).expect(0);
    place.write("big.csv", "1\n");
    place.assay(&line).refuses(&["`big.csv` here is not the file that was read", "SHA-256"]);
    fs::remove_file(place.at("big.csv")).unwrap();
    place.assay(&line).refuses(&["does not keep `big.csv`, which has 1,288,890 bytes"]);
}

#[test]
fn run_is_repeated_next_to_the_first_without_a_verdict() {
    let place = TestFolder::new();
    place.write("w.ini", "duration = 60s\n[read]\nquery = select 1\nrate = 500\n");
    let line = ["run", "w.ini", "--url", URL, "--virtual", "--out", "r.assay", "--quiet"];
    place.assay(&line).expect(0);
    fs::remove_file(place.at("w.ini")).unwrap();
    let line = ["repeat", "r.assay", "--seed", "9", "--out", "again.assay", "--quiet"];
    let ran = place.assay(&line).expect(0);
    let words = "\nOne run against one run: there is no interval and no verdict\n  first VALID, \
                 now VALID\n";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let line = |text: &str| {
        let mut lines = text.lines().skip_while(|line| !line.contains("One run against"));
        lines.find(|line| line.contains("response.p50(read)")).unwrap().to_owned()
    };
    assert!(line(&ran.stdout).contains(" ms"), "{}", ran.stdout);
    let line = ["repeat", "r.assay", "--out", "third.assay", "--quiet", "--json"];
    let document = place.assay(&line).expect(0).json();
    assert_matches_schema("schemas/summary.schema.json", &document);
}

#[test]
fn permissions_of_a_record_must_be_given_again() {
    let place = TestFolder::with("[a]\ncommand = true\ncount = 1\n");
    let line = ["run", "w.ini", "--allow-commands", "--out", "r.assay", "--quiet"];
    assert_ne!(place.assay(&line).code, 2);
    place.assay(&["repeat", "r.assay"]).refuses(&["--allow-commands"]);
    let line = ["repeat", "r.assay", "--allow-commands", "--out", "again.assay", "--quiet"];
    assert_ne!(place.assay(&line).code, 2);
}

/// Expects the message to name the record. The files are in a temporary folder, which is already
/// removed when the user reads the message.
#[test]
fn mistake_in_a_recorded_file_names_the_record() {
    let place = experiment(URL, SLOWER, "");
    let ran = place.assay(&["repeat", "r.assay", "--set", "m=8"]);
    ran.refuses(&[
        "in `read.ini`: `--set m`: the file has no parameter `m`",
        " --> slower.ini of r.assay:3:12\n",
    ]);
    let ran = place.assay(&["repeat", "r.assay", "--url", "sim:mm1?sevice=1ms"]);
    ran.refuses(&["a simulated server has no option `sevice`"]);
}
