//! What queueing theory says of the simulated servers, and the engine must measure.
//!
//! Every oracle is run as ten independent replications. It is accepted if the mean of the
//! replications is within four standard errors of the exact value, the standard error being that
//! of the replications (with nine degrees of freedom a false alarm in three hundred), and if the
//! replications scatter as they should: a test whose estimates scatter wildly would accept
//! anything. Where the inflation of the variance by the queue's autocorrelation is known, the
//! scatter must be within a factor of two of it; elsewhere the standard error must be small.

use base::{Nanos, Seed, Stream};
use engine::{Honest, Rules};
use sim::closed_form::{ClosedForm, ClosedLoop, DM1, MDc, MH21, MMc};
use sim::{Config, Service};
use workload::{Expr, Pacing, Plan};

use crate::support::{
    Estimate, JOB, constant, even, exponential, plan, poisson, queue, simulate_by,
};

pub(crate) const REPLICATIONS: u64 = 10;

/// How far a mean of ten replications may be from the exact value, in its standard errors.
const STANDARD_ERRORS: f64 = 4.0;

/// By how much the scatter of ten replications may differ from what theory says of it.
const SCATTER: f64 = 2.0;

/// One comparison of what was measured with what is exact.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    #[expect(dead_code, reason = "shown when the finding is red")]
    what: String,
    exact: f64,
    mean: f64,
    /// The standard deviation of the replications.
    deviation: f64,
    /// What theory says that it is, where it is known.
    expected_deviation: Option<f64>,
}

impl Finding {
    /// Compares estimates of independent replications with an exact value.
    pub(crate) fn new(what: impl Into<String>, exact: f64, estimates: &[f64]) -> Finding {
        let n = estimates.len() as f64;
        let mean = estimates.iter().sum::<f64>() / n;
        let variance = estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (what, deviation) = (what.into(), variance.sqrt());
        Finding { what, exact, mean, deviation, expected_deviation: None }
    }

    pub(crate) fn is_green(&self) -> bool {
        // Histograms of three digits and clocks of one nanosecond put a floor under any error.
        let floor = self.exact * 1e-3 + 2e-9;
        let standard_error = self.deviation / (REPLICATIONS as f64).sqrt();
        let scatters_as_expected = match self.expected_deviation {
            None => standard_error <= self.exact * 0.1 + floor,
            Some(expected) => (expected / SCATTER..=expected * SCATTER).contains(&self.deviation),
        };
        (self.mean - self.exact).abs() <= STANDARD_ERRORS * standard_error + floor
            && scatters_as_expected
    }
}

pub(crate) fn assert_green(findings: &[Finding]) {
    let red: Vec<_> = findings.iter().filter(|finding| !finding.is_green()).collect();
    assert!(red.is_empty(), "{red:#?}");
}

/// Runs an oracle by some rules and compares mean, median, p90 and p99 of the response time.
pub(crate) fn compare<R: Rules>(
    exact: &impl ClosedForm,
    config: &Config,
    plan: impl Fn(u64) -> Plan,
) -> Vec<Finding> {
    let runs: Vec<[f64; 4]> = (0..REPLICATIONS)
        .map(|seed| {
            let (totals, _) = simulate_by::<R>(&plan(seed), config);
            let counts = &totals.job(JOB).window.counts;
            assert_eq!(counts.arrivals, counts.balance.scheduled(), "nothing is lost");
            Estimate::ALL.map(|estimate| estimate.of(&totals))
        })
        .collect();
    let findings = Estimate::ALL.iter().enumerate().map(|(place, estimate)| {
        let estimates: Vec<f64> = runs.iter().map(|run| run[place]).collect();
        Finding::new(format!("{estimate:?}"), estimate.exactly(exact), &estimates)
    });
    findings.collect()
}

fn check(exact: &impl ClosedForm, config: &Config, plan: impl Fn(u64) -> Plan) {
    assert_green(&compare::<Honest>(exact, config, plan));
}

