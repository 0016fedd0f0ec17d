//! The error rates of curves and of histories.
//!
//! The engine executes the runs in virtual time. Those of [`sweeps`](mod@sweeps) use a simulated
//! server that follows the universal scalability law, with noise from run to run. Those of
//! [`workers`](mod@workers) use queues whose workers contend. The records of
//! [`histories`](mod@histories) are drawn from a model, because thousands of executed runs would
//! only produce the same noise. Each planted mistake must move the rate of its row out of its
//! accepted range.

mod histories;
mod sweeps;
mod workers;

use std::error::Error;

use crate::trust::comparison::{ComparisonRate, Mutation};

/// Numbers of sweeps whose law is fitted, of sweeps whose best point is named, and of histories.
#[derive(Clone, Copy, Debug)]
pub struct CurveCounts {
    /// Number of fits of the universal scalability law.
    pub fits: u32,
    /// Number of sweeps whose best point is chosen by throughput.
    pub sweeps: u32,
    /// Number of sweeps whose best point is chosen by p99.
    pub p99_sweeps: u32,
    /// Number of histories of each kind.
    pub histories: u32,
}

/// The rates without and with a planted mistake.
#[derive(Clone, Debug)]
pub struct CurveRates {
    /// Rates without a mistake.
    pub rates: Vec<ComparisonRate>,
    /// Planted mistakes with the rates of their rows.
    pub mutations: Vec<Mutation>,
}

impl CurveRates {
    /// Returns true if all rates are accepted, and all mistakes noticed.
    pub fn is_good(&self) -> bool {
        self.rates.iter().all(ComparisonRate::is_good)
            && self.mutations.iter().all(Mutation::is_noticed)
    }
}

/// Measures all rates.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn curve_rates(counts: CurveCounts) -> Result<CurveRates, Box<dyn Error>> {
    let fits = sweeps::fits(counts.fits)?;
    let best = sweeps::best_points(counts.sweeps)?;
    let workers = workers::best_workers(counts.p99_sweeps)?;
    let histories = histories::rates(counts.histories);
    let mutations = vec![
        Mutation {
            mistake: "points in ascending order, the machine 15 % slower at the last one",
            correct: fits.holds[1].clone(),
            mutated: fits.holds_if_slowing,
        },
        Mutation {
            mistake: "only the best mean is named",
            correct: best.named.clone(),
            mutated: best.best_mean,
        },
        Mutation {
            mistake: "only the best mean is named",
            correct: workers.named.clone(),
            mutated: workers.best_mean,
        },
        Mutation {
            mistake: "records of two plans in one series",
            correct: histories.found.clone(),
            mutated: histories.found_in_mixed,
        },
        Mutation {
            mistake: "each record counted four times",
            correct: histories.alarms.clone(),
            mutated: histories.alarms_of_copies,
        },
    ];
    let mut rates = fits.holds.to_vec();
    rates.extend(fits.worst_with_few);
    rates.extend([best.named, best.far, workers.named, workers.far, histories.found]);
    rates.extend(histories.found_soon);
    rates.push(histories.alarms);
    Ok(CurveRates { rates, mutations })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers for this test. `trust curves` takes longer: it runs 200 fits, and 100 sweeps of each
    /// kind.
    const COUNTS: CurveCounts = CurveCounts { fits: 15, sweeps: 12, p99_sweeps: 5, histories: 200 };

    #[test]
    fn curves_and_histories_err_at_their_rates_and_mistakes_turn_them_red() {
        let found = curve_rates(COUNTS).unwrap();
        assert!(found.is_good(), "{found:#?}");
    }
}
