//! Sweeps in experiment files: reading, printing, and the errors in them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use base::{Diagnostic, Endpoint};
use workload::question::{Arm, Experiment, Outline, Vary, experiment_in};
use workload::{Folder, Overrides, Pacing};

use crate::experiments::READ;
use crate::render;

const QUESTION: &str = "[question]\nask = How many clients?\nworkload = read.ini\n";

fn read_with(workload: &str, text: &str) -> (Option<Experiment>, Vec<Diagnostic>) {
    let files = BTreeMap::from([("read.ini".to_owned(), workload.as_bytes().to_vec())]);
    experiment_in(text, &Overrides::default(), &files)
}

fn sweep(lines: &str) -> Experiment {
    let text = format!("{QUESTION}{lines}");
    let (experiment, found) = read_with(READ, &text);
    experiment.unwrap_or_else(|| panic!("{}", render(&text, &found)))
}

/// Returns, for each arm at a point, the names of the arm and the point, and the number of clients
/// of [read].
fn arm_points(experiment: &Experiment) -> Vec<(&str, &str, u32)> {
    fn arm_point(arm_point: &Arm) -> (&str, &str, u32) {
        let Pacing::Closed { clients, .. } = arm_point.plan.jobs[0].pacing else {
            panic!("{arm_point}")
        };
        (&arm_point.name, arm_point.point.as_deref().unwrap_or_default(), clients)
    }
    experiment.arm_points().iter().map(arm_point).collect()
}

#[test]
fn sweep_without_arms_runs_the_workload_at_each_point() {
    let found = sweep("[sweep]\nvary = concurrency(read): 1..4 x2\n");
    let expected = [("workload", "1", 1), ("workload", "2", 2), ("workload", "4", 4)];
    assert_eq!(arm_points(&found), expected);
    let sweep = found.sweep.as_ref().unwrap();
    assert_eq!((sweep.repeats, sweep.best.as_ref()), (3, None));
    assert_eq!(sweep.vary.to_string(), "concurrency(read)");
    assert!(found.file_arms().is_empty());
    let shown: Vec<String> = found.arm_points().iter().map(ToString::to_string).collect();
    assert_eq!(shown[2], "concurrency(read) = 4");
}

/// The files of a workload, with the number of times that the CSV file was read.
struct Counted(Cell<u32>);

impl Folder for Counted {
    fn read(&self, name: &str, _: u64) -> io::Result<Vec<u8>> {
        if name == "read.ini" {
            return Ok(READ.replace("uniform(1, rows)", "csv('ids.csv', 1)").into_bytes());
        }
        self.0.set(self.0.get() + 1);
        Ok(b"7\n8\n".to_vec())
    }
}

#[test]
fn csv_file_is_read_once_for_all_points() {
    let files = Counted(Cell::new(0));
    let text = format!("{QUESTION}[sweep]\nvary = concurrency(read): 1..4 x2\n");
    let (experiment, found) = experiment_in(&text, &Overrides::default(), &files);
    let experiment = experiment.unwrap_or_else(|| panic!("{}", render(&text, &found)));
    assert_eq!((experiment.arm_points().len(), files.0.get()), (3, 1));
}

#[test]
fn sweep_with_arms_is_a_grid() {
    let lines = "[arm a]\n[arm b]\nrate(pay) = 7\n[sweep]\nvary = queue-depth(read): 8, 1\n";
    let found = sweep(lines);
    assert_eq!(arm_points(&found), [("a", "8", 8), ("a", "1", 1), ("b", "8", 8), ("b", "1", 1)]);
    assert_eq!(found.arm_points()[3].to_string(), "b at queue-depth(read) = 1");
    assert_eq!(found.arms.len(), 2);
    assert!(found.arms.iter().all(|arm| arm.point.is_none()));
}

