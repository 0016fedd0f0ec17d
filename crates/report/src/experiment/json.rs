//! The JSON document of an experiment: `assay.experiment/1`.

use analyze::compare::{
    ArmComparison, ArmSlo, BetOutcome, ChangeInterval, Compared, Comparison, Conclusion,
    MachineChange, MetricChange, Pair, PairOrder, SampleValues,
};
use analyze::{CheckKind, EmptySuccess, ErrorSummary};
use serde_json::{Value, json};
use workload::question::Scale;

use super::alarms::FalseAlarms;
use super::appendix_json;
use super::capacity_json;
use super::load_fallbacks::LoadFallback;
use super::remarks::JobRemark;
use super::repetition::{RepeatedBest, RepeatedMetric, RepetitionView};
use super::saturation_json;
use super::sentence;
use super::sweep_json;
use super::view::{ArmView, DifferenceView, ExperimentState, ExperimentView, RunView};
use crate::words;
use crate::{excerpt, note};

/// Returns the JSON document of an experiment.
pub fn experiment_json(view: &ExperimentView) -> Value {
    let differences = |all: &[DifferenceView]| -> Vec<Value> {
        all.iter().map(|one| difference(&view.arms, one)).collect()
    };
    let looks: Vec<Value> = view
        .looks
        .iter()
        .map(|look| json!({ "pairs": look.pairs, "decided": look.is_decided }))
        .collect();
    let sentences = view.declared_changes().map(|(arm, change)| view.sentence(arm, change));
    let mut answer: Vec<String> = sentences.collect();
    if view.state == ExperimentState::Complete {
        answer.extend(view.capacity.iter().flat_map(|it| it.answers(&view.record)));
        answer.extend(view.sweep_answers());
        answer.extend(view.load_sentence());
        answer.extend(view.overload_sentences());
    }
    let mut compared = view.comparison.as_ref().map_or_else(Vec::new, |all| rows(&view.arms, all));
    compared.extend(at_points(view));
    let mut document = json!({
        "schema": "assay.experiment/1",
        "question": view.question,
        "workload": view.workload,
        "command": view.command,
        "record": view.record,
        "label": view.label,
        "state": view.state.name(),
        "answer": answer,
        "verdict": view.verdict().verdict(),
        "invalid_arm": (view.state == ExperimentState::NotInEffect)
            .then_some(view.invalid_arm.as_deref()),
        "several_differences": view.has_several_differences,
        "arms": view.arms.iter().map(arm).collect::<Vec<Value>>(),
        "looks": looks,
        "undeclared_differences": differences(&view.undeclared),
        "differences": differences(&view.differences),
        "machine_changes":
            view.machine.iter().map(|one| machine(&view.arms, one)).collect::<Vec<_>>(),
        "false_alarms": view.false_alarms.as_ref().map(false_alarms),
        "remedies": view.remedies().into_iter().map(remedy).collect::<Vec<Value>>(),
        "warnings":
            view.remarks.warnings.iter().map(|one| warning(&view.arms, one)).collect::<Vec<_>>(),
        "errors":
            view.remarks.errors.iter().map(|one| errors(&view.arms, one)).collect::<Vec<_>>(),
        "load_fallbacks": load_fallbacks(view),
        "notes": note::documents(&view.notes),
        "repetition": view.repetition.as_ref().map(repetition),
        "comparison": compared,
        "saturate": view.saturation.as_ref().map(saturation_json::saturation),
        "capacity": view.capacity.as_ref().map(capacity_json::capacity),
        "runs": view.runs.iter().map(|one| run(view, one)).collect::<Vec<Value>>(),
        "facts": appendix_json::facts(view),
        "plan": appendix_json::plan(view),
    });
    if let Some(document) = document.as_object_mut() {
        document.extend(sweep_json::fields(view));
        if !view.excerpts.is_empty() {
            let excerpts = excerpt::documents(&view.excerpts);
            document.insert("excerpts".to_owned(), excerpts.into());
        }
    }
    document
}

/// Returns the comparisons of the arms at each point.
fn at_points(view: &ExperimentView) -> Vec<Value> {
    let Some(sweep) = &view.sweep else { return Vec::new() };
    let at_point = |(value, comparison): (&String, &Comparison)| {
        let mut all = rows(&view.arms, comparison);
        for row in &mut all {
            row["point"] = json!(value);
        }
        all
    };
    sweep.values.iter().zip(&sweep.comparisons).flat_map(at_point).collect()
}

fn remedy((check, remedy): (CheckKind, &str)) -> Value {
    json!({ "check": check.name(), "text": remedy })
}

