//! The record of an experiment: its question, and the results of its runs.

use std::path::Path;

use analyze::compare::{ArmId, Design, Unfinished};
use analyze::saturate::NextSaturationStep;
use archive::{Archive, ExperimentContent, RecordError};
use lab::experiment::{
    ArmEffect, COUNTERBALANCED, ExperimentResults, RecordedSearch, RunPlan, STATE, SweepResults,
    UndeclaredDifference, declared_keys, design, mark_incomparable, read_results, read_search,
    recorded_saturation,
};
use record::{Excerpt, ExcerptKind, InputFile, Note};
use workload::question::{Design as Runs, Outline, URL_KEY};

use crate::complain::Complaint;

/// Name of the fact with the printed experiment.
pub(crate) const EXPERIMENT: &str = "experiment";

/// Name of the fact with the printed plans of the arms.
pub(crate) const PLANS: &str = "plans";

/// Name of the fact with the path of the experiment file, as it was given.
pub(crate) const PATH: &str = "path";

/// Name of the fact with the user's label.
pub(crate) const LABEL: &str = "label";

/// Name of the fact with the version of the program.
pub(crate) const VERSION: &str = "assay";

/// Remedy for a question that cannot be read.
pub(crate) const QUESTION_REMEDY: &str =
    "use a copy of the record, or the version of Assay that made it";

/// A recorded experiment.
#[derive(Debug)]
pub(crate) struct RecordedExperiment {
    /// The question.
    pub(crate) outline: Outline,
    /// The statistical design of the experiment.
    pub(crate) design: Design,
    /// Names of the arms.
    pub(crate) names: Vec<String>,
    /// The results. Metrics whose comparison an undeclared difference makes meaningless are marked
    /// as not comparable.
    pub(crate) results: ExperimentResults,
    /// The curves of the sweep, if the experiment has one.
    pub(crate) sweep: Option<SweepResults>,
    /// Undeclared differences of each arm: from the first arm, and between its own rounds.
    pub(crate) undeclared: Vec<UndeclaredDifference>,
    /// The result of the search for saturation, if the experiment has one.
    pub(crate) saturation: Option<NextSaturationStep>,
    /// The capacity search, if the experiment is one.
    pub(crate) search: Option<RecordedSearch>,
    /// Facts, files, notes and excerpts of the experiment.
    content: ExperimentContent,
}

/// The error of reading the record of an experiment.
#[derive(Debug)]
pub(crate) enum ExperimentReadError {
    /// The file is not the record of an experiment, cannot be read or is damaged.
    Record(RecordError),
    /// The question in the record cannot be read.
    Question(Complaint),
}

impl From<RecordError> for ExperimentReadError {
    fn from(error: RecordError) -> ExperimentReadError {
        ExperimentReadError::Record(error)
    }
}

impl From<ExperimentReadError> for Complaint {
    fn from(error: ExperimentReadError) -> Complaint {
        match error {
            ExperimentReadError::Record(error) => Complaint::of(&error),
            ExperimentReadError::Question(complaint) => complaint,
        }
    }
}

impl RecordedExperiment {
    /// Reads the record of an experiment.
    ///
    /// # Errors
    /// The file is not the record of an experiment, cannot be read or is damaged, or its question
    /// cannot be read.
    pub(crate) fn read(path: &Path) -> Result<RecordedExperiment, ExperimentReadError> {
        let mut content = ExperimentContent::read(path)?;
        let text = content.fact(EXPERIMENT).unwrap_or_default();
        let outline = Outline::of_text(text).map_err(|reason| {
            let path = path.display();
            let sentence = format!("the question in the record `{path}` cannot be read: {reason}");
            ExperimentReadError::Question(Complaint::new(sentence).help(QUESTION_REMEDY))
        })?;
        let design = design(&outline, writes(&content));
        let names = outline.compared_names();
        let results = read_results(path, &outline, &design)?;
        if let Some(plan) = &results.plan {
            show_examples(&mut content, plan)?;
        }
        let search = outline.capacity.as_ref().map(|question| read_search(path, question));
        let search = search.transpose()?;
        let saturation = outline.saturate.as_ref();
        let saturation = saturation.map(|question| recorded_saturation(path, question, &results));
        let saturation = saturation.transpose()?;
        let sweep = outline.sweep.as_ref().map(|sweep| results.sweep(sweep, &design));
        let undeclared = Vec::new();
        let mut read = RecordedExperiment {
            outline,
            design,
            names,
            results,
            sweep,
            undeclared,
            saturation,
            search,
            content,
        };
        let arms = (0..read.names.len()).map(ArmId);
        read.undeclared = arms.flat_map(|arm| read.undeclared(ArmId::BASELINE, arm)).collect();
        let writes = read.writes();
        let at_points = read.sweep.iter_mut().flat_map(|sweep| &mut sweep.comparisons);
        for comparison in read.results.comparison.iter_mut().chain(at_points) {
            mark_incomparable(comparison, &read.undeclared, writes);
        }
        Ok(read)
    }

    /// Opens a run of the record.
    ///
    /// # Errors
    /// There is no such run, or the record is damaged.
    pub(crate) fn open_run(&self, run: u32) -> Result<Archive, RecordError> {
        self.content.open_run(run)
    }

