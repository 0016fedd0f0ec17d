//! The first lines: the answer, the verdict and the limiter.

use analyze::{Check, Component, JobSummary, Judgement, LoadSummary};
use analyze::{ProgramSummary, Status, Verdict};
use base::units::grouped;
use record::EndKind;
use workload::{Job, JobOrPart, Metric, Pacing, Plan};

use crate::number::{bytes, count, percent, rate, seconds, significant, span, time, trimmed};
use crate::text::layout::Tone;
use crate::text::load;
use crate::text::page::{Line, Page};
use crate::text::seen;
use crate::text::side_effects;
use crate::text::unseen;
use crate::view::View;
use crate::words;

/// Number of times below which p99 is the largest of them, and is called that.
const ENOUGH_FOR_P99: u64 = 100;

/// Maximum number of other suspects that are listed.
const SUSPECTS: usize = 2;

/// Number of requests below which it is stated in the first line.
const FEW: u64 = 1_000;

/// Writes the first lines. Numbers of an invalid run appear below that word alone. The verdict and
/// the limiter are left out for loads without jobs, unless a check objects.
pub(super) fn write(page: &mut Page, view: &View) {
    let verdict = &view.summary.verdict;
    let loads_alone = view.summary.jobs.is_empty() && !view.summary.loads.is_empty();
    if loads_alone && verdict.status() <= Status::Pass {
        return write_headlines(page, view);
    }
    if verdict.status() == Status::Invalid {
        page.alone(Tone::Bad, verdict.word());
        write_findings(page, verdict);
        page.gap();
        write_headlines(page, view);
    } else if view.watched().is_some() {
        // Nothing was measured that could be doubted.
        write_headlines(page, view);
        page.gap();
    } else {
        write_headlines(page, view);
        page.gap();
        let tone = tone(verdict.status());
        page.sentence(tone, verdict.word(), &format!(": {}", tally(verdict)));
        write_findings(page, verdict);
    }
    if !loads_alone {
        write_limiter(page, view);
        side_effects::write_effects(page, view);
    }
}

fn write_headlines(page: &mut Page, view: &View) {
    if let Some(ending) = ending(view) {
        page.sentence(Tone::Doubtful, ending.lead, &ending.rest);
    }
    let jobs = view.summary.jobs.iter().zip(view.evidence.plan.jobs_and_parts());
    let mut lines: Vec<Line> =
        jobs.map(|(job, planned)| Line::new(&job.name, headline(view, job, planned))).collect();
    if lines.is_empty() {
        let loads = view.summary.loads.iter();
        lines.extend(loads.map(|load| Line::new(&load.table, headline_of_load(view, load))));
    }
    if lines.is_empty() {
        lines.push(match view.watched() {
            Some((program, ended)) => {
                let lasted = seconds(view.summary.window.end_s);
                Line::new("watched", format!("{program} for {lasted}: {ended}"))
            }
            None => Line::new("nothing", "was measured: there is no job and no load"),
        });
        if let Some(program) = &view.summary.program {
            lines.extend(throughput(program).map(|text| Line::new("throughput", text)));
        }
    }
    lines.iter_mut().for_each(|line| line.tone = Tone::Strong);
    page.lines(0, &lines);
    if view.shares_its_host() == Some(true) {
        // Always shown: such a database competes with the generator.
        page.sentence(Tone::Strong, "One host", ": generator and database share its processors");
    }
    for job in &view.summary.jobs {
        if let Some(quiet) = job.quiet {
            let (text, remedy) = (words::warning(quiet), words::remedy_of_warning(quiet));
            let text = format!(": [{}] {text}: {remedy}", job.name);
            page.sentence(Tone::Doubtful, "Warning", &text);
        }
    }
    for (job, missed) in missed(view) {
        let text = format!(" by {}: {}", job.name, said(job, missed));
        page.sentence(Tone::Bad, "SLO missed", &text);
    }
}

