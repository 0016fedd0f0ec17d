//! The events of an experiment, for displays.

use analyze::capacity::{Phase, TrialOutcome};
use analyze::compare::RunFigures;
use archive::LiveView;
use base::Nanos;
use workload::question::VariedLoad;

/// A receiver of the events of an experiment.
pub trait ExperimentListener {
    /// Receives an event.
    fn on_event(&self, event: &ExperimentEvent<'_>);

    /// Receives the live figures of a run that is about to begin.
    fn watch(&self, live: LiveView) {
        drop(live);
    }
}

/// An event of an experiment.
#[derive(Debug)]
pub enum ExperimentEvent<'a> {
    /// The servers are started.
    ServersStarting,
    /// The server of an arm is restarted with the arm's settings, as a test that it starts with
    /// them.
    TryingSettings {
        /// The name of the arm.
        arm: &'a str,
    },
    /// The tables of an arm's server are being filled.
    Preparing {
        /// The name of the arm.
        arm: &'a str,
    },
    /// A run begins.
    RunStarted {
        /// Number of the run, from 1.
        number: u32,
        /// Maximum number of runs of the experiment, if no further round is repeated.
        most: u32,
        /// Round of the run, from 0.
        round: u32,
        /// The name of its arm.
        arm: &'a str,
    },
    /// A step of a search for saturation begins. A step is a run of the baseline.
    StepStarted {
        /// Number of the run that executes the step, from 1.
        number: u32,
        /// Number of the step, from 0.
        step: u32,
        /// Maximum number of steps of the search.
        most: u32,
        /// Number of earlier attempts at this step.
        attempt: u32,
        /// The varied load: the rate or the concurrency of a job.
        vary: &'a VariedLoad,
        /// The value of the load.
        value: f64,
    },
    /// The search for saturation has found the load for the runs of all arms.
    LoadFound {
        /// The varied load: the rate or the concurrency of a job.
        vary: &'a VariedLoad,
        /// Value of the load that was found.
        value: f64,
    },
    /// A run has ended and was recorded.
    RunFinished {
        /// Number of the run.
        number: u32,
        /// Figures of the run.
        figures: &'a RunFigures,
    },
    /// A trial of a capacity search begins.
    TrialStarted {
        /// Number of the trial, from 1.
        number: u32,
        /// The varied load: the rate or the concurrency of a job.
        vary: &'a VariedLoad,
        /// The value of the load.
        value: f64,
        /// The phase of the search.
        phase: Phase,
        /// Length of the trial's window.
        window: Nanos,
        /// Remaining time of the budget. The time of a hold does not count against the budget.
        left: Nanos,
    },
    /// A trial has ended and was recorded.
    TrialFinished {
        /// Number of the trial, from 1.
        number: u32,
        /// Outcome of the trial.
        outcome: &'a TrialOutcome,
    },
    /// A failure that does not end the experiment.
    Warning {
        /// A sentence about the failure, without secrets.
        sentence: &'a str,
    },
    /// A round is repeated, because the load generator or its machine failed, or because a sweep
    /// over the number of servers lost a server.
    RoundRepeated {
        /// Index of the round, from 0.
        round: u32,
        /// The run that lost a server of a sweep over the number of servers, and the event that
        /// shows the loss. `None` if the round is repeated for another reason.
        lost_server: Option<&'a str>,
    },
    /// A look was taken.
    LookTaken {
        /// Number of pairs that were evaluated.
        pairs: u32,
        /// True if every declared metric that can be compared is decided, so that the experiment
        /// needs no further pairs.
        is_decided: bool,
    },
}
