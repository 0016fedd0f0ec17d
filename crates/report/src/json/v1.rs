//! The document `assay.summary/1`. Fields may be added, and are never renamed or removed.
//!
//! Units are in the names; a field named after a quantile is in milliseconds. Missing numbers are
//! null, never left out.

use std::collections::BTreeMap;

use analyze::{
    Bounds, Change, ClientSummary, Distribution, Effect, ErrorSummary, Estimate, Figure, Judgement,
    LoadPoint, NodeSummary, PhaseFigures, PhaseSummary, Probe, Quantile, SideEffects,
    StatementSummary,
};
use record::{Kind, OpLogReport};
use serde::Serialize;
use serde_json::Value;
use workload::{Metric, NamedTarget};

use super::finite::finite;
use super::limiter::{LimiterJson, Number, ObservedJson, Unseen, numbers, unseen};
use super::program::Program;
use crate::page::{CheckRow, JobSection, LoadSection, Page, RunSection, VerdictSection, Warning};
use crate::{excerpt, note};

/// Name of this version of the contract.
const SCHEMA: &str = "assay.summary/1";

/// Reason for a number that is null because it would mislead.
const EXCEEDS_CAPACITY: &str = "exceeds capacity";

#[derive(Serialize)]
pub(super) struct Document {
    schema: &'static str,
    file: String,
    verdict: VerdictJson,
    window: Window,
    jobs: Vec<Job>,
    side_effects: Vec<SideEffectsJson>,
    effects: Vec<EffectJson>,
    loads: Vec<Load>,
    limiter: LimiterJson,
    client: Option<Client>,
    program: Option<Program>,
    observing_share: Option<f64>,
    run: Run,
    /// Left out if there are no excerpts, as in documents of earlier records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    excerpts: Vec<Value>,
    /// Left out if there are no notes, which keeps the documents of earlier records unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Value>,
}

#[derive(Serialize)]
struct VerdictJson {
    status: &'static str,
    checks: Vec<CheckJson>,
}

#[derive(Serialize)]
struct CheckJson {
    name: &'static str,
    status: &'static str,
    value: Option<f64>,
    limit: Option<f64>,
    unit: &'static str,
    explain: String,
    remedy: Option<&'static str>,
}

#[derive(Serialize)]
struct Window {
    warmup_s: f64,
    start_s: f64,
    end_s: f64,
}

#[derive(Serialize)]
struct Job {
    name: String,
    target: Option<String>,
    command: Option<String>,
    model: &'static str,
    arrival: Option<&'static str>,
    offered_per_s: Option<f64>,
    scheduled: u64,
    completed: u64,
    errors: u64,
    rejected: u64,
    unsent: u64,
    timeouts: u64,
    accepted_errors: u64,
    retries: u64,
    busy_waits: u64,
    rows: u64,
    rows_per_s: Option<f64>,
    bytes_sent: u64,
    bytes_received: u64,
    throughput_per_s: Option<f64>,
    errors_by_code: Vec<Failure>,
    warnings: Vec<WarningJson>,
    connections: u64,
    response_ms: Times,
    estimates: Vec<QuantileJson>,
    service_ms: Times,
    wait_ms: Times,
    send_lag_ms: Times,
    error_ms: Times,
    statements: Vec<Statement>,
    nodes: Vec<Node>,
    probes: Vec<ProbeJson>,
    slo: Vec<Slo>,
}

#[derive(Serialize)]
struct Failure {
    class: &'static str,
    code: String,
    count: u64,
    text: Option<String>,
}

/// A warning about a job that has no error.
#[derive(Serialize)]
struct WarningJson {
    name: &'static str,
    text: String,
    remedy: &'static str,
    statements: Vec<u32>,
}

/// A distribution of times in milliseconds.
#[derive(Default, Serialize)]
struct Times {
    count: u64,
    mean: Option<f64>,
    stddev: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    p99_9: Option<f64>,
    max: Option<f64>,
    withheld: Option<&'static str>,
}

/// A quantile of the response time that has an interval.
#[derive(Serialize)]
struct QuantileJson {
    quantile: &'static str,
    response_ms: Option<f64>,
    ci95: [Option<f64>; 2],
    effective_samples: Option<u64>,
}

#[derive(Serialize)]
struct Statement {
    number: usize,
    text: String,
    service_ms: Times,
}

#[derive(Serialize)]
struct Node {
    address: String,
    completed: u64,
    errors: u64,
    timeouts: u64,
    rows: u64,
    throughput_per_s: Option<f64>,
    response_ms: Times,
    service_ms: Times,
}

