//! Servers with fewer connections than a run requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base::{Class, Clock, Code, Dialect, Nanos, Stamp, StatementId};
use driver::{Connection, Driver, Error, Null, Simulated, Table, Work};
use engine::{LaneOutlet, NoListener, RunFailure, Stop, Unreachable, run};
use record::{EventKind, Grid, Kind, MemoryOutlet, Totals};
use rt::Rt;
use sim::Config;
use workload::Pacing;

use crate::support::{
    JOB, constant, delegate_to_inner, even, only, plan, plan_of, run_on, virtually,
};

/// Expects the run not to begin: a thread without a connection could send none of its share of the
/// schedule.
#[test]
fn a_server_without_a_connection_for_each_thread_ends_the_run_before_it_begins() {
    let plan = plan(even(1_000), 0.0, 5.0, 4);
    let server =
        Simulated::new(Config { max_connections: Some(3), ..constant(1_000, None) }, plan.seed);
    let memory =
        MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &[1]));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (stop, listener) = (Stop::default(), Arc::new(NoListener));
    let failed = run(&plan, only(server), &virtually(4), outlet, &stop, listener).unwrap_err();
    let RunFailure::Unreachable(error) = failed else { panic!("{failed}") };
    let expected = "no connection is left for [read] on one of 4 threads";
    assert!(error.to_string().contains(expected), "{error}");
}

/// A server whose connections are held by other clients for a while from second 2 on.
#[derive(Clone)]
struct OccupiedServer {
    inner: Simulated,
    free_from_s: u64,
}

