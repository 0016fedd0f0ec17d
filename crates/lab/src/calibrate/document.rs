//! The JSON document of a calibration, which is printed and stored.
//!
//! `schemas/calibration.schema.json` and `docs/calibrate.md` describe it. Units are in the names. A
//! stored document is validated when it is read: a missing or implausible number makes the whole
//! document unusable, because the checks would rely on that number.

use std::path::Path;

use analyze::Route;
use base::Nanos;
use serde_json::{Map, Value, json};

use super::figures::{
    Calibration, CalibrationResult, Ceiling, ClockFigures, Floor, HandOff, Lateness, Quantiles,
    RouteFigures,
};
use super::machine::Machine;

/// The name and version of the document.
pub const SCHEMA: &str = "assay.calibration/1";

/// The maximum number of ceilings that are read per route.
const MAX_CEILINGS: usize = 64;

impl CalibrationResult {
    /// Returns the document to print; `target` is the URL of the server measured in addition to the
    /// machine, without its password, and `file` the path of the stored calibration.
    pub fn document(&self, target: Option<&str>, file: Option<&Path>) -> Value {
        let mut document = self.calibration.document();
        document["target"] = match (target, &self.target) {
            (Some(url), Some(floor)) => json!({"url": url, "floor": floor_of(floor)}),
            (_, _) => Value::Null,
        };
        document["file"] = file.map_or(Value::Null, |file| file.to_string_lossy().into());
        document
    }
}

impl Calibration {
    /// Returns the document to store, without target and file.
    pub(super) fn document(&self) -> Value {
        let machine: Map<String, Value> =
            self.machine.facts().iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let routes: Vec<Value> = self.routes.iter().map(route_of).collect();
        json!({
            "schema": SCHEMA,
            "assay": self.assay,
            "taken": self.taken,
            "quick": self.is_quick,
            "machine": machine,
            "clock": {
                "cost_ns": self.clock.cost_ns,
                "resolution_ns": self.clock.resolution.0,
            },
            "timer": {
                "count": self.timer.count,
                "late_us": quantiles_of(self.timer.quantiles),
                "max_us": us(self.timer.max),
            },
            "routes": routes,
            "sqlite_hand_off": {
                "there_p50_us": us(self.hand_off.p50),
                "there_p99_us": us(self.hand_off.p99),
                "both_ways_mean_us": us(self.hand_off.mean),
            },
            "target": null,
            "file": null,
        })
    }

    /// Parses a document; returns `None` if it has a different version or an implausible value.
    pub(super) fn of_document(document: &Value) -> Option<Calibration> {
        let text = |name: &str| document.get(name)?.as_str().map(str::to_owned);
        if text("schema")? != SCHEMA {
            return None;
        }
        let machine = document.get("machine")?.as_object()?.iter();
        let fact =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let machine: Vec<(String, String)> = machine.map(fact).collect::<Option<_>>()?;
        let routes = document.get("routes")?.as_array()?.iter().take(Route::ALL.len());
        let nanos = |path: &str| nanos(document.pointer(path)?);
        Some(Calibration {
            assay: text("assay")?,
            taken: text("taken")?,
            is_quick: document.get("quick")?.as_bool()?,
            machine: Machine::of(&machine),
            clock: ClockFigures {
                cost_ns: amount(document.pointer("/clock/cost_ns")?)?,
                resolution: Nanos(document.pointer("/clock/resolution_ns")?.as_u64()?),
            },
            timer: Lateness {
                count: document.pointer("/timer/count")?.as_u64()?,
                quantiles: quantiles(document.pointer("/timer/late_us")?)?,
                max: nanos("/timer/max_us")?,
            },
            routes: routes.map(route).collect::<Option<_>>()?,
            hand_off: HandOff {
                p50: nanos("/sqlite_hand_off/there_p50_us")?,
                p99: nanos("/sqlite_hand_off/there_p99_us")?,
                mean: nanos("/sqlite_hand_off/both_ways_mean_us")?,
            },
        })
    }
}

