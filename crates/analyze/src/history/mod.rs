//! The history of a measurement: change points of metrics over records of the same plan.
//!
//! A [`HistoryRun`] is one record: the figures of its runs, or the result of a capacity search.
//! [`history()`] builds a series of each metric and job, in the order of time, and finds its
//! [`change_points()`]. It adds to each change point the change of the machine, by the canary: the
//! time of a request to the null server, measured just before each run.

mod divisive;
mod metric;
mod run;
mod series;

pub use divisive::{
    ChangePoint, FEWEST_VALUES, LONGEST_SERIES, SHORTEST_SEGMENT, SIGNIFICANCE, change_points,
};
pub use metric::{HistoryMetric, MetricName, SearchResult};
pub use run::{ExclusionReason, FoundLoad, HistoryRun, SearchFigures};
pub use series::{Cause, MachineShift, MetricChange, MetricHistory, history};
