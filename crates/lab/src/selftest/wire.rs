//! Oracles in real time, over loopback, in the protocols of PostgreSQL and MySQL.
//!
//! The server is simulated, and sends each answer at a computed time, on a thread of its own; the
//! driver, the network and the clock are real. With a constant service time, the twin in virtual
//! time has exactly the same service times, whatever else the driver sends before time zero.

use std::fmt;
use std::io;
use std::path::PathBuf;

use base::{Nanos, Seed, Target};
use driver::{Mysql, Postgres};
use engine::{Rules, RunFailure};
use record::{Kind, Totals};
use sim::closed_form::{ClosedLoop, MDc, MH21, MMc, Stall};
use testbed::wire_server::{Simulation, WireServer};
use workload::Plan;

use super::depth::Depth;
use super::finding::{Allowed, Finding, standard_deviation};
use super::oracle_run::{Span, Time, plan, run_on, server, simulate};
use super::quantity::{Estimate, Quantity};
use super::recursion;
use super::replication::Replication;
use super::twins::{PooledRuns, compare};

/// A simulated server that is measured in real time.
struct RealTimeOracle {
    name: &'static str,
    /// The workload. All of its connections are open from the start.
    workload: &'static str,
    server: &'static str,
    /// The lengths of warm-up and window.
    span: Span,
    /// Mean think time of closed clients, in seconds.
    think_s: f64,
    exact: fn(Estimate) -> f64,
    /// True if the twin in virtual time has the same service times, because service times are
    /// constant.
    has_twin: bool,
}

/// One server with a constant service time, 70 % busy with Poisson arrivals.
const CONSTANT_SERVER: RealTimeOracle = RealTimeOracle {
    name: "O3 M/D/1",
    workload: "connections = 64\n[read]\nquery = select 1\nrate = 350\n",
    server: "sim:md1?service=2ms",
    span: Span { warmup_s: 1.0, window_s: 14.0 },
    think_s: 0.0,
    exact: |estimate| estimate.exactly(&MDc::new(1, 2e-3, 350.0)),
    has_twin: true,
};

const REAL_TIME_ORACLES: [RealTimeOracle; 6] = [
    CONSTANT_SERVER,
    RealTimeOracle {
        name: "O1 M/M/1",
        server: "sim:mm1?service=2ms",
        exact: |estimate| {
            estimate.exactly(&MMc { servers: 1, service_rate: 500.0, arrival_rate: 350.0 })
        },
        has_twin: false,
        ..CONSTANT_SERVER
    },
    RealTimeOracle {
        name: "O2 M/M/4",
        workload: "connections = 64\n[read]\nquery = select 1\nrate = 800\n",
        server: "sim:mmc?service=4ms&servers=4",
        exact: |estimate| {
            estimate.exactly(&MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 })
        },
        has_twin: false,
        ..CONSTANT_SERVER
    },
    RealTimeOracle {
        name: "O4 M/H2/1",
        server: "sim:bimodal?fast=1ms&slow=11ms&slow-share=0.1",
        exact: |estimate| {
            let (fast_s, slow_s) = (1e-3, 11e-3);
            estimate.exactly(&MH21 { fast_s, slow_s, slow_share: 0.1, arrival_rate: 350.0 })
        },
        has_twin: false,
        ..CONSTANT_SERVER
    },
    RealTimeOracle {
        name: "O6 closed",
        workload: "[read]\nquery = select 1\nconcurrency = 32\nthink = exp(40ms)\n",
        server: "sim:mm1?service=2ms",
        think_s: 40e-3,
        exact: |estimate| {
            estimate.exactly(&ClosedLoop { clients: 32, service_s: 2e-3, think_s: 40e-3 })
        },
        has_twin: false,
        ..CONSTANT_SERVER
    },
    // The server stalls for the first second of every four. There is one connection, so a closed
    // loop would see only the service time.
    RealTimeOracle {
        name: "stall",
        workload: "connections = 1\nmax-connections = 1\n[read]\nquery = select 1\nrate = 100\n\
                   arrival = uniform\n",
        server: "sim:md1?service=2ms&stall=1s&stall-every=4s",
        span: Span { warmup_s: 0.0, window_s: 8.0 },
        exact: |estimate| {
            let (service_s, stall_s, period_s) = (2e-3, 1.0, 4.0);
            estimate.exactly(&Stall { service_s, stall_s, period_s, arrival_rate: 100.0 })
        },
        ..CONSTANT_SERVER
    },
];

/// A protocol and its names.
struct Protocol {
    name: &'static str,
    kind: testbed::Kind,
    scheme: &'static str,
}