/// Formats the throughput of an observed program: by its sockets, and by the counters of the
/// database for all of its clients.
fn throughput(program: &ProgramSummary) -> Option<String> {
    let per_s = |what: &str, value: Option<f64>| Some(format!("{what} {}", rate(value?)));
    let in_bytes = |what: &str, value: Option<f64>| {
        Some(format!("{what} {}/s", bytes(value?.max(0.0) as u64)))
    };
    let of_program = [
        per_s("requests", program.requests_per_s),
        in_bytes("sent", program.sent_bytes_per_s),
        in_bytes("received", program.received_bytes_per_s),
    ];
    let of_database = [
        per_s("statements", program.statements_per_s),
        per_s("transactions", program.transactions_per_s),
        per_s("rows changed", program.rows_per_s),
    ];
    let listed = |parts: [Option<String>; 3]| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    };
    let of_database = listed(of_database).map(|text| format!("the database, for all: {text}"));
    let both: Vec<String> = [listed(of_program), of_database].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Returns the SLOs that were missed, with their jobs.
fn missed(view: &View) -> impl Iterator<Item = (&JobSummary, &Judgement)> {
    let jobs = view.summary.jobs.iter();
    jobs.flat_map(|job| job.slos.iter().map(move |slo| (job, slo))).filter(|(_, slo)| !slo.met)
}

/// Formats an SLO and the number that was compared with it.
pub(super) fn said(job: &JobSummary, slo: &Judgement) -> String {
    let Some(value) = slo.value else {
        let why = match job.exceeds_capacity {
            true => WITHHELD,
            false => "there is no number to judge",
        };
        return format!("{}, {why}", slo.text);
    };
    let value = match slo.metric {
        Metric::Response(_) | Metric::Service(_) => time(value),
        Metric::Throughput => rate(value),
        Metric::Failed => percent(value),
    };
    format!("{}, measured {value}", slo.text)
}

/// Text for a number that would mislead.
const WITHHELD: &str = "withheld: the load exceeds the capacity";

/// The end of a run that did not complete.
struct Ending {
    lead: &'static str,
    rest: String,
}

fn ending(view: &View) -> Option<Ending> {
    let lead = match view.evidence.ended {
        Some(EndKind::Completed) => return None,
        Some(EndKind::Interrupted) => "Interrupted",
        Some(EndKind::StoppedByError) => "Stopped by an error",
        Some(EndKind::TargetLost) => "Target lost",
        Some(EndKind::RecorderFailed) => "Record given up",
        Some(EndKind::FileFailed) => "Stopped by a file",
        Some(EndKind::QueueFull) => "Stopped by a full queue",
        Some(EndKind::InternalError) => "Stopped by an internal error",
        None => "Killed, or still running,",
    };
    let mut rest = format!(" after {}", span(view.evidence.end()));
    if let Some(planned) = view.evidence.plan.duration {
        rest.push_str(&format!(" of {}", span(planned)));
    }
    match view.about.ended.as_ref().map(|end| end.text.as_str()) {
        Some("") | None => rest.push('.'),
        Some(text) => rest.push_str(&format!(": {text}.")),
    }
    Some(Ending { lead, rest })
}

/// Formats the answer of a job or part in one sentence.
fn headline(view: &View, job: &JobSummary, planned: JobOrPart<'_>) -> String {
    let Some(achieved) = job.throughput_per_s else {
        return match view.summary.window.warmup_s {
            0.0 => "no result: no request was scheduled".to_owned(),
            _ => "no result: no request was scheduled after the warm-up".to_owned(),
        };
    };
    let balance = &job.counts.balance;
    let got = match is_judged_by_its_number(&view.evidence.plan, planned.job()) {
        true => {
            let whole = match planned {
                JobOrPart::Job(job) => Some(job),
                JobOrPart::Part(..) => None,
            };
            let due = match whole.filter(|job| !job.has_arrivals()).and_then(|job| job.count) {
                // Requests that a closed job did not get to were never due.
                Some(count) if view.summary.window.warmup_s == 0.0 => count,
                _ => balance.scheduled(),
            };
            format!("{} of {} done", grouped(balance.completed()), grouped(due))
        }
        false => format!("achieved {}", rate(achieved)),
    };
    let got = got + &failures(job);
    let pacing = match planned {
        JobOrPart::Job(job) => Some(&job.pacing),
        JobOrPart::Part(..) => None,
    };
    let load = match pacing {
        Some(Pacing::Open { schedule, .. } | Pacing::Queue { schedule, .. }) => {
            let mean = if schedule.varies() { " on average" } else { "" };
            match job.offered_per_s {
                Some(offered) => format!("offered {}{mean}, {got}", rate(offered)),
                None => got,
            }
        }
        Some(Pacing::Closed { clients, .. }) => {
            format!("{} {got}", count(u64::from(*clients), "client"))
        }
        Some(Pacing::Timetable { .. } | Pacing::Replay) | None => got,
    };
    format!("{load}; {} ({})", times(job), grounds(view, balance.scheduled()))
}

