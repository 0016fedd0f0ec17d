//! Tests of answers for pull requests and continuous integration: Markdown, test cases and exit
//! codes.

use std::fmt::Write as _;

use crate::support::{CommandResult, TestFolder};

/// Maximum number of lines of Markdown.
const MOST_LINES: usize = 40;

/// Runs an experiment with two arms in virtual time. `more` are additional lines of the job, and
/// `arm` are the lines of the arm `slow`.
fn compared(more: &str, arm: &str, options: &[&str]) -> (TestFolder, CommandResult) {
    let place = TestFolder::new();
    let workload = "url = sim:mm1?service=1ms\nduration = 10s\n[read]\nquery = select 1\n\
                    concurrency = 4\n";
    place.write("read.ini", format!("{workload}{more}\n"));
    let question = "[question]\nask = What does a slower disk cost?\nworkload = read.ini\n\
                    bet = throughput -5% .. -25%\nrounds = 8\n[arm fast]\n[arm slow]\n";
    place.write("slower.ini", format!("{question}{arm}\n"));
    let line = ["run", "slower.ini", "--virtual", "--out", "r.assay", "--quiet"];
    let ran = place.assay(&[&line, options].concat());
    (place, ran)
}

const SLOWER: &str = "option.service = 1.2ms";

#[test]
fn markdown_of_an_experiment_begins_with_the_sentence() {
    let (place, ran) = compared("slo = p99 < 1s", SLOWER, &["--markdown"]);
    let ran = ran.expect(0);
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.starts_with("`slow` lowers throughput(read) by 1"), "{first}");
    for words in [
        "\n\n**VALID**: 16 runs, no check objects\n- fast (the workload as it is): 8 runs\n",
        "- slow (option.service = 1.2ms): 8 runs\n",
        "- bet on slow: throughput -5% .. -25%: held\n",
        "- SLO of slow: read p99 < 1s: met in 8 of 8 runs\n",
        "- fast, slow: The limiter is unknown: ",
        "Question: What does a slower disk cost?\nRepeat: `assay run slower.ini --virtual`",
        "<details><summary>Metrics (intervals of 95 %)</summary>\n\n\
         | metric | arm | baseline | value | change |",
        "| throughput(read) | slow | ",
        "\n\n</details>\n",
    ] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().count() <= MOST_LINES);
    let again = place.assay(&["report", "r.assay", "--markdown"]).expect(0);
    assert_eq!(again.stdout, ran.stdout);
    place.assay(&["report", "r.assay", "--markdown", "--json"]).refuses(&["--json"]);
}

#[test]
fn markdown_of_many_jobs_and_arms_keeps_to_its_limit() {
    let place = TestFolder::new();
    let mut workload = "url = sim:mm1?service=1ms\nduration = 5s\n".to_owned();
    for job in 0..12 {
        let slo = "slo = p99 < 1us\nslo = mean < 1us";
        let _ = writeln!(workload, "[job-{job}]\nquery = select 1\nconcurrency = 1\n{slo}");
    }
    place.write("many.ini", workload);
    let mut question = "[question]\nask = Which?\nworkload = many.ini\nrounds = 6\n".to_owned();
    for job in 0..6 {
        let _ = writeln!(question, "bet = throughput(job-{job}) +1% .. +5%");
    }
    for arm in 0..7 {
        let _ = writeln!(question, "[arm arm-{arm}]\noption.service = 1.{arm}ms");
    }
    place.write("which.ini", question);
    let line = ["run", "which.ini", "--virtual", "--out", "r.assay", "--quiet", "--markdown"];
    let text = place.assay(&line).expect(1).stdout;
    assert!(text.lines().count() <= MOST_LINES, "{text}");
    assert!(text.contains("- … and 32 more\n"), "{text}");
    assert!(text.contains("<details><summary>Metrics ("), "{text}");
    assert!(text.ends_with("</details>\n"), "{text}");
}

