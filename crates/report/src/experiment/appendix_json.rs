//! The part of an experiment's JSON document that follows its answer.

use serde_json::{Value, json};

use super::view::{ArmLimiter, ArmView, ExperimentView};
use crate::number::NONE;

/// Returns the facts about machine and servers: the distinct values of each arm in the order of its
/// runs. The last value is null if some runs of the arm lack the fact.
pub(super) fn facts(view: &ExperimentView) -> Vec<Value> {
    let of_arm = |(arm, values): (&ArmView, &Vec<String>)| {
        let known = |value: &String| (value != NONE).then(|| value.clone());
        json!({ "arm": arm.name, "values": values.iter().map(known).collect::<Vec<_>>() })
    };
    let fact = |(name, arms): (String, Vec<Vec<String>>)| {
        let arms: Vec<Value> = view.arms.iter().zip(&arms).map(of_arm).collect();
        json!({ "name": name, "arms": arms })
    };
    view.facts.values().into_iter().map(fact).collect()
}

/// Returns the plan as text: the experiment, and the workload of one run.
pub(super) fn plan(view: &ExperimentView) -> Value {
    let workload = view.plan.workload.as_ref();
    json!({
        "experiment": view.plan.experiment,
        "workload": workload.map(|(_, text)| text),
        "workload_of_run": workload.map(|(run, _)| run),
    })
}

/// Returns the most frequent limiter of an arm.
pub(super) fn limiter(limiter: &ArmLimiter) -> Value {
    json!({
        "component": limiter.component.name(),
        "because": limiter.because,
        "runs": limiter.runs,
        "of": limiter.counted_runs,
    })
}

#[cfg(test)]
mod tests {
    use analyze::Component;
    use analyze::compare::ArmId;

    use super::super::arm_facts::{ArmFacts, PlanTexts};
    use super::super::fixtures::experiment;
    use super::super::json::experiment_json;
    use super::*;

    #[test]
    fn document_has_the_facts_the_plan_and_the_limiters() {
        let mut view = experiment();
        let known = [("fsync".to_owned(), "off".to_owned())];
        let (plain, tls) = (ArmId::BASELINE, ArmId(1));
        let runs: [(ArmId, &[(String, String)]); 3] =
            [(plain, &known), (plain, &[]), (tls, &known)];
        view.facts = ArmFacts::of(view.arms.len(), runs);
        view.plan = PlanTexts {
            experiment: "[question]\n".to_owned(),
            workload: Some((2, "duration = 5s\n".to_owned())),
        };
        let because = "they used 99 % of the processors".to_owned();
        let component = Component::DatabaseCpu;
        view.arms[1].limiter = Some(ArmLimiter { component, because, runs: 5, counted_runs: 6 });
        let document = experiment_json(&view);
        let [first, second] = [0, 1].map(|arm| view.arms[arm].name.as_str());
        let facts = json!([{"name": "fsync", "arms": [
            {"arm": first, "values": ["off", null]}, {"arm": second, "values": ["off"]},
        ]}]);
        assert_eq!(document["facts"], facts);
        let plan = json!({
            "experiment": "[question]\n", "workload": "duration = 5s\n", "workload_of_run": 2,
        });
        assert_eq!(document["plan"], plan);
        let limiter = json!({
            "component": "database-cpu", "because": "they used 99 % of the processors",
            "runs": 5, "of": 6,
        });
        assert_eq!(document["arms"][1]["limiter"], limiter);
    }
}
