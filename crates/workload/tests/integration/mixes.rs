//! Jobs whose requests come from other sections, from files, or from sessions.

use base::{AccountId, Placeholders, Value, Values, WallTime};
use workload::feed::{Format, Group, Reader, Records};
use workload::{Account, Flow, Generator, JobId, JobOrPart, Pacing, PartId, Plan};

use crate::{check, plan};

const MIX: &str = "[oltp]\nmix = read: 80, write up: 20\nrate = 100\n\
                   [read]\nquery = select ${uniform(1, 9)}\n\
                   [write up]\nquery = update t set a = 1\ntransaction = yes\nconcurrency = 2\n";

#[test]
fn a_section_that_only_a_mix_names_does_not_run_alone() {
    let plan = plan(MIX);
    let names: Vec<&str> = plan.jobs_and_parts().map(JobOrPart::name).collect();
    assert_eq!(names, ["oltp", "oltp/read", "oltp/write up", "write up"]);
    assert_eq!((plan.jobs.len(), plan.jobs[0].parts.len()), (2, 2));
    assert!(matches!(plan.jobs[1].pacing, Pacing::Closed { clients: 2, .. }));
    let offered: Vec<Option<f64>> =
        plan.jobs_and_parts().map(|either| either.offered_per_s(base::Nanos::ZERO, None)).collect();
    assert_eq!(offered, [Some(100.0), Some(80.0), Some(20.0), None]);
}

/// A zero has the same effect as a missing line.
#[test]
fn pacing_of_zero_does_not_make_a_part_run_alone() {
    let names = |part: &str| -> Vec<String> {
        let text = format!("[params]\nn = 0\n[a]\nmix = b\nrate = 9\n[b]\nquery = x\n{part}\n");
        plan(&text).jobs_and_parts().map(|either| either.name().to_owned()).collect()
    };
    for part in ["rate = 0", "rate = 0.0\nconcurrency = 0", "queue-depth = 0", "rate = ${n}"] {
        assert_eq!(names(part), ["a", "a/b"], "{part}");
    }
    assert_eq!(names("rate = 5\nrate.sqlite = 0"), ["a", "a/b"]);
    assert_eq!(names("queue-depth = 5\nconcurrency.sqlite = 0"), ["a", "a/b"]);
    assert_eq!(names("rate = 0\nrate.sqlite = 5"), ["a", "a/b", "b"]);
    assert_eq!(names("rate = 0\nconcurrency = 2"), ["a", "a/b", "b"]);
}

#[test]
fn accounts_are_each_job_followed_by_its_parts() {
    let more = "[first]\nquery = select 1\n";
    let plan = plan(&format!("{more}{MIX}"));
    let (mix, last) = (JobId(1), JobId(2));
    let part = |index| Account::Part(mix, PartId(index));
    let accounts: Vec<Account> = plan.accounts().map(|(account, _)| account).collect();
    let first = Account::Job(JobId(0));
    assert_eq!(accounts, [first, Account::Job(mix), part(0), part(1), Account::Job(last)]);
    for (index, (account, either)) in plan.accounts().enumerate() {
        let id = AccountId(index as u16);
        assert_eq!(plan.account(id).name(), either.name());
        assert_eq!(plan.whole_job_account(id), plan.account_of(account.job()));
    }
    assert!(plan.find_account(AccountId(5)).is_none());
    let included = |index| plan.included_accounts(AccountId(index));
    assert_eq!([1, 2].map(included), [AccountId(1)..=AccountId(3), AccountId(2)..=AccountId(2)]);
}