fn warning(arms: &[ArmView], one: &JobRemark<EmptySuccess>) -> Value {
    json!({
        "arm": arms[one.arm.index()].name,
        "job": one.job,
        "name": one.fact.name(),
        "text": words::warning(&one.fact),
        "remedy": words::remedy_of_warning(&one.fact),
        "statements": one.fact.statement_numbers(),
        "runs": one.runs,
    })
}

fn errors(arms: &[ArmView], one: &JobRemark<ErrorSummary>) -> Value {
    let ErrorSummary { class, code, count, text } = &one.fact;
    json!({
        "arm": arms[one.arm.index()].name,
        "job": one.job,
        "class": class.name(),
        "code": code.to_string(),
        "count": count,
        "text": text,
        "runs": one.runs,
    })
}

fn load_fallbacks(view: &ExperimentView) -> Vec<Value> {
    let fallback = |one: &LoadFallback| {
        json!({
            "arm": view.arms[one.arm.index()].name,
            "table": one.table,
            "reason": one.reason,
            "runs": one.runs,
        })
    };
    view.load_fallbacks.iter().map(fallback).collect()
}

/// Returns a difference between runs.
pub(super) fn difference(arms: &[ArmView], one: &DifferenceView) -> Value {
    json!({
        "kind": one.kind,
        "name": one.name,
        "arm": arms[one.arm.index()].name,
        "rounds": one.between.rounds(),
        "baseline_value": one.values[0],
        "value": one.values[1],
        "cause": one.cause,
    })
}

/// Returns an arm with the counts of its runs by validity.
pub(super) fn arm(arm: &ArmView) -> Value {
    let differences: Vec<Value> =
        arm.differences.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
    let validity = &arm.validity;
    let ended_tls =
        arm.effect.ended_tls.as_ref().map(
            |[client, fact, server]| json!({ "name": fact, "client": client, "server": server }),
        );
    json!({
        "name": arm.name,
        "differences": differences,
        "not_read_back": arm.effect.not_read_back,
        "undeclared_facts": Vec::from_iter(ended_tls),
        "shares_server": arm.effect.shares_server,
        "runs": validity.runs,
        "repeated": validity.repeated,
        "suspect": validity.suspect.len(),
        "invalid": validity.invalid.len(),
        "slo": arm.slos.iter().map(slo).collect::<Vec<Value>>(),
        "limiter": arm.limiter.as_ref().map(appendix_json::limiter),
    })
}

/// Returns a row for each metric of each arm.
pub(super) fn rows(arms: &[ArmView], comparison: &Comparison) -> Vec<Value> {
    let rows = comparison
        .arms
        .iter()
        .flat_map(|arm| arm.changes.iter().map(move |change| row(arms, arm, change)));
    rows.collect()
}

fn row(arms: &[ArmView], arm: &ArmComparison, change: &MetricChange) -> Value {
    let metric = &change.metric;
    let mut row = json!({
        "metric": metric.quantity.name(),
        "job": metric.of,
        "point": null,
        "unit": metric.quantity.unit(),
        "arm": arms[arm.arm.index()].name,
        "baseline": arms[arm.baseline.index()].name,
        "pairs": arm.size.pairs(),
        "run_counts": arm.size.runs(),
        "exploratory": change.is_exploratory,
        "alpha": change.alpha,
        "limiters": arm.limiters.map(|component| component.name()),
        "bets": change.bets.iter().map(|(one, outcome)| bet(one, *outcome)).collect::<Vec<_>>(),
    });
    if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), compared_fields(change)) {
        row.extend(fields);
    }
    row
}

/// Returns the fields of a metric's row that depend on its values.
fn compared_fields(change: &MetricChange) -> Value {
    // Metrics that are compared by difference are fractions: their difference is in percentage
    // points.
    let by = match change.metric.quantity.scale() {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    };
    let more = |compared: &Compared| match compared.conclusion {
        Conclusion::Undecided { more_pairs } => more_pairs,
        _ => None,
    };
    let known = change.compared.as_ref().ok();
    let reason = change.compared.as_ref().err();
    json!({
        "verdict": known.map_or("not-compared", |compared| compared.conclusion.name()),
        "reason": reason.map(|reason| sentence::not_compared(*reason)),
        "compared_by": by,
        "change_percent": known.map(|compared| compared.change * 100.0),
        "interval_percent": known.and_then(|compared| compared.interval).map(ends),
        "hodges_lehmann_percent": known.map(|compared| compared.hodges_lehmann * 100.0),
        "order_effect_percent": known.and_then(|compared| compared.order_effect).map(in_percent),
        "means": known.map(|compared| compared.means),
        "values": known.and_then(|compared| pairs(&compared.values)),
        "run_values": known.and_then(|compared| groups(&compared.values)),
        "more_pairs": known.and_then(more),
    })
}

