//! Rates that vary: their meaning, and the errors in them.

use std::collections::BTreeMap;

use base::{Nanos, units};
use workload::shape::{Level, Recorded, Shape};
use workload::{Arrival, Overrides, Pacing, Schedule};

use crate::{check, render};

fn level(text: &str) -> Level {
    let number = units::parse_decimal(text).expect("a number");
    Level::from_billionths(number.digits * 10u64.pow(9 - number.scale)).expect("a rate")
}

fn levels(text: &str) -> std::sync::Arc<[Level]> {
    text.split(' ').map(level).collect()
}

fn rows(rows: &[(u64, &str)]) -> Shape {
    Shape::Trace(rows.iter().map(|(at, rate)| (Nanos::from_millis(*at), level(rate))).collect())
}

fn recorded(millis: &[u64]) -> Schedule {
    Schedule::Recorded(Recorded(millis.iter().map(|at| Nanos::from_millis(*at)).collect()))
}

/// Returns the pacing or the errors of a workload with this rate, next to a file `t.csv`.
fn answer(rate: &str, file: &str, overrides: &Overrides) -> Result<Pacing, String> {
    let text = format!("[params]\nlow = 10\n[read]\nquery = select 1\nrate = {rate}\n");
    let folder: BTreeMap<String, Vec<u8>> =
        [("t.csv", file), ("my t.csv", file)].map(|(name, text)| (name.into(), text.into())).into();
    let (plan, diagnostics) = workload::plan_in(&text, overrides, &folder);
    match plan {
        Some(plan) => Ok(plan.jobs[0].pacing.clone()),
        None => Err(render(&text, &diagnostics)),
    }
}

fn schedule(rate: &str, file: &str) -> Schedule {
    match answer(rate, file, &Overrides::default()) {
        Ok(Pacing::Open { schedule, .. } | Pacing::Queue { schedule, .. }) => schedule,
        other => panic!("{rate}: {other:?}"),
    }
}

fn shape(rate: &str) -> Shape {
    match schedule(rate, "0 5\n") {
        Schedule::Varying { shape, arrival: Arrival::Poisson } => shape,
        other => panic!("{rate}: {other:?}"),
    }
}

#[test]
fn shapes_accept_multipliers_lists_and_parameters() {
    let sixty = Nanos::from_secs(60);
    let ramp = Shape::Ramp { from: level("100"), to: level("5000"), span: sixty };
    assert_eq!(shape("ramp(100, 5k, 60s)"), ramp);
    assert_eq!(shape("ramp( ${low * 10} ,${low / 2}k,1m)"), ramp);
    let sine = Shape::Sine { mean: level("10"), amplitude: level("0.5"), period: sixty };
    assert_eq!(shape("sine(${low}, .5, 1m)"), sine);
    let steps = |list: &str, span| Shape::Steps { levels: levels(list), span };
    assert_eq!(shape("steps(100 200 400, 10s)"), steps("100 200 400", Nanos::from_secs(10)));
    assert_eq!(shape("steps(1..8 x2, 1ns)"), steps("1 2 4 8", Nanos(1)));
    assert_eq!(shape("steps(0..0.3 +0.1, 1h)"), steps("0 0.1 0.2 0.3", Nanos::from_secs(3_600)));
}

#[test]
fn a_rate_that_varies_is_never_a_timetable() {
    let pacing = |rate: &str| answer(rate, "", &Overrides::default()).unwrap();
    assert!(matches!(pacing("ramp(0.1, 0.2, 60s)"), Pacing::Open { batch: 1, .. }));
    assert!(matches!(pacing("trace(times 100)"), Pacing::Open { .. }));
    let queue = pacing("steps(0.5, 60s)\nconcurrency = 3\nbatch-size = 2");
    assert!(matches!(queue, Pacing::Queue { workers: 3, batch: 2, .. }), "{queue:?}");
}

