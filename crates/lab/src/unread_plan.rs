//! A substitute for a plan that cannot be read, built from the jobs in the record.
//!
//! The measurements of a run matter more than its plan. They are reported with this substitute,
//! which has the jobs, their statements and their rates. The report notes that the plan is a
//! substitute.

use base::{Nanos, Rate, Seed, Span, Target};
use record::{AccountKind, Header, JobHeader};
use workload::{Job, Overrides, Pacing, Part, Piece, Plan, Requests, Statement, Warmup};

/// Builds a plan from the jobs in a record's header.
pub(crate) fn of(header: &Header) -> Plan {
    let (plan, _) = workload::plan("[a]\nquery = x\n", &Overrides::default());
    let template = plan.expect("a plan of one statement");
    let template_job = &template.jobs[0];
    let mut jobs: Vec<Job> = Vec::new();
    for recorded in &header.jobs {
        match &recorded.kind {
            AccountKind::Job => jobs.push(job(recorded, template_job)),
            // In the header, the parts of a mix follow the mix.
            AccountKind::Part { mix: _, section } => {
                let requests = requests(recorded, section.clone(), template_job);
                let part = Part { name: recorded.name.clone(), weight: 1, requests };
                if let Some(mix) = jobs.last_mut() {
                    mix.parts.push(part);
                }
            }
            AccountKind::Node { .. } => {}
        }
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

fn job(recorded: &JobHeader, template: &Job) -> Job {
    let pacing = match (recorded.model.as_str(), recorded.offered_per_s.and_then(schedule)) {
        ("open" | "partly-open" | "queue" | "timetable", Some(pacing)) => pacing,
        ("replay", _) => Pacing::Replay,
        (_, _) => {
            let clients = recorded.connections_asked.unwrap_or(1).max(1);
            Pacing::Closed { clients, think: None }
        }
    };
    let requests = requests(recorded, recorded.name.clone(), template);
    Job { pacing, start: Nanos::ZERO, requests, ..template.clone() }
}

fn requests(recorded: &JobHeader, section: String, template: &Job) -> Requests {
    let statement = |text: &String| Statement {
        pieces: vec![Piece::Text(text.clone())],
        span: Span::default(),
        script: None,
    };
    let statements = recorded.statements.iter().map(statement).collect();
    Requests { section, statements, ..template.requests.clone() }
}

/// Returns the pacing of an open job with this rate.
fn schedule(per_s: f64) -> Option<Pacing> {
    let rate = Rate::parse(&per_s.to_string()).ok()?;
    Some(Pacing::Open { schedule: workload::Schedule::Poisson(rate), batch: 1 })
}
