//! The figures of one run: all that comparisons know about it.

use std::ops::Range;

use base::{AccountId, Nanos};
use record::environment::generator::CANARY;
use record::metric::processes;
use record::{ObservedComponent, ObservedMetric};
use workload::is_job_or_part;
use workload::question::{CpuMode, CpuOwner, Quantity, RunMetric, TimeStatistic};

use super::cpu_share::{CpuShare, ObservedServer, cpu_shares};
use super::objective::RunSlo;
use crate::check::{Check, CheckKind, Domain, Status, Verdict};
use crate::distribution::Distribution;
use crate::empty_success::EmptySuccess;
use crate::evidence::Evidence;
use crate::job::{ErrorSummary, JobSummary};
use crate::limiter::Component;
use crate::limiting::LimiterFinding;
use crate::slo;
use crate::storage::StorageSize;
use crate::summary::{ClientSummary, Summary};

/// The figures of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// Verdict on the run.
    pub verdict: RunVerdict,
    /// Names of the jobs, without their parts, in the file's order.
    pub jobs: Vec<String>,
    /// Measured metrics, in the units of [`Quantity::unit`]. The metrics of jobs and tables contain
    /// the name of the job or table, even if there is only one.
    pub metrics: Vec<(RunMetric, f64)>,
    /// Metrics that the run does not have, with the reason.
    pub missing: Vec<(RunMetric, Missing)>,
    /// Completed requests and rows per second of each job or part, including jobs whose rate is
    /// given.
    pub carried: Vec<(RunMetric, f64)>,
    /// Rates of each job or part over time.
    pub rates: Vec<JobRates>,
    /// Observed processor time of the load generator, the database and its proxy, as shares of the
    /// processors that they may use.
    pub cpu: Vec<CpuShare>,
    /// SLOs of the jobs.
    pub slos: Vec<RunSlo>,
    /// Jobs or parts whose successes say nothing about the database, each with the reason.
    pub empty_success: Vec<(String, EmptySuccess)>,
    /// Errors by class and code, with the names of their jobs or parts. The errors of a mix are
    /// those of its parts.
    pub errors: Vec<(String, ErrorSummary)>,
    /// Limiter of the run.
    pub limiter: Component,
    /// Facts behind the limiter.
    pub limiter_finding: LimiterFinding,
    /// Facts about the surroundings and the settings of the server: names and values.
    pub facts: Vec<(String, String)>,
}

/// The rates of a job or part in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRates {
    /// Name of the job or part.
    pub job: String,
    /// Requests per second that were offered; `None` without a schedule of arrivals.
    pub offered_per_s: Option<f64>,
    /// Completed requests per second in consecutive parts of the window: seconds or, in a long
    /// window, at most [`JobRates::MOST`] longer parts. Only the last part may be shorter than the
    /// others.
    pub completed_per_s: Vec<f64>,
    /// Length of a part, in seconds.
    pub part_s: f64,
}

impl JobRates {
    /// Maximum number of parts of a window.
    pub const MOST: usize = 120;

    /// Returns the rates of a job. A part with less than half of the length of the longest one has
    /// no rate.
    fn of(evidence: &Evidence, account: AccountId, job: &JobSummary) -> JobRates {
        let steps = &evidence.steps;
        let window = steps.window();
        let length_s = |part: &Range<usize>| {
            steps.start(part.end).saturating_sub(steps.start(part.start)).as_secs_f64()
        };
        let size = window.len().div_ceil(JobRates::MOST).max(1);
        let parts = window.clone().step_by(size).map(|from| from..(from + size).min(window.end));
        let parts: Vec<Range<usize>> = parts.collect();
        let longest_s = parts.iter().map(length_s).fold(0.0, f64::max);
        let is_whole = |part: &&Range<usize>| 2.0 * length_s(part) >= longest_s;
        let completed = |part: &Range<usize>| {
            let ends = evidence.jobs[account.index()].ends(part.clone());
            ends.completed as f64 / length_s(part)
        };
        JobRates {
            job: job.name.clone(),
            offered_per_s: job.offered_per_s,
            completed_per_s: parts.iter().filter(is_whole).map(completed).collect(),
            part_s: longest_s,
        }
    }
}

