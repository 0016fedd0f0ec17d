//! The rates of comparisons of runs that the engine executes in virtual time.

use std::error::Error;

use analyze::compare::{ArmId, CountedRun, Design, LookPlan, OrderModel, RunFigures, compare};
use analyze::summarize;
use base::Seed;
use lab::experiment::Schedule;
use workload::Plan;
use workload::question::Deltas;

use super::rate::ComparisonRate;
use crate::trust::{plan, simulated};

/// One client, for two seconds after a warm-up of one second. The servers, which answer after about
/// 10 ms, are in [`Experiments`].
const WORKLOAD: &str = "duration = 3s\nwarmup = 1s\n[read]\nquery = select 1\nconcurrency = 1\n";

/// Runs `comparisons` experiments of each set whose name contains `only`: with equal servers, and
/// with one server that is slower.
///
/// # Errors
/// Fails if a run fails or its record cannot be read; neither should happen.
pub fn rates_of_runs(comparisons: u32, only: &str) -> Result<Vec<ComparisonRate>, Box<dyn Error>> {
    let equal = Experiments {
        name: "virtual runs, no change, 8 pairs: significant",
        services_us: [10_000, 10_000],
        noise: 0.01,
        rounds: 8,
        // One of three thousand sets of 20 comparisons has more than 5 false alarms (25 %). One of
        // two thousand sets of 400 comparisons has fewer than 1.75 % or more than 9 %.
        accepted_percent: if comparisons < 400 { [0.0, 25.0] } else { [1.75, 9.0] },
    };
    let slower = Experiments {
        name: "virtual runs, +5 % service time, noise 1 %, 8 pairs: significant",
        services_us: [10_000, 10_500],
        accepted_percent: [95.0, 100.0],
        ..equal
    };
    let noisier = Experiments {
        name: "virtual runs, +4 % service time, noise 2 %, 12 pairs: significant",
        services_us: [10_000, 10_400],
        noise: 0.02,
        rounds: 12,
        accepted_percent: [95.0, 100.0],
    };
    let asked = [equal, slower, noisier].into_iter().filter(|set| set.name.contains(only));
    asked.map(|set| set.rate(comparisons)).collect()
}

/// Experiments with two simulated servers.
#[derive(Clone, Copy)]
struct Experiments {
    name: &'static str,
    services_us: [u32; 2],
    /// Standard deviation of the noise from run to run, a fraction.
    noise: f64,
    rounds: u32,
    accepted_percent: [f64; 2],
}

impl Experiments {
    fn rate(&self, comparisons: u32) -> Result<ComparisonRate, Box<dyn Error>> {
        let plan = plan(WORKLOAD)?;
        let mut found = 0;
        for seed in 1..=u64::from(comparisons) {
            found += u32::from(self.is_significant(&plan, seed)?);
        }
        let [low, high] = self.accepted_percent;
        Ok(ComparisonRate { name: self.name, comparisons, found, accepted: low..=high })
    }

    fn is_significant(&self, plan: &Plan, seed: u64) -> Result<bool, Box<dyn Error>> {
        let schedule = Schedule { runs: 2, seed: Seed(seed), is_counterbalanced: false };
        let mut figures: Vec<(u32, ArmId, u32, RunFigures)> = Vec::new();
        for round in 0..self.rounds {
            for planned in schedule.round(round, 0) {
                let (arm, at) = (ArmId(planned.arm_point), planned.server.position);
                let url = format!(
                    "sim:md1?service={}us&noise={}&drift=0.02&series={seed}&run={at}",
                    self.services_us[arm.index()],
                    self.noise
                );
                let evidence = simulated(plan, &url, seed * 1_000 + u64::from(at))?;
                let of_run = RunFigures::of(&evidence, &summarize(&evidence), Vec::new());
                figures.push((round, arm, planned.position, of_run));
            }
        }
        let runs: Vec<CountedRun<'_>> = figures
            .iter()
            .map(|(round, arm, position, figures)| CountedRun {
                round: *round,
                arm: *arm,
                position: *position,
                figures,
            })
            .collect();
        let design = Design {
            arms: 2,
            looks: LookPlan::Fixed(self.rounds),
            order: OrderModel::Random,
            bets: Vec::new(),
            deltas: Deltas::default(),
            saturated: None,
        };
        let comparison = compare(&design, &runs, self.rounds);
        let throughput = comparison.arms[0].changes[0].compared.as_ref();
        let interval = throughput.ok().and_then(|compared| compared.interval);
        Ok(interval.is_some_and(|interval| interval.excludes_zero()))
    }
}
