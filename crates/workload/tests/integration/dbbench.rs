//! Compatibility with the files of dbbench, with one row per rule of its language.
//!
//! Every file is our own. A row has the behaviour of dbbench and the behaviour of Assay: the plan,
//! or the error. Both `assay run` and `assay dbbench` must behave as the row says, except for rows
//! about rates. Behaviour that only a run shows (records of args files, results, replays) is tested
//! in the tests of the program.

use std::collections::BTreeMap;

use base::{Nanos, Placeholders, Severity, Target};
use workload::{Job, Overrides, Pacing, Plan, Rates, Schedule};

use crate::render;
use DbbenchBehaviour::{Accepts, Ignores, Rejects};

/// The behaviour of dbbench for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DbbenchBehaviour {
    Accepts,
    Rejects,
    /// dbbench silently ignores a part of the file.
    Ignores,
}

/// A rule of dbbench's language.
struct Rule {
    /// An example of a file that the rule is about.
    text: &'static str,
    dbbench: DbbenchBehaviour,
    /// Expected message of Assay; empty if the file is accepted without one.
    expected_message: &'static str,
    /// True if Assay accepts the file.
    is_accepted: bool,
}

const fn accepted(dbbench: DbbenchBehaviour, text: &'static str) -> Rule {
    Rule { text, dbbench, expected_message: "", is_accepted: true }
}

const fn warned(
    dbbench: DbbenchBehaviour,
    text: &'static str,
    expected_message: &'static str,
) -> Rule {
    Rule { text, dbbench, expected_message, is_accepted: true }
}

const fn refused(
    dbbench: DbbenchBehaviour,
    text: &'static str,
    expected_message: &'static str,
) -> Rule {
    Rule { text, dbbench, expected_message, is_accepted: false }
}

fn folder() -> BTreeMap<String, Vec<u8>> {
    [
        ("one.sql", "select 1;\n"),
        ("two.sql", "select 1;\nselect 2;\n;\n"),
        ("remark.sql", "select 1;\n-- the end\n"),
        ("count.sql", "select count(*) from parcel;\n"),
        ("mark.sql", "\u{feff}select 1;\n"),
        ("begin.sql", "select 1; BEGIN; select 2\n"),
        ("empty.sql", "\n ; ;\n"),
    ]
    .map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()))
    .into_iter()
    .chain([("latin.sql".to_owned(), b"select 'caf\xe9';\n".to_vec())])
    .collect()
}

fn overrides(rates: Rates) -> Overrides {
    let target = Target::parse("mysql://h/d").ok();
    Overrides { target, rates, ..Overrides::default() }
}

/// Returns the plan and all diagnostics.
fn read(text: &str, rates: Rates) -> (Option<Plan>, String) {
    let (plan, diagnostics) = workload::plan_in(text, &overrides(rates), &folder());
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    assert_eq!(plan.is_none(), errors > 0, "{text}");
    (plan, render(text, &diagnostics))
}

/// Returns the plan of a file that `assay dbbench` accepts without diagnostics.
fn plan(text: &str) -> Plan {
    let (plan, said) = read(text, Rates::AsDbbench);
    assert_eq!(said, "", "{text}");
    plan.expect("a plan")
}

fn job(keys: &str) -> Job {
    plan(&format!("[a]\nquery=select 1\n{keys}\n")).jobs.remove(0)
}

/// Returns the statements of the first job.
fn sent(text: &str) -> Vec<String> {
    let plan = plan(text);
    plan.jobs[0].requests.statements.iter().map(|s| s.text(Placeholders::Question)).collect()
}

fn check(rules: &[Rule]) {
    for Rule { text, dbbench, expected_message, is_accepted } in rules {
        for rates in [Rates::AsTraffic, Rates::AsDbbench] {
            let (plan, said) = read(text, rates);
            assert_eq!(plan.is_some(), *is_accepted, "dbbench {dbbench:?}: {text}\n{said}");
            assert_eq!(said.is_empty(), expected_message.is_empty(), "{text}\n{said}");
            assert!(said.contains(expected_message), "{text}\n{said}");
        }
        // If dbbench accepts a file that Assay rejects, the file is wrong, or the page about
        // dbbench documents the difference.
        assert!(*is_accepted || !expected_message.is_empty(), "{text}");
    }
}

