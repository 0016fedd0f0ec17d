//! The phases of a window that an intermittent activity creates. A step is one part of a run that
//! is divided into [`Steps`](crate::Steps): an interval, or several in a long run.

use std::ops::Range;

use base::AccountId;

use crate::responses::Responses;

/// A source of side effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A job.
    Job(AccountId),
    /// Background work of the database, with the name that the database gives it.
    Background(String),
}

/// An intermittent activity with the phases that it creates.
#[derive(Clone, Debug)]
pub struct Disturbance {
    /// Source of the side effects.
    pub cause: Cause,
    /// Phases of the window, at least two.
    pub phases: Vec<Phase>,
    /// The other jobs and parts with requests in at least two phases.
    pub others: Vec<AccountId>,
}

/// A part of the window.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Name of the phase.
    pub name: PhaseName,
    /// Steps of the phase, in the order of time.
    pub steps: Vec<Range<usize>>,
    /// Response times of each of the other jobs, in the order of [`Disturbance::others`].
    pub responses: Vec<Responses>,
}

/// The phases of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseName {
    /// The steps before the one with the first intended start, or with the first background work.
    Before,
    /// The steps with a request in flight, or with background work. For a job without a timetable,
    /// all steps from the first intended start to the last answer.
    During,
    /// The steps without activity between the first and the last activity of a timetable or of
    /// background work.
    Between,
    /// The steps after the one with the last answer, or with the last background work.
    After,
}

impl Phase {
    /// Appends a step.
    pub(crate) fn push(&mut self, step: usize) {
        match self.steps.last_mut() {
            Some(last) if last.end == step => last.end = step + 1,
            _ => self.steps.push(step..step + 1),
        }
    }

    /// Returns true if a step belongs to the phase.
    pub(crate) fn contains(&self, step: usize) -> bool {
        let place = self.steps.partition_point(|steps| steps.end <= step);
        self.steps.get(place).is_some_and(|steps| steps.contains(&step))
    }
}

impl PhaseName {
    /// All phases, in the order of reports.
    pub const ALL: [PhaseName; 4] =
        [PhaseName::Before, PhaseName::During, PhaseName::Between, PhaseName::After];

    /// Returns the name of this phase in documents and texts.
    pub fn name(self) -> &'static str {
        match self {
            PhaseName::Before => "before",
            PhaseName::During => "during",
            PhaseName::Between => "between",
            PhaseName::After => "after",
        }
    }
}
