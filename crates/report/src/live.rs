//! The view of a run in progress.

/// A run at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveRunView {
    /// Workload and targets, or the question of an experiment.
    pub title: String,
    /// Phase of the run in words, such as `measuring, 00:10 of 01:00`.
    pub phase: String,
    /// Progress from 0 to 1, if it is known.
    pub progress: Option<f64>,
    /// Remarks: the busiest component, pipes that the run waits for, and earlier lines about an
    /// experiment.
    pub notes: Vec<String>,
    /// Titles of the columns; the first is the title of the column of jobs.
    pub columns: Vec<&'static str>,
    /// Cells of each job; no rows before the first figures.
    pub rows: Vec<Vec<String>>,
    /// Second of the latest figures, since time zero; `None` before the first.
    pub interval: Option<u32>,
    /// Time courses of the jobs over the last minutes, up to `interval`.
    pub series: Vec<LiveSeries>,
}

/// The time course of a job: a value for each second, `None` for seconds without one.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSeries {
    /// Name of the job.
    pub job: String,
    /// Completed requests per second.
    pub achieved_per_s: Vec<Option<f64>>,
    /// 99th percentile of the response times of each second, in nanoseconds.
    pub p99_ns: Vec<Option<f64>>,
}
