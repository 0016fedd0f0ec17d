//! Figures of a trial from the evidence of its run.

use std::ops::Range;

use base::{AccountId, Class, Nanos};
use hdrhistogram::Histogram;
use record::Kind;
use workload::question::{Condition, VariedLoad};
use workload::{Metric, Side, Statistic};

use super::judge::UNKNOWN_DISPERSION;
use super::order::CapacityOrder;
use super::result::TrialRequest;
use super::trial::{ExceedanceCount, LoadLimit, Measure, Trial, TrialContext};
use crate::check::{Domain, Status};
use crate::checks::input::CheckInput;
use crate::confidence::{Batch, Bounds, Estimate, dispersion};
use crate::distribution::Quantile;
use crate::evidence::Evidence;
use crate::job::JobSummary;
use crate::slo;
use crate::summary::Summary;

/// Half the width of a 95 % interval in standard errors, for many batches.
const TWO_SIDED_95: f64 = 1.96;

/// Smallest share of the response time spent waiting for a connection at which the connections are
/// the limit.
const LEAST_WAIT_SHARE: f64 = 0.5;

/// Minimum number of requests beyond a bound from which their correlation is estimated. The
/// estimate uses how these requests are distributed over the window.
const FEWEST_EXCEEDANCES: u64 = 10;

/// Returns the factor by which correlation raises the variance of the number of measured times that
/// reach a bound; `None` if the factor is unknown. The bound is in nanoseconds. `read` returns the
/// times of the requests whose intended start lies in a step of [`Steps`](crate::Steps).
///
/// # Errors
/// Returns the first error of `read`.
pub fn count_dispersion<E>(
    steps: Range<usize>,
    bound: f64,
    mut read: impl FnMut(usize) -> Result<Histogram<u64>, E>,
) -> Result<Option<f64>, E> {
    let mut batches = Vec::with_capacity(steps.len());
    for step in steps {
        let times = read(step)?;
        batches.push(Batch { amount: reaching(&times, bound) as f64, base: times.len() as f64 });
    }
    Ok(dispersion(&batches))
}

impl Trial {
    /// Returns the figures of a run that was executed for this [`TrialRequest`].
    pub fn of(
        order: &CapacityOrder,
        request: &TrialRequest,
        evidence: &Evidence,
        summary: &Summary,
        context: TrialContext,
    ) -> Trial {
        let accounts = || evidence.accounts().zip(&summary.jobs);
        let named = |name: &str| accounts().find(|(_, job)| job.name == name);
        let length = evidence.window_length().as_secs_f64();
        let measured = |(position, condition): (usize, &Condition)| match named(&condition.job) {
            Some((account, job)) => {
                let dispersion = context.dispersions.get(position).copied().flatten();
                measure(condition, evidence, (account, job), dispersion)
            }
            None => Measure::Missing,
        };
        let measures: Vec<Measure> = order.conditions.iter().enumerate().map(measured).collect();
        let relaxation_of = |condition: &Condition| relaxation(condition, named(&condition.job)?.1);
        let varied = named(order.vary.job());
        let offered = varied.filter(|(_, job)| job.arrival.is_some());
        let per_s = |count: u64| if length > 0.0 { count as f64 / length } else { 0.0 };
        let failures = Failures::of(order, evidence, summary);
        let mut trial = Trial {
            value: request.value,
            phase: request.phase,
            window: request.window,
            took: context.took,
            offered_per_s: offered.map(|(_, job)| per_s(job.counts.balance.scheduled())),
            achieved_per_s: varied.map_or(0.0, |(_, job)| {
                job.throughput_per_s.unwrap_or(0.0) + per_s(job.counts.accepted_errors)
            }),
            exceeds_capacity: summary.jobs.iter().any(|job| job.exceeds_capacity),
            backlog_t: backlog_t(summary),
            errors: failures.errors,
            failed_jobs: failures.failed_jobs,
            rejected: failures.rejected,
            limited_failures: failures.limited,
            invalid: invalid_checks(summary),
            load_limit: None,
            relaxation: order.conditions.iter().filter_map(relaxation_of).max(),
            service: varied.and_then(|(account, _)| service(evidence, account)),
            measures,
        };
        trial.load_limit = varied.and_then(|(account, job)| match order.vary {
            VariedLoad::Rate { .. } => {
                limit_of_waits(evidence, account, job).filter(|_| trial.is_beyond(order))
            }
            VariedLoad::Concurrency { .. } => limit_of_clients(evidence, account),
        });
        trial
    }

