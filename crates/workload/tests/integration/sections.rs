//! Errors in sections and their keys, with their corrections.

use workload::Overrides;

use crate::{check, files, render};

#[test]
fn unknown_key_suggests_the_nearest() {
    check(
        r#"
[read]
query = select 1
raet = 5
"#,
        r#"
error: unknown key `raet` in job [read]
 --> mail.ini:3:1
  |
3 | raet = 5
  | ^^^^
  |
  = help: did you mean `rate`?
"#,
    );
    check(
        r#"
[read]
query = select 1
concurency = 5
"#,
        r#"
error: unknown key `concurency` in job [read]
 --> mail.ini:3:1
  |
3 | concurency = 5
  | ^^^^^^^^^^
  |
  = help: did you mean `concurrency`?
"#,
    );
    check(
        r#"
durration = 10s
[read]
query = select 1
"#,
        r#"
error: unknown key `durration` above the first section
 --> mail.ini:1:1
  |
1 | durration = 10s
  | ^^^^^^^^^
  |
  = help: did you mean `duration`?
"#,
    );
    check(
        r#"
[load t]
rows = 1
columns = a: 1
wirters = 4
"#,
        r#"
error: unknown key `wirters` in [load t]
 --> mail.ini:4:1
  |
4 | wirters = 4
  | ^^^^^^^
  |
  = help: did you mean `writers`?
"#,
    );
}

#[test]
fn a_misspelt_query_is_recognised() {
    check(
        r#"
[read]
qurey = select 1
"#,
        r#"
error: unknown key `qurey` in [read], which has no `query`
 --> mail.ini:2:1
  |
2 | qurey = select 1
  | ^^^^^
  |
  = help: did you mean `query`?
"#,
    );
    check(
        r#"
[read]
Query = select 1
"#,
        r#"
error: unknown key `Query` in [read], which has no `query`
 --> mail.ini:2:1
  |
2 | Query = select 1
  | ^^^^^
  |
  = help: did you mean `query`?
"#,
    );
    check(
        r#"
[read]
queries = select 1
"#,
        r#"
error: the section [read] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [read]
  | ^^^^^^
  |
  = help: give it a statement: `query = select …`
"#,
    );
}

#[test]
fn unknown_key_is_found_in_another_section() {
    check(
        r#"
rtae = 10
[read]
query = select 1
"#,
        r#"
error: unknown key `rtae` above the first section
 --> mail.ini:1:1
  |
1 | rtae = 10
  | ^^^^
  |
  = help: did you mean `rate`? it belongs in a job
"#,
    );
    check(
        r#"
[setup]
sql = select 1
[read]
query = select 1
"#,
        r#"
error: unknown key `sql` in [setup]
 --> mail.ini:2:1
  |
2 | sql = select 1
  | ^^^
  |
  = help: keys here are query, query-file
"#,
    );
}

#[test]
fn misplaced_keys_name_their_section() {
    check(
        r#"
[read]
query = select 1
duration = 10s
"#,
        r#"
error: `duration` is not a key in job [read]
 --> mail.ini:3:1
  |
3 | duration = 10s
  | ^^^^^^^^
  |
  = help: it belongs above the first section
"#,
    );
    check(
        r#"
rate = 10
[read]
query = select 1
"#,
        r#"
error: `rate` is not a key above the first section
 --> mail.ini:1:1
  |
1 | rate = 10
  | ^^^^
  |
  = help: it belongs in a job
"#,
    );
    check(
        r#"
[setup]
query = select 1
transaction = yes
[read]
query = select 1
"#,
        r#"
error: `transaction` is not a key in [setup]
 --> mail.ini:3:1
  |
3 | transaction = yes
  | ^^^^^^^^^^^
  |
  = help: it belongs in a job
"#,
    );
}

#[test]
fn repeated_keys_name_the_first() {
    check(
        r#"
[read]
query = select 1
rate = 5
rate = 6
"#,
        r#"
error: `rate` is repeated in job [read]; the first is in line 3
 --> mail.ini:4:1
  |
4 | rate = 6
  | ^^^^
  |
  = help: remove one of the two
"#,
    );
    check(
        r#"
[read]
query = select 1
concurrency = 5
queue-depth = 6
"#,
        r#"
error: `queue-depth` is repeated in job [read]; its other name `concurrency` is in line 3
 --> mail.ini:4:1
  |
4 | queue-depth = 6
  | ^^^^^^^^^^^
  |
  = help: remove one of the two
"#,
    );
    check(
        r#"
seed = 1
seed = 2
[read]
query = select 1
"#,
        r#"
error: `seed` is repeated above the first section; the first is in line 1
 --> mail.ini:2:1
  |
2 | seed = 2
  | ^^^^
  |
  = help: remove one of the two
"#,
    );
}

