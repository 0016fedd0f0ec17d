//! The errors of searches on one system.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use analyze::capacity::{Boundary, Irregular};

use super::rivals::{bisection, isotonic};
use super::runs::{Searched, search};
use super::system::{ALWAYS, NEVER, STEP, SYSTEMS, System};

/// The errors of a method's searches on one system.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchErrors {
    /// The system.
    pub system: System,
    /// Name of the method.
    pub method: &'static str,
    /// Relative error of each estimate.
    pub estimates: Vec<f64>,
    /// Ratio of each published rate to the true capacity; `None` if none was published.
    pub published: Vec<Option<f64>>,
    /// Number of intervals of the search that hold the true capacity; `None` for a method without
    /// intervals.
    pub covered: Option<u32>,
    /// Searches with an irregular result.
    pub irregular: u32,
    /// Requests of all searches.
    pub requests: u64,
}

/// Name of the method of `analyze`.
pub const OURS: &str = "Assay";

/// Largest error of an estimate that counts as close.
const CLOSE: f64 = 0.02;

/// Makes `searches` searches of every method on each system whose name contains a text, on all
/// processors.
///
/// # Errors
/// Fails if a run cannot be made or its record cannot be read; neither should happen.
pub fn errors(searches: u32, only: &str) -> Result<Vec<SearchErrors>, Box<dyn Error>> {
    let systems: Vec<System> =
        SYSTEMS.into_iter().filter(|system| system.name.contains(only)).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(usize, [SearchErrors; 3])>, String> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(system) = systems.get(number) else { return Ok(done) };
            let methods = methods(*system, searches).map_err(|error| error.to_string())?;
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

/// Makes `searches` searches of every method on one system.
fn methods(system: System, searches: u32) -> Result<[SearchErrors; 3], Box<dyn Error>> {
    let mut methods = [OURS, "bisection", "isotonic"].map(|it| SearchErrors::new(system, it));
    for seed in 1..=u64::from(searches) {
        let found = search(&system, seed)?;
        methods[0].add(&found);
        let bisected = bisection(&system, seed, found.requests)?;
        methods[1].add_rival(bisected.estimate, bisected.published, bisected.requests);
        let fitted = isotonic(&system, seed, found.requests)?;
        methods[2].add_rival(fitted.estimate, fitted.published, fitted.requests);
    }
    Ok(methods)
}

/// Makes `searches` searches on one system.
///
/// # Errors
/// As for [`errors`].
pub fn errors_of(system: System, searches: u32) -> Result<SearchErrors, Box<dyn Error>> {
    let mut errors = SearchErrors::new(system, OURS);
    for seed in 1..=u64::from(searches) {
        errors.add(&search(&system, seed)?);
    }
    Ok(errors)
}

/// Searches on a system without a smooth boundary.
#[derive(Clone, Debug, PartialEq)]
pub struct Special {
    /// Name of the system.
    pub name: &'static str,
    /// Result that is expected.
    pub expected: &'static str,
    /// Number of searches.
    pub searches: u32,
    /// Number of searches with that result.
    pub found: u32,
}

/// Makes `searches` searches on each of the systems without a smooth boundary.
///
/// # Errors
/// As for [`errors`].
pub fn specials(searches: u32) -> Result<Vec<Special>, Box<dyn Error>> {
    let expectations = [
        Expectation { system: STEP, name: "cliff", is_met: is_cliff },
        Expectation { system: NEVER, name: "never fails", is_met: never_fails },
        Expectation { system: ALWAYS, name: "always fails", is_met: always_fails },
    ];
    let mut specials = Vec::new();
    for Expectation { system, name: expected, is_met } in expectations {
        let mut found = 0;
        for seed in 1..=u64::from(searches) {
            found += u32::from(is_met(&search(&system, seed)?));
        }
        specials.push(Special { name: system.name, expected, searches, found });
    }
    Ok(specials)
}

/// A system and the result that its searches should have.
struct Expectation {
    system: System,
    name: &'static str,
    is_met: fn(&Searched) -> bool,
}

fn is_cliff(searched: &Searched) -> bool {
    searched.capacity.boundary == Boundary::Cliff
}

fn never_fails(searched: &Searched) -> bool {
    let mut irregular = searched.capacity.irregular.iter();
    irregular.any(|why| matches!(why, Irregular::NeverFails { .. }))
}

fn always_fails(searched: &Searched) -> bool {
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
            requests: 0,
        }
    }

    fn add(&mut self, searched: &Searched) {
        let Searched { capacity, requests, .. } = searched;
        let truth = self.system.truth;
        // A search without an estimate is as wrong as can be.
        let estimate = capacity.estimate.map_or(-1.0, |estimate| estimate / truth - 1.0);
        let holds = capacity.interval.is_some_and(|it| it.low <= truth && truth <= it.high);
        self.estimates.push(estimate);
        self.published.push(capacity.sustained.map(|sustained| sustained / truth));
        self.covered = Some(self.covered.unwrap_or(0) + u32::from(holds));
        self.irregular += u32::from(!capacity.irregular.is_empty());
        self.requests += requests;
    }

    fn add_rival(&mut self, estimate: f64, published: f64, requests: u64) {
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
    pub fn close(&self) -> f64 {
        let close = self.estimates.iter().filter(|error| error.abs() <= CLOSE).count();
        close as f64 / self.searches() as f64
    }

    /// Returns the share of the searches whose published rate is above the true capacity.
    pub fn above(&self) -> f64 {
        self.share(|published| published > 1.0)
    }

    /// Returns the share of the searches whose published rate is at least 0.92 of the true
    /// capacity.
    pub fn useful(&self) -> f64 {
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

    /// Returns true if the errors are as small as the guide says; the errors of systems that are
    /// only reported, and of other methods, are not judged.
    pub fn is_good(&self) -> bool {
        let is_close = self.median().abs() <= 0.01 && self.close() >= 0.7;
        let is_safe = self.above() <= 0.1;
        let is_judged = self.system.is_judged && self.method == OURS;
        !is_judged || is_close && is_safe && self.useful() >= 0.8
    }
}

impl Special {
    /// Returns true if nearly all searches had the expected result.
    pub fn is_good(&self) -> bool {
        f64::from(self.found) >= 0.95 * f64::from(self.searches)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (middle, 1) => values[middle],
        (0, _) => f64::NAN,
        (middle, _) => (values[middle - 1] + values[middle]) / 2.0,
    }
}
