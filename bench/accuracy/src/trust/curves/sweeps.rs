//! Sweeps of the number of clients, against a server that follows the universal scalability law.

use std::error::Error;

use analyze::compare::RunFigures;
use analyze::curve::{ALPHA, CurvePoint, CurveRun, FittedValue, Peak, best, fit_usl};
use analyze::summarize;
use workload::question::{BestRule, Deltas, Direction, Quantity, RunMetric};

use crate::trust::comparison::ComparisonRate;
use crate::trust::{plan, simulated};

/// Numbers of clients.
const CLIENTS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// The smallest set of numbers of clients to which the law is fitted, over the same range as
/// [`CLIENTS`].
const FEW: [u32; 5] = [1, 4, 16, 64, 128];

/// As many numbers of clients as in [`FEW`], all below the peak of [`FITTED_SERVER`].
const BELOW_PEAK: [u32; 5] = [1, 2, 4, 8, 16];

/// Number of runs for each point of a sweep.
pub(super) const REPEATS: u32 = 3;

/// Fraction by which the machine is slower at the last point than at the first one, if the points
/// are measured in ascending order while it slows down.
const SLOWING: f64 = 0.15;

/// A server that follows the universal scalability law.
#[derive(Clone, Copy, Debug)]
struct UslServer {
    /// λ, in requests per second.
    lambda: f64,
    sigma: f64,
    kappa: f64,
}

/// The server of the fits: N* = √(0.95/0.0005) = 43.6.
const FITTED_SERVER: UslServer = UslServer { lambda: 100.0, sigma: 0.05, kappa: 0.000_5 };

/// The server of the best points: 32 clients are the best of [`CLIENTS`], 64 are 1 % worse.
const SWEPT_SERVER: UslServer = UslServer { lambda: 100.0, sigma: 0.02, kappa: 0.000_5 };

/// Index in [`CLIENTS`] of the best number of clients for the server [`SWEPT_SERVER`].
const BEST: usize = 5;

impl UslServer {
    fn throughput(self, clients: f64) -> f64 {
        let UslServer { lambda, sigma, kappa } = self;
        let others = clients - 1.0;
        lambda * clients / (1.0 + sigma * others + kappa * clients * others)
    }

    /// Runs a sweep with noise of 2 % from run to run, and returns the figures of each point.
    fn sweep(self, seed: u64) -> Result<Vec<Vec<RunFigures>>, Box<dyn Error>> {
        let UslServer { lambda, sigma, kappa } = self;
        let url = format!(
            "sim:usl?service={}us&contention={sigma}&coherency={kappa}&noise=0.02",
            1e6 / lambda
        );
        let run = |point: usize, repeat: u32| {
            let clients = CLIENTS[point];
            let workload = format!(
                "duration = 3s\nwarmup = 1s\n[read]\nquery = select 1\nconcurrency = {clients}\n"
            );
            let number = u64::from(repeat) * CLIENTS.len() as u64 + point as u64;
            figures(&workload, &url, seed * 1_000 + number)
        };
        let point = |point| (0..REPEATS).map(|repeat| run(point, repeat)).collect();
        (0..CLIENTS.len()).map(point).collect()
    }
}

/// Returns the figures of a run in virtual time with this seed.
pub(super) fn figures(workload: &str, url: &str, seed: u64) -> Result<RunFigures, Box<dyn Error>> {
    let evidence = simulated(&plan(workload)?, url, seed)?;
    Ok(RunFigures::of(&evidence, &summarize(&evidence), Vec::new()))
}

fn throughput() -> RunMetric {
    RunMetric::of(Quantity::Throughput, "read")
}

/// Returns the points of a sweep over these values; `runs` has the runs of each point.
pub(super) fn points<'r>(values: &[u32], runs: &'r [Vec<RunFigures>]) -> Vec<CurvePoint<'r>> {
    let mut points = Vec::new();
    for (value, runs) in values.iter().zip(runs) {
        let runs = (0..).zip(runs).map(|(repeat, figures)| CurveRun { repeat, figures });
        let (value, x) = (value.to_string(), Some(f64::from(*value)));
        points.push(CurvePoint { value, x, runs: runs.collect() });
    }
    points
}

/// Returns the points of these numbers of clients, each with `repeats` runs.
fn select_points<'r>(
    clients: &[u32],
    repeats: u32,
    runs: &'r [Vec<RunFigures>],
) -> Vec<CurvePoint<'r>> {
    let mut points = points(&CLIENTS, runs);
    points.retain(|point| clients.iter().any(|it| point.x == Some(f64::from(*it))));
    points.iter_mut().for_each(|point| point.runs.truncate(repeats as usize));
    points
}

/// Lowers the throughput of the points as if the machine slowed down from the first point to the
/// last.
fn slow(runs: &mut [Vec<RunFigures>]) {
    let last = (runs.len() - 1) as f64;
    for (place, runs) in runs.iter_mut().enumerate() {
        let factor = 1.0 - SLOWING * place as f64 / last;
        let metrics = runs.iter_mut().flat_map(|figures| &mut figures.metrics);
        let throughputs = metrics.filter(|(metric, _)| *metric == throughput());
        throughputs.for_each(|(_, value)| *value *= factor);
    }
}

/// Runs sweeps on all processors, each with its own seed.
pub(super) fn sweeps<T: Send>(
    number: u32,
    make: impl Fn(u64) -> Result<Vec<Vec<RunFigures>>, Box<dyn Error>> + Sync,
    judge: impl Fn(Vec<Vec<RunFigures>>) -> Result<T, String> + Sync,
) -> Result<Vec<T>, Box<dyn Error>> {
    let sweep = |seed| judge(make(seed + 1).map_err(|error| error.to_string())?);
    let all: Result<Vec<T>, String> =
        lab::run_concurrently(u64::from(number), sweep).into_iter().collect();
    Ok(all?)
}

