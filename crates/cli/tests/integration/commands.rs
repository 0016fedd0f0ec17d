//! Jobs that run programs.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::experiment_servers::has_processes;
use crate::killed::wait_until_gone;
use crate::support::{
    CommandResult, Running, TestFolder, assert_balanced, job, number, wait_until,
};

const RUN: [&str; 6] = ["run", "w.ini", "--allow-commands", "--out", "r.assay", "--json"];

/// Runs a workload until it ends. The workload has one job, with these keys, and no database. Also
/// returns the folder of the run.
fn run(keys: &str) -> (TestFolder, CommandResult) {
    let place = TestFolder::with(&format!("drain = 100ms\n[job]\n{keys}\n"));
    let ran = place.assay(&RUN);
    (place, ran)
}

/// Returns the texts of a record's events.
fn events(place: &TestFolder) -> String {
    place.export_json("r.assay")["events"].to_string()
}

/// Checks that no process of the programs is left; they all run in this folder.
#[track_caller]
fn assert_no_process_left(place: &TestFolder) {
    wait_until_gone("a process of a program", || has_processes(place.path()));
}

/// Waits until a program has written its process group to the file.
fn wait_until_started(file: &Path) {
    wait_until("its group", || fs::read_to_string(file).is_ok_and(|text| text.ends_with('\n')));
}

#[test]
fn programs_need_the_flag() {
    let place = TestFolder::with("[backup]\ncommand = touch ran-${uniform(1, 9)}\ncount = 1\n");
    let ran = place.assay(&["run", "w.ini"]);
    ran.refuses(&["[backup]  touch ran-…", "--allow-commands"]);
    let plan = place.assay(&["check", "w.ini"]).expect(0).stdout;
    assert!(plan.contains("command = touch ran-${uniform(1, 9)}\n"), "{plan}");
    assert_eq!(place.names(), ["w.ini"]);
}

#[test]
fn every_request_is_a_run_of_the_program_among_other_jobs() {
    let place = TestFolder::with(
        "[setup]\nquery = create table t (id integer)\n\
         [insert]\nquery = insert into t values (1)\nconcurrency = 1\ncount = 20\n\
         [log]\nlet = n: sequence(), text: pick('it is')\ncount = 5\n\
         command = echo ${n} ${text} >> log\n",
    );
    let mut args = RUN.to_vec();
    args.extend(["--url", "sqlite:m.db"]);
    let summary = place.assay(&args).json();
    assert_balanced(&summary);
    let log = job(&summary, "log");
    assert_eq!(log["completed"], 5);
    assert_eq!(log["command"], "echo … … >> log");
    assert!(log["service_ms"]["p50"].as_f64() > Some(0.0));
    let lines = fs::read_to_string(place.at("log")).unwrap();
    assert_eq!(lines, "1 it is\n2 it is\n3 it is\n4 it is\n5 it is\n");
    assert_eq!(number(&place.at("m.db"), "select count(*) from t"), 20);
    let command = summary["run"]["command"].as_str().unwrap();
    assert!(command.contains(" --allow-commands"), "{command}");
    let text = place.assay(&["report", "r.assay", "--full"]).stdout;
    assert!(text.contains("; runs a program"), "{text}");
}

#[test]
fn a_run_of_programs_alone_has_no_database() {
    let (place, ran) = run("command = true\ncount = 2");
    let summary = ran.json();
    assert_eq!(summary["run"]["target"], "");
    assert_eq!(job(&summary, "job")["completed"], 2);
    assert_eq!(place.names(), ["r.assay", "w.ini"]);
}

#[test]
fn exit_codes_are_errors_which_may_be_accepted_or_tried_again() {
    let (place, ran) = run("command = echo oh >&2; exit 3\ncount = 4\nerror = exit-3");
    let summary = ran.json();
    let job = job(&summary, "job");
    assert_eq!((&job["errors"], &job["accepted_errors"]), (&4.into(), &4.into()));
    let mut codes = job["errors_by_code"].clone();
    let text = codes[0]["text"].take();
    assert!(text.as_str().unwrap().ends_with("oh (exit-3)"), "{text}");
    let code = serde_json::json!([{"class": "server", "code": "exit-3", "count": 4, "text": null}]);
    assert_eq!(codes, code);
    assert!(events(&place).contains("oh (exit-3)"), "{}", events(&place));

    let (_, ran) = run("command = test -f there || { touch there; exit 1; }\ncount = 1\n\
                        retry = 2 on exit-1");
    let summary = ran.json();
    let job = crate::support::job(&summary, "job");
    assert_eq!((&job["completed"], &job["retries"]), (&1.into(), &1.into()));
}

#[test]
fn a_program_that_is_missing_is_found_before_anything_is_made() {
    let place = TestFolder::with(
        "[setup]\nquery = create table t (id integer)\n[job]\ncommand = no-such-program x\n",
    );
    let args = ["run", "w.ini", "--allow-commands", "--url", "sqlite:m.db"];
    place.assay(&args).refuses(&["[job]: the shell finds no program `no-such-program`", "w.ini:4"]);
    assert_eq!(place.names(), ["w.ini"]);
    let (_, ran) = run("command = if true");
    ran.refuses(&["[job]: the shell does not understand the command"]);
}

#[test]
fn program_missing_within_a_shell_command_is_a_request_error() {
    let (place, ran) = run("command = true && no-such-program\ncount = 1");
    assert_eq!(job(&ran.json(), "job")["errors_by_code"][0]["code"], "exit-127");
    assert!(events(&place).contains("no-such-program"), "{}", events(&place));
}