#[test]
fn lines() {
    check(&[
        accepted(Accepts, "[a]\r\nquery=select \\\r\n 1\r\n"),
        accepted(Accepts, "; one\n# two\n\n[a]\nquery=select 1\n"),
        accepted(Rejects, "  ; indented\n[a]\n\t# indented\nquery=select 1\n"),
        accepted(Rejects, "  # k=v\n[a]\nquery=select 1\n"),
        accepted(Rejects, "[a]\nquery=select 1\ncount=5 ; five\n"),
        accepted(Rejects, "[a] ; the first\nquery=select 1\n"),
        accepted(Rejects, "\u{feff}[a]\nquery=select 1\n"),
        accepted(Accepts, "  [a]\n  query  =  select 1  \n"),
        accepted(Accepts, "[a]\nquery=select 1\ncount=5\\\n\nstart=1s\n"),
        accepted(Accepts, "[a]\nquery=\\\n  select 1\n"),
        accepted(Accepts, "[a]\r\nquery=select 1\r\n\r\n"),
        accepted(Accepts, "[a]\nquery=select 1"),
        accepted(Accepts, "[a]\nquery=select \\\n[1]\n"),
        refused(Rejects, "[a]\nquery=select 1 \\\n# one\n", "found a comment line inside"),
        refused(Rejects, "[a]\nquery=select 1 \\\n;one\n", "found a comment line inside"),
        refused(Rejects, "[a]\nquery=select \\ \n1\n", "white space follows this `\\`"),
        refused(Ignores, "[a]\nquery=select 1\ncount=5 \\", "but the file ends here"),
        refused(Ignores, "[a]\nquery=select 1\ncount=5 \\\n", "but the file ends here"),
        refused(Ignores, "[a]\nquery=select 1 \\", "but the file ends here"),
        refused(Rejects, "[a]\nselect 1\n", "expected a section, a comment or `key = value`"),
        refused(Rejects, "[a]\n=select 1\n", "there is no key before the `=`"),
        refused(Rejects, "[a]\nquery=\n", "the statement is empty"),
        refused(Rejects, "[a]\nquery=select 1\nrate=\n", "`rate` has no value"),
        refused(Rejects, "[a]\nquery=select 1\nquery-results-file=\n", "has no value"),
        refused(Rejects, "duration=\n[a]\nquery=select 1\n", "`duration` has no value"),
        refused(Rejects, "[a]\nquery=select 1\n\"count\"=5\n", "unknown key"),
        refused(Rejects, "[a]\nquery=select 1\ncount=\"5\"\n", "is not a number"),
        refused(
            Rejects,
            "include other.ini\n[a]\nquery=select 1\n",
            "expected a section, a comment",
        ),
    ]);
}

#[test]
fn value_starts_after_the_first_equals_sign() {
    assert_eq!(sent("[a]\nquery=select 1=1\n"), ["select 1=1"]);
    assert_eq!(sent("[a]\nquery = \"select 1\"\n"), ["\"select 1\""]);
    assert_eq!(sent("[a]\nquery=select \\\n   1\n"), ["select    1"]);
    assert_eq!(sent("[a]\nquery=select 1\\\n0\n"), ["select 10"]);
    assert_eq!(sent("[a]\nquery=select 1 # hi\n"), ["select 1 # hi"]);
    assert_eq!(sent("[a]\nquery=select \\\n[1]\n"), ["select [1]"]);
    assert_eq!(sent("[a]\r\nquery=select \\\r\n 1\r\n"), ["select  1"]);
    assert_eq!(sent("[a]\nquery=\\\n  select 1\n"), ["select 1"]);
    assert_eq!(sent("[a]\nquery=select '$HOME', '%s', '\\n'\n"), ["select '$HOME', '%s', '\\n'"]);
    assert_eq!(job("count=5\\\n\nstart=1s").count, Some(5));
}

