//! The document of an experiment: `assay.experiment/1`.

use analyze::compare::{
    ArmComparison, ArmSlo, BetOutcome, ChangeInterval, Compared, Comparison, Conclusion,
    MachineChange, MetricChange, Pair, PairOrder,
};
use serde_json::{Value, json};
use workload::question::Scale;

use super::alarms::FalseAlarms;
use super::repetition::{RepeatedMetric, RepetitionView};
use super::sentence;
use super::view::{ExperimentState, ExperimentView, RunView};

/// Returns the document of an experiment.
pub fn experiment_json(view: &ExperimentView) -> Value {
    let arms: Vec<Value> = view
        .arms
        .iter()
        .map(|arm| {
            let differences: Vec<Value> = arm
                .differences
                .iter()
                .map(|(key, value)| json!({ "key": key, "value": value }))
                .collect();
            let validity = &arm.validity;
            let slos: Vec<Value> = arm.slos.iter().map(slo).collect();
            json!({
                "name": arm.name,
                "differences": differences,
                "runs": validity.runs,
                "repeated": validity.repeated,
                "suspect": validity.suspect.len(),
                "invalid": validity.invalid.len(),
                "slo": slos,
            })
        })
        .collect();
    let settings: Vec<Value> = view
        .settings
        .iter()
        .map(|one| {
            json!({
                "name": one.name,
                "arm": view.arms[one.arm].name,
                "baseline_value": one.baseline,
                "value": one.value,
            })
        })
        .collect();
    let looks: Vec<Value> = view
        .looks
        .iter()
        .map(|look| json!({ "pairs": look.pairs, "decided": look.is_decided }))
        .collect();
    let sentences = view.declared().map(|(arm, change)| view.bare_sentence(arm, change));
    let answer: Vec<String> = sentences.collect();
    json!({
        "schema": "assay.experiment/1",
        "question": view.ask,
        "workload": view.workload,
        "command": view.command,
        "record": view.record,
        "state": view.state.name(),
        "answer": answer,
        "verdict": view.verdict().verdict(),
        "invalid_arm": (view.state == ExperimentState::NotInEffect)
            .then_some(view.invalid_arm.as_deref()),
        "several_differences": view.has_several_differences,
        "arms": arms,
        "looks": looks,
        "undeclared_differences": settings,
        "machine_changes": view.machine.iter().map(|one| machine(view, one)).collect::<Vec<_>>(),
        "false_alarms": view.false_alarms.as_ref().map(false_alarms),
        "repetition": view.repetition.as_ref().map(repetition),
        "comparison": comparison(view),
        "runs": view.runs.iter().map(|one| run(view, one)).collect::<Vec<Value>>(),
    })
}

fn comparison(view: &ExperimentView) -> Vec<Value> {
    let Some(comparison) = &view.comparison else { return Vec::new() };
    let rows = comparison
        .arms
        .iter()
        .flat_map(|arm| arm.changes.iter().map(move |change| row(view, comparison, arm, change)));
    rows.collect()
}

fn row(
    view: &ExperimentView,
    comparison: &Comparison,
    arm: &ArmComparison,
    change: &MetricChange,
) -> Value {
    let metric = &change.metric;
    let mut row = json!({
        "metric": metric.quantity.name(),
        "job": metric.of,
        "unit": metric.quantity.unit(),
        "arm": view.arms[arm.arm].name,
        "baseline": view.arms[0].name,
        "pairs": comparison.pairs,
        "exploratory": change.is_exploratory,
        "alpha": comparison.alpha,
        "limiters": arm.limiters.map(|component| component.name()),
        "bets": change.bets.iter().map(|(one, outcome)| bet(one, *outcome)).collect::<Vec<_>>(),
    });
    let compared = change.compared.as_ref();
    // Metrics that are compared by difference are fractions: their difference is in percentage
    // points.
    let by = match metric.quantity.scale() {
        Scale::Ratio => "ratio",
        Scale::Difference => "difference",
    };
    let values = |compared: &Compared| {
        let pair = |pair: &Pair| {
            let is_first = pair.order == PairOrder::BaselineFirst;
            json!({ "baseline": pair.baseline, "arm": pair.arm, "baseline_first": is_first })
        };
        compared.values.iter().map(pair).collect::<Vec<Value>>()
    };
    let more = |compared: &Compared| match compared.conclusion {
        Conclusion::Undecided { more_pairs } => more_pairs,
        _ => None,
    };
    let known = compared.ok();
    let fields = json!({
        "verdict": known.map_or("not-compared", |compared| compared.conclusion.name()),
        "reason": compared.err().map(|reason| sentence::not_compared(*reason)),
        "compared_by": by,
        "change_percent": known.map(|compared| compared.change * 100.0),
        "interval_percent": known.and_then(|compared| compared.interval).map(ends),
        "hodges_lehmann_percent": known.map(|compared| compared.hodges_lehmann * 100.0),
        "order_effect_percent": known.and_then(|compared| compared.order_effect).map(hundred),
        "means": known.map(|compared| compared.means),
        "values": known.map(values),
        "more_pairs": known.and_then(more),
    });
    if let (Some(row), Value::Object(fields)) = (row.as_object_mut(), fields) {
        row.extend(fields);
    }
    row
}

/// Returns a change of the machine; `arm` is null for a drift over all runs.
fn machine(view: &ExperimentView, change: &MachineChange) -> Value {
    let (arm, percent, interval, is_decisive) = match change {
        MachineChange::BetweenArms { arm, change, interval, is_decisive } => {
            (Some(&view.arms[*arm].name), *change, Some(ends(*interval)), *is_decisive)
        }
        MachineChange::Drift { change } => (None, *change, None, false),
    };
    json!({
        "arm": arm,
        "change_percent": hundred(percent),
        "interval_percent": interval,
        "decisive": is_decisive,
    })
}

fn false_alarms(alarms: &FalseAlarms) -> Value {
    let counted = alarms.counted();
    let (experiments, latest, target, spread) = match alarms {
        FalseAlarms::Own { spread, .. } => (None, None, None, Some(spread * 100.0)),
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

fn repetition(view: &RepetitionView) -> Value {
    let metric = |one: &RepeatedMetric| {
        let (first, second) = (&one.first, one.second.as_ref());
        let difference = one.repetition.as_ref();
        json!({
            "metric": one.metric.quantity.name(),
            "job": one.metric.of,
            "arm": one.arm,
            "first_change_percent": first.change * 100.0,
            "first_interval_percent": first.interval.map(ends),
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

fn ends(interval: ChangeInterval) -> [f64; 2] {
    [interval.low * 100.0, interval.high * 100.0]
}

fn hundred(fraction: f64) -> f64 {
    fraction * 100.0
}

fn run(view: &ExperimentView, run: &RunView) -> Value {
    json!({
        "number": run.number,
        "round": run.round,
        "arm": view.arms[run.arm].name,
        "point": null,
        "phase": "compare",
        "attempt": run.attempt,
        "state": run.state,
        "seed": run.seed,
        "verdict": run.verdict.verdict(),
        "objections": run.objections,
    })
}
