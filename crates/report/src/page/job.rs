//! One job: its pacing, the outcomes of its requests, and all of its times.

use std::iter::repeat;

use analyze::{
    Bounds, Distribution, ErrorSummary, Estimate, JobSummary, Probe, Quantile, Responses,
};
use base::AccountId;
use base::units::grouped;
use record::Kind;
use workload::shape::Recorded;
use workload::{
    Arrival, Job, JobOrPart, JobTarget, Pacing, Placeholders, Plan, Reconnect, Schedule,
};

use super::headline::{slo_with_number, unmet_words};
use super::quantity::Quantity;
use super::remark::{Line, Remark, Tone};
use super::shape::{Bin, bins};
use super::table::{Align, Cell, Table};
use crate::number::{NONE, bytes, count, rate, span, time};
use crate::number::{significant, trimmed};
use crate::view::View;
use crate::words;

/// Quantiles of the smaller tables.
const SHOWN_QUANTILES: [&str; 3] = ["p50", "p95", "p99"];

/// A cell of type time, for columns whose type must not depend on the data.
const TIME_CELL: Cell = Cell::Number(Quantity::Time(0.0));

/// Columns of a table of times that a narrow page drops, in this order. The count stays, as a
/// quantile means little without it.
const DROPPED_COLUMNS: [&str; 7] = ["stddev", "p90", "p99.9", "p95", "mean", "max", "p50"];

/// Explanation of the rows in a table of times.
const ROWS_EXPLANATION: &str =
    "response = send lag + wait + service, counted from the intended start";

/// Explanation of the intervals.
const INTERVALS_EXPLANATION: &str = "95 % confidence for this run alone; the next run may differ \
                                     by more. –: too few independent times";

/// Reason for missing quantiles.
const WITHHELD_REASON: &str =
    "withheld: beyond the capacity, these times only show the length of the run";

/// Caveat for the times of a closed job.
const CLOSED_CAVEAT: &str =
    "a client sends only after an answer: a slower database receives fewer requests";

/// Note in place of numbers that would mislead.
pub(super) const WITHHELD_NOTE: &str = "withheld";

/// Maximum number of bins of a distribution.
const MOST_BINS: usize = 20;

/// Caveat for the times of a session.
const SESSION_CAVEAT: &str =
    "response and service of a session include the pauses between its statements";

/// The answer of a job, or of a part of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSection {
    /// All numbers of the job.
    pub summary: JobSummary,
    /// Named target of the job; `None` for the main target and for programs.
    pub target: Option<String>,
    /// Program that the job runs in place of statements.
    pub command: Option<String>,
    /// Warning if the job succeeded without doing anything.
    pub warning: Option<Warning>,
    /// Name and model of the job.
    pub heading: Remark,
    /// Outcomes of the job's requests.
    pub outcomes: Vec<Line>,
    /// Times of every kind; an empty table if none were measured.
    pub times: Table,
    /// Explanations of these times.
    pub notes_on_times: Vec<Remark>,
    /// Notes on the job as a whole.
    pub notes: Vec<Remark>,
    /// Errors by class and code.
    pub errors: Table,
    /// First text of each error.
    pub error_texts: Vec<Line>,
    /// Statements of the job.
    pub statements: Table,
    /// Servers of the job's target.
    pub servers: Table,
    /// Notes on the service times of statements and servers.
    pub notes_on_service: Vec<Remark>,
    /// Numbers of consecutive parts of the window, each of one or several probes; empty if there is
    /// only one part.
    pub course: Table,
    /// Distribution of the response times; empty if they are withheld.
    pub histogram: Vec<Bin>,
}

/// A warning about a job that succeeded without doing anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Name in documents.
    pub name: &'static str,
    /// Warning as a sentence about the job.
    pub text: String,
    /// Remedy.
    pub remedy: &'static str,
    /// Numbers of the statements that the warning is about, from 1; empty if it is about the whole
    /// job.
    pub statements: Vec<u32>,
}

impl JobSection {
    /// Returns true if times of this kind are withheld, because they would mislead.
    pub fn is_withheld(&self, kind: Kind) -> bool {
        self.summary.is_withheld(kind)
    }

