//! Jobs of one run with different targets.

use base::{AccountId, Stamp};
use driver::{AnyDriver, Null, Simulated};
use engine::{Drivers, RunOutcome, Stop};
use record::{EventKind, Kind, Totals};
use sim::Config;
use workload::{JobTarget, Plan, TargetId};

use crate::boxed_driver::BoxedDriver;
use crate::support::{JOB, constant, exponential, plan_of, run_on, run_on_all, virtually};

const OTHER: AccountId = AccountId(1);

/// Returns a plan of two jobs: `[fast]` uses the main target, `[slow]` the one named `slow`.
fn two_jobs() -> Plan {
    plan_of(
        "duration = 20s\ndrain = 1s\n[target slow]\nurl = sim:mm1\n\
         [fast]\nquery = select 1\nrate = 300\n\
         [slow]\ntarget = slow\nquery = select 1\nrate = 30\n",
    )
}

fn server(config: &Config, plan: &Plan) -> BoxedDriver {
    BoxedDriver::new(simulated(config, plan))
}

fn simulated(config: &Config, plan: &Plan) -> Simulated {
    Simulated::new(config.clone(), plan.seed)
}

fn simulate(plan: &Plan, main: &Config, slow: &Config, threads: u16) -> (Totals, RunOutcome) {
    let named = vec![Some(server(slow, plan))];
    let drivers = Drivers { main: Some(server(main, plan)), named, programs: None };
    run_on_all(plan, drivers, &virtually(threads), &Stop::default())
}

/// Returns the errors, completions and response times of a job.
fn numbers(totals: &Totals, job: AccountId) -> (u64, u64, hdrhistogram::Histogram<u32>) {
    let window = &totals.account(job).window;
    let balance = &window.counts.balance;
    (balance.errors(), balance.completed(), window.histograms.of(Kind::Response))
}

#[test]
fn numbers_of_each_job_equal_a_run_on_its_own_server_alone() {
    let plan = two_jobs();
    let (fast, slow) = (exponential(1_000, Some(1)), exponential(20_000, Some(1)));
    let (totals, _) = simulate(&plan, &fast, &slow, 1);
    for (job, config) in [(JOB, &fast), (OTHER, &slow)] {
        let mut alone = plan.clone();
        alone.jobs = vec![plan.jobs[usize::from(job.0)].clone()];
        alone.jobs[0].target = JobTarget::Main;
        let server = simulated(config, &plan);
        let (only, _) = run_on(&alone, server, &virtually(1), &Stop::default());
        assert!(numbers(&totals, job) == numbers(&only, JOB), "{job:?}");
    }
    let mean = |job| numbers(&totals, job).2.mean();
    assert!(mean(OTHER) > 5.0 * mean(JOB), "{} {}", mean(JOB), mean(OTHER));
}

#[test]
fn one_dead_target_is_seen_by_its_own_jobs_alone() {
    let plan = two_jobs();
    let alive = constant(1_000, None);
    let outages = vec![Stamp(5_000_000_000)..Stamp(100_000_000_000)];
    let dead = Config { outages, ..alive.clone() };
    for threads in [1, 2] {
        for (main, slow, dies, lives, lost, words) in [
            (
                &alive,
                &dead,
                OTHER,
                JOB,
                JobTarget::Named(TargetId(0)),
                "[target slow] refuses connections",
            ),
            (&dead, &alive, JOB, OTHER, JobTarget::Main, "the target refuses connections"),
        ] {
            let (totals, finished) = simulate(&plan, main, slow, threads);
            assert_eq!(numbers(&totals, lives).0, 0, "{words}");
            let (errors, completed, _) = numbers(&totals, dies);
            assert!(errors > 2 * completed && completed > 0, "{words}: {errors} {completed}");
            assert_eq!(finished.measured.unwrap().lost, [lost]);
            let events = totals.events.iter();
            let began = events.filter(|event| event.kind == EventKind::OutageBegan);
            let words = format!("{words}: the simulated server is unavailable");
            assert!(began.clone().count() >= 1 && began.clone().all(|event| event.text == words));
        }
    }
}

#[test]
fn a_target_that_came_back_is_not_lost() {
    let plan = two_jobs();
    let alive = constant(1_000, None);
    let outages = vec![Stamp(5_000_000_000)..Stamp(8_000_000_000)];
    let (_, finished) = simulate(&plan, &alive, &Config { outages, ..alive.clone() }, 1);
    assert_eq!(finished.measured.unwrap().lost, []);
}

#[test]
fn targets_of_two_kinds_are_used_in_one_run() {
    let plan = two_jobs();
    let other = simulated(&constant(20_000, None), &plan);
    let drivers = Drivers {
        main: Some(BoxedDriver::new(AnyDriver::Null(Null))),
        named: vec![Some(BoxedDriver::new(AnyDriver::Simulated(other)))],
        programs: None,
    };
    let (totals, _) = run_on_all(&plan, drivers, &virtually(1), &Stop::default());
    assert!(numbers(&totals, JOB).2.max() < 1_000, "the null driver answers at once");
    assert!(numbers(&totals, OTHER).2.min() >= 19_900_000, "the other server takes 20 ms");
}

#[test]
fn unused_main_target_needs_no_driver() {
    let mut plan = two_jobs();
    plan.jobs.remove(0);
    let named = vec![Some(server(&constant(1_000, None), &plan))];
    let drivers = Drivers { main: None, named, programs: None };
    let (totals, _) = run_on_all(&plan, drivers, &virtually(1), &Stop::default());
    assert!(numbers(&totals, JOB).1 > 0);
}
