//! Answers whose end another thread stamped before the engine learns of it, as with SQLite.

use base::{Dialect, Nanos, Stamp};
use driver::{Connection, Driver, Error, Simulated, Work};
use engine::Stop;
use record::Kind;
use rt::Rt;
use workload::Pacing;

use crate::support::{JOB, constant, delegate_to_inner, plan, poisson, run_on, virtually};

/// Delay between the end of a request and the engine's notice of it.
const NOTICE_DELAY: Nanos = Nanos::from_micros(800);

/// Time that a connection takes to close.
const CLOSE_TIME: Nanos = Nanos::from_secs(1);

#[derive(Clone)]
struct LateDriver(Simulated);

struct LateConnection {
    inner: <Simulated as Driver>::Connection,
    rt: Rt,
}

impl Driver for LateDriver {
    type Connection = LateConnection;

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn stores_data(&self) -> bool {
        self.0.stores_data()
    }

    async fn connect(&self, rt: &Rt) -> Result<LateConnection, Error> {
        Ok(LateConnection { inner: self.0.connect(rt).await?, rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.0.time_zero(zero);
    }
}

impl Connection for LateConnection {
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let outcome = self.inner.run(work).await;
        self.rt.sleep(NOTICE_DELAY).await;
        outcome
    }

    async fn close(self) {
        self.rt.sleep(CLOSE_TIME).await;
        self.inner.close().await;
    }

    delegate_to_inner!(prepare, query_text, settings, abandon);
}

/// A request may come due after the previous one has ended, but before the engine notices that end.
/// The worker counts as free from that end on, but the time of the assignment must not be earlier
/// than the time at which the engine notices the new request.
#[test]
fn requests_are_assigned_only_after_they_are_noticed() {
    let mut plan = plan(poisson(400), 0.0, 20.0, 1);
    (plan.connections, plan.max_connections) = (Some(1), 1);
    let driver = LateDriver(Simulated::new(constant(500, None), plan.seed));
    let (totals, _) = run_on(&plan, driver, &virtually(1), &Stop::default());
    assert!(totals.account(JOB).window.counts.arrivals > 7_000);
    let mean = |kind| totals.account(JOB).window.histograms.of(kind).mean() / 1e9;
    let parts = mean(Kind::SendLag) + mean(Kind::Wait) + mean(Kind::Service);
    let whole = mean(Kind::Response);
    assert!((parts / whole - 1.0).abs() < 0.01, "{parts} s is not {whole} s");
}

/// Closing the connections does not lengthen a run that ends with its requests.
#[test]
fn closing_connections_does_not_lengthen_a_run() {
    let mut plan = plan(Pacing::Closed { clients: 1, think: None }, 0.0, 60.0, 1);
    (plan.duration, plan.jobs[0].count) = (None, Some(10));
    let driver = LateDriver(Simulated::new(constant(500, None), plan.seed));
    let (totals, finished) = run_on(&plan, driver, &virtually(1), &Stop::default());
    assert_eq!(totals.account(JOB).window.counts.balance.completed(), 10);
    let length = finished.measured.expect("it was measured").length;
    assert_eq!(length, (Nanos::from_micros(500) + NOTICE_DELAY) * 10);
}
