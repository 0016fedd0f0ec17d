//! Tests of `assay calibrate`: measurement, storage, and use by later runs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::Value;
use testbed::Kind;

use crate::disk::limited;
use crate::example::assert_matches_schema;
use crate::experiment_faults::{ARMS, SQLITE_WORKLOAD};
use crate::faulty_server::{EndlessAnswer, FaultyRequest, FaultyServer};
use crate::support::{CommandResult, MM1, TestFolder, UNUSED_ADDRESS, check, number};

const SHORT: &str = "duration = 500ms\n[read]\nquery = select 1\nrate = 50\n";

fn calibrate(place: &TestFolder, options: &[&str]) -> CommandResult {
    let mut args = vec!["calibrate", "--quick", "--quiet"];
    args.extend(options);
    place.assay(&args)
}

/// Returns the document of a calibration, after validating it against its schema.
fn document(place: &TestFolder, options: &[&str]) -> Value {
    let mut options = options.to_vec();
    options.push("--json");
    let ran = calibrate(place, &options).expect(0);
    assert_eq!(ran.stderr, "");
    let document = ran.json();
    assert_matches_schema("schemas/calibration.schema.json", &document);
    document
}

/// Returns the paths of the stored calibrations.
fn kept(place: &TestFolder) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(place.at("state/assay")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Returns the settings of `r.assay`.
fn facts(place: &TestFolder) -> Value {
    place.assay(&["report", "r.assay", "--environment", "--json"]).expect(0).json()
}

fn run(place: &TestFolder) -> CommandResult {
    place.write("w.ini", SHORT);
    let _ = fs::remove_file(place.at("r.assay"));
    place.assay(&["run", "w.ini", "--json", "--quiet", "--out", "r.assay"])
}

#[test]
fn run_refers_to_the_previous_calibration() {
    let place = TestFolder::new();
    let before = run(&place).json();
    for name in ["ceiling", "floor", "clock"] {
        let found = check(&before, name);
        assert_eq!(found["status"], "not-possible", "{found}");
        assert_eq!(found["explain"], "run `assay calibrate` once on this machine");
    }
    assert_eq!(facts(&place)["calibration.taken"], "unknown");

    let printed = document(&place, &[]);
    let [file] = kept(&place).try_into().expect("one file");
    assert_eq!(printed["file"], file.to_str().unwrap());
    let mut stored: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_matches_schema("schemas/calibration.schema.json", &stored);
    stored["file"] = printed["file"].clone();
    assert_eq!(stored, printed);

    let after = run(&place).json();
    for name in ["ceiling", "floor", "clock"] {
        assert_ne!(check(&after, name)["status"], "not-possible", "{name}");
    }
    let facts = facts(&place);
    assert_eq!(facts["calibration.taken"], printed["taken"]);
    let per_s = facts["calibration.postgres.per_s"].as_str().unwrap().parse::<f64>().unwrap();
    let ceilings = printed["routes"][1]["ceilings"].as_array().unwrap().iter();
    let most = ceilings.map(|ceiling| ceiling["per_s"].as_f64().unwrap()).fold(0.0, f64::max);
    assert!((per_s - most).abs() <= 0.5, "{per_s} {most}");
    let text = place.assay(&["report", "r.assay", "--environment"]).expect(0).stdout;
    assert!(text.contains("\nLoad generator on it, by assay calibrate\n"), "{text}");
}

/// Expects the runs to have the figures of the calibration. If the machine is too busy for some of
/// the 12 runs, their rounds are repeated, or the experiment ends early; it has several runs in any
/// case.
#[test]
fn runs_of_an_experiment_refer_to_the_previous_calibration() {
    let place = TestFolder::with(SQLITE_WORKLOAD);
    place.write("e.ini", format!("{ARMS}concurrency(read) = 2\n"));
    let printed = document(&place, &[]);
    let ran = place.assay(&["run", "e.ini", "--quiet", "--out", "r.assay"]);
    let last = number(&place.at("r.assay"), "select max(run) from run");
    assert!(last > 2, "no second round: {}", ran.stderr);
    for run in [1, last] {
        let run = run.to_string();
        let args = ["report", "r.assay", "--run", &run, "--environment", "--json"];
        let facts = place.assay(&args).expect(0).json();
        assert_eq!(facts["calibration.taken"], printed["taken"], "run {run}");
    }
}

/// A capacity search uses the calibration twice, for its ceiling and for its trials.
#[test]
fn unusable_calibration_causes_one_warning_in_an_experiment() {
    let place = TestFolder::new();
    let capacity = "[capacity]\nslo = p99(read) < 40ms\nvary = rate(read)\nhighest = 1k\n";
    let read = "[read]\nquery = select 1\n";
    place.write("search.ini", format!("[question]\nask = ?\n{capacity}{read}"));
    calibrate(&place, &[]).expect(0);
    let [file] = kept(&place).try_into().expect("one file");
    fs::write(file, "{").unwrap();
    let url = format!("postgres://ann@{UNUSED_ADDRESS}/d");
    let ran = place.assay(&["run", "search.ini", "--quiet", "--url", &url]).expect(4);
    assert_eq!(ran.stderr.matches("run `assay calibrate` again").count(), 1, "{}", ran.stderr);
}

#[test]
fn calibration_table_has_figures_and_file() {
    let place = TestFolder::new();
    let ran = place.assay(&["calibrate", "--quick", "sqlite:"]).expect(0);
    for words in [
        "null server in this process",
        "PostgreSQL's protocol over loopback",
        "MySQL's protocol over loopback",
        "SQLite on a thread",
        "\nsqlite: ",
        "clock, a reading",
        "timer, lateness of sleeps of 1 ms",
        "hand-off to a thread of SQLite and back  p50 ",
        "\nkept in ",
    ] {
        assert!(ran.stdout.contains(words), "`{words}` is not in: {}", ran.stdout);
    }
    assert!(ran.stderr.starts_with("the target …\nthe clock …\n"), "{}", ran.stderr);
    assert_eq!(kept(&place).len(), 1);
}

#[test]
fn calibration_of_a_target_is_not_saved() {
    let place = TestFolder::new();
    let printed = document(&place, &["testbed:postgres", "--no-store"]);
    assert_eq!(printed["target"]["url"], "testbed:postgres");
    assert_eq!(printed["file"], Value::Null);
    assert!(printed["target"]["floor"]["count"].as_u64().unwrap() > 0);
    assert_eq!(kept(&place).len(), 0);
}

#[test]
fn unusable_calibration_counts_as_missing() {
    let place = TestFolder::new();
    calibrate(&place, &[]).expect(0);
    let [file] = kept(&place).try_into().expect("one file");
    let whole = fs::read_to_string(&file).unwrap();
    let other = whole.replace("\"host.cpu.model\": \"", "\"host.cpu.model\": \"another ");
    for (content, words) in [
        (&whole[..whole.len() / 2], "it is damaged"),
        (&whole.replace("assay.calibration/1", "assay.calibration/0"), "another version"),
        (&other, "another machine"),
    ] {
        fs::write(&file, content).unwrap();
        let ran = run(&place);
        for words in [words, "run `assay calibrate` again"] {
            assert!(ran.stderr.contains(words), "`{words}` is not in: {}", ran.stderr);
        }
        assert_eq!(check(&ran.json(), "floor")["status"], "not-possible");
        assert_eq!(facts(&place)["calibration.clock.cost_ns"], "unknown");
    }
    // Calibrating again replaces the unusable calibration.
    calibrate(&place, &[]).expect(0);
    assert_eq!(run(&place).stderr, "");
}

#[test]
fn checks_use_the_figures_of_the_calibration() {
    let place = TestFolder::new();
    calibrate(&place, &[]).expect(0);
    let [file] = kept(&place).try_into().expect("one file");
    let mut planted: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    planted["clock"]["cost_ns"] = 1e9.into();
    planted["routes"][3]["floor"]["service_us"]["p50"] = 1e9.into();
    for ceiling in planted["routes"][3]["ceilings"].as_array_mut().unwrap() {
        ceiling["per_s"] = 60.into();
    }
    fs::write(&file, planted.to_string()).unwrap();
    let summary = run(&place).json();
    for name in ["ceiling", "floor", "clock"] {
        assert_eq!(check(&summary, name)["status"], "suspect", "{name}");
    }
}

#[test]
fn virtual_run_refers_to_no_calibration() {
    let place = TestFolder::with(SHORT);
    fs::create_dir_all(place.at("state")).unwrap();
    place.write("state/assay", "a file where a folder should be");
    let ran = place.run_virtually(MM1, &[]).expect(0);
    assert_eq!(ran.stderr.lines().filter(|line| line.contains("calibration")).count(), 0);
    let of_the_machine = |name: &String| name.contains('.') && !name.starts_with("assay.");
    assert!(!facts(&place).as_object().unwrap().keys().any(of_the_machine));
}

#[test]
fn uncalibratable_target_is_refused() {
    let place = TestFolder::new();
    let ran = calibrate(&place, &["postgres://127.0.0.1:1/d"]).expect(4);
    assert!(ran.stderr.contains("the target could not be reached"), "{}", ran.stderr);
    assert_eq!((ran.stdout.as_str(), kept(&place).len()), ("", 0));
    calibrate(&place, &["postgre://h/d"]).refuses(&["did you mean `postgres:`?"]);
    let other = TestFolder::new();
    other.write("state", "a file where a folder should be");
    calibrate(&other, &[]).refuses(&["nothing can be written into", "--no-store"]);
    let mut homeless = place.command(&["calibrate", "--quick"]);
    let homeless = homeless.env_remove("XDG_STATE_HOME").env_remove("HOME");
    CommandResult::of(homeless).refuses(&["neither XDG_STATE_HOME nor HOME is set"]);
}

/// Expects each calibration to end with the reason. The first server sends nothing, the second does
/// not answer the preparation of a statement, and the third does not answer its execution.
#[test]
fn target_that_does_not_answer_ends_a_calibration_with_the_reason() {
    let silent = |asked| FaultyServer::endless(Kind::Postgres, asked, EndlessAnswer::Silence);
    let no_login = "did not complete a login";
    for (server, words) in [
        (FaultyServer::sending(b""), "did not complete a login within 300ms"),
        (silent(FaultyRequest::Preparation("select 1")), "did not prepare a statement within "),
        (silent(FaultyRequest::Execution("select 1")), "`select 1` is not answered within "),
    ] {
        let place = TestFolder::new();
        let end = |limit: &str| {
            let url = format!("postgres://ann@{}/d?connect-timeout={limit}", server.address());
            calibrate(&place, &[&url]).expect(4)
        };
        let mut ran = end("300ms");
        // On a busy machine, a login at the second or third server may take longer than the limit.
        if !words.contains(no_login) && ran.stderr.contains(no_login) {
            ran = end("20s");
        }
        assert!(ran.stderr.contains(words), "`{words}` is not in: {}", ran.stderr);
        assert_eq!((ran.stdout.as_str(), kept(&place).len()), ("", 0));
    }
}

#[test]
fn calibration_neither_prints_nor_saves_a_password() {
    let place = TestFolder::new();
    let url = "postgres://ann:hunter2@127.0.0.1:1/d";
    let ran = calibrate(&place, &[url]).expect(4);
    assert!(!ran.stderr.contains("hunter2") && !ran.stdout.contains("hunter2"), "{}", ran.stderr);
}

#[test]
fn interrupted_calibration_saves_nothing_and_leaves_no_server() {
    let place = TestFolder::new();
    let mut calibrating = place.start(&["calibrate"]);
    calibrating.wait_for_line("PostgreSQL's protocol over loopback …");
    calibrating.signal(Signal::SIGINT);
    let ran = calibrating.wait_for_end().expect(130);
    assert!(ran.stderr.contains("interrupted before the end of the measurement"), "{}", ran.stderr);
    assert_eq!((ran.stdout.as_str(), kept(&place).len()), ("", 0));
    // Only the servers of the calibration were started in this folder.
    let held = Command::new("sh")
        .arg("-c")
        .arg("for at in /proc/[0-9]*/cwd; do readlink \"$at\"; done; true")
        .output()
        .unwrap();
    let held = String::from_utf8(held.stdout).unwrap();
    let path = place.path().canonicalize().unwrap();
    assert!(!held.lines().any(|line| line == path.to_str().unwrap()), "{held}");
}

#[test]
fn shared_host_is_reported() {
    let place = TestFolder::with(SHORT);
    let here = run(&place).json();
    assert_eq!(here["run"]["same_host"], true);
    // The answer comes before the workload; on a busy machine it first says why the run is not
    // trusted.
    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    let (answer, _) = text.split_once("\nworkload  ").unwrap();
    assert!(answer.contains("One host: generator and database"), "{text}");
    let text = place.assay(&["report", "r.assay"]).stdout;
    let (_, answer) = text.split_once("\nread  offered ").unwrap();
    assert!(answer.contains("One host: generator and database"), "{text}");
    fs::remove_file(place.at("r.assay")).unwrap();
    let simulated = place.run_virtually(MM1, &[]).json();
    assert_eq!(simulated["run"]["same_host"], Value::Null);
}

#[test]
fn durable_flushes_of_a_disk_are_printed_and_not_stored() {
    let place = TestFolder::new();
    let text = place.assay(&["calibrate", "--disk", ".", "--quick"]).expect(0);
    let (first, rest) = text.stdout.split_once('\n').unwrap();
    assert!(first.contains(" durable flushes of 8 KiB per second: p50 "), "{first}");
    let folder = place.path().canonicalize().unwrap();
    assert!(rest.starts_with(&format!("{}: ", folder.display())), "{rest}");
    assert!(text.stderr.contains("flushes of 8 KiB, rewrite …\n"), "{}", text.stderr);
    let args = ["calibrate", "--disk", ".", "--quick", "--quiet", "--json"];
    let document = place.assay(&args).expect(0).json();
    assert_matches_schema("schemas/disk.schema.json", &document);
    assert_eq!(document["flushes"].as_array().unwrap().len(), 8);
    assert_eq!((kept(&place).len(), place.names().len()), (0, 0));
}

#[test]
fn disk_without_a_place_for_the_file_is_refused() {
    let place = TestFolder::new();
    place.write("a-file", "");
    for folder in ["missing", "a-file", "/proc"] {
        let ran = place.assay(&["calibrate", "--disk", folder, "--quick", "--quiet"]);
        ran.refuses(&[&format!("cannot create a file in `{folder}`: "), "name a folder"]);
    }
    let args = ["calibrate", "--disk", ".", "--quick", "--quiet"];
    CommandResult::of(&mut limited(&place, 8, &args))
        .refuses(&["cannot write to a file in", "too large"]);
    place.assay(&["calibrate", "sqlite:", "--disk", "."]).refuses(&["--disk"]);
    assert_eq!(place.names(), ["a-file"]);
}

#[test]
fn killed_measurement_of_a_disk_leaves_no_file() {
    let place = TestFolder::new();
    let mut measuring = place.start(&["calibrate", "--disk", "."]);
    measuring.wait_for_line("flushes of 16 KiB, rewrite …");
    assert_eq!(place.names().len(), 0);
    measuring.signal(Signal::SIGINT);
    let ran = measuring.wait_for_end().expect(130);
    assert!(ran.stderr.contains("interrupted before the end of the measurement"), "{}", ran.stderr);
    let mut measuring = place.start(&["calibrate", "--disk", "."]);
    measuring.wait_for_line("flushes of 16 KiB, rewrite …");
    measuring.signal(Signal::SIGKILL);
    measuring.wait_for_end();
    assert_eq!(place.names().len(), 0);
}

#[test]
fn tmpfs_is_reported_as_misleading() {
    let place = TestFolder::new();
    let ran = place.assay(&["calibrate", "--disk", "/dev/shm", "--quick", "--quiet"]).expect(0);
    assert!(ran.stderr.contains("warning: `/dev/shm` is on tmpfs, which is"), "{}", ran.stderr);
}
