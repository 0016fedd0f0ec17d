//! `nurand(a, lo, hi)`: the skew of TPC-C.

use base::{Draw, Seed, Stream};

use super::uniform::Ints;

/// The non-uniform distribution of TPC-C (TPC Benchmark C, revision 5.11, clause 2.1.6).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nurand {
    first: Ints,
    second: Ints,
    constant: u64,
}

impl Nurand {
    /// Creates the distribution over a range. The seed and `a` determine the constant C.
    pub(crate) fn new(a: i64, (lo, hi): (i64, i64), seed: Seed) -> Nurand {
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

    pub(crate) fn draw(&self, draw: &mut Draw) -> i64 {
        let (lo, hi) = self.second.ends();
        let both = self.first.draw(draw) | self.second.draw(draw);
        // Both draws are non-negative, and the sum is below 2⁶⁴.
        let offset = (both.unsigned_abs() + self.constant) % (hi.abs_diff(lo) + 1);
        lo.saturating_add_unsigned(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::ints;
    use crate::generate::statistics::chi_square;

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
    fn frequencies_agree_with_the_clause() {
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
}
