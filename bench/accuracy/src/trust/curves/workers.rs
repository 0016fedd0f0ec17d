//! Sweeps of the number of workers by the p99 of the response time, against servers with a closed
//! form.
//!
//! The workers of a queue contend: the more workers there are, the more slowly each of them serves,
//! by the universal scalability law. With few workers requests wait, and with many each request is
//! slow, so the p99 has its minimum in between. With exponential service times the queue is M/M/c,
//! and its p99 is known for each number of workers.

use std::error::Error;

use analyze::compare::RunFigures;
use analyze::curve::{ALPHA, best};
use sim::closed_form::{ClosedForm as _, MMc, Scalability};
use workload::question::{BestRule, Deltas, Direction, Quantity, RunMetric, TimeStatistic};

use super::sweeps::{BestRates, REPEATS, figures, points, sweeps};

/// Numbers of workers. The smallest number is too small for [`RATE`].
const WORKERS: [u32; 8] = [6, 8, 10, 12, 16, 24, 32, 48];

/// Arrivals per second.
const RATE: f64 = 600.0;

/// The law of the workers' mutual slowdown.
const LAW: Scalability = Scalability { service_s: 0.01, contention: 0.02, coherency: 0.000_5 };

/// Ratio of the p99 with a number of workers to the smallest p99, above which the number is far
/// from the best.
const FAR: f64 = 2.0;

/// Counts the sweeps in which the best of eight numbers of workers is named.
pub(super) fn best_workers(number: u32) -> Result<BestRates, Box<dyn Error>> {
    let metric = RunMetric::of(Quantity::Response(TimeStatistic::P99), "read");
    let rule = BestRule { better: Direction::Lower, metric };
    let truth = WORKERS.map(p99_s);
    let smallest = truth.into_iter().fold(f64::INFINITY, f64::min);
    let is_best = |point: usize| truth[point] <= smallest;
    let is_far = |point: usize| truth[point] > FAR * smallest;
    let found = sweeps(number, sweep, |runs| {
        let found = best(&points(&WORKERS, &runs), &rule, &Deltas::default(), ALPHA);
        let has_best_mean = found.best.is_some_and(is_best);
        let is_named = has_best_mean || found.not_worse().any(is_best);
        Ok([is_named, has_best_mean, found.not_worse().any(is_far)])
    })?;
    Ok(BestRates::count(
        &found,
        "best p99 of 8 numbers of workers, the next 2 % worse: named or not shown worse",
        "a number of workers with twice its p99: not shown worse",
    ))
}

/// Returns the p99 of the response time in seconds; infinite if the workers are too few for the
/// arrivals.
fn p99_s(workers: u32) -> f64 {
    let service_rate = 1.0 / LAW.response_s(f64::from(workers));
    match RATE < f64::from(workers) * service_rate {
        true => MMc { servers: workers, service_rate, arrival_rate: RATE }.quantile(0.99),
        false => f64::INFINITY,
    }
}

/// Runs a sweep with noise of 2 % from run to run, and returns the figures of each point.
fn sweep(seed: u64) -> Result<Vec<Vec<RunFigures>>, Box<dyn Error>> {
    let run = |point: usize, repeat: u32| {
        let workers = WORKERS[point];
        let service_us = 1e6 * LAW.response_s(f64::from(workers));
        let url = format!("sim:mmc?service={service_us:.0}us&servers={workers}&noise=0.02");
        let workload = format!(
            "duration = 11s\nwarmup = 1s\n[read]\nquery = select 1\nrate = {RATE}\n\
             concurrency = {workers}\n"
        );
        let number = u64::from(repeat) * WORKERS.len() as u64 + point as u64;
        figures(&workload, &url, seed * 1_000 + number)
    };
    let point = |point| (0..REPEATS).map(|repeat| run(point, repeat)).collect();
    (0..WORKERS.len()).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_workers_are_the_best_and_twelve_nearly() {
        let [too_few, _, best, next, .., most] = WORKERS.map(|it| 1e3 * p99_s(it));
        assert_eq!(too_few, f64::INFINITY);
        assert!((best - 58.3).abs() < 0.1 && (next - 59.7).abs() < 0.1, "{best} {next}");
        assert!(most > FAR * best, "{most}");
    }
}