    /// Returns the section of the job, or of the part of a mix, that has this account.
    pub(super) fn of(view: &View, account: AccountId) -> JobSection {
        let job = &view.summary.jobs[account.index()];
        let plan = &view.evidence.plan;
        let planned = plan.account(account);
        let target = target_words(plan, planned.job().target);
        let model = format!("  {}{target}", model(job, planned));
        JobSection {
            summary: job.clone(),
            target: plan.name_of(planned.job().target).map(str::to_owned),
            command: planned.job().command().map(|command| command.text(Placeholders::Question)),
            warning: job.empty_success.as_ref().map(|empty_success| Warning {
                name: empty_success.name(),
                text: words::warning(empty_success),
                remedy: words::remedy_of_warning(empty_success),
                statements: empty_success.statement_numbers(),
            }),
            heading: Remark::sentence(Tone::Strong, format!("[{}]", job.name), model),
            outcomes: outcomes(job),
            times: times(job),
            notes_on_times: notes_on_times(job, account.0 == 0),
            notes: notes(view, job, planned),
            errors: errors(job),
            error_texts: error_texts(job),
            statements: statements(job),
            servers: servers(job),
            notes_on_service: notes_on_service(job, planned),
            course: course(job),
            histogram: histogram(view, account, MOST_BINS),
        }
    }
}

/// Names the target of a job, unless it is the main one.
fn target_words(plan: &Plan, target: JobTarget) -> String {
    match (target, plan.name_of(target)) {
        (JobTarget::Main | JobTarget::Named(_), None) => String::new(),
        (JobTarget::Main | JobTarget::Named(_), Some(name)) => format!("; asks [target {name}]"),
        (JobTarget::Programs, _) => "; runs a program".to_owned(),
    }
}

/// Formats the model of a job with its parameters.
fn model(job: &JobSummary, planned: JobOrPart<'_>) -> String {
    let mut words = match planned {
        JobOrPart::Job(job) => pacing_words(&job.pacing),
        JobOrPart::Part(..) => vec![format!("[{}] as a part of a mix", planned.section())],
    };
    if job.connections > 0 {
        words.push(count(job.connections, "connection"));
    }
    format!("{}: {}", job.model, words.join(", "))
}

/// Describes a pacing by its parameters.
fn pacing_words(pacing: &Pacing) -> Vec<String> {
    let mut words = vec![match pacing {
        Pacing::Open { schedule, batch }
        | Pacing::Timetable { schedule, batch }
        | Pacing::Queue { schedule, batch, .. } => arrivals(schedule, *batch),
        Pacing::Closed { clients, .. } => count(u64::from(*clients), "client"),
        Pacing::Replay => "the times of a log".to_owned(),
    }];
    match pacing {
        Pacing::Queue { workers, limit, .. } => {
            words.push(count(u64::from(*workers), "worker"));
            words.push(format!("at most {} waiting", grouped(u64::from(*limit))));
        }
        Pacing::Closed { think: Some(_), .. } => words.push("with think time".to_owned()),
        Pacing::Closed { think: None, .. }
        | Pacing::Open { .. }
        | Pacing::Timetable { .. }
        | Pacing::Replay => {}
    }
    words
}

fn arrivals(schedule: &Schedule, batch: u32) -> String {
    let arrivals = match schedule {
        Schedule::Poisson(arrivals) => format!("Poisson arrivals at {}", rate(arrivals.as_f64())),
        Schedule::Uniform(arrivals) => format!("uniform arrivals at {}", rate(arrivals.as_f64())),
        Schedule::Every(period) => format!("every {}", span(*period)),
        Schedule::Varying { shape, arrival } => {
            let kind = match arrival {
                Arrival::Poisson => "Poisson",
                Arrival::Uniform => "uniform",
            };
            format!("{kind} arrivals, {}", shape.words())
        }
        Schedule::Recorded(Recorded(times)) => count(times.len() as u64, "recorded arrival"),
    };
    match batch {
        1 => arrivals,
        batch => format!("{arrivals}, {} each", count(u64::from(batch), "request")),
    }
}

