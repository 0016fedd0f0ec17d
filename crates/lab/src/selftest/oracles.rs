//! The oracles: simulated servers whose response times are known in closed form, each measured in
//! twenty independent replications.
//!
//! Ten replications would not be enough (decision 14): an estimate of the standard deviation from
//! ten replications is less than half of the true value in one of 75 cases; an estimate from
//! twenty, in one of 2,000. Four standard errors are exceeded in one of 1,300 cases. The seeds are
//! the same everywhere, and in virtual time a seed always gives the same result. An oracle that
//! passes once therefore passes until the program changes.

use engine::Rules;
use sim::closed_form::{ClosedForm, ClosedLoop, DM1, MDc, MH21, MMc, loss_probability};
use workload::Plan;

use super::depth::Depth;
use super::finding::{Allowed, Finding, standard_deviation};
use super::oracle_run::{Span, plan, server, simulate};
use super::quantity::{Estimate, Quantity};
use super::recursion;
use super::replication::Replication;
use crate::run_concurrently;

/// Number of replications of an oracle.
const REPLICATIONS: u64 = 20;

/// Length of a thorough window, in seconds: the time of 330,000 requests at 700 per second. At a
/// utilisation of 0.7, these give p99 to within 5 % at two standard errors. For the same precision,
/// p99.9 would need 32,171 requests if response times were independent. Because they are
/// correlated, it needs 46 times as many. For four standard errors it needs four times that number:
/// 5.9 million. Twenty windows have 6.6 million.
const WINDOW_S: f64 = 470.0;

/// A simulated server, a workload, and the exact values that must be measured.
pub(super) struct Oracle {
    /// The number of the oracle in `docs/selftest.md`, if it has one, and the server in Kendall's
    /// notation, as in `O1 M/M/1`.
    pub(super) name: &'static str,
    /// The workload file, without `duration`, `warmup` and `seed`.
    pub(super) workload: &'static str,
    /// The URL of the simulated server.
    pub(super) server: &'static str,
    /// The lengths of warm-up and window of a thorough test. After the warm-up, it no longer
    /// matters that the queue was empty at first.
    pub(super) span: Span,
    /// Mean think time of closed clients, in seconds.
    pub(super) think_s: f64,
    /// The quantities that are judged, with their exact values.
    pub(super) exact: fn() -> Vec<(Quantity, f64)>,
}

/// One exponential server, 70 % busy with Poisson arrivals.
pub(super) const ONE_SERVER: Oracle = Oracle {
    name: "O1 M/M/1",
    workload: "[read]\nquery = select 1\nrate = 700\n",
    server: "sim:mm1?service=1ms",
    span: Span { warmup_s: 10.0, window_s: WINDOW_S },
    think_s: 0.0,
    exact: || with_arrivals(&MM1, MM1.arrival_rate),
};

/// One server with a constant service time, with the same arrivals as [`ONE_SERVER`].
pub(super) const CONSTANT_SERVER: Oracle = Oracle {
    name: "O3 M/D/1",
    server: "sim:md1?service=1ms",
    exact: || with_arrivals(&MDc::new(1, 1e-3, 700.0), 700.0),
    ..ONE_SERVER
};

const MM1: MMc = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 700.0 };

const MM4: MMc = MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 };

/// M/M/4 whose queue is in the generator instead of the server. The wait for a worker is then
/// measured as part of the response time.
pub(super) const FOUR_WORKERS: Oracle = Oracle {
    name: "O2 M/M/4 queue",
    workload: "[read]\nquery = select 1\nrate = 800\nconcurrency = 4\n",
    server: "sim:mmc?service=4ms&servers=unlimited",
    exact: || with_arrivals(&MM4, MM4.arrival_rate),
    ..ONE_SERVER
};

/// M/M/1 with a timeout that one request in 37 reaches. The timeout cuts off the quantiles p99 and
/// p99.9, and is well above p95. The server also serves requests that have timed out, so the other
/// requests are not affected.
pub(super) const TIMEOUTS: Oracle = Oracle {
    name: "M/M/1 timeout",
    workload: "[read]\nquery = select 1\nrate = 700\ntimeout = 12ms\n",
    exact: || {
        let exact = CutOff { form: MM1, timeout_s: 0.012 };
        let mut values = with_arrivals(&exact, MM1.arrival_rate);
        values.push((Quantity::Timeouts, MM1.exceeds(exact.timeout_s)));
        values
    },
    ..ONE_SERVER
};

