//! Measurements of the error rates of Assay's judgements.
//!
//! Thousands of runs, nearly all in virtual time, measure the false alarms of checks on valid runs
//! ([`alarms`]), the detection of planted faults ([`sensitivity`]), and the coverage of confidence
//! intervals ([`coverage`]). The other modules measure comparisons, sweeps, histories and capacity
//! searches. The runs have fixed seeds, so the results are the same at any time and on any machine,
//! except for the runs in real time ([`idle`], [`loopback`]).

pub mod accepted;
pub mod alarms;
pub mod capacity;
pub mod comparison;
pub mod coverage;
pub mod curves;
pub mod idle;
pub mod loopback;
pub mod nights;
pub mod sensitivity;

use std::error::Error;
use std::sync::Arc;

use analyze::compare::{RunFigures, RunVerdict};
use analyze::limiting::LimiterFinding;
use analyze::{Component, Evidence, Status};
use archive::Archive;
use base::{Seed, Target};
use engine::{NoListener, Options};
use lab::{Order, RecordPlace};
use workload::question::{Quantity, RunMetric};
use workload::{Overrides, Plan};

fn is_objection(status: Status) -> bool {
    matches!(status, Status::Suspect | Status::Invalid)
}

fn plan(workload: &str) -> Result<Plan, Box<dyn Error>> {
    let (plan, diagnostics) = workload::plan(workload, &Overrides::default());
    plan.ok_or_else(|| format!("{diagnostics:?}").into())
}

/// Returns the figures of a run whose throughput was drawn, not measured.
fn drawn_figures(throughput: f64, verdict: RunVerdict) -> RunFigures {
    RunFigures {
        verdict,
        jobs: vec!["read".to_owned()],
        metrics: vec![(RunMetric::of(Quantity::Throughput, "read"), throughput)],
        missing: Vec::new(),
        carried: Vec::new(),
        rates: Vec::new(),
        cpu: Vec::new(),
        slos: Vec::new(),
        empty_success: Vec::new(),
        errors: Vec::new(),
        limiter: Component::DatabaseCpu,
        limiter_finding: LimiterFinding::Satisfied,
        facts: Vec::new(),
    }
}

/// Returns the evidence of a run in virtual time with this seed.
fn simulated(plan: &Plan, url: &str, seed: u64) -> Result<Evidence, Box<dyn Error>> {
    evidence_of(plan, url, seed, Options::simulated())
}

/// Returns the evidence of a run with these options.
fn evidence_of(
    plan: &Plan,
    url: &str,
    seed: u64,
    options: Options,
) -> Result<Evidence, Box<dyn Error>> {
    of_record(plan, url, seed, options, |archive| Ok(lab::evidence(archive)?))
}

/// Executes a run with these options, and returns the result of `read` on its record.
fn of_record<T>(
    plan: &Plan,
    url: &str,
    seed: u64,
    options: Options,
    read: impl FnOnce(&Archive) -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let order = Order {
        workload: "trust".to_owned(),
        command: "trust".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Order::new(
            Plan { seed: Seed(seed), ..plan.clone() },
            Target::parse(url)?,
            options,
            RecordPlace::Exactly(folder.path().join("run.assay")),
        )
    };
    let done = lab::run(order, Arc::new(NoListener), |_| {})?;
    read(&Archive::open(&done.record)?)
}
