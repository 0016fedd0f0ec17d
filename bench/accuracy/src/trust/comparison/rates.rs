//! The rates of comparisons on the model of a machine.

use std::ops::RangeInclusive;

use analyze::compare::{
    BetOutcome, ChangeInterval, Conclusion, LookPlan, RegressionOutcome, judge_regression,
};

use super::groups::{
    equal_groups, groups_at_the_limit, groups_on_a_slowing_machine, groups_with_drift,
};
use super::machine_model::{
    Disturbances, MachineModel, ModelRun, ORDINARY_MACHINE, Order, RandomKey, ThroughputModel,
};
use super::method::{Answer, CORRECT, Method};
use super::rate::ComparisonRate;

/// Accepted percentage of significant comparisons of equal arms, at a level of 5 %: 7 to 36 of 400.
/// One of two thousand sets of 400 comparisons lies outside of this range.
const FALSE_POSITIVES: RangeInclusive<f64> = 1.75..=9.0;

/// Returns the rates of the rows whose name contains `only`.
pub fn rates(comparisons: u32, only: &str) -> Vec<ComparisonRate> {
    let all: [Row; 23] = [
        equal_arms,
        claims_without_change,
        found_change,
        coverage,
        planned_looks,
        several_bets,
        bet_in_the_range,
        bet_outside,
        bet_held_at_an_end,
        bet_failed_at_an_end,
        equivalence,
        equivalence_of_a_change,
        forecast_of_a_change,
        forecast_of_equivalence,
        false_alarms,
        equal_groups,
        groups_at_the_limit,
        groups_with_drift,
        groups_on_a_slowing_machine,
        slowing_machine,
        growing_table,
        warm_up,
        suspect_runs,
    ];
    let is_asked = |row: &&Row| name_of(**row).contains(only);
    all.iter().filter(is_asked).map(|row| row(&CORRECT, comparisons)).collect()
}

/// A function that measures the rate of one row of the table, by a method and in a number of
/// comparisons.
pub(super) type Row = fn(&Method, u32) -> ComparisonRate;

/// Returns the name of a row.
pub(super) fn name_of(row: Row) -> &'static str {
    row(&CORRECT, 1).name
}

/// Judges an experiment with one look.
fn judge_once(machine: MachineModel, method: &Method, rounds: u32, seed: u64) -> Answer {
    let runs = machine.experiment(method.order, rounds, seed);
    method.judge(&runs, LookPlan::Fixed(rounds), &[])
}

fn conclusion(answer: &Answer) -> Option<Conclusion> {
    answer.throughput().map(|compared| compared.conclusion)
}

fn equal_arms(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, 10 pairs: significant";
    ComparisonRate::count(name, comparisons, FALSE_POSITIVES, |seed| {
        judge_once(ORDINARY_MACHINE, method, 10, seed).is_significant()
    })
}

fn claims_without_change(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, 20 pairs: better or worse";
    ComparisonRate::count(name, comparisons, 0.0..=1.0, |seed| {
        conclusion(&judge_once(ORDINARY_MACHINE, method, 20, seed)).is_some_and(Conclusion::claims)
    })
}

fn found_change(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "+4 %, noise 2 %, 12 pairs: significant";
    let machine = MachineModel { noise: 0.02, effect: 0.04, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, 95.0..=100.0, |seed| {
        judge_once(machine, method, 12, seed).is_significant()
    })
}

pub(super) fn coverage(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "+3 %, 10 pairs: interval contains it";
    let machine = MachineModel { noise: 0.01, drift: 0.05, effect: 0.03, ..ORDINARY_MACHINE };
    // Five times as many comparisons: fewer cannot distinguish rates that differ by four points
    // near 95 %.
    ComparisonRate::count(name, 5 * comparisons, 93.0..=97.0, |seed| {
        let interval = judge_once(machine, method, 10, seed).interval();
        interval.is_some_and(|[low, high]| (low..=high).contains(&0.03))
    })
}