/// As [`check`] for M/M/1, where it is known by which factor the autocorrelation of the queue
/// inflates the variance of mean, median and p99.
fn check_with_scatter(
    exact: &MMc,
    config: &Config,
    plan: impl Fn(u64) -> Plan,
    [mean, median, p99]: [f64; 3],
) {
    let mut findings = compare::<Honest>(exact, config, plan);
    let requests = exact.arrival_rate * (LENGTH_S - WARMUP_S);
    for (place, estimate, inflation) in [
        (0, Estimate::Mean, mean),
        (1, Estimate::Quantile(0.5), median),
        (3, Estimate::Quantile(0.99), p99),
    ] {
        // The response time is exponential, so the relative standard deviation of a quantile of n
        // independent ones is √(q/((1 − q)n)) / −ln(1 − q).
        let independent = match estimate {
            Estimate::Mean => 1.0 / requests.sqrt(),
            Estimate::Quantile(q) => (q / ((1.0 - q) * requests)).sqrt() / -(1.0 - q).ln(),
        };
        let deviation = estimate.exactly(exact) * independent * inflation.sqrt();
        findings[place].expected_deviation = Some(deviation);
    }
    assert_green(&findings);
}

/// Seconds of load that give every replication of an open oracle enough relaxation times.
const LENGTH_S: f64 = 310.0;

const WARMUP_S: f64 = 10.0;

pub(crate) fn open(pacing: Pacing) -> impl Fn(u64) -> Plan {
    move |seed| plan(pacing.clone(), WARMUP_S, LENGTH_S, seed)
}

#[test]
fn o1_poisson_arrivals_at_one_exponential_server() {
    let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 700.0 };
    let config = exponential(1_000, Some(1));
    check_with_scatter(&exact, &config, open(poisson(700)), [48.0, 15.0, 46.0]);
}

#[test]
fn o2_poisson_arrivals_at_four_exponential_servers() {
    let exact = MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 };
    check(&exact, &exponential(4_000, Some(4)), open(poisson(800)));
}

/// The same system with the queue in the generator instead of the server: the wait for a worker
/// counts.
#[test]
fn o2_in_the_queue_model_with_four_workers() {
    let exact = MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 };
    check(&exact, &exponential(4_000, None), open(queue(800, 4)));
}

#[test]
fn o3_poisson_arrivals_at_one_constant_server() {
    check(&MDc::new(1, 1e-3, 700.0), &constant(1_000, Some(1)), open(poisson(700)));
}

#[test]
fn o3_with_two_constant_servers() {
    check(&MDc::new(2, 1e-3, 1_400.0), &constant(1_000, Some(2)), open(poisson(1_400)));
}

#[test]
fn o4_poisson_arrivals_at_a_server_with_hits_and_misses() {
    let exact = MH21 { fast_s: 0.5e-3, slow_s: 5.5e-3, slow_share: 0.1, arrival_rate: 700.0 };
    let service = Service::Bimodal {
        fast: Nanos::from_micros(500),
        slow: Nanos::from_micros(5_500),
        slow_share: 0.1,
    };
    check(&exact, &Config::new(service, Some(1)), open(poisson(700)));
}

#[test]
fn o5_even_arrivals_at_one_exponential_server() {
    let exact = DM1 { service_rate: 1_000.0, arrival_rate: 800.0 };
    check(&exact, &exponential(1_000, Some(1)), open(even(800)));
}

#[test]
fn o5_prime_poisson_arrivals_at_the_same_load() {
    let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 800.0 };
    let config = exponential(1_000, Some(1));
    check_with_scatter(&exact, &config, open(poisson(800)), [53.0, 20.0, 58.0]);
}

#[test]
fn o6_closed_clients_that_think() {
    let exact = ClosedLoop { clients: 32, service_s: 1e-3, think_s: 20e-3 };
    let config = exponential(1_000, Some(1));
    let closed = |seed| {
        let think = Expr::exp(Nanos::from_millis(20), Stream::new(Seed(seed), "read", "think"));
        plan(Pacing::Closed { clients: 32, think: Some(think) }, 10.0, 110.0, seed)
    };
    check(&exact, &config, closed);
    let throughputs: Vec<f64> = (0..REPLICATIONS)
        .map(|seed| {
            let (totals, _) = simulate_by::<Honest>(&closed(seed), &config);
            totals.job(JOB).window.ends.completed as f64 / 100.0
        })
        .collect();
    assert_green(&[Finding::new("throughput", exact.throughput(), &throughputs)]);
}

#[test]
fn o7_poisson_arrivals_at_sixteen_exponential_servers() {
    let exact = MMc { servers: 16, service_rate: 250.0, arrival_rate: 3_200.0 };
    check(&exact, &exponential(4_000, Some(16)), |seed| plan(poisson(3_200), 5.0, 105.0, seed));
}
