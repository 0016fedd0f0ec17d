//! The horizontal positions of the points of a sweep.

use super::super::sweep::SweepView;
use crate::figure::Axis;

/// Distance between the marks of two series at one point, as a fraction of the axis.
const SERIES_DISTANCE: f64 = 0.01;

/// The positions of points on a horizontal axis.
pub(super) struct Positions {
    /// The axis.
    pub(super) axis: Axis,
    /// Indexes of the points, from left to right.
    pub(super) order: Vec<usize>,
    /// The horizontal position of each point, by its index.
    at: Vec<f64>,
}

impl Positions {
    /// Places points by their numbers, or in slots in the order of the file if a value is not a
    /// number or if two values are equal. `reach` is a further number that the axis must include.
    pub(super) fn of(sweep: &SweepView, reach: Option<f64>) -> Positions {
        let Some(at) = numbers(sweep) else { return Positions::in_slots(sweep) };
        let mut order: Vec<usize> = (0..at.len()).collect();
        order.sort_by(|a, b| at[*a].total_cmp(&at[*b]));
        let ticks: Vec<(f64, &str)> =
            order.iter().map(|point| (at[*point], sweep.values[*point].as_str())).collect();
        Positions { axis: Axis::at_values(&sweep.vary, &ticks, reach), order, at }
    }

    /// Places points in slots of the same width, in the order of the file.
    pub(super) fn in_slots(sweep: &SweepView) -> Positions {
        let names: Vec<&str> = sweep.values.iter().map(String::as_str).collect();
        let order: Vec<usize> = (0..names.len()).collect();
        let at = order.iter().map(|point| *point as f64).collect();
        Positions { axis: Axis::slots(&sweep.vary, &names), order, at }
    }

    /// Returns the positions of one of `count` series, shifted to its side of each point.
    pub(super) fn shifted(&self, series: usize, count: usize) -> Positions {
        let at = (0..self.at.len()).map(|point| self.of_series(point, series, count)).collect();
        Positions { axis: self.axis.clone(), order: self.order.clone(), at }
    }

    /// Returns the position of a point for one of several series that are drawn side by side.
    pub(super) fn of_series(&self, point: usize, series: usize, count: usize) -> f64 {
        let steps = series as f64 - (count as f64 - 1.0) / 2.0;
        self.axis.value_at_distance(self.at[point], SERIES_DISTANCE * steps)
    }
}

/// Returns the values of all points as numbers, if all are numbers and no two are equal.
fn numbers(sweep: &SweepView) -> Option<Vec<f64>> {
    let points = &sweep.curves.first()?.points;
    let numbers = points.iter().map(|point| point.x.filter(|x| x.is_finite()));
    let numbers: Vec<f64> = numbers.collect::<Option<Vec<f64>>>()?;
    let mut sorted = numbers.clone();
    sorted.sort_by(f64::total_cmp);
    let are_different = sorted.windows(2).all(|pair| pair[0] < pair[1]);
    (are_different && !numbers.is_empty() && numbers.len() == sweep.values.len()).then_some(numbers)
}
