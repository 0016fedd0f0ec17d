//! Capacity searches in experiment files, and workloads inside experiment files.

use std::collections::BTreeMap;

use base::{Diagnostic, Nanos, Target};
use workload::question::{
    CapacityQuestion, Experiment, Outline, VariedLoad, experiment_in, is_experiment,
};
use workload::{Arrival, Overrides, Pacing, Schedule, Warmup};

use crate::experiments::READ;
use crate::render;

const SEARCH: &str = "\
[question]
ask = How much can the server take?
[capacity]
slo = p99(read) < 30ms
vary = rate(read)
[read]
query = select 1
";

fn files() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([("read.ini".to_owned(), READ.as_bytes().to_vec())])
}

fn read(text: &str) -> (Option<Experiment>, Vec<Diagnostic>) {
    experiment_in(text, &Overrides::default(), &files())
}

fn experiment(text: &str) -> Experiment {
    let (experiment, found) = read(text);
    experiment.unwrap_or_else(|| panic!("{}", render(text, &found)))
}

/// Returns the text that `check` prints for an experiment without options.
fn whole_text(experiment: &Experiment) -> String {
    experiment.to_whole_text(&Overrides::default(), &files())
}

fn search(text: &str) -> CapacityQuestion {
    experiment(text).capacity.expect("it is a search")
}

/// Checks the only diagnostic of a file.
#[track_caller]
fn check(text: &str, message: &str, help: &str) {
    let (experiment, found) = read(text);
    assert!(experiment.is_none(), "{text}");
    let shown = (&*found[0].message, found[0].help.as_deref().unwrap_or_default());
    assert_eq!(shown, (message, help), "{text}");
    assert_eq!(found.len(), 1, "{}", render(text, &found));
}

/// Checks the only diagnostic of the search with these lines.
#[track_caller]
fn check_lines(lines: &str, message: &str, help: &str) {
    check(&SEARCH.replace("[read]\n", &format!("{lines}\n[read]\n")), message, help);
}

#[test]
fn search_of_few_lines_has_the_defaults() {
    assert!(is_experiment(SEARCH));
    let found = experiment(SEARCH);
    let search = found.capacity.as_ref().unwrap();
    assert_eq!(search.conditions[0].to_string(), "p99(read) < 30ms");
    assert_eq!(search.conditions[0].slo.bound, 30e6);
    assert_eq!(search.vary, VariedLoad::Rate { job: "read".to_owned() });
    assert_eq!((search.first, search.highest), (100.0, 1e6));
    assert_eq!(search.trial, Nanos::from_secs(10));
    assert_eq!((search.budget, search.hold), (Nanos::from_secs(900), None));
    assert_eq!((found.workload, found.arms.len()), (None, 1));
}

#[test]
fn every_key_of_a_search_is_read() {
    let text = "[question]\nask = ?\nworkload = read.ini\n[capacity]\nslo = p99(read) < 30ms\n\
                slo = failed(pay) < 1%, throughput(read) > 5\nvary = concurrency(read)\n\
                first = 2\nhighest = 64\ntrial = 30s\nbudget = 1h\nhold = 2h\n";
    let search = search(text);
    let texts: Vec<String> = search.conditions.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["p99(read) < 30ms", "failed(pay) < 1%", "throughput(read) > 5"]);
    assert_eq!((search.first, search.highest), (2.0, 64.0));
    assert_eq!(search.hold, Some(Nanos::from_secs(7_200)));
}

#[test]
fn condition_without_a_job_is_about_the_only_one() {
    let found = search(&SEARCH.replace("p99(read)", "p99"));
    assert_eq!(found.conditions[0].to_string(), "p99(read) < 30ms");
}

#[test]
fn most_clients_are_those_that_the_workload_allows() {
    let text = SEARCH.replace("rate(read)", "concurrency(read)");
    assert_eq!(search(&format!("max-connections = 40\n{text}")).highest, 40.0);
    let text = text.replace("[capacity]", "[capacity]\nhighest = 41");
    check(
        &format!("max-connections = 40\n{text}"),
        "41 clients are more than `max-connections` = 40",
        "write `max-connections = 41` into the workload file",
    );
}