pub(super) fn planned_looks(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, looks at 8, 12 and 20 pairs: any significant";
    // Five times as many comparisons, because the planted mistake adds only two points.
    ComparisonRate::count(name, 5 * comparisons, 0.0..=5.0, |seed| {
        let runs = ORDINARY_MACHINE.experiment(method.order, LookPlan::Auto.most_pairs(), seed);
        method.finds_at_any_look(&runs)
    })
}

/// Number of bets that share the error probability of 5 %.
const BETS: u32 = 3;

pub(super) fn several_bets(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, bets on 3 jobs, 10 pairs: any significant";
    // Five times as many comparisons, because the accepted range is narrow. With independent jobs,
    // at least one bet errs in 4.9 % of the experiments.
    ComparisonRate::count(name, 5 * comparisons, 3.0..=6.5, |seed| {
        let of_job =
            |job| ORDINARY_MACHINE.experiment_of_job(method.order, 10, RandomKey { seed, job });
        let jobs: Vec<Vec<ModelRun>> = (0..BETS).map(of_job).collect();
        method.finds_in_any_job(&jobs, LookPlan::Fixed(10))
    })
}

/// Counts the outcomes of a bet on -5 … -25 % at a true change.
fn bets(
    name: &'static str,
    comparisons: u32,
    accepted: RangeInclusive<f64>,
    (method, effect, expected): (&Method, f64, BetOutcome),
) -> ComparisonRate {
    let machine = MachineModel { effect, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, accepted, |seed| {
        let runs = machine.experiment(method.order, 12, seed);
        let bet = ["throughput -5% .. -25%"];
        let comparison = method.judge(&runs, LookPlan::Fixed(12), &bet).comparison;
        comparison.arms[0].changes[0].bets[0].1 == Some(expected)
    })
}

fn bet_in_the_range(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "bet on -5 … -25 % at -10 %: held";
    bets(name, comparisons, 99.0..=100.0, (method, -0.10, BetOutcome::Held))
}

fn bet_outside(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "bet on -5 … -25 % at 0 %: failed";
    bets(name, comparisons, 99.0..=100.0, (method, 0.0, BetOutcome::Failed))
}

/// Accepted percentage of bets that are held, and of bets that have failed, if the true change is
/// an end of the bet's range. Each of these outcomes is then wrong, and has a probability of 2.5 %.
const AT_AN_END: RangeInclusive<f64> = 0.5..=4.5;

fn bet_held_at_an_end(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "bet on -5 … -25 % at -5 %: held";
    bets(name, comparisons, AT_AN_END, (method, -0.05, BetOutcome::Held))
}

fn bet_failed_at_an_end(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "bet on -5 … -25 % at -5 %: failed";
    bets(name, comparisons, AT_AN_END, (method, -0.05, BetOutcome::Failed))
}

fn equivalence(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, 20 pairs: equivalent";
    ComparisonRate::count(name, comparisons, 85.0..=100.0, |seed| {
        conclusion(&judge_once(ORDINARY_MACHINE, method, 20, seed)) == Some(Conclusion::Equivalent)
    })
}

fn equivalence_of_a_change(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "+2 %, 20 pairs: equivalent";
    let machine = MachineModel { effect: 0.02, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, 0.0..=5.0, |seed| {
        conclusion(&judge_once(machine, method, 20, seed)) == Some(Conclusion::Equivalent)
    })
}

/// Number of pairs after which an undecided experiment is continued.
const FIRST_PAIRS: u32 = 8;

/// Largest number of experiments per forecast. Many are needed, because an experiment may be
/// decided after [`FIRST_PAIRS`] pairs and then has no forecast.
const EXPERIMENTS_PER_FORECAST: u64 = 10;

