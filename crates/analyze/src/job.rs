//! The numbers of one job.

use std::collections::BTreeMap;
use std::ops::Range;

use base::{AccountId, Class, Code, StatementId};
use record::{Counts, Event, EventKind, Kind};
use workload::{JobOrPart, Plan, Reconnect};

use crate::checks::input::CheckInput;
use crate::distribution::Distribution;
use crate::empty_success::{EmptySuccess, empty_success};
use crate::evidence::{Evidence, JobEvidence, NodeEvidence};
use crate::responses::Responses;
use crate::slo::{JobMeasurements, Judgement, judge};

/// The numbers of one job over the window.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// Name of the job.
    pub name: String,
    /// Name of its model.
    pub model: &'static str,
    /// Name of its arrival process; `None` for closed jobs, replays and recorded instants.
    pub arrival: Option<&'static str>,
    /// Requests per second that its schedule offers, the average over the window; `None` without a
    /// schedule, as for closed jobs and replays.
    pub offered_per_s: Option<f64>,
    /// Counts by intended start in the window.
    pub counts: Counts,
    /// Completions whose end lies in the window, per second; `None` if the window is empty.
    pub throughput_per_s: Option<f64>,
    /// Rows of these completions, per second; `None` if the window is empty.
    pub rows_per_s: Option<f64>,
    /// True if the offered load exceeds the capacity. Response times, waits and error times are
    /// then withheld.
    pub exceeds_capacity: bool,
    /// Response times of completed requests, timeouts, and unsent requests, which count with their
    /// age.
    pub response: Distribution,
    /// Mean and quantiles of the response time as estimates, with confidence intervals.
    pub estimates: Responses,
    /// Service times of completed requests and timeouts.
    pub service: Distribution,
    /// Waits of requests that were sent.
    pub wait: Distribution,
    /// Send lags of requests that were sent.
    pub send_lag: Distribution,
    /// Error times of errors other than timeouts.
    pub error: Distribution,
    /// Statements of the job; empty if a request is one statement that is sent once, over an open
    /// connection.
    pub statements: Vec<StatementSummary>,
    /// Servers of the job, if its target has several.
    pub nodes: Vec<NodeSummary>,
    /// Errors by class and code.
    pub errors_by_code: Vec<ErrorSummary>,
    /// Reason why the success of the job is meaningless; `None` if it is meaningful.
    pub empty_success: Option<EmptySuccess>,
    /// Largest number of open connections at the end of an interval; 0 if it is unknown.
    pub connections: u64,
    /// The parts into which the window is divided, each as long as the plan sets.
    pub probes: Vec<Probe>,
    /// The window in at most [`ROWS`](crate::ROWS) parts.
    pub course: Vec<Probe>,
    /// SLOs of the job, judged.
    pub slos: Vec<Judgement>,
}

impl JobSummary {
    /// Returns true if times of this kind are withheld: beyond the capacity, times that include the
    /// wait only show the length of the run.
    pub fn is_withheld(&self, kind: Kind) -> bool {
        self.exceeds_capacity
            && match kind {
                Kind::Response | Kind::Wait | Kind::Error => true,
                Kind::Service | Kind::SendLag | Kind::Gap | Kind::Statement(_) => false,
            }
    }
}

/// Errors of a job that have the same class and code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSummary {
    /// Class of the errors.
    pub class: Class,
    /// Code of the database, or of Assay.
    pub code: Code,
    /// Number of errors in the window.
    pub count: u64,
    /// Text of the first of these errors in the run; `None` if no event of the record has it.
    pub text: Option<String>,
}

/// Service time of one statement of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementSummary {
    /// The statement.
    pub id: StatementId,
    /// Text of the statement without values.
    pub text: String,
    /// Service time.
    pub service: Distribution,
}

/// Results of a job's requests at one of several servers.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeSummary {
    /// Address of the server.
    pub address: String,
    /// Counts of the requests sent to it, by intended start in the window.
    pub counts: Counts,
    /// Completions whose end lies in the window, per second; `None` if the window is empty.
    pub throughput_per_s: Option<f64>,
    /// Response times of completed requests and timeouts.
    pub response: Distribution,
    /// Service times of completed requests and timeouts.
    pub service: Distribution,
}

/// A part of the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Start, in seconds since time zero.
    pub start_s: f64,
    /// Completions whose end lies in this part, per second.
    pub throughput_per_s: f64,
    /// Response time of the requests whose intended start lies in this part.
    pub response: Distribution,
}

/// The texts of errors in the events of a run.
pub(crate) struct ErrorTexts<'e> {
    /// The first error of each job or part with each code. The errors of a mix are those of its
    /// parts.
    first: BTreeMap<(AccountId, Code), &'e Event>,
    /// The first outage; `None` if it may belong to another target.
    outage: Option<&'e Event>,
}

