//! The figures of a sweep over the varied value: throughput, response times, any other metric of
//! `best`, a model of the response times, and processor time.

use analyze::curve::{ArmCurve, Peak, Ranking, ResponseModel, Usl};
use workload::question::{Quantity, Scale, TimeStatistic};

use super::super::sweep::{self, SweepView};
use super::super::{sentence, view::ExperimentView};
use super::cpu;
use super::curve::{Curves, Series, curves};
use super::positions::Positions;
use super::subject::{Subject, verdicts};
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol, Unit};
use crate::number::{rate, significant, time, trimmed};

/// The quantiles that are drawn, with the stroke of each if they are in one figure.
const QUANTILES: [(TimeStatistic, Stroke); 3] = [
    (TimeStatistic::P50, Stroke::Dotted),
    (TimeStatistic::P95, Stroke::Dashed),
    (TimeStatistic::P99, Stroke::Solid),
];

/// Number of intervals between the points of a fitted curve, over the whole axis.
const CURVE_POINTS: u32 = 80;

/// Smallest fraction of the offered rate that counts as completely answered, because the arrivals
/// of a run scatter.
const COMPLETE_FRACTION: f64 = 0.98;

/// Nanoseconds in a millisecond.
const MILLISECOND: f64 = 1e6;

/// Returns the figures of a sweep.
pub(super) fn figures(view: &ExperimentView, sweep: &SweepView) -> Vec<Figure> {
    let names = match view.arms.len() {
        1 => vec![""],
        _ => view.arms.iter().map(|arm| arm.name.as_str()).collect(),
    };
    figures_of(&Subject { sweep, names })
}

/// Returns the figures of a sweep with the names of its arms.
pub(super) fn figures_of(subject: &Subject<'_>) -> Vec<Figure> {
    let mut figures = vec![throughput(subject)];
    figures.extend(response(subject));
    figures.extend(judged_figure(subject));
    figures.extend(model(subject));
    figures.extend(cpu::figures(subject));
    figures.into_iter().map(Figure::with_distinct_strokes).collect()
}

fn throughput(subject: &Subject<'_>) -> Figure {
    let SweepView { vary, .. } = subject.sweep;
    let series = subject.throughput();
    let positions = Positions::of(subject.sweep, subject.peak_in_reach());
    let mut laws: Vec<f64> =
        subject.fitted_laws().flat_map(|(_, _, usl)| highest_of_law(usl, &positions)).collect();
    let offered = subject.offered();
    laws.extend(offered.iter().map(|point| point.y));
    let mut drawn =
        curves("completed requests per second", Unit::Number, &series, &positions, &laws);
    let mut marks = Vec::new();
    for (number, name, usl) in subject.fitted_laws() {
        law(&mut marks, &mut drawn.legend, usl, &positions, Ink::Series(number), name);
    }
    if !offered.is_empty() {
        let (ink, stroke) = (Ink::Quiet, Stroke::Dotted);
        marks.push(Mark::Line { ink, stroke, points: offered });
        drawn.legend.push(LegendEntry::new(ink, Swatch::Line(stroke), "offered"));
    }
    marks.append(&mut drawn.marks);
    drawn.marks = marks;
    mark_best(subject, &mut drawn, &positions, |arm| series.get(arm));
    let highest =
        offered_text(subject, &positions).unwrap_or_else(|| highest_text(subject, &series));
    let clauses = [peaks(subject, &positions), subject.gaps(&series), subject.doubts()].concat();
    let caption = format!("{highest}{clauses}.");
    let is_empty = series.iter().all(|one| highest_point(one, |_| true).is_none());
    let reason = is_empty.then(|| "No point has a throughput yet.".to_owned());
    Figure {
        name: "throughput".to_owned(),
        title: format!("Throughput of {} by {vary}", subject.job()),
        caption,
        x: positions.axis,
        y: drawn.y,
        marks: drawn.marks,
        legend: drawn.legend,
        missing: reason,
    }
}

/// Returns the highest mean of each arm, with the points that tie with it.
fn highest_text(subject: &Subject<'_>, series: &[Series<'_>]) -> String {
    let of_arm = |(series, (_, _, curve)): (&Series<'_>, (usize, &str, &ArmCurve))| {
        let counts = |point: usize| curve.points[point].is_usable();
        let (highest, most) = highest_point(series, counts)?;
        let is_tie =
            |point: &usize| *point != highest && counts(*point) && series.is_tie(highest, *point);
        let ties = subject.point_names((0..curve.points.len()).filter(is_tie));
        let ties = if ties.is_empty() { ties } else { format!(", not separated from {ties}") };
        let name = of_name(&series.name);
        Some(format!("{} at {}{name}{ties}", rate(most), subject.sweep.values[highest]))
    };
    let texts: Vec<String> = series.iter().zip(subject.arms()).filter_map(of_arm).collect();
    match texts.is_empty() {
        true => "Every point has an INVALID run".to_owned(),
        false => format!("The highest mean is {}", texts.join("; ")),
    }
}