/// Reason why a run has no value of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The metric was not measured or not observed.
    NotMeasured,
    /// A job with a schedule that keeps up: its throughput is the rate that was offered.
    OfferedRate,
    /// The load exceeds the capacity: response times depend on the length of the run.
    ExceedsCapacity,
    /// Several jobs or tables have the metric, and none was named.
    Ambiguous,
}

/// The verdict on a run, separately for the two domains of the checks.
#[derive(Clone, Debug, PartialEq)]
pub struct RunVerdict {
    /// Gravest status of the checks of the load generator and the machine.
    pub instrument: Status,
    /// Gravest status of the checks of the database and the workload.
    pub system: Status,
    /// Checks whose status is SUSPECT or INVALID, with this status.
    pub objections: Vec<(CheckKind, Status)>,
    /// All checks with their findings; empty if only the checks of `objections` are known.
    pub checks: Vec<Check>,
}

impl RunVerdict {
    /// Creates the verdict from checks with their status; only SUSPECT and INVALID checks count.
    pub fn new(checks: impl IntoIterator<Item = (CheckKind, Status)>) -> RunVerdict {
        let judged = |(kind, status): (CheckKind, Status)| (kind, status, kind.judged_domain());
        RunVerdict::divide(checks.into_iter().map(judged))
    }

    /// Creates the verdict from all checks of a run.
    pub fn of(verdict: &Verdict) -> RunVerdict {
        let checks = verdict.checks.iter();
        let divided = checks.map(|check| (check.kind, check.status, check.domain()));
        RunVerdict { checks: verdict.checks.clone(), ..RunVerdict::divide(divided) }
    }

    fn divide(checks: impl Iterator<Item = (CheckKind, Status, Domain)>) -> RunVerdict {
        let mut divided = RunVerdict {
            instrument: Status::Pass,
            system: Status::Pass,
            objections: Vec::new(),
            checks: Vec::new(),
        };
        for (kind, status, domain) in checks.filter(|(_, status, _)| status.objects()) {
            let gravest = match domain {
                Domain::Instrument => &mut divided.instrument,
                Domain::System => &mut divided.system,
            };
            *gravest = status.max(*gravest);
            divided.objections.push((kind, status));
        }
        divided
    }

    /// Returns the gravest status.
    pub fn status(&self) -> Status {
        self.instrument.max(self.system)
    }

    /// Returns the checks with this status, which is SUSPECT or INVALID.
    pub fn with(&self, status: Status) -> impl Iterator<Item = CheckKind> {
        let with_it = self.objections.iter().filter(move |(_, objection)| *objection == status);
        with_it.map(|(kind, _)| *kind)
    }
}

impl RunFigures {
    /// Returns the figures of a run, with facts that the caller has read from its record.
    pub fn of(evidence: &Evidence, summary: &Summary, facts: Vec<(String, String)>) -> RunFigures {
        let server = ObservedServer::of(evidence);
        let mut figures = RunFigures {
            verdict: RunVerdict::of(&summary.verdict),
            jobs: evidence.plan.jobs_by_id().map(|(_, job)| job.name().to_owned()).collect(),
            metrics: Vec::new(),
            missing: Vec::new(),
            carried: Vec::new(),
            rates: Vec::new(),
            cpu: cpu_shares(evidence, server.as_ref()),
            slos: slos(summary),
            empty_success: summary
                .jobs
                .iter()
                .filter_map(|it| Some((it.name.clone(), it.empty_success.clone()?)))
                .collect(),
            errors: errors(evidence, summary),
            limiter: summary.limiter.component,
            limiter_finding: summary.limiter.finding.clone(),
            facts,
        };
        for (account, job) in evidence.accounts().zip(&summary.jobs) {
            let is_open = evidence.plan.account(account).job().has_arrivals();
            figures.add_job(job, is_open);
            figures.rates.push(JobRates::of(evidence, account, job));
        }
        figures.add_generator(summary.client.as_ref());
        figures.add_server(evidence, server.as_ref());
        for load in &summary.loads {
            let metric = RunMetric::of(Quantity::Load, &load.table);
            figures.add(metric, load.rows_per_s.ok_or(Missing::NotMeasured));
        }
        figures.add_sizes(evidence);
        figures
    }

