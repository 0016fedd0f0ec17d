//! Readings of observed components: the series of one place, and the growth of counters.

use std::collections::BTreeMap;

use analyze::Observed;
use base::Nanos;
use record::{ComponentKind, ObservedComponent, ObservedMetric};

use super::subject::{FigureTexts, highest};
use crate::figure::{
    Extent, Ink, LegendEntry, Mark, Point, Stroke, Swatch, ThinnedSeries, thin_series_to,
    with_clause,
};

/// Maximum number of points in a series of readings: the figures of a whole machine have many
/// series.
const MOST_POINTS: usize = 120;

/// Maximum number of places with figures of their own, such as other machines or targets.
const MOST_PLACES: usize = 4;

/// Series by place and key. A place is the name of a machine or of a target; `None` stands for the
/// load generator's machine and the main target.
pub(super) type Places<'a, K> = BTreeMap<Option<String>, BTreeMap<K, Vec<&'a Observed>>>;

/// Returns the series of the components for whose kind `key` returns a key, in at most
/// [`MOST_PLACES`] places: the main place if it was observed, and the first of the others by name.
pub(super) fn by_place<K: Ord>(
    observed: &[Observed],
    key: impl Fn(ComponentKind) -> Option<K>,
) -> Places<'_, K> {
    let mut places: Places<'_, K> = BTreeMap::new();
    for observed in observed {
        let Some(component) = ObservedComponent::parse(&observed.component) else { continue };
        let Some(key) = key(component.kind) else { continue };
        places.entry(component.place).or_default().entry(key).or_default().push(observed);
    }
    // The main place sorts before all others.
    if let Some(beyond) = places.keys().nth(MOST_PLACES).cloned() {
        let _ = places.split_off(&beyond);
    }
    places
}

/// Returns the series of a metric; `None` if it was not recorded.
pub(super) fn of_metric<'a>(
    series: &[&'a Observed],
    metric: ObservedMetric,
) -> Option<&'a Observed> {
    series.iter().copied().find(|it| it.has_metric(metric))
}

/// The growth of a counter per second.
pub(super) struct Rates {
    /// The growth per second between readings; NaN where it is unknown.
    pub(super) points: Vec<Point>,
    /// The extremes at each point, if readings represent several samples; otherwise empty.
    pub(super) extents: Vec<Extent>,
    /// The growth per second over all periods for which it is known; 0 if there are none.
    pub(super) mean: f64,
}

/// Clause for the caption of a figure whose points represent several samples.
const MERGED_SAMPLES: &str =
    "beyond two hours a point stands for several samples, and bands show their extremes";

/// Returns the caption of a figure, with a clause if its readings represent several samples.
pub(super) fn caption_of_readings<'r>(
    caption: String,
    mut rates: impl Iterator<Item = &'r Rates>,
) -> String {
    match rates.any(|rates| !rates.extents.is_empty()) {
        true => with_clause(&caption, MERGED_SAMPLES),
        false => caption,
    }
}

/// Returns the growth of a counter per second, with the extremes between its samples.
pub(super) fn rates_of(observed: &Observed) -> Rates {
    let mut rates = rates(&observed.points);
    if observed.ranges.is_empty() {
        return rates;
    }
    let readings = without_short_periods(&observed.points, |(at, _)| *at);
    let pairs = readings.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    let extent = |(pair, point): (&[(Nanos, f64)], &Point)| {
        let range = observed.range_at(pair[1].0);
        let [low, high] = range.map_or([point.y; 2], |range| [range.least, range.most]);
        Extent { at: point.x, low, high }
    };
    rates.extents = pairs.zip(&rates.points).map(extent).collect();
    rates
}

/// Returns the growth per second between readings, over periods that are long enough. A counter
/// that shrinks was reset, so its growth in that period is unknown.
pub(super) fn rates(readings: &[(Nanos, f64)]) -> Rates {
    let (mut points, mut growth, mut time) = (Vec::new(), 0.0, 0.0);
    for pair in without_short_periods(readings, |(at, _)| *at).windows(2) {
        let [from, to] = [pair[0].0, pair[1].0].map(|at| at.as_secs_f64());
        if to <= from {
            continue;
        }
        let grown = pair[1].1 - pair[0].1;
        let is_known = grown >= 0.0 && grown.is_finite();
        if is_known {
            growth += grown;
            time += to - from;
        }
        let y = if is_known { grown / (to - from) } else { f64::NAN };
        points.push(Point { x: (from + to) / 2.0, y });
    }
    let mean = if time > 0.0 { growth / time } else { 0.0 };
    Rates { points, extents: Vec::new(), mean }
}

/// Fraction of a usual period below which a period is too short for a rate. The usual period is the
/// shorter of the previous and the median period.
///
/// Counters grow in jumps (ticks of a hundredth of a second, the whole time of a process that
/// ended), and the last reading of an observation comes right after the one before it.
const SHORTEST_PERIOD: f64 = 0.5;