/// Returns the lines with the outcomes of the requests.
fn outcomes(job: &JobSummary) -> Vec<Line> {
    let counts = &job.counts;
    let balance = &counts.balance;
    let mut lines = vec![Line::new(
        "requests",
        format!(
            "{} scheduled = {} completed + {} + {} rejected + {} unsent",
            grouped(balance.scheduled()),
            grouped(balance.completed()),
            count(balance.errors(), "error"),
            grouped(balance.rejected()),
            grouped(balance.unsent()),
        ),
    )];
    if counts.open() > 0 {
        let open = format!("{} more came due and have no outcome", grouped(counts.open()));
        lines.push(Line::new("", open));
    }
    if balance.errors() > 0 {
        let timeouts = count(counts.timeouts, "timeout");
        let accepted = format!("{} accepted", grouped(counts.accepted_errors));
        lines.push(Line::new("of errors", format!("{timeouts}, {accepted}")));
    }
    lines.extend(repetitions(job));
    if let Some(per_s) = job.throughput_per_s {
        lines.push(Line::new("throughput", throughput(job, format!("{} completed", rate(per_s)))));
    }
    lines.extend(traffic(job).map(|moved| Line::new("in all", moved)));
    lines.extend(slos(job));
    lines
}

/// Returns the numbers of retries and busy waits, if there were any.
pub(super) fn repetitions(job: &JobSummary) -> impl Iterator<Item = Line> {
    let counts = &job.counts;
    let both = [(counts.retries, "retries"), (counts.busy_waits, "busy waits")];
    let any = both.into_iter().filter(|(number, _)| *number > 0);
    any.map(|(number, label)| Line::new(label, grouped(number)))
}

/// Returns each SLO with the number that was compared with it.
pub(super) fn slos(job: &JobSummary) -> impl Iterator<Item = Line> {
    job.slos.iter().map(|slo| match slo.met {
        true => Line::new("SLO met", slo_with_number(job, slo)).in_tone(Tone::Good),
        false => Line::new(unmet_words(slo), slo_with_number(job, slo)).in_tone(Tone::Bad),
    })
}

/// Adds the rows per second, if there are any, to the rate of the requests.
pub(super) fn throughput(job: &JobSummary, requests: String) -> String {
    let mut parts = vec![requests];
    if let Some(rows @ f64::MIN_POSITIVE..) = job.rows_per_s {
        parts.push(format!("{} rows/s", trimmed(&significant(rows))));
    }
    parts.join(", ")
}

/// Formats the traffic to and from the database; `None` if it was not counted.
fn traffic(job: &JobSummary) -> Option<String> {
    let moved = [(job.counts.bytes_sent, "sent"), (job.counts.bytes_received, "received")];
    let moved = moved.into_iter().filter(|(number, _)| *number > 0);
    let moved: Vec<String> =
        moved.map(|(number, what)| format!("{} {what}", bytes(number))).collect();
    (!moved.is_empty()).then(|| moved.join(", "))
}

/// Returns the titles of a table of times with their alignment.
fn titles_of_times() -> impl Iterator<Item = (&'static str, Align)> {
    let quantiles = Quantile::ALL.into_iter().map(|quantile| quantile.label);
    let numbers = ["count", "mean", "stddev"].into_iter().chain(quantiles).chain(["max"]);
    [("", Align::Left)].into_iter().chain(numbers.map(|title| (title, Align::Right)))
}

fn times(job: &JobSummary) -> Table {
    let mut table = Table::new(titles_of_times())
        .with_values_of([Cell::Empty, Cell::Empty].into_iter().chain(repeat(TIME_CELL)))
        .with_optional_columns(DROPPED_COLUMNS);
    let rows = [
        ("response", Kind::Response, &job.response),
        ("service", Kind::Service, &job.service),
        ("wait", Kind::Wait, &job.wait),
        ("send lag", Kind::SendLag, &job.send_lag),
        ("error", Kind::Error, &job.error),
    ];
    for (name, kind, times) in rows.into_iter().filter(|(_, _, times)| times.count > 0) {
        let head = [Cell::from(name), Quantity::Count(times.count).into()];
        match job.is_withheld(kind) {
            true => table.row_with_note(head, WITHHELD_NOTE),
            false => table.row(head.into_iter().chain(numbers(times))),
        }
        if kind == Kind::Response && !job.is_withheld(kind) {
            add_intervals(&mut table, job);
        }
    }
    table
}

