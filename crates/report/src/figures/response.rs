//! Response times over time.

use analyze::{Distribution, TimeColumn};

use super::subject::{FigureTexts, Job, Run, axis_of_times, middle};
use super::timeline;
use crate::figure::{Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch};
use crate::number::{span, time};

/// The lines, from the lowest: the quantile, the minimum number of requests in a column, and the
/// stroke. With fewer requests, the quantile would be their maximum.
const LINES: [(&str, u64, Stroke); 4] = [
    ("p50", 1, Stroke::Solid),
    ("p95", 20, Stroke::Dashed),
    ("p99", 100, Stroke::DashDotted),
    ("max", 1, Stroke::Dotted),
];

/// Returns the response times of a job over time.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let name = &job.summary.name;
    let columns: Vec<&TimeColumn> = job.course.columns.iter().collect();
    let shown: Vec<(usize, (&str, u64, Stroke))> =
        LINES.into_iter().enumerate().filter(|(_, line)| has_enough(&columns, line.1)).collect();
    let words = FigureTexts {
        name: job.figure_name("response"),
        title: format!("Response times over time: {name}"),
        caption: caption(run, job, &columns, shown.len()),
    };
    if let Some(reason) = job.missing() {
        return words.into_empty_figure(reason);
    }
    let mut marks = timeline::marks(run);
    let mut legend = Vec::new();
    let mut values = Vec::new();
    for (number, (quantile, _, stroke)) in shown {
        let point = |column: &&TimeColumn| {
            let y = value(&column.response, quantile).map_or(f64::NAN, |ns| ns as f64);
            Point { x: middle(column), y }
        };
        let points: Vec<Point> = columns.iter().map(point).collect();
        values.extend(points.iter().map(|point| point.y));
        let ink = Ink::Series(number);
        marks.push(Mark::Line { ink, stroke, points });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), quantile));
    }
    let y = axis_of_times("response time", values.into_iter());
    words.into_figure([run.time(), y], marks, legend)
}

/// Returns a quantile, or the longest time for `max`, in nanoseconds; `None` without times.
pub(super) fn value(times: &Distribution, quantile: &str) -> Option<u64> {
    match quantile {
        "max" => (times.count > 0).then_some(times.max_ns),
        name => times.quantile_ns(name),
    }
}

/// Returns true if most columns with requests have at least `fewest` requests.
pub(super) fn has_enough(columns: &[&TimeColumn], fewest: u64) -> bool {
    let counts = || columns.iter().map(|it| it.response.count).filter(|count| *count > 0);
    2 * counts().filter(|count| *count >= fewest).count() > counts().count()
}

fn caption(run: &Run<'_>, job: &Job<'_>, columns: &[&TimeColumn], lines: usize) -> String {
    let Some(worst) = columns.iter().max_by_key(|it| it.response.max_ns) else {
        return String::new();
    };
    let slowest = time(worst.response.max_ns as f64);
    // The tables have the times of the measured period alone.
    let part = match worst.from < run.view.evidence.steps.warmup() {
        true => ", in the warm-up",
        false => "",
    };
    let due = format!("was due at about {}{part}", span(worst.from));
    if columns.iter().map(|it| it.response.count).sum::<u64>() == 1 {
        return format!("The only response time is {slowest}, of a request that {due}.");
    }
    let p50 = job.summary.response.quantile_ns("p50").unwrap_or(0);
    let few = match lines < LINES.len() {
        true => "; quantiles that need more requests than each part has are left out",
        false => "",
    };
    let half = time(p50 as f64);
    format!("Half of the requests took at most {half}; the slowest, {slowest}, {due}{few}.")
}
