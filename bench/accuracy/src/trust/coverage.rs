//! The coverage of 95 % confidence intervals.
//!
//! The true quantiles are known in closed form: response times of M/M/1 are exponential, and so are
//! the response times of a server with unlimited capacity and exponential service times.

use std::error::Error;

use analyze::{Quantile, Responses};

use super::{plan, simulated};

/// A system whose response times are exponential.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// Name of the system.
    pub name: &'static str,
    url: &'static str,
    /// Arrival rate, in requests per second.
    per_s: u64,
    /// Mean response time, in milliseconds.
    mean_ms: f64,
    /// Largest share of the runs that may have no interval, in percent.
    pub may_decline: u64,
}

/// All systems.
pub const SYSTEMS: [System; 3] = [
    System {
        name: "independent times",
        url: "sim:mmc?service=1ms&servers=unlimited",
        per_s: 1_000,
        mean_ms: 1.0,
        may_decline: 10,
    },
    System {
        name: "M/M/1, utilisation 0.5",
        url: "sim:mm1?service=1ms",
        per_s: 500,
        mean_ms: 2.0,
        may_decline: 10,
    },
    System {
        name: "M/M/1, utilisation 0.7",
        url: "sim:mm1?service=1ms",
        per_s: 700,
        mean_ms: 1.0 / 0.3,
        may_decline: 20,
    },
];

/// The quantiles whose intervals are judged.
const JUDGED_QUANTILES: [&str; 2] = ["p50", "p99"];

/// Counts of the runs whose interval of a quantile covered the true value.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// The system.
    pub system: &'static str,
    /// The quantile.
    pub quantile: &'static str,
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with an interval.
    pub given: u64,
    /// Number of intervals that covered the true value.
    pub held: u64,
    /// Largest share of the runs that may have no interval, in percent.
    may_decline: u64,
}

impl Coverage {
    /// Returns the share of the intervals that covered the true value, in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.held as f64 / self.given.max(1) as f64
    }

    /// Returns true if the coverage is between 90 and 98 % and enough runs had an interval.
    pub fn is_good(&self) -> bool {
        let declined = self.runs - self.given;
        (90.0..=98.0).contains(&self.percent()) && 100 * declined <= self.may_decline * self.runs
    }

    fn add(&mut self, responses: &Responses, truth_ns: f64) {
        let place = Quantile::ALL.iter().position(|quantile| quantile.name == self.quantile);
        let estimate = place.and_then(|place| responses.quantiles_ns[place]);
        self.runs += 1;
        if let Some(bounds) = estimate.and_then(|estimate| estimate.ci95()) {
            self.given += 1;
            self.held += u64::from((bounds.low..=bounds.high).contains(&truth_ns));
        }
    }
}

/// Runs every system `runs` times, each time with about `requests` requests.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn coverage(runs: u64, requests: u64) -> Result<Vec<Coverage>, Box<dyn Error>> {
    let mut all = Vec::new();
    for system in SYSTEMS {
        let System { name, url, per_s, mean_ms, may_decline } = system;
        // The server is idle at first, so the first seconds are excluded.
        let (warmup, length) = (5, 5 + requests.div_ceil(per_s));
        let plan = plan(&format!(
            "duration = {length}s\nwarmup = {warmup}s\n[read]\nquery = select 1\nrate = {per_s}\n"
        ))?;
        let mut found = JUDGED_QUANTILES.map(|quantile| Coverage {
            system: name,
            quantile,
            runs: 0,
            given: 0,
            held: 0,
            may_decline,
        });
        for seed in 1..=runs {
            let evidence = simulated(&plan, url, seed)?;
            for coverage in &mut found {
                let known = Quantile::ALL.into_iter().find(|q| q.name == coverage.quantile);
                let fraction = known.map_or(0.5, |quantile| quantile.fraction);
                let truth_ns = -(1.0f64 - fraction).ln() * mean_ms * 1e6;
                coverage.add(&evidence.jobs[0].estimates, truth_ns);
            }
        }
        all.extend(found);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the intervals cover the true value with a probability of 95 %, at least 34 of 40 do so in
    /// 99.7 % of such tests.
    #[test]
    fn confidence_intervals_have_their_nominal_coverage() {
        for found in coverage(40, 30_000).expect("runs") {
            assert!(found.given >= 36, "{found:?}");
            assert!(found.held * 40 >= found.given * 34, "{found:?}");
        }
    }
}
