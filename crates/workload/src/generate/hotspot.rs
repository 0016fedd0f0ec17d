//! `hotspot(lo, hi, hot=0.2, share=0.8)`: a small part of the values gets most of the draws.

use base::Draw;

use super::uniform::Ints;

/// A range whose first values are hot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hotspot {
    hot: Ints,
    cold: Ints,
    fraction: f64,
    share: f64,
}

impl Hotspot {
    /// Creates the distribution over a range: the first `fraction` of its values get `share` of the
    /// draws.
    pub(crate) fn new((lo, hi): (i64, i64), fraction: f64, share: f64) -> Hotspot {
        let beyond_first = hi.abs_diff(lo);
        let hot = libm::round(fraction * (beyond_first as f64 + 1.0)) as u64;
        let hot = hot.clamp(1, beyond_first.max(1));
        let last = lo.saturating_add_unsigned(hot - 1).min(hi);
        let cold = Ints::between(last.saturating_add(1).min(hi), hi);
        Hotspot { hot: Ints::between(lo, last), cold, fraction, share }
    }

    /// Returns the smallest and the largest value of the range.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (self.hot.ends().0, self.cold.ends().1)
    }

    /// Returns the smallest and the largest value that can occur. If one of the two parts of the
    /// range has no share, only values of the other part can occur.
    pub(crate) fn possible_ends(&self) -> (i64, i64) {
        match self.share {
            share if share <= 0.0 => self.cold.ends(),
            share if share >= 1.0 => self.hot.ends(),
            _ => self.ends(),
        }
    }

    /// Returns the fraction of the values that is hot, and its share of the draws.
    pub(crate) fn fractions(&self) -> (f64, f64) {
        (self.fraction, self.share)
    }

    pub(crate) fn draw(&self, draw: &mut Draw) -> i64 {
        let part = if draw.unit() < self.share { self.hot } else { self.cold };
        part.draw(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::call::golden::ints;
    use crate::generate::statistics::chi_square;

    /// Checks the frequencies of the values from 1 to `n`; the first `hot` together get `share`.
    fn check_frequencies(call: &str, n: usize, hot: usize, share: f64) {
        let mut counts = vec![0; n];
        for value in ints(call, 60_000) {
            counts[value as usize - 1] += 1;
        }
        let each = |at| match at < hot {
            true => share / hot as f64,
            false => (1.0 - share) / (n - hot) as f64,
        };
        let law: Vec<f64> = (0..n).map(each).collect();
        chi_square(&counts, &law);
    }

    #[test]
    fn each_part_has_its_share() {
        check_frequencies("hotspot(1, 50)", 50, 10, 0.8);
        check_frequencies("hotspot(1, 7, hot=0.5, share=0.25)", 7, 4, 0.25);
        check_frequencies("hotspot(1, 10, hot=0)", 10, 1, 0.8);
        check_frequencies("hotspot(1, 10, hot=1)", 10, 9, 0.8);
        check_frequencies("hotspot(1, 6, hot=0.5, share=0.5)", 6, 3, 0.5);
    }

    #[test]
    fn ranges_of_any_size_keep_their_ends() {
        let inside = |hotspot: &Hotspot, lo, hi| {
            let stream = base::Stream::new(base::Seed(1), "", "");
            (0..1_000).all(|n| (lo..=hi).contains(&hotspot.draw(&mut stream.draw(n))))
        };
        for (lo, hi) in [(7, 7), (1, 2), (i64::MIN, i64::MAX), (i64::MAX - 1, i64::MAX)] {
            for fraction in [0.0, 0.5, 1.0] {
                let hotspot = Hotspot::new((lo, hi), fraction, 0.5);
                assert_eq!(hotspot.ends(), (lo, hi));
                assert!(inside(&hotspot, lo, hi), "{lo} {hi} {fraction}");
            }
        }
        assert!(ints("hotspot(1, 10, share=1)", 1_000).iter().all(|value| *value <= 2));
        assert!(ints("hotspot(1, 10, share=0)", 1_000).iter().all(|value| *value > 2));
    }
}
