//! The statistical design of an experiment.

use analyze::compare::{Design, LookPlan, OrderModel};
use workload::question::{Outline, Rounds};

/// Returns the statistical design of an experiment. If its order of runs is counterbalanced, as for
/// an experiment that may change data, the effect of the order is fitted.
pub fn design(outline: &Outline, is_counterbalanced: bool) -> Design {
    Design {
        arms: outline.compared_names().len(),
        looks: match (&outline.sweep, outline.rounds) {
            (Some(sweep), _) => LookPlan::Fixed(sweep.repeats),
            (None, Rounds::Auto) => LookPlan::Auto,
            (None, Rounds::Exactly(rounds)) => LookPlan::Fixed(rounds),
        },
        order: match is_counterbalanced {
            true => OrderModel::Counterbalanced,
            false => OrderModel::Random,
        },
        bets: outline.bets.clone(),
        deltas: outline.deltas.clone(),
        saturated: outline.saturated_job().map(str::to_owned),
    }
}
