//! Tests of the search for the load at which the arms of an experiment are compared.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::Value;
use testbed::{Kind, Options, Server};

use crate::example::assert_matches_schema;
use crate::experiment_faults::without_notes;
use crate::support::{CommandResult, TestFolder};

/// Four servers of 100 requests per second each: more than four clients gain nothing.
const SERVERS: &str = "sim:mmc?service=10ms&servers=4";

const SEARCH: &str = "[saturate]\nvary = concurrency(read)\nvalues = 1..64 x2\n\
                      until = throughput gains < 5%\n";

const RUN: [&str; 5] = ["run", "e.ini", "--virtual", "--out", "r.assay"];
const FULL: [&str; 6] = ["run", "e.ini", "--virtual", "--out", "r.assay", "--full"];

fn place(search: &str) -> TestFolder {
    let place = TestFolder::with(&format!(
        "url = {SERVERS}\nduration = 20s\nwarmup = 2s\n[read]\nquery = select 1\nconcurrency = 1\n"
    ));
    place.write("e.ini", format!("{ARMS}{search}"));
    place
}

const ARMS: &str = "[question]\nask = Is the other server faster?\nworkload = w.ini\nrounds = 6\n\
                    [arm four]\n[arm slow]\noption.service = 12ms\n";

fn document(ran: &CommandResult) -> Value {
    let document = ran.json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    document
}

/// Runs a search and returns its document.
#[track_caller]
fn found(search: &str, code: i32) -> Value {
    let line = [&RUN[..], &["--json", "--quiet"]].concat();
    document(&place(search).assay(&line).expect(code))
}

fn sentence(document: &Value) -> &str {
    document["saturate"]["sentence"].as_str().unwrap()
}

fn values(document: &Value) -> Vec<f64> {
    let steps = document["saturate"]["steps"].as_array().unwrap().iter();
    steps.map(|step| step["value"].as_f64().unwrap()).collect()
}

#[test]
fn arms_are_compared_at_the_load_that_saturates_the_baseline() {
    let place = place(SEARCH);
    let document = document(&place.assay(&[&RUN[..], &["--json", "--quiet"]].concat()).expect(0));
    let saturate = &document["saturate"];
    assert_eq!((&saturate["outcome"], &saturate["value"]), (&"reached".into(), &4.0.into()));
    assert_eq!(values(&document), [1.0, 2.0, 4.0, 8.0]);
    // Closed clients of an M/M/4 queue without think time: 100 requests per second for each busy
    // server.
    for (step, expected) in [100.0, 200.0, 400.0, 400.0].into_iter().enumerate() {
        let measured = saturate["steps"][step]["throughput_per_s"].as_f64().unwrap();
        assert!((measured / expected - 1.0).abs() < 0.05, "{saturate:#}");
    }
    let first = "Load: concurrency(read) = 4; from 4 to 8 the throughput changes by ";
    assert!(sentence(&document).starts_with(first), "{}", sentence(&document));
    assert_eq!(document["answer"][1], sentence(&document));
    // Both arms run with four clients, not with the one client of the workload file.
    let means = document["comparison"][0]["means"].as_array().unwrap();
    for (mean, expected) in means.iter().zip([400.0, 333.3]) {
        let mean = mean.as_f64().unwrap();
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
    }
    let runs = document["runs"].as_array().unwrap();
    let phases = |phase: &str| runs.iter().filter(|run| run["phase"] == phase).count();
    assert_eq!((phases("saturate"), phases("compare"), runs.len()), (4, 12, 16));
    let step = &runs[3];
    assert_eq!((&step["arm"], &step["point"]), (&"four".into(), &"8".into()));
    assert_eq!((&document["arms"][0]["runs"], &document["verdict"]), (&6.into(), &"VALID".into()));
    // The workload shown is that of a run of the comparison, and not that of a step.
    let is_first = |run: &&Value| run["phase"] == "compare" && run["arm"] == "four";
    let first = &runs.iter().find(is_first).unwrap()["number"];
    let full = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    let (_, plan) = full.split_once(&format!("\nworkload of run {first}\n")).expect(&full);
    assert!(plan.contains("  concurrency = 4\n"), "{plan}");
}

