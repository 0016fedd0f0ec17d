//! A job in the short answer: a block, or a row among many others.

use std::cmp::Reverse;

use analyze::{Distribution, ErrorSummary, JobSummary};
use base::units::grouped;
use hdrhistogram::Histogram;
use record::{Counts, Kind};

use super::job::{JobSection, WITHHELD_NOTE, caveats, repetitions, slos, throughput};
use super::quantity::Quantity;
use super::remark::{Line, Remark, Tone};
use super::table::{Align, Cell, Table};
use crate::number::{count, percent, rate};

/// Quantiles of a block, by their names and titles.
const SHOWN_QUANTILES: [(&str, &str); 4] =
    [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9")];

/// Columns that a narrow page drops, in this order.
const DROPPED_COLUMNS: [&str; 4] = ["p90", "p99.9", "max", "p50"];

/// Columns of the table of many jobs that a narrow page drops, in this order.
const DROPPED_COLUMNS_OF_MANY: [&str; 4] = ["service p99", "response p50", "offered", "requests"];

/// Maximum number of kinds of errors with a line of their own.
const MOST_ERRORS: usize = 5;

/// Maximum number of caveats of many jobs.
const MOST_CAVEATS: usize = 5;
/// Maximum number of jobs that a caveat names.
const MOST_NAMES: usize = 3;

/// The numbers of a job that matter most for judging it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobBlock {
    /// Name and model of the job.
    pub heading: Remark,
    /// Outcomes of the job's requests, its errors and its SLOs.
    pub outcomes: Vec<Line>,
    /// Response and service times with the differences of their quantiles; an empty table if none
    /// were measured.
    pub times: Table,
    /// Caveats for these numbers.
    pub notes: Vec<Remark>,
}

impl JobBlock {
    pub(super) fn of(section: &JobSection) -> JobBlock {
        let job = &section.summary;
        let mut outcomes = vec![Line::new("requests", requests(&job.counts))];
        outcomes.extend(repetitions(job));
        if let Some(per_s) = job.throughput_per_s {
            outcomes.push(Line::new("throughput", throughput(job, achieved(job, per_s))));
        }
        outcomes.extend(errors(&[job]));
        outcomes.extend(slos(job));
        JobBlock {
            heading: section.heading.clone(),
            outcomes,
            times: times(job),
            notes: caveats(job).chain(section.notes.iter().cloned()).collect(),
        }
    }
}

/// Formats the numbers of requests by outcome; outcomes that did not occur are left out.
pub(super) fn requests(counts: &Counts) -> String {
    let balance = &counts.balance;
    let failed = join_occurring([
        (balance.errors(), count(balance.errors(), "error") + &details(counts)),
        (balance.rejected(), format!("{} rejected", grouped(balance.rejected()))),
        (balance.unsent(), format!("{} unsent", grouped(balance.unsent()))),
    ]);
    let scheduled = format!("{} scheduled", grouped(balance.scheduled()));
    let mut text = match (balance.scheduled(), failed.is_empty()) {
        (0, _) => scheduled,
        (_, true) => format!("{scheduled}, all completed"),
        (_, false) => {
            let completed = grouped(balance.completed());
            format!("{scheduled}: {completed} completed, {failed}")
        }
    };
    if counts.open() > 0 {
        text.push_str(&format!("; {} more have no outcome", grouped(counts.open())));
    }
    text
}

/// Formats the numbers of timeouts and of accepted errors, in parentheses; empty if both are zero.
fn details(counts: &Counts) -> String {
    let details = join_occurring([
        (counts.timeouts, count(counts.timeouts, "timeout")),
        (counts.accepted_errors, format!("{} accepted", grouped(counts.accepted_errors))),
    ]);
    if details.is_empty() { details } else { format!(" ({details})") }
}

