//! Input of the analysis: the findings of the checks, the observations and the load.

use super::demand::Demand;
use super::signals::Signals;
use crate::checks::input::CheckInput;
use crate::phases::SideEffects;

/// Input of the analysis.
pub(super) struct LimiterInput<'f, 'a> {
    pub(super) findings: &'f CheckInput<'a>,
    pub(super) signals: Signals<'a>,
    pub(super) demand: Demand,
    pub(super) side_effects: &'f [SideEffects],
}
