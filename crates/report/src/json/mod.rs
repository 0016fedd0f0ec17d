//! The answer for programs: one JSON document per run.
//!
//! [`v1`] is the contract: the structure and names that `schemas/summary.schema.json` and
//! `docs/json.md` describe. Domain types are never serialized, so changing them cannot change the
//! contract.

mod finite;
mod limiter;
mod program;
mod v1;

use analyze::doctor::{Diagnosis, DoctorInput};
use serde_json::{Value, json as document};

use crate::page::{Environment, Page};
use crate::words::doctor;

/// Returns the document of a run, `assay.summary/1`. Its keys are always in the same order, and all
/// numbers in it are finite.
pub fn json(page: &Page) -> Value {
    serde_json::to_value(v1::Document::of(page)).expect("a document has no maps but with text keys")
}

/// Returns the settings and facts of a record: an object of texts, sorted by name.
pub fn environment_json(environment: &Environment) -> Value {
    object(&environment.facts)
}

fn object(pairs: &[(String, String)]) -> Value {
    let pairs = pairs.iter().cloned();
    Value::Object(pairs.map(|(name, value)| (name, Value::String(value))).collect())
}

/// Returns the document of a diagnosis, `assay.doctor/1`; `target` is the database that was
/// examined, if there is one.
pub fn diagnosis_json(target: Option<&str>, input: &DoctorInput, diagnosis: &Diagnosis) -> Value {
    let findings = diagnosis.findings.iter().map(|finding| {
        document!({
            "check": finding.check,
            "found": doctor::problem(&finding.problem),
            "reason": doctor::importance(&finding.problem),
            "remedy": doctor::remedy(&finding.problem),
        })
    });
    let not_possible = diagnosis
        .not_possible
        .iter()
        .map(|not| document!({"check": not.check, "reason": doctor::not_possible(not.missing)}));
    let server = input.server.as_ref();
    let mut environment = input.host.clone();
    environment.extend(server.into_iter().flat_map(|server| server.network.clone()));
    environment.extend(server.into_iter().flat_map(|server| server.settings.clone()));
    document!({
        "schema": "assay.doctor/1",
        "target": target,
        "findings": findings.collect::<Vec<_>>(),
        "not_possible": not_possible.collect::<Vec<_>>(),
        "passed": diagnosis.passed,
        "environment": object(&environment),
    })
}
