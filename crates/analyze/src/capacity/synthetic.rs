//! Synthetic trials for the tests of the search.

use base::{Nanos, Seed, Stream};
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side, Slo, Statistic};

use super::order::CapacityOrder;
use super::result::{Capacity, Step, TrialRequest};
use super::search::next_step;
use super::trial::{ExceedanceCount, Measure, Trial};

/// Returns the condition `p99(read) < 20ms`.
pub(super) fn p99() -> Condition {
    let slo = Slo {
        text: "p99(read) < 20ms".to_owned(),
        metric: Metric::Response(Statistic::Quantile(0.99)),
        side: Side::Below,
        bound: 20e6,
    };
    Condition { job: "read".to_owned(), slo }
}

/// Returns the condition `failed(JOB) < N%`.
pub(super) fn failed_below(job: &str, percent: u8) -> Condition {
    let slo = Slo {
        text: format!("failed({job}) < {percent}%"),
        metric: Metric::Failed,
        side: Side::Below,
        bound: f64::from(percent) / 100.0,
    };
    Condition { job: job.to_owned(), slo }
}

/// Returns the specification of a search for the highest rate with [`p99`], from 100 requests per
/// second.
pub(super) fn order() -> CapacityOrder {
    CapacityOrder {
        conditions: vec![p99()],
        vary: VariedLoad::Rate { job: "read".to_owned() },
        first: 100.0,
        highest: Some(10_000.0),
        ceiling_per_s: None,
        trial: Nanos::from_secs(10),
        warmup: Nanos::from_secs(1),
        drain: Nanos::from_secs(2),
        budget: Nanos::from_secs(1_500),
        hold: None,
        confirmations: CapacityOrder::CONFIRMATIONS,
        seed: Seed(1),
    }
}

/// Returns the share of the requests beyond 20 ms in the queue of [`queue_beyond`]. It is 1 % at
/// 769.74 requests per second.
pub(super) fn queue(per_s: f64) -> f64 {
    queue_beyond(per_s, 0.02)
}

/// Returns the share of the requests that take longer than a time, in a queue with one server,
/// Poisson arrivals and exponential service times with a mean of 1 ms.
pub(super) fn queue_beyond(per_s: f64, time_s: f64) -> f64 {
    (-(1_000.0 - per_s).max(0.0) * time_s).exp()
}

/// The capacity of [`queue`], in requests per second.
pub(super) const QUEUE: f64 = 769.741_5;

/// Returns a trial in which this share of the requests reaches the bound, with the noise of
/// independent requests.
pub(super) fn trial(request: &TrialRequest, per_s: f64, share: f64) -> Trial {
    noisy(request, per_s, share, 7)
}

/// Returns a trial in which this share of the requests reaches the bound, with the noise that the
/// seed determines.
pub(super) fn noisy(request: &TrialRequest, per_s: f64, share: f64, seed: u64) -> Trial {
    let window_s = request.window.as_secs_f64();
    made(request, per_s, exceeding((per_s * window_s).round(), share, 1.0, draw(request, seed)))
}

/// Returns a trial whose slow requests come in bursts: `dispersion` requests count like one
/// independent request.
pub(super) fn bursty(request: &TrialRequest, share: f64, (dispersion, seed): (f64, u64)) -> Trial {
    let total = (request.value * request.window.as_secs_f64()).round();
    made(request, request.value, exceeding(total, share, dispersion, draw(request, seed)))
}

/// Returns a standard normal number, the same for each call with this trial and seed.
fn draw(request: &TrialRequest, seed: u64) -> f64 {
    Stream::new(Seed(seed), "test", "trial").draw(request.number as u64).normal()
}

/// Returns the count of requests that reach the bound: `share` of `total`, plus `noise` standard
/// deviations. `dispersion` requests scatter like one independent request.
fn exceeding(total: f64, share: f64, dispersion: f64, noise: f64) -> ExceedanceCount {
    let exceeded = share * total + (share * (1.0 - share) * total * dispersion).sqrt() * noise;
    let exceeded = exceeded.round().clamp(0.0, total) as u64;
    ExceedanceCount { exceeded, total: total as u64, dispersion: Some(dispersion) }
}

fn made(request: &TrialRequest, per_s: f64, counted: ExceedanceCount) -> Trial {
    Trial {
        value: request.value,
        phase: request.phase,
        window: request.window,
        took: request.warmup + request.window + Nanos::from_secs(2),
        measures: vec![Measure::Count(counted)],
        offered_per_s: Some(per_s),
        achieved_per_s: per_s,
        exceeds_capacity: false,
        backlog_t: None,
        errors: 0,
        failed_jobs: Vec::new(),
        rejected: 0,
        limited_failures: 0,
        invalid: Vec::new(),
        load_limit: None,
        service: None,
        relaxation: None,
    }
}

/// Runs a search to its end; `server` returns its trials. Returns the result and the trials.
pub(super) fn run(
    order: &CapacityOrder,
    server: impl Fn(&TrialRequest) -> Trial,
) -> (Capacity, Vec<Trial>) {
    let mut trials = Vec::new();
    for _ in 0..1_000 {
        match next_step(order, &trials) {
            Step::Run(request) => trials.push(server(&request)),
            Step::Done(capacity) => return (*capacity, trials),
        }
    }
    panic!("the search does not end: {:?}", trials.last());
}
