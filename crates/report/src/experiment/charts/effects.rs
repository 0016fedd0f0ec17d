//! The figures of a comparison: the effects with their intervals, and the pairs behind them.

use analyze::compare::{ArmComparison, Compared, MetricChange};
use workload::question::{Bet, Scale};

use super::super::sentence;
use super::super::view::{ExperimentView, declared};
use crate::figure::{Axis, Extent, Figure, Ink, LegendEntry, Mark, Point, Stroke, Swatch, Unit};

/// Most effects of a figure.
const MOST_EFFECTS: usize = 24;

/// Most figures of pairs.
const MOST_PAIRS: usize = 8;

/// Largest part of an axis that a bet takes, as a multiple of the range of the intervals.
const WIDEST_BET: f64 = 1.5;

/// Returns the figures of a comparison: the effects, and the pairs of each declared metric.
pub(super) fn figures(view: &ExperimentView) -> Vec<Figure> {
    let all: Vec<Effect<'_>> = effects(view).collect();
    let mut figures = vec![figure_of_effects(view, &all)];
    let pairs = all.iter().filter(|effect| !effect.compared.values.pairs().is_empty());
    figures.extend(pairs.take(MOST_PAIRS).map(|effect| figure_of_pairs(view, effect)));
    figures
}

/// A declared metric of an arm that was compared.
struct Effect<'a> {
    arm: &'a ArmComparison,
    change: &'a MetricChange,
    compared: &'a Compared,
}

fn effects(view: &ExperimentView) -> impl Iterator<Item = Effect<'_>> {
    view.comparison.iter().flat_map(declared).filter_map(|(arm, change)| {
        let compared = change.compared.as_ref().ok()?;
        Some(Effect { arm, change, compared })
    })
}

impl Effect<'_> {
    fn label(&self, view: &ExperimentView) -> String {
        match view.arms.len() {
            0..=2 => self.change.metric.to_string(),
            _ => format!("{} of {}", self.change.metric, view.arms[self.arm.arm].name),
        }
    }

    fn bets(&self) -> impl Iterator<Item = &Bet> {
        self.change.bets.iter().map(|(bet, _)| bet)
    }
}