/// Dbbench drops a line of more than 64 KiB and all lines after it; Assay reads them.
#[test]
fn long_line_and_the_lines_after_it_are_read() {
    let statement = format!("select '{}'", "x".repeat(70_000));
    let text = format!("[a]\nquery={statement}\ncount=3\n[b]\nquery=select 2\n");
    let plan = plan(&text);
    assert_eq!(plan.jobs[0].requests.statements[0].text(Placeholders::Question), statement);
    assert_eq!((plan.jobs[0].count, plan.jobs.len()), (Some(3), 2));
}

/// Dbbench parses and sends the bytes unchanged; Assay refuses the file.
#[test]
fn a_file_that_is_not_utf_8_is_refused() {
    let refused = workload::decode(b"[a]\nquery=select 'caf\xe9'\n").unwrap_err();
    assert!(refused.message.contains("byte 0xe9 in line 2"), "{}", refused.message);
    assert!(workload::decode("[a]\nquery=select 'café'\n".as_bytes()).is_ok());
}

#[test]
fn sections() {
    check(&[
        accepted(Accepts, "[ a b ]\nquery=select 1\n"),
        accepted(Accepts, "[a.b-c/d, e; f]\nquery=select 1\n"),
        refused(Accepts, "[]\nquery=select 1\n", "the section has no name"),
        refused(Rejects, "[a]]\nquery=select 1\n", "after the section's header"),
        refused(Rejects, "[a] b\nquery=select 1\n", "after the section's header"),
        refused(Rejects, "[a\nquery=select 1\n", "`[` is not closed"),
        refused(Rejects, "[a]\nquery=select 1\n[a]\nquery=select 1\n", "[a] occurs twice"),
        refused(Accepts, "[a b]\nquery=select 1\n[a  b]\nquery=select 1\n", "occurs twice"),
        refused(Rejects, "[setup]\n[setup]\n[a]\nquery=select 1\n", "[setup] occurs twice"),
        refused(
            Rejects,
            "[a]\nquery=select 1\n[teardown]\n[teardown]\n",
            "[teardown] occurs twice",
        ),
        warned(Accepts, "[Setup]\nquery=select 1\n", "[Setup] is a job"),
        warned(
            Accepts,
            "[global]\nduration=5s\nno=1\n[a]\nquery=select 1\n",
            "[global] is ignored",
        ),
        accepted(
            Accepts,
            "[load]\nquery=select 1\n[params]\nquery=select 1\n[arm]\nquery=select 1\n",
        ),
        accepted(Accepts, "[setup]\nquery=set @a = 1\n[teardown]\nquery=set @a = 2\n"),
        accepted(Accepts, "[teardown]\nquery=set @a = 2\n[a]\nquery=a\n[setup]\nquery=b\n"),
        accepted(Accepts, "[setup]\nquery=set @a = 1\n"),
        accepted(Accepts, "duration=5s\n[teardown]\nquery=set @a = 2\n"),
        accepted(Accepts, "[setup]\n[a]\nquery=select 1\n[teardown]\n"),
        refused(Rejects, "[a]\n", "has no `query`, so it is not a job"),
        refused(Rejects, "[a]\nqeury=select 1\n", "did you mean `query`?"),
        refused(Rejects, "[a]\nQuery=select 1\n", "did you mean `query`?"),
        refused(Rejects, "[a]\nquery=select 1\nfoo=1\n", "unknown key `foo`"),
        refused(Rejects, "[a]\nquery=select 1\ncount=1\ncount=2\n", "`count` is repeated"),
        refused(Rejects, "count=1\n[a]\nquery=select 1\n", "it belongs in a job"),
        refused(Rejects, "foo=1\n[a]\nquery=select 1\n", "unknown key `foo`"),
        refused(Rejects, "[a]\nquery=select 1\nduration=5s\n", "`duration`"),
        refused(Rejects, "[a]\nquery=select 1\nrate=1\nrate=1\n", "`rate` is repeated"),
        accepted(Accepts, "[a]\ncount=5\nquery=select 1\n"),
        refused(Accepts, "", "the file has no job"),
        refused(Accepts, "duration=5s\n[setup]\n[teardown]\n", "the file has no job"),
        refused(Accepts, "[global]\nquery=select 1\n", "the file has no job"),
    ]);
}

