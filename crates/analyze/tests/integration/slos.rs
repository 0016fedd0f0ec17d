//! SLOs of a job: every metric, both comparisons, on both sides of the bound.

use analyze::{Evidence, Judgement, summarize};
use record::{Balance, Counts, EndCounts, Kind};
use workload::{Metric, Statistic};

use crate::support::{OPEN, PER_S, answer_only, answered, end_at, nothing, steady, turn_bad};

/// Returns a run like [`steady`] whose job has this SLO.
fn judged_by(condition: &str) -> Evidence {
    steady(&format!("{OPEN}slo = {condition}\n"))
}

fn judge(evidence: &Evidence) -> Judgement {
    summarize(evidence).jobs[0].slos[0].clone()
}

#[track_caller]
fn check(condition: &str, met: bool) {
    let judgement = judge(&judged_by(condition));
    assert_eq!((judgement.met, judgement.text.as_str()), (met, condition), "{judgement:?}");
}

#[test]
fn times_are_judged_by_the_statistic_that_is_named() {
    // Four requests of five take 1 ms, the fifth 4 ms.
    for kind in ["", "service."] {
        for (statistic, just_below, just_above) in [
            ("p50", "0.99ms", "1.01ms"),
            ("p79", "0.99ms", "1.01ms"),
            ("p81", "3.99ms", "4.01ms"),
            ("p99", "3.99ms", "4.01ms"),
            ("mean", "1.59ms", "1.61ms"),
            ("max", "3.99ms", "4.01ms"),
        ] {
            check(&format!("{kind}{statistic} < {just_above}"), true);
            check(&format!("{kind}{statistic} < {just_below}"), false);
            check(&format!("{kind}{statistic} > {just_below}"), true);
            check(&format!("{kind}{statistic} > {just_above}"), false);
        }
    }
}

#[test]
fn response_and_service_are_judged_apart() {
    let mut evidence = judged_by("service.p50 < 0.6ms");
    crate::support::set_times(&mut evidence, 0, Kind::Service, 0.5, 10);
    let judgement = judge(&evidence);
    assert_eq!(judgement.metric, Metric::Service(Statistic::Quantile(0.5)));
    assert!(judgement.met);
    let mut evidence = judged_by("p50 < 0.6ms");
    crate::support::set_times(&mut evidence, 0, Kind::Service, 0.5, 10);
    assert!(!judge(&evidence).met);
}

#[test]
fn throughput_is_judged_per_second() {
    check("throughput > 999", true);
    check("throughput > 1000", false);
    check("throughput < 1001", true);
    check("throughput < 1000", false);
}

#[test]
fn failed_counts_every_scheduled_request_without_a_proper_answer() {
    let judge_failed = |condition: &str| {
        let mut evidence = judged_by(condition);
        for (second, bad) in [(12, [90, 0, 0]), (13, [0, 60, 0]), (14, [0, 0, 30])] {
            turn_bad(&mut evidence, 0, second, bad);
        }
        evidence.jobs[0].steps[12].counts.accepted_errors = 50;
        judge(&evidence)
    };
    let share = f64::from(90 - 50 + 60 + 30) / (50 * PER_S) as f64;
    let judgement = judge_failed("failed < 0.27%");
    assert!((judgement.value.unwrap() - share).abs() < 1e-12, "{judgement:?}");
    assert!(judgement.met);
    assert!(!judge_failed("failed < 0.26%").met);
    assert!(judge_failed("failed > 0.25%").met);
    check("failed < 0.001%", true);
}

#[test]
fn conditions_without_data_are_missed() {
    for condition in
        ["p99 < 1h", "p99 > 0ms", "mean < 1h", "max < 1h", "service.p99 < 1h", "failed < 100%"]
    {
        let evidence = nothing(&format!("{OPEN}slo = {condition}\n"));
        let judgement = judge(&evidence);
        assert_eq!((judgement.met, judgement.value), (false, None), "{condition}");
    }
    let mut ended_early = nothing(&format!("{OPEN}slo = throughput < 1000000\n"));
    end_at(&mut ended_early, base::Nanos::from_secs(10));
    assert_eq!((judge(&ended_early).met, judge(&ended_early).value), (false, None));
}

#[test]
fn withheld_response_times_miss_conditions_and_service_times_are_judged() {
    let overloaded = |condition: &str| {
        let mut evidence = judged_by(condition);
        answer_only(&mut evidence, 0, 0, PER_S / 2);
        judge(&evidence)
    };
    for condition in ["p99 < 1h", "p99 > 1ms", "mean < 1h", "max < 1h"] {
        let judgement = overloaded(condition);
        assert_eq!((judgement.met, judgement.value), (false, None), "{condition}");
    }
    for condition in ["service.p99 < 5ms", "service.mean < 5ms", "service.max > 3ms"] {
        assert!(overloaded(condition).met, "{condition}");
    }
    assert!(!overloaded("service.p99 < 3ms").met);
    assert!(overloaded("throughput < 501").met);
    assert!(overloaded("failed < 1%").met);
}

#[test]
fn every_condition_of_a_job_is_judged() {
    let evidence = judged_by("p99 < 30ms, failed < 1%\nslo = throughput > 2000");
    let judged = summarize(&evidence).jobs[0].slos.clone();
    let met: Vec<(&str, bool)> = judged.iter().map(|j| (j.text.as_str(), j.met)).collect();
    assert_eq!(met, [("p99 < 30ms", true), ("failed < 1%", true), ("throughput > 2000", false)]);
}

#[test]
fn surplus_accepted_errors_do_not_offset_other_failures() {
    let mut evidence = judged_by("failed < 1%");
    evidence.jobs[0].steps = vec![answered(0); 60];
    evidence.jobs[0].steps[20].counts = Counts {
        arrivals: 10,
        balance: Balance::of(7, 1, 0, 2),
        accepted_errors: 3,
        ..Counts::default()
    };
    evidence.jobs[0].steps[20].ends = EndCounts { completed: 7, errors: 1, rows: 0 };
    assert_eq!(judge(&evidence).value, Some(0.2));
}
