//! Experiment files: reading, printing, and the errors in them.

use std::collections::BTreeMap;

use base::Diagnostic;
use workload::question::{
    Design, Difference, Experiment, Outline, Restore, Rounds, experiment_in, is_experiment,
};
use workload::{Overrides, Pacing, keys};

use crate::render;

/// A workload with a job on which bets are made, and another job with arrivals.
pub(crate) const READ: &str = "\
url = postgres://db/shop
duration = 10s
[params]
rows = 100k
unused = 1
[setup]
query = create table t (id integer primary key)
[load t]
rows = 1k
columns = id: row()
[read]
query = select * from t where id = ${uniform(1, rows)}
concurrency = 4
[pay]
query = update t set id = id where id = ${uniform(1, rows)}
rate = 5
";

/// A workload that inserts new keys.
const INSERT: &str = "\
[add]
let = key: 1000 + sequence()
query = insert into t values (${key})
concurrency = 1
";

fn files() -> BTreeMap<String, Vec<u8>> {
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    BTreeMap::from([
        file("read.ini", READ),
        file("insert.ini", INSERT),
        file("timetable.ini", "duration = 9s\n[clean]\nquery = delete from t\nevery = 2s\n"),
        file("broken.ini", "[read]\nquery = select 1\nrate = soon\n"),
        file("sub/log.ini", "[job]\nquery-file = log.sql\nconcurrency = 2\n"),
        file("sub/log.sql", "select 7;\n"),
        ("latin.ini".to_owned(), b"[read]\nquery = select '\xe4'\n".to_vec()),
    ])
}

fn read(text: &str) -> (Option<Experiment>, Vec<Diagnostic>) {
    experiment_in(text, &Overrides::default(), &files())
}

fn experiment(text: &str) -> Experiment {
    let (experiment, found) = read(text);
    experiment.unwrap_or_else(|| panic!("{}", render(text, &found)))
}

/// Checks all diagnostics of a file, as displayed to a user.
fn check(text: &str, expected: &str) {
    let text = text.trim_start_matches('\n');
    let (experiment, found) = read(text);
    assert_eq!(render(text, &found), expected.trim_matches('\n'), "{text}");
    assert!(experiment.is_none(), "{text}");
}

/// Checks the only diagnostic of a file with two arms; the second arm has these lines.
fn check_arm(lines: &str, message: &str, help: &str) {
    let text = format!("{QUESTION}[arm a]\n[arm b]\n{lines}\n");
    let (_, found) = read(&text);
    let shown = (&*found[0].message, found[0].help.as_deref().unwrap_or_default());
    assert_eq!(shown, (message, help), "{text}");
    assert_eq!(found.len(), 1, "{}", render(&text, &found));
}

/// Checks the only diagnostic of a file with these lines in `[question]`.
fn check_question(lines: &str, message: &str, help: &str) {
    let text = format!("{QUESTION}{lines}\n[arm a]\n[arm b]\nconcurrency(read) = 8\n");
    let (_, found) = read(&text);
    let shown = (&*found[0].message, found[0].help.as_deref().unwrap_or_default());
    assert_eq!(shown, (message, help), "{text}");
    assert_eq!(found.len(), 1, "{}", render(&text, &found));
}

const QUESTION: &str = "[question]\nask = What changes?\nworkload = read.ini\n";

const TLS: &str = "\
[question]
ask      = What does TLS cost this read workload?   ; a sentence
workload = read.ini
bet      = throughput(read) -5% .. -25%
bet      = response.p95(pay) +0% .. +40%
rounds   = auto

[arm plain]
option.tls = off

[arm tls]
option.tls = require
";

#[test]
fn experiment_file_is_recognised_by_its_section() {
    assert!(is_experiment(TLS));
    assert!(is_experiment("[question]\n"));
    assert!(!is_experiment(READ));
    assert!(!is_experiment("[question]\nquery = select 1\n"));
    assert!(!is_experiment("[questions]\nquery = select 1\n"));
}

#[test]
fn arms_differ_in_the_options_of_the_url() {
    let tls = experiment(TLS);
    assert_eq!(tls.ask, "What does TLS cost this read workload?");
    assert_eq!((tls.rounds, tls.design), (Rounds::Auto, Design::Arms));
    assert_eq!(tls.restore, Restore::None);
    assert_eq!(tls.bets.len(), 2);
    let urls: Vec<String> =
        tls.arms.iter().map(|arm| arm.plan.target.as_ref().unwrap().to_string()).collect();
    assert_eq!(urls, ["postgres://db/shop?tls=off", "postgres://db/shop?tls=require"]);
}