/// Dbbench also parses jobs in the order of the file, but starts them in no particular order.
#[test]
fn jobs_keep_the_order_of_the_file() {
    let names: String = ["z", "a", "m"].map(|name| format!("[{name}]\nquery=a\n")).concat();
    let plan = plan(&names);
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name()).collect();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn global_keys() {
    const JOB: &str = "[a]\nquery=select 1\n";
    for (value, millis) in
        [("10s", 10_000), ("1m30s", 90_000), ("250ms", 250), ("1h", 3_600_000), ("1.5s", 1_500)]
    {
        let plan = plan(&format!("duration={value}\n{JOB}"));
        assert_eq!(plan.duration, Some(Nanos::from_millis(millis)), "{value}");
    }
    check(&[
        warned(Accepts, "duration=0\n[a]\nquery=select 1\n", "a duration of zero means no limit"),
        warned(Accepts, "duration=-1s\n[a]\nquery=select 1\n", "is negative, which counts as 0"),
        refused(Rejects, "duration=5\n[a]\nquery=select 1\n", "has no unit"),
        refused(Rejects, "duration=5x\n[a]\nquery=select 1\n", "unknown unit"),
        refused(Rejects, "duration=1s\nduration=1s\n[a]\nquery=select 1\n", "is repeated"),
        refused(Rejects, "duration=5s\n[a]\nquery=select 1\nstart=6s\n", "the run ends at `5s`"),
        refused(Rejects, "duration=5s\n[a]\nquery=select 1\nstop=6s\n", "the run ends at `5s`"),
        warned(Accepts, "duration=5s\n[a]\nquery=select 1\nstart=5s\n", "it does nothing"),
        accepted(Accepts, "duration=5s\n[a]\nquery=select 1\nstop=5s\n"),
        accepted(Accepts, "error=1205\nerror=40P01\n[a]\nquery=select 1\n"),
        accepted(Rejects, "[a]\nquery=select 1\nerror=1205\n"),
        refused(Accepts, "error=\n[a]\nquery=select 1\n", "`error` has no value"),
        accepted(Accepts, "error=anything\n[a]\nquery=select 1\n"),
        accepted(Accepts, "error= 1205 \n[a]\nquery=select 1\n"),
        // Dbbench compares the whole text with the code of an error.
        refused(Accepts, "error=1205 1213\n[a]\nquery=select 1\n", "is not an error code"),
        refused(Accepts, "error=lock wait\n[a]\nquery=select 1\n", "is not an error code"),
        accepted(Accepts, "error=1205,1213\n[a]\nquery=select 1\n"),
        refused(Rejects, "duration=five\n[a]\nquery=select 1\n", "is not a number"),
        refused(Rejects, "duration=5 s\n[a]\nquery=select 1\n", "unknown unit"),
        refused(Rejects, "duration=1_0s\n[a]\nquery=select 1\n", "unknown unit"),
        refused(Rejects, "[setup]\nquery=a\nerror=1205\n", "`error` is not a key in [setup]"),
    ]);
    let accepted =
        plan(&format!("error=1205\nerror=40P01\n{JOB}")).jobs.remove(0).requests.accepted;
    assert_eq!(accepted.iter().map(|code| code.as_str()).collect::<Vec<_>>(), ["1205", "40P01"]);
}

