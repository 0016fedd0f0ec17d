//! The errors of capacity searches.
//!
//! Every trial is a run of the engine in virtual time against a simulated server whose capacity is
//! known in closed form ([`mod@system`]). The same systems are searched by two [other
//! methods](mod@other_methods), which judge trials by their quantiles.

mod errors;
mod other_methods;
mod runs;
mod system;

pub use errors::{
    ASSAY, Costs, ResultCounts, SearchErrors, count_expected_results, drifts, errors, errors_of,
};
pub use other_methods::{OtherResult, bisection, isotonic};
pub use runs::{BUDGET, FinishedSearch, search};
pub use system::{
    ALWAYS_FAILS, ALWAYS_FAILS_AT_RANDOM, DEGRADING, FEW_REQUESTS, NEVER_FAILS, RANDOM_STEP,
    STATIONARY, STEP, SYSTEMS, System,
};

#[cfg(test)]
mod tests {
    use super::errors::{Expectation, is_stationary};
    use super::*;

    /// Number of searches on each system; `trust capacity` runs eight times as many.
    const SEARCHES: u32 = 5;

    #[track_caller]
    fn check(name: &str) {
        let system = SYSTEMS.into_iter().find(|system| system.name == name).unwrap();
        let errors = errors_of(system, SEARCHES).unwrap();
        assert!(errors.is_good(), "{errors:?}");
    }

    #[test]
    fn searches_find_the_capacity_of_an_exponential_server() {
        check("M/M/1, p99 < 20 ms");
    }

    #[test]
    fn searches_find_the_capacity_of_a_constant_server() {
        check("M/D/1, p99 < 5 ms");
    }

    #[test]
    fn step_is_called_a_cliff_and_other_servers_irregular() {
        for outcome in count_expected_results(2, "").unwrap() {
            assert!(outcome.is_good(), "{outcome:?}");
        }
    }

    /// An exponential server of at most 100 requests per second, so a search has few requests.
    const SLOW: System = System {
        name: "slow",
        url: "sim:mm1?service=10ms",
        bound_ms: 200.0,
        truth: 76.974_15,
        ..STATIONARY
    };

    #[test]
    fn stationary_server_changes_for_two_of_forty_seeds_at_most() {
        let expected =
            Expectation { system: SLOW, name: "no change", is_met: is_stationary, least: 0.95 };
        let outcome = expected.check(40).unwrap();
        assert!(outcome.is_good(), "{outcome:?}");
    }
}
