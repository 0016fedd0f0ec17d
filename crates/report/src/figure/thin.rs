//! Thinning: a long series is divided into parts, and each part is reduced to its least, mean and
//! greatest value.

use super::mark::{Extent, Point};

/// Maximum number of points of a series.
pub const MOST_POINTS: usize = 720;

/// Maximum number of series of a figure.
pub const MOST_SERIES: usize = 40;

/// A series with a limited number of points.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinnedSeries {
    /// Means of the parts, or the points themselves if there are few.
    pub means: Vec<Point>,
    /// Least and greatest value of each part; empty if every point is shown and represents a single
    /// value.
    pub spread: Vec<Extent>,
}

/// Reduces a series to at most [`MOST_POINTS`] points.
pub fn thin_series(points: &[Point]) -> ThinnedSeries {
    thin_series_to(points, &[], MOST_POINTS)
}

/// Reduces a series to at most `most` points. Parts have equal lengths on the axis, and missing
/// values are ignored. `extents` are the extents of the points, if each point represents several
/// values.
pub(crate) fn thin_series_to(points: &[Point], extents: &[Extent], most: usize) -> ThinnedSeries {
    if points.len() <= most {
        let has_spread = extents.iter().any(|extent| extent.low < extent.high);
        let spread = if has_spread { extents.to_vec() } else { Vec::new() };
        return ThinnedSeries { means: points.to_vec(), spread };
    }
    let part = part_of(points, most);
    let weights = weights(points);
    let mut begin = 0;
    let parts = points.chunk_by(|one, next| part(one) == part(next)).map(|of_part| {
        let places = begin..begin + of_part.len();
        begin = places.end;
        mean_and_extent(of_part, &weights[places.clone()], extents.get(places).unwrap_or_default())
    });
    let (means, spread) = parts.unzip();
    ThinnedSeries { means, spread }
}

/// Returns a function from a point to the number of its part. All parts have the same length on the
/// axis, and there are at most `most` parts.
fn part_of(points: &[Point], most: usize) -> impl Fn(&Point) -> u64 {
    let size = points.len().div_ceil(most) as f64;
    let [first, last] = [points.first(), points.last()].map(|it| it.map_or(0.0, |it| it.x));
    let spacing = (last - first) / (points.len() as f64 - 1.0);
    move |point| (((point.x - first) / spacing + 0.5) / size) as u64
}

/// Returns the weight of each point: half of the distance between its neighbours. For the first and
/// the last point, it is the distance to the only neighbour.
fn weights(points: &[Point]) -> Vec<f64> {
    let last = points.len() - 1;
    let weight = |place: usize| {
        let (before, after) = (place.saturating_sub(1), (place + 1).min(last));
        (points[after].x - points[before].x) / (after - before) as f64
    };
    (0..=last).map(weight).collect()
}

fn mean_and_extent(points: &[Point], weights: &[f64], extents: &[Extent]) -> (Point, Extent) {
    let mut sum = Sums::default();
    let (mut low, mut high) = (f64::NAN, f64::NAN);
    for (place, (point, weight)) in points.iter().zip(weights).enumerate() {
        sum.x += weight * point.x;
        sum.weight += weight;
        if !point.y.is_nan() {
            sum.y += weight * point.y;
            sum.known += weight;
        }
        let extent = extents.get(place);
        low = low.min(extent.map_or(point.y, |extent| extent.low));
        high = high.max(extent.map_or(point.y, |extent| extent.high));
    }
    let (x, y) = (sum.x / sum.weight, sum.y / sum.known);
    (Point { x, y }, Extent { at: x, low, high })
}

/// Weighted sums over the points of a part.
#[derive(Default)]
struct Sums {
    x: f64,
    weight: f64,
    y: f64,
    /// Weight of the points whose value is known.
    known: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: impl IntoIterator<Item = f64>) -> Vec<Point> {
        values.into_iter().enumerate().map(|(n, y)| Point { x: n as f64, y }).collect()
    }

    #[test]
    fn short_series_is_shown_whole() {
        let points = series([1.0, 2.0]);
        assert_eq!(thin_series(&points), ThinnedSeries { means: points, spread: Vec::new() });
    }

    #[test]
    fn extremes_survive_thinning() {
        let mut points = series((0..7_200).map(|_| 5.0));
        points[3_001].y = 900.0;
        points[3_002].y = 0.5;
        points[40].y = f64::NAN;
        let ThinnedSeries { means, spread } = thin_series(&points);
        assert_eq!((means.len(), spread.len()), (720, 720));
        let highest = spread.iter().map(|it| it.high).fold(0.0, f64::max);
        let lowest = spread.iter().map(|it| it.low).fold(f64::INFINITY, f64::min);
        assert_eq!((lowest, highest), (0.5, 900.0));
        assert_eq!(means[4].y, 5.0, "a missing value is no zero");
    }

    #[test]
    fn parts_are_equally_long_where_points_are_rarer() {
        // A point each second for two hours, a twelfth of the axis, then a point each minute for 22
        // hours.
        let at = |n: u32| f64::from(if n < 7_200 { n } else { 7_200 + 60 * (n - 7_200) });
        let value = |n: u32| if n < 7_200 { 1.0 } else { 2.0 };
        let points: Vec<Point> =
            (0..7_200 + 1_320).map(|n| Point { x: at(n), y: value(n) }).collect();
        let ThinnedSeries { means, .. } = thin_series_to(&points, &[], 120);
        let early = means.iter().filter(|mean| mean.y < 1.5).count();
        assert!(means.len() <= 120 && (9..=11).contains(&early), "{early} of {}", means.len());
        // The mean of the part that has both kinds of points is weighted by time.
        let mixed = means.iter().find(|mean| mean.y > 1.0 && mean.y < 2.0);
        assert!(mixed.is_none_or(|mean| (mean.x - 7_200.0).abs() < 900.0), "{mixed:?}");
    }

    #[test]
    fn extremes_of_points_that_stand_for_several_values_survive() {
        let points = series((0..300).map(|_| 5.0));
        let extent = |point: &Point| Extent { at: point.x, low: 5.0, high: 5.0 };
        let mut extents: Vec<Extent> = points.iter().map(extent).collect();
        assert_eq!(thin_series_to(&points, &extents, 300).spread, []);
        extents[77].high = 9.0;
        assert_eq!(thin_series_to(&points, &extents, 300).spread, extents);
        let ThinnedSeries { means, spread } = thin_series_to(&points, &extents, 30);
        assert_eq!((means.len(), spread[7].high, spread[8].high), (30, 9.0, 5.0));
        assert!(means.iter().all(|mean| mean.y == 5.0));
    }

    #[test]
    fn part_without_values_is_a_gap() {
        let points = series((0..1_440).map(|n| if n < 2 { f64::NAN } else { 1.0 }));
        let ThinnedSeries { means, spread } = thin_series(&points);
        assert!(means[0].y.is_nan() && spread[0].low.is_nan(), "{:?}", spread[0]);
    }
}
