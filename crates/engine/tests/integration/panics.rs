//! Bugs in a driver or in the engine: a panic ends the run with a report, and nothing hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use base::{Clock, Dialect, Nanos};
use driver::{Connection, Driver, Error, PreparedId, Table, Work};
use engine::{LaneOutlet, NoListener, Options, RunFailure, RunOutcome, Stop, run};
use record::{EndKind, Grid, MemoryOutlet, Totals};
use rt::Rt;
use workload::{FixedStatement, Pacing, Plan};

use crate::support::{JOB, even, only, plan, queue, virtually};

/// Service time of a request that does not panic.
const SERVICE: Nanos = Nanos::from_millis(1);

/// The call at which a driver panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PanicPoint {
    /// The connection with this number, from 1.
    Connection(u32),
    /// The request with this number, from 1.
    Request(u32),
    /// A statement of setup or teardown with this text.
    Text(&'static str),
}

/// A driver that panics.
#[derive(Clone)]
struct PanickingDriver {
    at: PanicPoint,
    connections: Arc<AtomicU32>,
    requests: Arc<AtomicU32>,
}

impl PanickingDriver {
    fn new(at: PanicPoint) -> PanickingDriver {
        PanickingDriver { at, connections: Arc::default(), requests: Arc::default() }
    }

    fn pass(&self, at: PanicPoint) {
        assert_ne!(self.at, at, "planted");
    }
}

struct PanickingConnection {
    driver: PanickingDriver,
    rt: Rt,
    prepared: u16,
}

impl Driver for PanickingDriver {
    type Connection = PanickingConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn stores_data(&self) -> bool {
        false
    }

    async fn connect(&self, rt: &Rt) -> Result<PanickingConnection, Error> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        self.pass(PanicPoint::Connection(number));
        Ok(PanickingConnection { driver: self.clone(), rt: rt.clone(), prepared: 0 })
    }
}

impl Connection for PanickingConnection {
    async fn prepare(&mut self, _text: &str) -> Result<PreparedId, Error> {
        self.prepared += 1;
        Ok(PreparedId(self.prepared - 1))
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let number = self.driver.requests.fetch_add(1, Ordering::Relaxed) + 1;
        work.reply.sent = Some(self.rt.now());
        self.rt.sleep(SERVICE).await;
        self.driver.pass(PanicPoint::Request(number));
        work.reply.done = self.rt.now();
        Ok(())
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        if let PanicPoint::Text(text) = self.driver.at {
            assert_ne!(text, sql, "planted");
        }
        Ok(Table::default())
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }

    async fn close(self) {}

    fn abandon(self) {}
}

type Outcome = (Result<RunOutcome, RunFailure>, Totals);

/// Runs a plan whose driver panics. A run that has not ended after a minute counts as hung.
fn outcome(plan: &Plan, at: PanicPoint, options: &Options) -> Outcome {
    let (plan, options) = (plan.clone(), options.clone());
    let what = format!("{at:?} {:?} on {} threads", plan.jobs[0].pacing, options.threads);
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let totals = Totals::new(Grid::new(plan.warmup.known(), plan.duration), &[1]);
        let memory = MemoryOutlet::new(totals);
        let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
        let drivers = only(PanickingDriver::new(at));
        let finished =
            run(&plan, drivers, &options, outlet, &Stop::default(), Arc::new(NoListener));
        let totals = memory.totals().clone();
        sender.send((finished, totals)).expect("the test waits");
    });
    receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{what} hangs"))
}

/// Returns plans of an open, a queued and a closed job, none of which ends by itself.
fn endless() -> Vec<Plan> {
    let models = [even(200), queue(200, 2), Pacing::Closed { clients: 3, think: None }];
    let endless = |pacing| Plan { duration: None, ..plan(pacing, 0.0, 1.0, 3) };
    models.into_iter().map(endless).collect()
}

fn manners() -> Vec<Options> {
    let really = |threads| Options { is_virtual: false, ..virtually(threads) };
    vec![virtually(1), virtually(2), really(1), really(2)]
}

#[test]
fn panic_in_a_request_ends_the_run_and_keeps_its_measurements() {
    for plan in endless() {
        for options in manners() {
            let (finished, totals) = outcome(&plan, PanicPoint::Request(40), &options);
            let finished = finished.expect("it was measured");
            assert_eq!(finished.end, EndKind::InternalError);
            let words = finished.panic.expect("something panicked");
            assert!(words.contains("planted"), "{words}");
            assert!(finished.measured.is_some());
            let counts = totals.account(JOB).window.counts;
            assert!(counts.balance.completed() >= 35, "{counts:?}");
            assert_eq!(counts.open(), 1, "only the one that panicked has no end: {counts:?}");
        }
    }
}

#[test]
fn a_panic_before_time_zero_ends_the_run_and_nothing_is_measured() {
    for plan in endless() {
        for options in manners() {
            // The first connection belongs to the control phase.
            for at in [
                PanicPoint::Connection(1),
                PanicPoint::Connection(2),
                PanicPoint::Text("prepare the table"),
            ] {
                let text = "prepare the table".to_owned();
                let span = plan.jobs[0].requests.span;
                let setup = vec![FixedStatement { text, span, script: None }];
                let plan = Plan { setup, ..plan.clone() };
                match outcome(&plan, at, &options).0 {
                    Err(RunFailure::Panicked(words)) => {
                        assert!(words.contains("planted"), "{words}")
                    }
                    other => panic!("{at:?}: {other:?}"),
                }
            }
        }
    }
}

#[test]
fn panic_in_the_teardown_keeps_the_measurements() {
    let options = Options { is_virtual: false, ..virtually(1) };
    let mut plan = plan(even(200), 0.0, 0.2, 3);
    let text = "drop the table".to_owned();
    plan.teardown = vec![FixedStatement { text, span: plan.jobs[0].requests.span, script: None }];
    let (finished, _) = outcome(&plan, PanicPoint::Text("drop the table"), &options);
    let finished = finished.expect("it was measured");
    assert_eq!(finished.end, EndKind::InternalError);
    assert!(finished.measured.is_some());
}
