//! The figures of a comparison: the effects with their intervals, and the pairs behind them. A few
//! undeclared metrics are shown below the declared ones.

use analyze::Status;
use analyze::compare::{ArmComparison, ArmId, Compared, Comparison, JudgedLimit, MetricChange};
use workload::question::{Bet, Quantity, RegressionLimit, Scale, TimeStatistic};

use super::super::metric_tables::gravest;
use super::super::sentence;
use super::super::view::ArmView;
use super::doubts::{self, Doubts};
use crate::figure::{
    Axis, Extent, Figure, Ink, LegendEntry, Mark, Point, Scale as AxisScale, Stroke, Swatch,
    Symbol, Unit,
};
use crate::number::count;

/// Maximum number of effects of a figure.
const MOST_EFFECTS: usize = 24;

/// Maximum number of figures of pairs.
const MOST_PAIRS: usize = 8;

/// Maximum length by which bets and undeclared metrics extend an axis at each end, as a multiple of
/// the range that the declared metrics need.
const WIDEST: f64 = 1.5;

/// Maximum number of metrics beyond the axis that the caption names.
const MOST_BEYOND: usize = 4;

/// Response times that are shown next to declared metrics of the same job.
const SHOWN_BESIDE: [TimeStatistic; 3] =
    [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99];

/// Arms or groups of runs with their comparisons.
pub(super) struct Subject<'a> {
    pub(super) arms: &'a [ArmView],
    /// The comparisons, each with the point of the sweep at which it was made; `None` without a
    /// sweep.
    pub(super) comparisons: Vec<(Option<&'a str>, &'a Comparison)>,
    /// Limits for the regression of metrics, with their outcomes.
    pub(super) limits: &'a [JudgedLimit],
    /// Reason why there is no comparison.
    pub(super) missing: &'a str,
}

/// Returns the figures of comparisons: the effects, and the pairs of each declared metric.
pub(super) fn figures(subject: &Subject<'_>) -> Vec<Figure> {
    let all: Vec<Effect<'_>> = effects(subject).collect();
    let mut figures = vec![figure_of_effects(subject, &all)];
    // A point of a sweep has too few pairs for a figure.
    let is_shown = |effect: &&Effect<'_>| {
        let has_pairs = !effect.compared.values.pairs().is_empty();
        effect.point.is_none() && has_pairs && !effect.is_exploratory()
    };
    let pairs = all.iter().filter(is_shown).take(MOST_PAIRS);
    figures.extend(pairs.map(|effect| figure_of_pairs(subject.arms, effect)));
    figures
}

/// A compared metric of an arm.
struct Effect<'a> {
    point: Option<&'a str>,
    arm: &'a ArmComparison,
    change: &'a MetricChange,
    compared: &'a Compared,
    /// Limits for the regression of this metric of this arm.
    limits: Vec<&'a RegressionLimit>,
}

/// Returns the effects of the declared metrics, then those of the metrics that are shown beside
/// them. Figures show the first ones.
fn effects<'a>(subject: &'a Subject<'a>) -> impl Iterator<Item = Effect<'a>> {
    let all = move |is_exploratory: bool| {
        let of_comparison = move |(point, comparison): &'a (Option<&'a str>, &'a Comparison)| {
            let of_arm = move |arm: &'a ArmComparison| {
                let of_kind = arm.changes.iter().filter(move |change| {
                    let is_beside = point.is_none() && is_shown_beside(change, arm);
                    change.is_exploratory == is_exploratory && (!is_exploratory || is_beside)
                });
                of_kind.filter_map(move |change| {
                    let compared = change.compared.as_ref().ok()?;
                    let limits = limits(subject.limits, arm.arm, change);
                    Some(Effect { point: *point, arm, change, compared, limits })
                })
            };
            comparison.arms.iter().flat_map(of_arm)
        };
        subject.comparisons.iter().flat_map(of_comparison)
    };
    all(false).chain(all(true))
}

/// Returns true if a metric is shown beside the declared ones: a response time of a job that has a
/// declared metric, or of any job if every declared metric concerns the whole run.
fn is_shown_beside(change: &MetricChange, arm: &ArmComparison) -> bool {
    let quantity = &change.metric.quantity;
    let is_time = matches!(quantity, Quantity::Response(it) if SHOWN_BESIDE.contains(it));
    let declared = || arm.changes.iter().filter(|one| !one.is_exploratory);
    let mut jobs = declared().filter_map(|one| one.metric.of.as_ref());
    let is_of_job =
        jobs.clone().next().is_none() || jobs.any(|job| Some(job) == change.metric.of.as_ref());
    is_time && is_of_job && declared().next().is_some()
}

