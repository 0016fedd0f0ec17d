//! The error rates of comparisons.
//!
//! Most rows draw the figures of runs from a [model](machine_model) of a machine, with noise from
//! run to run and drift over many runs, because thousands of comparisons would take days even in
//! virtual time. The last rows ([`runs`]) let the engine execute the runs in virtual time, against
//! simulated servers with the same kinds of noise and drift. The figures of all rows are analysed
//! by the code that compares real runs. [`mod@mutations`] plants mistakes in experiments; each must
//! move the rate of a row out of its accepted range.

mod groups;
mod machine_model;
mod method;
mod mutations;
mod rate;
mod rates;
mod runs;

pub use mutations::{Mutation, mutations};
pub use rate::ComparisonRate;
pub use rates::rates;
pub use runs::rates_of_runs;

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of comparisons per row; `trust` runs five times as many.
    const COMPARISONS: u32 = 400;

    #[test]
    fn comparisons_err_at_their_rates_and_every_mistake_turns_a_row_red() {
        let rates = rates(COMPARISONS, "");
        for rate in &rates {
            assert!(rate.is_good(), "{rate:?} {} %", rate.percent());
        }
        for mutation in mutations(&rates, COMPARISONS, "") {
            assert!(mutation.is_noticed(), "{mutation:?}");
        }
    }

    #[test]
    fn guide_lists_every_row_and_every_mistake() {
        let guide = include_str!("../../../../../docs/comparing.md");
        let rates = rates(1, "");
        for ComparisonRate { name, accepted, .. } in &rates {
            let row = guide.lines().find(|line| line.starts_with(&format!("| {name} | ")));
            let accepted = format!(" | {} … {} % |", accepted.start(), accepted.end());
            assert!(row.is_some_and(|row| row.ends_with(&accepted)), "{name}{accepted}: {row:?}");
        }
        for ComparisonRate { name, .. } in rates_of_runs(1, "").unwrap() {
            assert!(guide.contains(&format!("\n| {name} | ")), "{name}");
        }
        for Mutation { mistake, correct, .. } in mutations(&rates, 1, "") {
            assert!(guide.contains(&format!("\n| {mistake} | {} | ", correct.name)), "{mistake}");
        }
    }

    #[test]
    fn runs_in_virtual_time_err_at_their_rates() {
        for rate in rates_of_runs(20, "").unwrap() {
            assert!(rate.is_good(), "{rate:?} {} %", rate.percent());
        }
    }
}
