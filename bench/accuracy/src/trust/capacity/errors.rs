//! The errors of searches on one system.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use analyze::capacity::{Boundary, Irregular};
use base::Nanos;

use super::other_methods::{bisection, isotonic};
use super::runs::{BUDGET, FinishedSearch, search};
use super::system::{
    ALWAYS_FAILS, ALWAYS_FAILS_AT_RANDOM, DEGRADING, FEW_REQUESTS, NEVER_FAILS, RANDOM_STEP,
    STATIONARY, STEP, SYSTEMS, System,
};

/// The errors of a method's searches on one system.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchErrors {
    /// The system.
    pub system: System,
    /// Name of the method.
    pub method: &'static str,
    /// Relative error of each search's estimate; -1 for a search without an estimate.
    pub estimates: Vec<f64>,
    /// Ratio of each published rate to the true capacity; `None` if none was published.
    pub published: Vec<Option<f64>>,
    /// Number of searches whose interval contains the true capacity; `None` for a method without
    /// intervals.
    pub covered: Option<u32>,
    /// Number of searches with an irregular result.
    pub irregular: u32,
    /// Number of searches with each irregularity, by its name.
    pub irregularities: BTreeMap<&'static str, u32>,
    /// Number of requests of all searches.
    pub requests: u64,
}

/// Name of the method of `analyze`.
pub const ASSAY: &str = "Assay";

/// Name of the *isotonic search*, the function `isotonic` of the module `other_methods`.
const ISOTONIC: &str = "isotonic";

/// Largest error of an estimate that counts as close, as a fraction.
const CLOSE: f64 = 0.02;

/// Largest accepted share of searches that publish a rate above the capacity.
const MOST_ABOVE: f64 = 0.1;

/// Largest accepted median, over the systems, of the cost of Assay's searches: their number of
/// requests, as a multiple of the number with which an isotonic search would have the same error.
const MOST_COST: f64 = 1.5;

/// Runs `searches` searches with every method on each system whose name contains `only`, on all
/// processors. `budget` is the budget of Assay's searches.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn errors(
    searches: u32,
    only: &str,
    budget: Nanos,
) -> Result<Vec<SearchErrors>, Box<dyn Error>> {
    let systems: Vec<System> =
        SYSTEMS.into_iter().filter(|system| system.name.contains(only)).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, [SearchErrors; 3])>, String> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(system) = systems.get(number) else { return Ok(done) };
            let methods = methods(*system, searches, budget).map_err(|error| error.to_string())?;
            done.push((number, methods));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let done: Result<Vec<_>, String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|it| it.join().expect("no search panics")).collect()
    });
    let mut done: Vec<_> = done?.into_iter().flatten().collect();
    done.sort_by_key(|(number, _)| *number);
    Ok(done.into_iter().flat_map(|(_, methods)| methods).collect())
}

/// Runs `searches` searches with each of the methods on one system.
fn methods(
    system: System,
    searches: u32,
    budget: Nanos,
) -> Result<[SearchErrors; 3], Box<dyn Error>> {
    let mut methods = [ASSAY, "bisection", ISOTONIC].map(|it| SearchErrors::new(system, it));
    for seed in 1..=u64::from(searches) {
        let found = search(&system, seed, budget)?;
        methods[0].add(&found);
        let bisected = bisection(&system, seed, found.requests)?;
        methods[1].add_other(bisected.estimate, bisected.published, bisected.requests);
        let fitted = isotonic(&system, seed, found.requests)?;
        methods[2].add_other(fitted.estimate, fitted.published, fitted.requests);
    }
    Ok(methods)
}

/// Runs `searches` searches of Assay on one system, with the budget [`BUDGET`].
///
/// # Errors
/// As for [`errors`].
pub fn errors_of(system: System, searches: u32) -> Result<SearchErrors, Box<dyn Error>> {
    let mut errors = SearchErrors::new(system, ASSAY);
    for seed in 1..=u64::from(searches) {
        errors.add(&search(&system, seed, BUDGET)?);
    }
    Ok(errors)
}

/// Counts of the searches on one system that should have a certain result, such as a cliff.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultCounts {
    /// Name of the system.
    pub name: &'static str,
    /// Result that is expected.
    pub expected: &'static str,
    /// Number of searches.
    pub searches: u32,
    /// Number of searches with the expected result.
    pub found: u32,
    /// Minimum share of the searches that must have the expected result.
    pub least: f64,
}

/// Runs `searches` searches on each system that has one expected result and whose name contains
/// `only`. The systems with one expected result are the cliff [`STEP`], those without a boundary,
/// and [`FEW_REQUESTS`].
///
/// # Errors
/// As for [`errors`].
pub fn count_expected_results(
    searches: u32,
    only: &str,
) -> Result<Vec<ResultCounts>, Box<dyn Error>> {
    let expectations = [
        Expectation { system: STEP, name: "cliff", is_met: is_cliff, least: 0.95 },
        Expectation { system: NEVER_FAILS, name: "never fails", is_met: never_fails, least: 0.95 },
        Expectation {
            system: ALWAYS_FAILS,
            name: "always fails",
            is_met: always_fails,
            least: 0.95,
        },
        Expectation {
            system: ALWAYS_FAILS_AT_RANDOM,
            name: "always fails",
            is_met: always_fails,
            least: 0.95,
        },
        Expectation {
            system: FEW_REQUESTS,
            name: "published at most the capacity",
            is_met: is_safe,
            least: 1.0 - MOST_ABOVE,
        },
    ];
    of_systems(expectations, searches, only)
}

