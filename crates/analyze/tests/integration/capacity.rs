//! Trials of a capacity search, computed from the evidence of runs.

use analyze::capacity::{
    CapacityOrder, FailReason, LoadLimit, Measure, Phase, Trial, TrialContext, TrialOutcome,
    TrialRequest, judge_trial,
};
use analyze::{Evidence, summarize};
use base::{Class, Code, Nanos, Seed};
use record::{EventError, EventKind, Kind};
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side, Slo, Statistic};

use crate::support::{MIXED, add_times, answer_only, event, set_times, steady, turn_bad};

/// Returns three numbers of the [`trial`]: errors, rejected requests, and failures that a condition
/// limits.
fn failures(evidence: &Evidence, job: &str) -> [u64; 3] {
    let trial = trial(evidence, job);
    [trial.errors, trial.rejected, trial.limited_failures]
}

/// Returns the trial of a search for the rate of [read] with the condition `failed(JOB) < 5%`.
fn trial(evidence: &Evidence, job: &str) -> Trial {
    trial_of(evidence, &order(job, rate_of_read()))
}

fn rate_of_read() -> VariedLoad {
    VariedLoad::Rate { job: "read".to_owned() }
}

/// Returns a search with the condition `failed(JOB) < 5%`.
fn order(job: &str, vary: VariedLoad) -> CapacityOrder {
    let text = format!("failed({job}) < 5%");
    let slo = Slo { text, metric: Metric::Failed, side: Side::Below, bound: 0.05 };
    CapacityOrder {
        conditions: vec![Condition { job: job.to_owned(), slo }],
        vary,
        first: 100.0,
        highest: None,
        ceiling_per_s: None,
        trial: Nanos::from_secs(10),
        warmup: Nanos::ZERO,
        drain: Nanos::ZERO,
        budget: Nanos::from_secs(900),
        hold: None,
        confirmations: CapacityOrder::CONFIRMATIONS,
        seed: Seed(1),
    }
}

fn trial_of(evidence: &Evidence, order: &CapacityOrder) -> Trial {
    let window = Nanos::from_secs(50);
    let (phase, warmup) = (Phase::Bracket, Nanos::from_secs(10));
    let request = TrialRequest { value: 1_000.0, phase, warmup, window, number: 0 };
    let context = TrialContext { took: window, dispersions: vec![None] };
    Trial::of(order, &request, evidence, &summarize(evidence), context)
}

#[test]
fn failures_of_a_job_are_limited_by_its_own_condition_alone() {
    let mut evidence = steady(MIXED);
    turn_bad(&mut evidence, 0, 20, [3, 4, 0]);
    turn_bad(&mut evidence, 1, 30, [50, 0, 0]);
    assert_eq!(failures(&evidence, "read"), [50, 0, 7]);
    assert_eq!(failures(&evidence, "write"), [3, 4, 50]);
    assert_eq!(trial(&evidence, "read").failed_jobs, ["write"]);
}

/// The accounts are the mix, then its parts. The failures of the mix itself are not counted again.
#[test]
fn failures_of_a_mix_are_those_of_its_parts() {
    let mix = "duration = 60s\nwarmup = 10s\n[read]\nmix = a: 1, b: 1\nrate = 1000\n\
               [a]\nquery = select 1\n[b]\nquery = select 2\n";
    let mut evidence = steady(mix);
    for (place, bad) in [(0, [5, 2, 0]), (1, [1, 0, 0]), (2, [4, 2, 0])] {
        turn_bad(&mut evidence, place, 20, bad);
    }
    assert_eq!(failures(&evidence, "read"), [0, 0, 7]);
    assert_eq!(failures(&evidence, "read/b"), [1, 0, 6]);
}

/// Requests of an overloaded job in flight at the end of the drain are its backlog, not errors.
#[test]
fn requests_in_flight_after_the_drain_are_failures_unless_overloaded() {
    let mut evidence = steady(MIXED);
    turn_bad(&mut evidence, 0, 59, [900, 0, 0]);
    evidence.jobs[0].failures = vec![(Class::Timeout, Code::DRAIN, 900)];
    assert_eq!(failures(&evidence, "write"), [900, 0, 0]);
    assert_eq!(failures(&evidence, "read"), [0, 0, 900]);
    answer_only(&mut evidence, 0, 0, 500);
    assert_eq!(failures(&evidence, "write"), [0, 0, 0]);
    assert_eq!(failures(&evidence, "read"), [0, 0, 0]);
    let overloaded = trial(&evidence, "write");
    assert!(overloaded.failed_jobs.is_empty(), "{:?}", overloaded.failed_jobs);
    let outcome = judge_trial(&order("write", rate_of_read()), &overloaded);
    assert_eq!(outcome, TrialOutcome::Fail(FailReason::Backlog));
    evidence.jobs[0].failures[0].1 = Code::TIMEOUT;
    assert_eq!(failures(&evidence, "write"), [900, 0, 0]);
}

