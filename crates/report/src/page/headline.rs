//! The headline: the end of the run, the answer of each job, and the facts that its reader must
//! know first.

use analyze::finding::JobObstacle;
use analyze::{Check, Finding, JobSummary, Judgement, LoadSummary, Obstacle, ProgramSummary};
use base::units::grouped;
use record::{EndKind, Kind};
use workload::{Job, JobOrPart, Metric, Pacing, Plan};

use super::load;
use super::remark::{Line, Remark, Tone};
use crate::number::{bytes, count, percent, rate, seconds, span, time};
use crate::view::View;
use crate::words;

/// Number of response times below which p99 would be the largest one: the answer then states the
/// maximum and not p99.
const FEWEST_FOR_P99: u64 = 100;

/// Number of requests below which the first line states that number.
const FEW_REQUESTS: u64 = 1_000;

/// Maximum number of answers, and of remarks, before the verdict of a page and in a list of
/// records. If there are more, the last one says how many are left out.
pub(crate) const MOST_FIRST: usize = 8;

/// The first lines of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// End of a run that did not complete.
    pub ending: Option<Remark>,
    /// Answer of each job; without jobs, the answer of each load or of the observed program.
    pub answers: Vec<Line>,
    /// Facts without which the numbers would mislead: a shared host, warnings, a window that is too
    /// short, missed SLOs.
    pub remarks: Vec<Remark>,
}

impl Headline {
    pub(super) fn of(view: &View) -> Headline {
        let mut answers = answers(view);
        answers.iter_mut().for_each(|line| line.tone = Tone::Strong);
        Headline { ending: end_of_run(view), answers, remarks: remarks(view) }
    }

    /// Returns all answers if they are few; otherwise the first ones, followed by a line that says
    /// how many more there are.
    pub fn first_answers(&self) -> Vec<Line> {
        first_of(&self.answers, |more| Line::new("", more).in_tone(Tone::Strong))
    }

    /// Returns all remarks if they are few; otherwise the first ones, followed by a remark that
    /// says how many more there are.
    pub fn first_remarks(&self) -> Vec<Remark> {
        first_of(&self.remarks, Remark::note)
    }
}

/// Returns all items if they are few; otherwise the first ones, followed by an item that says how
/// many more there are.
pub(crate) fn first_of<T: Clone>(all: &[T], counted: impl FnOnce(String) -> T) -> Vec<T> {
    if all.len() <= MOST_FIRST {
        return all.to_vec();
    }
    let (first, others) = all.split_at(MOST_FIRST - 1);
    let mut first = first.to_vec();
    first.push(counted(format!("… and {} more", others.len())));
    first
}

