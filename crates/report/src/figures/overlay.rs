//! Figures that overlay two single runs: throughput and response times over time, and the
//! percentile curves. Times are aligned at the end of the warm-ups.

use analyze::TimeColumn;
use record::Kind;
use workload::question::Scale;

use super::subject::{FigureTexts, Job, Run, axis_of_times, highest, middle};
use super::{curve, response, throughput};
use crate::experiment::signed_change;
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Unit};
use crate::number::{rate, time};

/// Strokes of the two runs.
const STROKES: [Stroke; 2] = [Stroke::Solid, Stroke::Dashed];

/// Quantiles that may be drawn, the best first, each with the minimum number of requests that a
/// column needs for it.
const QUANTILES: [(&str, u64); 3] = [("p99", 100), ("p95", 20), ("p50", 1)];

/// A run with its name.
pub(super) struct NamedRun<'a> {
    pub(super) name: &'a str,
    pub(super) run: Run<'a>,
}

/// A job of both runs.
struct JobOfBothRuns<'a> {
    runs: &'a [NamedRun<'a>; 2],
    jobs: [Job<'a>; 2],
}

/// Returns the figures of the jobs that both runs have, at most `most` of them.
pub(super) fn figures(runs: &[NamedRun<'_>; 2], most: usize) -> Vec<Figure> {
    let both: Vec<JobOfBothRuns<'_>> = runs[0]
        .run
        .jobs()
        .filter_map(|job| {
            let other = runs[1].run.jobs().find(|it| it.summary.name == job.summary.name)?;
            Some(JobOfBothRuns { runs, jobs: [job, other] })
        })
        .take(most)
        .collect();
    let kinds = [JobOfBothRuns::throughput, JobOfBothRuns::response, JobOfBothRuns::percentiles];
    kinds.into_iter().flat_map(|kind| both.iter().map(kind)).collect()
}

impl JobOfBothRuns<'_> {
    /// Returns the completed requests per second of both runs.
    fn throughput(&self) -> Figure {
        let completed = self.jobs.each_ref().map(|job| job.summary.throughput_per_s);
        let caption = match completed {
            [Some(first), Some(second)] => {
                let change = if first > 0.0 {
                    format!(" ({})", signed_change(second / first - 1.0, Scale::Ratio))
                } else {
                    String::new()
                };
                self.caption([rate(first), rate(second)], "completed", &change)
            }
            _ => "A run completed nothing.".to_owned(),
        };
        let words = self.figure_texts("throughput", "Throughput of both runs", caption);
        let series = self.over_time(|run, job| throughput::completed(run, job).points);
        let most = highest(series.iter().flatten().map(|point| point.y));
        let y = Axis::from_zero("requests per second", Unit::Number, most);
        self.draw(words, [self.time(), y], series)
    }

    /// Returns the highest quantile of the response times for which most columns of both runs have
    /// enough requests.
    fn response(&self) -> Figure {
        let has_enough = |fewest: u64| {
            self.jobs.iter().all(|job| {
                response::has_enough(&job.course.columns.iter().collect::<Vec<_>>(), fewest)
            })
        };
        let found = QUANTILES.into_iter().find(|(_, fewest)| has_enough(*fewest));
        let (quantile, _) = found.unwrap_or(QUANTILES[2]);
        let title = format!("{quantile} of the response times of both runs");
        let words = self.figure_texts("response", &title, self.caption_of_times(quantile));
        if let Some(reason) = self.missing() {
            return words.into_empty_figure(reason);
        }
        let value = |column: &TimeColumn| {
            let y = response::value(&column.response, quantile).map_or(f64::NAN, |ns| ns as f64);
            Point { x: middle(column), y }
        };
        let series = self.over_time(|_, job| job.course.columns.iter().map(value).collect());
        let values: Vec<f64> = series.iter().flatten().map(|point| point.y).collect();
        let y = axis_of_times("response time", values.into_iter());
        self.draw(words, [self.time(), y], series)
    }

    /// Returns the percentile curves of the response times of both runs.
    fn percentiles(&self) -> Figure {
        let quantile = if self.fewest() < 100 { "p50" } else { "p99" };
        let caption = self.caption_of_times(quantile);
        let words = self.figure_texts("percentiles", "Response times of both runs", caption);
        if let Some(reason) = self.missing() {
            return words.into_empty_figure(reason);
        }
        let series = [0, 1].map(|place| {
            let account = self.jobs[place].account;
            let evidence = &self.runs[place].run.view.evidence.jobs[account.index()];
            evidence.histogram(Kind::Response).map(curve::curve).unwrap_or_default()
        });
        let ends = curve::ends_of_times(series.iter().flatten());
        let most = self.jobs.iter().map(|job| job.summary.response.count).max().unwrap_or(0);
        let x = Axis::tail("requests that took no longer", most);
        let y = Axis::logarithmic("response time, logarithmic", Unit::Time, ends);
        self.draw(words, [x, y], series)
    }

    fn fewest(&self) -> u64 {
        self.jobs.iter().map(|job| job.summary.response.count).min().unwrap_or(0)
    }

    /// Returns the reason why a run has no response times; `None` if both runs have them.
    fn missing(&self) -> Option<String> {
        self.runs
            .iter()
            .zip(&self.jobs)
            .find_map(|(named, job)| Some(format!("{}: {}", named.name, job.missing()?)))
    }

    fn figure_texts(&self, what: &str, title: &str, caption: String) -> FigureTexts {
        let [job, _] = &self.jobs;
        let title = format!("{title}: {}", job.summary.name);
        FigureTexts { name: job.figure_name(&format!("overlay.{what}")), title, caption }
    }

    fn caption_of_times(&self, quantile: &str) -> String {
        let values = self.jobs.each_ref().map(|job| job.summary.response.quantile_ns(quantile));
        match values {
            [Some(first), Some(second)] => {
                let change = second as f64 / first.max(1) as f64 - 1.0;
                let change = format!(" ({})", signed_change(change, Scale::Ratio));
                let values = [first, second].map(|ns| time(ns as f64));
                self.caption(values, &format!("has {quantile}"), &change)
            }
            _ => format!("A run has too few requests for {quantile}."),
        }
    }

    fn caption(&self, [first, second]: [String; 2], verb: &str, change: &str) -> String {
        let [one, other] = self.runs.each_ref().map(|named| named.name);
        format!("{one} {verb} {first}, {other} {second}{change}.")
    }

    /// Returns the points of both runs after their warm-ups, with the time since the end of the
    /// warm-up.
    fn over_time(&self, points: impl Fn(&Run<'_>, &Job<'_>) -> Vec<Point>) -> [Vec<Point>; 2] {
        [0, 1].map(|place| {
            let run = &self.runs[place].run;
            let zero = run.view.evidence.steps.warmup().as_secs_f64();
            let all = points(run, &self.jobs[place]).into_iter().filter(|point| point.x >= zero);
            all.map(|point| Point { x: point.x - zero, ..point }).collect()
        })
    }

    fn time(&self) -> Axis {
        let lengths = self.runs.iter().map(|it| it.run.view.evidence.window_length().as_secs_f64());
        Axis::time_since("measuring began", 0.0, lengths.fold(0.0, f64::max))
    }

    fn draw(&self, words: FigureTexts, axes: [Axis; 2], series: [Vec<Point>; 2]) -> Figure {
        let mut marks = Vec::new();
        let mut legend = Vec::new();
        for ((number, points), named) in series.into_iter().enumerate().zip(self.runs) {
            let (ink, stroke) = (Ink::Series(number), STROKES[number]);
            marks.push(Mark::Line { ink, stroke, points });
            legend.push(LegendEntry::new(ink, Swatch::Line(stroke), named.name));
        }
        words.into_figure(axes, marks, legend)
    }
}