#[test]
fn every_kind_of_difference_takes_effect() {
    let text = "[question]\nask = ?\nworkload = read.ini\ndifferences = several\n[arm a]\n\
                url = testbed:postgres\n[arm b]\nurl = testbed:postgres\nserver.fsync = off\n\
                option.tls = require\nset.rows = 10\nconcurrency(read) = 16\nbefore = analyze t\n\
                before = select ${rows}\nafter = select 'it''s'\nbefore-command = ./a ; ./b\n\
                after-command = ./c\n";
    let found = experiment(text);
    let b = &found.arms[1];
    let target = b.plan.target.as_ref().unwrap().to_string();
    assert_eq!(target, "testbed:postgres?server%2Efsync=off&tls=require".replace("%2E", "."));
    assert!(matches!(b.plan.jobs[0].pacing, Pacing::Closed { clients: 16, .. }));
    assert_eq!(b.plan.params[0].value, "10");
    assert_eq!(b.before[1].text, "select 10");
    assert_eq!(b.after[0].text, "select 'it''s'");
    assert_eq!(b.commands(true).collect::<Vec<_>>(), ["./a ; ./b"]);
    assert_eq!(b.commands(false).collect::<Vec<_>>(), ["./c"]);
    assert_eq!(b.differences[3], Difference::Param { name: "rows".into(), value: "10".into() });
    assert!(found.has_several_differences);
}

#[test]
fn printed_experiment_is_read_as_the_same() {
    let all = "[question]\nask = a 'b' \"c\"?\nworkload = sub/log.ini\nrounds = 12\n\
               restore = delete from t where id > ${2 + 3}\nrestore = vacuum t\n\
               delta = 2.5%, response.p99 10%\n\
               [arm a]\n[arm b]\nbefore = analyze\nafter = select ';'\n";
    let aa = "[question]\nask = ?\nworkload = read.ini\nrestore = reload\ndesign = aa\n[arm a]\n";
    let several = "[question]\nask = ?\nworkload = read.ini\ndifferences = several\n[arm a]\n\
                   [arm b]\nset.unused = '5'\nrate(pay) = 7\nbefore-command = echo ; true\n";
    for text in [TLS, all, aa, several] {
        let found = experiment(text);
        let printed = found.to_text();
        let again = experiment(&printed);
        assert_eq!(again, found, "{printed}");
        assert_eq!(again.to_text(), printed);
        assert_eq!(Outline::of_text(&printed), Ok(found.outline()));
    }
    let statements = experiment(all).arms.remove(0).restore;
    let texts: Vec<&str> = statements.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["delete from t where id > 5", "vacuum t"]);
}

#[test]
fn password_of_an_arm_is_not_printed() {
    let found = experiment(&format!("{QUESTION}[arm a]\n[arm b]\nurl = mysql://u:hush@h/d\n"));
    assert!(!found.to_text().contains("hush") && found.to_text().contains("mysql://u@h/d"));
    let (_, found) = read(&format!("{QUESTION}[arm a]\n[arm b]\nurl = mysqll://u:hush@h/d\n"));
    let shown = render("", &found);
    assert!(shown.contains("line 6") && !shown.contains("hush"), "{shown}");
    for line in ["url = mysql://u:hush/d", "option.password = hush", "option.passwd = 'hush'"] {
        let text = format!("{QUESTION}[arm a]\n[arm b]\n{line}\n");
        let (_, found) = read(&text);
        let shown = render(&text, &found);
        assert!(shown.contains("error: ") && !shown.contains("hush"), "{shown}");
    }
    check_arm(
        "option.password = hush",
        "a password cannot be an option, because options are shown: leave it out",
        "set ASSAY_PASSWORD, or give the arm a `url` of its own",
    );
}

#[test]
fn plan_of_a_run_has_the_seed_of_its_round() {
    let found = experiment(TLS);
    let plan = |arm: usize, seed| {
        found.plan(&found.arms[arm], seed, &Overrides::default(), &files()).unwrap()
    };
    assert_eq!(plan(0, 42), found.arms[0].plan);
    assert_eq!(plan(1, 42), found.arms[1].plan);
    assert_ne!(plan(1, 7).jobs, found.arms[1].plan.jobs);
    assert_eq!(plan(1, 7).jobs, plan(0, 7).jobs);
}

