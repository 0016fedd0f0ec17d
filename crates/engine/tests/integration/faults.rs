//! Each dishonest rule turns at least one oracle red. An oracle that stays green whatever the
//! engine does would prove nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use base::Nanos;
use driver::Simulated;
use engine::{LaneOutlet, Rules, Silence, Stop, run};
use record::{Delivery, Dispatch, Histograms, Interval, Kind, Outlet, Request, Returned};

use crate::oracles::{Measure, four_workers};
use crate::stall::{
    backlog_findings, stall_config, stall_exact, stall_findings, stall_plan, timeouts,
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

/// Keeps the response times of each interval apart.
#[derive(Clone, Default)]
struct ByInterval(Arc<Mutex<BTreeMap<Interval, Histograms>>>);

impl Outlet for ByInterval {
    fn deliver(&mut self, delivery: Delivery) {
        let mut intervals = self.0.lock().expect("nothing panics here");
        match delivery {
            Delivery::Cell(cell) => {
                let histograms =
                    intervals.entry(cell.interval).or_insert_with(|| Histograms::new(1));
                histograms.merge(&cell.tally.histograms);
            }
            Delivery::Late(batch) => {
                for late in batch.requests() {
                    let histograms =
                        intervals.entry(late.start).or_insert_with(|| Histograms::new(1));
                    histograms.record_request(late.sample, late.statements);
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

#[test]
fn averaging_percentiles_is_noticed() {
    let intervals = ByInterval::default();
    let plan = stall_plan();
    let server = Simulated::new(stall_config(500), plan.seed);
    let outlet = |_| Box::new(intervals.clone()) as LaneOutlet;
    run(&plan, server, &virtually(1), outlet, &Stop::default(), Arc::new(Silence))
        .expect("a simulated run does not fail");
    let intervals = intervals.0.lock().expect("nothing panics here");
    let p99 = |histograms: &Histograms| {
        histograms.of(Kind::Response).value_at_quantile(0.99) as f64 / 1e9
    };
    let averaged = intervals.values().map(p99).sum::<f64>() / intervals.len() as f64;
    let mut merged = Histograms::new(1);
    intervals.values().for_each(|histograms| merged.merge(histograms));
    let exact = stall_exact(500, 0.99);
    assert!((p99(&merged) - exact).abs() < exact * 0.01, "merged: {}", p99(&merged));
    assert!((averaged - exact).abs() > exact * 0.5, "averaged: {averaged}");
}
