//! The figures of a run, with their order and their sentences.
//!
//! Every number of a figure comes from merged histograms, exact counts or recorded readings; a
//! value that was not recorded interrupts the line. Each function here is pure.

mod cpu;
mod curve;
mod devices;
mod errors;
mod evidence;
mod heat;
mod histogram;
mod loads;
mod overlay;
mod parts;
mod processors;
mod queue;
mod readings;
mod response;
mod subject;
mod throughput;
mod timeline;
mod waits;

use analyze::TimeCourse;

pub(crate) use evidence::figures_with_evidence;
use subject::{Job, Run};

use crate::figure::{Figure, Scale};
use crate::view::View;

/// Maximum number of jobs with figures of their own. A figure of all jobs is limited only by its
/// number of series.
pub(crate) const MOST_JOBS: usize = 8;

/// Returns the figures of a run, the most important first. `courses` are the time courses of its
/// jobs.
pub fn figures(view: &View, courses: &[TimeCourse]) -> Vec<Figure> {
    let run = Run { view, courses };
    let mut figures = vec![throughput::figure(&run)];
    let jobs: Vec<Job<'_>> = run.jobs().take(MOST_JOBS).collect();
    for of_job in [response::figure, curve::figure, histogram::figure, heat::figure, parts::figure]
    {
        figures.extend(jobs.iter().map(|job| of_job(&run, job)));
    }
    figures.push(cpu::figure(&run));
    figures.extend(waits::figures(&run));
    figures.push(queue::figure(&run));
    figures.push(errors::figure(&run));
    figures.extend(processors::figures(&run));
    figures.extend(devices::figures(&run));
    if !view.evidence.loads.is_empty() {
        figures.push(loads::figure(&run));
    }
    if let Some(note) = timeline::note(&run) {
        let over_time = |it: &&mut Figure| it.x.scale == Scale::Time && it.missing.is_none();
        figures.iter_mut().filter(over_time).for_each(|figure| figure.add_clause(&note));
    }
    with_distinct_strokes(figures)
}

fn with_distinct_strokes(figures: Vec<Figure>) -> Vec<Figure> {
    figures.into_iter().map(Figure::with_distinct_strokes).collect()
}

/// One of two runs that figures overlay.
pub struct OverlaidRun<'a> {
    /// Name of its record.
    pub name: &'a str,
    /// The run.
    pub view: &'a View,
    /// The time courses of its jobs.
    pub courses: &'a [TimeCourse],
}

/// Returns figures that overlay two single runs: throughput, response times and percentile curves
/// of the jobs that both runs have (at most `MOST_JOBS`).
pub fn overlay_figures(runs: [OverlaidRun<'_>; 2]) -> Vec<Figure> {
    let named = runs.map(|OverlaidRun { name, view, courses }| overlay::NamedRun {
        name,
        run: Run { view, courses },
    });
    with_distinct_strokes(overlay::figures(&named, MOST_JOBS))
}
