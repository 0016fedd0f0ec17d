//! Checks of an experiment's record. A record with content that no experiment writes is damaged,
//! and gives no answer.

use std::collections::BTreeMap;
use std::path::Path;

use analyze::compare::Design;
use archive::{ExperimentContent, Phase, RecordError};
use workload::question::{ArmPointOutline, Outline};

use super::counting::complete_rounds;
use super::recorded::STATE;

/// Checks the runs and the looks of a record against the question and the design of the experiment.
///
/// # Errors
/// The record is damaged; the error says where.
pub(super) fn check(
    path: &Path,
    content: &ExperimentContent,
    outline: &Outline,
    design: &Design,
) -> Result<(), RecordError> {
    let damaged = |what: String| Err(ExperimentContent::damaged(path, what));
    let (arm_points, phases) = (outline.arm_points(), phases(outline));
    for row in &content.runs {
        if !phases.contains(&row.phase) {
            let phase = row.phase.name();
            return damaged(format!("run {} has the unexpected phase `{phase}`", row.run));
        }
        if !arm_points.iter().any(|arm_point| arm_point.arm == row.arm) {
            return damaged(format!("run {} is of an unknown arm", row.run));
        }
        let is_of_row =
            |arm_point: &ArmPointOutline| arm_point.arm == row.arm && arm_point.point == row.point;
        // A search chooses the points of its trials itself.
        if row.phase.has_rounds() && !arm_points.iter().any(is_of_row) {
            return damaged(format!("run {} is at an unknown point", row.run));
        }
        if row.position as usize >= arm_points.len() {
            return damaged(format!("run {} has an impossible position in its round", row.run));
        }
    }
    let (planned, taken) = (design.looks.looks(), content.looks.as_slice());
    let pairs: Vec<u32> = taken.iter().map(|look| look.pairs).collect();
    let is_open = |look: &&archive::LookRow| !look.is_decided;
    let last = taken.last();
    let are_planned = planned.starts_with(&pairs)
        && taken.iter().rev().skip(1).all(|look| is_open(&look))
        && pairs
            .iter()
            .all(|pairs| *pairs <= complete_rounds(content.runs.iter(), arm_points.len()));
    if !are_planned {
        return damaged("its looks do not match its runs".to_owned());
    }
    let is_search = content.runs.iter().any(|row| row.phase == Phase::Capacity);
    let is_over =
        is_search || pairs.len() == planned.len() || last.is_some_and(|look| look.is_decided);
    match content.fact(STATE) == Some("complete") && !is_over {
        true => damaged("it is marked as complete without its last look".to_owned()),
        false => Ok(()),
    }
}

/// Returns the phases that runs of this experiment can have.
fn phases(outline: &Outline) -> &'static [Phase] {
    if outline.capacity.is_some() {
        &[Phase::Capacity]
    } else if outline.sweep.is_some() {
        &[Phase::Sweep]
    } else if outline.saturate.is_some() {
        &[Phase::Saturate, Phase::Compare]
    } else {
        &[Phase::Compare]
    }
}

/// The plan of each arm or, in a sweep, of each arm at each point. All runs of an arm at a point
/// have the same plan, except for the seed.
#[derive(Default)]
pub(super) struct ArmPointPlans(BTreeMap<usize, String>);

impl ArmPointPlans {
    /// Checks the plan of a run of an arm at a point.
    ///
    /// # Errors
    /// The plan differs from that of earlier runs of the arm at this point.
    pub(super) fn check(
        &mut self,
        path: &Path,
        arm_point: usize,
        run: u32,
        plan: &str,
    ) -> Result<(), RecordError> {
        let plan = without_seed(plan);
        let known = self.0.entry(arm_point).or_insert_with(|| plan.clone());
        match *known == plan {
            true => Ok(()),
            false => {
                let what = format!("run {run} has another plan than the earlier runs of its arm");
                Err(ExperimentContent::damaged(path, what))
            }
        }
    }
}

fn without_seed(plan: &str) -> String {
    plan.lines().filter(|line| !line.starts_with("seed = ")).collect::<Vec<_>>().join("\n")
}
