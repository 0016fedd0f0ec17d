//! The figures of a capacity search: its trials around the boundary, and all of them.

use analyze::capacity::{Capacity, Phase, TrialOutcome};
use analyze::{CheckKind, Status};
use workload::question::{Condition, VariedLoad};

use super::super::capacity::{CapacityView, TrialView, counted_ones};
use super::doubts::{Doubts, in_parentheses};
use crate::figure::{Axis, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Symbol, Unit};
use crate::number::{count, percent};

/// Largest distance from the estimate at which the figure of the boundary shows a trial: the
/// natural logarithm of the ratio of the two values.
const LARGEST_DISTANCE: f64 = 0.25;

/// Number of points of the regression line.
const LINE_POINTS: u32 = 40;

/// Lower end of a vertical axis unless a trial lies below it, as a fraction of the allowed value.
const LOWEST_AXIS_END: f64 = 0.1;

/// Returns the figures of a search: the boundary of the binding condition, and all trials by each
/// condition.
pub(super) fn figures(view: &CapacityView) -> Vec<Figure> {
    let found = view.found.as_ref();
    let binding = found.and_then(|found| found.binding).unwrap_or(0);
    let mut positions: Vec<usize> = (0..view.order.conditions.len()).collect();
    positions.sort_by_key(|position| (*position != binding, *position));
    let judged = |position: usize| {
        let condition = view.order.conditions.get(position)?;
        let found = found.filter(|found| found.binding == Some(position));
        Some(JudgedCondition { view, condition, position, found })
    };
    let all: Vec<JudgedCondition<'_>> = positions.into_iter().filter_map(judged).collect();
    let boundary = all.first().map(boundary);
    let trials = all.iter().enumerate().map(|(number, it)| trials(it, number == 0));
    boundary.into_iter().chain(trials).collect()
}

/// A condition with the trials that were judged by it.
struct JudgedCondition<'a> {
    view: &'a CapacityView,
    condition: &'a Condition,
    position: usize,
    /// The result of the search if this is the binding condition; otherwise `None`.
    found: Option<&'a Capacity>,
}

/// A trial with its height in a figure.
struct PlacedTrial<'a> {
    trial: &'a TrialView,
    /// Measure of the trial: a fraction of the requests, or the ratio to the bound. `None` for a
    /// trial without a measure.
    y: Option<f64>,
}

impl PlacedTrial<'_> {
    /// Returns the position in the figure. A trial without a measure could not sustain its load: it
    /// lies at the upper end of the axis.
    fn place(&self, y: &Axis) -> Point {
        let height = self.y.map_or(y.to, |height| height.max(y.from).min(y.to));
        Point { x: self.trial.trial.value, y: height }
    }
}

