//! Trials of a capacity search, measured in runs.

use analyze::capacity::{CapacityOrder, Phase, Trial, TrialContext, TrialRequest};
use analyze::{Evidence, summarize};
use base::{Nanos, Seed};
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side, Slo};

use crate::support::{MIXED, steady, turn_bad};

/// Returns errors, rejected requests, and failures that a condition limits, of [`trial`].
fn failures(evidence: &Evidence, job: &str) -> [u64; 3] {
    let trial = trial(evidence, job);
    [trial.errors, trial.rejected, trial.limited_failures]
}

/// Returns the trial of a search with the condition `failed(JOB) < 5%`.
fn trial(evidence: &Evidence, job: &str) -> Trial {
    let text = format!("failed({job}) < 5%");
    let slo = Slo { text, metric: Metric::Failed, side: Side::Below, bound: 0.05 };
    let order = CapacityOrder {
        conditions: vec![Condition { job: job.to_owned(), slo }],
        vary: VariedLoad::Rate { job: "read".to_owned() },
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

/// The accounts are the mix, then its parts.
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
