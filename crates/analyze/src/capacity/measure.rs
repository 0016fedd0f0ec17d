//! Figures of a trial from the evidence of its run.

use base::{AccountId, Nanos};
use record::Kind;
use workload::question::Condition;
use workload::{Metric, Side, Statistic};

use super::order::CapacityOrder;
use super::result::TrialRequest;
use super::trial::{Counted, Measure, OwnLimit, Trial};
use crate::check::{Domain, Status};
use crate::distribution::Quantile;
use crate::evidence::{Evidence, JobEvidence};
use crate::job::JobSummary;
use crate::slo;
use crate::summary::Summary;

/// Half the width of a 95 % interval in standard errors, for many batches.
const TWO_SIDED_95: f64 = 1.96;

/// Share of the response time that requests wait for a connection, from which on the connections
/// are what limits.
const WAITING: f64 = 0.5;

impl Trial {
    /// Returns the figures of a run that was made for this request and took this time with warm-up
    /// and drain.
    pub fn of(
        order: &CapacityOrder,
        request: &TrialRequest,
        evidence: &Evidence,
        summary: &Summary,
        took: Nanos,
    ) -> Trial {
        let accounts = || evidence.accounts().zip(&summary.jobs);
        let named = |name: &str| accounts().find(|(_, job)| job.name == name);
        let measured = |condition: &Condition| match named(&condition.job) {
            Some((account, job)) => measure(condition, evidence, account, job),
            None => Measure::Missing,
        };
        let measures: Vec<Measure> = order.conditions.iter().map(measured).collect();
        let varied = named(order.vary.job());
        let length = evidence.window_length().as_secs_f64();
        let offered = varied.filter(|(_, job)| job.arrival.is_some());
        let per_s = |count: u64| if length > 0.0 { count as f64 / length } else { 0.0 };
        let failures = |job: &JobSummary| {
            let errors = job.counts.balance.errors();
            errors - job.counts.accepted_errors.min(errors)
        };
        let judged = summary.jobs.iter();
        let mut trial = Trial {
            value: request.value,
            phase: request.phase,
            window: request.window,
            took,
            offered_per_s: offered.map(|(_, job)| per_s(job.counts.balance.scheduled())),
            achieved_per_s: varied.and_then(|(_, job)| job.throughput_per_s).unwrap_or(0.0),
            exceeds_capacity: judged.clone().any(|job| job.exceeds_capacity),
            backlog_t: backlog_t(summary),
            errors: judged.clone().map(failures).sum(),
            rejected: judged.map(|job| job.counts.balance.rejected()).sum(),
            invalid: invalid_checks(summary),
            own_limit: None,
            relaxation: relaxation(&measures, varied.map(|(_, job)| job)),
            measures,
        };
        let limit = varied.and_then(|(account, job)| own_limit(evidence, account, job));
        trial.own_limit = limit.filter(|_| trial.is_beyond(order));
        trial
    }

