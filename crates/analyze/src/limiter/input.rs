//! Input of the limiter's analysis: the input of the checks, the observations and the load.

use super::demand::Demand;
use super::signals::Signals;
use crate::checks::input::CheckInput;
use crate::phases::SideEffects;

/// Input of the analysis.
pub(super) struct LimiterInput<'f, 'a> {
    /// Evidence of the run, with the values that the checks derive from it.
    pub(super) check_input: &'f CheckInput<'a>,
    /// Observations in the window of the run, or during the load of a table.
    pub(super) signals: Signals<'a>,
    /// Load on the database.
    pub(super) demand: Demand,
    /// Effects of intermittent activities on jobs; empty for the load of a table.
    pub(super) side_effects: &'f [SideEffects],
}