#[derive(Serialize)]
struct ProbeJson {
    t_s: f64,
    count: u64,
    throughput_per_s: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    withheld: Option<&'static str>,
}

#[derive(Serialize)]
struct Slo {
    text: String,
    met: bool,
    value: Option<f64>,
    unit: &'static str,
}

#[derive(Serialize)]
struct SideEffectsJson {
    job: String,
    background: bool,
    resolution_s: f64,
    reference: &'static str,
    phases: Vec<Phase>,
    changes: Vec<ChangeJson>,
}

#[derive(Serialize)]
struct Phase {
    name: &'static str,
    length_s: f64,
    stretches: Vec<Stretch>,
    jobs: Vec<JobInPhase>,
}

#[derive(Serialize)]
struct Stretch {
    start_s: f64,
    end_s: f64,
}

#[derive(Serialize)]
struct JobInPhase {
    name: String,
    scheduled: u64,
    completed: u64,
    errors: u64,
    rejected: u64,
    unsent: u64,
    throughput_per_s: Option<EstimateJson>,
    response_ms: Estimates,
}

/// Estimates of a distribution of times in milliseconds.
#[derive(Serialize)]
struct Estimates {
    count: u64,
    mean: Option<EstimateJson>,
    p50: Option<EstimateJson>,
    p95: Option<EstimateJson>,
    p99: Option<EstimateJson>,
    withheld: Option<&'static str>,
}

#[derive(Serialize)]
struct EstimateJson {
    value: Option<f64>,
    ci95: Option<[Option<f64>; 2]>,
    optimistic: bool,
}

#[derive(Serialize)]
struct ChangeJson {
    job: String,
    phase: &'static str,
    figure: String,
    from: Option<f64>,
    to: Option<f64>,
}

#[derive(Serialize)]
struct EffectJson {
    job: String,
    figure: String,
    from: Option<f64>,
    to: Option<f64>,
    t_s: f64,
    cause: String,
    background: bool,
    began: bool,
    times: usize,
}

#[derive(Serialize)]
struct Load {
    table: String,
    rows: u64,
    bytes: u64,
    length_s: f64,
    rows_per_s: Option<f64>,
    exit_rows_per_s: Option<f64>,
    series: Vec<Point>,
    client_cpu_s: Option<f64>,
    server_cpu_s: Option<f64>,
    limiter: &'static str,
    because: String,
    evidence: Vec<Number>,
    relief: Option<&'static str>,
    seen: ObservedJson,
    unseen: Vec<Unseen>,
    fallback: Option<String>,
    logical_bytes: Option<f64>,
    allocated_bytes: Option<f64>,
}

#[derive(Serialize)]
struct Point {
    rows: u64,
    t_s: f64,
    rows_per_s: Option<f64>,
}

#[derive(Serialize)]
struct Client {
    cpu_user_s: f64,
    cpu_system_s: f64,
    cpu_us_per_query: Option<f64>,
    peak_rss_bytes: u64,
    threads: u16,
}

