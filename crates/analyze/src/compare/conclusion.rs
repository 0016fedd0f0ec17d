//! Conclusions from the interval of a change.

use workload::question::Direction;

use super::change::ChangeInterval;
use super::paired::Paired;

/// A conclusion about the change of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// The whole interval lies beyond the smallest change that matters, on the better side.
    Better,
    /// The whole interval lies beyond the smallest change that matters, on the worse side.
    Worse,
    /// The whole interval lies within twice the smallest change that matters, on both sides.
    Equivalent,
    /// The interval permits none of the conclusions above.
    Undecided {
        /// Number of further pairs that would probably lead to one of these conclusions; `None` if
        /// more than 10,000 pairs in total are needed, or if the runs were not interleaved.
        more_pairs: Option<u32>,
    },
    /// The runs do not scatter: no interval, and no claim.
    NoScatter,
    /// A single run of the baseline or of the arm: no interval, and no claim.
    SingleRun,
}

/// Draws the conclusion from an interval; `more_pairs` is called if the conclusion is undecided.
pub fn conclude(
    interval: Option<ChangeInterval>,
    better: Direction,
    delta: f64,
    more_pairs: impl FnOnce() -> Option<u32>,
) -> Conclusion {
    let Some(ChangeInterval { low, high }) = interval else {
        return Conclusion::NoScatter;
    };
    match better {
        Direction::Higher if low > delta => Conclusion::Better,
        Direction::Higher if high < -delta => Conclusion::Worse,
        Direction::Lower if high < -delta => Conclusion::Better,
        Direction::Lower if low > delta => Conclusion::Worse,
        Direction::Higher | Direction::Lower if low > -2.0 * delta && high < 2.0 * delta => {
            Conclusion::Equivalent
        }
        Direction::Higher | Direction::Lower => Conclusion::Undecided { more_pairs: more_pairs() },
    }
}

impl Conclusion {
    /// Returns the name of this conclusion in documents.
    pub fn name(self) -> &'static str {
        match self {
            Conclusion::Better => "better",
            Conclusion::Worse => "worse",
            Conclusion::Equivalent => "equivalent",
            Conclusion::Undecided { .. } => "undecided",
            Conclusion::NoScatter => "no-scatter",
            Conclusion::SingleRun => "single-run",
        }
    }

    /// Returns true if the conclusion claims a difference.
    pub fn claims(self) -> bool {
        match self {
            Conclusion::Better | Conclusion::Worse => true,
            Conclusion::Equivalent
            | Conclusion::Undecided { .. }
            | Conclusion::NoScatter
            | Conclusion::SingleRun => false,
        }
    }

    /// Returns true if further pairs are not needed.
    pub fn is_decided(self) -> bool {
        match self {
            Conclusion::Better | Conclusion::Worse | Conclusion::Equivalent => true,
            // Further pairs of runs that do not scatter would have the same values.
            Conclusion::NoScatter => true,
            Conclusion::Undecided { .. } | Conclusion::SingleRun => false,
        }
    }
}

/// Returns the number of further pairs after which a claim or an equivalence is probable: the
/// smaller number of the two. `None` if both are too large.
pub(super) fn pairs_to_conclude(paired: &Paired, delta: f64, alpha: f64) -> Option<u32> {
    let change = paired.change();
    let inner = if change < 0.0 { -delta } else { delta };
    let mut needed = Vec::new();
    if change.abs() > delta {
        needed.extend(paired.more_pairs_to_clear(&[inner], alpha));
    }
    if change.abs() < 2.0 * delta {
        needed.extend(paired.more_pairs_to_clear(&[-2.0 * delta, 2.0 * delta], alpha));
    }
    needed.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::paired::{OrderModel, Pair, PairOrder};
    use workload::question::Scale;

    fn check(low: f64, high: f64, better: Direction, expected: Conclusion) {
        let interval = Some(ChangeInterval { low, high });
        assert_eq!(conclude(interval, better, 0.01, || Some(5)), expected, "{low} … {high}");
    }

    #[test]
    fn claim_needs_the_whole_interval_beyond_the_smallest_change() {
        let undecided = Conclusion::Undecided { more_pairs: Some(5) };
        check(0.011, 0.05, Direction::Higher, Conclusion::Better);
        check(0.009, 0.05, Direction::Higher, undecided);
        check(-0.05, -0.011, Direction::Higher, Conclusion::Worse);
        check(-0.05, -0.011, Direction::Lower, Conclusion::Better);
        check(0.011, 0.05, Direction::Lower, Conclusion::Worse);
        check(-0.019, 0.019, Direction::Higher, Conclusion::Equivalent);
        check(-0.021, 0.019, Direction::Higher, undecided);
        // A claim takes precedence over an equivalence.
        check(0.011, 0.019, Direction::Higher, Conclusion::Better);
    }

    #[test]
    fn no_interval_gives_no_claim() {
        let conclusion = conclude(None, Direction::Higher, 0.01, || Some(5));
        assert_eq!(conclusion, Conclusion::NoScatter);
        assert!(!conclusion.claims());
    }

    fn paired(mean: f64, spread: f64) -> Paired {
        let signs = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let pairs = signs.map(|sign| Pair {
            baseline: 1.0,
            arm: f64::exp(mean + sign * spread * (7.0f64 / 8.0).sqrt()),
            order: PairOrder::BaselineFirst,
        });
        Paired::of(&pairs, Scale::Ratio, OrderModel::Random).unwrap()
    }

    /// With a spread of 2 % and a change of 3 %, the interval lies above 1 % if t · 2 % / √n is
    /// below 1.96 %: 7 pairs are enough. As 8 have run already, the answer is 1, the smallest
    /// possible answer. With a change of 2 %, 18 pairs are needed.
    #[test]
    fn further_pairs_follow_from_the_spread() {
        assert_eq!(pairs_to_conclude(&paired(0.03, 0.02), 0.01, 0.05), Some(1));
        let more = pairs_to_conclude(&paired(0.0198, 0.02), 0.01, 0.05).unwrap();
        assert!((9..=11).contains(&more), "{more}");
        let equivalent = pairs_to_conclude(&paired(0.0, 0.04), 0.01, 0.05).unwrap();
        assert!((9..=11).contains(&equivalent), "{equivalent}");
        assert_eq!(pairs_to_conclude(&paired(0.0, 3.0), 0.01, 0.05), None);
    }
}
