//! `latest(lo, hi)`: the newest keys are the most frequent.

use base::Draw;

use super::zipf::Zipf;

const EXPONENT: f64 = 0.99;

/// Zipf's distribution, counted down from the newest key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Latest {
    lo: i64,
    hi: i64,
    ages: Zipf,
}

impl Latest {
    /// Creates the distribution, given the range of the keys that exist at the beginning.
    pub(crate) fn new((lo, hi): (i64, i64)) -> Latest {
        Latest { lo, hi, ages: Zipf::new(lo, hi, EXPONENT) }
    }

    /// Returns the range of the keys that exist at the beginning.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (self.lo, self.hi)
    }

    pub(crate) fn draw(&self, number: u64, draw: &mut Draw) -> i64 {
        let newest = self.hi.saturating_add_unsigned(number);
        newest.saturating_sub_unsigned(self.ages.draw(draw).abs_diff(self.lo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::ints;
    use crate::generate::statistics::chi_square;

    #[test]
    fn ages_follow_the_distribution_while_the_newest_advances() {
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
}