    /// Returns the value of a metric. A metric without a name belongs to the whole run, or to the
    /// only job or table.
    ///
    /// # Errors
    /// Returns the reason why the run does not have the metric.
    pub fn get(&self, metric: &RunMetric) -> Result<f64, Missing> {
        let metric = &self.resolve(metric);
        if let Some((_, value)) = self.metrics.iter().find(|(known, _)| known == metric) {
            return Ok(*value);
        }
        let is_it = |known: &RunMetric| {
            let is_named = metric.of.is_none() || metric.of == known.of;
            known.quantity == metric.quantity && is_named
        };
        let is_measured = self.metrics.iter().any(|(known, _)| is_it(known));
        let mut missing = self.missing.iter().filter(|(known, _)| is_it(known));
        Err(match missing.next() {
            _ if is_measured => Missing::Ambiguous,
            Some((_, reason)) => *reason,
            None => Missing::NotMeasured,
        })
    }

    /// Returns the value of a metric for a comparison at a rate that overloads a run on purpose.
    ///
    /// It differs from [`get`](Self::get) for the saturated job. In runs that keep up with the
    /// rate, the job's throughput and rows are available. In runs that the rate overloads, the
    /// job's service times are missing, because they may include time in the queue of the server.
    ///
    /// # Errors
    /// Returns the reason why the run does not have the metric.
    pub(super) fn get_carried(&self, metric: &RunMetric, saturated: &str) -> Result<f64, Missing> {
        let metric = self.resolve(metric);
        let value = self.get(&metric);
        if !metric.of.as_deref().is_some_and(|of| is_job_or_part(of, saturated)) {
            return value;
        }
        let is_time = matches!(metric.quantity, Quantity::Service(_));
        match value {
            Ok(_) if is_time && self.exceeds_capacity(saturated) => Err(Missing::ExceedsCapacity),
            Err(Missing::OfferedRate) => self.carried(&metric).ok_or(Missing::OfferedRate),
            value => value,
        }
    }

    fn carried(&self, metric: &RunMetric) -> Option<f64> {
        self.carried.iter().find(|(known, _)| known == metric).map(|(_, per_s)| *per_s)
    }

    /// Returns a metric with the name of the only job or table that has it. The metric has no name
    /// if it belongs to the whole run, if no job or table has it, or if several have it. A mix is
    /// one job: its parts must be named.
    pub fn resolve(&self, metric: &RunMetric) -> RunMetric {
        if metric.of.is_some() {
            return metric.clone();
        }
        let measured = self.metrics.iter().map(|(known, _)| known);
        let all = measured.chain(self.missing.iter().map(|(known, _)| known));
        let known: Vec<&RunMetric> =
            all.filter(|known| known.quantity == metric.quantity).collect();
        let is_job =
            |known: &&&RunMetric| known.of.as_ref().is_some_and(|of| self.jobs.contains(of));
        let mut of_jobs = known.iter().filter(is_job);
        if known.iter().any(|known| known.of.is_none()) {
            return metric.clone();
        }
        match (of_jobs.next(), of_jobs.next(), known.as_slice()) {
            (Some(only), None, _) | (None, None, [only]) => RunMetric::clone(only),
            _ => metric.clone(),
        }
    }

    /// Returns the time of a request to the null server just before the run, in nanoseconds; `None`
    /// if it was not measured, as in virtual time.
    pub fn canary_ns(&self) -> Option<f64> {
        let (_, value) = self.facts.iter().find(|(name, _)| name == CANARY)?;
        value.parse().ok().filter(|time: &f64| time.is_finite() && *time > 0.0)
    }

    /// Returns the completed requests per second of a job; `None` if they were not measured.
    pub fn completed(&self, job: &str) -> Option<f64> {
        self.carried(&RunMetric::of(Quantity::Throughput, job))
    }