#[test]
fn setup_and_teardown() {
    check(&[
        refused(
            Rejects,
            "[setup]\nrate=1\n[a]\nquery=select 1\n",
            "`rate` is not a key in [setup]",
        ),
        refused(Rejects, "[setup]\nquery=\n[a]\nquery=select 1\n", "the statement is empty"),
        refused(Rejects, "[teardown]\nquery=begin\n[a]\nquery=select 1\n", "`begin` would leave"),
        refused(Rejects, "[setup]\nquery-file=no.sql\n[a]\nquery=select 1\n", "there is no file"),
        refused(Rejects, "[setup]\nquery=a; b\n[a]\nquery=select 1\n", "found a `;`"),
        refused(Rejects, "[setup]\nquery=use other\n[a]\nquery=select 1\n", "use"),
        refused(Rejects, "[setup]\nquery-file=begin.sql\n[a]\nquery=a\n", "`begin` would leave"),
        refused(Rejects, "[setup]\nquery=a\ncount=1\n[a]\nquery=a\n", "`count` is not a key"),
        accepted(Accepts, "[setup]\nquery-file=two.sql\nquery-file=one.sql\n[a]\nquery=a\n"),
        accepted(Accepts, "[setup]\nquery=start transaction\nquery=commit\n[a]\nquery=a\n"),
        refused(Accepts, "[setup]\nquery-file=empty.sql\n[a]\nquery=a\n", "has no statement"),
    ]);
    let plan = plan("[setup]\nquery=a\nquery-file=two.sql\nquery=b\n[a]\nquery=select 1\n");
    let setup: Vec<&str> = plan.setup.iter().map(|statement| statement.text.as_str()).collect();
    // Dbbench keeps the order of the lines of each key, but orders the two keys at random.
    assert_eq!(setup, ["a", "select 1", "select 2", "b"]);
}

#[test]
fn statements_of_dbbench_jobs() {
    check(&[
        accepted(Rejects, "[a]\nquery=select 1\nquery=select 2\n"),
        accepted(Rejects, "[a]\nquery-file=two.sql\n"),
        accepted(Accepts, "[a]\nquery-file=two.sql\nmulti-query-mode=multi-connection\n"),
        refused(
            Rejects,
            "[a]\nquery=select 1\nmulti-query-mode=single\n",
            "`multi-query-mode` is multi-connection, not `single`",
        ),
        accepted(Accepts, "[a]\nquery-log-file=q.log\nmulti-query-mode=multi-connection\n"),
        refused(Rejects, "[a]\nrate=5\n", "has no `query`, so it is not a job"),
        refused(Rejects, "[a]\nquery-file=no.sql\n", "there is no file"),
        refused(Rejects, "[a]\nquery-file=begin.sql\n", "`begin` would leave"),
        refused(Rejects, "[a]\nquery-file=empty.sql\n", "no statement"),
        accepted(Accepts, "[a]\nquery-file=one.sql\n"),
        accepted(
            Accepts,
            "[a]\nquery=a\nquery-file=one.sql\nquery-file=two.sql\n\
             multi-query-mode=multi-connection\n",
        ),
        accepted(Accepts, "[a]\nquery=a\nmulti-query-mode=multi-connection\n"),
        refused(Rejects, "[a]\nquery=a\nmulti-query-mode=\n", "has no value"),
        accepted(Accepts, "[a]\nquery=a ?\nquery-args-file=/tmp/a.csv\n"),
        accepted(Accepts, "[a]\nquery=a ?\nquery-args-file=a.csv\nrate=5\ncount=3\n"),
        accepted(Accepts, "[a]\nquery-log-file=q.log\ncount=3\nstart=1s\nstop=2s\n"),
        accepted(Accepts, "[a]\nquery-log-file=q.log\nquery-results-file=r.csv\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=5\nquery-results-file=/tmp/r.csv\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=5\nbatch-size=3\ncount=2\nstart=1s\nstop=9s\n"),
        refused(Accepts, "[a]\nquery-file=latin.sql\n", "is not UTF-8"),
        refused(
            Accepts,
            "[a]\nquery=a\nquery-results-file=r.csv\n[b]\nquery=b\nquery-results-file=r.csv\n",
            "would go to one file",
        ),
        refused(Rejects, "[a]\nquery=select 1\nquery-log-file=q.log\n", "cannot be set together"),
        refused(
            Rejects,
            "[a]\nquery-log-file=q.log\nquery-args-file=a.csv\n",
            "cannot be set together",
        ),
    ]);
    // Dbbench sends the comment after the last `;` as a statement, which the server refuses.
    assert_eq!(sent("[a]\nquery-file=remark.sql\n"), ["select 1"]);
    // Dbbench also sends the byte order mark of a file.
    assert_eq!(sent("[a]\nquery-file=mark.sql\n"), ["select 1"]);
    // Dbbench also sends the line break before a statement of a file.
    let twice = "[a]\nquery-file=two.sql\nmulti-query-mode=multi-connection\n";
    assert_eq!(sent(twice), ["select 1", "select 2"]);
    let mixed = "[a]\nquery=select 0\nquery-file=one.sql\nmulti-query-mode=multi-connection\n";
    assert_eq!(sent(mixed), ["select 0", "select 1"]);
}

