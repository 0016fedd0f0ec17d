//! Requests that open a connection of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{AccountId, Class, Dialect, Nanos, Stamp, StatementId};
use driver::{Connection, Driver, Error, PreparedId, Simulated, Work};
use engine::{LaneOutlet, NoListener, RunFailure, RunOutcome, Stop, run};
use record::{Balance, EventKind, Grid, Kind, MemoryOutlet, Totals};
use rt::Rt;
use sim::Config;
use workload::{JobTarget, Plan};

use crate::support::{JOB, constant, delegate_to_inner, only, plan_of, run_on, virtually};

const CONNECT: Nanos = Nanos::from_millis(5);
const CLOSE: Nanos = Nanos::from_millis(3);

/// Keys of closed jobs without and with think time, of an open job, a timetable and a queue.
const MODELS: [&str; 5] = [
    "concurrency = 4",
    "concurrency = 4\nthink = exp(20ms)",
    "rate = 100",
    "every = 10ms",
    "rate = 100\nconcurrency = 3",
];

fn plan(job: &str) -> Plan {
    plan_of(&format!(
        "duration = 10s\ndrain = 2s\n[a]\nquery = select 1\nreconnect = per-transaction\n{job}\n"
    ))
}

/// Returns a server that answers in 1 ms and takes time to accept a connection.
fn server() -> Config {
    Config { connect: CONNECT, ..constant(1_000, None) }
}

/// Counts of a server's connections.
#[derive(Clone, Debug, Default)]
struct ConnectionCounts {
    connected: Arc<AtomicU64>,
    closed: Arc<AtomicU64>,
    prepared: Arc<AtomicU64>,
    /// Open connections: those that were neither closed nor abandoned.
    open: Arc<AtomicU64>,
}

fn number(of: &AtomicU64) -> u64 {
    of.load(Ordering::Relaxed)
}

fn one_more(of: &AtomicU64) {
    of.fetch_add(1, Ordering::Relaxed);
}

/// A simulated server that counts its connections, which take time to close.
#[derive(Clone)]
struct CountingServer(Simulated, ConnectionCounts);

struct CountedConnection {
    inner: <Simulated as Driver>::Connection,
    rt: Rt,
    counts: ConnectionCounts,
}

impl Driver for CountingServer {
    type Connection = CountedConnection;

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn stores_data(&self) -> bool {
        self.0.stores_data()
    }

    async fn connect(&self, rt: &Rt) -> Result<CountedConnection, Error> {
        let inner = self.0.connect(rt).await?;
        one_more(&self.1.connected);
        one_more(&self.1.open);
        Ok(CountedConnection { inner, rt: rt.clone(), counts: self.1.clone() })
    }

    fn time_zero(&self, zero: Stamp) {
        self.0.time_zero(zero);
    }
}

impl Connection for CountedConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        one_more(&self.counts.prepared);
        self.inner.prepare(text).await
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await
    }

    async fn close(self) {
        self.rt.sleep(CLOSE).await;
        one_more(&self.counts.closed);
    }

    fn abandon(self) {}

    delegate_to_inner!(query_text, settings);
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn watch(plan: &Plan, config: Config, threads: u16) -> (Totals, RunOutcome, ConnectionCounts) {
    let counts = ConnectionCounts::default();
    let driver = CountingServer(Simulated::new(config, plan.seed), counts.clone());
    let no_stop = Stop::default();
    let (totals, finished) = run_on(plan, driver, &virtually(threads), &no_stop);
    assert_eq!(number(&counts.open), 0, "no connection is left");
    (totals, finished, counts)
}

fn settled(totals: &Totals) -> Balance {
    let counts = totals.account(JOB).window.counts;
    assert_eq!(counts.arrivals, counts.balance.scheduled(), "every request is settled");
    assert!(counts.arrivals > 0);
    counts.balance
}

