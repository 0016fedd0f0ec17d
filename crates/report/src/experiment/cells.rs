//! Table cells that several parts of an experiment's answer share.

use workload::question::Scale;

use super::sentence;
use crate::page::{Cell, FRACTION};

/// Returns the cell of a change, with its sign.
pub(super) fn change_cell(change: f64, scale: Scale) -> Cell {
    Cell::formatted(sentence::signed(change, scale), change, FRACTION)
}
