//! Throughput over time.

use std::ops::Range;

use analyze::TimeColumn;

use super::subject::{FigureTexts, Job, Run, highest, middle};
use super::timeline;
use crate::figure::{
    Axis, Extent, Figure, Ink, LegendEntry, MOST_SERIES, Mark, Point, Stroke, Swatch, Unit,
};
use crate::number::rate;

/// Maximum number of jobs that the caption names.
const MOST_NAMED: usize = 3;

/// Returns the figure of the completed and offered requests per second of all jobs.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let jobs: Vec<Job<'_>> = run.jobs().take(MOST_SERIES / 2).collect();
    let words = FigureTexts {
        name: "throughput".to_owned(),
        title: "Throughput over time".to_owned(),
        caption: caption(&jobs),
    };
    if jobs.is_empty() {
        return words.into_empty_figure("There was no job, so no request was made.".to_owned());
    }
    if run.view.evidence.steps.is_empty() {
        return words.into_empty_figure("The run ended before its first second.".to_owned());
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let mut most = 0.0f64;
    for (number, job) in jobs.iter().enumerate() {
        let ink = Ink::Series(number);
        let completed = completed(run, job);
        most = most.max(highest(completed.spread.iter().map(|extent| extent.high)));
        most = most.max(highest(completed.points.iter().map(|point| point.y)));
        // A spread belongs to the first line of its colour in the legend.
        let text = format!("{}: completed", job.summary.name);
        legend.push(LegendEntry::new(ink, Swatch::Line(Stroke::Solid), text));
        if job.summary.offered_per_s.is_some() {
            let points = offered(run, job);
            most = most.max(highest(points.iter().map(|point| point.y)));
            marks.push(Mark::Line { ink, stroke: Stroke::Dotted, points });
            let text = format!("{}: offered", job.summary.name);
            legend.push(LegendEntry::new(ink, Swatch::Line(Stroke::Dotted), text));
        }
        marks.push(Mark::Band { ink, is_solid: false, extents: completed.spread });
        marks.push(Mark::Line { ink, stroke: Stroke::Solid, points: completed.points });
    }
    let y = Axis::from_zero("requests per second", Unit::Number, most);
    words.into_figure([run.time(), y], marks, legend)
}

/// The completed requests per second, with the extremes of each column.
pub(super) struct Completed {
    pub(super) points: Vec<Point>,
    pub(super) spread: Vec<Extent>,
}

/// Returns the completed requests per second of a job.
pub(super) fn completed(run: &Run<'_>, job: &Job<'_>) -> Completed {
    let evidence = &run.view.evidence;
    let length = |steps: Range<usize>| {
        let [from, to] = [steps.start, steps.end].map(|step| evidence.steps.start(step));
        to.saturating_sub(from).as_secs_f64()
    };
    let per_s = |steps: Range<usize>| {
        evidence.jobs[job.account.index()].ends(steps.clone()).completed as f64 / length(steps)
    };
    let columns = &job.course.columns;
    let points = columns.iter().map(|it| Point { x: middle(it), y: per_s(it.steps.clone()) });
    let spread = columns.iter().filter(|it| it.steps.len() > 1).map(|it| {
        // The first and the last period of a run may be too short for a rate.
        let longest = it.steps.clone().map(|step| length(step..step + 1)).fold(0.0, f64::max);
        let is_long = |step: &usize| 2.0 * length(*step..*step + 1) >= longest;
        let each = it.steps.clone().filter(is_long).map(|step| per_s(step..step + 1));
        let (low, high) = (each.clone().fold(f64::NAN, f64::min), each.fold(f64::NAN, f64::max));
        Extent { at: middle(it), low, high }
    });
    Completed { points: points.collect(), spread: spread.collect() }
}

fn offered(run: &Run<'_>, job: &Job<'_>) -> Vec<Point> {
    let evidence = &run.view.evidence.jobs[job.account.index()];
    let point = |column: &TimeColumn| {
        let arrivals = evidence.counts(column.steps.clone()).arrivals as f64;
        let length = column.to.saturating_sub(column.from).as_secs_f64();
        Point { x: middle(column), y: arrivals / length }
    };
    job.course.columns.iter().map(point).collect()
}

fn caption(jobs: &[Job<'_>]) -> String {
    let sentences = jobs.iter().filter_map(|job| {
        let achieved = rate(job.summary.throughput_per_s?);
        let name = &job.summary.name;
        Some(match job.summary.offered_per_s {
            Some(offered) => format!("{name} completed {achieved} of {} offered", rate(offered)),
            None => format!("{name} completed {achieved}"),
        })
    });
    let sentences: Vec<String> = sentences.take(MOST_NAMED).collect();
    match (sentences.is_empty(), jobs.len() > MOST_NAMED) {
        (true, _) => "No request was completed within the measured period.".to_owned(),
        (false, false) => format!("On average, {}.", sentences.join("; ")),
        (false, true) => format!("On average, {}; and other jobs.", sentences.join("; ")),
    }
}