#[test]
fn printed_sweep_is_the_same_sweep() {
    for lines in [
        "[sweep]\nvary = concurrency(read): 1..8 x2\nbest = lowest response.p99(read)\n",
        "[sweep]\nvary = rate(pay): 10/s..30/s +10\nrepeats = 5\nbest = highest throughput(read)\n",
        "[arm a]\n[arm b]\nrate(pay) = 7\n[sweep]\nvary = think(read): 0, 1ms..4ms x2\n",
    ] {
        let found = sweep(lines);
        let text = found.to_text();
        let (again, diagnostics) = read_with(READ, &text);
        let again = again.unwrap_or_else(|| panic!("{text}\n{}", render(&text, &diagnostics)));
        assert_eq!(again, found, "{text}");
        assert_eq!(Outline::of_text(&text), Ok(found.outline()), "{text}");
    }
}

#[test]
fn everything_that_an_arm_sets_can_be_varied() {
    let check = |vary: &str, expected: Vary| {
        let text = format!("{QUESTION}[sweep]\nvary = {vary}\n");
        let workload = READ.replace("postgres://db/shop", "testbed:postgres");
        let (found, diagnostics) = read_with(&workload, &text);
        let found = found.unwrap_or_else(|| panic!("{}", render(&text, &diagnostics)));
        assert_eq!(found.sweep.unwrap().vary, expected);
    };
    let name = |name: &str| name.to_owned();
    check("rate(pay): 5, 10", Vary::Key { section: name("pay"), key: name("rate") });
    check("set.rows: 10k, 20k", Vary::Param(name("rows")));
    check("option.tls: off, require", Vary::Option(name("tls")));
    check("server.fsync: on, off", Vary::Server(name("fsync")));
}