#[test]
fn planned_keys_are_reported_as_unsupported() {
    check(
        r#"
[read]
query = select 1
script = read.lua
"#,
        r#"
error: `script` is not supported by this version of assay
 --> mail.ini:3:1
  |
3 | script = read.lua
  | ^^^^^^
  |
  = help: write its statements here, each as a `query`
"#,
    );
    check(
        r#"
warmup = auto
duration = 59s
[read]
query = select 1
"#,
        r#"
error: the end of the warm-up cannot be found in a run of `59s`: that takes `1m` or more
 --> mail.ini:1:10
  |
1 | warmup = auto
  |          ^^^^
  |
  = help: make `duration` longer, or say how long: `warmup = 10s`
"#,
    );
}

#[test]
fn sections_without_a_statement_are_not_jobs() {
    check(
        r#"
[param]
n = 5
[read]
query = select 1
"#,
        r#"
error: the section [param] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [param]
  | ^^^^^^^
  |
  = help: did you mean `[params]`?
"#,
    );
    check(
        r#"
[lod accounts]
rows = 5
"#,
        r#"
error: the section [lod accounts] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [lod accounts]
  | ^^^^^^^^^^^^^^
  |
  = help: did you mean `[load TABLE]`?
"#,
    );
    check(
        r#"
[read]
rate = 5
"#,
        r#"
error: the section [read] has no `query`, so it is not a job
 --> mail.ini:1:1
  |
1 | [read]
  | ^^^^^^
  |
  = help: give it a statement: `query = select …`
"#,
    );
}

#[test]
fn sections_that_load_name_a_table() {
    check(
        r#"
[load]
rows = 5
"#,
        r#"
error: the section names no table to load
 --> mail.ini:1:1
  |
1 | [load]
  | ^^^^^^
  |
  = help: write `[load TABLE]`
"#,
    );
    check(
        r#"
[load my table]
rows = 5
"#,
        r#"
error: `my table` is not the name of a table
 --> mail.ini:1:1
  |
1 | [load my table]
  | ^^^^^^^^^^^^^^^
  |
  = help: a name is letters, digits and `_`, or is quoted: `[load "odd name"]`
"#,
    );
}

#[test]
fn a_job_with_the_name_of_a_reserved_section_is_warned_about() {
    check(
        r#"
[Setup]
query = create table t (a int)
"#,
        r#"
warning: [Setup] is a job: its statements run repeatedly
 --> mail.ini:1:1
  |
1 | [Setup]
  | ^^^^^^^
  |
  = help: did you mean `[setup]`, whose statements run once?
"#,
    );
    check(
        r#"
[tear-down]
query = drop table t
"#,
        r#"
warning: [tear-down] is a job: its statements run repeatedly
 --> mail.ini:1:1
  |
1 | [tear-down]
  | ^^^^^^^^^^^
  |
  = help: did you mean `[teardown]`, whose statements run once?
"#,
    );
    check(
        r#"
[global]
duration = 5s
[read]
query = select 1
"#,
        r#"
warning: the section [global] is ignored
 --> mail.ini:1:1
  |
1 | [global]
  | ^^^^^^^^
  |
  = help: write its keys above the first section
"#,
    );
}

#[test]
fn misspelt_setup_with_a_script_is_warned_about() {
    for key in ["query-file = schema.sql", "query.mysql = select 1\nquery = select 2"] {
        let text = format!("[Setup]\n{key}\n");
        let (_, found) = workload::plan_in(&text, &Overrides::default(), &files());
        let is_warned = found.iter().any(|one| one.message.starts_with("[Setup] is a job: "));
        assert!(is_warned, "{}", render(&text, &found));
    }
}