impl<'e> ErrorTexts<'e> {
    /// Finds the texts in the events of a run.
    pub(crate) fn of(evidence: &'e Evidence) -> ErrorTexts<'e> {
        let mut first: BTreeMap<(AccountId, Code), &'e Event> = BTreeMap::new();
        let wholes = whole_jobs(&evidence.plan);
        let first_errors =
            evidence.events.iter().filter(|event| event.kind == EventKind::FirstError);
        for event in first_errors {
            let (Some(account), Some(error)) = (event.account, event.error) else { continue };
            let whole = wholes.get(account.index()).copied().unwrap_or(account);
            for account in [account, whole] {
                let earliest = first.entry((account, error.code)).or_insert(event);
                if event.at < earliest.at {
                    *earliest = event;
                }
            }
        }
        let has_one_target = evidence.plan.named_targets().next().is_none();
        let is_outage = |event: &&Event| event.kind == EventKind::OutageBegan && has_one_target;
        let outage = evidence.events.iter().filter(is_outage).min_by_key(|event| event.at);
        ErrorTexts { first, outage }
    }

    /// Returns the text of the first error of a job or part with a code. Requests that were not
    /// sent because the server was unreachable have the text of the outage.
    fn text(&self, account: AccountId, class: Class, code: Code) -> Option<String> {
        let outage = self.outage.filter(|_| class == Class::Disconnect);
        let event = self.first.get(&(account, code)).copied().or(outage)?;
        Some(event.text.clone())
    }
}

/// Returns the account of the whole job for each account of a plan.
fn whole_jobs(plan: &Plan) -> Vec<AccountId> {
    let mut wholes: Vec<AccountId> = Vec::new();
    for either in plan.jobs_and_parts() {
        let own = AccountId(wholes.len() as u16);
        let of_mix = wholes.last().copied();
        wholes.push(match either {
            JobOrPart::Job(_) => own,
            JobOrPart::Part(..) => of_mix.unwrap_or(own),
        });
    }
    wholes
}

/// Summarizes the job or part with this account.
pub(crate) fn summarize(
    check_input: &CheckInput<'_>,
    texts: &ErrorTexts<'_>,
    account: AccountId,
) -> JobSummary {
    let evidence = check_input.evidence;
    let either = evidence.plan.account(account);
    let job = &evidence.jobs[account.index()];
    let window = evidence.steps.window();
    let ends = job.ends(window.clone());
    let length = evidence.window_length().as_secs_f64();
    let per_s = |count: u64| (length > 0.0).then(|| count as f64 / length);
    let counts = check_input.counts[account.index()];
    let exceeds_capacity = check_input.is_overloaded(account);
    let throughput_per_s = per_s(ends.completed);
    let distribution = |kind| job.histogram(kind).map(Distribution::of).unwrap_or_default();
    let withheld = exceeds_capacity;
    let measured = JobMeasurements { job, counts: &counts, throughput_per_s, withheld };
    JobSummary {
        name: either.name().to_owned(),
        model: either.job().model(),
        arrival: either.job().arrival(),
        offered_per_s: check_input.offered_per_s(account),
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
        statements: statements(check_input, account),
        nodes: nodes(evidence, account),
        errors_by_code: errors(evidence, texts, account),
        empty_success: empty_success(evidence, account),
        connections: job.range(window).filter_map(|step| step.connections).max().unwrap_or(0),
        probes: parts(evidence, job, &job.probes),
        course: parts(evidence, job, &job.course),
        slos: either.requests().slos.iter().map(|slo| judge(slo, &measured)).collect(),
    }
}

fn errors(evidence: &Evidence, texts: &ErrorTexts<'_>, account: AccountId) -> Vec<ErrorSummary> {
    let failures = evidence.jobs[account.index()].failures.iter();
    let summary = |&(class, code, count): &(Class, Code, u64)| {
        let text = texts.text(account, class, code);
        ErrorSummary { class, code, count, text }
    };
    failures.map(summary).collect()
}

fn nodes(evidence: &Evidence, account: AccountId) -> Vec<NodeSummary> {
    let window = evidence.steps.window();
    let length = evidence.window_length().as_secs_f64();
    let is_whole = !evidence.plan.account(account).is_part();
    let job = evidence.plan.job_of(account).filter(|_| is_whole);
    let of_this_job = evidence.nodes.iter().filter(|node| Some(node.job) == job);
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

fn statements(check_input: &CheckInput<'_>, account: AccountId) -> Vec<StatementSummary> {
    let either = check_input.evidence.plan.account(account);
    let requests = either.requests();
    let connects = match either.job().reconnect {
        Reconnect::No => false,
        Reconnect::PerTransaction => true,
    };
    // If a request is one statement that is sent once, over an open connection, the time of this
    // statement would repeat the service time of the request.
    if requests.statements.len() < 2
        && !requests.transaction
        && requests.retry.is_none()
        && !connects
    {
        return Vec::new();
    }
    let job = &check_input.evidence.jobs[account.index()];
    let statements = (0..).map(StatementId).zip(&requests.statements);
    let summary = |(id, statement): (StatementId, &workload::Statement)| StatementSummary {
        id,
        text: statement.text(base::Placeholders::Question),
        service: job.histogram(Kind::Statement(id)).map(Distribution::of).unwrap_or_default(),
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
