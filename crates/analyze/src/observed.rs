//! A series of observed values.

use std::ops::Range;

use base::Nanos;
use record::Metric;

/// A series of observed values.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Observed component: `host`, `generator`, a thread.
    pub component: String,
    /// Name of the metric within the component.
    pub metric: String,
    /// Readings in order: time since time zero, and value.
    pub points: Vec<(Nanos, f64)>,
}

impl Observed {
    /// Returns true if these are the values of a metric.
    pub fn is(&self, metric: Metric) -> bool {
        self.metric == metric.name
    }

    /// Returns the growth in the window, from the last reading not after its start to the first not
    /// before its end, or the nearest ones. `None` if there are not two readings.
    pub fn growth(&self, window: &Range<Nanos>) -> Option<Growth> {
        let before = self.points.iter().rev().find(|(at, _)| *at <= window.start);
        let first = before.or(self.points.first())?;
        let last = self.points.iter().find(|(at, _)| *at >= window.end).or(self.points.last())?;
        let span = last.0.saturating_sub(first.0);
        (span > Nanos::ZERO).then_some(Growth { by: last.1 - first.1, span })
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
    pub(crate) fn and(self, other: Growth) -> Growth {
        Growth { by: self.by + other.by, span: self.span + other.span }
    }
}