/// Measures how often the forecast number of further pairs is enough. An experiment that is
/// undecided after [`FIRST_PAIRS`] pairs is extended by the forecast number of pairs. It counts if
/// it is decided then.
fn forecasts(
    name: &'static str,
    comparisons: u32,
    accepted: RangeInclusive<f64>,
    (method, machine): (&Method, MachineModel),
) -> ComparisonRate {
    let pairs = |rounds, seed| machine.experiment(method.order, rounds, seed);
    let forecast = |seed| {
        let more = method.forecast(&pairs(FIRST_PAIRS, seed), FIRST_PAIRS)?;
        Some((seed, FIRST_PAIRS + more))
    };
    let seeds = 1..=EXPERIMENTS_PER_FORECAST * u64::from(comparisons);
    let undecided: Vec<(u64, u32)> =
        seeds.filter_map(forecast).take(comparisons as usize).collect();
    let is_decided = |(seed, rounds): &&(u64, u32)| {
        let runs = pairs(*rounds, *seed);
        let answer = method.judge(&runs, LookPlan::Fixed(*rounds), &[]);
        conclusion(&answer).is_some_and(Conclusion::is_decided)
    };
    let found = undecided.iter().filter(is_decided).count() as u32;
    ComparisonRate { name, comparisons: undecided.len() as u32, found, accepted }
}

pub(super) fn forecast_of_a_change(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "+3 %, noise 3 %, undecided after 8 pairs: decided after the forecast number";
    let machine = MachineModel { noise: 0.03, effect: 0.03, ..ORDINARY_MACHINE };
    forecasts(name, comparisons, 50.0..=80.0, (method, machine))
}

fn forecast_of_equivalence(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, noise 3 %, undecided after 8 pairs: decided after the forecast number";
    let machine = MachineModel { noise: 0.03, ..ORDINARY_MACHINE };
    forecasts(name, comparisons, 50.0..=80.0, (method, machine))
}

fn false_alarms(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "-3 %, 12 pairs: `throughput < -3%` exceeded";
    let machine = MachineModel { effect: -0.03, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, 0.0..=4.5, |seed| {
        let interval = judge_once(machine, method, 12, seed).interval();
        let interval = interval.map(|[low, high]| ChangeInterval { low, high });
        judge_regression(-0.03, interval) == RegressionOutcome::Exceeded
    })
}

pub(super) fn slowing_machine(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, machine 20 % slower at the end: significant";
    let machine = MachineModel { trend: 0.2, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, FALSE_POSITIVES, |seed| {
        judge_once(machine, method, 10, seed).is_significant()
    })
}

fn growing_table(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, 30 % slower, order fitted: significant";
    let machine = MachineModel { trend: 0.3, ..ORDINARY_MACHINE };
    let method = Method { order: Order::Counterbalanced, ..*method };
    ComparisonRate::count(name, comparisons, FALSE_POSITIVES, |seed| {
        judge_once(machine, &method, 10, seed).is_significant()
    })
}

/// Measures false alarms if the arm warms up more slowly than the baseline and both decline over a
/// run: only equal windows can be compared.
pub(super) fn warm_up(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "slower warm-up of the arm, no change after it, 10 pairs: significant";
    let model = ThroughputModel { warms_in_s: 0.5, cold: 0.6, decline: 0.07 };
    let models = [model, ThroughputModel { warms_in_s: 4.0, ..model }];
    // Little noise between runs: only the window differs.
    let machine = MachineModel { noise: 0.001, drift: 0.001, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, FALSE_POSITIVES, |seed| {
        let mut runs = machine.experiment(method.order, 10, seed);
        method.remove_warmup(&mut runs, models, seed);
        method.judge(&runs, LookPlan::Fixed(10), &[]).is_significant()
    })
}

pub(super) fn suspect_runs(method: &Method, comparisons: u32) -> ComparisonRate {
    let name = "no change, a fifth of the runs suspect, 12 rounds: significant";
    let disturbances = Disturbances { share: 0.2, loss: 0.08 };
    let machine = MachineModel { disturbances, ..ORDINARY_MACHINE };
    ComparisonRate::count(name, comparisons, FALSE_POSITIVES, |seed| {
        judge_once(machine, method, 12, seed).is_significant()
    })
}