#[test]
fn names_and_questions_are_escaped_in_markdown_and_xml() {
    let place = TestFolder::new();
    let ask = "</summary><b>x</b> [a](http://b) @ann #1 \"/><failure/>";
    let arms = "[arm a]\n[arm b]\nset.x = 2\n";
    let question = format!("[question]\nask = {ask}\nworkload = read.ini\nrounds = 6\n{arms}");
    place.write("q.ini", question);
    let workload = "url = sim:mm1\nduration = 5s\n[params]\nx = 1\n[read]\nquery = select ${x}\n";
    place.write("read.ini", format!("{workload}concurrency = 1\n"));
    let line = [
        "run",
        "q.ini",
        "--virtual",
        "--out",
        "r.assay",
        "--quiet",
        "--markdown",
        "--junit",
        "r.xml",
    ];
    let text = place.assay(&line).expect(0).stdout;
    assert_eq!(text.replace("\\<", "").matches("</summary>").count(), 1, "{text}");
    assert!(text.contains("\\<b>x\\</b> \\[a\\](http\\://b)"), "{text}");
    assert!(!text.replace("\\<", "").contains("<b>"), "{text}");
    assert!(text.contains("`@`ann `#`1"), "{text}");
    let xml = std::fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(!xml.contains("<failure"), "{xml}");
    assert!(xml.contains("name=\"&lt;/summary&gt;&lt;b&gt;x&lt;/b&gt; [a]"), "{xml}");
}

/// Blank lines and the collapsed table do not count.
#[test]
fn markdown_of_a_clean_run_has_eight_lines_at_most() {
    let place =
        TestFolder::with("duration = 2m\n[read]\nquery = select 1\nrate = 500\nslo = p99 < 1s\n");
    for (url, mode) in [("sim:mm1?service=1ms", &["--virtual"][..]), ("sqlite:t.db", &[])] {
        let line = ["run", "w.ini", "--url", url, "--quiet", "--markdown", "--duration", "10s"];
        let ran = place.assay(&[&line[..], mode].concat());
        let visible = ran.stdout.split("<details>").next().unwrap();
        let lines: Vec<&str> = visible.lines().filter(|line| !line.is_empty()).collect();
        let is_clean = ran.stdout.contains("\n**VALID**: ");
        // On a busy machine, a run in real time may not be clean.
        assert!(is_clean || mode.is_empty(), "{}", ran.stdout);
        assert!(lines.len() <= 8 || !is_clean, "{visible}");
        assert!(lines.contains(&"- **Every SLO is met**: 1 condition") || ran.code != 0);
        assert!(lines.last().unwrap().starts_with("Repeat: `assay run w.ini"), "{visible}");
    }
}

#[test]
fn markdown_of_a_run_has_its_answer_verdict_and_times() {
    let place = TestFolder::with(
        "url = sim:mm1?service=1ms\nduration = 2m\n[read]\nquery = select 1\nrate = 500\n\
         slo = p99 < 1us\n",
    );
    let line = ["run", "w.ini", "--virtual", "--out", "r.assay", "--quiet", "--markdown"];
    let text = place.assay(&[&line[..], &["--junit", "r.xml"]].concat()).expect(1).stdout;
    for words in [
        "- `read` offered 500/s, achieved",
        "- **SLO missed** by read: p99 < 1us, measured",
        "\n**VALID**: ",
        "Repeat: `assay run w.ini --virtual` Record: `r.assay`",
        "| job |",
        "| read | response |",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.lines().count() <= MOST_LINES, "{text}");
    assert_eq!(place.assay(&["report", "r.assay", "--markdown"]).expect(1).stdout, text);
    let xml = std::fs::read_to_string(place.at("r.xml")).unwrap();
    let slo = "<testcase classname=\"assay.slo\" name=\"read: p99 &lt; 1us\"><failure message=";
    assert!(xml.contains(slo), "{xml}");
    assert!(xml.contains("name=\"the run was completed\"/>"), "{xml}");
    assert!(xml.contains("failures=\"1\" errors=\"0\""), "{xml}");
    let report = ["report", "r.assay", "--junit", "r.xml"];
    let again = place.assay(&report).expect(2).stderr;
    assert!(again.contains("`r.xml` exists, and a file is never overwritten"), "{again}");
    assert_eq!(std::fs::read_to_string(place.at("r.xml")).unwrap(), xml);
}

#[test]
fn bets_slos_and_validity_are_test_cases() {
    let (place, ran) = compared("slo = p99 < 1us", SLOWER, &["--junit", "r.xml"]);
    ran.expect(1);
    let xml = std::fs::read_to_string(place.at("r.xml")).unwrap();
    for words in [
        "<testsuite name=\"What does a slower disk cost?\" tests=\"9\" failures=\"2\"",
        "classname=\"assay.validity\" name=\"runs of slow\"><system-out>8 runs",
        "classname=\"assay.comparison\" name=\"slow: throughput(read)\"><system-out>`slow` lowers",
        "classname=\"assay.bet\" name=\"slow: throughput -5% .. -25%\"><system-out>",
        "classname=\"assay.slo\" name=\"fast: read p99 &lt; 1us\"><failure message=\"missed",
    ] {
        assert!(xml.contains(words), "{words}: {xml}");
    }
}

