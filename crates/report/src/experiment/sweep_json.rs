//! The parts of the JSON document of an experiment that are about a sweep.

use analyze::CheckKind;
use analyze::compare::{ChangeInterval, CpuShare};
use analyze::curve::{
    ArmCurve, FittedValue, Interval, JobAtPoint, ModelPoint, NoResponseModel, NoUsl, OtherPoint,
    Peak, PointMean, PointSummary, Ranking, ResponseModel, Usl,
};
use serde_json::{Map, Value, json};

use super::sweep::{self, Gain, SweepView};
use super::view::{ArmView, ExperimentView};

/// Returns the fields `sweep`, `best`, `usl`, `model` and `curves`. The fields `best`, `usl` and
/// `model` are those of the first arm; `curves` has those of all arms. They are null or empty if
/// the experiment is not a sweep.
pub(super) fn fields(view: &ExperimentView) -> Map<String, Value> {
    let mut fields = Map::new();
    let all = view.sweep.as_ref().map_or_else(Vec::new, |sweep| curves(view, sweep));
    let of_first = |key: &str| all.first().map_or(Value::Null, |curve: &Value| curve[key].clone());
    fields.insert("best".to_owned(), of_first("best"));
    fields.insert("usl".to_owned(), of_first("usl"));
    fields.insert("model".to_owned(), of_first("model"));
    fields.insert("sweep".to_owned(), view.sweep.as_ref().map_or(json!([]), |it| points(view, it)));
    fields.insert("curves".to_owned(), Value::Array(all));
    fields
}

fn points(view: &ExperimentView, sweep: &SweepView) -> Value {
    let arms = view.arms.iter().zip(&sweep.curves);
    let points =
        arms.flat_map(|(arm, curve)| curve.points.iter().map(move |it| point(sweep, arm, it)));
    Value::Array(points.collect())
}

fn point(sweep: &SweepView, arm: &ArmView, point: &PointSummary) -> Value {
    let own = job_fields(sweep.job_at(point));
    let jobs = point.jobs.iter().map(|job| Value::Object(job_fields(Some(job))));
    let jobs: Vec<Value> = jobs.collect();
    let mut row = json!({
        "arm": arm.name,
        "key": sweep.vary,
        "value": point.value,
        "runs": point.runs(),
        "verdict": sweep::verdict(point),
        "objections": point.objections().into_iter().map(CheckKind::name).collect::<Vec<_>>(),
        "limiter": sweep::limiters(point),
        "cpu": point.cpu.iter().map(cpu).collect::<Vec<Value>>(),
        "jobs": jobs,
    });
    if let Some(row) = row.as_object_mut() {
        row.extend(own);
    }
    row
}

fn job_fields(job: Option<&JobAtPoint>) -> Map<String, Value> {
    let completed = job.and_then(|job| job.completed_per_s.as_ref().ok());
    let (mut times, mut intervals) = (Map::new(), Map::new());
    for (statistic, mean) in job.iter().flat_map(|job| &job.response_ms) {
        let mean = mean.as_ref().ok();
        times.insert(statistic.name().to_owned(), json!(mean.map(|mean| mean.mean)));
        intervals.insert(statistic.name().to_owned(), json!(mean.and_then(ends_of)));
    }
    let mut fields = Map::new();
    fields.insert("job".to_owned(), json!(job.map(|job| &job.job)));
    fields.insert("throughput_per_s".to_owned(), json!(completed.map(|mean| mean.mean)));
    fields.insert("throughput_interval_per_s".to_owned(), json!(completed.and_then(ends_of)));
    fields.insert("response_ms".to_owned(), Value::Object(times));
    fields.insert("response_interval_ms".to_owned(), Value::Object(intervals));
    fields
}

