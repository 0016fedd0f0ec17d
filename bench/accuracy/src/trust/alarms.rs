//! The rate of false alarms: checks that object to valid runs.
//!
//! Runs of many shapes execute in virtual time: the simulated servers match queueing theory, and
//! schedules are exact to the nanosecond. Every objection of a check is therefore a false alarm.
//! The runs have fixed seeds, so the result is the same at any time and on any machine.

use std::error::Error;

use analyze::{CheckKind, Evidence, Status, Verdict, summarize};

use super::accepted::{Cause, TimeKind};
use super::{is_objection, plan, simulated};

/// A kind of valid run.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Name of the shape.
    pub name: &'static str,
    url: &'static str,
    /// The jobs of its workload, or the keys of its only job.
    jobs: &'static str,
}

/// All kinds of valid runs: queues at sustainable utilisations, closed loops, varying rates,
/// intermittent jobs, and small and large numbers of requests.
pub const SHAPES: [Shape; 15] = [
    open("M/M/1, utilisation 0.3", "rate = 300"),
    open("M/M/1, utilisation 0.5", "rate = 500"),
    open("M/M/1, utilisation 0.7", "rate = 700"),
    open("M/M/1, utilisation 0.8", "rate = 800"),
    open("D/M/1, utilisation 0.8", "rate = 800\narrival = uniform"),
    open("M/M/1, few requests", "rate = 20"),
    open("M/M/1 by a queue of one worker", "rate = 600\nconcurrency = 1"),
    open("bursts of 5", "rate = 120\nbatch-size = 5"),
    open("a ramp", "rate = ramp(100, 700, 60s)"),
    open("a sine", "rate = sine(400, 300, 20s)"),
    Shape {
        name: "M/M/4, two jobs",
        url: "sim:mmc?service=4ms&servers=4",
        jobs: "[a]\nquery = select 1\nrate = 300\n[b]\nquery = select 2\nrate = 350\n",
    },
    Shape {
        name: "closed, with pauses",
        url: "sim:mm1?service=1ms",
        jobs: "[read]\nquery = select 1\nconcurrency = 32\nthink = exp(40ms)\n",
    },
    Shape {
        name: "closed, without pauses",
        url: "sim:mmc?service=4ms&servers=4",
        jobs: "[read]\nquery = select 1\nconcurrency = 8\n",
    },
    Shape {
        name: "a job that begins late and ends early",
        url: "sim:mmc?service=4ms&servers=8",
        jobs: "[read]\nquery = select 1\nrate = 400\n[guest]\nquery = select 2\nrate = 300\n\
               start = 25500ms\nstop = 55s\n",
    },
    Shape {
        name: "a timetable beside an open job",
        url: "sim:mm1?service=1ms",
        jobs: "[read]\nquery = select 1\nrate = 400\n[clean]\nquery = select 2\nevery = 7s\n",
    },
];

/// Returns a shape with an open job, and with a server whose exponential service times have a mean
/// of 1 ms.
const fn open(name: &'static str, rate: &'static str) -> Shape {
    Shape { name, url: "sim:mm1?service=1ms", jobs: rate }
}

impl Shape {
    /// Returns the workload: one minute after ten seconds of warm-up.
    fn workload(&self) -> String {
        let head = "duration = 70s\nwarmup = 10s\n";
        match self.jobs.starts_with('[') {
            true => format!("{head}{}", self.jobs),
            false => format!("{head}[read]\nquery = select 1\n{}\n", self.jobs),
        }
    }
}

/// The findings of all checks in valid runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarms {
    /// Kind of time of the runs.
    time: TimeKind,
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with the verdict SUSPECT or INVALID.
    pub flagged: u64,
    /// Number of runs to which a check of the machine objected.
    disturbed: u64,
    /// Counts of each check, in the order of [`CheckKind::ALL`].
    by_check: [CheckCounts; CheckKind::ALL.len()],
    /// One line for each objection: the shape, the seed, the check and its explanation.
    pub objections: Vec<String>,
}

/// Counts of the runs in which one check judged and objected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Number of runs in which the check was possible.
    pub runs: u64,
    /// Number of runs in which the check objected.
    pub objections: u64,
}

/// The number of objections of one check or of several, and the accepted number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Name of the check, or of several together.
    pub name: &'static str,
    /// Number of judgements, and of objections among them.
    pub counts: CheckCounts,
    /// Largest number of objections that is accepted.
    pub accepted: u64,
}

/// Runs every shape `runs_of_each` times and judges the runs.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn alarms(runs_of_each: u64) -> Result<Alarms, Box<dyn Error>> {
    let mut alarms = Alarms::none(TimeKind::Virtual);
    for (shape, number) in SHAPES.into_iter().zip(0..) {
        let plan = plan(&shape.workload())?;
        // No two shapes share a seed.
        for seed in (1..=runs_of_each).map(|run| number * 100_000 + run) {
            let evidence = simulated(&plan, shape.url, seed)?;
            alarms.judge(&format!("{}, seed {seed}", shape.name), &evidence);
        }
    }
    Ok(alarms)
}

impl Alarms {
    /// Creates the findings of zero runs.
    pub(super) fn none(time: TimeKind) -> Alarms {
        let by_check = [CheckCounts::default(); CheckKind::ALL.len()];
        Alarms { time, runs: 0, flagged: 0, disturbed: 0, by_check, objections: Vec::new() }
    }

    pub(super) fn judge(&mut self, name: &str, evidence: &Evidence) {
        self.count(name, &summarize(evidence).verdict);
    }

