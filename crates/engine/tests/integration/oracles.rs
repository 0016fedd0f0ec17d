//! What queueing theory says of the simulated servers, and the engine must measure.
//!
//! Every oracle is run as twenty independent replications, of which each column is judged: mean,
//! p50, p90, p95, p99 and p99.9 of the response time. A column is accepted if the mean of the
//! replications is within four of their standard errors of the exact value, and if they scatter
//! as they should: half to twice as much as a recursion of the same queue does. A test whose
//! estimates scatter wildly would accept anything, and one whose replications are not independent
//! would be too sure.
//!
//! Twenty and not ten (decision 14): the standard deviation of ten is below half of the true one
//! once in seventy-five cases, of twenty once in two thousand; four standard errors are exceeded
//! once in thirteen hundred cases.

use base::{Code, Nanos, Seed, Stream};
use engine::{Honest, Rules};
use hdrhistogram::Histogram;
use record::{Failures, Kind, Totals};
use sim::closed_form::{ClosedForm, ClosedLoop, DM1, MDc, MH21, MMc, loss};
use sim::{Config, Service};
use workload::{Expr, Pacing, Plan};

use crate::recursion;
use crate::support::{
    Estimate, JOB, constant, even, exponential, plan, poisson, queue, simulate_by,
};

/// How often an oracle is run.
const REPLICATIONS: u64 = 20;

/// How far the mean of the replications may be from the exact value, in its standard errors.
const STANDARD_ERRORS: f64 = 4.0;

/// By which factor the scatter of the replications may differ from the expected one.
const SCATTER: f64 = 2.0;

/// Seconds of load, of which the last 470 are measured: the 330,000 requests that p99 needs at a
/// utilisation of 0.7 to be known to 5 % at two standard errors. Twenty such runs know p99.9 to 5 %
/// at four: 32,171 independent requests for two, times the inflation of 46, times four.
const LENGTH_S: f64 = 480.0;

const WARMUP_S: f64 = 10.0;

/// What one run says of its window.
pub(crate) struct Replication {
    /// The response times, in nanoseconds.
    pub(crate) responses: Histogram<u32>,
    /// How many requests came due.
    pub(crate) scheduled: u64,
    /// How many of them were given up.
    pub(crate) timeouts: u64,
    /// How many of them the server refused because it was full.
    pub(crate) refused: u64,
    /// How many requests ended in the window.
    pub(crate) completed: u64,
    /// The window's length in seconds.
    pub(crate) window_s: f64,
}

impl Replication {
    /// A window of so many seconds in which nothing has happened.
    pub(crate) fn empty(window_s: f64) -> Replication {
        let responses = Kind::Response.histogram();
        Replication { responses, scheduled: 0, timeouts: 0, refused: 0, completed: 0, window_s }
    }

    fn of(totals: &Totals, plan: &Plan) -> Replication {
        let window = &totals.job(JOB).window;
        assert_eq!(window.counts.arrivals, window.counts.balance.scheduled(), "nothing is lost");
        let length = plan.duration.expect("an oracle ends");
        Replication {
            responses: window.histograms.of(Kind::Response),
            scheduled: window.counts.arrivals,
            timeouts: window.counts.timeouts,
            refused: refused(&window.failures),
            completed: window.ends.completed,
            window_s: length.as_secs_f64() - plan.warmup.as_secs_f64(),
        }
    }
}

/// The errors of a simulated server whose places are all taken.
fn refused(failures: &Failures) -> u64 {
    let full = Code::new("capacity");
    failures.iter().filter(|(_, code, _)| *code == full).map(|(.., count)| count).sum()
}

/// A number that a run is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// Of the response time, in seconds.
    Response(Estimate),
    /// Completions per second.
    Throughput,
    /// The share of requests that were given up.
    Timeouts,
    /// The share of requests that the server refused.
    Loss,
}

impl Measure {
    fn of(self, replication: &Replication) -> f64 {
        match self {
            Measure::Response(estimate) => estimate.of_histogram(&replication.responses),
            Measure::Throughput => replication.completed as f64 / replication.window_s,
            Measure::Timeouts => replication.timeouts as f64 / replication.scheduled as f64,
            Measure::Loss => replication.refused as f64 / replication.scheduled as f64,
        }
    }

    /// The estimates of several replications.
    pub(crate) fn of_each(self, replications: &[Replication]) -> Vec<f64> {
        replications.iter().map(|replication| self.of(replication)).collect()
    }
}

/// One comparison of what was measured with what is exact.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) measure: Measure,
    exact: f64,
    mean: f64,
    /// The standard deviation of the replications.
    deviation: f64,
    /// What it should be.
    expected_deviation: f64,
}

impl Finding {
    pub(crate) fn is_green(&self) -> bool {
        self.is_unbiased() && self.scatters_as_expected()
    }

    fn is_unbiased(&self) -> bool {
        let standard_error = self.deviation / (REPLICATIONS as f64).sqrt();
        (self.mean - self.exact).abs() <= STANDARD_ERRORS * standard_error + self.resolution()
    }

