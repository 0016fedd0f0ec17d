//! Tests of the studies in `experiments/`: each file is a valid experiment for the databases that
//! it is written for, and the studies run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::experiment_end::assert_exhausted;
use crate::support::{CommandResult, TestFolder};

/// A study that is listed in the README of `experiments/`.
struct Study {
    /// Name of the folder of the study.
    name: &'static str,
    /// Files of the study, each with URLs of the databases on which it runs.
    files: &'static [(&'static str, &'static [&'static str])],
}

const ALL: &[&str] = &["testbed:postgres", "testbed:mariadb", "testbed:mysql"];
const POSTGRES: &[&str] = &["testbed:postgres"];
const MYSQL: &[&str] = &["testbed:mariadb", "testbed:mysql"];
const TWO_HOSTS: &[&str] = &["postgres://assay@127.0.0.1:5432,127.0.0.1:5433/assay"];

const STUDIES: [Study; 8] = [
    Study { name: "aa", files: &[("experiment.ini", ALL), ("longer.ini", ALL)] },
    Study { name: "arrivals", files: &[("experiment.ini", ALL), ("full.ini", ALL)] },
    Study { name: "capacity", files: &[("experiment.ini", ALL), ("select.ini", ALL)] },
    Study {
        name: "insert",
        files: &[
            ("experiment.ini", ALL),
            ("flush-postgres.ini", POSTGRES),
            ("flush-mariadb.ini", MYSQL),
        ],
    },
    Study { name: "mixed", files: &[("experiment.ini", ALL)] },
    Study { name: "nodes", files: &[("experiment.ini", TWO_HOSTS)] },
    Study {
        name: "side-effects",
        files: &[
            ("experiment.ini", ALL),
            ("dump-postgres.ini", POSTGRES),
            ("dump-mariadb.ini", MYSQL),
        ],
    },
    Study {
        name: "tls",
        files: &[("experiment.ini", ALL), ("load.ini", ALL), ("saturated.ini", ALL)],
    },
];

fn studies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Returns the names of the files and folders in a folder, in alphabetical order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Copies a study's files with the fewest rounds, one repeat and a short search.
fn copy(place: &TestFolder, study: &str) {
    // The other files of a study are its README and the pictures in it.
    let is_read = |name: &String| name.ends_with(".ini");
    for name in names(&studies().join(study)).into_iter().filter(is_read) {
        let text = fs::read_to_string(studies().join(study).join(&name)).unwrap();
        let lines = text.lines().filter_map(|line| match line.split(' ').next() {
            Some("rounds") => Some("rounds = 6"),
            Some("repeats") => Some("repeats = 1"),
            Some("budget") => Some("budget = 3m"),
            Some("hold" | "trial") => None,
            Some(_) | None => Some(line),
        });
        place.write(&name, lines.collect::<Vec<_>>().join("\n") + "\n");
    }
}

#[test]
fn every_study_is_checked_for_every_database() {
    let place = TestFolder::new();
    let folders: Vec<String> =
        names(&studies()).into_iter().filter(|name| !name.ends_with(".md")).collect();
    let known: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
    assert_eq!(folders, known);
    for Study { name, files } in STUDIES {
        for (file, urls) in files {
            let path = studies().join(name).join(file);
            for url in *urls {
                let line = ["check", path.to_str().unwrap(), "--url", url];
                let printed = place.assay(&line).expect(0).stdout;
                assert!(!printed.is_empty(), "{name} {file}");
            }
        }
    }
}

/// The sections of a README, in their order.
const SECTIONS: [&str; 7] = [
    "\n**Question**:",
    "\n**Bet**:",
    "\n## Method\n",
    "\n## Run it\n",
    "\n## What to disclose\n",
    "\n## Published elsewhere\n",
    "\n## Measured here\n",
];

/// Returns the sections that a README lacks, has in a different order, or leaves empty.
fn missing_sections(readme: &str) -> Vec<&'static str> {
    let starts: Vec<Option<usize>> = SECTIONS.iter().map(|section| readme.find(section)).collect();
    let is_missing = |index: &usize| {
        let Some(start) = starts[*index] else { return true };
        let end = starts.get(index + 1).copied().flatten().unwrap_or(readme.len());
        readme.get(start + SECTIONS[*index].len()..end).is_none_or(|body| body.trim().is_empty())
    };
    (0..SECTIONS.len()).filter(is_missing).map(|index| SECTIONS[index].trim()).collect()
}

fn readme(study: &str) -> String {
    fs::read_to_string(studies().join(study).join("README.md")).unwrap()
}

