//! A series of observed values.

use std::ops::Range;

use base::Nanos;
use record::{ObservedMetric, SampleRange};

/// A series of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Name of the observed component, such as `host` or `generator`.
    pub component: String,
    /// Name of the metric within the component.
    pub metric: String,
    /// Readings in order: time since time zero, and value. Beyond two hours, a reading summarizes
    /// all samples since the previous reading: the reading is their mean, for a counter the last
    /// value, and for stalls the longest.
    pub points: Vec<(Nanos, f64)>,
    /// Extremes of the samples that a reading summarizes, in order; a reading whose samples are
    /// equal has none.
    pub ranges: Vec<SampleRange>,
}

impl Observed {
    /// Returns true if these are the values of a metric.
    pub fn has_metric(&self, metric: ObservedMetric) -> bool {
        self.metric == metric.name
    }

    /// Returns the growth in the window. The growth is counted from the last reading at or before
    /// the start of the window or, without one, from the first reading. It is counted up to the
    /// first reading at or after the end of the window or, without one, up to the last reading.
    /// `None` if there are fewer than two readings.
    pub fn growth(&self, window: &Range<Nanos>) -> Option<Growth> {
        let points = self.around(window);
        let (first, last) = (points.first()?, points.last()?);
        let span = last.0.saturating_sub(first.0);
        (span > Nanos::ZERO).then_some(Growth { by: last.1 - first.1, span })
    }

    /// Returns the growth of a counter in the window, between the same readings as
    /// [`Observed::growth`]. A counter that is reset continues, as in [`counter_growth`].
    pub(crate) fn counter_growth(&self, window: &Range<Nanos>) -> Option<Growth> {
        let Growth { span, .. } = self.growth(window)?;
        Some(Growth { by: counter_growth(self.around(window)), span })
    }

    /// Returns the readings that cover a window: from the last reading at or before its start to
    /// the first at or after its end.
    pub(crate) fn around(&self, window: &Range<Nanos>) -> &[(Nanos, f64)] {
        let after = self.points.partition_point(|(at, _)| *at <= window.start);
        let first = after.saturating_sub(1);
        let last = self.points.partition_point(|(at, _)| *at < window.end);
        // A run that ended in its warm-up has a window that ends before it begins.
        self.points.get(first..(last + 1).min(self.points.len())).unwrap_or_default()
    }

    /// Returns the extremes of the samples that the reading at an instant summarizes; `None` for a
    /// single sample, or for equal ones.
    pub fn range_at(&self, at: Nanos) -> Option<&SampleRange> {
        let place = self.ranges.binary_search_by_key(&at, |range| range.at).ok()?;
        self.ranges.get(place)
    }

    /// Returns the readings whose time is in a period, each with its weight: the time in seconds
    /// since the reading before it, or since time zero. The weight is smaller at the ends of an
    /// observation, and larger for readings that summarize many samples.
    pub(crate) fn weighted(&self, within: &Range<Nanos>) -> impl Iterator<Item = (f64, f64)> {
        let first = self.points.partition_point(|(at, _)| *at < within.start);
        let after = self.points.partition_point(|(at, _)| *at < within.end);
        let inside = self.points.get(first..after).unwrap_or_default();
        let before = first.checked_sub(1).map_or(Nanos::ZERO, |before| self.points[before].0);
        let befores = std::iter::once(before).chain(inside.iter().map(|(at, _)| *at));
        befores.zip(inside).map(|(before, (at, value))| {
            (at.saturating_sub(before).as_secs_f64().max(1e-9), *value)
        })
    }

    /// Returns the mean of the readings of a gauge in a period, each weighted by its time; `None`
    /// without readings.
    pub(crate) fn mean(&self, within: &Range<Nanos>) -> Option<f64> {
        let sum =
            |(weights, sum): (f64, f64), (weight, value)| (weights + weight, sum + weight * value);
        let (weights, sum) = self.weighted(within).fold((0.0, 0.0), sum);
        (weights > 0.0).then(|| sum / weights)
    }

    /// Returns the largest sample of a gauge in a period; `None` without samples.
    pub(crate) fn most(&self, within: &Range<Nanos>) -> Option<f64> {
        let inside = self.points.iter().filter(|(at, _)| within.contains(at));
        let most = |(at, value): &(Nanos, f64)| self.range_at(*at).map_or(*value, |it| it.most);
        inside.map(most).reduce(f64::max)
    }
}

/// Returns the growth of a counter over its readings. A counter that is reset restarts from zero;
/// only its growth between the last reading and the reset is lost.
pub(crate) fn counter_growth(readings: &[(Nanos, f64)]) -> f64 {
    let pairs = readings.iter().zip(readings.iter().skip(1));
    pairs.map(|(a, b)| if b.1 >= a.1 { b.1 - a.1 } else { b.1.max(0.0) }).sum()
}

/// Growth of a value over a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Amount of growth.
    pub by: f64,
    /// Length of the period.
    pub span: Nanos,
}

impl Growth {
    /// Adds the growth of a period that follows.
    pub(crate) fn plus(self, other: Growth) -> Growth {
        Growth { by: self.by + other.by, span: self.span + other.span }
    }
}
