//! `polygon(hits=80)`: an area of the earth that contains, on average, a given number of a table's
//! points.
//!
//! A regular polygon with n corners and the circumradius R consists of n isosceles triangles with
//! the legs R and the angle γ = 2π/n between them. The spherical excess E of a triangle, which is
//! its area, follows from tan(E/2) = t² sin γ / (1 + t² cos γ) with t = tan(R/2) (Todhunter:
//! "Spherical trigonometry", article 103). Solved for t² this gives t² = sin(E/2) / sin(γ - E/2),
//! which loses no precision for small polygons.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use base::{Draw, Values};

use super::sphere::{DEGREE, LONGEST_PLACE, SpherePoint, Vector, uniform};
use crate::value::Datum;

const CORNERS: usize = 8;

/// The largest number of draws of a position. In one of thirty cases, a polygon that covers a
/// thousandth of the sphere needs more than one draw; a polygon of nearly half of the sphere would
/// need thousands of draws.
const MOST_DRAWS: u32 = 64;

/// The largest size of a polygon's text, in bytes.
pub(crate) const LONGEST_POLYGON: u64 = 12 + (CORNERS as u64 + 1) * (LONGEST_PLACE + 2);

/// The cosine and sine of each corner's angle before rotation.
const ANGLES: [(f64, f64); CORNERS] = [
    (1.0, 0.0),
    (FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    (0.0, 1.0),
    (-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    (-1.0, 0.0),
    (-FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
    (0.0, -1.0),
    (FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
];

/// The number of rows of the only table with geographic points (`point()`): the default of the
/// argument `points` of a polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Points {
    /// No table has points.
    NoTable,
    /// The only table with points has this many rows.
    Rows(u64),
    /// Several tables have points.
    Several,
}

/// A regular polygon of a given area.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polygon {
    hits: f64,
    points: u64,
    /// Sine of the circumradius.
    sine: f64,
    cosine: f64,
}

impl Polygon {
    /// Creates a polygon with a circumradius in radians.
    pub(crate) fn new(hits: f64, points: u64, radius: f64) -> Polygon {
        let (sine, cosine) = libm::sincos(radius);
        Polygon { hits, points, sine, cosine }
    }

    /// Returns the number of points that the polygon contains on average, and the total number of
    /// points.
    pub(crate) fn arguments(&self) -> (f64, u64) {
        (self.hits, self.points)
    }

    pub(crate) fn value(&self, draw: &mut Draw, out: &mut Values) -> Datum {
        let corners = self.corners(draw);
        Datum::Text(out.text(|out| {
            out.push_str("POLYGON((");
            for corner in &corners {
                corner.write(out);
                out.push_str(", ");
            }
            corners[0].write(out);
            out.push_str("))");
        }))
    }

    /// Returns the corners of a random polygon that does not cross the edge of the map.
    fn corners(&self, draw: &mut Draw) -> [SpherePoint; CORNERS] {
        for _ in 0..MOST_DRAWS {
            let centre = uniform(draw);
            let corners = self.corners_around(centre, draw.unit());
            if avoids_antimeridian(&corners) {
                return corners;
            }
        }
        self.corners_around([1.0, 0.0, 0.0], draw.unit())
    }

    /// Returns the corners around a centre, counterclockwise as seen from outside, rotated by a
    /// fraction of the angle between two corners.
    fn corners_around(&self, [x, y, z]: Vector, turn: f64) -> [SpherePoint; CORNERS] {
        let radius = libm::sqrt(x * x + y * y).max(f64::MIN_POSITIVE);
        let east = [-y / radius, x / radius, 0.0];
        let north = [-z * x / radius, -z * y / radius, radius];
        let (turned_sine, turned_cosine) = libm::sincos(turn * TAU / CORNERS as f64);
        ANGLES.map(|(cosine, sine)| {
            let to_east = self.sine * (cosine * turned_cosine - sine * turned_sine);
            let to_north = self.sine * (sine * turned_cosine + cosine * turned_sine);
            let along = |at: usize, centre: f64| {
                self.cosine * centre + to_east * east[at] + to_north * north[at]
            };
            SpherePoint::of([along(0, x), along(1, y), along(2, z)])
        })
    }
}

/// Returns true if no edge crosses the 180th meridian. The edges of a polygon around a pole have
/// all longitudes, so one of them crosses the meridian.
fn avoids_antimeridian(corners: &[SpherePoint; CORNERS]) -> bool {
    let next = corners.iter().cycle().skip(1);
    corners
        .iter()
        .zip(next)
        .all(|(one, other)| (one.longitude - other.longitude).abs() < 180 * DEGREE)
}

/// Returns the circumradius of a polygon that covers a fraction of the sphere, in radians.
pub(crate) fn radius(fraction: f64) -> f64 {
    let half_excess = 4.0 * PI * fraction / CORNERS as f64 / 2.0;
    let angle = TAU / CORNERS as f64;
    let squared = libm::sin(half_excess) / libm::sin(angle - half_excess);
    2.0 * libm::atan(libm::sqrt(squared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::values;
    use crate::generate::sphere::tests::parse;
    use crate::generate::statistics::{assert_mean, chi_square};

    /// Returns the normals of the planes of a polygon's edges, pointing inside.
    fn planes(wkt: &str) -> Vec<Vector> {
        let ring = parse(wkt);
        assert_eq!((ring.len(), ring.first()), (CORNERS + 1, ring.last()));
        ring.windows(2).map(|edge| cross(edge[0], edge[1])).collect()
    }

    fn cross(a: Vector, b: Vector) -> Vector {
        let at = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
        [at(1, 2), at(2, 0), at(0, 1)]
    }

    fn dot(a: Vector, b: Vector) -> f64 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    fn contains(planes: &[Vector], point: Vector) -> bool {
        planes.iter().all(|plane| dot(*plane, point) > 0.0)
    }

    fn points_of(n: usize) -> Vec<Vector> {
        values("point()", n).iter().map(|wkt| parse(wkt)[0]).collect()
    }

    #[test]
    fn polygons_contain_the_requested_share_of_points() {
        let points = points_of(20_000);
        for hits in [80.0, 500.0] {
            let polygons = values(&format!("null(0, polygon({hits}, points=20000))"), 1_000);
            let count = |wkt: &String| {
                let planes = planes(wkt);
                points.iter().filter(|point| contains(&planes, **point)).count() as f64
            };
            let counts: Vec<f64> = polygons.iter().map(count).collect();
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            // The points of the table vary, and so do the polygons. All polygons have the same
            // area, so their positions add no variance. A point is covered by at most 1/0.8 of the
            // usual number of polygons, because less than a fifth of the polygons are drawn again.
            let share = hits / 20_000.0;
            let variance = hits / counts.len() as f64 + hits * share * (1.0 / 0.8 - 1.0);
            assert!((mean - hits).abs() < 5.0 * variance.sqrt(), "{mean} instead of {hits}");
        }
    }

    #[test]
    fn the_closed_form_agrees_with_counting_for_large_polygons_and_is_exact_for_small_ones() {
        let points = points_of(100_000);
        for fraction in [0.05, 0.3, 0.49] {
            let polygon = Polygon::new(1.0, 1, radius(fraction));
            let mut wkt = String::new();
            let corners = polygon.corners_around([0.36, 0.48, 0.8], 0.3);
            for corner in corners.iter().chain([&corners[0]]) {
                corner.write(&mut wkt);
                wkt.push_str(", ");
            }
            let planes = planes(wkt.trim_end_matches(", "));
            let inside: Vec<f64> =
                points.iter().map(|point| f64::from(u8::from(contains(&planes, *point)))).collect();
            assert_mean(&inside, fraction, (fraction * (1.0 - fraction)).sqrt());
        }
        assert!((radius(0.5) - PI / 2.0).abs() < 1e-12);
        // A flat octagon with circumradius r has the area 2√2 r².
        let flat = (4.0 * PI * 1e-12 / 8.0_f64.sqrt()).sqrt();
        assert!((radius(1e-12) / flat - 1.0).abs() < 1e-9);
    }

    #[test]
    fn large_polygons_stay_connected_on_the_map() {
        for (hits, draws) in [(1, 2_000), (1_000, 500), (4_999, 200)] {
            for wkt in values(&format!("polygon({hits}, points=10000)"), draws) {
                let planes = planes(&wkt);
                assert!(
                    !contains(&planes, [0.0, 0.0, 1.0]) && !contains(&planes, [0.0, 0.0, -1.0])
                );
                let longitudes: Vec<f64> = wkt["POLYGON((".len()..wkt.len() - 2]
                    .split(", ")
                    .map(|place| place.split_once(' ').unwrap().0.parse().unwrap())
                    .collect();
                assert!(longitudes.windows(2).all(|edge| (edge[0] - edge[1]).abs() < 180.0));
                assert!(wkt.len() as u64 <= LONGEST_POLYGON);
            }
        }
    }

    #[test]
    fn corners_are_counterclockwise_and_turned_by_any_angle() {
        let mut counts = [0; 10];
        for wkt in values("polygon(1, points=1000000)", 5_000) {
            let ring = parse(&wkt);
            let centre: Vector =
                std::array::from_fn(|at| ring[..CORNERS].iter().map(|corner| corner[at]).sum());
            assert!(contains(&planes(&wkt), centre));
            let north = ring[0][2] * dot(centre, centre) - centre[2] * dot(ring[0], centre);
            let east = dot(cross([0.0, 0.0, 1.0], centre), ring[0]) * dot(centre, centre).sqrt();
            let turn = north.atan2(east).rem_euclid(TAU / 8.0) / (TAU / 8.0);
            counts[(turn * 10.0) as usize % 10] += 1;
        }
        chi_square(&counts, &[0.1; 10]);
    }
}
