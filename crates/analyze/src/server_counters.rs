//! Counters of the server itself, to compare with the answers that the client received.

use record::{Counts, ObservedMetric};

use crate::observed::Observed;

/// Counters of a server, and the answers that the jobs received in the whole run, warm-up included.
#[derive(Clone, Debug, Default)]
pub struct ServerCounters {
    /// Reason why the counters could not be read, if they could not.
    pub refused: Option<String>,
    /// Counters, read before the connections of the jobs were opened and after they were closed.
    pub counts: Vec<Observed>,
    /// Answers by job and part, in the plan's order.
    pub jobs: Vec<JobAnswers>,
}

/// Answers that a job or part received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobAnswers {
    /// Outcomes of its requests.
    pub counts: Counts,
    /// Number of answers without an error, by statement.
    pub statements: Vec<u64>,
    /// Number of requests that succeeded but count as errors, because they returned an unexpected
    /// number of rows.
    pub wrong_rows: u64,
}

impl ServerCounters {
    /// Returns the growth of a counter; `None` if it was not read twice.
    pub fn growth(&self, metric: ObservedMetric) -> Option<f64> {
        let (first, last) = self.ends(metric)?;
        Some(last - first)
    }

    /// Returns the first and the last reading of a counter; `None` if it was not read twice.
    pub(crate) fn ends(&self, metric: ObservedMetric) -> Option<(f64, f64)> {
        let count = self.counts.iter().find(|count| count.has_metric(metric))?;
        match count.points.as_slice() {
            [(_, first), .., (_, last)] => Some((*first, *last)),
            [_] | [] => None,
        }
    }

    /// Returns the time of the last reading, in seconds after time zero.
    pub(crate) fn read_at_s(&self) -> f64 {
        let points = self.counts.iter().filter_map(|count| count.points.last());
        points.map(|(at, _)| at.as_secs_f64()).fold(0.0, f64::max)
    }
}

impl JobAnswers {
    /// Returns the number of requests that ended in an error, except because of their rows, plus
    /// the number of retries. It is not known how many statements of these requests the server
    /// executed.
    pub(crate) fn uncertain(&self) -> u64 {
        (self.counts.balance.errors() + self.counts.retries).saturating_sub(self.wrong_rows)
    }

    /// Returns the number of requests that the server executed completely.
    pub(crate) fn executed(&self) -> u64 {
        self.counts.balance.completed() + self.wrong_rows
    }
}
