//! Curves over the points of a sweep: means with their intervals, and behind them the values of
//! single runs and of their seconds.

use analyze::Status;
use analyze::compare::RunVerdict;
use analyze::curve::{Interval, PointMean};

use super::doubts::Doubts;
use super::positions::Positions;
use super::readable::highest_readable;
use crate::figure::{Axis, Extent, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol, Unit};
use crate::number::{range, seconds, significant};

/// Maximum to which the axis is extended for the ends of intervals, as a multiple of the largest
/// value.
const MOST_HEADROOM: f64 = 1.3;

/// Approximate maximum number of small dots in a figure, each for one second of a run or, in a long
/// window, for a longer part.
const MOST_SPECKS: usize = 4_000;

/// Half of the width over which the dots of a run's seconds are spread, as a fraction of the axis.
/// Several series share this width.
const SPREAD: f64 = 0.012;

/// A series over the points of a sweep.
pub(super) struct Series<'a> {
    /// Name of the series; empty if it is the only one.
    pub(super) name: String,
    pub(super) ink: Ink,
    pub(super) stroke: Stroke,
    /// The mean at each point; `None` at a point without a mean.
    pub(super) means: Vec<Option<&'a PointMean>>,
    /// The verdict of each run, at each point.
    pub(super) verdicts: Vec<&'a [RunVerdict]>,
    /// The values of each run over time, at each point; empty if they are not shown.
    pub(super) over_time: Vec<&'a [Vec<f64>]>,
    /// The time that a value over time covers, in seconds, for each run.
    pub(super) parts_s: Vec<f64>,
    /// Factor from the unit of the means to the unit of the axis.
    pub(super) scale: f64,
}

/// Curves with their vertical axis.
pub(super) struct Curves {
    pub(super) y: Axis,
    pub(super) marks: Vec<Mark>,
    pub(super) legend: Vec<LegendEntry>,
    /// Indexes of the points that have a mean beyond the axis.
    pub(super) beyond: Vec<usize>,
}

impl Series<'_> {
    /// Returns the mean at a point, in the unit of the axis; `None` at a point without a mean.
    pub(super) fn mean(&self, point: usize) -> Option<f64> {
        self.means.get(point).copied().flatten().map(|mean| mean.mean * self.scale)
    }

    fn interval(&self, point: usize) -> Option<Interval> {
        let interval = self.means.get(point).copied().flatten()?.interval?;
        Some(Interval { low: interval.low * self.scale, high: interval.high * self.scale })
    }

    /// Returns true if the means at two points are equal as displayed, or if their intervals
    /// overlap.
    pub(super) fn is_tie(&self, one: usize, other: usize) -> bool {
        let shown = |point: usize| self.mean(point).map(significant);
        let overlap =
            |(one, other): (Interval, Interval)| one.low <= other.high && other.low <= one.high;
        shown(one) == shown(other)
            || self.interval(one).zip(self.interval(other)).is_some_and(overlap)
    }

    /// Returns the runs at a point, each with its values over time.
    fn over_time(&self, point: usize) -> &[Vec<f64>] {
        self.over_time.get(point).copied().unwrap_or_default()
    }

    fn values(&self, point: usize) -> impl Iterator<Item = f64> {
        let values = self.means.get(point).copied().flatten().map(|mean| &mean.values);
        values.into_iter().flatten().map(|value| value * self.scale)
    }

    /// Returns the values of the runs at a point with their verdicts.
    fn judged_values(&self, point: usize) -> impl Iterator<Item = (f64, Status)> {
        let verdicts = self.verdicts.get(point).copied().unwrap_or_default();
        self.values(point).zip(verdicts.iter().map(RunVerdict::status))
    }

    /// Returns true if a run at a point is INVALID.
    fn has_invalid(&self, point: usize) -> bool {
        self.judged_values(point).any(|(_, verdict)| verdict == Status::Invalid)
    }
}

