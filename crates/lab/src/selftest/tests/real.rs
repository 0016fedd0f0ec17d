//! Tests of the oracles in real time: the same engine with threads and kernel timers, compared with
//! its twin in virtual time.

use std::ops::Range;

use base::{Nanos, Stamp};
use driver::Simulated;
use engine::Rules;
use record::{Dispatch, Kind, Request};
use sim::closed_form::{ClosedForm, Stall};
use workload::Plan;

use crate::selftest::finding::Finding;
use crate::selftest::oracle_run::{Span, Time, plan, run_on, server, simulate};
use crate::selftest::quantity::{Estimate, Quantity};
use crate::selftest::rules::{DROPPING_TIMEOUTS, FROM_THE_ACTUAL_SEND, SKIPPING_MISSED_TICKS};
use crate::selftest::twins::{PooledRuns, compare};

/// Number of concurrent runs, each with its own seed and server. At a rate that leaves the machine
/// idle, a single run would take half a minute for a thousand requests.
const RUNS: u64 = 8;

/// Maximum number of measurements without a planted fault.
const MAX_MEASUREMENTS: u32 = 4;

/// Longest send lag, in seconds, of a machine that is not busy with other programs.
const IDLE_LAG_S: f64 = 0.002;

/// An experiment that is run in both real and virtual time.
#[derive(Clone, Copy)]
struct Twins {
    workload: &'static str,
    server: &'static str,
    span: Span,
    /// Number of threads in real time.
    threads: u16,
    /// The kinds of time that lateness of the generator cannot shorten.
    never_shorter: &'static [Kind],
}

impl Twins {
    fn plan(&self, seed: u64) -> Plan {
        plan(self.workload, self.span, seed)
    }

    fn in_virtual_time(&self, seeds: Range<u64>) -> PooledRuns {
        let config = server(self.server);
        let run = |seed| simulate(Rules::STANDARD, &self.plan(seed), &config);
        PooledRuns::of(&seeds.map(run).collect::<Vec<_>>())
    }