#[test]
fn trial_has_its_own_rate_length_and_seed() {
    let found = experiment(SEARCH);
    let load = &found.capacity.as_ref().unwrap().vary;
    let [warmup, window] = [2, 30].map(Nanos::from_secs);
    let arm = found.arms[0].at(load, 750.5, warmup, window);
    let plan = found.plan(&arm, 7, &Overrides::default(), &BTreeMap::new()).unwrap();
    assert_eq!((plan.duration, plan.warmup), (Some(warmup + window), Warmup::Lasts(warmup)));
    assert_eq!(plan.seed.0, 7);
    let Pacing::Open { schedule: Schedule::Poisson(rate), .. } = &plan.jobs[0].pacing else {
        panic!("{:?}", plan.jobs[0].pacing);
    };
    assert_eq!(rate.as_f64(), 750.5);
}

#[test]
fn trial_is_named_by_its_load() {
    for (vary, load, expected) in [
        ("rate(read)", 750.5, "rate(read) = 750.5"),
        ("concurrency(read)", 8.0, "concurrency(read) = 8"),
    ] {
        let text = SEARCH.replace("rate(read)", vary);
        let found = experiment(&format!("max-connections = 40\n{text}"));
        let search = found.capacity.as_ref().unwrap();
        let arm = found.arms[0].at(&search.vary, load, Nanos::ZERO, Nanos::from_secs(30));
        assert_eq!(arm.heading(), expected);
        assert_eq!(arm.to_string(), expected);
    }
}

#[test]
fn printed_search_is_read_as_the_same() {
    let of_file = "[question]\nask = ?\nworkload = read.ini\nrestore = reload\n[capacity]\n\
                   slo = p99(pay) < 30ms\nvary = rate(pay)\nhold = 1h\n";
    for text in [SEARCH, of_file] {
        let found = experiment(text);
        let whole = whole_text(&found);
        let again = experiment(&whole);
        assert_eq!(whole_text(&again), whole);
        assert_eq!(again.capacity, found.capacity);
        assert_eq!(Outline::of_text(&found.to_text()), Ok(found.outline()));
    }
}

#[test]
fn workload_in_the_experiment_file_may_be_compared() {
    let text = "url = postgres://db/shop\nseed = 5\n[params]\nrows = 10\n[question]\nask = ?\n\
                [arm few]\n[arm many]\nset.rows = 1000\n[read]\n\
                query = select ${uniform(1, rows)}\nconcurrency = 2\n";
    let found = experiment(text);
    assert_eq!(found.arms[1].plan.params[0].value, "1000");
    assert_eq!(found.arms[0].plan.seed.0, 5);
    assert_eq!(Outline::of_text(&found.to_text()), Ok(found.outline()));
}

/// Checks that the text that `check` prints for an experiment with its own workload has this
/// beginning, and gives the same plans for all arms.
#[track_caller]
fn check_whole_text(text: &str, overrides: &Overrides, beginning: &str) {
    let (experiment, found) = experiment_in(text, overrides, &files());
    let experiment = experiment.unwrap_or_else(|| panic!("{}", render(text, &found)));
    let printed = experiment.to_whole_text(overrides, &files());
    assert!(printed.starts_with(beginning), "{printed}");
    let (again, found) = read(&printed);
    let again = again.unwrap_or_else(|| panic!("{printed}\n{}", render(&printed, &found)));
    let plans = |of: &Experiment| -> Vec<String> {
        of.arm_points().iter().map(|arm| arm.plan.to_text()).collect()
    };
    assert_eq!(plans(&again), plans(&experiment), "{printed}");
}