fn answers(view: &View) -> Vec<Line> {
    let jobs = view.summary.jobs.iter().zip(view.evidence.plan.jobs_and_parts());
    let mut lines: Vec<Line> =
        jobs.map(|(job, planned)| Line::new(&job.name, of_job(view, job, planned))).collect();
    if lines.is_empty() {
        let loads = view.summary.loads.iter();
        lines.extend(loads.map(|load| Line::new(&load.table, of_load(view, load))));
    }
    if lines.is_empty() {
        lines.push(match view.observed_program() {
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
    lines
}

fn remarks(view: &View) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if view.shares_its_host() == Some(true) {
        // Always shown: such a database competes with the generator.
        let rest = ": generator and database share its processors";
        remarks.push(Remark::sentence(Tone::Strong, "One host", rest));
    }
    for job in &view.summary.jobs {
        if let Some(empty_success) = &job.empty_success {
            let (text, remedy) =
                (words::warning(empty_success), words::remedy_of_warning(empty_success));
            let text = format!(": [{}] {text}: {remedy}", job.name);
            remarks.push(Remark::sentence(Tone::Doubtful, "Warning", text));
        }
    }
    remarks.extend(view.summary.verdict.checks.iter().find_map(too_short));
    for (job, missed) in missed_slos(view) {
        let text = format!(" by {}: {}", job.name, slo_with_number(job, missed));
        remarks.push(Remark::sentence(Tone::Bad, unmet_words(missed), text));
    }
    remarks
}

/// Returns the remark that a window is too short to detect a possible overload; `None` if the check
/// found nothing of that kind. Such a run is VALID, although its response times may only show its
/// length.
fn too_short(check: &Check) -> Option<Remark> {
    let Finding::NotPossible(Obstacle::Jobs(JobObstacle::FewIntervals {
        fewest,
        open_share: Some(open_share),
    })) = &check.finding
    else {
        return None;
    };
    let text = format!(
        ": {} of the requests were open at the end of the window; measure {fewest} s or longer",
        percent(*open_share)
    );
    Some(Remark::sentence(Tone::Doubtful, "Too short to judge overload", text))
}

/// Formats the throughput of an observed program: by its sockets, and by the counters of the
/// database for all of its clients. `None` if nothing was measured.
fn throughput(program: &ProgramSummary) -> Option<String> {
    let per_s = |what: &str, value: Option<f64>| Some(format!("{what} {}", rate(value?)));
    let in_bytes = |what: &str, value: Option<f64>| {
        Some(format!("{what} {}/s", bytes(value?.max(0.0) as u64)))
    };
    let of_program = [
        per_s("requests", program.requests_per_s)
            .or_else(|| program.requests_unseen.map(words::unseen_requests)),
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
fn missed_slos(view: &View) -> impl Iterator<Item = (&JobSummary, &Judgement)> {
    let jobs = view.summary.jobs.iter();
    jobs.flat_map(|job| job.slos.iter().map(move |slo| (job, slo))).filter(|(_, slo)| !slo.met)
}

/// Returns the words for an SLO that was missed, or that has no number and counts as missed.
pub(super) fn unmet_words(slo: &Judgement) -> &'static str {
    match slo.value {
        Some(_) => "SLO missed",
        None => "SLO not met",
    }
}

/// Formats an SLO and the number that was compared with it.
pub(crate) fn slo_with_number(job: &JobSummary, slo: &Judgement) -> String {
    let Some(value) = slo.value else {
        let why = match job.is_withheld(Kind::Response) {
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

/// Returns the end of a run that did not complete; `None` for a run that completed.
fn end_of_run(view: &View) -> Option<Remark> {
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
    Some(Remark::sentence(Tone::Doubtful, lead, rest))
}

/// Formats the answer of a job, or of a part of a mix, in one sentence.
fn of_job(view: &View, job: &JobSummary, planned: JobOrPart<'_>) -> String {
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
                // Requests that a closed job did not reach were never due.
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
    format!("{load}; {} ({})", times(job), basis(view, balance.scheduled()))
}

/// Returns true if a job is judged by the number of its requests and not by its rate. A rate would
/// mean nothing over a window that is longer than the job. If a closed job is the only job of a
/// file without `duration`, its window is as long as the job, so the rate is used.
fn is_judged_by_its_number(plan: &Plan, job: &Job) -> bool {
    let has_fixed_count = job.has_fixed_request_count();
    match job.pacing {
        Pacing::Timetable { .. } | Pacing::Replay => true,
        Pacing::Closed { .. } => has_fixed_count && !plan.ends_with_its_only_job(),
        Pacing::Open { .. } | Pacing::Queue { .. } => has_fixed_count,
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
    if job.is_withheld(Kind::Response) {
        return format!("response {WITHHELD}");
    }
    let p50 = response.quantile_ns("p50").map(|p50| time(p50 as f64));
    match (p50, response.quantile_ns("p99")) {
        (Some(p50), _) if response.count < FEWEST_FOR_P99 => {
            format!("response p50 {p50}, max {}", time(response.max_ns as f64))
        }
        (Some(p50), Some(p99)) => format!("response p50 {p50}, p99 {}", time(p99 as f64)),
        (_, _) => "no response time, nothing was answered".to_owned(),
    }
}

/// Formats the basis of the numbers in the first line: the number of requests if it is small, the
/// number of observations, and virtual time.
fn basis(view: &View, requests: u64) -> String {
    let mut grounds = Vec::new();
    if requests < FEW_REQUESTS {
        grounds.push(count(requests, "request"));
    }
    grounds.push("1 observation".to_owned());
    if view.about.is_virtual {
        grounds.push("virtual time".to_owned());
    }
    grounds.join(", ")
}

fn of_load(view: &View, load: &LoadSummary) -> String {
    let rows = format!("{}, {},", load::rows(view, load), bytes(load.bytes));
    let at = load.rows_per_s.map_or_else(String::new, |per_s| format!(", {}", rate(per_s)));
    let virtual_time = if view.about.is_virtual { ", virtual time" } else { "" };
    format!("{rows} loaded in {}{at} (1 observation{virtual_time})", span(load.took))
}