/// Returns the explanations of the table of times, the general ones with the first job only.
fn notes_on_times(job: &JobSummary, is_first: bool) -> Vec<Remark> {
    let explains_intervals = is_first && has_intervals(job);
    let general =
        [is_first.then_some(ROWS_EXPLANATION), explains_intervals.then_some(INTERVALS_EXPLANATION)];
    general.into_iter().flatten().map(Remark::note).chain(caveats(job)).collect()
}

/// Returns the reasons to read the response times of a job with care.
pub(super) fn caveats(job: &JobSummary) -> impl Iterator<Item = Remark> + use<> {
    let few = remark_on_few(&job.response).filter(|_| !job.is_withheld(Kind::Response));
    let withheld = job.is_withheld(Kind::Response).then(|| WITHHELD_REASON.to_owned());
    [withheld, remark_on_aged(job), few].into_iter().flatten().map(Remark::Note)
}

/// Returns the notes on a job as a whole.
fn notes(view: &View, job: &JobSummary, planned: JobOrPart<'_>) -> Vec<Remark> {
    let JobOrPart::Job(whole) = planned else { return Vec::new() };
    let mut notes = Vec::new();
    if let (Pacing::Closed { .. }, 1..) = (&whole.pacing, job.response.count) {
        notes.push(Remark::note(CLOSED_CAVEAT));
    }
    notes.extend(remark_on_part(view, whole).map(Remark::Note));
    notes
}

/// Returns the notes on the service times of statements and servers.
fn notes_on_service(job: &JobSummary, planned: JobOrPart<'_>) -> Vec<Remark> {
    let mut notes = Vec::new();
    if planned.requests().is_session() && job.service.count > 0 {
        notes.push(Remark::note(SESSION_CAVEAT));
    }
    notes.extend(remark_on_untimed_parts(job, planned).map(Remark::Note));
    notes
}

/// Returns true if a number of a job has an interval that is shown.
fn has_intervals(job: &JobSummary) -> bool {
    let quantiles = job.estimates.quantiles_ns.iter().flatten();
    !job.is_withheld(Kind::Response) && quantiles.filter_map(Estimate::ci95).next().is_some()
}

/// Adds two rows with the ends of the intervals of the response times, if there are any.
fn add_intervals(table: &mut Table, job: &JobSummary) {
    if !has_intervals(job) {
        return;
    }
    let Responses { mean_ns, quantiles_ns, .. } = job.estimates;
    for (place, name) in ["  95 % from", "  95 % to"].into_iter().enumerate() {
        let cell = |estimate: Option<Estimate>| {
            let bounds = estimate.and_then(|estimate| estimate.ci95());
            let end = |Bounds { low, high, .. }| [low, high][place];
            Cell::from(bounds.map(|bounds| Quantity::Time(end(bounds))))
        };
        let head = [Cell::from(name), Cell::Empty, cell(mean_ns), Cell::Empty];
        table.row(head.into_iter().chain(quantiles_ns.map(cell)).chain([Cell::Empty]));
    }
}

/// Returns mean, standard deviation, quantiles and maximum.
fn numbers(times: &Distribution) -> impl Iterator<Item = Cell> + use<> {
    let quantiles = times.quantiles_ns.map(|ns| ns as f64);
    let moments = [times.mean_ns, times.stddev_ns];
    let all = moments.into_iter().chain(quantiles).chain([times.max_ns as f64]);
    all.map(|ns| Quantity::Time(ns).into())
}

/// Returns a remark on a job that was active in a part of the window only; `None` for other jobs.
fn remark_on_part(view: &View, job: &Job) -> Option<String> {
    let (begin, end) = (view.evidence.steps.warmup(), view.evidence.end());
    let began = (job.start > begin).then(|| format!("began at {}", span(job.start)));
    let stopped = job.stop.filter(|stop| *stop < end);
    let stopped = stopped.map(|stop| format!("ended at {}", span(stop)));
    let counted = job.count.filter(|_| !view.evidence.plan.ends_with_its_only_job());
    let what = if job.has_arrivals() { "arrival" } else { "request" };
    let counted = counted.map(|most| format!("had {} to make", count(most, what)));
    let part: Vec<String> = began.into_iter().chain(stopped).chain(counted).collect();
    let part = (!part.is_empty()).then(|| part.join(" and "))?;
    Some(format!(
        "the job {part}: throughput is over the whole window of {}",
        span(view.evidence.window_length())
    ))
}

