//! One job: its pacing, the outcomes of its requests, and all of its times.

use analyze::{
    Bounds, Distribution, ErrorSummary, Estimate, JobSummary, Probe, Quantile, Responses,
};
use base::AccountId;
use base::units::grouped;
use record::Kind;
use workload::shape::Recorded;
use workload::{Arrival, Job, JobOrPart, JobTarget, Pacing, Plan, Reconnect, Schedule};

use crate::number::seconds;
use crate::number::{NONE, bytes, count, percent, rate, span, time};
use crate::number::{significant, trimmed};
use crate::text::answer::said;
use crate::text::layout::Tone;
use crate::text::page::{Line, Page};
use crate::text::shape;
use crate::text::table::{Align, Table};
use crate::view::View;

/// Quantiles of the smaller tables.
const SHOWN: [&str; 3] = ["p50", "p95", "p99"];

/// Columns of a table of times that a narrow page drops, in this order. The count stays, as a
/// quantile means little without it.
const SPARE: [&str; 7] = ["stddev", "p90", "p99.9", "p95", "mean", "max", "p50"];

/// Explanation of the rows of a table of times.
const MEANING: &str = "response = send lag + wait + service, counted from the intended start";

/// Explanation of the intervals.
const INTERVALS: &str = "95 %: as far as chance may have moved them in this run; the next run may \
                         differ by more. –: too few independent times";

/// Reason for missing quantiles.
const WITHHELD: &str = "withheld: beyond the capacity, these times only say how long the run was";

/// Caveat for the times of a closed job.
const CLOSED: &str =
    "a client asks again only when it has its answer: a slower database is asked less often";

/// Writes the job or part with an account.
pub(super) fn write(page: &mut Page, view: &View, account: AccountId) {
    let job = &view.summary.jobs[account.index()];
    let plan = &view.evidence.plan;
    let planned = plan.account(account);
    page.gap();
    let asks = asks(plan, planned.job().target);
    let model = format!("  {}{asks}", model(job, planned));
    page.sentence(Tone::Strong, &format!("[{}]", job.name), &model);
    page.lines(2, &accounts(job));
    write_times(page, job, account.0 == 0);
    if let JobOrPart::Job(whole) = planned {
        if let (Pacing::Closed { .. }, 1..) = (&whole.pacing, job.response.count) {
            page.note(CLOSED);
        }
        if let Some(remark) = remark_on_part(view, whole) {
            page.note(&remark);
        }
    }
    write_errors(page, job);
    write_statements(page, job);
    write_nodes(page, job);
    if planned.requests().is_session() && job.service.count > 0 {
        page.note("response and service of a session include the pauses between its statements");
    }
    if let Some(remark) = remark_on_untimed_parts(job, planned) {
        page.note(&remark);
    }
    write_probes(page, job);
    write_shape(page, view, account);
}

