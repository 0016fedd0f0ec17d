//! The answer of a capacity search as JSON, in the form in which it is stored in the record of the
//! search.
//!
//! A program with another version of the search method would choose other trials. It cannot compute
//! the answer from the recorded trials, and shows the stored answer. `docs/record.md` describes the
//! document. Every later version must be able to read the document, so fields and names are added,
//! and never renamed or removed.

use analyze::capacity::{
    Boundary, Capacity, CapacityOrder, FailReason, Interval, InvalidReason, Irregular, JudgedTrial,
    LoadLimit, Metastable, Phase, Trial, TrialOutcome,
};
use base::Nanos;
use serde_json::{Value, json};

/// Longest time that is accepted, in nanoseconds. Sums of such times do not overflow.
const MAX_NANOS: u64 = u64::MAX / 1_000_000;

/// The stored answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StoredAnswer {
    /// The result of the search.
    pub(super) capacity: Capacity,
    /// Lengths of the windows of the search's trials.
    pub(super) windows: Vec<Nanos>,
}

/// Returns the JSON text of a search's result and of its trials.
pub(super) fn write(capacity: &Capacity, trials: &[Trial]) -> String {
    let judged = trials.iter().zip(&capacity.trials);
    let interval = capacity.interval.map(|it| [it.low, it.high].map(write_number));
    let document = json!({
        "method": CapacityOrder::METHOD,
        "slo": capacity.slo,
        "sustained": capacity.sustained,
        "fails": capacity.fails,
        "estimate": capacity.estimate,
        "interval": interval,
        "slope": capacity.slope,
        "isotonic": capacity.isotonic,
        "confirmations": capacity.confirmations,
        "binding": capacity.binding,
        "boundary": capacity.boundary.name(),
        "irregular": capacity.irregular.iter().map(write_irregular).collect::<Vec<Value>>(),
        "took_ns": capacity.took.0,
        "trials": judged.map(|(trial, judged)| write_trial(trial, judged)).collect::<Vec<Value>>(),
    });
    document.to_string()
}

/// Returns a number as JSON. A number that is not finite is written as text, because JSON has no
/// such numbers.
fn write_number(number: f64) -> Value {
    match number.is_finite() {
        true => json!(number),
        false => json!(number.to_string()),
    }
}

fn write_irregular(why: &Irregular) -> Value {
    let mut fields = match why {
        Irregular::GeneratorLimited { value }
        | Irregular::HoldFailed { value }
        | Irregular::NotHeld { value } => json!({ "value": write_number(*value) }),
        Irregular::NeverFails { highest } => json!({ "highest": write_number(*highest) }),
        Irregular::AlwaysFails { lowest } | Irregular::NotConfirmed { lowest } => {
            json!({ "lowest": write_number(*lowest) })
        }
        Irregular::NotMeasured { condition } | Irregular::Unmet { condition } => {
            json!({ "condition": condition })
        }
        Irregular::LossInversion { fails, passes } => {
            json!({ "fails": write_number(*fails), "passes": write_number(*passes) })
        }
        Irregular::Metastable(found) => write_metastable(found),
        Irregular::BoundaryMoved { fails, low } => {
            json!({ "fails": write_number(*fails), "low": write_number(*low) })
        }
        Irregular::NotLocated { low, high } => {
            json!({ "low": write_number(*low), "high": write_number(*high) })
        }
        Irregular::BudgetSpent { phase } => {
            json!({ "phase": phase.name(), "number": phase.number() })
        }
        Irregular::LimitedBy(LoadLimit::OwnConnections(connections)) => {
            json!({ "connections": connections, "of": "generator" })
        }
        Irregular::LimitedBy(LoadLimit::AcceptedConnections(connections)) => {
            json!({ "connections": connections, "of": "server" })
        }
        Irregular::FitsDisagree { regression, isotonic } => json!({
            "regression": write_number(*regression),
            "isotonic": write_number(*isotonic),
        }),
        Irregular::Drifts { change } => json!({ "change": write_number(*change) }),
        Irregular::Curved => json!({}),
        Irregular::Independent { condition, value, share } => json!({
            "condition": condition,
            "value": write_number(*value),
            "share": write_number(*share),
        }),
    };
    fields["name"] = why.name().into();
    fields
}

