//! Comparisons of recorded runs on the command line.

use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::support::{CommandResult, TestFolder};

const READ: &str = "duration = 4s\nwarmup = 1s\n[read]\nquery = select 1\nconcurrency = 2\n";

const FAST: &str = "sim:mm1?service=1ms";
const SLOW: &str = "sim:mm1?service=1.2ms";

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("read.ini", READ);
    place
}

/// Runs `read.ini` with different seeds, recorded in `NAME-1.assay` and so on.
fn runs(place: &TestFolder, name: &str, url: &str, number: u32, more: &[&str]) {
    for run in 1..=number {
        let (record, seed) = (format!("{name}-{run}.assay"), format!("{}{run}", name.len()));
        let line = ["run", "read.ini", "--virtual", "--quiet", "--url", url, "--out", &record];
        let ran = place.assay(&[&line[..], &["--seed", &seed], more].concat());
        assert!([0, 3, 130].contains(&ran.code), "{}", ran.stderr);
    }
}

/// Runs an experiment about a slower server.
fn experiment(place: &TestFolder, record: &str, service: &str, seed: &str) {
    let question = format!(
        "[question]\nask = What does a slower disk cost?\nworkload = read.ini\n\
         bet = throughput -5% .. -25%\n[arm fast]\n[arm slow]\noption.service = {service}\n"
    );
    place.write("slower.ini", question);
    let line = ["run", "slower.ini", "--virtual", "--quiet", "--url", FAST, "--out", record];
    place.assay(&[&line[..], &["--seed", seed]].concat()).expect(0);
}

fn first_line(ran: &CommandResult) -> &str {
    ran.stdout.lines().next().unwrap_or_default()
}

#[test]
fn groups_of_single_runs_are_compared_with_a_remark_about_drift() {
    let place = place();
    runs(&place, "main", FAST, 4, &[]);
    runs(&place, "pr", SLOW, 4, &[]);
    let ran = place.assay(&["compare", "main-*.assay", "pr-?.assay"]).expect(0);
    let first = first_line(&ran);
    assert!(first.starts_with("`pr-?.assay` lowers throughput(read) by 1"), "{first}");
    assert!(first.ends_with("4 and 4 runs, not interleaved)"), "{first}");
    for words in [
        "Not interleaved: the changes contain the drift of the machine",
        "\nVALID\n  main-*.assay: 4 runs\n  pr-?.assay: 4 runs\n",
        "differs    target is `sim:mm1?service=1ms` in `main-*.assay`",
        "* exploratory",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("pairs of"), "{}", ran.stdout);
    let document = place.assay(&["compare", "main-*.assay", "pr-?.assay", "--json"]).expect(0);
    let document = document.json();
    assert_matches_schema("schemas/comparison.schema.json", &document);
    assert_eq!((&document["interleaved"], &document["verdict"]), (&false.into(), &"VALID".into()));
    let row = &document["comparison"][0];
    assert_eq!((&row["verdict"], &row["pairs"]), (&"worse".into(), &Value::Null));
    assert_eq!(row["run_values"][0].as_array().unwrap().len(), 4);
}

#[test]
fn group_has_the_most_frequent_limiter_of_its_runs() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", SLOW, 2, &[]);
    let ran = place.assay(&["compare", "main-*.assay", "pr-*.assay", "--json"]).expect(0);
    let document = ran.json();
    assert_matches_schema("schemas/comparison.schema.json", &document);
    let limiters = &document["comparison"][0]["limiters"];
    for (index, group) in document["groups"].as_array().unwrap().iter().enumerate() {
        let limiter = &group["limiter"];
        assert_eq!(limiter["component"], limiters[index], "{limiter}");
        assert_eq!(limiter["of"], 2, "{limiter}");
        assert!(limiter["because"].as_str().is_some_and(|it| !it.is_empty()), "{limiter}");
    }
}

#[test]
fn baseline_may_be_named_by_an_option() {
    let place = place();
    runs(&place, "main", FAST, 3, &[]);
    runs(&place, "pr", SLOW, 3, &[]);
    for line in [
        &["compare", "--baseline", "main-*.assay", "pr-*.assay"][..],
        &["compare", "pr-*.assay", "main-*.assay", "--baseline", "main-*.assay"],
    ] {
        let ran = place.assay(line).expect(0);
        assert!(first_line(&ran).starts_with("`pr-*.assay` lowers"), "{}", ran.stdout);
    }
}