#[test]
fn values_that_do_not_grow_are_refused_before_a_run() {
    for (values, words) in [
        ("8..1 x2", "the range `8..1 x2` descends"),
        ("8, 4", "4 does not exceed the value before it, 8"),
        ("", "`values` has no value"),
    ] {
        let place = place(&SEARCH.replace("1..64 x2", values));
        for line in [&RUN[..], &["check", "e.ini"]] {
            let ran = place.assay(line).expect(2);
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
        assert_eq!(place.names(), ["e.ini", "w.ini"]);
    }
}

#[test]
fn smallest_load_that_saturates_is_named() {
    let document = found(&SEARCH.replace("1..64", "8..64"), 0);
    let saturate = &document["saturate"];
    assert_eq!((&saturate["outcome"], &saturate["value"]), (&"at-first".into(), &8.0.into()));
    let first = "Load: concurrency(read) = 8, the smallest value; from 8 to 16 the throughput ";
    assert!(sentence(&document).starts_with(first), "{}", sentence(&document));
}

#[test]
fn largest_load_that_does_not_saturate_is_a_lower_bound() {
    let document = found(&SEARCH.replace("1..64 x2", "1, 2, 3"), 0);
    let saturate = &document["saturate"];
    assert_eq!((&saturate["outcome"], &saturate["value"]), (&"not-reached".into(), &3.0.into()));
    let first = "Load: concurrency(read) at least 3, not saturated; from 2 to 3 the throughput ";
    assert!(sentence(&document).starts_with(first), "{}", sentence(&document));
}

/// The capacity is 400 requests per second. A step beyond it has a backlog, and the arms are
/// compared below it.
#[test]
fn rate_grows_until_it_exceeds_the_capacity() {
    let values_of_rate = "values = 75..1200 x2\nuntil = throughput gains < 2%\n";
    let place = place(&format!("[saturate]\nvary = rate(read)\n{values_of_rate}"));
    // With `concurrency = 1`, the job would be a queue with one worker.
    let workload = fs::read_to_string(place.at("w.ini")).unwrap();
    place.write("w.ini", workload.replace("concurrency = 1\n", ""));
    let document = document(&place.assay(&[&RUN[..], &["--json", "--quiet"]].concat()).expect(0));
    let saturate = &document["saturate"];
    assert_eq!((&saturate["unit"], &saturate["outcome"]), (&"per_s".into(), &"overloaded".into()));
    assert_eq!(
        (values(&document), &saturate["value"]),
        (vec![75.0, 150.0, 300.0, 600.0], &300.0.into())
    );
    assert_eq!(saturate["steps"][3]["objections"][0], "backlog", "{saturate:#}");
    let expected = "Load: rate(read) = 300/s; the next value, 600/s, exceeds the capacity";
    assert_eq!(sentence(&document), expected);
}

/// Compares the arms at a rate, and returns the folder and the document. `service` is the service
/// time of the arm `slow`.
fn compared_at_a_rate(service: &str, values: &str, bet: &str) -> (TestFolder, Value) {
    let values = format!("values = {values}\nuntil = throughput gains < 2%\n");
    let place = place(&format!("[saturate]\nvary = rate(read)\n{values}"));
    let workload = fs::read_to_string(place.at("w.ini")).unwrap();
    place.write("w.ini", workload.replace("concurrency = 1\n", ""));
    let arms = fs::read_to_string(place.at("e.ini")).unwrap();
    let arms = arms.replace("12ms", service);
    place.write("e.ini", arms.replace("[arm four]", &format!("{bet}\n[arm four]")));
    let document = document(&place.assay(&[&RUN[..], &["--json", "--quiet"]].concat()).expect(0));
    (place, document)
}

fn of<'d>(document: &'d Value, metric: &str) -> &'d Value {
    let rows = document["comparison"].as_array().unwrap();
    rows.iter().find(|row| row["metric"] == metric).unwrap()
}

