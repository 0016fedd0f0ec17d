//! Outlines of experiments: all that an answer to the question needs, without the workload.

use std::io;

use base::Severity;

use super::bet::Bet;
use super::capacity::CapacityQuestion;
use super::capacity_section;
use super::delta::Deltas;
use super::draft;
use super::experiment::{Design, Experiment, Rounds};
use super::fields::Fields;
use super::saturate::SaturateQuestion;
use super::saturate_section;
use super::sections::{CAPACITY, QUESTION, SATURATE, SWEEP};
use super::sweep::{self, SweepOutline};
use crate::folder::Folder;
use crate::keys::SectionKind;
use crate::read::{File, parse};
use crate::sink::Sink;

/// A folder of empty files: an outline needs nothing from the workload.
struct EmptyFiles;

impl Folder for EmptyFiles {
    fn read(&self, _: &str, _: u64) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn is_unread(&self) -> bool {
        true
    }
}

/// The outline of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The question.
    pub ask: String,
    /// Name of the workload file; `None` if the workload is inside the experiment file.
    pub workload: Option<String>,
    /// The expected changes.
    pub bets: Vec<Bet>,
    /// Number of rounds.
    pub rounds: Rounds,
    /// True if an arm may change several things.
    pub has_several_differences: bool,
    /// Runs of a round.
    pub design: Design,
    /// The smallest changes that matter.
    pub deltas: Deltas,
    /// The arms; the first is the baseline. A capacity search, and a sweep whose file declares no
    /// arms, have a single arm without differences: the workload.
    pub arms: Vec<ArmOutline>,
    /// The sweep, if there is one.
    pub sweep: Option<SweepOutline>,
    /// The search for the load at which the arms are compared, if there is one.
    pub saturate: Option<SaturateQuestion>,
    /// The capacity search, in place of a comparison.
    pub capacity: Option<CapacityQuestion>,
}

/// The outline of an arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmOutline {
    /// Its name.
    pub name: String,
    /// Its differences: keys and values of the file.
    pub differences: Vec<(String, String)>,
}

/// A run of a round: an arm, at a point if there is a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmPointOutline {
    /// Name of the arm.
    pub arm: String,
    /// The value that the sweep gives to the varied key.
    pub point: Option<String>,
}

impl Outline {
    /// Returns the runs of a round, in the order of [`Experiment::arm_points`]; two runs for an arm
    /// that is compared with itself.
    pub fn arm_points(&self) -> Vec<ArmPointOutline> {
        let names = self.compared_names().into_iter();
        let Some(sweep) = &self.sweep else {
            return names.map(|arm| ArmPointOutline { arm, point: None }).collect();
        };
        let at_points = |arm: String| {
            let arm_point = move |value: &String| ArmPointOutline {
                arm: arm.clone(),
                point: Some(value.clone()),
            };
            sweep.values.iter().map(arm_point)
        };
        names.flat_map(at_points).collect()
    }

    /// Reads the outline of a printed experiment.
    ///
    /// # Errors
    /// Returns the reason why the text is not a valid experiment with arms to compare.
    pub fn of_text(text: &str) -> Result<Outline, String> {
        let (file, of_file) = parse(text);
        let mut sink = Sink::default();
        let outline = Outline::of_file(&file, &mut sink);
        let mut found = of_file.into_iter().chain(sink.finish());
        let error = found.find(|diagnostic| diagnostic.severity == Severity::Error);
        match (outline, error) {
            (Some(outline), None) => Ok(outline),
            (_, Some(error)) => Err(error.sentence()),
            (None, None) => Err(format!(
                "it needs a section `[{QUESTION}]` with a question, and arms with different names"
            )),
        }
    }

