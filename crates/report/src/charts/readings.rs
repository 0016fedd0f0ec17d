//! Readings of observed components: the series of one place, and the growth of counters.

use std::collections::BTreeMap;

use analyze::{Evidence, Observed};
use base::Nanos;
use record::{Metric, ObservedComponent, Part};

use super::subject::{Words, highest};
use crate::figure::{Ink, LegendEntry, Mark, Point, Stroke, Swatch, Thinned, thinned_to};

/// Most points of a series of readings: the figures of a whole machine have many series.
const MOST_POINTS: usize = 120;

/// Most places with figures of their own, such as other machines or targets.
const MOST_PLACES: usize = 4;

/// The series of one place by part: of the load generator's machine or the main target (`None`), or
/// of the machine or target of this name.
pub(super) type Places<'a, K> = BTreeMap<Option<String>, BTreeMap<K, Vec<&'a Observed>>>;

/// Returns the series of the parts that have a key, in at most [`MOST_PLACES`] places.
pub(super) fn by_place<K: Ord>(
    evidence: &Evidence,
    key: impl Fn(Part) -> Option<K>,
) -> Places<'_, K> {
    let mut places: Places<'_, K> = BTreeMap::new();
    for observed in &evidence.observed {
        let Some(component) = ObservedComponent::parse(&observed.component) else { continue };
        let Some(key) = key(component.part) else { continue };
        if places.len() < MOST_PLACES || places.contains_key(&component.place) {
            places.entry(component.place).or_default().entry(key).or_default().push(observed);
        }
    }
    places
}

/// Returns the series of a metric.
pub(super) fn of_metric<'a>(series: &[&'a Observed], metric: Metric) -> Option<&'a Observed> {
    series.iter().copied().find(|it| it.is(metric))
}

/// Returns the growth per second between readings. One that shrinks was reset: a gap.
pub(super) fn rates(readings: &[(Nanos, f64)]) -> Vec<Point> {
    let rate = |pair: &[(Nanos, f64)]| {
        let [from, to] = [pair[0].0, pair[1].0].map(|at| at.as_secs_f64());
        let growth = pair[1].1 - pair[0].1;
        let y = if growth < 0.0 { f64::NAN } else { growth / (to - from) };
        (to > from).then_some(Point { x: (from + to) / 2.0, y })
    };
    readings.windows(2).filter_map(rate).collect()
}

/// Returns the mean of a series over its values that are numbers; 0 if there are none.
pub(super) fn mean(points: &[Point]) -> f64 {
    let values: Vec<f64> = points.iter().map(|it| it.y).filter(|y| !y.is_nan()).collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
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
    fn counter_that_is_reset_leaves_a_gap() {
        let at = |second| Nanos::from_secs(second);
        let points = rates(&[(at(0), 1.0), (at(2), 2.0), (at(3), 0.1), (at(3), 0.1), (at(4), 0.2)]);
        let values: Vec<f64> = points.iter().map(|it| it.y).collect();
        assert!(values[0] == 0.5 && values[1].is_nan(), "{values:?}");
        assert_eq!(values.len(), 3, "two readings at one time have no rate");
    }
}
