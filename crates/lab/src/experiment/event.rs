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

    /// Receives the live figures of a run that begins.
    fn watch(&self, live: LiveView) {
        drop(live);
    }
}

/// An event of an experiment.
#[derive(Debug)]
pub enum ExperimentEvent<'a> {
    /// The servers are started.
    ServersStarting,
    /// The server of an arm is restarted with the arm's settings, to see whether it starts.
    TryingSettings {
        /// The arm.
        arm: &'a str,
    },
    /// The tables of an arm's server are filled.
    Preparing {
        /// The arm.
        arm: &'a str,
    },
    /// A run begins.
    RunStarted {
        /// Its number, from 1.
        number: u32,
        /// The largest number of runs.
        most: u32,
        /// Its round, from 0.
        round: u32,
        /// Its arm.
        arm: &'a str,
    },
    /// A step of a search for saturation begins: a run of the baseline.
    StepStarted {
        /// Number of its run, from 1.
        number: u32,
        /// Number of the step, from 0.
        step: u32,
        /// The largest number of steps.
        most: u32,
        /// Number of earlier attempts at it.
        attempt: u32,
        /// The load that is varied.
        vary: &'a VariedLoad,
        /// The value of the load.
        value: f64,
    },
    /// The load at which all arms run was found.
    LoadFound {
        /// The load that was varied.
        vary: &'a VariedLoad,
        /// Its value.
        value: f64,
    },
    /// A run was made and recorded.
    RunFinished {
        /// Its number.
        number: u32,
        /// Its figures.
        figures: &'a RunFigures,
    },
    /// A trial of a capacity search begins.
    TrialStarted {
        /// Its number, from 1.
        number: u32,
        /// The load that is varied.
        vary: &'a VariedLoad,
        /// The value of the load.
        value: f64,
        /// The phase of the search.
        phase: Phase,
        /// Length of its window.
        window: Nanos,
        /// Time that is left of the budget, to which a hold does not count.
        left: Nanos,
    },
    /// A trial was made and recorded.
    TrialFinished {
        /// Its number, from 1.
        number: u32,
        /// Its outcome.
        outcome: &'a TrialOutcome,
    },
    /// Something failed that does not end the experiment.
    Warning {
        /// A sentence about it, without secrets.
        sentence: &'a str,
    },
    /// A round is repeated, because the load generator or its machine failed.
    RoundRepeated {
        /// The round.
        round: u32,
        /// In a sweep over the number of servers, the run that lost a server, with the event, if
        /// that was the reason.
        lost_server: Option<&'a str>,
    },
    /// A look was taken.
    LookTaken {
        /// Number of pairs.
        pairs: u32,
        /// True if every bet is decided.
        is_decided: bool,
    },
}