/// Names the target of a job, unless it is the main one.
fn asks(plan: &Plan, target: JobTarget) -> String {
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
fn accounts(job: &JobSummary) -> Vec<Line> {
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
    let besides = [(counts.retries, "retries"), (counts.busy_waits, "busy waits")];
    for (number, label) in besides.into_iter().filter(|(number, _)| *number > 0) {
        lines.push(Line::new(label, grouped(number)));
    }
    if let Some(per_s) = job.throughput_per_s {
        lines.push(Line::new("throughput", throughput(job, per_s)));
    }
    lines.extend(traffic(job).map(|moved| Line::new("in all", moved)));
    lines.extend(job.slos.iter().map(|slo| match slo.met {
        true => Line::new("SLO met", said(job, slo)).in_tone(Tone::Good),
        false => Line::new("SLO missed", said(job, slo)).in_tone(Tone::Bad),
    }));
    lines
}

fn throughput(job: &JobSummary, per_s: f64) -> String {
    let mut parts = vec![format!("{} completed", rate(per_s))];
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

fn write_times(page: &mut Page, job: &JobSummary, is_first: bool) {
    let mut table = Table::new(titles_of_times()).with_optional_columns(&SPARE);
    let rows = [
        ("response", &job.response, job.exceeds_capacity),
        ("service", &job.service, false),
        ("wait", &job.wait, job.exceeds_capacity),
        ("send lag", &job.send_lag, false),
        ("error", &job.error, job.exceeds_capacity),
    ];
    for (name, times, is_withheld) in rows.into_iter().filter(|(_, times, _)| times.count > 0) {
        let head = [name.to_owned(), grouped(times.count)];
        match is_withheld {
            true => table.row_with_note(head, "withheld"),
            false => table.row(head.into_iter().chain(numbers(times))),
        }
        if name == "response" && !is_withheld {
            write_intervals(&mut table, job);
        }
    }
    if table.is_empty() {
        return;
    }
    page.gap();
    page.table(&table);
    if is_first {
        page.note(MEANING);
    }
    if is_first && has_intervals(job) {
        page.note(INTERVALS);
    }
    if job.exceeds_capacity {
        page.note(WITHHELD);
    }
    if let Some(remark) = remark_on_aged(job) {
        page.note(&remark);
    }
    if let Some(remark) = remark_on_few(&job.response).filter(|_| !job.exceeds_capacity) {
        page.note(&remark);
    }
}

/// Returns true if a number of a job has an interval that is shown.
fn has_intervals(job: &JobSummary) -> bool {
    let quantiles = job.estimates.quantiles_ns.iter().flatten();
    !job.exceeds_capacity && quantiles.filter_map(Estimate::ci95).next().is_some()
}

/// Writes two rows with the ends of the intervals of the response times, if there are any.
fn write_intervals(table: &mut Table, job: &JobSummary) {
    if !has_intervals(job) {
        return;
    }
    let Responses { mean_ns, quantiles_ns, .. } = job.estimates;
    for (place, name) in ["95 % from", "95 % to"].into_iter().enumerate() {
        let cell = |estimate: Option<Estimate>| {
            let bounds = estimate.and_then(|estimate| estimate.ci95());
            let end = |Bounds { low, high, .. }| [low, high][place];
            bounds.map_or_else(|| NONE.to_owned(), |bounds| time(end(bounds)))
        };
        let head = [format!("  {name}"), String::new(), cell(mean_ns), String::new()];
        table.row(head.into_iter().chain(quantiles_ns.map(cell)).chain([String::new()]));
    }
}

/// Formats mean, standard deviation, quantiles and maximum.
fn numbers(times: &Distribution) -> impl Iterator<Item = String> + use<> {
    let quantiles = times.quantiles_ns.map(|ns| ns as f64);
    let moments = [times.mean_ns, times.stddev_ns];
    moments.into_iter().chain(quantiles).chain([times.max_ns as f64]).map(time)
}

/// Returns a remark on a job that was active in a part of the window only.
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

/// Returns a remark on the times of requests that had no answer.
fn remark_on_aged(job: &JobSummary) -> Option<String> {
    // Not all requests that were open when a run was killed have an age.
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

/// Returns a remark on so few times that the upper quantiles are equal.
fn remark_on_few(times: &Distribution) -> Option<String> {
    // Less than one time lies above the quantile. The tolerance is for rounding.
    let is_largest = |fraction: f64| times.count as f64 * (1.0 - fraction) < 1.0 - 1e-9;
    let first = Quantile::ALL.into_iter().find(|quantile| is_largest(quantile.fraction))?;
    let times = (times.count > 0).then(|| count(times.count, "time"))?;
    Some(format!("of {times}, {} and above are the largest", first.label))
}

fn write_errors(page: &mut Page, job: &JobSummary) {
    let mut table = Table::new([
        ("errors", Align::Right),
        ("of requests", Align::Right),
        ("class", Align::Left),
        ("code", Align::Left),
    ])
    .with_optional_columns(&["of requests", "class"]);
    let scheduled = job.counts.balance.scheduled().max(1) as f64;
    let mut errors: Vec<&ErrorSummary> = job.errors_by_code.iter().collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    for ErrorSummary { class, code, count, .. } in &errors {
        let share = percent(*count as f64 / scheduled);
        table.row([grouped(*count), share, class.name().to_owned(), code.to_string()]);
    }
    write_part(page, &table);
    // Below the table and not shortened: the helpful part may be at the end of a text.
    let first = |error: &&ErrorSummary| {
        let text = error.text.as_ref()?;
        Some(Line::new(format!("first {}", error.code), text.as_str()))
    };
    page.lines(2, &errors.iter().filter_map(first).collect::<Vec<_>>());
}

fn write_statements(page: &mut Page, job: &JobSummary) {
    let numbers = ["statement", "count", "service p50", "p95", "p99", "max"];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let mut table = Table::new(titles.chain([("text", Align::Left)]))
        .with_optional_columns(&["p95", "max", "text", "p99"]);
    for statement in &job.statements {
        let service = &statement.service;
        let number = |ns: Option<u64>| ns.map_or_else(|| NONE.to_owned(), |ns| time(ns as f64));
        let max = (service.count > 0).then_some(service.max_ns);
        let head = [statement.number.to_string(), grouped(service.count)];
        let quantiles = SHOWN.map(|name| number(service.quantile_ns(name)));
        let tail = [number(max), statement.text.clone()];
        table.row(head.into_iter().chain(quantiles).chain(tail));
    }
    write_part(page, &table);
}

/// Writes the servers of a target with several of them, one row each.
fn write_nodes(page: &mut Page, job: &JobSummary) {
    let numbers = ["completed", "errors", "throughput", "response p50", "p95", "p99"];
    let titles = numbers.map(|title| (title, Align::Right)).into_iter();
    let mut table = Table::new([("server", Align::Left)].into_iter().chain(titles))
        .with_optional_columns(&["p95", "throughput", "p99", "errors", "response p50"]);
    for node in &job.nodes {
        let response = &node.response;
        let number = |ns: Option<u64>| ns.map_or_else(|| NONE.to_owned(), |ns| time(ns as f64));
        let quantiles = SHOWN.map(|name| match job.exceeds_capacity {
            true => NONE.to_owned(),
            false => number(response.quantile_ns(name)),
        });
        let balance = &node.counts.balance;
        let head = [
            node.address.clone(),
            grouped(balance.completed()),
            grouped(balance.errors()),
            node.throughput_per_s.map_or_else(|| NONE.to_owned(), rate),
        ];
        table.row(head.into_iter().chain(quantiles));
    }
    write_part(page, &table);
}

/// Returns a remark on the difference between a request's service time and the sum of its
/// statements: connecting, begin and commit take time, and no record holds their times. Their mean
/// is the difference, if every request sent every statement once.
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

/// Relative precision of the mean of a statement's times, which are kept with two digits: a smaller
/// difference may be zero.
const STATEMENT_ERROR: f64 = 0.01;

fn write_probes(page: &mut Page, job: &JobSummary) {
    let probes = &job.course;
    if probes.len() < 2 {
        return;
    }
    let titles = ["time from", "requests", "completed", "response p50", "p95", "p99", "max"];
    let mut table = Table::new(titles.map(|title| (title, Align::Right))).with_optional_columns(&[
        "p95",
        "max",
        "completed",
        "p99",
    ]);
    for Probe { start_s, throughput_per_s, response } in probes {
        let head = [seconds(*start_s), grouped(response.count), rate(*throughput_per_s)];
        if job.exceeds_capacity {
            table.row_with_note(head, "withheld");
        } else if response.count == 0 {
            table.row_with_note(head, NONE);
        } else {
            let quantiles = SHOWN.map(|name| response.quantile_ns(name).unwrap_or(0));
            let times = quantiles.into_iter().chain([response.max_ns]);
            table.row(head.into_iter().chain(times.map(|ns| time(ns as f64))));
        }
    }
    write_part(page, &table);
}

fn write_shape(page: &mut Page, view: &View, account: AccountId) {
    let histogram = view.evidence.jobs[account.index()].histogram(Kind::Response);
    let is_withheld = view.summary.jobs[account.index()].exceeds_capacity;
    if let Some(histogram) = histogram.filter(|_| !is_withheld) {
        let picture = shape::picture(histogram, page.room());
        write_part(page, &picture);
    }
}

/// Writes a table with a gap before it, unless it has no rows.
fn write_part(page: &mut Page, table: &Table) {
    if !table.is_empty() {
        page.gap();
        page.table(table);
    }
}
