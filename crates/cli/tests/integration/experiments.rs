//! Experiment files on the command line.

use nix::sys::signal::Signal;

use crate::example::assert_matches_schema;
use crate::experiment_faults::{record_content, without_notes};
use crate::support::{TestFolder, number};

const READ: &str = "url = sim:mm1\nduration = 10s\n[read]\nquery = select 1\nconcurrency = 2\n";

const QUESTION: &str = "[question]\nask = What do more clients gain?\nworkload = read.ini\n\
                        [arm two]\n[arm four]\nconcurrency(read) = 4\n";

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("read.ini", READ);
    place.write("more.ini", QUESTION);
    place
}

#[test]
fn check_prints_an_experiment_that_checks_as_the_same() {
    let place = place();
    let printed = place.assay(&["check", "more.ini"]).expect(0);
    assert_eq!(printed.stderr, "");
    assert!(printed.stdout.starts_with("[question]\nask = What do"), "{}", printed.stdout);
    place.write("again.ini", &printed.stdout);
    let again = place.assay(&["check", "again.ini"]).expect(0);
    assert_eq!(again.stdout, printed.stdout);
}

#[test]
fn check_prints_a_workload_as_written_with_the_options_of_the_command() {
    let place = place();
    let arms = "[arm few]\n[arm many]\nset.clients = 8\n";
    let own = READ.replace("= 2", "= ${clients}") + "[params]\nclients = 2\n";
    place.write("own.ini", format!("{own}[question]\nask = ?\n{arms}"));
    let line = ["check", "own.ini", "--url", "sim:mm1?service=3ms", "--set", "clients=5"];
    let printed = place.assay(&line).expect(0).stdout;
    for words in ["url = sim:mm1?service=3ms\n", "\nclients = 5\n", "= ${clients}\n"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
    place.write("again.ini", &printed);
    assert_eq!(place.assay(&["check", "again.ini"]).expect(0).stdout, printed);
}

#[test]
fn workload_lies_below_the_folder_of_the_experiment() {
    let place = place();
    let outside = TestFolder::new();
    outside.write("read.ini", READ);
    for path in [outside.at("read.ini").display().to_string(), "../read.ini".to_owned()] {
        place.write("more.ini", QUESTION.replace("read.ini", &path));
        let ran = place.assay(&["check", "more.ini"]).expect(2);
        assert!(ran.stderr.contains("cannot be read"), "{}", ran.stderr);
    }
}

#[test]
fn target_of_an_arm_is_checked_with_its_options() {
    let place = place();
    place.write("more.ini", QUESTION.replace("concurrency(read) = 4", "option.servise = 4ms"));
    let ran = place.assay(&["check", "more.ini"]).expect(2);
    let words = "[arm four]: ";
    assert!(ran.stderr.contains(words) && ran.stderr.contains("`service`"), "{}", ran.stderr);
    assert!(ran.stderr.contains(" | option.servise = 4ms\n"), "{}", ran.stderr);
    let arms = QUESTION.split("[arm").next().unwrap();
    for (lines, shown) in [
        ("[arm a]\n[arm b]\nurl = sim:mn1\n", "[arm b]: there is no simulated server `sim:mn1`"),
        ("[arm a]\n[arm b]\nurl = sim:mn1\n", " | url = sim:mn1\n"),
        ("[sweep]\nvary = option.servise: 1ms, 2ms\n", " | vary = option.servise: 1ms, 2ms\n"),
    ] {
        place.write("more.ini", format!("{arms}{lines}"));
        place.assay(&["check", "more.ini"]).refuses(&[shown, " --> more.ini:"]);
    }
}

#[test]
fn options_of_the_command_line_apply_to_the_workload() {
    let place = place();
    let arms = QUESTION.replace("concurrency(read) = 4", "option.tls = off");
    place.write("more.ini", arms);
    place.assay(&["check", "more.ini", "--url", "postgres://h/d"]).expect(0);
    let ran = place.assay(&["check", "more.ini", "--set", "rows=5"]).expect(2);
    assert!(ran.stderr.contains("rows"), "{}", ran.stderr);
}

#[test]
fn experiment_whose_runs_never_end_is_refused() {
    let place = place();
    let endless = READ.replace("duration = 10s\n", "");
    place.write("read.ini", &endless);
    let words = ["the workload has no `duration`", "give --duration"];
    place.assay(&["check", "more.ini"]).refuses(&words);
    place.assay(&["run", "more.ini", "--virtual", "--out", "r.assay"]).refuses(&words);
    place.assay(&["check", "more.ini", "--duration", "5s"]).expect(0);
    place.write("read.ini", format!("{endless}count = 100\n"));
    place.assay(&["check", "more.ini"]).expect(0);
}

#[test]
fn url_that_no_arm_uses_is_warned_of() {
    let place = place();
    let check = |expected: &str| {
        let ran = place.assay(&["check", "more.ini", "--url", "sim:md1"]).expect(0);
        assert_eq!(ran.stderr.contains("no arm uses the target"), !expected.is_empty());
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    };
    let arms = "[arm two]\nurl = sim:mm1\n[arm four]\nurl = sim:mmc?servers=2\n";
    let question = QUESTION.split("[arm").next().unwrap();
    place.write("more.ini", format!("{question}{arms}"));
    check("no arm uses the target of the command line: each has a `url` of its own");
    place.write("more.ini", format!("{question}{}", arms.replace("url = sim:mm1\n", "")));
    check("");
}

#[test]
fn bet_on_processor_time_that_nothing_observes_is_warned_of() {
    let place = place();
    let bet = "bet = cpu.database -5% .. +5%\n[arm two]";
    place.write("more.ini", QUESTION.replace("[arm two]", bet));
    let ran = place.assay(&["check", "more.ini"]).expect(0);
    let words = "the bet on cpu.database cannot be judged: a simulated server has no processes";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let url = ["check", "more.ini", "--url", "testbed:postgres"];
    assert_eq!(place.assay(&url).expect(0).stderr, "");
}

#[test]
fn commands_that_do_not_run_experiments_say_so() {
    let place = place();
    let ran = place.assay(&["load", "more.ini"]).expect(2);
    assert!(ran.stderr.contains("belongs to an experiment file"), "{}", ran.stderr);
    assert_eq!(place.names(), ["more.ini", "read.ini"]);
}

/// A question about a slower server, and its arms.
const SLOWER: &str = "[question]\nask = What does a slower disk cost?\nworkload = read.ini\n\
                      bet = throughput -5% .. -25%\n[arm fast]\n[arm slow]\n\
                      option.service = 1.2ms\n";

fn slower() -> TestFolder {
    let place = place();
    place.write("read.ini", READ.replace("sim:mm1", "sim:mm1?service=1ms"));
    place.write("slower.ini", SLOWER);
    place
}

#[test]
fn experiment_is_answered_in_a_sentence_with_an_interval() {
    let place = slower();
    let line = ["run", "slower.ini", "--virtual", "--full", "--out", "r.assay"];
    let ran = place.assay(&line).expect(0);
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.starts_with("`slow` lowers throughput(read) by 1"), "{first}");
    assert!(first.ends_with("8 interleaved pairs)"), "{first}");
    for words in [
        "question   What does a slower disk cost?",
        "\nVALID: 16 runs, no check objects\n  fast: 8 runs\n  slow: 8 runs\n",
        "bet        throughput -5% .. -25%: held",
        "limiter    fast: ",
        "arm        slow: option.service = 1.2ms",
        "pairs of throughput(read)",
        "* exploratory",
        "command    assay run slower.ini --virtual",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(ran.stderr.starts_with("experiment: 2 arms, 16 to 40 runs"), "{}", ran.stderr);
    assert!(ran.stderr.contains("run 16 of at most 40: round 8"), "{}", ran.stderr);
    assert_eq!(place.assay(&["report", "r.assay", "--full"]).expect(0).stdout, ran.stdout);
    let again = [&line[..4], &["--out", "again.assay", "--quiet"]].concat();
    let again = place.assay(&again).expect(0);
    let renamed = without_notes(&again.stdout).replace("again.assay", "r.assay");
    assert_eq!(renamed, without_notes(&ran.stdout));
    assert_eq!(again.stderr, "");
}

#[test]
fn metric_without_a_name_is_that_of_the_only_mix() {
    let place = slower();
    let mix = "[shop]\nmix = look: 3, buy: 1\nconcurrency = 2\n[look]\nquery = select 1\n[buy]\n\
               query = select 2\n";
    place.write("read.ini", format!("url = sim:mm1?service=1ms\nduration = 10s\n{mix}"));
    let line = ["run", "slower.ini", "--virtual", "--quiet", "--full", "--out", "r.assay"];
    let ran = place.assay(&line).expect(0);
    assert!(ran.stdout.starts_with("`slow` lowers throughput(shop) by 1"), "{}", ran.stdout);
    assert!(ran.stdout.contains("throughput -5% .. -25%: held"), "{}", ran.stdout);
    let limit = ["compare", "r.assay", "--fail-on", "throughput < -3%"];
    let ran = place.assay(&limit).expect(1);
    assert!(ran.stdout.contains("throughput < -3%: exceeded in `r.assay#slow`"), "{}", ran.stdout);
    let limits = "throughput(shop/look) < -90%, throughput < -3%";
    let ran = place.assay(&["compare", "r.assay", "--fail-on", limits]).expect(1);
    assert!(ran.stdout.contains("throughput(shop/look) < -90%: not exceeded"), "{}", ran.stdout);
}

#[test]
fn document_of_an_experiment_keeps_to_its_schema() {
    let place = slower();
    let line = ["run", "slower.ini", "--virtual", "--out", "r.assay", "--json", "--quiet"];
    let document = place.assay(&line).expect(0).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["verdict"], "VALID");
    let throughput = &document["comparison"][0];
    assert_eq!(throughput["metric"], "throughput");
    assert_eq!(throughput["verdict"], "worse");
    assert_eq!(throughput["bets"][0]["outcome"], "held");
    assert_eq!(document["runs"].as_array().unwrap().len(), 16);
}