/// Returns the readings without those that end a period that is too short. A period is compared
/// with the previous period (the first with the next one) and with the median. A period that is too
/// short becomes part of the next period or, if it is the last one, of the previous period.
pub(super) fn without_short_periods<T: Copy>(readings: &[T], at: impl Fn(&T) -> Nanos) -> Vec<T> {
    let length = |pair: &[T]| at(&pair[1]).saturating_sub(at(&pair[0])).0 as f64;
    let lengths: Vec<f64> = readings.windows(2).map(length).collect();
    let mut sorted = lengths.clone();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let is_short = |place: usize| {
        let neighbour = if place == 0 { lengths.get(1) } else { lengths.get(place - 1) };
        neighbour.is_some_and(|neighbour| lengths[place] < SHORTEST_PERIOD * neighbour.min(median))
    };
    let mut kept: Vec<T> = readings.first().copied().into_iter().collect();
    for (place, reading) in readings.iter().skip(1).enumerate() {
        let is_last = place + 1 == lengths.len();
        if is_last && is_short(place) && kept.len() > 1 {
            kept.pop();
        }
        if is_last || !is_short(place) {
            kept.push(*reading);
        }
    }
    kept
}

/// Returns the boundaries of at most `most` periods between readings that are not too short: the
/// first reading, the readings that divide the time most equally, and the last reading. If readings
/// are equally far apart, every n-th reading is returned.
pub(super) fn ends<T: Copy>(readings: &[T], most: usize, at: impl Fn(&T) -> Nanos) -> Vec<T> {
    let readings = without_short_periods(readings, &at);
    let [Some(first), Some(last)] = [readings.first(), readings.last()] else { return Vec::new() };
    let periods = readings.len() - 1;
    let size = periods.div_ceil(most).max(1);
    let span = at(last).saturating_sub(at(first)).0 as f64;
    let mut ends = vec![*first];
    let mut place = 0;
    for number in 1..periods.div_ceil(size) {
        let target = at(first) + Nanos((span * (number * size) as f64 / periods as f64) as u64);
        let behind = readings.partition_point(|reading| at(reading) < target).min(periods);
        let [before, after] = [behind.saturating_sub(1), behind].map(|it| at(&readings[it]));
        let is_nearer = target.saturating_sub(before) < after.saturating_sub(target);
        let nearest = if is_nearer { behind - 1 } else { behind };
        if nearest > place && nearest < periods {
            place = nearest;
            ends.push(readings[place]);
        }
    }
    ends.extend((periods > 0).then_some(*last));
    ends
}

/// Returns the name, the heading and the caption of a figure. If `place` names a machine or target,
/// this name is appended to the name and the heading.
pub(super) fn figure_texts(
    name: &str,
    title: &str,
    place: Option<&str>,
    caption: String,
) -> FigureTexts {
    let (name, title) = match place {
        Some(place) => (format!("{name}.{place}"), format!("{title}: {place}")),
        None => (name.to_owned(), title.to_owned()),
    };
    FigureTexts { name, title, caption }
}

/// A line of a figure.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) ink: Ink,
    pub(super) stroke: Stroke,
    pub(super) points: Vec<Point>,
    /// The extremes at each point; empty if each point represents a single value.
    pub(super) extents: Vec<Extent>,
}

/// Adds lines with their spreads to a figure, and returns the highest value. Observation continues
/// until the last request is answered: samples beyond the end of the axis are left out.
pub(super) fn draw(
    series: impl IntoIterator<Item = Series>,
    end: f64,
    marks: &mut Vec<Mark>,
    legend: &mut Vec<LegendEntry>,
) -> f64 {
    let mut most = 0.0f64;
    for Series { name, ink, stroke, mut points, mut extents } in series {
        points.retain(|point| point.x <= end);
        extents.retain(|extent| extent.at <= end);
        let highs = extents.iter().map(|extent| extent.high);
        most = most.max(highest(points.iter().map(|point| point.y).chain(highs)));
        let ThinnedSeries { means, spread } = thin_series_to(&points, &extents, MOST_POINTS);
        marks.push(Mark::Band { ink, is_solid: false, extents: spread });
        marks.push(Mark::Line { ink, stroke, points: means });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), name));
    }
    most
}

#[cfg(test)]
mod tests {
    use record::SampleRange;

    use super::*;

    #[test]
    fn readings_beyond_the_axis_are_not_drawn() {
        let point = |x: f64| Point { x, y: x };
        let series = Series {
            name: "disk".to_owned(),
            ink: Ink::Series(0),
            stroke: Stroke::Solid,
            points: vec![point(1.0), point(2.0), point(3.5), point(9.0)],
            extents: Vec::new(),
        };
        let (mut marks, mut legend) = (Vec::new(), Vec::new());
        let most = draw([series], 3.0, &mut marks, &mut legend);
        assert_eq!(most, 2.0);
        let Some(Mark::Line { points, .. }) = marks.last() else { panic!("{marks:?}") };
        assert_eq!(points, &[point(1.0), point(2.0)]);
    }

