//! Order and seeds of the runs of an experiment.

use base::{Seed, Stream};

use crate::target::SimulatedRun;

/// The order and the seeds of the runs of an experiment: a pure function of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Number of runs in a round.
    pub runs: usize,
    /// Seed of the experiment: the seed of the plan of its first arm.
    pub seed: Seed,
    /// True if every second round has the reverse order of the round before it.
    pub is_counterbalanced: bool,
}

/// A run of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Index of the run's arm and point among [`Outline::arm_points`].
    ///
    /// [`Outline::arm_points`]: workload::question::Outline::arm_points
    pub arm_point: usize,
    /// Position in the round, from 0.
    pub position: u32,
    /// Seed of schedule and values, the same for all runs of the round.
    pub seed: Seed,
    /// The seed of simulated servers, and the position of the run among all runs.
    pub server: SimulatedRun,
}

/// Maximum number of runs of a round: the number of random draws that are reserved for a round.
const MOST_RUNS: u64 = 1 << 16;

/// Number of random draws that are reserved for one attempt at all rounds; the draws of the next
/// attempt are numbered from there.
const MOST_RUNS_OF_ATTEMPT: u64 = MOST_RUNS << 32;

impl Schedule {
    /// Returns the runs of an attempt at a round. All attempts execute them in the same order.
    ///
    /// Each attempt draws different values, because the keys that an earlier attempt has inserted
    /// are already in the table.
    pub fn round(&self, round: u32, attempt: u32) -> Vec<PlannedRun> {
        let earlier = u64::from(attempt) * MOST_RUNS_OF_ATTEMPT;
        let seed = self.draw_seed("round", earlier + u64::from(round));
        let first = earlier + u64::from(round) * MOST_RUNS;
        let of = |(position, arm_point): (u32, usize)| PlannedRun {
            arm_point,
            position,
            seed,
            server: SimulatedRun {
                seed: self.draw_seed("server", first + arm_point as u64),
                position: round * self.runs as u32 + position,
            },
        };
        (0..).zip(self.order(round)).map(of).collect()
    }

    /// Returns the run for an attempt at a step of a search for saturation. Each attempt draws
    /// different values.
    pub(super) fn step(&self, step: u32, attempt: u32) -> PlannedRun {
        let number = u64::from(attempt) * MOST_RUNS_OF_ATTEMPT + u64::from(step);
        PlannedRun {
            arm_point: 0,
            position: 0,
            seed: self.draw_seed("step", number),
            server: SimulatedRun { seed: self.draw_seed("server of step", number), position: step },
        }
    }

    /// Returns the run for a trial of a capacity search. Each trial draws different values.
    pub(super) fn trial(&self, number: u32) -> PlannedRun {
        PlannedRun {
            arm_point: 0,
            position: 0,
            seed: self.draw_seed("trial", number.into()),
            server: SimulatedRun {
                seed: self.draw_seed("server of trial", number.into()),
                position: number,
            },
        }
    }

    /// Returns the indexes of arms and points in the order of a round.
    fn order(&self, round: u32) -> Vec<usize> {
        let is_second = self.is_counterbalanced && round % 2 == 1;
        let drawn = if is_second { round - 1 } else { round };
        let mut order: Vec<usize> = (0..self.runs).collect();
        let stream = Stream::new(self.seed, "experiment", "order");
        for last in (1..self.runs).rev() {
            let mut draw = stream.draw(u64::from(drawn) * MOST_RUNS + last as u64);
            order.swap(last, draw.below(last as u64 + 1) as usize);
        }
        if is_second {
            order.reverse();
        }
        order
    }

    /// Returns the draw with this number from the stream named `place`: a seed of 32 bits, which is
    /// easy to type.
    fn draw_seed(&self, place: &str, number: u64) -> Seed {
        Seed(Stream::new(self.seed, "experiment", place).draw(number).bits() >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(runs: usize, is_counterbalanced: bool) -> Schedule {
        Schedule { runs, seed: Seed(7), is_counterbalanced }
    }

    fn arms(runs: &[PlannedRun]) -> Vec<usize> {
        runs.iter().map(|run| run.arm_point).collect()
    }

    #[test]
    fn every_trial_and_step_draws_other_values() {
        let schedule = schedule(1, false);
        let trials = (0..1_000).map(|number| schedule.trial(number));
        let steps = (0..1_000).map(|number| schedule.step(number % 100, number / 100));
        let runs: Vec<PlannedRun> = trials.chain(steps).collect();
        for seed in [|run: &PlannedRun| run.seed.0, |run: &PlannedRun| run.server.seed.0] {
            let mut seeds: Vec<u64> = runs.iter().map(seed).collect();
            seeds.sort_unstable();
            seeds.dedup();
            assert_eq!(seeds.len(), runs.len());
        }
    }

    #[test]
    fn every_round_runs_each_arm_once_with_the_same_seed() {
        let schedule = schedule(3, false);
        let mut seeds = Vec::new();
        for round in 0..50 {
            let runs = schedule.round(round, 0);
            let mut all = arms(&runs);
            all.sort_unstable();
            assert_eq!(all, [0, 1, 2]);
            assert!(runs.iter().all(|run| run.seed == runs[0].seed));
            assert_ne!(runs[0].server.seed, runs[1].server.seed);
            let positions: Vec<u32> = runs.iter().map(|run| run.server.position).collect();
            let first = 3 * round;
            assert_eq!(positions, [first, first + 1, first + 2]);
            assert_eq!(runs.iter().map(|run| run.position).collect::<Vec<_>>(), [0, 1, 2]);
            seeds.push(runs[0].seed);
        }
        seeds.sort_unstable_by_key(|seed| seed.0);
        seeds.dedup();
        assert_eq!(seeds.len(), 50);
    }

    #[test]
    fn repeated_round_keeps_its_order_and_draws_other_values() {
        let schedule = schedule(2, true);
        let attempts = [0, 1, 2].map(|attempt| schedule.round(3, attempt));
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let (one, other) = (&attempts[one], &attempts[other]);
            assert_eq!(arms(one), arms(other));
            assert_ne!(one[0].seed, other[0].seed);
            assert_ne!(one[0].server, other[0].server);
        }
        assert_eq!(attempts[1][0].seed, attempts[1][1].seed);
    }

    #[test]
    fn each_order_is_equally_likely() {
        let schedule = schedule(2, false);
        let first = (0..1_000).filter(|round| schedule.round(*round, 0)[0].arm_point == 0).count();
        assert!((440..560).contains(&first), "{first}");
    }

    #[test]
    fn counterbalanced_rounds_come_in_reversed_pairs() {
        let schedule = schedule(3, true);
        let mut firsts = [0; 3];
        for pair in 0..300 {
            let first = arms(&schedule.round(2 * pair, 0));
            let mut second = arms(&schedule.round(2 * pair + 1, 0));
            second.reverse();
            assert_eq!(first, second);
            firsts[first[0]] += 1;
        }
        assert!(firsts.iter().all(|count| (60..140).contains(count)), "{firsts:?}");
    }

    #[test]
    fn plan_depends_on_the_seed_alone() {
        let other = Schedule { seed: Seed(8), ..schedule(4, true) };
        let rounds = |schedule: Schedule| (0..20).map(|n| schedule.round(n, 0)).collect::<Vec<_>>();
        assert_eq!(rounds(schedule(4, true)), rounds(schedule(4, true)));
        assert_ne!(rounds(schedule(4, true)), rounds(other));
    }
}