impl JudgedCondition<'_> {
    /// Returns the allowed value, on the vertical axis.
    fn allowed_value(&self) -> f64 {
        self.condition.allowed_share().unwrap_or(1.0)
    }

    fn placed_trials(&self) -> impl Iterator<Item = PlacedTrial<'_>> {
        self.view.trials.iter().map(|trial| {
            let ratio = trial.trial.ratio(&self.view.order, self.position);
            PlacedTrial { trial, y: ratio.map(|ratio| ratio * self.allowed_value()) }
        })
    }

    fn is_rate(&self) -> bool {
        matches!(self.view.order.vary, VariedLoad::Rate { .. })
    }

    fn title_of_x(&self) -> String {
        let unit = if self.is_rate() { "requests per second" } else { "clients" };
        format!("{}, {unit}", self.view.order.vary)
    }

    /// Returns the vertical axis of these trials. A trial without a request beyond the bound lies
    /// at the lower end of the axis, and a trial with an infinite ratio at the upper end.
    fn y(&self, placed: &[PlacedTrial<'_>]) -> Axis {
        let shown = || placed.iter().filter_map(|it| it.y).filter(|y| *y > 0.0 && y.is_finite());
        let low = shown().fold(LOWEST_AXIS_END * self.allowed_value(), f64::min);
        let high = shown().fold(2.0 * self.allowed_value(), f64::max);
        let (title, unit) = match self.condition.allowed_share() {
            Some(_) => {
                (format!("requests {}, logarithmic", counted_ones(self.condition)), Unit::Share)
            }
            None => {
                (format!("ratio to the bound of {}, logarithmic", self.condition), Unit::Number)
            }
        };
        Axis::logarithmic(&title, unit, [low, high])
    }

    fn limit(&self) -> Mark {
        let label = match self.condition.allowed_share() {
            Some(allowed) => format!("{} allowed", percent(allowed)),
            None => "bound".to_owned(),
        };
        Mark::Level { ink: Ink::Plain, at: self.allowed_value(), label }
    }

    /// Returns the regression line between two values; empty if there is no regression.
    fn regression(&self, [from, to]: [f64; 2], y: &Axis) -> Vec<Point> {
        let line = self.found.and_then(|found| found.estimate.zip(found.slope));
        let Some((estimate, slope)) = line else { return Vec::new() };
        let part = |n: u32| f64::from(n) / f64::from(LINE_POINTS);
        let at = (0..=LINE_POINTS).map(|n| from * (to / from).powf(part(n)));
        let points = at.map(|x| Point { x, y: self.allowed_value() * (x / estimate).powf(slope) });
        points.filter(|point| y.has(point.y)).collect()
    }

    /// Returns the estimate with its interval, and the published value.
    fn results(&self) -> Vec<Mark> {
        let Some(found) = &self.view.found else { return Vec::new() };
        let mut marks = Vec::new();
        if let Some(interval) = self.view.interval() {
            let (ink, label) = (Ink::Series(0), String::new());
            marks.push(Mark::Period { ink, from: interval.low, to: interval.high, label });
        }
        if let Some(at) = found.estimate {
            let label = format!("estimate {}", self.view.value(at));
            marks.push(Mark::Rule { ink: Ink::Series(0), at, label });
        }
        if let Some(at) = found.sustained {
            let label = format!("sustained {}", self.view.value(at));
            marks.push(Mark::Rule { ink: Ink::Series(2), at, label });
        }
        marks
    }

    /// Draws trials on axes.
    fn draw_trials(
        &self,
        x: &Axis,
        y: &Axis,
        placed: &[PlacedTrial<'_>],
    ) -> (Vec<Mark>, Vec<LegendEntry>) {
        let mut marks = self.results();
        let mut legend = Vec::new();
        marks.push(self.limit());
        let points = self.regression([x.from.max(1e-9), x.to], y);
        if !points.is_empty() {
            let (ink, stroke) = (Ink::Series(0), Stroke::Dashed);
            marks.push(Mark::Line { ink, stroke, points });
            legend.push(LegendEntry::new(ink, Swatch::Line(stroke), "regression"));
        }
        write_trials(&mut marks, &mut legend, placed, y);
        let mut doubts = Doubts::default();
        let doubtful = placed.iter().filter(|it| !it.trial.doubts().is_empty());
        doubtful.for_each(|it| doubts.add(it.place(y), Status::Suspect));
        doubts.write(&mut marks, &mut legend);
        if self.view.interval().is_some() {
            let text = "95 % interval of the estimate";
            legend.push(LegendEntry::new(Ink::Series(0), Swatch::Spread, text));
        }
        (marks, legend)
    }
}

/// Draws trials. The shape and the colour show the outcome. A hollow shape is a trial of the
/// bracket or the shrink phase; an invalid trial is a cross in every phase. A ring surrounds a
/// trial of the confirmation, and a square surrounds a trial of the hold.
fn write_trials(
    marks: &mut Vec<Mark>,
    legend: &mut Vec<LegendEntry>,
    placed: &[PlacedTrial<'_>],
    y: &Axis,
) {
    let place = |it: &PlacedTrial<'_>| it.place(y);
    for (name, ink, symbols) in OUTCOMES {
        for is_hollow in [false, true] {
            let of = placed.iter().filter(|it| {
                it.trial.outcome.name() == name && is_hollow == is_of_bracket(it.trial.trial.phase)
            });
            let points: Vec<Point> = of.map(place).collect();
            let symbol = symbols[usize::from(is_hollow)];
            if !points.is_empty() {
                marks.push(Mark::Symbols { ink, symbol, points });
            }
        }
        if placed.iter().any(|it| it.trial.outcome.name() == name) {
            legend.push(LegendEntry::new(ink, Swatch::Symbol(symbols[0]), name));
        }
    }
    let is_hollow = |it: &PlacedTrial<'_>| {
        is_of_bracket(it.trial.trial.phase) && !matches!(it.trial.outcome, TrialOutcome::Invalid(_))
    };
    if placed.iter().any(is_hollow) {
        let swatch = Swatch::Symbol(Symbol::HollowDisc);
        legend.push(LegendEntry::new(Ink::Plain, swatch, "hollow: bracket"));
    }
    for (symbol, text) in [(Symbol::Ring, "confirmation"), (Symbol::Square, "hold")] {
        let is_one = |it: &&PlacedTrial<'_>| outer_symbol(it.trial.trial.phase) == Some(symbol);
        let points: Vec<Point> = placed.iter().filter(is_one).map(place).collect();
        if !points.is_empty() {
            marks.push(Mark::Symbols { ink: Ink::Plain, symbol, points });
            legend.push(LegendEntry::new(Ink::Plain, Swatch::Symbol(symbol), text));
        }
    }
}

/// The outcomes. Each has an ink and two symbols: one for most trials, and one for the trials of
/// the bracket and the shrink phase.
const OUTCOMES: [(&str, Ink, [Symbol; 2]); 4] = [
    ("pass", Ink::Series(2), [Symbol::Disc, Symbol::HollowDisc]),
    ("undecided", Ink::Doubtful, [Symbol::Diamond, Symbol::HollowDiamond]),
    ("fail", Ink::Bad, [Symbol::Down, Symbol::HollowDown]),
    ("invalid", Ink::Quiet, [Symbol::Cross, Symbol::Cross]),
];

/// Returns the shape around the trials of a phase; `None` for a phase without such a shape.
fn outer_symbol(phase: Phase) -> Option<Symbol> {
    match phase {
        Phase::Confirm(_) => Some(Symbol::Ring),
        Phase::Hold => Some(Symbol::Square),
        Phase::Bracket | Phase::Shrink | Phase::Round(_) => None,
    }
}

/// Returns true for the phases bracket and shrink.
fn is_of_bracket(phase: Phase) -> bool {
    match phase {
        Phase::Bracket | Phase::Shrink => true,
        Phase::Round(_) | Phase::Confirm(_) | Phase::Hold => false,
    }
}

/// Returns the figure of the trials near the estimate. If the published value lies further below,
/// the figure begins at that value.
fn boundary(judged: &JudgedCondition<'_>) -> Figure {
    let view = judged.view;
    let found = view.found.as_ref();
    let estimate = found.and_then(|found| found.estimate);
    let published = found.and_then(|found| found.sustained).unwrap_or(f64::INFINITY);
    let is_near = |value: f64| {
        let is_near_to = |it: f64| {
            let low = published.min(it * (-LARGEST_DISTANCE).exp());
            (low..=it * LARGEST_DISTANCE.exp()).contains(&value)
        };
        estimate.is_some_and(is_near_to)
    };
    let placed: Vec<PlacedTrial<'_>> =
        judged.placed_trials().filter(|it| is_near(it.trial.trial.value)).collect();
    let interval = view.interval().map(|it| [it.low, it.high]);
    let values = placed.iter().map(|it| it.trial.trial.value).chain(interval.into_iter().flatten());
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(0.0, f64::max);
    let (low, high) = if low < high { (low, high) } else { (0.9 * high, 1.1 * high.max(1.0)) };
    let x = Axis::linear(&judged.title_of_x(), Unit::Number, [low, high]);
    let y = judged.y(&placed);
    let (marks, legend) = judged.draw_trials(&x, &y, &placed);
    let sustained = match found.and_then(|found| Some((found.sustained?, found.confirmations))) {
        Some((value, times)) => {
            format!("{} was confirmed {}", view.value(value), count(times.into(), "time"))
        }
        None => "no value was confirmed".to_owned(),
    };
    let reason = match (found, estimate) {
        (None, _) => Some("The search has not ended."),
        (Some(_), None) => Some("There is no estimate: the search did not get to a boundary."),
        (Some(_), Some(_)) => None,
    };
    Figure {
        name: "boundary".to_owned(),
        title: format!("Boundary of {}", judged.condition),
        caption: format!("The estimate is {}; {sustained}{}.", view.estimate(), doubts(&placed)),
        x,
        y,
        marks,
        legend,
        missing: reason.map(str::to_owned),
    }
}

/// Returns the figure of all trials by a condition; `is_first` is true for the binding condition
/// or, if none is binding, for the first condition.
fn trials(judged: &JudgedCondition<'_>, is_first: bool) -> Figure {
    let placed: Vec<PlacedTrial<'_>> = judged.placed_trials().collect();
    let values = placed.iter().map(|it| it.trial.trial.value);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(0.0, f64::max);
    let title = format!("{}, logarithmic", judged.title_of_x());
    let x = Axis::logarithmic(&title, Unit::Number, [low.min(high), high]);
    let y = judged.y(&placed);
    let (marks, legend) = judged.draw_trials(&x, &y, &placed);
    let metric = judged.condition.slo.text.split(' ').next().unwrap_or_default();
    let name = if is_first { "trials".to_owned() } else { format!("trials.{metric}") };
    Figure {
        name,
        title: format!("All trials by {}", judged.condition),
        caption: caption(judged, &placed),
        x,
        y,
        marks,
        legend,
        missing: placed.is_empty().then(|| "No trial has ended.".to_owned()),
    }
}

fn caption(judged: &JudgedCondition<'_>, placed: &[PlacedTrial<'_>]) -> String {
    let mut text = judged.view.outcomes();
    let zeros = placed.iter().filter(|it| it.y == Some(0.0)).count();
    let unmeasured = placed.iter().filter(|it| it.y.is_none()).count();
    let infinite = placed.iter().filter(|it| it.y == Some(f64::INFINITY)).count();
    let ends = [
        (zeros, "without a request beyond the bound", "lower"),
        (infinite, "with an infinite ratio to the bound", "upper"),
        (unmeasured, "without a measure, because the load was not carried,", "upper"),
    ];
    for (number, what, end) in ends {
        if number > 0 {
            let lie = if number == 1 { "lies" } else { "lie" };
            text += &format!("; {} {what} {lie} at the {end} end", count(number as u64, "trial"));
        }
    }
    text + &doubts(placed) + "."
}

