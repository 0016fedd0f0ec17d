//! The rate of false positives of a machine, from experiments that compare an arm with itself.

use workload::question::{Rounds, Scale};

use super::change::ChangeInterval;
use super::paired::{OrderModel, Pair, Paired};

/// Numbers of comparisons of an arm with itself, and of comparisons that found a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FalsePositives {
    /// Number of comparisons.
    pub comparisons: u32,
    /// Number of comparisons whose 95 % interval excludes zero.
    pub rejections: u32,
}

/// Maximum probability with which a sound machine is called unfit.
const UNFIT_BY_CHANCE: f64 = 0.02;

/// Rate at which intervals of 95 % exclude zero by chance.
const NOMINAL: f64 = 0.05;

impl FalsePositives {
    /// Divides the pairs of an experiment that compares an arm with itself into blocks of at least
    /// 6 consecutive rounds, and counts the comparisons of the blocks.
    ///
    /// Blocks share no run, so their comparisons are independent; other metrics of the same runs
    /// would not be.
    pub fn of_blocks(pairs: &[Pair], scale: Scale, model: OrderModel) -> FalsePositives {
        let least = Rounds::LEAST as usize;
        let blocks = pairs.len() / least;
        let end =
            |block: usize| if block + 1 == blocks { pairs.len() } else { (block + 1) * least };
        FalsePositives::of((0..blocks).map(|block| {
            let paired = Paired::of(&pairs[block * least..end(block)], scale, model);
            paired.ok()?.interval(NOMINAL)
        }))
    }

    /// Counts the intervals of comparisons; those without scatter are left out.
    pub fn of(intervals: impl IntoIterator<Item = Option<ChangeInterval>>) -> FalsePositives {
        let mut counted = FalsePositives::default();
        for interval in intervals.into_iter().flatten() {
            counted.comparisons += 1;
            counted.rejections += u32::from(interval.excludes_zero());
        }
        counted
    }

    /// Returns the sum of two counts.
    pub fn plus(self, other: FalsePositives) -> FalsePositives {
        FalsePositives {
            comparisons: self.comparisons + other.comparisons,
            rejections: self.rejections + other.rejections,
        }
    }

    /// Returns the rate of false positives; `None` without comparisons.
    pub fn rate(&self) -> Option<f64> {
        (self.comparisons > 0).then(|| f64::from(self.rejections) / f64::from(self.comparisons))
    }

    /// Returns true if there are more rejections than chance explains: on a sound machine, at most
    /// 2 % of the counts are that large. For 20 comparisons, more than 3 rejections are too many.
    pub fn is_unfit(&self) -> bool {
        self.rejections > most_rejections(self.comparisons)
    }
}

/// Returns the smallest number of rejections that is exceeded with a probability of at most
/// [`UNFIT_BY_CHANCE`], by the binomial distribution.
fn most_rejections(comparisons: u32) -> u32 {
    let n = f64::from(comparisons);
    let mut term = (n * (1.0 - NOMINAL).ln()).exp();
    let mut beyond = 1.0 - term;
    let mut rejections = 0;
    while beyond > UNFIT_BY_CHANCE && rejections < comparisons {
        rejections += 1;
        let k = f64::from(rejections);
        term *= (n - k + 1.0) / k * NOMINAL / (1.0 - NOMINAL);
        beyond -= term;
    }
    rejections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejections_are_counted() {
        let interval = |low, high| Some(ChangeInterval { low, high });
        let intervals = [interval(-0.1, 0.1), interval(0.01, 0.1), None, interval(-0.2, -0.1)];
        let counted = FalsePositives::of(intervals);
        assert_eq!(counted, FalsePositives { comparisons: 3, rejections: 2 });
        assert_eq!(counted.plus(counted).rate(), Some(4.0 / 6.0));
        assert_eq!(FalsePositives::default().rate(), None);
    }

    #[test]
    fn blocks_share_no_pair_and_use_all() {
        let order = super::super::paired::PairOrder::BaselineFirst;
        let pair = |arm: f64| Pair { baseline: 100.0, arm, order };
        let mut pairs: Vec<Pair> = (0..20).map(|n| pair([99.0, 101.0][n % 2])).collect();
        let count = |pairs: &[Pair]| {
            let counted = FalsePositives::of_blocks(pairs, Scale::Ratio, OrderModel::Random);
            (counted.comparisons, counted.rejections)
        };
        assert_eq!(count(&pairs), (3, 0));
        pairs[12..].iter_mut().for_each(|pair| pair.arm += 5.0);
        assert_eq!(count(&pairs), (3, 1));
        assert_eq!(count(&pairs[..5]), (0, 0));
        assert_eq!(count(&[pair(100.0); 12]), (0, 0));
    }

    /// Each of 20 comparisons finds a difference by chance with a probability of 5 %. The
    /// probability of more than 2 such false alarms is 7.5 %, and of more than 3 it is 1.6 %. So a
    /// machine is judged unfit at 4 false alarms.
    #[test]
    fn machine_is_unfit_only_beyond_chance() {
        let of = |comparisons, rejections| FalsePositives { comparisons, rejections };
        assert!(!of(20, 3).is_unfit());
        assert!(of(20, 4).is_unfit());
        assert!(!of(0, 0).is_unfit());
        assert!(!of(1, 1).is_unfit() && of(2, 2).is_unfit());
        assert!(!of(400, 29).is_unfit() && of(400, 36).is_unfit());
    }
}