impl Driver for OccupiedServer {
    type Connection = <Simulated as Driver>::Connection;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        self.inner.stores_data()
    }

    async fn connect(&self, rt: &Rt) -> Result<Self::Connection, Error> {
        let at = |s| Stamp(Nanos::from_secs(s).0);
        let crowded = at(2)..at(self.free_from_s);
        if crowded.contains(&rt.now()) {
            let code = Code::new("full");
            return Err(Error::new(Class::TooManyConnections, code, "all of them are taken"));
        }
        self.inner.connect(rt).await
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

/// Expects the job to wait for a connection: other clients took all connections during the outage,
/// and may free some again.
#[test]
fn a_job_that_lost_all_its_connections_to_others_waits_for_one() {
    for pacing in [even(100), Pacing::Closed { clients: 1, think: None }] {
        let plan = plan(pacing, 0.0, 10.0, 4);
        let outages = vec![Stamp(2_000_000_000)..Stamp(3_000_000_000)];
        let inner = Simulated::new(Config { outages, ..constant(10_000, None) }, plan.seed);
        let server = OccupiedServer { inner, free_from_s: 5 };
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        let intervals = &totals.account(JOB).intervals;
        assert_eq!(intervals[3].1.completed, 0, "others have all connections");
        assert!(intervals[8].1.completed > 90, "it goes on: {intervals:?}");
        let limits = totals.events.iter().filter(|event| event.kind == EventKind::ConnectionLimit);
        assert_eq!(limits.count(), 0, "nothing is no limit");
    }
}

/// Expects an outage if a full server refuses every request for longer than a second. Each request
/// opens its own connection, and may find the server full for a moment.
#[test]
fn server_that_admits_no_request_for_longer_than_a_second_has_an_outage() {
    for (pacing, outage) in ["concurrency = 4", "rate = 100", "rate = 100\nconcurrency = 3"]
        .into_iter()
        .flat_map(|pacing| [(pacing, "fail"), (pacing, "wait")])
    {
        let plan = plan_of(&format!(
            "duration = 10s\ndrain = 1s\n[a]\nquery = select 1\nreconnect = per-transaction\n\
             outage = {outage}\n{pacing}\n"
        ));
        let ran = |free_from_s| {
            let inner = Simulated::new(constant(1_000, None), plan.seed);
            let server = OccupiedServer { inner, free_from_s };
            let (totals, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
            let of = |kind| totals.events.iter().filter(|event| event.kind == kind).count();
            let outages = (of(EventKind::OutageBegan), of(EventKind::OutageEnded));
            (outages, finished.measured.expect("it was measured").lost.len(), totals)
        };
        let (outages, lost, totals) = ran(5);
        assert_eq!((outages, lost), ((1, 1), 0), "{pacing}, {outage}");
        let wait = totals.account(JOB).window.histograms.of(Kind::Wait).max();
        let waited = wait > Nanos::from_secs(1).0;
        assert_eq!(waited, outage == "wait", "{pacing}, {outage}: {wait}");
        let (outages, lost, _) = ran(60);
        assert_eq!((outages, lost), ((1, 0), 1), "{pacing}, {outage}");
        let (outages, lost, _) = ran(3);
        assert_eq!((outages, lost), ((0, 0), 0), "{pacing}, {outage}");
    }
}

/// A server that is full after an outage is tried again after a pause, not at once.
#[test]
fn full_server_after_an_outage_is_retried_with_pauses() {
    let file = "duration = 8s\ndrain = 2s\nconnections = 2\nmax-connections = 40\n\
                [a]\nquery = select 1\nrate = 40\nconcurrency = 4\n\
                [b]\nquery = select 1\nrate = 0.2865\narrival = uniform\nconcurrency = 4\n\
                [d]\nquery = select 1 /* sim: service=500ms */\nrate = 400\nstart = 4260ms\n";
    let plan = plan_of(file);
    let outages = vec![Stamp(2_000_000_000)..Stamp(4_000_000_000)];
    let config = Config { outages, max_connections: Some(12), ..constant(10_000, None) };
    let server = Simulated::new(config, plan.seed);
    // Without a pause, this never ends.
    let (totals, _) = run_on(&plan, server, &virtually(2), &Stop::default());
    let counts = totals.account(JOB).window.counts;
    assert_eq!(counts.arrivals, counts.balance.scheduled());
    let ended = totals.events.iter().filter(|event| event.kind == EventKind::OutageEnded);
    assert_eq!(ended.count(), 2, "for each thread");
}

/// Connections are opened for a burst although nothing arrives after it.
#[test]
fn job_grows_for_waiting_requests_after_its_schedule() {
    let wait = |count| {
        let file = format!(
            "duration = 20s\n[a]\nquery = select 1\nevery = 1s\nbatch-size = 100\n\
             count = {count}\n"
        );
        let plan = plan_of(&file);
        let connect = Nanos::from_millis(5);
        let config = Config { connect, ..constant(1_000_000, None) };
        let server = Simulated::new(config, plan.seed);
        let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
        totals.account(JOB).window.histograms.of(Kind::Wait).max()
    };
    let second = Nanos::from_secs(1).0;
    assert!(wait(1) < second / 10, "{}", wait(1));
    assert!(wait(2) < second / 10, "{}", wait(2));
}

/// Expects a target that one lane lost to be lost, unless another lane got an answer. A lane
/// without clients, or with an idle one, cannot know of the loss.
#[test]
fn a_target_that_one_thread_lost_is_lost_unless_another_is_answered() {
    for job in ["rate = 40\nconcurrency = 4", "concurrency = 1"] {
        let plan = plan_of(&format!("duration = 6s\ndrain = 1s\n[a]\nquery = select 1\n{job}\n"));
        let lost = |threads, outage_s: u64| {
            let outages = vec![Stamp(2_000_000_000)..Stamp(outage_s * 1_000_000_000)];
            let config = Config { outages, ..constant(1_000, None) };
            let server = Simulated::new(config, plan.seed);
            let no_stop = Stop::default();
            let (_, finished) = run_on(&plan, server, &virtually(threads), &no_stop);
            !finished.measured.expect("it was measured").lost.is_empty()
        };
        for threads in [1, 2, 3] {
            assert!(lost(threads, 100), "{job} on {threads} threads");
            assert!(!lost(threads, 4), "{job} on {threads} threads");
        }
    }
}

/// A load lasts until its last commit, and a writer without a connection does not fail it.
#[test]
fn a_load_continues_with_the_writers_that_have_a_connection() {
    let file = "[load t]\nrows = 3k\nbatch = 1000\ncolumns = id: row()\nwriters = 3\n\
                [read]\nquery = select 1\nconcurrency = 1\ncount = 1\n";
    let plan = plan_of(file);
    let loaded = |most| {
        let config = Config { max_connections: Some(most), ..constant(1_001, Some(1)) };
        let server = Simulated::new(config, plan.seed);
        let memory =
            MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &[1]));
        let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
        let (stop, listener) = (Stop::default(), Arc::new(NoListener));
        run(&plan, only(server), &virtually(1), outlet, &stop, listener)
            .map(|finished| finished.loaded)
    };
    let tables = loaded(2).unwrap();
    assert_eq!((tables[0].rows, tables[0].took), (3_000, Nanos::from_millis(3_003)));
    let Err(RunFailure::Unreachable(Unreachable { error, .. })) = loaded(1) else {
        panic!("no writer got a connection")
    };
    assert_eq!(error.class(), Class::TooManyConnections);
}

