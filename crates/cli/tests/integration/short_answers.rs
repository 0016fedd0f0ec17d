//! Tests of the short answers of experiments: they fit a screen and end with the most important
//! lines.

use base::{Nanos, WallTime};

use crate::support::{CommandResult, Running, TestFolder};

/// Maximum height of an answer, in lines.
const MOST_LINES: usize = 40;

/// Maximum width of an answer, in columns.
const WIDTH: usize = 80;

const READ: &str = "url = sim:mm1?service=1ms\nduration = 10s\n[read]\nquery = select 1\n\
                    concurrency = 2\n";

/// Runs an experiment in virtual time.
fn ran(workload: &str, experiment: &str, code: i32) -> (TestFolder, CommandResult) {
    let place = TestFolder::with(workload);
    place.write("e.ini", format!("[question]\nask = Which?\nworkload = w.ini\n{experiment}"));
    let line = ["run", "e.ini", "--virtual", "--quiet", "--out", "r.assay"];
    let ran = place.assay(&line).expect(code);
    assert_eq!(place.assay(&["report", "r.assay"]).expect(code).stdout, ran.stdout);
    (place, ran)
}

/// Checks that an answer fits a screen, and that it ends with these texts in this order.
#[track_caller]
fn assert_ends_with(answer: &str, texts: &[&str]) {
    assert!(answer.lines().count() <= MOST_LINES, "{}: {answer}", answer.lines().count());
    for line in answer.lines().filter(|line| !line.contains("  assay ")) {
        assert!(line.chars().count() <= WIDTH, "{line}: {answer}");
    }
    // There is nothing to confirm about an INVALID answer.
    let repeat = match answer.starts_with("INVALID") {
        true => "\nrepeat  assay run e.ini --virtual\n",
        false => "\nrepeat  assay repeat r.assay\n",
    };
    let commands = [
        "\nmore    assay report r.assay --full\n",
        "        assay report r.assay --html r.html\n",
        repeat,
    ];
    let mut rest = answer;
    for text in texts.iter().chain(&commands) {
        let found = rest.find(text).unwrap_or_else(|| panic!("{text} is not in {rest}: {answer}"));
        // The line feed at the end of a text may also begin the next one.
        rest = &rest[found + text.trim_end_matches('\n').len()..];
    }
    assert!(!rest.trim_end().contains('\n'), "{rest}");
}

#[test]
fn answer_of_an_experiment_ends_with_verdict_limiter_and_sentence() {
    let arms = "bet = throughput -5% .. -25%\n[arm fast]\n[arm slow]\noption.service = 1.2ms\n";
    let (place, ran) = ran(READ, arms, 0);
    assert_ends_with(
        &ran.stdout,
        &[
            "question  Which?\n",
            "\nbaseline  fast: the workload as it is\n",
            "\narm       slow: option.service = 1.2ms\n",
            "\nbet  throughput -5% .. -25%: held\n",
            "\n  metric ",
            "\n  throughput(read) ",
            " worse\n",
            "\nVALID: 16 runs, no check objects\n  fast, slow: 8 runs each\n",
            "\nfast, slow: The limiter is unknown: ",
            "\n`slow` lowers throughput(read) by 1",
        ],
    );
    let full = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(full.starts_with("`slow` lowers throughput(read) by 1"), "{full}");
    assert!(full.contains("\npairs of throughput(read), in requests/s\n"), "{full}");
}

#[test]
fn commands_to_continue_name_the_record_as_it_was_given() {
    let place = TestFolder::with(READ);
    let arms = "[arm fast]\n[arm slow]\noption.service = 1.2ms\n";
    place.write("e.ini", format!("[question]\nask = Which?\nworkload = w.ini\n{arms}"));
    std::fs::create_dir(place.at("runs")).unwrap();
    let names = |file: &str, record: &str, more: &[&str]| {
        let line = [&["run", file, "--virtual", "--quiet"], more].concat();
        let ran = place.assay(&line).expect(0);
        let named = format!("\nmore    assay report {record} --full\n");
        assert!(ran.stdout.contains(&named), "{record}: {}", ran.stdout);
        assert_eq!(place.assay(&["report", record]).expect(0).stdout, ran.stdout);
    };
    let absolute = place.at("whole.assay").display().to_string();
    for file in ["w.ini", "e.ini"] {
        for record in [&format!("{file}.assay"), &format!("runs/{file}.assay"), &absolute] {
            names(file, record, &["--out", record]);
        }
        std::fs::remove_file(&absolute).unwrap();
    }
    for (file, prefix) in [("w.ini", "run-"), ("e.ini", "experiment-")] {
        let ran = place.assay(&["run", file, "--virtual", "--quiet"]).expect(0);
        let record = place.names().into_iter().find(|name| name.starts_with(prefix)).unwrap();
        let named = format!("\nmore    assay report {record} --full\n");
        assert!(ran.stdout.contains(&named), "{record}: {}", ran.stdout);
    }
}

