//! The record of an experiment: its question, and the results of its runs.

use std::path::Path;

use analyze::compare::Design;
use archive::ExperimentContent;
use lab::experiment::{
    COUNTERBALANCED, ChangedSetting, ExperimentResults, STATE, design, read_results,
};
use workload::question::{Design as Runs, Outline};

use crate::complain::Complaint;

/// The fact that holds the printed experiment.
pub(crate) const EXPERIMENT: &str = "experiment";

/// A recorded experiment.
#[derive(Debug)]
pub(crate) struct RecordedExperiment {
    /// The question.
    pub(crate) outline: Outline,
    /// The design of its statistics.
    pub(crate) design: Design,
    /// Names of the arms.
    pub(crate) names: Vec<String>,
    /// The results.
    pub(crate) results: ExperimentResults,
    /// Facts about the experiment.
    content: ExperimentContent,
}

/// Settings that follow from the option `tls`.
const OF_TLS: [&str; 3] = ["tls", "ssl_version", "ssl_cipher"];

/// Facts that sum up several settings of the server.
const OF_SETTINGS: [&str; 3] = ["durability", "isolation", "database.settings"];

/// Returns true if a fact follows from a setting of the server: it is the setting or a sum of
/// several, or the server computes it from the setting.
fn follows(fact: &str, setting: &str) -> bool {
    let name = fact.strip_prefix("database.setting.").unwrap_or(fact);
    let is_computed = setting == "shared_buffers" && name == "wal_buffers";
    name == setting || is_computed || OF_SETTINGS.contains(&fact)
}

impl RecordedExperiment {
    /// Reads the record of an experiment.
    ///
    /// # Errors
    /// It is not the record of an experiment, is damaged, or its question cannot be read.
    pub(crate) fn read(path: &Path) -> Result<RecordedExperiment, Complaint> {
        let content = ExperimentContent::read(path).map_err(|error| Complaint::of(&error))?;
        let text = content.fact(EXPERIMENT).unwrap_or_default();
        let Some(outline) = Outline::of_text(text) else {
            let path = path.display();
            let sentence = format!("the question in the record `{path}` cannot be read");
            return Err(Complaint::new(sentence));
        };
        let design = design(&outline, content.fact(COUNTERBALANCED) == Some("yes"));
        let names = outline.compared();
        let results = read_results(path, &design, &names).map_err(|error| Complaint::of(&error))?;
        Ok(RecordedExperiment { outline, design, names, results, content })
    }

    /// Returns a fact about the experiment.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.content.fact(key)
    }

    /// Returns true if it took its last look.
    pub(crate) fn is_complete(&self) -> bool {
        self.fact(STATE) == Some("complete")
    }

    /// Returns the declared differences of an arm: keys and values.
    pub(crate) fn differences(&self, arm: usize) -> Vec<(String, String)> {
        let arm = if self.outline.design == Runs::Aa { 0 } else { arm };
        self.outline.arms.get(arm).map(|arm| arm.differences.clone()).unwrap_or_default()
    }

    /// Returns the settings of an arm that differ from those of a baseline without being declared.
    /// Another target has other settings: there, the target is the difference.
    pub(crate) fn undeclared(&self, baseline: usize, arm: usize) -> Vec<ChangedSetting> {
        let declared: Vec<String> = [self.differences(baseline), self.differences(arm)]
            .concat()
            .into_iter()
            .map(|(key, _)| key)
            .collect();
        if declared.iter().any(|key| key == "url") {
            return Vec::new();
        }
        let has_tls = declared.iter().any(|key| key == "option.tls");
        let settings: Vec<&str> =
            declared.iter().filter_map(|key| key.strip_prefix("server.")).collect();
        let is_declared = |name: &str| {
            let is_key = |key: &String| key.split_once('.').is_some_and(|(_, rest)| rest == name);
            has_tls && OF_TLS.contains(&name)
                || settings.iter().any(|setting| follows(name, setting))
                || declared.iter().any(is_key)
        };
        let changed = self.results.changed_settings(baseline, arm).into_iter();
        changed.filter(|one| !is_declared(&one.name)).collect()
    }
}