#[test]
fn arrivals_are_spread_as_the_key_or_the_option_says() {
    let spread = |rate: &str, arrival| {
        let overrides = Overrides { arrival, ..Overrides::default() };
        match answer(rate, "", &overrides).unwrap() {
            Pacing::Open { schedule: Schedule::Varying { arrival, .. }, .. } => arrival,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(spread("ramp(1, 2, 3s)\narrival = uniform", None), Arrival::Uniform);
    assert_eq!(spread("ramp(1, 2, 3s)\narrival = poisson", None), Arrival::Poisson);
    assert_eq!(spread("ramp(0.1, 2, 3s)", Some(Arrival::Uniform)), Arrival::Uniform);
    let overrides = Overrides { arrival: Some(Arrival::Uniform), ..Overrides::default() };
    let times = answer("trace(times 1)", "", &overrides).unwrap();
    assert_eq!(times, Pacing::Open { schedule: recorded(&[1_000]), batch: 1 });
}

#[test]
fn traces_of_times_are_unchanged() {
    let times = recorded(&[0, 500, 500, 20_000]);
    assert_eq!(schedule("trace(t.csv)", "0\n.5\n0.500\n2e1"), times);
    let file = "\u{feff}# recorded\r\n; so\r\n\r\n 0 \r\n\t0.5\r\n.5\r\n20\r\n";
    assert_eq!(schedule("trace( 't.csv' )", file), times);
    assert_eq!(schedule("trace(\"my t.csv\")", "0\n.5\n.5\n20"), times);
    assert_eq!(schedule("trace(times 0 .5 .5 20)", ""), times);
    // Seconds with more than nine decimals, and a time of less than a nanosecond, as programs print
    // doubles.
    let long = "1.2345678901234567e-20\n1.2345678901234567e-07\n0.30000000000000004\n";
    let times = [Nanos(0), Nanos(123), Nanos(300_000_000)];
    assert_eq!(schedule("trace(t.csv)", long), Schedule::Recorded(Recorded(times.into())));
}

#[test]
fn traces_of_rates_are_steps_of_any_length() {
    let rates = |schedule| match schedule {
        Schedule::Varying { shape, arrival: Arrival::Poisson } => shape,
        other => panic!("{other:?}"),
    };
    let expected = rows(&[(0, "100"), (1_500, "0"), (1_500, "16.7"), (9_000, "1000")]);
    let file = "# t,rate\n0,100\n1.5 0\n1.5 ,\t16.7\n9\t1k\n";
    assert_eq!(rates(schedule("trace(t.csv)", file)), expected);
    let inline = "trace(rates 0 100, 1.5 0, 1.5 16.7, 9 1000)";
    assert_eq!(rates(schedule(inline, "")), expected);
}

#[test]
fn offered_rate_is_the_mean_and_required_rate_the_highest() {
    let job = |rate: &str| {
        let text = format!("[a]\nquery = select 1\nstart = 10s\nbatch-size = 2\nrate = {rate}\n");
        crate::plan(&text).jobs.remove(0)
    };
    let secs = Nanos::from_secs;
    let ramp = job("ramp(0, 100, 10s)\nstop = 30s");
    assert_eq!(ramp.offered_per_s(Nanos::ZERO, Some(secs(20))), Some(100.0));
    assert_eq!(ramp.offered_per_s(secs(20), Some(secs(40))), Some(200.0));
    assert_eq!(ramp.offered_per_s(secs(10), None), Some(150.0));
    assert_eq!(ramp.offered_per_s(secs(30), Some(secs(40))), None);
    assert_eq!(ramp.highest_per_s(), Some(200.0));
    let sine = job("sine(100, 50, 1s)");
    assert_eq!(sine.offered_per_s(Nanos::ZERO, None), None);
    assert_eq!(sine.highest_per_s(), Some(300.0));
    let times = job("trace(times 0 1 1 1.5 7)");
    assert_eq!(times.offered_per_s(secs(11), Some(secs(12))), Some(6.0));
    assert_eq!(times.highest_per_s(), Some(6.0));
    assert_eq!(job("100").offered_per_s(secs(3), None), Some(200.0));
}

/// The rate of recorded times is that of their busiest second.
#[test]
fn trace_of_times_has_the_limit_of_all_rates() {
    let text = "[read]\nquery = select 1\nrate = trace(t.csv)\n";
    let times = "0\n".repeat(10_000_001).into_bytes();
    let folder = BTreeMap::from([("t.csv".to_owned(), times)]);
    let (_, diagnostics) = workload::plan_in(text, &Overrides::default(), &folder);
    let shown = render(text, &diagnostics);
    let expected = "error: this job would send 10,000,001 requests per second, above 10,000,000";
    assert!(shown.starts_with(expected), "{shown}");
}

fn refused(rate: &str, file: &str, expected: &str) {
    let complaint = answer(rate, file, &Overrides::default()).expect_err(rate);
    assert!(complaint.contains(expected), "{rate}\n{file}\n{complaint}");
}

#[test]
fn bad_shapes_report_the_reason() {
    for (rate, expected) in [
        ("ramp(1, 2)", "`ramp` takes 3 arguments"),
        ("ramp(1, 2, 3s, 4)", "`ramp` takes 3 arguments"),
        ("ramp()", "`ramp` takes 3 arguments"),
        ("ramp(1, 2, 3s", "`ramp(1, 2, 3s` has no `)` at its end"),
        ("ramp(1, 2, 3s) x", "has no `)` at its end"),
        ("ramp(1, two, 3s)", "`two` is not a number"),
        ("ramp(1, low, 3s)", "to use a parameter, write `${low}`"),
        ("ramp(1, -2, 3s)", "`-2` is negative"),
        ("ramp(1, nan, 3s)", "`nan` is not a number"),
        ("ramp(1, inf, 3s)", "`inf` is not a number"),
        ("ramp(1, 2, 3)", "`3` has no unit"),
        ("ramp(1, 2, 0s)", "`0s` must take some time"),
        ("ramp(1, 2, 400d)", "`400d` is longer than a year"),
        ("ramp(1, 10.1M, 3s)", "`10.1M` goes above 10,000,000 per second"),
        ("ramp(0, 0, 3s)", "`ramp(0, 0, 3s)` is zero all the time"),
        ("ramp(0, 0.0000000001, 3s)", "is zero all the time"),
        ("sine(10, 11, 3s)", "the amplitude `11` is above the mean `10`"),
        ("sine(8M, 3M, 3s)", "goes above 10,000,000 per second"),
        ("sine(0, 0, 3s)", "is zero all the time"),
        ("steps(1 2)", "`steps` takes 2 arguments"),
        ("steps(1, 2, 3s)", "`steps` takes 2 arguments"),
        ("steps(, 3s)", "the list of numbers is empty"),
        ("steps(1 x, 3s)", "`x` is not a number"),
        ("steps(8..1 x2, 3s)", "`8..1 x2` ends below its beginning"),
        ("steps(1..8, 3s)", "`1..8` does not say how it grows"),
        ("steps(0 0, 3s)", "is zero all the time"),
        ("rmp(1, 2, 3s)", "did you mean `ramp`"),
        ("zigzag(1, 2)", "there is no rate `zigzag(…)`"),
        ("zigzag(1, 2)", "`steps(100 200 400, 10s)`"),
        ("uniform(1, 2)", "there is no rate `uniform(…)`"),
    ] {
        refused(rate, "0\n", expected);
    }
}

#[test]
fn bad_traces_report_the_line_and_a_remedy() {
    for (file, expected) in [
        ("", "`t.csv` has no line with a number"),
        ("# nothing\n\n", "`t.csv` has no line with a number"),
        ("1\n# x\n0.5\n", "in line 3 of `t.csv`: `0.5` is before the time of the line above, 1s"),
        ("0 1\n5 1\n4 1\n", "in line 3 of `t.csv`: `4` is before"),
        ("0 1\n5 1\n4 1\n", "sort the lines by time"),
        ("time\n1\n", "in line 1 of `t.csv`: `time` is not a number"),
        ("1\n-2\n", "in line 2 of `t.csv`: `-2` is negative"),
        ("1\n-1e400\n", "in line 2 of `t.csv`: `-1e400` is negative"),
        ("nan\n", "`nan` is not a number"),
        ("inf\n", "`inf` is not a number"),
        ("1e400\n", "`1e400` is more than a year after the job's start"),
        ("1700000000.5\n", "subtract the first from all of them"),
        ("0 nan\n", "`nan` is not a number"),
        ("0 -1\n", "`-1` is negative"),
        ("0 1e8\n", "`1e8` goes above 10,000,000 per second"),
        ("0 1e400\n", "`1e400` goes above"),
        ("0,\n", "`` is not a number"),
        ("0, 1, 2\n", "`1, 2` is not a number"),
        ("0 1 2\n", "in line 1 of `t.csv`: `0 1 2` has 3 numbers"),
        (
            "0\n1 2\n",
            "in line 2 of `t.csv`: `1 2` has 2 numbers, but the lines above have only a time",
        ),
        (
            "0 1\n\n2\n",
            "in line 3 of `t.csv`: `2` has 1 number, but the lines above have a time and",
        ),
        ("0 0\n5 0\n", "is zero all the time"),
    ] {
        refused("trace(t.csv)", file, expected);
    }
    for (rate, expected) in [
        ("trace(other.csv)", "there is no file `other.csv`"),
        ("trace()", "`` is not the name of a file"),
        ("trace('')", "`''` is not the name of a file"),
        ("trace(my t.csv)", "`trace(\"my arrivals.csv\")`"),
        ("trace(times 1 0)", "`0` is before the time of the line above"),
        ("trace(times 1 2,3)", "`2,3` has 2 numbers"),
        ("trace(rates 0 1, 2)", "`2` has 1 number"),
        ("trace(times )", "there is no file `times`"),
        ("trace(t.csv)\narrival = poisson", "`arrival` cannot be combined with a trace of times"),
    ] {
        refused(rate, "0\n", expected);
    }
}

#[test]
fn shape_errors_point_at_their_position() {
    check(
        r#"
[read]
query = select 1
rate = sine(100, 500, 60s)
"#,
        r#"
error: the amplitude `500` is above the mean `100`
 --> mail.ini:3:18
  |
3 | rate = sine(100, 500, 60s)
  |                  ^^^
  |
  = help: a rate is never below zero: lower the amplitude, or raise the mean
"#,
    );
}

#[test]
fn total_rate_is_limited_by_the_highest_rates() {
    let text = "[a]\nquery = select 1\nrate = ramp(1, 6M, 1h)\n[b]\nquery = select 1\n\
                rate = sine(3M, 2M, 1h)\n";
    let (plan, diagnostics) = workload::plan(text, &Overrides::default());
    assert!(plan.is_none());
    assert!(render(text, &diagnostics).contains("would send 11,000,000 requests per second"));
}
