//! The numbers of one job.

use std::ops::Range;

use base::{Class, Code};
use record::{Counts, Event, EventKind, JobIndex, Kind};
use workload::Reconnect;

use crate::checks::Findings;
use crate::distribution::Distribution;
use crate::evidence::{Evidence, JobEvidence, NodeEvidence};
use crate::quiet::{Quiet, quiet};
use crate::responses::Responses;
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
    /// Requests per second that its schedule offers, on average where they vary; `None` for a
    /// closed job.
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
    /// The response time's mean and quantiles as estimates, with what chance may do to them.
    pub estimates: Responses,
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
    /// The servers that it asked, if its target is several.
    pub nodes: Vec<NodeSummary>,
    /// Errors by class and code.
    pub errors_by_code: Vec<ErrorSummary>,
    /// The success that says nothing, if it is one.
    pub quiet: Option<Quiet>,
    /// The most connections that were open at the end of an interval.
    pub connections: u64,
    /// The window in parts, as long as the plan says.
    pub probes: Vec<Probe>,
    /// The window in at most [`ROWS`](crate::ROWS) parts.
    pub course: Vec<Probe>,
    /// What the job is judged by.
    pub slos: Vec<Judgement>,
}

/// The errors of a job that have one class and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSummary {
    /// Their class.
    pub class: Class,
    /// The database's code, or ours.
    pub code: Code,
    /// Their number in the window.
    pub count: u64,
    /// The text of the first one in the run; `None` if no event of the record has it.
    pub text: Option<String>,
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

/// What a job's requests met at one of several servers.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSummary {
    /// The server's address.
    pub address: String,
    /// The requests that were sent to it, by intended start in the window.
    pub counts: Counts,
    /// Completions whose end lies in the window, per second.
    pub throughput_per_s: Option<f64>,
    /// Completed requests and timeouts.
    pub response: Distribution,
    /// Completed requests and timeouts.
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
    let window = evidence.steps.window();
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
        model: evidence.plan.leader(place).model(),
        arrival: evidence.plan.leader(place).arrival(),
        offered_per_s: findings.offered_per_s(place),
        counts,
        throughput_per_s,
        rows_per_s: per_s(ends.rows),
        exceeds_capacity,
        response: distribution(Kind::Response),
        estimates: job.estimates,
        service: distribution(Kind::Service),
        wait: distribution(Kind::Wait),
        send_lag: distribution(Kind::SendLag),
        error: distribution(Kind::Error),
        statements: statements(findings, place),
        nodes: nodes(evidence, place),
        errors_by_code: errors(evidence, place),
        quiet: quiet(evidence, place),
        connections: job.range(window).filter_map(|step| step.connections).max().unwrap_or(0),
        probes: parts(evidence, job, &job.probes),
        course: parts(evidence, job, &job.course),
        slos: plan.slos.iter().map(|slo| judge(slo, &measured)).collect(),
    }
}

fn errors(evidence: &Evidence, place: usize) -> Vec<ErrorSummary> {
    let failures = evidence.jobs[place].failures.iter();
    let summary = |&(class, code, count): &(Class, Code, u64)| {
        let text = first_text(evidence, place, class, code);
        ErrorSummary { class, code, count, text }
    };
    failures.map(summary).collect()
}

/// The text of a job's first error with a code. Events have no column for codes, and the text of
/// an error ends with its own. Requests that were not sent because the server is away have the
/// text of the outage, unless it may be that of another target.
fn first_text(evidence: &Evidence, place: usize, class: Class, code: Code) -> Option<String> {
    let end = format!("({code})");
    let of_job = |job: Option<JobIndex>| job.is_some_and(|job| usize::from(job.0) == place);
    let is_first = |event: &&Event| {
        event.kind == EventKind::FirstError && of_job(event.job) && event.text.ends_with(&end)
    };
    let has_one_target = evidence.plan.named_targets().next().is_none();
    let is_outage = |event: &&Event| {
        event.kind == EventKind::OutageBegan && class == Class::Disconnect && has_one_target
    };
    let earliest = |is: &dyn Fn(&&Event) -> bool| {
        evidence.events.iter().filter(is).min_by_key(|event| event.at)
    };
    let found = earliest(&is_first).or_else(|| earliest(&is_outage))?;
    Some(found.text.clone())
}

fn nodes(evidence: &Evidence, place: usize) -> Vec<NodeSummary> {
    let window = evidence.steps.window();
    let length = evidence.window_length().as_secs_f64();
    let of_this_job = evidence.nodes.iter().filter(|node| node.job == place);
    let summary = |node: &NodeEvidence| {
        let requests = &node.requests;
        let completed = requests.ends(window.clone()).completed;
        let distribution = |kind| requests.histogram(kind).map(Distribution::of);
        NodeSummary {
            address: node.address.clone(),
            counts: requests.counts(window.clone()),
            throughput_per_s: (length > 0.0).then(|| completed as f64 / length),
            response: distribution(Kind::Response).unwrap_or_default(),
            service: distribution(Kind::Service).unwrap_or_default(),
        }
    };
    of_this_job.map(summary).collect()
}

fn statements(findings: &Findings<'_>, place: usize) -> Vec<StatementSummary> {
    let plan = &findings.evidence.plan.jobs[place];
    let connects = match findings.evidence.plan.leader(place).reconnect {
        Reconnect::No => false,
        Reconnect::PerTransaction => true,
    };
    // Of a request that is one statement, sent once, they would say the same as its service time.
    if plan.statements.len() < 2 && !plan.transaction && plan.retry.is_none() && !connects {
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

fn parts(
    evidence: &Evidence,
    job: &JobEvidence,
    parts: &[(Range<usize>, Distribution)],
) -> Vec<Probe> {
    let part = |(steps, response): &(Range<usize>, Distribution)| {
        let start = evidence.steps.start(steps.start);
        let length = evidence.steps.start(steps.end).saturating_sub(start).as_secs_f64();
        let completed = job.ends(steps.clone()).completed as f64;
        Probe {
            start_s: start.as_secs_f64(),
            throughput_per_s: if length > 0.0 { completed / length } else { 0.0 },
            response: response.clone(),
        }
    };
    parts.iter().map(part).collect()
}
