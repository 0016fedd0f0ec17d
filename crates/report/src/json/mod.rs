//! The answer for programs: one JSON document per run.
//!
//! [`v1`] is the contract: the structure and names that `schemas/summary.schema.json` and
//! `docs/json.md` describe. Domain types are never serialized, so changing them cannot change the
//! contract.

mod finite;
mod limiter;
mod program;
mod v1;

use analyze::doctor::{Diagnosis, DoctorInput, Server};
use serde_json::{Value, json as document};

use crate::page::{Environment, Page};
use crate::words::doctor;

/// Returns the document of a run, `assay.summary/1`. Its keys are always in the same order, and all
/// numbers in it are finite.
pub fn json(page: &Page) -> Value {
    serde_json::to_value(v1::Document::of(page)).expect("a document has no maps but with text keys")
}

/// Returns the settings and facts of a record as an object of texts: the facts about the program
/// first, then all others.
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
            "host": finding.host,
            "found": doctor::problem(&finding.problem),
            "reason": doctor::importance(&finding.problem),
            "remedy": doctor::remedy(&finding.problem, input),
        })
    });
    let not_possible = diagnosis.not_possible.iter().map(|not| {
        document!({
            "check": not.check,
            "host": not.host,
            "reason": doctor::not_possible(not.missing),
        })
    });
    let facts_of = |server: &Server| [server.network.as_slice(), &server.settings].concat();
    let servers = input
        .servers
        .iter()
        .map(|server| document!({"host": server.host, "environment": object(&facts_of(server))}));
    let first = input.servers.first().map(facts_of).unwrap_or_default();
    let environment = [input.host.as_slice(), &first].concat();
    document!({
        "schema": "assay.doctor/1",
        "target": target,
        "findings": findings.collect::<Vec<_>>(),
        "not_possible": not_possible.collect::<Vec<_>>(),
        "passed": diagnosis.passed,
        "environment": object(&environment),
        "servers": servers.collect::<Vec<_>>(),
    })
}
