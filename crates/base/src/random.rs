//! Random numbers that are pure functions of their position.
//!
//! A generator has no hidden state: the value at place *p* of job *j* in request *n* of a run with
//! seed *s* is `Stream::new(s, j, p).draw(n)`, independent of the timing, the thread and the other
//! jobs. Any row can therefore be generated again for validation or on another machine.
//!
//! The algorithm is SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
//! generators", OOPSLA 2014) started at a hash of the position. It is counter-based by
//! construction, costs about a nanosecond a draw and is fixed here for good: the golden values in
//! the tests are part of the contract. Logarithms come from `libm`, whose results do not depend on
//! the platform.

use crate::hash::text_hash;

/// The odd constant by which SplitMix64 advances: 2⁶⁴ divided by the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The seed of a run: runs of one workload with equal seeds send the same requests. The default is
/// 42.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Default for Seed {
    fn default() -> Seed {
        Seed(42)
    }
}

/// One sequence of independent random numbers, addressed by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
}

impl Stream {
    /// Makes the stream of one place in one job of one run. `job` and `place` are names, and adding
    /// a job or a column does not change the values of the others.
    pub fn new(seed: Seed, job: &str, place: &str) -> Stream {
        let job_key = mix(seed.0 ^ text_hash(job));
        Stream { key: mix(job_key.wrapping_add(GAMMA) ^ text_hash(place)) }
    }

    /// Returns a generator of the random numbers for the value at index `n`.
    #[inline]
    pub fn draw(&self, n: u64) -> Draw {
        Draw { state: mix(self.key ^ n.wrapping_mul(GAMMA)) }
    }
}

/// A short sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
}

impl Draw {
    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Returns a double in [0, 1) with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a double in (0, 1], whose logarithm is finite.
    #[inline]
    pub fn positive_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Returns a uniformly distributed integer in [0, n) (Lemire: "Fast random integer generation
    /// in an interval", ACM TOMACS 2019). `n` = 0 means all 2⁶⁴ numbers.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return self.bits();
        }
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let rejected = n.wrapping_neg() % n;
            while (product as u64) < rejected {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Returns an exponentially distributed double with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.positive_unit())
    }

    /// Returns a standard normal double (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

/// Applies the finalizer of SplitMix64 (variant 13 of Stafford's mixers).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(Seed::default(), "read", "query 1")
    }

    #[test]
    fn golden_values_never_change() {
        let bits: Vec<u64> = (0..4).map(|n| stream().draw(n).bits()).collect();
        let mut draw = stream().draw(7);
        let small: Vec<u64> = (0..6).map(|_| draw.below(100)).collect();
        let real = [draw.unit(), draw.exponential(), draw.normal()];
        assert_eq!(
            (bits.as_slice(), small.as_slice(), real.map(f64::to_bits)),
            (GOLDEN_BITS.as_slice(), GOLDEN_SMALL.as_slice(), GOLDEN_REAL)
        );
    }

    const GOLDEN_BITS: [u64; 4] =
        [8613275464080670097, 15240583313966952403, 8607484553768277229, 4166383907967805813];
    const GOLDEN_SMALL: [u64; 6] = [40, 72, 75, 57, 93, 39];
    const GOLDEN_REAL: [u64; 3] = [4606784554133976141, 4609396056167511408, 4608277566664544551];

    #[test]
    fn draw_depends_on_every_part_of_the_position() {
        let here = stream().draw(3).bits();
        assert_ne!(here, Stream::new(Seed(43), "read", "query 1").draw(3).bits());
        assert_ne!(here, Stream::new(Seed(42), "write", "query 1").draw(3).bits());
        assert_ne!(here, Stream::new(Seed(42), "read", "query 2").draw(3).bits());
        assert_ne!(here, stream().draw(4).bits());
        assert_eq!(here, stream().draw(3).bits());
    }

    #[test]
    fn moments_match_the_distributions() {
        let n = 200_000;
        let mean = |f: fn(&mut Draw) -> f64| {
            (0..n).map(|i| f(&mut stream().draw(i))).sum::<f64>() / n as f64
        };
        // Each bound is five standard errors.
        let error = 5.0 / (n as f64).sqrt();
        assert!((mean(|d| d.unit()) - 0.5).abs() < error * 0.289);
        assert!((mean(|d| d.exponential()) - 1.0).abs() < error);
        assert!((mean(|d| d.exponential().powi(2)) - 2.0).abs() < error * 4.48);
        assert!(mean(|d| d.normal()).abs() < error);
        assert!((mean(|d| d.normal().powi(2)) - 1.0).abs() < error * 1.415);
        assert!((mean(|d| d.below(7) as f64) - 3.0).abs() < error * 2.0);
    }

    #[test]
    fn neighbouring_numbers_are_uncorrelated() {
        let n = 100_000;
        let values: Vec<f64> = (0..=n).map(|i| stream().draw(i).unit() - 0.5).collect();
        let covariance = values.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n as f64;
        assert!((covariance * 12.0).abs() < 5.0 / (n as f64).sqrt(), "{covariance}");
    }

    #[test]
    fn below_covers_exactly_its_range() {
        let seen: Vec<u64> = (0..1_000).map(|i| stream().draw(i).below(3)).collect();
        assert_eq!(seen.iter().min(), Some(&0));
        assert_eq!(seen.iter().max(), Some(&2));
        assert_eq!(stream().draw(1).below(1), 0);
    }
}
