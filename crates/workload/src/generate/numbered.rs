//! `row()` and `sequence(start)`: the number of the row or of the request itself.

use super::{Arguments, Family, Parameter, Rest, Spec, Stage};
use crate::expr::{Refused, Type};

pub(super) static ROW: Spec = Spec {
    name: "row",
    parameters: &[],
    rest: Rest::Nothing,
    stage: Stage::Rows,
    build: build_row,
    doc: "the number of the row, from 1; only in [load TABLE]",
    example: "row()",
};

pub(super) static SEQUENCE: Spec = Spec {
    name: "sequence",
    parameters: &[Parameter::optional("start", "1", "a constant integer")],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build: build_sequence,
    doc: "start for the first request or row, one more for each further one",
    example: "sequence(100)",
};

/// Returns the number of a row, counted from 1.
pub(super) fn row(number: u64) -> i64 {
    sequence(1, number)
}

/// Returns the start plus the number.
#[inline]
pub(super) fn sequence(start: i64, number: u64) -> i64 {
    start.saturating_add_unsigned(number)
}

fn build_row(_: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    Ok((Family::Row, Type::Int))
}

fn build_sequence(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let start = arguments.constant_int(0, 1)?;
    Ok((Family::Sequence(start), Type::Int))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, ints};

    #[test]
    fn golden_values_never_change() {
        check("row()", "1 2 3 4 5 6 7 8");
        check("sequence()", "1 2 3 4 5 6 7 8");
        check("sequence(start=-2)", "-2 -1 0 1 2 3 4 5");
    }

    #[test]
    fn every_number_comes_once_and_in_order() {
        assert_eq!(ints("row()", 10_000), (1..=10_000).collect::<Vec<_>>());
        assert_eq!(ints("sequence(-500)", 10_000), (-500..9_500).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_beyond_the_type_stay_at_its_end() {
        assert_eq!(sequence(i64::MAX - 1, 5), i64::MAX);
        assert_eq!(row(u64::MAX), i64::MAX);
        assert_eq!(sequence(i64::MIN, u64::MAX), i64::MAX);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("row(1)", "`row` takes no arguments");
        error("sequence(1, 2)", "`sequence` takes one argument");
        error("sequence('a')", "`sequence` needs an integer, but `'a'` is a text");
    }
}