fn figure_of_effects(view: &ExperimentView, all: &[Effect<'_>]) -> Figure {
    let shown = &all[..all.len().min(MOST_EFFECTS)];
    let labels: Vec<String> = shown.iter().map(|effect| effect.label(view)).collect();
    let x = Axis::linear("change against the baseline", Unit::Change, range(shown));
    let figure = Figure {
        name: "effects".to_owned(),
        title: "Changes with their intervals".to_owned(),
        caption: caption_of_effects(shown),
        x,
        y: Axis::categories("", &labels),
        marks: Vec::new(),
        legend: Vec::new(),
        missing: None,
    };
    if shown.is_empty() {
        let reason = match view.comparison {
            None => "There is no comparison yet: too few rounds are complete.",
            Some(_) => "No declared metric could be compared.",
        };
        return Figure { missing: Some(reason.to_owned()), ..figure };
    }
    Figure { marks: marks_of_effects(shown), legend: legend_of_effects(shown), ..figure }
}

/// Returns the range of the axis: all intervals and zero, and bets as far as they leave room.
fn range(shown: &[Effect<'_>]) -> [f64; 2] {
    let ends = shown.iter().flat_map(|effect| {
        let Compared { change, interval, .. } = effect.compared;
        let ends = interval.map_or([*change; 2], |it| [it.low, it.high]);
        ends.into_iter().chain([*change])
    });
    let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
    let low = ends.iter().copied().fold(0.0, f64::min);
    let high = ends.iter().copied().fold(0.0, f64::max);
    let room = WIDEST_BET * (high - low).max(0.01);
    let bets = || shown.iter().flat_map(Effect::bets);
    let lowest = bets().map(|bet| bet.range.low).fold(low, f64::min).max(low - room);
    let highest = bets().map(|bet| bet.range.high).fold(high, f64::max).min(high + room);
    [lowest, highest.max(lowest + 0.01)]
}

fn marks_of_effects(shown: &[Effect<'_>]) -> Vec<Mark> {
    let places = || (0..).map(f64::from).zip(shown);
    let bets = places().flat_map(|(at, effect)| {
        effect.bets().map(move |bet| Extent { at, low: bet.range.low, high: bet.range.high })
    });
    let intervals = places().filter_map(|(at, effect)| {
        let interval = effect.compared.interval?;
        Some(Extent { at, low: interval.low, high: interval.high })
    });
    let points = places().map(|(at, effect)| Point { x: effect.compared.change, y: at });
    vec![
        Mark::Ranges { ink: Ink::Series(2), extents: bets.collect() },
        Mark::Rule { ink: Ink::Plain, at: 0.0, label: String::new() },
        Mark::Intervals { ink: Ink::Series(0), extents: intervals.collect() },
        Mark::Dots { ink: Ink::Series(0), points: points.collect() },
    ]
}

fn legend_of_effects(shown: &[Effect<'_>]) -> Vec<LegendEntry> {
    let level = shown.first().map_or_else(String::new, |it| sentence::level(it.change.alpha));
    let interval = format!("{level} confidence interval around the estimate");
    let mut legend = vec![LegendEntry::new(Ink::Series(0), Swatch::Interval, interval)];
    if shown.iter().any(|effect| effect.bets().next().is_some()) {
        legend.push(LegendEntry::new(Ink::Series(2), Swatch::Spread, "bet"));
    }
    legend
}

fn caption_of_effects(shown: &[Effect<'_>]) -> String {
    let apart = shown
        .iter()
        .filter(|effect| effect.compared.interval.is_some_and(|it| it.low > 0.0 || it.high < 0.0));
    format!(
        "{} of {} intervals lie on one side of zero; an interval within its bet is a bet that is \
         held.",
        apart.count(),
        shown.len()
    )
}

fn figure_of_pairs(view: &ExperimentView, effect: &Effect<'_>) -> Figure {
    let Effect { arm, change, compared } = effect;
    let name = &view.arms[arm.arm].name;
    let scale = change.metric.quantity.scale();
    let differences = compared.values.pairs().iter().map(|pair| match scale {
        Scale::Ratio => pair.arm / pair.baseline - 1.0,
        Scale::Difference => pair.arm - pair.baseline,
    });
    let points: Vec<Point> =
        (1..).map(f64::from).zip(differences).map(|(x, y)| Point { x, y }).collect();
    let finite = || points.iter().map(|point| point.y).filter(|y| y.is_finite());
    let ends = compared.interval.map_or([compared.change; 2], |it| [it.low, it.high]);
    let low = finite().chain(ends).fold(0.0, f64::min);
    let high = finite().chain(ends).fold(0.0, f64::max);
    let last = points.len() as f64 + 0.5;
    let extent = |at: f64| Extent { at, low: ends[0], high: ends[1] };
    let (ink, stroke) = (Ink::Series(0), Stroke::Dashed);
    let level = sentence::level(change.alpha);
    let same = finite().filter(|y| (*y > 0.0) == (compared.change > 0.0)).count();
    Figure {
        name: format!("pairs.{}.{name}", change.metric),
        title: format!(
            "Pairs: {} of {name} against {}",
            change.metric, view.arms[arm.baseline].name
        ),
        caption: format!(
            "{same} of {} pairs changed in the direction of the estimate, {}.",
            points.len(),
            sentence::signed(compared.change, scale)
        ),
        x: Axis::linear("pair, in the order of time", Unit::Number, [0.5, last])
            .within([0.5, last]),
        y: Axis::linear("change within the pair", Unit::Change, [low, high]),
        marks: vec![
            Mark::Level { ink: Ink::Plain, at: 0.0, label: String::new() },
            Mark::Band { ink, is_solid: false, extents: vec![extent(0.5), extent(last)] },
            Mark::Line {
                ink,
                stroke,
                points: [0.5, last].map(|x| Point { x, y: compared.change }).to_vec(),
            },
            Mark::Dots { ink: Ink::Series(1), points },
        ],
        legend: vec![
            LegendEntry::new(Ink::Series(1), Swatch::Dot, "a pair of runs"),
            LegendEntry::new(ink, Swatch::Line(stroke), "estimate"),
            LegendEntry::new(ink, Swatch::Spread, format!("its {level} confidence interval")),
        ],
        missing: None,
    }
}