#[test]
fn one_run_against_one_run_has_figures_and_no_verdict() {
    let place = place();
    runs(&place, "main", FAST, 1, &[]);
    runs(&place, "pr", SLOW, 1, &[]);
    let ran = place.assay(&["compare", "main-1.assay", "pr-1.assay"]).expect(3);
    assert!(first_line(&ran).starts_with("No claim about throughput(read)"), "{}", ran.stdout);
    for words in ["a single run has no scatter", "Repeat the runs, at least 6", "requests/s"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let limit = ["compare", "main-1.assay", "pr-1.assay", "--fail-on", "throughput < -3%"];
    let ran = place.assay(&limit).expect(3);
    let words = "throughput < -3%: undecided in `pr-1.assay`: a single run has no scatter";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

/// Expects the answer to advise quotes around patterns if several records seem to belong to one
/// group. The shell expands a pattern without quotes to one argument per file.
#[test]
fn records_that_are_named_one_by_one_are_no_groups() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", SLOW, 1, &[]);
    let ran = place.assay(&["compare", "main-1.assay", "main-2.assay", "pr-1.assay"]).expect(3);
    assert!(ran.stdout.contains("quote their patterns, as in"), "{}", ran.stdout);
    let ran = place.assay(&["compare", "main-1.assay", "pr-1.assay"]).expect(3);
    assert!(!ran.stdout.contains("quote their patterns"), "{}", ran.stdout);
}

#[test]
fn arms_of_one_experiment_are_compared_as_in_its_report() {
    let place = place();
    experiment(&place, "e.assay", "1.2ms", "5");
    let report = place.assay(&["report", "e.assay", "--full"]).expect(0);
    for line in [&["compare", "e.assay"][..], &["compare", "e.assay#fast", "e.assay#slow"]] {
        let ran = place.assay(line).expect(0);
        let expected = first_line(&report).replace("`slow` lowers", "`e.assay#slow` lowers");
        assert_eq!(first_line(&ran), expected);
        assert!(ran.stdout.contains("pairs of throughput(read)"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("Not interleaved"), "{}", ran.stdout);
    }
    let whole = place.assay(&["compare", "e.assay"]).expect(0);
    assert!(whole.stdout.contains("bet        throughput -5% .. -25%: held"), "{}", whole.stdout);
    let reversed = place.assay(&["compare", "e.assay", "--baseline", "e.assay#slow"]).expect(0);
    assert!(first_line(&reversed).starts_with("`e.assay#fast` raises"), "{}", reversed.stdout);
    let ran = place.assay(&["compare", "e.assay#fast", "e.assay#slwo"]).expect(2);
    assert!(ran.stderr.contains("no arm `slwo`") && ran.stderr.contains("`slow`?"), "{ran:?}");
}

#[test]
fn second_execution_confirms_or_contradicts_the_first() {
    let place = place();
    experiment(&place, "first.assay", "1.2ms", "5");
    experiment(&place, "second.assay", "1.2ms", "77");
    experiment(&place, "other.assay", "2ms", "9");
    let agree = ["compare", "first.assay", "second.assay", "--json"];
    let document = place.assay(&agree).expect(0).json();
    assert_matches_schema("schemas/comparison.schema.json", &document);
    let repetition = &document["repetitions"][0];
    assert_eq!(repetition["execution"], "second.assay");
    assert_eq!(repetition["outcome"], "holds");
    let arms: Vec<&Value> =
        document["comparison"].as_array().unwrap().iter().map(|row| &row["arm"]).collect();
    assert!(arms.contains(&&"second.assay#fast".into()), "{arms:?}");
    let line = ["compare", "first.assay", "other.assay", "--junit", "cases.xml"];
    let ran = place.assay(&line).expect(1);
    let words = "other.assay: The first answer is contradicted (first.assay)";
    assert_eq!(first_line(&ran), words);
    assert!(ran.stdout.contains("Not interleaved"), "{}", ran.stdout);
    let cases = std::fs::read_to_string(place.at("cases.xml")).unwrap();
    let case = "assay.repetition\" name=\"other.assay: slow: throughput(read)\"><failure";
    assert!(cases.contains(case), "{cases}");
}

#[test]
fn arms_that_share_only_their_names_are_no_executions() {
    let place = place();
    experiment(&place, "first.assay", "1.2ms", "5");
    let question = std::fs::read_to_string(place.at("slower.ini")).unwrap();
    place.write("slower.ini", question.replace("option.service = 1.2ms", "option.noise = 0.01"));
    let line = ["run", "slower.ini", "--virtual", "--quiet", "--url", FAST, "--out", "o.assay"];
    place.assay(&line).expect(0);
    let ran = place.assay(&["compare", "first.assay", "o.assay"]).expect(2);
    let words = "the arms of `first.assay` are fast, slow (option.service), and those of `o.assay` \
                 are fast, slow (option.noise)";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    // A statement after a run does not change the run.
    let cleaned = question.replace("= 1.2ms", "= 1.2ms\nafter = select 1");
    let cleaned = cleaned.replace("[arm fast]", "differences = several\n[arm fast]");
    place.write("slower.ini", cleaned);
    let line = [&line[..6], &["--out", "cleaned.assay", "--seed", "6"]].concat();
    place.assay(&line).expect(0);
    let ran = place.assay(&["compare", "first.assay", "cleaned.assay"]).expect(0);
    assert_eq!(first_line(&ran), "cleaned.assay: The first answer holds (first.assay)");
}

#[test]
fn regressions_of_an_experiment_are_judged_against_its_first_execution() {
    let place = place();
    experiment(&place, "main.assay", "1.2ms", "5");
    let limits = "throughput < -3%, response.p99 > +10%";
    let line = ["compare", "--baseline", "main.assay", "pr.assay", "--fail-on", limits];
    experiment(&place, "pr.assay", "2ms", "77");
    let ran = place.assay(&line).expect(1);
    for words in ["throughput < -3%", "response.p99 > +10%"] {
        let words = format!("{words}: exceeded in `pr.assay#slow`");
        assert!(ran.stdout.contains(&words), "{words}: {}", ran.stdout);
    }
    std::fs::remove_file(place.at("pr.assay")).unwrap();
    experiment(&place, "pr.assay", "1.2ms", "77");
    let ran = place.assay(&line).expect(0);
    let words = "throughput < -3%: not exceeded in `pr.assay#slow`";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
    assert!(!ran.stdout.contains(": exceeded"), "{}", ran.stdout);
}

#[test]
fn arm_of_an_experiment_is_compared_with_single_runs() {
    let place = place();
    runs(&place, "main", FAST, 4, &[]);
    experiment(&place, "e.assay", "1.2ms", "5");
    let line = ["compare", "main-*.assay", "e.assay#slow", "--json"];
    let document = place.assay(&line).expect(0).json();
    assert_eq!(document["interleaved"], false);
    let row = &document["comparison"][0];
    assert_eq!((&row["arm"], &row["verdict"]), (&"e.assay#slow".into(), &"worse".into()));
    let line = ["compare", "e.assay#fast", "main-*.assay", "--fail-on", "throughput < -10%"];
    let ran = place.assay(&line).expect(0);
    let words = "throughput < -10%: not exceeded in `main-*.assay`";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn first_arm_may_be_the_baseline_of_all_other_arms() {
    let place = place();
    experiment(&place, "e.assay", "1.2ms", "5");
    experiment(&place, "f.assay", "2ms", "77");
    let line = ["compare", "e.assay", "./f.assay", "--baseline", "./e.assay#fast", "--json"];
    let document = place.assay(&line).expect(0).json();
    assert_eq!(document["repetitions"].as_array().unwrap().len(), 0);
    let rows = document["comparison"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["baseline"] == "e.assay#fast"), "{rows:?}");
    assert!(rows.iter().any(|row| row["arm"] == "./f.assay#slow"), "{rows:?}");
}

#[test]
fn run_is_recognised_however_its_record_is_named() {
    let place = place();
    runs(&place, "main", FAST, 1, &[]);
    experiment(&place, "e.assay", "1.2ms", "5");
    let line = ["compare", "main-1.assay", "./main-1.assay"];
    let ran = place.assay(&line).expect(2);
    let words = "./main-1.assay is the run main-1.assay: no run is compared with itself";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    let ran = place.assay(&["compare", "e.assay#fast", "./e.assay#fast"]).expect(2);
    assert!(ran.stderr.contains("no run is compared with itself"), "{}", ran.stderr);
    let ran = place.assay(&["compare", "e.assay#fast", "./e.assay#slow"]).expect(0);
    assert!(ran.stdout.contains("interleaved pairs"), "{}", ran.stdout);
}

#[test]
fn copy_of_a_run_is_recognised_in_real_time() {
    let place = place();
    for record in ["main-1.assay", "main-2.assay"] {
        let line = ["run", "read.ini", "--quiet", "--url", FAST, "--out", record];
        let ran = place.assay(&[&line[..], &["--duration", "2s"]].concat());
        assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    }
    std::fs::copy(place.at("main-1.assay"), place.at("main-3.assay")).unwrap();
    place.assay(&["note", "main-3.assay", "a copy"]).expect(0);
    let ran = place.assay(&["compare", "main-2.assay", "main-1.assay", "main-3.assay"]);
    ran.refuses(&[
        "main-3.assay is the run main-1.assay: no run is compared with itself",
        "leave out the copy",
    ]);
    // Two runs with one seed.
    let ran = place.assay(&["compare", "main-1.assay", "main-2.assay", "--despite", "invalid"]);
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
}

/// Checks that groups are refused because a run of the second group is also in the first.
#[track_caller]
fn assert_groups_share_a_run(place: &TestFolder, groups: [&str; 2], words: [&str; 2]) {
    let ran = place.assay(&["compare", groups[0], groups[1]]);
    let [run, first] = words;
    let remedy = "run it with another --seed: in virtual time, one seed makes one run";
    let ran = ran.refuses(&["no run is compared with itself", remedy]);
    let is_named = |line: &str| {
        line.starts_with(&format!("error: {run}")) && line.contains(&format!(" is the run {first}"))
    };
    assert!(ran.stderr.lines().any(is_named), "{run}, {first}: {}", ran.stderr);
}

/// In virtual time, each seed gives exactly one run, so a repetition is a copy just like a copied
/// file.
#[test]
fn copies_and_repetitions_of_virtual_runs_are_no_further_evidence() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    let copy = |from: &str, to: &str| std::fs::copy(place.at(from), place.at(to)).unwrap();
    copy("main-1.assay", "copy.assay");
    // A run with the seed of the group's second run, but with another file name and a label.
    std::fs::copy(place.at("read.ini"), place.at("again.ini")).unwrap();
    let line = ["run", "again.ini", "--virtual", "--quiet", "--url", FAST, "--label", "again"];
    place.assay(&[&line[..], &["--seed", "42", "--out", "again.assay"]].concat()).expect(0);
    for (record, first) in [("copy.assay", "main-1.assay"), ("again.assay", "main-2.assay")] {
        assert_groups_share_a_run(&place, ["main-*.assay", record], [record, first]);
    }
    experiment(&place, "e.assay", "1.2ms", "5");
    copy("e.assay", "copied.assay");
    experiment(&place, "repeated.assay", "1.2ms", "5");
    let exported = ["export", "e.assay", "--run", "2", "--format", "assay", "--out", "2.assay"];
    place.assay(&exported).expect(0);
    for record in ["copied.assay", "repeated.assay"] {
        let words = [&format!("{record}#fast, run "), "e.assay#fast, run "];
        assert_groups_share_a_run(&place, ["e.assay", record], words);
    }
    let arm: String = rusqlite::Connection::open(place.at("e.assay"))
        .unwrap()
        .query_row("select arm from run where run = 2", [], |row| row.get(0))
        .unwrap();
    let run = format!("e.assay#{arm}, run 2:");
    assert_groups_share_a_run(&place, [&format!("e.assay#{arm}"), "2.assay"], ["2.assay", &run]);
}

/// Expects equal arms to be compared. Without random times, the arms of an experiment have the same
/// figures, but they are not copies.
#[test]
fn equal_arms_of_one_experiment_are_compared() {
    let place = TestFolder::new();
    place.write("read.ini", "duration = 4s\n[read]\nquery = select 1\nconcurrency = 1\n");
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\ndesign = aa\n";
    place.write("aa.ini", format!("{question}[arm same]\n"));
    let line = ["run", "aa.ini", "--virtual", "--quiet", "--url", "sim:md1?service=1ms"];
    place.assay(&[&line[..], &["--out", "e.assay"]].concat()).expect(0);
    let document = place.assay(&["compare", "e.assay", "--json"]).expect(0).json();
    let row = &document["comparison"][0];
    assert_eq!((&row["pairs"], &row["change_percent"]), (&6.into(), &0.0.into()), "{row}");
}

#[test]
fn arm_whose_name_has_a_number_sign_is_compared() {
    let place = place();
    let arms = "[arm a]\n[arm b#2]\noption.service = 1.2ms\n";
    let question = format!("[question]\nask = ?\nworkload = read.ini\nrounds = 6\n{arms}");
    place.write("two.ini", question);
    let line = ["run", "two.ini", "--virtual", "--quiet", "--url", FAST, "--out", "e.assay"];
    place.assay(&line).expect(0);
    let ran = place.assay(&["compare", "e.assay#a", "e.assay#b#2"]).expect(0);
    assert!(ran.stdout.contains("`e.assay#b#2` lowers throughput(read)"), "{}", ran.stdout);
    let ran = place.assay(&["compare", "e.assay", "--baseline", "e.assay#b#2"]).expect(0);
    assert!(ran.stdout.contains("`e.assay#a` raises throughput(read)"), "{}", ran.stdout);
    let ran = place.assay(&["compare", "e.assay#a", "e.assay#b#3"]).expect(2);
    assert!(ran.stderr.contains("no arm `b#3`") && ran.stderr.contains("`b#2`?"), "{ran:?}");
}

#[test]
fn every_run_of_an_arm_must_be_complete() {
    let place = place();
    experiment(&place, "e.assay", "1.2ms", "5");
    let connection = rusqlite::Connection::open(place.at("e.assay")).unwrap();
    let cut = "update meta set value = 'stopped-by-error' where key = 'ended' and run =
               (select max(run) from run where arm = 'slow')";
    assert_eq!(connection.execute(cut, []).unwrap(), 1);
    drop(connection);
    let words = "ended early: an error stopped it";
    refused(&place, ["e.assay#fast", "e.assay#slow"], "incomplete", words);
}

#[test]
fn experiment_that_cannot_be_resumed_has_another_remedy() {
    let place = place();
    for (state, reason, remedy) in [
        ("interrupted", "not complete", "complete the experiment with `assay run --resume`"),
        (
            "instrument-failed",
            "the load generator or the machine failed in too many rounds",
            "find the cause with `assay doctor`, and run the experiment anew",
        ),
        (
            "not-observed",
            "the quantity of `until` in [saturate] was not observed",
            "write another condition, or find the cause with `assay doctor`",
        ),
    ] {
        experiment(&place, "e.assay", "1.2ms", "5");
        let connection = rusqlite::Connection::open(place.at("e.assay")).unwrap();
        let set = "update experiment set value = ?1 where key = 'state'";
        connection.execute(set, [state]).unwrap();
        drop(connection);
        let ran = place.assay(&["compare", "e.assay"]).expect(3);
        for words in [reason, remedy] {
            assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
        }
        std::fs::remove_file(place.at("e.assay")).unwrap();
    }
}

#[test]
fn answer_without_scatter_is_not_an_error_in_test_cases() {
    let place = TestFolder::new();
    place.write("read.ini", "duration = 20s\n[read]\nquery = select 1\nrate = 100\n");
    let question = "[question]\nask = Slower?\nworkload = read.ini\nrounds = 6\n\
                    bet = response.p50 +0% .. +40%\n[arm fast]\n[arm slow]\n\
                    option.service = 1.2ms\n";
    place.write("slower.ini", question);
    let url = "sim:md1?service=1ms";
    let line = ["run", "slower.ini", "--virtual", "--quiet", "--url", url, "--out", "e.assay"];
    place.assay(&[&line[..], &["--junit", "run.xml"]].concat()).expect(0);
    place.assay(&["compare", "e.assay", "--junit", "compare.xml"]).expect(0);
    for name in ["run.xml", "compare.xml"] {
        let cases = std::fs::read_to_string(place.at(name)).unwrap();
        assert!(cases.contains("assay.comparison") && !cases.contains("<error"), "{name}: {cases}");
    }
}

#[test]
fn answer_is_given_as_markdown_and_test_cases() {
    let place = place();
    runs(&place, "main", FAST, 3, &[]);
    runs(&place, "pr", SLOW, 3, &[]);
    let line = ["compare", "main-*.assay", "pr-*.assay", "--fail-on", "throughput < -3%"];
    let more = ["--markdown", "--junit", "cases.xml"];
    let ran = place.assay(&[&line[..], &more].concat()).expect(1);
    assert!(ran.stdout.lines().count() <= 40, "{}", ran.stdout);
    for words in ["throughput(read)", "Not interleaved", "**VALID**", "exceeded", "<details>"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let cases = std::fs::read_to_string(place.at("cases.xml")).unwrap();
    assert!(cases.contains("<failure") && cases.contains("exceeded in `pr-*.assay`"), "{cases}");
}

/// Checks that a comparison is refused with an objection, and accepted with `--despite` and the
/// objection's name.
fn refused(place: &TestFolder, records: [&str; 2], name: &str, words: &str) {
    let line = [&["compare"][..], &records].concat();
    let ran = place.assay(&line).expect(3);
    assert!(first_line(&ran).starts_with("Not compared: "), "{}", ran.stdout);
    assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    let despite = format!("--despite {name}\n");
    assert!(ran.stdout.contains(&despite), "{despite}: {}", ran.stdout);
    let document = place.assay(&[&line[..], &["--json"]].concat()).expect(3).json();
    assert_matches_schema("schemas/comparison.schema.json", &document);
    assert_eq!(document["refused"], true);
    assert_eq!(document["comparison"].as_array().unwrap().len(), 0);
    let accepted = [&line[..], &["--despite", name, "--json"]].concat();
    let document = place.assay(&accepted).json();
    let objections = document["objections"].as_array().unwrap();
    let of_name = objections.iter().filter(|one| one["name"] == name);
    assert!(of_name.clone().count() > 0 && of_name.clone().all(|one| one["accepted"] == true));
}

#[test]
fn different_plan_is_refused() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    place.write("read.ini", READ.replace("concurrency = 2", "concurrency = 3"));
    runs(&place, "pr", FAST, 2, &[]);
    let words = "the plan of pr-1.assay differs from that of main-1.assay: concurrency of [read] \
                 is `3`, was `2`";
    refused(&place, ["main-*.assay", "pr-*.assay"], "plan", words);
    let despite = ["compare", "main-*.assay", "pr-*.assay", "--despite", "plan"];
    let ran = place.assay(&despite).expect(0);
    assert!(ran.stdout.contains("\nSUSPECT\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("accepted (plan): the plan of pr-1.assay"), "{}", ran.stdout);
    place.assay(&[&despite[..], &["--strict"]].concat()).expect(3);
}

#[test]
fn long_statements_of_other_plans_are_on_one_line_with_their_difference() {
    let place = place();
    for (group, id) in [("main", 7), ("pr", 8)] {
        let query = format!(
            "query = select id, customer, amount, note \\\n    from orders \\\n    where \
             customer = 5 and id = {id}\n"
        );
        place.write("read.ini", READ.replace("query = select 1\n", &query));
        runs(&place, group, FAST, 2, &[]);
    }
    let words = "query of [read] is `select id, customer,… and id = 8`, was `select id, \
                 customer,… and id = 7`";
    refused(&place, ["main-*.assay", "pr-*.assay"], "plan", words);
}

#[test]
fn different_content_of_an_input_file_is_refused() {
    let place = place();
    let with_ids = "[read]\nquery = select ${1}\nquery-args-file = ids.csv\n";
    let workload = READ.replace("[read]\nquery = select 1\n", with_ids);
    place.write("read.ini", &workload);
    let ids: String = (1..=10_000).map(|id| format!("{id}\n")).collect();
    place.write("ids.csv", &ids);
    runs(&place, "main", FAST, 2, &[]);
    let question = "[question]\nask = ?\nworkload = read.ini\n[arm a]\n[arm b]\n\
                    option.service = 2ms\n";
    place.write("q.ini", question);
    let line = ["run", "q.ini", "--virtual", "--quiet", "--url", FAST, "--out", "e.assay"];
    place.assay(&line).expect(0);
    place.write("read.ini", format!("; the same plan\n{workload}"));
    runs(&place, "equal", FAST, 2, &[]);
    place.assay(&["compare", "main-*.assay", "equal-*.assay"]).expect(0);
    place.write("ids.csv", ids.replace("17\n", "18\n"));
    runs(&place, "pr", FAST, 2, &[]);
    for group in ["main-*.assay", "e.assay#a"] {
        let words = ": the SHA-256 of ids.csv is `";
        refused(&place, [group, "pr-*.assay"], "plan", words);
    }
}

#[test]
fn different_size_of_the_data_is_refused() {
    let place = place();
    place.write("read.ini", format!("{READ}[load t]\nrows = 100\ncolumns = id: row()\n"));
    runs(&place, "main", FAST, 2, &[]);
    place.write("read.ini", format!("{READ}[load t]\nrows = 300\ncolumns = id: row()\n"));
    runs(&place, "pr", FAST, 2, &[]);
    let words = "the size of the data of pr-1.assay differs from that of main-1.assay: rows of \
                 table t is `300`, was `100`";
    refused(&place, ["main-*.assay", "pr-*.assay"], "data", words);
}

#[test]
fn different_durability_is_refused() {
    let place = place();
    place.write("read.ini", "duration = 300ms\n[read]\nquery = select 1\nrate = 50\n");
    for (record, option) in [("full.assay", "full"), ("off.assay", "off")] {
        let url = format!("sqlite:a.db?synchronous={option}");
        let line = ["run", "read.ini", "--quiet", "--url", &url, "--out", record];
        place.assay(&line);
    }
    let words = "synchronous is `off`, was `full`";
    refused(&place, ["full.assay", "off.assay"], "durability", words);
}

#[test]
fn virtual_and_real_time_are_not_compared() {
    let place = place();
    place.write("read.ini", "duration = 300ms\n[read]\nquery = select 1\nrate = 50\n");
    runs(&place, "main", FAST, 2, &[]);
    let line = ["run", "read.ini", "--quiet", "--url", FAST, "--out", "real.assay"];
    place.assay(&line);
    refused(&place, ["main-*.assay", "real.assay"], "environment", "time is `real`, was `virtual`");
}

#[test]
fn invalid_runs_are_refused() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", "sim:mm1?service=1ms&errors=0.2", 2, &[]);
    let words = "2 runs of `pr-*.assay` INVALID (errors)";
    refused(&place, ["main-*.assay", "pr-*.assay"], "invalid", words);
}

#[test]
fn killed_runs_and_interrupted_experiments_are_refused() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", FAST, 2, &[]);
    let connection = rusqlite::Connection::open(place.at("pr-2.assay")).unwrap();
    connection.execute_batch("delete from seal; delete from meta where key like 'ended%'").unwrap();
    drop(connection);
    let words = "the run pr-2.assay was killed, or still runs";
    refused(&place, ["main-*.assay", "pr-*.assay"], "incomplete", words);
    experiment(&place, "e.assay", "1.2ms", "5");
    let connection = rusqlite::Connection::open(place.at("e.assay")).unwrap();
    connection.execute_batch("delete from experiment where key = 'state'").unwrap();
    drop(connection);
    let words = "the experiment of `e.assay#fast` is not complete";
    refused(&place, ["e.assay#fast", "e.assay#slow"], "incomplete", words);
}

#[test]
fn planted_regression_ends_with_exit_code_1_and_others_do_not() {
    let place = place();
    runs(&place, "main", FAST, 4, &[]);
    runs(&place, "slower", SLOW, 4, &[]);
    runs(&place, "equal", FAST, 4, &[]);
    let check = |group: &str, limits: &str, code: i32, words: &str| {
        let line = ["compare", "--baseline", "main-*.assay", group, "--fail-on", limits];
        let ran = place.assay(&line).expect(code);
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    };
    let words = "throughput < -3%: exceeded in `slower-*.assay`";
    check("slower-*.assay", "throughput < -3%", 1, words);
    let two = "response.p99(read) > +90%, throughput < -3%";
    check("slower-*.assay", two, 1, "response.p99(read) > +90%: not exceeded in `slower-*.assay`");
    check("slower-*.assay", "throughput < -50%", 0, "throughput < -50%: not exceeded");
    // A real change of about 16.7 %, which may be smaller than the limit, is not a failure.
    check("slower-*.assay", "throughput < -16.67%", 0, "throughput < -16.67%: undecided");
    check("equal-*.assay", "throughput < -10%", 0, "throughput < -10%: not exceeded");
}

#[test]
fn markdown_keeps_the_limit_that_was_exceeded() {
    let place = place();
    runs(&place, "main", FAST, 4, &[]);
    runs(&place, "pr", SLOW, 4, &[]);
    let kept = (1..=6).map(|more| format!("response.p50 > +{}%", 500 + more));
    let limits = kept.chain(["throughput < -3%".to_owned()]).collect::<Vec<String>>().join(", ");
    let line = ["compare", "main-*.assay", "pr-*.assay", "--markdown", "--fail-on", &limits];
    let ran = place.assay(&line).expect(1);
    assert!(ran.stdout.contains("- throughput < -3%: exceeded in"), "{}", ran.stdout);
    assert!(ran.stdout.contains("- … and 3 more\n"), "{}", ran.stdout);
}

#[test]
fn limit_on_failures_of_runs_without_any_says_why_it_is_undecided() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", FAST, 2, &[]);
    let line = ["compare", "main-*.assay", "pr-*.assay", "--fail-on", "failed > +0.1%"];
    let ran = place.assay(&line).expect(0);
    let words = "failed > +0.1%: undecided in `pr-*.assay`: the runs do not scatter";
    assert!(ran.stdout.contains(words), "{}", ran.stdout);
}

