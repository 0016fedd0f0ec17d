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

/// What changed with all that came and went: what began at its first moment, what ended at its
/// last, and what is otherwise behind it than before it, although its own time was too short to
/// tell.
pub(crate) fn effects(side_effects: &[SideEffects]) -> Vec<Effect> {
    let mut told: Vec<Effect> = side_effects.iter().flat_map(at_its_ends).collect();
    let behind: Vec<Effect> = side_effects.iter().flat_map(behind_it).collect();
    let is_only = |effect: &&Effect| {
        let is_told = told.iter().any(|other| other.job == effect.job);
        !is_told && !behind.iter().any(|other| is_rival(other, effect))
    };
    let only: Vec<Effect> = behind.iter().filter(is_only).cloned().collect();
    told.extend(only);
    told
}

/// Whether another cause explains the change between two levels as well: of two jobs nobody knows
/// which it was, and work in the background follows a job that made it necessary.
fn is_rival(other: &Effect, effect: &Effect) -> bool {
    let is_other = other.cause != effect.cause || other.is_background != effect.is_background;
    other.job == effect.job && is_other && (effect.is_background || !other.is_background)
}

fn at_its_ends(side_effects: &SideEffects) -> Vec<Effect> {
    let Some(Span { during, first, last }) = Span::of(side_effects) else { return Vec::new() };
    let phase = |name| phase(side_effects, name);
    let before = phase(PhaseName::Before).or(phase(PhaseName::Between));
    let began = before.map(|before| changes(before, during)).into_iter().flatten();
    let began = began.map(|it| it.of(side_effects, Moment { at_s: first, began: true }));
    let ended = phase(PhaseName::After).map(|after| changes(during, after)).into_iter().flatten();
    let ended = ended.map(|it| it.of(side_effects, Moment { at_s: last, began: false }));
    began.chain(ended).collect()
}

fn behind_it(side_effects: &SideEffects) -> Vec<Effect> {
    let phase = |name| phase(side_effects, name);
    let (Some(Span { last, .. }), Some(before), Some(after)) =
        (Span::of(side_effects), phase(PhaseName::Before), phase(PhaseName::After))
    else {
        return Vec::new();
    };
    let moment = Moment { at_s: last, began: false };
    changes(before, after).map(|it| it.of(side_effects, moment)).collect()
}

fn phase(side_effects: &SideEffects, name: PhaseName) -> Option<&PhaseSummary> {
    side_effects.phases.iter().find(|phase| phase.name == name)
}

/// When something was there.
struct Span<'s> {
    during: &'s PhaseSummary,
    /// When it began for the first time, in seconds after time zero.
    first: f64,
    /// When it ended for the last time.
    last: f64,
}

impl Span<'_> {
    fn of(side_effects: &SideEffects) -> Option<Span<'_>> {
        let during = phase(side_effects, PhaseName::During)?;
        let (first, _) = during.stretches_s.first()?;
        let (_, last) = during.stretches_s.last()?;
        Some(Span { during, first: *first, last: *last })
    }
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
    /// The same as an effect.
    fn of(self, side_effects: &SideEffects, moment: Moment) -> Effect {
        let Moment { at_s, began } = moment;
        let during = phase(side_effects, PhaseName::During);
        let times = during.map_or(0, |during| during.stretches_s.len());
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
    (is_worth && figure.differs(&from, &to)).then_some((from.value, to.value))
}
