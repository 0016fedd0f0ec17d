//! Overrides of the file by the command line.

use base::{Nanos, Rate, Seed, Target};
use workload::{Arrival, Overrides, Pacing, Schedule, Warmup};

use crate::{check_with, plan_with};

const FILE: &str = "\
duration = 60s
warmup = 10s
[params]
rows = 100k
[read]
query = select ${rows}
rate = 100
[slow]
query = select 1
rate = 0.5
[even]
query = select 1
rate = 100
arrival = uniform
concurrency = 4
";

fn set(name: &str, value: &str) -> Overrides {
    Overrides::default().with_param(name, value)
}

#[test]
fn parameter_option_replaces_the_value_in_the_file() {
    let plan = plan_with(&set("rows", "1M"), FILE);
    assert_eq!(plan.params[0].value, "1000000");
    assert!(plan.to_text().contains("query = select ${1000000}"));
    let twice = set("rows", "1M").with_param("rows", "2M");
    assert_eq!(plan_with(&twice, FILE).params[0].value, "2000000");
}

#[test]
fn mistakes_in_options_have_no_position_in_the_file() {
    check_with(
        &set("rosw", "5"),
        FILE,
        "
error: `--set rosw`: the file has no parameter `rosw`
--> mail.ini
 = help: did you mean `rows`?
",
    );
    check_with(
        &set("rows", "${1 / 0}"),
        FILE,
        "
error: `--set rows=${1 / 0}`: `1 / 0` divides by zero
--> mail.ini
 = help: divide by a number that is not zero
",
    );
    check_with(
        &set("rows", "${x}"),
        FILE,
        "
error: `--set rows=${x}`: unknown name `x`
--> mail.ini
 = help: define it in `[params]`; texts need quotes
",
    );
    check_with(
        &set("n", "5"),
        "[read]\nquery = select 1\n",
        "
error: `--set n`: the file has no parameter `n`
--> mail.ini
 = help: parameters are defined in the file's `[params]` section
",
    );
}

#[test]
fn wrong_option_value_is_reported_with_its_option() {
    check_with(
        &set("rows", "many"),
        "[params]\nrows = 5\n[load t]\nrows = ${rows}\ncolumns = id: row()\n",
        "
error: `--set rows=many`: `many` is not a number
 --> mail.ini:4:8
  |
4 | rows = ${rows}
  |        ^^^^^^^ it is used here
  |
  = help: give the option another value, or leave it out
",
    );
}

#[test]
fn option_is_reported_once_and_not_for_mistakes_of_the_file() {
    let file = "[params]\nrows = 5\nhot = 2\n[load t]\nrows = ${rows}\ncolumns = id: row()\n\
                [read]\nquery = select ${uniform(1, rows)}, ${uniform(1, hot)}\nrate = -1\n";
    let overrides = set("rows", "many").with_param("hot", "x");
    check_with(
        &overrides,
        file,
        "
error: `--set rows=many`: `many` is not a number
 --> mail.ini:5:8
  |
5 | rows = ${rows}
  |        ^^^^^^^ it is used here
  |
  = help: give the option another value, or leave it out

error: `--set hot=x`: `uniform` needs numbers or durations, but `hot` is a text
 --> mail.ini:8:50
  |
8 | query = select ${uniform(1, rows)}, ${uniform(1, hot)}
  |                                                  ^^^ it is used here
  |
  = help: give the option another value, or leave it out

error: `-1` is negative
 --> mail.ini:9:8
  |
9 | rate = -1
  |        ^^
  |
  = help: write for example `rate = 3000`
",
    );
}

#[test]
fn too_large_number_is_not_read_as_text() {
    let file = "[params]\nrows = 5\n[read]\nquery = select ${uniform(1, rows)}\n";
    for huge in ["1e99", "-1e99", "18446744073709551615"] {
        let message = format!(
            "
error: `--set rows={huge}`: `{huge}` is too large
--> mail.ini
 = help: write a text of digits in quotes: `'…'`
"
        );
        check_with(&set("rows", huge), file, &message);
    }
    assert_eq!(
        plan_with(&set("rows", "'1e99'"), "[params]\nrows = 5\n[read]\nquery = select ${rows}\n")
            .params[0]
            .value,
        "'1e99'"
    );
}

#[test]
fn lengths_seed_and_target_are_replaced() {
    let target = Target::parse("sqlite:x.db").ok();
    let overrides = Overrides { target, ..Overrides::default() }
        .with_global("duration", Nanos::from_secs(5))
        .with_global("warmup", Warmup::Lasts(Nanos::from_secs(1)))
        .with_global("seed", 7);
    let plan = plan_with(&overrides, FILE);
    assert_eq!(plan.duration, Some(Nanos::from_secs(5)));
    assert_eq!(plan.warmup, Warmup::Lasts(Nanos::from_secs(1)));
    assert_eq!(plan.seed, Seed(7));
    assert_eq!(plan.target, overrides.target);
}

