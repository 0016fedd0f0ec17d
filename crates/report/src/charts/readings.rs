//! Readings of observed components: the series of one place, and the growth of counters.

use std::collections::BTreeMap;

use analyze::Observed;
use base::Nanos;
use record::{Metric, ObservedComponent, Part};

use super::subject::{Words, highest};
use crate::figure::{Ink, LegendEntry, Mark, Point, Stroke, Swatch, Thinned, thinned_to};

/// Maximum number of points of a series of readings: the figures of a whole machine have many
/// series.
const MOST_POINTS: usize = 120;

/// Maximum number of places with figures of their own, such as other machines or targets.
const MOST_PLACES: usize = 4;

/// The series of one place by part: of the load generator's machine or the main target (`None`), or
/// of the machine or target of this name.
pub(super) type Places<'a, K> = BTreeMap<Option<String>, BTreeMap<K, Vec<&'a Observed>>>;

/// Returns the series of the parts that have a key, in at most [`MOST_PLACES`] places: the main
/// one, and the first of the others by name.
pub(super) fn by_place<K: Ord>(
    observed: &[Observed],
    key: impl Fn(Part) -> Option<K>,
) -> Places<'_, K> {
    let mut places: Places<'_, K> = BTreeMap::new();
    for observed in observed {
        let Some(component) = ObservedComponent::parse(&observed.component) else { continue };
        let Some(key) = key(component.part) else { continue };
        places.entry(component.place).or_default().entry(key).or_default().push(observed);
    }
    // The main place is the first.
    if let Some(beyond) = places.keys().nth(MOST_PLACES).cloned() {
        let _ = places.split_off(&beyond);
    }
    places
}

/// Returns the series of a metric.
pub(super) fn of_metric<'a>(series: &[&'a Observed], metric: Metric) -> Option<&'a Observed> {
    series.iter().copied().find(|it| it.is(metric))
}

/// The growth of a counter per second.
pub(super) struct Rates {
    /// The growth between readings; not a number at a gap.
    pub(super) points: Vec<Point>,
    /// The growth over all the time without a gap; 0 if there is none.
    pub(super) mean: f64,
}

/// Returns the growth per second between readings. A counter that shrinks was reset, which makes a
/// gap.
pub(super) fn rates(readings: &[(Nanos, f64)]) -> Rates {
    let (mut points, mut growth, mut time) = (Vec::new(), 0.0, 0.0);
    for pair in readings.windows(2) {
        let [from, to] = [pair[0].0, pair[1].0].map(|at| at.as_secs_f64());
        if to <= from {
            continue;
        }
        let grown = pair[1].1 - pair[0].1;
        let is_known = grown >= 0.0;
        if is_known {
            growth += grown;
            time += to - from;
        }
        let y = if is_known { grown / (to - from) } else { f64::NAN };
        points.push(Point { x: (from + to) / 2.0, y });
    }
    Rates { points, mean: if time > 0.0 { growth / time } else { 0.0 } }
}

/// Returns the ends of at most `most` periods between readings: every n-th reading, and the last.
pub(super) fn ends<T: Copy>(readings: &[T], most: usize) -> Vec<T> {
    let periods = readings.len().saturating_sub(1);
    let size = periods.div_ceil(most).max(1);
    let mut ends: Vec<T> = readings.iter().copied().step_by(size).collect();
    if !periods.is_multiple_of(size) {
        ends.extend(readings.last());
    }
    ends
}

/// Name, heading and sentence of a figure of one place: the name of the place is part of the first
/// two.
pub(super) fn words(name: &str, title: &str, place: Option<&str>, caption: String) -> Words {
    let (name, title) = match place {
        Some(place) => (format!("{name}.{place}"), format!("{title}: {place}")),
        None => (name.to_owned(), title.to_owned()),
    };
    Words { name, title, caption }
}

/// A line of a figure.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) ink: Ink,
    pub(super) stroke: Stroke,
    pub(super) points: Vec<Point>,
}

/// Adds lines with their spreads to a figure, and returns the highest value.
pub(super) fn draw(
    series: impl IntoIterator<Item = Series>,
    marks: &mut Vec<Mark>,
    legend: &mut Vec<LegendEntry>,
) -> f64 {
    let mut most = 0.0f64;
    for Series { name, ink, stroke, points } in series {
        most = most.max(highest(points.iter().map(|point| point.y)));
        let Thinned { means, spread } = thinned_to(&points, MOST_POINTS);
        marks.push(Mark::Band { ink, is_solid: false, extents: spread });
        marks.push(Mark::Line { ink, stroke, points: means });
        legend.push(LegendEntry::new(ink, Swatch::Line(stroke), name));
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_place_is_shown_beside_many_others() {
        let observed = |component: &str| Observed {
            component: component.to_owned(),
            metric: String::new(),
            points: Vec::new(),
        };
        let components = ["db1/disk a", "db2/disk a", "db3/disk a", "db4/disk a", "disk a", "host"];
        let all = components.map(observed);
        let key = |part| matches!(part, Part::Disk(_)).then_some(());
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
            assert_eq!(ends(&(0..readings).collect::<Vec<u32>>(), most), expected, "{readings}");
        }
    }
}