#[test]
fn workload_that_may_change_data_is_recognised() {
    let writes = |job: &str| {
        let text = format!("[job]\n{job}\nconcurrency = 2\n");
        let files = BTreeMap::from([("read.ini".to_owned(), text.into_bytes())]);
        let source = format!("{QUESTION}[arm a]\n[arm b]\nconcurrency(job) = 5\n");
        experiment_in(&source, &Overrides::default(), &files).0.unwrap().writes()
    };
    assert!(!writes("query = select 1\nquery = WITH a as (select 1) select * from a"));
    assert!(writes("query = select 1\nquery = update t set a = 1"));
    assert!(writes("query = ${raw(pick('select', 'delete'))} 1"));
    assert!(writes("query = with gone as (delete from t returning id) select id from gone"));
    assert!(writes("query = explain analyze update t set a = 1"));
    assert!(!writes("query = select 'delete' from updates"));
}

#[test]
fn unknown_metric_and_job_of_a_bet_are_reported() {
    check(
        &TLS.replace("throughput(read)", "troughput(read)"),
        r"
error: unknown metric `troughput`
 --> mail.ini:4:12
  |
4 | bet      = troughput(read) -5% .. -25%
  |            ^^^^^^^^^
  |
  = help: did you mean `throughput`?
",
    );
    check_question(
        "bet = throughput(red) -5% .. -25%",
        "the workload has no job `red`",
        "did you mean `read`?",
    );
    check_question(
        "bet = size(other) -5% .. -25%",
        "the workload has no table `other`",
        "its tables are t",
    );
    check_question(
        "bet = response.p99(read) -5% .. -100%",
        "`-100%` leaves nothing of the baseline",
        "write a change above `-100%`",
    );
    check_question(
        "bet = failed(read) +0% .. +101%",
        "`+101%` is more than all requests",
        "write points of a share, from `-100%` to `+100%`",
    );
    check_question(
        "bet = throughput -5% .. -25%",
        "`throughput` names no job, and there are several",
        "write for example `throughput(read)`",
    );
}

#[test]
fn size_that_matters_for_no_metric_is_refused() {
    check_question(
        "delta = response.p99(raed) 10%",
        "the workload has no job `raed`",
        "did you mean `read`?",
    );
    let message = "the workload has no table `other`";
    check_question("delta = size(other) 10%", message, "its tables are t");
    let help = "remove one of the two";
    check_question("delta = 2%, 3%", "`delta` has two sizes for all metrics", help);
    let message = "`delta` has two sizes for response.p99_9";
    check_question("delta = response.p99_9 3%, 2%, response.p99.9 5%", message, help);
    let delta = "delta = 2%, response.p99 10%, response.p99(read) 7%, size(t) 3%";
    experiment(&format!("{QUESTION}{delta}\n[arm a]\n[arm b]\nconcurrency(read) = 8\n"));
}

#[test]
fn misspelt_restore_word_is_not_taken_for_a_statement() {
    for (word, near) in [("relaod", "reload"), ("None", "none")] {
        let message = format!("unknown value `{word}` for `restore`");
        check_question(&format!("restore = {word}"), &message, &format!("did you mean `{near}`?"));
    }
    for statement in ["checkpoint", "reload t"] {
        let arms = "[arm a]\n[arm b]\nconcurrency(read) = 8\n";
        experiment(&format!("{QUESTION}restore = {statement}\n{arms}"));
    }
}

#[test]
fn statement_that_changes_only_its_own_session_is_refused() {
    let message = "`before` of [arm b] has no effect: the jobs have other sessions";
    let help = "change the setting for every session, such as with `alter database … set …` or \
                `set global …`, by an option of the URL, such as `option.cache-size` of SQLite, or \
                by `server.NAME` of a `testbed:` server";
    check_arm("before = set work_mem = '64MB'", message, help);
    check_arm("before = set a = 1\nbefore = SET SESSION b = ${rows}", message, help);
    check_arm("before = select set_config('work_mem', '64MB', false)", message, help);
    check_arm("before = select @rows := ${rows}", message, help);
    check_arm("before = pragma wal_autocheckpoint = 0", message, help);
    experiment(&format!(
        "{QUESTION}[arm a]\n[arm b]\nbefore = set lock_timeout = '5s'\nbefore = analyze t\n"
    ));
}

