//! Simulated runs without an engine: random requests, determined by the seed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use archive::{Archive, LiveView, Recorder, RecorderOutlet};
use base::{AccountId, Class, Code, Draw, Nanos, Seed, Stamp, Stream, Target, WallTime};
use record::{
    AccountKind, Dispatch, End, EndKind, Failure, Gauge, Header, JobHeader, Ledger, Outcome,
    Outlet, Pace, Request, RequestEnd, RequestWork, TargetText,
};

pub(crate) const READ: AccountId = AccountId(0);
pub(crate) const WRITE: AccountId = AccountId(1);

/// Part of the name of every directory, and so of the path of every record.
pub(crate) const DIRECTORY: &str = "assay-test";

/// A new empty directory in the temporary directory, removed with this value.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> TestFolder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = format!("{DIRECTORY}-{}-{number}-{name}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        std::fs::create_dir(&directory).unwrap();
        TestFolder(directory)
    }

    pub(crate) fn record(&self) -> PathBuf {
        self.0.join("run.assay")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.0
    }

    /// Returns the names of all files in the directory.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).unwrap();
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the header of a job that is open, at 40/s, or closed, with 4 connections.
pub(crate) fn job(name: &str, model: &str, statements: &[&str]) -> JobHeader {
    JobHeader {
        name: name.to_owned(),
        kind: AccountKind::Job,
        model: model.to_owned(),
        arrival: (model == "open").then(|| "poisson".to_owned()),
        offered_per_s: (model == "open").then_some(40.0),
        connections_asked: (model == "closed").then_some(4),
        statements: statements.iter().map(|text| (*text).to_owned()).collect(),
    }
}

pub(crate) fn header(pace: Pace) -> Header {
    let target = Target::parse("postgres://ann:hunter2@db1/shop").unwrap();
    Header {
        assay: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        started: WallTime(1_795_292_102_000_000_000),
        pace,
        lanes: 3,
        seed: Seed(u64::MAX),
        target: TargetText::from(&target),
        command: "assay run shop.ini --url postgres://ann@db1/shop".to_owned(),
        workload: "shop.ini".to_owned(),
        plan: "read: open, 40/s\nwrite: closed".to_owned(),
        warmup: Nanos::from_millis(2_500),
        duration: Some(Nanos::from_secs(20)),
        jobs: vec![
            job("read", "open", &["select 1", "select 2"]),
            job("write now", "closed", &["update t set a = 1"]),
        ],
    }
}

pub(crate) fn end() -> End {
    End { at: Nanos::from_secs(20), kind: EndKind::Completed, text: String::new() }
}

/// The numbers of statements of the jobs.
pub(crate) const STATEMENTS: [u16; 2] = [2, 1];

/// Time zero on the clock of the lanes.
pub(crate) const ZERO: Stamp = Stamp(7_000_000_000);

/// Creates the ledgers of some lanes.
pub(crate) fn ledgers<O: Outlet>(
    header: &Header,
    lanes: u16,
    mut outlet: impl FnMut() -> O,
) -> Vec<Ledger<O>> {
    let ledger = |lane| Ledger::new(lane, ZERO, header.grid(), &STATEMENTS, outlet());
    (0..lanes).map(ledger).collect()
}

/// A run of evenly spaced requests with random durations and outcomes.
#[derive(Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) seed: Seed,
    pub(crate) seconds: u64,
    pub(crate) per_s: u64,
    /// Mean service time of one request in ten.
    pub(crate) slow: Nanos,
    /// Upper bound of the service time of one request in fifty.
    pub(crate) longest: Nanos,
}

impl Scenario {
    pub(crate) const SHORT: Scenario = Scenario {
        seed: Seed(11),
        seconds: 20,
        per_s: 80,
        slow: Nanos::from_millis(400),
        longest: Nanos::from_secs(15),
    };

    /// A long run of short requests.
    pub(crate) const QUICK: Scenario = Scenario {
        seed: Seed(11),
        seconds: 100_000,
        per_s: 40,
        slow: Nanos::from_millis(4),
        longest: Nanos::from_millis(1),
    };

    /// Runs the scenario on lanes, which take turns request by request.
    pub(crate) fn run<O: Outlet>(
        &self,
        mut lanes: Vec<Ledger<O>>,
        mut after_second: impl FnMut(&mut [Ledger<O>], u64),
    ) {
        let stream = Stream::new(self.seed, "scenario", "request");
        let mut in_flight = RequestsInFlight::default();
        let count = lanes.len();
        for number in 0..self.seconds * self.per_s {
            let at = ZERO + Nanos(number * 1_000_000_000 / self.per_s);
            in_flight.settle_until(at, &mut lanes);
            let job = if number % 4 == 0 { WRITE } else { READ };
            let lane = number as usize % count;
            let request = lanes[lane].arrive(job, number, at, at + Nanos(30_000));
            lanes[lane].record_gap(job, Nanos(1_000_000_000 / self.per_s));
            in_flight.add(self, lane, request, job, stream.draw(number));
            if (number + 1) % self.per_s == 0 {
                let second = number / self.per_s + 1;
                let now = ZERO + Nanos::from_secs(second);
                in_flight.settle_until(now, &mut lanes);
                for lane in &mut lanes {
                    let gauge = Gauge { in_flight: second, queued: 1, connections: 4 };
                    lane.close_interval(now, || vec![gauge; 2]);
                }
                after_second(&mut lanes, second);
            }
        }
        in_flight.settle_until(Stamp::NEVER, &mut lanes);
        lanes.into_iter().for_each(Ledger::finish);
    }
}

