//! Changes over time: a moment at which an intermittent job or background work began or ended, and
//! a figure of another job that changed at this moment.
//!
//! Effects are derived from [`SideEffects`]. A figure has changed if it differs between two phases
//! by more than chance explains, and by a fifth or more.

use crate::confidence::Estimate;
use crate::disturbance::PhaseName;
use crate::phases::{Figure, PhaseFigures, PhaseSummary, SideEffects};

/// Fraction of the smaller value by which a figure must change to be reported.
const LEAST_CHANGE: f64 = 0.2;

/// Figures in order of preference, with the indexes of p50, p99 and p95 in
/// [`Quantile::ALL`](crate::Quantile::ALL). The first figure that changed is reported.
const FIGURES_BY_PREFERENCE: [Figure; 5] = [
    Figure::Mean,
    Figure::Quantile(0),
    Figure::Quantile(3),
    Figure::Quantile(2),
    Figure::Throughput,
];

/// A figure of a job that changed at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Job that the figure belongs to.
    pub job: String,
    /// Figure that changed.
    pub figure: Figure,
    /// Value before the change.
    pub from: f64,
    /// Value after the change.
    pub to: f64,
    /// Time of the change, in seconds after time zero: the first start or the last end.
    pub at_s: f64,
    /// Name of the job or background work that began or ended.
    pub cause: String,
    /// True if the cause is background work.
    pub is_background: bool,
    /// True if the cause began, false if it ended.
    pub began: bool,
    /// Number of times that the cause occurred.
    pub times: usize,
}

/// Returns the changes at the first start and at the last end of each intermittent activity. A job
/// may have no such change, for example because the activity was too short to be compared. For this
/// job, returns the change from the time before the activity to the time after it, unless a
/// different cause may explain that change.
pub(crate) fn effects(side_effects: &[SideEffects]) -> Vec<Effect> {
    let mut found: Vec<Effect> = side_effects.iter().flat_map(effects_at_ends).collect();
    let between: Vec<Effect> = side_effects.iter().flat_map(effects_after).collect();
    let is_only = |effect: &&Effect| {
        let is_reported = found.iter().any(|other| other.job == effect.job);
        !is_reported && !between.iter().any(|other| is_rival(other, effect))
    };
    let only: Vec<Effect> = between.iter().filter(is_only).cloned().collect();
    found.extend(only);
    found
}

/// Returns true if a different cause explains the change between two levels as well. If two jobs
/// may be the cause, it is unknown which of them was the cause. Background work is no rival of a
/// job, because the job may have caused the background work.
fn is_rival(other: &Effect, effect: &Effect) -> bool {
    let is_other = other.cause != effect.cause || other.is_background != effect.is_background;
    other.job == effect.job && is_other && (effect.is_background || !other.is_background)
}

fn effects_at_ends(side_effects: &SideEffects) -> Vec<Effect> {
    let Some(Span { during, first, last }) = Span::of(side_effects) else { return Vec::new() };
    let phase = |name| phase(side_effects, name);
    let before = phase(PhaseName::Before).or(phase(PhaseName::Between));
    let began = before.map(|before| changes(before, during)).into_iter().flatten();
    let began = began.map(|it| it.of(side_effects, ActivityEdge { at_s: first, began: true }));
    let ended = phase(PhaseName::After).map(|after| changes(during, after)).into_iter().flatten();
    let ended = ended.map(|it| it.of(side_effects, ActivityEdge { at_s: last, began: false }));
    began.chain(ended).collect()
}

fn effects_after(side_effects: &SideEffects) -> Vec<Effect> {
    let phase = |name| phase(side_effects, name);
    let (Some(Span { last, .. }), Some(before), Some(after)) =
        (Span::of(side_effects), phase(PhaseName::Before), phase(PhaseName::After))
    else {
        return Vec::new();
    };
    let moment = ActivityEdge { at_s: last, began: false };
    changes(before, after).map(|it| it.of(side_effects, moment)).collect()
}

fn phase(side_effects: &SideEffects, name: PhaseName) -> Option<&PhaseSummary> {
    side_effects.phases.iter().find(|phase| phase.name == name)
}

/// Period of an intermittent activity.
struct Span<'s> {
    during: &'s PhaseSummary,
    /// Time of its first start, in seconds after time zero.
    first: f64,
    /// Time of its last end, in seconds after time zero.
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

/// Start or end of an activity.
#[derive(Clone, Copy)]
struct ActivityEdge {
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
    /// Converts the difference to an effect.
    fn of(self, side_effects: &SideEffects, moment: ActivityEdge) -> Effect {
        let ActivityEdge { at_s, began } = moment;
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

/// Returns the first changed figure, in order of preference, of each job that changed between two
/// phases.
fn changes<'p>(
    before: &'p PhaseSummary,
    then: &'p PhaseSummary,
) -> impl Iterator<Item = Difference<'p>> {
    before.jobs.iter().zip(&then.jobs).filter_map(|(before, then)| {
        FIGURES_BY_PREFERENCE.into_iter().find_map(|figure| {
            let (from, to) = changed(before, then, figure)?;
            Some(Difference { job: &before.name, figure, from, to })
        })
    })
}

fn changed(before: &PhaseFigures, then: &PhaseFigures, figure: Figure) -> Option<(f64, f64)> {
    let (from, to): (Estimate, Estimate) = (before.figure(figure)?, then.figure(figure)?);
    let smaller = from.value.min(to.value);
    let is_worth = (to.value - from.value).abs() >= smaller * LEAST_CHANGE;
    (is_worth && figure.differs(&from, &to)).then_some((from.value, to.value))
}