#[test]
fn statement_whose_effect_reaches_the_other_arms_is_warned_of() {
    let warnings = |question: &str, arms: &str| {
        let (experiment, found) = read(&format!("{QUESTION}{question}{arms}"));
        assert!(experiment.is_some(), "{arms}");
        found.into_iter().map(|one| one.message).collect::<Vec<String>>()
    };
    let message = "[arm b] has `before` without `after`: what it changes stays for the later runs \
                   of the other arms";
    let index = "[arm a]\n[arm b]\nbefore = create index i on t (id)\n";
    assert_eq!(warnings("", index), [message]);
    assert_eq!(warnings("", &index.replace("create index i", "set global i = 1, i")), [message]);
    assert_eq!(warnings("restore = reload\n", index), [""; 0]);
    for arms in [
        format!("{index}after = drop index i\n"),
        index.replace("create index i on t (id)", "analyze t"),
        index.replace("[arm a]", "[arm a]\nbefore = drop index i"),
    ] {
        assert_eq!(warnings("", &arms), [""; 0], "{arms}");
    }
    let elsewhere = index.replace("[arm b]", "[arm b]\nurl = postgres://other/shop");
    assert_eq!(warnings("differences = several\n", &elsewhere), [""; 0]);
    let simulated = index.replace("[arm b]", "[arm b]\nurl = sim:mm1");
    let idle = "`before` of [arm b] has no effect: a simulated server answers statements without \
                reading them";
    assert_eq!(warnings("differences = several\n", &simulated), [idle]);
}

#[test]
fn bet_on_a_table_of_a_workload_without_loads_is_refused_with_a_remedy() {
    let files = BTreeMap::from([("read.ini".to_owned(), b"[job]\nquery = select 1\n".to_vec())]);
    let read = |bet: &str| {
        let source =
            format!("{QUESTION}bet = {bet} -5% .. -25%\n[arm a]\n[arm b]\nrate(job) = 5\n");
        let (_, found) = experiment_in(&source, &Overrides::default(), &files);
        let error = found.into_iter().find(|one| one.message.contains("workload has no")).unwrap();
        (error.message, error.help.unwrap())
    };
    let help = "load one with `[load TABLE]` in the workload, or bet on a metric of a job";
    for (bet, message) in [
        ("load", "`load` needs a table, and the workload has none"),
        ("size(orders)", "the workload has no table `orders`"),
    ] {
        assert_eq!(read(bet), (message.to_owned(), help.to_owned()));
    }
}

#[test]
fn bet_on_the_throughput_of_arrivals_is_refused() {
    check_question(
        "bet = throughput(pay) -5% .. -25%",
        "the throughput of [pay] is its rate: a job with arrivals completes what the file asks for",
        "judge it by its response time, such as `response.p99(pay)`, or give the job `concurrency` \
         and no rate",
    );
}

#[test]
fn rows_per_second_of_arrivals_are_not_bet_on() {
    check_question(
        "bet = rows(pay) -5% .. -25%",
        "the rows per second of [pay] follow its rate: a job with arrivals completes what the \
         file asks for",
        "judge it by its response time, such as `response.p99(pay)`, or give the job `concurrency` \
         and no rate",
    );
}

#[test]
fn throughput_that_is_the_rate_of_one_arm_is_not_compared() {
    check_arm(
        "rate(read) = 300",
        "the throughput of [read] cannot be compared: it is the rate in [arm b], and [arm a] has \
         none",
        "compare the response time: write for example `bet = response.p99(read) -10% .. +10%`",
    );
    let bet = |metric: &str| {
        let text =
            format!("{QUESTION}bet = {metric} -5% .. +5%\n[arm a]\n[arm b]\nrate(read) = 9\n");
        let (_, found) = read(&text);
        found.into_iter().map(|one| one.message).collect::<Vec<_>>()
    };
    assert_eq!(bet("response.p99(read)"), [""; 0]);
    let message = "the throughput of [read] is its rate in [arm b]: a job with arrivals completes \
                   what the file asks for";
    assert_eq!(bet("throughput(read)"), [message]);
}

#[test]
fn option_that_an_arm_sets_twice_is_refused() {
    let text = format!(
        "{QUESTION}differences = several\n[arm a]\n[arm b]\nurl = postgres://other/shop?tls=off\n\
         option.tls = require\n"
    );
    let (_, found) = read(&text);
    let span = found[0].span.unwrap();
    let shown = (&text[span.start..span.end], found[0].message.as_str(), found.len());
    let message = "[arm b] sets `option.tls` twice: here, and in its `url`";
    assert_eq!(shown, ("option.tls = require", message, 1));
}

#[test]
fn arms_with_equal_options_in_other_words_are_the_same() {
    let workload = READ.replace("postgres://db/shop", "sim:mm1?servers=2");
    let files = BTreeMap::from([("read.ini".to_owned(), workload.into_bytes())]);
    for (first, second) in [
        ("option.service = 1ms", "option.service = 1000us"),
        ("option.servers = 2", "option.servers = 2"),
        ("url = sim:mm1?limit=1k&rows=2", "url = sim:mm1?rows=2&limit=1000"),
    ] {
        let text = format!("{QUESTION}[arm a]\n{first}\n[arm b]\n{second}\n");
        let (_, found) = experiment_in(&text, &Overrides::default(), &files);
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, ["[arm b] is the same as [arm a]"], "{text}");
    }
}

