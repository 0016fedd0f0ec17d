//! `field(n)`: a field of the record that the request takes from its `query-args-file`.

use base::Values;

use crate::feed::records::Record;
use crate::value::Datum;

/// Returns the field of a record; NULL if there is no such field.
pub(crate) fn value(place: usize, record: Option<Record<'_>>, out: &mut Values) -> Datum {
    match record.and_then(|record| record.field(place)) {
        Some(text) => Datum::Text(out.text(|out| out.push_str(text))),
        None => Datum::Null,
    }
}