fn has_sentence(document: &Value, words: &str) -> bool {
    let answer = document["answer"].as_array().unwrap();
    answer.iter().any(|sentence| sentence.as_str().unwrap().contains(words))
}

/// Expects a comparison by throughput: the baseline can answer 400 requests per second, and the
/// slower arm 250.
#[test]
fn overloaded_slower_arm_is_compared_by_its_throughput() {
    let (place, document) =
        compared_at_a_rate("16ms", "75..1200 x2", "bet = throughput(read) -10% .. -25%");
    assert_eq!(document["saturate"]["value"], 300.0);
    let throughput = of(&document, "throughput");
    assert_eq!(
        (&throughput["verdict"], &throughput["exploratory"]),
        (&"worse".into(), &false.into())
    );
    assert_eq!(throughput["bets"][0]["outcome"], "held", "{throughput:#}");
    for (mean, expected) in throughput["means"].as_array().unwrap().iter().zip([300.0, 250.0]) {
        let mean = mean.as_f64().unwrap();
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
    }
    let p99 = of(&document, "response.p99");
    assert_eq!(p99["reason"], "the load exceeds the capacity", "{p99:#}");
    assert_eq!(document["verdict"], "SUSPECT");
    let limit = ["compare", "r.assay", "--fail-on", "throughput(read) < -10%"];
    let compared = place.assay(&limit).expect(1).stdout;
    assert!(compared.contains("exceeded in `r.assay#slow`"), "{compared}");
    let words = "At rate(read) = 300/s, `slow` is overloaded on purpose, and `four` keeps up: \
                 throughput(read) compares the requests per second that each completes at this \
                 load. `four` may be able to complete more";
    assert!(has_sentence(&document, words), "{:#}", document["answer"]);
}

/// At 800 requests per second both arms are saturated: their throughput is their capacity.
#[test]
fn arms_that_are_both_overloaded_are_compared_by_their_capacities() {
    let (_place, document) = compared_at_a_rate("12ms", "800, 1600", "");
    assert_eq!(document["saturate"]["outcome"], "all-overloaded");
    let throughput = of(&document, "throughput");
    for (mean, expected) in throughput["means"].as_array().unwrap().iter().zip([400.0, 333.3]) {
        let mean = mean.as_f64().unwrap();
        assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
    }
    let words = "`four` and `slow` are overloaded on purpose";
    assert!(has_sentence(&document, words), "{:#}", document["answer"]);
}

/// The throughput of an arm that keeps up is the rate itself, so the arms are compared by their
/// response times.
#[test]
fn arms_that_keep_up_with_the_rate_are_compared_by_response_times() {
    let (_place, document) = compared_at_a_rate("12ms", "75..1200 x2", "");
    let rows = document["comparison"].as_array().unwrap();
    let declared: Vec<&Value> = rows.iter().filter(|row| row["exploratory"] == false).collect();
    assert_eq!((declared.len(), &declared[0]["metric"]), (1, &"response.p99".into()));
    assert!(!has_sentence(&document, "overloaded"), "{:#}", document["answer"]);
}

/// Expects the rate to be noticed as too high, although a window of three seconds is too short for
/// a trend of the backlog.
#[test]
fn smallest_rate_beyond_the_capacity_is_noticed_in_a_short_run() {
    let values_of_rate = "values = 800, 1600\nuntil = throughput gains < 2%\n";
    let place = place(&format!("[saturate]\nvary = rate(read)\n{values_of_rate}"));
    let workload = fs::read_to_string(place.at("w.ini")).unwrap();
    let short = workload.replace("= 20s\nwarmup = 2s", "= 4s\nwarmup = 1s");
    place.write("w.ini", short.replace("concurrency = 1\n", ""));
    let document = document(&place.assay(&[&RUN[..], &["--json", "--quiet"]].concat()));
    let saturate = &document["saturate"];
    assert_eq!(saturate["outcome"], "all-overloaded", "{saturate:#}");
    assert_eq!(values(&document), [800.0]);
    let first = "Load: rate(read) = 800/s, the smallest value, exceeds the capacity";
    assert!(sentence(&document).starts_with(first), "{}", sentence(&document));
}