fn limits<'a>(
    all: &'a [JudgedLimit],
    arm: ArmId,
    change: &MetricChange,
) -> Vec<&'a RegressionLimit> {
    let is_own = |limit: &&JudgedLimit| {
        let judged = limit.change.as_ref().map(|judged| &judged.metric);
        limit.arm == arm && judged == Some(&change.metric)
    };
    all.iter().filter(is_own).map(|limit| &limit.limit).collect()
}

impl Effect<'_> {
    /// Returns the metric, and on a second line the arm and the point, if there are several. The
    /// axis shows changes in percent, so the label of a metric that is compared by difference also
    /// states the unit.
    fn label(&self, arms: &[ArmView]) -> String {
        let of = (arms.len() > 2).then(|| format!("of {}", arms[self.arm.arm.index()].name));
        let at = self.point.map(|point| format!("at {point}"));
        let more: Vec<String> = of.into_iter().chain(at).collect();
        let unit = match self.change.metric.quantity.scale() {
            Scale::Ratio => "",
            Scale::Difference => " in points",
        };
        format!("{}{unit}\n{}", self.change.metric, more.join(" ")).trim_end().to_owned()
    }

    fn is_exploratory(&self) -> bool {
        self.change.is_exploratory
    }

    /// Returns the ends of the interval; without an interval, the estimate as both ends.
    fn ends(&self) -> [f64; 2] {
        let Compared { change, interval, .. } = self.compared;
        interval.map_or([*change; 2], |it| [it.low, it.high])
    }

    /// Returns the change with its interval in words.
    fn text(&self) -> String {
        let scale = self.change.metric.quantity.scale();
        let change = sentence::signed(self.compared.change, scale);
        match self.compared.interval {
            Some(interval) => format!("{change} ({})", sentence::range(interval, scale)),
            None => change,
        }
    }

    fn bets(&self) -> impl Iterator<Item = &Bet> {
        self.change.bets.iter().map(|(bet, _)| bet)
    }

    /// Returns true if the whole interval lies beyond the smallest change that matters.
    fn matters(&self) -> bool {
        let delta = self.change.delta;
        self.compared.interval.is_some_and(|it| it.low > delta || it.high < -delta)
    }
}

fn figure_of_effects(subject: &Subject<'_>, all: &[Effect<'_>]) -> Figure {
    let shown = &all[..all.len().min(MOST_EFFECTS)];
    let labels: Vec<String> = shown.iter().map(|effect| effect.label(subject.arms)).collect();
    let (scale, range) = range(shown);
    let x = Axis::changes("change against the baseline", scale, range);
    let reason = match subject.comparisons.is_empty() {
        true => subject.missing,
        false => "No declared metric could be compared.",
    };
    Figure {
        name: "effects".to_owned(),
        title: "Changes with their intervals".to_owned(),
        caption: caption_of_effects(shown, all.len(), &x),
        marks: marks_of_effects(shown, &x),
        y: Axis::categories("", &labels),
        legend: legend_of_effects(shown),
        x,
        missing: shown.is_empty().then(|| reason.to_owned()),
    }
}

