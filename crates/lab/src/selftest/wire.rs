//! An oracle in real time, over loopback, in the protocols of PostgreSQL and MySQL.
//!
//! The server is simulated and answers by deadline, on a thread of its own; the driver, the network
//! and the clock are real. Its service time is constant, so that its twin in virtual time has the
//! same times to the nanosecond, whatever else the driver asks before time zero.

use std::fmt;
use std::io;
use std::path::PathBuf;

use base::{Seed, Target};
use driver::{Mysql, Postgres};
use engine::{Failed, Honest};
use record::{Kind, Totals};
use sim::closed_form::MDc;
use testbed::wire_server::{Simulation, WireServer};
use workload::Plan;

use super::course::{Span, Time, plan, run_on, server, simulate};
use super::finding::{Finding, standard_deviation};
use super::quantity::{Estimate, Quantity};
use super::recursion;
use super::replication::Replication;
use super::twins::{Pool, compare};

/// Poisson arrivals at one constant server that they keep busy for 70 % of the time. All
/// connections are there from the beginning.
const WORKLOAD: &str = "connections = 64\n[read]\nquery = select 1\nrate = 350\n";

const SERVER: &str = "sim:md1?service=2ms";

/// The same in closed form.
fn exact() -> MDc {
    MDc::new(1, 2e-3, 350.0)
}

/// How long it is measured.
const SPAN: Span = Span { warmup_s: 1.0, window_s: 14.0 };

/// A protocol with the name of its oracle.
struct Protocol {
    name: &'static str,
    kind: testbed::Kind,
    scheme: &'static str,
}

const PROTOCOLS: [Protocol; 2] = [
    Protocol { name: "O3 PostgreSQL", kind: testbed::Kind::Postgres, scheme: "postgres" },
    Protocol { name: "O3 MySQL", kind: testbed::Kind::Mariadb, scheme: "mysql" },
];

/// Why an oracle could not be run in real time.
#[derive(Debug)]
pub enum WireProblem {
    /// There is no simulated server.
    Server(io::Error),
    /// There is no driver.
    Driver(driver::Error),
    /// The run could not be made.
    Run(Failed),
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

/// Runs the oracle in both protocols, one at a time, so that neither is in the other's way.
///
/// # Errors
/// It could not be run.
pub(super) fn findings(tell: &mut dyn FnMut(&str)) -> Result<Vec<Finding>, WireProblem> {
    let mut findings = Vec::new();
    for protocol in &PROTOCOLS {
        tell(protocol.name);
        let plan = plan(WORKLOAD, SPAN, 42);
        let totals = measure(protocol, &plan)?;
        findings.extend(judge(protocol.name, &plan, &totals));
    }
    Ok(findings)
}

fn measure(protocol: &Protocol, plan: &Plan) -> Result<Totals, WireProblem> {
    let simulation =
        Simulation { config: server(SERVER), seed: Seed(42), ..Simulation::at_once(protocol.kind) };
    let server = WireServer::start(simulation).map_err(WireProblem::Server)?;
    let url = format!("{}://assay@{}/selftest", protocol.scheme, server.address());
    let target = Target::parse(&url).expect("the URL is ours");
    let time = Time::Real(1);
    let run = match protocol.kind {
        testbed::Kind::Postgres => {
            let driver = Postgres::open(&target).map_err(WireProblem::Driver)?;
            run_on::<_, Honest>(plan, driver, time)
        }
        testbed::Kind::Mariadb => {
            let driver = Mysql::open(&target, PathBuf::new()).map_err(WireProblem::Driver)?;
            run_on::<_, Honest>(plan, driver, time)
        }
    };
    run.map_err(WireProblem::Run)
}

/// Compares a run with the closed form and with its twin.
fn judge(name: &str, plan: &Plan, real: &Totals) -> Vec<Finding> {
    let config = server(SERVER);
    let pool = Pool::of(std::slice::from_ref(real));
    let twin = Pool::of(&[simulate::<Honest>(plan, &config)]);
    let expected = recursion::replicate(plan, &config, 0.0);
    let form = exact();
    let with_form = |estimate: Estimate| {
        let quantity = Quantity::response(estimate);
        let scatter: Vec<f64> = expected.iter().map(|run| run.estimate(quantity)).collect();
        let (exact, measured) = (estimate.exactly(&form), pool.estimate(Kind::Response, estimate));
        let machine = pool.lateness_s(exact);
        let deviation = standard_deviation(&scatter);
        Finding::of_one_run(name, (quantity, exact), measured, deviation, machine)
    };
    // One window of this length has five requests beyond p99.9.
    let estimates = Estimate::ALL.into_iter();
    let common = estimates.filter(|estimate| Quantity::response(*estimate).is_common());
    let mut findings: Vec<Finding> = common.map(with_form).collect();
    let replication = Replication::of(real, plan);
    let vanished = (Quantity::Unaccounted, 0.0);
    let nothing = super::finding::Allowed::NOTHING;
    findings.push(Finding::within(name, vanished, replication.unaccounted() as f64, nothing));
    findings.extend(compare(&format!("{name}, twin"), &[Kind::Response], &pool, &twin));
    findings
}