const PROTOCOLS: [Protocol; 2] = [
    Protocol { name: "PostgreSQL", kind: testbed::Kind::Postgres, scheme: "postgres" },
    Protocol { name: "MySQL", kind: testbed::Kind::Mariadb, scheme: "mysql" },
];

/// A reason why an oracle could not be run in real time.
#[derive(Debug)]
pub enum WireProblem {
    /// The simulated server cannot be started.
    Server(io::Error),
    /// The driver cannot be created.
    Driver(driver::Error),
    /// The run failed to start.
    Run(RunFailure),
}

impl fmt::Display for WireProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireProblem::Server(error) => {
                write!(f, "the simulated server cannot be started on 127.0.0.1: {error}")
            }
            WireProblem::Driver(error) => error.fmt(f),
            WireProblem::Run(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for WireProblem {}

/// Measures the oracles in both protocols, one at a time, because they would disturb each other.
///
/// # Errors
/// An oracle could not be run.
pub(super) fn findings(
    depth: Depth,
    on_step: &mut dyn FnMut(&str),
) -> Result<Vec<Finding>, WireProblem> {
    let oracles = match depth {
        Depth::Quick => &REAL_TIME_ORACLES[..1],
        Depth::Standard | Depth::Thorough => &REAL_TIME_ORACLES[..],
    };
    let mut findings = Vec::new();
    for oracle in oracles {
        for protocol in &PROTOCOLS {
            let name = format!("{}, {}", oracle.name, protocol.name);
            on_step(&name);
            let plan = plan(oracle.workload, oracle.span, 42);
            let totals = oracle.measure(protocol, &plan)?;
            findings.extend(oracle.judge(&name, &plan, &totals));
        }
    }
    Ok(findings)
}

impl RealTimeOracle {
    fn measure(&self, protocol: &Protocol, plan: &Plan) -> Result<Totals, WireProblem> {
        let simulation = Simulation {
            config: server(self.server),
            seed: Seed(42),
            ..Simulation::at_once(protocol.kind)
        };
        let server = WireServer::start(simulation).map_err(WireProblem::Server)?;
        let url = format!("{}://assay@{}/selftest", protocol.scheme, server.address());
        let target = Target::parse(&url).expect("the URL is ours");
        let time = Time::Real(1);
        let run = match protocol.kind {
            testbed::Kind::Postgres => {
                let driver = Postgres::open(&target).map_err(WireProblem::Driver)?;
                run_on(Rules::STANDARD, plan, driver, time)
            }
            testbed::Kind::Mariadb | testbed::Kind::Mysql => {
                let driver = Mysql::open(&target, PathBuf::new()).map_err(WireProblem::Driver)?;
                run_on(Rules::STANDARD, plan, driver, time)
            }
        };
        run.map_err(WireProblem::Run)
    }

    /// Compares a run with the closed form, unless the server stalls, and with its twin, if it has
    /// one. Also checks that every request is accounted for.
    fn judge(&self, name: &str, plan: &Plan, real: &Totals) -> Vec<Finding> {
        let config = server(self.server);
        let pool = PooledRuns::of(std::slice::from_ref(real));
        let mut findings = match config.stall > Nanos::ZERO {
            // The closed form treats requests as a continuous flow; the twin has discrete requests,
            // as the run has.
            true => Vec::new(),
            false => self.compare_with_closed_form(name, plan, &pool),
        };
        let unaccounted = Replication::of(real, plan).unaccounted() as f64;
        let vanished = (Quantity::Unaccounted, 0.0);
        findings.push(Finding::within(name, vanished, unaccounted, Allowed::ZERO));
        if self.has_twin {
            let twin = PooledRuns::of(&[simulate(Rules::STANDARD, plan, &config)]);
            findings.extend(compare(&format!("{name}, twin"), &[Kind::Response], &pool, &twin));
        }
        findings
    }

    fn compare_with_closed_form(&self, name: &str, plan: &Plan, pool: &PooledRuns) -> Vec<Finding> {
        let expected = recursion::replicate(plan, &server(self.server), self.think_s);
        let compare = |estimate: Estimate| {
            let quantity = Quantity::response(estimate);
            let replicated: Vec<f64> = expected.iter().map(|run| run.estimate(quantity)).collect();
            let exact = (self.exact)(estimate);
            let measured = pool.estimate(Kind::Response, estimate);
            let machine_tolerance = pool.max_excess_s(exact);
            let deviation = standard_deviation(&replicated);
            Finding::of_single_run(name, (quantity, exact), measured, deviation, machine_tolerance)
        };
        // In a window of this length, only about five to eleven requests are beyond p99.9.
        let estimates = Estimate::ALL.into_iter();
        estimates
            .filter(|estimate| Quantity::response(*estimate).is_common())
            .map(compare)
            .collect()
    }
}
