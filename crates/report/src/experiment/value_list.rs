//! Lists of the values of a sweep or a search in sentences: complete, or short enough for a screen.

use base::units::grouped;

use crate::number::count;

/// Maximum number of points that a short list names.
const MOST_POINTS: usize = 8;

/// Maximum number of values of a varied key that a short line names.
const MOST_VALUES: usize = 12;

/// Length of the lists of points in sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListLength {
    /// All points are named.
    Full,
    /// At most [`MOST_POINTS`] points are named, and the others are counted.
    Short,
}

impl ListLength {
    /// Joins the texts of points, each with the index of its point, in the order of the sweep:
    /// `1, 2, 3`. A short list keeps the points nearest to `best`, or the first ones if there is no
    /// best point.
    pub(super) fn join(self, best: Option<usize>, mut points: Vec<(usize, String)>) -> String {
        let named = match self {
            ListLength::Full => points.len(),
            ListLength::Short => points.len().min(MOST_POINTS),
        };
        let others = points.len() - named;
        if others > 0 {
            points.sort_by_key(|(point, _)| point.abs_diff(best.unwrap_or(0)));
            points.truncate(named);
            points.sort_by_key(|(point, _)| *point);
        }
        let texts: Vec<String> = points.into_iter().map(|(_, text)| text).collect();
        let named = texts.join(", ");
        match others {
            0 => named,
            more => format!("{named} and {} more", grouped(more as u64)),
        }
    }
}

/// Returns the values of a varied key for a short line: all of them if they are few, otherwise
/// `1, 2, 3 … 270 (270 values)`.
pub(super) fn short_values(values: &[String]) -> String {
    match values {
        [first, second, third, .., last] if values.len() > MOST_VALUES => {
            let number = count(values.len() as u64, "value");
            format!("{first}, {second}, {third} … {last} ({number})")
        }
        all => all.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_list_has_the_points_nearest_to_the_best_one_and_counts_the_others() {
        let check = |length: ListLength, best: Option<usize>, number: usize, expected: &str| {
            let points = (0..number).map(|point| (point, format!("p{point}"))).collect();
            assert_eq!(length.join(best, points), expected);
        };
        let eight = "p0, p1, p2, p3, p4, p5, p6, p7";
        check(ListLength::Short, Some(7), 8, eight);
        check(ListLength::Full, Some(0), 9, &format!("{eight}, p8"));
        check(ListLength::Short, None, 2_000, &format!("{eight} and 1,992 more"));
        check(ListLength::Short, Some(0), 9, &format!("{eight} and 1 more"));
        let near = "p36, p37, p38, p39, p40, p41, p42, p43 and 82 more";
        check(ListLength::Short, Some(40), 90, near);
    }

    #[test]
    fn many_values_are_shown_by_their_first_and_last_ones() {
        let shown = |number: u32| {
            short_values(&(1..=number).map(|value| value.to_string()).collect::<Vec<String>>())
        };
        assert_eq!(shown(3), "1, 2, 3");
        assert_eq!(shown(12), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12");
        assert_eq!(shown(13), "1, 2, 3 … 13 (13 values)");
        assert_eq!(shown(270), "1, 2, 3 … 270 (270 values)");
    }
}
