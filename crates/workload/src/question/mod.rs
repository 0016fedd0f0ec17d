//! The parts of a question about several runs: metrics by which runs are compared, bets on them,
//! the changes that matter, and limits of regressions.
//!
//! They are parsed here, with positions for messages, and judged by `analyze`. This module depends
//! on [`crate::read`] and the messages only, so that both the checks of files and the command line
//! can use it.

mod bet;
mod delta;
mod metric;
mod percent;
mod regression;

pub use bet::{Bet, ChangeRange};
pub use delta::Deltas;
pub use metric::{
    CpuMode, CpuOwner, Direction, Quantity, RunMetric, Scale, Subject, TimeStatistic,
};
pub use percent::signed_percent;
pub use regression::RegressionLimit;
