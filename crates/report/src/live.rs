//! The view of a run in progress.

/// A run at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRunView {
    /// Workload and target.
    pub title: String,
    /// Phase of the run.
    pub doing: String,
    /// Progress from 0 to 1, if it is known.
    pub progress: Option<f64>,
    /// Remarks: the busiest component, pipes that the run waits for, and earlier runs of an
    /// experiment.
    pub notes: Vec<String>,
    /// Titles of the columns; the first is the title of the column of jobs.
    pub columns: Vec<&'static str>,
    /// Cells of each job; no rows before the first figures.
    pub rows: Vec<Vec<String>>,
}