/// Returns the shortest and the longest time of the given kind, in microseconds.
fn times(totals: &Totals, kind: Kind) -> (u64, u64) {
    let histogram = totals.account(JOB).window.histograms.of(kind);
    (histogram.min() / 1_000, histogram.max() / 1_000)
}

/// Returns true if both times, in microseconds, equal `micros` within a histogram's precision.
fn are_about((least, most): (u64, u64), micros: u64) -> bool {
    least * 100 >= micros * 99 && most * 100 <= micros * 101
}

fn errors(totals: &Totals, class: Class) -> u64 {
    let failures = totals.account(JOB).window.failures.iter();
    failures.filter(|(of, _, _)| *of == class).map(|(_, _, count)| count).sum()
}

fn events(totals: &Totals, kind: EventKind) -> usize {
    totals.events.iter().filter(|event| event.kind == kind).count()
}

#[test]
fn connecting_counts_as_service_and_closing_does_not() {
    for job in MODELS {
        for threads in [1, 3] {
            let (totals, _, counts) = watch(&plan(job), server(), threads);
            let requests = settled(&totals).completed();
            assert_eq!(requests, settled(&totals).scheduled(), "{job}");
            let service = times(&totals, Kind::Service);
            assert!(are_about(service, 6_000), "{job}: {service:?}");
            let statement = times(&totals, Kind::Statement(StatementId(0)));
            assert!(are_about(statement, 1_000), "{job}: {statement:?}");
            assert_eq!(times(&totals, Kind::SendLag).1, 0, "{job}");
            // The two other connections are the control connection, and the one that tries out the
            // statement.
            assert_eq!(number(&counts.connected), requests + 2, "{job}");
            assert_eq!(number(&counts.closed), requests + 2, "{job}");
            assert_eq!(number(&counts.prepared), requests + 1, "{job}");
        }
    }
}

/// A client that closes its connection is not free: arrivals that come due meanwhile wait.
#[test]
fn closing_a_connection_keeps_its_client_busy() {
    let (totals, _, _) = watch(&plan("concurrency = 1"), server(), 1);
    // Each request occupies the client for nine milliseconds.
    assert_eq!(settled(&totals).completed(), 10_000_u64.div_ceil(9));
    assert_eq!(times(&totals, Kind::Wait).1, 0);
    let mut plan = plan("every = 8ms\ncount = 100");
    (plan.connections, plan.max_connections) = (Some(1), 1);
    let (totals, _, _) = watch(&plan, server(), 1);
    let wait = times(&totals, Kind::Wait);
    assert!((98_000..=100_000).contains(&wait.1), "a millisecond more each time: {wait:?}");
    assert_eq!(times(&totals, Kind::SendLag).1, 0);
}

/// Clients without a connection are free: a job adds as many clients as requests wait.
#[test]
fn burst_runs_concurrently() {
    let (totals, _, _) = watch(&plan("every = 1s\nbatch-size = 50"), server(), 1);
    let requests = settled(&totals).completed();
    assert_eq!((requests, times(&totals, Kind::Wait).1), (9 * 50, 0));
    let service = times(&totals, Kind::Service);
    assert!(are_about(service, 6_000), "{service:?}");
}

#[test]
fn a_refused_connection_is_an_error_of_its_request() {
    for (job, most) in [("concurrency = 5", 3), ("rate = 1000", 3), ("every = 1ms", 1)] {
        let config = Config { max_connections: Some(most), ..constant(1_000, None) };
        let (totals, _, counts) = watch(&plan(job), config, 1);
        let balance = settled(&totals);
        let refused = errors(&totals, Class::TooManyConnections);
        assert!(refused > 0 && balance.completed() > 0, "{job}: {balance:?}");
        assert_eq!((refused, balance.unsent()), (balance.errors(), 0), "{job}: {balance:?}");
        assert_eq!(number(&counts.connected), balance.completed() + 2, "{job}");
        assert_eq!(events(&totals, EventKind::ConnectionLimit), 0, "{job}");
        assert_eq!(events(&totals, EventKind::OutageBegan), 0, "{job}");
    }
}

