//! Targets with several servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{AccountId, Dialect, Nanos, NodeId, Stamp};
use driver::{Connection, Driver, Error, Simulated, Table, Work};
use engine::{LaneOutlet, Listener, NoListener, RunEvent, RunFailure, Stop, run};
use record::{EventKind, Grid, Kind, MemoryOutlet, Totals};
use rt::Rt;
use sim::Config;
use workload::{Overrides, Pacing};

use crate::support::{
    JOB, constant, delegate_to_inner, only, plan, plan_of, poisson, run_on, virtually,
};

/// A target of two servers, to which connections go in turn.
#[derive(Clone)]
struct TwoServers {
    servers: [Simulated; 2],
    next: Arc<AtomicUsize>,
    counts: Arc<Counts>,
}

/// Numbers of calls to the connections of [`TwoServers`].
#[derive(Default)]
struct Counts {
    /// The number of statements sent as text.
    asked: AtomicUsize,
    /// The number of identifications of each server.
    identified: [AtomicUsize; 2],
}

impl TwoServers {
    fn new(servers: [Simulated; 2]) -> TwoServers {
        TwoServers { servers, next: Arc::default(), counts: Arc::default() }
    }
}

struct ServerDriver {
    inner: <Simulated as Driver>::Connection,
    node: NodeId,
    counts: Arc<Counts>,
}

impl Driver for TwoServers {
    type Connection = ServerDriver;

    fn dialect(&self) -> Dialect {
        self.servers[0].dialect()
    }

    fn stores_data(&self) -> bool {
        false
    }

    fn nodes(&self) -> Vec<String> {
        ["fast", "slow"].map(str::to_owned).into()
    }

    async fn connect(&self, rt: &Rt) -> Result<ServerDriver, Error> {
        let node = self.next.fetch_add(1, Ordering::Relaxed) % self.servers.len();
        let connected = self.servers[node].connect(rt).await;
        let node = NodeId(node as u16);
        let inner = connected.map_err(|error| error.of_node(node))?;
        Ok(ServerDriver { inner, node, counts: Arc::clone(&self.counts) })
    }

    fn time_zero(&self, zero: Stamp) {
        self.servers.iter().for_each(|server| server.time_zero(zero));
    }
}

impl Connection for ServerDriver {
    fn node(&self) -> NodeId {
        self.node
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.inner.run(work).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.counts.asked.fetch_add(1, Ordering::Relaxed);
        self.inner.query_text(sql).await
    }

    async fn identify(&mut self) {
        self.counts.identified[self.node.index()].fetch_add(1, Ordering::Relaxed);
    }

    delegate_to_inner!(prepare, settings, close, abandon);
}

#[test]
fn every_request_that_was_sent_counts_at_its_server_too() {
    for threads in [1, 2] {
        let plan = plan(poisson(400), 2.0, 20.0, 1);
        let server = |micros| Simulated::new(constant(micros, None), plan.seed);
        let driver = TwoServers::new([server(1_000), server(3_000)]);
        let options = virtually(threads);
        let (totals, _) = run_on(&plan, driver, &options, &Stop::default());
        let window = |job| &totals.account(job).window;
        let (whole, nodes) = (window(JOB), [window(AccountId(1)), window(AccountId(2))]);
        let completed = nodes.map(|node| node.counts.balance.completed());
        let arrived: u64 = nodes.iter().map(|node| node.counts.arrivals).sum();
        let answered: u64 = completed.iter().sum();
        assert_eq!([answered, arrived], [whole.counts.balance.completed(); 2]);
        let means = nodes.map(|node| node.histograms.of(Kind::Service).mean());
        assert!((means[0] - 1e6).abs() < 1e4 && (means[1] - 3e6).abs() < 3e4, "{means:?}");
    }
}

/// Expects the outage of a server to last until that server accepts clients again. The other server
/// answers all requests meanwhile, so the target is not lost.
#[test]
fn outage_of_one_of_two_servers_lasts_until_it_accepts_again() {
    for (until_s, ended) in [(100, 0), (12, 1)] {
        let plan = plan(Pacing::Closed { clients: 4, think: None }, 0.0, 20.0, 1);
        let outages = vec![Stamp(5_000_000_000)..Stamp(until_s * 1_000_000_000)];
        // Connections break now and then and are opened again at the next server in turn.
        let healthy = Config { disconnects: 0.01, ..constant(10_000, None) };
        let server = |config| Simulated::new(config, plan.seed);
        let away = Config { outages, ..healthy.clone() };
        let driver = TwoServers::new([server(healthy), server(away)]);
        let (totals, finished) = run_on(&plan, driver, &virtually(1), &Stop::default());
        assert_eq!(finished.measured.expect("it was measured").lost, []);
        let of = |kind| totals.events.iter().filter(move |event| event.kind == kind);
        let began: Vec<_> = of(EventKind::OutageBegan).collect();
        assert_eq!((began.len(), of(EventKind::OutageEnded).count()), (1, ended), "{began:?}");
        assert!((5.0..5.1).contains(&began[0].at.as_secs_f64()), "{began:?}");
        assert!(began[0].text.starts_with("slow of the target refuses connections"), "{began:?}");
        let seconds = &totals.account(JOB).intervals[6..10];
        assert!(seconds.iter().all(|(_, ends)| ends.completed > 350), "{seconds:?}");
    }
}

