//! A model of a machine on which runs execute: noise from run to run, and drift over many runs.

use analyze::compare::ArmId;
use base::{Draw, Seed, Stream};
use lab::experiment::{PlannedRun, Schedule};
use sim::Variation;

/// A machine, and two arms on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MachineModel {
    /// Standard deviation of a run's figures, as a fraction.
    pub(super) noise: f64,
    /// Standard deviation of the drift over many runs, as a fraction.
    pub(super) drift: f64,
    /// Fraction by which the machine becomes slower over the experiment.
    pub(super) trend: f64,
    /// True change of the arm relative to the baseline, as a fraction.
    pub(super) effect: f64,
    /// Disturbances of single runs.
    pub(super) disturbances: Disturbances,
}

/// Disturbances of single runs; a disturbed run is SUSPECT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disturbances {
    /// Fraction of the runs that are disturbed.
    pub(super) share: f64,
    /// Fraction of the throughput that a disturbed run loses.
    pub(super) loss: f64,
}

/// Throughput without any noise, in requests per second.
const PER_S: f64 = 1_000.0;

/// An ordinary machine, and two equal arms.
pub(super) const ORDINARY_MACHINE: MachineModel = MachineModel {
    noise: 0.015,
    drift: 0.02,
    trend: 0.0,
    effect: 0.0,
    disturbances: Disturbances { share: 0.0, loss: 0.0 },
};

/// The order of the arms in a round.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// The order of an experiment that only reads: random in each round.
    Random,
    /// The order of an experiment that may change data: random in one round, reversed in the next.
    /// The effect of the order is fitted.
    Counterbalanced,
    /// The same order in every round: the planted mistake.
    Fixed,
}

impl Order {
    /// Returns the schedule of an experiment; its random order depends on `seed` alone.
    fn schedule(self, seed: u64) -> Schedule {
        let is_counterbalanced = match self {
            Order::Counterbalanced => true,
            Order::Random | Order::Fixed => false,
        };
        Schedule { runs: 2, seed: Seed(seed), is_counterbalanced }
    }

    /// Returns the arm of a run.
    fn arm(self, planned: &PlannedRun) -> ArmId {
        ArmId(match self {
            Order::Random | Order::Counterbalanced => planned.arm_point,
            Order::Fixed => planned.position as usize,
        })
    }
}

/// A run with its place in an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelRun {
    pub(super) round: u32,
    pub(super) arm: ArmId,
    /// Position within the round.
    pub(super) position: u32,
    /// Requests per second.
    pub(super) throughput: f64,
    pub(super) is_suspect: bool,
}

impl MachineModel {
    /// Simulates an experiment of `rounds` rounds; its random numbers depend on `seed` alone.
    pub(super) fn experiment(&self, order: Order, rounds: u32, seed: u64) -> Vec<ModelRun> {
        self.experiment_of_job(order, rounds, RandomKey { seed, job: 0 })
    }

    /// Simulates an experiment of `rounds` rounds, and returns the runs with the throughput of one
    /// of its jobs. The jobs scatter independently of each other.
    pub(super) fn experiment_of_job(
        &self,
        order: Order,
        rounds: u32,
        key: RandomKey,
    ) -> Vec<ModelRun> {
        let schedule = order.schedule(key.seed);
        let seed = key.job_seed();
        let mut runs = Vec::new();
        for round in 0..rounds {
            for planned in schedule.round(round, 0) {
                let (arm, position) = (order.arm(&planned), planned.position);
                let at = planned.server.position;
                let progress = f64::from(at) / f64::from(2 * rounds - 1);
                runs.push(self.run(RunPosition { round, arm, position, at, progress }, seed));
            }
        }
        runs
    }

    /// Simulates `runs` runs of the baseline, then as many of the arm; their random numbers depend
    /// on `seed`.
    pub(super) fn groups(&self, runs: u32, seed: u64) -> [Vec<ModelRun>; 2] {
        [ArmId::BASELINE, ArmId(1)].map(|arm| {
            let run = |round| {
                let at = arm.index() as u32 * runs + round;
                let progress = f64::from(at) / f64::from(2 * runs - 1);
                self.run(RunPosition { round, arm, position: 0, at, progress }, seed)
            };
            (0..runs).map(run).collect()
        })
    }

    fn run(&self, place: RunPosition, seed: u64) -> ModelRun {
        let RunPosition { round, arm, position, at, progress } = place;
        let variation = Variation {
            noise: self.noise,
            drift: self.drift,
            trend: 0.0,
            series: Seed(seed),
            run: at,
        };
        let mut draw = draw(seed, at);
        let slowness = variation.factor(Seed(draw.bits()));
        let is_suspect = draw.unit() < self.disturbances.share;
        let loss = if is_suspect { self.disturbances.loss } else { 0.0 };
        let change = if arm == ArmId::BASELINE { 0.0 } else { self.effect };
        let throughput =
            PER_S * (1.0 + change) * (1.0 - self.trend * progress) * (1.0 - loss) / slowness;
        ModelRun { round, arm, position, throughput, is_suspect }
    }
}

/// The place of a run in an experiment.
#[derive(Clone, Copy, Debug)]
struct RunPosition {
    round: u32,
    arm: ArmId,
    position: u32,
    /// Number of runs before this run, in the whole experiment.
    at: u32,
    /// Fraction of the experiment that is over, 0 to 1.
    progress: f64,
}

/// The numbers that determine the random numbers of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct RandomKey {
    /// Number of the experiment; it determines the order of the runs.
    pub(super) seed: u64,
    /// Number of the job, from 0.
    pub(super) job: u32,
}

impl RandomKey {
    /// Returns the seed of a job's scatter. The experiments have numbers below 2³², so no two jobs
    /// share a seed.
    fn job_seed(self) -> u64 {
        self.seed + (u64::from(self.job) << 32)
    }
}

fn draw(seed: u64, at: u32) -> Draw {
    Stream::new(Seed(seed), "laboratory", "run").draw(u64::from(at))
}

/// A model of the throughput in each second of a run, with a warm-up and a decline.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThroughputModel {
    /// Time constant of the exponential warm-up, in seconds.
    pub(super) warms_in_s: f64,
    /// Fraction of the throughput that is missing at first.
    pub(super) cold: f64,
    /// Fraction by which the throughput declines over the run.
    pub(super) decline: f64,
}

/// Length of a run that is modelled second by second, in seconds.
pub(super) const LENGTH_S: u32 = 60;

/// Standard deviation of the noise from second to second, as a fraction of the throughput.
const NOISE_OF_SECONDS: f64 = 0.015;

impl ThroughputModel {
    /// Returns the number of completions in each second of a run. `run.throughput` is the rate of a
    /// warm run before its decline.
    pub(super) fn seconds(&self, run: &ModelRun, seed: u64) -> Vec<f64> {
        let stream = Stream::new(Seed(seed), "laboratory", "seconds");
        let first = u64::from(run.round) * 2 + run.arm.index() as u64;
        let second = |second: u32| {
            let at = f64::from(second);
            let warm = 1.0 - self.cold * (-at / self.warms_in_s).exp();
            let declined = 1.0 - self.decline * at / f64::from(LENGTH_S);
            let number = first * u64::from(LENGTH_S) + u64::from(second);
            let noise = 1.0 + NOISE_OF_SECONDS * stream.draw(number).normal();
            run.throughput * warm * declined * noise
        };
        (0..LENGTH_S).map(second).collect()
    }
}
