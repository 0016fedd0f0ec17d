//! Scenarios with a known limiter, and the judgement of the limiter that Assay reports.
//!
//! Each [`Scenario`] creates a bottleneck with real servers and runs the program `assay` against
//! it. The reported component is compared with the one that was created.

mod loads;
mod parts;
mod programs;
mod scenario;
mod scenarios;
mod stage;
mod table;

pub use scenario::{Outcome, Scenario};
pub use stage::{Answer, DrawKey, RepetitionError, ScenarioEnv, Unsupported, say};
pub use table::{Row, Table};

/// Returns all scenarios.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    scenarios::SCENARIOS.iter().chain(programs::SCENARIOS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenario_names_are_unique_and_limiters_are_known() {
        for (place, scenario) in scenarios().enumerate() {
            assert!(scenarios().skip(place + 1).all(|other| other.name != scenario.name));
            for accepted in scenario.accepted {
                let is_known = analyze::Component::ALL.iter().any(|it| it.name() == *accepted);
                assert!(is_known, "{}: {accepted}", scenario.name);
            }
        }
        assert!(scenarios().count() >= 12);
    }
}