    /// Reads the outline of a parsed experiment; `None` if a part of it is missing.
    fn of_file(file: &File<'_>, sink: &mut Sink) -> Option<Outline> {
        let question = file.sections.iter().find(|section| section.name == QUESTION)?;
        let fields = Fields::of(file, question, SectionKind::Question, sink);
        let draft = draft::read(&fields, &EmptyFiles, sink);
        let arms = file.sections.iter().filter_map(|section| {
            let name = section.name.strip_prefix("arm ")?.to_owned();
            let line = |entry: &crate::read::Entry<'_>| {
                (entry.key().text().to_owned(), entry.value().text().to_owned())
            };
            Some(ArmOutline { name, differences: section.entries.iter().map(line).collect() })
        });
        let section = |name: &str| file.sections.iter().find(|section| section.name == name);
        let sweep = match section(SWEEP) {
            Some(section) => Some(sweep::read(file, section, sink)?.outline()?),
            None => None,
        };
        let saturate = match section(SATURATE) {
            Some(section) => {
                let search = saturate_section::read(file, section, sink);
                Some(saturate_section::outline(&search)?)
            }
            None => None,
        };
        let capacity = match section(CAPACITY) {
            Some(section) => {
                let search = capacity_section::read(file, section, sink);
                Some(capacity_section::outline(&search)?)
            }
            None => None,
        };
        let mut arms: Vec<ArmOutline> = arms.collect();
        let is_alone = sweep.is_some() || capacity.is_some();
        if arms.is_empty() && is_alone {
            let name = Experiment::WORKLOAD.to_owned();
            arms.push(ArmOutline { name, differences: Vec::new() });
        }
        let outline = Outline {
            ask: draft.ask?,
            workload: fields.one("workload").map(|name| name.text().to_owned()),
            bets: draft.bets.into_iter().map(|(bet, _)| bet).collect(),
            rounds: draft.rounds,
            has_several_differences: draft.has_several_differences,
            design: draft.design,
            deltas: draft.deltas,
            arms,
            sweep,
            saturate,
            capacity,
        };
        let mut names = outline.compared_names();
        let compared = names.len();
        let least = if is_alone { 1 } else { 2 };
        names.sort_unstable();
        names.dedup();
        (compared >= least && names.len() == compared).then_some(outline)
    }

    /// Returns the job whose load saturates the baseline, if the experiment searches for this load.
    pub fn saturated_job(&self) -> Option<&str> {
        self.saturate.as_ref().map(|search| search.vary.job())
    }

    /// Returns the names of the arms of the comparison; two names for an arm that is compared with
    /// itself.
    pub fn compared_names(&self) -> Vec<String> {
        let names = self.arms.iter().map(|arm| arm.name.clone());
        match self.design {
            Design::Arms => names.collect(),
            Design::Aa => {
                names.take(1).flat_map(|name| [name.clone(), second_arm_name(&name)]).collect()
            }
        }
    }
}

/// Returns the name of the second arm when an arm is compared with itself.
fn second_arm_name(name: &str) -> String {
    format!("{name}-again")
}

impl Experiment {
    /// Returns the outline of the experiment.
    pub fn outline(&self) -> Outline {
        let arm = |arm: &super::experiment::Arm| ArmOutline {
            name: arm.name.clone(),
            differences: arm.differences.iter().map(|one| (one.key(), one.value())).collect(),
        };
        let arms = match &self.capacity {
            // The difference of the only arm is the first value of the search, which is not a part
            // of the outline.
            Some(_) => {
                vec![ArmOutline { name: Experiment::WORKLOAD.to_owned(), differences: Vec::new() }]
            }
            None => self.arms.iter().map(arm).collect(),
        };
        Outline {
            ask: self.ask.clone(),
            workload: self.workload.clone(),
            bets: self.bets.clone(),
            rounds: self.rounds,
            has_several_differences: self.has_several_differences,
            design: self.design,
            deltas: self.deltas.clone(),
            arms,
            saturate: self.saturate.clone(),
            capacity: self.capacity.clone(),
            sweep: self.sweep.as_ref().map(|sweep| SweepOutline {
                vary: sweep.vary.to_string(),
                values: sweep.values.clone(),
                repeats: sweep.repeats,
                best: sweep.best.clone(),
            }),
        }
    }
}
