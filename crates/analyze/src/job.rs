//! The numbers of one job.

use std::ops::Range;

use base::{Class, Code};
use hdrhistogram::Histogram;
use record::{Counts, Gauge, Kind};

use crate::checks::Findings;
use crate::distribution::Distribution;
use crate::evidence::{Evidence, JobEvidence};
use crate::slo::{Judgement, Measured, judge};

/// The numbers of one job over the window.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// The job's name.
    pub name: String,
    /// The word for its model.
    pub model: &'static str,
    /// The word for its arrival process; `None` for a closed job.
    pub arrival: Option<&'static str>,
    /// Requests per second that its schedule offers; `None` for a closed job.
    pub offered_per_s: Option<f64>,
    /// By intended start in the window.
    pub counts: Counts,
    /// Completions whose end lies in the window, per second.
    pub throughput_per_s: Option<f64>,
    /// Their rows, per second.
    pub rows_per_s: Option<f64>,
    /// Whether response and wait are withheld because the offered load exceeds the capacity.
    pub exceeds_capacity: bool,
    /// Completed requests, timeouts, and unsent ones at their age.
    pub response: Distribution,
    /// Completed requests and timeouts.
    pub service: Distribution,
    /// Requests that were sent.
    pub wait: Distribution,
    /// Requests that were sent.
    pub send_lag: Distribution,
    /// Errors other than timeouts.
    pub error: Distribution,
    /// Each statement of the job, if it has more than one.
    pub statements: Vec<StatementSummary>,
    /// Errors by class and code.
    pub errors_by_code: Vec<(Class, Code, u64)>,
    /// The most connections that were open at the end of an interval.
    pub connections: u64,
    /// The window in parts.
    pub probes: Vec<Probe>,
    /// What the job is judged by.
    pub slos: Vec<Judgement>,
}

/// The service time of one statement of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementSummary {
    /// Its place in the job, from 1.
    pub number: usize,
    /// Its text, values left out.
    pub text: String,
    /// Its service time.
    pub service: Distribution,
}

/// A part of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// When it begins, in seconds since time zero.
    pub start_s: f64,
    /// Completions whose end lies in it, per second.
    pub throughput_per_s: f64,
    /// The response time of the requests whose intended start lies in it.
    pub response: Distribution,
}

/// The summary of the job at `place`.
pub(crate) fn summarize(findings: &Findings<'_>, place: usize) -> JobSummary {
    let evidence = findings.evidence;
    let plan = &evidence.plan.jobs[place];
    let job = &evidence.jobs[place];
    let window = evidence.window();
    let ends = job.ends(window.clone());
    let length = evidence.window_length().as_secs_f64();
    let per_s = |count: u64| (length > 0.0).then(|| count as f64 / length);
    let counts = findings.counts[place];
    let exceeds_capacity = findings.is_overloaded(place);
    let throughput_per_s = per_s(ends.completed);
    let distribution = |kind| job.histogram(kind).map(Distribution::of).unwrap_or_default();
    let measured = Measured { job, counts: &counts, throughput_per_s, withheld: exceeds_capacity };
    JobSummary {
        name: plan.name.clone(),
        model: plan.model(),
        arrival: plan.arrival(),
        offered_per_s: plan.offered_per_s(),
        counts,
        throughput_per_s,
        rows_per_s: per_s(ends.rows),
        exceeds_capacity,
        response: distribution(Kind::Response),
        service: distribution(Kind::Service),
        wait: distribution(Kind::Wait),
        send_lag: distribution(Kind::SendLag),
        error: distribution(Kind::Error),
        statements: statements(findings, place),
        errors_by_code: job.failures.clone(),
        connections: most(job.range(window).map(|interval| interval.gauge)),
        probes: probes(evidence, place, usize::MAX),
        slos: plan.slos.iter().map(|slo| judge(slo, &measured)).collect(),
    }
}

fn most(gauges: impl Iterator<Item = Gauge>) -> u64 {
    gauges.map(|gauge| gauge.connections).max().unwrap_or(0)
}

fn statements(findings: &Findings<'_>, place: usize) -> Vec<StatementSummary> {
    let plan = &findings.evidence.plan.jobs[place];
    if plan.statements.len() < 2 {
        return Vec::new();
    }
    let job = &findings.evidence.jobs[place];
    let statements = plan.statements.iter().enumerate();
    let summary = |(number, statement): (usize, &workload::Statement)| StatementSummary {
        number: number + 1,
        text: statement.text(base::Placeholders::Question),
        service: job
            .histogram(Kind::Statement(number as u16))
            .map(Distribution::of)
            .unwrap_or_default(),
    };
    statements.map(summary).collect()
}

/// The window of the job at `place` in at most `parts` parts: consecutive probes are merged, so
/// that a table over time has a length that can be read.
pub fn probes(evidence: &Evidence, place: usize, parts: usize) -> Vec<Probe> {
    let job = &evidence.jobs[place];
    let merged = job.probes.len().div_ceil(parts.max(1)).max(1);
    job.probes.chunks(merged).map(|part| probe(evidence, job, part)).collect()
}

/// Consecutive probes as one; `part` is not empty.
fn probe(
    evidence: &Evidence,
    job: &JobEvidence,
    part: &[(Range<record::Interval>, Histogram<u64>)],
) -> Probe {
    let range = part[0].0.start..part[part.len() - 1].0.end;
    let start = evidence.grid.start(range.start);
    let end = evidence.grid.start(range.end).min(evidence.end);
    let length = end.saturating_sub(start).as_secs_f64();
    let completed = job.ends(range).completed as f64;
    let mut response = part[0].1.clone();
    for (_, histogram) in &part[1..] {
        response.add(histogram).expect("histograms of one kind have the same bounds");
    }
    Probe {
        start_s: start.as_secs_f64(),
        throughput_per_s: if length > 0.0 { completed / length } else { 0.0 },
        response: Distribution::of(&response),
    }
}