/// Returns true if a job is a number of requests rather than a load: its rate over a window that is
/// longer than the job would mean nothing. A closed job that is alone is as long as the window.
fn is_judged_by_its_number(plan: &Plan, job: &Job) -> bool {
    let ends_by_itself = job.has_fixed_request_count();
    match job.pacing {
        Pacing::Timetable { .. } | Pacing::Replay => true,
        Pacing::Closed { .. } => ends_by_itself && !plan.ends_with_its_only_job(),
        Pacing::Open { .. } | Pacing::Queue { .. } => ends_by_itself,
    }
}

/// Formats the fractions of the scheduled requests that were not answered, if there are any.
/// Accepted errors are included, because errors are fast and flatter the other numbers.
fn failures(job: &JobSummary) -> String {
    let balance = &job.counts.balance;
    let scheduled = balance.scheduled().max(1) as f64;
    let parts = [
        (balance.errors(), "errors"),
        (balance.rejected(), "rejected"),
        (balance.unsent(), "unsent"),
    ];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    parts.map(|(number, what)| format!(", {} {what}", percent(number as f64 / scheduled))).collect()
}

/// Formats the response time in a few words.
fn times(job: &JobSummary) -> String {
    let response = &job.response;
    if job.exceeds_capacity {
        return format!("response {WITHHELD}");
    }
    let p50 = response.quantile_ns("p50").map(|p50| time(p50 as f64));
    match (p50, response.quantile_ns("p99")) {
        (Some(p50), _) if response.count < ENOUGH_FOR_P99 => {
            format!("response p50 {p50}, max {}", time(response.max_ns as f64))
        }
        (Some(p50), Some(p99)) => format!("response p50 {p50}, p99 {}", time(p99 as f64)),
        (_, _) => "no response time, nothing was answered".to_owned(),
    }
}

/// Formats the basis of the numbers in the first line.
fn grounds(view: &View, requests: u64) -> String {
    let mut grounds = Vec::new();
    if requests < FEW {
        grounds.push(count(requests, "request"));
    }
    grounds.push("1 observation".to_owned());
    if view.about.is_virtual {
        grounds.push("virtual time".to_owned());
    }
    grounds.join(", ")
}

fn headline_of_load(view: &View, load: &LoadSummary) -> String {
    let rows = format!("{}, {},", load::rows(view, load), bytes(load.bytes));
    let at = load.rows_per_s.map_or_else(String::new, |per_s| format!(", {}", rate(per_s)));
    let virtual_time = if view.about.is_virtual { ", virtual time" } else { "" };
    format!("{rows} loaded in {}{at} (1 observation{virtual_time})", span(load.took))
}

fn tone(status: Status) -> Tone {
    match status {
        Status::NotPossible => Tone::Quiet,
        Status::Pass => Tone::Good,
        Status::Suspect => Tone::Doubtful,
        Status::Invalid => Tone::Bad,
    }
}

/// Counts the checks by finding: `8 checks passed, 1 not possible here`.
fn tally(verdict: &Verdict) -> String {
    let number = |status| verdict.with(status).count() as u64;
    let mut tally = vec![format!("{} passed", count(number(Status::Pass), "check"))];
    for (status, words) in [
        (Status::Suspect, "suspect"),
        (Status::Invalid, "invalid"),
        (Status::NotPossible, "not possible here"),
    ] {
        if number(status) > 0 {
            tally.push(format!("{} {words}", number(status)));
        }
    }
    tally.join(", ")
}

