//! The document of a comparison: `assay.comparison/1`.

use analyze::compare::{ArmId, JudgedLimit};
use serde_json::{Value, json};

use super::comparison::{ComparisonView, MachineView, ObjectionView};
use super::repetition::RepetitionView;
use super::view::DifferenceView;
use super::{comparison_text, json, objection, sentence};

/// Returns the document of a comparison.
pub fn comparison_json(view: &ComparisonView) -> Value {
    let objections = view.objections.iter().map(|one| objection_json(view, one));
    json!({
        "schema": "assay.comparison/1",
        "answer": comparison_text::answer(view),
        "verdict": view.verdict().verdict(),
        "refused": view.is_refused(),
        "interleaved": !view.is_unpaired(),
        "several_differences": view.has_several_differences,
        "groups": view.groups.iter().map(json::arm).collect::<Vec<Value>>(),
        "objections": objections.collect::<Vec<_>>(),
        "undeclared_differences": differences(view, &view.undeclared),
        "differences": differences(view, &view.differences),
        "machine_changes": view.machine.iter().map(|one| machine(view, one)).collect::<Vec<_>>(),
        "limits": view.limits.iter().map(|one| limit(view, one)).collect::<Vec<Value>>(),
        "repetitions": view.repetitions.iter().map(repetition).collect::<Vec<Value>>(),
        "comparison": view
            .comparison
            .as_ref()
            .map_or_else(Vec::new, |comparison| json::rows(&view.groups, comparison)),
    })
}

fn objection_json(view: &ComparisonView, one: &ObjectionView) -> Value {
    let group = &view.groups[one.objection.group].name;
    let kind = one.objection.kind();
    json!({
        "name": kind.name(),
        "group": group,
        "text": objection::reason(&one.objection, group),
        "remedy": objection::remedy(&one.objection.problem),
        "accepted": one.is_accepted,
    })
}

fn differences(view: &ComparisonView, all: &[DifferenceView]) -> Vec<Value> {
    let one = |one: &DifferenceView| {
        let mut document = json::difference(&view.groups, one);
        document["baseline"] = view.groups[one.baseline.index()].name.as_str().into();
        document
    };
    all.iter().map(one).collect()
}

fn machine(view: &ComparisonView, one: &MachineView) -> Value {
    let mut document = json::machine(&view.groups, &one.change);
    document["baseline"] = view.groups[one.baseline.index()].name.as_str().into();
    document
}

fn limit(view: &ComparisonView, one: &JudgedLimit) -> Value {
    let name = |arm: ArmId| view.groups[arm.index()].name.as_str();
    let compared_arm = view.arms().find(|arm| arm.arm == one.arm);
    let compared = one.change.as_ref().and_then(|change| change.compared.as_ref().ok());
    json!({
        "text": one.limit.to_string(),
        "arm": name(one.arm),
        "baseline": compared_arm.map(|arm| name(arm.baseline)),
        "outcome": one.outcome.map_or("not-judged", |outcome| outcome.name()),
        "reason": one.outcome.err().map(sentence::not_compared),
        "change_percent": compared.map(|compared| compared.change * 100.0),
        "interval_percent": compared.and_then(|compared| compared.interval).map(json::ends),
    })
}

fn repetition((record, view): &(String, RepetitionView)) -> Value {
    let mut document = json::repetition(view);
    document["execution"] = record.as_str().into();
    document
}
