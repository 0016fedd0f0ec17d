//! Search for the capacity: the highest rate, or the largest concurrency, at which all conditions
//! hold.
//!
//! The search is a pure function: [`next_step()`] takes the [`CapacityOrder`] and all [`Trial`]s so
//! far, and returns the next trial to run or the resulting [`Capacity`]. A resumed search passes
//! the recorded trials again and continues after the last one.
//!
//! A trial is one run at one value. A condition on a quantile is judged by the number of requests
//! that reach the bound, not by the measured quantile ([`TrialOutcome`]). The search doubles the
//! value until a trial fails, or halves the value until a trial does not fail. It then narrows the
//! bracket, runs rounds of five shuffled values around the estimate, and fits a regression to their
//! counts. At a smooth boundary, the interval of the regression is also the interval of the search.
//! A value is published only after trials with fresh seeds have confirmed it.

mod boundary;
mod bracket;
mod confirm;
mod forecast;
mod isotonic;
mod judge;
mod measure;
mod metastable;
mod order;
mod outcome;
mod regression;
mod repetition;
mod replay;
mod result;
mod rounds;
mod search;
#[cfg(test)]
mod synthetic;
mod trial;

pub use forecast::{Forecast, forecast};
pub use judge::judge_trial;
pub use measure::count_dispersion;
pub use order::{CapacityOrder, OrderError};
pub use outcome::{FailReason, InvalidReason, TrialOutcome};
pub use repetition::{
    CapacityRepetition, RepetitionReason, SEARCH_ERROR, SearchFinding, repeat_capacity,
};
pub use result::{
    Boundary, Capacity, Interval, Irregular, JudgedTrial, Metastable, Step, TrialRequest,
};
pub use search::next_step;
pub use trial::{ExceedanceCount, LoadLimit, Measure, Phase, Trial, TrialContext};
