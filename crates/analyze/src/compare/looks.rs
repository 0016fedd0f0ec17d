//! The looks at an experiment: when results may be judged, and with which confidence.
//!
//! A result that is judged after every pair until it is significant is wrong in more than one of
//! five experiments. So the looks are planned before the first run and share the error: with k
//! looks each may err in 5 % / k of the experiments (Bonferroni; Pocock, "Group sequential methods
//! in the design and analysis of clinical trials", 1977, is less strict). The error of a look is
//! shared in turn by the bets and other primary comparisons.

use std::fmt;

/// Probability that any primary comparison of an experiment claims a difference although there is
/// none.
const ALPHA: f64 = 0.05;

/// Numbers of pairs at the looks of [`LookPlan::Auto`].
const AUTO: [u32; 3] = [8, 12, 20];

/// The plan of the looks at an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookPlan {
    /// One look after this number of pairs.
    Fixed(u32),
    /// Looks after 8, 12 and 20 pairs; the first that decides ends the experiment.
    Auto,
}

/// A look that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Number of pairs that were judged.
    pub pairs: u32,
    /// True if every primary comparison was decided.
    pub is_decided: bool,
}

/// The next step of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Run rounds until there is this number of pairs.
    Run {
        /// Number of pairs in all.
        pairs: u32,
    },
    /// Judge exactly this many pairs, the first ones, and record the look.
    Look {
        /// Number of pairs to judge.
        pairs: u32,
    },
    /// The experiment is over: a look decided it, or all looks were taken.
    Finished,
}

/// A number of rounds that is too small for an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewRounds {
    /// Number of rounds.
    pub rounds: u32,
}

impl fmt::Display for TooFewRounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rounds, fewest) = (self.rounds, LookPlan::FEWEST);
        write!(f, "{rounds} rounds are too few for an interval; write at least {fewest}")
    }
}

impl std::error::Error for TooFewRounds {}

impl LookPlan {
    /// Minimum number of pairs of an experiment: with fewer, not even equal signs of all
    /// differences are significant (2/2⁵ is above 5 %).
    pub const FEWEST: u32 = 6;

    /// Creates the plan for a number of rounds.
    ///
    /// # Errors
    /// Fails with fewer rounds than [`LookPlan::FEWEST`].
    pub fn fixed(rounds: u32) -> Result<LookPlan, TooFewRounds> {
        match rounds >= LookPlan::FEWEST {
            true => Ok(LookPlan::Fixed(rounds)),
            false => Err(TooFewRounds { rounds }),
        }
    }

    /// Returns the numbers of pairs of all looks, in order.
    pub fn looks(&self) -> &[u32] {
        match self {
            LookPlan::Fixed(rounds) => std::slice::from_ref(rounds),
            LookPlan::Auto => &AUTO,
        }
    }

    /// Returns the number of pairs of the last look.
    pub fn most_pairs(&self) -> u32 {
        self.looks().last().copied().unwrap_or_default()
    }

    /// Returns the error probability of one look at one of several primary comparisons.
    pub fn alpha(&self, primary_comparisons: usize) -> f64 {
        ALPHA / self.looks().len() as f64 / primary_comparisons.max(1) as f64
    }

    /// Returns the next step, after the looks that were taken and the pairs that were run.
    ///
    /// The looks are read from the record: a resumed experiment continues with the next look and
    /// never repeats a look that was taken. A look judges exactly its number of pairs, even if more
    /// pairs were run before it.
    pub fn next(&self, taken: &[Look], pairs: u32) -> NextStep {
        if taken.iter().any(|look| look.is_decided) {
            return NextStep::Finished;
        }
        let reached = taken.iter().map(|look| look.pairs).max().unwrap_or_default();
        match self.looks().iter().find(|look| **look > reached) {
            None => NextStep::Finished,
            Some(&due) if pairs >= due => NextStep::Look { pairs: due },
            Some(&due) => NextStep::Run { pairs: due },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::student::critical_t;

    const fn look(pairs: u32, is_decided: bool) -> Look {
        Look { pairs, is_decided }
    }

    fn check(plan: LookPlan, taken: &[Look], pairs: u32, expected: NextStep) {
        assert_eq!(plan.next(taken, pairs), expected, "{plan:?} {taken:?} {pairs}");
    }

    #[test]
    fn automatic_plan_looks_three_times() {
        let auto = LookPlan::Auto;
        check(auto, &[], 0, NextStep::Run { pairs: 8 });
        check(auto, &[], 7, NextStep::Run { pairs: 8 });
        check(auto, &[], 8, NextStep::Look { pairs: 8 });
        check(auto, &[look(8, false)], 8, NextStep::Run { pairs: 12 });
        check(auto, &[look(8, false)], 12, NextStep::Look { pairs: 12 });
        check(auto, &[look(8, false), look(12, true)], 12, NextStep::Finished);
        let all = [look(8, false), look(12, false), look(20, false)];
        check(auto, &all, 20, NextStep::Finished);
    }

    #[test]
    fn fixed_plan_looks_once() {
        let plan = LookPlan::fixed(10).unwrap();
        check(plan, &[], 9, NextStep::Run { pairs: 10 });
        check(plan, &[], 10, NextStep::Look { pairs: 10 });
        check(plan, &[look(10, false)], 10, NextStep::Finished);
        assert_eq!(LookPlan::fixed(5), Err(TooFewRounds { rounds: 5 }));
        let message = TooFewRounds { rounds: 5 }.to_string();
        assert_eq!(message, "5 rounds are too few for an interval; write at least 6");
    }

    #[test]
    fn resumed_experiment_gets_no_extra_look() {
        // Killed after a look, at any number of pairs: the next look is the planned one.
        for pairs in 8..12 {
            check(LookPlan::Auto, &[look(8, false)], pairs, NextStep::Run { pairs: 12 });
        }
        // Killed before the look was recorded, with more pairs than it judges.
        check(LookPlan::Auto, &[], 10, NextStep::Look { pairs: 8 });
        check(LookPlan::Auto, &[look(8, true)], 10, NextStep::Finished);
    }

    #[test]
    fn looks_and_bets_share_the_error() {
        for (pairs, t) in [(8.0, 3.128), (12.0, 2.820), (20.0, 2.625)] {
            let critical = critical_t(LookPlan::Auto.alpha(1), pairs - 1.0);
            assert!((critical - t).abs() < 5e-4, "{critical}");
        }
        assert_eq!(LookPlan::Fixed(6).alpha(1), 0.05);
        assert_eq!(LookPlan::Fixed(6).alpha(0), 0.05);
        assert!((LookPlan::Auto.alpha(2) * 6.0 - 0.05).abs() < 1e-15);
    }
}