/// The first arm replaces a default or a parameter that another arm needs, so its plan is not
/// printed.
#[test]
fn workload_whose_first_arm_differs_is_printed_as_written() {
    const READ: &str = "[read]\nquery = select ${uniform(1, rows)}\n";
    let question = "url = sim:mm1?service=1ms\n[params]\nrows = 10\n[question]\nask = ?\n";
    let text = |arms: &str| format!("{question}{arms}{READ}");
    let none = Overrides::default();
    let as_written = "url = sim:mm1?service=1ms\n\n[params]\nrows = 10\n\n[read]\nquery = select";
    let planned = "url = sim:mm1?service=1ms\nwarmup = 0s\n";
    check_whole_text(&text("[arm one]\nconcurrency(read) = 2\n[arm other]\n"), &none, as_written);
    // An open job with one client would have a queue.
    let closed = "bet = response.p99(read) -5% .. +5%\n[arm closed]\n[arm open]\nrate(read) = 9\n";
    check_whole_text(&text(closed), &none, as_written);
    let clients = "[arm few]\n[arm many]\nset.rows = 1000\n";
    let of_parameter = text(clients) + "concurrency = ${rows}\n";
    check_whole_text(&of_parameter, &none, as_written);
    check_whole_text(&text(clients), &none, as_written);
    let both = "[arm one]\nconcurrency(read) = 1\n[arm two]\nconcurrency(read) = 2\n";
    check_whole_text(&text(both), &none, planned);
    let given = Overrides { target: Target::parse("sim:mm1?service=2ms").ok(), ..none }
        .with_global("duration", "20s")
        .with_param("rows", "5");
    let as_given = "url = sim:mm1?service=2ms\nduration = 20s\n\n[params]\nrows = 5\n\n[read]\n";
    check_whole_text(&text(closed), &given, as_given);
}

/// Returns an experiment whose arms differ in a parameter, so its workload is printed as written.
/// `columns` continues the list of columns that it reads.
fn differing_in_a_parameter(url: &str, params: &str, columns: &str) -> String {
    format!(
        "{url}\n[params]\nrows = 10\n{params}[question]\nask = ?\n[arm few]\n[arm many]\n\
         set.rows = 1000\n[read]\nquery = select ${{rows}}{columns}\n"
    )
}

#[test]
fn password_of_a_workload_that_is_printed_as_written_is_left_out() {
    const PARAMS: &str = "port = 7\nhost = h\nscheme = postgres\ncolon = ':'\n";
    for (url, printed) in [
        ("url = postgres://ann:hunter2pw@h/d", "postgres://ann@h/d"),
        ("url = postgres://ann:hunter2pw@h:${port}/d", "postgres://ann@h:7/d"),
        ("url = postgres://ann:hunter2pw@${host}:${port}/d", "postgres://ann@h:7/d"),
        ("url = ${scheme}://ann:hunter2pw@h/d", "postgres://ann@h/d"),
        ("url = postgres://ann:hunter2pw${4/2}@h/d", "postgres://ann@h/d"),
        ("url = postgres://ann${colon}hunter2pw@h/d", "postgres://ann@h/d"),
        (
            "url = sim:mm1\n[target  other]\nurl = mysql://ann:hunter2pw@h:${port}/d",
            "mysql://ann@h:7/d",
        ),
    ] {
        let text = differing_in_a_parameter(url, PARAMS, "");
        let shown = whole_text(&experiment(&text));
        assert!(!shown.contains("hunter2pw"), "{shown}");
        assert!(shown.contains(&format!("url = {printed}\n")), "{shown}");
        assert!(!shown.starts_with(';'), "{shown}");
    }
}

/// A secret is hidden where it is written, and not wherever its letters occur.
#[test]
fn secret_of_a_workload_that_is_printed_as_written_is_hidden_in_its_place() {
    for secret in ["hush", "read", "select", "rows", "10"] {
        let params = format!("pw = {secret}\n");
        let text = differing_in_a_parameter("url = postgres://u:${pw}@h/d", &params, "");
        let shown = whole_text(&experiment(&text));
        let expected = "url = postgres://u@h/d\n\n[params]\nrows = 10\npw = (secret)\n\n[read]\n\
                        query = select ${rows}\n\n[question]\n";
        assert!(shown.starts_with(expected), "{shown}");
    }
}

#[test]
fn parameters_of_urls_are_kept_in_a_workload_that_is_printed_as_written() {
    let none = Overrides::default();
    for url in ["url = sqlite:${rows}.db", "url = sim:mm1?service=${rows * 2}ms"] {
        check_whole_text(&differing_in_a_parameter(url, "", ""), &none, url);
    }
    // A parameter may be called `url`, and its value is no URL.
    let text = differing_in_a_parameter("url = sim:mm1", "url = sqlite:a b.db\n", ", ${url}");
    check_whole_text(&text, &none, "url = sim:mm1\n\n[params]\nrows = 10\nurl = sqlite:a b.db\n");
}

