//! Targets that are several servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Dialect, Stamp};
use driver::{Connection, Driver, Error, Simulated, StatementId, Table, Work};
use engine::{Honest, Stop};
use record::{JobIndex, Kind};
use rt::Rt;

use crate::support::{JOB, constant, plan, poisson, run_on, virtually};

/// Two servers, of which the second takes three times as long.
#[derive(Clone)]
struct Two {
    servers: [Simulated; 2],
    next: Arc<AtomicUsize>,
}

struct OneOfTwo {
    inner: <Simulated as Driver>::Connection,
    node: usize,
}

impl Driver for Two {
    type Connection = OneOfTwo;

    fn dialect(&self) -> Dialect {
        self.servers[0].dialect()
    }

    fn keeps_data(&self) -> bool {
        false
    }

    fn nodes(&self) -> Vec<String> {
        ["fast", "slow"].map(str::to_owned).into()
    }

    async fn connect(&self, rt: &Rt) -> Result<OneOfTwo, Error> {
        let node = self.next.fetch_add(1, Ordering::Relaxed) % self.servers.len();
        Ok(OneOfTwo { inner: self.servers[node].connect(rt).await?, node })
    }

    fn time_zero(&self, zero: Stamp) {
        self.servers.iter().for_each(|server| server.time_zero(zero));
    }
}

impl Connection for OneOfTwo {
    async fn prepare(&mut self, text: &str) -> Result<StatementId, Error> {
        self.inner.prepare(text).await
    }

    fn node(&self) -> usize {
        self.node
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.inner.query_text(sql).await
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        self.inner.settings().await
    }

    async fn close(self) {
        self.inner.close().await;
    }

    fn abandon(self) {
        self.inner.abandon();
    }
}

#[test]
fn every_request_that_was_sent_counts_at_its_server_too() {
    for threads in [1, 2] {
        let plan = plan(poisson(400), 2.0, 20.0, 1);
        let server = |micros| Simulated::new(constant(micros, None), plan.seed);
        let driver = Two { servers: [server(1_000), server(3_000)], next: Arc::default() };
        let options = virtually(threads);
        let (totals, _) = run_on::<_, Honest>(&plan, driver, &options, &Stop::default());
        let window = |job| &totals.job(job).window;
        let (whole, nodes) = (window(JOB), [window(JobIndex(1)), window(JobIndex(2))]);
        let completed = nodes.map(|node| node.counts.balance.completed());
        let arrived: u64 = nodes.iter().map(|node| node.counts.arrivals).sum();
        let answered: u64 = completed.iter().sum();
        assert_eq!([answered, arrived], [whole.counts.balance.completed(); 2]);
        let means = nodes.map(|node| node.histograms.of(Kind::Service).mean());
        assert!((means[0] - 1e6).abs() < 1e4 && (means[1] - 3e6).abs() < 3e4, "{means:?}");
    }
}