/// Writes the checks that did not pass, the gravest first, each with its remedy.
fn write_findings(page: &mut Page, verdict: &Verdict) {
    let mut lines = Vec::new();
    for status in [Status::Invalid, Status::Suspect] {
        for check in verdict.with(status) {
            lines.push(Line::new(check.name(), explained(check)).in_tone(tone(status)));
            let remedy = words::remedy_of(check).map(|remedy| format!("What to do: {remedy}"));
            lines.extend(remedy.map(Line::remark));
        }
    }
    page.lines(2, &lines);
}

/// Writes the checks that could not be made, with the reasons: far below the answer, as they change
/// nothing. Without a job there was nothing to judge.
pub(super) fn write_not_possible(page: &mut Page, view: &View) {
    let lines: Vec<Line> = not_possible(&view.summary.verdict).collect();
    if !lines.is_empty() && !view.summary.jobs.is_empty() {
        page.gap();
        page.sentence(Tone::Quiet, "Checks that were not possible here", "");
        page.lines(2, &lines);
    }
}

/// Returns the checks that could not be made: those with the same reason on one line.
fn not_possible(verdict: &Verdict) -> impl Iterator<Item = Line> {
    let mut reasons: Vec<(&Check, Vec<&str>)> = Vec::new();
    for check in verdict.with(Status::NotPossible) {
        match reasons.iter_mut().find(|(known, _)| known.finding == check.finding) {
            Some((_, names)) => names.push(check.name()),
            None => reasons.push((check, vec![check.name()])),
        }
    }
    reasons.into_iter().map(|(check, names)| {
        let reason = words::sentence_of(check);
        let line = match names.as_slice() {
            [name] => Line::new(*name, reason),
            names => Line::new(
                format!("{} checks", names.len()),
                format!("{reason} ({})", names.join(", ")),
            ),
        };
        line.in_tone(tone(Status::NotPossible))
    })
}

/// Returns the sentence of a check, with the value and the limit if it was exceeded.
fn explained(check: &Check) -> String {
    let sentence = words::sentence_of(check);
    let number = |value: f64| match (trimmed(&significant(value)), check.unit.name()) {
        (number, "") => number.to_owned(),
        (number, unit) => format!("{number} {unit}"),
    };
    match (check.value, check.limit) {
        // A limit of zero says only that there must be none, and the sentence has the number.
        (Some(value), Some(limit)) if value.is_finite() && value > limit && limit > 0.0 => {
            let (value, limit) = (number(value), number(limit));
            format!("{sentence} ({value}; accepted up to {limit})")
        }
        (_, _) => sentence,
    }
}

fn write_limiter(page: &mut Page, view: &View) {
    let limiter = &view.summary.limiter;
    let because = words::because(&limiter.finding);
    page.sentence(Tone::Strong, words::lead(limiter.component), &format!(": {because}"));
    if let Some(relief) = view.relief(limiter.component) {
        page.note(&format!("What would help: {relief}."));
    }
    for suspect in limiter.ranked.iter().skip(1).take(SUSPECTS) {
        let share = percent(suspect.share);
        let because = words::because(&suspect.finding);
        page.note(&format!("Also, {share}: {because} ({}).", suspect.component.name()));
    }
    if limiter.component == Component::Unknown {
        seen::write(page, &limiter.seen);
    }
    let (needed, others): (Vec<_>, Vec<_>) =
        limiter.unseen.iter().partition(|it| unseen::is_always_reported(view, words::source(it)));
    for it in needed {
        page.note(&format!("Not all was seen of {}: {}.", words::source(it), words::reason(it)));
    }
    let names: Vec<&str> = others.into_iter().map(words::source).collect();
    if limiter.component == Component::Unknown && !names.is_empty() {
        page.note(&format!("Not seen: {}.", names.join(", ")));
    }
}
