//! Tests of servers that put escape sequences and forged lines into everything they send: no
//! command passes them on to the terminal.

use testbed::Kind;

use crate::faulty_server::{FaultyServer, RefusedRequest};
use crate::support::{CommandResult, TestFolder};

/// A message that clears the screen, renames the window, changes colours and writing direction, and
/// continues with lines in this program's own form.
const WORDS: &str = "no\x1b[2J\x1b]0;owned\x07\u{9b}31m\u{202e}\u{2028}\r\n\
                     VALID: 20 checks passed\nerror: forged";

/// The beginning of [`WORDS`] as displayed.
const SHOWN: &str = "no\u{fffd}[2J";

/// Runs a command against a server that refuses one kind of request with [`WORDS`], and checks the
/// output and the files of the command. The argument `URL` stands for the URL of the server.
fn check(kind: Kind, refuses: RefusedRequest, args: &[&str], workload: &str) {
    let server = FaultyServer::refusing(kind, refuses, WORDS);
    let place = TestFolder::with(workload);
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

/// Checks that the output has no terminal control characters except line ends, and no line that
/// begins with a forged line of [`WORDS`].
#[track_caller]
fn harmless(ran: &CommandResult, at: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        // Lines of CSV tables end with CR and LF.
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
        TestFolder::with("[a\u{9b}31m\u{202e}]\nquery = select 1\ncount = 2\nfrob\u{9b}2J = 1\n");
    let refused = place.assay(&["check", "w.ini"]).expect(2);
    assert!(refused.stderr.contains("frob\u{fffd}2J"), "{}", refused.stderr);
    harmless(&refused, "check");
    place.write("w.ini", "[=a\u{9b}31m\u{202e}]\nquery = select 1\ncount = 2\n");
    let ran = place.run_virtually("sim:mm1", &["--op-log", "ops.csv"]).expect(0);
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

/// Expects long rows to be cut, and rows to have no effect when they are shown. The first row is 10
/// MB long; the others contain markup and escape sequences.
#[test]
fn rows_of_a_loaded_table_are_cut_and_cannot_act_on_a_terminal_or_a_page() {
    let place = TestFolder::with(
        "duration = 100ms\n[setup]\nquery = create table t (id integer, \"<script>\" text \
         generated always as (case id when 1 then printf('%.*c', 10000000, 'x') \
         else '<script>' || char(27, 8238) || '[2J' end), \
         double integer generated always as (2 * id))\n\
         [load t]\nrows = 9\ncolumns = id: row()\n\
         [a]\nquery = select ${uniform(1, 3)}, '<script>'\nconcurrency = 1\n",
    );
    let ran = place.assay(&["run", "w.ini", "--url", "sqlite:", "--out", "r.assay"]);
    harmless(&ran, "run");
    let full = place.assay(&["report", "r.assay", "--full"]);
    harmless(&full, "--full");
    let long = format!("={}…", "x".repeat(80));
    assert!(full.stdout.replace(['\n', ' '], "").contains(&long), "{ran:?} {}", full.stdout);
    let is_generated = |line: &str| line.trim_start().starts_with("double    INTEGER");
    assert!(full.stdout.lines().any(is_generated), "{}", full.stdout);
    place.assay(&["report", "r.assay", "--html", "r.html"]);
    let page = std::fs::read_to_string(place.at("r.html")).unwrap();
    assert!(page.contains("&lt;script&gt;[U+001B][U+202E][2J"), "the value is text");
    assert_eq!(page.matches("<script>").count(), 1, "the script of the page alone");
    let bytes = std::fs::metadata(place.at("r.assay")).unwrap().len();
    assert!(page.len() < 1_000_000 && bytes < 500_000, "{} {bytes}", page.len());
}

/// Expects a remark, and the run to continue, if a computed column overflows when the table is
/// read.
#[test]
fn unreadable_table_is_a_remark_and_does_not_end_the_run() {
    let place = TestFolder::with(
        "duration = 100ms\n[load t]\nrows = 2\ncolumns = id: row()\n\
         [a]\nquery = select 1\nconcurrency = 1\n",
    );
    let sql = "create table base (id integer); create view t \
               as select id, abs(id * 0 - 9223372036854775807 - 1) as b from base; \
               create trigger fill instead of insert on t \
               begin insert into base values (new.id); end";
    rusqlite::Connection::open(place.at("t.db")).unwrap().execute_batch(sql).unwrap();
    let line = ["run", "w.ini", "--url", "sqlite:t.db", "--out", "r.assay", "--full"];
    let ran = place.assay(&line);
    assert!([0, 3].contains(&ran.code), "{ran:?}");
    let remark = "t could not be read\n  reason  integer overflow";
    assert!(ran.stdout.contains(remark), "{}", ran.stdout);
}

#[test]
fn names_in_records_cannot_act_on_the_terminal_in_other_commands() {
    const SECOND: &str = "s\x1b[2J\u{202e}.assay";
    let place = TestFolder::with("[a\u{9b}31m\u{202e}]\nquery = select 1\ncount = 2\n");
    for (record, seed) in [("r.assay", "1"), (SECOND, "2")] {
        let line = ["run", "w.ini", "--virtual", "--url", "sim:mm1", "--label", "LABEL"];
        place.assay(&[&line[..], &["--seed", seed, "--out", record]].concat()).expect(0);
        let database = rusqlite::Connection::open(place.at(record)).unwrap();
        let sql = "update setting set value = replace(value, 'LABEL', 'L' || char(27) || '[2J')";
        assert!(database.execute(sql, []).unwrap() > 0);
    }
    for (args, shown) in [
        (&["history", "."][..], "L\u{fffd}[2J"),
        (&["history", ".", "--json"], "L\\u001b[2J"),
        (&["compare", "r.assay", SECOND], "s\u{fffd}[2J"),
    ] {
        let ran = place.assay(args);
        harmless(&ran, &format!("{args:?}"));
        let said = [ran.stdout, ran.stderr].concat();
        assert!(said.contains(shown), "{args:?}: {said}");
    }
}
