//! Measures the cost and resolution of the clock, and how late timers fire.

use std::hint::black_box;

use base::{Clock, Monotonic, Nanos};

use super::figures::{ClockFigures, Lateness, Quantiles};
use super::problem::Problem;
use crate::sleeps::lateness;

/// Number of readings that are timed together as a batch, and number of batches. The result is
/// taken from the median batch, because interruptions distort some of the batches.
const READINGS_PER_BATCH: u32 = 10_000;
const BATCHES: usize = 51;

/// Number of sleeps of 1 ms that are timed; they take more than a second.
const SLEEPS: usize = 1_000;

/// Number of sleeps in a quick calibration.
const QUICK_SLEEPS: usize = 200;

pub(super) fn clock() -> ClockFigures {
    let mut costs: Vec<f64> = (0..BATCHES).map(|_| cost_of_readings()).collect();
    costs.sort_by(f64::total_cmp);
    ClockFigures { cost_ns: costs[BATCHES / 2], resolution: smallest_step() }
}

fn cost_of_readings() -> f64 {
    let begun = Monotonic.now();
    for _ in 1..READINGS_PER_BATCH {
        black_box(Monotonic.now());
    }
    Monotonic.now().since(begun).0 as f64 / f64::from(READINGS_PER_BATCH)
}

/// Returns the smallest non-zero difference between two readings.
///
/// If the clock's resolution is finer than the time that a reading takes, the result is that time.
fn smallest_step() -> Nanos {
    let mut smallest = Nanos::MAX;
    let mut before = Monotonic.now();
    for _ in 0..READINGS_PER_BATCH {
        let now = Monotonic.now();
        let step = now.since(before);
        if step > Nanos::ZERO {
            smallest = smallest.min(step);
        }
        before = now;
    }
    smallest
}

pub(super) fn timer(is_quick: bool) -> Result<Lateness, Problem> {
    let sleeps = if is_quick { QUICK_SLEEPS } else { SLEEPS };
    let late = lateness(sleeps).map_err(Problem::System)?;
    Ok(lateness_of(late))
}

fn lateness_of(mut late: Vec<Nanos>) -> Lateness {
    late.sort();
    let count = late.len();
    let of = |per_mille: usize| {
        let rank = (count * per_mille).div_ceil(1_000).max(1);
        late.get(rank - 1).copied().unwrap_or_default()
    };
    Lateness {
        count: count as u64,
        quantiles: Quantiles { p50: of(500), p99: of(990), p99_9: of(999) },
        max: late.last().copied().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_cost_is_positive() {
        let figures = clock();
        assert!(figures.cost_ns > 0.0 && figures.cost_ns < 1e6, "{figures:?}");
        assert!(figures.resolution > Nanos::ZERO && figures.resolution < Nanos::from_secs(1));
    }

    #[test]
    fn sleeps_are_summed_up_by_rank() {
        let late = lateness_of((1..=1_000).rev().map(Nanos).collect());
        let quantiles = Quantiles { p50: Nanos(500), p99: Nanos(990), p99_9: Nanos(999) };
        assert_eq!(late, Lateness { count: 1_000, quantiles, max: Nanos(1_000) });
        assert_eq!(lateness_of(Vec::new()).max, Nanos::ZERO);
    }
}
