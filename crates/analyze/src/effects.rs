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
const TOLD: [Figure; 5] = [
    Figure::Mean,
    Figure::Quantile(0),
    Figure::Quantile(3),
    Figure::Quantile(2),
    Figure::Throughput,
];

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
    /// When, in seconds after time zero: the first time that it began, or the last that it ended.
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

/// What began at its first moment, what ended at its last, and what is otherwise than before
/// although its own time was too short to tell.
fn of_one(side_effects: &SideEffects) -> Vec<Effect> {
    let phase = |name| side_effects.phases.iter().find(|phase| phase.name == name);
    let Some(during) = phase(PhaseName::During) else { return Vec::new() };
    let (Some((first, _)), Some((_, last))) =
        (during.stretches_s.first(), during.stretches_s.last())
    else {
        return Vec::new();
    };
    let (before, after) = (phase(PhaseName::Before), phase(PhaseName::After));
    let at = |at_s: f64, began: bool| Moment { at_s, began };
    let moments = [
        (before.or(phase(PhaseName::Between)), Some(during), at(*first, true)),
        (Some(during), after, at(*last, false)),
        (before, after, at(*last, false)),
    ];
    let mut found: Vec<Effect> = Vec::new();
    for (earlier, later, moment) in moments {
        let (Some(earlier), Some(later)) = (earlier, later) else { continue };
        let is_whole = earlier.name == PhaseName::Before && later.name == PhaseName::After;
        let told: Vec<String> = found.iter().map(|effect| effect.job.clone()).collect();
        let changes = changes(earlier, later);
        let new = changes.filter(|change| !(is_whole && told.iter().any(|job| job == change.job)));
        found.extend(new.map(|change| change.of(side_effects, moment, during.stretches_s.len())));
    }
    found
}

/// When something began, or ended.
#[derive(Clone, Copy)]
struct Moment {
    at_s: f64,
    began: bool,
}

/// A figure of a job that differs between two phases.
struct Difference<'p> {
    job: &'p str,
    figure: Figure,
    from: f64,
    to: f64,
}

impl Difference<'_> {
    /// The same as an effect of something that came so many times.
    fn of(self, side_effects: &SideEffects, moment: Moment, times: usize) -> Effect {
        let Moment { at_s, began } = moment;
        Effect {
            job: self.job.to_owned(),
            figure: self.figure,
            from: self.from,
            to: self.to,
            at_s,
            cause: side_effects.job.clone(),
            is_background: side_effects.is_background,
            began,
            times,
        }
    }
}

/// The jobs that changed between two phases: the first figure of each that is worth telling.
fn changes<'p>(
    before: &'p PhaseSummary,
    then: &'p PhaseSummary,
) -> impl Iterator<Item = Difference<'p>> {
    before.jobs.iter().zip(&then.jobs).filter_map(|(before, then)| {
        TOLD.into_iter().find_map(|figure| {
            let (from, to) = changed(before, then, figure)?;
            Some(Difference { job: &before.name, figure, from, to })
        })
    })
}

fn changed(before: &PhaseFigures, then: &PhaseFigures, figure: Figure) -> Option<(f64, f64)> {
    let (from, to): (Estimate, Estimate) = (before.figure(figure)?, then.figure(figure)?);
    let smaller = from.value.min(to.value);
    let is_worth = (to.value - from.value).abs() >= smaller * WORTH;
    (is_worth && to.differs_from(&from)).then_some((from.value, to.value))
}
