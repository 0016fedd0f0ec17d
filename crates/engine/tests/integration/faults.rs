//! Each dishonest rule turns at least one oracle red. An oracle that stays green whatever the
//! engine does would prove nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::{Nanos, Stamp};
use driver::Simulated;
use engine::{Drivers, LaneOutlet, Rules, Silence, Stop, run};
use record::{
    Delivery, Dispatch, Effort, Histograms, Interval, Kind, Life, Outcome, Outlet, Request,
    Returned, Sample, Tally,
};

use crate::oracles::{Measure, four_workers};
use crate::stall::{
    STALL_QUANTILES, backlog_findings, judge_stall, stall_config, stall_findings, stall_plan,
    timeouts,
};
use crate::support::{Estimate, virtually};

pub(crate) struct FromTheActualSend;

impl Rules for FromTheActualSend {
    fn recorded(request: Request, dispatch: Option<Dispatch>) -> Request {
        match dispatch {
            Some(dispatch) => request.as_if_meant_for(dispatch.assigned),
            None => request,
        }
    }
}

#[test]
fn recording_from_the_actual_send_is_noticed() {
    let red = stall_findings::<FromTheActualSend>(500);
    assert!(red.iter().any(|finding| finding.starts_with("p99:")), "{red:?}");
}

pub(crate) struct SkippingMissedTicks;

impl Rules for SkippingMissedTicks {
    const MAKES_UP_MISSED_ARRIVALS: bool = false;
}

#[test]
fn skipping_missed_ticks_is_noticed() {
    let red = stall_findings::<SkippingMissedTicks>(500);
    assert!(red.iter().any(|finding| finding.starts_with("p99:")), "{red:?}");
    assert!(red.iter().any(|finding| finding.contains("instead of 99,999")), "{red:?}");
}

pub(crate) struct DroppingTimeouts;

impl Rules for DroppingTimeouts {
    const TIMEOUTS_HAVE_LATENCIES: bool = false;
}

#[test]
fn dropping_timeouts_is_noticed() {
    let findings = timeouts().findings::<DroppingTimeouts>();
    assert!(findings.iter().any(|finding| !finding.is_green()), "{findings:#?}");
}

struct ForgivingLongWaits;

impl Rules for ForgivingLongWaits {
    /// A generator that is too far behind begins its schedule anew, as if the database had been
    /// asked later.
    fn recorded(request: Request, dispatch: Option<Dispatch>) -> Request {
        const TOO_FAR: Nanos = Nanos::from_millis(33);
        match dispatch {
            Some(dispatch) if dispatch.assigned.since(request.intended()) > TOO_FAR => {
                request.as_if_meant_for(dispatch.assigned)
            }
            _ => request,
        }
    }
}

/// One request in a thousand waits that long: no quantile but the rarest tells.
#[test]
fn forgiving_the_longest_waits_is_noticed_by_the_rarest_quantile() {
    let findings = four_workers().findings::<ForgivingLongWaits>();
    let red: Vec<_> = findings.iter().filter(|finding| !finding.is_green()).collect();
    let rarest = Measure::Response(Estimate::Quantile(0.999));
    assert!(red.iter().any(|finding| finding.measure == rarest), "{findings:#?}");
    assert!(red.len() == 1, "{red:#?}");
}

struct ResettingTheQueue;

impl Rules for ResettingTheQueue {
    const QUEUES_SURVIVE_THE_WARM_UP: bool = false;
}

#[test]
fn resetting_the_queue_at_the_end_of_the_warm_up_is_noticed() {
    assert_ne!(backlog_findings::<ResettingTheQueue>(), Vec::<String>::new());
}

/// How the intervals of a run become the times of its window.
trait Merging {
    fn window(intervals: &[&Histograms]) -> Histograms;
}

/// As the product does.
struct ByHistograms;

impl Merging for ByHistograms {
    fn window(intervals: &[&Histograms]) -> Histograms {
        let mut window = Histograms::new(1);
        intervals.iter().for_each(|interval| window.merge(interval));
        window
    }
}

struct AveragingPercentiles;

impl Merging for AveragingPercentiles {
    /// A thousand requests whose percentiles are the averages of those of the intervals.
    fn window(intervals: &[&Histograms]) -> Histograms {
        let mut window = Histograms::new(1);
        let mut recorded = 0;
        for q in STALL_QUANTILES.into_iter().chain([1.0]) {
            let average = average_quantile(intervals, q);
            let up_to_here = (q * 1_000.0).round() as u32;
            for _ in recorded..up_to_here {
                window.record_request(&answered_after(average), &[]);
            }
            recorded = up_to_here;
        }
        window
    }
}

fn average_quantile(intervals: &[&Histograms], q: f64) -> Nanos {
    let quantile = |interval: &&Histograms| interval.of(Kind::Response).value_at_quantile(q);
    Nanos(intervals.iter().map(quantile).sum::<u64>() / intervals.len() as u64)
}

/// A request that was sent at once.
fn answered_after(response: Nanos) -> Sample {
    let start = Stamp(0);
    let life = Life {
        intended: start,
        noticed: start,
        assigned: start,
        sent: start,
        done: start + response,
    };
    Sample { life, sent: true, outcome: Outcome::Completed, effort: Effort::default() }
}

/// Keeps the requests of each interval apart.
#[derive(Clone, Default)]
struct ByInterval(Arc<Mutex<BTreeMap<Interval, Tally>>>);

impl ByInterval {
    /// The whole run, its times merged in some way.
    fn window<M: Merging>(&self) -> Tally {
        let intervals = self.0.lock().expect("nothing panics here");
        let mut window = Tally::new(1);
        intervals.values().for_each(|interval| window.merge(interval));
        let histograms: Vec<&Histograms> = intervals.values().map(|i| &i.histograms).collect();
        window.histograms = M::window(&histograms);
        window
    }
}

impl Outlet for ByInterval {
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
            Delivery::Gauges { .. } | Delivery::Event(_) => {}
        }
    }

    fn returned(&mut self) -> Option<Returned> {
        None
    }

    fn is_broken(&self) -> bool {
        false
    }
}

/// An honest run of the stall oracle.
fn stalled(service_us: u64) -> ByInterval {
    let intervals = ByInterval::default();
    let plan = stall_plan();
    let server = Simulated::new(stall_config(service_us), plan.seed);
    let outlet = |_| Box::new(intervals.clone()) as LaneOutlet;
    run(&plan, Drivers::only(server), &virtually(1), outlet, &Stop::default(), Arc::new(Silence))
        .expect("a simulated run does not fail");
    intervals
}

/// One run and one judgement: only the merging differs.
#[test]
fn averaging_percentiles_is_noticed() {
    let run = stalled(500);
    assert_eq!(judge_stall(500, &run.window::<ByHistograms>()), Vec::<String>::new());
    let red = judge_stall(500, &run.window::<AveragingPercentiles>());
    assert!(red.iter().any(|finding| finding.starts_with("p99:")), "{red:?}");
    // Counts are not averaged: nothing but the times is wrong.
    assert!(red.iter().all(|finding| finding.starts_with('p')), "{red:?}");
}
