//! Deterministic oracles of coordinated omission: a server that stalls, and a backlog that is left
//! by the warm-up.

use engine::{LaneOutlet, Rules};
use record::{Kind, Tally};
use sim::Config;
use sim::closed_form::{ClosedForm, Stall};
use workload::Plan;

use super::finding::{Allowed, Finding};
use super::oracle_run::{JOB, Span, plan, server, simulate, simulate_into};
use super::quantity::{Estimate, Quantity};

/// A workload with evenly spaced arrivals for one worker. A closed loop would report only the
/// worker's service time.
const ONE_WORKER: &str =
    "[read]\nquery = select 1\nrate = 1000\narrival = uniform\nconcurrency = 1\n";

/// The quantiles of the response time that are judged.
pub(super) const STALL_QUANTILES: [f64; 4] = [0.90, 0.95, 0.99, 0.999];

/// Number of evenly spaced arrivals at 1,000 per second in 100 s; the first is due after one
/// period.
const ARRIVALS: u64 = 99_999;

/// Tolerance of a service time, in seconds.
const MICROSECOND_S: f64 = 1e-6;

/// A server that stalls for the first second of every ten.
#[derive(Clone, Copy)]
pub(super) struct Stalled {
    pub(super) name: &'static str,
    /// Constant service time, in microseconds.
    pub(super) service_us: u32,
}

/// All stalls that are judged.
pub(super) const STALLS: [Stalled; 2] =
    [Stalled { name: "stall, 0.1 ms", service_us: 100 }, HALF_BUSY];

/// A stall of a server that is busy for half of the time.
pub(super) const HALF_BUSY: Stalled = Stalled { name: "stall, 0.5 ms", service_us: 500 };

impl Stalled {
    fn plan() -> Plan {
        plan(ONE_WORKER, Span { warmup_s: 0.0, window_s: 100.0 }, 1)
    }

    fn config(self) -> Config {
        let service = self.service_us;
        let url = format!("sim:md1?service={service}us&servers=unlimited&stall=1s&stall-every=10s");
        server(&url)
    }

    /// Measures the stall by the given measurement rules.
    pub(super) fn findings(self, rules: Rules) -> Vec<Finding> {
        let totals = simulate(rules, &Self::plan(), &self.config());
        self.judge(&totals.account(JOB).window)
    }

    /// Runs the stall by the given measurement rules, and delivers the measurements to the caller's
    /// outlet.
    pub(super) fn measure_into(self, rules: Rules, outlet: impl Fn() -> LaneOutlet) {
        simulate_into(rules, &Self::plan(), &self.config(), outlet);
    }

    /// Judges both times: the response time shows the stall, and the service time is the time that
    /// a closed loop would have reported.
    pub(super) fn judge(self, window: &Tally) -> Vec<Finding> {
        let service_s = f64::from(self.service_us) / 1e6;
        let exact = Stall { service_s, stall_s: 1.0, period_s: 10.0, arrival_rate: 1_000.0 };
        let mut findings = Vec::new();
        for q in STALL_QUANTILES {
            let expected = exact.quantile(q);
            let allowed = Allowed::around((expected * 0.01).max(0.002));
            findings.push(self.time(window, Kind::Response, q, (expected, allowed)));
        }
        for q in [0.99, 0.999] {
            let allowed = Allowed::around(MICROSECOND_S);
            findings.push(self.time(window, Kind::Service, q, (service_s, allowed)));
        }
        let completed = window.counts.balance.completed() as f64;
        let expected = (Quantity::Completed, ARRIVALS as f64);
        findings.push(Finding::within(self.name, expected, completed, Allowed::ZERO));
        findings
    }

    fn time(self, window: &Tally, kind: Kind, q: f64, expected: (f64, Allowed)) -> Finding {
        let estimate = Estimate::Quantile(q);
        let measured = estimate.of_histogram(&window.histograms.of(kind));
        let (exact, allowed) = expected;
        Finding::within(self.name, (Quantity::Time(kind, estimate), exact), measured, allowed)
    }
}

const BACKLOG_WINDOW_S: f64 = 8.0;

/// A stall that ends together with the warm-up, so its backlog is measured in the window.
struct Backlog;

impl ClosedForm for Backlog {
    /// Returns the probability of a response time above `t`.
    ///
    /// The server has half of its capacity to spare, and a backlog of one second of work. During
    /// the first two seconds of the window, the response time therefore falls linearly from 1 s to
    /// the service time of 1 ms.
    fn exceeds(&self, t: f64) -> f64 {
        if t < 1e-3 { 1.0 } else { (2.0 / BACKLOG_WINDOW_S * (1.0 - (t - 1e-3))).max(0.0) }
    }

    fn mean(&self) -> f64 {
        1e-3 + 1.0 / BACKLOG_WINDOW_S
    }
}

/// Measures a backlog that is left by the warm-up, by the given measurement rules.
pub(super) fn backlog(rules: Rules) -> Vec<Finding> {
    let workload = "[read]\nquery = select 1\nrate = 500\narrival = uniform\nconcurrency = 1\n";
    let config = server("sim:md1?service=1ms&servers=unlimited&stall=2s&stall-every=1000s");
    let plan = plan(workload, Span { warmup_s: 2.0, window_s: BACKLOG_WINDOW_S }, 1);
    let totals = simulate(rules, &plan, &config);
    let responses = totals.account(JOB).window.histograms.of(Kind::Response);
    let estimates = [Estimate::Mean, Estimate::Quantile(0.9), Estimate::Quantile(0.99)];
    let judge = |estimate: Estimate| {
        let exact = estimate.exactly(&Backlog);
        let measured = estimate.of_histogram(&responses);
        let allowed = Allowed::around(exact * 0.01);
        Finding::within("backlog", (Quantity::response(estimate), exact), measured, allowed)
    };
    estimates.map(judge).into()
}
