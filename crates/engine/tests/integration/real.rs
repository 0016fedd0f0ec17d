//! The oracles in real time: the same engine on threads and with the kernel's timers.
//!
//! A run in virtual time is the twin of a run in real time: with one seed they have one schedule
//! and draw one sequence of service times. The twin is exact, as `oracles` shows, so no statistics
//! are needed here. What a machine can add is lateness, and lateness has a direction: in a queue
//! whose requests arrive later none leaves earlier, and none leaves later by more than the worst
//! lateness of all (Lindley's recursion is monotone, and does not stretch). A response time below
//! its twin is therefore a fault of the engine, however busy the machine is. The limit above is
//! wide, and wider by the lateness that the run itself has recorded: these are no tests of speed.

use std::ops::Range;

use base::{Nanos, Stamp};
use driver::Simulated;
use engine::{Honest, Options, Rules, Stop};
use record::{Dispatch, Histograms, Kind, Request, Totals};
use sim::Config;
use sim::closed_form::{ClosedForm, Stall};
use workload::{OnQueueFull, Pacing, Plan, Schedule};

use crate::faults::{DroppingTimeouts, FromTheActualSend, SkippingMissedTicks};
use crate::support::{
    Estimate, JOB, arrivals, constant, even, exponential, plan, poisson, rate, run_on, simulate,
    virtually,
};

/// How many runs, each with its own seed and server, are carried out at the same time: at a rate
/// that leaves the machine idle, one alone would take minutes to see a thousand requests.
const RUNS: u64 = 8;

/// How much less than its twin an estimate may be. Requests of two threads may reach the server in
/// another order than they were meant to, and then have each other's service times.
const LESS: f64 = 0.1;

/// How much more than its twin an estimate may be.
const MORE: f64 = 0.3;

/// What the machine may add to any response time, in seconds, beside the lateness that it is known
/// to have added: that an answer is heard of late is not recorded apart.
const GRACE_S: f64 = 0.020;

/// What several runs say together.
struct Pool {
    /// The requests of all windows.
    windows: Histograms,
    /// The arrivals in each second of each run.
    schedules: Vec<Vec<u64>>,
    /// What became of the requests of each run.
    fates: Vec<Fates>,
}

impl Pool {
    fn of(runs: &[Totals]) -> Pool {
        let mut windows = Histograms::new(1);
        for totals in runs {
            windows.merge(&totals.job(JOB).window.histograms);
        }
        Pool {
            windows,
            schedules: runs.iter().map(arrivals).collect(),
            fates: runs.iter().map(Fates::of).collect(),
        }
    }

    /// An estimate from the requests of all windows, in seconds.
    fn estimate(&self, estimate: Estimate, kind: Kind) -> f64 {
        estimate.of_histogram(&self.windows.of(kind))
    }

    /// The worst lateness of the generator that was recorded, in seconds.
    fn worst_lag_s(&self) -> f64 {
        self.windows.of(Kind::SendLag).max() as f64 / 1e9
    }
}

/// How many requests of a run were carried to an answer or a timeout, rejected, and left unsent.
/// Which of those that nearly time out do is up to the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fates {
    carried: u64,
    rejected: u64,
    unsent: u64,
}

impl Fates {
    fn of(totals: &Totals) -> Fates {
        let balance = totals.job(JOB).window.counts.balance;
        let carried = balance.completed() + balance.errors();
        Fates { carried, rejected: balance.rejected(), unsent: balance.unsent() }
    }
}

/// What a run in real time says otherwise than its twin. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    /// Other seconds have other numbers of arrivals.
    Schedule,
    /// Another number of requests was carried, rejected or left unsent.
    Fates,
    /// An estimate is below its limit.
    TooShort { kind: Kind, estimate: Estimate, is: f64, least: f64 },
    /// An estimate of the response time is above its limit.
    TooLong { estimate: Estimate, is: f64, most: f64 },
}

impl Difference {
    fn is_too_short(&self, what: Kind) -> bool {
        matches!(self, Difference::TooShort { kind, .. } if *kind == what)
    }

    fn hides(&self, q: f64) -> bool {
        let quantile = Estimate::Quantile(q);
        matches!(self, Difference::TooShort { kind: Kind::Response, estimate, .. }
            if *estimate == quantile)
    }

    fn is_too_long(&self) -> bool {
        matches!(self, Difference::TooLong { .. })
    }
}