#[test]
fn arms_that_are_the_same_are_refused() {
    check(
        &TLS.replace("= require", "= off"),
        r"
error: [arm tls] is the same as [arm plain]
  --> mail.ini:11:1
   |
11 | [arm tls]
   | ^^^^^^^^^
   |
   = help: change one thing in it; to compare an arm with itself, write `design = aa`
",
    );
    let help = "change one thing in it; to compare an arm with itself, write `design = aa`";
    for lines in [
        "",
        "set.unused = 2",
        "concurrency(read) = 4",
        "set.rows = 100000",
        // A statement after the run does not change the measured runs.
        "after = drop table if exists u",
        "after-command = ./sync",
    ] {
        check_arm(lines, "[arm b] is the same as [arm a]", help);
    }
}

#[test]
fn number_of_arms_and_rounds_is_checked() {
    check(
        "[question]\nask = ?\nworkload = read.ini\nrounds = 5\n[arm a]\n",
        r"
error: an experiment compares at least two arms, and there are 1
 --> mail.ini:1:1
  |
1 | [question]
  | ^^^^^^^^^^
  |
  = help: write an `[arm NAME]` for each case; the first one is the baseline

error: 5 is too few rounds: at least 6 are needed
 --> mail.ini:4:10
  |
4 | rounds = 5
  |          ^
  |
  = help: fewer than 6 pairs cannot show a difference at 95 % confidence, however large it is
",
    );
    check_question(
        "design = aa",
        "`design = aa` compares one arm with itself, and there are 2",
        "write one `[arm NAME]`",
    );
    check_question(
        "rounds = 2000",
        "there are at most 1000 rounds",
        "a change that needs more is too small for this machine: make the runs longer",
    );
    check_question(
        "rounds = many",
        "unknown value `many` for `rounds`; expected auto or a number",
        "write for example `rounds = 12`",
    );
}

#[test]
fn arm_changes_one_thing() {
    check(
        &TLS.replace("= require", "= require\nset.rows = 5"),
        r"
error: [arm tls] changes two things: `option.tls` and `set.rows`
  --> mail.ini:13:1
   |
13 | set.rows = 5
   | ^^^^^^^^^^^^
   |
   = help: the cause of a difference would be unknown; to allow it, write `differences = several`
",
    );
    experiment(&format!("{QUESTION}[arm a]\n[arm b]\nbefore = select 1\nafter = select 2\n"));
}

#[test]
fn parts_of_the_workload_that_an_arm_names_must_exist() {
    check_arm("set.row = 5", "the workload has no parameter `row`", "did you mean `set.rows`?");
    check_arm(
        "set.x = 5",
        "the workload has no parameter `x`",
        "parameters are the lines of `[params]` in the workload file",
    );
    check_arm(
        "concurrency(raed) = 5",
        "the workload has no job `raed`",
        "did you mean `concurrency(read)`?",
    );
    check_arm("rate(x) = 5", "the workload has no job `x`", "its jobs are read and pay");
    check_arm("rat(pay) = 5", "`rat` is not a pacing key of a job", "did you mean `rate`?");
    check_arm(
        "prepare(read) = no",
        "`prepare` is not a pacing key of a job",
        "make its value a parameter of the workload, `prepare = ${prepare}`, and set it here with \
         `set.prepare`",
    );
    check_arm(
        "server.fsync = off",
        "`server.fsync` is a setting of a private server, and the target is no `testbed:`",
        "use a `testbed:` URL, or change the setting with `before-command`",
    );
    check_arm(
        "option.server.fsync = off",
        "`server.fsync` is a setting of a private server",
        "write `server.fsync`: it is changed on one server",
    );
    check_arm("optoin.tls = off", "unknown key `optoin.tls` in [arm b]", ARM_KEYS);
    check_arm(
        "rate = 5",
        "`rate` is not a key in [arm b]",
        "write `rate(JOB)`, with the name of a job",
    );
    check_arm(
        "duration = 5s",
        "`duration` is not a key in [arm b]",
        "write it into the workload, above the first section",
    );
    check_arm(
        "expect-rows = 5",
        "`expect-rows` is not a key in [arm b]",
        "write it into the workload, in a job",
    );
}

const ARM_KEYS: &str = "keys here are option.NAME, url, set.NAME, server.NAME, KEY(SECTION), \
                        before, after, before-command, after-command";

