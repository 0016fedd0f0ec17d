//! The JSON document of a history: `assay.history/1`.

use analyze::history::{ExclusionReason, MetricChange, MetricHistory, SIGNIFICANCE};
use serde_json::{Value, json};
use workload::question::Scale;

use super::view::{HistoryView, RecordView, SeriesChange, SeriesView};
use crate::experiment::interval_percent;

/// Returns the JSON document of a history.
pub fn history_json(view: &HistoryView) -> Value {
    let skipped = view
        .skipped
        .iter()
        .map(|one| json!({ "file": one.file, "reason": one.reason, "details": one.details }));
    json!({
        "schema": "assay.history/1",
        "significance": SIGNIFICANCE,
        "skipped": skipped.collect::<Vec<Value>>(),
        "fail_within": view.fail_within,
        "recent_changes": view.recent_changes(),
        "series": view.series.iter().map(series).collect::<Vec<Value>>(),
    })
}

fn series(view: &SeriesView) -> Value {
    let arm = view.arm.as_ref().map(|arm| {
        let differences = arm.differences.iter();
        let pairs = differences.map(|(key, value)| json!({ "key": key, "value": value }));
        json!({ "name": arm.name, "differences": pairs.collect::<Vec<Value>>() })
    });
    let point = view.point.as_ref().map(|one| json!({ "vary": one.vary, "value": one.value }));
    let metrics = view.metrics.iter().map(|metric| metric_json(view, metric));
    json!({
        "workload": view.workload,
        "servers": view.servers,
        "arm": arm,
        "point": point,
        "difference": view.difference,
        "records": view.records.iter().map(record).collect::<Vec<Value>>(),
        "metrics": metrics.collect::<Vec<Value>>(),
    })
}

fn record(view: &RecordView) -> Value {
    json!({
        "file": view.file,
        "label": view.label,
        "started": view.started,
        "verdict": view.verdict.verdict(),
        "left_out": view.left_out.as_ref().map(ExclusionReason::names),
        "canary_ns": view.canary_ns,
    })
}

fn metric_json(view: &SeriesView, history: &MetricHistory) -> Value {
    let metric = &history.metric;
    let point = |(record, value): &(usize, f64)| json!({ "record": record, "value": value });
    let changes = history.changes.iter().map(|one| {
        let both =
            |common: &&SeriesChange| (common.before, common.after) == (one.before, one.after);
        change(one, history.values_since(one), view.changes.iter().find(both))
    });
    json!({
        "metric": metric.name(),
        "job": metric.of(),
        "unit": metric.unit(),
        "compared_by": match metric.scale() {
            Scale::Ratio => "ratio",
            Scale::Difference => "difference",
        },
        "points": history.points.iter().map(point).collect::<Vec<Value>>(),
        "changes": changes.collect::<Vec<Value>>(),
    })
}

fn change(one: &MetricChange, values_since: usize, common: Option<&SeriesChange>) -> Value {
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
        "values_since": values_since,
        "mean_before": one.mean_before,
        "mean_after": one.mean_after,
        "change_percent": one.change * 100.0,
        "interval_percent": one.interval.map(interval_percent),
        "p_value": one.p_value,
        "machine": machine,
        "differences": differences.collect::<Vec<Value>>(),
    })
}
