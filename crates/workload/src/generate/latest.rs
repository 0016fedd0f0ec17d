//! `latest(lo, hi)`: the newest keys are the most frequent.

use base::Draw;

use super::{Arguments, Family, Parameter, Rest, Spec, Stage, Zipf};
use crate::expr::{Refused, Type};

pub(super) static SPEC: Spec = Spec {
    name: "latest",
    parameters: &[
        Parameter::required("lo", "a constant integer"),
        Parameter::required("hi", "a constant integer"),
    ],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build,
    doc: "a key of a table that grows: lo to hi exist at the beginning, and each request adds one, \
          counted by schedule, not by answers; the newest is hi plus the number of the request \
          from 0, and the r-th newest comes with a probability proportional to 1/r^0.99, for r up \
          to hi - lo + 1",
    example: "latest(1, 1000)",
};

const EXPONENT: f64 = 0.99;

/// Zipf's distribution, counted down from the newest key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Latest {
    lo: i64,
    hi: i64,
    ages: Zipf,
}

impl Latest {
    fn new((lo, hi): (i64, i64)) -> Latest {
        Latest { lo, hi, ages: Zipf::new(lo, hi, EXPONENT) }
    }

    /// Returns the range of the keys that exist at the beginning.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (self.lo, self.hi)
    }

    pub(super) fn draw(&self, number: u64, draw: &mut Draw) -> i64 {
        let newest = self.hi.saturating_add_unsigned(number);
        newest.saturating_sub_unsigned(self.ages.draw(draw).abs_diff(self.lo))
    }
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    Ok((Family::Latest(Latest::new(arguments.constant_range(0)?)), Type::Int))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, ints};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check("latest(1, 1000)", "981 996 550 1001 984 629 987 540");
        check("latest(-3, 3)", "2 4 0 6 6 4 8 5");
    }

    #[test]
    fn the_ages_follow_the_law_while_the_newest_moves_on() {
        let mut counts = vec![0; 100];
        for (number, key) in ints("latest(1, 100)", 100_000).into_iter().enumerate() {
            counts[100 + number - key as usize] += 1;
        }
        let weights: Vec<f64> = (1..=100).map(|rank| f64::from(rank).powf(-EXPONENT)).collect();
        let total: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        chi_square(&counts, &law);
    }

    #[test]
    fn keys_beyond_the_type_stay_at_its_end() {
        let mut draw = base::Stream::new(base::Seed(1), "", "").draw(0);
        let one = Latest::new((i64::MAX, i64::MAX));
        assert_eq!(one.draw(u64::MAX, &mut draw), i64::MAX);
        let all = Latest::new((i64::MIN, i64::MAX));
        all.draw(u64::MAX, &mut draw);
        assert_eq!(Latest::new((5, 5)).draw(7, &mut draw), 12);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("latest(2, 1)", "the range is empty: `2` is above `1`");
        error("latest(1)", "`latest` has no `hi`");
        error(
            "latest(1, row())",
            "`row()` differs from request to request, but `latest` needs a constant",
        );
    }
}
