//! The history of a measurement: change points of metrics over records of the same plan.
//!
//! A [`HistoryRun`] is one record. [`history()`] makes a series of each metric and job, in the
//! order of time, finds its [`change_points()`], and adds to each the change of the machine, by the
//! canary: the time of a request to the null server, measured just before each run.

mod divisive;
mod series;

pub use divisive::{
    ChangePoint, FEWEST_VALUES, LONGEST_SERIES, SHORTEST_SEGMENT, SIGNIFICANCE, change_points,
};
pub use series::{Cause, HistoryRun, LeftOut, MachineShift, MetricChange, MetricHistory, history};