fn ends_of(mean: &PointMean) -> Option<[f64; 2]> {
    mean.interval.map(ends)
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn cpu(share: &CpuShare) -> Value {
    json!({
        "component": share.owner.name(),
        "user_percent": share.user * 100.0,
        "system_percent": share.system * 100.0,
        "idle_percent": share.idle() * 100.0,
        "processors": share.processors,
    })
}

fn curves(view: &ExperimentView, sweep: &SweepView) -> Vec<Value> {
    let curve = |(arm, curve): (&ArmView, &ArmCurve)| {
        json!({
            "arm": arm.name,
            "best": best(sweep, curve),
            "usl": curve.usl.as_ref().map(usl),
            "model": curve.model.as_ref().map(|model| self::model(sweep, model)),
        })
    };
    view.arms.iter().zip(&sweep.curves).map(curve).collect()
}

fn best(sweep: &SweepView, curve: &ArmCurve) -> Option<Value> {
    let (rule, found) = sweep.best.as_ref().zip(curve.best.as_ref())?;
    let mean = found.best.and_then(|best| curve.judged[best].as_ref().ok());
    let excluded = found.unusable.iter().map(|(point, reason)| {
        json!({ "value": sweep.values[*point], "reason": sweep::unusable(*reason) })
    });
    Some(json!({
        "value": found.best.map(|best| &sweep.values[best]),
        "by": rule.to_string(),
        "unit": rule.metric.quantity.unit(),
        "mean": mean.map(|mean| mean.mean),
        "interval": mean.and_then(ends_of),
        "gain": sweep.gain(found).map(|it| gain(sweep, &it)),
        "not_worse": sweep.not_worse(curve),
        "undecided": found.others.iter().filter_map(|it| undecided(sweep, it)).collect::<Vec<_>>(),
        "tested": found.is_tested(),
        "excluded": excluded.collect::<Vec<Value>>(),
    }))
}

fn gain(sweep: &SweepView, gain: &Gain) -> Value {
    let ChangeInterval { low, high } = gain.interval;
    let interval = [low, high].map(|end| end * 100.0);
    json!({
        "against": sweep.values[gain.other_point],
        "change_percent": gain.change * 100.0,
        "interval_percent": interval,
    })
}

/// Returns a point whose difference from the best one may matter, but is not significant; `None`
/// for any other point.
fn undecided(sweep: &SweepView, other: &OtherPoint) -> Option<Value> {
    let Ranking::Undecided { more_repeats } = other.ranking else { return None };
    Some(json!({
        "value": sweep.values[other.point],
        "change_percent": other.change.map(|change| change * 100.0),
        "interval_percent": other.interval.map(|it| [it.low, it.high].map(|end| end * 100.0)),
        "more_repeats": more_repeats,
    }))
}

fn usl(fit: &Result<Usl, NoUsl>) -> Value {
    let number = |fitted: &FittedValue| {
        let interval = fitted.interval.map(bounded);
        json!({ "estimate": fitted.estimate, "interval": interval })
    };
    match fit {
        Err(reason) => json!({ "refused": sweep::no_usl(reason) }),
        Ok(usl) => {
            let (clients, throughput) = match &usl.peak {
                Peak::At { clients, throughput } => (Some(clients), Some(throughput)),
                Peak::None { .. } => (None, None),
            };
            json!({
                "refused": null,
                "lambda_per_s": number(&usl.lambda),
                "sigma": number(&usl.sigma),
                "kappa": number(&usl.kappa),
                "peak_clients": clients.map(number),
                "peak_per_s": throughput.map(number),
                "largest_measured": usl.largest,
                "deviation_percent": usl.deviation * 100.0,
            })
        }
    }
}

/// Returns the ends of an interval; null for an end at infinity, which JSON does not have.
fn bounded(interval: Interval) -> [Option<f64>; 2] {
    [interval.low, interval.high].map(|end| end.is_finite().then_some(end))
}

fn model(sweep: &SweepView, model: &Result<ResponseModel, NoResponseModel>) -> Value {
    let point = |point: &ModelPoint| {
        json!({
            "value": sweep.values[point.point],
            "rate_per_s": point.rate_per_s,
            "utilisation": point.utilisation,
            "predicted_ms": point.predicted_ms,
            "measured_ms": point.measured_ms,
            "deviation_percent": point.deviation.map(|deviation| deviation * 100.0),
            "role": point.role.name(),
        })
    };
    match model {
        Err(reason) => json!({ "refused": sweep::no_model(*reason), "points": [] }),
        Ok(model) => json!({
            "refused": null,
            "one_request_ms": model.one_request_ms,
            "plateau_per_s": model.plateau_per_s,
            "server_ms": model.server_ms,
            "delay_ms": model.delay_ms,
            "points": model.points.iter().map(point).collect::<Vec<Value>>(),
        }),
    }
}
