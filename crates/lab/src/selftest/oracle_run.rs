//! The parts that all oracles have in common: plan, simulated server and run.

use std::sync::Arc;

use base::{AccountId, Nanos, Target};
use driver::{AnyDriver, Simulated};
use engine::{Drivers, LaneOutlet, NoListener, Options, Rules, RunFailure, Stop, run_any};
use record::{Grid, MemoryOutlet, Totals};
use sim::Config;
use workload::{Overrides, Plan};

use crate::target::simulation;

/// The account under which the only job of every oracle is measured.
pub(super) const JOB: AccountId = AccountId(0);

/// The lengths of warm-up and window of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) warmup_s: f64,
    pub(super) window_s: f64,
}

/// Returns the plan of a workload file with one job, with these lengths and this seed.
pub(super) fn plan(workload: &str, span: Span, seed: u64) -> Plan {
    let overrides = Overrides::default()
        .with_global("duration", Nanos::from_secs_f64(span.warmup_s + span.window_s))
        .with_global("warmup", Nanos::from_secs_f64(span.warmup_s))
        .with_global("seed", seed);
    let (plan, diagnostics) = workload::plan(workload, &overrides);
    let mut plan = plan.unwrap_or_else(|| panic!("an oracle's workload is right: {diagnostics:?}"));
    // A simulated server has no statistics, and reading them would take a place in its queue.
    plan.observe.database = false;
    plan
}

/// Returns the configuration of the server of a `sim:` URL.
pub(super) fn server(url: &str) -> Config {
    let target = Target::parse(url).expect("an oracle's URL is right");
    let config = simulation(&target).expect("an oracle's server exists");
    config.expect("an oracle's server takes its time")
}

/// The clock of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// Virtual time, on one thread.
    Virtual,
    /// Real time, on this many threads.
    Real(u16),
}

fn options(rules: Rules, time: Time) -> Options {
    match time {
        Time::Virtual => Options { rules, ..Options::simulated() },
        Time::Real(threads) => Options { threads, rules, ..Options::in_real_time() },
    }
}

/// Runs a plan in virtual time by the given measurement rules, and delivers the measurements to the
/// caller's outlet.
pub(super) fn simulate_into(
    rules: Rules,
    plan: &Plan,
    config: &Config,
    outlet: impl Fn() -> LaneOutlet,
) {
    let drivers = Drivers::only(AnyDriver::from(Simulated::new(config.clone(), plan.seed)));
    let options = options(rules, Time::Virtual);
    let (stop, listener) = (Stop::default(), Arc::new(NoListener));
    run_any(plan, drivers, &options, &mut |_| outlet(), &stop, listener)
        .expect("a simulated run does not fail");
}

/// Runs a plan in virtual time by the given measurement rules, and returns the recorded totals.
pub(super) fn simulate(rules: Rules, plan: &Plan, config: &Config) -> Totals {
    let driver = Simulated::new(config.clone(), plan.seed);
    run_on(rules, plan, driver, Time::Virtual).expect("a simulated run does not fail")
}

/// Runs a plan against a driver and returns the recorded totals.
pub(super) fn run_on(
    rules: Rules,
    plan: &Plan,
    driver: impl Into<AnyDriver>,
    time: Time,
) -> Result<Totals, RunFailure> {
    let memory = memory(plan);
    let mut outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (drivers, stop) = (Drivers::only(driver.into()), Stop::default());
    run_any(plan, drivers, &options(rules, time), &mut outlet, &stop, Arc::new(NoListener))?;
    let totals = memory.totals().clone();
    Ok(totals)
}

/// Returns an empty record in memory.
pub(super) fn memory(plan: &Plan) -> MemoryOutlet {
    let statements: Vec<u16> =
        plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
    MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &statements))
}