/// Requests in flight, by the time at which they will end.
#[derive(Default)]
struct RequestsInFlight(BTreeMap<(Stamp, u64), (usize, Request, Plan)>);

struct Plan {
    outcome: Outcome,
    sent: Stamp,
    statements: usize,
}

impl RequestsInFlight {
    fn add(
        &mut self,
        scenario: &Scenario,
        lane: usize,
        request: Request,
        job: AccountId,
        mut draw: Draw,
    ) {
        let mean = if draw.below(10) == 0 { scenario.slow } else { Nanos::from_millis(4) };
        let service = if draw.below(50) == 0 {
            Nanos(draw.below(scenario.longest.0))
        } else {
            Nanos::from_secs_f64(draw.exponential() * mean.as_secs_f64())
        };
        let failed = |class, code, accepted| {
            Outcome::Failed(Failure { class, code: Code::new(code), accepted })
        };
        let outcome = match draw.below(40) {
            0 => Outcome::Rejected,
            1 => Outcome::Unsent,
            2 => failed(Class::Timeout, "timeout", false),
            3 | 4 => failed(Class::Conflict, "40001", true),
            5 => failed(Class::Constraint, "23505", false),
            _ => Outcome::Completed,
        };
        let sent = request.noticed() + Nanos(draw.below(100_000));
        let statements = usize::from(STATEMENTS[usize::from(job.0)]);
        let key = (sent + service, request.number());
        self.0.insert(key, (lane, request, Plan { outcome, sent, statements }));
    }

    fn settle_until<O: Outlet>(&mut self, now: Stamp, lanes: &mut [Ledger<O>]) {
        while let Some(first) = self.0.first_entry() {
            let (done, _) = *first.key();
            if done > now {
                return;
            }
            let (lane, request, Plan { outcome, sent, statements }) = first.remove();
            let part = Nanos(done.since(sent).0 / statements as u64);
            let work = RequestWork {
                rows: 2,
                bytes_sent: 41,
                bytes_received: 97,
                ..RequestWork::default()
            };
            let parts = vec![part; statements];
            let is_sent = !matches!(outcome, Outcome::Rejected | Outcome::Unsent);
            let ending = if is_sent {
                let dispatch = Dispatch { assigned: request.noticed(), sent };
                RequestEnd {
                    outcome,
                    sent: Some(dispatch),
                    done,
                    work,
                    statements: &parts,
                    node: None,
                }
            } else {
                RequestEnd::without_sending(outcome, done)
            };
            let _ = lanes[lane].settle(request, ending);
        }
    }
}

/// Waits until the live view has the interval before this second, or the recorder has failed.
/// A call every second keeps the lane from running ahead of the recorder.
pub(crate) fn keep_step(recorder: &Recorder, live: &LiveView, second: u64) {
    let is_behind = || live.latest().is_none_or(|live| u64::from(live.interval) + 1 < second);
    while is_behind() && !recorder.is_broken() {
        std::thread::yield_now();
    }
}

/// Records the scenario in virtual time.
pub(crate) fn record(path: &Path, scenario: Scenario, lanes: u16) {
    record_with(path, scenario, lanes, |_| {});
}

/// Records the scenario in virtual time, with facts.
pub(crate) fn record_with(
    path: &Path,
    scenario: Scenario,
    lanes: u16,
    facts: impl FnOnce(&Recorder),
) {
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(path, &header).unwrap();
    facts(&recorder);
    let lanes: Vec<Ledger<RecorderOutlet>> = ledgers(&header, lanes, || recorder.outlet());
    scenario.run(lanes, |_, _| {});
    recorder.finish(end()).unwrap();
}

/// Returns all rows of all tables except `seal`, as text.
pub(crate) fn dump(path: &Path) -> String {
    use rusqlite::{Connection, types::Value};
    let connection = Connection::open(path).unwrap();
    let tables = "select name from sqlite_schema where type = 'table' and name <> 'seal'";
    let mut tables = connection.prepare(tables).unwrap();
    let tables: Vec<String> =
        tables.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let mut dump = String::new();
    for table in tables {
        let key = if table == "histogram" { "job, kind, interval" } else { "1, 2, 3, 4" };
        let mut select =
            connection.prepare(&format!("select * from {table} order by {key}")).unwrap_or_else(
                |_| connection.prepare(&format!("select * from {table} order by 1, 2")).unwrap(),
            );
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<Value> = (0..columns).map(|column| row.get(column).unwrap()).collect();
            dump.push_str(&format!("{table} {values:?}\n"));
        }
    }
    dump
}

/// Reads everything through the reader's interface, and returns the number of rows.
pub(crate) fn read_all(archive: &Archive) -> Result<usize, archive::RecordError> {
    let mut rows = archive.events()?.len()
        + archive.client()?.len()
        + archive.settings()?.len()
        + archive.loads()?.iter().map(|load| 1 + load.progress.len()).sum::<usize>();
    for job in archive.accounts() {
        rows += archive.intervals(job)?.len() + archive.failures(job, 0..u32::MAX)?.len();
        for kind in archive.kinds(job) {
            archive.histogram(job, kind, 0..u32::MAX)?;
            archive.each_histogram(job, kind, 0..u32::MAX, |_| rows += 1)?;
        }
    }
    Ok(rows)
}

/// Formats an error with its causes, as `main` prints it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