    #[test]
    fn main_place_is_shown_among_many_others() {
        let observed = |component: &str| Observed {
            component: component.to_owned(),
            metric: String::new(),
            points: Vec::new(),
            ranges: Vec::new(),
        };
        let components = ["db1/disk a", "db2/disk a", "db3/disk a", "db4/disk a", "disk a", "host"];
        let all = components.map(observed);
        let key = |kind| matches!(kind, ComponentKind::Disk(_)).then_some(());
        let places: Vec<Option<String>> = by_place(&all, key).into_keys().collect();
        let expected = [None, Some("db1"), Some("db2"), Some("db3")];
        assert_eq!(places, expected.map(|place| place.map(str::to_owned)));
    }

    #[test]
    fn counter_that_is_reset_leaves_a_gap() {
        let at = |second| Nanos::from_secs(second);
        let Rates { points, .. } =
            rates(&[(at(0), 1.0), (at(2), 2.0), (at(3), 0.1), (at(3), 0.1), (at(4), 0.2)]);
        let values: Vec<f64> = points.iter().map(|it| it.y).collect();
        assert!(values[0] == 0.5 && values[1].is_nan(), "{values:?}");
        assert_eq!(values.len(), 3, "two readings at one time have no rate");
    }

    #[test]
    fn short_period_is_a_part_of_its_neighbour() {
        let at = |(ms, used): &(u64, f64)| (Nanos::from_millis(*ms), *used);
        let rates = |readings: &[(u64, f64)]| {
            let all = rates(&readings.iter().map(at).collect::<Vec<_>>());
            let values: Vec<f64> = all.points.iter().map(|it| (it.y * 1e3).round()).collect();
            (values, (all.mean * 1e3).round())
        };
        // The processes of a database of two processors; most of them end with the run.
        let last = [(0, 0.0), (1_000, 1.3), (2_000, 2.6), (3_000, 3.9), (3_030, 4.035)];
        assert_eq!(rates(&last), (vec![1_300.0, 1_300.0, 1_393.0], 1_332.0));
        let first = [(0, 0.0), (30, 0.135), (1_030, 1.435), (2_030, 2.735)];
        assert_eq!(rates(&first), (vec![1_393.0, 1_300.0], 1_347.0));
        let within = [(0, 0.0), (1_000, 1.0), (1_010, 1.2), (2_000, 2.0), (3_000, 3.0)];
        assert_eq!(rates(&within), (vec![1_000.0; 3], 1_000.0));
        let twice = [(0, 0.0), (10, 0.5), (20, 0.5)];
        assert_eq!(
            rates(&twice),
            (vec![50_000.0, 0.0], 25_000.0),
            "they are as long as the median"
        );
        assert_eq!(rates(&[(0, 0.0), (1_000, 1.0)]), (vec![1_000.0], 1_000.0));
    }

    #[test]
    fn mean_of_rates_counts_a_gap_between_readings_by_its_length() {
        let at = |second| Nanos::from_secs(second);
        let readings = [(at(0), 0.0), (at(1), 10.0), (at(2), 20.0), (at(12), 20.0)];
        assert_eq!(rates(&readings).mean, 20.0 / 12.0);
        // The counter was reset in the last second.
        assert_eq!(rates(&[&readings[..], &[(at(13), 5.0)]].concat()).mean, 20.0 / 12.0);
        assert_eq!(rates(&readings[..1]).mean, 0.0);
    }

    #[test]
    fn periods_reach_to_the_last_reading() {
        for (readings, most, expected) in [
            (0, 3, &[][..]),
            (1, 3, &[0]),
            (4, 3, &[0, 1, 2, 3]),
            (5, 3, &[0, 2, 4]),
            (6, 3, &[0, 2, 4, 5]),
        ] {
            let all: Vec<u64> = (0..readings).collect();
            let found = ends(&all, most, |second| Nanos::from_secs(*second));
            assert_eq!(found, expected, "{readings}");
        }
        let short: Vec<Nanos> = [0, 1_000, 2_000, 3_000, 3_030].map(Nanos::from_millis).into();
        let found = ends(&short, 120, |at| *at);
        assert_eq!(found, [0, 1_000, 2_000, 3_030].map(Nanos::from_millis));
    }

    #[test]
    fn periods_are_equally_long_where_readings_are_rarer() {
        let all: Vec<u64> = (0..100).chain((100..=1_000).step_by(50)).collect();
        let found = ends(&all, 10, |second| Nanos::from_secs(*second));
        assert_eq!(found, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
    }

    #[test]
    fn extremes_of_merged_samples_are_extremes_of_the_growth() {
        let at = |second| Nanos::from_secs(second);
        let range = |second, least, most| SampleRange { at: at(second), samples: 60, least, most };
        let observed = Observed {
            component: "host".to_owned(),
            metric: "busy".to_owned(),
            points: vec![(at(7_198), 0.0), (at(7_199), 1.0), (at(7_200), 2.0), (at(7_260), 32.0)],
            ranges: vec![range(7_260, 0.1, 1.9)],
        };
        let Rates { points, extents, .. } = rates_of(&observed);
        assert_eq!((points[2].x, points[2].y), (7_230.0, 0.5));
        let expected = [(7_198.5, 1.0, 1.0), (7_199.5, 1.0, 1.0), (7_230.0, 0.1, 1.9)];
        let expected = expected.map(|(at, low, high)| Extent { at, low, high });
        assert_eq!(extents, expected);
    }
}
