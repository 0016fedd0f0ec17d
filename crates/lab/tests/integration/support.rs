//! Records written without an engine, from requests at known instants on two lanes. Also runs in
//! virtual time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use analyze::{Evidence, Finding, Summary, summarize};
use archive::{Archive, Recorder, RecorderOutlet};
use base::{AccountId, Nanos, Seed, Stamp, Target, WallTime};
use engine::{NoListener, Options};
use lab::{Order, RecordPlace, run};
use record::{
    AccountKind, Dispatch, End, EndKind, Gauge, Header, JobHeader, Ledger, Outcome, Pace, Request,
    RequestEnd, RequestWork,
};
use workload::{Overrides, Plan};

pub(crate) const JOB: AccountId = AccountId(0);

/// Time zero on the clock of the lanes.
pub(crate) const ZERO: Stamp = Stamp(7_000_000_000);

/// A workload with a warm-up of one second, and a probe every two seconds.
pub(crate) const WORKLOAD: &str =
    "duration = 60s\nwarmup = 1s\nprobe = 2s\n[read]\nquery = select 1\nrate = 10\n";

/// A temporary directory.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new() -> TestFolder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = format!("assay-lab-test-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(directory);
        std::fs::create_dir(&directory).unwrap();
        TestFolder(directory)
    }

    pub(crate) fn record(&self) -> PathBuf {
        self.0.join("run.assay")
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn plan(workload: &str) -> Plan {
    let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
    plan.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

pub(crate) fn header(workload: &str) -> Header {
    let plan = plan(workload);
    let job = |either: workload::JobOrPart<'_>| JobHeader {
        name: either.name().to_owned(),
        kind: AccountKind::Job,
        model: either.job().model().to_owned(),
        arrival: either.job().arrival().map(str::to_owned),
        offered_per_s: either.offered_per_s(plan.warmup.known(), plan.duration),
        connections_asked: None,
        statements: either.requests().statements.iter().map(|_| "select 1".to_owned()).collect(),
    };
    Header {
        assay: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        started: WallTime(1_795_292_102_000_000_000),
        pace: Pace::Real,
        lanes: 2,
        seed: plan.seed,
        target: (&Target::parse("sim:mm1").unwrap()).into(),
        command: "assay run shop.ini".to_owned(),
        workload: "shop.ini".to_owned(),
        plan: plan.to_text(),
        warmup: plan.warmup.known(),
        duration: plan.duration,
        jobs: plan.jobs_and_parts().map(job).collect(),
    }
}

pub(crate) fn ended(kind: EndKind, at: Nanos) -> End {
    End { at, kind, text: String::new() }
}

/// A record that is being written by two lanes.
pub(crate) struct Run {
    pub(crate) recorder: Recorder,
    pub(crate) lanes: [Ledger<RecorderOutlet>; 2],
    number: u64,
}

impl Run {
    pub(crate) fn begin(path: &Path) -> Run {
        let header = header(WORKLOAD);
        let recorder = Recorder::create(path, &header).unwrap();
        let lanes =
            [0, 1].map(|lane| Ledger::new(lane, ZERO, header.grid(), &[1], recorder.outlet()));
        Run { recorder, lanes, number: 0 }
    }

    /// Records the arrival of a request, this many milliseconds after time zero.
    pub(crate) fn arrive(&mut self, lane: usize, ms: u64) -> Request {
        let at = ZERO + Nanos::from_millis(ms);
        self.number += 1;
        self.lanes[lane].arrive(JOB, self.number, at, at)
    }

    /// Records the answer to a request, this many milliseconds after time zero.
    pub(crate) fn answer(&mut self, lane: usize, request: Request, ms: u64) {
        let (sent, done) = (request.noticed(), ZERO + Nanos::from_millis(ms));
        let dispatch = Dispatch { assigned: sent, sent };
        let ending = RequestEnd {
            outcome: Outcome::Completed,
            sent: Some(dispatch),
            done,
            work: RequestWork::default(),
            statements: &[done.since(sent)],
            node: None,
        };
        let _ = self.lanes[lane].settle(request, ending);
    }

    /// Records requests in a second, each of which is answered after 2 ms.
    pub(crate) fn record_requests(&mut self, lane: usize, second: u64, requests: u64) {
        for number in 0..requests {
            let at = second * 1_000 + 50 + number * 10;
            let request = self.arrive(lane, at);
            self.answer(lane, request, at + 2);
        }
    }

    /// Records that a lane has completed a second.
    pub(crate) fn end_second(&mut self, lane: usize, second: u64) {
        let gauge = Gauge { in_flight: 1, queued: 0, connections: 4 };
        self.lanes[lane].close_interval(ZERO + Nanos::from_secs(second + 1), || vec![gauge]);
    }

    /// Waits until everything that both lanes delivered up to the end of this second is in the
    /// file.
    pub(crate) fn wait_until_written(&self, second: u32) {
        let live = self.recorder.live();
        while live.latest().is_none_or(|live| live.interval < second) {
            std::thread::yield_now();
        }
        // The live figures appear before the second is written. The recorder has certainly finished
        // writing once it has taken more messages than its channel holds.
        let facts = self.recorder.facts();
        (0..100).for_each(|number| facts.setting("number", number.to_string()));
    }
}

/// Returns the evidence and the summary of a record.
pub(crate) fn read(path: &Path) -> (Evidence, Summary) {
    let evidence = lab::evidence(&Archive::open(path).unwrap()).unwrap();
    let summary = summarize(&evidence);
    (evidence, summary)
}

/// Runs a workload in virtual time, and returns the evidence and the summary of its record.
pub(crate) fn simulate(workload: &str, threads: u16, target: &str) -> (Evidence, Summary) {
    let place = TestFolder::new();
    let options = Options { threads, ..Options::simulated() };
    let order = Order {
        workload: "shop.ini".to_owned(),
        command: "assay run shop.ini".to_owned(),
        version: "0.1.0".to_owned(),
        ..Order::new(
            plan(workload),
            Target::parse(target).unwrap(),
            options,
            RecordPlace::Exactly(place.record()),
        )
    };
    run(order, Arc::new(NoListener), |_| {}).unwrap();
    read(&place.record())
}

/// Returns the status and the finding of a check.
pub(crate) fn check(summary: &Summary, name: &str) -> (&'static str, Finding) {
    let check = summary.verdict.checks.iter().find(|check| check.name() == name).unwrap();
    (check.status.name(), check.finding.clone())
}

/// The seed of a plan whose workload file sets none.
pub(crate) const SEED: Seed = Seed(42);
