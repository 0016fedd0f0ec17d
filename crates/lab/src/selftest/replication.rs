//! One replication of an oracle.

use base::Code;
use hdrhistogram::Histogram;
use record::{Failures, Kind, Totals};
use workload::Plan;

use super::oracle_run::JOB;
use super::quantity::Quantity;

/// The figures of the window of one run.
pub(super) struct Replication {
    /// Response times, in nanoseconds.
    pub(super) responses: Histogram<u32>,
    /// Number of requests that came due in the window.
    pub(super) arrivals: u64,
    /// Number of requests with an outcome.
    pub(super) scheduled: u64,
    /// Number of requests that timed out.
    pub(super) timeouts: u64,
    /// Number of requests that the server refused because it was full.
    pub(super) refused: u64,
    /// Number of completions whose end lies in the window.
    pub(super) completed: u64,
    /// Length of the window, in seconds.
    pub(super) window_s: f64,
}

impl Replication {
    /// Returns an empty window of this length.
    pub(super) fn empty(window_s: f64) -> Replication {
        Replication {
            responses: Kind::Response.histogram(),
            arrivals: 0,
            scheduled: 0,
            timeouts: 0,
            refused: 0,
            completed: 0,
            window_s,
        }
    }

    /// Returns the figures of the window of a run.
    pub(super) fn of(totals: &Totals, plan: &Plan) -> Replication {
        let window = &totals.account(JOB).window;
        let length = plan.duration.expect("an oracle ends");
        Replication {
            responses: window.histograms.of(Kind::Response),
            arrivals: window.counts.arrivals,
            scheduled: window.counts.balance.scheduled(),
            timeouts: window.counts.timeouts,
            refused: count_refused(&window.failures),
            completed: window.ends.completed,
            window_s: length.as_secs_f64() - plan.warmup.known().as_secs_f64(),
        }
    }

    /// Returns the absolute difference between the numbers of arrivals and of outcomes.
    pub(super) fn unaccounted(&self) -> u64 {
        self.arrivals.abs_diff(self.scheduled)
    }

    /// Returns the estimate of a random quantity.
    pub(super) fn estimate(&self, quantity: Quantity) -> f64 {
        let share = |count: u64| count as f64 / self.scheduled as f64;
        match quantity {
            Quantity::Time(Kind::Response, estimate) => estimate.of_histogram(&self.responses),
            Quantity::Arrivals => self.arrivals as f64 / self.window_s,
            Quantity::Throughput => self.completed as f64 / self.window_s,
            Quantity::Timeouts => share(self.timeouts),
            Quantity::Loss => share(self.refused),
            Quantity::Unaccounted => self.unaccounted() as f64,
            Quantity::Time(..)
            | Quantity::Completed
            | Quantity::DifferentSeconds
            | Quantity::DifferentOutcomes => {
                unreachable!("no oracle in replications has this quantity")
            }
        }
    }
}

/// Counts the errors of a simulated server that was full.
fn count_refused(failures: &Failures) -> u64 {
    let full = Code::new("capacity");
    failures.iter().filter(|(_, code, _)| *code == full).map(|(.., count)| count).sum()
}
