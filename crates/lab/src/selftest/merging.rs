//! Merging of a run's intervals into its window: correctly, by adding histograms, or with a fault.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::{Nanos, Stamp};
use engine::{LaneOutlet, Rules};
use record::{
    Delivery, Histograms, Interval, Kind, Outcome, Outlet, RequestTimestamps, RequestWork,
    Returned, Sample, Tally,
};

use super::finding::Finding;
use super::stall::{STALL_QUANTILES, Stalled};

/// A method of merging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merging {
    /// Adding the histograms, as Assay does.
    Histograms,
    /// Averaging the quantiles of the intervals.
    Averages,
}

/// Measures a stall with an engine without faults, and merges the intervals by the given method.
pub(super) fn findings(stall: Stalled, merging: Merging) -> Vec<Finding> {
    let intervals = IntervalOutlet::default();
    stall.measure_into(Rules::STANDARD, || Box::new(intervals.clone()) as LaneOutlet);
    stall.judge(&intervals.window(merging))
}

/// Returns a thousand requests whose quantiles are the averages of the intervals' quantiles.
fn average_histograms(intervals: &[&Histograms]) -> Histograms {
    let mut window = Histograms::new(1);
    let mut recorded = 0;
    for q in STALL_QUANTILES.into_iter().chain([1.0]) {
        let average = |kind| average_quantile(intervals, kind, q);
        let sample = answered_after(average(Kind::Response), average(Kind::Service));
        let up_to_here = (q * 1_000.0).round() as u32;
        for _ in recorded..up_to_here {
            window.record_request(&sample, &[]);
        }
        recorded = up_to_here;
    }
    window
}

fn average_quantile(intervals: &[&Histograms], kind: Kind, q: f64) -> Nanos {
    let quantile = |interval: &&Histograms| interval.of(kind).value_at_quantile(q);
    Nanos(intervals.iter().map(quantile).sum::<u64>() / intervals.len() as u64)
}

/// Returns a request with this response time and service time; the rest of the response time is a
/// wait.
fn answered_after(response: Nanos, service: Nanos) -> Sample {
    let (start, done) = (Stamp(0), Stamp(response.0));
    let sent = Stamp(response.saturating_sub(service).0);
    let timestamps =
        RequestTimestamps { intended: start, noticed: start, assigned: sent, sent, done };
    Sample { timestamps, sent: true, outcome: Outcome::Completed, work: RequestWork::default() }
}

/// An outlet that keeps the requests of each interval separate.
#[derive(Clone, Default)]
struct IntervalOutlet(Arc<Mutex<BTreeMap<Interval, Tally>>>);

impl IntervalOutlet {
    /// Returns the totals of the whole run, with the times merged by the given method.
    fn window(&self, merging: Merging) -> Tally {
        let intervals = self.0.lock().expect("nothing panics here");
        let mut window = Tally::new(1);
        intervals.values().for_each(|interval| window.merge(interval));
        match merging {
            Merging::Histograms => {}
            Merging::Averages => {
                let parts: Vec<_> = intervals.values().map(|part| &part.histograms).collect();
                window.histograms = average_histograms(&parts);
            }
        }
        window
    }
}

impl Outlet for IntervalOutlet {
    fn deliver(&mut self, delivery: Delivery) {
        let mut intervals = self.0.lock().expect("nothing panics here");
        let nothing = || Tally::new(1);
        match delivery {
            Delivery::Cell(cell) => {
                intervals.entry(cell.interval).or_insert_with(nothing).merge(&cell.tally);
            }
            Delivery::Late(batch) => {
                for late in batch.requests() {
                    let interval = intervals.entry(late.start).or_insert_with(nothing);
                    interval.record_start(late.sample, late.statements);
                }
            }
            Delivery::Gauges { .. } | Delivery::Event(_) | Delivery::WithRows(_) => {}
        }
    }

    fn take_returned(&mut self) -> Option<Returned> {
        None
    }

    fn is_broken(&self) -> bool {
        false
    }
}