#[test]
fn nodes_are_the_first_hosts_of_the_url() {
    let workload = READ.replace("//db/", "//db1,db2:5433,db3/");
    let text = format!("{QUESTION}[sweep]\nvary = nodes: 1..3 +1\n");
    let (found, diagnostics) = read_with(&workload, &text);
    let found = found.unwrap_or_else(|| panic!("{}", render(&text, &diagnostics)));
    let hosts = |target: &base::Target| match &target.endpoint {
        Endpoint::Network { addresses, .. } => {
            addresses.iter().map(|one| one.host.clone()).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    };
    let all =
        found.arm_points().iter().map(|arm_point| hosts(arm_point.plan.target.as_ref().unwrap()));
    assert_eq!(all.collect::<Vec<_>>(), ["db1", "db1 db2", "db1 db2 db3"]);
}

/// A job is named by the text between the first `(` and the last `)`, because a name may contain
/// parentheses. Blanks around the name and the number of blanks between its words do not matter.
#[test]
fn job_has_one_name_in_every_section() {
    for (header, mention) in [
        ("a:b", "a:b"),
        ("a (b), c: d", " a (b), c: d "),
        ("two   words", "two words"),
        ("two words", "two   words "),
    ] {
        let workload = format!(
            "url = postgres://db/shop\nduration = 10s\n[{header}]\nquery = select 1\n\
             concurrency = 2\n"
        );
        let name = header.split_whitespace().collect::<Vec<_>>().join(" ");
        for (lines, printed) in [
            (
                "[sweep]\nvary = concurrency(JOB): 1, 3\nbest = lowest response.p99(JOB)\n",
                ["vary = concurrency(JOB): 1, 3\n", "best = lowest response.p99(JOB)\n"],
            ),
            (
                "bet = throughput(JOB) -5% .. -25%\ndelta = failed(JOB) 1%\n[arm a]\n[arm b]\n\
                 concurrency(JOB) = 3\n",
                ["bet = throughput(JOB) -5% .. -25%\n", "concurrency(JOB) = 3\n"],
            ),
            (
                "[arm a]\n[arm b]\noption.tls = require\n[saturate]\nvary = concurrency(JOB)\n\
                 until = throughput gains < 2%\n",
                ["[saturate]\nvary = concurrency(JOB)\n", "option.tls"],
            ),
            (
                "[capacity]\nslo = p99(JOB) < 30ms, failed(JOB) < 1%\nvary = concurrency(JOB)\n",
                ["slo = p99(JOB) < 30ms\n", "vary = concurrency(JOB)\n"],
            ),
        ] {
            let text = format!("{QUESTION}{}", lines.replace("JOB", mention));
            let (found, diagnostics) = read_with(&workload, &text);
            let found = found.unwrap_or_else(|| panic!("{}", render(&text, &diagnostics)));
            let again = found.to_text();
            for line in printed.map(|line| line.replace("JOB", &name)) {
                assert!(again.contains(&line), "{line}: {again}");
            }
            assert_eq!(read_with(&workload, &again).0.as_ref(), Some(&found), "{again}");
            assert_eq!(found.arms[0].plan.jobs[0].name(), name);
        }
    }
}

/// Checks the only diagnostic of a file: the marked text, the message and the help.
fn refused(lines: &str, place: &str, message: &str, help: &str) {
    let text = format!("{QUESTION}{lines}");
    let (experiment, found) = read_with(READ, &text);
    assert!(experiment.is_none(), "{text}");
    let one = found.first().unwrap_or_else(|| panic!("{text}"));
    let span = one.span.unwrap_or_default();
    let shown =
        (&text[span.start..span.end], &*one.message, one.help.as_deref().unwrap_or_default());
    assert_eq!(shown, (place, message, help), "{}", render(&text, &found));
    assert_eq!(found.len(), 1, "{}", render(&text, &found));
}

fn refused_vary(vary: &str, place: &str, message: &str, help: &str) {
    refused(&format!("[sweep]\nvary = {vary}\n"), place, message, help);
}

#[test]
fn unknown_name_in_vary_suggests_the_nearest() {
    refused_vary(
        "concurency(read): 1, 2",
        "concurency",
        "`concurency` is not a pacing key of a job",
        "did you mean `concurrency`?",
    );
    refused_vary(
        "concurrency(raed): 1, 2",
        "raed",
        "the workload has no job `raed`",
        "did you mean `concurrency(read)`?",
    );
    refused_vary(
        "set.row: 1, 2",
        "row",
        "the workload has no parameter `row`",
        "did you mean `set.rows`?",
    );
    refused_vary(
        "rows: 1, 2",
        "rows",
        "`rows` cannot be varied",
        "did you mean the parameter `set.rows`?",
    );
    refused_vary(
        "concurrency: 1, 2",
        "concurrency",
        "`concurrency` cannot be varied",
        "did you mean `concurrency(read)`?",
    );
    refused_vary("node: 1, 2", "node", "`node` cannot be varied", "did you mean `nodes`?");
    refused_vary(
        "nodes: 1, 2",
        "2",
        "2 nodes are asked for, and the URL has one host",
        "name the hosts in the URL, `postgres://db1,db2,db3/shop`: `nodes` takes the first ones",
    );
}

#[test]
fn range_that_is_not_a_sweep_is_refused() {
    refused_vary(
        "concurrency(read): 8..1 x2",
        "8..1 x2",
        "the range `8..1 x2` descends",
        "write the lower end first; the order of runs is drawn",
    );
    refused_vary(
        "concurrency(read): 8",
        "8",
        "a sweep needs at least two values",
        "write for example `1, 2, 4` or `1..128 x2`",
    );
    refused_vary(
        "concurrency(read): 1000, 1k",
        "1k",
        "`1000` and `1k` mean the same for `concurrency(read)`",
        "remove one of the two",
    );
    refused_vary("concurrency(read): 1, 2, 1", "1", "`1` is given twice", "remove one of the two");
    refused_vary(
        "concurrency(read): 1..1000000 +1",
        "1..1000000 +1",
        "a sweep of 1,000,000 points is too large: at most 1,000",
        "it would make 3,000,000 runs and take 347 days; take larger steps",
    );
    refused(
        "[arm a]\n[arm b]\nrate(pay) = 7\n[sweep]\nvary = set.rows: 1..5000 +1\nrepeats = 1\n",
        "1..5000 +1",
        "a sweep of 10,000 points is too large: at most 1,000",
        "it would make 10,000 runs and take 27 hours; take larger steps",
    );
}

#[test]
fn values_of_options_that_mean_the_same_are_refused() {
    let check = |url: &str, vary: &str, message: &str| {
        let workload = READ.replace("postgres://db/shop", url);
        let text = format!("{QUESTION}[sweep]\nvary = {vary}\n");
        let (_, found) = read_with(&workload, &text);
        let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, [message], "{text}");
    };
    let same = |values: &str| format!("{values} mean the same for `option.");
    let service = "option.service: 1ms, 1000us";
    check("sim:mm1", service, &format!("{}service`", same("`1ms` and `1000us`")));
    let noise = "option.noise: 0.1, 0.10";
    check("sim:mm1?servers=2", noise, &format!("{}noise`", same("`0.1` and `0.10`")));
    let cache = "option.cache-size: -2000, -2k";
    check("sqlite:", cache, &format!("{}cache-size`", same("`-2000` and `-2k`")));
    let workload = READ
        .replace("postgres://db/shop", "sim:mm1?service=${service}")
        .replace("unused = 1", "service = 1ms");
    let text = format!("{QUESTION}[sweep]\nvary = set.service: 1s, 1000ms\n");
    let (_, found) = read_with(&workload, &text);
    assert_eq!(found[0].message, "`1s` and `1000ms` mean the same for `set.service`");
    // Only a server knows the meaning of its settings.
    let text = format!("{QUESTION}[sweep]\nvary = server.work_mem: 1024kB, 1MB\n");
    let workload = READ.replace("postgres://db/shop", "testbed:postgres");
    let (found, diagnostics) = read_with(&workload, &text);
    assert!(found.is_some(), "{}", render(&text, &diagnostics));
}

