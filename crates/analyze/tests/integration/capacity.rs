//! Trials of a capacity search, measured in runs.

use analyze::capacity::{CapacityOrder, LoadLimit, Phase, Trial, TrialContext, TrialRequest};
use analyze::{Evidence, summarize};
use base::{Class, Code, Nanos, Seed};
use record::{EventError, EventKind};
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side, Slo};

use crate::support::{MIXED, event, steady, turn_bad};

/// Returns three numbers of the [`trial`]: errors, rejected requests, and failures that a condition
/// limits.
fn failures(evidence: &Evidence, job: &str) -> [u64; 3] {
    let trial = trial(evidence, job);
    [trial.errors, trial.rejected, trial.limited_failures]
}

/// Returns the trial of a search for the rate of [read] with the condition `failed(JOB) < 5%`.
fn trial(evidence: &Evidence, job: &str) -> Trial {
    trial_of(evidence, job, VariedLoad::Rate { job: "read".to_owned() })
}

fn trial_of(evidence: &Evidence, job: &str, vary: VariedLoad) -> Trial {
    let text = format!("failed({job}) < 5%");
    let slo = Slo { text, metric: Metric::Failed, side: Side::Below, bound: 0.05 };
    let order = CapacityOrder {
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
    };
    let window = Nanos::from_secs(50);
    let (phase, warmup) = (Phase::Bracket, Nanos::from_secs(10));
    let request = TrialRequest { value: 1_000.0, phase, warmup, window, number: 0 };
    let context = TrialContext { took: window, dispersions: vec![None] };
    Trial::of(&order, &request, evidence, &summarize(evidence), context)
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

/// Returns the limit that a search for the number of clients of [write] finds, with four clients
/// and these numbers of connections at the end of each second. The server refuses a connection at
/// 30 s.
fn limit_of_clients(open: impl Fn(usize) -> Option<u64>) -> Option<LoadLimit> {
    let mut evidence = steady(MIXED);
    for (second, step) in evidence.jobs[1].steps.iter_mut().enumerate() {
        step.connections = open(second);
    }
    let text = "3 connections are the limit, and clients without one send nothing: too many";
    evidence.events.push(event(30_500, Some(1), EventKind::ConnectionLimit, text));
    trial_of(&evidence, "write", VariedLoad::Concurrency { job: "write".to_owned() }).load_limit
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
        trial_of(&evidence, "write", VariedLoad::Concurrency { job: "write".to_owned() }).load_limit
    };
    assert_eq!(limit(30, 60), Some(LoadLimit::AcceptedConnections(3)));
    assert_eq!(limit(30, 31), None, "it got the connection back at once");
}