#[test]
fn single_run_of_an_experiment_is_reported_and_exported() {
    let place = slower();
    place.assay(&["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    let report = place.assay(&["report", "r.assay", "--run", "3", "--json"]).expect(0).json();
    assert_matches_schema("schemas/summary.schema.json", &report);
    place.assay(&["export", "r.assay", "--run", "3", "--format", "json"]).expect(0);
    let ran = place.assay(&["report", "r.assay", "--run", "99"]).expect(2);
    assert!(ran.stderr.contains("has no run 99"), "{}", ran.stderr);
    let ran = place.assay(&["export", "r.assay", "--format", "json"]).expect(2);
    assert!(ran.stderr.contains("name one of its runs with --run"), "{}", ran.stderr);
}

#[test]
fn complete_experiment_is_not_resumed() {
    let place = slower();
    place.assay(&["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"]).expect(0);
    let ran = place.assay(&["run", "slower.ini", "--virtual", "--resume", "r.assay"]).expect(2);
    assert!(ran.stderr.contains("is complete"), "{}", ran.stderr);
    let ran = place.assay(&["run", "read.ini", "--virtual", "--resume", "r.assay"]).expect(2);
    assert!(ran.stderr.contains("only experiments can be resumed"), "{}", ran.stderr);
}

#[test]
fn killed_experiment_is_resumed_to_the_same_runs_looks_and_answer() {
    let place = slower();
    place.write("read.ini", READ.replace("10s", "60s").replace("mm1", "mm1?service=1ms"));
    let line = ["run", "slower.ini", "--virtual", "--full", "--out", "r.assay"];
    let expected = without_notes(&place.assay(&line).expect(0).stdout);
    let cut = ["run", "slower.ini", "--virtual", "--out", "cut.assay"];
    let mut running = place.start_in_lockstep(&cut);
    running.wait_for_line("run 10 of at most 40: round 5, ");
    running.signal(Signal::SIGKILL);
    running.wait_for_end();
    let kept = number(&place.at("cut.assay"), "select count(*) from run");
    assert!((9..16).contains(&kept), "{kept}");
    let unfinished = place.assay(&["report", "cut.assay"]).expect(3);
    assert!(unfinished.stdout.contains("No answer"), "{}", unfinished.stdout);
    let resumed = ["run", "slower.ini", "--virtual", "--resume", "cut.assay"];
    let longer = [&resumed[..], &["--duration", "70s"]].concat();
    let ran = place.assay(&longer).expect(2);
    assert!(ran.stderr.contains("its options have changed"), "{}", ran.stderr);
    let ran = place.assay(&[&resumed[..], &["--full"]].concat()).expect(0);
    assert_eq!(without_notes(&ran.stdout).replace("cut.assay", "r.assay"), expected);
    assert!(ran.stderr.contains(&format!("run {} of", kept + 1)), "{}", ran.stderr);
    assert!(!ran.stderr.contains(&format!("run {kept} of")), "{}", ran.stderr);
    let [whole, resumed] = ["r.assay", "cut.assay"].map(|record| record_content(&place.at(record)));
    assert_eq!(resumed, whole);
    for (table, rows) in [("run", 16), ("look", 1)] {
        let of_table = |row: &&String| row.starts_with(&format!("{table} "));
        assert_eq!(whole.iter().filter(of_table).count(), rows, "{table}");
    }
    let names = place.names();
    assert_eq!(names, ["cut.assay", "more.ini", "r.assay", "read.ini", "slower.ini"]);
}

#[test]
fn warm_up_that_is_found_holds_for_a_round() {
    let place = slower();
    let workload = READ.replace("sim:mm1", "sim:mm1?service=1ms").replace("10s", "60s");
    place.write("read.ini", workload.replace("concurrency = 2", "concurrency = 2\nthink = 40ms"));
    let line = ["run", "slower.ini", "--virtual", "--warmup", "auto", "--out", "r.assay"];
    let ran = place.assay(&line);
    assert!(matches!(ran.code, 0 | 3), "{}", ran.stderr);
    assert_eq!(place.assay(&["report", "r.assay"]).stdout, ran.stdout);
    let windows: Vec<serde_json::Value> = ["1", "2"]
        .map(|run| place.assay(&["report", "r.assay", "--run", run, "--json"]).json())
        .map(|document| document["window"]["start_s"].clone())
        .to_vec();
    assert!(!windows[0].is_null(), "{windows:?}");
    assert_eq!(windows[0], windows[1]);
}