/// Returns the points of a single arm at which all offered requests are completed, the points at
/// which fewer are completed, and the points at which the load exceeds the capacity. `None` for
/// several arms, or without a schedule of arrivals.
fn offered_text(subject: &Subject<'_>, positions: &Positions) -> Option<String> {
    let [curve] = subject.sweep.curves.as_slice() else { return None };
    let job = |point: usize| subject.sweep.job_at(curve.points.get(point)?);
    let points = || positions.order.iter().copied().filter(|point| job(*point).is_some());
    let offered: Vec<f64> = points().map(|it| job(it)?.offered_per_s).collect::<Option<_>>()?;
    let first = *offered.first()?;
    let rates = match offered.iter().all(|it| rate(*it) == rate(first)) {
        true => format!("all {} that are offered", rate(first)),
        false => "all that is offered".to_owned(),
    };
    let is_answered = |point: usize| {
        let job = job(point)?;
        let completed = job.completed_per_s.as_ref().ok()?;
        let most = completed.interval.map_or(completed.mean, |interval| interval.high);
        Some(most >= COMPLETE_FRACTION * job.offered_per_s?)
    };
    let is_judged =
        |point: &usize| !subject.is_overloaded(*point) && curve.points[*point].is_usable();
    let is_complete = |point: &usize| is_judged(point) && is_answered(*point) == Some(true);
    let complete: Vec<usize> = points().filter(is_complete).collect();
    let values = |point: &usize| subject.sweep.values[*point].as_str();
    let completes = match (complete.first(), complete.last()) {
        (Some(first), Some(last)) if points().skip_while(|it| it != first).eq(complete.clone()) => {
            let range = [values(first), values(last)];
            let range = if first == last { range[0].to_owned() } else { range.join(" to ") };
            format!("{} completes {rates} at {range}", subject.job())
        }
        (Some(_), Some(_)) => {
            let points = subject.point_names(complete.into_iter());
            format!("{} completes {rates} at {points}", subject.job())
        }
        _ => format!("{} nowhere completes {rates}", subject.job()),
    };
    let less = points().filter(|point| is_judged(point) && is_answered(*point) == Some(false));
    let exceeding = points().filter(|point| subject.is_overloaded(*point));
    let others = [
        ("less at", subject.point_names(less)),
        ("the load exceeds the capacity at", subject.point_names(exceeding)),
    ];
    let others = others.iter().filter(|(_, points)| !points.is_empty());
    Some(others.fold(completes, |text, (words, points)| format!("{text}; {words} {points}")))
}

/// Returns the point with the largest mean, and the mean. Only points for which `counts` returns
/// true are considered; `None` if none of them has a mean.
fn highest_point(series: &Series<'_>, counts: impl Fn(usize) -> bool) -> Option<(usize, f64)> {
    let points = (0..series.means.len()).filter(|point| counts(*point));
    let all = points.filter_map(|point| Some((point, series.mean(point)?)));
    all.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn of_name(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" with {name}") }
}

/// Returns the largest throughput that a fitted law predicts within the axis; `None` if the axis
/// ends before one client.
fn highest_of_law(usl: &Usl, positions: &Positions) -> Option<f64> {
    law_points(usl, positions).into_iter().map(|point| point.y).max_by(f64::total_cmp)
}

fn law_points(usl: &Usl, positions: &Positions) -> Vec<Point> {
    let axis = &positions.axis;
    let part = |n: u32| f64::from(n) / f64::from(CURVE_POINTS);
    let at = (0..=CURVE_POINTS).map(|n| axis.value_at_distance(axis.from, part(n)));
    // The law is defined for whole clients, so the curve begins at one client.
    at.filter(|x| *x >= 1.0).map(|x| Point { x, y: usl.throughput(x) }).collect()
}

