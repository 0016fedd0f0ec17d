//! Runs without a database: faultless evidence in which a test can plant one fault.

use analyze::{
    Calibration, Check, ClientSample, DatabaseLocation, Distribution, Evidence, Figures,
    JobEvidence, Observed, Route, ServerCounters, Status, Step, Steps, Summary, Surroundings,
    UsedTarget, WarmupEnd, summarize,
};
use base::{AccountId, Nanos, StatementId};
use record::{Balance, Counts, EndCounts, EndKind, Event, EventKind, Grid, Kind};
use workload::Overrides;

/// An open job with 1,000 requests per second for a minute; 50 s of it are measured.
pub(crate) const OPEN: &str =
    "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = 1000\narrival = uniform\n";

/// A closed job alongside the open one. Its four clients pause for 2.4 ms after each answer.
pub(crate) const MIXED: &str = "duration = 60s\nwarmup = 10s\n[read]\nquery = select 1\nrate = \
                                1000\narrival = uniform\n[write]\nquery = select 2\nconcurrency \
                                = 4\nthink = 2400us\n";

/// Requests per second of each job of [`steady`], all answered in the second in which they are due.
pub(crate) const PER_S: u64 = 1_000;

/// Returns a completed run of this workload. Each job has [`PER_S`] requests in every second. They
/// have a send lag of 20 µs, and are answered in the same second, after 1 ms or 4 ms.
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

/// Returns a run without any request.
pub(crate) fn nothing(workload: &str) -> Evidence {
    let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
    let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let end = plan.duration.unwrap_or(Nanos::from_secs(60));
    let mut evidence = Evidence {
        unread_plan: None,
        is_virtual: false,
        threads: 2,
        spins: false,
        warmup: WarmupEnd::Given,
        steps: Steps::new(Grid::new(plan.warmup.known(), plan.duration), end, plan.probe),
        ended: Some(EndKind::Completed),
        jobs: plan
            .jobs_and_parts()
            .map(|either| idle_job(either.requests().statements.len()))
            .collect(),
        nodes: Vec::new(),
        disturbances: Vec::new(),
        events: Vec::new(),
        client: Vec::new(),
        loads: Vec::new(),
        unseen: Vec::new(),
        observed: Vec::new(),
        surroundings: calibrated(),
        server_counters: ServerCounters::default(),
        plan,
    };
    let seconds = seconds(&evidence);
    evidence.client = (0..=seconds).map(|second| used(second, 40)).collect();
    evidence.observed = idle(seconds);
    evidence
}

/// Returns the observations of a nearly idle machine with two processors for a number of seconds:
/// two threads each use at most 4 % of a processor and hardly ever wait for one.
fn idle(seconds: u64) -> Vec<Observed> {
    let rates = [
        ("lane-0", "ran", 0.04),
        ("lane-0", "waited", 0.001),
        ("lane-1", "ran", 0.03),
        ("lane-1", "waited", 0.002),
        ("host", "processors", 2.0),
        ("host", "stolen", 0.002),
        ("host", "wall-clock", 0.0),
        ("host", "frequency", 0.0),
    ];
    let grown = |(component, metric, per_s): (&str, &str, f64)| Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: (0..=seconds).map(|s| (Nanos::from_secs(s), 7.0 + per_s * s as f64)).collect(),
        ranges: Vec::new(),
    };
    rates.into_iter().map(grown).collect()
}

/// Returns a calibrated machine with its PostgreSQL on the same host.
fn calibrated() -> Surroundings {
    let figures = Figures { service_p50_ns: Some(25e3), per_s: Some(50_000.0) };
    Surroundings {
        main: UsedTarget { route: Some(Route::Postgres), location: DatabaseLocation::ThisHost },
        named: Vec::new(),
        calibration: Some(Calibration {
            clock_cost_ns: Some(25.0),
            clock_resolution_ns: Some(20.0),
            routes: vec![(Route::Postgres, figures)],
        }),
        varies_servers: false,
    }
}

/// Replaces the readings of a metric of the host, one for each second.
pub(crate) fn read_as(evidence: &mut Evidence, metric: &str, value: impl Fn(f64) -> f64) {
    let mut observed = evidence.observed.iter_mut();
    let found = observed.find(|o| o.component == "host" && o.metric == metric).unwrap();
    found.points.iter_mut().for_each(|(at, point)| *point = value(at.as_secs_f64()));
}

