//! Can the judgements be trusted?
//!
//! Three questions, each answered by some hundreds of runs, nearly all in virtual time: how often
//! does a check object to a valid run ([`alarms`]), how often does it object when something is
//! wrong ([`sensitivity`]), and how often does an interval hold the truth ([`coverage`])? Runs have
//! seeds, so the same ones are judged wherever and whenever this is asked; but for those in
//! [real time](idle).

pub mod alarms;
pub mod coverage;
pub mod idle;
pub mod sensitivity;

use std::error::Error;
use std::sync::Arc;

use analyze::{Evidence, Status};
use base::{Seed, Target};
use engine::{Options, Silence, Stop};
use lab::{Order, RecordPlace};
use record::Archive;
use workload::{Overrides, Plan};

fn is_objection(status: Status) -> bool {
    matches!(status, Status::Suspect | Status::Invalid)
}

fn plan(workload: &str) -> Result<Plan, Box<dyn Error>> {
    let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
    plan.ok_or_else(|| format!("{diagnostics:?}").into())
}

/// What the record of a run with this seed tells, in virtual time.
fn simulated(plan: &Plan, url: &str, seed: u64) -> Result<Evidence, Box<dyn Error>> {
    evidence_of(plan, url, seed, Options::simulated())
}

/// The same of a run that is carried out in some way.
fn evidence_of(
    plan: &Plan,
    url: &str,
    seed: u64,
    options: Options,
) -> Result<Evidence, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let order = Order {
        plan: Plan { seed: Seed(seed), ..plan.clone() },
        target: Target::parse(url)?,
        options,
        record: RecordPlace::Exactly(folder.path().join("run.assay")),
        op_log: None,
        calibration: None,
        workload: "trust".to_owned(),
        command: "trust".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: None,
        stop: Stop::default(),
    };
    let done = lab::run(order, Arc::new(Silence), |_| {})?;
    Ok(lab::evidence(&Archive::open(&done.record)?)?)
}
