//! Forecast of a search.

use base::Nanos;
use workload::question::VariedLoad;

use super::order::{CapacityOrder, OrderError};

/// The expected cost of a search, if its final trial is valid at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Longest time of all trials: the budget, and the window of the final trial.
    pub time: Nanos,
    /// Maximum number of trials: those within the budget, and the final trial if the search has a
    /// hold.
    pub trials: u64,
    /// Maximum number of requests, if the capacity is the expected one; `None` if the concurrency
    /// is varied, because the number is then unknown.
    pub requests: Option<u64>,
}

/// Returns the forecast of a search, for an expected capacity.
///
/// # Errors
/// Fails if the [`CapacityOrder`] is impossible, or if its budget is too short for one trial and
/// one attempt to confirm its value.
pub fn forecast(order: &CapacityOrder, expected: f64) -> Result<Forecast, OrderError> {
    check(order)?;
    let hold = order.hold.unwrap_or(Nanos::ZERO);
    let trial = order.cost(order.trial);
    let budget = order.budget.as_secs_f64();
    let windows = budget * order.trial.as_secs_f64() / trial.as_secs_f64();
    let requests = match order.vary {
        VariedLoad::Rate { .. } => Some(((windows + hold.as_secs_f64()) * expected) as u64),
        VariedLoad::Concurrency { .. } => None,
    };
    let trials = (budget / trial.as_secs_f64()) as u64 + u64::from(order.hold.is_some());
    Ok(Forecast { time: order.budget + hold, trials, requests })
}

/// Checks that a search is possible.
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
    // One trial of the search, and then one attempt to confirm its value.
    let trial = order.cost(order.trial).as_secs_f64();
    let needed = Nanos::from_secs_f64(trial * f64::from(1 + confirmations));
    if budget < needed {
        return Err(OrderError::BudgetTooShort { budget, needed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::order;
    use super::*;

    #[test]
    fn forecast_covers_the_budget_and_the_hold() {
        let hold = Some(Nanos::from_secs(3_600));
        let forecast = forecast(&CapacityOrder { hold, ..order() }, 770.0).unwrap();
        assert_eq!(forecast.time, Nanos::from_secs(5_100));
        assert_eq!(forecast.trials, 116);
        // The windows are 10 of every 13 s of the budget; the hold is added.
        assert_eq!(forecast.requests, Some((1_500.0 / 1.3 * 770.0) as u64 + 3_600 * 770));
    }

    #[test]
    fn impossible_orders_are_refused_with_numbers() {
        let refused = |order: CapacityOrder| forecast(&order, 770.0).unwrap_err().to_string();
        let short = CapacityOrder { budget: Nanos::from_secs(60), ..order() };
        assert_eq!(refused(short), "a budget of 60 s is too short; the search takes 91 s or more");
        let nothing = CapacityOrder { conditions: Vec::new(), ..order() };
        assert_eq!(refused(nothing), "a capacity search has no condition");
        let zero = CapacityOrder { first: 0.0, ..order() };
        assert_eq!(refused(zero), "the first value of the search is 0; expected a number above 0");
        let above = CapacityOrder { first: 20_000.0, ..order() };
        assert_eq!(refused(above), "the first value 20000 is above the largest value 10000");
        let few = CapacityOrder { confirmations: 2, ..order() };
        assert_eq!(refused(few), "2 confirmations are too few; expected 3 or more");
    }
}
