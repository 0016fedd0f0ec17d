//! The short answer: the parts of a page that fit a screen, the most important ones last.
//!
//! It leaves out explanations and keeps warnings: errors, outages, missed SLOs, warnings, unsent
//! requests and missing samples.

use analyze::{JobSummary, Status};
use base::AccountId;
use record::Counts;
use workload::JobOrPart;

use super::block::{JobBlock, caveats_of_many, errors, overview, requests, shown_texts};
use super::headline::Headline;
use super::job::{JobSection, histogram};
use super::limiter::LimiterSection;
use super::load::LoadsSection;
use super::remark::{Line, Remark, Tone};
use super::run::{EventsSection, RunSection};
use super::shape::Bin;
use super::table::Table;
use crate::note;
use crate::number::count;
use crate::view::View;

/// Maximum number of jobs with a block each. If there are more, each has a row in a table.
const MOST_BLOCKS: usize = 10;

/// Maximum number of bins in a job's distribution.
const MOST_BINS: usize = 8;

/// Maximum number of notes of reviewers.
const MOST_REVIEWS: usize = 2;

/// The parts of the short answer, in the order in which they are shown; the verdict and the changes
/// come from the page.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortAnswer {
    /// Workload, targets, measured period, and label.
    pub subject: Vec<Line>,
    /// Blocks of the jobs, unless there are too many.
    pub blocks: Vec<JobBlock>,
    /// A row for each job if there are too many jobs for blocks; otherwise empty.
    pub overview: Table,
    /// Errors of the jobs if there are too many jobs for blocks; otherwise empty.
    pub errors: Vec<Line>,
    /// Caveats for the numbers in `overview`; empty if `overview` is empty.
    pub notes: Vec<Remark>,
    /// Distribution of the response times if there is a single job; otherwise empty.
    pub histogram: Vec<Bin>,
    /// A row for each load, if there is no job or a table lacks rows; otherwise empty.
    pub loads: Table,
    /// Remarks on the loads; only their faults if `loads` is empty.
    pub remarks_on_loads: Vec<Remark>,
    /// Events other than the errors in `blocks` and `errors`.
    pub events: EventsSection,
    /// Limiter with its evidence.
    pub limiter: Vec<Remark>,
    /// End of a run that did not complete.
    pub ending: Option<Remark>,
    /// Answer of each job, or one answer for many jobs together; without jobs, the answer of each
    /// load or of the observed program.
    pub answers: Vec<Line>,
    /// Remarks of the headline, and a remark if all SLOs were met.
    pub remarks: Vec<Remark>,
    /// Latest notes of reviewers.
    pub reviews: Vec<Line>,
    /// Commands to continue with, each labelled with its purpose.
    pub next: Vec<Line>,
}

/// The sections of a page that the short answer is taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections<'p> {
    pub(super) headline: &'p Headline,
    pub(super) limiter: &'p LimiterSection,
    pub(super) jobs: &'p [JobSection],
    pub(super) loads: &'p LoadsSection,
    pub(super) run: &'p RunSection,
}

impl ShortAnswer {
    pub(super) fn of(view: &View, page: Sections<'_>) -> ShortAnswer {
        let Sections { headline, limiter, jobs, loads, run } = page;
        let summaries = &view.summary.jobs;
        let (are_many, has_jobs) = (jobs.len() > MOST_BLOCKS, !jobs.is_empty());
        let in_table = if are_many { &summaries[..] } else { &[] };
        let whole = whole_jobs(view);
        let label = view.about.label().map(|label| Line::new("label", label));
        let (loads, remarks_on_loads) = match has_jobs && loads.is_complete {
            true => (loads.table.without_rows(), loads.faults.clone()),
            false => (loads.table.clone(), loads.remarks.clone()),
        };
        ShortAnswer {
            subject: run.subject.iter().cloned().chain(label).collect(),
            blocks: match are_many {
                true => Vec::new(),
                false => jobs.iter().map(JobBlock::of).collect(),
            },
            overview: overview(in_table),
            errors: if are_many { errors(&whole) } else { Vec::new() },
            notes: if are_many { caveats_of_many(&whole) } else { Vec::new() },
            histogram: match jobs.len() {
                1 => histogram(view, AccountId(0), MOST_BINS),
                _ => Vec::new(),
            },
            loads,
            remarks_on_loads,
            events: EventsSection::short(
                view,
                &match are_many {
                    true => shown_texts(&whole),
                    false => summaries.iter().flat_map(|job| shown_texts(&[job])).collect(),
                },
            ),
            limiter: match has_jobs {
                true => limiter.short_remarks.clone(),
                // Without jobs, the limiter is the answer.
                false => limiter.remarks.clone(),
            },
            ending: headline.ending.clone(),
            answers: match are_many {
                true => vec![outcomes_of_all(&whole)],
                false => headline.answers.clone(),
            },
            remarks: headline.remarks.iter().cloned().chain(all_slos_met(view)).collect(),
            reviews: reviews(view),
            next: run.next.clone(),
        }
    }
}

fn reviews(view: &View) -> Vec<Line> {
    let latest = note::latest_notes(&view.about.notes, MOST_REVIEWS);
    latest.into_iter().map(|note| Line::new("note", note)).collect()
}

/// Returns the jobs without the parts of mixes, whose requests the mix already counts.
fn whole_jobs(view: &View) -> Vec<&JobSummary> {
    let jobs = view.summary.jobs.iter().zip(view.evidence.plan.jobs_and_parts());
    jobs.filter(|(_, planned)| matches!(planned, JobOrPart::Job(_))).map(|(job, _)| job).collect()
}

/// Returns the outcomes of the requests of many jobs.
fn outcomes_of_all(jobs: &[&JobSummary]) -> Line {
    let mut counts = Counts::default();
    jobs.iter().for_each(|job| counts.merge(&job.counts));
    let label = count(jobs.len() as u64, "job");
    Line::new(label, requests(&counts)).in_tone(Tone::Strong)
}

/// Returns the remark that all SLOs were met, if there are any and their numbers can be believed.
fn all_slos_met(view: &View) -> Option<Remark> {
    let slos: Vec<_> = view.summary.jobs.iter().flat_map(|job| &job.slos).collect();
    let is_valid = view.summary.verdict.status() != Status::Invalid;
    let is_met = is_valid && !slos.is_empty() && slos.iter().all(|slo| slo.met);
    is_met.then(|| {
        let rest = format!(": {}", count(slos.len() as u64, "condition"));
        Remark::sentence(Tone::Good, "Every SLO is met", rest)
    })
}