#[test]
fn statements() {
    check(&[
        refused(Rejects, "[a]\nquery=select 1;\n", "found a `;` in a statement"),
        refused(Rejects, "[a]\nquery=select 1; select 2\n", "found a `;` in a statement"),
        accepted(Rejects, "[a]\nquery=select ';'\n"),
        refused(Rejects, "[a]\nquery=begin\n", "`begin` would leave its connection"),
        refused(Rejects, "[a]\nquery=BEGIN work\n", "`begin` would leave its connection"),
        refused(Rejects, "[a]\nquery=use other\n", "use"),
        accepted(Accepts, "[a]\nquery=set @a = 1\n"),
        accepted(Accepts, "[a]\nquery=start transaction\n[b]\nquery=commit\n"),
        accepted(Accepts, "[a]\nquery=lock tables t read\n[b]\nquery=rollback\n"),
        accepted(Accepts, "[a]\nquery=beginning()\n"),
        accepted(Accepts, "[a]\nquery=insert into t values ('begin', 'use')\n"),
        refused(Rejects, "[a]\nquery=;\n", "found a `;` in a statement"),
        refused(Rejects, "[a]\nquery=Use\tother\n", "use"),
        accepted(Rejects, "[a]\nquery=select 1 /* ; */\n"),
        refused(Accepts, "[a]\nquery=select '${x}'\n", "for a literal `${`, write `$${`"),
    ]);
    assert_eq!(sent("[a]\nquery=select '$${x}'\n"), ["select '${x}'"]);
    assert_eq!(sent("[a]\nquery=select '?', ?\n"), ["select '?', ?"]);
}