#[test]
fn load_and_steps_are_in_every_form_of_the_answer() {
    let place = place(SEARCH);
    let ran = place.assay(&FULL).expect(0);
    for words in [
        "\nLoad: concurrency(read) = 4; from 4 to 8 ",
        "\nsaturate   concurrency(read): 1, 2, 4, 8, 16, 32, 64 until throughput gains < 5%\n",
        "\nsteps of [saturate] on `four`\n",
        "run  concurrency  requests/s",
        "  four: 6 runs\n",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    for words in [
        "experiment: 2 to 7 steps to find the load, then 2 arms, 12 runs, without",
        "run 3: step 3 of at most 7, concurrency(read) = 4\n",
        "all arms run at concurrency(read) = 4\n",
        "run 5 of at most 16: round 1, ",
    ] {
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
    assert_eq!(place.assay(&["report", "r.assay", "--full"]).expect(0).stdout, ran.stdout);
    let markdown = place.assay(&["report", "r.assay", "--markdown"]).expect(0).stdout;
    assert!(markdown.contains("- Load: concurrency(read) = 4; "), "{markdown}");
    assert!(markdown.contains("- steps: 1: ") && markdown.lines().count() <= 40, "{markdown}");
    place.assay(&["report", "r.assay", "--html", "page.html"]).expect(0);
    let page = fs::read_to_string(place.at("page.html")).unwrap();
    assert!(page.contains("Steps of the search for saturation"), "{page}");
    assert!(page.contains("Load: concurrency(read) = 4; "), "{page}");
    place.assay(&["report", "r.assay", "--junit", "cases.xml"]).expect(0);
    let cases = fs::read_to_string(place.at("cases.xml")).unwrap();
    assert!(cases.contains("load of the arms: concurrency(read)"), "{cases}");
    let step = place.assay(&["report", "r.assay", "--run", "4"]).expect(0).stdout;
    assert!(step.contains("8 clients"), "{step}");
}

#[test]
fn steps_belong_to_no_arm_of_a_later_comparison() {
    let place = place(SEARCH);
    place.assay(&[&RUN[..], &["--quiet"]].concat()).expect(0);
    let compared = place.assay(&["compare", "r.assay#four", "r.assay#slow", "--json"]).json();
    assert_eq!(compared["comparison"][0]["run_counts"], serde_json::json!([6, 6]), "{compared:#}");
}

#[test]
fn search_for_saturation_is_repeated_from_its_record() {
    let place = place(SEARCH);
    place.assay(&[&RUN[..], &["--quiet"]].concat()).expect(0);
    let line = ["repeat", "r.assay", "--seed", "2", "--out", "again.assay", "--quiet"];
    let ran = place.assay(&line).expect(0);
    assert!(ran.stdout.contains("\nLoad: concurrency(read) = 4; "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nThe first answer holds (r.assay)\n"), "{}", ran.stdout);
    let loads = "\n  load: first concurrency(read) = 4, now concurrency(read) = 4\n";
    assert!(ran.stdout.contains(loads), "{}", ran.stdout);
    let two = SERVERS.replace("servers=4", "servers=2");
    let line = ["repeat", "r.assay", "--url", &two, "--out", "two.assay", "--quiet", "--json"];
    let document = document(&place.assay(&line));
    let loads = &document["repetition"]["loads"];
    let expected = ["concurrency(read) = 4", "concurrency(read) = 2"];
    assert_eq!(*loads, serde_json::json!(expected), "{document:#}");
}

#[test]
fn killed_search_for_saturation_is_resumed_to_the_same_answer() {
    let place = place(SEARCH);
    let expected = without_notes(&place.assay(&FULL).expect(0).stdout);
    // The experiment is killed in a step, between the steps and the rounds, and in a round.
    let cuts = [
        ("step 3 of", "run 1: step 1"),
        ("all arms run at", "run 4: step 4"),
        ("run 9 of at most", "run 4: step 4"),
    ];
    for (number, (words, made)) in cuts.into_iter().enumerate() {
        let record = format!("cut{number}.assay");
        let mut running = place.start_in_lockstep(&["run", "e.ini", "--virtual", "--out", &record]);
        running.wait_for_line(words);
        running.signal(Signal::SIGKILL);
        running.wait_for_end();
        let unfinished = place.assay(&["report", &record, "--full"]).expect(3);
        let words = "No answer: the experiment was killed, or is still running";
        assert!(unfinished.stdout.starts_with(words), "{}", unfinished.stdout);
        let resume = ["run", "e.ini", "--virtual", "--full", "--resume", &record];
        let ran = place.assay(&resume).expect(0);
        assert_eq!(without_notes(&ran.stdout).replace(&record, "r.assay"), expected, "{words}");
        assert!(!ran.stderr.contains(made), "{words}: {}", ran.stderr);
        assert!(ran.stderr.contains("all arms run at concurrency(read) = 4"), "{}", ran.stderr);
    }
}

#[test]
fn interrupted_search_for_saturation_is_resumed() {
    let place = place(SEARCH);
    let expected = place.assay(&[&FULL[..], &["--quiet"]].concat()).expect(0).stdout;
    let expected = without_notes(&expected);
    let mut running = place.start_in_lockstep(&["run", "e.ini", "--virtual", "--out", "cut.assay"]);
    running.wait_for_line("step 2 of");
    running.signal(Signal::SIGINT);
    let ran = running.wait_for_end().expect(130);
    let words = "\nNo answer: the experiment was interrupted";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    let resumed = ["run", "e.ini", "--virtual", "--resume", "cut.assay"];
    place.assay(&[&resumed[..], &["--seed", "9"]].concat()).refuses(&["have changed"]);
    let ran = place.assay(&[&resumed[..], &["--full"]].concat()).expect(0);
    assert_eq!(without_notes(&ran.stdout).replace("cut.assay", "r.assay"), expected);
    place.assay(&resumed).refuses(&["is complete"]);
}

/// A search that is resumed on a private server has steps on two servers, whose data were loaded
/// separately. A simulated server has no identity, so the test writes the identities of two servers
/// into the record in place of the server's name.
#[test]
fn steps_on_two_servers_are_named_with_the_load() {
    let place = place(SEARCH);
    place.assay(&[&RUN[..], &["--quiet"]].concat()).expect(0);
    let found = || document(&place.assay(&["report", "r.assay", "--json"]).expect(0));
    let words = "; the steps are of 2 server starts, which may differ in more than the load";
    assert_eq!(found()["saturate"]["server_starts"], Value::Null);
    let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
    let identities = "update setting set name = 'database.server_id', \
                      value = case when run <= 2 then 'first' else 'second' end";
    record.execute(identities, []).unwrap();
    let resumed = found();
    assert_eq!(resumed["saturate"]["server_starts"], 2, "{:#}", resumed["saturate"]);
    assert!(sentence(&resumed).ends_with(words), "{}", sentence(&resumed));
    record.execute("update setting set value = 'first' where value = 'second'", []).unwrap();
    assert_eq!(found()["saturate"]["server_starts"], 1);
    assert!(!sentence(&found()).contains("server starts"), "{}", sentence(&found()));
}

/// A step that does not follow from the earlier steps was not recorded by this program.
#[test]
fn steps_out_of_sequence_are_damage() {
    for change in [
        "update run set point = '3' where run = 3",
        "update run set round = 1 where run = 3",
        "delete from run where run = 4",
        "update run set phase = 'capacity' where run = 2",
    ] {
        let place = place(SEARCH);
        place.assay(&[&RUN[..], &["--quiet"]].concat()).expect(0);
        let record = rusqlite::Connection::open(place.at("r.assay")).unwrap();
        record.pragma_update(None, "foreign_keys", false).unwrap();
        record.execute(change, []).unwrap();
        drop(record);
        let ran = place.assay(&["report", "r.assay"]).expect(2);
        assert!(ran.stderr.contains("damaged"), "{change}: {}", ran.stderr);
    }
}

/// Expects the step to be repeated, and then the experiment to end. The load generator is stopped
/// in every attempt at the first step.
#[test]
fn invalid_step_is_repeated_and_then_ends_the_experiment() {
    let place = TestFolder::with(
        "url = sim:mdc?service=1ms&servers=64\nduration = 1s\n[read]\nquery = select 1\n\
         rate = 200\narrival = uniform\n",
    );
    let search =
        "[saturate]\nvary = rate(read)\nvalues = 200, 400\nuntil = throughput gains < 5%\n";
    place.write("e.ini", format!("{ARMS}{search}"));
    let ran =
        place.start(&["run", "e.ini", "--out", "r.assay"]).wait_for_end_with_pauses().expect(3);
    assert!(ran.stderr.contains("run 3: step 1 of at most 2, rate(read) = 200, again"));
    let words = "No answer: the load generator or the machine failed in every attempt at \
                 rate(read) = 200/s ";
    assert!(ran.stdout_line().contains(words), "{}", ran.stdout);
    let document = document(&place.assay(&["report", "r.assay", "--json"]).expect(3));
    let saturate = &document["saturate"];
    assert_eq!(saturate["outcome"], "instrument-failed");
    let states: Vec<&Value> =
        saturate["steps"].as_array().unwrap().iter().map(|step| &step["state"]).collect();
    assert_eq!(states, ["repeated", "repeated", "counts"]);
    let resume = ["run", "e.ini", "--resume", "r.assay"];
    place.assay(&resume).refuses(&["the load generator or the machine failed", "begin anew"]);
}

#[test]
fn component_that_cannot_be_observed_is_refused_before_a_run() {
    let refused = |owner: &str, url: &str, line: &[&str], words: &[&str]| {
        let until = format!("until = cpu({owner}) >= 95%");
        let place = place(&SEARCH.replace("until = throughput gains < 5%", &until));
        place.write(
            "e.ini",
            fs::read_to_string(place.at("e.ini"))
                .unwrap()
                .replace("option.service = 12ms", "concurrency(pay) = 2"),
        );
        let two = "duration = 20s\n[read]\nquery = select 1\n[pay]\nquery = select 2\n";
        place.write("w.ini", format!("url = {url}\n{two}"));
        place.assay(&[&["run", "e.ini", "--allow-commands"], line].concat()).refuses(words);
        assert_eq!(place.names(), ["e.ini", "w.ini"]);
    };
    let gains = "write `until = throughput gains < 2%`";
    let simulated = "cpu(database) of [saturate] cannot be observed: a simulated server has no \
                     processes";
    refused("database", SERVERS, &[], &[simulated, gains]);
    let virtual_time = "cpu(generator) of [saturate] cannot be observed: virtual time";
    refused("generator", SERVERS, &["--virtual"], &[virtual_time, gains]);
    let elsewhere = "the server is not on this machine, and no other machine is observed";
    let remote = "postgres://192.0.2.7/shop";
    refused("database", remote, &[], &[elsewhere, "= ssh://postgres@db1`", gains]);
    refused("proxy", "testbed:postgres", &[], &["nothing is between", gains]);
}

#[test]
fn check_prints_a_search_that_checks_as_the_same() {
    let place = place(SEARCH);
    let printed = place.assay(&["check", "e.ini"]).expect(0).stdout;
    assert!(printed.contains("[saturate]\nvary = concurrency(read)\nvalues = 1, 2, "), "{printed}");
    place.write("again.ini", &printed);
    assert_eq!(place.assay(&["check", "again.ini"]).expect(0).stdout, printed);
}

/// A server that is bound to one processor; every load keeps more than 5 % of it busy.
#[test]
fn processors_of_a_private_server_are_observed() {
    assert_observed("testbed:postgres?cpus=0", 1);
}

/// The pooler may use every processor, and the database behind it only one.
#[test]
fn processors_of_a_private_server_behind_a_pooler_are_observed() {
    assert_observed("testbed:postgres?cpus=0&via=pgbouncer", 3);
}

/// Finds the load at which a server uses at least 5 % of its only processor, in runs of `seconds`
/// seconds.
#[track_caller]
fn assert_observed(url: &str, seconds: u32) {
    let place = TestFolder::with(&format!(
        "url = {url}\nduration = {seconds}s\n[read]\nquery = select 1\nconcurrency = 1\n"
    ));
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let arms = ARMS.replace("option.service = 12ms", "before = select 1");
    let search = SEARCH.replace("throughput gains < 5%", "cpu(database) >= 5%");
    place.write("e.ini", format!("{arms}{search}"));
    let mut run = place.start(&["run", "e.ini", "--allow-commands", "--out", "r.assay"]);
    // If other programs use the machine, the checks of the load generator may fail.
    if !run.prints_line_before_end("all arms run at concurrency(read) = ") {
        let ran = run.wait_for_end().expect(3);
        assert!(
            ran.stdout_line().contains("the load generator or the machine failed"),
            "{}",
            ran.stdout
        );
        return;
    }
    run.signal(Signal::SIGINT);
    run.wait_for_end().expect(130);
    let document = document(&place.assay(&["report", "r.assay", "--json"]).expect(3));
    let saturate = &document["saturate"];
    // On a busy machine, a server may get less time of its processor in the first step.
    let end = match saturate["outcome"].as_str() {
        Some("at-first") => " % of 1 processor already",
        Some("reached") => " % of 1 processor",
        _ => panic!("{saturate:#}"),
    };
    let last = saturate["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["processors"], 1.0, "{saturate:#}");
    assert!((5.0..=110.0).contains(&last["cpu_percent"].as_f64().unwrap()), "{saturate:#}");
    assert!(sentence(&document).ends_with(end), "{}", sentence(&document));
}

/// Expects the experiment to end. There is no pooler in front of its server, but only the first run
/// shows this.
#[test]
fn component_that_no_run_observes_ends_the_experiment() {
    let server = Server::start(&Options::new(Kind::Postgres)).unwrap();
    let place = TestFolder::with("duration = 1s\n[read]\nquery = select 1\nconcurrency = 1\n");
    let arms = ARMS.replace("option.service = 12ms", "before = select 1");
    let search = SEARCH.replace("throughput gains < 5%", "cpu(proxy) >= 5%");
    place.write("e.ini", format!("{arms}{search}"));
    let url = server.url().to_string();
    let assay = |line: &[&str]| {
        let mut command = place.command(line);
        command.env("ASSAY_PASSWORD", server.password().expose());
        CommandResult::of(&mut command)
    };
    let ran = assay(&["run", "e.ini", "--url", &url, "--out", "r.assay", "--json"]).expect(3);
    let document = document(&ran);
    assert_eq!(
        (&document["state"], &document["verdict"]),
        (&"not-observed".into(), &"INVALID".into())
    );
    assert_eq!(document["saturate"]["outcome"], "not-observed");
    assert_eq!(sentence(&document), "cpu(proxy) was not observed in run 1");
    assert_eq!(document["runs"].as_array().unwrap().len(), 1);
    let shown = place.assay(&["report", "r.assay"]).expect(3).stdout;
    assert!(shown.contains("\nNo answer: cpu(proxy) was not observed in run 1\n"), "{shown}");
    let ran = assay(&["run", "e.ini", "--url", &url, "--resume", "r.assay"]);
    ran.refuses(&["`until` in [saturate] was not observed", "write another condition"]);
    let ran = assay(&["compare", "r.assay"]);
    ran.refuses(&["has no run that counts", "write another condition"]);
}