#[test]
fn a_run_shorter_than_its_warm_up_is_refused() {
    let overrides = Overrides::default().with_global("duration", "5s");
    check_with(
        &overrides,
        FILE,
        "
error: nothing would be measured: the warm-up is `10s`, the whole run `5s`
 --> mail.ini:2:10
  |
2 | warmup = 10s
  |          ^^^
  |
  = help: `duration` includes the warm-up: make it longer
",
    );
}

#[test]
fn arrival_option_applies_to_jobs_with_arrivals() {
    let overrides = |arrival| Overrides { arrival: Some(arrival), ..Overrides::default() };
    let schedules = |arrival| -> Vec<Schedule> {
        let plan = plan_with(&overrides(arrival), FILE);
        plan.jobs
            .iter()
            .filter_map(|job| job.arrivals())
            .map(|(schedule, _)| schedule.clone())
            .collect()
    };
    let (fast, slow) = (Rate::parse("100").unwrap(), Rate::parse("0.5").unwrap());
    assert_eq!(
        schedules(Arrival::Uniform),
        [Schedule::Uniform(fast), Schedule::Uniform(slow), Schedule::Uniform(fast)]
    );
    assert_eq!(
        schedules(Arrival::Poisson),
        [Schedule::Poisson(fast), Schedule::Uniform(slow), Schedule::Poisson(fast)]
    );
    let plan = plan_with(&overrides(Arrival::Uniform), FILE);
    assert!(matches!(plan.jobs[1].pacing, Pacing::Timetable { .. }));
}

#[test]
fn key_of_a_section_is_checked_as_if_the_section_had_it() {
    let plan = plan_with(&Overrides::default().with("read", "rate", "250 ; more"), FILE);
    let rate = Rate::parse("250").unwrap();
    assert_eq!(plan.jobs[0].arrivals().unwrap().0, &Schedule::Poisson(rate));
    let file = "[read]\nquery = select 1\nrate.mysql = 5\nrate = 3\nrate.sqlite = 4\n";
    let plan = plan_with(&Overrides::default().with("read", "rate", "250"), file);
    assert_eq!(plan.jobs[0].arrivals().unwrap().0, &Schedule::Poisson(rate));
    let file = "[read]\nquery = select 1\nquery = select 2\nrate = 5\n";
    let overrides = Overrides::default().with("read", "query", "select ${1 + 2}");
    let plan = plan_with(&overrides.with("read", "concurrency", 3), file);
    assert_eq!(plan.jobs[0].requests.statements.len(), 1);
    assert!(plan.to_text().contains("query = select ${3}\n"), "{}", plan.to_text());
    assert!(matches!(plan.jobs[0].pacing, Pacing::Queue { .. }), "{:?}", plan.jobs[0].pacing);
}

#[test]
fn mistakes_in_overridden_keys_name_the_override() {
    let wrong = |section: &str, key: &str, value: &str, expected: &str| {
        check_with(&Overrides::default().with(section, key, value), FILE, expected);
    };
    wrong(
        "read",
        "rate",
        "-1",
        "
error: `rate(read)`: `-1` is negative
--> mail.ini
 = help: write for example `rate = 3000`
",
    );
    wrong(
        "read",
        "raet",
        "5",
        "
error: `raet(read)`: unknown key `raet` in job [read]
--> mail.ini
 = help: did you mean `rate`?
",
    );
    wrong(
        "raed",
        "rate",
        "5",
        "
error: `rate(raed)`: the file has no section [raed]
--> mail.ini
 = help: did you mean `read`?
",
    );
    wrong(
        "",
        "drain",
        "soon",
        "
error: `--drain`: `soon` is not a number
--> mail.ini
 = help: write for example `drain = 30s`
",
    );
    wrong(
        "read",
        "query",
        "select 1\nselect 2",
        "
error: `query(read)`: the value has a control character
--> mail.ini
 = help: write the value on one line, as in a file
",
    );
}

/// A wrong line above the first section is an error even if an option overrides it.
#[test]
fn overridden_global_lines_are_still_checked() {
    let file = "duration = soon\nseed = many\n[read]\nquery = select 1\nrate = 5\n";
    let overrides = Overrides::default().with_global("duration", "5s").with_global("seed", "1");
    let (plan, found) = workload::plan(file, &overrides);
    assert!(plan.is_none());
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn url_from_outside_shows_no_password() {
    let overrides = Overrides::default().with_global("url", "postgres://u:geheim@h:x/d");
    let (plan, found) = workload::plan(FILE, &overrides);
    assert!(plan.is_none());
    let [error] = found.as_slice() else { panic!("{found:?}") };
    assert!(error.option.as_deref() == Some("`--url`") && error.span.is_none(), "{error:?}");
    assert!(!format!("{error:?}").contains("geheim"), "{error:?}");
}