#[test]
fn a_table_to_load_has_rows_and_columns() {
    check(
        r#"
[load t]
writers = 2
"#,
        r#"
error: [load t] has no `rows`
 --> mail.ini:1:1
  |
1 | [load t]
  | ^^^^^^^^
  |
  = help: write for example `rows = 100k`

error: [load t] has no `columns`
 --> mail.ini:1:1
  |
1 | [load t]
  | ^^^^^^^^
  |
  = help: write for example `columns = id: row()`
"#,
    );
    check(
        r#"
[load t]
rows = 10
columns = row()
"#,
        r#"
error: `row()` is not of the form `NAME: EXPRESSION`
 --> mail.ini:3:11
  |
3 | columns = row()
  |           ^^^^^
  |
  = help: write for example `columns = id: row(), owner: text(12)`
"#,
    );
    check(
        r#"
[load t]
rows = 10
columns = a: row(),, b: 1
"#,
        r#"
error: an item is missing next to a comma
 --> mail.ini:3:11
  |
3 | columns = a: row(),, b: 1
  |           ^^^^^^^^^^^^^^^
  |
  = help: remove the comma, or write what is missing
"#,
    );
}

#[test]
fn columns_have_names_and_values() {
    check(
        r#"
[load t]
rows = 10
columns = a: row(), a: 1
"#,
        r#"
error: the column `a` occurs twice
 --> mail.ini:3:21
  |
3 | columns = a: row(), a: 1
  |                     ^
"#,
    );
    check(
        r#"
[load t]
rows = 10
columns = a b: row()
"#,
        r#"
error: `a b` is not the name of a column
 --> mail.ini:3:11
  |
3 | columns = a b: row()
  |           ^^^
  |
  = help: a name has letters, digits and `_`, or is in double quotes
"#,
    );
    check(
        r#"
[load t]
rows = 10
columns = a: row(), b: 10ms
"#,
        r#"
error: `10ms` is a duration, which cannot be a value of a database
 --> mail.ini:3:24
  |
3 | columns = a: row(), b: 10ms
  |                        ^^^^
  |
  = help: divide it by a unit: `10ms / 1s` is a number of seconds
"#,
    );
    check(
        r#"
[load t]
rows = 10
columns = a: row(), b: other
"#,
        r#"
error: unknown name `other`
 --> mail.ini:3:24
  |
3 | columns = a: row(), b: other
  |                        ^^^^^
  |
  = help: define it in `[params]`; texts need quotes
"#,
    );
}

#[test]
fn two_jobs_do_not_write_one_results_file() {
    check(
        r#"
[read]
query = select 1
query-results-file = out/./found.csv
[other]
query = select 2
query-results-file = ./out/found.csv
[third]
query = select 2
query-results-file = out/found2.csv
"#,
        r#"
error: the results of [read] and of [other] would go to one file, `./out/found.csv`
 --> mail.ini:6:22
  |
6 | query-results-file = ./out/found.csv
  |                      ^^^^^^^^^^^^^^^
  |
  = help: give each job a file of its own: they would overwrite each other
"#,
    );
}

#[test]
fn section_with_a_results_file_is_used_once() {
    let text = "[m]\nmix = a\n[n]\nmix = a\n[a]\nquery = select 1\nquery-results-file = a.csv\n";
    check(
        text,
        r#"
error: [a] is used twice, in the mix [m] and in the mix [n], and both would write `a.csv`
 --> mail.ini:7:22
  |
7 | query-results-file = a.csv
  |                      ^^^^^
  |
  = help: write the section a second time, with another name and another file
"#,
    );
    check(
        &text.replace("[n]\nmix = a\n", "").replace("select 1\n", "select 1\nrate = 10\n"),
        r#"
error: [a] is used twice, in the mix [m] and as a job of its own, and both would write `a.csv`
 --> mail.ini:6:22
  |
6 | query-results-file = a.csv
  |                      ^^^^^
  |
  = help: write the section a second time, with another name and another file
"#,
    );
}

#[test]
fn results_file_name_is_a_printable_path() {
    check(
        r#"
[params]
odd = "a\nb"
[read]
query = select 1
query-results-file = ${odd}
"#,
        r#"
error: `a\nb` is not the name of a file
 --> mail.ini:5:22
  |
5 | query-results-file = ${odd}
  |                      ^^^^^^
  |
  = help: write `query-results-file = found.csv`
"#,
    );
}