/// Rates at which the intervals of fits contain the true parameters.
#[derive(Clone, Debug)]
pub(super) struct FitRates {
    /// Rates of intervals that contain the true λ, σ, κ and N*.
    pub(super) holds: [ComparisonRate; 4],
    /// Rates for fits to few points, each for the parameter whose intervals contain the true value
    /// least often.
    pub(super) worst_with_few: [ComparisonRate; 3],
    /// Rate for σ, if the points are measured in ascending order on a machine that slows down.
    pub(super) holds_if_slowing: ComparisonRate,
}

/// Counts the fits whose interval contains the true parameter.
pub(super) fn fits(number: u32) -> Result<FitRates, Box<dyn Error>> {
    let found = sweeps(
        number,
        |seed| FITTED_SERVER.sweep(seed),
        |mut runs| {
            let correct = contains_truth(&points(&CLIENTS, &runs))?;
            let few = [(FEW, REPEATS), (BELOW_PEAK, REPEATS), (FEW, 1)];
            let few = few
                .map(|(clients, repeats)| contains_truth(&select_points(&clients, repeats, &runs)));
            slow(&mut runs);
            let [one, two, three] = few;
            Ok([correct, contains_truth(&points(&CLIENTS, &runs))?, one?, two?, three?])
        },
    )?;
    let rate = |name, fit: usize, place: usize| ComparisonRate {
        name,
        comparisons: number,
        found: found.iter().filter(|fits| fits[fit][place]).count() as u32,
        accepted: 90.0..=100.0,
    };
    let least = |name, fit: usize| {
        let rates = (0..4).map(|place| rate(name, fit, place));
        rates.min_by_key(|rate| rate.found).unwrap_or_else(|| rate(name, fit, 0))
    };
    let of_sigma = "law of scalability, noise 2 %: interval holds σ";
    Ok(FitRates {
        holds: [
            rate("law of scalability, noise 2 %: interval holds λ", 0, 0),
            rate(of_sigma, 0, 1),
            rate("law of scalability, noise 2 %: interval holds κ", 0, 2),
            rate("law of scalability, noise 2 %: interval holds N*", 0, 3),
        ],
        worst_with_few: [
            least("the same, 5 of the points, 1 to 128 clients: the worst of the four", 2),
            least("the same, 5 points below the peak, 1 to 16 clients: the worst of the four", 3),
            least("the same, 5 points, 1 to 128 clients, one run each: the worst of the four", 4),
        ],
        holds_if_slowing: rate(of_sigma, 1, 1),
    })
}

/// Returns true for each of λ, σ, κ and N* whose true value lies in the interval of the fit.
fn contains_truth(points: &[CurvePoint<'_>]) -> Result<[bool; 4], String> {
    let UslServer { lambda, sigma, kappa } = FITTED_SERVER;
    let peak = ((1.0 - sigma) / kappa).sqrt();
    let holds = |fitted: FittedValue, truth| fitted.interval.is_some_and(|it| it.contains(truth));
    let usl =
        fit_usl(points, &throughput(), ALPHA).map_err(|reason| format!("no fit: {reason:?}"))?;
    let of_peak = match usl.peak {
        Peak::At { clients, .. } => holds(clients, peak),
        Peak::None { above } => above.is_none_or(|above| above <= peak),
    };
    Ok([holds(usl.lambda, lambda), holds(usl.sigma, sigma), holds(usl.kappa, kappa), of_peak])
}

/// Rates of sweeps whose best point is known.
#[derive(Clone, Debug)]
pub(super) struct BestRates {
    /// Rate at which the truly best point is named, or is among those not shown to be worse.
    pub(super) named: ComparisonRate,
    /// Rate at which the point with the best mean is the truly best point; `named` also counts
    /// points that are not shown to be worse.
    pub(super) best_mean: ComparisonRate,
    /// Rate at which a point far from the best one is among those not shown to be worse.
    pub(super) far: ComparisonRate,
}

impl BestRates {
    /// Computes the rates from the findings of each sweep: named, best mean, far. `best` and `far`
    /// are the names of the rates.
    pub(super) fn count(found: &[[bool; 3]], best: &'static str, far: &'static str) -> BestRates {
        let rate = |name, place: usize, accepted| ComparisonRate {
            name,
            comparisons: found.len() as u32,
            found: found.iter().filter(|it| it[place]).count() as u32,
            accepted,
        };
        BestRates {
            named: rate(best, 0, 95.0..=100.0),
            best_mean: rate(best, 1, 95.0..=100.0),
            far: rate(far, 2, 0.0..=5.0),
        }
    }
}

/// Counts the sweeps in which the best of eight numbers of clients is named.
pub(super) fn best_points(number: u32) -> Result<BestRates, Box<dyn Error>> {
    let rule = BestRule { better: Direction::Higher, metric: throughput() };
    let is_far = |point: usize| {
        let truth = |point: usize| SWEPT_SERVER.throughput(f64::from(CLIENTS[point]));
        truth(point) < 0.5 * truth(BEST)
    };
    let found = sweeps(
        number,
        |seed| SWEPT_SERVER.sweep(seed),
        |runs| {
            let found = best(&points(&CLIENTS, &runs), &rule, &Deltas::default(), ALPHA);
            let has_best_mean = found.best == Some(BEST);
            let is_named = has_best_mean || found.not_worse().any(|point| point == BEST);
            Ok([is_named, has_best_mean, found.not_worse().any(is_far)])
        },
    )?;
    Ok(BestRates::count(
        &found,
        "best of 8 numbers of clients, the next 1 % worse: named or not shown worse",
        "a point with half of its throughput: not shown worse",
    ))
}
