//! Tables of an experiment that were filled by inserts although the server has a faster method.
//! They do not influence the verdict.

use analyze::compare::ArmId;
use record::environment::generator;

use super::sentence;
use crate::words;

/// A table that was filled by inserts for the runs of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFallback {
    /// The arm.
    pub(super) arm: ArmId,
    /// Name of the table.
    pub(super) table: String,
    /// Reason why the faster method was not used, with the remedy.
    pub(super) reason: String,
    /// Number of runs for which the table was filled in this way.
    pub(super) runs: u64,
}

impl LoadFallback {
    /// Returns the tables that were filled by inserts for these runs, in the order of the arms.
    /// Each run is given by its arm and by the names and values of its facts.
    pub fn of_runs<'f>(
        runs: impl IntoIterator<Item = (ArmId, &'f [(String, String)])>,
    ) -> Vec<LoadFallback> {
        let mut found: Vec<LoadFallback> = Vec::new();
        for (arm, facts) in runs {
            for (name, reason) in facts {
                let Some(table) = name.strip_prefix(generator::INSERTS) else { continue };
                match found.iter_mut().find(|known| known.is(arm, table, reason)) {
                    Some(known) => known.runs = known.runs.saturating_add(1),
                    None => found.push(LoadFallback {
                        arm,
                        table: table.to_owned(),
                        reason: reason.clone(),
                        runs: 1,
                    }),
                }
            }
        }
        found.sort_by_key(|one| one.arm);
        found
    }

    fn is(&self, arm: ArmId, table: &str, reason: &str) -> bool {
        self.arm == arm && self.table == table && self.reason == reason
    }
}

/// Returns a sentence for each table and reason, with the names of the arms concerned. `arms` are
/// the names of all arms.
pub(super) fn sentences(all: &[LoadFallback], arms: &[&str]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (number, one) in all.iter().enumerate() {
        let is_same = |other: &&LoadFallback| other.is(other.arm, &one.table, &one.reason);
        if all[..number].iter().any(|other| is_same(&other)) {
            continue;
        }
        let of: Vec<ArmId> = all.iter().filter(is_same).map(|other| other.arm).collect();
        let lead = words::filled_by_inserts(&one.table);
        sentences.push(format!("{lead}{}: {}", in_arms(&of, arms), one.reason));
    }
    sentences
}

/// Returns some of all arms in words, in parentheses after a space; empty if there is only one arm.
fn in_arms(some: &[ArmId], all: &[&str]) -> String {
    if all.len() == 1 {
        return String::new();
    }
    if some.len() == all.len() {
        return " (in all arms)".to_owned();
    }
    let names = some.iter().map(|arm| sentence::name_as_code(all[arm.index()]));
    format!(" (in {})", names.collect::<Vec<String>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{experiment, text_of};
    use super::super::json::experiment_json;
    use super::super::view::ExperimentView;
    use super::super::{experiment_html, experiment_markdown, experiment_text};
    use super::*;
    use crate::text::Style;

    const REASON: &str = "forbidden (3948)";

    /// Returns an experiment with this number of arms; the given arms have a run whose table was
    /// filled by inserts.
    fn view(arms: usize, filled: &[usize]) -> ExperimentView {
        let facts = [(format!("{}t", generator::INSERTS), REASON.to_owned())];
        let runs = filled.iter().map(|arm| (ArmId(*arm), facts.as_slice()));
        let mut view = experiment();
        view.arms.truncate(arms);
        view.load_fallbacks = LoadFallback::of_runs(runs);
        view
    }

    #[test]
    fn table_that_was_filled_by_inserts_is_a_warning_with_its_arms() {
        let (all, one) = (" (in all arms)", " (in `tls`)");
        for (arms, filled, place) in [(1, &[0, 0][..], ""), (2, &[0, 1, 1], all), (2, &[1], one)] {
            let text = text_of(&view(arms, filled));
            let line = format!(
                "\nwarning    t was filled by inserts, which is the slower method{place}: \
                 {REASON}\n"
            );
            assert!(text.contains(&line), "{text}");
            assert_eq!(text.matches(REASON).count(), 1, "{text}");
        }
        assert!(!text_of(&view(2, &[])).contains("inserts"));
    }

    #[test]
    fn every_form_of_an_answer_names_a_table_that_was_filled_by_inserts() {
        let view = view(2, &[1, 0, 1]);
        let style = Style { color: false, width: usize::MAX };
        let shown =
            [experiment_text(&view, &style), experiment_markdown(&view), experiment_html(&view)];
        for text in shown {
            assert!(text.contains("t was filled by inserts, which is the slower"), "{text}");
        }
        let reported = serde_json::json!([
            { "arm": "plain", "table": "t", "reason": REASON, "runs": 1 },
            { "arm": "tls", "table": "t", "reason": REASON, "runs": 2 },
        ]);
        assert_eq!(experiment_json(&view)["load_fallbacks"], reported);
    }
}
