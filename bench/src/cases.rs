//! Benchmark cases: workloads that are run with and without a record.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{Archive, OpLog, OpLogOutlet, OpLogPlan, Recorder};
use base::{AccountId, Nanos, Rate, Seed, Target, WallTime};
use bench::{SimulatedServer, peak_rss};
use driver::{AnyDriver, Mysql, Null, Postgres, Simulated};
use engine::{Drivers, LaneOutlet, NoListener, Options, Stop};
use record::{
    AccountKind, End, EndKind, Grid, Header, JobHeader, MemoryOutlet, OpFormat, Pace, Totals,
};
use sim::{Config, Service};
use workload::{OnQueueFull, Overrides, Pacing, Plan, Schedule};

use crate::output::print_line;

/// A benchmark workload that executes a given number of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// One closed client against the null driver, in real time.
    ClosedNull,
    /// An open loop with more arrivals than can be sent, against the null driver in real time: the
    /// measured time is the cost of a scheduled request.
    OpenNull,
    /// A queue with 16 workers and more arrivals than can be sent, against the null driver in real
    /// time.
    QueueNull,
    /// M/M/1 in virtual time.
    VirtualMm1,
    /// 16 closed clients against a simulated server that speaks PostgreSQL's protocol and answers
    /// at once.
    ClosedPostgres,
    /// 16 closed clients against a simulated server that speaks MySQL's protocol and answers at
    /// once.
    ClosedMysql,
}

/// The cases whose instructions are counted, by their names on the command line.
pub(crate) const GATES: [(&str, Case); 6] = [
    ("closed-null", Case::ClosedNull),
    ("open-null", Case::OpenNull),
    ("queue-null", Case::QueueNull),
    ("virtual-mm1", Case::VirtualMm1),
    ("closed-postgres", Case::ClosedPostgres),
    ("closed-mysql", Case::ClosedMysql),
];

/// The result of a case.
pub(crate) struct Outcome {
    pub(crate) requests: u64,
    /// The histograms and counts that were recorded.
    pub(crate) totals: Totals,
}

const JOB: AccountId = AccountId(0);

/// The arrival rate of the open case and of the queue, per second: more than the engine can send.
/// The engine then never sleeps, and the whole elapsed time is its own cost.
const OVERDUE_PER_S: u64 = 10_000_000;

/// The arrival rate of the virtual case, per second: a utilisation of 0.7.
const VIRTUAL_PER_S: u64 = 700;

impl Case {
    /// Runs the case in memory.
    pub(crate) fn run(self, requests: u64) -> Outcome {
        self.measure(requests, InMemory)
    }

    fn measure<M: Measure>(self, requests: u64, how: M) -> M::Result {
        let plan = self.plan(requests);
        match self {
            Case::ClosedNull | Case::OpenNull | Case::QueueNull => {
                how.measure(&plan, Null.into(), false)
            }
            Case::VirtualMm1 => how.measure(&plan, mm1(plan.seed).into(), true),
            Case::ClosedPostgres => {
                let (_server, target) = simulated("postgres", "postgres");
                let driver = Postgres::open(&target).expect("a URL");
                how.measure(&plan, driver.into(), false)
            }
            Case::ClosedMysql => {
                let (_server, target) = simulated("mariadb", "mysql");
                let driver = Mysql::open(&target, ".").expect("a URL");
                how.measure(&plan, driver.into(), false)
            }
        }
    }

    fn plan(self, requests: u64) -> Plan {
        let pacing = match self {
            Case::ClosedNull => Pacing::Closed { clients: 1, think: None },
            Case::ClosedPostgres | Case::ClosedMysql => Pacing::Closed { clients: 16, think: None },
            Case::OpenNull => open(OVERDUE_PER_S),
            Case::QueueNull => queue(OVERDUE_PER_S),
            Case::VirtualMm1 => open(VIRTUAL_PER_S),
        };
        plan(pacing, requests)
    }
}

fn open(per_s: u64) -> Pacing {
    let rate = Rate::per_second(per_s).expect("a rate of the benchmark");
    Pacing::Open { schedule: Schedule::Poisson(rate), batch: 1 }
}