fn write_metastable(found: &Metastable) -> Value {
    let Metastable { fails, answered_per_s, passes, connections, advised } = found;
    json!({
        "fails": write_number(*fails),
        "answered_per_s": write_number(*answered_per_s),
        "passes": write_number(*passes),
        "connections": connections,
        "advised": advised,
    })
}

fn write_trial(trial: &Trial, judged: &JudgedTrial) -> Value {
    let mut fields = write_outcome(&judged.outcome);
    fields["value"] = trial.value.into();
    fields["phase"] = trial.phase.name().into();
    fields["number"] = trial.phase.number().into();
    fields["window_ns"] = trial.window.0.into();
    fields
}

fn write_outcome(outcome: &TrialOutcome) -> Value {
    let mut fields = match outcome {
        TrialOutcome::Pass => json!({}),
        TrialOutcome::Fail(reason) => write_reason(reason),
        TrialOutcome::Undecided { condition, distance } => {
            json!({ "condition": condition, "distance": write_number(*distance) })
        }
        TrialOutcome::Invalid(InvalidReason::Instrument { checks }) => json!({ "checks": checks }),
    };
    fields["outcome"] = outcome.name().into();
    fields
}

fn write_reason(reason: &FailReason) -> Value {
    let mut fields = match reason {
        FailReason::Condition { condition, ratio } => {
            json!({ "condition": condition, "ratio": write_number(*ratio) })
        }
        FailReason::Missing { condition } => json!({ "condition": condition }),
        FailReason::Backlog => json!({}),
        FailReason::Achieved { share } => json!({ "share": write_number(*share) }),
        FailReason::Errors { errors } => json!({ "errors": errors }),
        FailReason::QueueFull { rejected } => json!({ "rejected": rejected }),
        FailReason::Connections { connections } => json!({ "connections": connections }),
    };
    fields["reason"] = reason.name().into();
    fields
}

/// Reads a stored answer; `None` if it is damaged.
pub(super) fn read(text: &str) -> Option<StoredAnswer> {
    let document: Value = serde_json::from_str(text).ok()?;
    let fields = Fields(&document);
    let trials = fields.list("trials")?;
    let capacity = Capacity {
        slo: fields.text("slo")?.to_owned(),
        sustained: fields.load_or_none("sustained")?,
        fails: fields.load_or_none("fails")?,
        estimate: fields.load_or_none("estimate")?,
        interval: fields.or_none("interval", read_interval)?,
        slope: fields.or_none("slope", read_finite)?,
        confirmations: fields.whole("confirmations")?.try_into().ok()?,
        binding: fields.or_none("binding", read_position)?,
        boundary: read_boundary(fields.text("boundary")?)?,
        irregular: fields.list("irregular")?.iter().map(read_irregular).collect::<Option<_>>()?,
        trials: trials.iter().map(read_trial).collect::<Option<_>>()?,
        isotonic: fields.load_or_none("isotonic")?,
        took: fields.time("took_ns")?,
    };
    let windows = trials.iter().map(|trial| Fields(trial).time("window_ns"));
    Some(StoredAnswer { windows: windows.collect::<Option<_>>()?, capacity })
}

/// The fields of an object. An answer is damaged if one of its fields is missing or has another
/// type.
struct Fields<'v>(&'v Value);