    /// Returns true if the load of a job exceeded the capacity.
    pub fn exceeds_capacity(&self, job: &str) -> bool {
        let is_withheld = |(metric, reason): &(RunMetric, Missing)| {
            *reason == Missing::ExceedsCapacity && metric.of.as_deref() == Some(job)
        };
        self.missing.iter().any(is_withheld)
    }

    /// Returns the processor time of a component as shares of its processors; `None` if its
    /// processes were not observed.
    pub fn cpu_share(&self, owner: CpuOwner) -> Option<CpuShare> {
        self.cpu.iter().find(|share| share.owner == owner).copied()
    }

    /// Adds a metric with its value, or with the reason why it has none. A value that is not finite
    /// counts as not measured.
    pub fn add(&mut self, metric: RunMetric, value: Result<f64, Missing>) {
        match value.and_then(|value| value.is_finite().then_some(value).ok_or(Missing::NotMeasured))
        {
            Ok(value) => self.metrics.push((metric, value)),
            Err(reason) => self.missing.push((metric, reason)),
        }
    }

    fn add_job(&mut self, job: &JobSummary, is_open: bool) {
        let offered = match is_open && !job.exceeds_capacity {
            true => Err(Missing::OfferedRate),
            false => Ok(()),
        };
        let kept = match job.exceeds_capacity {
            true => Err(Missing::ExceedsCapacity),
            false => Ok(()),
        };
        let measured = |value: Option<f64>| value.ok_or(Missing::NotMeasured);
        let named = |quantity| RunMetric::of(quantity, &job.name);
        let rows = job.rows_per_s.filter(|rows| *rows > 0.0);
        for (quantity, per_s) in
            [(Quantity::Throughput, job.throughput_per_s), (Quantity::Rows, rows)]
        {
            self.carried.extend(per_s.map(|per_s| (named(quantity), per_s)));
            self.add(named(quantity), offered.and_then(|()| measured(per_s)));
        }
        for statistic in TimeStatistic::ALL {
            let response = kept.and_then(|()| measured(milliseconds(&job.response, statistic)));
            self.add(named(Quantity::Response(statistic)), response);
            let service = measured(milliseconds(&job.service, statistic));
            self.add(named(Quantity::Service(statistic)), service);
            let send_lag = measured(milliseconds(&job.send_lag, statistic));
            self.add(named(Quantity::SendLag(statistic)), send_lag);
        }
        self.add(named(Quantity::Failed), measured(slo::failed(&job.counts)));
    }

    fn add_generator(&mut self, client: Option<&ClientSummary>) {
        let client = client.filter(|client| client.user_s + client.system_s > 0.0);
        let per_request = |used_s: f64| {
            let client = client?;
            Some(client.us_per_query? * used_s / (client.user_s + client.system_s))
        };
        let used = |of: fn(&ClientSummary) -> f64| client.map(of).and_then(per_request);
        let (user, system) = (used(|client| client.user_s), used(|client| client.system_s));
        self.add_cpu(CpuOwner::Generator, user, system);
    }

    /// Adds the processor time of the database, and of the pooler in front of it.
    fn add_server(&mut self, evidence: &Evidence, server: Option<&ObservedServer>) {
        let window = evidence.window();
        let mut add = |owner, component: Option<&ObservedComponent>| {
            let per_request = |metric| processor_time(evidence, &window, component?, metric);
            self.add_cpu(owner, per_request(processes::USER), per_request(processes::SYSTEM));
        };
        let owner = server.map_or(CpuOwner::Database, |server| server.owner);
        add(owner, server.map(|server| &server.processes));
        if let Some(upstream) = server.and_then(ObservedServer::upstream) {
            add(CpuOwner::Database, Some(&upstream));
        }
    }

    /// Adds the sizes of the database and of the tables of the workload, in bytes: on the disk, and
    /// as the server reports them.
    fn add_sizes(&mut self, evidence: &Evidence) {
        let tables = evidence.plan.loads.iter().filter_map(|load| {
            let size = StorageSize::of_table(evidence, &load.table)?;
            Some((Some(load.table.clone()), size))
        });
        let database = StorageSize::of_database(evidence).map(|size| (None, size));
        for (of, StorageSize { logical, allocated }) in tables.chain(database) {
            self.add(RunMetric { quantity: Quantity::Size, of: of.clone() }, Ok(allocated));
            self.add(RunMetric { quantity: Quantity::LogicalSize, of }, Ok(logical));
        }
    }