    /// Returns true if the load exceeded the capacity, or a condition does not hold.
    fn is_beyond(&self, order: &CapacityOrder) -> bool {
        let is_violated = |(condition, measure): (&Condition, &Measure)| {
            super::judge::ratio(condition, *measure).is_some_and(|ratio| ratio >= 1.0)
        };
        let violated = order.conditions.iter().zip(&self.measures).any(is_violated);
        self.exceeds_capacity || self.rejected > 0 || violated
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

fn measure(
    condition: &Condition,
    evidence: &Evidence,
    account: AccountId,
    job: &JobSummary,
) -> Measure {
    let slo = &condition.slo;
    let times = |kind| evidence.jobs[account.index()].histogram(kind);
    match (slo.metric, slo.side) {
        (Metric::Response(Statistic::Quantile(q)), Side::Below) => {
            let dispersion = dispersion(job, q);
            beyond(&evidence.jobs[account.index()], Kind::Response, slo.bound, job, dispersion)
        }
        (Metric::Service(Statistic::Quantile(q)), Side::Below) => {
            let dispersion = dispersion(job, q);
            beyond(&evidence.jobs[account.index()], Kind::Service, slo.bound, job, dispersion)
        }
        (Metric::Failed, Side::Below) => failed(job),
        (Metric::Response(Statistic::Mean), _) => {
            let estimate = job.estimates.mean_ns;
            let Some(estimate) = estimate else { return Measure::Missing };
            let error = |bounds: crate::Bounds| (bounds.high - bounds.low) / 2.0 / TWO_SIDED_95;
            Measure::Value { value: estimate.value, standard_error: estimate.bounds.map(error) }
        }
        (Metric::Response(statistic), _) => value(times(Kind::Response), statistic),
        (Metric::Service(statistic), _) => value(times(Kind::Service), statistic),
        (Metric::Throughput, _) => exact(job.throughput_per_s),
        (Metric::Failed, Side::Above) => exact(slo::failed(&job.counts)),
    }
}

fn exact(value: Option<f64>) -> Measure {
    value.map_or(Measure::Missing, |value| Measure::Value { value, standard_error: None })
}

fn value(times: Option<&hdrhistogram::Histogram<u64>>, statistic: Statistic) -> Measure {
    let times = times.filter(|times| !times.is_empty());
    exact(times.map(|times| match statistic {
        Statistic::Quantile(q) => times.value_at_quantile(q) as f64,
        Statistic::Mean => times.mean(),
        Statistic::Max => times.max() as f64,
    }))
}

/// Counts the requests of the window that reach the bound. Requests without a time of this kind
/// failed, and count as well. A value of the histogram is the largest of its bucket, as it is for
/// the quantile.
fn beyond(
    evidence: &JobEvidence,
    kind: Kind,
    bound: f64,
    job: &JobSummary,
    dispersion: Option<f64>,
) -> Measure {
    let Some(times) = evidence.histogram(kind) else { return Measure::Missing };
    let reaches = |value: u64| value as f64 >= bound;
    let recorded = times.iter_recorded().filter(|it| reaches(it.value_iterated_to()));
    let slow: u64 = recorded.map(|it| it.count_at_value()).sum();
    let accepted = job.counts.accepted_errors;
    let total = job.counts.balance.scheduled().max(times.len());
    let without = total.saturating_sub(times.len()).saturating_sub(accepted);
    match total {
        0 => Measure::Missing,
        total => Measure::Count(Counted { exceeded: slow + without, total, dispersion }),
    }
}

fn failed(job: &JobSummary) -> Measure {
    let total = job.counts.balance.scheduled();
    match slo::failed(&job.counts) {
        Some(share) => Measure::Count(Counted {
            exceeded: (share * total as f64).round() as u64,
            total,
            dispersion: None,
        }),
        None => Measure::Missing,
    }
}

/// Returns the number of times per independent time, from the interval of the quantile that is
/// closest to this one.
fn dispersion(job: &JobSummary, q: f64) -> Option<f64> {
    let all = Quantile::ALL.iter().zip(&job.estimates.quantiles_ns);
    let distance = |quantile: &Quantile| ((1.0 - quantile.fraction) / (1.0 - q)).ln().abs();
    let nearest = all.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)))?;
    let independent = nearest.1.as_ref()?.effective_samples.filter(|samples| *samples > 0)?;
    Some(job.estimates.count as f64 / independent as f64)
}

/// Returns the relaxation time: correlation with this time constant raises the variance of a count
/// by the factor 1 + 2 τ λ (the integrated autocorrelation of an exponential decay).
fn relaxation(measures: &[Measure], job: Option<&JobSummary>) -> Option<Nanos> {
    let per_s = job?.throughput_per_s.filter(|per_s| *per_s > 0.0)?;
    let dispersions = measures.iter().filter_map(|measure| match measure {
        Measure::Count(counted) => counted.dispersion,
        Measure::Value { .. } | Measure::Missing => None,
    });
    let largest = dispersions.max_by(f64::total_cmp)?;
    Some(Nanos::from_secs_f64((largest - 1.0).max(0.0) / (2.0 * per_s)))
}

/// Returns the number of connections of an open job whose requests spend most of their response
/// time waiting for one.
fn own_limit(evidence: &Evidence, account: AccountId, job: &JobSummary) -> Option<OwnLimit> {
    job.arrival?;
    let spent = |kind| {
        let times = evidence.jobs[account.index()].histogram(kind);
        times.map_or(0.0, |times| times.mean() * times.len() as f64)
    };
    let (waited, all) = (spent(Kind::Wait), spent(Kind::Response));
    let waits = all > 0.0 && waited >= WAITING * all && job.connections > 0;
    waits.then_some(OwnLimit::Connections(job.connections))
}