/// The oracles that are measured in independent replications.
pub(super) const ORACLES: [Oracle; 13] = [
    ONE_SERVER,
    Oracle {
        name: "O2 M/M/4",
        workload: "[read]\nquery = select 1\nrate = 800\n",
        server: "sim:mmc?service=4ms&servers=4",
        exact: || with_arrivals(&MM4, MM4.arrival_rate),
        ..ONE_SERVER
    },
    FOUR_WORKERS,
    CONSTANT_SERVER,
    Oracle {
        name: "O3 M/D/2",
        workload: "[read]\nquery = select 1\nrate = 1400\n",
        server: "sim:mdc?service=1ms&servers=2",
        // This oracle needs as many requests as the others. At twice the rate, they are sent in
        // half the time.
        span: Span { warmup_s: 10.0, window_s: WINDOW_S / 2.0 },
        exact: || with_arrivals(&MDc::new(2, 1e-3, 1_400.0), 1_400.0),
        ..ONE_SERVER
    },
    Oracle {
        name: "O4 M/H2/1",
        server: "sim:bimodal?fast=500us&slow=5500us&slow-share=0.1",
        // The estimates scatter twice as much as those of M/M/1 at the same load, so the window is
        // longer.
        span: Span { warmup_s: 10.0, window_s: 2.0 * WINDOW_S },
        exact: || {
            let (fast_s, slow_s) = (0.5e-3, 5.5e-3);
            let form = MH21 { fast_s, slow_s, slow_share: 0.1, arrival_rate: 700.0 };
            with_arrivals(&form, form.arrival_rate)
        },
        ..ONE_SERVER
    },
    Oracle {
        name: "O5 D/M/1",
        workload: "[read]\nquery = select 1\nrate = 800\narrival = uniform\n",
        exact: || every_estimate(&DM1 { service_rate: 1_000.0, arrival_rate: 800.0 }),
        ..ONE_SERVER
    },
    Oracle {
        name: "O5' M/M/1",
        workload: "[read]\nquery = select 1\nrate = 800\n",
        exact: || with_arrivals(&MMc { arrival_rate: 800.0, ..MM1 }, 800.0),
        ..ONE_SERVER
    },
    Oracle {
        name: "O6 closed",
        workload: "[read]\nquery = select 1\nconcurrency = 32\nthink = exp(20ms)\n",
        span: Span { warmup_s: 10.0, window_s: 100.0 },
        think_s: 20e-3,
        exact: || {
            let form = ClosedLoop { clients: 32, service_s: 1e-3, think_s: 20e-3 };
            let mut values = every_estimate(&form);
            values.push((Quantity::Throughput, form.throughput()));
            values
        },
        ..ONE_SERVER
    },
    Oracle {
        name: "O7 M/M/16",
        workload: "[read]\nquery = select 1\nrate = 3200\n",
        server: "sim:mmc?service=4ms&servers=16",
        span: Span { warmup_s: 5.0, window_s: 120.0 },
        exact: || {
            let form = MMc { servers: 16, service_rate: 250.0, arrival_rate: 3_200.0 };
            with_arrivals(&form, form.arrival_rate)
        },
        ..ONE_SERVER
    },
    Oracle {
        name: "O8 M/M/1/10",
        workload: "[read]\nquery = select 1\nrate = 900\n",
        server: "sim:mm1?service=1ms&capacity=10",
        // A short window is enough for a fraction, for which every request is a sample. For a rare
        // quantile, only one request in a thousand is.
        span: Span { warmup_s: 2.0, window_s: 60.0 },
        exact: || vec![(Quantity::Loss, loss_probability(10, 0.9))],
        ..ONE_SERVER
    },
    Oracle {
        name: "O8 M/M/1/50",
        workload: "[read]\nquery = select 1\nrate = 1200\n",
        server: "sim:mm1?service=1ms&capacity=50",
        span: Span { warmup_s: 2.0, window_s: 60.0 },
        exact: || vec![(Quantity::Loss, loss_probability(50, 1.2))],
        ..ONE_SERVER
    },
    TIMEOUTS,
];

/// Returns the exact value of every estimate of the response time.
fn every_estimate(form: &impl ClosedForm) -> Vec<(Quantity, f64)> {
    let exactly = |estimate: Estimate| (Quantity::response(estimate), estimate.exactly(form));
    Estimate::ALL.map(exactly).into()
}

/// Returns the exact value of every estimate of the response time, and the arrival rate, which is
/// random.
fn with_arrivals(form: &impl ClosedForm, per_s: f64) -> Vec<(Quantity, f64)> {
    let mut values = every_estimate(form);
    values.push((Quantity::Arrivals, per_s));
    values
}

/// The response time of a system whose requests time out, so the longest response times are cut
/// off.
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

impl Oracle {
    /// Returns the plan of one replication.
    pub(super) fn plan(&self, depth: Depth, seed: u64) -> Plan {
        let window_s = self.span.window_s * depth.share();
        plan(self.workload, Span { window_s, ..self.span }, seed)
    }

    /// Measures the oracle in replications with different seeds, by the given measurement rules.
    pub(super) fn findings(&self, rules: Rules, depth: Depth) -> Vec<Finding> {
        self.findings_of(rules, depth, |plan| plan)
    }

    /// Measures the oracle with plans altered by `alter`.
    pub(super) fn findings_of(
        &self,
        rules: Rules,
        depth: Depth,
        alter: impl Fn(Plan) -> Plan + Sync,
    ) -> Vec<Finding> {
        let config = server(self.server);
        let measured = run_concurrently(REPLICATIONS, |seed| {
            let plan = alter(self.plan(depth, seed));
            Replication::of(&simulate(rules, &plan, &config), &plan)
        });
        let expected = recursion::replicate(&self.plan(depth, 0), &config, self.think_s);
        let estimates = |runs: &[Replication], quantity| -> Vec<f64> {
            runs.iter().map(|run| run.estimate(quantity)).collect()
        };
        let compare = |(quantity, exact): (Quantity, f64)| {
            let deviation = standard_deviation(&estimates(&expected, quantity));
            let estimates = estimates(&measured, quantity);
            Finding::of_replications(self.name, (quantity, exact), &estimates, deviation)
        };
        let exact = (self.exact)().into_iter();
        let judged =
            exact.filter(|(quantity, _)| depth.judges_rare_quantiles() || quantity.is_common());
        judged.map(compare).chain([self.unaccounted(&measured)]).collect()
    }

    /// Compares the number of requests without an outcome with its expected value, zero.
    fn unaccounted(&self, runs: &[Replication]) -> Finding {
        let vanished = runs.iter().map(Replication::unaccounted).sum::<u64>();
        let expected = (Quantity::Unaccounted, 0.0);
        Finding::within(self.name, expected, vanished as f64, Allowed::ZERO)
    }
}