fn queue(per_s: u64) -> Pacing {
    let rate = Rate::per_second(per_s).expect("a rate of the benchmark");
    Pacing::Queue {
        schedule: Schedule::Poisson(rate),
        batch: 1,
        workers: 16,
        limit: 1_000_000_000,
        on_full: OnQueueFull::Reject,
    }
}

fn plan(pacing: Pacing, requests: u64) -> Plan {
    let text = "connections = 16\n[job]\nquery = select ${uniform(1, 1000000)}\nrate = 1\n";
    let (plan, _) = workload::plan(text, &Overrides::default());
    let mut plan = plan.expect("the benchmark's own workload");
    plan.jobs[0].pacing = pacing;
    plan.jobs[0].count = Some(requests);
    plan
}

/// Starts a simulated server of the given kind. Returns the server and its URL with the given
/// scheme.
fn simulated(kind: &str, scheme: &str) -> (SimulatedServer, Target) {
    let server = SimulatedServer::start("sim:null", kind).expect("a simulated server");
    let url = format!("{scheme}://bench@{}:{}/bench", server.host, server.port);
    (server, Target::parse(&url).expect("a URL"))
}

/// Returns a driver of one simulated server, whose exponential service times have a mean of 1 ms.
fn mm1(seed: Seed) -> Simulated {
    let service = Service::Exponential(Nanos::from_millis(1));
    Simulated::new(Config::new(service, Some(1)), seed)
}

fn options(is_virtual: bool) -> Options {
    match is_virtual {
        true => Options::simulated(),
        false => Options::in_real_time(),
    }
}

/// A destination of the measurements of a case.
trait Measure {
    type Result;

    fn measure(self, plan: &Plan, driver: AnyDriver, is_virtual: bool) -> Self::Result;
}

/// Keeps the measurements in memory.
struct InMemory;

impl Measure for InMemory {
    type Result = Outcome;

    fn measure(self, plan: &Plan, driver: AnyDriver, is_virtual: bool) -> Outcome {
        with_op_log(plan, driver, is_virtual, None)
    }
}

/// Runs the closed case with an op-log. Returns the result and the op-log, which may still have
/// rows to write.
pub(crate) fn logged(requests: u64) -> (Outcome, OpLog) {
    let plan = Case::ClosedNull.plan(requests);
    let path = scratch().with_extension(format!("{requests}.csv"));
    let file = OpLogPlan { path: path.clone(), format: OpFormat::Csv };
    let log = OpLog::create(&file, &["job"], Pace::Real).expect("a scratch file");
    let outcome = with_op_log(&plan, Null.into(), false, Some(&log));
    std::fs::remove_file(path).expect("the scratch file is ours");
    (outcome, log)
}

fn with_op_log(plan: &Plan, driver: AnyDriver, is_virtual: bool, log: Option<&OpLog>) -> Outcome {
    let statements: Vec<u16> =
        plan.jobs_and_parts().map(|either| either.requests().statements.len() as u16).collect();
    let memory =
        MemoryOutlet::new(Totals::new(Grid::new(plan.warmup.known(), plan.duration), &statements));
    let mut outlet = |lane| -> LaneOutlet {
        match log {
            Some(log) => Box::new(OpLogOutlet::new(memory.clone(), log.lane(lane))),
            None => Box::new(memory.clone()),
        }
    };
    let stop = Stop::default();
    let (options, drivers) = (options(is_virtual), Drivers::only(driver));
    engine::run_any(plan, drivers, &options, &mut outlet, &stop, Arc::new(NoListener))
        .expect("the benchmark's run is made");
    let totals = memory.totals().clone();
    Outcome { requests: totals.account(JOB).window.counts.balance.completed(), totals }
}

/// Runs an open loop at a rate against the null driver, in real time.
pub(crate) fn paced(per_s: u64, requests: u64) -> Outcome {
    InMemory.measure(&plan(open(per_s), requests), Null.into(), false)
}

/// Runs a case with a record file, as users do. Returns the number of completed requests.
pub(crate) fn recorded(case: Case, requests: u64) -> u64 {
    case.measure(requests, Recorded)
}

/// Writes the measurements to a record file and reads them back.
struct Recorded;

impl Measure for Recorded {
    type Result = u64;

    fn measure(self, plan: &Plan, driver: AnyDriver, is_virtual: bool) -> u64 {
        recorded_of(plan, is_virtual, driver)
    }
}

