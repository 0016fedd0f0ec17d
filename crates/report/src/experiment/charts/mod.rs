//! The figures of an experiment: effects and pairs of a comparison, the curves of a sweep, or the
//! trials of a capacity search.

mod capacity;
mod cpu;
mod curve;
mod effects;
mod positions;
mod readable;
mod subject;
mod sweep;
#[cfg(test)]
mod tests;

use super::view::ExperimentView;
use crate::figure::Figure;

/// Returns the figures of an experiment, the most important first.
pub fn experiment_figures(view: &ExperimentView) -> Vec<Figure> {
    match (&view.capacity, &view.sweep) {
        (Some(search), _) => capacity::figures(search),
        (None, Some(sweep)) => sweep::figures(view, sweep),
        (None, None) => effects::figures(view),
    }
}