#[test]
fn every_readme_has_all_sections() {
    for Study { name, files } in STUDIES {
        let readme = readme(name);
        assert_eq!(missing_sections(&readme), [""; 0], "{name}");
        for (file, _) in files.iter().filter(|(file, _)| *file != "experiment.ini") {
            assert!(readme.contains(file), "{name} does not mention {file}");
        }
    }
}

#[test]
fn section_that_a_readme_lacks_is_noticed() {
    let whole = "# A\n\n**Question**: Q?\n\n**Bet**: b.\n\n## Method\n\nm\n\n## Run it\n\nr\n\n\
                 ## What to disclose\n\nd\n\n## Published elsewhere\n\np\n\n\
                 ## Measured here\n\nx\n";
    assert_eq!(missing_sections(whole), [""; 0]);
    let check = |from: &str, to: &str, expected: &str| {
        assert_eq!(missing_sections(&whole.replace(from, to)), [expected], "{from}");
    };
    check("**Bet**: b.", "No bet.", "**Bet**:");
    check("**Bet**: b.", "**Bet**:", "**Bet**:");
    check("\nd\n", "", "## What to disclose");
    check("\nx\n", "", "## Measured here");
    check("## Method", "## Approach", "## Method");
    // A section ends where the next one begins, so the text of the next one does not count.
    check("# A\n", "# A\n\n## Run it\n", "## Method");
}

/// Returns the commands and options in a README: commands and options between backquotes, and the
/// commands in code blocks.
fn commands(page: &str) -> Vec<String> {
    let page = page.replace("\\\n", " ");
    let begins = |text: &&str, starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    let spans = page.split('`').skip(1).step_by(2);
    let spans = spans.filter(|span| begins(span, &["assay ", "assay\n", "--set ", "--duration "]));
    let lines = page.lines().map(|line| line.strip_prefix("    ").unwrap_or(line));
    let lines = lines.filter(|line| begins(line, &["assay "]));
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    spans.chain(lines).map(in_one_line).collect()
}

/// Returns the words of a command without `assay` and without a remark. Names that stand for a
/// value, such as `N`, are replaced with an example.
fn words(command: &str) -> Vec<String> {
    let (command, _) = command.split_once(" #").unwrap_or((command, ""));
    let example = |word: &str| match word {
        "N" => "1".to_owned(),
        _ => word.replace("PORT1", "5432").replace("PORT2", "5433").replace("=N", "=1"),
    };
    let words = command.split_whitespace().filter(|word| *word != "assay");
    words.map(|word| example(&word.replace('\'', ""))).collect()
}

/// Options of `assay run` that `assay check` does not have, each with true if it takes a value.
const ONLY_OF_RUN: [(&str, bool); 4] =
    [("--cpus", true), ("--spin", false), ("--allow-commands", false), ("--full", false)];

/// Converts the words of a command `assay run` to those of `assay check`.
fn to_check(words: &[String]) -> Vec<String> {
    let mut checked = vec!["check".to_owned()];
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match ONLY_OF_RUN.iter().find(|(option, _)| option == word) {
            Some((_, true)) => {
                rest.next();
            }
            Some((_, false)) => {}
            None => checked.push(word.clone()),
        }
    }
    checked
}

/// Checks that a command in a study's README can be run, and returns its error otherwise. A command
/// that begins with `--` consists of options for a run of the study.
fn complaint(place: &TestFolder, study: &str, command: &str) -> Option<String> {
    let words = match command.starts_with("--") {
        true => {
            let run = format!("assay run experiments/{study} --url testbed:postgres {command}");
            words(&run)
        }
        false => words(command),
    };
    let assay = |words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        CommandResult::of(place.command(&words).current_dir(studies().join("..")))
    };
    // With `--help`, the words before it are parsed, and no command is run.
    let parsed = [&words[..], &["--help".to_owned()]].concat();
    let is_run = words.first().is_some_and(|word| word == "run");
    let checked = is_run.then(|| to_check(&words));
    let tried = [Some(parsed), checked].into_iter().flatten();
    let wrong = tried.map(|words| assay(&words)).find(|ran| ran.code != 0);
    wrong.map(|ran| format!("{study}: `{command}` ends with {}: {}", ran.code, ran.stderr))
}