#[test]
fn wrong_values_of_an_arm_are_reported_at_its_line() {
    check(
        &TLS.replace("option.tls = require", "concurrency(read) = many"),
        r"
error: `many` is not a number
  --> mail.ini:12:1
   |
12 | concurrency(read) = many
   | ^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = help: write for example `concurrency = 16`
",
    );
    check_arm(
        "set.rows = soon",
        "in line 12 of `read.ini`: `uniform` needs numbers or durations, but `rows` is a text",
        "give the option another value, or leave it out",
    );
    check_arm(
        "before = select 1; select 2",
        "found a `;` in a statement",
        "write the second statement as a second `before`",
    );
}

#[test]
fn bet_on_a_load_needs_a_load_in_every_run() {
    let question = "[question]\nask = x\nworkload = read.ini\nbet = load(t) -5% .. -25%\n";
    let arms = "[arm a]\n[arm b]\noption.tls = off\n";
    let (_, found) = read(&format!("{question}{arms}"));
    let message = "`load(t)` is not measured: tables are loaded once for all arms";
    assert_eq!(found[0].message, message);
    assert_eq!(experiment(&format!("{question}restore = reload\n{arms}")).bets.len(), 1);
}

#[test]
fn warning_about_an_arm_is_not_an_error() {
    let text = "[question]\nask = x\nworkload = timetable.ini\n[arm a]\n[arm b]\n\
                every(clean) = 1d\n";
    let (experiment, found) = read(text);
    assert!(experiment.is_some(), "{}", render(text, &found));
    let rendered = render(text, &found);
    assert!(rendered.starts_with("warning: the first arrival is due at `24h`"), "{rendered}");
    assert!(rendered.contains("every(clean) = 1d"), "{rendered}");
}

#[test]
fn arm_that_needs_other_data_is_refused() {
    let text = READ.replace("rows = 1k", "rows = ${rows}");
    let files = BTreeMap::from([("read.ini".to_owned(), text.into_bytes())]);
    let source = format!("{QUESTION}[arm a]\n[arm b]\nset.rows = 10\n");
    let (_, found) = experiment_in(&source, &Overrides::default(), &files);
    let message = "[arm b] needs other tables than [arm a]: setup and loads run once";
    assert_eq!(found[0].message, message);
}

#[test]
fn inserts_of_the_same_keys_need_a_restore() {
    let text = "[question]\nask = ?\nworkload = insert.ini\n[arm a]\n[arm b]\n\
                concurrency(add) = 2\n";
    check(
        text,
        r"
error: [add] inserts the keys of `sequence()` or `permute()` again in every run
 --> mail.ini:3:12
  |
3 | workload = insert.ini
  |            ^^^^^^^^^^
  |
  = help: write `restore = reload`, or a statement that removes them: `restore = delete from …`
",
    );
    experiment(&text.replace("[arm a]", "restore = delete from t\n[arm a]"));
    experiment(&text.replace("[arm a]", "restore = reload\n[arm a]"));
    let part = INSERT.replace("insert into t", "with a as (insert into t");
    let part = part.replace("(${key})", "(${key}) returning id) select id from a");
    let files = BTreeMap::from([("insert.ini".to_owned(), part.into_bytes())]);
    let (_, found) = experiment_in(text, &Overrides::default(), &files);
    assert!(found[0].message.starts_with("[add] inserts the keys of `sequence()`"), "{found:?}");
}

/// If each use of a variable were followed, forty variables would take hours.
#[test]
fn variables_that_are_used_twice_are_looked_at_once() {
    let last = 40;
    let chain = (1..=last).map(|one| format!("let = v{one}: v{0} + v{0}\n", one - 1));
    for (first, is_refused) in [("uniform(1, 2)", false), ("sequence()", true)] {
        let text = format!(
            "[add]\nconcurrency = 1\nlet = v0: {first}\n{}\
             query = insert into t values (${{v{last}}})\n",
            chain.clone().collect::<String>()
        );
        let files = BTreeMap::from([("add.ini".to_owned(), text.into_bytes())]);
        let source = "[question]\nask = ?\nworkload = add.ini\n[arm a]\n[arm b]\n\
                      concurrency(add) = 2\n";
        let (_, found) = experiment_in(source, &Overrides::default(), &files);
        let starts = |one: &Diagnostic| one.message.starts_with("[add] inserts the keys of");
        assert_eq!(found.iter().any(starts), is_refused, "{first}: {found:?}");
    }
}

