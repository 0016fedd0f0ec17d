//! The rate at which checks detect planted faults.
//!
//! Each fault is planted into an otherwise valid run: 4,000 requests per second for a minute, with
//! exponentially distributed service times whose mean is 1 ms. Faults of the server are set in its
//! URL. For faults of the generator, either the executed schedule differs from the judged one, or
//! the evidence is changed.

use std::error::Error;
use std::sync::Arc;

use analyze::{Evidence, Observed, summarize};
use base::{Nanos, Rate, Seed, Stream};
use record::Kind;
use workload::shape::Recorded;
use workload::{Pacing, Plan, Schedule};

use super::{is_objection, plan, simulated};

/// The run without a fault.
const WORKLOAD: &str = "duration = 70s\nwarmup = 10s\n[read]\nquery = select 1\nrate = 4000\n";
const SERVER: &str = "sim:mmc?service=1ms&servers=unlimited";
const PER_S: f64 = 4_000.0;

/// A fault, and the way to plant it.
#[derive(Clone, Copy)]
pub struct PlantedFault {
    /// Description of the fault, with its size.
    pub name: &'static str,
    /// The check that has to detect the fault.
    check: &'static str,
    /// Options added to the server's URL.
    server: &'static str,
    /// Change of the plan that is executed.
    alter_plan: fn(&mut Plan),
    /// Change of the evidence; the number is the seed of the run.
    alter_evidence: fn(&mut Evidence, u64),
}

/// All planted faults.
pub const FAULTS: [PlantedFault; 10] = [
    PlantedFault {
        alter_evidence: late_sends,
        ..fault("500 µs of send lag on 5 % of the sends", "send-lag")
    },
    PlantedFault { alter_plan: slower_rate, ..fault("a rate 2 % too low", "rate") },
    PlantedFault { server: "&slower=0.05&slower-from=40s", ..fault("a step of 5 %", "step") },
    PlantedFault {
        server: "&slower=0.1&slower-from=10s&slower-over=60s",
        ..fault("a drift of 10 %", "drift")
    },
    PlantedFault { server: "&errors=0.002", ..fault("0.2 % errors", "errors") },
    PlantedFault {
        alter_evidence: stall,
        ..fault("a stall of 50 ms, as the detector of stalls reports it", "stall")
    },
    PlantedFault { alter_plan: ticks, ..fault("a timer that ticks each millisecond", "gaps") },
    PlantedFault {
        alter_evidence: bursts,
        ..fault("bursts after stalls of 50 ms in each second", "send-lag")
    },
    PlantedFault {
        alter_evidence: other_programs,
        ..fault("other programs on 15 % of the processors", "other-programs")
    },
    PlantedFault {
        alter_evidence: lost_second,
        ..fault("a second in which 15 % of the arrivals are missing", "each-second")
    },
];

const fn fault(name: &'static str, check: &'static str) -> PlantedFault {
    PlantedFault { name, check, server: "", alter_plan: |_| {}, alter_evidence: |_, _| {} }
}

/// Counts of the runs with a fault, and of those in which it was detected.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The fault.
    pub fault: &'static str,
    /// Number of runs.
    pub runs: u64,
    /// The check that has to detect the fault.
    check: &'static str,
    /// Number of runs in which the check detected the fault.
    pub noticed: u64,
    /// The checks that objected, each with its number of objections.
    pub by: Vec<(&'static str, u64)>,
}

impl Sensitivity {
    /// Returns true if the fault is detected in at least 95 % of the runs.
    pub fn is_good(&self) -> bool {
        100 * self.noticed >= 95 * self.runs
    }

    /// Creates counts of zero for a fault.
    pub(super) fn of(fault: &'static str, check: &'static str) -> Sensitivity {
        Sensitivity { fault, check, runs: 0, noticed: 0, by: Vec::new() }
    }

    pub(super) fn judge(&mut self, evidence: &Evidence) {
        let verdict = summarize(evidence).verdict;
        self.runs += 1;
        for check in verdict.checks.iter().filter(|check| is_objection(check.status)) {
            self.noticed += u64::from(check.name() == self.check);
            match self.by.iter_mut().find(|(name, _)| *name == check.name()) {
                Some((_, count)) => *count += 1,
                None => self.by.push((check.name(), 1)),
            }
        }
    }
}

/// Plants every fault into `runs` runs.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn sensitivity(runs: u64) -> Result<Vec<Sensitivity>, Box<dyn Error>> {
    let correct = plan(WORKLOAD)?;
    let mut all = Vec::new();
    for PlantedFault { name, check, server, alter_plan, alter_evidence } in FAULTS {
        let mut plan_of_run = correct.clone();
        let mut found = Sensitivity::of(name, check);
        for seed in 1..=runs {
            plan_of_run.seed = Seed(seed);
            let mut faulty = plan_of_run.clone();
            alter_plan(&mut faulty);
            let mut evidence = simulated(&faulty, &format!("{SERVER}{server}"), seed)?;
            // The run is judged by the plan without the fault.
            evidence.plan = correct.clone();
            alter_evidence(&mut evidence, seed);
            found.judge(&evidence);
        }
        all.push(found);
    }
    Ok(all)
}