/// Runs `searches` searches on each of three systems, if its name contains `only`. One of the three
/// becomes slower from trial to trial, and two do not change.
///
/// # Errors
/// As for [`errors`].
pub fn drifts(searches: u32, only: &str) -> Result<Vec<ResultCounts>, Box<dyn Error>> {
    let name = "degrades from trial to trial";
    let expectations = [
        Expectation { system: DEGRADING, name, is_met: degrades, least: 0.9 },
        Expectation { system: STATIONARY, name: "no change", is_met: is_stationary, least: 0.95 },
        Expectation { system: RANDOM_STEP, name: "no change", is_met: is_stationary, least: 0.95 },
    ];
    of_systems(expectations, searches, only)
}

fn of_systems(
    expectations: impl IntoIterator<Item = Expectation>,
    searches: u32,
    only: &str,
) -> Result<Vec<ResultCounts>, Box<dyn Error>> {
    let wanted = expectations.into_iter().filter(|expected| expected.system.name.contains(only));
    wanted.map(|expected| expected.check(searches)).collect()
}

/// The cost of Assay's searches on each system: their number of requests, as a multiple of the
/// number with which an isotonic search would have the same error.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs(pub Vec<f64>);

impl Costs {
    /// Computes the costs from the errors of all methods.
    pub fn of(all: &[SearchErrors]) -> Costs {
        Costs(all.iter().filter_map(|errors| errors.cost(all)).collect())
    }

    /// Returns the median of the costs; NaN if there are no costs.
    pub fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// Returns the largest cost; NaN if there are no costs.
    pub fn most(&self) -> f64 {
        self.0.iter().copied().fold(f64::NAN, f64::max)
    }

    /// Returns true if the median is within the bound that `docs/capacity.md` states.
    pub fn is_good(&self) -> bool {
        self.median() <= MOST_COST
    }
}

/// A system and the result that its searches should have.
pub(super) struct Expectation {
    pub(super) system: System,
    pub(super) name: &'static str,
    pub(super) is_met: fn(&FinishedSearch) -> bool,
    /// Minimum share of the searches that must have this result.
    pub(super) least: f64,
}

impl Expectation {
    /// Runs `searches` searches, and counts those with the expected result.
    pub(super) fn check(self, searches: u32) -> Result<ResultCounts, Box<dyn Error>> {
        let Expectation { system, name: expected, is_met, least } = self;
        let mut found = 0;
        for seed in 1..=u64::from(searches) {
            found += u32::from(is_met(&search(&system, seed, BUDGET)?));
        }
        Ok(ResultCounts { name: system.name, expected, searches, found, least })
    }
}

fn is_cliff(searched: &FinishedSearch) -> bool {
    searched.capacity.boundary == Boundary::Cliff
}

fn never_fails(searched: &FinishedSearch) -> bool {
    let mut irregular = searched.capacity.irregular.iter();
    irregular.any(|why| matches!(why, Irregular::NeverFails { .. }))
}

/// Returns true if the search reports that its server became slower from trial to trial.
fn degrades(searched: &FinishedSearch) -> bool {
    let mut irregular = searched.capacity.irregular.iter();
    irregular.any(|why| matches!(why, Irregular::Drifts { change } if *change < 0.0))
}

/// Returns true if the search reports no change of its server or of the boundary.
pub(super) fn is_stationary(searched: &FinishedSearch) -> bool {
    let is_change = |why: &Irregular| {
        matches!(
            why,
            Irregular::Drifts { .. }
                | Irregular::BoundaryMoved { .. }
                | Irregular::LossInversion { .. }
                | Irregular::Metastable(_)
        )
    };
    !searched.capacity.irregular.iter().any(is_change)
}

/// Returns true if no rate above the capacity of [`FEW_REQUESTS`] is published.
fn is_safe(searched: &FinishedSearch) -> bool {
    searched.capacity.sustained.is_none_or(|sustained| sustained <= FEW_REQUESTS.truth)
}

fn always_fails(searched: &FinishedSearch) -> bool {
    let mut irregular = searched.capacity.irregular.iter();
    irregular.any(|why| matches!(why, Irregular::AlwaysFails { .. }))
}

impl SearchErrors {
    fn new(system: System, method: &'static str) -> SearchErrors {
        SearchErrors {
            system,
            method,
            estimates: Vec::new(),
            published: Vec::new(),
            covered: None,
            irregular: 0,
            irregularities: BTreeMap::new(),
            requests: 0,
        }
    }

