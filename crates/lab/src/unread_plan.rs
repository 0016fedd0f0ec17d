//! A substitute for a plan that cannot be read, built from the jobs in the record.
//!
//! The numbers of a run matter more than its plan. They are shown with this plan, which has the
//! jobs, their statements and their rates; the report says that it is a substitute.

use base::{Nanos, Rate, Seed, Span, Target};
use record::{Header, JobHeader};
use workload::{Job, MixPart, Overrides, Pacing, Piece, Plan, Statement, Warmup};

/// The model of per-node statistics in a record, which are no job of the plan.
pub(crate) const NODE: &str = "node";

/// Builds a plan from the jobs in a record's header.
pub(crate) fn of(header: &Header) -> Plan {
    let (plan, _) = workload::plan("[a]\nquery = x\n", &Overrides::default());
    let template = plan.expect("a plan of one statement");
    let of_plan = header.jobs.iter().filter(|job| job.model != NODE);
    let mut jobs: Vec<Job> = of_plan.map(|told| job(told, &template.jobs[0])).collect();
    for place in 0..jobs.len() {
        let Some(of) = mix_of(&jobs[..place], &jobs[place].name) else { continue };
        let section = jobs[place].name[jobs[of].name.len() + 1..].to_owned();
        jobs[place].pacing = Pacing::Part { of, section };
        jobs[of].mix.push(MixPart { job: place, weight: 1 });
    }
    Plan {
        target: Target::parse(header.target.as_str()).ok(),
        duration: header.duration,
        warmup: Warmup::Lasts(header.warmup),
        seed: Seed(header.seed.0),
        jobs,
        ..template
    }
}

/// Returns the index of the mix that a job belongs to; the mix comes before its parts.
fn mix_of(before: &[Job], name: &str) -> Option<usize> {
    let is_part = |job: &Job| matches!(job.pacing, Pacing::Part { .. });
    let holds = |job: &Job| name.strip_prefix(&job.name).is_some_and(|rest| rest.starts_with('/'));
    before.iter().position(|job| !is_part(job) && job.statements.is_empty() && holds(job))
}

fn job(told: &JobHeader, template: &Job) -> Job {
    let statement = |text: &String| Statement {
        pieces: vec![Piece::Text(text.clone())],
        span: Span::default(),
        script: None,
    };
    let pacing = match (told.model.as_str(), told.offered_per_s.and_then(schedule)) {
        ("open" | "partly-open" | "queue" | "timetable", Some(pacing)) => pacing,
        ("replay", _) => Pacing::Replay,
        (_, _) => {
            let clients = told.connections_asked.unwrap_or(1).max(1);
            Pacing::Closed { clients, think: None }
        }
    };
    Job {
        name: told.name.clone(),
        pacing,
        start: Nanos::ZERO,
        statements: told.statements.iter().map(statement).collect(),
        ..template.clone()
    }
}

/// Returns an open model with this rate.
fn schedule(per_s: f64) -> Option<Pacing> {
    let rate = Rate::parse(&per_s.to_string()).ok()?;
    Some(Pacing::Open { schedule: workload::Schedule::Poisson(rate), batch: 1 })
}