/// A database that needs 8 s for the first answer of a session, and has two sessions.
#[derive(Clone)]
struct SlowFirstAnswerDatabase {
    inner: Simulated,
    asked: Arc<AtomicU32>,
}

struct SlowFirstAnswerConnection {
    inner: <Simulated as Driver>::Connection,
    asked: Arc<AtomicU32>,
    rt: Rt,
}

impl Driver for SlowFirstAnswerDatabase {
    type Connection = SlowFirstAnswerConnection;

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn stores_data(&self) -> bool {
        true
    }

    async fn connect(&self, rt: &Rt) -> Result<SlowFirstAnswerConnection, Error> {
        let inner = self.inner.connect(rt).await?;
        Ok(SlowFirstAnswerConnection { inner, asked: Arc::clone(&self.asked), rt: rt.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.inner.time_zero(zero);
    }
}

impl Connection for SlowFirstAnswerConnection {
    async fn await_session(&mut self) -> Result<(), Error> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        self.query_text("select 1").await?;
        match before {
            0 | 1 => Ok(()),
            _ => Err(Error::new(Class::TooManyConnections, Code::NO_SESSION, "no session")),
        }
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.rt.sleep(Nanos::from_secs(8)).await;
        self.inner.query_text(sql).await
    }

    delegate_to_inner!(prepare, settings, close, abandon);
}

/// Expects the writers to wait for their sessions as long as the driver does: only the driver knows
/// how long a new session may take.
#[test]
fn writers_of_a_load_wait_for_their_sessions_as_long_as_the_driver_does() {
    let file = "[load t]\nrows = 3k\nbatch = 1000\ncolumns = id: row()\nwriters = 3\n\
                [read]\nquery = select 1\nconcurrency = 1\ncount = 1\n";
    let plan = plan_of(file);
    let inner = Simulated::new(constant(1_000, None), plan.seed);
    let server = SlowFirstAnswerDatabase { inner, asked: Arc::default() };
    let (_, finished) = run_on(&plan, server, &virtually(1), &Stop::default());
    let table = &finished.loaded[0];
    assert_eq!(table.rows, 3_000);
    assert!(table.took > Nanos::from_secs(8), "{table:?}");
}

#[test]
fn closed_job_reports_clients_without_a_connection() {
    let plan = plan_of("duration = 5s\n[a]\nquery = select 1\nconcurrency = 8\ncount = 100\n");
    let config = Config { max_connections: Some(5), ..constant(1_000, None) };
    let server = Simulated::new(config, plan.seed);
    let (totals, _) = run_on(&plan, server, &virtually(1), &Stop::default());
    // Each client gets every eighth number.
    assert_eq!(totals.account(JOB).window.counts.balance.completed(), 5 * 13 - 1);
    let text = &totals.events[0].text;
    assert!(text.starts_with("5 connections are the limit, and clients without one"), "{text}");
}

/// A database whose connections end at their tenth request and do not give back the steps and
/// values of that request.
#[derive(Clone)]
struct TenRequestDatabase;

struct TenRequestConnection {
    inner: <Null as Driver>::Connection,
    requests: u32,
}

impl Driver for TenRequestDatabase {
    type Connection = TenRequestConnection;

    fn dialect(&self) -> Dialect {
        Null.dialect()
    }

    fn stores_data(&self) -> bool {
        Null.stores_data()
    }

    async fn connect(&self, rt: &Rt) -> Result<TenRequestConnection, Error> {
        Ok(TenRequestConnection { inner: Null.connect(rt).await?, requests: 0 })
    }
}

impl Connection for TenRequestConnection {
    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.requests += 1;
        if self.requests == 10 {
            drop(std::mem::take(work));
            return Err(Error::disconnect("the connection ended"));
        }
        self.inner.run(work).await
    }

    delegate_to_inner!(prepare, query_text, settings, close, abandon);
}

/// The next request has all of its statements, including those that were handed to a lost
/// connection.
#[test]
fn requests_behind_a_lost_connection_send_all_of_their_statements() {
    let plan = plan_of("[a]\nquery = x\nquery = y\nconcurrency = 1\ncount = 100\n");
    let (totals, _) = run_on(&plan, TenRequestDatabase, &virtually(1), &Stop::default());
    let window = &totals.account(JOB).window;
    let completed = window.counts.balance.completed();
    assert_eq!((completed, window.counts.balance.errors()), (90, 10));
    for statement in 0..2 {
        assert_eq!(window.histograms.of(Kind::Statement(StatementId(statement))).len(), completed);
    }
}
