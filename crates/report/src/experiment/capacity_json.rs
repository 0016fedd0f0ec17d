//! The JSON objects of a capacity search and of its repetition, in the document of an experiment.

use analyze::capacity::{Capacity, Irregular, Metastable, Phase, SearchFinding};
use serde_json::{Value, json};
use workload::question::VariedLoad;

use super::capacity::{CapacityView, TrialView};
use super::repeated_capacity::RepeatedCapacity;

/// Returns the JSON object of a search; the numbers of its result are null before its end.
pub(super) fn capacity(view: &CapacityView) -> Value {
    let order = &view.order;
    let found = view.found.as_ref();
    let is_rate = matches!(order.vary, VariedLoad::Rate { .. });
    let per_s = |value: Option<f64>| value.filter(|_| is_rate);
    let sustained = found.and_then(|it| it.sustained);
    let fails = found.and_then(|it| it.fails);
    let estimate = found.and_then(|it| it.estimate);
    let interval = view.interval().map(|it| [it.low, it.high]);
    let slos: Vec<String> = order.conditions.iter().map(ToString::to_string).collect();
    let binding = found.and_then(|it| it.binding).and_then(|it| slos.get(it).cloned());
    json!({
        "slo": slos.join(", "),
        "vary": order.vary.to_string(),
        "unit": if is_rate { "per_s" } else { "clients" },
        "sustained": sustained,
        "fails": fails,
        "estimate": estimate,
        "interval": interval,
        "sustained_per_s": per_s(sustained),
        "fails_per_s": per_s(fails),
        "estimate_per_s": per_s(estimate),
        "interval_per_s": interval.filter(|_| is_rate),
        "isotonic": found.and_then(|it| it.isotonic),
        "confirmations": found.map(|it| it.confirmations),
        "trials": view.trials.len(),
        "binding": binding,
        "boundary": found.map(|it| it.boundary.name()),
        "irregular": found.and_then(|it| it.irregular.first()).map(Irregular::name),
        "irregularities": found.map(irregularities),
        "metastable": found.and_then(metastable),
        "stored_method": view.stored_method,
        "limiter": view.limiter().map(|it| it.name()),
        "server_starts": view.server_starts,
        "budget_s": order.budget.as_secs_f64(),
        "took_s": view.trials.iter().map(|it| it.trial.took.as_secs_f64()).sum::<f64>(),
        "trial_list": view.trials.iter().map(|it| trial(view, it)).collect::<Vec<Value>>(),
    })
}

/// Returns the JSON object that compares a search with the search that it repeats.
pub(super) fn repetition(repeated: &RepeatedCapacity) -> Value {
    let RepeatedCapacity { first, second, repetition, outcome } = repeated;
    json!({
        "first": first,
        "now": second,
        "outcome": outcome.name(),
        "reason": repetition.reason.name(),
        "compared": repetition.findings.map(finding),
    })
}

fn finding(finding: SearchFinding) -> Value {
    let (estimate, low, high) = match finding {
        SearchFinding::Estimate { estimate, interval } => {
            (Some(estimate), Some(interval.low), Some(interval.high))
        }
        SearchFinding::Range(range) => (None, Some(range.low), Some(range.high)),
        SearchFinding::AtLeast(value) => (None, Some(value), None),
        SearchFinding::Below(value) | SearchFinding::HoldFailed(value) => (None, None, Some(value)),
        SearchFinding::Unmet(_) | SearchFinding::Nothing => (None, None, None),
    };
    json!({ "kind": finding.name(), "estimate": estimate, "low": low, "high": high })
}

fn irregularities(found: &Capacity) -> Vec<&'static str> {
    found.irregular.iter().map(Irregular::name).collect()
}

/// Returns the numbers of an overload that may sustain itself; `None` if none was found.
fn metastable(found: &Capacity) -> Option<Value> {
    found.irregular.iter().find_map(|why| match why {
        Irregular::Metastable(found) => {
            let Metastable { fails, answered_per_s, passes, connections, advised } = found;
            Some(json!({
                "fails_per_s": fails,
                "answered_per_s": answered_per_s,
                "passes_per_s": passes,
                "connections": connections,
                "advised_connections": advised,
            }))
        }
        _ => None,
    })
}

fn trial(view: &CapacityView, one: &TrialView) -> Value {
    let trial = &one.trial;
    json!({
        "run": one.run,
        "value": trial.value,
        "phase": trial.phase.name(),
        "attempt": match trial.phase {
            Phase::Round(number) | Phase::Confirm(number) => Some(number),
            Phase::Bracket | Phase::Shrink | Phase::Hold => None,
        },
        "window_s": trial.window.as_secs_f64(),
        "took_s": trial.took.as_secs_f64(),
        "outcome": one.outcome.name(),
        "reason": one.reason(&view.order),
        "offered_per_s": trial.offered_per_s,
        "achieved_per_s": trial.achieved_per_s,
        "verdict": one.verdict.status().verdict(),
        "limiter": one.limiter.name(),
    })
}