#[derive(Serialize)]
struct Run {
    target: String,
    targets: Vec<TargetJson>,
    workload: String,
    command: String,
    version: String,
    started: String,
    seed: String,
    r#virtual: bool,
    threads: u16,
    same_host: Option<bool>,
    ended: &'static str,
    ended_because: Option<String>,
    op_log: Option<OpLog>,
    settings: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct OpLog {
    rows: u64,
    dropped: u64,
    failure: Option<String>,
}

/// A named target.
#[derive(Serialize)]
struct TargetJson {
    name: String,
    url: String,
}

impl Document {
    pub(super) fn of(page: &Page) -> Document {
        let window = page.window;
        Document {
            schema: SCHEMA,
            file: page.run.about.file(),
            verdict: VerdictJson::of(&page.verdict),
            window: Window {
                warmup_s: window.warmup_s,
                start_s: window.start_s,
                end_s: window.end_s,
            },
            jobs: page.jobs.iter().map(Job::of).collect(),
            side_effects: page.side_effects.iter().map(SideEffectsJson::of).collect(),
            effects: page.effects.iter().map(EffectJson::of).collect(),
            loads: page.loads.loads.iter().map(Load::of).collect(),
            limiter: LimiterJson::of(&page.limiter),
            client: page.run.client.map(Client::of),
            program: page.run.program.map(Program::of),
            observing_share: page.run.observing_share.and_then(finite),
            run: Run::of(&page.run),
            excerpts: excerpt::documents(&page.run.about.excerpts),
            notes: note::documents(&page.run.about.notes),
        }
    }
}

impl VerdictJson {
    fn of(verdict: &VerdictSection) -> VerdictJson {
        let checks = verdict.checks.iter().map(CheckJson::of).collect();
        VerdictJson { status: verdict.word, checks }
    }
}

impl CheckJson {
    fn of(check: &CheckRow) -> CheckJson {
        CheckJson {
            name: check.name,
            status: check.status.name(),
            value: check.value.and_then(finite),
            limit: check.limit.and_then(finite),
            unit: check.unit.name(),
            explain: check.sentence.clone(),
            remedy: check.remedy,
        }
    }
}

impl Job {
    fn of(section: &JobSection) -> Job {
        let job = &section.summary;
        let counts = &job.counts;
        let balance = &counts.balance;
        let times = |kind, times| match section.is_withheld(kind) {
            true => Times::withheld(times),
            false => Times::of(times),
        };
        let is_withheld = section.is_withheld(Kind::Response);
        Job {
            name: job.name.clone(),
            target: section.target.clone(),
            command: section.command.clone(),
            model: job.model,
            arrival: job.arrival,
            offered_per_s: job.offered_per_s.and_then(finite),
            scheduled: balance.scheduled(),
            completed: balance.completed(),
            errors: balance.errors(),
            rejected: balance.rejected(),
            unsent: balance.unsent(),
            timeouts: counts.timeouts,
            accepted_errors: counts.accepted_errors,
            retries: counts.retries,
            busy_waits: counts.busy_waits,
            rows: counts.rows,
            rows_per_s: job.rows_per_s.and_then(finite),
            bytes_sent: counts.bytes_sent,
            bytes_received: counts.bytes_received,
            throughput_per_s: job.throughput_per_s.and_then(finite),
            errors_by_code: job.errors_by_code.iter().map(Failure::of).collect(),
            warnings: section.warning.iter().map(WarningJson::of).collect(),
            connections: job.connections,
            response_ms: times(Kind::Response, &job.response),
            estimates: QuantileJson::all(section),
            service_ms: times(Kind::Service, &job.service),
            wait_ms: times(Kind::Wait, &job.wait),
            send_lag_ms: times(Kind::SendLag, &job.send_lag),
            error_ms: times(Kind::Error, &job.error),
            statements: job.statements.iter().map(Statement::of).collect(),
            nodes: job.nodes.iter().map(|n| Node::of(n, is_withheld)).collect(),
            probes: job.probes.iter().map(|p| ProbeJson::of(p, is_withheld)).collect(),
            slo: job.slos.iter().map(Slo::of).collect(),
        }
    }
}

impl Failure {
    fn of(error: &ErrorSummary) -> Failure {
        let ErrorSummary { class, code, count, text } = error;
        let (class, code) = (class.name(), code.to_string());
        Failure { class, code, count: *count, text: text.clone() }
    }
}

impl WarningJson {
    fn of(warning: &Warning) -> WarningJson {
        let Warning { name, text, remedy, statements } = warning.clone();
        WarningJson { name, text, remedy, statements }
    }
}

impl Times {
    fn of(times: &Distribution) -> Times {
        if times.count == 0 {
            return Times::default();
        }
        let [p50, p90, p95, p99, p99_9] = times.quantiles_ns.map(|ns| to_ms(ns as f64));
        Times {
            count: times.count,
            mean: to_ms(times.mean_ns),
            stddev: to_ms(times.stddev_ns),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            max: to_ms(times.max_ns as f64),
            withheld: None,
        }
    }

