//! Invariant 3: the measured path allocates nothing.
//!
//! Every allocation of the process is counted, so nothing else may run in it. This test therefore
//! has no harness: the threads of a harness allocate. In virtual time, a run with twice as many
//! requests in the same number of intervals must allocate exactly as often: only setting up, ending
//! and handing over intervals allocate.

use std::alloc::System;
use std::sync::Arc;

use archive::{OpLog, OpLogOutlet, OpLogPlan};
use base::{AccountId, Nanos, Rate};
use driver::{Driver, Null, Simulated};
use engine::{Drivers, LaneOutlet, NoListener, Options, Stop, run};
use record::{Grid, MemoryOutlet, OpFormat, OpLogReport, Pace, Totals};
use sim::{Config, Service};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use workload::{Overrides, Pacing, Plan, Schedule};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() {
    let tests: [(&str, fn()); 5] = [
        ("open and queued requests", invariant_3_open_and_queued_requests_allocate_nothing),
        ("requests at a rate that varies", invariant_3_requests_at_a_varying_rate_allocate_nothing),
        ("closed requests", invariant_3_closed_requests_allocate_nothing),
        ("requests in real time", invariant_3_requests_in_real_time_allocate_nothing),
        ("requests with an op-log", invariant_3_requests_with_an_op_log_allocate_nothing),
    ];
    for (name, test) in tests {
        test();
        say(name);
    }
}

#[expect(clippy::print_stdout, reason = "as a harness would")]
fn say(name: &str) {
    println!("{name} allocate nothing ... ok");
}

fn plan(job: &str) -> Plan {
    plan_within("4s", job)
}