/// Replaces the growth per second of a metric.
pub(crate) fn grow(evidence: &mut Evidence, component: &str, metric: &str, per_s: f64) {
    let mut observed = evidence.observed.iter_mut();
    let found = observed.find(|o| o.component == component && o.metric == metric).unwrap();
    found.points.iter_mut().for_each(|(at, value)| *value = per_s * at.as_secs_f64());
}

/// Plants stalls of the process: start and length, in seconds.
pub(crate) fn stand_still(evidence: &mut Evidence, stalls: &[(f64, f64)]) {
    let at = |s: f64| Nanos((s * 1e9) as u64);
    evidence.observed.push(Observed {
        component: "generator".to_owned(),
        metric: "stall".to_owned(),
        points: stalls.iter().map(|(begin, length)| (at(*begin), *length)).collect(),
        ranges: Vec::new(),
    });
}

/// Gives the window of a job twenty parts with these medians in milliseconds.
pub(crate) fn set_medians(evidence: &mut Evidence, place: usize, ms: impl Fn(usize) -> f64) {
    let window = evidence.steps.window();
    let bound = |part: usize| window.start + part * window.len() / 20;
    let part = |part: usize| {
        let mut times = Kind::Response.histogram();
        times.record_n((ms(part) * 1e6) as u64, 1_000).unwrap();
        (bound(part)..bound(part + 1), Distribution::of(&times))
    };
    evidence.jobs[place].parts = (0..20).map(part).collect();
}

/// Gives a job these response times in each probe of the window, and thereby in the whole window:
/// milliseconds with their counts.
pub(crate) fn set_probes(
    evidence: &mut Evidence,
    place: usize,
    times: impl Fn(usize) -> Vec<(f64, u64)>,
) {
    let mut whole = Kind::Response.histogram::<u64>();
    let mut probes = Vec::new();
    for (number, range) in evidence.steps.probes(evidence.plan.probe).into_iter().enumerate() {
        let mut response = Kind::Response.histogram::<u64>();
        for (ms, count) in times(number) {
            response.record_n((ms * 1e6) as u64, count).unwrap();
        }
        whole.add(&response).unwrap();
        probes.push((range, Distribution::of(&response)));
    }
    let job = &mut evidence.jobs[place];
    job.probes = probes;
    job.window.iter_mut().find(|(kind, _)| *kind == Kind::Response).unwrap().1 = whole;
}

/// Ends a run at this time.
pub(crate) fn end_at(evidence: &mut Evidence, at: Nanos) {
    let grid = Grid::new(evidence.plan.warmup.known(), evidence.plan.duration);
    evidence.steps = Steps::new(grid, at, evidence.plan.probe);
}

fn seconds(evidence: &Evidence) -> u64 {
    evidence.end().0.div_ceil(1_000_000_000)
}

fn idle_job(statements: usize) -> JobEvidence {
    let statements = (0..statements as u16).map(StatementId).map(Kind::Statement);
    JobEvidence {
        estimates: analyze::Responses::default(),
        parts: Vec::new(),
        steps: Vec::new(),
        window: Kind::OF_A_JOB.into_iter().chain(statements).map(|k| (k, k.histogram())).collect(),
        probes: Vec::new(),
        course: Vec::new(),
        failures: Vec::new(),
        statements: None,
    }
}

/// Returns a second with this many requests, all answered in it.
pub(crate) fn answered(requests: u64) -> Step {
    Step {
        counts: Counts {
            arrivals: requests,
            balance: Balance::of(requests, 0, 0, 0),
            ..Counts::default()
        },
        ends: EndCounts { completed: requests, errors: 0, rows: requests },
        connections: Some(4),
    }
}

/// Returns the generator's usage after this many seconds, with `ms_per_s` milliseconds of processor
/// time in each.
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

/// Replaces a distribution of a job by equal times.
pub(crate) fn set_times(evidence: &mut Evidence, place: usize, kind: Kind, ms: f64, count: u64) {
    let mut histograms = evidence.jobs[place].window.iter_mut();
    histograms.find(|(k, _)| *k == kind).unwrap().1 = kind.histogram();
    add_times(evidence, place, kind, ms, count);
}

