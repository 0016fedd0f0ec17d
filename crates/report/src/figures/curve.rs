//! The percentile curve: response and service times by the fraction of requests that took no
//! longer.

use hdrhistogram::Histogram;
use record::Kind;

use super::subject::{FigureTexts, Job, Run};
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Unit};
use crate::number::time;

/// Number of points for each further nine of the percentile, as from p90 to p99.
const POINTS_PER_NINE: f64 = 20.0;

/// Largest fraction of the requests that may be too fast for the axis. A few short times would
/// otherwise take up most of the axis.
const MOST_HIDDEN: f64 = 0.05;

/// The curves.
const KINDS: [(Kind, &str, Stroke); 2] =
    [(Kind::Response, "response", Stroke::Solid), (Kind::Service, "service", Stroke::Dashed)];

/// Returns the percentile curve of a job.
pub(super) fn figure(run: &Run<'_>, job: &Job<'_>) -> Figure {
    let words = FigureTexts {
        name: job.figure_name("percentiles"),
        title: format!("Percentiles: {}", job.summary.name),
        caption: caption(job),
    };
    if let Some(reason) = job.missing() {
        return words.into_empty_figure(reason);
    }
    let evidence = &run.view.evidence.jobs[job.account.index()];
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, 0.0f64);
    for (number, (kind, name, stroke)) in KINDS.into_iter().enumerate() {
        let Some(times) = evidence.histogram(kind).filter(|it| !it.is_empty()) else { continue };
        let points = curve(times);
        let ends = ends_of_times(&points);
        (low, high) = (low.min(ends[0]), high.max(ends[1]));
        let ink = Ink::Series(number);
        marks.push(Mark::Line { ink, stroke, points });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), name));
    }
    let x = Axis::tail("requests that took no longer", job.summary.response.count);
    let y = Axis::logarithmic("time, logarithmic", Unit::Time, [low, high]);
    words.into_figure([x, y], marks, legend)
}

/// Returns the shortest and the longest time that an axis has to show.
pub(super) fn ends_of_times<'p>(points: impl IntoIterator<Item = &'p Point>) -> [f64; 2] {
    let points: Vec<&Point> = points.into_iter().filter(|point| point.y > 0.0).collect();
    // The curve of a single request consists of one point, at the fraction 0.
    let lowest = points.iter().map(|point| point.x).fold(0.0, f64::max).min(MOST_HIDDEN);
    let times = points.iter().filter(|point| point.x >= lowest).map(|point| point.y);
    times.fold([f64::INFINITY, 0.0], |[low, high], ns| [low.min(ns), high.max(ns)])
}

/// Returns the points of a curve, up to the largest time.
pub(super) fn curve(times: &Histogram<u64>) -> Vec<Point> {
    let last = 1.0 - 1.0 / times.len() as f64;
    let quantiles = (0..).map(|n| 1.0 - 10f64.powf(-f64::from(n) / POINTS_PER_NINE));
    let quantiles = quantiles.take_while(|q| *q < last).chain([last]);
    // The last point is the maximum.
    let value = |q: f64| if q == last { times.max() } else { times.value_at_quantile(q) };
    quantiles.map(|q| Point { x: q, y: value(q) as f64 }).collect()
}

/// Returns the sentence on the gap between response and service.
fn caption(job: &Job<'_>) -> String {
    let (response, service) = (&job.summary.response, &job.summary.service);
    let quantile = if response.count < 100 { "p50" } else { "p99" };
    let both = response.quantile_ns(quantile).zip(service.quantile_ns(quantile));
    let Some((response, service)) = both else {
        return "The whole distribution, with the slowest requests at the right.".to_owned();
    };
    let gap = response.saturating_sub(service);
    let [response, service, difference] = [response, service, gap].map(|ns| time(ns as f64));
    match gap as f64 > 0.02 * job.summary.service.mean_ns {
        true => format!(
            "At {quantile} the response takes {response} and the service {service}: the gap of \
             {difference} is wait and send lag."
        ),
        false => format!(
            "At {quantile} response ({response}) and service ({service}) agree: requests hardly \
             waited before the database began."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_ends_with_the_largest_time() {
        let mut times = Kind::Response.histogram::<u64>();
        (1..=1_000u64).for_each(|n| times.saturating_record(n * 1_000));
        let points = curve(&times);
        assert_eq!(points.first().map(|it| it.x), Some(0.0));
        let last = points.last().unwrap();
        assert!((last.x - 0.999).abs() < 1e-9 && last.y == times.max() as f64, "{last:?}");
        assert!(points.windows(2).all(|pair| pair[0].y <= pair[1].y && pair[0].x < pair[1].x));
        let mut one = Kind::Response.histogram::<u64>();
        one.saturating_record(5_000);
        assert_eq!(curve(&one).len(), 1);
        let [low, high] = ends_of_times(&curve(&one));
        assert!(low == high && (5_000.0..5_100.0).contains(&low), "{low} {high}");
    }
}
