//! The document of a history: `assay.history/1`.

use analyze::Status;
use analyze::history::{LeftOut, MetricChange, MetricHistory, SIGNIFICANCE};
use serde_json::{Value, json};
use workload::question::Scale;

use super::view::{HistoryView, RecordView, SeriesChange, SeriesView};
use crate::experiment::interval_percent;

/// Returns the document of a history.
pub fn history_json(view: &HistoryView) -> Value {
    let skipped = view
        .skipped
        .iter()
        .map(|one| json!({ "file": one.file, "reason": one.reason, "details": one.details }));
    json!({
        "schema": "assay.history/1",
        "significance": SIGNIFICANCE,
        "skipped": skipped.collect::<Vec<Value>>(),
        "series": view.series.iter().map(series).collect::<Vec<Value>>(),
    })
}

fn series(view: &SeriesView) -> Value {
    let arm = view.arm.as_ref().map(|arm| {
        let differences = arm.differences.iter();
        let pairs = differences.map(|(key, value)| json!({ "key": key, "value": value }));
        json!({ "name": arm.name, "differences": pairs.collect::<Vec<Value>>() })
    });
    let metrics = view.metrics.iter().map(|metric| of_metric(view, metric));
    json!({
        "workload": view.workload,
        "servers": view.servers,
        "arm": arm,
        "difference": view.difference,
        "records": view.records.iter().map(record).collect::<Vec<Value>>(),
        "metrics": metrics.collect::<Vec<Value>>(),
    })
}

fn record(view: &RecordView) -> Value {
    let left_out = view.left_out.as_ref().map(|reason| match reason {
        LeftOut::Invalid(checks) => checks.iter().map(|check| check.name()).collect::<Vec<_>>(),
    });
    let verdict = match view.left_out {
        Some(LeftOut::Invalid(_)) => Status::Invalid,
        None => view.verdict,
    };
    json!({
        "file": view.file,
        "label": view.label,
        "started": view.started,
        "verdict": verdict.verdict(),
        "left_out": left_out,
        "canary_ns": view.canary_ns,
    })
}

fn of_metric(view: &SeriesView, history: &MetricHistory) -> Value {
    let metric = &history.metric;
    let point = |(record, value): &(usize, f64)| json!({ "record": record, "value": value });
    let changes = history.changes.iter().map(|one| {
        let both =
            |common: &&SeriesChange| (common.before, common.after) == (one.before, one.after);
        change(one, view.changes.iter().find(both))
    });
    json!({
        "metric": metric.quantity.name(),
        "job": metric.of,
        "unit": metric.quantity.unit(),
        "compared_by": match metric.quantity.scale() {
            Scale::Ratio => "ratio",
            Scale::Difference => "difference",
        },
        "points": history.points.iter().map(point).collect::<Vec<Value>>(),
        "changes": changes.collect::<Vec<Value>>(),
    })
}

fn change(one: &MetricChange, common: Option<&SeriesChange>) -> Value {
    let machine = one.machine.map(|shift| {
        json!({
            "change_percent": shift.change * 100.0,
            "interval_percent": shift.interval.map(interval_percent),
            "cause": shift.cause.name(),
        })
    });
    let differences = common.into_iter().flat_map(|common| &common.differences).map(|fact| {
        let [before, after] = &fact.values;
        json!({ "kind": fact.kind, "name": fact.name, "before": before, "after": after })
    });
    json!({
        "before": one.before,
        "after": one.after,
        "mean_before": one.mean_before,
        "mean_after": one.mean_after,
        "change_percent": one.change * 100.0,
        "interval_percent": one.interval.map(interval_percent),
        "p_value": one.p_value,
        "machine": machine,
        "differences": differences.collect::<Vec<Value>>(),
    })
}
