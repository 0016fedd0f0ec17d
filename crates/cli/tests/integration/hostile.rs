//! Tests of servers that put escape sequences and forged lines into everything they send: no
//! command passes them on to the terminal.

use testbed::Kind;

use crate::liar::{FaultyServer, RefusedRequest};
use crate::support::{CommandResult, Place};

/// A message that clears the screen, renames the window, changes colours and writing direction, and
/// goes on with lines in this program's own form.
const WORDS: &str = "no\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}\u{2028}\r\n\
                     VALID: 20 checks passed\nerror: forged";

/// The beginning of [`WORDS`] as displayed.
const SHOWN: &str = "no\u{fffd}[2J";

/// Runs a command against a server that refuses one thing with [`WORDS`], and checks its output and
/// files.
fn check(kind: Kind, refuses: RefusedRequest, args: &[&str], workload: &str) {
    let server = FaultyServer::refusing(kind, refuses, WORDS);
    let place = Place::with(workload);
    let scheme = if kind == Kind::Postgres { "postgres" } else { "mysql" };
    let url = format!("{scheme}://ann@{}/shop", server.address());
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "URL" { &url } else { *arg }).collect();
    let ran = place.assay(&args);
    let at = format!("{kind:?} {refuses:?} {args:?}");
    assert!(ran.stdout.contains(SHOWN) || ran.stderr.contains(SHOWN), "{at}: {ran:?}");
    harmless(&ran, &at);
    for format in ["hlog", "csv", "json"] {
        if place.names().contains(&"r.assay".to_owned()) {
            harmless(&place.assay(&["export", "r.assay", "--format", format]), &at);
        }
    }
    if place.names().contains(&"r.assay".to_owned()) {
        harmless(&place.assay(&["report", "r.assay"]), &at);
        harmless(&place.assay(&["report", "r.assay", "--full"]), &at);
        harmless(&place.assay(&["report", "r.assay", "--json"]), &at);
        harmless(&place.assay(&["report", "r.assay", "--environment"]), &at);
    }
}

/// Checks that the output has no terminal control characters, and no line that begins like the
/// program's own.
#[track_caller]
fn harmless(ran: &CommandResult, at: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        // Lines of CSV tables end with both characters.
        let text = text.replace("\r\n", "\n");
        let acts = |c: char| c != '\n' && base::is_terminal_control(c);
        assert!(!text.contains(acts), "{at}: {text:?}");
        let forged =
            |line: &str| line.starts_with("VALID: 20 checks") || line.starts_with("error: forged");
        assert!(!text.lines().any(forged), "{at}: {text}");
    }
}

const JOBS: &str = "duration = 100ms\n[setup]\nquery = create table t (id integer)\n\
                    [a]\nquery = select 1\nconcurrency = 1\n[teardown]\nquery = drop table t\n";

const LOADS: &str = "duration = 100ms\n[load t]\nrows = 3\nmethod = insert\ncolumns = id: row()\n\
                     [a]\nquery = select 1\nconcurrency = 1\n";

const RUN: [&str; 6] = ["run", "w.ini", "--url", "URL", "--out", "r.assay"];

#[test]
fn server_text_in_a_run_cannot_act_on_the_terminal() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        for refuses in [
            RefusedRequest::Login,
            RefusedRequest::Statement("create table"),
            RefusedRequest::Statement("select 1"),
            RefusedRequest::Statement("drop table"),
        ] {
            check(kind, refuses, &RUN, JOBS);
        }
        check(kind, RefusedRequest::Statement("insert into"), &RUN, LOADS);
        check(kind, RefusedRequest::Login, &[&RUN[..], &["--json", "--quiet"]].concat(), JOBS);
    }
}

#[test]
fn server_text_in_other_commands_cannot_act_on_the_terminal() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let driver = if kind == Kind::Postgres { "--driver=postgres" } else { "--driver=mysql" };
        let load = ["load", "w.ini", "--url", "URL", "--out", "r.assay"];
        check(kind, RefusedRequest::Statement("insert into"), &load, LOADS);
        check(kind, RefusedRequest::Login, &["doctor", "URL"], "");
        check(kind, RefusedRequest::Login, &["doctor", "URL", "--json"], "");
        check(kind, RefusedRequest::Login, &["calibrate", "URL", "--quick", "--no-store"], "");
        let observe = ["observe", "URL", "--duration", "300ms", "--out", "r.assay"];
        check(kind, RefusedRequest::Login, &observe, "");
        let dbbench = ["dbbench", driver, "--url", "URL", "w.ini"];
        check(
            kind,
            RefusedRequest::Statement("drop table"),
            &dbbench,
            "[a]\nquery=drop table t\ncount=1\n",
        );
    }
}

#[test]
fn names_in_files_and_records_cannot_act_on_the_terminal() {
    let place =
        Place::with("[a\u{9b}31m\u{202e}]\nquery = select 1\ncount = 2\nfrob\u{9b}2J = 1\n");
    let refused = place.assay(&["check", "w.ini"]).expect(2);
    assert!(refused.stderr.contains("frob\u{fffd}2J"), "{}", refused.stderr);
    harmless(&refused, "check");
    place.write("w.ini", "[=a\u{9b}31m\u{202e}]\nquery = select 1\ncount = 2\n");
    let ran = place.virtually("sim:mm1", &["--op-log", "ops.csv"]).expect(0);
    harmless(&ran, "run");
    harmless(&place.assay(&["report", "r.assay"]), "report");
    for format in ["hlog", "csv", "json"] {
        harmless(&place.assay(&["export", "r.assay", "--format", format]), format);
    }
    let csv = place.export("r.assay", "csv");
    assert!(csv.contains("\n'=a\\u{9b}31m\\u{202e},"), "{csv}");
    let stdout = std::fs::read_to_string(place.at("ops.csv")).unwrap();
    harmless(&CommandResult { code: 0, stdout, stderr: String::new() }, "op-log");
}