#[test]
fn failed_bet_is_a_failed_test_case_and_no_failure_of_the_command() {
    let (place, ran) = compared("", "option.service = 0.5ms", &["--junit", "r.xml"]);
    ran.expect(0);
    let xml = std::fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(xml.contains("name=\"slow: throughput -5% .. -25%\"><failure message="), "{xml}");
}

#[test]
fn slo_that_an_arm_misses_is_the_exit_code_of_an_experiment() {
    let (place, ran) = compared("slo = p99 < 1s", SLOWER, &[]);
    let met = "\nEvery SLO is met in every run: 1 condition in each arm\n";
    assert!(ran.expect(0).stdout.contains(met));
    let full = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(full.contains("\nSLO        fast: read p99 < 1s: met in 8 of 8 runs"), "{full}");
    for condition in ["slo = p50 < 4ms", "[threshold]\nslo = p50(read) < 4ms"] {
        let (place, ran) = compared(condition, SLOWER, &["--json"]);
        let document = ran.expect(1).json();
        let slo = |arm: usize| &document["arms"][arm]["slo"][0];
        assert_eq!((&slo(0)["met"], &slo(1)["met"]), (&true.into(), &false.into()));
        assert_eq!(slo(1)["missed_runs"], 8);
        let report = place.assay(&["report", "r.assay"]).expect(1).stdout;
        let missed = "\nSLO of slow: read p50 < 4ms: missed in 8 of 8 runs\n";
        assert!(report.contains(missed), "{report}");
        assert!(!report.contains("Every SLO is met"), "{report}");
    }
}

#[test]
fn declared_metric_that_cannot_be_compared_is_not_a_success() {
    let place = TestFolder::new();
    let workload =
        "url = sim:mm1?service=1ms\nduration = 30s\n[read]\nquery = select 1\nrate = 500\n";
    place.write("read.ini", workload);
    let question = "[question]\nask = ?\nworkload = read.ini\nbet = response.p99 +0% .. +5%\n\
                    rounds = 6\n[arm fast]\n[arm slow]\noption.service = 4ms\n";
    place.write("q.ini", question);
    let line = ["run", "q.ini", "--virtual", "--out", "r.assay", "--quiet", "--junit", "r.xml"];
    let ran = place.assay(&line).expect(3);
    assert!(
        ran.stdout.contains("is not compared: the load exceeds the capacity"),
        "{}",
        ran.stdout
    );
    let xml = std::fs::read_to_string(place.at("r.xml")).unwrap();
    assert!(xml.contains("name=\"slow: response.p99(read)\"><error message="), "{xml}");
}

#[test]
fn file_of_test_cases_is_checked_before_the_runs() {
    let (place, ran) = compared("", SLOWER, &["--junit", "no/r.xml"]);
    ran.refuses(&["folder of `no/r.xml`"]);
    assert_eq!(place.names(), ["read.ini", "slower.ini"]);
    place.write("r.xml", "");
    let line = ["run", "slower.ini", "--virtual", "--junit", "r.xml"];
    place.assay(&line).refuses(&["`r.xml` of --junit exists"]);
    let line = ["run", "read.ini", "--virtual", "--out", "x", "--junit", "x"];
    place.assay(&line).refuses(&["`x` is both the file of --junit and the record of the run"]);
    // The folder exists, but no file can be created in it.
    let line = ["run", "slower.ini", "--virtual", "--out", "x", "--junit", "/proc/r.xml"];
    place.assay(&line).refuses(&["cannot write `/proc/r.xml`"]);
    let line = ["run", "slower.ini", "--virtual", "--out", "x", "--junit", "new.xml"];
    place.assay(&line).expect(0);
    assert_eq!(place.names(), ["new.xml", "r.xml", "read.ini", "slower.ini", "x"]);
}

#[test]
fn answer_is_printed_even_if_its_test_cases_cannot_be_written() {
    let (place, _) = compared("", SLOWER, &[]);
    for line in [["report", "r.assay"], ["compare", "r.assay"]] {
        let ran = place.assay(&[&line[..], &["--junit", "/proc/r.xml"]].concat()).expect(2);
        assert!(ran.stdout.contains("lowers throughput"), "{}", ran.stdout);
        assert!(ran.stderr.contains("cannot write `/proc/r.xml`"), "{}", ran.stderr);
    }
}