    /// Adds the processor time of a component. User or system time may be zero in a short run,
    /// because the system counts in ticks of a hundredth of a second. A ratio to zero is
    /// meaningless, so a time of zero in either mode is missing, but the total is not.
    fn add_cpu(&mut self, owner: CpuOwner, user: Option<f64>, system: Option<f64>) {
        let total = user.zip(system).map(|(user, system)| user + system);
        let modes = [(CpuMode::Total, total), (CpuMode::User, user), (CpuMode::System, system)];
        for (mode, value) in modes {
            let metric = RunMetric::new(Quantity::Cpu(owner, mode));
            let used = value.filter(|used| *used > 0.0);
            self.add(metric, used.ok_or(Missing::NotMeasured));
        }
    }
}

/// Returns the errors of jobs and of the parts of mixes by class and code, but not those of the
/// mixes, which repeat those of their parts.
fn errors(evidence: &Evidence, summary: &Summary) -> Vec<(String, ErrorSummary)> {
    let of_job = |job: &JobSummary| {
        let name = job.name.clone();
        job.errors_by_code.clone().into_iter().map(move |error| (name.clone(), error))
    };
    let jobs = summary.jobs.iter().zip(evidence.plan.jobs_and_parts());
    let own = jobs.filter(|(_, planned)| !planned.is_mix()).map(|(job, _)| job);
    own.flat_map(of_job).collect()
}

fn slos(summary: &Summary) -> Vec<RunSlo> {
    let of_job = |job: &JobSummary| {
        let name = job.name.clone();
        let slos = job.slos.clone().into_iter();
        slos.map(move |slo| RunSlo { job: name.clone(), text: slo.text, met: slo.met })
    };
    summary.jobs.iter().flat_map(of_job).collect()
}

/// Returns the server's processor time in microseconds per completed request. The samples may begin
/// and end up to a sampling interval outside of the window, so the processor time and the requests
/// are both taken per second.
fn processor_time(
    evidence: &Evidence,
    window: &Range<Nanos>,
    server: &ObservedComponent,
    metric: ObservedMetric,
) -> Option<f64> {
    let used = evidence.observed_on(server, metric)?.growth(window)?;
    let jobs = evidence.plan.jobs_by_id().map(|(id, _)| evidence.plan.account_of(id));
    let ends = jobs.map(|account| evidence.jobs[account.index()].ends(evidence.steps.window()));
    let completed: u64 = ends.map(|ends| ends.completed).sum();
    let length = evidence.window_length().as_secs_f64();
    let used_per_s = used.by / used.span.as_secs_f64();
    (completed > 0 && used_per_s >= 0.0).then(|| used_per_s * 1e6 * length / completed as f64)
}

fn milliseconds(times: &Distribution, statistic: TimeStatistic) -> Option<f64> {
    let nanoseconds = match statistic {
        TimeStatistic::P50
        | TimeStatistic::P90
        | TimeStatistic::P95
        | TimeStatistic::P99
        | TimeStatistic::P999 => times.quantile_ns(statistic.name())? as f64,
        TimeStatistic::Mean => times.mean_ns,
        TimeStatistic::Max => times.max_ns as f64,
    };
    (times.count > 0).then_some(nanoseconds / 1e6)
}

#[cfg(test)]
impl RunFigures {
    /// Returns the figures of a VALID run without any metric.
    pub(crate) fn bare(jobs: &[&str]) -> RunFigures {
        RunFigures {
            verdict: RunVerdict::new([]),
            jobs: jobs.iter().map(|job| (*job).to_owned()).collect(),
            metrics: Vec::new(),
            missing: Vec::new(),
            carried: Vec::new(),
            rates: Vec::new(),
            cpu: Vec::new(),
            slos: Vec::new(),
            empty_success: Vec::new(),
            errors: Vec::new(),
            limiter: Component::Unknown,
            limiter_finding: LimiterFinding::Satisfied,
            facts: Vec::new(),
        }
    }
}