/// Returns the clause with the number of SUSPECT trials and the names of their objecting checks,
/// after a semicolon; empty without SUSPECT trials.
fn doubts(placed: &[PlacedTrial<'_>]) -> String {
    let doubts: Vec<Vec<CheckKind>> = placed.iter().map(|it| it.trial.doubts()).collect();
    let verb = match doubts.iter().filter(|checks| !checks.is_empty()).count() {
        0 => return String::new(),
        1 => "1 trial is".to_owned(),
        more => format!("{more} trials are"),
    };
    format!("; {verb} SUSPECT{}", in_parentheses(&doubts.concat()))
}

#[cfg(test)]
mod tests {
    use analyze::capacity::Measure;
    use analyze::compare::RunVerdict;
    use workload::{Metric, Side, Slo};

    use super::*;
    use crate::experiment::capacity::tests::search;

    fn symbols(figure: &Figure) -> Vec<(Symbol, usize)> {
        let of = |mark: &Mark| match mark {
            Mark::Symbols { symbol, points, .. } => Some((*symbol, points.len())),
            _ => None,
        };
        figure.marks.iter().filter_map(of).collect()
    }

    fn rules(figure: &Figure) -> Vec<&str> {
        let labels = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Rule { label, .. } => Some(label.as_str()),
            _ => None,
        });
        labels.collect()
    }

    #[test]
    fn shape_of_a_trial_shows_its_outcome_and_phase() {
        let figures = figures(&search());
        let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names, ["boundary", "trials"]);
        let expected = [
            (Symbol::Disc, 1),
            (Symbol::HollowDisc, 1),
            (Symbol::Diamond, 1),
            (Symbol::Down, 1),
            (Symbol::HollowDown, 1),
            (Symbol::Ring, 1),
        ];
        assert_eq!(symbols(&figures[1]), expected);
        // The trials of the bracket are far from the boundary.
        assert!(symbols(&figures[0]).iter().all(|(symbol, _)| *symbol != Symbol::HollowDisc));
        assert_eq!(
            figures[1].caption,
            "5 trials: 2 pass, 2 fail, 1 undecided (too close to the limit to tell); 50 s in all; \
             1 trial without a request beyond the bound lies at the lower end; 1 trial without a \
             measure, because the load was not carried, lies at the upper end."
        );
    }

    #[test]
    fn trials_that_confirmed_a_value_far_below_the_estimate_are_shown() {
        let mut view = search();
        view.found.as_mut().unwrap().estimate = Some(1_000.0);
        let figure = &figures(&view)[0];
        assert!(symbols(figure).contains(&(Symbol::Ring, 1)), "{:?}", symbols(figure));
        assert!(figure.x.from <= 740.0, "{:?}", figure.x);
    }

    #[test]
    fn infinite_ratio_lies_at_the_upper_end_and_is_counted() {
        let mut view = search();
        let condition = &mut view.order.conditions[0];
        condition.slo = Slo {
            text: "throughput(read) > 500".to_owned(),
            metric: Metric::Throughput,
            side: Side::Above,
            bound: 500.0,
        };
        for (trial, value) in view.trials.iter_mut().zip([1_000.0, 0.0, 400.0, 500.0, 600.0]) {
            trial.trial.measures = vec![Measure::Value { value, standard_error: None }];
        }
        let figure = &figures(&view)[1];
        assert!((2.0..10.0).contains(&figure.y.to), "{:?}", figure.y);
        let failed = figure.marks.iter().find_map(|mark| match mark {
            Mark::Symbols { symbol: Symbol::HollowDown, points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(failed, Some(vec![Point { x: 1_600.0, y: figure.y.to }]));
        let words = "; 1 trial with an infinite ratio to the bound lies at the upper end.";
        assert!(figure.caption.ends_with(words), "{}", figure.caption);
    }

    /// A backlog is expected of a trial beyond the capacity, so it does not strike the trial
    /// through. Other objections do.
    #[test]
    fn suspect_trial_is_struck_through_unless_it_shows_the_overload() {
        let mut view = search();
        let drawn = &figures(&view)[1];
        assert!(symbols(drawn).iter().all(|(symbol, _)| *symbol != Symbol::Slash));
        let suspect = |kind| RunVerdict::new([(kind, Status::Suspect)]);
        view.trials[1].verdict = suspect(CheckKind::Backlog);
        view.trials[3].verdict = suspect(CheckKind::Drift);
        view.trials[4].verdict = suspect(CheckKind::SendLag);
        for (figure, end) in figures(&view).iter().zip(["6 times", "at the upper end"]) {
            assert!(symbols(figure).contains(&(Symbol::Slash, 2)), "{:?}", figure.marks);
            assert!(figure.legend.iter().any(|entry| entry.text == "a run is SUSPECT"));
            let end = format!("{end}; 2 trials are SUSPECT (send-lag, drift).");
            assert!(figure.caption.ends_with(&end), "{}", figure.caption);
        }
        let outcomes = view.trials.iter().map(TrialView::outcome_in_words);
        let expected = ["pass", "fail", "fail", "undecided, SUSPECT", "pass, SUSPECT"];
        assert_eq!(outcomes.collect::<Vec<String>>(), expected);
    }

    #[test]
    fn regression_reaches_what_is_allowed_at_the_estimate() {
        let figure = &figures(&search())[0];
        let line = figure.marks.iter().find_map(|mark| match mark {
            Mark::Line { points, .. } => Some(points.clone()),
            _ => None,
        });
        let line = line.unwrap();
        assert!(line.windows(2).all(|pair| pair[0].y < pair[1].y), "{line:?}");
        let below = line.iter().rfind(|point| point.x <= 770.0).unwrap();
        let above = line.iter().find(|point| point.x > 770.0).unwrap();
        assert!(below.y <= 0.01 && above.y > 0.01, "{below:?} {above:?}");
        assert_eq!(rules(figure), ["estimate 770/s", "sustained 740/s"]);
        assert_eq!(
            figure.caption,
            "The estimate is 770/s (95 % interval of the search 755–785/s); 740/s was confirmed \
             6 times."
        );
    }

    #[test]
    fn search_without_a_boundary_says_so_and_shows_its_trials() {
        let mut view = search();
        let found = view.found.as_mut().unwrap();
        (found.estimate, found.interval, found.slope, found.sustained) = (None, None, None, None);
        let drawn = figures(&view);
        let reason = "There is no estimate: the search did not get to a boundary.";
        assert_eq!(drawn[0].missing.as_deref(), Some(reason));
        assert!(drawn[1].missing.is_none() && rules(&drawn[1]).is_empty(), "{:?}", drawn[1]);
        let view = CapacityView { found: None, trials: Vec::new(), ..search() };
        let drawn = figures(&view);
        assert_eq!(drawn[0].missing.as_deref(), Some("The search has not ended."));
        assert_eq!(drawn[1].missing.as_deref(), Some("No trial has ended."));
    }
}