#[test]
fn workload_that_cannot_be_read_is_reported() {
    let file = |name: &str| format!("[question]\nask = ?\nworkload = {name}\n[arm a]\n[arm b]\n");
    check(
        &file("reed.ini"),
        r"
error: there is no file `reed.ini`
 --> mail.ini:3:12
  |
3 | workload = reed.ini
  |            ^^^^^^^^
  |
  = help: it is looked for in the folder of the experiment file
",
    );
    let (_, found) = read(&file("latin.ini"));
    assert!(found[0].message.starts_with("in `latin.ini`: the file is not a text"), "{found:?}");
    check(
        &file("broken.ini").replace("[arm b]", "[arm b]\nconcurrency(read) = 5"),
        r"
error: in line 3 of `broken.ini`: `soon` is not a number
 --> mail.ini:3:12
  |
3 | workload = broken.ini
  |            ^^^^^^^^^^
  |
  = help: write for example `rate = 3000`
",
    );
}

#[test]
fn files_of_the_workload_are_found_in_its_folder() {
    let text = "[question]\nask = ?\nworkload = sub/log.ini\n[arm a]\n[arm b]\n\
                concurrency(job) = 5\n";
    let found = experiment(text);
    let statement = &found.arms[0].plan.jobs[0].requests.statements[0];
    assert_eq!(statement.text(workload::Placeholders::Question), "select 7");
}

#[test]
fn misplaced_keys_and_sections_of_an_experiment_are_refused() {
    check(
        "duration = 5s\n[question]\nworkload = read.ini\nrestore = none\nrestore = reload\n\
         [arm a]\n[arm a]\n[arm a b]\n[read]\nquery = select 1\n[armm x]\n",
        r"
error: `duration` is not a key of an experiment file
 --> mail.ini:1:1
  |
1 | duration = 5s
  | ^^^^^^^^
  |
  = help: write it into the workload file

error: [question] has no `ask`
 --> mail.ini:2:1
  |
2 | [question]
  | ^^^^^^^^^^
  |
  = help: write for example `ask = What does TLS cost?`

error: an experiment compares at least two arms, and there are 1
 --> mail.ini:2:1
  |
2 | [question]
  | ^^^^^^^^^^
  |
  = help: write an `[arm NAME]` for each case; the first one is the baseline

error: `none` cannot be combined with other lines of `restore`
 --> mail.ini:4:11
  |
4 | restore = none
  |           ^^^^
  |
  = help: write this line or the others

error: the section [arm a] occurs twice; the first is in line 6
 --> mail.ini:7:1
  |
7 | [arm a]
  | ^^^^^^^
  |
  = help: give it another name

error: the name of an arm is one word
 --> mail.ini:8:1
  |
8 | [arm a b]
  | ^^^^^^^^^
  |
  = help: write for example `[arm tls]`

error: unknown section [read] in an experiment file
 --> mail.ini:9:1
  |
9 | [read]
  | ^^^^^^
  |
  = help: it belongs into the workload file, which `workload` names

error: unknown section [armm x] in an experiment file
  --> mail.ini:11:1
   |
11 | [armm x]
   | ^^^^^^^^
   |
   = help: did you mean `[arm NAME]`?
",
    );
}

#[test]
fn every_repetition_of_a_section_names_the_first_one() {
    let text = format!("{QUESTION}[arm a]\n[arm a]\n[arm a]\n[arm b]\nconcurrency(read) = 8\n");
    let (_, found) = read(&text);
    let messages: Vec<&str> = found.iter().map(|diagnostic| &*diagnostic.message).collect();
    assert_eq!(messages, ["the section [arm a] occurs twice; the first is in line 4"; 2]);
}

#[test]
fn question_without_a_workload_is_refused() {
    check(
        "[question]\nask = ?\n[arm a]\n[arm b]\nset.x = 5\n",
        r"
error: [question] has no `workload`
 --> mail.ini:1:1
  |
1 | [question]
  | ^^^^^^^^^^
  |
  = help: write for example `workload = read.ini`, or the sections of the workload into this file
",
    );
}

#[test]
fn unknown_words_of_a_question_suggest_the_nearest() {
    check_question(
        "design = ab",
        "unknown value `ab` for `design`; expected arms or aa",
        "did you mean `aa`?",
    );
    check_question("bets = x", "unknown key `bets` in [question]", "did you mean `bet`?");
    check_question(
        "ask = again",
        "`ask` is repeated in [question]; the first is in line 2",
        "remove one of the two",
    );
    check_question(
        "delta = 2",
        "`2` is not a percentage",
        "write for example `delta = 2%` or `delta = response.p99 10%`",
    );
    check_question("delta =", "`delta` has no value", "write for example `delta = 2%`");
    check_question(
        "option.tls = off",
        "`option.tls` is not a key in [question]",
        "it belongs in an `[arm NAME]` section of an experiment file",
    );
}

