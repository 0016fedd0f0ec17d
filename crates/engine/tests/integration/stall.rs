//! What coordinated omission hides: a server that stops, a backlog from the warm-up, timeouts.

use base::Nanos;
use engine::{Honest, Rules};
use record::{Kind, Tally};
use sim::Config;
use sim::closed_form::{ClosedForm, MMc, Stall};
use workload::{OnQueueFull, Pacing, Plan, Schedule};

use crate::oracles::{Measure, Oracle, open};
use crate::support::{
    Estimate, JOB, constant, exponential, plan, poisson, rate, simulate, simulate_by,
};

/// A server that stops for the first second of every ten, under even arrivals of 1,000/s.
fn stall(service_us: u64) -> (Stall, Config) {
    let service_s = service_us as f64 / 1e6;
    let exact = Stall { service_s, stall_s: 1.0, period_s: 10.0, arrival_rate: 1_000.0 };
    let config = Config {
        stall: Nanos::from_secs(1),
        stall_every: Nanos::from_secs(10),
        ..constant(service_us, None)
    };
    (exact, config)
}

/// One worker serves the queue: what a closed loop would see of the stall is its service time.
fn one_worker(per_s: u64, warmup_s: f64, duration_s: f64) -> Plan {
    let schedule = Schedule::Uniform(rate(per_s));
    let pacing = Pacing::Queue {
        schedule,
        batch: 1,
        workers: 1,
        limit: 100_000,
        on_full: OnQueueFull::Reject,
    };
    plan(pacing, warmup_s, duration_s, 1)
}

pub(crate) fn stall_plan() -> Plan {
    one_worker(1_000, 0.0, 100.0)
}

pub(crate) fn stall_config(service_us: u64) -> Config {
    stall(service_us).1
}

/// The quantiles that the stall oracle judges.
pub(crate) const STALL_QUANTILES: [f64; 4] = [0.90, 0.95, 0.99, 0.999];

/// What the stall oracle finds wrong with the engine by some rules, as text.
pub(crate) fn stall_findings<R: Rules>(service_us: u64) -> Vec<String> {
    let (totals, _) = simulate_by::<R>(&stall_plan(), &stall_config(service_us));
    judge_stall(service_us, &totals.job(JOB).window)
}

/// The numbers of a window of the stall oracle that are not what they should be, as text.
pub(crate) fn judge_stall(service_us: u64, window: &Tally) -> Vec<String> {
    let (exact, _) = stall(service_us);
    let mut red = Vec::new();
    for q in STALL_QUANTILES {
        let expected = exact.quantile(q);
        let measured = Estimate::Quantile(q).of_histogram(&window.histograms.of(Kind::Response));
        if (measured - expected).abs() > (expected * 0.01).max(0.002) {
            red.push(format!("p{}: {measured} instead of {expected}", q * 100.0));
        }
    }
    let completed = window.counts.balance.completed();
    if completed != 99_999 {
        red.push(format!("{completed} requests instead of 99,999"));
    }
    red
}

/// The same stall in both clocks at once: the response time shows it, and the service time shows
/// what a closed loop would have reported.
#[test]
fn a_stall_shows_in_the_response_time_and_not_in_the_service_time() {
    for service_us in [0, 100, 500] {
        assert_eq!(stall_findings::<Honest>(service_us), Vec::<String>::new());
        let (_, config) = stall(service_us);
        let (totals, _) = simulate(&stall_plan(), &config);
        for q in [0.99, 0.999] {
            let victim = Estimate::Quantile(q).of_kind(&totals, Kind::Service);
            let service_s = service_us as f64 / 1e6;
            assert!((victim - service_s).abs() < 1e-6, "{victim} instead of {service_s}");
        }
    }
}

/// A stall that ends with the warm-up: its backlog is part of what the window measures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog;

const BACKLOG_WINDOW_S: f64 = 8.0;

impl ClosedForm for Backlog {
    /// Half the capacity is spare and a second of work waits, so response time falls in a straight
    /// line from 1 s to nothing during the first two seconds of the window.
    fn exceeds(&self, t: f64) -> f64 {
        if t < 1e-3 { 1.0 } else { (2.0 / BACKLOG_WINDOW_S * (1.0 - (t - 1e-3))).max(0.0) }
    }

    fn mean(&self) -> f64 {
        1e-3 + 1.0 / BACKLOG_WINDOW_S
    }
}

pub(crate) fn backlog_findings<R: Rules>() -> Vec<String> {
    let config = Config {
        stall: Nanos::from_secs(2),
        stall_every: Nanos::from_secs(1_000),
        ..constant(1_000, None)
    };
    let plan = one_worker(500, 2.0, 2.0 + BACKLOG_WINDOW_S);
    let (totals, _) = simulate_by::<R>(&plan, &config);
    let red = [Estimate::Mean, Estimate::Quantile(0.9), Estimate::Quantile(0.99)]
        .into_iter()
        .map(|estimate| (estimate, estimate.of(&totals), estimate.exactly(&Backlog)))
        .filter(|(_, measured, exact)| (measured - exact).abs() > exact * 0.01)
        .map(|(estimate, measured, exact)| format!("{estimate:?}: {measured} instead of {exact}"));
    red.collect()
}

#[test]
fn a_backlog_of_the_warm_up_is_measured_in_the_window() {
    assert_eq!(backlog_findings::<Honest>(), Vec::<String>::new());
}

/// A response time that is cut off at a timeout.
struct CutOff {
    form: MMc,
    timeout_s: f64,
}

impl ClosedForm for CutOff {
    fn exceeds(&self, t: f64) -> f64 {
        if t < self.timeout_s { self.form.exceeds(t) } else { 0.0 }
    }

    fn mean(&self) -> f64 {
        self.form.mean() * (1.0 - self.form.exceeds(self.timeout_s))
    }
}

/// M/M/1 with a timeout that one request in forty reaches, far enough from every quantile. The
/// server goes on with requests that were given up, so that the others are not affected.
pub(crate) fn timeouts() -> Oracle<impl Fn(u64) -> Plan> {
    let form = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 700.0 };
    let exact = CutOff { form, timeout_s: 0.012 };
    let with_timeout = |seed| {
        let mut plan = open(poisson(700))(seed);
        plan.jobs[0].timeout = Some(Nanos::from_millis(12));
        plan
    };
    Oracle::new(&exact, exponential(1_000, Some(1)), with_timeout)
        .and(Measure::Timeouts, form.exceeds(exact.timeout_s))
}

#[test]
fn a_timeout_has_a_latency_too() {
    timeouts().check();
}

#[test]
fn a_timeout_is_an_error_and_the_only_one() {
    let mut plan = plan(poisson(700), 0.0, 20.0, 1);
    plan.jobs[0].timeout = Some(Nanos::from_millis(12));
    let (totals, _) = simulate(&plan, &exponential(1_000, Some(1)));
    let counts = &totals.job(JOB).window.counts;
    assert!(counts.timeouts > 0, "{counts:?}");
    assert_eq!(counts.timeouts, counts.balance.errors());
}