/// Draws a fitted law with its predicted peak.
fn law(
    marks: &mut Vec<Mark>,
    legend: &mut Vec<LegendEntry>,
    usl: &Usl,
    positions: &Positions,
    ink: Ink,
    name: &str,
) {
    let is_single = name.is_empty();
    // A single arm has a solid line; its law is dashed and in another ink.
    let (ink, stroke) =
        if is_single { (Ink::Series(1), Stroke::Dashed) } else { (ink, Stroke::Dotted) };
    if let Peak::At { clients, .. } = usl.peak
        && positions.axis.has(clients.estimate)
    {
        if let Some(interval) = clients.interval.filter(|_| is_single) {
            let to = interval.high.min(positions.axis.to);
            let label = String::new();
            marks.push(Mark::Period { ink, from: interval.low, to, label });
        }
        let at = significant(clients.estimate);
        let named = if is_single { String::new() } else { format!("{name}: ") };
        let label = format!("{named}predicted peak {}", trimmed(&at));
        marks.push(Mark::Rule { ink, at: clients.estimate, label });
    }
    marks.push(Mark::Line { ink, stroke, points: law_points(usl, positions) });
    let fitted =
        if is_single { "fitted law (USL)".to_owned() } else { format!("{name}: fitted law") };
    legend.push(LegendEntry::new(ink, Swatch::Line(stroke), fitted));
}

/// Returns the part of a caption about predicted peaks.
fn peaks(subject: &Subject<'_>, positions: &Positions) -> String {
    let of_law = |(_, name, usl): (usize, &str, &Usl)| match usl.peak {
        Peak::At { clients, .. } => {
            let at = significant(clients.estimate);
            let at = trimmed(&at);
            let beyond = match clients.estimate {
                peak if !positions.axis.has(peak) => ", beyond the figure: an extrapolation",
                peak if peak > usl.largest => ", an extrapolation",
                _ => "",
            };
            format!("; the fitted law has its peak at {at} clients{}{beyond}", of_name(name))
        }
        Peak::None { .. } => format!("; the fitted law has no peak{}", of_name(name)),
    };
    subject.fitted_laws().map(of_law).collect()
}

/// Marks the best point of each arm, and its ties. `series` returns the curve of an arm on which
/// the marks are placed.
fn mark_best<'s>(
    subject: &Subject<'_>,
    drawn: &mut Curves,
    positions: &Positions,
    series: impl Fn(usize) -> Option<&'s Series<'s>>,
) {
    let Some(rule) = &subject.sweep.best else { return };
    let (mut best, mut ties) = (Vec::new(), Vec::new());
    for (number, _, curve) in subject.arms() {
        let Some((found, series)) = curve.best.as_ref().zip(series(number)) else { continue };
        let count = subject.names.len();
        let place = |point: usize| {
            let y = series.mean(point).filter(|y| drawn.y.has(*y))?;
            Some(Point { x: positions.of_series(point, number, count), y })
        };
        best.extend(found.best.and_then(place));
        let tied = found.others.iter().filter(|other| other.ranking == Ranking::Tie);
        ties.extend(tied.filter_map(|other| place(other.point)));
    }
    let all = [
        (best, Symbol::Ring, format!("best: {rule}")),
        (ties, Symbol::Square, "tie with the best".to_owned()),
    ];
    for (points, symbol, text) in all {
        if !points.is_empty() {
            let ink = Ink::Plain;
            drawn.marks.push(Mark::Symbols { ink, symbol, points });
            drawn.legend.push(LegendEntry::new(ink, Swatch::Symbol(symbol), text));
        }
    }
}

/// Returns the figures of response times: for a single arm one figure with all quantiles, for
/// several arms one figure of each quantile.
fn response(subject: &Subject<'_>) -> Vec<Figure> {
    let of =
        |statistic: TimeStatistic| subject.series(MILLISECOND, move |job| job.response(statistic));
    if subject.names.len() > 1 {
        let figure = |(statistic, _): &(TimeStatistic, Stroke)| {
            let name = statistic.name();
            let drawn = of(*statistic);
            response_figure(subject, &format!("response.{name}"), name, &drawn, *statistic)
        };
        // The highest quantile comes first, because it is the most informative.
        return QUANTILES.iter().rev().map(figure).collect();
    }
    let series = QUANTILES.into_iter().enumerate().flat_map(|(number, (statistic, stroke))| {
        let name = statistic.name().to_owned();
        let of_quantile = of(statistic).into_iter();
        of_quantile.map(move |it| Series {
            name: name.clone(),
            ink: Ink::Series(number),
            stroke,
            ..it
        })
    });
    let series: Vec<Series<'_>> = series.collect();
    vec![response_figure(subject, "response", "Response times", &series, TimeStatistic::P99)]
}

