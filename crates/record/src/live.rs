//! Figures for a display during a run.

use base::Nanos;

use crate::balance::Counts;
use crate::delivery::Gauge;
use crate::grid::Interval;
use crate::time_buckets::TimeBuckets;

/// The state of a run at the end of the last complete interval.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveState {
    /// The number of the interval.
    pub interval: Interval,
    /// Time from time zero to the end of the interval.
    pub at: Nanos,
    /// The accounts: jobs and their parts in the order of the plan, then jobs at single servers.
    pub jobs: Vec<LiveJob>,
}

/// The figures of a job, of a part of a mix, or of a job at one server, for the last complete
/// interval.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveJob {
    /// Number of requests per second that came due in the interval.
    pub offered_per_s: f64,
    /// Number of requests per second that were answered without an error in the interval, whenever
    /// they came due.
    pub achieved_per_s: f64,
    /// Median response time of the requests whose intended start lies in the histogram row of the
    /// interval (one second, or longer in long runs); `None` if the row has no response time.
    pub p50: Option<Nanos>,
    /// 99th percentile of the same response times.
    pub p99: Option<Nanos>,
    /// Number of errors since time zero, accepted ones included.
    pub errors: u64,
    /// Numbers of requests in flight, of waiting requests and of connections at the end of the
    /// interval. `None` for a job at one server, or if an active lane has not reported them.
    pub gauge: Option<Gauge>,
    /// Numbers of requests, rows and bytes since time zero, by intended start.
    pub counts: Counts,
    /// Response times since time zero; `None` unless the display has requested them.
    pub response: Option<Box<TimeBuckets>>,
}

/// An observed component and its utilization.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentUtilization {
    /// Name of the component, in words.
    pub name: String,
    /// Utilization, 0 to 1.
    pub share: f64,
}
