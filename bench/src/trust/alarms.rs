//! The rate of false alarms: checks that object to valid runs.
//!
//! The runs are of many shapes, in virtual time: the simulated servers match queueing theory, and
//! schedules are kept to the nanosecond. Every objection of a check is therefore a false alarm. The
//! runs have fixed seeds, so the result is the same at any time and on any machine.

use std::collections::BTreeMap;
use std::error::Error;

use analyze::{Evidence, Status, summarize};

use super::{is_objection, plan, simulated};

/// A kind of valid run.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    url: &'static str,
    /// The jobs of its workload.
    jobs: &'static str,
}

/// All kinds of valid runs: queues at sustainable utilisations, closed loops, varying rates,
/// intermittent jobs, few requests and many.
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

/// Returns a shape with an open job and a server with exponential service of 1 ms in the mean.
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alarms {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs with the verdict SUSPECT or INVALID.
    pub flagged: u64,
    /// Counts of each check, by its name.
    pub by_check: BTreeMap<String, CheckCounts>,
    /// One line for each objection: the shape, the seed, the check and its explanation.
    pub objections: Vec<String>,
}

/// Counts of the runs in which one check judged and objected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Number of runs in which the check was possible.
    pub runs: u64,
    /// Number of runs in which it objected.
    pub objections: u64,
}

/// Makes `runs_of_each` runs of every shape and judges them.
///
/// # Errors
/// Fails if a run cannot be made or its record cannot be read; neither should happen.
pub fn alarms(runs_of_each: u64) -> Result<Alarms, Box<dyn Error>> {
    let mut alarms = Alarms::default();
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
    pub(super) fn judge(&mut self, name: &str, evidence: &Evidence) {
        let verdict = summarize(evidence).verdict;
        self.runs += 1;
        self.flagged += u64::from(is_objection(verdict.status()));
        for check in verdict.checks {
            let judged = self.by_check.entry(check.name().to_owned()).or_default();
            judged.runs += u64::from(check.status != Status::NotPossible);
            if is_objection(check.status) {
                judged.objections += 1;
                self.objections.push(format!("{name}: {}: {:?}", check.name(), check.finding));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By design, each check objects to at most one valid run in five hundred.
    #[test]
    fn checks_seldom_object_to_valid_runs() {
        let Alarms { runs, flagged, by_check, objections } = alarms(3).expect("runs");
        assert_eq!(runs, 3 * SHAPES.len() as u64);
        assert!(flagged <= 1, "{objections:?}");
        let judged = |name: &str| by_check[name].runs;
        assert_eq!((judged("balance"), judged("stall")), (runs, 0), "{by_check:?}");
        assert!(judged("arrivals") > 20 && judged("step") > 20, "{by_check:?}");
    }
}