/// Requests open their own connections, and must go to the server that is left. Service begins with
/// the attempt that succeeds, so the refused one lengthens no service time.
#[test]
fn request_that_connects_and_may_wait_tries_the_other_server() {
    for job in ["rate = 40", "every = 25ms", "rate = 40\nconcurrency = 3", "concurrency = 4"] {
        let plan = plan_of(&format!(
            "duration = 10s\n[a]\nquery = select 1\n\
             reconnect = per-transaction\noutage = wait\n{job}\n"
        ));
        let healthy = Config { connect: Nanos::from_millis(5), ..constant(1_000, None) };
        let outages = vec![Stamp(4_000_000_000)..Stamp(100_000_000_000)];
        let away = Config { outages, ..healthy.clone() };
        let server = |config| Simulated::new(config, plan.seed);
        let driver = TwoServers::new([server(healthy), server(away)]);
        let (totals, _) = run_on(&plan, driver, &virtually(1), &Stop::default());
        let window = &totals.account(JOB).window;
        let balance = window.counts.balance;
        // Requests in flight when the outage began are errors in any case.
        assert!(balance.completed() > 300 && balance.errors() <= 4, "{job}: {balance:?}");
        assert_eq!(balance.completed() + balance.errors(), balance.scheduled(), "{job}");
        let longest = |kind| window.histograms.of(kind).max();
        assert!(longest(Kind::Service) < 7_000_000, "{job}: {}", longest(Kind::Service));
        assert!(longest(Kind::Wait) < 1_000_000_000, "{job}: {}", longest(Kind::Wait));
    }
}

/// Expects every server to be reached before setup changes one. If setup changed only one of the
/// servers, they would differ.
#[test]
fn every_server_is_reached_before_setup_changes_one() {
    let file = "duration = 1s\n[setup]\nquery = create table t (a int)\n[a]\nquery = select 1\n";
    let (plan, _) = workload::plan(file, &Overrides::default());
    let plan = plan.expect("a plan");
    let server = || Simulated::new(constant(1_000, None), plan.seed);
    let full = Config { max_connections: Some(0), ..constant(1_000, None) };
    let second = Simulated::new(full, plan.seed);
    let driver = TwoServers::new([server(), second]);
    let counts = Arc::clone(&driver.counts);
    let memory = MemoryOutlet::new(Totals::new(Grid::new(Nanos::ZERO, plan.duration), &[1]));
    let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
    let (stop, listener) = (Stop::default(), Arc::new(NoListener));
    let failed = run(&plan, only(driver), &virtually(1), outlet, &stop, listener);
    let Err(RunFailure::Unreachable(_)) = failed else { panic!("{failed:?}") };
    assert_eq!(counts.asked.load(Ordering::Relaxed), 0, "the first was asked for something");
}

/// A listener that counts failures of the teardown.
#[derive(Default)]
struct TeardownListener {
    failures: AtomicUsize,
}

impl Listener for TeardownListener {
    fn on_event(&self, event: &RunEvent<'_>) {
        if matches!(event, RunEvent::TeardownFailed(_) | RunEvent::TeardownSkipped { .. }) {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn teardown_runs_on_the_server_that_is_left() {
    let plan = plan_of(
        "duration = 6s
[a]
query = select 1
concurrency = 2
[teardown]
query = drop it
",
    );
    let healthy = constant(10_000, None);
    let outages = vec![Stamp(4_000_000_000)..Stamp(100_000_000_000)];
    let away = Config { outages, ..healthy.clone() };
    // The next connection in turn is to the unreachable server in one of the two cases.
    for configs in [[&healthy, &away], [&away, &healthy]] {
        let servers = configs.map(|config| Simulated::new(config.clone(), plan.seed));
        let driver = TwoServers::new(servers);
        let counts = Arc::clone(&driver.counts);
        let grid = Grid::new(Nanos::ZERO, plan.duration);
        let memory = MemoryOutlet::new(Totals::new(grid, &[1, 0, 0]));
        let outlet = |_| Box::new(memory.clone()) as LaneOutlet;
        let listener = Arc::new(TeardownListener::default());
        let (stop, options) = (Stop::default(), virtually(1));
        run(&plan, only(driver), &options, outlet, &stop, Arc::clone(&listener) as _)
            .expect("a simulated run does not fail");
        assert_eq!(listener.failures.load(Ordering::Relaxed), 0);
        assert!(counts.asked.load(Ordering::Relaxed) > 0, "no statement ran");
    }
}

/// Expects every server to be identified, because session ids are compared per server: two servers
/// may give the same id, one of them to a session of the run and the other to a different client.
#[test]
fn every_server_is_identified_before_the_jobs() {
    let plan = plan(poisson(10), 0.0, 1.0, 1);
    let server = || Simulated::new(constant(1_000, None), plan.seed);
    let driver = TwoServers::new([server(), server()]);
    let counts = Arc::clone(&driver.counts);
    run_on(&plan, driver, &virtually(1), &Stop::default());
    let identified = counts.identified.each_ref().map(|count| count.load(Ordering::Relaxed));
    assert!(identified.iter().all(|count| *count > 0), "{identified:?}");
}