/// Expects the pauses of a refused client to grow up to a second. Without a pause, virtual time
/// would not advance.
#[test]
fn a_client_that_is_refused_pauses_longer_each_time_up_to_a_second() {
    // One request holds the only connection for the whole run.
    let file = "duration = 10s\ndrain = 1s\n\
                [a]\nquery = select 1\nreconnect = per-transaction\nconcurrency = 1\nstart = 1ms\n\
                [b]\nquery = select 1 /* sim: service=60s */\nconcurrency = 1\ncount = 1\n";
    let config = Config { max_connections: Some(1), ..constant(1_000, None) };
    let (totals, _, _) = watch(&plan_of(file), config, 1);
    // After 0, 50, 150, 350, 750, 1550 milliseconds, and then each second.
    assert_eq!(settled(&totals).errors(), 6 + 8);
    assert_eq!(errors(&totals, Class::TooManyConnections), 6 + 8);
}

#[test]
fn a_request_may_time_out_while_it_connects() {
    for job in MODELS {
        let config = Config { connect: Nanos::from_millis(20), ..server() };
        let (totals, _, counts) = watch(&plan(&format!("{job}\ntimeout = 7ms")), config, 1);
        let balance = settled(&totals);
        assert_eq!(errors(&totals, Class::Timeout), balance.scheduled(), "{job}");
        let service = times(&totals, Kind::Service);
        assert!(are_about(service, 7_000), "{job}: {service:?}");
        assert_eq!(number(&counts.connected), 2, "{job}");
    }
}

/// The timeout of a request runs from the start of its connecting.
#[test]
fn timeout_includes_connecting() {
    for (timeout, completed) in [("timeout = 5500us", false), ("timeout = 6500us", true)] {
        let (totals, _, _) = watch(&plan(&format!("rate = 100\n{timeout}")), server(), 1);
        let balance = settled(&totals);
        assert_eq!(balance.completed() == balance.scheduled(), completed, "{timeout}");
        assert_eq!(balance.errors() == balance.scheduled(), !completed, "{timeout}");
    }
}

fn away(from_s: u64, to_s: u64) -> Config {
    let at = |s| Stamp(Nanos::from_secs(s).0);
    Config { outages: vec![at(from_s)..at(to_s)], ..server() }
}

#[test]
fn each_request_to_an_unreachable_target_is_refused() {
    for job in MODELS {
        let (totals, finished, _) = watch(&plan(job), away(4, 6), 1);
        let balance = settled(&totals);
        assert_eq!(errors(&totals, Class::Disconnect), balance.errors(), "{job}");
        assert!(balance.errors() >= 4, "{job}: {balance:?}");
        assert_eq!((balance.rejected(), balance.unsent()), (0, 0), "{job}: {balance:?}");
        let intervals = &totals.account(JOB).intervals;
        assert!(intervals[8].1.completed > 80, "it goes on: {job}");
        assert_eq!(events(&totals, EventKind::OutageBegan), 1, "{job}");
        assert_eq!(events(&totals, EventKind::OutageEnded), 1, "{job}");
        assert_eq!(finished.measured.expect("it was measured").lost, [], "{job}");
        let (_, finished, _) = watch(&plan(job), away(4, 60), 1);
        let lost = finished.measured.expect("it was measured").lost;
        assert_eq!(lost, [JobTarget::Main], "{job}");
    }
}

/// A request gets its worker when the target is back: the outage counts as wait, not service.
#[test]
fn connecting_requests_may_wait_for_an_unreachable_target() {
    for job in MODELS {
        let plan = plan(&format!("{job}\noutage = wait"));
        let (totals, _, _) = watch(&plan, away(4, 6), 1);
        let balance = settled(&totals);
        // Requests in flight when the outage began are errors in any case.
        assert!(balance.errors() <= 4, "{job}: {balance:?}");
        assert_eq!(balance.completed() + balance.errors(), balance.scheduled(), "{job}");
        let (wait, service) = (times(&totals, Kind::Wait), times(&totals, Kind::Service));
        assert!((1_800_000..3_000_000).contains(&wait.1), "{job}: {wait:?}");
        assert!(are_about(service, 6_000), "{job}: {service:?}");
        assert_eq!(events(&totals, EventKind::OutageEnded), 1, "{job}");
        let (totals, _, _) = watch(&plan, away(4, 60), 1);
        assert!(settled(&totals).unsent() > 0, "{job}");
    }
}

