//! Plans printed by `assay check` are parsed into the same plans, for any contents of statements.

use std::collections::BTreeMap;

use base::{Diagnostic, Severity, Target};
use workload::{NoFiles, Overrides};

use crate::{files, plan_with, render};

/// Prints the plan of a file, parses the text as the reader of a record does, and compares the two
/// plans.
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

/// If the printed name were not escaped, the record would name the file `az.csv`.
#[test]
fn name_of_a_file_with_a_dollar_brace_prints_back() {
    for name in ["a$${b}.csv", "a$${y}.csv", "$$$${b}", "${'$'}{y}", "${'a$'}$${y}", "a;b # c"] {
        for keys in ["query = select ?\nquery-args-file", "query-log-file"] {
            check("sqlite:", &format!("[params]\ny = z\n[a]\n{keys} = {name}\n"));
        }
    }
}

#[test]
fn name_of_a_file_that_no_value_can_hold_is_refused() {
    for name in [r#""a\\""#, r#""x \;y.csv""#, r#""\;a.csv""#, r#""a\nb""#, "''"] {
        for key in ["query-args-file", "query-log-file", "query-results-file"] {
            let query = if key == "query-log-file" { "" } else { "query = select 1\n" };
            let text = format!("[a]\n{query}{key} = ${{{name}}}\n");
            let (plan, found) = workload::plan_in(&text, &Overrides::default(), &files());
            assert!(plan.is_none(), "{text}");
            let is_reported = |found: &Diagnostic| {
                let help = found.help.as_deref().unwrap_or_default();
                found.message.ends_with("is not the name of a file")
                    && help.starts_with(&format!("write `{key} = "))
            };
            assert!(found.iter().any(is_reported), "{}", render(&text, &found));
        }
    }
}

#[test]
fn rate_with_more_decimals_than_fit_prints_back() {
    for rate in ["33.33333333333333333333", "3.3333333333333333333k", "0.0033333333333333335"] {
        for arrival in ["", "arrival = uniform\n", "arrival = poisson\n"] {
            check("sqlite:", &format!("[a]\nquery = select 1\nrate = {rate}\n{arrival}"));
        }
    }
}

#[test]
fn control_character_between_fields_prints_back() {
    for delimiter in ["\\x02", "\\u007f", "\\t", "\\\\", ";"] {
        let keys = format!("query-args-file = a.csv\nquery-args-delim = \"{delimiter}\"");
        check("sqlite:", &format!("[a]\nquery = select ?\n{keys}\n"));
    }
}

#[test]
fn condition_of_a_part_whose_name_looks_like_a_comment_prints_back() {
    let mixes = "[m ;x]\nmix = a\nrate = 1\n[n]\nmix = a\nrate = 1\n[a]\nquery = select 1\n";
    let condition = "[threshold]\nslo = p99(${\"m \\;x/a\"}) < 1s\n";
    check("sqlite:", &format!("{mixes}{condition}"));
}

/// `assay dbbench` switches the observation of the database off, and its files may have a job of
/// any name.
#[test]
fn job_named_observe_prints_back_without_settings_of_the_observers() {
    let job = "[observe]\nquery = select 1\n";
    for text in [job.to_owned(), format!("[m]\nmix = observe\nrate = 1\n{job}")] {
        let mut plan = plan_with(&Overrides::default(), &text);
        plan.observe.database = false;
        let printed = plan.to_text();
        let (again, found) = workload::plan(&printed, &Overrides::default());
        let again = again.unwrap_or_else(|| panic!("{}", render(&printed, &found)));
        assert_eq!(again.as_printed().jobs, plan.as_printed().jobs, "{printed}");
    }
}

#[test]
fn plan_that_is_no_file_is_not_called_too_large() {
    let text = "[a]\nquery = select 1\nslo = ${\"throughput > 1\\n/s\"}\n";
    let message = refusal(text, &Overrides::default());
    let expected = "the plan of this file cannot be recorded: expected a section";
    assert!(message.starts_with(expected), "{message}");
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
    assert!(message.contains("exceed 64 MiB together"), "{message}");
    let files = BTreeMap::from([("s.sql".to_owned(), "x;".repeat(200_001).into_bytes())]);
    let (plan, found) =
        workload::plan_in("[setup]\nquery-file = s.sql\n", &Overrides::default(), &files);
    assert!(plan.is_none());
    assert!(found[0].message.contains("too large to record: the file sets more than 200000 keys"));
}

