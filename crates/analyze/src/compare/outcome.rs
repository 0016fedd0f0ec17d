//! Outcomes of bets.

use workload::question::ChangeRange;

use super::change::ChangeInterval;
use super::paired::Paired;

/// The outcome of a bet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetOutcome {
    /// The whole interval lies in the range.
    Held,
    /// The whole interval lies outside of the range.
    Failed,
    /// The interval includes an end of the range, or there is no interval.
    Undecided {
        /// Number of further pairs that would probably decide the bet; `None` if more than 10,000
        /// pairs in total are needed, or if the pairs do not scatter.
        more_pairs: Option<u32>,
    },
}

/// Judges a bet by the pairs, with an interval that misses the true change with a probability of
/// `alpha`.
pub fn judge_bet(range: ChangeRange, paired: &Paired, alpha: f64) -> BetOutcome {
    let Some(ChangeInterval { low, high }) = paired.interval(alpha) else {
        return BetOutcome::Undecided { more_pairs: None };
    };
    if low >= range.low() && high <= range.high() {
        return BetOutcome::Held;
    }
    if high < range.low() || low > range.high() {
        return BetOutcome::Failed;
    }
    let more_pairs = paired.more_pairs_to_clear(&[range.low(), range.high()], alpha);
    BetOutcome::Undecided { more_pairs }
}

impl BetOutcome {
    /// Returns the name of this outcome in documents.
    pub fn name(self) -> &'static str {
        match self {
            BetOutcome::Held => "held",
            BetOutcome::Failed => "failed",
            BetOutcome::Undecided { .. } => "undecided",
        }
    }

    /// Returns true if further pairs are not needed.
    pub fn is_decided(self) -> bool {
        match self {
            BetOutcome::Held | BetOutcome::Failed => true,
            BetOutcome::Undecided { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::paired::{OrderModel, Pair, PairOrder};
    use workload::question::Scale;

    /// Returns pairs whose interval is `mean` ± about 1.79 % at an error probability of 5 %.
    fn paired(mean: f64, spread: f64) -> Paired {
        let signs = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let pairs = signs.map(|sign| Pair {
            baseline: 1.0,
            arm: f64::exp(mean + sign * spread),
            order: PairOrder::BaselineFirst,
        });
        Paired::of(&pairs, Scale::Ratio, OrderModel::Random).unwrap()
    }

    fn check(mean: f64, expected: &str) {
        let range = ChangeRange { first: -0.05, last: -0.25 };
        let outcome = judge_bet(range, &paired(mean, 0.02), 0.05);
        assert_eq!(outcome.name(), expected, "{mean}: {outcome:?}");
    }

    #[test]
    fn bet_is_judged_by_the_whole_interval() {
        check(-0.10, "held");
        check(-0.055, "undecided");
        check(-0.04, "undecided");
        check(0.0, "failed");
        check(-0.28, "undecided");
        check(-0.40, "failed");
    }

    #[test]
    fn bet_on_pairs_without_scatter_is_undecided() {
        let range = ChangeRange { first: -0.05, last: -0.25 };
        let outcome = judge_bet(range, &paired(-0.1, 0.0), 0.05);
        assert_eq!(outcome, BetOutcome::Undecided { more_pairs: None });
    }

    #[test]
    fn undecided_bet_says_how_many_pairs_it_needs() {
        let range = ChangeRange { first: -0.05, last: -0.25 };
        // The mean is 1 % away from the end of the range: the half-width must shrink from 1.8 % to
        // 1 %.
        let BetOutcome::Undecided { more_pairs: Some(more) } =
            judge_bet(range, &paired((-0.06f64).ln_1p(), 0.02), 0.05)
        else {
            panic!("decided");
        };
        assert!((8..=14).contains(&more), "{more}");
    }
}