fn pairs(values: &SampleValues) -> Option<Vec<Value>> {
    let SampleValues::Pairs(pairs) = values else { return None };
    let pair = |pair: &Pair| {
        let is_first = pair.order == PairOrder::BaselineFirst;
        json!({ "baseline": pair.baseline, "arm": pair.arm, "baseline_first": is_first })
    };
    Some(pairs.iter().map(pair).collect())
}

fn groups(values: &SampleValues) -> Option<&[Vec<f64>; 2]> {
    match values {
        SampleValues::Pairs(_) => None,
        SampleValues::Groups(groups) => Some(groups),
    }
}

/// Returns a change of the machine; `arm` is null for a drift over all runs.
pub(super) fn machine(arms: &[ArmView], change: &MachineChange) -> Value {
    let (arm, percent, interval, is_decisive) = match change {
        MachineChange::BetweenArms { arm, change, interval, is_decisive, .. } => {
            let is_decisive = *is_decisive == Some(true);
            (Some(&arms[arm.index()].name), *change, Some(ends(*interval)), is_decisive)
        }
        MachineChange::Drift { change } => (None, *change, None, false),
    };
    json!({
        "arm": arm,
        "change_percent": in_percent(percent),
        "interval_percent": interval,
        "decisive": is_decisive,
    })
}

fn false_alarms(alarms: &FalseAlarms) -> Value {
    let counted = alarms.counted();
    let (experiments, latest, target, spread) = match alarms {
        FalseAlarms::OfExperiment { spread, .. } => (None, None, None, Some(spread * 100.0)),
        FalseAlarms::OfMachine { experiments, latest, target, .. } => {
            (Some(experiments), Some(latest), Some(target), None)
        }
    };
    json!({
        "comparisons": counted.comparisons,
        "rejections": counted.rejections,
        "unfit": counted.is_unfit(),
        "spread_percent": spread,
        "experiments": experiments,
        "latest": latest,
        "target": target,
    })
}

pub(super) fn repetition(view: &RepetitionView) -> Value {
    let best = |it: &RepeatedBest| {
        json!({
            "arm": it.arm,
            "first": it.first,
            "now": it.second,
            "outcome": it.outcome.name(),
        })
    };
    let metric = |one: &RepeatedMetric| {
        let (first, second) = (one.first.as_ref(), one.second.as_ref());
        let difference = one.repetition.as_ref();
        json!({
            "metric": one.metric.quantity.name(),
            "job": one.metric.of,
            "arm": one.arm,
            "first_change_percent": first.map(|compared| compared.change * 100.0),
            "first_interval_percent": first.and_then(|compared| compared.interval).map(ends),
            "change_percent": second.map(|compared| compared.change * 100.0),
            "interval_percent": second.and_then(|compared| compared.interval).map(ends),
            "difference_percent": difference.map(|it| it.difference * 100.0),
            "difference_interval_percent": difference.and_then(|it| it.interval).map(ends),
            "outcome": one.outcome().name(),
        })
    };
    json!({
        "record": view.record,
        "outcome": view.outcome().name(),
        "alpha": view.alpha,
        "metrics": view.metrics.iter().map(metric).collect::<Vec<Value>>(),
        "best": view.best.iter().map(best).collect::<Vec<Value>>(),
        "capacity": view.capacity.as_ref().map(capacity_json::repetition),
        "loads": view.loads.as_ref().map(|it| [&it.first, &it.second]),
        "work": view.work,
        "same_runs": view.has_same_runs,
    })
}

fn slo(slo: &ArmSlo) -> Value {
    json!({
        "job": slo.job,
        "text": slo.text,
        "met": slo.missed == 0,
        "missed_runs": slo.missed,
    })
}

fn bet(bet: &workload::question::Bet, outcome: Option<BetOutcome>) -> Value {
    json!({
        "text": bet.range.to_string(),
        "outcome": outcome.map_or("not-judged", BetOutcome::name),
    })
}

/// Returns the ends of an interval, in percent.
pub(crate) fn ends(interval: ChangeInterval) -> [f64; 2] {
    [interval.low * 100.0, interval.high * 100.0]
}

fn in_percent(fraction: f64) -> f64 {
    fraction * 100.0
}

fn run(view: &ExperimentView, run: &RunView) -> Value {
    json!({
        "number": run.number,
        "round": run.round,
        "arm": view.arms[run.arm.index()].name,
        "point": run.point,
        "phase": run.phase.name(),
        "attempt": run.attempt,
        "state": run.state,
        "seed": run.seed,
        "summary": { "record": view.record, "run": run.number },
        "verdict": run.verdict.verdict(),
        "objections": run.objections.iter().map(|(kind, _)| kind.name()).collect::<Vec<_>>(),
    })
}