/// Runs the command that an answer suggests for repeating its run or experiment.
fn pasted(place: &TestFolder, answer: &str) -> CommandResult {
    let command = answer.lines().find_map(|line| line.strip_prefix("repeat  assay "));
    let words: Vec<&str> = command.unwrap_or_else(|| panic!("{answer}")).split(' ').collect();
    place.assay(&words)
}

/// Several processes choose the names of their records at almost the same time, and each gets a
/// name of its own.
#[test]
fn records_that_begin_at_once_are_all_kept() {
    let place = TestFolder::with(READ);
    let arms = "[arm fast]\n[arm slow]\noption.service = 1.2ms\n";
    place.write("e.ini", format!("[question]\nask = Which?\nworkload = w.ini\n{arms}"));
    place.assay(&["run", "w.ini", "--virtual", "--quiet", "--out", "r.assay"]).expect(0);
    for (args, prefix) in [
        (&["run", "e.ini", "--virtual", "--quiet"][..], "experiment-"),
        (&["repeat", "r.assay", "--quiet"], "run-"),
    ] {
        let started: Vec<Running> = (0..8).map(|_| place.start(args)).collect();
        let record = |run: Running| {
            let answer = run.wait_for_end().expect(0).stdout;
            let (_, named) = answer.split_once("\nmore    assay report ").unwrap();
            named.split_once(" --full\n").unwrap().0.to_owned()
        };
        let mut named: Vec<String> = started.into_iter().map(record).collect();
        named.sort();
        let kept = place.names().into_iter().filter(|name| name.starts_with(prefix));
        assert_eq!(named, kept.collect::<Vec<String>>());
    }
}

/// Expects all records to be kept. A repetition can begin in the same second as the first run,
/// because runs in virtual time take almost no time.
#[test]
fn records_of_one_second_are_all_kept() {
    let place = TestFolder::new();
    place.write("w.ini", READ);
    let arms = "[arm fast]\n[arm slow]\noption.service = 1.2ms\n";
    place.write("e.ini", format!("[question]\nask = Which?\nworkload = w.ini\n{arms}"));
    let now = WallTime::now();
    for (file, prefix) in [("w.ini", "run"), ("e.ini", "experiment")] {
        // Takes the names of the next 120 seconds, which is longer than the test lasts.
        for second in 0..120 {
            let name = now.after(Nanos::from_secs(second)).compact();
            place.write(&format!("{prefix}-{name}.assay"), "taken");
        }
        let ran = place.assay(&["run", file, "--virtual", "--quiet"]).expect(0);
        pasted(&place, &ran.stdout).expect(0);
        let is_numbered = |name: &&String| name.starts_with(prefix) && name.contains("Z-");
        let names = place.names();
        assert_eq!(names.iter().filter(is_numbered).count(), 2, "{names:?}");
    }
}

#[test]
fn printed_command_repeats_a_file_of_another_folder() {
    let place = TestFolder::new();
    std::fs::create_dir(place.at("in")).unwrap();
    place.write("in/w.ini", READ);
    let question = "[question]\nask = Which?\nworkload = w.ini\n[arm fast]\n[arm slow]\n";
    place.write("in/e.ini", format!("{question}option.service = 1.2ms\n"));
    place.write("in/wrong.ini", format!("{question}option.errors = 0.5\n"));
    for (file, code) in [("in/w.ini", 0), ("in/e.ini", 0), ("in/wrong.ini", 3)] {
        let record = format!("{file}.assay");
        let ran = place.assay(&["run", file, "--virtual", "--quiet", "--out", &record]);
        pasted(&place, &ran.expect(code).stdout).expect(code);
    }
}

#[test]
fn every_objection_of_an_experiment_has_its_finding_and_remedy() {
    let arms = "[arm fast]\n[arm wrong]\noption.errors = 0.5\n";
    let (_place, ran) = ran(READ, arms, 3);
    assert!(ran.stdout.starts_with("INVALID\n\nquestion  Which?\n"), "{}", ran.stdout);
    assert_ends_with(
        &ran.stdout,
        &[
            "\nerrors  wrong [read] ",
            "\nINVALID, 8 of 16 runs: check errors objects\n",
            "\n  fast: 8 runs\n  wrong: 8 runs; 8 INVALID (errors)\n",
            "\n  errors  in 8 of 16 runs, worst in run ",
            "\n          What to do: read the first text of each error; ",
        ],
    );
}

