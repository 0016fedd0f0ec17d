//! Conditions of `[threshold]` become conditions of their jobs.

use crate::{check, plan};

/// Returns the conditions of each job.
fn slos(input: &str) -> Vec<Vec<String>> {
    let texts = |either: workload::JobOrPart<'_>| {
        either.requests().slos.iter().map(|slo| slo.text.clone()).collect()
    };
    plan(input).jobs_and_parts().map(texts).collect()
}

const JOBS: &str = "[read]\nquery = select 1\nslo = p50 < 1ms\n[write]\nquery = select 2\n";

#[test]
fn condition_applies_to_the_job_that_it_names() {
    let input = format!(
        "[threshold]\nslo = p99(read) < 30ms, throughput( write )>100\n\
         slo = service.p99(read) < 5ms\n\
         slo = failed(write) < 0.1%\n{JOBS}"
    );
    let read = ["p50 < 1ms", "p99 < 30ms", "service.p99 < 5ms"].map(str::to_owned).to_vec();
    let write = ["throughput > 100", "failed < 0.1%"].map(str::to_owned).to_vec();
    assert_eq!(slos(&input), [read, write]);
}

#[test]
fn a_condition_means_the_same_in_both_places() {
    let outside = plan("[threshold]\nslo = p99(read) < 30ms\n[read]\nquery = select 1\n");
    let inside = plan("[read]\nquery = select 1\nslo = p99 < 30ms\n");
    assert_eq!(outside.as_printed(), inside.as_printed());
    assert_eq!(outside.to_text(), inside.to_text());
}

#[test]
fn a_job_may_have_any_name() {
    let input = "[threshold]\nslo = p99(a (b), < c) < 30ms\n[a (b), < c]\nquery = select 1\n";
    assert_eq!(slos(input), [["p99 < 30ms"]]);
}

/// A section that is a part of two mixes is judged once in each mix, by the conditions of that
/// part. The section's own conditions apply in both mixes.
#[test]
fn a_part_of_a_mix_is_judged_by_its_own_name() {
    let input = "[m]\nmix = a, b\nrate = 5\n[n]\nmix = a\nrate = 3\n\
                 [a]\nquery = x\nslo = p95 < 2s\n[b]\nquery = y\n\
                 [threshold]\nslo = p99(m/a) < 1s, max(n/a) < 3s, failed(n) < 1%\n";
    let expected: [&[&str]; 5] =
        [&[], &["p95 < 2s", "p99 < 1s"], &[], &["failed < 1%"], &["p95 < 2s", "max < 3s"]];
    assert_eq!(slos(input), expected);
    let printed = plan(input).to_text();
    assert_eq!(slos(&printed), expected, "{printed}");
    check(
        "[m]\nmix = b\n[b]\nquery = y\n[threshold]\nslo = p99(b) < 1s\n",
        r"
error: there is no job [b]
 --> mail.ini:6:11
  |
6 | slo = p99(b) < 1s
  |           ^
  |
  = help: did you mean `m/b`?
",
    );
}

#[test]
fn the_only_job_need_not_be_named() {
    let input = "[read]\nquery = select 1\n[threshold]\nslo = p99 < ${30 * 1ms}\n";
    assert_eq!(slos(input), [["p99 < 30ms"]]);
}

#[test]
fn a_threshold_with_a_statement_is_a_job() {
    assert_eq!(plan("[threshold]\nquery = select 1\nslo = p99 < 1s\n").jobs[0].name(), "threshold");
}

#[test]
fn with_several_jobs_a_condition_names_its_job() {
    check(
        &format!("{JOBS}[threshold]\nslo = p99 < 30ms\n"),
        r#"
error: the condition does not say which job it judges
 --> mail.ini:7:7
  |
7 | slo = p99 < 30ms
  |       ^^^^^^^^^^
  |
  = help: name the job in parentheses: `p99(read) < 30ms`
"#,
    );
}

#[test]
fn unknown_job_suggests_the_nearest() {
    check(
        &format!("{JOBS}[threshold]\nslo = p99(raed) < 30ms, max(elsewhere) < 1s\n"),
        r#"
error: there is no job [raed]
 --> mail.ini:7:11
  |
7 | slo = p99(raed) < 30ms, max(elsewhere) < 1s
  |           ^^^^
  |
  = help: did you mean `read`?

error: there is no job [elsewhere]
 --> mail.ini:7:29
  |
7 | slo = p99(raed) < 30ms, max(elsewhere) < 1s
  |                             ^^^^^^^^^
  |
  = help: jobs of this file are [read] and [write]
"#,
    );
}

#[test]
fn parentheses_contain_a_job_name() {
    check(
        &format!("{JOBS}[threshold]\nslo = p99() < 30ms\nslo = p99(read < 30ms\n"),
        r#"
error: `()` names no job
 --> mail.ini:7:10
  |
7 | slo = p99() < 30ms
  |          ^^
  |
  = help: write for example `slo = p99(read) < 30ms`

error: `(read` names no job
 --> mail.ini:8:10
  |
8 | slo = p99(read < 30ms
  |          ^^^^^
  |
  = help: write for example `slo = p99(read) < 30ms`
"#,
    );
}

#[test]
fn a_file_without_jobs_has_nothing_to_judge() {
    check(
        "[setup]\nquery = create table t (a int)\n[threshold]\nslo = p99 < 30ms\n",
        r#"
error: the file has no job that could be judged
 --> mail.ini:4:7
  |
4 | slo = p99 < 30ms
  |       ^^^^^^^^^^
"#,
    );
}

#[test]
fn threshold_section_accepts_conditions_only() {
    check(
        &format!("{JOBS}[threshold]\np99 = 30ms\n"),
        r#"
error: unknown key `p99` in [threshold]
 --> mail.ini:7:1
  |
7 | p99 = 30ms
  | ^^^
  |
  = help: keys here are slo
"#,
    );
}