#[test]
fn programs_run_in_the_folder_of_the_file_and_without_the_password() {
    let place = TestFolder::new();
    fs::create_dir(place.at("lab")).unwrap();
    place.write("lab/w.ini", "[job]\ncommand = . ./seen.sh\ncount = 1\n");
    place.write(
        "lab/seen.sh",
        "echo \"$ASSAY_PASSWORD$PGPASSWORD$MYSQL_PWD$A_TOKEN,$OTHER\" > seen\n",
    );
    let mut command = place.command(&["run", "lab/w.ini", "--allow-commands", "--out", "r.assay"]);
    for name in ["ASSAY_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "A_TOKEN"] {
        command.env(name, "hunter2");
    }
    command.env("OTHER", "other");
    CommandResult::of(&mut command);
    assert_eq!(fs::read_to_string(place.at("lab/seen")).unwrap(), ",other\n");
}

#[test]
fn programs_reach_the_database_of_the_run_by_variables_and_a_password_file() {
    let setup = "[setup]\nquery = create table t (id integer)\n\
                 query = insert into t values (7)\n[teardown]\nquery = drop table t\n";
    let place = TestFolder::with(&format!(
        "{setup}[dump]\ncount = 1\ncommand = echo $ASSAY_PASSWORD_FILE > login; pg_dump --inserts \
         -h $ASSAY_HOST -p $ASSAY_PORT -U $ASSAY_USER $ASSAY_DATABASE > dump\n"
    ));
    let ran = place.assay(&[&RUN[..], &["--url", "testbed:postgres"]].concat());
    assert_eq!(job(&ran.json(), "dump")["completed"], 1, "{}", events(&place));
    let text = |name: &str| fs::read_to_string(place.at(name)).unwrap();
    assert!(text("dump").contains("INSERT INTO public.t VALUES (7);"), "{}", text("dump"));
    let login = text("login");
    assert!(login.starts_with('/') && !Path::new(login.trim()).exists(), "{login}");

    let command = "command = echo $ASSAY_DATABASE $ASSAY_PASSWORD_FILE > seen\n";
    let place = TestFolder::with(&format!("{setup}[log]\ncount = 1\n{command}"));
    place.assay(&[&RUN[..], &["--url", "sqlite:m.db"]].concat());
    let seen = fs::read_to_string(place.at("seen")).unwrap();
    assert!(seen.starts_with('/') && seen.ends_with("/m.db\n"), "{seen}");
}

/// Expects a copy of the default target, a temporary database, to have the rows of the setup. Its
/// path is not in the record.
#[test]
fn programs_reach_the_temporary_database_of_the_run() {
    let place = TestFolder::with(
        "[setup]\nquery = create table t (id integer)\nquery = insert into t values (7)\n\
         [copy]\ncount = 1\ncommand = echo \"$ASSAY_DATABASE\" > seen; cp \"$ASSAY_DATABASE\"* .\n",
    );
    let ran = place.assay(&RUN);
    assert_eq!(job(&ran.json(), "copy")["completed"], 1, "{}", events(&place));
    let copy = rusqlite::Connection::open(place.at("database")).unwrap();
    let id: i64 = copy.query_row("select id from t", [], |row| row.get(0)).unwrap();
    assert_eq!(id, 7);
    let seen = fs::read_to_string(place.at("seen")).unwrap();
    assert!(!place.export_json("r.assay").to_string().contains(seen.trim()), "{seen}");
}

#[test]
fn remedy_for_a_failing_program_is_about_the_program() {
    let (place, _) = run("command = echo oh >&2; exit 3\ncount = 4");
    let text = place.assay(&["report", "r.assay"]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("What to do: run the program by hand and correct it"), "{text}");
    assert!(!text.contains("the server's log"), "{text}");
}

#[test]
fn programs_take_real_time() {
    let place = TestFolder::with("[job]\ncommand = true\ncount = 1\n");
    let args = ["run", "w.ini", "--allow-commands", "--virtual"];
    place.assay(&args).refuses(&["programs take real time"]);
}

/// A program that ignores SIGTERM, with a child that does too.
const STUBBORN: &str =
    "command = trap '' TERM; sleep 1000 & echo $$ >> groups; while :; do sleep 1000; done";

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_of_its_group() {
    let (place, ran) = run(&format!("{STUBBORN}\ncount = 2\ntimeout = 300ms"));
    let summary = ran.json();
    assert_eq!(job(&summary, "job")["timeouts"], 2);
    assert_no_process_left(&place);
}

#[test]
fn hung_program_is_ended_when_the_drain_ends() {
    let place = TestFolder::with(&format!("duration = 500ms\ndrain = 100ms\n[job]\n{STUBBORN}\n"));
    let summary = place.assay(&RUN).json();
    let errors: &Value = &job(&summary, "job")["errors_by_code"];
    assert_eq!(errors[0]["code"], "drain", "{errors}");
    assert_no_process_left(&place);
}

#[test]
fn interrupted_run_leaves_no_process() {
    for (drain, signals) in [("100ms", 1), ("1h", 2)] {
        let place = TestFolder::with(&format!("drain = {drain}\n[job]\n{STUBBORN}\n"));
        let mut running: Running = place.start(&RUN);
        wait_until_started(&place.at("groups"));
        running.signal(Signal::SIGINT);
        running.wait_for_line("ending the run:");
        if signals == 2 {
            running.signal(Signal::SIGINT);
        }
        running.wait_for_end().expect(130);
        assert_no_process_left(&place);
    }
}
