//! The canary: a measurement of the machine's speed just before a run.
//!
//! One client of the null server measures the floor of the generator, as `assay calibrate` does. If
//! the canary changes together with the figures of the runs, the machine has changed, and not the
//! database.

use base::Nanos;
use record::environment::generator::CANARY;

use crate::calibrate::{NullFloor, Problem};
use crate::run::Order;

/// Longest window of a canary.
const MAX_WINDOW: Nanos = Nanos::from_secs(2);

/// Shortest window of a canary.
const MIN_WINDOW: Nanos = Nanos::from_millis(50);

/// Longest warm-up of a canary.
const MAX_WARM_UP: Nanos = Nanos::from_millis(200);

/// Ratio of a run's length to its canary's window, unless the window reaches one of its limits.
const RUN_DIVISOR: u64 = 10;

/// Returns the duration of a run's canary, given the length of the run if it has one.
pub fn canary_length(run: Option<Nanos>) -> Nanos {
    let NullFloor { warm_up, window } = floor(run);
    warm_up + window
}

fn floor(run: Option<Nanos>) -> NullFloor {
    let window =
        run.map_or(MAX_WINDOW, |run| Nanos(run.0 / RUN_DIVISOR)).clamp(MIN_WINDOW, MAX_WINDOW);
    NullFloor { warm_up: MAX_WARM_UP.min(window), window }
}

/// Measures the canary of a run in real time, and adds it to the facts of the run's record. Does
/// nothing for an interrupted run.
///
/// # Errors
/// The measurement failed.
pub(super) fn measure(order: &mut Order) -> Result<(), Problem> {
    if order.options.is_virtual {
        return Ok(());
    }
    let measured = floor(order.plan.duration).measure(&order.version, &order.stop);
    match measured {
        Ok(time_ns) => order.facts.push((CANARY.to_owned(), format!("{time_ns:.1}"))),
        Err(Problem::Interrupted) => {}
        Err(problem) => return Err(problem),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canary_takes_two_seconds_and_less_before_short_runs() {
        let check = |seconds: f64, expected_ms: u64| {
            let run = Nanos((seconds * 1e9) as u64);
            assert_eq!(canary_length(Some(run)), Nanos::from_millis(expected_ms), "{seconds}");
        };
        check(60.0, 2_200);
        check(10.0, 1_200);
        check(1.0, 200);
        check(0.2, 100);
        assert_eq!(canary_length(None), Nanos::from_millis(2_200));
    }
}