    fn add(&mut self, searched: &FinishedSearch) {
        let FinishedSearch { capacity, requests, .. } = searched;
        let truth = self.system.truth;
        // A search without an estimate counts as an error of -100 %.
        let estimate = capacity.estimate.map_or(-1.0, |estimate| estimate / truth - 1.0);
        let holds = capacity.interval.is_some_and(|it| it.low <= truth && truth <= it.high);
        self.estimates.push(estimate);
        self.published.push(capacity.sustained.map(|sustained| sustained / truth));
        self.covered = Some(self.covered.unwrap_or(0) + u32::from(holds));
        self.irregular += u32::from(!capacity.irregular.is_empty());
        for why in &capacity.irregular {
            *self.irregularities.entry(why.name()).or_default() += 1;
        }
        self.requests += requests;
    }

    fn add_other(&mut self, estimate: f64, published: f64, requests: u64) {
        self.estimates.push(estimate / self.system.truth - 1.0);
        self.published.push(Some(published / self.system.truth));
        self.requests += requests;
    }

    /// Returns the number of searches.
    pub fn searches(&self) -> usize {
        self.estimates.len()
    }

    /// Returns the median of the errors.
    pub fn median(&self) -> f64 {
        median(self.estimates.clone())
    }

    /// Returns the median of the absolute errors.
    pub fn median_size(&self) -> f64 {
        median(self.estimates.iter().map(|error| error.abs()).collect())
    }

    /// Returns the share of the estimates within 2 % of the true capacity.
    pub fn close_share(&self) -> f64 {
        let close = self.estimates.iter().filter(|error| error.abs() <= CLOSE).count();
        close as f64 / self.searches() as f64
    }

    /// Returns the share of the searches whose published rate is above the true capacity.
    pub fn above_share(&self) -> f64 {
        self.share(|published| published > 1.0)
    }

    /// Returns the share of the searches whose published rate is at least 0.92 times the true
    /// capacity.
    pub fn useful_share(&self) -> f64 {
        self.share(|published| published >= 0.92)
    }

    fn share(&self, is: impl Fn(f64) -> bool) -> f64 {
        let having = self.published.iter().flatten().filter(|published| is(**published)).count();
        having as f64 / self.searches() as f64
    }

    /// Returns the mean number of requests of a search.
    pub fn mean_requests(&self) -> f64 {
        self.requests as f64 / self.searches() as f64
    }

    /// Returns the cost of Assay's searches: their number of requests, as a multiple of the number
    /// with which the isotonic search would have the same median size of the errors. The errors of
    /// a search are assumed to be inversely proportional to the square root of its number of
    /// requests. `None` for other methods, or if `all` lacks the isotonic search on the system.
    pub fn cost(&self, all: &[SearchErrors]) -> Option<f64> {
        let is_isotonic = |it: &&SearchErrors| it.system == self.system && it.method == ISOTONIC;
        let isotonic = all.iter().find(is_isotonic).filter(|_| self.method == ASSAY)?;
        let ratio = self.median_size() / isotonic.median_size();
        Some(ratio * ratio * self.mean_requests() / isotonic.mean_requests())
    }

    /// Returns true if the errors of Assay's searches are within their bounds. Other methods are
    /// not judged. For systems whose errors are only reported, the share of published rates above
    /// the true capacity is judged nevertheless.
    pub fn is_good(&self) -> bool {
        let is_close = self.median().abs() <= 0.01 && self.close_share() >= 0.7;
        let is_safe = self.above_share() <= MOST_ABOVE;
        let is_found = is_close && self.useful_share() >= 0.8;
        self.method != ASSAY || is_safe && (is_found || !self.system.is_judged)
    }
}

impl ResultCounts {
    /// Returns true if enough searches had the expected result.
    pub fn is_good(&self) -> bool {
        f64::from(self.found) >= self.least * f64::from(self.searches)
    }
}

/// Returns the median; NaN without values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (middle, 1) => values[middle],
        (0, _) => f64::NAN,
        (middle, _) => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Assay's search has twice the requests and errors half as large. For such errors the isotonic
    /// search would need four times its requests, so the cost is a half.
    #[test]
    fn cost_is_that_of_the_same_error() {
        let of = |method, error, requests| {
            let mut errors = SearchErrors::new(SYSTEMS[0], method);
            errors.add_other(SYSTEMS[0].truth * (1.0 + error), 1.0, requests);
            errors
        };
        let all = [of(ASSAY, -0.01, 2_000), of("bisection", 0.01, 9), of(ISOTONIC, 0.02, 1_000)];
        let costs = Costs::of(&all);
        assert!(costs.0.len() == 1 && (costs.0[0] - 0.5).abs() < 1e-9, "{costs:?}");
        assert!(Costs::of(&all[..2]).0.is_empty());
    }

    #[test]
    fn median_cost_is_judged() {
        assert!(Costs(vec![0.4, 2.2, 1.5]).is_good());
        assert!(!Costs(vec![1.6, 0.4, 2.2]).is_good());
    }
}
