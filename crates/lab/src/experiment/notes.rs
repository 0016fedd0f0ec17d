//! Remarks in the record of an experiment.

/// Returns a remark for the record: the experiment is continued after this number of runs.
pub(super) fn resumption(runs: usize) -> String {
    match runs {
        0 => "resumed before the first run".to_owned(),
        1 => "resumed after 1 run".to_owned(),
        runs => format!("resumed after {runs} runs"),
    }
}
