//! A deterministic oracle: a server whose throughput first rises and then falls with the number of
//! clients, by the universal scalability law.

use engine::Rules;
use record::Kind;
use sim::closed_form::Scalability;

use super::finding::{Allowed, Finding};
use super::oracle_run::{JOB, Span, plan, server, simulate};
use super::quantity::{Estimate, Quantity};

/// The name of the oracle.
pub(super) const NAME: &str = "USL";

/// A server with a contention σ of 0.03, a coherency κ of 0.0002, and 1,000 requests per second for
/// one client. The throughput has its maximum at 69.6 clients.
const SERVER: &str = "sim:usl?service=1ms&contention=0.03&coherency=0.0002";

const LAW: Scalability = Scalability { service_s: 1e-3, contention: 0.03, coherency: 0.0002 };

/// Numbers of clients: one, then numbers below, near and above the number with the highest
/// throughput.
const CLIENTS: [u32; 5] = [1, 8, 32, 70, 140];

/// Relative tolerance, for the resolution of a histogram and for requests that cross an end of the
/// window.
const EXACTNESS: f64 = 0.001;

/// Compares the results of runs, one for each number of clients, with the law.
pub(super) fn findings(rules: Rules) -> Vec<Finding> {
    CLIENTS.into_iter().flat_map(|clients| of(rules, clients)).collect()
}

fn of(rules: Rules, clients: u32) -> [Finding; 2] {
    let name = format!("{NAME}, N = {clients}");
    let workload = format!("[read]\nquery = select 1\nconcurrency = {clients}\n");
    let span = Span { warmup_s: 1.0, window_s: 10.0 };
    let totals = simulate(rules, &plan(&workload, span, 1), &server(SERVER));
    let window = &totals.account(JOB).window;
    let per_s = window.ends.completed as f64 / span.window_s;
    let mean_s = Estimate::Mean.of_histogram(&window.histograms.of(Kind::Response));
    let n = f64::from(clients);
    let figures = [
        (Quantity::Throughput, LAW.throughput(n), per_s),
        (Quantity::response(Estimate::Mean), LAW.response_s(n), mean_s),
    ];
    figures.map(|(quantity, exact, measured)| {
        let allowed = Allowed::around(exact * EXACTNESS);
        Finding::within(&name, (quantity, exact), measured, allowed)
    })
}