/// Returns the scale and the range of the axis. The range includes zero and, for each declared
/// metric, its change, interval, limits and smallest change that matters. Bets and undeclared
/// metrics extend it by at most [`WIDEST`] at each end.
fn range(shown: &[Effect<'_>]) -> (AxisScale, [f64; 2]) {
    let declared = shown.iter().filter(|effect| !effect.is_exploratory());
    let ends = declared.flat_map(|effect| {
        let delta = effect.change.delta;
        let others = [effect.compared.change, delta, -delta];
        let limits = effect.limits.iter().map(|limit| limit.change);
        effect.ends().into_iter().chain(others).chain(limits)
    });
    let ends: Vec<f64> = ends.filter(|end| end.is_finite()).collect();
    let low = ends.iter().copied().fold(0.0, f64::min);
    let high = ends.iter().copied().fold(0.0, f64::max);
    let scale = AxisScale::for_changes(high);
    let bets = shown.iter().flat_map(Effect::bets).map(|bet| [bet.range.low(), bet.range.high()]);
    let exploratory = shown.iter().filter(|effect| effect.is_exploratory()).map(Effect::ends);
    let others: Vec<[f64; 2]> = bets.chain(exploratory).collect();
    let place = |change: f64| scale.coordinate(change);
    let [low, high] = [low, high].map(place);
    let room = WIDEST * (high - low).max(0.01);
    let lowest = others.iter().map(|it| place(it[0])).fold(low, f64::min).max(low - room);
    let highest = others.iter().map(|it| place(it[1])).fold(high, f64::max).min(high + room);
    (scale, [lowest, highest.max(lowest + 0.01)].map(|place| scale.value_at_coordinate(place)))
}

fn marks_of_effects(shown: &[Effect<'_>], x: &Axis) -> Vec<Mark> {
    let places = || (0..).map(f64::from).zip(shown);
    let small = places().map(|(at, effect)| {
        let delta = effect.change.delta;
        Extent { at, low: -delta, high: delta }
    });
    let bets = places().flat_map(|(at, effect)| {
        effect.bets().map(move |bet| Extent { at, low: bet.range.low(), high: bet.range.high() })
    });
    let limits = places().flat_map(|(at, effect)| {
        effect.limits.iter().map(move |limit| Extent { at, low: limit.change, high: limit.change })
    });
    let intervals = places().filter_map(|(at, effect)| {
        let interval = effect.compared.interval?;
        Some(Extent { at, low: interval.low, high: interval.high })
    });
    let points = |is_exploratory: bool| {
        let of_kind = places().filter(move |(_, it)| it.is_exploratory() == is_exploratory);
        let points = of_kind.map(|(at, effect)| Point { x: effect.compared.change, y: at });
        points.filter(|point| x.has(point.x)).collect::<Vec<Point>>()
    };
    let ink = Ink::Series(0);
    let mut marks = vec![
        Mark::Ranges { ink: Ink::Quiet, extents: small.collect() },
        Mark::Ranges { ink: Ink::Series(2), extents: bets.collect() },
        Mark::Rule { ink: Ink::Plain, at: 0.0, label: String::new() },
        Mark::Intervals { ink: Ink::Bad, extents: limits.collect() },
        Mark::Intervals { ink, extents: intervals.collect() },
        Mark::Dots { ink, points: points(false) },
    ];
    let exploratory = points(true);
    if !exploratory.is_empty() {
        let symbol = Symbol::HollowDisc;
        marks.push(Mark::Symbols { ink, symbol, points: exploratory });
    }
    marks.extend(places().flat_map(|(y, effect)| labels_of(effect, y, x)));
    marks
}

/// Returns the texts next to the ranges of an effect: bets and limits above, the smallest change
/// that matters below. The text of an estimate beyond the axis is also above: this happens only for
/// undeclared metrics, which have neither bets nor limits.
fn labels_of(effect: &Effect<'_>, y: f64, x: &Axis) -> Vec<Mark> {
    let label = |at: f64, is_below: bool, text: String| {
        let at = Point { x: at.clamp(x.from, x.to), y };
        Mark::Text { at, is_below, text }
    };
    let bets = effect.bets().map(|bet| label(bet.range.low(), false, format!("bet {}", bet.range)));
    let limits = effect
        .limits
        .iter()
        .map(|limit| label(limit.change, false, format!("limit {}", limit.bound())));
    let (change, delta) = (effect.compared.change, effect.change.delta);
    let scale = effect.change.metric.quantity.scale();
    let small = label(delta, true, format!("±{}", sentence::declared_size(delta, scale)));
    let beyond = (!x.has(change)).then(|| label(change, false, effect.text()));
    bets.chain(limits).chain([small]).chain(beyond).collect()
}

fn legend_of_effects(shown: &[Effect<'_>]) -> Vec<LegendEntry> {
    let interval = format!("{} confidence interval around the estimate", levels(shown, false));
    let mut legend = vec![
        LegendEntry::new(Ink::Series(0), Swatch::Interval, interval),
        LegendEntry::new(Ink::Quiet, Swatch::Spread, "too small to matter"),
    ];
    if shown.iter().any(Effect::is_exploratory) {
        let swatch = Swatch::Symbol(Symbol::HollowDisc);
        let text = format!("not declared, its {} interval", levels(shown, true));
        legend.push(LegendEntry::new(Ink::Series(0), swatch, text));
    }
    if shown.iter().any(|effect| effect.bets().next().is_some()) {
        legend.push(LegendEntry::new(Ink::Series(2), Swatch::Spread, "bet"));
    }
    if shown.iter().any(|effect| !effect.limits.is_empty()) {
        legend.push(LegendEntry::new(Ink::Bad, Swatch::Line(Stroke::Solid), "limit"));
    }
    legend
}

/// Returns the confidence of the intervals of the declared or of the exploratory metrics: `98.3 %`.
fn levels(shown: &[Effect<'_>], is_exploratory: bool) -> String {
    let of_kind = shown.iter().filter(|effect| effect.is_exploratory() == is_exploratory);
    let mut levels: Vec<String> =
        of_kind.map(|effect| sentence::level(effect.change.alpha)).collect();
    levels.sort();
    levels.dedup();
    levels.join(" or ")
}

/// Returns the clause about intervals of different confidence, after a semicolon; empty if all
/// intervals have the same confidence.
fn different_levels(shown: &[Effect<'_>]) -> String {
    match [false, true].map(|is_exploratory| levels(shown, is_exploratory)) {
        [_, other] if other.is_empty() => String::new(),
        [declared, other] if declared == other => String::new(),
        [declared, other] => {
            format!("; each declared interval has a confidence of {declared}, a hollow one {other}")
        }
    }
}

fn caption_of_effects(shown: &[Effect<'_>], all: usize, x: &Axis) -> String {
    let declared = || shown.iter().filter(|effect| !effect.is_exploratory());
    let beyond = declared().filter(|effect| effect.matters()).count();
    let known = declared().filter(|effect| effect.compared.interval.is_some()).count();
    if known == 0 {
        return "No change has an interval: there are too few runs, or they do not scatter.".into();
    }
    let verb = if beyond == 1 || known == 1 { "lies" } else { "lie" };
    let bets = match shown.iter().any(|effect| effect.bets().next().is_some()) {
        true => "; a bet is held if the interval lies within its range",
        false => "",
    };
    let logarithmic = match x.scale {
        AxisScale::Ratio => "; equal ratios have equal lengths on the axis",
        _ => "",
    };
    let more = match all - shown.len() {
        0 => String::new(),
        1 => "; 1 more is in the tables".to_owned(),
        more => format!("; {more} more are in the tables"),
    };
    format!(
        "{beyond} of {} {verb} outside the grey range of changes that are too small to matter{bets}\
         {}{logarithmic}{}{more}.",
        count(known as u64, "declared change"),
        different_levels(shown),
        beyond_axis(shown, x)
    )
}

/// Returns the clause about ranges that continue beyond the axis, after a semicolon; empty if there
/// are none.
fn beyond_axis(shown: &[Effect<'_>], x: &Axis) -> String {
    let goes_on = |[low, high]: [f64; 2]| !x.has(low) || !x.has(high);
    let bets = shown.iter().flat_map(|effect| {
        let cut = effect.bets().filter(move |bet| goes_on([bet.range.low(), bet.range.high()]));
        cut.map(|_| format!("the bet on {}", effect.change.metric))
    });
    let cut = shown.iter().filter(|effect| goes_on(effect.ends()));
    let texts: Vec<String> = bets.chain(cut.map(|it| it.change.metric.to_string())).collect();
    if texts.is_empty() {
        return String::new();
    }
    let named = texts.iter().take(MOST_BEYOND).cloned().collect::<Vec<String>>().join(", ");
    let more = match texts.len().saturating_sub(MOST_BEYOND) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; an arrow leads beyond the axis: {named}{more}")
}

fn figure_of_pairs(arms: &[ArmView], effect: &Effect<'_>) -> Figure {
    let Effect { arm, change, compared, .. } = effect;
    let name = &arms[arm.arm.index()].name;
    let [baseline, own] =
        [arm.baseline, arm.arm].map(|of| sentence::name_as_code(&arms[of.index()].name));
    let scale = change.metric.quantity.scale();
    let differences = compared.values.pairs().iter().map(|pair| match scale {
        Scale::Ratio => pair.arm / pair.baseline - 1.0,
        Scale::Difference => pair.arm - pair.baseline,
    });
    let differences: Vec<f64> = differences.collect();
    let ends = compared.interval.map_or([compared.change; 2], |it| [it.low, it.high]);
    let finite = || differences.iter().copied().chain(ends).filter(|y| y.is_finite());
    let high = finite().fold(0.0, f64::max);
    let axis = AxisScale::for_changes(high);
    // An axis of ratios cannot show a change of −100 %.
    let placed = finite().filter(|y| axis == AxisScale::Linear || *y > -1.0);
    let low = placed.fold(0.0, f64::min);
    let title = match scale {
        Scale::Ratio => "change within the pair",
        Scale::Difference => "change within the pair, in points",
    };
    let y = Axis::changes(title, axis, [low, high]);
    // Infinite values lie at an end of the axis.
    let within = |value: f64| value.clamp(y.from, y.to);
    let points = (1..).map(f64::from).zip(&differences);
    let points: Vec<Point> = points.map(|(x, y)| Point { x, y: within(*y) }).collect();
    let last = points.len() as f64 + 0.5;
    let extent = |at: f64| Extent { at, low: within(ends[0]), high: within(ends[1]) };
    let line = [0.5, last].map(|x| Point { x, y: within(compared.change) });
    let (ink, stroke) = (Ink::Series(0), Stroke::Dashed);
    let level = sentence::level(change.alpha);
    let mut doubts = Doubts::default();
    for (point, verdicts) in points.iter().zip(&arm.verdicts) {
        doubts.add(*point, gravest(verdicts));
    }
    let mut marks = vec![
        Mark::Level { ink: Ink::Plain, at: 0.0, label: String::new() },
        Mark::Band { ink, is_solid: false, extents: vec![extent(0.5), extent(last)] },
        Mark::Line { ink, stroke, points: line.to_vec() },
        Mark::Dots { ink: Ink::Series(1), points },
    ];
    let mut legend = vec![
        LegendEntry::new(Ink::Series(1), Swatch::Dot, "a pair of runs"),
        LegendEntry::new(ink, Swatch::Line(stroke), "estimate"),
        LegendEntry::new(ink, Swatch::Spread, format!("its {level} confidence interval")),
    ];
    doubts.write(&mut marks, &mut legend);
    Figure {
        name: format!("pairs.{}.{name}", change.metric),
        title: format!("Pairs: {} of {own} against {baseline}", change.metric),
        caption: caption_of_pairs(&differences, compared, scale) + &of_verdicts(arm) + ".",
        x: Axis::linear("pair, in the order of time", Unit::Number, [0.5, last])
            .within([0.5, last])
            .with_values("1", differences.len().to_string()),
        marks,
        y,
        legend,
        missing: None,
    }
}

/// Returns a clause for the pairs whose gravest verdict is SUSPECT, and another for INVALID: their
/// number and the objecting checks. Each clause begins with a semicolon. Empty if all runs are
/// VALID.
fn of_verdicts(arm: &ArmComparison) -> String {
    let clause = |status: Status| {
        let pairs = || arm.verdicts.iter().filter(|pair| gravest(pair) == status);
        let checks = doubts::checks(pairs().flatten(), status);
        let word = status.verdict();
        match pairs().count() {
            0 => String::new(),
            all if all == arm.verdicts.len() => {
                format!("; every pair has a run that is {word}{checks}")
            }
            1 => format!("; 1 pair has a run that is {word}{checks}"),
            more => format!("; {more} pairs have a run that is {word}{checks}"),
        }
    };
    [Status::Suspect, Status::Invalid].map(clause).concat()
}

/// Returns the caption without its final period.
fn caption_of_pairs(differences: &[f64], compared: &Compared, scale: Scale) -> String {
    let mut text = directions(differences, compared.change, scale);
    let infinite = differences.iter().filter(|it| it.is_infinite()).count();
    if infinite > 0 {
        let lie = if infinite == 1 { "lies" } else { "lie" };
        let pairs = count(infinite as u64, "pair");
        text += &format!("; {pairs} with an infinite change {lie} at an end of the axis");
    }
    if compared.interval.is_some_and(|it| it.low.is_infinite() || it.high.is_infinite()) {
        text += "; an end of the interval is infinite";
    }
    text
}

/// Returns the clause with the number of pairs that changed in the direction of the estimate. An
/// estimate of zero has no direction.
fn directions(differences: &[f64], estimate: f64, scale: Scale) -> String {
    let all = count(differences.len() as u64, "pair");
    if estimate == 0.0 {
        let changed = differences.iter().filter(|it| **it != 0.0 && !it.is_nan()).count();
        return format!("{changed} of {all} changed; the estimate is no change");
    }
    let same = differences.iter().filter(|it| **it * estimate > 0.0).count();
    let estimate = sentence::signed(estimate, scale);
    format!("{same} of {all} changed in the direction of the estimate, {estimate}")
}

#[cfg(test)]
mod tests {
    use analyze::CheckKind;
    use analyze::compare::{ChangeInterval, RunVerdict, SampleValues};
    use workload::question::RunMetric;

    use super::super::super::fixtures::{comparison, experiment};
    use super::*;

    fn pairs(comparison: &Comparison) -> Figure {
        let arms = experiment().arms;
        let comparisons = vec![(None, comparison)];
        figures(&Subject { arms: &arms, comparisons, limits: &[], missing: "" }).remove(1)
    }

    fn effects_of(comparison: &Comparison) -> Figure {
        let arms = experiment().arms;
        let comparisons = vec![(None, comparison)];
        figures(&Subject { arms: &arms, comparisons, limits: &[], missing: "" }).remove(0)
    }

    fn names(figure: &Figure) -> Vec<String> {
        figure.y.ticks.iter().map(|tick| tick.label.replace('\n', " ")).collect()
    }

    /// Adds the change of a metric that was not declared.
    fn explore(comparison: &mut Comparison, metric: &str, change: f64) {
        let mut other = comparison.arms[0].changes[0].clone();
        other.metric = RunMetric::parse(metric).unwrap();
        other.is_exploratory = true;
        let compared = other.compared.as_mut().unwrap();
        compared.change = change;
        compared.interval = Some(ChangeInterval { low: change - 0.003, high: change + 0.003 });
        comparison.arms[0].changes.push(other);
    }

    #[test]
    fn response_times_of_a_declared_job_are_hollow_below_the_declared_metrics() {
        let mut comparison = comparison(-0.1);
        let all = ["service.p99(read)", "response.p50(read)", "response.p99(write)"];
        all.into_iter().for_each(|metric| explore(&mut comparison, metric, 0.02));
        explore(&mut comparison, "response.p99(read)", 20.67);
        let figure = effects_of(&comparison);
        assert_eq!(
            names(&figure),
            ["throughput(read)", "response.p50(read)", "response.p99(read)"]
        );
        assert!(figure.x.to < 1.0, "{:?}", figure.x);
        let hollow = figure.marks.iter().find_map(|mark| match mark {
            Mark::Symbols { symbol: Symbol::HollowDisc, points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(hollow, Some(vec![Point { x: 0.02, y: 1.0 }]));
        let text = "+2,067 % (+2,067 … +2,067 %)";
        let is_text = |mark: &Mark| {
            // The text is above the range; the label of the smallest change that matters is below
            // it.
            matches!(mark, Mark::Text { text: it, is_below: false, .. } if it == text)
        };
        assert!(figure.marks.iter().any(is_text), "{:?}", figure.marks);
        assert_eq!(
            figure.caption,
            "1 of 1 declared change lies outside the grey range of changes that are too small to \
             matter; an arrow leads beyond the axis: response.p99(read)."
        );
        // Undeclared metrics have no figure of pairs.
        let arms = experiment().arms;
        let comparisons = vec![(None, &comparison)];
        let all = figures(&Subject { arms: &arms, comparisons, limits: &[], missing: "" });
        assert_eq!(all.len(), 2);
        // Undeclared metrics are left out at the points of a sweep, which have too many effects.
        let comparisons = vec![(Some("4"), &comparison)];
        let at_point = &figures(&Subject { arms: &arms, comparisons, limits: &[], missing: "" })[0];
        assert_eq!(names(at_point), ["throughput(read) at 4"]);
    }

    #[test]
    fn caption_and_legend_name_the_different_levels_of_the_intervals() {
        let mut comparison = comparison(-0.1);
        explore(&mut comparison, "response.p50(read)", 0.02);
        let [declared, other] = &mut comparison.arms[0].changes[..] else { panic!("two") };
        (declared.alpha, other.alpha) = (0.05 / 3.0, 0.05);
        let figure = effects_of(&comparison);
        let words = "; each declared interval has a confidence of 98.3 %, a hollow one 95 %.";
        assert!(figure.caption.ends_with(words), "{}", figure.caption);
        let texts: Vec<&str> = figure.legend.iter().map(|entry| entry.text.as_str()).collect();
        assert!(texts.contains(&"98.3 % confidence interval around the estimate"), "{texts:?}");
        assert!(texts.contains(&"not declared, its 95 % interval"), "{texts:?}");
    }

    #[test]
    fn arm_and_point_are_on_a_second_line_and_points_of_percent_are_named() {
        let mut comparison = comparison(-0.1);
        let mut arms = experiment().arms;
        arms.push(arms[1].clone());
        comparison.arms[0].changes[0].metric = RunMetric::parse("failed(read)").unwrap();
        let comparisons = vec![(Some("4"), &comparison)];
        let figure = &figures(&Subject { arms: &arms, comparisons, limits: &[], missing: "" })[0];
        assert_eq!(figure.y.ticks[0].label, "failed(read) in points\nof tls at 4");
        assert_eq!(pairs(&comparison).y.title, "change within the pair, in points");
        let smallest = figure.marks.iter().find_map(|mark| match mark {
            Mark::Text { text, is_below: true, .. } => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(smallest, Some("±1 points"));
    }

    #[test]
    fn caption_counts_the_effects_that_are_not_drawn() {
        let end = |all: usize| {
            let mut comparison = comparison(-0.1);
            let first = comparison.arms[0].changes[0].clone();
            comparison.arms[0].changes = vec![first; all];
            let caption = effects_of(&comparison).caption;
            caption.rsplit_once("to matter").unwrap().1.to_owned()
        };
        assert_eq!(end(MOST_EFFECTS), ".");
        assert_eq!(end(MOST_EFFECTS + 1), "; 1 more is in the tables.");
        assert_eq!(end(MOST_EFFECTS + 2), "; 2 more are in the tables.");
    }

    #[test]
    fn metrics_without_a_declared_one_are_not_drawn() {
        let mut comparison = comparison(-0.1);
        explore(&mut comparison, "response.p99(read)", 0.02);
        comparison.arms[0].changes.remove(0);
        let figure = effects_of(&comparison);
        assert_eq!(figure.missing.as_deref(), Some("No declared metric could be compared."));
    }

    #[test]
    fn bet_beyond_the_axis_is_open_and_named() {
        let mut comparison = comparison(0.02);
        let bet = Bet::parse("throughput(read) +50% .. +250%").unwrap();
        comparison.arms[0].changes[0].bets.push((bet, None));
        let figure = effects_of(&comparison);
        assert!(figure.x.to < 0.5, "{:?}", figure.x);
        let words = "; an arrow leads beyond the axis: the bet on throughput(read).";
        assert!(figure.caption.ends_with(words), "{}", figure.caption);
        let ranges = figure.marks.iter().find_map(|mark| match mark {
            Mark::Ranges { ink: Ink::Series(2), extents } => Some(extents[0].high),
            _ => None,
        });
        assert_eq!(ranges, Some(2.5), "the painter makes an arrow of it");
    }

    /// Returns a comparison with two declared changes: throughput by −10 %, and the longest
    /// response time by +1,249 % (+438 to +3,280 %).
    fn with_large_change() -> Comparison {
        let mut comparison = comparison(-0.1);
        explore(&mut comparison, "response.max(read)", 12.49);
        let large = &mut comparison.arms[0].changes[1];
        large.is_exploratory = false;
        large.compared.as_mut().unwrap().interval = Some(ChangeInterval { low: 4.38, high: 32.8 });
        comparison
    }

    #[test]
    fn large_change_leaves_room_for_the_others() {
        let figure = effects_of(&with_large_change());
        let place = |change: f64| figure.x.place(change).unwrap();
        assert!(place(0.0) - place(-0.1) > 0.02, "{:?}", figure.x);
        let [below, above] = [place(12.49) - place(4.38), place(32.8) - place(12.49)];
        assert!((below - above).abs() < 0.01, "the interval is symmetric: {:?}", figure.x);
        assert_eq!(figure.x.title, "change against the baseline, logarithmic");
        assert_eq!(
            figure.caption,
            "2 of 2 declared changes lie outside the grey range of changes that are too small to \
             matter; equal ratios have equal lengths on the axis."
        );
    }

    #[test]
    fn large_change_that_was_not_declared_does_not_change_the_axis() {
        let mut comparison = with_large_change();
        comparison.arms[0].changes[1].is_exploratory = true;
        comparison.arms[0].changes[1].metric = RunMetric::parse("response.p99(read)").unwrap();
        let figure = effects_of(&comparison);
        assert_eq!(figure.x.title, "change against the baseline");
        assert!(figure.x.to < 1.0, "{:?}", figure.x);
    }

    #[test]
    fn bets_have_room_by_ratios_beside_a_large_change() {
        let mut comparison = with_large_change();
        let bets = ["throughput(read) -99% .. -5%", "response.max(read) +10% .. +1000000%"];
        for (change, bet) in comparison.arms[0].changes.iter_mut().zip(bets) {
            change.bets.push((Bet::parse(bet).unwrap(), None));
        }
        let figure = effects_of(&comparison);
        assert!(figure.x.has(-0.98) && figure.x.to < 20_000.0, "{:?}", figure.x);
        let words = "; an arrow leads beyond the axis: the bet on response.max(read).";
        assert!(figure.caption.ends_with(words), "{}", figure.caption);
    }

    #[test]
    fn pairs_with_a_large_change_are_on_an_axis_of_ratios() {
        let mut comparison = with_large_change();
        comparison.arms[0].changes.remove(0);
        let SampleValues::Pairs(all) = &mut compared(&mut comparison).values else {
            panic!("pairs");
        };
        let ratios = [0.5, 2.0, 8.0, 20.0, 30.0, 0.0];
        all.iter_mut().zip(ratios).for_each(|(pair, ratio)| pair.arm = ratio * pair.baseline);
        let figure = pairs(&comparison);
        let place = |change: f64| figure.y.place(change).unwrap();
        let doublings = place(1.0) - place(0.0) - (place(0.0) - place(-0.5));
        assert!(doublings.abs() < 1e-9, "{:?}", figure.y);
        let lowest = figure.marks.iter().find_map(|mark| match mark {
            Mark::Dots { points, .. } => Some(points[5].y),
            _ => None,
        });
        assert_eq!(lowest, Some(figure.y.from), "a pair whose arm has 0 is at the end");
    }

    fn compared(comparison: &mut Comparison) -> &mut Compared {
        comparison.arms[0].changes[0].compared.as_mut().unwrap()
    }

    #[track_caller]
    fn check(comparison: &Comparison, caption: &str) -> Figure {
        let figure = pairs(comparison);
        assert!(
            figure.y.from > -1.0 && figure.y.to < 1.0 && figure.y.ticks.len() < 20,
            "{figure:?}"
        );
        assert_eq!(figure.caption, caption);
        figure
    }

    #[test]
    fn pair_with_a_suspect_run_is_struck_through_and_counted() {
        let mut comparison = comparison(-0.1);
        let suspect = RunVerdict::new([(CheckKind::Drift, Status::Suspect)]);
        let invalid = RunVerdict::new([(CheckKind::Errors, Status::Invalid)]);
        let verdicts = &mut comparison.arms[0].verdicts;
        (verdicts[1][0], verdicts[4][1]) = (suspect.clone(), suspect.clone());
        verdicts[5] = [suspect, invalid];
        let words = "6 of 6 pairs changed in the direction of the estimate, −10.0 %; 2 pairs have \
                     a run that is SUSPECT (drift); 1 pair has a run that is INVALID (errors).";
        let figure = check(&comparison, words);
        let of = |wanted: Symbol| {
            let points = figure.marks.iter().find_map(|mark| match mark {
                Mark::Symbols { symbol, points, .. } if *symbol == wanted => Some(points),
                _ => None,
            });
            points.unwrap().iter().map(|point| point.x).collect::<Vec<f64>>()
        };
        assert_eq!((of(Symbol::Slash), of(Symbol::Cross)), (vec![2.0, 5.0], vec![6.0]));
        let legend: Vec<&str> = figure.legend.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(legend[3..], ["a run is SUSPECT", "a run is INVALID"]);
    }

    #[test]
    fn unchanged_pairs_have_no_direction() {
        let mut comparison = comparison(-0.1);
        let SampleValues::Pairs(all) = &mut compared(&mut comparison).values else {
            panic!("pairs");
        };
        all[..4].iter_mut().for_each(|pair| pair.arm = pair.baseline);
        let words = "2 of 6 pairs changed in the direction of the estimate, −10.0 %.";
        check(&comparison, words);
        let found = compared(&mut comparison);
        (found.change, found.interval) = (0.0, None);
        check(&comparison, "2 of 6 pairs changed; the estimate is no change.");
    }

    #[test]
    fn infinite_end_of_an_interval_is_drawn_at_the_end_of_the_axis() {
        let mut comparison = comparison(-0.1);
        let words = "6 of 6 pairs changed in the direction of the estimate, −10.0 %";
        check(&comparison, &format!("{words}."));
        compared(&mut comparison).interval =
            Some(ChangeInterval { low: -0.2, high: f64::INFINITY });
        let figure = check(&comparison, &format!("{words}; an end of the interval is infinite."));
        let band = figure.marks.iter().find_map(|mark| match mark {
            Mark::Band { extents, .. } => Some((extents[0].low, extents[0].high)),
            _ => None,
        });
        assert_eq!(band, Some((-0.2, figure.y.to)));
    }

    #[test]
    fn pair_of_infinite_change_is_drawn_at_the_end_of_the_axis_and_counted() {
        let mut comparison = comparison(-0.1);
        let SampleValues::Pairs(pairs) = &mut compared(&mut comparison).values else {
            panic!("pairs");
        };
        pairs[2].baseline = 0.0;
        let words = "5 of 6 pairs changed in the direction of the estimate, −10.0 %; 1 pair with \
                     an infinite change lies at an end of the axis.";
        let figure = check(&comparison, words);
        let points = figure.marks.iter().find_map(|mark| match mark {
            Mark::Dots { points, .. } => Some(points.clone()),
            _ => None,
        });
        assert!((points.unwrap()[2].y - figure.y.to).abs() < 1e-9, "{:?}", figure.y);
    }
}
