//! Plans printed by `assay check` are parsed into the same plans, for any contents of statements.

use std::collections::BTreeMap;

use base::{Severity, Target};
use workload::{NoFiles, Overrides};

use crate::{files, plan_with, render};

/// Prints the plan of a file, parses the text as a record does, and compares the two plans.
fn check(url: &str, text: &str) {
    let overrides = Overrides { target: Target::parse(url).ok(), ..Overrides::default() };
    let plan = plan_with(&overrides, text);
    let printed = plan.to_text();
    let (again, found) = workload::plan_in(&printed, &Overrides::default(), &NoFiles);
    let again = again.unwrap_or_else(|| panic!("{printed}\n{}", render(&printed, &found)));
    assert_eq!(again.as_printed(), plan.as_printed(), "{text}\n{printed}");
    assert_eq!(again.to_text(), printed);
}

#[test]
fn statement_with_a_dollar_brace_behind_a_backslash_prints_back() {
    for url in ["sqlite:", "mysql://h/d", "postgres://h/d"] {
        check(url, "[a]\nquery = select \\$${x}\n");
        check(url, "[params]\np = '${x}'\n[a]\nquery = select \\${raw(p)}, ${1}\n");
        check(url, "[setup]\nquery = select '${raw(\"\\\\${x}\")}', 1\n");
        check(url, "[params]\np = '\\${x}\\n'\n[setup]\nquery = select ${p}, '${raw(p)}'\n");
        check(url, "[a]\nquery = select '${raw(\"\\\\${x}\")}', ${1}\n");
        check(url, "[a]\nquery = select $t$ ${raw(\"${x}\")}$t$, $${y}\n");
    }
    check("postgres://h/d", "[a]\nquery = select E'\\$${raw(\"{x}\")}', ${1}\n");
    check("mysql://h/d", "[a]\nquery = select '\\$${raw(\"{x}\")}', ${1}\n");
}

/// The script would be one statement if the backslash hid the `${`; otherwise it is two statements.
#[test]
fn backslash_in_a_literal_does_not_hide_a_dollar_brace() {
    let overrides = Overrides { target: Target::parse("sqlite:").ok(), ..Overrides::default() };
    let script = BTreeMap::from([("s.sql".to_owned(), b"'\\';\\'\\${'".to_vec())]);
    let (plan, found) = workload::plan_in("[a]\nquery-file = s.sql\n", &overrides, &script);
    assert!(plan.is_none(), "{found:?}");
    check("mysql://h/d", "[a]\nquery = select '\\'\\$${x}', '\\\\$${y}', ${1}\n");
}

#[test]
fn command_with_a_dollar_brace_behind_a_backslash_prints_back() {
    check("sqlite:", "[a]\ncommand = echo \\$${x} \"\\$${y}\" ${uniform(1, 9)}\n");
    check("sqlite:", "[a]\ncommand = echo ${'\\\\$${x}'} \\\\$${y} ${uniform(1, 9)}\n");
}

#[test]
fn dollars_behind_a_numbered_field_print_back() {
    for (url, statements) in [
        ("sqlite:", &["select ?1$$", "select ?$$", "select $1$$", "select ?1$x$", "?1?2$3"][..]),
        ("mysql://h/d", &["select ?$$", "select ?$x$", "?$1?2$3"]),
        ("postgres://h/d", &["select $1$$", "select $1$x$", "x$1 $2$3"]),
    ] {
        for statement in statements {
            check(url, &format!("[a]\nquery-args-file = a.csv\nquery = {statement}\n"));
        }
    }
    check("sqlite:", "[a]\nquery = select ?1$$\n");
    check("postgres://h/d", "[a]\nquery = select $1$$\n");
}

#[test]
fn statement_of_as_many_values_as_there_may_be_prints_back() {
    // The backslash at the end would join the next line: the texts are printed spliced in.
    let values = "${1}, ".repeat(60_000);
    check("sqlite:", &format!("[a]\nquery = select {values} ${{raw(\"\\\\\")}}\n"));
}

/// Returns the first error of a file.
fn refusal(text: &str, overrides: &Overrides) -> String {
    let (plan, found) = workload::plan_in(text, overrides, &files());
    assert!(plan.is_none(), "accepted");
    let error = found.into_iter().find(|found| found.severity == Severity::Error);
    let error = error.expect("an error");
    format!("{}: {}", error.message, error.help.unwrap_or_default())
}

#[test]
fn parameter_that_is_too_long_is_refused_with_its_size() {
    let long = "x".repeat(50_000_000);
    let message = refusal(
        &format!("[params]\np = {long}\n[a]\nquery = select '${{raw(p)}}'\n"),
        &Overrides::default(),
    );
    assert!(message.starts_with("the parameter `p` has 50,000,000 bytes, more than"), "{message}");
    assert!(message.contains("csv("), "{message}");
    let set = Overrides::default().with_param("p", long);
    let message = refusal("[params]\np = a\n[a]\nquery = select '${raw(p)}'\n", &set);
    assert!(message.contains("the parameter `p` has 50,000,000 bytes"), "{message}");
    assert!(message.len() < 1_000);
}

#[test]
fn parameters_that_double_each_other_are_refused() {
    let doubled: String = (1..60).map(|n| format!("p{n} = ${{p{0}}}${{p{0}}}\n", n - 1)).collect();
    let text = format!("[params]\np0 = xxxx\n{doubled}[a]\nquery = select '${{raw(p59)}}'\n");
    let message = refusal(&text, &Overrides::default());
    assert!(message.contains("more than the 1,048,576 bytes"), "{message}");
}

#[test]
fn plan_that_outgrows_a_workload_file_is_refused() {
    let long = "x".repeat(1_000_000);
    let splices = "${raw(p)}".repeat(70);
    let text = format!("[params]\np = {long}\n[a]\nquery = select '{splices}'\n");
    let message = refusal(&text, &Overrides::default());
    assert!(message.contains("more than 64 MB"), "{message}");
    let files = BTreeMap::from([("s.sql".to_owned(), "x;".repeat(200_001).into_bytes())]);
    let (plan, found) =
        workload::plan_in("[setup]\nquery-file = s.sql\n", &Overrides::default(), &files);
    assert!(plan.is_none());
    assert!(found[0].message.contains("too large to record: the file sets more than 200000 keys"));
}
