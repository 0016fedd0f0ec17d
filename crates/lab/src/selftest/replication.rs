//! One run of an oracle.

use base::Code;
use hdrhistogram::Histogram;
use record::{Failures, Kind, Totals};
use workload::Plan;

use super::course::JOB;
use super::quantity::Quantity;

/// What one run says of its window.
pub(super) struct Replication {
    /// The response times, in nanoseconds.
    pub(super) responses: Histogram<u32>,
    /// How many requests came due.
    pub(super) arrivals: u64,
    /// How many of them have an outcome.
    pub(super) scheduled: u64,
    /// How many of them were given up.
    pub(super) timeouts: u64,
    /// How many of them the server refused because it was full.
    pub(super) refused: u64,
    /// How many requests ended in the window.
    pub(super) completed: u64,
    /// The window's length in seconds.
    pub(super) window_s: f64,
}

impl Replication {
    /// A window of so many seconds in which nothing has happened.
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

    /// The window of a run.
    pub(super) fn of(totals: &Totals, plan: &Plan) -> Replication {
        let window = &totals.job(JOB).window;
        let length = plan.duration.expect("an oracle ends");
        Replication {
            responses: window.histograms.of(Kind::Response),
            arrivals: window.counts.arrivals,
            scheduled: window.counts.balance.scheduled(),
            timeouts: window.counts.timeouts,
            refused: refused(&window.failures),
            completed: window.ends.completed,
            window_s: length.as_secs_f64() - plan.warmup.known().as_secs_f64(),
        }
    }

    /// How many requests came due and have no outcome, or have one and never came due.
    pub(super) fn unaccounted(&self) -> u64 {
        self.arrivals.abs_diff(self.scheduled)
    }

    /// A number of this run in which chance has a part.
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
            | Quantity::OtherSeconds
            | Quantity::OtherFates => unreachable!("no oracle in replications has this quantity"),
        }
    }
}

/// The errors of a simulated server whose places are all taken.
fn refused(failures: &Failures) -> u64 {
    let full = Code::new("capacity");
    failures.iter().filter(|(_, code, _)| *code == full).map(|(.., count)| count).sum()
}
