//! The studies in `experiments/`: each is a valid experiment for every database, and runs.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::Place;

/// The studies that the README of the folder lists, with the files that a folder has beside
/// `experiment.ini`, and the databases on which they run.
const STUDIES: [(&str, &[(&str, &str)]); 5] = [
    ("aa", &[("longer.ini", "postgres mariadb mysql")]),
    ("tls", &[("load.ini", "postgres mariadb mysql")]),
    ("insert", &[("flush-postgres.ini", "postgres"), ("flush-mariadb.ini", "mariadb mysql")]),
    ("mixed", &[]),
    ("side-effects", &[]),
];

fn studies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Returns the names of the files and folders in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Copies a study with the fewest rounds.
fn copy(place: &Place, study: &str) {
    for name in names(&studies().join(study)) {
        let text = fs::read_to_string(studies().join(study).join(&name)).unwrap();
        let lines = text.lines().map(|line| match line.starts_with("rounds ") {
            true => "rounds = 6",
            false => line,
        });
        place.write(&name, lines.collect::<Vec<_>>().join("\n") + "\n");
    }
}

#[test]
fn every_study_is_checked_for_every_database() {
    let place = Place::new();
    let folders: Vec<String> =
        names(&studies()).into_iter().filter(|name| !name.ends_with(".md")).collect();
    let mut known: Vec<&str> = STUDIES.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(folders, known);
    for (study, others) in STUDIES {
        let all = [("experiment.ini", "postgres mariadb mysql")];
        for (file, databases) in all.iter().chain(others) {
            let path = studies().join(study).join(file);
            for database in databases.split(' ') {
                let url = format!("--url=testbed:{database}");
                let line = ["check", path.to_str().unwrap(), &url];
                let printed = place.assay(&line).expect(0).stdout;
                assert!(printed.starts_with("[question]\nask = "), "{printed}");
            }
        }
        let readme = fs::read_to_string(studies().join(study).join("README.md")).unwrap();
        for section in ["**Question**", "**Bet**", "## Run it", "## Measured here"] {
            assert!(readme.contains(section), "{study}: {section}");
        }
    }
}

/// Runs a tiny version of a study, and returns the answer. The machine may be too busy for a valid
/// one.
fn run(study: &str, file: &str, database: &str, options: &[&str]) -> Value {
    let place = Place::new();
    copy(&place, study);
    let url = format!("testbed:{database}");
    let line = ["run", file, "--url", &url, "--quiet", "--json", "--out", "r.assay"];
    let ran = place.assay(&[&line, options].concat());
    assert!([0, 3].contains(&ran.code), "{} {}", ran.code, ran.stderr);
    ran.json()
}

/// Checks that no request of a study failed and that its bets were about something.
fn check(document: &Value, bets: &[&str]) {
    let runs = document["runs"].as_array().unwrap();
    assert!(runs.len() >= 4, "{document}");
    for run in runs {
        assert!(!run["objections"].to_string().contains("\"errors\""), "{run}");
    }
    // There is no comparison if the machine was too busy in too many rounds.
    if document["state"] == "complete" {
        let comparison = document["comparison"].as_array().unwrap();
        let is_compared = |bet: &str| {
            comparison.iter().any(|one| one["metric"] == bet && one["pairs"].as_u64() > Some(0))
        };
        assert!(bets.iter().all(|bet| is_compared(bet)), "{document}");
    }
}

#[test]
fn tls_study_runs_and_loads() {
    let options = ["--set", "rows=2k", "--set", "readers=2", "--duration", "300ms"];
    let options = [&options[..], &["--warmup", "0s"]].concat();
    check(&run("tls", "experiment.ini", "postgres", &options), &["throughput"]);
    check(&run("tls", "load.ini", "mariadb", &options), &["load"]);
}

#[test]
fn insert_study_runs() {
    let options = ["--set", "rows=5k", "--set", "largest=200", "--set", "batch=20"];
    let options = [&options[..], &["--duration", "500ms", "--warmup", "0s"]].concat();
    check(&run("insert", "experiment.ini", "mariadb", &options), &["rows"]);
    // Both arms of a round insert the same keys.
    let options = [&options[..], &["--allow-commands"]].concat();
    check(&run("insert", "flush-postgres.ini", "postgres", &options), &["rows"]);
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

#[test]
fn false_alarm_study_runs() {
    let options = ["--set", "rows=1k", "--duration", "300ms", "--warmup", "0s"];
    check(&run("aa", "experiment.ini", "postgres", &options), &["throughput"]);
    let options = ["--duration", "500ms", "--warmup", "0s"];
    check(&run("aa", "longer.ini", "mariadb", &options), &["throughput"]);
}