impl<'v> Fields<'v> {
    fn text(&self, key: &str) -> Option<&'v str> {
        self.0.get(key)?.as_str()
    }

    fn list(&self, key: &str) -> Option<&'v Vec<Value>> {
        self.0.get(key)?.as_array()
    }

    fn number(&self, key: &str) -> Option<f64> {
        read_number(self.0.get(key)?)
    }

    fn whole(&self, key: &str) -> Option<u64> {
        self.0.get(key)?.as_u64()
    }

    fn position(&self, key: &str) -> Option<usize> {
        read_position(self.0.get(key)?)
    }

    fn time(&self, key: &str) -> Option<Nanos> {
        self.whole(key).filter(|time| *time <= MAX_NANOS).map(Nanos)
    }

    fn or_none<T>(&self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
        match self.0.get(key)? {
            Value::Null => Some(None),
            value => read(value).map(Some),
        }
    }

    /// Reads a rate or concurrency, which must be positive. Returns `Some(None)` if the field is
    /// null, and `None` if it is missing or damaged.
    fn load_or_none(&self, key: &str) -> Option<Option<f64>> {
        self.or_none(key, |value| read_finite(value).filter(|value| *value > 0.0))
    }

    fn phase(&self) -> Option<Phase> {
        let number = || self.whole("number")?.try_into().ok();
        match self.text("phase")? {
            "bracket" => Some(Phase::Bracket),
            "shrink" => Some(Phase::Shrink),
            "round" => Some(Phase::Round(number()?)),
            "confirm" => Some(Phase::Confirm(number()?)),
            "hold" => Some(Phase::Hold),
            _ => None,
        }
    }
}

fn read_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn read_finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

