//! Large, deep and repetitive files, which must be checked quickly.
//!
//! The times are not asserted, because a test must not depend on the machine; a cost that is
//! quadratic in the size would appear as a test that never ends.

use workload::Overrides;

use crate::render;

/// Returns the first message about a file, and the number of messages.
fn answer(input: &str) -> (String, usize) {
    let (_, diagnostics) = workload::plan(input, &Overrides::default());
    let first = diagnostics.first().map(|diagnostic| diagnostic.message.clone());
    render(input, &diagnostics[..diagnostics.len().min(2)]);
    (first.unwrap_or_default(), diagnostics.len())
}

fn check(input: &str, expected: &str, count: usize) {
    assert_eq!(answer(input), (expected.to_owned(), count));
}

const MANY: usize = 1 << 20;

#[test]
fn long_lines_are_read() {
    let long = "x".repeat(4 * MANY);
    check(&format!("[a]\nquery = select '{long}'\n"), "", 0);
    check(&format!("[a]\nquery = select 1\nrate = {long}\n"), &not_a_number(), 1);
    check(&format!("[{long}]\nquery = select 1\n"), "", 0);
    let continued = "x\\\n".repeat(60_000);
    check(&format!("[a]\nquery = select '{continued}'\n"), "", 0);
    check(&format!("[a]\nquery = select '{}'\n", "''".repeat(MANY)), "", 0);
}

fn not_a_number() -> String {
    format!("`{}…` is not a number", "x".repeat(60))
}

#[test]
fn many_mistakes_are_counted_after_the_first_hundred() {
    let (first, count) = answer(&"[a]\n".repeat(9_000));
    assert_eq!(
        (first.as_str(), count),
        ("the section [a] has no `query`, so it is not a job", 101)
    );
    let unknown = "some-key-that-is-unknown = 5\n".repeat(100_000);
    let (first, count) = answer(&format!("[a]\nquery = select 1\n{unknown}"));
    assert_eq!(first, "unknown key `some-key-that-is-unknown` in job [a]");
    assert_eq!(count, 101);
    check(&"x\n".repeat(MANY), "expected a section, a comment or `key = value`, found `x`", 101);
    let (_, count) = answer(&format!("[a]\nquery = {}\n", "${x}".repeat(50_000)));
    assert_eq!(count, 101);
}

#[test]
fn limits_are_named() {
    let continued = "x\\\n".repeat(MANY);
    let joined = "more than 65,536 lines are joined by `\\` into one";
    check(&format!("[a]\nquery = select {continued}\n"), joined, 1);
    let sections: String = (0..10_001).map(|n| format!("[a{n}]\nquery=x\n")).collect();
    check(&sections, "the file has more than 10000 sections", 1);
    let keys = format!("[setup]\n{}", "query = select 1\n".repeat(200_001));
    check(&keys, "the file sets more than 200000 keys", 1);
    let values = format!("[a]\nquery = select {}\n", "${1}".repeat(70_000));
    check(&values, "the statement has more than 65,535 values", 1);
    let texts = "${text(1M)}".repeat(300);
    check(
        &format!("[a]\nquery = select {texts}\n"),
        "a request could have 286 MiB; the limit is 256 MiB",
        1,
    );
}

#[test]
fn request_size_includes_the_longest_text_of_each_generator() {
    for (text, megabytes) in [
        ("hex(1M)", 286),
        ("json(a: hex(200k))", 343),
        ("null(0.5, text(1M))", 286),
        ("weighted('': 9, text(1M): 1)", 286),
        ("digits('###')", 0),
    ] {
        let (first, _) =
            answer(&format!("[a]\nquery = select {}\n", format!("${{{text}}}").repeat(300)));
        let limit = format!("a request could have {megabytes} MiB; the limit is 256 MiB");
        assert_eq!(first == limit, megabytes > 0, "{text}: {first}");
    }
}

#[test]
fn many_parameters_and_variables_are_found() {
    let params: String = (0..9_000).map(|n| format!("p{n} = ${{p{}}}\n", n.max(1) - 1)).collect();
    let (first, count) = answer(&format!("[params]\n{params}[a]\nquery = select 1\n"));
    let expected = "the parameter is defined in terms of itself: p0 -> p0";
    assert_eq!((first.as_str(), count), (expected, 1));
    let columns: String = (0..5_000).map(|n| format!("c{n}: row(), ")).collect();
    let columns = columns.trim_end_matches(", ");
    check(&format!("[load t]\nrows = 1\ncolumns = {columns}\n"), "", 0);
}

#[test]
fn unclosed_quotes_take_linear_time() {
    let (_, count) = answer(&format!("[a]\nquery = {}\n", "${'".repeat(100_000)));
    assert!(count > 0);
    let (_, count) = answer(&format!("[a]\nquery = {}\n", "${\"\\\"}".repeat(60_000)));
    assert!(count > 0);
    let (_, count) = answer(&format!("[a]\nquery=x\nlet = {}\n", "\"\\".repeat(MANY)));
    assert!(count > 0);
    let (_, count) = answer(&format!("[a]\nquery=x\nlet = {}\n", "a:".repeat(MANY)));
    assert!(count > 0);
}

#[test]
fn each_of_many_results_files_is_compared_with_the_others() {
    let job = |name: usize, file: usize| {
        format!("[a{name}]\nquery = select 1\nquery-results-file = ./f{file}.csv\n")
    };
    let jobs: String = (0..9_000).map(|number| job(number, number)).collect();
    check(&jobs, "", 0);
    let expected = "the results of [a7] and of [a9000] would go to one file, `./f7.csv`";
    check(&(jobs + &job(9_000, 7)), expected, 1);
}

#[test]
fn names_of_many_targets_are_not_all_listed() {
    let targets: String =
        (0..500).map(|number| format!("[target t{number}]\nurl = sim:mm1\n")).collect();
    let text = format!("[a]\nquery = select 1\ntarget = unknown\n{targets}");
    let (_, found) = workload::plan(&text, &Overrides::default());
    let help = "the targets of the file are t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 490 more";
    assert_eq!(found[0].help.as_deref(), Some(help));
}

#[test]
fn too_many_clients_for_the_memory_are_a_warning() {
    let of = |clients| {
        format!(
            "[a]\nlet = x: text(1000000), y: text(1000000)\nquery = select ${{x}}, ${{y}}\n\
             concurrency = {clients}\n"
        )
    };
    check(&of(500), "", 0);
    let words = "the requests of 5000 clients could need 18 GiB of memory together";
    check(&of(5_000), words, 1);
}