    /// Returns true if another experiment consists of the same runs: with the same seeds and
    /// figures.
    pub(crate) fn has_runs_of(&self, other: &RecordedExperiment) -> bool {
        let runs = |of: &RecordedExperiment| {
            let all = of.results.steps.iter().chain(&of.results.runs);
            all.map(|run| (run.row.seed, run.figures.metrics.clone())).collect::<Vec<_>>()
        };
        runs(self) == runs(other)
    }

    /// Returns true if the workload of the experiment writes.
    pub(crate) fn writes(&self) -> bool {
        writes(&self.content)
    }

    /// Returns the label that the user gave the experiment.
    pub(crate) fn label(&self) -> Option<&str> {
        self.fact(LABEL)
    }

    /// Returns a fact about the experiment; `None` if the record does not have the fact.
    pub(crate) fn fact(&self, key: &str) -> Option<&str> {
        self.content.fact(key)
    }

    /// Returns the files that were read for the experiment.
    pub(crate) fn files(&self) -> &[InputFile] {
        &self.content.files
    }

    /// Returns the notes of the program and of reviewers, oldest first.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.content.notes
    }

    /// Returns excerpts of the tables of the first run, and of the statements of the run whose plan
    /// is shown.
    pub(crate) fn excerpts(&self) -> &[Excerpt] {
        &self.content.excerpts
    }

    /// Returns the reason for which the experiment has no answer; `None` if it is complete.
    pub(crate) fn unfinished(&self) -> Option<Unfinished> {
        match self.fact(STATE) {
            Some("complete") => None,
            Some("instrument-failed") => Some(Unfinished::Failed),
            Some("not-observed") => Some(Unfinished::NotObserved),
            _ => Some(Unfinished::Interrupted),
        }
    }

    /// Returns the declared differences of an arm: keys and values.
    pub(crate) fn differences(&self, arm: ArmId) -> Vec<(String, String)> {
        let arm = if self.outline.design == Runs::Aa { ArmId::BASELINE } else { arm };
        self.outline.arms.get(arm.index()).map(|arm| arm.differences.clone()).unwrap_or_default()
    }

    /// Returns true if every arm has a target of its own.
    pub(crate) fn arms_have_urls(&self) -> bool {
        let has_url = |(key, _): &(String, String)| key == URL_KEY;
        self.outline.arms.iter().all(|arm| arm.differences.iter().any(has_url))
    }

    /// Returns the remarks about an arm's declared differences: the differences that the arm's
    /// first counted run does not confirm, TLS that ends before the server, and a target that leads
    /// to the database of the baseline.
    pub(crate) fn effect(&self, arm: ArmId) -> ArmEffect {
        let url = |arm: ArmId| self.differences(arm).into_iter().find(|(key, _)| key == URL_KEY);
        let baseline = ArmId::BASELINE;
        let is_other_url = url(baseline) != url(arm);
        let shares_server = is_other_url && self.results.shares_server(baseline, arm);
        let keys: Vec<String> = self.differences(arm).into_iter().map(|(key, _)| key).collect();
        ArmEffect { shares_server, ..self.results.effect(arm, &keys) }
    }

    /// Returns the differences of an arm from a baseline, and between its own rounds, that are not
    /// declared.
    pub(crate) fn undeclared(&self, baseline: ArmId, arm: ArmId) -> Vec<UndeclaredDifference> {
        let declared = differing_declarations(&self.differences(baseline), &self.differences(arm));
        let keys = declared_keys(&declared);
        match &self.outline.sweep {
            None => self.results.undeclared_differences(baseline, arm, &keys),
            // At a point of a sweep, all arms have the same value of the varied key.
            Some(sweep) => {
                self.results.undeclared_differences_of_sweep(sweep, baseline, arm, &keys)
            }
        }
    }
}

/// Replaces the examples of statements by the examples of the run whose plan is shown.
fn show_examples(content: &mut ExperimentContent, plan: &RunPlan) -> Result<(), RecordError> {
    let is_example =
        |excerpt: &Excerpt| matches!(excerpt.kind, ExcerptKind::Examples | ExcerptKind::Results);
    let of_run = content.open_run(plan.run)?.excerpts()?;
    content.excerpts.retain(|excerpt| !is_example(excerpt));
    content.excerpts.extend(of_run.into_iter().filter(is_example));
    Ok(())
}

/// Returns the declared differences that only one of two arms has. A declaration that both arms
/// have is no difference between them.
fn differing_declarations(
    ours: &[(String, String)],
    theirs: &[(String, String)],
) -> Vec<(String, String)> {
    let only_ours = ours.iter().filter(|it| !theirs.contains(it));
    only_ours.chain(theirs.iter().filter(|it| !ours.contains(it))).cloned().collect()
}

fn writes(content: &ExperimentContent) -> bool {
    content.fact(COUNTERBALANCED) == Some("yes")
}

#[cfg(test)]
mod tests {
    use super::differing_declarations;

    #[test]
    fn declaration_of_both_arms_is_not_a_difference() {
        let [before, url] = [("before", "vacuum"), ("url", "sqlite:b.db")];
        let [before, url] = [before, url].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let other = (before.0.clone(), "analyze".to_owned());
        assert_eq!(
            differing_declarations(std::slice::from_ref(&before), &[before.clone(), url.clone()]),
            [url]
        );
        assert_eq!(
            differing_declarations(std::slice::from_ref(&before), std::slice::from_ref(&other)),
            [before, other]
        );
    }
}