/// Returns a remark on the times of requests that had no answer; `None` if all were answered.
fn remark_on_aged(job: &JobSummary) -> Option<String> {
    // The unsent requests are counted from the times, not taken from the balance: if a run was
    // killed, not every open request has an age.
    let timeouts = job.counts.timeouts;
    let unsent = job.response.count.saturating_sub(job.counts.balance.completed() + timeouts);
    let mut aged = Vec::new();
    if timeouts > 0 {
        aged.push(count(timeouts, "timeout"));
    }
    if unsent > 0 {
        aged.push(format!("{} unsent", grouped(unsent)));
    }
    let aged = aged.join(" and ");
    let whose = if timeouts + unsent == 1 { "its" } else { "their" };
    (!aged.is_empty()).then(|| format!("response includes {aged} at {whose} age"))
}

/// Returns a remark if there are too few times to distinguish the upper quantiles.
fn remark_on_few(times: &Distribution) -> Option<String> {
    // True if less than one time lies above the quantile. The tolerance is for rounding.
    let is_largest = |fraction: f64| times.count as f64 * (1.0 - fraction) < 1.0 - 1e-9;
    let first = Quantile::ALL.into_iter().find(|quantile| is_largest(quantile.fraction))?;
    let times = (times.count > 0).then(|| count(times.count, "time"))?;
    Some(format!("of {times}, {} and above are the largest", first.label))
}

fn errors(job: &JobSummary) -> Table {
    let mut table = Table::new([
        ("errors", Align::Right),
        ("of requests", Align::Right),
        ("class", Align::Left),
        ("code", Align::Left),
    ])
    .with_optional_columns(["of requests", "class"]);
    let scheduled = job.counts.balance.scheduled().max(1) as f64;
    for ErrorSummary { class, code, count, .. } in by_count(job) {
        table.row([
            Quantity::Count(*count).into(),
            Quantity::Share(*count as f64 / scheduled).into(),
            Cell::from(class.name()),
            Cell::Text(code.to_string()),
        ]);
    }
    table
}

/// Returns the first text of each error. The texts are not cells of the table, which would cut long
/// ones: the helpful part may be at the end.
fn error_texts(job: &JobSummary) -> Vec<Line> {
    let first = |error: &ErrorSummary| {
        let text = error.text.as_ref()?;
        Some(Line::new(format!("first {}", error.code), text.as_str()))
    };
    by_count(job).into_iter().filter_map(first).collect()
}

