//! Faults that are planted on purpose.
//!
//! An oracle that always passes, whatever the generator does, would prove nothing. Each fault must
//! therefore fail an oracle that passes without the fault.

use std::sync::Arc;

use base::{Nanos, Rate, Seed, Stream};
use engine::Rules;
use workload::shape::Recorded;
use workload::{Pacing, Plan, Schedule};

use super::depth::Depth;
use super::finding::Finding;
use super::losing;
use super::merging::{self, Merging};
use super::oracles::{CONSTANT_SERVER, FOUR_WORKERS, ONE_SERVER, TIMEOUTS};
use super::rules::{
    BY_A_COARSE_CLOCK, DROPPING_TIMEOUTS, EMPTYING_THE_QUEUE, FROM_THE_ACTUAL_SEND,
    SKIPPING_MISSED_TICKS, restarting_the_schedule,
};
use super::stall::{HALF_BUSY, backlog};

/// A planted fault, and the findings with and without it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutation {
    /// The name of the fault.
    pub fault: &'static str,
    /// The findings without the fault.
    pub without_fault: Vec<Finding>,
    /// The findings with the fault.
    pub faulty: Vec<Finding>,
}

impl Mutation {
    /// Returns true if all findings pass without the fault and at least one fails with it.
    pub fn is_noticed(&self) -> bool {
        self.without_fault.iter().all(Finding::passed) && self.failing().next().is_some()
    }

    /// Returns the findings that fail with the fault.
    pub fn failing(&self) -> impl Iterator<Item = &Finding> {
        self.faulty.iter().filter(|finding| !finding.passed())
    }
}

/// A fault that can be planted.
pub(super) struct Fault {
    pub(super) name: &'static str,
    without_fault: fn(Depth) -> Vec<Finding>,
    faulty: fn(Depth) -> Vec<Finding>,
}

impl Fault {
    /// Measures the oracle without and with the fault.
    pub(super) fn plant(&self, depth: Depth) -> Mutation {
        let (without_fault, faulty) = ((self.without_fault)(depth), (self.faulty)(depth));
        Mutation { fault: self.name, without_fault, faulty }
    }
}

/// Lag after which a generator restarts its schedule, in milliseconds.
const BEHIND_MS: u64 = 15;

/// All faults that are planted.
pub(super) const FAULTS: [Fault; 10] = [
    Fault {
        name: "recording from the actual send",
        without_fault: |_| HALF_BUSY.findings(Rules::STANDARD),
        faulty: |_| HALF_BUSY.findings(FROM_THE_ACTUAL_SEND),
    },
    Fault {
        name: "skipping missed ticks",
        without_fault: |_| HALF_BUSY.findings(Rules::STANDARD),
        faulty: |_| HALF_BUSY.findings(SKIPPING_MISSED_TICKS),
    },
    Fault {
        name: "averaging percentiles",
        without_fault: |_| merging::findings(HALF_BUSY, Merging::Histograms),
        faulty: |_| merging::findings(HALF_BUSY, Merging::Averages),
    },
    Fault {
        name: "dropping timeouts",
        without_fault: |depth| TIMEOUTS.findings(Rules::STANDARD, depth),
        faulty: |depth| TIMEOUTS.findings(DROPPING_TIMEOUTS, depth),
    },
    Fault {
        name: "emptying the queue when the warm-up ends",
        without_fault: |_| backlog(Rules::STANDARD),
        faulty: |_| backlog(EMPTYING_THE_QUEUE),
    },
    Fault {
        name: "restarting the schedule when far behind",
        without_fault: |depth| FOUR_WORKERS.findings(Rules::STANDARD, depth),
        faulty: |depth| FOUR_WORKERS.findings(restarting_the_schedule::<BEHIND_MS>(), depth),
    },
    Fault {
        name: "arrivals at the ticks of a 1 ms timer",
        without_fault: |depth| CONSTANT_SERVER.findings(Rules::STANDARD, depth),
        faulty: |depth| CONSTANT_SERVER.findings_of(Rules::STANDARD, depth, at_ticks),
    },
    Fault {
        name: "stamps of a 1 ms clock",
        without_fault: |depth| ONE_SERVER.findings(Rules::STANDARD, depth),
        faulty: |depth| ONE_SERVER.findings(BY_A_COARSE_CLOCK, depth),
    },
    Fault {
        name: "a rate 2 % too low",
        without_fault: |depth| ONE_SERVER.findings(Rules::STANDARD, depth),
        faulty: |depth| ONE_SERVER.findings_of(Rules::STANDARD, depth, slower),
    },
    Fault {
        name: "one lost request",
        without_fault: |_| losing::findings(0),
        faulty: |_| losing::findings(1),
    },
];

/// Returns the plan with other Poisson arrivals at the same rate, each of which is due at the next
/// tick of a timer with a period of 1 ms.
fn at_ticks(mut plan: Plan) -> Plan {
    const TICK: u64 = 1_000_000;
    let length_s = plan.duration.expect("an oracle ends").as_secs_f64();
    let (schedule, seed) = schedule(&mut plan);
    let per_s = schedule.highest_per_s();
    let stream = Stream::new(seed, "ticks", "arrivals");
    let mut at_s = 0.0;
    let mut times = Vec::new();
    for number in 0.. {
        at_s += stream.draw(number).exponential() / per_s;
        if at_s >= length_s {
            break;
        }
        let at = Nanos::from_secs_f64(at_s);
        times.push(Nanos(at.0.div_ceil(TICK) * TICK));
    }
    *schedule = Schedule::Recorded(Recorded(Arc::from(times)));
    plan
}

/// Returns the plan with 98 % of its arrival rate.
fn slower(mut plan: Plan) -> Plan {
    let (schedule, _) = schedule(&mut plan);
    let per_s = schedule.highest_per_s() * 0.98;
    *schedule = Schedule::Poisson(Rate::per_second(per_s.round() as u64).expect("a rate"));
    plan
}

/// Returns the schedule of the plan's only open job, and the plan's seed.
fn schedule(plan: &mut Plan) -> (&mut Schedule, Seed) {
    match &mut plan.jobs[0].pacing {
        Pacing::Open { schedule, .. } => (schedule, plan.seed),
        Pacing::Queue { .. }
        | Pacing::Closed { .. }
        | Pacing::Timetable { .. }
        | Pacing::Replay => unreachable!("these faults are planted into open jobs"),
    }
}