    /// Returns true if the load exceeded the capacity, requests were rejected, or a condition does
    /// not hold.
    fn is_beyond(&self, order: &CapacityOrder) -> bool {
        let is_violated = |(condition, measure): (&Condition, &Measure)| {
            super::judge::ratio(condition, *measure).is_some_and(|ratio| ratio >= 1.0)
        };
        let violated = order.conditions.iter().zip(&self.measures).any(is_violated);
        self.exceeds_capacity || self.rejected > 0 || violated
    }
}

/// Failures of the jobs of a trial.
#[derive(Default)]
struct Failures {
    errors: u64,
    /// Names of the jobs and parts whose requests ended in the counted errors.
    failed_jobs: Vec<String>,
    rejected: u64,
    /// Number of errors and rejected requests of jobs whose failures a condition limits.
    limited: u64,
}

impl Failures {
    /// Adds up the failures of jobs and of the parts of mixes, but not of the mixes, which repeat
    /// those of their parts.
    fn of(order: &CapacityOrder, evidence: &Evidence, summary: &Summary) -> Failures {
        let check_input = CheckInput::new(evidence);
        let mut all = Failures::default();
        for (account, job) in evidence.accounts().zip(&summary.jobs) {
            let planned = evidence.plan.account(account);
            if planned.is_mix() {
                continue;
            }
            let errors = check_input.unexpected(account);
            let rejected = job.counts.balance.rejected();
            match order.limits_failures(&job.name) || order.limits_failures(planned.job().name()) {
                true => all.limited += errors + rejected,
                false => {
                    all.errors += errors;
                    all.rejected += rejected;
                    all.failed_jobs.extend((errors > 0).then(|| job.name.clone()));
                }
            }
        }
        all
    }
}

fn invalid_checks(summary: &Summary) -> Vec<String> {
    let invalid = summary.verdict.with(Status::Invalid);
    let of_instrument = invalid.filter(|check| check.domain() == Domain::Instrument);
    of_instrument.map(|check| check.name().to_owned()).collect()
}

fn backlog_t(summary: &Summary) -> Option<f64> {
    let backlog = summary.verdict.checks.iter().find(|it| it.kind == crate::CheckKind::Backlog)?;
    backlog.value.filter(|_| backlog.unit == crate::Unit::StandardErrors)
}

/// Measures a condition of the job or part with this account. `dispersion` is the dispersion of the
/// count beyond the condition's bound.
fn measure(
    condition: &Condition,
    evidence: &Evidence,
    (account, job): (AccountId, &JobSummary),
    dispersion: Option<f64>,
) -> Measure {
    let slo = &condition.slo;
    let times = |kind| evidence.jobs[account.index()].histogram(kind);
    let beyond = |kind, q| {
        let accepted = accepted_without_time(evidence, account, job);
        beyond(times(kind), slo.bound, (job, accepted), (q, dispersion))
    };
    match (slo.metric, slo.side) {
        (Metric::Response(Statistic::Quantile(q)), Side::Below) => beyond(Kind::Response, q),
        (Metric::Service(Statistic::Quantile(q)), Side::Below) => beyond(Kind::Service, q),
        (Metric::Failed, Side::Below) => failed(job),
        (Metric::Response(Statistic::Mean), _) => {
            mean(times(Kind::Response), job.estimates.mean_ns)
        }
        (Metric::Service(Statistic::Mean), _) => mean(times(Kind::Service), None),
        (Metric::Response(statistic), _) => value(times(Kind::Response), statistic),
        (Metric::Service(statistic), _) => value(times(Kind::Service), statistic),
        (Metric::Throughput, _) => throughput(job, evidence.window_length().as_secs_f64()),
        (Metric::Failed, Side::Above) => exact(slo::failed(&job.counts)),
    }
}

/// Measures a throughput. Its standard error is that of a count of independent requests.
fn throughput(job: &JobSummary, window_s: f64) -> Measure {
    let Some(value) = job.throughput_per_s else { return Measure::Missing };
    let standard_error = (window_s > 0.0).then(|| (value / window_s).sqrt());
    Measure::Value { value, standard_error }
}

fn exact(value: Option<f64>) -> Measure {
    value.map_or(Measure::Missing, |value| Measure::Value { value, standard_error: None })
}

/// Measures a mean: the estimate, or without one the mean of the times. The standard error follows
/// from the interval of the estimate or, without one, from the scatter of the times and
/// [`UNKNOWN_DISPERSION`].
fn mean(times: Option<&Histogram<u64>>, estimate: Option<Estimate>) -> Measure {
    let Some(times) = times.filter(|times| !times.is_empty()) else { return Measure::Missing };
    let of_bounds = |bounds: Bounds| (bounds.high - bounds.low) / 2.0 / TWO_SIDED_95;
    let known = estimate.and_then(|it| it.bounds).map(of_bounds);
    let unknown = times.stdev() * (UNKNOWN_DISPERSION / times.len() as f64).sqrt();
    Measure::Value {
        value: estimate.map_or(times.mean(), |it| it.value),
        standard_error: Some(known.unwrap_or(unknown)),
    }
}