fn response_figure(
    subject: &Subject<'_>,
    name: &str,
    what: &str,
    series: &[Series<'_>],
    statistic: TimeStatistic,
) -> Figure {
    let SweepView { vary, best, .. } = subject.sweep;
    let positions = Positions::of(subject.sweep, None);
    let mut drawn = curves("response time", Unit::Time, series, &positions, &[]);
    let is_by_arm = subject.names.len() > 1;
    let judged = best.as_ref().map(|rule| rule.metric.quantity);
    let is_judged = |name: &str| {
        judged.is_some_and(|it| matches!(it, Quantity::Response(q) if q.name() == name))
    };
    let marked = series.iter().position(|one| is_judged(&one.name)).unwrap_or(series.len() - 1);
    // With one arm the quantiles are the series, drawn side by side.
    let place = |arm: usize| if is_by_arm { series.get(arm) } else { series.get(marked) };
    if is_by_arm {
        mark_best(subject, &mut drawn, &positions, place);
    } else {
        let single = Subject { sweep: subject.sweep, names: vec![""] };
        let shifted = positions.shifted(marked, series.len());
        mark_best(&single, &mut drawn, &shifted, place);
    }
    let named = if is_by_arm { series } else { &series[series.len() - 1..] };
    let grown: Vec<String> =
        named.iter().filter_map(|one| growth(subject, &positions, one, is_by_arm)).collect();
    let has_several =
        |one: &Series<'_>| positions.order.iter().filter(|it| one.mean(**it).is_some()).count() > 1;
    let verb = if named.iter().any(has_several) { "goes from" } else { "is" };
    let caption = format!(
        "{} {verb} {}{}{}.",
        statistic.name(),
        grown.join("; "),
        beyond(subject, &drawn, named),
        subject.gaps(named)
    );
    let reason =
        grown.is_empty().then(|| format!("No point has response times of {}.", subject.job()));
    Figure {
        name: name.to_owned(),
        title: format!("{what} of {} by {vary}", subject.job()),
        caption,
        x: positions.axis,
        y: drawn.y,
        marks: drawn.marks,
        legend: drawn.legend,
        missing: reason,
    }
}

/// Returns the first and the last mean of a series in words, and the lowest mean between them if it
/// is below both; `None` for a series without means.
fn growth(
    subject: &Subject<'_>,
    positions: &Positions,
    series: &Series<'_>,
    is_named: bool,
) -> Option<String> {
    let mut all = positions.order.iter().filter_map(|point| Some((*point, series.mean(*point)?)));
    let value_text =
        |(point, ns): (usize, f64)| format!("{} at {}", time(ns), subject.sweep.values[point]);
    let first = all.next()?;
    let name = if is_named { of_name(&series.name) } else { String::new() };
    let Some(last) = all.next_back() else { return Some(value_text(first) + &name) };
    let lowest = all.min_by(|a, b| a.1.total_cmp(&b.1));
    let lowest = lowest.filter(|lowest| lowest.1 < first.1.min(last.1));
    let lowest = lowest.map(|it| format!(", lowest {}", value_text(it))).unwrap_or_default();
    Some(format!("{} to {}{name}{lowest}", value_text(first), value_text(last)))
}

/// Returns the part of a caption about the points beyond the axis.
fn beyond(subject: &Subject<'_>, drawn: &Curves, named: &[Series<'_>]) -> String {
    let mut points = drawn.beyond.clone();
    points.sort_unstable();
    points.dedup();
    let texts = points.into_iter().map(|point| {
        let most = named.iter().filter_map(|one| one.mean(point)).fold(0.0, f64::max);
        format!("{} ({})", subject.sweep.values[point], time(most))
    });
    let texts: Vec<String> = texts.collect();
    match texts.is_empty() {
        true => String::new(),
        false => format!("; beyond the axis: {}", texts.join(", ")),
    }
}

/// Returns the figure of the metric that decides the best point, if no other figure shows that
/// metric.
fn judged_figure(subject: &Subject<'_>) -> Option<Figure> {
    let metric = &subject.sweep.best.as_ref()?.metric;
    let is_drawn = match metric.quantity {
        Quantity::Throughput => true,
        Quantity::Response(statistic) => QUANTILES.iter().any(|(known, _)| *known == statistic),
        _ => false,
    };
    let is_of_job = metric.of.as_deref().is_none_or(|name| name == subject.job());
    if is_drawn && is_of_job {
        return None;
    }
    let of_arm = |(number, name, curve)| judged_series(number, name, curve);
    let series: Vec<Series<'_>> = subject.arms().map(of_arm).collect();
    let unit = metric.quantity.unit();
    let positions = Positions::of(subject.sweep, None);
    let mut drawn = curves(&format!("{metric}, {unit}"), Unit::Number, &series, &positions, &[]);
    mark_best(subject, &mut drawn, &positions, |arm| series.get(arm));
    let is_empty = series.iter().all(|one| highest_point(one, |_| true).is_none());
    Some(Figure {
        name: "best".to_owned(),
        title: format!("{metric} by {}", subject.sweep.vary),
        caption: format!(
            "The metric of the best point, with its interval{}.",
            subject.gaps(&series)
        ),
        x: positions.axis,
        y: drawn.y,
        marks: drawn.marks,
        legend: drawn.legend,
        missing: is_empty.then(|| format!("No point has a usable {metric}.")),
    })
}

