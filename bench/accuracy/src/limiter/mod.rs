//! Scenarios with a known limiter, and the judgement of the limiter that Assay reports.
//!
//! Each [`Scenario`] creates a bottleneck, nearly always with a real server, and runs the program
//! `assay` against it. The reported component is compared with the one that was created.

mod loads;
mod order;
mod parts;
mod programs;
mod scenario;
mod scenarios;
mod servers;
mod stage;
mod table;

pub use order::Order;
pub use scenario::{Outcome, Scenario};
pub use stage::{Answer, DrawKey, RepetitionError, ScenarioEnv, Unsupported, print_progress};
pub use table::{Row, Table};

/// Returns all scenarios: each kind on each of its servers.
pub fn scenarios() -> Vec<Scenario> {
    let kinds = scenarios::KINDS.iter().chain(loads::KINDS).chain(programs::KINDS);
    kinds.flat_map(|kind| kind.scenarios()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_names_are_unique_and_limiters_are_known() {
        let scenarios = scenarios();
        for (place, scenario) in scenarios.iter().enumerate() {
            assert!(scenarios[place + 1..].iter().all(|other| other.name != scenario.name));
            for accepted in scenario.accepted {
                let is_known = analyze::Component::ALL.iter().any(|it| it.name() == *accepted);
                assert!(is_known, "{}: {accepted}", scenario.name);
            }
        }
        assert!(scenarios.len() >= 12);
    }
}
