//! `normal(mean, sd)`: the bell curve.

use crate::value::Datum;

/// Scales a standard normal number to the mean and deviation.
pub(crate) fn value(mean: Datum, deviation: Datum, standard: f64) -> Datum {
    match (mean, deviation) {
        (Datum::Duration(mean), Datum::Duration(deviation)) => {
            let nanos = mean as f64 + deviation as f64 * standard;
            Datum::Duration(nanos.max(0.0) as i64)
        }
        (mean, deviation) => match mean.number().zip(deviation.number()) {
            Some((mean, deviation)) => Datum::real(mean + deviation * standard),
            None => Datum::Null,
        },
    }
}
