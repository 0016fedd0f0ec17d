//! The JSON object of a search for saturation, in the document of an experiment.

use analyze::saturate::{NextSaturationStep, SaturationKind};
use serde_json::{Value, json};
use workload::question::VariedLoad;

use super::saturation::{SaturationStepView, SaturationView};

/// Returns the JSON object of a search. If the search found no load, `value` and `measured_percent`
/// are null.
pub(super) fn saturation(view: &SaturationView) -> Value {
    let found = view.found();
    // If all steps are overloaded, the first has no previous step to compare its throughput with.
    let measured = found.filter(|it| it.kind != SaturationKind::AllOverloaded);
    let question = &view.question;
    let is_rate = matches!(question.vary, VariedLoad::Rate { .. });
    json!({
        "vary": question.vary.to_string(),
        "unit": if is_rate { "per_s" } else { "clients" },
        "values": question.values,
        "until": question.until.to_string(),
        "outcome": outcome(view.next),
        "value": found.map(|it| it.value),
        "measured_percent": measured.map(|it| it.measured * 100.0),
        "server_starts": view.server_starts,
        "sentence": view.sentence().or_else(|| view.failure()),
        "steps": view.steps.iter().map(|it| step(view, it)).collect::<Vec<Value>>(),
    })
}

fn outcome(next: NextSaturationStep) -> Option<&'static str> {
    match next {
        NextSaturationStep::Run { .. } => None,
        NextSaturationStep::Found(found) => Some(match found.kind {
            SaturationKind::Reached => "reached",
            SaturationKind::AtFirst => "at-first",
            SaturationKind::Overloaded => "overloaded",
            SaturationKind::AllOverloaded => "all-overloaded",
            SaturationKind::NotReached => "not-reached",
        }),
        NextSaturationStep::InstrumentFailed { .. } => Some("instrument-failed"),
        NextSaturationStep::NotObserved => Some("not-observed"),
    }
}

fn step(view: &SaturationView, step: &SaturationStepView) -> Value {
    json!({
        "run": step.run,
        "step": step.step,
        "attempt": step.attempt,
        "value": step.value,
        "state": step.state,
        "throughput_per_s": step.completed_per_s,
        "gain_percent": view.gain(step).map(|gain| gain * 100.0),
        "cpu_percent": step.cpu.map(|cpu| cpu.used() * 100.0),
        "processors": step.cpu.map(|cpu| cpu.processors),
        "verdict": step.verdict.status().verdict(),
        "objections": step.verdict.objections.iter().map(|(it, _)| it.name()).collect::<Vec<_>>(),
        "limiter": step.limiter.name(),
    })
}
