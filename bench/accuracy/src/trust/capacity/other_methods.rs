//! Other methods of finding the capacity, re-implemented for comparison.
//!
//! Both methods judge a trial by the point estimate of its p99, as the tools that use them do.

use std::error::Error;

use analyze::summarize;

use super::runs::FIRST;
use super::system::System;
use crate::trust::{plan, simulated};

/// The result of another method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherResult {
    /// Estimate of the capacity, in requests per second.
    pub estimate: f64,
    /// Largest passed rate below the smallest failed rate: the number that such a tool publishes.
    pub published: f64,
    /// Number of requests of all trials.
    pub requests: u64,
}

/// Usual number of trials of a bisection: some doublings, then seven halvings of the bracket.
const BISECTIONS: f64 = 13.0;

/// Ratio of the bracket's ends at which the bisection stops.
const NARROW: f64 = 1.01;

/// Number of trials of the isotonic search.
const PROBES: usize = 20;

/// Maximum number of trials until a trial fails, and maximum number of trials of a bisection.
const MOST_TRIALS: usize = 60;

/// Finds the capacity by bisection: doubling until a trial fails, then halving the bracket to 1 %,
/// with about `requests` requests in total.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn bisection(system: &System, seed: u64, requests: u64) -> Result<OtherResult, Box<dyn Error>> {
    let each = requests as f64 / BISECTIONS;
    let mut trials = Trials { system, seed, requests: each, done: Vec::new(), all: 0 };
    let (mut low, mut high) = trials.bracket()?;
    while high / low > NARROW && trials.done.len() < MOST_TRIALS {
        let middle = (low * high).sqrt();
        match trials.run(middle)? < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok(OtherResult { estimate: (low * high).sqrt(), published: low, requests: trials.all })
}

/// Finds the capacity by an isotonic (non-decreasing) fit, in the manner of AIPerf's
/// `max-concurrency-under-sla`: doubling until a trial fails, three trials within the bracket, and
/// then trials at the rate at which the fit of the margins is zero. `requests` is the total number
/// of requests.
///
/// # Errors
/// As for [`bisection`].
pub fn isotonic(system: &System, seed: u64, requests: u64) -> Result<OtherResult, Box<dyn Error>> {
    let each = requests as f64 / PROBES as f64;
    let mut trials = Trials { system, seed, requests: each, done: Vec::new(), all: 0 };
    let (low, high) = trials.bracket()?;
    for part in [0.25, 0.5, 0.75] {
        trials.run(low * (high / low).powf(part))?;
    }
    while trials.done.len() < PROBES {
        let root = trials.root().unwrap_or((low * high).sqrt());
        trials.run(root)?;
    }
    let estimate = trials.root().unwrap_or((low * high).sqrt());
    let failed = trials.done.iter().filter(|(_, margin)| *margin >= 0.0).map(|(rate, _)| *rate);
    let fails = failed.fold(f64::INFINITY, f64::min);
    let passed = trials.done.iter().filter(|(rate, margin)| *margin < 0.0 && *rate < fails);
    let published = passed.map(|(rate, _)| *rate).fold(0.0, f64::max);
    Ok(OtherResult { estimate, published, requests: trials.all })
}

/// The trials of another method.
struct Trials<'a> {
    system: &'a System,
    seed: u64,
    /// Number of requests of one trial.
    requests: f64,
    /// Rate of each trial, and its margin: the logarithm of the ratio of its quantile to the bound.
    done: Vec<(f64, f64)>,
    /// Number of requests of all trials.
    all: u64,
}

impl Trials<'_> {
    /// Doubles the rate until a trial fails. Returns half of the last rate, which was not tried if
    /// the first trial failed, and the last rate.
    fn bracket(&mut self) -> Result<(f64, f64), Box<dyn Error>> {
        let mut rate = FIRST;
        while self.run(rate)? < 0.0 && self.done.len() < MOST_TRIALS {
            rate *= 2.0;
        }
        Ok((rate / 2.0, rate))
    }

    /// Runs a trial and returns its margin, which is negative if the trial passes.
    fn run(&mut self, rate: f64) -> Result<f64, Box<dyn Error>> {
        let length_ms = (self.requests / rate * 1_000.0).ceil();
        let plan = plan(&format!(
            "duration = {}ms\nwarmup = 1s\n[read]\nquery = select 1\nrate = {rate:.2}\n{}",
            1_000.0 + length_ms,
            self.system.job
        ))?;
        let seed = self.seed * 10_000 + 5_000 + self.done.len() as u64;
        let evidence = simulated(&plan, self.system.url, seed)?;
        let response = &summarize(&evidence).jobs[0].response;
        let quantile_ms = response.quantile_ns("p99").unwrap_or(u64::MAX) as f64 / 1e6;
        let margin = (quantile_ms / self.system.bound_ms).ln();
        self.all += response.count;
        self.done.push((rate, margin));
        Ok(margin)
    }

    /// Returns the rate at which the isotonic fit of the margins is zero: neighbours in the wrong
    /// order are pooled, and blocks are joined by straight lines over the logarithm of the rate.
    /// `None` if the fit has no zero.
    fn root(&self) -> Option<f64> {
        let mut sorted = self.done.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Logarithm of the rate, margin, weight.
        let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
        for (rate, margin) in sorted {
            let mut block = (rate.ln(), margin, 1.0);
            while let Some(last) = blocks.pop_if(|last| last.1 >= block.1 || last.0 == block.0) {
                let weight = last.2 + block.2;
                let mean = |a: f64, b: f64| (a * last.2 + b * block.2) / weight;
                block = (mean(last.0, block.0), mean(last.1, block.1), weight);
            }
            blocks.push(block);
        }
        let above = blocks.iter().position(|block| block.1 >= 0.0)?;
        let (low, high) = (blocks.get(above.checked_sub(1)?)?, blocks[above]);
        Some((low.0 + (high.0 - low.0) * -low.1 / (high.1 - low.1)).exp())
    }
}
