//! Files that a workload names, and keys for one database.

use std::collections::BTreeMap;

use base::{Placeholders, Target};
use workload::{Overrides, Plan};

use crate::render;

/// Returns the plan of a text with these files next to it, for a target.
fn plan(url: &str, text: &str, files: &[(&str, &str)]) -> Result<Plan, String> {
    let folder: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    let target = Some(Target::parse(url).expect("a URL"));
    let overrides = Overrides { target, ..Overrides::default() };
    let (plan, diagnostics) = workload::plan_in(text, &overrides, &folder);
    plan.ok_or_else(|| render(text, &diagnostics))
}

/// Returns the statements that a plan sends: first the statements of setup, then the statements of
/// its jobs.
fn sent(plan: &Plan) -> Vec<String> {
    let setup = plan.setup.iter().map(|statement| statement.text.clone());
    let jobs = plan.jobs_and_parts().flat_map(|either| &either.requests().statements);
    setup.chain(jobs.map(|statement| statement.text(Placeholders::Question))).collect()
}

fn check(url: &str, text: &str, files: &[(&str, &str)], expected: &[&str]) {
    let plan = plan(url, text, files).unwrap_or_else(|complaint| panic!("{complaint}"));
    assert_eq!(sent(&plan), expected);
    let printed = plan.to_text();
    let (again, diagnostics) = workload::plan(&printed, &Overrides::default());
    let again = again.unwrap_or_else(|| panic!("{printed}{}", render(&printed, &diagnostics)));
    assert_eq!(again.as_printed(), plan.as_printed(), "{printed}");
}

fn refused(url: &str, text: &str, files: &[(&str, &str)], expected: &str) {
    let complaint = plan(url, text, files).expect_err("a complaint");
    assert!(complaint.contains(expected), "{complaint}");
}

const SCRIPT: &str = "-- the tables; all of them\ncreate table t (\n  a text default ';'\n);\n\
                      insert into t values ('two\nlines') -- end\n;\n/* nothing */;\n";

#[test]
fn statements_of_a_file_replace_its_line() {
    let text = "[setup]\nquery = select 1\nquery-file = s.sql\nquery = select 2\n\
                [a]\nquery-file = j.sql\ntransaction = yes\n";
    check(
        "sqlite:x.db",
        text,
        &[("s.sql", SCRIPT), ("j.sql", "select ${uniform(1, 1)};\nselect '$${x}' from t;")],
        &[
            "select 1",
            "-- the tables; all of them\ncreate table t (\n  a text default ';'\n)",
            "insert into t values ('two\nlines') -- end",
            "select 2",
            "select ?",
            "select '${x}' from t",
        ],
    );
}

#[test]
fn files_are_split_by_dialect() {
    let mysql = "select 1 # it's;\n;\nselect 'it\\'s;';\n";
    check(
        "mysql://h/d",
        "[a]\nquery-file = j.sql\n",
        &[("j.sql", mysql)],
        &["select 1 # it's;", "select 'it\\'s;'"],
    );
    let postgres = "select $x$ ; $x$;\nselect E'\\';' /* /* ; */ ; */;select a # b;";
    check(
        "postgres://h/d",
        "[a]\nquery-file = j.sql\n",
        &[("j.sql", postgres)],
        &["select $x$ ; $x$", "select E'\\';' /* /* ; */ ; */", "select a # b"],
    );
}

#[test]
fn mistakes_in_a_file_name_its_line() {
    let job = "[a]\nquery-file = j.sql\n";
    refused("sqlite:x", job, &[], "there is no file `j.sql`");
    refused("sqlite:x", job, &[("j.sql", "-- nothing\n;")], "`j.sql` has no statement");
    refused("sqlite:x", job, &[("j.sql", "a;\n\nb ${uniform(};")], "in line 3 of `j.sql`: ");
    refused("sqlite:x", job, &[("j.sql", "a;\nb 'x;")], "in line 2 of `j.sql`: the literal");
    refused("sqlite:x", job, &[("j.sql", "a;\nbegin;")], "in line 2 of `j.sql`: `begin`");
    refused("sqlite:x", job, &[("j.sql", "a\0")], "`j.sql`: the file is not a text");
    refused("sqlite:x", job, &[("j.sql", "a;\nb\u{7}")], "in line 2 of `j.sql`: found a control");
}

#[test]
fn lines_for_other_databases_are_skipped() {
    let text = "[setup]\nquery.mysql = create table t (a int) engine = innodb\n\
                query.postgres = create unlogged table t (a int)\n\
                query = insert into t values (1)\n\
                [a]\nquery = select 1\nquery.sqlite = select sqlite_version()\n\
                query.mysql = select @@version # it's\ncount.sqlite = 3\ncount = 5\n";
    check(
        "mysql://h/d",
        text,
        &[],
        &[
            "create table t (a int) engine = innodb",
            "insert into t values (1)",
            "select 1",
            "select @@version # it's",
        ],
    );
    check(
        "sqlite:x",
        text,
        &[],
        &["insert into t values (1)", "select 1", "select sqlite_version()"],
    );
    let count = |url| plan(url, text, &[]).expect("a plan").jobs[0].count;
    assert_eq!((count("sqlite:x"), count("postgres://h/d")), (Some(3), Some(5)));
}

#[test]
fn a_job_without_a_statement_for_the_target_is_refused() {
    let text = "[a]\nquery.mysql = select 1\n";
    refused("postgres://h/d", text, &[], "[a] has no statement for postgres");
    let text = "[a]\nquery.oracle = select 1\nquery = select 1\n";
    refused("sqlite:x", text, &[], "`query.oracle` names no database");
    refused("sqlite:x", "duration.mysql = 1s\n[a]\nquery = a\n", &[], "above the first section");
    let text = "[a]\nquery = a\ncount.mysql = 1\ncount.mysql = 2\n";
    refused("sqlite:x", text, &[], "`count.mysql` is repeated");
}
