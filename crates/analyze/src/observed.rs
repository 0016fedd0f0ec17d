//! A series of observed values.

use std::ops::Range;

use base::Nanos;
use record::{ObservedMetric, SampleRange};

/// A series of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Observed component: `host`, `generator`, a thread.
    pub component: String,
    /// Name of the metric within the component.
    pub metric: String,
    /// Readings in order: time since time zero, and value. Beyond two hours, a reading summarizes
    /// all samples since the previous reading: the reading is their mean or, for a counter, the
    /// last value.
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

    /// Returns the growth in the window: from the last reading at or before its start to the first
    /// reading at or after its end, or between the nearest readings. `None` if there are fewer than
    /// two readings.
    pub fn growth(&self, window: &Range<Nanos>) -> Option<Growth> {
        let before = self.points.iter().rev().find(|(at, _)| *at <= window.start);
        let first = before.or(self.points.first())?;
        let last = self.points.iter().find(|(at, _)| *at >= window.end).or(self.points.last())?;
        let span = last.0.saturating_sub(first.0);
        (span > Nanos::ZERO).then_some(Growth { by: last.1 - first.1, span })
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