/// An experiment that is carried out in both kinds of time.
struct Twins<P> {
    config: Config,
    plan: P,
    /// On how many threads it runs in real time.
    threads: u16,
    /// The times that lateness cannot make shorter. Service is one of them where no queue and no
    /// stall is in the server, for which a late request would wait less.
    never_shorter: &'static [Kind],
}

impl<P: Fn(u64) -> Plan + Sync> Twins<P> {
    fn virtually(&self, seeds: Range<u64>) -> Pool {
        let run = |seed| simulate(&(self.plan)(seed), &self.config).0;
        Pool::of(&seeds.map(run).collect::<Vec<_>>())
    }

    fn really<R: Rules>(&self, config: &Config) -> Pool {
        let run = |seed| {
            let plan = (self.plan)(seed);
            let server = Simulated::new(config.clone(), plan.seed);
            let options = Options { is_virtual: false, ..virtually(self.threads) };
            run_on::<_, R>(&plan, server, &options, &Stop::default()).0
        };
        let runs = std::thread::scope(|scope| {
            let run = &run;
            let runs: Vec<_> = (0..RUNS).map(|seed| scope.spawn(move || run(seed))).collect();
            runs.into_iter().map(|run| run.join().expect("a run ends")).collect::<Vec<_>>()
        });
        Pool::of(&runs)
    }

    /// What a real run by some rules says otherwise than its twin.
    fn differences<R: Rules>(&self) -> Vec<Difference> {
        self.differences_against::<R>(&self.config)
    }

    /// What a real run against some server says otherwise than the twin.
    fn differences_against<R: Rules>(&self, config: &Config) -> Vec<Difference> {
        self.compare(&self.really::<R>(config), &self.virtually(0..RUNS))
    }

    fn compare(&self, real: &Pool, ideal: &Pool) -> Vec<Difference> {
        let mut differences = Vec::new();
        if real.schedules != ideal.schedules {
            differences.push(Difference::Schedule);
        }
        if real.fates != ideal.fates {
            differences.push(Difference::Fates);
        }
        for kind in self.never_shorter {
            differences.extend(too_short(*kind, real, ideal));
        }
        differences.extend(too_long(real, ideal));
        differences
    }
}

fn too_short(kind: Kind, real: &Pool, ideal: &Pool) -> impl Iterator<Item = Difference> {
    Estimate::ALL.into_iter().filter_map(move |estimate| {
        let is = real.estimate(estimate, kind);
        let least = ideal.estimate(estimate, kind) * (1.0 - LESS);
        (is < least).then_some(Difference::TooShort { kind, estimate, is, least })
    })
}

fn too_long(real: &Pool, ideal: &Pool) -> impl Iterator<Item = Difference> {
    let allowed_s = GRACE_S + real.worst_lag_s();
    Estimate::ALL.into_iter().filter_map(move |estimate| {
        let is = real.estimate(estimate, Kind::Response);
        let most = ideal.estimate(estimate, Kind::Response) * (1.0 + MORE) + allowed_s;
        (is > most).then_some(Difference::TooLong { estimate, is, most })
    })
}

/// Carries out several comparisons at the same time: they wait more than they work.
fn at_once<const N: usize>(
    comparisons: [&(dyn Fn() -> Vec<Difference> + Sync); N],
) -> [Vec<Difference>; N] {
    std::thread::scope(|scope| {
        comparisons
            .map(|comparison| scope.spawn(comparison))
            .map(|thread| thread.join().expect("a comparison ends"))
    })
}

/// M/M/1: Poisson arrivals on two threads at one exponential server, 60 % busy.
fn one_exponential_server() -> Twins<impl Fn(u64) -> Plan + Sync> {
    Twins {
        config: exponential(20_000, Some(1)),
        plan: |seed| plan(poisson(30), 1.0, 5.0, seed),
        threads: 2,
        never_shorter: &[Kind::Response],
    }
}

/// The same, with a timeout that nine requests in twenty reach.
fn one_server_with_timeouts() -> Twins<impl Fn(u64) -> Plan + Sync> {
    let Twins { config, plan, threads, never_shorter } = one_exponential_server();
    let plan = move |seed| {
        let mut plan = plan(seed);
        plan.jobs[0].timeout = Some(Nanos::from_millis(40));
        plan
    };
    Twins { config, plan, threads, never_shorter }
}

struct FromTheSecondBefore;

