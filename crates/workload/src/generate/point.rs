//! `point()`: a random point on the earth.

use base::{Draw, Values};

use super::sphere::{LONGEST_PLACE, SpherePoint, uniform};
use crate::value::Datum;

/// The largest size of a point's text, in bytes.
pub(crate) const LONGEST_POINT: u64 = LONGEST_PLACE + 7;

/// Returns a point as text.
pub(crate) fn value(draw: &mut Draw, out: &mut Values) -> Datum {
    let place = SpherePoint::of(uniform(draw));
    Datum::Text(out.text(|out| {
        out.push_str("POINT(");
        place.write(out);
        out.push(')');
    }))
}
