//! Plans and runs for tests.

use std::sync::Arc;

use base::{AccountId, Nanos, Rate, Seed, Span};
use driver::{Driver, Simulated};
use engine::{Drivers, LaneOutlet, NoListener, Options, RunOutcome, Stop, run};
use record::{Grid, MemoryOutlet, Totals};
use sim::{Config, Service};
use workload::{
    Job, JobTarget, OnError, OnOutage, OnQueueFull, Overrides, Pacing, Piece, Plan, Reconnect,
    Requests, Schedule, Statement,
};

use crate::boxed_driver::BoxedDriver;

pub(crate) const JOB: AccountId = AccountId(0);

/// Implements these methods of a `driver::Connection` by calling those of the field `inner`.
macro_rules! delegate_to_inner {
    (@prepare) => {
        async fn prepare(&mut self, text: &str) -> Result<driver::PreparedId, driver::Error> {
            self.inner.prepare(text).await
        }
    };
    (@query_text) => {
        async fn query_text(&mut self, sql: &str) -> Result<driver::Table, driver::Error> {
            self.inner.query_text(sql).await
        }
    };
    (@settings) => {
        async fn settings(&mut self) -> Vec<(String, String)> {
            self.inner.settings().await
        }
    };
    (@close) => {
        async fn close(self) {
            self.inner.close().await;
        }
    };
    (@abandon) => {
        fn abandon(self) {
            self.inner.abandon();
        }
    };
    ($($method:ident),+) => {
        $(delegate_to_inner!(@$method);)+
    };
}
pub(crate) use delegate_to_inner;

/// Returns a plan of one job, measured from `warmup_s` to `duration_s`.
pub(crate) fn plan(pacing: Pacing, warmup_s: f64, duration_s: f64, seed: u64) -> Plan {
    let statement = Statement {
        pieces: vec![Piece::Text("select 1".to_owned())],
        span: Span::default(),
        script: None,
    };
    let requests = Requests {
        section: "read".to_owned(),
        lets: Vec::new(),
        statements: vec![statement],
        flow: workload::Flow::Together,
        feed: None,
        transaction: false,
        pipeline: false,
        results: None,
        prepare: true,
        expect_rows: None,
        timeout: None,
        retry: None,
        accepted: Vec::new(),
        on_error: OnError::Continue,
        slos: Vec::new(),
        span: Span::default(),
    };
    let job = Job {
        target: JobTarget::Main,
        pacing,
        start: Nanos::ZERO,
        stop: None,
        count: None,
        reconnect: Reconnect::No,
        on_outage: OnOutage::Fail,
        requests,
        parts: Vec::new(),
    };
    Plan {
        target: None,
        targets: Vec::new(),
        duration: Some(Nanos::from_secs_f64(duration_s)),
        warmup: workload::Warmup::Lasts(Nanos::from_secs_f64(warmup_s)),
        seed: Seed(seed),
        drain: Nanos::from_secs(10),
        stall_timeout: Plan::STALL_TIMEOUT,
        setup_timeout: Plan::SETUP_TIMEOUT,
        probe: Nanos::from_secs(10),
        connections: None,
        max_connections: 1_000,
        params: Vec::new(),
        observe: workload::Observe::default(),
        setup: Vec::new(),
        loads: Vec::new(),
        jobs: vec![job],
        teardown: Vec::new(),
        hidden: None,
    }
}

/// Returns the plan of a file without errors.
pub(crate) fn plan_of(file: &str) -> Plan {
    let (plan, diagnostics) = workload::plan(file, &Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// Returns Poisson arrivals at a whole rate.
pub(crate) fn poisson(per_s: u64) -> Pacing {
    Pacing::Open { schedule: Schedule::Poisson(rate(per_s)), batch: 1 }
}

/// Returns uniform arrivals at a whole rate.
pub(crate) fn even(per_s: u64) -> Pacing {
    Pacing::Open { schedule: Schedule::Uniform(rate(per_s)), batch: 1 }
}

/// Returns Poisson arrivals into a queue with `workers` workers.
pub(crate) fn queue(per_s: u64, workers: u32) -> Pacing {
    let schedule = Schedule::Poisson(rate(per_s));
    Pacing::Queue { schedule, batch: 1, workers, limit: 100_000, on_full: OnQueueFull::Reject }
}

pub(crate) fn rate(per_s: u64) -> Rate {
    Rate::per_second(per_s).expect("a rate for tests")
}

pub(crate) fn exponential(mean_us: u64, servers: Option<u32>) -> Config {
    Config::new(Service::Exponential(Nanos::from_micros(mean_us)), servers)
}

pub(crate) fn constant(mean_us: u64, servers: Option<u32>) -> Config {
    Config::new(Service::Constant(Nanos::from_micros(mean_us)), servers)
}

/// Returns the options of a virtual run.
pub(crate) fn virtually(threads: u16) -> Options {
    Options { threads, ..Options::simulated() }
}

/// Runs a plan against a simulated server and returns its record.
pub(crate) fn simulate(plan: &Plan, config: &Config) -> (Totals, RunOutcome) {
    let server = Simulated::new(config.clone(), plan.seed);
    run_on(plan, server, &virtually(1), &Stop::default())
}

/// Returns the drivers of a plan that has only a main target: `driver` alone.
pub(crate) fn only(driver: impl Driver) -> Drivers<BoxedDriver> {
    Drivers::only(BoxedDriver::new(driver))
}

/// Runs a plan against its main target.
pub(crate) fn run_on(
    plan: &Plan,
    driver: impl Driver,
    options: &Options,
    stop: &Stop,
) -> (Totals, RunOutcome) {
    run_on_all(plan, only(driver), options, stop)
}

pub(crate) fn run_on_all(
    plan: &Plan,
    drivers: Drivers<BoxedDriver>,
    options: &Options,
    stop: &Stop,
) -> (Totals, RunOutcome) {
    let grid = Grid::new(plan.warmup.known(), plan.duration);
    let mut statements: Vec<u16> =
        plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
    let nodes = engine::node_entries(plan, &drivers);
    statements.resize(statements.len() + nodes.len(), 0);
    let memory = MemoryOutlet::new(Totals::new(grid, &statements));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let finished = run(plan, drivers, options, outlet, stop, Arc::new(NoListener))
        .expect("a simulated run does not fail");
    let totals = memory.totals().clone();
    (totals, finished)
}

/// Returns the number of arrivals in each second, up to the last second with an arrival. Late
/// answers make the record longer.
pub(crate) fn arrivals(totals: &Totals) -> Vec<u64> {
    let intervals = &totals.account(JOB).intervals;
    let mut arrivals: Vec<u64> = intervals.iter().map(|(counts, _)| counts.arrivals).collect();
    while arrivals.last() == Some(&0) {
        arrivals.pop();
    }
    arrivals
}