/// Joins the texts whose numbers are not zero.
fn join_occurring<const N: usize>(texts: [(u64, String); N]) -> String {
    let texts = texts.into_iter().filter(|(number, _)| *number > 0);
    texts.map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

fn achieved(job: &JobSummary, per_s: f64) -> String {
    match job.offered_per_s {
        Some(offered) => format!("{} completed of {} offered", rate(per_s), rate(offered)),
        None => format!("{} completed", rate(per_s)),
    }
}

/// Returns a line for each of the most frequent errors of these jobs, with its first text.
pub(super) fn errors(jobs: &[&JobSummary]) -> Vec<Line> {
    let scheduled: u64 = jobs.iter().map(|job| job.counts.balance.scheduled()).sum();
    let all = merge_failures(jobs);
    let line = |(place, failure): (usize, &Failure)| {
        let text = error_text(failure, scheduled, jobs.len() > 1);
        Line::new(if place == 0 { "errors" } else { "" }, text).in_tone(Tone::Doubtful)
    };
    let mut lines: Vec<Line> = all.iter().enumerate().take(MOST_ERRORS).map(line).collect();
    if let Some(others @ [_, ..]) = all.get(MOST_ERRORS..) {
        let errors: u64 = others.iter().map(|failure| failure.error.count).sum();
        let codes = count(others.len() as u64, "other code");
        lines.push(Line::new("", format!("and {} with {codes}", count(errors, "more error"))));
    }
    lines
}

/// Returns the first texts that [`errors`] shows.
pub(super) fn shown_texts(jobs: &[&JobSummary]) -> Vec<String> {
    let shown = merge_failures(jobs).into_iter().take(MOST_ERRORS);
    shown.filter_map(|failure| failure.error.text).collect()
}

/// Returns the caveats of many jobs, each once with the jobs that it is about.
pub(super) fn caveats_of_many(jobs: &[&JobSummary]) -> Vec<Remark> {
    let mut all: Vec<(Remark, Vec<&str>)> = Vec::new();
    for job in jobs {
        for caveat in caveats(job) {
            match all.iter_mut().find(|(known, _)| *known == caveat) {
                Some((_, names)) => names.push(&job.name),
                None => all.push((caveat, vec![&job.name])),
            }
        }
    }
    let more = all.len().saturating_sub(MOST_CAVEATS);
    let remark = |(caveat, names): (Remark, Vec<&str>)| match caveat {
        Remark::Note(text) => Remark::Note(format!("{}: {text}", some_of(&names))),
        other => other,
    };
    let mut remarks: Vec<Remark> = all.into_iter().take(MOST_CAVEATS).map(remark).collect();
    if more > 0 {
        remarks.push(Remark::Note(format!(
            "{} in the whole answer",
            count(more as u64, "more caveat")
        )));
    }
    remarks
}

/// Lists some names: `[a], [b], [c] and 7 others`.
fn some_of(names: &[&str]) -> String {
    let listed = names.iter().take(MOST_NAMES).map(|name| format!("[{name}]"));
    let listed: Vec<String> = listed.collect();
    match names.len().saturating_sub(MOST_NAMES) {
        0 => listed.join(", "),
        others => format!("{} and {}", listed.join(", "), count(others as u64, "other")),
    }
}

/// The errors with one class and code.
struct Failure {
    error: ErrorSummary,
    /// Number of jobs with such errors.
    jobs: u64,
}

/// Returns the errors of these jobs by class and code, the most frequent first.
fn merge_failures(jobs: &[&JobSummary]) -> Vec<Failure> {
    let mut all: Vec<Failure> = Vec::new();
    for error in jobs.iter().flat_map(|job| &job.errors_by_code) {
        let is_same = |known: &&mut Failure| {
            known.error.class == error.class && known.error.code == error.code
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                known.error.count += error.count;
                known.error.text = known.error.text.take().or_else(|| error.text.clone());
                known.jobs += 1;
            }
            None => all.push(Failure { error: error.clone(), jobs: 1 }),
        }
    }
    all.sort_by_key(|failure| Reverse(failure.error.count));
    all
}

/// Formats an error: number, class, code, jobs if there are several, share of the requests, and
/// first text.
fn error_text(failure: &Failure, scheduled: u64, are_several: bool) -> String {
    let ErrorSummary { class, code, count: errors, text } = &failure.error;
    let share = percent(*errors as f64 / scheduled.max(1) as f64);
    let (class, code) = (class.name(), code.to_string());
    let kind = if class == code { code } else { format!("{class} {code}") };
    let place = match are_several {
        true => format!(" in {}", count(failure.jobs, "job")),
        false => String::new(),
    };
    let text = text.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    format!("{} {kind}{place}, {share} of the requests{text}", grouped(*errors))
}

