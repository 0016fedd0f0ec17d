//! Detection of intervals that every lane has passed.

use std::collections::BTreeMap;

use record::{Gauge, Interval};

use super::outlet::Lane;

/// Maximum number of intervals that wait for a silent lane. If more wait, the earliest counts as
/// complete.
const MOST_WAITING: usize = 64;

/// A collector of the lanes' reports at the ends of intervals.
#[derive(Default)]
pub(super) struct IntervalBarrier {
    /// The active lanes, with the last interval that each has passed.
    lanes: BTreeMap<Lane, Option<Interval>>,
    waiting: BTreeMap<Interval, BTreeMap<Lane, Vec<Gauge>>>,
    done: Option<Interval>,
}

/// An interval that every active lane has passed, or that no longer waits for a silent lane.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompleteInterval {
    pub(super) interval: Interval,
    /// Sums of each job's gauges over the lanes; `None` if an active lane did not report the
    /// interval.
    pub(super) gauges: Option<Vec<Gauge>>,
}

impl IntervalBarrier {
    pub(super) fn open(&mut self, lane: Lane) {
        self.lanes.insert(lane, None);
    }

    pub(super) fn close(&mut self, lane: Lane) {
        self.lanes.remove(&lane);
    }

    /// Returns true if no lane is active.
    pub(super) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Records that a lane has passed an interval, with the gauges of its jobs.
    pub(super) fn report(&mut self, lane: Lane, interval: Interval, gauges: Vec<Gauge>) {
        if let Some(last) = self.lanes.get_mut(&lane) {
            *last = (*last).max(Some(interval));
        }
        if self.done < Some(interval) {
            self.waiting.entry(interval).or_default().insert(lane, gauges);
        }
    }

    /// Returns the next complete interval, in ascending order; `None` if the earliest one still
    /// waits for a lane, or none waits.
    pub(super) fn next_complete(&mut self) -> Option<CompleteInterval> {
        let interval = *self.waiting.keys().next()?;
        let is_left = self.lanes.values().all(|last| *last >= Some(interval));
        if !is_left && self.waiting.len() <= MOST_WAITING {
            return None;
        }
        let reports = self.waiting.remove(&interval)?;
        self.done = Some(interval);
        let is_whole = self.lanes.keys().all(|lane| reports.contains_key(lane));
        let gauges = is_whole.then(|| add_up(reports.into_values()));
        Some(CompleteInterval { interval, gauges })
    }

    /// Returns the last complete interval, if any.
    pub(super) fn last_complete(&self) -> Option<Interval> {
        self.done
    }
}

fn add_up(reports: impl Iterator<Item = Vec<Gauge>>) -> Vec<Gauge> {
    let mut sums: Vec<Gauge> = Vec::new();
    for report in reports {
        sums.resize(sums.len().max(report.len()), Gauge::default());
        for (sum, gauge) in sums.iter_mut().zip(&report) {
            sum.merge(gauge);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Lane = Lane(0);
    const B: Lane = Lane(1);

    fn gauge(in_flight: u64) -> Vec<Gauge> {
        vec![Gauge { in_flight, queued: 0, connections: 1 }]
    }

    fn barrier() -> IntervalBarrier {
        let mut barrier = IntervalBarrier::default();
        barrier.open(A);
        barrier.open(B);
        barrier
    }

    /// Returns the complete intervals, each with the requests in flight of its first job.
    fn complete(barrier: &mut IntervalBarrier) -> Vec<(Interval, Option<u64>)> {
        std::iter::from_fn(|| barrier.next_complete())
            .map(|it| (it.interval, it.gauges.map(|gauges| gauges[0].in_flight)))
            .collect()
    }

    #[test]
    fn an_interval_is_complete_when_every_lane_has_left_it() {
        let mut barrier = barrier();
        barrier.report(A, 0, gauge(1));
        barrier.report(A, 1, gauge(2));
        assert_eq!(complete(&mut barrier), []);
        barrier.report(B, 0, gauge(10));
        assert_eq!(complete(&mut barrier), [(0, Some(11))]);
        barrier.report(B, 1, gauge(20));
        assert_eq!(complete(&mut barrier), [(1, Some(22))]);
    }

    #[test]
    fn an_interval_that_a_lane_skipped_has_no_gauge() {
        let mut barrier = barrier();
        barrier.report(A, 0, gauge(1));
        barrier.report(A, 1, gauge(2));
        barrier.report(B, 1, gauge(20));
        assert_eq!(complete(&mut barrier), [(0, None), (1, Some(22))]);
        barrier.report(B, 0, gauge(9));
        assert_eq!(complete(&mut barrier), [], "it is too late");
    }

    #[test]
    fn ended_lane_delays_no_interval() {
        let mut barrier = barrier();
        barrier.report(A, 0, gauge(1));
        barrier.close(B);
        assert_eq!(complete(&mut barrier), [(0, Some(1))]);
        barrier.close(A);
        assert!(barrier.is_empty());
    }

    #[test]
    fn silent_lane_delays_intervals_for_a_limited_time() {
        let mut barrier = barrier();
        for interval in 0..200 {
            barrier.report(A, interval, gauge(1));
        }
        assert_eq!(complete(&mut barrier).len(), 200 - MOST_WAITING);
    }
}
