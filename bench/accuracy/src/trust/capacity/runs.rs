//! Capacity searches whose trials are runs of the engine in virtual time.

use std::error::Error;

use analyze::capacity::{
    Capacity, CapacityOrder, Measure, Step, Trial, TrialContext, TrialRequest, next_step,
};
use analyze::summarize;
use base::{Nanos, Seed};
use engine::Options;
use workload::question::{CapacityQuestion, Condition, VariedLoad};
use workload::{Metric, Side, Slo, Statistic};

use super::system::System;
use crate::trust::{of_record, plan};

/// First rate of every search, in requests per second.
pub(super) const FIRST: f64 = 100.0;

/// Highest rate that a search may try, in requests per second.
const HIGHEST: f64 = 20_000.0;

/// Usual time for all trials of a search.
pub const BUDGET: Nanos = Nanos::from_secs(25 * 60);

const WARMUP: Nanos = Nanos::from_secs(1);

/// Time that is added to each trial for its drain, as in a search of `lab` in virtual time. A
/// search in real time adds at least as much.
const DRAIN: Nanos = Nanos::from_secs(2);

/// Maximum number of trials of one search. A search that needs more may never end, and fails.
const MOST_TRIALS: usize = 1_000;

/// A search and the number of requests that it took.
#[derive(Clone, Debug)]
pub struct FinishedSearch {
    /// Result of the search.
    pub capacity: Capacity,
    /// Number of requests of all trials, including the trials of the confirmation.
    pub requests: u64,
    /// Number of requests of the confirmation.
    pub of_confirmation: u64,
}

/// Returns the parameters of a search on this system.
fn order(system: &System, seed: u64, budget: Nanos) -> CapacityOrder {
    let slo = Slo {
        text: format!("p99(read) < {}ms", system.bound_ms),
        metric: Metric::Response(Statistic::Quantile(system.quantile)),
        side: Side::Below,
        bound: system.bound_ms * 1e6,
    };
    CapacityOrder {
        conditions: vec![Condition { job: "read".to_owned(), slo }],
        vary: VariedLoad::Rate { job: "read".to_owned() },
        first: FIRST,
        highest: Some(HIGHEST),
        ceiling_per_s: None,
        trial: CapacityQuestion::default_trial(budget),
        warmup: WARMUP,
        drain: DRAIN,
        budget,
        hold: None,
        confirmations: CapacityOrder::CONFIRMATIONS,
        seed: Seed(seed),
    }
}

/// Runs a search with this seed, within a budget of simulated time.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn search(system: &System, seed: u64, budget: Nanos) -> Result<FinishedSearch, Box<dyn Error>> {
    let order = order(system, seed, budget);
    let mut trials: Vec<Trial> = Vec::new();
    while trials.len() < MOST_TRIALS {
        match next_step(&order, &trials) {
            Step::Run(request) => trials.push(trial(system, &order, &request, seed)?),
            Step::Done(capacity) => {
                let of = |trial: &Trial| match trial.measures.first() {
                    Some(Measure::Count(counted)) => counted.total,
                    Some(Measure::Value { .. } | Measure::Missing) | None => 0,
                };
                let confirms = |it: &&Trial| it.phase.name() == "confirm";
                return Ok(FinishedSearch {
                    capacity: *capacity,
                    requests: trials.iter().map(of).sum(),
                    of_confirmation: trials.iter().filter(confirms).map(of).sum(),
                });
            }
        }
    }
    Err(format!("{}, seed {seed}: no result after {MOST_TRIALS} trials", system.name).into())
}

/// Runs one trial.
pub(super) fn trial(
    system: &System,
    order: &CapacityOrder,
    request: &TrialRequest,
    seed: u64,
) -> Result<Trial, Box<dyn Error>> {
    // Whole milliseconds, rounded up.
    let millis = |time: Nanos| time.0.div_ceil(1_000_000);
    let (warmup, window) = (millis(request.warmup), millis(request.window));
    let plan = plan(&format!(
        "duration = {}ms\nwarmup = {warmup}ms\n[read]\nquery = select 1\nrate = {}\n{}",
        warmup + window,
        request.value,
        system.job
    ))?;
    let seed = seed * 10_000 + request.number as u64;
    let took = Nanos::from_millis(warmup + window) + order.drain;
    // A server with a trend is slower in later trials.
    let url = format!("{}&run={}", system.url, request.number);
    of_record(&plan, &url, seed, Options::simulated(), |archive| {
        let evidence = lab::evidence(archive)?;
        let dispersions = lab::count_dispersions(archive, &evidence, &order.conditions)?;
        let context = TrialContext { took, dispersions };
        Ok(Trial::of(order, request, &evidence, &summarize(&evidence), context))
    })
}
