//! The parameters of an experiment and of its runs.

use std::path::Path;

use base::Seed;
use engine::Stop;
use record::InputFile;
use workload::question::{Arm, Experiment};

use super::error::{ExperimentError, Problem};
use crate::run::Order;

/// The parameters of an experiment.
pub struct ExperimentOrder<'a> {
    /// The experiment to run.
    pub experiment: &'a Experiment,
    /// Source of the [`Order`] of each run.
    pub runs: &'a dyn RunMaker,
    /// The path of the experiment's record.
    pub record: &'a Path,
    /// Facts for the record; they must be unchanged when an experiment is resumed.
    pub facts: &'a [(&'static str, String)],
    /// The files that were read, for the record; a resumed experiment must have the same files.
    pub files: &'a [InputFile],
    /// Further facts for the record; a resumed experiment does not change them.
    pub origin: &'a [(&'static str, String)],
    /// True to continue the record of an interrupted experiment.
    pub is_resumed: bool,
    /// True to keep the record, even without a run, if a server was unreachable. A note in the
    /// record gives the reason.
    pub keeps_record_if_unreachable: bool,
    /// A request to end the experiment early.
    pub stop: Stop,
}

/// A source of the [`Order`] of each run.
///
/// The plan in an order has the seed of the run's schedule and values. The experiment replaces
/// `record` and `stop` of the order, and everything about the preparation of the data.
pub trait RunMaker {
    /// Returns the parameters of a run of an arm; `seed` is the seed of the run's schedule and
    /// values. Returns `None` if the files of the workload have changed and no longer give a plan.
    fn order(&self, arm: &Arm, seed: Seed) -> Option<Order>;
}

/// Returns the parameters of a run of an arm.
///
/// # Errors
/// The files of the workload have changed.
pub(super) fn order_of(
    order: &ExperimentOrder<'_>,
    arm: &Arm,
    seed: Seed,
) -> Result<Order, ExperimentError> {
    let made = order.runs.order(arm, seed);
    made.ok_or_else(|| ExperimentError::of(arm, Problem::FilesChanged))
}