#[test]
fn faults_leave_no_request_unsettled_and_no_connection_open() {
    let faults = Config {
        errors: 0.1,
        disconnects: 0.05,
        max_connections: Some(6),
        stall: Nanos::from_millis(200),
        stall_every: Nanos::from_secs(2),
        ..away(5, 6)
    };
    for job in MODELS {
        for outage in ["fail", "wait"] {
            let keys = "timeout = 50ms\nretry = 1 on 40001\nerror = disconnect";
            let plan = plan(&format!("{job}\noutage = {outage}\n{keys}"));
            for threads in [1, 2] {
                let (totals, _, _) = watch(&plan, faults.clone(), threads);
                let balance = settled(&totals);
                assert!(balance.completed() > 200, "{job}: {balance:?}");
                assert!(errors(&totals, Class::Timeout) > 0, "{job}");
                assert!(errors(&totals, Class::Disconnect) > 0, "{job}");
            }
        }
    }
}

/// A connection prepares only the statements of its request's part.
#[test]
fn a_request_of_a_mix_prepares_its_own_statements() {
    let file = "duration = 10s\n\
                [m]\nmix = a:1, b:1\nrate = 100\nreconnect = per-transaction\n\
                [a]\nquery = select 1 /* sim: service=1ms */\nquery = select 2\n\
                [b]\nquery = select 3 /* sim: service=4ms */\n";
    let (totals, _, counts) = watch(&plan_of(file), server(), 1);
    let part = |job| &totals.account(AccountId(job)).window;
    let requests = |job| part(job).counts.balance.completed();
    let named = |name: &str| {
        let plan = plan_of(file);
        plan.jobs_and_parts().position(|either| either.name().ends_with(name)).expect("a part")
            as u16
    };
    let (a, b) = (named("/a"), named("/b"));
    assert_eq!(number(&counts.prepared), 3 + 2 * requests(a) + requests(b));
    for (job, micros) in [(a, 7_000), (b, 9_000)] {
        let service = part(job).histograms.of(Kind::Service);
        let service = (service.min() / 1_000, service.max() / 1_000);
        assert!(are_about(service, micros), "{job}: {service:?}");
    }
}

/// Jobs that keep their connections are not affected by jobs that do not.
#[test]
fn reconnecting_job_does_not_affect_the_connections_of_others() {
    let file = "duration = 10s\n\
                [a]\nquery = select 1\nreconnect = per-transaction\nrate = 100\n\
                [b]\nquery = select 1\nconcurrency = 7\nthink = 10ms\n";
    let (totals, _, counts) = watch(&plan_of(file), server(), 1);
    assert_eq!(number(&counts.connected), settled(&totals).completed() + 2 + 7);
    let beside = totals.account(AccountId(1)).window.counts;
    assert_eq!(beside.balance.completed(), beside.arrivals);
}

#[test]
fn a_statement_that_cannot_be_prepared_ends_the_run_before_it_begins() {
    let file = "duration = 10s\n[a]\nquery = select 1 /* sim: reject */\n\
                reconnect = per-transaction\nrate = 100\n";
    let plan = plan_of(file);
    let server = Simulated::new(server(), plan.seed);
    let memory =
        MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &[1]));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (stop, listener) = (Stop::default(), Arc::new(NoListener));
    let failed = run(&plan, only(server), &virtually(2), outlet, &stop, listener).unwrap_err();
    let RunFailure::Statement { place, .. } = failed else { panic!("{failed}") };
    assert_eq!((place.section.as_str(), place.statement), ("a", Some(1)));
}