fn schedule(plan: &mut Plan) -> &mut Schedule {
    match &mut plan.jobs[0].pacing {
        Pacing::Open { schedule, .. } => schedule,
        Pacing::Queue { .. }
        | Pacing::Closed { .. }
        | Pacing::Timetable { .. }
        | Pacing::Replay => unreachable!("the one job is open"),
    }
}

fn slower_rate(plan: &mut Plan) {
    let per_s = Rate::per_second((PER_S * 0.98) as u64).expect("a rate");
    *schedule(plan) = Schedule::Poisson(per_s);
}

/// Replaces the schedule by Poisson arrivals, each delayed to the next tick.
fn ticks(plan: &mut Plan) {
    const TICK: u64 = 1_000_000;
    let length = plan.duration.expect("the run ends");
    let mut draw = Stream::new(plan.seed, "ticks", "arrivals").draw(0);
    let mut times = Vec::new();
    let mut at = Nanos::ZERO;
    while at < length {
        times.push(Nanos(at.0.div_ceil(TICK) * TICK));
        at += Nanos((draw.exponential() * 1e9 / PER_S) as u64);
    }
    *schedule(plan) = Schedule::Recorded(Recorded(Arc::from(times)));
}

/// Replaces the send lags of the first job by `lags` and by lags of 30 µs; their number stays the
/// same.
fn delay(evidence: &mut Evidence, lags: impl Iterator<Item = Nanos>) {
    let lag = evidence.jobs[0].window.iter_mut().find(|(kind, _)| *kind == Kind::SendLag);
    let (_, histogram) = lag.expect("sends have a lag");
    let all = histogram.len();
    histogram.clear();
    let mut late = 0;
    for lag in lags.take(all as usize) {
        histogram.saturating_record(lag.0);
        late += 1;
    }
    histogram.saturating_record_n(30_000, all - late);
}

/// Returns a twentieth of the number of requests that are sent in the window.
fn one_in_twenty() -> usize {
    (PER_S * 60.0 / 20.0) as usize
}

fn late_sends(evidence: &mut Evidence, _seed: u64) {
    delay(evidence, std::iter::repeat_n(Nanos::from_micros(500), one_in_twenty()));
}

/// Delays a twentieth of the sends, as if each request had come due during a stall of 50 ms and
/// been sent at the end of the stall.
fn bursts(evidence: &mut Evidence, seed: u64) {
    let mut draw = Stream::new(Seed(seed), "bursts", "lag").draw(0);
    let lags = std::iter::repeat_with(|| {
        // The fractional part of an exponential with a large mean is nearly uniform.
        Nanos(((draw.exponential() * 1e3).fract() * 5e7) as u64)
    });
    delay(evidence, lags.take(one_in_twenty()));
}

fn stall(evidence: &mut Evidence, seed: u64) {
    let at = Nanos::from_secs(15) + Nanos::from_millis(seed * 97 % 50_000);
    evidence.is_virtual = false;
    let mut add = |component: &str, metric: &str, points| {
        let (component, metric) = (component.to_owned(), metric.to_owned());
        evidence.observed.push(Observed { component, metric, points, ranges: Vec::new() });
    };
    add("generator", "stall", vec![(at, 0.05)]);
    // The readings of each second show that the ticker ran throughout.
    add("host", "wall-clock", (0..=75).map(|second| (Nanos::from_secs(second), 0.0)).collect());
}

/// Adds other programs whose use of the processors varies a little from second to second.
fn other_programs(evidence: &mut Evidence, seed: u64) {
    evidence.is_virtual = false;
    let seconds = || (0..=75).map(|second| (second, Nanos::from_secs(second)));
    let used = |second: u64| 0.3 * second as f64 + 0.1 * ((second + seed) % 3) as f64;
    let mut add = |component: &str, metric: &str, points| {
        let (component, metric) = (component.to_owned(), metric.to_owned());
        evidence.observed.push(Observed { component, metric, points, ranges: Vec::new() });
    };
    add("host", "processors", seconds().map(|(second, at)| (at, 2.0 * second as f64)).collect());
    add("host", "other-programs", seconds().map(|(second, at)| (at, used(second))).collect());
    add("host", "wall-clock", seconds().map(|(_, at)| (at, 0.0)).collect());
}

fn lost_second(evidence: &mut Evidence, seed: u64) {
    let second = 15 + (seed as usize * 7) % 50;
    let counts = &mut evidence.jobs[0].steps[second].counts;
    let completed = counts.arrivals * 17 / 20;
    counts.arrivals = completed;
    counts.balance = record::Balance::of(completed, 0, 0, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_faults_are_detected_and_the_clean_run_is_valid() {
        for found in sensitivity(2).expect("runs") {
            assert_eq!(found.noticed, found.runs, "{found:?}");
        }
        let valid = simulated(&plan(WORKLOAD).expect("a plan"), SERVER, 1).expect("a run");
        assert_eq!(summarize(&valid).verdict.word(), "VALID");
    }
}
