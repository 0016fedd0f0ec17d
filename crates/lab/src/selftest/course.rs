//! A plan, a server, a run: what the oracles have in common.

use std::sync::Arc;

use base::{Nanos, Seed, Target};
use driver::{Driver, Simulated};
use engine::{Drivers, Failed, LaneOutlet, Options, Rules, Silence, Stop, run_by};
use record::{Grid, JobIndex, MemoryOutlet, Totals};
use sim::Config;
use workload::{Overrides, Plan, Warmup};

use crate::target::simulation;

/// The one job of every oracle.
pub(super) const JOB: JobIndex = JobIndex(0);

/// How long a run is measured, and how long before that it is not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) warmup_s: f64,
    pub(super) window_s: f64,
}

/// The plan of a workload file with one job.
pub(super) fn plan(workload: &str, span: Span, seed: u64) -> Plan {
    let overrides = Overrides {
        duration: Some(Nanos::from_secs_f64(span.warmup_s + span.window_s)),
        warmup: Some(Warmup::Lasts(Nanos::from_secs_f64(span.warmup_s))),
        seed: Some(Seed(seed)),
        ..Overrides::default()
    };
    let (plan, diagnostics) = workload::plan(workload, &overrides);
    let mut plan = plan.unwrap_or_else(|| panic!("an oracle's workload is right: {diagnostics:?}"));
    // A simulated server knows nothing to tell, and whoever asks it stands in its queue.
    plan.observe.database = false;
    plan
}

/// The server of a `sim:` URL.
pub(super) fn server(url: &str) -> Config {
    let target = Target::parse(url).expect("an oracle's URL is right");
    let config = simulation(&target).expect("an oracle's server exists");
    config.expect("an oracle's server takes its time")
}

/// Whether time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// On one clock that jumps.
    Virtual,
    /// On this many threads.
    Real(u16),
}

fn options(time: Time) -> Options {
    match time {
        Time::Virtual => Options::simulated(),
        Time::Real(threads) => Options { threads, ..Options::in_real_time() },
    }
}

/// Runs a plan in virtual time by some rules, with an outlet of the caller's.
pub(super) fn simulate_into<R: Rules>(
    plan: &Plan,
    config: &Config,
    outlet: impl Fn() -> LaneOutlet,
) {
    let drivers = Drivers::only(Simulated::new(config.clone(), plan.seed));
    let (options, stop, listener) = (options(Time::Virtual), Stop::default(), Arc::new(Silence));
    run_by::<_, R>(plan, drivers, &options, |_| outlet(), &stop, listener)
        .expect("a simulated run does not fail");
}

/// Runs a plan in virtual time by some rules and returns what was recorded.
pub(super) fn simulate<R: Rules>(plan: &Plan, config: &Config) -> Totals {
    let driver = Simulated::new(config.clone(), plan.seed);
    run_on::<_, R>(plan, driver, Time::Virtual).expect("a simulated run does not fail")
}

/// Runs a plan against a driver and returns what was recorded.
pub(super) fn run_on<D: Driver, R: Rules>(
    plan: &Plan,
    driver: D,
    time: Time,
) -> Result<Totals, Failed> {
    let memory = memory(plan);
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (drivers, stop) = (Drivers::only(driver), Stop::default());
    run_by::<D, R>(plan, drivers, &options(time), outlet, &stop, Arc::new(Silence))?;
    let totals = memory.totals().clone();
    Ok(totals)
}

/// An empty record in memory.
pub(super) fn memory(plan: &Plan) -> MemoryOutlet {
    let statements: Vec<u16> = plan.jobs.iter().map(|job| job.statements.len() as u16).collect();
    MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &statements))
}
