//! The section `[saturate]` of experiment files.

use std::collections::BTreeMap;

use base::Diagnostic;
use workload::question::{
    CpuOwner, Experiment, Outline, SaturateQuestion, Saturated, VariedLoad, experiment_in,
};
use workload::{Overrides, Pacing, Schedule};

use crate::experiments::READ;
use crate::render;

const COMPARISON: &str = "\
[question]
ask = What does TLS cost?
workload = read.ini
[arm plain]
option.tls = off
[arm tls]
option.tls = require
[saturate]
vary = concurrency(read)
values = 1..8 x2
until = cpu(database) >= 95%
";

fn read(text: &str) -> (Option<Experiment>, Vec<Diagnostic>) {
    let files = BTreeMap::from([("read.ini".to_owned(), READ.as_bytes().to_vec())]);
    experiment_in(text, &Overrides::default(), &files)
}

#[track_caller]
fn experiment(text: &str) -> Experiment {
    let (experiment, found) = read(text);
    experiment.unwrap_or_else(|| panic!("{}", render(text, &found)))
}

#[track_caller]
fn search(text: &str) -> SaturateQuestion {
    experiment(text).saturate.expect("it is a search")
}

/// Checks the only diagnostic of the comparison with one line replaced.
#[track_caller]
fn check(line: &str, instead: &str, message: &str, help: &str) {
    assert!(COMPARISON.contains(line), "{line}");
    let text = COMPARISON.replace(line, instead);
    let (experiment, found) = read(&text);
    assert!(experiment.is_none(), "{text}");
    let shown = (&*found[0].message, found[0].help.as_deref().unwrap_or_default());
    assert_eq!(shown, (message, help), "{text}");
    assert_eq!(found.len(), 1, "{}", render(&text, &found));
}

#[test]
fn keys_of_a_search_for_saturation_are_read() {
    let found = search(COMPARISON);
    assert_eq!(found.vary, VariedLoad::Concurrency { job: "read".to_owned() });
    assert_eq!(found.values, [1.0, 2.0, 4.0, 8.0]);
    assert_eq!(found.until, Saturated::Cpu { owner: CpuOwner::Database, least: 0.95 });
    let text = COMPARISON
        .replace("concurrency(read)", "rate(pay)")
        .replace("1..8 x2", "500/s, 1.5k")
        .replace("cpu(database) >= 95%", "throughput  gains <0.5%");
    let found = search(&text);
    assert_eq!(found.vary, VariedLoad::Rate { job: "pay".to_owned() });
    assert_eq!(
        (found.values, found.until),
        (vec![500.0, 1500.0], Saturated::Gain { least: 0.005 })
    );
}