#[test]
fn a_mix_names_other_sections() {
    let refused = |mix: &str, expected: &str| {
        let text = format!("[a]\nmix = {mix}\n[b]\nquery = x\n[c]\nmix = b\n");
        let (plan, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        assert!(plan.is_none(), "{text}");
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    };
    refused("a: 1", "the mix names itself");
    refused("b: 1, bb: 2", "there is no job [bb]");
    refused("b, b: 2", "`b` occurs twice in the mix");
    refused("c", "[c] is a mix itself");
    refused("b: 0", "`0` is not between 1 and 1,000,000");
    refused("b: x", "`x` is not a number");
    refused(": 5", "the name of a section is missing in the mix");
    refused("", "the mix names no section");
}

#[test]
fn colon_in_the_name_of_a_section_is_no_weight() {
    let weights = |mix: &str| -> Vec<(String, u32)> {
        let plan = plan(&format!(
            "[all]\nmix = {mix}\nconcurrency = 2\n[a:2]\nquery = select 1\n[a]\nquery = select 2\n"
        ));
        let parts = plan.jobs[0].parts.iter();
        parts.map(|part| (part.name.clone(), part.weight)).collect()
    };
    let parts = |of_first: u32| vec![("all/a:2".to_owned(), of_first), ("all/a".to_owned(), 1)];
    assert_eq!(weights("a:2, a"), parts(1));
    assert_eq!(weights("a:2: 3, a: 1"), parts(3));
}

#[test]
fn parts_have_statements_and_names_of_their_own() {
    let refused = |text: &str, expected: &str| {
        let (_, diagnostics) = workload::plan(text, &workload::Overrides::default());
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    };
    let log = "[m]\nmix = l\n[l]\nquery-log-file = q.log\n";
    refused(log, "[l] has the times of its log");
    refused("[m]\nmix = c\n[c]\ncommand = true\n", "[c] runs a program");
    let same = "[m]\nmix = a\n[a]\nquery = x\n[m/a]\nquery = y\n";
    refused(same, "[m/a] has the name of a part of [m]");
}

/// Returns the errors of a file with these sections, in this order.
fn errors_of<'s>(sections: impl IntoIterator<Item = &'s &'s str>) -> Vec<String> {
    let text: String = sections.into_iter().copied().collect();
    let (_, found) = workload::plan(&text, &workload::Overrides::default());
    let errors = found.into_iter().filter(|it| it.severity == base::Severity::Error);
    errors.map(|it| it.message).collect()
}

#[test]
fn job_named_like_a_part_is_refused_beside_a_job_with_a_shorter_name() {
    let sections =
        ["[m/a]\nmix = b\n", "[m]\nquery = x\n", "[b]\nquery = y\n", "[m/a/b]\nquery = z\n"];
    let expected = ["[m/a/b] has the name of a part of [m/a]"];
    assert_eq!(errors_of(&sections), expected);
    assert_eq!(errors_of(sections.iter().rev()), expected);
}

#[test]
fn parts_of_two_mixes_have_different_names() {
    let sections =
        ["[m]\nmix = a/b, b\n", "[m/a]\nmix = b\n", "[a/b]\nquery = x\n", "[b]\nquery = y\n"];
    assert_eq!(errors_of(&sections), ["[m] and [m/a] both have a part [m/a/b]"]);
    assert_eq!(errors_of(sections.iter().rev()), ["[m/a] and [m] both have a part [m/a/b]"]);
}

/// Each job and each part takes memory, and records number them with 16 bits.
#[test]
fn mixes_with_too_many_parts_together_are_refused() {
    let file = |mixes: usize| {
        let names: Vec<String> = (1..=1_000).map(|number| format!("s{number}")).collect();
        let list = names.join(", ");
        let mixes = (1..=mixes).map(|number| format!("[m{number}]\nmix = {list}\nrate = 1\n"));
        let sections = names.iter().map(|name| format!("[{name}]\nquery = x\n"));
        mixes.chain(sections).collect::<String>()
    };
    let messages = |mixes: usize| -> Vec<String> {
        let (_, diagnostics) = workload::plan(&file(mixes), &workload::Overrides::default());
        diagnostics.into_iter().map(|found| found.message).collect()
    };
    assert_eq!(messages(9), [""; 0]);
    assert_eq!(messages(10), ["the file has more than 10,000 jobs and parts of mixes"]);
}

/// Metrics and the conditions of a capacity search refer to jobs by name, and would take this job
/// for a part. The name causes only a warning, because records of earlier versions have such plans.
#[test]
fn job_named_like_a_part_of_a_plain_job_is_warned_of() {
    check(
        "[read]\nquery = x\n[read/x]\nquery = y\n[reads]\nquery = x\n",
        r#"
warning: [read/x] has the name of a part of [read]
 --> mail.ini:3:1
  |
3 | [read/x]
  | ^^^^^^^^
  |
  = help: give the section another name, without the slash
"#,
    );
}

#[test]
fn part_of_a_mix_has_no_pacing() {
    check(
        "[a]\nmix = b\nquery = y\n[b]\nquery = x\ncount = 5\nreconnect = no\n",
        r#"
error: `query` and `mix` cannot be set together
 --> mail.ini:3:1
  |
3 | query = y
  | ^^^^^
  |
  = help: a mix sends what its sections say: write it in one of them

error: `count` belongs to the mix [a]
 --> mail.ini:6:1
  |
6 | count = 5
  | ^^^^^
  |
  = help: the section runs only as a part of it, when the mix says so

error: `reconnect` belongs to the mix [a]
 --> mail.ini:7:1
  |
7 | reconnect = no
  | ^^^^^^^^^
  |
  = help: the section runs only as a part of it, when the mix says so
"#,
    );
}