fn judged_series<'a>(number: usize, name: &str, curve: &'a ArmCurve) -> Series<'a> {
    Series {
        name: name.to_owned(),
        ink: Ink::Series(number),
        stroke: Stroke::Solid,
        means: curve.judged.iter().map(|mean| mean.as_ref().ok()).collect(),
        verdicts: verdicts(curve),
        over_time: Vec::new(),
        parts_s: Vec::new(),
        scale: 1.0,
    }
}

/// Returns the figure of the response-time model; `None` if the sweep varies no load.
fn model(subject: &Subject<'_>) -> Option<Figure> {
    let results: Vec<_> = subject
        .arms()
        .filter_map(|(number, name, it)| Some((number, name, it.model.as_ref()?)))
        .collect();
    let (_, _, first) = results.first()?;
    let made: Vec<(usize, &str, &ResponseModel)> = results
        .iter()
        .filter_map(|(number, name, it)| Some((*number, *name, it.as_ref().ok()?)))
        .collect();
    let reason = match (made.is_empty(), first) {
        (true, Err(reason)) => Some(format!("There is no model: {}.", sweep::no_model(*reason))),
        _ => None,
    };
    let series = subject.series(MILLISECOND, |job| job.response(TimeStatistic::Mean));
    let positions = Positions::of(subject.sweep, None);
    let mut drawn = curves("mean response time", Unit::Time, &series, &positions, &[]);
    for (number, name, model) in &made {
        let (ink, stroke) = match name.is_empty() {
            true => (Ink::Series(1), Stroke::Dashed),
            false => (Ink::Series(*number), Stroke::Dotted),
        };
        drawn.marks.push(Mark::Line {
            ink,
            stroke,
            points: predicted_points(model, &positions, &drawn.y),
        });
        let text = match name.is_empty() {
            true => "model".to_owned(),
            false => format!("{name}: model"),
        };
        drawn.legend.push(LegendEntry::new(ink, Swatch::Line(stroke), text));
    }
    Some(Figure {
        name: "response-model".to_owned(),
        title: format!("Mean response of {} and its model", subject.job()),
        caption: caption_of_model(subject, &made),
        x: positions.axis,
        y: drawn.y,
        marks: drawn.marks,
        legend: drawn.legend,
        missing: reason,
    })
}

/// Returns the predictions. The line is interrupted at each point without a prediction, and at each
/// point whose prediction lies beyond the axis.
fn predicted_points(model: &ResponseModel, positions: &Positions, y: &Axis) -> Vec<Point> {
    let of_point = |point: &usize| {
        let found = model.points.iter().find(|it| it.point == *point);
        let ns = found.and_then(|it| it.predicted_ms).map(|ms| ms * MILLISECOND);
        let y = ns.filter(|ns| y.has(*ns)).unwrap_or(f64::NAN);
        Point { x: positions.of_series(*point, 0, 1), y }
    };
    positions.order.iter().map(of_point).collect()
}

fn caption_of_model(subject: &Subject<'_>, made: &[(usize, &str, &ResponseModel)]) -> String {
    let of_arm = |(_, name, model): &(usize, &str, &ResponseModel)| {
        let all = model.points.iter().filter_map(|it| Some((it.point, it.deviation?)));
        let (point, most) = all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let deviation = sentence::signed(most, Scale::Ratio);
        Some(format!("{deviation} at {}{}", subject.sweep.values[point], of_name(name)))
    };
    let texts: Vec<String> = made.iter().filter_map(of_arm).collect();
    match texts.is_empty() {
        true => {
            let one_server = with_lower_case_start(sweep::ONE_SERVER);
            format!("The model predicts no point; {one_server}.")
        }
        false => format!(
            "The measured times deviate from the model by up to {}; {}.",
            texts.join(", "),
            with_lower_case_start(sweep::ONE_SERVER)
        ),
    }
}

fn with_lower_case_start(sentence: &str) -> String {
    sentence.replacen("It ", "it ", 1)
}
