//! `zipf(lo, hi, s=0.99)`: a few frequent values and many rare ones.

use base::Draw;

/// The largest number of rejections per draw. On average fewer than one in ten draws is rejected;
/// the limit only guarantees termination.
const MOST_REJECTIONS: u32 = 1_000;

/// Zipf's distribution over the ranks 1 to n, by rejection-inversion.
///
/// Constant time and memory for any n and any s (Hörmann, Derflinger: "Rejection-inversion to
/// generate variates from monotone discrete distributions", ACM TOMACS 1996). A point chosen
/// uniformly in the area under the [`ZipfDensity`] is converted to a rank by the inverse of the
/// area, and rejected if it lies outside the rank's own column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Zipf {
    lo: i64,
    ranks: u64,
    density: ZipfDensity,
    /// The area up to n + 1/2.
    end: f64,
    /// The area up to 3/2, minus 1: the column of rank 1 has the area 1, which is the density at 1.
    start: f64,
    /// Distance from the point within which a rank is accepted without a further check.
    near: f64,
}

impl Zipf {
    /// Returns the smallest and the largest value.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (self.lo, self.lo.saturating_add_unsigned(self.ranks - 1))
    }

    /// Creates the distribution over the values from `lo` to `hi`.
    pub(crate) fn new(lo: i64, hi: i64, s: f64) -> Zipf {
        let density = ZipfDensity::new(s);
        // A range of all 2⁶⁴ values loses its last value.
        let ranks = hi.abs_diff(lo).saturating_add(1);
        Zipf {
            lo,
            ranks,
            end: density.area(ranks as f64 + 0.5),
            start: density.area(1.5) - 1.0,
            near: 2.0 - density.at_area(density.area(2.5) - density.at(2.0)),
            density,
        }
    }

    /// Returns the two bounds and the exponent.
    pub(crate) fn arguments(&self) -> (i64, i64, f64) {
        (self.lo, self.lo.wrapping_add_unsigned(self.ranks - 1), self.density.s)
    }

    pub(crate) fn draw(&self, draw: &mut Draw) -> i64 {
        self.lo.wrapping_add_unsigned(self.rank(draw) - 1)
    }

    /// Draws a rank from 1 to n.
    fn rank(&self, draw: &mut Draw) -> u64 {
        for _ in 0..MOST_REJECTIONS {
            let point = self.end + draw.unit() * (self.start - self.end);
            let x = self.density.at_area(point);
            let rank = ((x + 0.5) as u64).clamp(1, self.ranks);
            let middle = rank as f64;
            let accepted = middle - x <= self.near
                || point >= self.density.area(middle + 0.5) - self.density.at(middle);
            if accepted {
                return rank;
            }
        }
        1
    }
}

/// The density `x^-s` and the area under it from 1 on. Near s = 1 the textbook formula of the area
/// is 0/0; `expm1` and `log1p` keep every digit there.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ZipfDensity {
    s: f64,
    /// 1 - s.
    power: f64,
    /// 1 / (1 - s); infinite for s = 1, where it is not used.
    root: f64,
}

impl ZipfDensity {
    fn new(s: f64) -> ZipfDensity {
        let power = 1.0 - s;
        ZipfDensity { s, power, root: 1.0 / power }
    }

    fn at(self, x: f64) -> f64 {
        libm::exp(-self.s * libm::log(x))
    }

    /// Returns `(x^(1-s) - 1) / (1-s)`, which is `log x` for s = 1.
    fn area(self, x: f64) -> f64 {
        let log = libm::log(x);
        let t = self.power * log;
        if t.abs() > TINY {
            libm::expm1(t) * self.root
        } else {
            log * (1.0 + t * 0.5 * (1.0 + t / 3.0))
        }
    }

    /// Returns the x up to which the area is `a`.
    fn at_area(self, a: f64) -> f64 {
        // Rounding can make the argument less than -1, where the area has no inverse.
        let t = (self.power * a).max(-1.0);
        if t.abs() > TINY {
            libm::exp(libm::log1p(t) * self.root)
        } else {
            libm::exp(a * (1.0 - t * (0.5 - t / 3.0)))
        }
    }
}

/// The bound below which three terms of the series of `expm1` and `log1p` are exact to the last
/// digit.
const TINY: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::ints;
    use crate::generate::statistics::chi_square;

    /// Checks the frequencies of the first ranks and of the rest against the exact probabilities.
    fn frequencies_match(n: u64, s: f64) {
        let draws = 100_000;
        let zipf = Zipf::new(1, n as i64, s);
        let stream = base::Stream::new(base::Seed(42), "zipf", "test");
        let mut counts = vec![0_u32; n as usize + 1];
        for number in 0..draws {
            counts[zipf.draw(&mut stream.draw(number)) as usize] += 1;
        }
        let total: f64 = (1..=n).map(|rank| (rank as f64).powf(-s)).sum();
        let near = |count: u32, probability: f64, what: &str| {
            let share = f64::from(count) / draws as f64;
            // Five standard errors, and one count for the rarest ranks.
            let bound = 5.0 * (probability * (1.0 - probability) / draws as f64).sqrt();
            let bound = bound + 1.0 / draws as f64;
            assert!((share - probability).abs() < bound, "{what}: {share} {probability}");
        };
        let first = n.min(20);
        for rank in 1..=first {
            let probability = (rank as f64).powf(-s) / total;
            near(counts[rank as usize], probability, &format!("n {n} s {s} rank {rank}"));
        }
        let rest: f64 = (first + 1..=n).map(|rank| (rank as f64).powf(-s)).sum();
        let rest_count = counts[first as usize + 1..].iter().sum();
        near(rest_count, rest / total, &format!("n {n} s {s} rest"));
    }

    #[test]
    fn frequencies_follow_the_distribution() {
        for s in [0.0, 0.5, 0.99, 1.0, 1.000_000_001, 1.2, 3.0] {
            frequencies_match(10, s);
            frequencies_match(1_000, s);
        }
        frequencies_match(1, 0.99);
        frequencies_match(2, 0.99);
    }

    #[test]
    fn all_ranks_follow_the_distribution() {
        for s in [0.5, 0.99, 1.0, 2.0] {
            let mut counts = [0; 50];
            for value in ints(&format!("zipf(0, 49, {s})"), 100_000) {
                counts[value as usize] += 1;
            }
            let weights: Vec<f64> = (1..=50).map(|rank| f64::from(rank).powf(-s)).collect();
            let total: f64 = weights.iter().sum();
            chi_square(&counts, &weights.iter().map(|weight| weight / total).collect::<Vec<_>>());
        }
    }

    #[test]
    fn huge_ranges_and_steep_distributions_stay_in_range() {
        let all = ints("zipf(-9223372036854775808, 9223372036854775807, 0.5)", 1_000);
        assert!(all.iter().any(|value| *value > 0));
        assert!(ints("zipf(1, 1000000, 20)", 1_000).iter().all(|value| *value <= 2));
    }
}
