//! `permute(n)`: each number from 1 to n once, in an order that looks random.

use base::Stream;

const ROUNDS: usize = 6;

/// A keyed bijection of 0 to n-1 without a table.
///
/// A Feistel network over the smallest power of two, at least 4, that holds n, applied until the
/// result is below n (cycle walking; Black, Rogaway: "Ciphers with arbitrary finite domains",
/// CT-RSA 2002). For n above 2, the power is below 2n, and a walk has fewer than two steps on
/// average; it ends because a bijection returns to its starting point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Permute {
    n: u64,
    right_bits: u32,
    left_mask: u64,
    right_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permute {
    /// Returns the smallest and the largest value.
    pub(crate) fn ends(&self) -> (i64, i64) {
        (1, i64::try_from(self.n).unwrap_or(i64::MAX))
    }

    /// Creates the permutation of 1 to n that a random stream determines.
    pub(crate) fn new(n: u64, stream: Stream) -> Permute {
        let bits = (64 - n.saturating_sub(1).leading_zeros()).max(2);
        let right_bits = bits.div_ceil(2);
        let mut draw = stream.draw(0);
        Permute {
            n: n.max(1),
            right_bits,
            left_mask: (1 << (bits - right_bits)) - 1,
            right_mask: (1 << right_bits) - 1,
            keys: std::array::from_fn(|_| draw.bits()),
        }
    }

    /// Returns the limit n.
    pub(crate) fn limit(&self) -> u64 {
        self.n
    }

    /// Returns the value for the request or row with this number.
    pub(crate) fn at(&self, number: u64) -> i64 {
        let mut position = number % self.n;
        loop {
            position = self.shuffle(position);
            if position < self.n {
                return (position + 1) as i64;
            }
        }
    }

    /// Applies the Feistel network, a bijection of all numbers below its power of two.
    fn shuffle(&self, position: u64) -> u64 {
        let mut left = position >> self.right_bits;
        let mut right = position & self.right_mask;
        for keys in self.keys.chunks_exact(2) {
            left ^= scramble(right, keys[0]) & self.left_mask;
            right ^= scramble(left, keys[1]) & self.right_mask;
        }
        left << self.right_bits | right
    }
}

/// Mixes all bits of both numbers: the halves of a 128-bit product are folded together.
#[inline]
fn scramble(half: u64, key: u64) -> u64 {
    let product = u128::from(half ^ key) * u128::from(key | 1);
    (product >> 64) as u64 ^ product as u64 ^ (product >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Seed;

    fn permutation(n: u64, seed: u64) -> Permute {
        Permute::new(n, Stream::new(Seed(seed), "job", "place"))
    }

    #[test]
    fn numbers_are_a_permutation() {
        let small = 1..=300;
        for n in small.chain([512, 513, 1_000, 4_095, 4_096, 4_097, 65_537, 100_003]) {
            let permute = permutation(n, 42);
            let mut seen = vec![false; n as usize];
            for number in 0..n {
                let value = permute.at(number);
                assert!(!std::mem::replace(&mut seen[value as usize - 1], true), "{n}: {value}");
            }
            assert_eq!(permute.at(n), permute.at(0), "{n}");
        }
    }

    #[test]
    fn the_order_looks_random_and_depends_on_the_seed() {
        let n = 10_000;
        let (one, other) = (permutation(n, 1), permutation(n, 2));
        let fixed = (0..n).filter(|i| one.at(*i) == *i as i64 + 1).count();
        let same = (0..n).filter(|i| one.at(*i) == other.at(*i)).count();
        let rising = (1..n).filter(|i| one.at(*i) > one.at(*i - 1)).count() as f64;
        // A random permutation has about one fixed point, and half of its values are above the
        // value before; the standard deviation of their number is √(n/12).
        assert!(fixed < 8 && same < 8, "{fixed} {same}");
        assert!((rising - n as f64 / 2.0).abs() < 5.0 * (n as f64 / 12.0).sqrt(), "{rising}");
    }

    #[test]
    fn each_position_reaches_each_place() {
        // The first value of permutations of 12 numbers, over 12,000 seeds: each number occurs
        // about 1,000 times.
        let mut counts = [0_u32; 12];
        for seed in 0..12_000 {
            counts[permutation(12, seed).at(0) as usize - 1] += 1;
        }
        let deviation = (12_000.0 * (1.0 / 12.0) * (11.0 / 12.0_f64)).sqrt();
        for count in counts {
            assert!((f64::from(count) - 1_000.0).abs() < 5.0 * deviation, "{counts:?}");
        }
    }
}
