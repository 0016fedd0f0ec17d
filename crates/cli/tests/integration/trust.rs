//! Tests of the protection of a user's machine against untrusted workload files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::{CommandResult, Running, TestFolder};

/// Creates a folder `lab` with an untrusted `w.ini`, next to files that it must not touch.
fn place(workload: &str) -> TestFolder {
    let place = TestFolder::new();
    fs::create_dir_all(place.at("lab/sub")).unwrap();
    place.write("lab/w.ini", workload);
    place.write("victim", "kept\n");
    place.write("victim.csv", "kept\n");
    symlink("../victim.csv", place.at("lab/link.csv")).unwrap();
    symlink("../victim", place.at("lab/link")).unwrap();
    symlink("..", place.at("lab/up")).unwrap();
    place
}

/// Runs the program in the folder `lab`.
fn assay(place: &TestFolder, args: &[&str]) -> CommandResult {
    let mut command = place.command(args);
    CommandResult::of(command.current_dir(place.at("lab")))
}

const RUN: [&str; 5] = ["run", "w.ini", "--quiet", "--out", "r.assay"];

/// Arguments of a run in virtual time, whose verdict does not depend on the machine.
const VIRTUALLY: [&str; 8] =
    ["run", "w.ini", "--quiet", "--out", "r.assay", "--virtual", "--url", "sim:mm1"];

