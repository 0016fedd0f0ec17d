//! The rates of alarms of `assay compare --fail-on` on groups of runs that were not interleaved.

use std::ops::RangeInclusive;

use super::machine_model::{MachineModel, ORDINARY_MACHINE};
use super::method::Method;
use super::rate::ComparisonRate;

/// The limit for regressions.
const LIMIT: &str = "throughput < -3%";

/// Number of runs of each group: the minimum that `docs/comparing.md` recommends.
const RUNS: u32 = 6;

/// Accepted percentage of alarms if the true change equals the limit: a two-sided interval of 95 %
/// lies beyond the limit in 2.5 % of the comparisons. About one of a thousand sets of 2,000
/// comparisons lies outside of this range.
const AT_THE_LIMIT: RangeInclusive<f64> = 1.35..=3.65;

/// A machine with the same speed in all runs, apart from the noise of each run.
const STEADY_MACHINE: MachineModel = MachineModel { drift: 0.0, ..ORDINARY_MACHINE };

/// Counts the alarms of comparisons of one group with another that runs after it.
fn alarms(
    name: &'static str,
    comparisons: u32,
    accepted: RangeInclusive<f64>,
    (method, machine): (&Method, MachineModel),
) -> ComparisonRate {
    ComparisonRate::count(name, comparisons, accepted, |seed| {
        method.exceeds(LIMIT, &machine.groups(RUNS, seed))
    })
}

pub(super) fn equal_groups(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, no drift, 6 runs after 6 others: `throughput < -3%` exceeded";
    alarms(name, comparisons, 0.0..=0.5, (method, STEADY_MACHINE))
}

pub(super) fn groups_at_the_limit(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "-3 %, no drift, 6 runs after 6 others: `throughput < -3%` exceeded";
    let machine = MachineModel { effect: -0.03, ..STEADY_MACHINE };
    // Five times as many comparisons, because the accepted range is narrow.
    alarms(name, 5 * comparisons, AT_THE_LIMIT, (method, machine))
}

pub(super) fn groups_with_drift(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, 6 runs after 6 others: `throughput < -3%` exceeded";
    alarms(name, comparisons, 0.0..=1.0, (method, ORDINARY_MACHINE))
}

/// Measures the alarms that a drift between the groups causes: the interval of a change does not
/// account for such a drift.
pub(super) fn groups_on_a_slowing_machine(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, machine 20 % slower at the end, 6 runs after 6 others: \
                `throughput < -3%` exceeded";
    let machine = MachineModel { trend: 0.2, ..ORDINARY_MACHINE };
    alarms(name, comparisons, 90.0..=100.0, (method, machine))
}
