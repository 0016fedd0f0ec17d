//! `timestamp(offset)`: an instant relative to the start of the run, never the current time.

use base::WallTime;

use crate::value::Datum;

/// Returns the instant at an offset from the start.
pub(crate) fn value(started: WallTime, offset: Datum) -> Datum {
    match offset {
        Datum::Duration(nanos) => Datum::Timestamp(started.plus(nanos)),
        Datum::Null | Datum::Int(_) | Datum::Real(_) | Datum::Timestamp(_) | Datum::Text(_) => {
            Datum::Null
        }
    }
}
