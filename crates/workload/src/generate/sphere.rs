//! Points on the unit sphere and their text form.

use std::f64::consts::TAU;

use base::Draw;

/// A point in ten-millionths of a degree, which are about a centimetre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpherePoint {
    /// Longitude, positive to the east of Greenwich, from -180 to 180 degrees.
    pub(crate) longitude: i64,
    /// Latitude, positive to the north of the equator, from -90 to 90 degrees.
    pub(crate) latitude: i64,
}

/// One degree in the units of a [`SpherePoint`].
pub(crate) const DEGREE: i64 = 10_000_000;

/// A direction from the centre of the sphere: components towards the equator at Greenwich, the
/// equator at 90 degrees east, and the north pole.
pub(crate) type Vector = [f64; 3];

impl SpherePoint {
    /// Returns the point in a direction.
    pub(crate) fn of([x, y, z]: Vector) -> SpherePoint {
        // Near the poles this is more exact than an arcsine.
        let latitude = libm::atan2(z, libm::sqrt(x * x + y * y));
        SpherePoint { longitude: units(libm::atan2(y, x)), latitude: units(latitude) }
    }

    /// Writes `12.3456789 -1.0000000`: longitude and latitude in degrees, as in WKT.
    pub(crate) fn write(self, out: &mut String) {
        write_degrees(self.longitude, out);
        out.push(' ');
        write_degrees(self.latitude, out);
    }
}

/// The largest size of a point's text, in bytes: `-180.0000000 -90.0000000`.
pub(crate) const LONGEST_PLACE: u64 = 24;

fn units(radians: f64) -> i64 {
    libm::round(radians.to_degrees() * DEGREE as f64) as i64
}

fn write_degrees(units: i64, out: &mut String) {
    let mut rest = units.unsigned_abs();
    let mut text = [b'0'; 12];
    let mut at = text.len();
    for place in 0.. {
        if place > 7 && rest == 0 {
            break;
        }
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if place == 6 {
            at -= 1;
            text[at] = b'.';
        }
    }
    if units < 0 {
        out.push('-');
    }
    out.push_str(std::str::from_utf8(&text[at..]).unwrap_or_default());
}

/// Returns a direction that is uniformly distributed on the sphere: its z coordinate is then
/// uniform, too (Archimedes' theorem).
pub(crate) fn uniform(draw: &mut Draw) -> Vector {
    let height = 2.0 * draw.unit() - 1.0;
    let radius = libm::sqrt((1.0 - height) * (1.0 + height));
    let (sine, cosine) = libm::sincos(TAU * (draw.unit() - 0.5));
    [radius * cosine, radius * sine, height]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the directions of the points in a WKT text.
    pub(crate) fn parse(wkt: &str) -> Vec<Vector> {
        let inner = wkt.trim_start_matches(|c: char| c.is_alphabetic() || c == '(');
        let places = inner.trim_end_matches(')').split(", ");
        places
            .map(|place| {
                let (longitude, latitude) = place.split_once(' ').unwrap();
                let radians = |text: &str| text.parse::<f64>().unwrap().to_radians();
                let (longitude, latitude) = (radians(longitude), radians(latitude));
                let radius = latitude.cos();
                [radius * longitude.cos(), radius * longitude.sin(), latitude.sin()]
            })
            .collect()
    }

    #[test]
    fn places_are_written_with_seven_decimals() {
        let written = |longitude, latitude| {
            let mut out = String::new();
            SpherePoint { longitude, latitude }.write(&mut out);
            out
        };
        assert_eq!(written(0, -1), "0.0000000 -0.0000001");
        assert_eq!(written(-180 * DEGREE, -90 * DEGREE), "-180.0000000 -90.0000000");
        assert_eq!(written(-180 * DEGREE, -90 * DEGREE).len() as u64, LONGEST_PLACE);
        assert_eq!(written(1_234_567_890, 12_345_678), "123.4567890 1.2345678");
    }

    #[test]
    fn directions_have_their_angle() {
        let place = |x, y, z| {
            let SpherePoint { longitude, latitude } = SpherePoint::of([x, y, z]);
            (longitude, latitude)
        };
        assert_eq!(place(1.0, 0.0, 0.0), (0, 0));
        assert_eq!(place(0.0, 1.0, 0.0), (90 * DEGREE, 0));
        assert_eq!(place(-1.0, -0.0, 0.0), (-180 * DEGREE, 0));
        assert_eq!(place(0.0, 0.0, 1.0).1, 90 * DEGREE);
        assert_eq!(place(1.0, 1.0, 2.0_f64.sqrt()), (45 * DEGREE, 45 * DEGREE));
    }
}
