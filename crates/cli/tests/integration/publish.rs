//! Tests of `assay publish`: bundles of a record and its answer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::disk::limited;
use crate::example::assert_matches_schema;
use crate::killed::wait_until_gone;
use crate::support::{CommandResult, MM1, TestFolder};

/// A workload that reads a file, and whose URL contains a password.
const READ: &str = "url = postgres://ann:hunter2@db1/shop\nduration = 2s\n[read]\n\
    query = select ?\nquery-args-file = data/ids.csv\nconcurrency = 2\n";

/// A workload with a secret parameter.
const SECRET: &str = "duration = 2s\n[params]\npw = hunter2\n[target other]\n\
    url = postgres://ann:${pw}@localhost:1/d\n[read]\nquery = select 1\nconcurrency = 2\n";

const PLAIN: &str = "duration = 2s\n[read]\nquery = select 1\nconcurrency = 2\n";

const EXPERIMENT: &str = "[question]\nask = Is slow slower?\nworkload = plain.ini\nrounds = 6\n\
    [arm plain]\n[arm slow]\noption.service = 1.25ms\n";

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.write("plain.ini", PLAIN);
    place.write("e.ini", EXPERIMENT);
    for (file, record) in [("plain.ini", "r.assay"), ("e.ini", "e.assay")] {
        let line = ["run", file, "--virtual", "--quiet", "--url", MM1, "--out", record];
        place.assay(&line).expect(0);
    }
    place
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    all.sort();
    all
}

/// Returns the output of `sha256sum`, and true if all checksums match.
fn checked(folder: &Path) -> (String, bool) {
    let mut command = Command::new("sha256sum");
    let ran = command.args(["--check", "SHA256SUMS"]).current_dir(folder).output().unwrap();
    (String::from_utf8(ran.stdout).unwrap(), ran.status.success())
}

/// Packs a damaged copy of a record as the bundle `damaged.tar.gz`.
fn damaged_bundle(place: &TestFolder, record: &str) {
    let mut bytes = fs::read(place.at(record)).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::create_dir_all(place.at("damaged")).unwrap();
    place.write("damaged/r.assay", bytes);
    let mut command = Command::new("tar");
    command.args(["czf", "damaged.tar.gz", "--format=ustar", "damaged"]).current_dir(place.path());
    assert!(command.status().unwrap().success());
}

/// Unpacks an archive as a reader would, and returns the unpacked folder.
fn unpacked(place: &TestFolder, archive: &str, folder: &str) -> PathBuf {
    let mut command = Command::new("tar");
    command.args(["xzf", archive]).current_dir(place.path());
    assert!(command.status().unwrap().success());
    place.at(folder)
}

#[test]
fn bundle_has_record_answer_files_and_right_checksums() {
    let place = place();
    for (record, schema, input) in
        [("r.assay", "summary", "plain.ini"), ("e.assay", "experiment", "e.ini")]
    {
        place.assay(&["note", record, "looks right", "--author", "ann"]).expect(0);
        let archive = record.replace(".assay", ".tar.gz");
        let ran = place.assay(&["publish", record]).expect(0);
        assert_eq!(ran.stdout, format!("{archive}\n"));
        let folder = unpacked(&place, &archive, &record.replace(".assay", "-published"));
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
        let readme = read("README.md");
        for words in ["VALID", "sha256sum --check", "looks right", "assay run", "assay repeat"] {
            assert!(readme.contains(words), "{words}: {readme}");
        }
        assert!(readme.contains("| `server` | simulated |"), "{readme}");
        assert!(read("settings.csv").contains(",Server,server,simulated\r\n"));
        assert!(read("UNDISCLOSED.md").contains("Nothing that the record has is left out."));
        assert!(read(&format!("files/{input}")) == fs::read_to_string(place.at(input)).unwrap());
        let document = serde_json::from_str(&read("answer.json")).unwrap();
        assert_matches_schema(&format!("schemas/{schema}.schema.json"), &document);
        let text = read("answer.txt");
        assert!(text.contains("looks right"));
        assert_eq!(text.contains("\nchecks\n"), record == "e.assay", "{text}");
        assert!(read("page.html").contains("looks right"));
        assert_eq!(fs::read(folder.join(record)).unwrap(), fs::read(place.at(record)).unwrap());
        let (output, is_right) = checked(&folder);
        assert!(is_right, "{output}");
        assert_eq!(output.lines().count() + 1, files(&folder).len(), "{output}");
        // No file contains the path of the folder in which the bundle was created.
        let made_at = place.path().display().to_string();
        for path in files(&folder).iter().filter(|path| !path.ends_with(record)) {
            assert!(!fs::read_to_string(path).unwrap().contains(&made_at), "{path:?}");
        }
        // A reader who has only the bundle can read its answer and repeat the measurement.
        let published = fs::read(place.at(&archive)).unwrap();
        place.assay(&["publish", record, "--out", "again.tar.gz"]).expect(0);
        assert!(published == fs::read(place.at("again.tar.gz")).unwrap(), "the same bytes");
        fs::remove_file(place.at("again.tar.gz")).unwrap();
        let ran = place.assay(&["report", &archive, "--markdown"]).expect(0);
        assert!(readme.contains(ran.stdout.lines().next().unwrap()), "{}", ran.stdout);
        let ran = place.assay(&["report", &archive]).expect(0);
        assert!(ran.stdout.contains(&archive) && ran.stdout.contains("VALID"), "{}", ran.stdout);
        place.assay(&["repeat", &archive, "--quiet", "--out", &format!("again-{record}")]);
        place.assay(&["report", &format!("again-{record}")]).expect(0);
        fs::write(folder.join("answer.txt"), "better").unwrap();
        assert!(!checked(&folder).1, "a changed file is noticed");
    }
    // The report of a bundle suggests `assay export`, so `export` reads a bundle, too.
    place.assay(&["note", "r.assay", "later", "--author", "ann"]).expect(0);
    assert_eq!(place.export("r.tar.gz", "hlog"), place.export("r.assay", "hlog"));
    place.assay(&["note", "r.tar.gz", "x"]).refuses(&["it is compressed", "tar xzf"]);
    fs::write(place.at("r.tar.gz"), &fs::read(place.at("r.tar.gz")).unwrap()[..500]).unwrap();
    for command in [&["report", "r.tar.gz"][..], &["repeat", "r.tar.gz"]] {
        place.assay(command).refuses(&["`r.tar.gz` is not an intact bundle"]);
    }
    for record in ["r.assay", "e.assay"] {
        damaged_bundle(&place, record);
        for command in ["report", "repeat"] {
            let ran = place.assay(&[command, "damaged.tar.gz"]);
            let ran = ran.refuses(&["the record `damaged.tar.gz` is damaged"]);
            assert!(!ran.stderr.contains("assay-bundle"), "{}", ran.stderr);
        }
    }
}