#[test]
fn examples_of_experiment_keys_in_the_table_are_accepted() {
    for key in keys::ALL {
        let text = match key.place.owner() {
            keys::SectionKind::Question => {
                let base = "ask = ?\nworkload = read.ini\n";
                let own = format!("{} ", key.name);
                let rest: Vec<&str> = base.lines().filter(|line| !line.starts_with(&own)).collect();
                let arms = if key.name == "design" { "" } else { "[arm b]\nset.batch = 1\n" };
                format!("[question]\n{}\n{}\n[arm a]\n{arms}", rest.join("\n"), key.example)
            }
            keys::SectionKind::Arm => {
                let before = match key.name {
                    "after" => "before = select 1\n",
                    "after-command" => "before-command = true\n",
                    _ => "",
                };
                format!(
                    "[question]\nask = ?\nworkload = read.ini\n[arm a]\n[arm b]\n{before}{}\n",
                    key.example
                )
            }
            keys::SectionKind::Capacity => {
                let lines = ["slo = p99(read) < 1s", "vary = rate(read)"];
                let other = |line: &&&str| !line.starts_with(&format!("{} ", key.name));
                let lines: Vec<&str> = lines.iter().filter(other).copied().collect();
                let search = format!("{}\n{}", lines.join("\n"), key.example);
                format!("[question]\nask = ?\nworkload = read.ini\n[capacity]\n{search}\n")
            }
            keys::SectionKind::Sweep => {
                let vary = if key.name == "vary" { "" } else { "vary = set.batch: 1, 2\n" };
                format!(
                    "[question]\nask = ?\nworkload = read.ini\n[sweep]\n{vary}{}\n",
                    key.example
                )
            }
            _ => continue,
        };
        let url =
            if key.name.starts_with("server.") { "testbed:postgres" } else { "postgres://h/d" };
        let workload = format!(
            "url = {url}\n[params]\nbatch = 5\n[read]\nquery = select ${{batch}}\nconcurrency = 2\n"
        );
        let files = BTreeMap::from([("read.ini".to_owned(), workload.into_bytes())]);
        let (found, diagnostics) = experiment_in(&text, &Overrides::default(), &files);
        assert!(found.is_some(), "{}", render(&text, &diagnostics));
    }
}

#[test]
fn names_of_many_jobs_are_not_all_listed() {
    let jobs = (0..500).map(|number| format!("[j{number}]\nquery = select 1\nrate = 5\n"));
    let files = BTreeMap::from([("jobs.ini".to_owned(), jobs.collect::<String>().into_bytes())]);
    let text = "[question]\nask = ?\nworkload = jobs.ini\n[arm a]\n[arm b]\nrate(unknown) = 8\n";
    let (_, found) = experiment_in(text, &Overrides::default(), &files);
    let help = "its jobs are j0, j1, j2, j3, j4, j5, j6, j7, j8, j9 and 490 more";
    assert_eq!(found[0].help.as_deref(), Some(help));
}

#[test]
fn workload_with_more_warnings_than_are_shown_is_accepted() {
    let unused = (0..150).map(|number| format!("[target t{number}]\nurl = sim:mm1\n"));
    let files = BTreeMap::from([(
        "read.ini".to_owned(),
        format!("{READ}{}", unused.collect::<String>()).into_bytes(),
    )]);
    let text = format!("{QUESTION}[arm a]\n[arm b]\nconcurrency(read) = 8\n");
    let (experiment, found) = experiment_in(&text, &Overrides::default(), &files);
    assert!(experiment.is_some(), "{}", render(&text, &found));
    assert!(found.iter().any(|found| found.message.contains("not shown")));
}

#[test]
fn workload_files_have_no_parts_of_experiments() {
    let text = "[arm a]\noption.tls = off\n[read]\nquery = select 1\n";
    let (plan, found) = workload::plan(text, &Overrides::default());
    assert_eq!(plan, None);
    assert_eq!(found[0].message, "the section [arm a] belongs to an experiment file");
    assert_eq!(found.len(), 1);
}

#[test]
fn arms_with_settings_have_servers_that_can_be_restarted() {
    let text = "[question]\nask = ?\nworkload = read.ini\ndifferences = several\n\
                [arm a]\nurl = testbed:postgres\n[arm b]\nurl = testbed:postgres\n\
                server.fsync = off\n[arm c]\nurl = postgres://h/d\n";
    let (_, found) = read(text);
    let shown = render(text, &found);
    assert!(shown.contains("[arm c] uses a server that is not restarted"), "{shown}");
    assert!(read(&text.replace("postgres://h/d", "testbed:mariadb")).0.is_some());
}