/// Returns the number of requests that count as slow for `p99(JOB) < 2ms`. In each account up to
/// `last`, 100 requests end in timeouts after 3 s, 40 in conflicts and 60 in other errors. The
/// workload accepts the timeouts and the conflicts.
fn slow(workload: &str, last: usize, job: &str) -> u64 {
    let mut evidence = steady(&format!("duration = 60s\nwarmup = 10s\n{workload}"));
    for place in 0..=last {
        set_times(&mut evidence, place, Kind::Response, 1.0, 49_800);
        add_times(&mut evidence, place, Kind::Response, 3_000.0, 100);
        turn_bad(&mut evidence, place, 20, [200, 0, 0]);
        evidence.jobs[place].steps[20].counts.accepted_errors = 140;
        evidence.jobs[place].failures = vec![
            (Class::Timeout, Code::TIMEOUT, 100),
            (Class::Conflict, Code::new("40001"), 40),
            (Class::Server, Code::new("53100"), 60),
        ];
    }
    let mut order = order(job, rate_of_read());
    let metric = Metric::Response(Statistic::Quantile(0.99));
    order.conditions[0].slo =
        Slo { text: "p99 < 2ms".to_owned(), metric, side: Side::Below, bound: 2e6 };
    match trial_of(&evidence, &order).measures[0] {
        Measure::Count(counted) => counted.exceeded,
        other => panic!("{other:?}"),
    }
}

/// The timeouts are slow answers, and the other errors have no answer. Accepted conflicts are
/// neither.
#[test]
fn accepted_timeouts_do_not_offset_other_failures() {
    let job = "[read]\nquery = select 1\nrate = 1000\nerror = timeout, 40001\n";
    assert_eq!(slow(job, 0, "read"), 160);
    let mix = "[read]\nmix = a: 1, b: 1\nrate = 1000\n[b]\nquery = select 2\n\
               [a]\nquery = select 1\nerror = timeout, 40001\n";
    assert_eq!(slow(mix, 1, "read"), 160);
    assert_eq!(slow(mix, 1, "read/a"), 160);
    let of_mix = "[read]\nmix = a: 1, b: 1\nrate = 1000\nerror = timeout, 40001\n\
                  [a]\nquery = select 1\n[b]\nquery = select 2\n";
    assert_eq!(slow(of_mix, 1, "read"), 160);
    assert_eq!(slow(of_mix, 1, "read/a"), 160);
}

/// Accepted errors of a twentieth of the requests do not reduce the achieved rate.
#[test]
fn errors_that_the_job_accepts_are_answers() {
    let achieved = |accepted| {
        let mut evidence = steady(MIXED);
        for second in 10..60 {
            turn_bad(&mut evidence, 0, second, [50, 0, 0]);
            evidence.jobs[0].steps[second].counts.accepted_errors = accepted;
        }
        let trial = trial(&evidence, "write");
        (trial.errors, trial.offered_per_s, trial.achieved_per_s)
    };
    assert_eq!(achieved(50), (0, Some(1_000.0), 1_000.0));
    assert_eq!(achieved(0), (2_500, Some(1_000.0), 950.0));
}

/// Returns the limit that a search for the number of clients of [write] finds.
fn limit_of_write(evidence: &Evidence) -> Option<LoadLimit> {
    let vary = VariedLoad::Concurrency { job: "write".to_owned() };
    trial_of(evidence, &order("write", vary)).load_limit
}

/// Returns the limit that a search for the number of clients of [write] finds, with four clients
/// and these numbers of connections at the end of each second. The server refuses a connection at
/// 30.5 s.
fn limit_of_clients(open: impl Fn(usize) -> Option<u64>) -> Option<LoadLimit> {
    let mut evidence = steady(MIXED);
    for (second, step) in evidence.jobs[1].steps.iter_mut().enumerate() {
        step.connections = open(second);
    }
    let text = "3 connections are the limit, and clients without one send nothing: too many";
    evidence.events.push(event(30_500, Some(1), EventKind::ConnectionLimit, text));
    limit_of_write(&evidence)
}

#[test]
fn client_that_loses_its_connection_during_a_trial_is_missed() {
    let limit = |connections| Some(LoadLimit::AcceptedConnections(connections));
    let until = |end: usize, last: u64| {
        limit_of_clients(move |second| match second {
            59 => Some(0),
            _ => Some(if second < end { 4 } else { last }),
        })
    };
    assert_eq!(until(30, 3), limit(3));
    assert_eq!(until(40, 2), limit(2));
    assert_eq!(until(60, 4), None, "the job closes its connections in the last second");
    assert_eq!(until(0, 3), limit(3));
}

#[test]
fn last_number_of_connections_counts_if_none_was_reported_after_a_refusal() {
    let until_30_s = |open: u64| limit_of_clients(move |second| (second < 30).then_some(open));
    assert_eq!(until_30_s(3), Some(LoadLimit::AcceptedConnections(3)));
    assert_eq!(until_30_s(4), None);
}

#[test]
fn unknown_number_of_connections_is_no_limit() {
    assert_eq!(limit_of_clients(|_| None), None);
}

/// There is no event of a connection limit, because the clients had connections and lost them. A
/// refusal is a limit only if the job stays without the connection.
#[test]
fn clients_that_are_refused_their_lost_connections_do_not_count_as_sustained() {
    let limit = |from: usize, until: usize| {
        let mut evidence = steady(MIXED);
        let open = |second| if (from..until).contains(&second) { 3 } else { 4 };
        for (second, step) in evidence.jobs[1].steps.iter_mut().enumerate() {
            step.connections = Some(open(second));
        }
        let text = "while reconnecting: too many";
        let mut refused = event(30_500, Some(1), EventKind::FirstError, text);
        let (class, code) = (Class::TooManyConnections, Code::new("53300"));
        refused.error = Some(EventError { class, code });
        evidence.events.push(refused);
        limit_of_write(&evidence)
    };
    assert_eq!(limit(30, 60), Some(LoadLimit::AcceptedConnections(3)));
    assert_eq!(limit(30, 31), None, "it got the connection back at once");
}
