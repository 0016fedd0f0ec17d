//! Thinning: long series are reduced to the least, the mean and the greatest value of each part.

use super::mark::{Extent, Point};

/// Maximum number of points of a series.
pub const MOST_POINTS: usize = 720;

/// Maximum number of series of a figure.
pub const MOST_SERIES: usize = 40;

/// A series with at most [`MOST_POINTS`] points.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned {
    /// Means of the parts, or the points themselves if there are few.
    pub means: Vec<Point>,
    /// Least and greatest value of each part; empty if every point is shown.
    pub spread: Vec<Extent>,
}

/// Reduces a series to [`MOST_POINTS`].
pub fn thinned(points: &[Point]) -> Thinned {
    thinned_to(points, MOST_POINTS)
}

/// Reduces a series to `most` points. Parts have equal numbers of points, and missing values count
/// as none.
pub(crate) fn thinned_to(points: &[Point], most: usize) -> Thinned {
    if points.len() <= most {
        return Thinned { means: points.to_vec(), spread: Vec::new() };
    }
    let size = points.len().div_ceil(most);
    let parts = points.chunks(size).map(|part| {
        let values: Vec<f64> = part.iter().map(|it| it.y).filter(|y| !y.is_nan()).collect();
        let x = part.iter().map(|it| it.x).sum::<f64>() / part.len() as f64;
        let fold = |of: fn(f64, f64) -> f64| values.iter().copied().fold(f64::NAN, of);
        let mean = match values.len() {
            0 => f64::NAN,
            count => values.iter().sum::<f64>() / count as f64,
        };
        (Point { x, y: mean }, Extent { at: x, low: fold(f64::min), high: fold(f64::max) })
    });
    let (means, spread) = parts.unzip();
    Thinned { means, spread }
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
        assert_eq!(thinned(&points), Thinned { means: points, spread: Vec::new() });
    }

    #[test]
    fn extremes_survive_thinning() {
        let mut points = series((0..7_200).map(|_| 5.0));
        points[3_001].y = 900.0;
        points[3_002].y = 0.5;
        points[40].y = f64::NAN;
        let Thinned { means, spread } = thinned(&points);
        assert_eq!((means.len(), spread.len()), (720, 720));
        let highest = spread.iter().map(|it| it.high).fold(0.0, f64::max);
        let lowest = spread.iter().map(|it| it.low).fold(f64::INFINITY, f64::min);
        assert_eq!((lowest, highest), (0.5, 900.0));
        assert_eq!(means[4].y, 5.0, "a missing value is no zero");
    }

    #[test]
    fn part_without_values_is_a_gap() {
        let points = series((0..1_440).map(|n| if n < 2 { f64::NAN } else { 1.0 }));
        let Thinned { means, spread } = thinned(&points);
        assert!(means[0].y.is_nan() && spread[0].low.is_nan(), "{:?}", spread[0]);
    }
}