#[test]
fn parameters_of_the_command_line_are_written_as_in_a_file() {
    for value in ["a ;b", "; x", "a\\", "b=a\\", "a\n[w]\nquery = drop table x", "'it'"] {
        let given = Overrides::default().with_param("text", value).with_param("rows", 7);
        let params = "text = x\nother = 3\n";
        let text = differing_in_a_parameter("url = sim:mm1", params, ", ${text}");
        check_whole_text(&text, &given, "url = sim:mm1\n\n[params]\nrows = 7\ntext = ");
    }
}

/// No line of a text stands for `--arrival`.
#[test]
fn text_that_gives_another_experiment_says_so() {
    let text = "url = sim:mm1?service=1ms\n[question]\nask = ?\n\
                bet = response.p99(read) -5% .. +5%\n[arm closed]\n[arm open]\nrate(read) = 9\n\
                [read]\nquery = select 1\n";
    let uniform = Overrides { arrival: Some(Arrival::Uniform), ..Overrides::default() };
    let (experiment, _) = experiment_in(text, &uniform, &files());
    let printed = experiment.expect("an experiment").to_whole_text(&uniform, &files());
    let words = "; Checking this text gives another experiment, because it lacks a secret, \
                 `--arrival`, or a parameter in a URL.\nurl";
    assert!(printed.starts_with(words), "{printed}");
}

#[test]
fn mistake_of_a_workload_in_the_experiment_file_is_shown_in_its_line() {
    let (_, found) = read(&SEARCH.replace("query = select 1", "query = select 1\nqeue-limit = 5"));
    assert_eq!(found[0].message, "unknown key `qeue-limit` in job [read]");
    assert!(found[0].span.is_some());
    assert_eq!(found.len(), 1);
}

#[test]
fn password_of_a_workload_in_the_experiment_file_is_not_printed() {
    let found = experiment(&format!("url = mysql://u:hush@h/d\n{SEARCH}"));
    for text in [found.to_text(), whole_text(&found)] {
        assert!(!text.contains("hush"), "{text}");
    }
}

#[test]
fn mistakes_of_a_search_are_named_with_a_remedy() {
    check(
        &SEARCH.replace("slo = p99(read) < 30ms\n", ""),
        "[capacity] has no `slo`",
        "write for example `slo = p99(read) < 30ms`",
    );
    check(
        &SEARCH.replace("vary = rate(read)\n", ""),
        "[capacity] has no `vary`",
        "write for example `vary = rate(read)`",
    );
    check(&SEARCH.replace("rate(read)", "rate(red)"), "the workload has no job `red`", READ_HELP);
    check(&SEARCH.replace("p99(read)", "p99(red)"), "there is no job [red]", READ_BARE);
    check(&SEARCH.replace("p99", "p199"), "the quantile `p199` is not between p0 and p100", MAX);
    check(&SEARCH.replace("p99", "rows"), "`rows` cannot be a condition", METRICS);
    check(
        &SEARCH.replace("rate(read)", "think(read)"),
        "unknown value `think(read)` for `vary`; expected rate(JOB) or concurrency(JOB)",
        "write for example `vary = rate(read)`",
    );
    check(
        &format!("{SEARCH}[late]\nquery = select 2\nrate = 1\nstart = 20m\n"),
        "`start` of [late], 20m, is after the end of a trial, 10s",
        "write a shorter `start` or a longer `trial`",
    );
    check(
        &SEARCH.replace("query = select 1", "query = select 1\ncount = 100"),
        "`count` can end [read] before the end of a trial",
        "leave out `count`: the search sets the length of each trial",
    );
    check(
        &SEARCH.replace("query = select 1", "query = select 1\nstop = 5s"),
        "`stop` can end [read] before the end of a trial",
        "leave out `stop`: the search sets the length of each trial",
    );
    check(
        &SEARCH.replace("query = select 1", "query = select ?\nquery-args-file = keys.csv"),
        "the values in `keys.csv` can run out before the end of a trial of [read]",
        "draw the values in the statement, such as `${uniform(1, 1000)}`: each trial reads the \
         file from the beginning",
    );
    check_lines(
        "hold = 9s",
        "a hold of 9s is shorter than a trial, 10s",
        "write a longer `hold` or a shorter `trial`: a short hold fails by chance",
    );
    check_lines("first = 0", "`0` is not above 0", "write for example `first = 1k`");
    check_lines("highest = 0", "`0` is not above 0", "write for example `highest = 1k`");
    check_lines(
        "highest = 11M",
        "`11M` is above 10,000,000 per second",
        "write for example `highest = 1k`",
    );
    check_lines("budget = 0s", "`0s` is not above 0", "times have a unit: `30s`, `15m`");
    check_lines("hold = 31d", "`31d` is longer than 720h", "times have a unit: `30s`, `15m`");
    check_lines("budgte = 5m", "unknown key `budgte` in [capacity]", "did you mean `budget`?");
}