/// Returns the errors of a job, the most frequent first.
fn by_count(job: &JobSummary) -> Vec<&ErrorSummary> {
    let mut errors: Vec<&ErrorSummary> = job.errors_by_code.iter().collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

/// Returns the quantiles of the smaller tables.
fn quantile_cells(times: &Distribution) -> [Cell; 3] {
    SHOWN_QUANTILES.map(|name| times.quantile_ns(name).map(|ns| Quantity::Time(ns as f64)).into())
}

fn statements(job: &JobSummary) -> Table {
    let numbers = ["statement", "count", "service p50", "p95", "p99", "max"];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let mut table = Table::new(titles.chain([("text", Align::Left)]))
        .with_values_of([Cell::Empty, Cell::Empty, TIME_CELL, TIME_CELL, TIME_CELL, TIME_CELL])
        .with_optional_columns(["p95", "max", "text", "p99"]);
    for statement in &job.statements {
        let service = &statement.service;
        let max = (service.count > 0).then_some(Quantity::Time(service.max_ns as f64));
        let head =
            [Cell::Text(statement.id.number().to_string()), Quantity::Count(service.count).into()];
        let tail = [max.into(), Cell::from(statement.text.as_str())];
        table.row(head.into_iter().chain(quantile_cells(service)).chain(tail));
    }
    table
}

/// Returns the table of the servers of a target, one row each; empty unless there are several.
fn servers(job: &JobSummary) -> Table {
    let numbers = ["completed", "errors", "throughput", "response p50", "p95", "p99"];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let rate = Cell::from(Quantity::Rate(0.0));
    let mut table = Table::new([("server", Align::Left)].into_iter().chain(titles))
        .with_values_of([
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            rate,
            TIME_CELL,
            TIME_CELL,
            TIME_CELL,
        ])
        .with_optional_columns(["p95", "throughput", "p99", "errors", "response p50"]);
    for node in &job.nodes {
        let quantiles = match job.is_withheld(Kind::Response) {
            true => SHOWN_QUANTILES.map(|_| Cell::Missing),
            false => quantile_cells(&node.response),
        };
        let balance = &node.counts.balance;
        let head = [
            Cell::from(node.address.as_str()),
            Quantity::Count(balance.completed()).into(),
            Quantity::Count(balance.errors()).into(),
            node.throughput_per_s.map(Quantity::Rate).into(),
        ];
        table.row(head.into_iter().chain(quantiles));
    }
    table
}

/// Returns a remark on the parts of the service time that no record holds: connecting, begin and
/// commit. If every request sent every statement once, the remark has their mean time: the mean
/// service time minus that of the statements. `None` without such parts, or without times.
fn remark_on_untimed_parts(job: &JobSummary, planned: JobOrPart<'_>) -> Option<String> {
    let service = &job.service;
    let remark = match (planned.requests().transaction, planned.job().reconnect) {
        (false, Reconnect::No) => return None,
        (true, Reconnect::No) => {
            "begin and commit belong to the service time and are not timed apart"
        }
        (false, Reconnect::PerTransaction) => {
            "connecting belongs to the service time and is not timed apart"
        }
        (true, Reconnect::PerTransaction) => {
            "connecting, begin and commit belong to the service time and are not timed apart"
        }
    };
    if service.count == 0 || job.statements.is_empty() {
        return None;
    }
    let is_plain = job.counts.retries == 0
        && job.statements.iter().all(|statement| statement.service.count == service.count);
    let statements: f64 = job.statements.iter().map(|statement| statement.service.mean_ns).sum();
    Some(match service.mean_ns - statements {
        rest if is_plain && rest > service.mean_ns * STATEMENT_ERROR => format!(
            "{remark}: of the mean service of {}, {} lie outside of the statements",
            time(service.mean_ns),
            time(rest)
        ),
        _ => remark.to_owned(),
    })
}

/// Relative precision of the mean of a statement's times, which are stored with two significant
/// digits. A smaller difference may be zero.
const STATEMENT_ERROR: f64 = 0.01;

fn course(job: &JobSummary) -> Table {
    let titles = ["time from", "requests", "completed", "response p50", "p95", "p99", "max"];
    let mut table = Table::new(titles.map(|title| (title, Align::Right))).with_optional_columns([
        "p95",
        "max",
        "completed",
        "p99",
    ]);
    // A single part would repeat the numbers of the window.
    for Probe { start_s, throughput_per_s, response } in
        job.course.iter().filter(|_| job.course.len() > 1)
    {
        let head = [
            Quantity::Span(*start_s),
            Quantity::Count(response.count),
            Quantity::Rate(*throughput_per_s),
        ];
        let head = head.map(Cell::from);
        if job.is_withheld(Kind::Response) {
            table.row_with_note(head, WITHHELD_NOTE);
        } else if response.count == 0 {
            table.row_with_note(head, NONE);
        } else {
            let quantiles = SHOWN_QUANTILES.map(|name| response.quantile_ns(name).unwrap_or(0));
            let times = quantiles.into_iter().chain([response.max_ns]);
            let times = times.map(|ns| Cell::from(Quantity::Time(ns as f64)));
            table.row(head.into_iter().chain(times));
        }
    }
    table
}

/// Returns the distribution of the response times, unless they are withheld.
pub(super) fn histogram(view: &View, account: AccountId, most: usize) -> Vec<Bin> {
    let histogram = view.evidence.jobs[account.index()].histogram(Kind::Response);
    let job = &view.summary.jobs[account.index()];
    let shown = histogram.filter(|_| !job.is_withheld(Kind::Response));
    shown.map(|histogram| bins(histogram, most)).unwrap_or_default()
}