fn plan_within(duration: &str, job: &str) -> Plan {
    let text = format!("duration = {duration}\nconnections = 50\n[job]\n{job}\n");
    let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

/// Runs a plan and returns the number of completed requests and of allocations.
fn count<D: Driver>(plan: &Plan, driver: D, is_virtual: bool) -> (u64, usize) {
    count_logged(plan, driver, is_virtual, None)
}

/// Runs a plan, with an op-log if there is one, and returns the numbers of completed requests and
/// allocations.
fn count_logged<D: Driver>(
    plan: &Plan,
    driver: D,
    is_virtual: bool,
    log: Option<&OpLog>,
) -> (u64, usize) {
    let options = Options { is_virtual, ..Options::in_real_time() };
    let statements: Vec<u16> =
        plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
    let grid = Grid::new(plan.warmup.known(), plan.duration);
    let memory = MemoryOutlet::new(Totals::new(grid, &statements));
    let region = Region::new(ALLOCATOR);
    let outlet = |lane| -> LaneOutlet {
        match log {
            Some(log) => Box::new(OpLogOutlet::new(memory.clone(), log.lane(lane))),
            None => Box::new(memory.clone()),
        }
    };
    run(plan, Drivers::only(driver), &options, outlet, &Stop::default(), Arc::new(NoListener))
        .expect("the run is made");
    let change = region.change();
    let completed = memory.totals().account(AccountId(0)).window.counts.balance.completed();
    (completed, change.allocations + change.reallocations)
}

/// A workload with values of several kinds, all generated without allocating.
const STATEMENTS: &str = "let = key: zipf(1, 100000)\ntransaction = yes\n\
    query = select ${uniform(1, 10)}, ${key}, ${text(12, 40)}\n\
    query = select ${permute(1000)}, ${normal(0, 1)}, ${pick('a', 'b')}";

fn with_rate(per_s: u64, more: &str) -> Plan {
    let mut plan = plan(&format!("rate = 100\n{STATEMENTS}\n{more}"));
    let schedule = Schedule::Uniform(Rate::per_second(per_s).expect("a rate"));
    match &mut plan.jobs[0].pacing {
        Pacing::Open { schedule: s, .. } | Pacing::Queue { schedule: s, .. } => *s = schedule,
        Pacing::Timetable { .. } | Pacing::Closed { .. } | Pacing::Replay => {
            panic!("an open job")
        }
    }
    plan
}

/// Returns a server that is never busy: the number of in-flight requests does not grow with the
/// rate.
fn server(seed: base::Seed) -> Simulated {
    let service = Service::Constant(Nanos::from_micros(3));
    Simulated::new(Config::new(service, None), seed)
}

fn invariant_3_open_and_queued_requests_allocate_nothing() {
    for more in ["", "concurrency = 8", "timeout = 1s\nretry = 3 on 40001"] {
        let counts = |per_s| {
            let plan = with_rate(per_s, more);
            count(&plan, server(plan.seed), true)
        };
        // The first run also allocates memory that the process keeps.
        counts(1_000);
        let (few, allocations) = counts(20_000);
        let (many, same) = counts(40_000);
        assert!((few, many) == (79_999, 159_999), "{few} {many}");
        assert_eq!(same, allocations, "{more}");
    }
}

fn invariant_3_requests_at_a_varying_rate_allocate_nothing() {
    for shape in ["ramp(LOW, HIGH, 4s)", "sine(HIGH, LOW, 1s)", "steps(LOW HIGH 0 LOW, 1s)"] {
        let counts = |low: u32| {
            let high = (2 * low).to_string();
            let rate = shape.replace("LOW", &low.to_string()).replace("HIGH", &high);
            let plan = plan(&format!("rate = {rate}\narrival = uniform\n{STATEMENTS}"));
            count(&plan, server(plan.seed), true)
        };
        counts(1_000);
        let (few, allocations) = counts(10_000);
        let (many, same) = counts(20_000);
        assert!(few > 30_000 && many > 2 * few - 5, "{few} {many}");
        assert_eq!(same, allocations, "{shape}");
    }
}

fn invariant_3_closed_requests_allocate_nothing() {
    let counts = |requests: u64| {
        let closed = format!("concurrency = 8\ncount = {requests}\n{STATEMENTS}");
        let plan = plan(&closed);
        count(&plan, server(plan.seed), true)
    };
    counts(1_000);
    let (few, allocations) = counts(50_000);
    let (many, same) = counts(100_000);
    assert_eq!((few, many), (50_000, 100_000));
    assert_eq!(same, allocations);
}

/// Time limit of the runs in real time, which suffices for their requests on a busy machine.
const LONGEST: &str = "60s";

/// Maximum number of additional allocations of the longer run. It lasts for more seconds, and
/// handing over each second allocates. The additional requests are far more than this, so an
/// allocation per request would exceed the limit.
const SECONDS: usize = 1_000;

/// Repeats the test in real time, with the real executor and the kernel's timer.
fn invariant_3_requests_in_real_time_allocate_nothing() {
    let counts = |requests: u64| {
        let closed = format!("concurrency = 8\ncount = {requests}\n{STATEMENTS}");
        count(&plan_within(LONGEST, &closed), Null, false)
    };
    counts(1_000);
    let (_, allocations) = counts(20_000);
    let (many, more) = counts(200_000);
    assert_eq!(many, 200_000);
    assert!(more < allocations + SECONDS, "{allocations} and {more}");
}

/// Checks that neither the lane nor the thread that writes its rows allocates.
fn invariant_3_requests_with_an_op_log_allocate_nothing() {
    let path = std::env::temp_dir().join(format!("assay-allocations-{}.csv", std::process::id()));
    let counts = |requests: u64, is_virtual: bool| {
        let file = OpLogPlan { path: path.clone(), format: OpFormat::DbbenchStats };
        let pace = if is_virtual { Pace::Virtual } else { Pace::Real };
        let log = OpLog::create(&file, &["job"], pace).expect("a scratch file");
        let closed = format!("concurrency = 8\ncount = {requests}\n{STATEMENTS}");
        let plan = plan_within(LONGEST, &closed);
        let (completed, allocations) = match is_virtual {
            true => count_logged(&plan, server(plan.seed), true, Some(&log)),
            false => count_logged(&plan, Null, false, Some(&log)),
        };
        let OpLogReport { rows, dropped, failure, .. } = log.finish(|| true);
        assert_eq!((completed, rows + dropped, failure), (requests, requests, None));
        allocations
    };
    counts(1_000, true);
    // A thread that waits at a channel for the first time allocates its waiter, and it is a matter
    // of chance whether it has to wait. In real time the longer run may also take more seconds, as
    // above.
    for is_virtual in [true, false] {
        let (more, allocations) = (counts(200_000, is_virtual), counts(20_000, is_virtual));
        assert!(more < allocations + SECONDS, "{allocations} and {more}");
    }
    std::fs::remove_file(&path).expect("the scratch file is ours");
}