impl Rules for FromTheSecondBefore {
    /// A generator whose schedule runs by another clock than its answers.
    fn recorded(request: Request, _dispatch: Option<Dispatch>) -> Request {
        let earlier = Stamp(request.intended().0 - Nanos::from_secs(1).0);
        request.as_if_meant_for(earlier)
    }
}

#[test]
fn poisson_arrivals_at_one_exponential_server_in_real_time() {
    let (plain, with_timeouts) = (one_exponential_server(), one_server_with_timeouts());
    let [honest, too_early, patient, dropping] = at_once([
        &|| plain.differences::<Honest>(),
        &|| plain.differences::<FromTheSecondBefore>(),
        &|| with_timeouts.differences::<Honest>(),
        &|| with_timeouts.differences::<DroppingTimeouts>(),
    ]);
    assert_eq!(honest, []);
    assert!(too_early.iter().any(Difference::is_too_long), "{too_early:#?}");
    assert_eq!(patient, []);
    assert!(dropping.iter().any(|found| found.is_too_short(Kind::Response)), "{dropping:#?}");
}

#[test]
fn a_schedule_of_another_seed_is_noticed() {
    let twins = one_exponential_server();
    let (these, others) = (twins.virtually(0..RUNS), twins.virtually(RUNS..2 * RUNS));
    assert_eq!(twins.compare(&these, &these), []);
    let differences = twins.compare(&others, &these);
    assert!(differences.contains(&Difference::Schedule), "{differences:#?}");
}

/// D/M/1 with the queue in the generator: even arrivals for one worker, 80 % busy.
fn one_worker() -> Twins<impl Fn(u64) -> Plan + Sync> {
    let schedule = Schedule::Uniform(rate(40));
    Twins {
        config: exponential(20_000, None),
        plan: move |seed| {
            let pacing = Pacing::Queue {
                schedule: schedule.clone(),
                batch: 1,
                workers: 1,
                limit: 100_000,
                on_full: OnQueueFull::Reject,
            };
            plan(pacing, 1.0, 5.0, seed)
        },
        threads: 1,
        never_shorter: &[Kind::Response, Kind::Service],
    }
}

#[test]
fn even_arrivals_for_one_worker_in_real_time() {
    let twins = one_worker();
    let [honest, omitting, skipping, instant] = at_once([
        &|| twins.differences::<Honest>(),
        &|| twins.differences::<FromTheActualSend>(),
        &|| twins.differences::<SkippingMissedTicks>(),
        // A driver that does not wait for the answer.
        &|| twins.differences_against::<Honest>(&constant(10, None)),
    ]);
    assert_eq!(honest, []);
    assert!(omitting.iter().any(|found| found.is_too_short(Kind::Response)), "{omitting:#?}");
    assert!(skipping.contains(&Difference::Fates), "{skipping:#?}");
    assert!(instant.iter().any(|found| found.is_too_short(Kind::Service)), "{instant:#?}");
}

/// A server that stops for the first of four seconds, under even arrivals of an open job with one
/// connection.
const STALL: Stall = Stall { service_s: 0.002, stall_s: 1.0, period_s: 4.0, arrival_rate: 100.0 };

fn stalled() -> Twins<impl Fn(u64) -> Plan + Sync> {
    Twins {
        config: Config {
            stall: Nanos::from_secs(1),
            stall_every: Nanos::from_secs(1_000),
            ..constant(2_000, None)
        },
        plan: |seed| {
            let mut plan = plan(even(100), 0.0, 4.0, seed);
            (plan.connections, plan.max_connections) = (Some(1), 1);
            plan
        },
        threads: 1,
        never_shorter: &[Kind::Response],
    }
}

#[test]
fn a_stall_shows_in_the_response_time_in_real_time() {
    let twins = stalled();
    let ideal = twins.virtually(0..RUNS);
    for q in [0.9, 0.95, 0.99] {
        let quantile = Estimate::Quantile(q);
        let (is, exact) = (ideal.estimate(quantile, Kind::Response), STALL.quantile(q));
        // Requests instead of a fluid: less than the time from one arrival to the next.
        assert!((is - exact).abs() < 0.010, "p{}: {is} instead of {exact}", q * 100.0);
    }
    let [honest, omitting] =
        at_once([&|| twins.differences::<Honest>(), &|| twins.differences::<FromTheActualSend>()]);
    assert_eq!(honest, []);
    for q in [0.9, 0.95, 0.99] {
        assert!(omitting.iter().any(|found| found.hides(q)), "{omitting:#?}");
    }
}