#[test]
fn bundle_without_an_answer_names_the_command_that_runs_it_again() {
    let place = TestFolder::with("");
    place.write("plain.ini", PLAIN);
    place.write("e.ini", EXPERIMENT);
    let url = "sim:mm1?service=1ms&errors=0.2";
    let line = ["run", "e.ini", "--virtual", "--quiet", "--url", url, "--out", "e.assay"];
    place.assay(&line).expect(3);
    place.assay(&["publish", "e.assay", "--folder"]).expect(0);
    let readme = fs::read_to_string(place.at("e-published/README.md")).unwrap();
    assert!(!readme.contains("\n    assay repeat"), "{readme}");
    assert!(readme.contains("\n\nRun that command again, in the folder `files`."), "{readme}");
    let command = readme.lines().find_map(|line| line.strip_prefix("    assay run "));
    let command = command.expect(&readme);
    let script = format!("exec \"$0\" run {command} --quiet --out ../again.assay");
    let mut again = Command::new("sh");
    place.run_in_folder(again.args(["-c", &script, env!("CARGO_BIN_EXE_assay")]));
    CommandResult::of(again.current_dir(place.at("e-published/files"))).expect(3);
    place.assay(&["report", "e-published/again.assay"]).expect(3);
}

#[test]
fn password_is_in_no_file_of_a_bundle() {
    let place = TestFolder::with(READ);
    fs::create_dir(place.at("data")).unwrap();
    place.write("data/ids.csv", "1\n2\n");
    let line = ["run", "w.ini", "--virtual", "--quiet", "--url", MM1, "--out", "r.assay"];
    place.assay(&line).expect(0);
    fs::rename(place.at("r.assay"), place.at("README.md")).unwrap();
    place.assay(&["publish", "README.md", "--out", "bundle", "--folder"]).expect(0);
    assert!(place.at("bundle/README.md.assay").exists());
    let files = files(&place.at("bundle"));
    for path in &files {
        let bytes = fs::read(path).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{path:?}");
    }
    assert!(files.contains(&place.at("bundle/files/data/ids.csv")), "{files:?}");
    assert!(!files.contains(&place.at("bundle/files/w.ini")), "{files:?}");
    let readme = fs::read_to_string(place.at("bundle/README.md")).unwrap();
    assert!(readme.contains("| `w.ini` | **not included**"), "{readme}");
    let undisclosed = fs::read_to_string(place.at("bundle/UNDISCLOSED.md")).unwrap();
    assert!(undisclosed.contains("| file `w.ini` | it contains a password"), "{undisclosed}");
    // The plans of an experiment are part of its bundle too.
    place.write("s.ini", SECRET);
    place.write("e.ini", EXPERIMENT.replace("plain.ini", "s.ini"));
    let line = ["run", "e.ini", "--virtual", "--quiet", "--url", MM1, "--out", "e.assay"];
    place.assay(&line).expect(0);
    place.assay(&["publish", "e.assay", "--folder"]).expect(0);
    let undisclosed = fs::read_to_string(place.at("e-published/UNDISCLOSED.md")).unwrap();
    assert!(undisclosed.contains("| value of `pw` | it is secret"), "{undisclosed}");
}

