//! The numbers of trials of a capacity search by their outcomes, in words.

use analyze::CheckKind;

use super::capacity::CapacityView;
use crate::number;

impl CapacityView {
    /// Returns the numbers of trials by their outcomes, and the time that they took.
    pub(super) fn outcomes(&self) -> String {
        let of = |name: &str| {
            let number = self.trials.iter().filter(|it| it.outcome.name() == name).count();
            (number > 0).then(|| format!("{number} {name}"))
        };
        let outcomes: Vec<String> =
            ["pass", "fail", "undecided", "invalid"].into_iter().filter_map(of).collect();
        let took = self.trials.iter().map(|it| it.trial.took.as_secs_f64()).sum();
        let text = number::count(self.trials.len() as u64, "trial");
        match outcomes.is_empty() {
            true => text,
            false => {
                let took = number::seconds(took);
                format!("{text}: {}; {took} in all{}", outcomes.join(", "), self.starts())
            }
        }
    }

    /// Returns the number of server starts as the end of a sentence; empty for a single one. The
    /// servers may differ in more than the loads of their trials.
    fn starts(&self) -> String {
        let several = self.server_starts.filter(|starts| *starts > 1);
        several.map_or_else(String::new, |it| format!("; the trials are of {it} server starts"))
    }

    /// Returns the outcomes of the trials with the names of the checks that object, for answers
    /// without a line for each of these checks.
    pub(super) fn counts(&self) -> String {
        let text = self.outcomes();
        let mut checks: Vec<&str> = self.objections().map(CheckKind::name).collect();
        checks.sort_unstable();
        checks.dedup();
        match checks.is_empty() {
            true => text,
            false => {
                format!("{text}; checks that object at the confirmed value: {}", checks.join(", "))
            }
        }
    }
}
