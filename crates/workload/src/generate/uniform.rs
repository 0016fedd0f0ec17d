//! `uniform(lo, hi)`: each value of a range equally likely.

use base::{Draw, Values};

use super::{Arguments, Datum, EvalContext, Family, Parameter, Rest, Spec, Stage};
use crate::expr::{Compiled, Constant, Node, Refused, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "uniform",
    parameters: &[
        Parameter::required("lo", "a number or duration"),
        Parameter::required("hi", "as lo"),
    ],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build,
    doc: "each value from lo to hi equally likely: integers and durations with both ends, \
          numbers with a point without the upper end",
    example: "uniform(1, 1000)",
};

/// A range of equally likely values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Uniform {
    /// Integers.
    Ints(Ints),
    /// Durations in whole nanoseconds.
    Durations(Ints),
    /// Doubles from the first to below the second.
    Reals(f64, f64),
    /// Bounds that differ from request to request, in either order.
    Computed(Box<(Node, Node)>),
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
    pub(super) fn draw(self, draw: &mut Draw) -> i64 {
        self.lo.wrapping_add_unsigned(draw.below(self.count))
    }
}

impl Uniform {
    #[inline]
    pub(super) fn draw(&self, draw: &mut Draw, moment: EvalContext<'_>, out: &mut Values) -> Datum {
        match self {
            Uniform::Ints(ints) => Datum::Int(ints.draw(draw)),
            Uniform::Durations(ints) => Datum::Duration(ints.draw(draw)),
            Uniform::Reals(lo, hi) => Datum::real(real(*lo, *hi, draw)),
            Uniform::Computed(ends) => {
                let ends = (ends.0.eval(moment, out), ends.1.eval(moment, out));
                computed(ends, draw)
            }
        }
    }
}

fn computed(ends: (Datum, Datum), draw: &mut Draw) -> Datum {
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

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let kind = arguments.measure(2)?;
    let (lo, hi) = (arguments.required(0)?, arguments.required(1)?);
    let uniform = match (&lo.value, &hi.value) {
        (Compiled::Constant(a), Compiled::Constant(b)) => {
            let (range, ordered) = constant(a, b);
            if !ordered {
                let (a, b) = (quoted(lo.place.text()), quoted(hi.place.text()));
                let call = arguments.call();
                return Err(call
                    .error(format!("the range is empty: {a} is above {b}"))
                    .help("write the lower end first")
                    .into());
            }
            range
        }
        _ => Uniform::Computed(Box::new((arguments.node(0)?, arguments.node(1)?))),
    };
    Ok((Family::Uniform(uniform), kind))
}

/// Returns the range between two constants of one type, and true if they are in ascending order.
fn constant(a: &Constant, b: &Constant) -> (Uniform, bool) {
    match (a, b) {
        (Constant::Int(a), Constant::Int(b)) => (Uniform::Ints(Ints::between(*a, *b)), a <= b),
        (Constant::Duration(a), Constant::Duration(b)) => {
            (Uniform::Durations(Ints::between(*a, *b)), a <= b)
        }
        (a, b) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            (Uniform::Reals(a, b), a <= b)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, ints, reals, values};
    use crate::generate::statistics::{chi_square, kolmogorov_smirnov};

    #[test]
    fn golden_values_never_change() {
        check("uniform(1, 1000)", "529 702 110 784 528 135 529 105");
        check("uniform(-5, 5)", "0 2 -4 3 0 -4 0 -4");
        check(
            "uniform(0.0, 1)",
            "0.5282395376333078 0.7010263372157063 0.10915721371582587 0.7832990378685287 \
             0.5273840699088326 0.1344440237683432 0.5286864162826221 0.10481639552202127",
        );
        check("uniform(1, uniform(1, 10))", "4 6 1 8 5 1 4 1");
        check(
            "uniform(1s, 2s) / 1s",
            "1.528239538 1.701026337 1.109157213 1.783299038 1.52738407 1.134444023 \
             1.528686416 1.104816395",
        );
    }

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

    #[test]
    fn empty_ranges_and_mixed_types_are_refused() {
        error("uniform(2, 1)", "the range is empty: `2` is above `1`");
        error("uniform(1, 2s)", "`uniform` needs numbers on both sides, but `2s` is a duration");
        error("uniform('a', 2)", "`uniform` needs numbers or durations, but `'a'` is a text");
    }
}
