//! Remarks in the record of an experiment: its warnings, and when it was continued.

use archive::ExperimentWriter;
use base::{Secrets, WallTime};
use workload::question::Experiment;

/// Adds a warning to the record, without the secrets of the arms. One that cannot be written is
/// still printed.
pub(super) fn warned(record: &ExperimentWriter, experiment: &Experiment, sentence: &str) {
    let secrets = Secrets::of_all(experiment.arms.iter().map(|arm| arm.plan.secrets()));
    let _ = record.add_note(WallTime::now(), &secrets.hide(sentence));
}

/// Returns the remark that an experiment is continued after this number of runs.
pub(super) fn resumed(runs: usize) -> String {
    match runs {
        0 => "resumed before the first run".to_owned(),
        1 => "resumed after 1 run".to_owned(),
        runs => format!("resumed after {runs} runs"),
    }
}
