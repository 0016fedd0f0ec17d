//! Comparison of runs in real time with their twins in virtual time (decision 14).
//!
//! A run and its twin have the same seed, and therefore the same schedule and the same sequence of
//! service times. The twin is exact, as the oracles show, so no statistics are needed here. The
//! machine can only make requests late, and this has an effect in one direction only: if requests
//! arrive later at a queue, none of them leaves earlier, and none leaves later by more than the
//! greatest lateness (Lindley's recursion is monotone, and amplifies no delay). A response time
//! below that of the twin is therefore a fault of the engine, however busy the machine is. The
//! upper limit is wide and includes the lateness that the run itself has recorded: it judges the
//! recording, and not the speed of the machine.

use record::{Histograms, Kind, Totals};

use super::finding::{Allowed, Finding};
use super::oracle_run::JOB;
use super::quantity::{Estimate, Quantity};

/// Fraction by which an estimate may be below its twin. The requests of two threads may reach the
/// server in another order than intended.
const MAX_BELOW: f64 = 0.1;

/// Fraction by which an estimate may exceed its twin.
const MAX_ABOVE: f64 = 0.3;

/// Time in seconds by which the machine may lengthen any response time beyond the recorded
/// lateness. It allows for the late arrival of an answer, which is not recorded separately.
const GRACE_S: f64 = 0.020;

/// The combined results of several runs.
pub(super) struct PooledRuns {
    /// The requests of all windows.
    windows: Histograms,
    /// The number of arrivals in each second, one list per run.
    schedules: Vec<Vec<u64>>,
    /// The outcomes of the requests of each run.
    outcome_counts: Vec<OutcomeCounts>,
}

impl PooledRuns {
    pub(super) fn of(runs: &[Totals]) -> PooledRuns {
        let mut windows = Histograms::new(1);
        for totals in runs {
            windows.merge(&totals.account(JOB).window.histograms);
        }
        PooledRuns {
            windows,
            schedules: runs.iter().map(arrivals).collect(),
            outcome_counts: runs.iter().map(OutcomeCounts::of).collect(),
        }
    }

    /// Returns an estimate from the requests of all windows, in seconds.
    pub(super) fn estimate(&self, kind: Kind, estimate: Estimate) -> f64 {
        estimate.of_histogram(&self.windows.of(kind))
    }

    /// Returns the longest send lag, in seconds.
    pub(super) fn worst_lag_s(&self) -> f64 {
        self.windows.of(Kind::SendLag).max() as f64 / 1e9
    }

    /// Returns the largest accepted excess of an estimate over its exact value, in seconds.
    pub(super) fn max_excess_s(&self, exact: f64) -> f64 {
        MAX_ABOVE * exact + GRACE_S + self.worst_lag_s()
    }
}

/// Returns the number of arrivals in each second of the schedule, without the seconds after it in
/// which only late answers arrive.
fn arrivals(totals: &Totals) -> Vec<u64> {
    let intervals = &totals.account(JOB).intervals;
    let mut arrivals: Vec<u64> = intervals.iter().map(|(counts, _)| counts.arrivals).collect();
    while arrivals.last() == Some(&0) {
        arrivals.pop();
    }
    arrivals
}

/// Numbers of the requests of a run by outcome: ended with an answer or a timeout, rejected, or
/// unsent. Answers and timeouts are counted together, because the speed of the machine decides
/// whether a borderline request times out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct OutcomeCounts {
    ended: u64,
    rejected: u64,
    unsent: u64,
}

impl OutcomeCounts {
    fn of(totals: &Totals) -> OutcomeCounts {
        let balance = totals.account(JOB).window.counts.balance;
        let ended = balance.completed() + balance.errors();
        OutcomeCounts { ended, rejected: balance.rejected(), unsent: balance.unsent() }
    }

    fn difference(self, other: OutcomeCounts) -> u64 {
        self.ended.abs_diff(other.ended)
            + self.rejected.abs_diff(other.rejected)
            + self.unsent.abs_diff(other.unsent)
    }
}

/// Compares runs in real time with their twins. `never_shorter` are the kinds of time that lateness
/// cannot shorten. The service time is one of them only if the server has neither queue nor stalls;
/// otherwise a late request would wait for a shorter time at the server.
pub(super) fn compare(
    name: &str,
    never_shorter: &[Kind],
    real: &PooledRuns,
    ideal: &PooledRuns,
) -> Vec<Finding> {
    let seconds = |pool: &PooledRuns| pool.schedules.concat();
    let count =
        |quantity, count: u64| Finding::within(name, (quantity, 0.0), count as f64, Allowed::ZERO);
    let outcome_counts = real
        .outcome_counts
        .iter()
        .zip(&ideal.outcome_counts)
        .map(|(is, was)| is.difference(*was))
        .sum();
    let mut findings = vec![
        count(Quantity::DifferentSeconds, count_differences(&seconds(real), &seconds(ideal))),
        count(Quantity::DifferentOutcomes, outcome_counts),
    ];
    for kind in never_shorter {
        findings.extend(Estimate::ALL.map(|estimate| {
            let [is, was] = [real, ideal].map(|pool| pool.estimate(*kind, estimate));
            let above = match kind {
                Kind::Response => real.max_excess_s(was),
                Kind::Service
                | Kind::Wait
                | Kind::SendLag
                | Kind::Error
                | Kind::Gap
                | Kind::Statement(_) => f64::INFINITY,
            };
            let allowed = Allowed { below: MAX_BELOW * was, above };
            Finding::within(name, (Quantity::Time(*kind, estimate), was), is, allowed)
        }));
    }
    findings
}

/// Returns the number of positions at which two lists differ.
fn count_differences(first: &[u64], second: &[u64]) -> u64 {
    let both = first.iter().zip(second).filter(|(this, that)| this != that).count();
    (both + first.len().abs_diff(second.len())) as u64
}