fn read_position(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

fn read_interval(value: &Value) -> Option<Interval> {
    let [low, high] = value.as_array()?.as_slice() else { return None };
    let (low, high) = (read_number(low)?, read_number(high)?);
    (low >= 0.0 && low <= high).then_some(Interval { low, high })
}

fn read_boundary(name: &str) -> Option<Boundary> {
    let all = [Boundary::Smooth, Boundary::Cliff, Boundary::NonMonotone, Boundary::NotReached];
    all.into_iter().find(|boundary| boundary.name() == name)
}

fn read_irregular(value: &Value) -> Option<Irregular> {
    let fields = Fields(value);
    let (number, condition) = (|key| fields.number(key), || fields.position("condition"));
    Some(match fields.text("name")? {
        "generator-limited" => Irregular::GeneratorLimited { value: number("value")? },
        "never fails" => Irregular::NeverFails { highest: number("highest")? },
        "always fails" => Irregular::AlwaysFails { lowest: number("lowest")? },
        "not measured" => Irregular::NotMeasured { condition: condition()? },
        "loss inversion" => {
            Irregular::LossInversion { fails: number("fails")?, passes: number("passes")? }
        }
        "metastable failure" => Irregular::Metastable(read_metastable(&fields)?),
        "boundary moved" => {
            Irregular::BoundaryMoved { fails: number("fails")?, low: number("low")? }
        }
        "boundary not located" => {
            Irregular::NotLocated { low: number("low")?, high: number("high")? }
        }
        "budget spent" => Irregular::BudgetSpent { phase: fields.phase()? },
        "limited by connections" => {
            let connections = fields.whole("connections")?;
            Irregular::LimitedBy(match fields.text("of")? {
                "generator" => LoadLimit::OwnConnections(connections),
                "server" => LoadLimit::AcceptedConnections(connections),
                _ => return None,
            })
        }
        "fits disagree" => Irregular::FitsDisagree {
            regression: number("regression")?,
            isotonic: number("isotonic")?,
        },
        "improves from trial to trial" | "degrades from trial to trial" => {
            Irregular::Drifts { change: number("change")? }
        }
        "not confirmed" => Irregular::NotConfirmed { lowest: number("lowest")? },
        "hold failed" => Irregular::HoldFailed { value: number("value")? },
        "not held" => Irregular::NotHeld { value: number("value")? },
        "condition unmet" => Irregular::Unmet { condition: condition()? },
        "curved" => Irregular::Curved,
        "independent of the load" => Irregular::Independent {
            condition: condition()?,
            value: number("value")?,
            share: number("share")?,
        },
        _ => return None,
    })
}

fn read_metastable(fields: &Fields<'_>) -> Option<Metastable> {
    Some(Metastable {
        fails: fields.number("fails")?,
        answered_per_s: fields.number("answered_per_s")?,
        passes: fields.number("passes")?,
        connections: fields.or_none("connections", Value::as_u64)?,
        advised: fields.or_none("advised", Value::as_u64)?,
    })
}

fn read_trial(value: &Value) -> Option<JudgedTrial> {
    let fields = Fields(value);
    Some(JudgedTrial {
        value: fields.load_or_none("value")??,
        phase: fields.phase()?,
        outcome: match fields.text("outcome")? {
            "pass" => TrialOutcome::Pass,
            "fail" => TrialOutcome::Fail(read_reason(&fields)?),
            "undecided" => TrialOutcome::Undecided {
                condition: fields.position("condition")?,
                distance: fields.number("distance")?,
            },
            "invalid" => TrialOutcome::Invalid(InvalidReason::Instrument {
                checks: fields.list("checks")?.iter().map(read_text).collect::<Option<_>>()?,
            }),
            _ => return None,
        },
    })
}

fn read_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn read_reason(fields: &Fields<'_>) -> Option<FailReason> {
    let condition = || fields.position("condition");
    Some(match fields.text("reason")? {
        "condition" => {
            FailReason::Condition { condition: condition()?, ratio: fields.number("ratio")? }
        }
        "missing" => FailReason::Missing { condition: condition()? },
        "backlog" => FailReason::Backlog,
        "achieved" => FailReason::Achieved { share: fields.number("share")? },
        "errors" => FailReason::Errors { errors: fields.whole("errors")? },
        "queue-full" => FailReason::QueueFull { rejected: fields.whole("rejected")? },
        "connections" => FailReason::Connections { connections: fields.whole("connections")? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metastable(connections: Option<u64>, advised: Option<u64>) -> Irregular {
        let (fails, answered_per_s, passes) = (700.0, 400.5, 800.0);
        let found = Metastable { fails, answered_per_s, passes, connections, advised };
        Irregular::Metastable(found)
    }

    /// Returns irregularities of all kinds. A kind that is added to `Irregular` must be added here,
    /// too; the compiler only enforces its addition to the function that writes irregularities.
    fn irregular() -> Vec<Irregular> {
        vec![
            Irregular::GeneratorLimited { value: 700.0 },
            Irregular::NeverFails { highest: 700.5 },
            Irregular::AlwaysFails { lowest: 7.0 },
            Irregular::NotMeasured { condition: 1 },
            Irregular::LossInversion { fails: 700.0, passes: 800.0 },
            metastable(Some(97), Some(11)),
            metastable(None, None),
            Irregular::BoundaryMoved { fails: 700.0, low: 800.0 },
            Irregular::NotLocated { low: 0.0, high: f64::INFINITY },
            Irregular::BudgetSpent { phase: Phase::Round(3) },
            Irregular::BudgetSpent { phase: Phase::Shrink },
            Irregular::LimitedBy(LoadLimit::OwnConnections(16)),
            Irregular::LimitedBy(LoadLimit::AcceptedConnections(17)),
            Irregular::FitsDisagree { regression: 700.0, isotonic: 800.0 },
            Irregular::Drifts { change: -0.1 },
            Irregular::Drifts { change: 0.1 },
            Irregular::NotConfirmed { lowest: 700.0 },
            Irregular::HoldFailed { value: 700.0 },
            Irregular::NotHeld { value: 700.0 },
            Irregular::Unmet { condition: 0 },
            Irregular::Curved,
            Irregular::Independent { condition: 0, value: 300.0, share: 0.009 },
        ]
    }

    fn outcomes() -> Vec<TrialOutcome> {
        let checks = vec!["stall".to_owned(), "send-lag".to_owned()];
        let reasons = [
            FailReason::Condition { condition: 0, ratio: f64::INFINITY },
            FailReason::Missing { condition: 1 },
            FailReason::Backlog,
            FailReason::Achieved { share: 0.5 },
            FailReason::Errors { errors: 3 },
            FailReason::QueueFull { rejected: 4 },
            FailReason::Connections { connections: 5 },
        ];
        let others = [
            TrialOutcome::Pass,
            TrialOutcome::Undecided { condition: 0, distance: -1.5 },
            TrialOutcome::Invalid(InvalidReason::Instrument { checks }),
        ];
        others.into_iter().chain(reasons.into_iter().map(TrialOutcome::Fail)).collect()
    }

    fn trial(judged: &JudgedTrial) -> Trial {
        Trial {
            value: judged.value,
            phase: judged.phase,
            window: Nanos::from_secs(10),
            took: Nanos::from_secs(13),
            measures: Vec::new(),
            offered_per_s: None,
            achieved_per_s: 0.0,
            exceeds_capacity: false,
            backlog_t: None,
            errors: 0,
            failed_jobs: Vec::new(),
            rejected: 0,
            limited_failures: 0,
            invalid: Vec::new(),
            load_limit: None,
            service: None,
            relaxation: None,
        }
    }

    fn capacity() -> Capacity {
        let phases =
            [Phase::Bracket, Phase::Shrink, Phase::Round(2), Phase::Confirm(1), Phase::Hold];
        let judged = |(outcome, phase)| JudgedTrial { value: 740.0, phase, outcome };
        Capacity {
            slo: "p99(read) < 20ms".to_owned(),
            sustained: Some(740.0),
            fails: Some(820.0),
            estimate: Some(770.0),
            interval: Some(Interval { low: 755.0, high: f64::INFINITY }),
            slope: Some(15.0),
            confirmations: 6,
            binding: Some(0),
            boundary: Boundary::Smooth,
            irregular: irregular(),
            trials: outcomes().into_iter().zip(phases.into_iter().cycle()).map(judged).collect(),
            isotonic: Some(765.5),
            took: Nanos::from_secs(500),
        }
    }

    #[test]
    fn answer_is_read_as_it_was_written() {
        let none = Capacity {
            sustained: None,
            fails: None,
            estimate: None,
            interval: None,
            slope: None,
            binding: None,
            isotonic: None,
            boundary: Boundary::NotReached,
            ..capacity()
        };
        for capacity in [capacity(), none] {
            let trials: Vec<Trial> = capacity.trials.iter().map(trial).collect();
            let windows = vec![Nanos::from_secs(10); trials.len()];
            let found = read(&write(&capacity, &trials));
            assert_eq!(found, Some(StoredAnswer { capacity, windows }));
        }
    }

    /// A damaged answer is cut off, lacks a field, or has a field with a wrong type, an unknown
    /// name or an impossible value.
    #[test]
    fn damaged_answer_is_not_read() {
        let trials: Vec<Trial> = capacity().trials.iter().map(trial).collect();
        let text = write(&capacity(), &trials);
        let whole: Value = serde_json::from_str(&text).unwrap();
        for (key, value) in whole.as_object().unwrap() {
            // The method is also in a fact of the record.
            if key == "method" {
                continue;
            }
            let mut damaged = whole.clone();
            damaged.as_object_mut().unwrap().remove(key);
            assert_eq!(read(&damaged.to_string()), None, "without {key}");
            damaged[key] = json!({ "was": value });
            assert_eq!(read(&damaged.to_string()), None, "{key}");
        }
        assert_eq!(read(&text[..text.len() / 2]), None);
        let cases = [
            ("/sustained", json!(-1.0)),
            ("/interval", json!([800.0, 700.0])),
            ("/irregular/0/name", json!("curious")),
            ("/trials/0/window_ns", json!(u64::MAX)),
            ("/trials/0/phase", json!("dusk")),
        ];
        for (place, value) in cases {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(place).unwrap() = value;
            assert_eq!(read(&damaged.to_string()), None, "{place}");
        }
    }
}
