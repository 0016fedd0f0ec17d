//! The view of a history.

use std::collections::BTreeSet;

use analyze::Status;
use analyze::history::{LeftOut, MetricChange, MetricHistory};

/// A history of the records of a folder.
#[derive(Clone, Debug)]
pub struct HistoryView {
    /// The folder.
    pub folder: String,
    /// Files that were not used.
    pub skipped: Vec<LeftOutFile>,
    /// Series of records.
    pub series: Vec<SeriesView>,
}

/// A file that was not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutFile {
    /// Path below the folder.
    pub file: String,
    /// Word for the reason.
    pub reason: &'static str,
    /// Details of the reason; may be empty.
    pub details: String,
}

/// Records of the same plan on the same servers.
#[derive(Clone, Debug)]
pub struct SeriesView {
    /// Name of the workload file of the newest record.
    pub workload: String,
    /// URLs of the servers.
    pub servers: Vec<String>,
    /// Arm of the experiments that the records belong to.
    pub arm: Option<SeriesArm>,
    /// Point of the sweeps that the records belong to.
    pub point: Option<SeriesPoint>,
    /// The difference from the first series of the same workload, servers, arm and point, in words.
    pub difference: Option<String>,
    /// Records in the order of time, INVALID ones included.
    pub records: Vec<RecordView>,
    /// Metrics, with indexes into `records`.
    pub metrics: Vec<MetricHistory>,
    /// Changes of metrics that happened together, in the order of time.
    pub changes: Vec<SeriesChange>,
}

/// An arm of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesArm {
    /// Name.
    pub name: String,
    /// Declared differences: keys and values.
    pub differences: Vec<(String, String)>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    /// The thing that is varied: `concurrency(read)`.
    pub vary: String,
    /// Its value.
    pub value: String,
}

/// A record of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordView {
    /// Path below the folder.
    pub file: String,
    /// Label that the user gave it.
    pub label: Option<String>,
    /// Start of the first run; `None` in virtual time.
    pub started: Option<String>,
    /// Gravest verdict on the runs that are not left out; INVALID if the record is.
    pub verdict: Status,
    /// Reason why it is left out.
    pub left_out: Option<LeftOut>,
    /// Time of a request to the null server just before the runs, in nanoseconds.
    pub canary_ns: Option<f64>,
}

/// Changes of metrics between the same two records.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesChange {
    /// Index of the last record before.
    pub before: usize,
    /// Index of the first record after.
    pub after: usize,
    /// Indexes of the metrics that changed.
    pub metrics: Vec<usize>,
    /// Facts that differ between the records before and after.
    pub differences: Vec<FactChange>,
}

/// A fact that differs between the records before and after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// Kind of the fact.
    pub kind: &'static str,
    /// Name.
    pub name: String,
    /// Values before and after.
    pub values: [String; 2],
}

impl HistoryView {
    /// Returns the number of records of all series. One of an experiment counts once, although it
    /// is in several.
    pub fn records(&self) -> usize {
        let records = self.series.iter().flat_map(|series| &series.records);
        records.map(|record| record.file.as_str()).collect::<BTreeSet<&str>>().len()
    }
}

impl SeriesView {
    /// Returns the changes of metrics of a common change, each with its metric.
    pub(super) fn metrics_of<'v>(
        &'v self,
        change: &'v SeriesChange,
    ) -> impl Iterator<Item = (&'v MetricHistory, &'v MetricChange)> {
        change.metrics.iter().filter_map(|index| {
            let metric = self.metrics.get(*index)?;
            let it = |one: &&MetricChange| (one.before, one.after) == (change.before, change.after);
            Some((metric, metric.changes.iter().find(it)?))
        })
    }

    /// Returns the records that are left out.
    pub(super) fn left_out(&self) -> impl Iterator<Item = &RecordView> {
        self.records.iter().filter(|record| record.left_out.is_some())
    }
}

impl RecordView {
    /// Returns the name of the record: its file, with its label.
    pub(super) fn name(&self) -> String {
        match &self.label {
            Some(label) => format!("{} ({label})", self.file),
            None => self.file.clone(),
        }
    }

    /// Returns the day of its start; `None` in virtual time.
    pub(super) fn day(&self) -> Option<&str> {
        self.started.as_deref().and_then(|started| started.get(..10))
    }
}