    fn withheld(times: &Distribution) -> Times {
        Times { count: times.count, withheld: Some(EXCEEDS_CAPACITY), ..Times::default() }
    }
}

impl QuantileJson {
    /// Returns the quantiles with an interval, unless they are withheld.
    fn all(section: &JobSection) -> Vec<QuantileJson> {
        if section.is_withheld(Kind::Response) {
            return Vec::new();
        }
        let estimates = section.summary.estimates.quantiles_ns;
        let estimates = Quantile::ALL.into_iter().zip(estimates);
        let estimates = estimates.filter_map(|(quantile, estimate)| {
            let Estimate { value, effective_samples, .. } = estimate?;
            let Bounds { low, high, .. } = estimate?.ci95()?;
            Some(QuantileJson {
                quantile: quantile.name,
                response_ms: to_ms(value),
                ci95: [to_ms(low), to_ms(high)],
                effective_samples,
            })
        });
        estimates.collect()
    }
}

impl Statement {
    fn of(statement: &StatementSummary) -> Statement {
        Statement {
            number: statement.id.number(),
            text: statement.text.clone(),
            service_ms: Times::of(&statement.service),
        }
    }
}

impl Node {
    fn of(node: &NodeSummary, is_withheld: bool) -> Node {
        let counts = &node.counts;
        Node {
            address: node.address.clone(),
            completed: counts.balance.completed(),
            errors: counts.balance.errors(),
            timeouts: counts.timeouts,
            rows: counts.rows,
            throughput_per_s: node.throughput_per_s.and_then(finite),
            response_ms: match is_withheld {
                true => Times::withheld(&node.response),
                false => Times::of(&node.response),
            },
            service_ms: Times::of(&node.service),
        }
    }
}

impl ProbeJson {
    fn of(probe: &Probe, is_withheld: bool) -> ProbeJson {
        let times = match is_withheld {
            true => Times::withheld(&probe.response),
            false => Times::of(&probe.response),
        };
        ProbeJson {
            t_s: probe.start_s,
            count: times.count,
            throughput_per_s: finite(probe.throughput_per_s),
            p50: times.p50,
            p95: times.p95,
            p99: times.p99,
            withheld: times.withheld,
        }
    }
}

impl Slo {
    fn of(slo: &Judgement) -> Slo {
        let (value, unit) = match slo.metric {
            Metric::Response(_) | Metric::Service(_) => (slo.value.and_then(to_ms), "ms"),
            Metric::Throughput => (slo.value.and_then(finite), "per_s"),
            Metric::Failed => (slo.value.and_then(finite), "fraction"),
        };
        Slo { text: slo.text.clone(), met: slo.met, value, unit }
    }
}

impl SideEffectsJson {
    fn of(side_effects: &SideEffects) -> SideEffectsJson {
        SideEffectsJson {
            job: side_effects.job.clone(),
            background: side_effects.is_background,
            resolution_s: side_effects.resolution_s,
            reference: side_effects.reference.name(),
            phases: side_effects.phases.iter().map(Phase::of).collect(),
            changes: side_effects.changes.iter().map(ChangeJson::of).collect(),
        }
    }
}

impl Phase {
    fn of(phase: &PhaseSummary) -> Phase {
        let stretches = phase.stretches_s.iter();
        Phase {
            name: phase.name.name(),
            length_s: phase.length_s,
            stretches: stretches.map(|&(start_s, end_s)| Stretch { start_s, end_s }).collect(),
            jobs: phase.jobs.iter().map(JobInPhase::of).collect(),
        }
    }
}

impl JobInPhase {
    fn of(figures: &PhaseFigures) -> JobInPhase {
        let balance = &figures.counts.balance;
        let estimate = |figure| figures.figure(figure).map(|it| EstimateJson::of(figure, it));
        JobInPhase {
            name: figures.name.clone(),
            scheduled: balance.scheduled(),
            completed: balance.completed(),
            errors: balance.errors(),
            rejected: balance.rejected(),
            unsent: balance.unsent(),
            throughput_per_s: estimate(Figure::Throughput),
            response_ms: Estimates {
                count: figures.response.count,
                mean: estimate(Figure::Mean),
                p50: estimate(Figure::Quantile(0)),
                p95: estimate(Figure::Quantile(2)),
                p99: estimate(Figure::Quantile(3)),
                withheld: figures.is_withheld.then_some(EXCEEDS_CAPACITY),
            },
        }
    }
}

impl EstimateJson {
    fn of(figure: Figure, estimate: Estimate) -> EstimateJson {
        let in_unit = |value| in_unit(figure, value);
        EstimateJson {
            value: in_unit(estimate.value),
            ci95: estimate.bounds.map(|bounds| [in_unit(bounds.low), in_unit(bounds.high)]),
            optimistic: estimate.bounds.is_some_and(|bounds| bounds.is_optimistic),
        }
    }
}

impl ChangeJson {
    fn of(change: &Change) -> ChangeJson {
        let Change { job, phase, figure, from, to } = change;
        ChangeJson {
            job: job.clone(),
            phase: phase.name(),
            figure: path_of_figure(*figure),
            from: in_unit(*figure, *from),
            to: in_unit(*figure, *to),
        }
    }
}

impl EffectJson {
    fn of(effect: &Effect) -> EffectJson {
        EffectJson {
            job: effect.job.clone(),
            figure: path_of_figure(effect.figure),
            from: in_unit(effect.figure, effect.from),
            to: in_unit(effect.figure, effect.to),
            t_s: effect.at_s,
            cause: effect.cause.clone(),
            background: effect.is_background,
            began: effect.began,
            times: effect.times,
        }
    }
}

/// Returns the path of a figure in `phases[].jobs[]`.
fn path_of_figure(figure: Figure) -> String {
    match figure {
        Figure::Throughput => "throughput_per_s".to_owned(),
        Figure::Mean | Figure::Quantile(_) => format!("response_ms.{}", figure.name()),
    }
}

impl Load {
    fn of(section: &LoadSection) -> Load {
        let load = &section.summary;
        let befores = std::iter::once(None).chain(load.points.iter().map(Some));
        let series = befores.zip(&load.points).map(|(before, point)| Point::of(before, point));
        Load {
            table: load.table.clone(),
            rows: load.rows,
            bytes: load.bytes,
            length_s: load.took.as_secs_f64(),
            rows_per_s: load.rows_per_s.and_then(finite),
            exit_rows_per_s: load.exit_rows_per_s.and_then(finite),
            series: series.collect(),
            client_cpu_s: section.client_cpu.map(|cpu| cpu.as_secs_f64()),
            server_cpu_s: load.server_cpu.map(|cpu| cpu.as_secs_f64()),
            limiter: load.limiter.component.name(),
            because: section.because.clone(),
            evidence: numbers(&load.limiter.evidence),
            relief: section.relief,
            seen: ObservedJson::of(&load.seen),
            unseen: unseen(&section.unseen),
            fallback: load.fallback.clone(),
            logical_bytes: load.size.map(|size| size.logical),
            allocated_bytes: load.size.map(|size| size.allocated),
        }
    }
}

impl Point {
    /// Creates a point with the rate since the previous point, or since the start of the load.
    fn of(before: Option<&LoadPoint>, point: &LoadPoint) -> Point {
        let (rows, at) = before.map_or((0, base::Nanos::ZERO), |before| (before.rows, before.at));
        let length_s = point.at.saturating_sub(at).as_secs_f64();
        Point {
            rows: point.rows,
            t_s: point.at.as_secs_f64(),
            rows_per_s: finite(point.rows.saturating_sub(rows) as f64 / length_s),
        }
    }
}

impl Client {
    fn of(client: ClientSummary) -> Client {
        Client {
            cpu_user_s: client.user_s,
            cpu_system_s: client.system_s,
            cpu_us_per_query: client.us_per_query.and_then(finite),
            peak_rss_bytes: client.peak_rss_bytes,
            threads: client.threads,
        }
    }
}

impl Run {
    fn of(run: &RunSection) -> Run {
        let about = &run.about;
        let target = |named: &NamedTarget| TargetJson {
            name: named.name.clone(),
            url: named.target.to_string(),
        };
        let because = about.ended.as_ref().map(|end| end.text.as_str());
        Run {
            target: about.target.clone(),
            targets: run.targets.iter().map(target).collect(),
            workload: about.workload.clone(),
            command: about.command.clone(),
            version: about.version.clone(),
            started: about.started.to_string(),
            seed: about.seed.0.to_string(),
            r#virtual: about.is_virtual,
            threads: about.threads,
            same_host: run.shares_its_host,
            ended: about.ending(),
            ended_because: because.filter(|text| !text.is_empty()).map(str::to_owned),
            op_log: about.op_log.as_ref().map(OpLog::of),
            settings: about.settings.iter().cloned().collect(),
        }
    }
}

impl OpLog {
    fn of(report: &OpLogReport) -> OpLog {
        let OpLogReport { format: _, rows, dropped, failure } = report;
        OpLog { rows: *rows, dropped: *dropped, failure: failure.clone() }
    }
}

/// Converts the value of a figure to its unit in documents; `None` for a number that JSON cannot
/// represent.
fn in_unit(figure: Figure, value: f64) -> Option<f64> {
    match figure {
        Figure::Throughput => finite(value),
        Figure::Mean | Figure::Quantile(_) => to_ms(value),
    }
}

/// Converts nanoseconds to milliseconds, rounded to the nanosecond; `None` for a number that JSON
/// cannot represent.
fn to_ms(ns: f64) -> Option<f64> {
    finite(ns.round() / 1e6)
}
