//! Comparison of runs: pure functions from the figures of runs to changes with intervals.
//!
//! The unit of analysis is one run. [`RunFigures`] hold one number per metric; a round runs each
//! arm once, and a round's two numbers of a metric are a [`Pair`]. [`Paired`] estimates the change
//! from the pairs, [`LookPlan`] determines when the estimate may be judged, and [`Conclusion`] and
//! [`BetOutcome`] are the results. [`compare()`] judges all metrics of an experiment in this way.
//! [`Unpaired`] compares runs that were not interleaved, and [`compare_samples()`] compares both
//! kinds of [`Sample`]. [`objections()`] returns the reasons not to compare runs.
//!
//! Method: paired differences of logarithms and Student's t, with few planned looks and
//! Bonferroni's correction over looks and bets. The self-test measures its rates of error.

mod aa;
mod arm_id;
mod canary;
mod change;
mod comparison;
mod conclusion;
mod cpu_share;
mod figures;
mod looks;
mod objection;
mod objective;
mod outcome;
mod paired;
mod regression;
mod repetition;
mod sample;
mod standard_error;
mod unpaired;
mod validity;

pub use crate::student::{critical_t, two_sided_p};
pub use aa::FalsePositives;
pub use arm_id::ArmId;
pub use canary::{MachineChange, machine_changes};
pub use change::{ChangeInterval, Incomparable};
pub(crate) use change::{to_change, to_scale};
pub use comparison::{
    ArmComparison, ArmSample, Compared, Comparison, Design, MetricChange, Terms, compare,
    compare_samples,
};
pub use conclusion::{Conclusion, conclude};
pub use cpu_share::{CpuShare, ObservedServer};
pub use figures::{JobRates, Missing, RunFigures, RunVerdict};
pub use looks::{Look, LookPlan, NextStep, TooFewRounds};
pub use objection::{
    FactDifference, GroupConditions, Objection, ObjectionKind, Problem, RunConditions, Unfinished,
    objections,
};
pub use objective::{ArmSlo, RunSlo, slos_of};
pub use outcome::{BetOutcome, judge_bet};
pub use paired::{OrderModel, Pair, PairOrder, Paired};
pub use regression::{JudgedLimit, RegressionOutcome, judge_limits, judge_regression};
pub use repetition::{Repetition, RepetitionOutcome, repeat};
pub use sample::{CountedRun, NotCompared, Sample, SampleSize, SampleValues};
pub(crate) use standard_error::{StandardError, scatter};
pub use unpaired::Unpaired;
pub use validity::{
    ArmValidity, JudgedRun, MOST_REPEATS, Repeats, RoundState, judge_round, most_repeated_rounds,
    validity_of,
};
