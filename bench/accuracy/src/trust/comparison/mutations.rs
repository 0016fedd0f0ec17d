//! Planted mistakes in experiments; each must move the rate of a row out of its accepted range.

use super::groups::groups_at_the_limit;
use super::machine_model::Order;
use super::method::{
    AlarmBasis, Analysis, BetError, CORRECT, ForecastBasis, LookState, Method, SuspectRule,
    WarmupRule,
};
use super::rate::ComparisonRate;
use super::rates::{
    Row, coverage, forecast_of_a_change, name_of, planned_looks, several_bets, slowing_machine,
    suspect_runs, warm_up,
};

/// A planted mistake, and the rate of a row without and with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// Name of the mistake.
    pub mistake: &'static str,
    /// Rate without the mistake.
    pub correct: ComparisonRate,
    /// Rate with the mistake.
    pub mutated: ComparisonRate,
}

impl Mutation {
    /// Returns true if the rate without the mistake is accepted, and the rate with it is not.
    pub fn is_noticed(&self) -> bool {
        self.correct.is_good() && !self.mutated.is_good()
    }
}

/// Measures each mutation whose name, or whose row's name in the table, contains `only`. The rates
/// without a mistake are taken from `measured` if it contains them, and measured otherwise.
pub fn mutations(measured: &[ComparisonRate], comparisons: u32, only: &str) -> Vec<Mutation> {
    let mistakes: [(&'static str, Row, Method); 8] = [
        (
            "paired runs analysed as two groups",
            coverage,
            Method { analysis: Analysis::Unpaired, ..CORRECT },
        ),
        ("a fixed order of the arms", slowing_machine, Method { order: Order::Fixed, ..CORRECT }),
        (
            "a warm-up of its own for each arm",
            warm_up,
            Method { warmup: WarmupRule::PerArm, ..CORRECT },
        ),
        (
            "a look after every resumption",
            planned_looks,
            Method { looks: LookState::Forgotten, ..CORRECT },
        ),
        (
            "suspect runs left out in one arm",
            suspect_runs,
            Method { suspect: SuspectRule::DroppedInOneArm, ..CORRECT },
        ),
        (
            "each of several bets with the whole error",
            several_bets,
            Method { error: BetError::Each, ..CORRECT },
        ),
        (
            "a forecast by the scatter of runs, not of pairs",
            forecast_of_a_change,
            Method { forecast: ForecastBasis::Runs, ..CORRECT },
        ),
        (
            "an alarm by the estimate, without its interval",
            groups_at_the_limit,
            Method { alarm: AlarmBasis::Estimate, ..CORRECT },
        ),
    ];
    let measure = |(mistake, row, method): (&'static str, Row, Method)| Mutation {
        mistake,
        correct: correct_rate(measured, row, comparisons),
        mutated: row(&method, comparisons),
    };
    let is_asked = |(mistake, row, _): &(&'static str, Row, Method)| {
        mistake.contains(only) || name_of(*row).contains(only)
    };
    mistakes.into_iter().filter(is_asked).map(measure).collect()
}

/// Returns the rate of a row without a mistake.
fn correct_rate(measured: &[ComparisonRate], row: Row, comparisons: u32) -> ComparisonRate {
    let name = name_of(row);
    let known = measured.iter().find(|rate| rate.name == name);
    known.cloned().unwrap_or_else(|| row(&CORRECT, comparisons))
}
