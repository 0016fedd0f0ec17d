//! `row()` and `sequence(start)`: the number of the row or of the request itself.

/// Returns the number of a row, counted from 1.
pub(crate) fn row(number: u64) -> i64 {
    sequence(1, number)
}

/// Returns the start plus the number.
#[inline]
pub(crate) fn sequence(start: i64, number: u64) -> i64 {
    start.saturating_add_unsigned(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::ints;

    #[test]
    fn numbers_are_unique_and_ordered() {
        assert_eq!(ints("row()", 10_000), (1..=10_000).collect::<Vec<_>>());
        assert_eq!(ints("sequence(-500)", 10_000), (-500..9_500).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_beyond_the_type_stay_at_its_end() {
        assert_eq!(sequence(i64::MAX - 1, 5), i64::MAX);
        assert_eq!(row(u64::MAX), i64::MAX);
        assert_eq!(sequence(i64::MIN, u64::MAX), i64::MAX);
    }
}