/// Checks the only diagnostic of a sweep with two arms; the second arm has a URL.
#[track_caller]
fn refused_url(url: &str, vary: &str, message: &str) {
    let lines = format!("[arm a]\n[arm b]\nurl = {url}\n[sweep]\nvary = {vary}\n");
    let text = format!("{QUESTION}{lines}");
    let workload = READ.replace("postgres://db/", "postgres://db1,db2/");
    let workload = match url.starts_with("testbed:") {
        true => workload.replace("postgres://db1,db2/shop", "testbed:postgres"),
        false => workload,
    };
    let (_, found) = read_with(&workload, &text);
    let place = |one: &Diagnostic| one.span.map_or("", |span| &text[span.start..span.end]);
    let shown: Vec<(&str, &str)> = found.iter().map(|one| (place(one), &*one.message)).collect();
    assert_eq!(shown, [("[arm b]", message)], "{}", render(&text, &found));
}

#[test]
fn arm_whose_url_sets_the_varied_option_is_refused() {
    refused_url(
        "sim:mm1?service=2ms",
        "option.service: 1ms, 2ms",
        "[arm b] sets `option.service` in its `url`, which [sweep] varies",
    );
    for setting in ["work_mem", "work-mem"] {
        refused_url(
            &format!("testbed:postgres?server.{setting}=1MB"),
            "server.work_mem: 1MB, 2MB",
            "[arm b] sets `server.work_mem` in its `url`, which [sweep] varies",
        );
    }
}

#[test]
fn arms_that_differ_in_nothing_but_the_varied_thing_are_refused() {
    refused_url(
        "postgres://db1,db2,db3/shop",
        "nodes: 1, 2",
        "[arm b] is the same as [arm a] at every point of [sweep]",
    );
    let workload = READ.replace("concurrency = 4", "concurrency = ${unused}");
    let arms = "[arm a]\n[arm b]\nset.unused = 8\n";
    let text = format!("{QUESTION}{arms}[sweep]\nvary = concurrency(read): 1, 2\n");
    let (_, found) = read_with(&workload, &text);
    let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["[arm b] is the same as [arm a] at every point of [sweep]"]);
}