#[test]
fn bundle_of_an_experiment_has_no_secret_and_no_home_folder() {
    let place = TestFolder::new();
    fs::create_dir_all(place.at("home-of-ann/lab/data")).unwrap();
    place.write("home-of-ann/lab/data/ids.csv", "1\n2\n");
    let workload = SECRET.replace("select 1", "select ?\nquery-args-file = data/ids.csv");
    place.write("home-of-ann/lab/s.ini", workload);
    place.write("home-of-ann/lab/e.ini", EXPERIMENT.replace("plain.ini", "s.ini"));
    let file = place.at("home-of-ann/lab/e.ini").display().to_string();
    let line = ["run", &file, "--virtual", "--quiet", "--url", MM1, "--set", "pw=hunter3"];
    let mut command = place.command(&[&line[..], &["--out", "e.assay"]].concat());
    CommandResult::of(command.env("PGPASSWORD", "hunter4")).expect(0);
    let has = |path: &Path, words: &str| {
        fs::read(path).unwrap().windows(words.len()).any(|part| part == words.as_bytes())
    };
    assert!(has(&place.at("e.assay"), "home-of-ann"), "the record has the path as it was given");
    place.assay(&["publish", "e.assay", "--folder"]).expect(0);
    let all = files(&place.at("e-published"));
    assert!(all.contains(&place.at("e-published/files/data/ids.csv")), "{all:?}");
    for path in &all {
        for words in ["hunter", "home-of-ann", &place.path().display().to_string()] {
            assert!(!has(path, words), "{words} in {path:?}");
        }
    }
    let undisclosed = fs::read_to_string(place.at("e-published/UNDISCLOSED.md")).unwrap();
    assert!(undisclosed.contains("| folder of `e.ini` | it is of no use"), "{undisclosed}");
    assert!(checked(&place.at("e-published")).1);
    // The copy is a record like any other.
    place.assay(&["report", "e-published/e.assay"]).expect(0);
    place.assay(&["publish", "e-published/e.assay", "--out", "again", "--folder"]).expect(0);
}

#[test]
fn bundle_overwrites_no_file_and_requires_an_ended_record() {
    let place = place();
    fs::create_dir(place.at("there")).unwrap();
    for more in [&["--folder"][..], &[]] {
        let line = [&["publish", "r.assay", "--out", "there"], more].concat();
        place.assay(&line).refuses(&["`there` exists already"]);
        let line = [&["publish", "r.assay", "--out", "no/where"], more].concat();
        place.assay(&line).refuses(&["cannot create the"]);
    }
    assert_eq!(fs::read_dir(place.at("there")).unwrap().count(), 0);
    let before = place.names();
    let is_part = |name: &String| name.starts_with(".assay-publish");
    let has_part = || place.names().iter().any(is_part);
    let mut publishing = place.start(&["publish", "e.assay"]);
    wait_until_gone("the time before the bundle", || !has_part() && !place.at("e.tar.gz").exists());
    if publishing.is_running() {
        publishing.signal(Signal::SIGINT);
    }
    publishing.wait_for_end();
    wait_until_gone("a part of the bundle", has_part);
    if place.at("e.tar.gz").exists() {
        // If the signal came too late, the bundle is complete.
        place.assay(&["report", "e.tar.gz"]).expect(0);
        fs::remove_file(place.at("e.tar.gz")).unwrap();
    }
    let full = CommandResult::of(&mut limited(&place, 8, &["publish", "r.assay"]));
    let full = full.refuses(&["`r.tar.gz`"]);
    assert!(!full.stderr.contains(".assay-publish"), "{}", full.stderr);
    place.assay(&["publish", "no.assay"]).refuses(&["there is no file `no.assay`"]);
    place.assay(&["publish", "plain.ini"]).refuses(&["is not a record of Assay"]);
    let sql = "delete from meta where key in ('ended', 'ended_at_ns', 'ended_because');";
    rusqlite::Connection::open(place.at("r.assay")).unwrap().execute_batch(sql).unwrap();
    // The record is refused before it is copied, because a copy would hold up its writer.
    for out in ["r.tar.gz", "no/where"] {
        let line = ["publish", "r.assay", "--out", out];
        place.assay(&line).refuses(&["`r.assay` has not ended, or was killed"]);
    }
    let sql = "update experiment set value = 'running' where key = 'state'";
    rusqlite::Connection::open(place.at("e.assay")).unwrap().execute_batch(sql).unwrap();
    place.assay(&["publish", "e.assay"]).refuses(&["has not ended", "--resume"]);
    assert_eq!(place.names(), before, "nothing is left");
}