#[test]
fn answer_of_an_arm_against_itself_ends_with_its_false_alarms() {
    let (_place, ran) = ran(READ, "design = aa\nrounds = 12\n[arm same]\n", 0);
    let words = ["\nVALID: 24 runs, ", "throughput(read)", "\nA/A: "];
    assert_ends_with(&ran.stdout, &words);
    let said = " of 2 comparisons of throughput(read) between equal arms found a difference; ";
    assert!(ran.stdout_line().contains(said), "{}", ran.stdout);
}

/// Expects only the points next to the best one: a screen has no room for nine points with two
/// arms.
#[test]
fn answer_of_a_sweep_has_the_points_next_to_the_best() {
    let url = "sim:usl?service=1ms&contention=0.02&coherency=0.004";
    let sweep = "[sweep]\nvary = concurrency(read): 1..256 x2\nbest = highest throughput(read)\n";
    let workload = READ.replace("sim:mm1?service=1ms", url);
    let (_place, ran) = ran(&workload, sweep, 0);
    assert_ends_with(
        &ran.stdout,
        &[
            "\nread by concurrency(read) (",
            "\n    8  ",
            "\n   16  ",
            "  best\n",
            "\n   32  ",
            "\nVALID: 27 runs, no check objects\nat 16, at 256: The limiter is unknown: ",
            "\nconcurrency(read) = 16: highest throughput(read), ",
        ],
    );
    let arms = "[arm fast]\n[arm slow]\noption.service = 1.2ms\n";
    let (_place, ran) = self::ran(&workload, &format!("{arms}{sweep}"), 0);
    assert_ends_with(
        &ran.stdout,
        &[
            " of 18\n",
            "\nArms against `fast` at each point",
            "\nfast: concurrency(read) = 16: ",
            "\nslow: concurrency(read) = 16: ",
        ],
    );
}

#[test]
fn answer_at_saturation_ends_with_the_load() {
    let workload = READ.replace("mm1?service=1ms", "mmc?service=10ms&servers=4");
    let arms = "rounds = 6\n[arm four]\n[arm slow]\noption.service = 12ms\n";
    let search = "[saturate]\nvary = concurrency(read)\nvalues = 1..64 x2\n\
                  until = throughput gains < 5%\n";
    let (_place, ran) = ran(&workload, &format!("{arms}{search}"), 0);
    assert_ends_with(
        &ran.stdout,
        &[
            "\nsaturate  concurrency(read): 1, 2, ",
            "\nSteps of [saturate] on `four`\n",
            "\n    3            4 ",
            "\n  metric ",
            "\nVALID: ",
            "\n`slow` lowers throughput(read) by 1",
            "\nLoad: concurrency(read) = ",
        ],
    );
}

#[test]
fn answer_of_a_search_has_the_trial_that_fails_next_to_it() {
    let place = TestFolder::new();
    let search = "url = sim:mm1?service=1ms\n[question]\nask = How much?\n[capacity]\n\
                  slo = p99(read) < 20ms\nvary = rate(read)\nhighest = 2k\n[read]\n\
                  query = select 1\n";
    place.write("e.ini", search);
    let line = ["run", "e.ini", "--virtual", "--quiet", "--out", "r.assay"];
    let ran = place.assay(&line).expect(0);
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    let capacity = &document["capacity"];
    let [sustained, fails] = ["sustained_per_s", "fails_per_s"]
        .map(|key| format!("{:.0}/s", capacity[key].as_f64().unwrap()));
    let all = capacity["trials"].as_u64().unwrap();
    assert_ends_with(
        &ran.stdout,
        &[
            "\nsearch    highest rate(read) with p99(read) < 20ms; ",
            "\nconfirmed  6 trials together: ",
            &format!("\n8 of {all} trials, nearest to the answer\n"),
            &format!("  {sustained}  "),
            "confirm 1 ",
            &format!("  {fails}  "),
            "  fail ",
            "\nVALID: 6 trials at the confirmed value, no check objects\n",
            " (confirmed), ",
            " (fails): ",
            "\nThe server sustains 7",
            "it fails at ",
        ],
    );
}