#[test]
fn throughput_of_a_varied_rate_is_not_the_best() {
    refused(
        "[sweep]\nvary = rate(read): 5, 10\nbest = highest throughput(read)\n",
        "highest throughput(read)",
        "the throughput of [read] is its rate: a job with arrivals completes what the file asks \
         for",
        "judge it by its response time, such as `response.p99(read)`, or give the job \
         `concurrency` and no rate",
    );
}

/// The error of the workload's check is shown at the value that causes it.
#[test]
fn value_that_the_key_does_not_take_is_marked() {
    let text = format!("{QUESTION}[sweep]\nvary = concurrency(read): 1, many\n");
    let (_, found) = read_with(READ, &text);
    let shown = render(&text, &found);
    assert!(shown.contains("mail.ini:5:30"), "{shown}");
    assert_eq!(found.len(), 1, "{shown}");
}

#[test]
fn points_cannot_change_the_tables() {
    let workload = READ.replace("rows = 1k", "rows = ${rows}");
    let text = format!("{QUESTION}[sweep]\nvary = set.rows: 1k, 2k\n");
    let (_, found) = read_with(&workload, &text);
    assert_eq!(found[0].message, "`set.rows` changes the tables: setup and loads run once");
    assert_eq!(found.len(), 1, "{}", render(&text, &found));
}

#[test]
fn best_is_a_metric_that_the_workload_has() {
    let check = |best: &str, place: &str, message: &str, help: &str| {
        let lines = format!("[sweep]\nvary = concurrency(read): 1, 2\nbest = {best}\n");
        refused(&lines, place, message, help);
    };
    check(
        "lowest response.p98(read)",
        "response.p98",
        "unknown metric `response.p98`",
        "did you mean `response.p90`?",
    );
    check(
        "lowest response.p99(raed)",
        "lowest response.p99(raed)",
        "the workload has no job `raed`",
        "did you mean `read`?",
    );
    check(
        "largest throughput(read)",
        "largest",
        "`largest` is neither lowest nor highest",
        "write for example `best = lowest response.p99(read)`",
    );
    check(
        "lowest throughput(read)",
        "lowest",
        "the lowest throughput(read) is the worst",
        "write `highest throughput(read)`",
    );
    check(
        "highest throughput(pay)",
        "highest throughput(pay)",
        "the throughput of [pay] is its rate: a job with arrivals completes what the file asks for",
        "judge it by its response time, such as `response.p99(pay)`, or give the job `concurrency` \
         and no rate",
    );
}

#[test]
fn keys_that_contradict_a_sweep_are_refused() {
    let vary = "[sweep]\nvary = concurrency(read): 1, 2\n";
    refused(
        &format!("bet = throughput(read) +1% .. +9%\n{vary}"),
        "throughput(read) +1% .. +9%",
        "a bet compares arms, and the sweep has none",
        "write an `[arm NAME]` for each case; for the best point, write `best` in [sweep]",
    );
    refused(
        &format!("rounds = 8\n{vary}"),
        "8",
        "`rounds` cannot be combined with [sweep]",
        "remove it: `repeats` in [sweep] is the number of runs at each point",
    );
    refused(
        &format!("design = aa\n[arm a]\n{vary}"),
        "aa",
        "`design = aa` compares an arm with itself, without [sweep]",
        "write an experiment of its own for `design = aa`",
    );
    refused(
        &format!("[arm a]\n{vary}"),
        "[question]",
        "expected no arm or at least two, found one",
        "write its lines into the workload file: a sweep needs no arm",
    );
    // A key is the same under its other name.
    refused(
        &format!("[arm a]\n[arm b]\nqueue-depth(read) = 8\n{vary}"),
        "[arm b]",
        "[arm b] sets `queue-depth(read)`, which [sweep] varies",
        "remove it there, or vary another key",
    );
    refused(
        "[sweep]\nrepeats = 3\n",
        "[sweep]",
        "[sweep] has no `vary`",
        "write for example `vary = concurrency(read): 1..128 x2`",
    );
    refused(
        &format!("{vary}repeats = 0\n"),
        "0",
        "a sweep without repeats has no runs",
        "write for example `repeats = 3`",
    );
}