    /// What cannot scatter, such as a p99 cut off by a timeout, is below the resolution.
    pub(crate) fn scatters_as_expected(&self) -> bool {
        let expected = self.expected_deviation;
        if expected <= self.resolution() {
            return self.deviation <= self.resolution();
        }
        (expected / SCATTER..=expected * SCATTER).contains(&self.deviation)
    }

    /// What no estimate can tell apart: a histogram of three digits divides each power of two into
    /// 1,024 buckets, so that the middle of one is within 1/2,048, and clocks tick in nanoseconds.
    fn resolution(&self) -> f64 {
        self.exact / 2_048.0 + 2e-9
    }
}

/// The standard deviation of a sample.
pub(crate) fn standard_deviation(sample: &[f64]) -> f64 {
    let mean = mean(sample);
    let squares: f64 = sample.iter().map(|x| (x - mean).powi(2)).sum();
    (squares / (sample.len() - 1) as f64).sqrt()
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

pub(crate) fn assert_green(findings: &[Finding]) {
    let red: Vec<_> = findings.iter().filter(|finding| !finding.is_green()).collect();
    assert!(red.is_empty(), "{red:#?}");
}

/// A system, how it is loaded, and what must be measured of it.
pub(crate) struct Oracle<P> {
    /// The exact values.
    exact: Vec<(Measure, f64)>,
    config: Config,
    /// The plan of each replication, by its seed.
    plan: P,
    /// The mean think time of closed clients in seconds.
    think_s: f64,
}

impl<P: Fn(u64) -> Plan> Oracle<P> {
    /// Judges every column of the response time.
    pub(crate) fn new(form: &impl ClosedForm, config: Config, plan: P) -> Oracle<P> {
        let exactly = |estimate: Estimate| (Measure::Response(estimate), estimate.exactly(form));
        Oracle { exact: Estimate::ALL.map(exactly).into(), config, plan, think_s: 0.0 }
    }

    /// Judges one number alone.
    fn of_one(measure: Measure, exact: f64, config: Config, plan: P) -> Oracle<P> {
        Oracle { exact: vec![(measure, exact)], config, plan, think_s: 0.0 }
    }

    /// Judges something else too.
    pub(crate) fn and(mut self, measure: Measure, exact: f64) -> Oracle<P> {
        self.exact.push((measure, exact));
        self
    }

    fn thinking(self, think_s: f64) -> Oracle<P> {
        Oracle { think_s, ..self }
    }

    /// What replications with seeds of their own find by some rules.
    pub(crate) fn findings<R: Rules>(&self) -> Vec<Finding> {
        self.findings_from::<R>(&self.plan)
    }

    /// What replications of other plans than the oracle's find.
    fn findings_from<R: Rules>(&self, plan: impl Fn(u64) -> Plan) -> Vec<Finding> {
        let run = |replication| {
            let plan = plan(replication);
            Replication::of(&simulate_by::<R>(&plan, &self.config).0, &plan)
        };
        let measured: Vec<Replication> = (0..REPLICATIONS).map(run).collect();
        let expected = recursion::replicate(&(self.plan)(0), &self.config, self.think_s);
        let compare = |&(measure, exact): &(Measure, f64)| {
            let estimates = measure.of_each(&measured);
            Finding {
                measure,
                exact,
                mean: mean(&estimates),
                deviation: standard_deviation(&estimates),
                expected_deviation: standard_deviation(&measure.of_each(&expected)),
            }
        };
        self.exact.iter().map(compare).collect()
    }

    pub(crate) fn check(&self) {
        assert_green(&self.findings::<Honest>());
    }
}

/// Plans of one job that is measured long enough for the rarest quantile.
pub(crate) fn open(pacing: Pacing) -> impl Fn(u64) -> Plan {
    move |seed| plan(pacing.clone(), WARMUP_S, LENGTH_S, seed)
}

#[test]
fn o1_poisson_arrivals_at_one_exponential_server() {
    let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 700.0 };
    Oracle::new(&exact, exponential(1_000, Some(1)), open(poisson(700))).check();
}

#[test]
fn o2_poisson_arrivals_at_four_exponential_servers() {
    let exact = MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 };
    Oracle::new(&exact, exponential(4_000, Some(4)), open(poisson(800))).check();
}

/// The same system with the queue in the generator instead of the server: the wait for a worker
/// counts.
pub(crate) fn four_workers() -> Oracle<impl Fn(u64) -> Plan> {
    let exact = MMc { servers: 4, service_rate: 250.0, arrival_rate: 800.0 };
    Oracle::new(&exact, exponential(4_000, None), open(queue(800, 4)))
}

#[test]
fn o2_in_the_queue_model_with_four_workers() {
    four_workers().check();
}

#[test]
fn o3_poisson_arrivals_at_one_constant_server() {
    let exact = MDc::new(1, 1e-3, 700.0);
    Oracle::new(&exact, constant(1_000, Some(1)), open(poisson(700))).check();
}