/// A key for one database is ignored for others, even if it makes a section a mix, gives it a
/// pacing of its own, or belongs to its mix.
#[test]
fn keys_for_one_database_make_mixes_and_their_parts() {
    let names = |text: &str| -> Vec<String> {
        plan(text).jobs_and_parts().map(|either| either.name().to_owned()).collect()
    };
    let b = "[b]\nquery = select 1\n";
    assert_eq!(names(&format!("[a]\nmix.sqlite = b\nrate = 20\n{b}rate = 5\n")), ["a", "a/b", "b"]);
    assert_eq!(names(&format!("[a]\nmix.mysql = b\nquery = x\n{b}")), ["a", "b"]);
    assert_eq!(
        names(&format!("[a]\nmix.mysql = c\nmix = b\n{b}[c]\nquery = y\n")),
        ["a", "a/b", "c"]
    );
    assert_eq!(names(&format!("[a]\nmix = b\nquery.mysql = x\n{b}")), ["a", "a/b"]);
    assert_eq!(names(&format!("[a]\nmix = b\n{b}rate.sqlite = 5\n")), ["a", "a/b", "b"]);
    assert_eq!(names(&format!("[a]\nmix = b\n{b}rate.mysql = 5\n")), ["a", "a/b"]);
    assert_eq!(names(&format!("[a]\nmix = b\n{b}count.mysql = 5\n")), ["a", "a/b"]);
    for (text, expected) in [
        (
            format!("[a]\nmix.sqlite = b\nquery = x\n{b}"),
            "`query` and `mix` cannot be set together",
        ),
        (format!("[m]\nmix = a\n[a]\nmix.sqlite = b\n{b}"), "[a] is a mix itself"),
        (format!("[m]\nmix = b\n{b}count.sqlite = 5\n"), "`count` belongs to the mix [m]"),
        (
            format!("[m]\nmix = b\nrate = 1\n{b}reconnect.sqlite = per-transaction\n"),
            "`reconnect` belongs to the mix [m]",
        ),
        (
            format!("[m]\nmix = b\n{b}target.sqlite = c\n"),
            "`target.sqlite` cannot depend on the database",
        ),
    ] {
        let (_, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    }
}

/// Keys that a part cannot have are reported instead of being ignored.
#[test]
fn the_parts_of_a_closed_mix_are_not_sessions_and_do_not_think() {
    for (pacing, part, expected) in [
        ("concurrency = 2", "think = 1s", "`think` belongs to the mix [m]"),
        ("rate = 2", "think = 1s", "`think` belongs to the mix [m]"),
        ("concurrency = 2", "session = yes", "the requests of the mix [m] do not arrive"),
        ("query-log-file = q.log", "", "`mix` and `query-log-file` cannot be set together"),
    ] {
        let text = format!("[m]\nmix = b\n{pacing}\n[b]\nquery = x\nquery = y\n{part}\n");
        let (_, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    }
    plan("[m]\nmix = b\nrate = 2\n[b]\nquery = x\nquery = y\nsession = yes\nthink = 1s\n");
    plan("[m]\nmix = b\nconcurrency = 2\n[b]\nquery = x\nsession = no\n");
}

fn fed(plan: &Plan, text: &str) -> Vec<Vec<String>> {
    let feed = plan.jobs[0].requests.feed.as_ref().expect("a feed");
    let per_request = feed.per_request as usize;
    let mut reader = Reader::new(text.as_bytes(), feed.format, per_request);
    let mut block = [Records::default()];
    block[0].reset(per_request);
    reader.fill(&mut block, |_| 0, |_| false).expect("records");
    let mut generator = Generator::new(&plan.jobs[0], WallTime::EPOCH, base::Dialect::Sqlite);
    let mut request = |group: Group<'_>| {
        let mut values = Values::new();
        generator.fill(0, group, &mut values);
        let text = |value: &Value| match value {
            Value::Text(text) => values.resolve(*text).to_owned(),
            other => format!("{other:?}"),
        };
        values.items().iter().map(text).collect()
    };
    (0..block[0].len()).map(|place| request(block[0].group(place))).collect()
}

#[test]
fn placeholders_take_the_fields_of_records() {
    let plan = plan(
        "[a]\nquery = insert into t values (?, ?, '?', ${field(1)})\n\
                     let = n: field(2)\nquery = update t set a = ${n} where b = '${raw(n)}'\n\
                     query-args-file = a.csv\ntransaction = yes\n",
    );
    let texts = |place: usize| plan.jobs[0].requests.statements[place].text(Placeholders::Question);
    assert_eq!(texts(0), "insert into t values (?, ?, '?', ?)");
    assert_eq!(
        fed(&plan, "1,x\n2,y\n"),
        [
            ["1", "x", "1", "update t set a =  'x'  where b = 'x'"],
            ["2", "y", "2", "update t set a =  'y'  where b = 'y'"],
        ]
    );
}

/// Like dbbench, Assay takes one record per statement.
#[test]
fn separate_statement_takes_its_own_record() {
    let plan = plan(
        "[a]\nquery = a ?\nquery = b ?\nmulti-query-mode = multi-connection\n\
                     query-args-file = a.csv\nquery-args-delim = ';'\n",
    );
    assert_eq!(plan.jobs[0].requests.flow, Flow::Separately);
    assert_eq!(fed(&plan, "1;x\n2;y\n3;z\n"), [["1", "2"]]);
}

#[test]
fn a_replay_sends_whole_lines() {
    let plan = plan("[a]\nquery-log-file = q.log\ncount = 5\n");
    assert_eq!(plan.jobs[0].pacing, Pacing::Replay);
    assert_eq!(plan.jobs[0].requests.feed.as_ref().expect("a feed").format, Format::Log);
    assert_eq!(fed(&plan, "5,select 1, 2\n9,select ?\n"), [["select 1, 2"], ["select ?"]]);
}

#[test]
fn keys_about_files_need_each_other() {
    let refused = |job: &str, expected: &str| {
        let text = format!("[a]\n{job}");
        let (_, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
    };
    refused("query = a\nquery-args-delim = ';'\n", "`query-args-delim` needs a `query-args-file`");
    refused(
        "query = a\nquery-args-file = f\nquery-args-delim = ;\n",
        "`query-args-delim` has no value",
    );
    refused(
        "query = a\nquery-args-file = f\nquery-args-delim = 'ab'\n",
        "`'ab'` is not one character between quotes",
    );
    let log = "query-log-file = q\n";
    refused(&format!("{log}query = a\n"), "`query` and `query-log-file` cannot be set together");
    refused(&format!("{log}rate = 5\n"), "`rate` and `query-log-file` cannot be set together");
    refused(
        &format!("{log}queue-depth = 5\n"),
        "`query-log-file` and `queue-depth` cannot be set together",
    );
    refused(
        &format!("{log}query-args-file = a\n"),
        "`query-args-file` and `query-log-file` cannot be set together",
    );
    refused("query = ${field(1)}\n", "the job reads no records that have this field");
    refused("query = a\nmulti-query-mode = x\n", "`multi-query-mode` is multi-connection, not `x`");
}

/// `retry` is refused, because it would also repeat the statements that have succeeded.
#[test]
fn separate_statements_are_not_retried() {
    let part = "[a]\nquery = a\nquery = b\nmulti-query-mode = multi-connection\n";
    let retry = "retry = 2 on 40001\n";
    for (text, expected) in [
        (format!("{part}{retry}"), "`retry` and `multi-query-mode` cannot be set together"),
        (
            format!("[m]\nmix = a\nrate = 1\n{retry}{part}"),
            "`retry` of a mix holds for its sections, and one has a `multi-query-mode`",
        ),
    ] {
        let (_, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages, [expected], "{text}");
        let help = diagnostics[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("succeeded once more"), "{help}");
    }
    plan(&format!("{part}[b]\nquery = a\nquery = b\n{retry}"));
}

#[test]
fn sessions_need_arrivals() {
    let plan = plan("[a]\nquery = a\nquery = b\nrate = 5\nsession = yes\nthink = exp(5ms)\n");
    assert_eq!(plan.jobs[0].model(), "partly-open");
    let (_, diagnostics) =
        workload::plan("[a]\nquery = a\nsession = yes\n", &workload::Overrides::default());
    assert_eq!(diagnostics[0].message, "`session` needs a `rate`");
}

#[test]
fn separate_statements_are_neither_a_transaction_nor_a_session() {
    let separate = "[a]\nquery = a\nquery = b\nrate = 1\nmulti-query-mode = multi-connection\n";
    for key in ["transaction", "session"] {
        let text = format!("{separate}{key} = yes\n");
        let (_, diagnostics) = workload::plan(&text, &workload::Overrides::default());
        let expected = format!("`{key}` and `multi-query-mode` cannot be set together");
        assert_eq!(diagnostics[0].message, expected);
        for value in ["no", "${x}"] {
            let plan = plan(&format!("[params]\nx = no\n{separate}{key} = {value}\n"));
            assert_eq!(plan.jobs[0].requests.flow, Flow::Separately, "{key} = {value}");
        }
    }
}
