//! The view model of an answer: the whole content of a report on a run, independent of its form.
//!
//! [`Page::of`] decides the content: which numbers are shown or withheld, in which tables and
//! sentences, and in which order of importance. A painter (text, JSON) gives the content a form and
//! decides nothing. Numbers are typed ([`Quantity`], or the summaries of `analyze`), and each
//! painter formats them in its own way; sentences come from `words`.

mod block;
mod datum;
mod environment;
mod excerpt;
mod fact_group;
mod facts;
mod headline;
mod job;
mod limiter;
mod load;
mod quantity;
mod remark;
mod run;
mod shape;
mod short;
mod side_effects;
mod table;
mod verdict;

pub use block::JobBlock;
pub(crate) use datum::FRACTION;
pub use datum::{Datum, PlainValue};
pub(crate) use environment::measured_on;
pub use environment::{Environment, Subject};
pub use excerpt::{ExcerptSection, ExcerptTable};
pub(crate) use fact_group::{FactGroup, group_facts, subject_of};
pub use facts::FactTable;
pub(crate) use facts::is_default;
pub use headline::Headline;
pub(crate) use headline::{MOST_FIRST, first_of, slo_with_number};
pub use job::{JobSection, Warning};
pub use limiter::{CandidateRow, LimiterSection, UnseenSource};
pub use load::{LoadSection, LoadsSection};
pub use quantity::Quantity;
pub use remark::{Line, Remark, Tone};
pub(crate) use run::commands_to_continue;
pub use run::{EventRow, EventsSection, RunSection};
pub use shape::Bin;
pub use short::ShortAnswer;
pub use side_effects::{Legend, SideEffectSection};
pub use table::{Align, Cell, Column, Row, Table};
pub(crate) use verdict::tone;
pub use verdict::{CheckRow, VerdictSection};

use std::collections::BTreeMap;

use analyze::{Effect, JobSummary, SideEffects, Status, Window};

use crate::figures;
use crate::number::{bytes, count, significant};
use crate::view::View;
use short::Sections;

/// The answer of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// First lines of the answer.
    pub headline: Headline,
    /// Verdict on the numbers of the answer.
    pub verdict: VerdictSection,
    /// Position of the verdict.
    pub verdict_position: VerdictPosition,
    /// Limiter of the run.
    pub limiter: LimiterSection,
    /// True if the limiter belongs in the answer for people.
    pub is_limiter_shown: bool,
    /// Measured period.
    pub window: Window,
    /// Jobs in the file's order.
    pub jobs: Vec<JobSection>,
    /// Changes caused by intermittent jobs and background work.
    pub effects: Vec<Effect>,
    /// The largest of these changes, in words.
    pub changes: Vec<Remark>,
    /// Side effects of intermittent jobs and background work on the other jobs.
    pub side_effects: Vec<SideEffects>,
    /// Side effects as tables.
    pub side_effect_tables: Vec<SideEffectSection>,
    /// Tables that were filled.
    pub loads: LoadsSection,
    /// Events of the run.
    pub events: EventsSection,
    /// Facts about the run.
    pub run: RunSection,
    /// Settings and facts of the record.
    pub environment: Environment,
    /// Statements with examples, and the loaded tables.
    pub excerpts: ExcerptSection,
    /// Note on the jobs without figures of their own, if there are any.
    pub few_figures: Option<Remark>,
    /// The short answer, which fits a screen.
    pub short: ShortAnswer,
}

/// The position of the verdict in an answer for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictPosition {
    /// Before all numbers, because they cannot be trusted.
    First,
    /// After the headline.
    AfterHeadline,
    /// No verdict is shown: the run has no requests of its own that could be doubted.
    Omitted,
}

impl Page {
    /// Builds the answer of a run.
    pub fn of(view: &View) -> Page {
        let summary = &view.summary;
        let position = verdict_position(view);
        let (headline, limiter) = (Headline::of(view), LimiterSection::of(view));
        let jobs: Vec<JobSection> =
            view.evidence.accounts().map(|account| JobSection::of(view, account)).collect();
        let (loads, run) = (LoadsSection::of(view), RunSection::of(view));
        let sections = Sections {
            headline: &headline,
            limiter: &limiter,
            jobs: &jobs,
            loads: &loads,
            run: &run,
        };
        Page {
            short: ShortAnswer::of(view, sections),
            headline,
            verdict: VerdictSection::of(&summary.verdict, !summary.jobs.is_empty()),
            verdict_position: position,
            limiter,
            is_limiter_shown: !view.has_only_loads(),
            window: summary.window,
            jobs,
            effects: summary.effects.clone(),
            changes: side_effects::changes(&summary.effects),
            side_effects: summary.side_effects.clone(),
            side_effect_tables: side_effects::sections(&summary.side_effects),
            loads,
            events: EventsSection::of(view),
            run,
            environment: Environment::of(&view.about),
            excerpts: ExcerptSection::of(&view.about.excerpts, &answers(view)),
            few_figures: few_figures(summary.jobs.len()),
        }
    }
}

/// Returns a note if only the first of many jobs have figures of their own.
fn few_figures(jobs: usize) -> Option<Remark> {
    let most = figures::MOST_JOBS;
    let all = count(jobs as u64, "job");
    let text = format!("Figures of the first {most} of {all}; the tables have all of them.");
    (jobs > most).then(|| Remark::note(text))
}

/// Returns a phrase for each job and for each part of a mix, by its name: the mean numbers of rows
/// and bytes of a request.
fn answers(view: &View) -> BTreeMap<&str, String> {
    let answer = |job: &JobSummary| {
        let completed = job.counts.balance.completed() as f64;
        let rows = significant(job.counts.rows as f64 / completed);
        let mean = |all: u64| bytes((all as f64 / completed).round() as u64);
        let (sent, received) = (mean(job.counts.bytes_sent), mean(job.counts.bytes_received));
        format!("{rows} rows, {received} received and {sent} sent per request on average")
    };
    let jobs = view.summary.jobs.iter().filter(|job| job.counts.balance.completed() > 0);
    jobs.map(|job| (job.name.as_str(), answer(job))).collect()
}

/// Returns the position of the verdict. Numbers of an invalid run always appear below the word
/// INVALID. Otherwise, an observed program and loads without jobs have a verdict only if a check is
/// suspect.
fn verdict_position(view: &View) -> VerdictPosition {
    let status = view.summary.verdict.status();
    let has_no_requests = view.observed_program().is_some() || view.has_only_loads();
    if status == Status::Invalid {
        VerdictPosition::First
    } else if has_no_requests && status <= Status::Pass {
        VerdictPosition::Omitted
    } else {
        VerdictPosition::AfterHeadline
    }
}