fn us(time: Nanos) -> f64 {
    time.0 as f64 / 1e3
}

fn quantiles_of(quantiles: Quantiles) -> Value {
    let Quantiles { p50, p99, p99_9 } = quantiles;
    json!({"p50": us(p50), "p99": us(p99), "p99_9": us(p99_9)})
}

fn floor_of(floor: &Floor) -> Value {
    json!({
        "count": floor.count,
        "response_us": quantiles_of(floor.response),
        "service_us": quantiles_of(floor.service),
    })
}

fn route_of(figures: &RouteFigures) -> Value {
    let ceiling = |ceiling: &Ceiling| {
        let Ceiling { connections, per_s } = ceiling;
        json!({"connections": connections, "per_s": per_s})
    };
    json!({
        "route": figures.route.name(),
        "floor": floor_of(&figures.floor),
        "ceilings": figures.ceilings.iter().map(ceiling).collect::<Vec<_>>(),
    })
}

/// Parses a number that is finite and not negative.
fn amount(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

/// Parses a time in microseconds.
fn nanos(value: &Value) -> Option<Nanos> {
    Some(Nanos((amount(value)? * 1e3).round() as u64))
}

fn quantiles(value: &Value) -> Option<Quantiles> {
    let of = |name: &str| nanos(value.get(name)?);
    Some(Quantiles { p50: of("p50")?, p99: of("p99")?, p99_9: of("p99_9")? })
}

fn route(value: &Value) -> Option<RouteFigures> {
    let name = value.get("route")?.as_str()?;
    let floor = value.get("floor")?;
    let ceiling = |value: &Value| {
        let connections = value.get("connections")?.as_u64()?;
        Some(Ceiling { connections, per_s: amount(value.get("per_s")?)? })
    };
    let ceilings = value.get("ceilings")?.as_array()?.iter().take(MAX_CEILINGS);
    Some(RouteFigures {
        route: Route::ALL.into_iter().find(|route| route.name() == name)?,
        floor: Floor {
            count: floor.get("count")?.as_u64()?,
            response: quantiles(floor.get("response_us")?)?,
            service: quantiles(floor.get("service_us")?)?,
        },
        ceilings: ceilings.map(ceiling).collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::example::calibration;

    #[test]
    fn calibration_document_round_trips() {
        let text = calibration().document().to_string();
        assert_eq!(
            Calibration::of_document(&serde_json::from_str(&text).unwrap()),
            Some(calibration())
        );
    }

    #[test]
    fn calibration_of_a_target_is_printed_only() {
        let target = Some(calibration().routes[0].floor);
        let calibrated = CalibrationResult { calibration: calibration(), target };
        let printed = calibrated.document(Some("postgres://h/d"), Some(Path::new("/a.json")));
        assert_eq!(printed["target"]["url"], "postgres://h/d");
        assert_eq!(printed["file"], "/a.json");
        assert_eq!(calibrated.calibration.document()["target"], Value::Null);
    }

    #[test]
    fn damaged_document_is_rejected() {
        let check = |pointer: &str, value: Value| {
            let mut document = calibration().document();
            *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
            assert_eq!(Calibration::of_document(&document), None, "{pointer}");
        };
        check("/schema", json!("assay.calibration/0"));
        check("/schema", json!("assay.calibration/2"));
        check("/clock/cost_ns", json!(-1.0));
        check("/clock/cost_ns", json!("24"));
        check("/clock/resolution_ns", json!(1.5));
        check("/timer/late_us/p50", Value::Null);
        check("/machine/host.cpu.model", json!(3));
        check("/routes", json!({}));
        check("/routes/0/route", json!("oracle"));
        check("/routes/1/ceilings/0/per_s", Value::Null);
        check("/routes/2/floor/service_us", json!([]));
        check("/sqlite_hand_off", Value::Null);
        for odd in [Value::Null, json!([]), json!("x"), json!({})] {
            assert_eq!(Calibration::of_document(&odd), None);
        }
    }
}
