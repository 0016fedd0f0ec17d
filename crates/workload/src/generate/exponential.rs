//! `exp(mean)`: the time between independent events.

use crate::value::Datum;

/// Scales a standard exponential number to the mean.
pub(crate) fn value(mean: Datum, standard: f64) -> Datum {
    match mean {
        Datum::Duration(nanos) => Datum::Duration((nanos.max(0) as f64 * standard) as i64),
        other => match other.number() {
            Some(mean) => Datum::real(mean * standard),
            None => Datum::Null,
        },
    }
}