#[test]
fn limits_that_cannot_be_judged_are_errors() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    runs(&place, "pr", FAST, 2, &[]);
    let check = |limits: &str, words: &[&str]| {
        let line = ["compare", "main-*.assay", "pr-*.assay", "--fail-on", limits];
        let ran = place.assay(&line).expect(2);
        for words in words {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
    };
    check("thoughput < -3%", &["--fail-on:1:1", "unknown metric `thoughput`", "`throughput`"]);
    check("throughput(raed) < -3%", &["the runs have no `throughput(raed)`", "(read)`?"]);
    check("throughput > +3%", &["is an improvement"]);
    check("load < -3%", &["the runs have no `load`"]);
}

#[test]
fn limit_on_a_metric_that_the_load_hides_has_no_verdict() {
    let place = place();
    place.write("read.ini", "duration = 1m\n[read]\nquery = select 1\nrate = 500\n");
    runs(&place, "main", FAST, 3, &[]);
    runs(&place, "pr", "sim:mm1?service=4ms", 3, &[]);
    let line = ["compare", "main-*.assay", "pr-*.assay", "--despite", "invalid"];
    let ran = place.assay(&[&line[..], &["--fail-on", "response.p99 > +10%"]].concat()).expect(3);
    assert!(ran.stdout.contains("response.p99 > +10%: not judged"), "{}", ran.stdout);
    let ran = place.assay(&[&line[..], &["--fail-on", "throughput < -3%"]].concat()).expect(2);
    assert!(ran.stderr.contains("is the rate that the file asks for"), "{}", ran.stderr);
}

#[test]
fn files_that_cannot_be_compared_are_errors() {
    let place = place();
    runs(&place, "main", FAST, 2, &[]);
    experiment(&place, "e.assay", "1.2ms", "5");
    place.write("text.assay", "no record");
    let check = |records: &[&str], words: &str| {
        let ran = place.assay(&[&["compare"][..], records].concat()).expect(2);
        assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
    };
    check(&["main-*.assay"], "there is one group of runs");
    check(&["main-*.assay", "none.assay"], "there is no file `none.assay`");
    check(&["main-*.assay", "none-*.assay"], "no file matches `none-*.assay`");
    check(&["main-*.assay", "text.assay"], "is not a record of Assay");
    check(&["main-*.assay", "main-1.assay"], "the run main-1.assay is named twice");
    check(&["main-1.assay#slow", "main-2.assay"], "is the record of a single run");
    check(&["main-1.assay", "*.assay"], "matches the record of an experiment, `e.assay`");
    let damaged = std::fs::read(place.at("main-1.assay")).unwrap();
    place.write("cut.assay", &damaged[..damaged.len() / 2]);
    check(&["main-2.assay", "cut.assay"], "is damaged");
}