fn times(job: &JobSummary) -> Table {
    let quantiles = SHOWN_QUANTILES.map(|(_, title)| title).into_iter();
    let titles = ["count"].into_iter().chain(quantiles).chain(["max"]);
    let titles = titles.map(|title| (title, Align::Right));
    let titles = [("", Align::Left)].into_iter().chain(titles);
    let mut table = Table::new(titles).with_optional_columns(DROPPED_COLUMNS);
    let rows =
        [("response", Kind::Response, &job.response), ("service", Kind::Service, &job.service)];
    for (name, kind, times) in rows.into_iter().filter(|(_, _, times)| times.count > 0) {
        let head = [Cell::from(name), Quantity::Count(times.count).into()];
        match job.is_withheld(kind) {
            true => table.row_with_note(head, WITHHELD_NOTE),
            false => table.row(head.into_iter().chain(numbers(times).map(time))),
        }
    }
    if has_gap(job) {
        let head = [Cell::from("gap"), Cell::Empty];
        let pairs = numbers(&job.response).into_iter().zip(numbers(&job.service));
        // Requests that were never sent have a response time and no service time.
        let gaps = pairs.map(|(response, service)| response?.checked_sub(service?));
        table.row(head.into_iter().chain(gaps.map(time)));
    }
    table
}

/// Returns true if, at some quantile, response and service times differ by more than the resolution
/// of the histograms.
fn has_gap(job: &JobSummary) -> bool {
    let has_both = job.response.count > 0 && job.service.count > 0;
    let pairs = numbers(&job.response).into_iter().zip(numbers(&job.service));
    let mut quantiles = pairs.take(SHOWN_QUANTILES.len());
    let is_wide = |(response, service): (Option<u64>, Option<u64>)| {
        let gap = response.zip(service).map(|(response, service)| response.abs_diff(service));
        // Each of the two times may be off by a bucket.
        gap.zip(response).is_some_and(|(gap, response)| gap > 2 * bucket_width(response))
    };
    let is_withheld = job.is_withheld(Kind::Response) || job.is_withheld(Kind::Service);
    has_both && !is_withheld && quantiles.any(is_wide)
}

/// Returns the width of the histogram bucket of a response time, in nanoseconds.
fn bucket_width(ns: u64) -> u64 {
    let times: Histogram<u64> = Kind::Response.histogram();
    times.next_non_equivalent(ns) - times.lowest_equivalent(ns)
}

/// Returns the quantiles and the maximum, in nanoseconds.
fn numbers(times: &Distribution) -> [Option<u64>; SHOWN_QUANTILES.len() + 1] {
    let [p50, p90, p99, p99_9] = SHOWN_QUANTILES.map(|(name, _)| times.quantile_ns(name));
    [p50, p90, p99, p99_9, (times.count > 0).then_some(times.max_ns)]
}

fn time(ns: Option<u64>) -> Cell {
    ns.map(|ns| Quantity::Time(ns as f64)).into()
}

/// Returns a row for each of many jobs. A kind of failure has a column if it occurred.
pub(super) fn overview(jobs: &[JobSummary]) -> Table {
    let any = |number: fn(&JobSummary) -> u64| jobs.iter().any(|job| number(job) > 0);
    let failures: Vec<_> = FAILURES.into_iter().filter(|(_, number)| any(*number)).collect();
    let titles = ["requests", "offered", "completed"].into_iter();
    let titles = titles.chain(failures.iter().map(|(title, _)| *title));
    let titles = titles.chain(["response p50", "response p99", "service p99"]);
    let titles = titles.map(|title| (title, Align::Right));
    let titles = [("job", Align::Left)].into_iter().chain(titles);
    let mut table = Table::new(titles).with_optional_columns(DROPPED_COLUMNS_OF_MANY);
    for job in jobs {
        let response = |name| match job.is_withheld(Kind::Response) {
            true => Cell::from("withheld"),
            false => time(job.response.quantile_ns(name)),
        };
        let head = [
            Cell::from(job.name.as_str()),
            Quantity::Count(job.counts.balance.scheduled()).into(),
            job.offered_per_s.map(Quantity::Rate).into(),
            job.throughput_per_s.map(Quantity::Rate).into(),
        ];
        let failures = failures.iter().map(|(_, number)| Quantity::Count(number(job)).into());
        let times = [response("p50"), response("p99"), time(job.service.quantile_ns("p99"))];
        table.row(head.into_iter().chain(failures).chain(times));
    }
    table
}

/// A number of failed requests, with the title of its column.
type FailureColumn = (&'static str, fn(&JobSummary) -> u64);

const FAILURES: [FailureColumn; 4] = [
    ("errors", |job| job.counts.balance.errors()),
    ("rejected", |job| job.counts.balance.rejected()),
    ("unsent", |job| job.counts.balance.unsent()),
    ("no outcome", |job| job.counts.open()),
];
