//! Forecast of a search.

use base::Nanos;

use super::order::{CapacityOrder, OrderError, Vary};

/// The expected cost of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Longest time of all trials: the budget and the hold.
    pub time: Nanos,
    /// Most trials within the budget.
    pub trials: u64,
    /// Most requests, if the capacity is the expected one; `None` if the concurrency is varied, as
    /// their number is then unknown.
    pub requests: Option<u64>,
}

/// Returns the forecast of a search, for an expected capacity.
///
/// # Errors
/// The order is not possible, or its budget is too short for one trial and one confirmation.
pub fn forecast(order: &CapacityOrder, expected: f64) -> Result<Forecast, OrderError> {
    check(order)?;
    let hold = order.hold.unwrap_or(Nanos::ZERO);
    let trial = order.cost(order.trial);
    let budget = order.budget.as_secs_f64();
    let windows = budget * order.trial.as_secs_f64() / trial.as_secs_f64();
    let requests = match order.vary {
        Vary::Rate { .. } => Some(((windows + hold.as_secs_f64()) * expected) as u64),
        Vary::Concurrency { .. } => None,
    };
    let trials = (budget / trial.as_secs_f64()) as u64 + u64::from(order.hold.is_some());
    Ok(Forecast { time: order.budget + hold, trials, requests })
}

/// Checks that a search can be made.
fn check(order: &CapacityOrder) -> Result<(), OrderError> {
    let CapacityOrder { first, confirmations, budget, .. } = *order;
    if order.conditions.is_empty() {
        return Err(OrderError::NoCondition);
    }
    let is_possible = first.is_finite() && first > 0.0 && (!order.vary.is_whole() || first >= 1.0);
    if !is_possible {
        return Err(OrderError::First { value: first });
    }
    if let Some(highest) = order.highest.filter(|highest| *highest < first) {
        return Err(OrderError::FirstAboveHighest { first, highest });
    }
    if confirmations < CapacityOrder::FEWEST_CONFIRMATIONS {
        return Err(OrderError::Confirmations { confirmations });
    }
    let trial = order.cost(order.trial).as_secs_f64();
    let share = CapacityOrder::CONFIRMATION_SHARE;
    // One trial of the search, and then one attempt to confirm its value.
    let of_search = trial / (1.0 - share);
    let needed = of_search.max(trial * f64::from(1 + confirmations));
    let needed = Nanos::from_secs_f64(needed);
    if budget < needed {
        return Err(OrderError::BudgetTooShort { budget, needed });
    }
    Ok(())
}