    fn count(&mut self, name: &str, verdict: &Verdict) {
        self.runs += 1;
        self.flagged += u64::from(is_objection(verdict.status()));
        let mut is_disturbed = false;
        for check in &verdict.checks {
            let judged = &mut self.by_check[check.kind as usize];
            judged.runs += u64::from(check.status != Status::NotPossible);
            if is_objection(check.status) {
                judged.objections += 1;
                is_disturbed |= self.time.cause(check.kind) == Cause::Machine;
                self.objections.push(format!("{name}: {}: {:?}", check.name(), check.finding));
            }
        }
        self.disturbed += u64::from(is_disturbed);
    }

    /// Returns the counts of a check.
    pub fn of(&self, check: CheckKind) -> CheckCounts {
        self.by_check[check as usize]
    }

    /// Returns the objections and the accepted numbers: of each check, of all statistical checks
    /// together, and in real time of all checks of the machine together.
    pub fn judgements(&self) -> Vec<Judgement> {
        let checks = CheckKind::ALL.into_iter();
        let mut judgements: Vec<Judgement> = checks
            .map(|check| Judgement::of(check.name(), self.of(check), self.time.cause(check)))
            .collect();
        let by_chance =
            CheckKind::ALL.into_iter().filter(|it| self.time.cause(*it) == Cause::Chance);
        let mut together = CheckCounts::default();
        for CheckCounts { runs, objections } in by_chance.map(|check| self.of(check)) {
            together.runs += runs;
            together.objections += objections;
        }
        judgements.push(Judgement::of("all that compare with chance", together, Cause::Chance));
        if self.time == TimeKind::Real {
            let counts = CheckCounts { runs: self.runs, objections: self.disturbed };
            judgements.push(Judgement::of("any of the machine", counts, Cause::Machine));
        }
        judgements
    }
}

impl Judgement {
    fn of(name: &'static str, counts: CheckCounts, cause: Cause) -> Judgement {
        Judgement { name, counts, accepted: cause.accepted(counts.runs) }
    }

    /// Returns true if there are no more objections than accepted.
    pub fn is_good(&self) -> bool {
        self.counts.objections <= self.accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_seldom_object_to_valid_runs() {
        let alarms = alarms(3).expect("runs");
        let runs = 3 * SHAPES.len() as u64;
        assert_eq!(alarms.runs, runs);
        assert!(alarms.flagged <= 1, "{:?}", alarms.objections);
        assert!(alarms.judgements().iter().all(Judgement::is_good), "{:?}", alarms.objections);
        let judged = |check| alarms.of(check).runs;
        assert_eq!((judged(CheckKind::Balance), judged(CheckKind::Stall)), (runs, 0));
        assert!(judged(CheckKind::Arrivals) > 20 && judged(CheckKind::Step) > 20);
    }

    /// Returns the names of the judgements that are not accepted for 100 runs. Each check objects
    /// to the given number of runs, beginning with the first run.
    fn refused(time: TimeKind, objections: &[(CheckKind, u64)]) -> Vec<&'static str> {
        let plan = plan("duration = 12s\nwarmup = 2s\n[read]\nquery = select 1\nrate = 250\n");
        let evidence = simulated(&plan.expect("a plan"), "sim:mm1?service=2ms", 1).expect("a run");
        let correct = summarize(&evidence).verdict;
        let mut alarms = Alarms::none(time);
        for run in 0..100 {
            let mut verdict = correct.clone();
            for check in &mut verdict.checks {
                let objects = objections.iter().any(|(kind, to)| *kind == check.kind && run < *to);
                check.status = if objects { Status::Suspect } else { Status::Pass };
            }
            alarms.count("planted", &verdict);
        }
        let judgements = alarms.judgements();
        judgements.iter().filter(|it| !it.is_good()).map(|it| it.name).collect()
    }

    #[test]
    fn one_false_count_of_the_generator_is_refused() {
        for time in [TimeKind::Virtual, TimeKind::Real] {
            assert_eq!(refused(time, &[(CheckKind::Balance, 1)]), ["balance"]);
        }
    }

    #[test]
    fn more_objections_by_chance_than_designed_are_refused() {
        for time in [TimeKind::Virtual, TimeKind::Real] {
            assert_eq!(refused(time, &[(CheckKind::Arrivals, 2)]), [""; 0]);
            assert_eq!(refused(time, &[(CheckKind::Arrivals, 3)]), ["arrivals"]);
            let together = [
                (CheckKind::Rate, 2),
                (CheckKind::EachSecond, 2),
                (CheckKind::Arrivals, 2),
                (CheckKind::Backlog, 2),
            ];
            assert_eq!(refused(time, &together), ["all that compare with chance"]);
        }
    }

    /// `docs/checks.md` states the limit of 11 disturbed runs among 100. The runs to which `step`
    /// objects are among those to which `send-lag` objects, so each of them counts once.
    #[test]
    fn machine_may_disturb_a_few_runs_and_virtual_time_none() {
        let disturbed = |lags| [(CheckKind::SendLag, lags), (CheckKind::Step, 3)];
        assert_eq!(refused(TimeKind::Real, &disturbed(11)), [""; 0]);
        assert_eq!(refused(TimeKind::Real, &disturbed(12)), ["send-lag", "any of the machine"]);
        assert_eq!(refused(TimeKind::Virtual, &disturbed(1)), ["send-lag", "step"]);
    }
}