#[test]
fn delimiters() {
    for (written, byte) in [
        (r#""\t""#, b'\t'),
        ("';'", b';'),
        ("`|`", b'|'),
        (r#"" ""#, b' '),
        (r"'\\'", b'\\'),
        (r"'\''", b'\''),
        (r#""\v""#, 0x0b),
        (r#""\x1e""#, 0x1e),
        (r#""\036""#, 0x1e),
        (r#""\u001e""#, 0x1e),
    ] {
        let keys = format!("query-args-file=a.csv\nquery-args-delim={written}");
        let feed = job(&keys).requests.feed.expect("a file");
        assert_eq!(feed.format, workload::feed::Format::Csv { delimiter: byte }, "{written}");
    }
    const ONE: &str = "is not one character between quotes";
    check(&[
        refused(Rejects, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim=|\n", ONE),
        refused(Rejects, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim='ab'\n", ONE),
        refused(Rejects, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim=\"ß\"\n", ONE),
        refused(Accepts, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim=\"\\n\"\n", ONE),
        refused(Accepts, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim='\\x22'\n", ONE),
        refused(Rejects, "[a]\nquery=a\nquery-args-file=a\nquery-args-delim=\"\\x2\"\n", ONE),
        refused(
            Rejects,
            "[a]\nquery=a\nquery-args-delim=','\n",
            "`query-args-delim` needs a `query-args-file`",
        ),
    ]);
}

#[test]
fn numbers() {
    const ZERO: &str = "is zero, which counts as not set";
    const NEGATIVE: &str = "is negative, which counts as 0";
    check(&[
        accepted(Accepts, "[a]\nquery=a\nrate=.5\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=1e3\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=0x1p-2\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=+5\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=1_000.5\n"),
        accepted(Accepts, "[a]\nquery=a\nrate=5.\n"),
        refused(Rejects, "[a]\nquery=a\nrate=0x10\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\nrate=1__0\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\nrate=five\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\nrate=-0x1p1\n", "is negative"),
        warned(Accepts, "[a]\nquery=a\nrate=-0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\nrate=+0.0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\nbatch-size=0\n", ZERO),
        refused(Rejects, "[a]\nquery=a\ncount=0x0p0\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\ncount=+5\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\ncount=1_000\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\nrate=5\nbatch-size=-1\n", "is negative"),
        refused(Rejects, "[a]\nquery=a\nconcurrency=-1\n", "is negative"),
        refused(Rejects, "[a]\nquery=a\nstart=5\n", "has no unit"),
        refused(Rejects, "[a]\nquery=a\nstop=five\n", "is not a number"),
        accepted(Accepts, "[a]\nquery=a\nstart=+1m.5s\nstop=1h30m\n"),
        accepted(Accepts, "[a]\nquery=a\nstart=-0\n"),
        refused(Rejects, "[a]\nquery=a\nrate=-1\n", "is negative"),
        refused(Rejects, "[a]\nquery=a\nrate=inf\n", "is not a number"),
        refused(Accepts, "[a]\nquery=a\nrate=nan\n", "is not a number"),
        refused(Rejects, "[a]\nquery=a\nrate=2e9\n", "is above 10,000,000 per second"),
        refused(Accepts, "[a]\nquery=a\nrate=2e8\n", "is above 10,000,000 per second"),
        refused(Rejects, "[a]\nquery=a\nrate=1e-11\n", "is less than one event in a year"),
        warned(Accepts, "[a]\nquery=a\nrate=0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\nrate=5\nbatch-size=0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\nqueue-depth=0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\nconcurrency=0\n", ZERO),
        warned(Accepts, "[a]\nquery=a\ncount=0\n", ZERO),
        refused(Rejects, "[a]\nquery=a\nbatch-size=5\n", "`batch-size` needs a `rate`"),
        refused(Rejects, "[a]\nquery=a\nqueue-depth=0x10\n", "is not a number"),
        refused(Accepts, "[a]\nquery=a\nqueue-depth=200000\n", "is at most 100,000"),
        refused(Rejects, "[a]\nquery=a\ncount=-1\n", "is negative"),
        refused(Rejects, "[a]\nquery=a\ncount=1.5\n", "is not a whole number"),
        refused(Accepts, "[a]\nquery=a\nqueue-depth=2\nconcurrency=3\n", "is repeated"),
        warned(Accepts, "[a]\nquery=a\nstart=-1s\n", NEGATIVE),
        warned(Accepts, "[a]\nquery=a\nstop=-1s\n", NEGATIVE),
        accepted(Accepts, "[a]\nquery=a\nstop=0s\n"),
        warned(Accepts, "[a]\nquery=a\nstart=3s\nstop=2s\n", "it does nothing"),
        accepted(Accepts, "[a]\nquery=a\nrate=5\nstart=3s\ncount=7\n"),
    ]);
}

#[test]
fn one_model_at_a_time() {
    check(&[
        // In Assay these keys give a queue with this number of workers.
        accepted(Rejects, "[a]\nquery=a\nrate=5\nqueue-depth=3\n"),
        refused(Rejects, "[a]\nquery-log-file=q\nrate=5\n", "cannot be set together"),
        refused(Rejects, "[a]\nquery-log-file=q\nqueue-depth=5\n", "cannot be set together"),
        refused(Rejects, "[a]\nquery-log-file=q\nbatch-size=5\n", "`batch-size`"),
    ]);
    let closed = |clients| Pacing::Closed { clients, think: None };
    assert_eq!(job("").pacing, closed(1));
    assert_eq!(job("queue-depth=8").pacing, closed(8));
    assert_eq!(job("concurrency=8").pacing, closed(8));
    assert_eq!(job("count=8").pacing, closed(1));
}

/// The ticker of dbbench truncates 1s/rate to whole nanoseconds.
#[test]
fn every_rate_of_dbbench_is_a_timetable_with_the_ticks_of_dbbench() {
    for (rate, nanos, batch) in [
        ("1", 1_000_000_000, 1),
        ("3", 333_333_333, 1),
        ("100", 10_000_000, 1),
        (".5", 2_000_000_000, 10),
        ("0.0167", 59_880_239_520, 1_000),
        ("1e6", 1_000, 1),
        ("0x1p-2", 4_000_000_000, 1),
        ("+1_000", 1_000_000, 1),
    ] {
        let schedule = Schedule::Every(Nanos(nanos));
        let keys = format!("rate={rate}\nbatch-size={batch}");
        assert_eq!(job(&keys).pacing, Pacing::Timetable { schedule, batch }, "{rate}");
    }
}

#[test]
fn printed_dbbench_plan_round_trips() {
    let plan = plan("[a]\nquery=a\nrate=3\nbatch-size=2\n[b]\nquery=b\nrate=5\nconcurrency=2\n");
    let (again, _) = workload::plan(&plan.to_text(), &Overrides::default());
    assert_eq!(again.expect("a plan").as_printed(), plan.as_printed(), "{}", plan.to_text());
}

#[test]
fn keys_unknown_to_dbbench_keep_their_meaning() {
    let schedule = |keys| job(keys).arrivals().unwrap().0.clone();
    let five = base::Rate::parse("5").unwrap();
    assert_eq!(schedule("rate=5\narrival=poisson"), Schedule::Poisson(five));
    assert_eq!(schedule("rate=5\nconcurrency=2"), Schedule::Uniform(five));
    let (traffic, _) = read("[a]\nquery=a\nrate=5\n", Rates::AsTraffic);
    assert_eq!(traffic.unwrap().jobs[0].arrivals().unwrap().0, &Schedule::Poisson(five));
}

#[test]
fn tick_that_never_occurs_is_reported() {
    let (plan, said) = read("duration=60s\n[a]\nquery=a\nrate=0.01\n", Rates::AsDbbench);
    assert!(plan.is_some());
    assert!(
        said.contains("the first arrival is due at `1m40s`, but the job has ended by then"),
        "{said}"
    );
    assert!(said.contains("or the rate higher"), "{said}");
}

#[test]
fn pool_limits_jobs_with_a_rate_and_warns_of_others() {
    let overrides = overrides(Rates::AsDbbench).with_global("max-connections", 5);
    let read = |text: &str| {
        let (plan, diagnostics) = workload::plan(text, &overrides);
        (plan.unwrap(), render(text, &diagnostics))
    };
    let (plan, said) = read("max-connections=50\n[a]\nquery=a\nrate=100\n");
    assert_eq!((plan.max_connections, said.as_str()), (5, ""));
    assert_eq!(read("[a]\nquery=a\nqueue-depth=5\n").1, "");
    let (_, said) = read("[a]\nquery=a\nqueue-depth=6\n");
    assert!(said.contains("6 clients have more than 5 connections"), "{said}");
    let overrides = overrides.clone().with_global("max-connections", 1);
    let (_, diagnostics) = workload::plan("[a]\nquery=a\nqueue-depth=8\n", &overrides);
    assert_eq!(diagnostics[0].message, "8 clients have more than 1 connection");
}

/// The keys of every example and every tutorial step of dbbench, in our own files.
#[test]
fn files_with_the_keys_of_all_examples_are_accepted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dbbench");
    let mut seen = 0;
    for entry in std::fs::read_dir(path).expect("the files are there") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "ini") {
            continue;
        }
        seen += 1;
        let text = std::fs::read_to_string(&path).expect("a text");
        for rates in [Rates::AsTraffic, Rates::AsDbbench] {
            let (plan, said) = read(&text, rates);
            let name = path.display();
            assert!(plan.is_some(), "{name}\n{said}");
            // A first tick exactly at the end of the run gives a warning.
            let is_late = said.contains("the first arrival is due at `10s`");
            assert!(said.is_empty() || is_late, "{name}\n{said}");
        }
    }
    assert_eq!(seen, 13);
}