fn value(times: Option<&Histogram<u64>>, statistic: Statistic) -> Measure {
    let times = times.filter(|times| !times.is_empty());
    exact(times.map(|times| match statistic {
        Statistic::Quantile(q) => times.value_at_quantile(q) as f64,
        Statistic::Mean => times.mean(),
        Statistic::Max => times.max() as f64,
    }))
}

/// Returns the number of accepted errors of a job that have no response time. Timeouts have one.
fn accepted_without_time(evidence: &Evidence, account: AccountId, job: &JobSummary) -> u64 {
    let timeouts = evidence.accepted_errors(account, |class, _| class == Class::Timeout);
    job.counts.accepted_errors.saturating_sub(timeouts)
}

/// Counts the requests of the window that reach the bound. Requests without a time of this kind
/// count as well, because they failed, except for the `accepted` ones.
fn beyond(
    times: Option<&Histogram<u64>>,
    bound: f64,
    (job, accepted): (&JobSummary, u64),
    (q, at_bound): (f64, Option<f64>),
) -> Measure {
    let Some(times) = times else { return Measure::Missing };
    let slow = reaching(times, bound);
    let total = job.counts.balance.scheduled().max(times.len());
    let exceeded = slow + total.saturating_sub(times.len()).saturating_sub(accepted);
    let dispersion = dispersion_of_count(exceeded, at_bound, dispersion_at_quantile(job, q));
    match total {
        0 => Measure::Missing,
        total => Measure::Count(ExceedanceCount { exceeded, total, dispersion }),
    }
}

/// Returns the dispersion of a count: for a large count, the dispersion at the bound or, if that is
/// unknown, at the quantile; for a small count, the dispersion at the quantile, but at most
/// [`UNKNOWN_DISPERSION`]. The quantile may lie far below the bound, and short bursts may reach
/// only the quantile.
fn dispersion_of_count(
    exceeded: u64,
    at_bound: Option<f64>,
    at_quantile: Option<f64>,
) -> Option<f64> {
    match exceeded >= FEWEST_EXCEEDANCES {
        true => at_bound.or(at_quantile),
        false => at_quantile.map(|it| it.min(UNKNOWN_DISPERSION)),
    }
}

/// Returns the number of measured times that reach the bound. A value of the histogram is the
/// largest of its bucket, as for the quantile.
fn reaching(times: &Histogram<u64>, bound: f64) -> u64 {
    let recorded = times.iter_recorded().filter(|it| it.value_iterated_to() as f64 >= bound);
    recorded.map(|it| it.count_at_value()).sum()
}

fn failed(job: &JobSummary) -> Measure {
    let total = job.counts.balance.scheduled();
    match slo::failed(&job.counts) {
        Some(share) => Measure::Count(ExceedanceCount {
            exceeded: (share * total as f64).round() as u64,
            total,
            dispersion: None,
        }),
        None => Measure::Missing,
    }
}

/// Returns the ratio of the number of measured times to the number of independent times that would
/// be equally informative, at the reported quantile closest to this one.
fn dispersion_at_quantile(job: &JobSummary, q: f64) -> Option<f64> {
    let all = Quantile::ALL.iter().zip(&job.estimates.quantiles_ns);
    let distance = |quantile: &Quantile| ((1.0 - quantile.fraction) / (1.0 - q)).ln().abs();
    let nearest = all.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)))?;
    let independent = nearest.1.as_ref()?.effective_samples.filter(|samples| *samples > 0)?;
    Some(job.estimates.count as f64 / independent as f64)
}

/// Returns the relaxation time of the count beyond a condition's quantile. The quantile is used
/// instead of the bound, because every trial has times beyond it. Correlation with this time
/// constant raises the variance of the count by the factor 1 + 2 τ λ (the integrated
/// autocorrelation of an exponential decay).
fn relaxation(condition: &Condition, job: &JobSummary) -> Option<Nanos> {
    let per_s = job.throughput_per_s.filter(|per_s| *per_s > 0.0)?;
    let dispersion = dispersion_at_quantile(job, quantile(condition)?)?;
    Some(Nanos::from_secs_f64((dispersion - 1.0).max(0.0) / (2.0 * per_s)))
}

fn quantile(condition: &Condition) -> Option<f64> {
    match condition.slo.metric {
        Metric::Response(Statistic::Quantile(q)) | Metric::Service(Statistic::Quantile(q)) => {
            Some(q).filter(|_| condition.slo.side == Side::Below)
        }
        Metric::Response(_) | Metric::Service(_) | Metric::Throughput | Metric::Failed => None,
    }
}