#[test]
fn load_doubles_unless_the_file_names_values() {
    let text = COMPARISON.replace("values = 1..8 x2\n", "");
    let found = search(&text);
    assert_eq!((found.values.len(), found.values.last()), (10, Some(&512.0)));
    let own = format!("max-connections = 40\n{READ}");
    let files = BTreeMap::from([("read.ini".to_owned(), own.into_bytes())]);
    let (few, _) = experiment_in(&text, &Overrides::default(), &files);
    assert_eq!(few.unwrap().saturate.unwrap().values, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    let rates = search(&text.replace("concurrency(read)", "rate(read)")).values;
    assert_eq!((rates[0], rates[1], rates.last()), (100.0, 200.0, Some(&102_400.0)));
}

/// The load is not a declared difference between the arms: it is added to the differences of an arm
/// for a run, and so to the plan of this run.
#[test]
fn arm_with_a_load_has_its_plan() {
    let found = experiment(COMPARISON);
    assert!(found.arms.iter().all(|arm| arm.differences.len() == 1));
    let load = &found.saturate.as_ref().unwrap().vary;
    let files = BTreeMap::from([("read.ini".to_owned(), READ.as_bytes().to_vec())]);
    let plan = |arm| found.plan(arm, 7, &Overrides::default(), &files).unwrap();
    let clients = |plan: &workload::Plan| match plan.jobs[0].pacing {
        Pacing::Closed { clients, .. } => clients,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(clients(&plan(&found.arms[1])), 4);
    let tls = found.arms[1].with_load(load, 8.0);
    let loaded = plan(&tls);
    assert_eq!(clients(&loaded), 8);
    assert_eq!(loaded.target.unwrap().option("tls"), Some("require"));
    let rate = VariedLoad::Rate { job: "pay".to_owned() };
    let plain = found.arms[0].with_load(&rate, 750.5);
    let plan = plan(&plain);
    let pay = plan.jobs.iter().find(|job| job.name() == "pay").unwrap();
    let Pacing::Open { schedule: Schedule::Poisson(rate), .. } = &pay.pacing else {
        panic!("{:?}", pay.pacing);
    };
    assert_eq!(rate.as_f64(), 750.5);
}

#[test]
fn printed_search_for_saturation_is_read_as_the_same() {
    let gains = COMPARISON.replace("cpu(database) >= 95%", "throughput gains < 2.5%");
    for text in [COMPARISON, &gains] {
        let found = experiment(text);
        let printed = found.to_text();
        assert!(printed.contains("[saturate]\nvary = concurrency(read)\nvalues = 1, 2, 4, 8\n"));
        assert_eq!(experiment(&printed).to_text(), printed);
        assert_eq!(experiment(&printed).saturate, found.saturate);
        assert_eq!(Outline::of_text(&printed), Ok(found.outline()));
    }
}

#[test]
fn mistakes_of_a_search_for_saturation_are_named_with_a_remedy() {
    const RANGE: &str = "write for example `values = 1..128 x2`";
    const UNTIL: &str = "write for example `until = cpu(database) >= 95%` or `until = throughput \
                         gains < 2%`";
    const VALUES: &str = "values = 1..8 x2";
    const BUSY: &str = "cpu(database) >= 95%";
    check(
        "vary = concurrency(read)\n",
        "",
        "[saturate] has no `vary`",
        "write for example `vary = concurrency(read)`",
    );
    check(
        "until = cpu(database) >= 95%\n",
        "",
        "[saturate] has no `until`",
        "write for example `until = cpu(database) >= 95%`",
    );
    check(
        "concurrency(read)",
        "concurrency(red)",
        "the workload has no job `red`",
        "did you mean `concurrency(read)`?",
    );
    check(
        "concurrency(read)",
        "think(read)",
        "unknown value `think(read)` for `vary`; expected rate(JOB) or concurrency(JOB)",
        "write for example `vary = rate(read)`",
    );
    check(
        "concurrency(read)",
        "concurrency(pay)",
        "[pay] has arrivals: more workers do not raise its load",
        "write `vary = rate(pay)`",
    );
    check(VALUES, "values = 0..8 +2", "`0` is not above 0", RANGE);
    check(VALUES, "values = 1, 1.5", "`1.5` is not a whole number of clients", RANGE);
    check(VALUES, "values = 1ms, 2ms", "`1ms` is not a number", RANGE);
    check(
        VALUES,
        "values = 8, 4",
        "4 does not exceed the value before it, 8",
        "write the smallest value first: the load grows until the condition holds",
    );
    check(
        VALUES,
        "values = 8",
        "a search for saturation needs at least two values",
        "write for example `1, 2, 4` or `1..128 x2`",
    );
    check(
        VALUES,
        "values = 1, 2000",
        "2000 clients are more than `max-connections` = 1000",
        "write `max-connections = 2000` into the workload file",
    );
    check(BUSY, "cpu(database) > 95%", UNKNOWN, UNTIL);
    check(
        BUSY,
        "cpu(databse) >= 95%",
        "unknown component `databse` of cpu(); expected database, proxy or generator",
        "did you mean `cpu(database)`?",
    );
    check(BUSY, "cpu(database) >= 95", "`cpu(database) >= 95` is not a percentage", UNTIL);
    check(BUSY, "cpu(database) >= 120%", "`120%` is not above 0 % and at most 100 %", UNTIL);
    check(BUSY, "throughput gains < 0%", "`0%` is not above 0 % and at most 100 %", UNTIL);
    check("values =", "valeus =", "unknown key `valeus` in [saturate]", "did you mean `values`?");
}

const UNKNOWN: &str = "unknown value `cpu(database) > 95%` for `until`; expected cpu(OWNER) >= N% \
                       or throughput gains < N%";

/// An arm that changes only the load, which the search sets, is refused as equal to the baseline.
#[test]
fn arms_that_are_the_same_at_the_load_are_refused() {
    let workload = READ.replace("concurrency = 4", "concurrency = ${unused}");
    let files = BTreeMap::from([("read.ini".to_owned(), workload.into_bytes())]);
    let text = COMPARISON.replace("option.tls = off\n", "");
    let text = text.replace("option.tls = require", "set.unused = 8");
    let (experiment, found) = experiment_in(&text, &Overrides::default(), &files);
    assert!(experiment.is_none());
    let messages: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, ["[arm tls] is the same as [arm plain] at the load of [saturate]"]);
}

#[test]
fn parts_that_do_not_fit_to_a_search_for_saturation_are_refused() {
    check(
        "option.tls = require",
        "concurrency(read) = 9",
        "[arm tls] sets `concurrency(read)`, which [saturate] varies",
        "remove it there, or vary another key",
    );
    check(
        "option.tls = require",
        "rate(read) = 9",
        "[read] has arrivals: more workers do not raise its load",
        "write `vary = rate(read)`",
    );
    check(
        "[saturate]",
        "[sweep]\nvary = concurrency(read): 1, 2\n[saturate]",
        "[sweep] cannot be combined with [saturate]",
        "write an experiment file for each question and each case",
    );
    check(
        "[arm tls]\noption.tls = require\n",
        "",
        "[saturate] finds a load for comparing at least two arms; found 1",
        "write an `[arm NAME]` for each case; to find the load of one workload, write [sweep] or \
         [capacity] instead",
    );
    check(
        "[arm plain]\noption.tls = off\n[arm tls]",
        "design = aa\n[arm tls]",
        "`design = aa` compares an arm with itself, without [saturate]",
        "write an experiment of its own for `design = aa`",
    );
    let text = "[question]\nask = ?\n[capacity]\nslo = p99(read) < 1s\nvary = rate(read)\n\
                [saturate]\nvary = rate(read)\nuntil = throughput gains < 2%\n[read]\n\
                query = select 1\n";
    let (_, found) = read(text);
    assert_eq!(
        found[0].message,
        "[saturate] cannot be combined with [capacity]",
        "{}",
        render(text, &found)
    );
}

#[test]
fn search_without_arms_is_refused() {
    let text =
        COMPARISON.replace("[arm plain]\noption.tls = off\n[arm tls]\noption.tls = require\n", "");
    let (_, found) = read(&text);
    let message = "[saturate] finds a load for comparing at least two arms; found 0";
    assert_eq!(found[0].message, message, "{}", render(&text, &found));
    assert_eq!(found.len(), 1);
}

/// The throughput of the saturated job is a result, because an overloaded arm falls short of the
/// given rate. The throughput of other jobs is only their rate.
#[test]
fn throughput_of_the_saturated_job_alone_may_be_bet_on() {
    let at_a_rate = |bet: &str| {
        COMPARISON
            .replace("concurrency(read)", "rate(read)")
            .replace("[arm plain]", &format!("bet = {bet} -5% .. -25%\n[arm plain]"))
    };
    let bets = experiment(&at_a_rate("throughput(read)")).bets;
    assert_eq!(bets[0].to_string(), "throughput(read) -5% .. -25%");
    let (refused, found) = read(&at_a_rate("throughput(pay)"));
    assert!(refused.is_none() && found.len() == 1, "{found:?}");
    assert!(found[0].message.starts_with("the throughput of [pay] is its rate"), "{found:?}");
}