const READ_HELP: &str = "did you mean `rate(read)`?";
const READ_BARE: &str = "did you mean `read`?";
const METRICS: &str = "metrics are p50, p99.9 or any quantile, mean, max, service.p99, \
                       service.mean,\nservice.max, throughput and failed";
const MAX: &str = "write `p99.9` for 99.9 %; the largest value is `max`";

#[test]
fn parts_of_a_comparison_are_refused_with_a_search() {
    for line in ["bet = throughput -5% .. -25%", "rounds = 12", "design = aa", "delta = 2%"] {
        let name = line.split(' ').next().unwrap();
        let message = format!("`{name}` cannot be combined with [capacity]");
        let text = SEARCH.replace("[capacity]", &format!("{line}\n[capacity]"));
        let (_, found) = read(&text);
        assert!(found.iter().any(|one| one.message == message), "{}", render(&text, &found));
    }
    check(
        &format!("{SEARCH}[arm a]\n"),
        "[arm a] cannot be combined with [capacity]",
        "write an experiment file for each question and each case",
    );
}

#[test]
fn load_that_does_not_grow_with_its_value_is_refused() {
    let text = SEARCH.replace("query = select 1", "query = select 1\nrate = 50");
    check(
        &text.replace("vary = rate(read)", "vary = concurrency(read)"),
        "[read] has arrivals: more workers do not raise its load",
        "write `vary = rate(read)`",
    );
}

/// A search refuses `batch-size` in the varied job: its rate counts arrivals, but the answer counts
/// requests.
#[test]
fn several_requests_per_arrival_are_refused() {
    let text = SEARCH.replace("query = select 1", "query = select 1\nbatch-size = 10");
    check(
        &text,
        "[read] has 10 requests per arrival, and a search counts requests: its rates would be 10 \
         times too small",
        "leave out `batch-size`, or write `[sweep] vary = rate(read)`",
    );
    search(&text.replace("= 10", "= 1"));
    let beside = format!("{SEARCH}[bursts]\nquery = select 2\nrate = 5\nbatch-size = 10\n");
    assert_eq!(search(&beside).conditions.len(), 1);
}

/// The largest time is refused, because it grows with the number of requests, and thus with the
/// length of a trial.
#[test]
fn condition_on_the_largest_time_is_refused() {
    for (metric, quantile) in [("max", "p99.9"), ("service.max", "service.p99.9")] {
        check(
            &SEARCH.replace("p99(read)", &format!("{metric}(read)")),
            &format!(
                "`{metric}(read) < 30ms` depends on the length of a trial: more requests have a \
                 larger maximum"
            ),
            &format!("write a quantile: `slo = {quantile}(read) < 30ms`"),
        );
    }
}

