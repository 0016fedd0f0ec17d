//! Runs in real time, each beside its twin in virtual time (decision 14).
//!
//! With one seed the two have one schedule and draw one sequence of service times. The twin is
//! exact, as the oracles show, so no statistics are needed here. What a machine can add is
//! lateness, and lateness has a direction: in a queue whose requests arrive later none leaves
//! earlier, and none leaves later by more than the worst lateness of all (Lindley's recursion is
//! monotone, and does not stretch). A response time below its twin is therefore a fault of the
//! engine, however busy the machine is. The limit above is wide, and wider by the lateness that the
//! run itself has recorded: what is judged is what is recorded, and not how fast the machine is.

use record::{Histograms, Kind, Totals};

use super::course::JOB;
use super::finding::{Allowed, Finding};
use super::quantity::{Estimate, Quantity};

/// How much less than its twin an estimate may be. Requests of two threads may reach the server in
/// another order than they were meant to, and then have each other's service times.
const LESS: f64 = 0.1;

/// How much more than its twin an estimate may be.
const MORE: f64 = 0.3;

/// What the machine may add to any response time, in seconds, beside the lateness that it is known
/// to have added: that an answer is heard of late is not recorded apart.
const GRACE_S: f64 = 0.020;

/// What several runs say together.
pub(super) struct Pool {
    /// The requests of all windows.
    windows: Histograms,
    /// The arrivals in each second of each run.
    schedules: Vec<Vec<u64>>,
    /// What became of the requests of each run.
    fates: Vec<Fates>,
}

impl Pool {
    pub(super) fn of(runs: &[Totals]) -> Pool {
        let mut windows = Histograms::new(1);
        for totals in runs {
            windows.merge(&totals.job(JOB).window.histograms);
        }
        Pool {
            windows,
            schedules: runs.iter().map(arrivals).collect(),
            fates: runs.iter().map(Fates::of).collect(),
        }
    }

    /// An estimate from the requests of all windows, in seconds.
    pub(super) fn estimate(&self, kind: Kind, estimate: Estimate) -> f64 {
        estimate.of_histogram(&self.windows.of(kind))
    }

    /// How much later than `exact` a machine that works as it should may make an estimate.
    pub(super) fn lateness_s(&self, exact: f64) -> f64 {
        let worst_lag_s = self.windows.of(Kind::SendLag).max() as f64 / 1e9;
        MORE * exact + GRACE_S + worst_lag_s
    }
}

/// The arrivals of each second of the schedule; late answers make the record longer than that.
fn arrivals(totals: &Totals) -> Vec<u64> {
    let intervals = &totals.job(JOB).intervals;
    let mut arrivals: Vec<u64> = intervals.iter().map(|(counts, _)| counts.arrivals).collect();
    while arrivals.last() == Some(&0) {
        arrivals.pop();
    }
    arrivals
}

/// How many requests of a run were carried to an answer or a timeout, rejected, and left unsent.
/// Which of those that nearly time out do is up to the machine.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fates {
    carried: u64,
    rejected: u64,
    unsent: u64,
}

impl Fates {
    fn of(totals: &Totals) -> Fates {
        let balance = totals.job(JOB).window.counts.balance;
        let carried = balance.completed() + balance.errors();
        Fates { carried, rejected: balance.rejected(), unsent: balance.unsent() }
    }

    fn others(self, other: Fates) -> u64 {
        self.carried.abs_diff(other.carried)
            + self.rejected.abs_diff(other.rejected)
            + self.unsent.abs_diff(other.unsent)
    }
}

/// Compares runs in real time with their twins. `never_shorter` are the times that lateness cannot
/// make shorter: service is one of them where no queue and no stall is in the server, for which a
/// late request would wait less.
pub(super) fn compare(
    name: &str,
    never_shorter: &[Kind],
    real: &Pool,
    ideal: &Pool,
) -> Vec<Finding> {
    let seconds = |pool: &Pool| pool.schedules.concat();
    let count = |quantity, count: u64| {
        Finding::within(name, (quantity, 0.0), count as f64, Allowed::NOTHING)
    };
    let fates = real.fates.iter().zip(&ideal.fates).map(|(is, was)| is.others(*was)).sum();
    let mut findings = vec![
        count(Quantity::OtherSeconds, differing(&seconds(real), &seconds(ideal))),
        count(Quantity::OtherFates, fates),
    ];
    for kind in never_shorter {
        findings.extend(Estimate::ALL.map(|estimate| {
            let [is, was] = [real, ideal].map(|pool| pool.estimate(*kind, estimate));
            let above = match kind {
                Kind::Response => real.lateness_s(was),
                Kind::Service
                | Kind::Wait
                | Kind::SendLag
                | Kind::Error
                | Kind::Gap
                | Kind::Statement(_) => f64::INFINITY,
            };
            let allowed = Allowed { below: LESS * was, above };
            Finding::within(name, (Quantity::Time(*kind, estimate), was), is, allowed)
        }));
    }
    findings
}

/// In how many places two lists differ.
fn differing(these: &[u64], those: &[u64]) -> u64 {
    let both = these.iter().zip(those).filter(|(this, that)| this != that).count();
    (both + these.len().abs_diff(those.len())) as u64
}