fn recorded_of(plan: &Plan, is_virtual: bool, driver: AnyDriver) -> u64 {
    let path = scratch();
    let recorder = Recorder::create(&path, &header(plan, is_virtual)).expect("a scratch file");
    let mut outlet = |_| Box::new(recorder.outlet()) as LaneOutlet;
    let (options, stop) = (options(is_virtual), Stop::default());
    let drivers = Drivers::only(driver);
    let finished =
        engine::run_any(plan, drivers, &options, &mut outlet, &stop, Arc::new(NoListener));
    let measured = finished.expect("the benchmark's run is made").measured;
    let at = measured.map_or(Nanos::ZERO, |measured| measured.length);
    let end = End { at, kind: EndKind::Completed, text: String::new() };
    let path = recorder.finish(end).expect("the record is kept");
    let completed = completed(&path);
    std::fs::remove_file(path).expect("the scratch file is ours");
    completed
}

fn completed(path: &Path) -> u64 {
    let archive = Archive::open(path).expect("the record is whole");
    let evidence = lab::evidence(&archive).expect("the record is whole");
    let summary = analyze::summarize(&evidence);
    summary.jobs.iter().map(|job| job.counts.balance.completed()).sum()
}

fn scratch() -> PathBuf {
    let name = format!("assay-bench-{}.assay", std::process::id());
    std::env::temp_dir().join(name)
}

/// Returns the header of the record of a benchmark.
pub(crate) fn header(plan: &Plan, is_virtual: bool) -> Header {
    let target = base::Target::parse("sim:null").expect("a target of the benchmark");
    let jobs = plan.jobs_and_parts().map(|either| JobHeader {
        name: either.name().to_owned(),
        kind: AccountKind::Job,
        model: either.job().model().to_owned(),
        arrival: either.job().arrival().map(str::to_owned),
        offered_per_s: either.offered_per_s(plan.warmup.known(), plan.duration),
        connections_asked: None,
        statements: vec![String::new(); either.requests().statements.len()],
    });
    Header {
        assay: env!("CARGO_PKG_VERSION").to_owned(),
        commit: None,
        started: WallTime::EPOCH,
        pace: if is_virtual { Pace::Virtual } else { Pace::Real },
        lanes: 1,
        seed: plan.seed,
        target: (&target).into(),
        command: "bench".to_owned(),
        workload: "bench".to_owned(),
        plan: plan.to_text(),
        warmup: plan.warmup.known(),
        duration: plan.duration,
        jobs: jobs.collect(),
    }
}

/// Prints the number of completed requests and the peak resident memory, in bytes, of a virtual run
/// with a record.
pub(crate) fn memory(requests: u64) {
    let completed = recorded(Case::VirtualMm1, requests);
    print_line(format!("{completed} {}", peak_rss()));
}

/// Replays a log of this many lines in virtual time with a record. Prints the number of completed
/// requests and the peak resident memory in bytes.
pub(crate) fn replay(lines: u64) {
    let log = scratch().with_extension("log");
    let mut file = BufWriter::new(File::create(&log).expect("a scratch file"));
    for line in 0..lines {
        writeln!(file, "{},select * from item where id = {line}", line * 1_000).expect("room");
    }
    file.into_inner().expect("room");
    let text = format!("[job]\nquery-log-file = {}\n", log.display());
    let (plan, _) = workload::plan(&text, &Overrides::default());
    let completed = recorded_of(
        &plan.expect("the benchmark's own workload"),
        true,
        Simulated::new(Config::new(Service::Constant(Nanos::from_micros(100)), None), Seed(1))
            .into(),
    );
    std::fs::remove_file(log).expect("the scratch file is ours");
    print_line(format!("{completed} {}", peak_rss()));
}

/// Prints `true` if a workload file is accepted, else `false`, and the peak resident memory in
/// bytes.
pub(crate) fn check(path: &str) {
    let bytes = std::fs::read(path).expect("the benchmark's own file");
    let accepted = match workload::decode(&bytes) {
        Ok(text) => workload::plan(&text, &Overrides::default()).0.is_some(),
        Err(_) => false,
    };
    print_line(format!("{accepted} {}", peak_rss()));
}
