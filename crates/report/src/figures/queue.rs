//! Requests that are due and not answered, and connections.

use super::subject::{FigureTexts, Job, Run, highest};
use super::timeline;
use crate::figure::{
    Axis, Extent, Figure, Ink, LegendEntry, MOST_SERIES, Mark, Point, Stroke, Swatch,
    ThinnedSeries, Unit, thin_series,
};
use crate::number::{significant, span, trimmed};
use base::Nanos;

/// Length of a period, except in a long run. The first and the last period may be shorter.
const SECOND: Nanos = Nanos::from_secs(1);

/// Smallest upper end of the axis. Its ticks are then whole requests.
const SMALLEST_AXIS_END: f64 = 5.0;

/// Returns the requests in progress and the connections of all jobs.
pub(super) fn figure(run: &Run<'_>) -> Figure {
    let jobs: Vec<Job<'_>> = run.jobs().take(MOST_SERIES / 2).collect();
    let series: Vec<Vec<Point>> = jobs.iter().map(|job| in_progress(run, job)).collect();
    let words = FigureTexts {
        name: "queue".to_owned(),
        title: "Requests in progress, and connections".to_owned(),
        caption: caption(run, &jobs, &series),
    };
    if jobs.is_empty() || run.view.evidence.steps.is_empty() {
        let reason = "There was no request that could be in progress.";
        return words.into_empty_figure(reason.to_owned());
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let mut most = 0.0f64;
    for (number, (job, points)) in jobs.iter().zip(&series).enumerate() {
        let ink = Ink::Series(number);
        let name = &job.summary.name;
        most = most.max(highest(points.iter().map(|point| point.y)));
        let ThinnedSeries { means, spread } = thin_series(points);
        marks.push(band(ink, spread));
        marks.push(Mark::Line { ink, stroke: Stroke::Solid, points: means });
        let text = format!("{name}: due and not answered");
        legend.push(LegendEntry::new(ink, Swatch::Line(Stroke::Solid), text));
        let points = connections(run, job);
        if points.iter().any(|point| point.y > 0.0) {
            most = most.max(highest(points.iter().map(|point| point.y)));
            let points = thin_series(&points).means;
            marks.push(Mark::Line { ink, stroke: Stroke::Dotted, points });
            let text = format!("{name}: connections");
            legend.push(LegendEntry::new(ink, Swatch::Line(Stroke::Dotted), text));
        }
    }
    let y = Axis::from_zero("requests or connections", Unit::Number, most.max(SMALLEST_AXIS_END));
    words.into_figure([run.time(), y], marks, legend)
}

fn band(ink: Ink, extents: Vec<Extent>) -> Mark {
    Mark::Band { ink, is_solid: false, extents }
}

/// Returns the numbers of requests that are due and have no outcome, at the end of each period.
fn in_progress(run: &Run<'_>, job: &Job<'_>) -> Vec<Point> {
    let evidence = &run.view.evidence;
    let mut open = 0i64;
    let steps = evidence.jobs[job.account.index()].range(0..evidence.steps.len()).enumerate();
    let point = |(number, step): (usize, analyze::Step)| {
        let came = step.counts.arrivals as i64 - step.counts.balance.rejected() as i64;
        open += came - (step.ends.completed + step.ends.errors) as i64;
        Point { x: evidence.steps.start(number + 1).as_secs_f64(), y: open.max(0) as f64 }
    };
    steps.map(point).collect()
}

fn connections(run: &Run<'_>, job: &Job<'_>) -> Vec<Point> {
    let evidence = &run.view.evidence;
    let steps = evidence.jobs[job.account.index()].range(0..evidence.steps.len()).enumerate();
    let point = |(number, step): (usize, analyze::Step)| Point {
        x: evidence.steps.start(number + 1).as_secs_f64(),
        y: step.connections.map_or(f64::NAN, |connections| connections as f64),
    };
    steps.map(point).collect()
}

fn caption(run: &Run<'_>, jobs: &[Job<'_>], series: &[Vec<Point>]) -> String {
    let all = jobs
        .iter()
        .zip(series)
        .flat_map(|(job, points)| points.iter().map(move |point| (point, &job.summary.name)));
    let longest = all.max_by(|(one, _), (other, _)| one.y.total_cmp(&other.y));
    match longest {
        Some((point, name)) if point.y > 0.0 => {
            let (waiting, verb) =
                if point.y == 1.0 { ("request", "was") } else { ("requests", "were") };
            format!(
                "At most {} {waiting} of {name} {verb} due and not answered at the end of a {}, \
                 at {}; a line that keeps rising is a load beyond the capacity.",
                trimmed(&significant(point.y)),
                period(run),
                span(Nanos::from_secs_f64(point.x))
            )
        }
        _ => never_open(run, jobs),
    }
}

/// Returns the name of the periods at whose ends requests are counted: seconds, or longer periods
/// in a long run, which may hide a short queue.
fn period(run: &Run<'_>) -> String {
    let steps = &run.view.evidence.steps;
    let length = |step: usize| steps.start(step + 1).saturating_sub(steps.start(step));
    match (0..steps.len()).map(length).max() {
        Some(longest) if longest > SECOND => format!("period of {}", span(longest)),
        Some(_) | None => "second".to_owned(),
    }
}

/// Returns the caption if at the end of every period all requests that were due had an outcome.
fn never_open(run: &Run<'_>, jobs: &[Job<'_>]) -> String {
    let evidence = &run.view.evidence;
    let steps = |job: &Job<'_>| {
        evidence.jobs[job.account.index()].range(0..evidence.steps.len()).collect::<Vec<_>>()
    };
    let all: Vec<analyze::Step> = jobs.iter().flat_map(steps).collect();
    let answered = all.iter().any(|step| step.ends.completed > 0);
    let failed = all.iter().any(|it| it.ends.errors + it.counts.balance.rejected() > 0);
    let state = match (answered, failed) {
        (true, false) => "every request was answered",
        (false, false) => "no request had been due",
        (true, true) => "no request was open: each was answered or had failed",
        (false, true) => "no request was open: each had failed",
    };
    format!("At the end of each {} {state}.", period(run))
}