/// Draws series over points. `others` are further heights that the axis must include.
pub(super) fn curves(
    title: &str,
    unit: Unit,
    series: &[Series<'_>],
    positions: &Positions,
    others: &[f64],
) -> Curves {
    let means = positions.order.iter().map(|point| {
        series.iter().filter_map(|series| series.mean(*point)).fold(f64::NAN, f64::max)
    });
    let limit = highest_readable(means);
    let y = Axis::from_zero(title, unit, highest(series, positions, limit).max(fold(others)));
    let mut curves = Curves { y, marks: Vec::new(), legend: Vec::new(), beyond: Vec::new() };
    specks(&mut curves, positions, series);
    // Many slashes would hide means and intervals, so slashes lie below them; crosses lie above.
    let [suspect, invalid] = doubts(series, positions, curves.y.to).marks();
    let (below, suspect) = suspect.unzip();
    let (above, invalid) = invalid.unzip();
    curves.marks.extend(below);
    for (number, one) in series.iter().enumerate() {
        let at = |point: usize| positions.of_series(point, number, series.len());
        draw(&mut curves, positions, one, &at);
    }
    curves.marks.extend(above);
    legend(&mut curves, series);
    curves.legend.extend(suspect.into_iter().chain(invalid));
    curves
}

fn fold(values: &[f64]) -> f64 {
    values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// Returns the upper end of the axis: the largest value of a run or of a second, and at least
/// `limit`. If an interval ends above this value, the axis extends to the end of the interval, but
/// at most to [`MOST_HEADROOM`] times the value. Points with a mean above `limit` are ignored.
fn highest(series: &[Series<'_>], positions: &Positions, limit: f64) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    let mut ends: Vec<f64> = Vec::new();
    for (one, point) in series.iter().flat_map(|one| positions.order.iter().map(move |p| (one, *p)))
    {
        if one.mean(point).is_some_and(|mean| mean <= limit) {
            all.extend(one.values(point));
            all.extend(one.over_time(point).iter().flatten().map(|value| value * one.scale));
            ends.extend(one.interval(point).map(|interval| interval.high));
        }
    }
    let most = fold(&all).max(limit);
    most.max(fold(&ends).min(MOST_HEADROOM * most))
}

/// Draws the values of each run over time, from left to right around its point.
fn specks(curves: &mut Curves, positions: &Positions, series: &[Series<'_>]) {
    let all = series.iter().flat_map(|one| one.over_time.iter().copied().flatten());
    let stride = all.map(Vec::len).sum::<usize>().div_ceil(MOST_SPECKS).max(1);
    let half = SPREAD / series.len() as f64;
    for (number, one) in series.iter().enumerate() {
        let mut points = Vec::new();
        for point in positions.order.iter().copied() {
            let at = positions.of_series(point, number, series.len());
            for values in one.over_time(point) {
                let last = values.len().saturating_sub(1).max(1) as f64;
                let place = |(number, value): (usize, &f64)| {
                    let distance = half * (2.0 * number as f64 / last - 1.0);
                    let x = positions.axis.value_at_distance(at, distance);
                    Point { x, y: value * one.scale }
                };
                points.extend(values.iter().enumerate().step_by(stride).map(place));
            }
        }
        points.retain(|point| point.y <= curves.y.to);
        if !points.is_empty() {
            curves.marks.push(Mark::Specks { ink: one.ink, points });
        }
    }
}

fn draw(
    curves: &mut Curves,
    positions: &Positions,
    series: &Series<'_>,
    at: &dyn Fn(usize) -> f64,
) {
    let Series { ink, stroke, .. } = *series;
    let top = curves.y.to;
    let mut line = Line { x: &positions.axis, top, points: Vec::new(), before: None };
    let (mut runs, mut discs, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
    let mut extents = Vec::new();
    for point in positions.order.iter().copied() {
        let x = at(point);
        let mean = series.mean(point);
        line.push(x, mean);
        let shown = series.values(point).filter(|value| *value <= top);
        runs.extend(shown.map(|y| Point { x, y }));
        match mean {
            Some(y) if y <= top => {
                discs.push(Point { x, y });
                let interval = series.interval(point);
                extents.extend(interval.map(|it| Extent { at: x, low: it.low, high: it.high }));
            }
            Some(_) => {
                beyond.push(Point { x, y: top });
                curves.beyond.push(point);
            }
            None => {}
        }
    }
    curves.marks.push(Mark::Dots { ink, points: runs });
    curves.marks.push(Mark::Line { ink, stroke, points: line.points });
    curves.marks.push(Mark::ErrorBars { ink, extents });
    curves.marks.push(Mark::Symbols { ink, symbol: Symbol::Disc, points: discs });
    if !beyond.is_empty() {
        curves.marks.push(Mark::Symbols { ink, symbol: Symbol::Triangle, points: beyond });
    }
}

/// Returns marks for the runs that are not VALID, and for the means at points with an INVALID run.
/// Values above the upper end of the axis are left out.
fn doubts(series: &[Series<'_>], positions: &Positions, top: f64) -> Doubts {
    let mut doubts = Doubts::default();
    for (number, one) in series.iter().enumerate() {
        for point in 0..one.means.len() {
            let x = positions.of_series(point, number, series.len());
            let mean = one.mean(point).filter(|_| one.has_invalid(point));
            let mean = mean.map(|mean| (mean, Status::Invalid));
            let shown = one.judged_values(point).chain(mean).filter(|(y, _)| *y <= top);
            shown.for_each(|(y, verdict)| doubts.add(Point { x, y }, verdict));
        }
    }
    doubts
}

/// A line that leaves the figure where it crosses the upper end of the axis.
struct Line<'a> {
    x: &'a Axis,
    top: f64,
    points: Vec<Point>,
    before: Option<Point>,
}

impl Line<'_> {
    fn push(&mut self, x: f64, y: Option<f64>) {
        let Some(y) = y else {
            self.gap(x);
            self.before = None;
            return;
        };
        let next = Point { x, y };
        let crosses = |before: &Point| (before.y <= self.top) != (y <= self.top);
        if let Some(before) = self.before.filter(crosses) {
            let crossing = self.crossing(before, next);
            self.points.push(crossing);
        }
        match y <= self.top {
            true => self.points.push(next),
            false => self.gap(x),
        }
        self.before = Some(next);
    }

    fn gap(&mut self, x: f64) {
        self.points.push(Point { x, y: f64::NAN });
    }

    fn crossing(&self, from: Point, to: Point) -> Point {
        let part = (self.top - from.y) / (to.y - from.y);
        let place = |at: f64| self.x.place(at).unwrap_or(0.0);
        let distance = part * (place(to.x) - place(from.x));
        Point { x: self.x.value_at_distance(from.x, distance), y: self.top }
    }
}

fn legend(curves: &mut Curves, series: &[Series<'_>]) {
    for Series { name, ink, stroke, .. } in series.iter().filter(|one| !one.name.is_empty()) {
        let entry = LegendEntry::new(*ink, Swatch::Line(*stroke), name.as_str());
        curves.legend.push(entry);
    }
    let ink = match series {
        [one] => one.ink,
        _ => Ink::Plain,
    };
    let has_intervals = curves
        .marks
        .iter()
        .any(|mark| matches!(mark, Mark::ErrorBars { extents, .. } if !extents.is_empty()));
    let mean = match has_intervals {
        true => LegendEntry::new(ink, Swatch::ErrorBar, "mean with 95 % interval"),
        false => LegendEntry::new(ink, Swatch::Symbol(Symbol::Disc), "mean"),
    };
    curves.legend.push(mean);
    curves.legend.push(LegendEntry::new(ink, Swatch::Dot, "a run"));
    if curves.marks.iter().any(|mark| matches!(mark, Mark::Specks { .. })) {
        curves.legend.push(LegendEntry::new(ink, Swatch::Speck, part_of_a_run(series)));
    }
    if !curves.beyond.is_empty() {
        let triangle = Swatch::Symbol(Symbol::Triangle);
        curves.legend.push(LegendEntry::new(ink, triangle, "beyond the axis"));
    }
}

/// Returns the part of a run that a small dot stands for: a second or, in a long window, a longer
/// part. Runs with windows of different lengths may have parts of different lengths.
fn part_of_a_run(series: &[Series<'_>]) -> String {
    let parts = || series.iter().flat_map(|one| one.parts_s.iter().copied());
    let (least, most) = (parts().fold(f64::INFINITY, f64::min), parts().fold(0.0, f64::max));
    if most <= 1.0 {
        return "a second of a run".to_owned();
    }
    let [shortest, longest] = [least, most].map(seconds);
    match shortest == longest {
        true => format!("{longest} of a run"),
        false => format!("{} of a run", range(&shortest, &longest)),
    }
}