#[test]
fn every_command_of_a_readme_can_be_run() {
    let place = TestFolder::new();
    let mut number = 0;
    for Study { name, .. } in STUDIES {
        for command in commands(&readme(name)) {
            number += 1;
            assert_eq!(complaint(&place, name, &command), None);
        }
    }
    assert!(number >= 40, "{number}");
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn command_that_cannot_be_run_is_noticed() {
    let place = TestFolder::new();
    let page = "Run `assay run experiments/tls --url\ntestbed:postgres`, or `--set rows=1k`:\n\n\
                \x20   assay run experiments/tls --cpus 1 --spin \\\n\
                \x20       --url testbed:mariadb\n\n```sh\n\
                assay calibrate --disk /tmp   # the folder\n```\n";
    let expected = [
        "assay run experiments/tls --url testbed:postgres",
        "--set rows=1k",
        "assay run experiments/tls --cpus 1 --spin --url testbed:mariadb",
        "assay calibrate --disk /tmp # the folder",
    ];
    assert_eq!(commands(page), expected);
    for command in expected {
        assert_eq!(complaint(&place, "tls", command), None);
    }
    for wrong in [
        "assay run experiments/tls --urll testbed:postgres",
        "assay run experiments/tls/none.ini --url testbed:postgres",
        "assay run experiments/tls --duration soon",
        "assay rum experiments/tls",
        "--set row=1k",
        "assay report RECORD --run first",
    ] {
        assert!(complaint(&place, "tls", wrong).is_some(), "{wrong}");
    }
}

#[test]
fn shortest_question_in_the_readme_is_the_file() {
    let folder = studies().join("capacity");
    let [file, readme] =
        ["select.ini", "README.md"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let (_, question) = file.split_once('\n').unwrap();
    assert!(readme.contains(&format!("```ini\n{question}```\n")), "{readme}");
}

/// Runs a tiny version of a study, and returns the answer. If the machine is too busy, the answer
/// may not be valid.
fn run(study: &str, file: &str, database: &str, options: &[&str]) -> Value {
    let place = TestFolder::new();
    copy(&place, study);
    let url = format!("testbed:{database}");
    let line = ["run", file, "--url", &url, "--quiet", "--json", "--out", "r.assay"];
    let ran = place.assay(&[&line, options].concat());
    assert!([0, 3].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    ran.json()
}

/// Repeats a search from its record, and returns the outcome and its reason.
#[track_caller]
fn repeated(place: &TestFolder, options: &[&str], code: i32) -> [Value; 2] {
    let line = ["repeat", "r.assay", "--seed", "2", "--out", "again.assay", "--quiet", "--json"];
    let document = place.assay(&[&line[..], options].concat()).expect(code).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    let repetition = &document["repetition"];
    assert_eq!(repetition["outcome"], repetition["capacity"]["outcome"], "{repetition:#}");
    fs::remove_file(place.at("again.assay")).unwrap();
    ["outcome", "reason"].map(|key| repetition["capacity"][key].clone())
}

/// Sixteen workers execute payments in virtual time, on a simulated server with four processors
/// that take 2 ms for each of the three statements.
#[test]
fn answer_of_the_capacity_study_is_repeated_from_its_record() {
    let place = TestFolder::new();
    copy(&place, "capacity");
    let url = "sim:mmc?service=2ms&servers=4";
    let line = ["run", "experiment.ini", "--virtual", "--url", url, "--out", "r.assay", "--quiet"];
    place.assay(&[&line[..], &["--set", "rows=1k"]].concat()).expect(0);
    // The record contains the files.
    fs::remove_file(place.at("experiment.ini")).unwrap();
    fs::remove_file(place.at("workload.ini")).unwrap();
    assert_eq!(repeated(&place, &[], 0), ["holds", "overlap"]);
    let slower = ["--url", "sim:mmc?service=3ms&servers=4"];
    assert_eq!(repeated(&place, &slower, 1), ["contradicts", "disjoint"]);
    // Payments in a larger table are a different question, so the result of the repetition is
    // undecided.
    let larger = [&slower[..], &["--set", "rows=2k"]].concat();
    assert_eq!(repeated(&place, &larger, 0), ["undecided", "disjoint"]);
}

/// Returns true if a comparison is about a metric, such as `rows` or `size(item)`.
fn is_about(one: &Value, metric: &str) -> bool {
    let (name, of) = metric.trim_end_matches(')').split_once('(').unwrap_or((metric, ""));
    one["metric"] == name && (of.is_empty() || one["job"] == of)
}

/// Checks that no request of a study failed, and that it compared these metrics.
fn check(document: &Value, metrics: &[&str]) {
    let runs = document["runs"].as_array().unwrap();
    assert!(runs.len() >= 4, "{document}");
    for run in runs {
        assert!(!run["objections"].to_string().contains("\"errors\""), "{run}");
    }
    // There is no comparison if the machine was too busy in too many rounds.
    if document["state"] == "complete" {
        let comparison = document["comparison"].as_array().unwrap();
        let is_compared = |metric: &str| {
            comparison.iter().any(|one| is_about(one, metric) && one["pairs"].as_u64() > Some(0))
        };
        assert!(metrics.iter().all(|metric| is_compared(metric)), "{document}");
    } else {
        assert_exhausted(document);
    }
}

#[test]
fn tls_study_runs_and_loads() {
    let options = ["--set", "rows=2k", "--set", "readers=2", "--duration", "300ms"];
    let options = [&options[..], &["--warmup", "0s"]].concat();
    let bets = ["throughput", "response.p50"];
    check(&run("tls", "experiment.ini", "postgres", &options), &bets);
    check(&run("tls", "load.ini", "mariadb", &options), &["load"]);
}

#[test]
fn insert_study_runs() {
    let options = ["--set", "rows=5k", "--set", "largest=200", "--set", "batch=20"];
    let options = [&options[..], &["--duration", "500ms", "--warmup", "0s"]].concat();
    // Each answer has the size of the table on disk, and its size as reported by the server.
    let metrics = ["rows", "size(item)", "size.logical(item)"];
    check(&run("insert", "experiment.ini", "mariadb", &options), &metrics);
    // Both arms of a round insert the same keys. If the table were not loaded again before each
    // run, the second arm would insert duplicates.
    let options = [&options[..], &["--allow-commands"]].concat();
    check(&run("insert", "flush-postgres.ini", "postgres", &options), &metrics);
}

#[test]
fn mixed_study_runs() {
    let options = ["--set", "rows=2k", "--set", "quarter=300ms", "--warmup", "0s"];
    check(&run("mixed", "experiment.ini", "postgres", &options), &["response.p50"]);
}

#[test]
fn side_effects_study_drops_and_dumps() {
    let options = ["--set", "accounts=1k", "--set", "thousands=2", "--set", "at=300ms"];
    let rest = ["--duration", "900ms", "--warmup", "0s"];
    for database in ["postgres", "mariadb"] {
        let options = [&options[..], &rest].concat();
        check(&run("side-effects", "experiment.ini", database, &options), &["response.p99"]);
    }
}

/// A dump that fails is an error of its job.
#[test]
fn side_effects_study_dumps_with_the_programs_of_the_databases() {
    let options = ["--set", "accounts=1k", "--set", "thousands=2", "--set", "at=100ms"];
    let rest = ["--duration", "500ms", "--warmup", "0s", "--allow-commands"];
    let options = [&options[..], &rest].concat();
    for (file, database) in [("dump-postgres.ini", "postgres"), ("dump-mariadb.ini", "mariadb")] {
        check(&run("side-effects", file, database, &options), &["response.p99"]);
    }
}

#[test]
fn arrival_study_runs() {
    let options = ["--set", "rows=1k", "--set", "arrive=100", "--duration", "300ms"];
    let options = [&options[..], &["--warmup", "0s"]].concat();
    let url = "postgres?server.max_connections=200";
    let document = run("arrivals", "experiment.ini", url, &options);
    check(&document, &[]);
    assert_eq!(document["sweep"].as_array().unwrap().len(), 8, "{document}");
}

/// The test runs in virtual time, because a search on a real server takes minutes. With three
/// statements of 2.5 ms each, sixteen workers complete at most 2,133 payments per second.
#[test]
fn capacity_study_finds_the_capacity_of_its_workers() {
    let place = TestFolder::new();
    copy(&place, "capacity");
    let url = "sim:mmc?service=2500us&servers=16";
    let line = ["run", "experiment.ini", "--url", url, "--virtual", "--quiet", "--json"];
    let ran = place.assay(&[&line[..], &["--out", "r.assay"]].concat());
    // A search this short may end before it has confirmed its estimate.
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let capacity = &ran.json()["capacity"];
    let estimate = capacity["estimate"].as_f64().unwrap();
    assert!((1_600.0..2_133.0).contains(&estimate), "{capacity}");
    let irregular = capacity["irregularities"].as_array().unwrap();
    assert!(irregular.contains(&"limited by connections".into()), "{capacity}");
}

#[test]
fn false_alarm_study_runs() {
    let options = ["--set", "rows=1k", "--duration", "300ms", "--warmup", "0s"];
    check(&run("aa", "experiment.ini", "postgres", &options), &["throughput"]);
    let options = ["--duration", "500ms", "--warmup", "0s"];
    check(&run("aa", "longer.ini", "mariadb", &options), &["throughput"]);
}