#[test]
fn o3_with_two_constant_servers() {
    // 330,000 requests are enough here as well, and twice the rate sends them in half the time.
    let exact = MDc::new(2, 1e-3, 1_400.0);
    let plans = |seed| plan(poisson(1_400), WARMUP_S, 245.0, seed);
    Oracle::new(&exact, constant(1_000, Some(2)), plans).check();
}

#[test]
fn o4_poisson_arrivals_at_a_server_with_hits_and_misses() {
    let exact = MH21 { fast_s: 0.5e-3, slow_s: 5.5e-3, slow_share: 0.1, arrival_rate: 700.0 };
    let service = Service::Bimodal {
        fast: Nanos::from_micros(500),
        slow: Nanos::from_micros(5_500),
        slow_share: 0.1,
    };
    // Its scatter is twice that of one kind of service, so that it needs more of them.
    let plans = |seed| plan(poisson(700), WARMUP_S, 2.0 * LENGTH_S, seed);
    Oracle::new(&exact, Config::new(service, Some(1)), plans).check();
}

#[test]
fn o5_even_arrivals_at_one_exponential_server() {
    let exact = DM1 { service_rate: 1_000.0, arrival_rate: 800.0 };
    Oracle::new(&exact, exponential(1_000, Some(1)), open(even(800))).check();
}

#[test]
fn o5_prime_poisson_arrivals_at_the_same_load() {
    let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 800.0 };
    Oracle::new(&exact, exponential(1_000, Some(1)), open(poisson(800))).check();
}

#[test]
fn o6_closed_clients_that_think() {
    let exact = ClosedLoop { clients: 32, service_s: 1e-3, think_s: 20e-3 };
    let closed = |seed| {
        let think = Expr::exp(Nanos::from_millis(20), Stream::new(Seed(seed), "read", "think"));
        plan(Pacing::Closed { clients: 32, think: Some(think) }, WARMUP_S, 110.0, seed)
    };
    Oracle::new(&exact, exponential(1_000, Some(1)), closed)
        .thinking(exact.think_s)
        .and(Measure::Throughput, exact.throughput())
        .check();
}

#[test]
fn o7_poisson_arrivals_at_sixteen_exponential_servers() {
    let exact = MMc { servers: 16, service_rate: 250.0, arrival_rate: 3_200.0 };
    let plans = |seed| plan(poisson(3_200), 5.0, 125.0, seed);
    Oracle::new(&exact, exponential(4_000, Some(16)), plans).check();
}

/// One exponential server of 1,000/s with a limited number of places, M/M/1/K: the share of Poisson
/// arrivals that it turns away. A minute is enough: every request is a sample of a share, and not
/// one in a thousand of a rare quantile.
fn finite(capacity: u32, per_s: u64) -> Oracle<impl Fn(u64) -> Plan> {
    let config = Config { capacity: Some(capacity), ..exponential(1_000, Some(1)) };
    let plans = move |seed| plan(poisson(per_s), 2.0, 62.0, seed);
    Oracle::of_one(Measure::Loss, loss(capacity, per_s as f64 / 1e3), config, plans)
}

#[test]
fn o8_poisson_arrivals_at_a_server_with_ten_places() {
    finite(10, 900).check();
}

#[test]
fn o8_with_fifty_places_and_more_arrivals_than_it_can_serve() {
    finite(50, 1_200).check();
}

/// One place fewer loses 5.8 % instead of 5.1 %.
#[test]
fn a_server_with_another_number_of_places_is_noticed() {
    let oracle = Oracle { exact: finite(9, 900).exact, ..finite(10, 900) };
    let findings = oracle.findings::<Honest>();
    assert!(findings.iter().all(|finding| !finding.is_unbiased()), "{findings:#?}");
}

/// Four minutes of M/M/1, and how replications of other plans scatter in comparison.
fn assert_no_column_scatters_as_expected(plan_of: impl Fn(u64, f64) -> Plan) {
    const LENGTH_S: f64 = 250.0;
    let exact = MMc { servers: 1, service_rate: 1_000.0, arrival_rate: 700.0 };
    let plans = |seed| plan(poisson(700), WARMUP_S, LENGTH_S, seed);
    let oracle = Oracle::new(&exact, exponential(1_000, Some(1)), plans);
    let findings = oracle.findings_from::<Honest>(|replication| plan_of(replication, LENGTH_S));
    assert!(findings.iter().all(|finding| !finding.scatters_as_expected()), "{findings:#?}");
}

#[test]
fn replications_that_are_not_independent_are_noticed() {
    assert_no_column_scatters_as_expected(|_, length_s| plan(poisson(700), WARMUP_S, length_s, 7));
}

#[test]
fn runs_that_are_shorter_than_they_should_be_are_noticed() {
    assert_no_column_scatters_as_expected(|seed, length_s| {
        plan(poisson(700), WARMUP_S, WARMUP_S + (length_s - WARMUP_S) / 16.0, seed)
    });
}