#[test]
fn condition_that_limits_no_load_is_refused() {
    let beside = |pacing: &str| {
        let slo = SEARCH.replace("slo = ", "slo = throughput(w) > 5, ");
        format!("{slo}[w]\nquery = select 2\n{pacing}\n")
    };
    for pacing in ["every = 1s", "rate = 10", "rate = 10\nconcurrency = 2"] {
        check(
            &beside(pacing),
            "the throughput of [w] is its rate: a job with arrivals completes what the file asks \
             for",
            "judge it by its response time, such as `slo = p99(w) < 30ms`, or give the job \
             `concurrency` and no rate",
        );
    }
    assert_eq!(search(&beside("concurrency = 2")).conditions.len(), 2);
    let varied = SEARCH.replace("slo = ", "slo = throughput(read) > 5, ");
    assert_eq!(search(&varied).conditions.len(), 2);
    for metric in ["p99", "service.mean", "failed"] {
        let bound = if metric == "failed" { "1%" } else { "5ms" };
        let text = SEARCH.replace("p99(read) < 30ms", &format!("{metric}(read) > {bound}"));
        check(
            &text,
            &format!("`{metric}(read) > {bound}` is a lower bound, which a larger load meets"),
            &format!("write an upper bound: `slo = {metric}(read) < {bound}`"),
        );
    }
}

/// The default length of a trial depends on the conditions. In a trial of two seconds, the response
/// times of an overloaded server may not exceed a high bound yet, and chance may hide the backlog.
#[test]
fn trial_is_long_enough_to_show_an_overload() {
    let of = |slo: &str, more: &str| {
        let text = SEARCH.replace("p99(read) < 30ms", slo);
        text.replace("[read]", &format!("budget = 2m\n{more}[read]"))
    };
    for (slo, seconds) in [
        ("p99(read) < 30ms", 2),
        ("p99(read) < 100ms", 5),
        ("p99(read) < 10s, mean(read) < 80ms", 4),
        ("p99(read) < 10s", 10),
        ("service.p99(read) < 30ms", 10),
        ("failed(read) < 1%", 10),
        ("throughput(read) > 5", 10),
    ] {
        assert_eq!(search(&of(slo, "")).trial, Nanos::from_secs(seconds), "{slo}");
    }
    let clients = of("failed(read) < 1%", "").replace("rate(read)", "concurrency(read)");
    assert_eq!(search(&clients).trial, Nanos::from_secs(2));
    let warned = |slo: &str| {
        let (found, diagnostics) = read(&of(slo, "trial = 3s\n"));
        assert_eq!(found.unwrap().capacity.unwrap().trial, Nanos::from_secs(3));
        diagnostics
    };
    assert_eq!(warned("p99(read) < 30ms"), []);
    let warnings = warned("failed(read) < 1%");
    let shown = (&*warnings[0].message, warnings[0].help.as_deref().unwrap_or_default());
    let expected = (
        "a trial of 3s may not show that a rate exceeds the capacity by a few percent",
        "write `trial = 10s` or longer, or bound a response time by less in `slo`",
    );
    assert_eq!((shown, warnings.len()), (expected, 1));
}

#[test]
fn keys_that_are_inserted_again_need_a_restore() {
    let text = SEARCH.replace("select 1", "insert into t values (${sequence()})");
    let (_, found) = read(&text);
    let words = "[read] inserts the keys of `sequence()` or `permute()` again in every run";
    assert_eq!(found[0].message, words);
    experiment(&text.replace("[capacity]", "restore = truncate t\n[capacity]"));
}

#[test]
fn upper_bound_of_throughput_does_not_limit_a_load() {
    check(
        &SEARCH.replace("p99(read) < 30ms", "throughput(read) < 20"),
        "`throughput(read) < 20` is an upper bound of throughput, which does not limit the load \
         that a server takes",
        "write a lower bound, `slo = throughput(read) > 20`, and `highest = 20` as the largest \
         load to try",
    );
    let two = "[question]\nask = ?\nworkload = read.ini\n[capacity]\nslo = p99(pay) < 30ms, \
               throughput(read) < 20\nvary = rate(pay)\n";
    check(
        two,
        "`throughput(read) < 20` is an upper bound of throughput, which does not limit the load \
         that a server takes",
        "write a lower bound, `slo = throughput(read) > 20`",
    );
}

#[test]
fn condition_that_no_load_can_meet_is_refused() {
    check(
        &SEARCH.replace("p99(read) < 30ms", "failed(read) < 0%"),
        "`failed(read) < 0%` can never hold: nothing is below 0",
        "write a bound that can be met, such as `failed < 0.1%` or `p99 < 30ms`",
    );
}
