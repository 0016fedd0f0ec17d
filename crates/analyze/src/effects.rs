//! What changed in time, and when: the moment at which something that comes and goes began or
//! ended, and the figure of a job that changed with it.
//!
//! A reading of [`SideEffects`]: nothing is claimed here that is not claimed there, or between two
//! of its phases by the same measure.

use crate::confidence::Estimate;
use crate::phases::{Figure, PhaseFigures, PhaseName, PhaseSummary, SideEffects};

/// A figure must change by this part of the smaller value to be worth a sentence.
const WORTH: f64 = 0.2;

/// The figures that are told, one for each effect: the first that changed.
const TOLD: [Figure; 3] = [Figure::Mean, Figure::Quantile(3), Figure::Throughput];

/// A figure of a job that changed at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The job whose figure it is.
    pub job: String,
    /// Which figure.
    pub figure: Figure,
    /// What it was before.
    pub from: f64,
    /// What it was then.
    pub to: f64,
    /// When, in seconds after time zero; the first time, if it came again.
    pub at_s: f64,
    /// What began or ended: the name of a job, or of work in the background.
    pub cause: String,
    /// Whether that is work in the background.
    pub is_background: bool,
    /// Whether it began; else it ended.
    pub began: bool,
    /// How often it came.
    pub times: usize,
}

/// What changed with all that came and went.
pub(crate) fn effects(side_effects: &[SideEffects]) -> Vec<Effect> {
    side_effects.iter().flat_map(of_one).collect()
}

fn of_one(side_effects: &SideEffects) -> Vec<Effect> {
    let phase = |name| side_effects.phases.iter().find(|phase| phase.name == name);
    let Some(during) = phase(PhaseName::During) else { return Vec::new() };
    let first = during.stretches_s.first().map(|(begin, _)| *begin);
    let last = during.stretches_s.last().map(|(_, end)| *end);
    let moments = [
        (phase(PhaseName::Before).or(phase(PhaseName::Between)), Some(during), first, true),
        (Some(during), phase(PhaseName::After), last, false),
    ];
    let mut found = Vec::new();
    for (before, then, at_s, began) in moments {
        let (Some(before), Some(then), Some(at_s)) = (before, then, at_s) else { continue };
        found.extend(changes(before, then).map(|(job, figure, from, to)| Effect {
            job: job.to_owned(),
            figure,
            from,
            to,
            at_s,
            cause: side_effects.job.clone(),
            is_background: side_effects.is_background,
            began,
            times: during.stretches_s.len(),
        }));
    }
    found
}

/// The jobs that changed between two phases: the first figure of each that is worth telling.
fn changes<'p>(
    before: &'p PhaseSummary,
    then: &'p PhaseSummary,
) -> impl Iterator<Item = (&'p str, Figure, f64, f64)> {
    before.jobs.iter().zip(&then.jobs).filter_map(|(before, then)| {
        let (figure, from, to) = TOLD.into_iter().find_map(|figure| {
            let (from, to) = changed(before, then, figure)?;
            Some((figure, from, to))
        })?;
        Some((before.name.as_str(), figure, from, to))
    })
}

fn changed(before: &PhaseFigures, then: &PhaseFigures, figure: Figure) -> Option<(f64, f64)> {
    let (from, to): (Estimate, Estimate) = (before.figure(figure)?, then.figure(figure)?);
    let smaller = from.value.min(to.value);
    let is_worth = (to.value - from.value).abs() >= smaller * WORTH;
    (is_worth && to.differs_from(&from)).then_some((from.value, to.value))
}