/// Changes the outcome of completed requests of a second: errors, rejected, unsent.
pub(crate) fn turn_bad(evidence: &mut Evidence, place: usize, second: usize, bad: [u64; 3]) {
    let Step { counts, ends, .. } = &mut evidence.jobs[place].steps[second];
    let [errors, rejected, unsent] = bad;
    let completed = counts.balance.completed() - errors - rejected - unsent;
    counts.balance = Balance::of(completed, errors, rejected, unsent);
    ends.completed = completed;
    ends.errors += errors;
}

/// Limits the answers of a job to `per_s` per second from second `from` on.
pub(crate) fn answer_only(evidence: &mut Evidence, place: usize, from: usize, per_s: u64) {
    for interval in &mut evidence.jobs[place].steps[from..] {
        let completed = per_s.min(interval.counts.arrivals);
        interval.ends.completed = completed;
    }
}

pub(crate) fn event(at_ms: u64, job: Option<u16>, kind: EventKind, text: &str) -> Event {
    Event {
        at: Nanos::from_millis(at_ms),
        account: job.map(AccountId),
        kind,
        error: None,
        text: text.to_owned(),
    }
}

/// Returns true if a number is the expected one to within half a percent.
pub(crate) fn near(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= 0.005 * expected.abs()
}

/// Names of the checks in their order.
pub(crate) const CHECKS: [&str; 32] = [
    "complete",
    "window",
    "balance",
    "rate",
    "each-second",
    "achieved",
    "arrivals",
    "gaps",
    "send-lag",
    "stall",
    "processor-wait",
    "generator-cpu",
    "stolen-time",
    "other-programs",
    "ceiling",
    "floor",
    "clock",
    "wall-clock",
    "frequency",
    "backlog",
    "warm-up",
    "drift",
    "step",
    "little",
    "errors",
    "wrong-results",
    "outage",
    "connections",
    "overflow",
    "files",
    "commits",
    "checkpoints",
];

/// Asserts that a check has this status, and that every other check passes or is not possible.
/// Returns the check.
#[track_caller]
pub(crate) fn only(name: &str, status: Status, evidence: &Evidence) -> Check {
    let Summary { verdict, .. } = summarize(evidence);
    let names: Vec<&str> = verdict.checks.iter().map(|check| check.name()).collect();
    assert_eq!(names, CHECKS);
    for check in &verdict.checks {
        match check.name() == name {
            true => assert_eq!(check.status, status, "{check:?}"),
            false => assert!(check.status <= Status::Pass, "{check:?}"),
        }
        assert!(check.value.is_none_or(f64::is_finite), "{check:?}");
    }
    verdict.checks.into_iter().find(|check| check.name() == name).unwrap()
}

/// Returns the check with this name.
#[track_caller]
pub(crate) fn check(name: &str, evidence: &Evidence) -> Check {
    let checks = summarize(evidence).verdict.checks;
    checks.into_iter().find(|check| check.name() == name).unwrap()
}

/// Replaces the readings of a metric by values at these times.
pub(crate) fn replace_readings(
    observed: &mut Vec<Observed>,
    component: &str,
    metric: &str,
    looks: impl Iterator<Item = Nanos>,
    value: impl Fn(f64) -> f64,
) {
    observed.retain(|known| known.component != component || known.metric != metric);
    observed.push(Observed {
        component: component.to_owned(),
        metric: metric.to_owned(),
        points: looks.map(|at| (at, value(at.as_secs_f64()))).collect(),
        ranges: Vec::new(),
    });
}

/// Returns true if the guide explains a number of the evidence. The name of such a number may
/// contain the name of a table or a program, for which the guide has a placeholder.
pub(crate) fn is_explained(name: &str) -> bool {
    let guide = include_str!("../../../../docs/limiter.md");
    let is_there = |name: &str| guide.contains(&format!("`{name}`"));
    let kind = name.strip_prefix("sessions_that_wait_for");
    let is_program = name.starts_with("processors_of_") && is_there("processors_of_PROGRAM");
    is_there(name)
        || is_program
        || kind.is_some_and(|kind| is_there(&format!("…_for{kind}")) || is_table(kind))
}

fn is_table(kind: &str) -> bool {
    ["_public.account", "_account"].contains(&kind)
}
