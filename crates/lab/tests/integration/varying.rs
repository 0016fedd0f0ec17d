//! Tests of varying rates, from the workload file to the verdict, in virtual time.

use analyze::{CheckKind, Evidence, Status, Summary};
use record::Kind;

use crate::support::{check, simulate};

/// A server that answers 200 requests per second.
const SINGLE: &str = "sim:mm1?service=5ms";

/// A server that answers any number of requests at the same time, each after one second.
const PARALLEL: &str = "sim:mmc?service=1s&servers=unlimited";

fn measure(rate: &str, seed: u64, threads: u16, target: &str) -> (Evidence, Summary) {
    let text = format!(
        "duration = 20s\ndrain = 1m\nseed = {seed}\n[read]\nquery = select 1\nrate = {rate}\n"
    );
    simulate(&text, threads, target)
}

/// Checks that all checks pass for every seed. Only `rate` may object, for at most two of the
/// seeds, because chance exceeds its limit in two of a thousand runs.
fn assert_no_alarm(rate: &str, target: &str) {
    let mut by_chance = 0;
    for seed in 0..200 {
        let (_, summary) = measure(rate, seed, 1, target);
        for check in summary.verdict.checks {
            if check.kind == CheckKind::Rate && check.status == Status::Suspect {
                by_chance += 1;
            } else {
                assert!(check.status <= Status::Pass, "{rate} {seed}: {check:?}");
            }
        }
    }
    assert!(by_chance <= 2, "{rate}: {by_chance}");
}

#[test]
fn a_ramp_below_the_capacity_raises_no_alarm() {
    assert_no_alarm("ramp(10, 150, 20s)", SINGLE);
    assert_no_alarm("ramp(150, 0, 20s)\nconcurrency = 1", SINGLE);
}

#[test]
fn a_sine_below_the_capacity_raises_no_alarm() {
    assert_no_alarm("sine(90, 60, 8s)", SINGLE);
    assert_no_alarm("sine(75, 75, 70s)\nconcurrency = 1", SINGLE);
}

#[test]
fn steps_below_the_capacity_raise_no_alarm() {
    assert_no_alarm("steps(20 60 0 150, 5s)", SINGLE);
    assert_no_alarm("trace(rates 1 30, 7 140, 18 3)", SINGLE);
}

/// The number of open requests equals the number of arrivals in one second. It grows, although no
/// request waits.
#[test]
fn a_rising_rate_at_a_slow_server_with_room_for_it_raises_no_alarm() {
    assert_no_alarm("ramp(50, 400, 20s)", PARALLEL);
    assert_no_alarm("steps(20 60 180 400, 5s)", PARALLEL);
}

#[test]
fn an_overload_at_the_end_of_a_ramp_is_noticed() {
    for seed in 0..20 {
        let (_, summary) = measure("ramp(150, 350, 20s)", seed, 1, SINGLE);
        let (status, finding) = check(&summary, "backlog");
        assert_eq!(status, "suspect", "{seed}: {finding:?}");
        assert!(summary.jobs[0].exceeds_capacity);
    }
}

/// Around the peak, 218 more requests arrive than can be answered, but all are answered by the end
/// of the run.
#[test]
fn temporary_overload_of_a_sine_raises_no_growth() {
    for seed in 0..20 {
        let (evidence, summary) = measure("sine(150, 100, 20s)\nconcurrency = 1", seed, 1, SINGLE);
        let (status, finding) = check(&summary, "backlog");
        assert_eq!(status, "pass", "{seed}: {finding:?}");
        let waits = evidence.jobs[0].histogram(Kind::Wait).unwrap();
        let longest = waits.max() as f64 / 1e9;
        assert!((0.5..2.5).contains(&longest), "{seed}: {longest} s");
    }
}

#[test]
fn offered_rate_is_the_mean_of_the_window() {
    let (evidence, summary) = measure("ramp(0, 100, 10s)", 1, 1, SINGLE);
    let offered = summary.jobs[0].offered_per_s.unwrap();
    let end = evidence.end().as_secs_f64();
    let expected = (500.0 + (end - 10.0) * 100.0) / end;
    assert!((offered - expected).abs() < 1e-6, "{offered} {expected}");
    let achieved = summary.jobs[0].throughput_per_s.unwrap();
    assert!((achieved - offered).abs() < 5.0 * (1_500.0_f64).sqrt() / 20.0, "{achieved}");
    let (_, recorded) = measure("trace(times 0 0.5 0.5 19)", 1, 1, SINGLE);
    assert_eq!(recorded.jobs[0].counts.arrivals, 4);
    assert_eq!(recorded.jobs[0].arrival, None);
}

#[test]
fn three_threads_measure_the_same_arrivals() {
    for rate in ["ramp(10, 150, 20s)", "sine(90, 90, 8s)", "trace(times 0 0.5 0.5 1 2 2 2 9)"] {
        let [one, three] = [1, 3].map(|threads| {
            let (evidence, _) = measure(rate, 7, threads, PARALLEL);
            let steps = evidence.jobs[0].steps.iter();
            steps.map(|step| step.counts.arrivals).collect::<Vec<_>>()
        });
        assert_eq!(one, three, "{rate}");
    }
}
