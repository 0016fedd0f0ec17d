//! `uniform(lo, hi)`: each value of a range equally likely.

use base::Draw;

use crate::value::Datum;

/// A range of equally likely values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Uniform<E> {
    /// Integers.
    Ints(Ints),
    /// Durations in whole nanoseconds.
    Durations(Ints),
    /// Doubles from the first number, included, to the second, excluded.
    Reals(f64, f64),
    /// Bounds that differ from request to request, in either order.
    Computed(Box<(E, E)>),
}

/// A range of `count` integers from `lo` on; a count of 0 means all 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ints {
    lo: i64,
    count: u64,
}

impl Ints {
    /// Creates the range between two bounds, both included.
    pub(crate) fn between(a: i64, b: i64) -> Ints {
        let (lo, hi) = (a.min(b), a.max(b));
        Ints { lo, count: hi.abs_diff(lo).wrapping_add(1) }
    }

    /// Returns the two bounds.
    pub(crate) fn ends(self) -> (i64, i64) {
        (self.lo, self.lo.wrapping_add_unsigned(self.count.wrapping_sub(1)))
    }

    #[inline]
    pub(crate) fn draw(self, draw: &mut Draw) -> i64 {
        self.lo.wrapping_add_unsigned(draw.below(self.count))
    }
}

impl<E> Uniform<E> {
    /// Draws a value; `eval` computes a bound.
    #[inline]
    pub(crate) fn draw(&self, draw: &mut Draw, mut eval: impl FnMut(&E) -> Datum) -> Datum {
        match self {
            Uniform::Ints(ints) => Datum::Int(ints.draw(draw)),
            Uniform::Durations(ints) => Datum::Duration(ints.draw(draw)),
            Uniform::Reals(lo, hi) => Datum::real(real(*lo, *hi, draw)),
            Uniform::Computed(ends) => {
                let ends = (eval(&ends.0), eval(&ends.1));
                draw_computed(ends, draw)
            }
        }
    }
}

fn draw_computed(ends: (Datum, Datum), draw: &mut Draw) -> Datum {
    match ends {
        (Datum::Int(a), Datum::Int(b)) => Datum::Int(Ints::between(a, b).draw(draw)),
        (Datum::Duration(a), Datum::Duration(b)) => Datum::Duration(Ints::between(a, b).draw(draw)),
        (a, b) => match a.number().zip(b.number()) {
            Some((a, b)) => Datum::real(real(a.min(b), a.max(b), draw)),
            None => Datum::Null,
        },
    }
}

/// Returns a double in [lo, hi); rounding must not reach the upper bound.
fn real(lo: f64, hi: f64, draw: &mut Draw) -> f64 {
    let value = lo + draw.unit() * (hi - lo);
    if value < hi { value } else { hi.next_down().max(lo) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::{ints, reals, values};
    use crate::generate::statistics::{chi_square, kolmogorov_smirnov};

    #[test]
    fn both_ends_are_reached_and_nothing_beyond() {
        let drawn = ints("uniform(-1, 1)", 1_000);
        assert_eq!(drawn.iter().min(), Some(&-1));
        assert_eq!(drawn.iter().max(), Some(&1));
        let all = ints("uniform(-9223372036854775808, 9223372036854775807)", 1_000);
        assert!(all.iter().any(|value| *value > i64::MAX / 2));
        assert!(all.iter().any(|value| *value < i64::MIN / 2));
        assert_eq!(ints("uniform(7, 7)", 3), [7, 7, 7]);
    }

    #[test]
    fn the_upper_end_of_reals_is_not_reached() {
        let mut draw = base::Stream::new(base::Seed(1), "", "").draw(0);
        for _ in 0..100_000 {
            let value = real(1.0, 1.0_f64.next_up(), &mut draw);
            assert_eq!(value, 1.0);
        }
        assert_eq!(real(3.0, 3.0, &mut draw), 3.0);
    }

    #[test]
    fn each_value_comes_equally_often() {
        for call in ["uniform(0, 5)", "uniform(5 - uniform(5, 5), 5)"] {
            let mut counts = [0; 6];
            ints(call, 60_000).iter().for_each(|value| counts[*value as usize] += 1);
            chi_square(&counts, &[1.0 / 6.0; 6]);
        }
    }

    #[test]
    fn reals_and_durations_are_even_over_their_range() {
        for call in ["uniform(-2.0, 3)", "uniform(-2s, 3s) / 1s", "uniform(0 - 2.0, 3)"] {
            kolmogorov_smirnov(&reals(call, 50_000), |x| (x + 2.0) / 5.0);
        }
    }

    #[test]
    fn ends_computed_at_run_time_come_in_either_order() {
        for value in ints("uniform(uniform(5, 6), uniform(1, 2))", 100) {
            assert!((1..=6).contains(&value));
        }
        assert_eq!(values("uniform(1, 1 / (row() - row()))", 1), ["NULL"]);
    }
}
