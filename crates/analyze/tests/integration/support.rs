//! Runs without a database: evidence of a run in which everything is right, so that a test can
//! plant one fault in it.

use analyze::{
    Check, ClientSample, Evidence, HowEnded, JobEvidence, Status, Step, Steps, Summary, summarize,
};
use base::Nanos;
use record::{Balance, Counts, Ends, Event, EventKind, Grid, JobIndex, Kind};
use workload::Overrides;

/// An open job that is asked 1,000 times a second for a minute, of which 50 s are measured.
pub(crate) const OPEN: &str =
    "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = 1000\n";

/// A closed job beside the open one.
pub(crate) const MIXED: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = \
                                1000\n[write]\nquery = select 2\nconcurrency = 4\n";

/// Requests that come due in each second, and are answered in it, of each job of [`steady`].
pub(crate) const PER_S: u64 = 1_000;

/// A run of this workload that ended by itself. Each job has [`PER_S`] requests in every second,
/// which are answered at once, after 1 ms to 4 ms, and were sent 20 µs late.
pub(crate) fn steady(workload: &str) -> Evidence {
    let mut evidence = nothing(workload);
    let seconds = seconds(&evidence);
    for place in 0..evidence.jobs.len() {
        evidence.jobs[place].steps = vec![answered(PER_S); seconds as usize];
        for (kind, time_ms, share) in [
            (Kind::Response, 1.0, 0.8),
            (Kind::Response, 4.0, 0.2),
            (Kind::Service, 1.0, 0.8),
            (Kind::Service, 4.0, 0.2),
            (Kind::Wait, 0.01, 1.0),
            (Kind::SendLag, 0.02, 1.0),
        ] {
            let measured = evidence.steps.window().len() as f64 * PER_S as f64;
            add_times(&mut evidence, place, kind, time_ms, (measured * share) as u64);
        }
    }
    evidence
}

/// The same without any request.
pub(crate) fn nothing(workload: &str) -> Evidence {
    let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
    let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let end = plan.duration.unwrap_or(Nanos::from_secs(60));
    let mut evidence = Evidence {
        is_virtual: false,
        threads: 2,
        steps: Steps::new(Grid::new(plan.warmup, plan.duration), end, plan.probe),
        ended: Some(HowEnded::Completed),
        jobs: plan.jobs.iter().map(|job| idle_job(job.statements.len())).collect(),
        nodes: Vec::new(),
        disturbances: Vec::new(),
        events: Vec::new(),
        client: Vec::new(),
        loads: Vec::new(),
        plan,
    };
    evidence.client = (0..=seconds(&evidence)).map(|second| used(second, 40)).collect();
    evidence
}

/// Lets a run end then.
pub(crate) fn end_at(evidence: &mut Evidence, at: Nanos) {
    let grid = Grid::new(evidence.plan.warmup, evidence.plan.duration);
    evidence.steps = Steps::new(grid, at, evidence.plan.probe);
}

fn seconds(evidence: &Evidence) -> u64 {
    evidence.end().0.div_ceil(1_000_000_000)
}

fn idle_job(statements: usize) -> JobEvidence {
    let statements = (0..statements as u16).map(Kind::Statement);
    JobEvidence {
        steps: Vec::new(),
        window: Kind::OF_A_JOB.into_iter().chain(statements).map(|k| (k, k.histogram())).collect(),
        probes: Vec::new(),
        course: Vec::new(),
        failures: Vec::new(),
    }
}

/// A second with so many requests, all of them answered in it.
pub(crate) fn answered(requests: u64) -> Step {
    Step {
        counts: Counts {
            arrivals: requests,
            balance: Balance::of(requests, 0, 0, 0),
            ..Counts::default()
        },
        ends: Ends { completed: requests, errors: 0, rows: requests },
        connections: 4,
    }
}

/// What the generator had used after so many seconds, of which so many milliseconds in each.
pub(crate) fn used(second: u64, ms_per_s: u64) -> ClientSample {
    ClientSample {
        at: Nanos::from_secs(second),
        user: Nanos::from_millis(second * ms_per_s / 4),
        system: Nanos::from_millis(second * ms_per_s * 3 / 4),
        peak_rss_bytes: 1_000_000 + second,
    }
}

/// Adds times to a distribution of a job.
pub(crate) fn add_times(evidence: &mut Evidence, place: usize, kind: Kind, ms: f64, count: u64) {
    let mut histograms = evidence.jobs[place].window.iter_mut();
    let (_, histogram) = histograms.find(|(k, _)| *k == kind).unwrap();
    histogram.record_n((ms * 1e6) as u64, count).unwrap();
}

/// Replaces a distribution of a job by so many equal times.
pub(crate) fn set_times(evidence: &mut Evidence, place: usize, kind: Kind, ms: f64, count: u64) {
    let mut histograms = evidence.jobs[place].window.iter_mut();
    histograms.find(|(k, _)| *k == kind).unwrap().1 = kind.histogram();
    add_times(evidence, place, kind, ms, count);
}

/// Makes so many completed requests of a second end otherwise: errors, rejected, unsent.
pub(crate) fn turn_bad(evidence: &mut Evidence, place: usize, second: usize, bad: [u64; 3]) {
    let Step { counts, ends, .. } = &mut evidence.jobs[place].steps[second];
    let [errors, rejected, unsent] = bad;
    let completed = counts.balance.completed() - errors - rejected - unsent;
    counts.balance = Balance::of(completed, errors, rejected, unsent);
    ends.completed = completed;
    ends.errors += errors;
}

/// Lets a job answer all it is asked until `from`, and then so many a second.
pub(crate) fn answer_only(evidence: &mut Evidence, place: usize, from: usize, per_s: u64) {
    for interval in &mut evidence.jobs[place].steps[from..] {
        let completed = per_s.min(interval.counts.arrivals);
        interval.ends.completed = completed;
    }
}

pub(crate) fn event(at_ms: u64, job: Option<u16>, kind: EventKind, text: &str) -> Event {
    Event { at: Nanos::from_millis(at_ms), job: job.map(JobIndex), kind, text: text.to_owned() }
}

/// The names of the checks in their order.
pub(crate) const CHECKS: [&str; 10] = [
    "complete",
    "window",
    "balance",
    "send-lag",
    "backlog",
    "errors",
    "outage",
    "connections",
    "overflow",
    "files",
];

/// Asserts that a check finds this in the evidence, and that every other check passes.
#[track_caller]
pub(crate) fn only(name: &str, status: Status, evidence: &Evidence) -> Check {
    let Summary { verdict, .. } = summarize(evidence);
    let names: Vec<&str> = verdict.checks.iter().map(|check| check.name).collect();
    assert_eq!(names, CHECKS);
    for check in &verdict.checks {
        let expected = if check.name == name { status } else { Status::Pass };
        assert_eq!(check.status, expected, "{check:?}");
        assert!(check.value.is_none_or(f64::is_finite), "{check:?}");
    }
    verdict.checks.into_iter().find(|check| check.name == name).unwrap()
}

/// What a check finds in the evidence.
#[track_caller]
pub(crate) fn check(name: &str, evidence: &Evidence) -> Check {
    let checks = summarize(evidence).verdict.checks;
    checks.into_iter().find(|check| check.name == name).unwrap()
}
