//! `nurand(a, lo, hi)`: the skew of TPC-C.

use base::{Draw, Seed, Stream};

use super::uniform::Ints;
use super::{Arguments, Family, Parameter, Rest, Spec, Stage};
use crate::expr::{Refused, Site, Type};
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "nurand",
    parameters: &[
        Parameter::required("a", "a constant integer, not negative"),
        Parameter::required("lo", "a constant integer, not negative"),
        Parameter::required("hi", "a constant integer"),
    ],
    rest: Rest::Nothing,
    stage: Stage::Anywhere,
    build,
    doc: "NURand of TPC-C (clause 2.1.6): ((uniform(0, a) | uniform(lo, hi)) + C) mod \
          (hi - lo + 1) + lo; C is drawn from 0 to a by the seed and a alone, so that it is the \
          same in all places of a file",
    example: "nurand(255, 0, 999)",
};

/// The non-uniform distribution of TPC-C (TPC Benchmark C, revision 5.11, clause 2.1.6).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nurand {
    first: Ints,
    second: Ints,
    constant: u64,
}

impl Nurand {
    fn new(a: i64, (lo, hi): (i64, i64), seed: Seed) -> Nurand {
        let mut draw = Stream::new(seed, "nurand", &format!("C of {a}")).draw(0);
        let constant = draw.below(a.unsigned_abs() + 1);
        Nurand { first: Ints::between(0, a), second: Ints::between(lo, hi), constant }
    }

    /// Returns the upper bound of the first draw.
    pub(crate) fn a(&self) -> i64 {
        self.first.ends().1
    }

    /// Returns the smallest and the largest value.
    pub(crate) fn ends(&self) -> (i64, i64) {
        self.second.ends()
    }

    pub(super) fn draw(&self, draw: &mut Draw) -> i64 {
        let (lo, hi) = self.second.ends();
        let both = self.first.draw(draw) | self.second.draw(draw);
        // Both are non-negative, and the sum is below 2⁶⁴.
        let offset = (both.unsigned_abs() + self.constant) % (hi.abs_diff(lo) + 1);
        lo.saturating_add_unsigned(offset)
    }
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    let a = arguments.constant_int(0, 0)?;
    let ends = arguments.constant_range(1)?;
    for place in [0, 1] {
        let given = arguments.required(place)?;
        if given.value.constant().is_some_and(crate::expr::Constant::is_negative) {
            let shown = quoted(given.place.text());
            let error =
                given.place.error(format!("`nurand` combines bits, but {shown} is negative"));
            return Err(error.help("add the offset behind it: `nurand(255, 0, 99) - 50`").into());
        }
    }
    let seed = match arguments.scope.site {
        Site::Request(position, _) | Site::Row(position) => position.seed,
        // Generators are not allowed there.
        Site::Fixed(_) => return Err(Refused(None)),
    };
    Ok((Family::Nurand(Nurand::new(a, ends, seed)), Type::Int))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::{check, error, ints};
    use crate::generate::statistics::chi_square;

    #[test]
    fn golden_values_never_change() {
        check("nurand(255, 0, 999)", "30 326 58 274 774 233 758 358");
        check("nurand(8191, 1, 100000)", "2628 31324 4044 14435 76762 23020 62939 34408");
        check("nurand(0, 5, 5)", "5 5 5 5 5 5 5 5");
    }

    /// Returns the probabilities, by counting all pairs of draws as the clause defines them.
    fn law(a: u64, lo: u64, hi: u64, constant: u64) -> Vec<f64> {
        let n = hi - lo + 1;
        let mut law = vec![0.0; n as usize];
        for (x, y) in (0..=a).flat_map(|x| (lo..=hi).map(move |y| (x, y))) {
            law[(((x | y) + constant) % n) as usize] += 1.0 / ((a + 1) * n) as f64;
        }
        law
    }

    #[test]
    fn frequencies_are_those_of_the_clause() {
        for (a, lo, hi) in [(7, 1, 30), (255, 0, 99), (1, 3, 8)] {
            let mut counts = vec![0; (hi - lo + 1) as usize];
            for value in ints(&format!("nurand({a}, {lo}, {hi})"), 60_000) {
                counts[value as usize - lo as usize] += 1;
            }
            let constant = Nurand::new(a, (lo, hi), Seed(42)).constant;
            let law = law(a as u64, lo as u64, hi as u64, constant);
            // An impossible value must not occur; classes of probability zero cannot be tested by
            // chi-square.
            let possible = |at: &usize| law[*at] > 0.0;
            let places: Vec<usize> = (0..law.len()).filter(possible).collect();
            let kept: Vec<u32> = places.iter().map(|at| counts[*at]).collect();
            assert_eq!(kept.iter().sum::<u32>(), 60_000);
            chi_square(&kept, &places.iter().map(|at| law[*at]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_constant_depends_on_the_seed_and_a_alone_and_is_uniform() {
        let of = |seed, a, ends| Nurand::new(a, ends, Seed(seed)).constant;
        assert_eq!(of(1, 255, (0, 9)), of(1, 255, (5, 5_000)));
        assert_ne!(of(1, 255, (0, 9)), of(2, 255, (0, 9)));
        let mut counts = vec![0; 8];
        (0..8_000).for_each(|seed| counts[of(seed, 7, (0, 9)) as usize] += 1);
        chi_square(&counts, &[0.125; 8]);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let most = i64::MAX;
        for value in ints(&format!("nurand({most}, 0, {most})"), 1_000) {
            assert!(value >= 0);
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("nurand(255, 2, 1)", "the range is empty: `2` is above `1`");
        error("nurand(-1, 0, 1)", "`nurand` combines bits, but `-1` is negative");
        error("nurand(1, -5, 1)", "`nurand` combines bits, but `-5` is negative");
        error("nurand(1.5, 0, 1)", "`nurand` needs an integer, but `1.5` is a number with a point");
        error("nurand(255, 1)", "`nurand` has no `hi`");
    }
}