/// Returns the mean service time of a job; `None` if no service time was measured.
fn service(evidence: &Evidence, account: AccountId) -> Option<Nanos> {
    let times = evidence.jobs[account.index()].histogram(Kind::Service)?;
    (!times.is_empty()).then(|| Nanos(times.mean() as u64))
}

/// Returns the limit of the connections of an open job whose requests spend at least half of their
/// response time waiting for a connection.
fn limit_of_waits(evidence: &Evidence, account: AccountId, job: &JobSummary) -> Option<LoadLimit> {
    let waited = evidence.jobs[account.index()].waited_share();
    let waits = waited.is_some_and(|share| share >= LEAST_WAIT_SHARE) && job.connections > 0;
    waits.then_some(match evidence.refused_growth(account) {
        Some(_) => LoadLimit::AcceptedConnections(job.connections),
        None => LoadLimit::OwnConnections(job.connections),
    })
}

/// Returns the number of connections of a closed job that the server accepted, if it refused the
/// connections of some clients.
fn limit_of_clients(evidence: &Evidence, account: AccountId) -> Option<LoadLimit> {
    let without = evidence.clients_without_connection(account)?;
    Some(LoadLimit::AcceptedConnections(without.connected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Seed, Stream};

    /// Returns the dispersion of twenty steps of 10,000 requests each. About 1 % of the requests
    /// reach the bound, in bursts of this size at random times.
    fn dispersion_of_bursts(size: u64) -> Option<f64> {
        let stream = Stream::new(Seed(5), "test", "bursts");
        let read = |step: usize| -> Result<Histogram<u64>, ()> {
            let mut draw = stream.draw(step as u64);
            let places = 10_000 / size;
            let bursts = (0..places).filter(|_| draw.below(100) == 0).count() as u64;
            let mut times = Kind::Response.histogram();
            times.record_n(30_000_000, bursts * size).unwrap();
            times.record_n(1_000_000, 10_000 - bursts * size).unwrap();
            Ok(times)
        };
        count_dispersion(0..20, 25e6, read).unwrap()
    }

    #[test]
    fn requests_that_are_late_together_are_worth_one() {
        for size in [1, 10, 50] {
            let ratio = dispersion_of_bursts(size).unwrap() / size as f64;
            assert!((0.4..2.2).contains(&ratio), "bursts of {size}: {ratio}");
        }
    }

    /// A mean is decided only if its distance from the bound is larger than its error. If there are
    /// too few batches for an interval, the error follows from the scatter of the times.
    #[test]
    fn mean_has_an_error_also_without_batches() {
        let mut times = Kind::Service.histogram();
        times.record_n(1_000_000, 500).unwrap();
        times.record_n(3_000_000, 500).unwrap();
        // The deviation of the times is 1 ms: 1 ms · √(10/1000).
        let Measure::Value { value, standard_error: Some(error) } = mean(Some(&times), None) else {
            panic!("no error")
        };
        assert!((value / 2e6 - 1.0).abs() < 0.01 && (error / 1e5 - 1.0).abs() < 0.01, "{error}");
        let bounds = Some(Bounds { low: 2e6, high: 2.2e6, is_optimistic: false });
        let estimate = Estimate { value: 2.1e6, bounds, effective_samples: None };
        let expected = Measure::Value { value: 2.1e6, standard_error: Some(1e5 / TWO_SIDED_95) };
        assert_eq!(mean(Some(&times), Some(estimate)), expected);
        assert_eq!(mean(Some(&Kind::Service.histogram()), None), Measure::Missing);
    }

    #[test]
    fn count_without_exceedances_or_with_few_steps_has_no_dispersion() {
        let read = |_| -> Result<Histogram<u64>, ()> {
            let mut times = Kind::Response.histogram();
            times.record_n(1_000_000, 100).unwrap();
            Ok(times)
        };
        assert_eq!(count_dispersion(0..20, 25e6, read), Ok(None));
        assert_eq!(count_dispersion(0..9, 0.5e6, read), Ok(None));
    }

    /// Bursts that reach the quantile but stay far below the bound do not change the dispersion of
    /// the count beyond the bound.
    #[test]
    fn dispersion_agrees_with_the_bound() {
        assert_eq!(dispersion_of_count(500, Some(3.0), Some(700.0)), Some(3.0));
        assert_eq!(dispersion_of_count(0, None, Some(700.0)), Some(UNKNOWN_DISPERSION));
        assert_eq!(dispersion_of_count(9, Some(1.0), Some(2.0)), Some(2.0));
        assert_eq!(dispersion_of_count(9, Some(1.0), None), None);
        assert_eq!(dispersion_of_count(500, None, Some(700.0)), Some(700.0));
    }
}