    fn in_real_time(&self, rules: Rules, url: &str) -> PooledRuns {
        let config = server(url);
        let run = |seed| {
            let plan = self.plan(seed);
            let driver = Simulated::new(config.clone(), plan.seed);
            run_on(rules, &plan, driver, Time::Real(self.threads)).unwrap()
        };
        let runs = std::thread::scope(|scope| {
            let run = &run;
            let runs: Vec<_> = (0..RUNS).map(|seed| scope.spawn(move || run(seed))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect::<Vec<_>>()
        });
        PooledRuns::of(&runs)
    }

    fn compare(&self, real: &PooledRuns, ideal: &PooledRuns) -> Vec<Finding> {
        compare("twins", self.never_shorter, real, ideal)
            .into_iter()
            .filter(|finding| !finding.passed())
            .collect()
    }

    /// Executes the runs in real time, measures them by the given rules, and compares them with
    /// their twins. Returns the findings that fail.
    fn differences(&self, rules: Rules) -> Vec<Finding> {
        self.differences_against(rules, self.server)
    }

    /// Does the same as [`differences`](Self::differences) by the standard rules, up to
    /// [`MAX_MEASUREMENTS`] times while the machine may be the cause of the findings.
    ///
    /// The upper limits allow for the greatest recorded lateness of a request, and for 20 ms by
    /// which an answer may be late. They are too narrow if other programs stop a thread for longer
    /// at a time when answers are due, but no requests. Times that are too long therefore count
    /// only if requests were sent on time, or if such times recur in every measurement. Every other
    /// finding is a fault, however busy the machine is.
    fn lasting_differences(&self) -> Vec<Finding> {
        let ideal = self.in_virtual_time(0..RUNS);
        let mut measurements = 0;
        loop {
            let real = self.in_real_time(Rules::STANDARD, self.server);
            let differences = self.compare(&real, &ideal);
            measurements += 1;
            let is_busy = real.worst_lag_s() > IDLE_LAG_S;
            let may_be_the_machine = is_busy && differences.iter().all(is_too_long);
            if differences.is_empty() || !may_be_the_machine || measurements == MAX_MEASUREMENTS {
                return differences;
            }
        }
    }

    /// Does the same as [`differences`](Self::differences), but with the server at `url` in real
    /// time.
    fn differences_against(&self, rules: Rules, url: &str) -> Vec<Finding> {
        self.compare(&self.in_real_time(rules, url), &self.in_virtual_time(0..RUNS))
    }
}

/// Runs several comparisons concurrently, because they spend most of their time waiting.
fn compare_concurrently<const N: usize>(
    comparisons: [&(dyn Fn() -> Vec<Finding> + Sync); N],
) -> [Vec<Finding>; N] {
    std::thread::scope(|scope| {
        comparisons.map(|comparison| scope.spawn(comparison)).map(|thread| thread.join().unwrap())
    })
}

fn is_too_short(finding: &Finding, kind: Kind) -> bool {
    matches!(finding.quantity, Quantity::Time(of, _) if of == kind)
        && finding.measured < finding.expected
}

fn is_too_long(finding: &Finding) -> bool {
    matches!(finding.quantity, Quantity::Time(..)) && finding.measured > finding.expected
}

/// M/M/1: Poisson arrivals on two threads at one exponential server, 60 % busy.
const ONE_SERVER: Twins = Twins {
    workload: "[read]\nquery = select 1\nrate = 30\n",
    server: "sim:mm1?service=20ms",
    span: Span { warmup_s: 1.0, window_s: 4.0 },
    threads: 2,
    never_shorter: &[Kind::Response],
};

/// M/M/1 with a timeout that nine requests in twenty reach.
const WITH_TIMEOUTS: Twins =
    Twins { workload: "[read]\nquery = select 1\nrate = 30\ntimeout = 40ms\n", ..ONE_SERVER };

const FROM_THE_SECOND_BEFORE: Rules =
    Rules { recorded: Some(from_the_second_before), ..Rules::STANDARD };

/// Moves the intended start back by one second, as if the schedule and the answers used different
/// clocks.
fn from_the_second_before(request: Request, _dispatch: Option<Dispatch>) -> Request {
    let earlier = Stamp(request.intended().0 - Nanos::from_secs(1).0);
    request.with_intended_start(earlier)
}

#[test]
fn poisson_arrivals_at_one_exponential_server_in_real_time() {
    let [without_fault, too_early, patient, dropping] = compare_concurrently([
        &|| ONE_SERVER.lasting_differences(),
        &|| ONE_SERVER.differences(FROM_THE_SECOND_BEFORE),
        &|| WITH_TIMEOUTS.lasting_differences(),
        &|| WITH_TIMEOUTS.differences(DROPPING_TIMEOUTS),
    ]);
    assert_eq!(without_fault, []);
    assert!(too_early.iter().any(is_too_long), "{too_early:#?}");
    assert_eq!(patient, []);
    assert!(dropping.iter().any(|found| is_too_short(found, Kind::Response)), "{dropping:#?}");
}

#[test]
fn a_schedule_of_another_seed_is_noticed() {
    let (first, others) =
        (ONE_SERVER.in_virtual_time(0..RUNS), ONE_SERVER.in_virtual_time(RUNS..2 * RUNS));
    assert_eq!(ONE_SERVER.compare(&first, &first), []);
    let differences = ONE_SERVER.compare(&others, &first);
    let is_schedule = |found: &Finding| found.quantity == Quantity::DifferentSeconds;
    assert!(differences.iter().any(is_schedule), "{differences:#?}");
}

/// D/M/1 whose queue is in the generator: evenly spaced arrivals for one worker, which is busy for
/// 80 % of the time.
const ONE_WORKER: Twins = Twins {
    workload: "[read]\nquery = select 1\nrate = 40\narrival = uniform\nconcurrency = 1\n",
    server: "sim:mm1?service=20ms&servers=unlimited",
    threads: 1,
    never_shorter: &[Kind::Response, Kind::Service],
    ..ONE_SERVER
};

#[test]
fn even_arrivals_for_one_worker_in_real_time() {
    let [without_fault, omitting, skipping, instant] = compare_concurrently([
        &|| ONE_WORKER.lasting_differences(),
        &|| ONE_WORKER.differences(FROM_THE_ACTUAL_SEND),
        &|| ONE_WORKER.differences(SKIPPING_MISSED_TICKS),
        // A server that answers almost at once, as if the driver did not wait for the answer.
        &|| {
            ONE_WORKER
                .differences_against(Rules::STANDARD, "sim:md1?service=10us&servers=unlimited")
        },
    ]);
    assert_eq!(without_fault, []);
    assert!(omitting.iter().any(|found| is_too_short(found, Kind::Response)), "{omitting:#?}");
    let is_outcome_count = |found: &Finding| found.quantity == Quantity::DifferentOutcomes;
    assert!(skipping.iter().any(is_outcome_count), "{skipping:#?}");
    assert!(instant.iter().any(|found| is_too_short(found, Kind::Service)), "{instant:#?}");
}

/// A server that stalls for the first of the four seconds of the window, with evenly spaced
/// arrivals of an open job with one connection.
const STALL: Stall = Stall { service_s: 0.002, stall_s: 1.0, period_s: 4.0, arrival_rate: 100.0 };

const STALLED: Twins = Twins {
    workload: "connections = 1\nmax-connections = 1\n[read]\nquery = select 1\nrate = 100\n\
               arrival = uniform\n",
    server: "sim:md1?service=2ms&servers=unlimited&stall=1s&stall-every=1000s",
    span: Span { warmup_s: 0.0, window_s: 4.0 },
    threads: 1,
    never_shorter: &[Kind::Response],
};

#[test]
fn a_stall_shows_in_the_response_time_in_real_time() {
    let ideal = STALLED.in_virtual_time(0..RUNS);
    for q in [0.9, 0.95, 0.99] {
        let (is, exact) =
            (ideal.estimate(Kind::Response, Estimate::Quantile(q)), STALL.quantile(q));
        // The exact value is that of a continuous flow. Requests are discrete, so the error is at
        // most the time between two arrivals.
        assert!((is - exact).abs() < 0.010, "p{}: {is} instead of {exact}", q * 100.0);
    }
    let omitting = || STALLED.differences(FROM_THE_ACTUAL_SEND);
    let [without_fault, omitting] =
        compare_concurrently([&|| STALLED.lasting_differences(), &omitting]);
    assert_eq!(without_fault, []);
    for q in [0.9, 0.95, 0.99] {
        let quantity = Quantity::response(Estimate::Quantile(q));
        let hides =
            |found: &Finding| found.quantity == quantity && is_too_short(found, Kind::Response);
        assert!(omitting.iter().any(hides), "{omitting:#?}");
    }
}
