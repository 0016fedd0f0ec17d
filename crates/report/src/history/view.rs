//! The view of a history.

use std::collections::BTreeSet;

use analyze::Status;
use analyze::history::{ExclusionReason, MetricChange, MetricHistory};

/// A history of the records of a folder.
#[derive(Clone, Debug)]
pub struct HistoryView {
    /// The folder.
    pub folder: String,
    /// Files that were not used.
    pub skipped: Vec<LeftOutFile>,
    /// Series of records.
    pub series: Vec<SeriesView>,
    /// Number of newest values of a metric within which a change is recent; `None` if the user set
    /// no such number.
    pub fail_within: Option<usize>,
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
    /// The difference, in words, from the first series with the same workload, servers, arm and
    /// point.
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
    /// Name of the arm.
    pub name: String,
    /// Declared differences: keys and values.
    pub differences: Vec<(String, String)>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesPoint {
    /// The varied key: `concurrency(read)`.
    pub vary: String,
    /// Value of the varied key.
    pub value: String,
}

/// A record of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordView {
    /// Path below the folder.
    pub file: String,
    /// Label that the user gave the record.
    pub label: Option<String>,
    /// Index among the records of all series, in the order of time.
    pub index: usize,
    /// Start of the first run, such as `2026-11-01T03:00:00Z`; `None` in virtual time.
    pub started: Option<String>,
    /// Gravest verdict on the runs that are not left out; INVALID if the whole record is INVALID.
    pub verdict: Status,
    /// Reason why the record is left out; `None` if it is used.
    pub left_out: Option<ExclusionReason>,
    /// Mean time of a request to the null server just before the runs, in nanoseconds; `None` if
    /// unknown.
    pub canary_ns: Option<f64>,
}

/// Changes of metrics between the same two records.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesChange {
    /// Index of the last record before the change.
    pub before: usize,
    /// Index of the first record after the change.
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
    /// Name of the fact.
    pub name: String,
    /// Values before and after.
    pub values: [String; 2],
}

impl HistoryView {
    /// Returns the number of records of all series. The record of an experiment belongs to several
    /// series, and counts once.
    pub fn records(&self) -> usize {
        let records = self.series.iter().flat_map(|series| &series.records);
        records.map(|record| record.file.as_str()).collect::<BTreeSet<&str>>().len()
    }
}

impl HistoryView {
    /// Returns the number of recent changes: those within the newest values of a metric, in a
    /// series that is still run. `None` if the user did not say how many values are recent.
    pub fn recent_changes(&self) -> Option<usize> {
        let within = self.fail_within?;
        let is_recent = |series: &SeriesView, change: &SeriesChange| {
            let mut changed = series.metrics_of(change);
            changed.any(|(metric, change)| metric.values_since(change) <= within)
        };
        let current = self.series.iter().filter(|series| self.is_current(series, within));
        let recent =
            current.map(|series| series.changes.iter().filter(|it| is_recent(series, it)).count());
        Some(recent.sum())
    }

    /// Returns true if a series is still being run: every other series has fewer than `records`
    /// records after the last one of this series. Without this rule, the last change of a workload
    /// that is no longer run would count as recent forever.
    fn is_current(&self, series: &SeriesView, records: usize) -> bool {
        let last = series.records.last().map(|record| record.index);
        let later = |other: &SeriesView| {
            other.records.iter().filter(|record| Some(record.index) > last).count()
        };
        self.series.iter().all(|other| later(other) < records)
    }
}

impl SeriesView {
    /// Returns the changes of the metrics that changed together, each with its metric.
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

    /// Returns the day on which the record started; `None` in virtual time.
    pub(super) fn day(&self) -> Option<&str> {
        self.started.as_deref().and_then(|started| started.get(..10))
    }
}

#[cfg(test)]
mod tests {
    use analyze::history::HistoryMetric;
    use workload::question::RunMetric;

    use super::*;

    /// Returns a series of twelve records whose only metric changes in the ninth record. `first` is
    /// the index of the first record of the series among the records of all series.
    fn series(first: usize) -> SeriesView {
        let record = |number: usize| RecordView {
            file: format!("{number}.assay"),
            label: None,
            index: number,
            started: None,
            verdict: Status::Pass,
            left_out: None,
            canary_ns: None,
        };
        let change = MetricChange {
            before: 7,
            after: 8,
            mean_before: 100.0,
            mean_after: 90.0,
            change: -0.1,
            interval: None,
            p_value: 0.002,
            machine: None,
        };
        SeriesView {
            workload: "read.ini".to_owned(),
            servers: Vec::new(),
            arm: None,
            point: None,
            difference: None,
            records: (first..first + 12).map(record).collect(),
            metrics: vec![MetricHistory {
                metric: HistoryMetric::Run(RunMetric::parse("throughput(read)").unwrap()),
                // The last record has no value.
                points: (0..11).map(|index| (index, 100.0)).collect(),
                changes: vec![change],
            }],
            changes: vec![SeriesChange {
                before: 7,
                after: 8,
                metrics: vec![0],
                differences: Vec::new(),
            }],
        }
    }

    fn recent(series: Vec<SeriesView>, within: usize) -> usize {
        let (folder, fail_within) = ("nightly".to_owned(), Some(within));
        let view = HistoryView { folder, skipped: Vec::new(), series, fail_within };
        view.recent_changes().unwrap()
    }

    #[test]
    fn change_is_recent_only_within_the_newest_values() {
        assert_eq!([3, 2].map(|within| recent(vec![series(0)], within)), [1, 0]);
        let mut view = HistoryView {
            folder: "nightly".to_owned(),
            skipped: Vec::new(),
            series: vec![series(0)],
            fail_within: None,
        };
        assert_eq!(view.recent_changes(), None);
        view.fail_within = Some(12);
        assert_eq!(view.recent_changes(), Some(1));
    }

    /// Ten of the twelve records of the other series are later than the ended series, so its change
    /// is not recent within ten values.
    #[test]
    fn change_of_a_series_that_has_ended_is_not_recent() {
        let mut other = series(10);
        other.changes.clear();
        other.metrics.clear();
        let ended = |within| recent(vec![series(0), other.clone()], within);
        assert_eq!([ended(10), ended(11)], [0, 1]);
    }
}