/// Returns parameters of which the last, `p16`, has 1 MiB.
fn doubled_params() -> String {
    let doubled = (1..=16).map(|n| format!("p{n} = ${{p{0}}}${{p{0}}}\n", n - 1));
    format!("[params]\np0 = {}\n{}", "x".repeat(16), doubled.collect::<String>())
}

/// Nothing is inserted after the first text beyond the limit: otherwise the parameters of the first
/// case would take 10 GB.
#[test]
fn first_text_beyond_the_limit_is_refused_and_no_other_is_inserted() {
    let params: String = (0..9_900).map(|n| format!("q{n} = ${{p16}}\n")).collect();
    let bound = "query = select ${p16}\n".repeat(9_000);
    let spliced = "query = select '${raw(p16)}'\n".repeat(9_000);
    let columns: String = (0..4_000).map(|n| format!("columns = c{n}: p16\n")).collect();
    let picked = format!("query = select ${{pick({})}}\n", vec!["p16"; 9_000].join(", "));
    for (more, place) in [
        (format!("{params}[a]\nquery = select 1\n"), "q62"),
        (format!("[a]\n{bound}"), "p16"),
        (format!("[a]\n{spliced}"), "p16"),
        (format!("[a]\n{picked}"), "p16"),
        (format!("[setup]\n{bound}"), "p16"),
        (format!("[load t]\nrows = 1\n{columns}"), "p16"),
    ] {
        let text = format!("{}{more}", doubled_params());
        let (plan, found) = workload::plan_in(&text, &Overrides::default(), &files());
        assert!(plan.is_none());
        let is_limit = |found: &&Diagnostic| found.message.contains("exceed 64 MiB together");
        let errors: Vec<&Diagnostic> = found.iter().filter(is_limit).collect();
        assert_eq!(errors.len(), 1);
        let span = errors[0].span.expect("a place");
        assert_eq!(&text[span.start..span.end], place);
    }
}

#[test]
fn script_of_several_jobs_counts_for_each() {
    let script = format!("select '{}'", "x".repeat(30_000_000)).into_bytes();
    let files = BTreeMap::from([("s.sql".to_owned(), script)]);
    let text = "[a]\nquery-file = s.sql\n[b]\nquery-file = s.sql\n[c]\nquery-file = s.sql\n";
    let (plan, found) = workload::plan_in(text, &Overrides::default(), &files);
    assert!(plan.is_none());
    assert!(found[0].message.starts_with("in line 1 of `s.sql`: the parameters"));
    assert_eq!(found[0].span.expect("a place").start, text.rfind("s.sql").expect("a script"));
}

#[test]
fn part_of_several_mixes_counts_once() {
    let mixes: String =
        (0..3).map(|n| format!("[m{n}]\nmix = a: 1, b: 1\nconcurrency = 1\n")).collect();
    let query = format!("select '{}'", "${raw(p16)}".repeat(24));
    let parts = format!("[a]\nquery = {query}\n[b]\nquery = select 1\n");
    let text = format!("{}{mixes}{parts}", doubled_params());
    let (plan, found) = workload::plan_in(&text, &Overrides::default(), &files());
    assert!(plan.is_some(), "{:?}", found.first().map(|found| &found.message));
}

/// Each mix has a copy of its parts. Without a limit, these copies would take 20 GB.
#[test]
fn part_of_too_many_mixes_is_refused() {
    let mixes: String = (0..1_000).map(|n| format!("[m{n}]\nmix = a\nrate = 1\n")).collect();
    let lets: String = (0..20).map(|n| format!("let = v{n}: p16\n")).collect();
    let text = format!("{}{mixes}[a]\n{lets}query = select ${{v0}}\n", doubled_params());
    let message = refusal(&text, &Overrides::default());
    assert!(message.contains("exceed 256 MiB together"), "{message}");
}

#[test]
fn parameters_in_values_of_keys_count() {
    let blanks = " ".repeat(1_000_000);
    let conditions = "slo = throughput > 1${p}/s\n".repeat(100);
    let text = format!("[params]\np = '{blanks}'\n[a]\nquery = select 1\n{conditions}");
    let message = refusal(&text, &Overrides::default());
    assert!(message.contains("exceed 64 MiB together"), "{message}");
}