/// Checks that a workload is refused before it has any effect, with a message that contains `words`
/// and names `flag`, the option that would allow it.
#[track_caller]
fn refused(workload: &str, words: &str, flag: &str) {
    let place = place(workload);
    for args in [&RUN[..], &["run", "w.ini", "--quiet"]] {
        let ran = assay(&place, args).expect(2);
        assert!(ran.stderr.contains(words) && ran.stderr.contains(flag), "{workload}: {ran:?}");
    }
    for victim in ["victim", "victim.csv"] {
        assert_eq!(fs::read_to_string(place.at(victim)).unwrap(), "kept\n", "{workload}");
    }
    let mut left: Vec<String> = fs::read_dir(place.at("lab"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["link", "link.csv", "sub", "up", "w.ini"], "{workload}");
    assert_eq!(place.names(), ["lab", "victim", "victim.csv"], "{workload}");
}

#[test]
fn results_are_new_files_in_the_folder_of_the_record() {
    for name in [
        "../victim",
        "../victim.csv",
        "/tmp/assay-victim.csv",
        "link.csv",
        "up/victim.csv",
        "up/new.csv",
        "sub/../../new.csv",
        ".bash_profile",
        ".config/new.csv",
        "GNUmakefile",
        "run.sh",
    ] {
        let job = format!("[a]\nquery = select 'x'\ncount = 1\nquery-results-file = {name}\n");
        refused(&job, "cannot be made", "--allow-files");
    }
    let results = "[a]\nquery = select 'x'\ncount = 1\nquery-results-file = new.csv\n";
    let place = place(results);
    fs::create_dir(place.at("records")).unwrap();
    let into = |record| [&["run", "w.ini", "--quiet", "--out"][..], &[record]].concat();
    // The request may be late, which is irrelevant here.
    assert_ne!(assay(&place, &into("../records/r.assay")).code, 2);
    assert_eq!(fs::read_to_string(place.at("records/new.csv")).unwrap(), "x\n");
    let again = into("../records/again.assay");
    let ran = assay(&place, &again).expect(2);
    assert!(
        ran.stderr.contains("the file exists: move it, or overwrite it with --allow-files"),
        "{ran:?}"
    );
    assert_ne!(assay(&place, &[&again[..], &["--allow-files"]].concat()).code, 2);
}

#[test]
fn results_go_anywhere_with_the_flag() {
    let place = place("[a]\nquery = select 'x'\ncount = 1\nquery-results-file = ../victim\n");
    assert_ne!(assay(&place, &[&RUN[..], &["--allow-files"]].concat()).code, 2);
    assert_eq!(fs::read_to_string(place.at("victim")).unwrap(), "x\n");
}

#[test]
fn inputs_stay_below_the_folder_of_the_file() {
    for name in [
        "../victim",
        "/etc/passwd",
        "link",
        "up/victim",
        "sub/../../victim",
        ".ssh/id_ed25519",
        "sub/.pgpass",
    ] {
        for job in [
            format!("query-file = {name}\ncount = 1"),
            format!("query = select ?\nquery-args-file = {name}"),
            format!("query-log-file = {name}"),
            format!("query = select 1\nrate = trace({name})\nduration = 1s"),
        ] {
            refused(&format!("[a]\n{job}\n"), "cannot be read", "--allow-files");
        }
    }
    refused("[a]\nquery = select ?\nquery-args-file = /dev/null\n", "leads out", "--allow-files");
    // If a workload file was saved in the home folder, credentials are below its folder.
    let home = place("[a]\nquery = select ?\nquery-args-file = .aws/credentials\ncount = 1\n");
    fs::create_dir(home.at("lab/.aws")).unwrap();
    home.write("lab/.aws/credentials", "1\n");
    let ran = assay(&home, &VIRTUALLY).expect(2);
    assert!(ran.stderr.contains("begins with a dot needs --allow-files"), "{ran:?}");
    assay(&home, &[&VIRTUALLY[..], &["--allow-files"]].concat()).expect(0);
    let place = place("[a]\nquery-file = ../victim\ncount = 1\n");
    place.write("victim", "select 1");
    assay(&place, &[&VIRTUALLY[..], &["--allow-files"]].concat()).expect(0);
}

/// The pipe has no writer: opening it would wait for ever, so it is refused unopened.
#[test]
fn pipe_in_place_of_a_file_is_refused_without_waiting() {
    let job = "[a]\nquery = select 1\ncount = 1\n";
    for workload in [
        "[a]\nquery-file = pipe\ncount = 1\n".to_owned(),
        "[a]\nquery = select ${csv('pipe', 'name')}\ncount = 1\n".to_owned(),
        "[a]\nquery = select 1\nrate = trace(pipe)\nduration = 1s\n".to_owned(),
        "[question]\nask = x\nworkload = pipe\n[arm a]\n[arm b]\nseed = 2\n".to_owned(),
        format!("url = sqlite:pipe.db\n{job}"),
        format!("url = postgres://127.0.0.1:1/x?tls=verify&tls-ca=pipe\n{job}"),
    ] {
        let place = place(&workload);
        for name in ["pipe", "pipe.db"] {
            mkfifo(&place.at("lab").join(name), Mode::S_IRWXU).unwrap();
        }
        for command in [&["check", "w.ini"][..], &["run", "w.ini", "--quiet"]] {
            let mut command = place.command(command);
            let run = Running::of(command.current_dir(place.at("lab")));
            let ran = run.wait_for_end().expect(2);
            let is_named = ["pipe in place of a file", "not an SQLite database"]
                .iter()
                .any(|words| ran.stderr.contains(words));
            assert!(is_named && ran.stderr.contains("--allow-files"), "{workload}: {ran:?}");
        }
    }
}

#[test]
fn urls_of_the_file_reach_no_file_outside_its_folder() {
    let job = "[a]\nquery = select 1\ncount = 1\n";
    for url in ["sqlite:../new.db", "sqlite:/tmp/assay-new.db", "sqlite:up/new.db", "sqlite:link"] {
        refused(&format!("url = {url}\n{job}"), "`url` leads to", "--allow-files");
        let named = format!("[target b]\nurl = {url}\n{job}target = b\n");
        refused(&named, "`url` of [target b] leads to", "--allow-files");
    }
    for url in ["sqlite:w.ini", "sqlite:sub/new", "sqlite:.hidden.db", "sqlite:new.db-wal"] {
        refused(&format!("url = {url}\n{job}"), "`url` leads to", "--allow-files");
    }
    for option in ["tls-ca=/etc/passwd", "tls-cert=w.ini&tls-key=../victim"] {
        let url = format!("url = postgres://ann@127.0.0.1:1/shop?tls=verify&{option}\n{job}");
        refused(&url, "`url` leads to", "--allow-files");
    }
    let socket = "url = postgres:///shop?socket=/run/postgresql/.s.PGSQL.5432\n";
    refused(&format!("{socket}{job}"), "`url` leads to the Unix socket", "--allow-files");
    let place = place(&format!("url = sqlite:../new.db\n{job}"));
    assay(&place, &[&RUN[..], &["--url", "sqlite:../typed.db"]].concat());
    assert!(place.at("typed.db").exists(), "what the user types is allowed");
}

#[test]
fn options_of_an_arm_reach_no_file_outside_its_folder_also_if_the_url_is_typed() {
    let place = place("duration = 1s\n[a]\nquery = select 1\nrate = 10\n");
    let question = "[question]\nask = Which?\nworkload = w.ini\n";
    let line = ["check", "e.ini", "--url", "postgres://ann@127.0.0.1:1/shop?tls=verify"];
    for (part, key) in [
        ("[arm a]\n[arm b]\noption.tls-ca = /etc/passwd\n", "`option.tls-ca` of [arm b] leads to"),
        ("[sweep]\nvary = option.tls-ca: /etc/passwd, ask\n", "`option.tls-ca` of "),
    ] {
        place.write("lab/e.ini", format!("{question}{part}"));
        let ran = assay(&place, &line).expect(2);
        assert!(ran.stderr.contains(key) && ran.stderr.contains("--allow-files"), "{}", ran.stderr);
        assay(&place, &[&line[..], &["--allow-files"]].concat()).expect(0);
    }
    let socket = "[arm a]\n[arm b]\noption.socket = /run/s\n";
    place.write("lab/e.ini", format!("{question}{socket}"));
    let ran = assay(&place, &line).expect(2);
    assert!(ran.stderr.contains("`option.socket` of [arm b] leads to"), "{}", ran.stderr);
}

#[test]
fn file_that_is_not_a_database_is_not_opened_as_one() {
    let place = place("url = sqlite:kept.db\n[a]\nquery = select 1\ncount = 1\n");
    for (content, code) in [("no database", 2), ("SQLite format 2\0", 2), ("", 0)] {
        place.write("lab/kept.db", content);
        let ran = assay(&place, &["check", "w.ini"]).expect(code);
        assert_eq!(ran.stderr.contains("not an SQLite database needs --allow-files"), code == 2);
        assert_eq!(fs::read_to_string(place.at("lab/kept.db")).unwrap(), content);
    }
    fs::remove_file(place.at("lab/kept.db")).unwrap();
    for _ in ["a new one", "one that is there"] {
        let ran = assay(&place, &RUN);
        assert_ne!(ran.code, 2, "{ran:?}");
        fs::remove_file(place.at("lab/r.assay")).unwrap();
    }
}

/// Expects a refusal if the journal is a link to another file. SQLite would roll the journal back,
/// and truncate the file to which the link leads.
#[test]
fn file_next_to_the_database_leads_to_no_other_file() {
    let place = place("url = sqlite:kept.db?journal=truncate\n[a]\nquery = select 1\ncount = 1\n");
    place.write("lab/kept.db", "");
    symlink("../victim", place.at("lab/kept.db-journal")).unwrap();
    let ran = assay(&place, &RUN).expect(2);
    assert!(ran.stderr.contains("a symbolic link needs --allow-files"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(place.at("victim")).unwrap(), "kept\n");
    assert!(place.at("lab/kept.db-journal").is_symlink());
}

#[test]
fn statements_of_the_file_reach_no_file_but_the_database() {
    let place = place("");
    for statement in ["attach '../victim.db' as v", "vacuum into '../victim.db'"] {
        place.write("lab/w.ini", format!("[setup]\nquery = {statement}\n[a]\nquery = select 1\n"));
        let ran = assay(&place, &[&RUN[..], &["--duration", "1s"]].concat()).expect(2);
        assert!(ran.stderr.contains("--allow-files"), "{ran:?}");
        assert!(!place.at("victim.db").exists(), "{statement}");
    }
    let args = [&RUN[..], &["--duration", "50ms", "--allow-files"]].concat();
    let ran = assay(&place, &args);
    assert!(ran.code != 2 && place.at("victim.db").exists(), "{ran:?}");
}

#[test]
fn programs_of_the_file_need_the_flag() {
    let job = "[a]\nquery = select 1\ncount = 1\n";
    for (workload, words) in [
        ("[a]\ncommand = touch ../ran\ncount = 1\n".to_owned(), "[a]  touch ../ran"),
        (format!("[observe]\nhost = ssh://u@db1\n{job}"), "[observe]  ssh to ssh://u@db1"),
        (format!("url = testbed:postgres\n{job}"), "`url`  testbed:postgres"),
    ] {
        refused(&workload, words, "--allow-commands");
    }
    let place = place("[observe]\nhost = ssh://u@db1\n[load t]\nrows = 1\ncolumns = id: row()\n");
    let ran = assay(&place, &["load", "w.ini", "--quiet"]).expect(2);
    assert!(ran.stderr.contains("--allow-commands"), "{ran:?}");
}

#[test]
fn ssh_gets_no_secret() {
    // The run lasts until the script in place of ssh has run.
    let workload = "[observe]\nhost = ssh://u@db1\n[a]\nquery = select 1\ncount = 1\n\
                    [wait]\ncommand = until test -e seen; do sleep 0.02; done\ncount = 1\n\
                    timeout = 60s\n";
    let place = place(workload);
    place.write("ssh", "#!/bin/sh\nenv > writing\nmv writing seen\n");
    fs::set_permissions(place.at("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = place.command(&[&RUN[..], &["--allow-commands"]].concat());
    command.current_dir(place.at("lab"));
    command.env("PATH", format!("{}:{path}", place.path().display()));
    for name in ["ASSAY_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "AWS_SECRET_ACCESS_KEY"] {
        command.env(name, "hunter2");
    }
    CommandResult::of(command.env("SSH_AUTH_SOCK", "/agent"));
    let seen = fs::read_to_string(place.at("lab/seen")).unwrap();
    assert!(seen.contains("SSH_AUTH_SOCK=/agent") && !seen.contains("hunter2"), "{seen}");
}

#[test]
fn server_named_by_the_file_does_not_receive_the_password_for_any_host() {
    let place = place("url = postgres://ann@db.example/shop\n[a]\nquery = select 1\ncount = 1\n");
    let mut command = place.command(&RUN);
    command.current_dir(place.at("lab")).env("ASSAY_PASSWORD", "hunter2");
    let ran = CommandResult::of(&mut command).expect(2);
    for words in ["db.example", "ASSAY_PASSWORD", "--url", "--allow-files"] {
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
    // An empty variable holds no password.
    let mut command = place.command(&["check", "w.ini"]);
    command.env_remove("PGPASSFILE").env("HOME", place.path()).env("ASSAY_PASSWORD", "");
    CommandResult::of(command.current_dir(place.at("lab"))).expect(0);
}

#[test]
fn server_named_by_the_file_does_not_receive_a_password_file_entry_for_any_host() {
    let job = "[a]\nquery = select 1\ncount = 1\n";
    for (scheme, name, text, words) in [
        ("mysql", ".my.cnf", "[client]\npassword=hunter2\n", "the URL"),
        ("postgres", ".pgpass", "*:*:*:*:hunter2\n", "a line of its own"),
        ("postgres", ".pgpass", "other.invalid:*:*:*:x\n*:5432:shop:ann:hunter2\n", "a line"),
    ] {
        let place = place("");
        place.write(name, text);
        fs::set_permissions(place.at(name), fs::Permissions::from_mode(0o600)).unwrap();
        let check = |workload: &str, more: &[&str]| {
            place.write("lab/w.ini", workload);
            let mut command = place.command(&[&["check", "w.ini"], more].concat());
            command.env_remove("PGPASSFILE").env_remove("ASSAY_PASSWORD");
            CommandResult::of(command.current_dir(place.at("lab")).env("HOME", place.path()))
        };
        let url = format!("{scheme}://ann@db.invalid/shop");
        let main = |url: &str| format!("url = {url}\n{job}");
        let refused = check(&main(&url), &[]).expect(2);
        for words in ["db.invalid", name, "--url", "--allow-files", words] {
            assert!(refused.stderr.contains(words), "{words}: {refused:?}");
        }
        assert!(!refused.stderr.contains("hunter2"), "{refused:?}");
        check(&main(&url), &["--allow-files"]).expect(0);
        check(&main(&url), &["--url", &url]).expect(0);
        check(&main(&format!("{scheme}://ann:own@db.invalid/shop")), &[]).expect(0);
        check(&main(&format!("{scheme}://ann@127.0.0.1/shop")), &[]).expect(0);
        let named = format!("[target b]\nurl = {url}\n{job}target = b\n");
        let refused = check(&named, &["--url", "sqlite:"]).expect(2);
        assert!(refused.stderr.contains("`url` of [target b] leads to"), "{refused:?}");
    }
    let place = place(&format!("url = postgres://ann@db.invalid/shop\n{job}"));
    place.write(".pgpass", "db.invalid:*:*:*:hunter2\n*:*:*:*:other\n");
    fs::set_permissions(place.at(".pgpass"), fs::Permissions::from_mode(0o600)).unwrap();
    let mut command = place.command(&["check", "w.ini"]);
    command.env_remove("PGPASSFILE").env("HOME", place.path()).current_dir(place.at("lab"));
    CommandResult::of(&mut command).expect(0);
}
