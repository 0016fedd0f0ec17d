//! The JSON document of a run, and faults that its schema detects.

use std::collections::BTreeSet;
use std::path::Path;

use analyze::{Component, DatabaseLocation, PhaseName, Status};
use base::{Class, Nanos};
use record::EndKind;
use report::View;
use serde_json::{Value, json as value};

use crate::cases;
use crate::schema::{
    check_that_every_field_matters, check_that_faults_are_noticed, complaints, schema, text_of,
};
use crate::support::{Case, check as compare, json, text};

const SCHEMA: &str = "summary.schema.json";

/// Object whose field names are the server's own.
const FREE: &str = "/run/settings";

/// Returns a document in which no array is empty.
fn full() -> Value {
    let mut case = cases::closed();
    case.evidence.loads = cases::loads().evidence.loads;
    let mut document = json(&case.view());
    document["limiter"] = json(&cases::limited().view())["limiter"].clone();
    document["side_effects"] = json(&cases::intermittent().view())["side_effects"].clone();
    document
}

#[test]
fn database_on_the_same_host_is_a_field() {
    let same_host = |case: Case| json(&case.view())["run"]["same_host"].clone();
    for (place, expected) in [
        (DatabaseLocation::Inside, Value::Bool(true)),
        (DatabaseLocation::ThisHost, Value::Bool(true)),
        (DatabaseLocation::Elsewhere, Value::Bool(false)),
        (DatabaseLocation::Unknown, Value::Null),
    ] {
        assert_eq!(same_host(cases::open().at(place)), expected, "{place:?}");
    }
    assert_eq!(same_host(cases::open().in_virtual_time()), Value::Null);
}

#[test]
fn every_kind_of_run_keeps_to_the_schema() {
    let schema = schema(SCHEMA);
    for (name, view) in cases::all() {
        assert_eq!(complaints(&schema, &json(&view)), [""; 0], "{name}");
    }
}

#[test]
fn every_field_is_required_and_has_a_type() {
    check_that_every_field_matters(&schema(SCHEMA), &full(), FREE);
}

#[test]
fn unknown_field_of_a_later_version_is_accepted() {
    let schema = schema(SCHEMA);
    let mut document = full();
    document["more"] = value!(1);
    document["jobs"][0]["response_ms"]["p99_99"] = value!(1.5);
    assert_eq!(complaints(&schema, &document), [""; 0]);
}

#[test]
fn words_formats_and_bounds_are_checked() {
    let other = || value!("other");
    let faults = [
        ("/schema", value!("assay.summary/2")),
        ("/verdict/status", value!("valid")),
        ("/verdict/checks", value!([])),
        ("/verdict/checks/0/status", other()),
        ("/jobs/0/model", other()),
        ("/jobs/0/arrival", other()),
        ("/jobs/0/errors_by_code/0/class", other()),
        ("/jobs/0/errors_by_code/0/count", value!(0)),
        ("/jobs/0/slo/0/unit", other()),
        ("/jobs/0/response_ms/withheld", other()),
        ("/jobs/0/statements/0/number", value!(0)),
        ("/jobs/0/completed", value!(-1)),
        ("/jobs/0/completed", value!(1.5)),
        ("/jobs/0/throughput_per_s", value!(-0.1)),
        ("/side_effects/0/reference", value!("during")),
        ("/side_effects/0/phases", value!([])),
        ("/side_effects/0/phases/0/name", other()),
        ("/side_effects/0/phases/0/stretches", value!([])),
        ("/side_effects/0/phases/0/jobs/0/response_ms/withheld", other()),
        ("/side_effects/0/phases/0/jobs/0/throughput_per_s/ci95", value!([1.0])),
        ("/side_effects/0/changes/0/phase", other()),
        ("/side_effects/0/changes/0/figure", value!("p50")),
        ("/loads/0/limiter", other()),
        ("/limiter/component", other()),
        ("/window/end_s", value!(-1)),
        ("/run/ended", other()),
        ("/run/started", value!("2026-11-21 20:15:02")),
        ("/run/seed", value!("-1")),
        ("/run/settings/server", value!(3)),
    ];
    check_that_faults_are_noticed(&schema(SCHEMA), &full(), &faults);
}

#[test]
fn contradictory_document_is_noticed() {
    let schema = schema(SCHEMA);
    let faults = [
        ("/jobs/0/response_ms/count", value!(0)),
        ("/jobs/0/response_ms/p99", Value::Null),
        ("/jobs/0/response_ms/withheld", value!("exceeds capacity")),
        ("/jobs/0/probes/0/count", value!(0)),
        ("/jobs/0/probes/0/p50", Value::Null),
        ("/jobs/0/probes/0/withheld", value!("exceeds capacity")),
        ("/jobs/0/slo/0/value", Value::Null),
        ("/side_effects/0/phases/0/jobs/0/response_ms/count", value!(0)),
        ("/side_effects/0/phases/0/jobs/0/response_ms/p99", Value::Null),
        ("/side_effects/0/phases/0/jobs/0/response_ms/withheld", value!("exceeds capacity")),
        ("/verdict/status", value!("SUSPECT")),
        ("/verdict/status", value!("INVALID")),
        ("/verdict/checks/0/status", value!("suspect")),
        ("/run/virtual", value!(true)),
    ];
    check_that_faults_are_noticed(&schema, &full(), &faults);
    let exceeding = json(&cases::exceeds().view());
    let faults = [
        ("/jobs/0/response_ms/p50", value!(1.5)),
        ("/jobs/0/probes/0/p99", value!(1.5)),
        ("/jobs/0/slo/0/met", value!(true)),
        ("/verdict/status", value!("VALID")),
    ];
    check_that_faults_are_noticed(&schema, &exceeding, &faults);
}

/// Returns the words that a schema lists for a field.
fn words(place: &str) -> Vec<Option<String>> {
    let schema = text_of(SCHEMA);
    let place = schema.pointer(place).unwrap_or_else(|| panic!("there is no {place}"));
    let words = place["enum"].as_array().unwrap().iter();
    words.map(|word| word.as_str().map(str::to_owned)).collect()
}

#[test]
fn schema_lists_the_names_of_the_program() {
    let are = |place: &str, expected: &[&str]| {
        let expected: Vec<_> = expected.iter().map(|word| Some((*word).to_owned())).collect();
        assert_eq!(words(place), expected, "{place}");
    };
    are("/$defs/failure/properties/class", &Class::ALL.map(Class::name));
    let endings: Vec<&str> =
        EndKind::ALL.into_iter().map(EndKind::name).chain(["killed"]).collect();
    are("/$defs/run/properties/ended", &endings);
    let statuses = [Status::Pass, Status::Suspect, Status::Invalid, Status::NotPossible];
    are("/$defs/check/properties/status", &statuses.map(Status::name));
    are("/$defs/phase/properties/name", &PhaseName::ALL.map(PhaseName::name));
    are("/$defs/change/properties/phase", &PhaseName::ALL.map(PhaseName::name));
    let components: Vec<Option<String>> =
        Component::ALL.iter().map(|component| Some(component.name().to_owned())).collect();
    assert_eq!(words("/$defs/component"), components);
}

/// Returns the jobs whose outcomes do not add up to the scheduled requests, or that have more
/// timeouts than errors.
fn unbalanced_jobs(document: &Value) -> Vec<&str> {
    let number = |job: &Value, name: &str| job[name].as_u64().unwrap();
    let jobs = document["jobs"].as_array().unwrap().iter();
    let is_off = |job: &&Value| {
        let parts = ["completed", "errors", "rejected", "unsent"];
        let ended: u64 = parts.iter().map(|name| number(job, name)).sum();
        number(job, "scheduled") != ended || number(job, "errors") < number(job, "timeouts")
    };
    jobs.filter(is_off).map(|job| job["name"].as_str().unwrap()).collect()
}

#[test]
fn document_balances_all_scheduled_requests() {
    for (name, view) in cases::all() {
        assert_eq!(unbalanced_jobs(&json(&view)), [""; 0], "{name}");
    }
    let mut faulty = json(&cases::mixed().view());
    faulty["jobs"][1]["completed"] = value!(4);
    assert_eq!(unbalanced_jobs(&faulty), ["clean-up"]);
}

#[test]
fn errors_by_code_add_up_to_the_errors() {
    let document = json(&cases::closed().view());
    let job = &document["jobs"][0];
    let codes = job["errors_by_code"].as_array().unwrap().iter();
    let sum: u64 = codes.map(|code| code["count"].as_u64().unwrap()).sum();
    assert_eq!(value!(sum), job["errors"]);
}

#[test]
fn equal_views_give_equal_bytes() {
    let first = |view: View| serde_json::to_string(&json(&view)).unwrap();
    for ((name, one), (_, other)) in cases::all().into_iter().zip(cases::all()) {
        assert_eq!(first(one), first(other), "{name}");
    }
}

/// The names, the order and the digits in a document are a contract, so they are compared with a
/// stored file.
#[test]
fn documents_match_the_stored_ones() {
    for (name, case) in [("closed", cases::closed()), ("exceeds", cases::exceeds())] {
        let text = serde_json::to_string_pretty(&json(&case.view())).unwrap();
        compare(&format!("{name}.json"), &(text + "\n"));
    }
}

#[test]
fn beyond_the_capacity_times_are_withheld_and_a_condition_on_them_is_not_met() {
    let document = json(&cases::exceeds().view());
    let job = &document["jobs"][0];
    for times in ["response_ms", "wait_ms"] {
        let times = &job[times];
        assert_eq!(times["withheld"], "exceeds capacity");
        assert_eq!(times["count"], 180_000);
        for number in ["mean", "stddev", "p50", "p90", "p95", "p99", "p99_9", "max"] {
            assert_eq!(times[number], Value::Null, "{number}");
        }
    }
    let slo = value!({"text": "p99 < 30ms", "met": false, "value": null, "unit": "ms"});
    assert_eq!(job["slo"], value!([slo]));
    let probe = &job["probes"][0];
    assert_eq!((&probe["p99"], &probe["withheld"]), (&Value::Null, &value!("exceeds capacity")));
    assert_eq!(probe["count"], 30_000);
    assert_eq!(job["service_ms"]["withheld"], Value::Null);
    assert!(job["service_ms"]["p99"].is_f64(), "the service time does not depend on the backlog");
}

#[test]
fn side_effects_have_their_intervals() {
    let document = json(&cases::intermittent().view());
    let side_effects = &document["side_effects"][0];
    assert_eq!(
        (&side_effects["job"], &side_effects["reference"]),
        (&"clean-up".into(), &"before".into())
    );
    let phases = side_effects["phases"].as_array().unwrap();
    let stretches: Vec<&Value> = phases.iter().map(|phase| &phase["stretches"][0]).collect();
    let expected = [(0.0, 20.0), (20.0, 40.0), (40.0, 60.0)];
    assert_eq!(
        stretches,
        expected
            .map(|(from, to)| value!({"start_s": from, "end_s": to}))
            .iter()
            .collect::<Vec<_>>()
    );
    let p50 = &phases[1]["jobs"][0]["response_ms"]["p50"];
    let [low, high] = [0, 1].map(|end| p50["ci95"][end].as_f64().unwrap());
    assert!((low..=high).contains(&p50["value"].as_f64().unwrap()), "{p50}");
    let changes = side_effects["changes"].as_array().unwrap().iter();
    let sentences: Vec<[&str; 3]> = changes
        .map(|change| ["job", "phase", "figure"].map(|name| change[name].as_str().unwrap()))
        .collect();
    let figures = ["mean", "p50", "p95", "p99"].map(|name| format!("response_ms.{name}"));
    assert_eq!(sentences, figures.each_ref().map(|figure| ["read", "during", figure.as_str()]));
}

#[test]
fn side_effects_on_a_job_beyond_its_capacity_have_no_times() {
    let mut view = cases::intermittent().view();
    for phase in &mut view.summary.side_effects[0].phases {
        phase.jobs[0].is_withheld = true;
    }
    let document = json(&view);
    let response = &document["side_effects"][0]["phases"][1]["jobs"][0]["response_ms"];
    assert_eq!(
        (&response["p99"], &response["withheld"]),
        (&Value::Null, &value!("exceeds capacity"))
    );
    assert_eq!(complaints(&schema(SCHEMA), &document), [""; 0]);
    let text = text(&view, &report::Style::PLAIN);
    assert!(text.contains("  withheld\n"), "{text}");
}

#[test]
fn missing_times_have_null_quantiles() {
    let document = json(&cases::open().view());
    let nothing = value!({
        "count": 0, "mean": null, "stddev": null, "p50": null, "p90": null, "p95": null,
        "p99": null, "p99_9": null, "max": null, "withheld": null,
    });
    assert_eq!(document["jobs"][0]["error_ms"], nothing);
    let empty = json(&cases::empty().view());
    assert_eq!(empty["jobs"][0]["response_ms"], nothing);
    assert_eq!(empty["jobs"][0]["throughput_per_s"], Value::Null);
    assert_eq!(empty["jobs"][0]["slo"][0]["met"], false);
}

#[test]
fn missing_number_is_null() {
    let schema = schema(SCHEMA);
    let mut view = cases::open().view();
    view.summary.jobs[0].throughput_per_s = Some(f64::INFINITY);
    view.summary.jobs[0].rows_per_s = Some(f64::NAN);
    view.summary.limiter.evidence[0].value = f64::NAN;
    view.summary.verdict.checks[0].value = Some(f64::NEG_INFINITY);
    let document = json(&view);
    assert_eq!(complaints(&schema, &document), [""; 0]);
    for place in [
        "/jobs/0/throughput_per_s",
        "/jobs/0/rows_per_s",
        "/limiter/evidence/0/value",
        "/verdict/checks/0/value",
    ] {
        assert_eq!(document.pointer(place), Some(&Value::Null), "{place}");
    }
}

#[test]
fn only_objecting_checks_have_a_remedy() {
    for (name, view) in cases::all() {
        let document = json(&view);
        for check in document["verdict"]["checks"].as_array().unwrap() {
            let objects = ["suspect", "invalid"].contains(&check["status"].as_str().unwrap());
            assert_eq!(check["remedy"].is_string(), objects, "{name}: {check}");
        }
    }
}

#[test]
fn a_load_of_one_sample_has_no_processor_time() {
    let mut case = cases::loads();
    for load in &mut case.evidence.loads {
        load.points.truncate(1);
        load.points.iter_mut().for_each(|point| point.client_cpu = Some(Nanos::ZERO));
    }
    let document = json(&case.view());
    assert_eq!(document["loads"][0]["series"].as_array().unwrap().len(), 1);
    assert_eq!(document["loads"][0]["client_cpu_s"], Value::Null);
}

/// Returns the guide, and the names of all fields that a schema describes.
fn guide_and_field_names(name: &str) -> (String, BTreeSet<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let mut names = BTreeSet::new();
    let schema = text_of(name);
    let definitions = schema["$defs"].as_object().unwrap().values();
    for definition in definitions.chain([&schema]) {
        let properties = definition["properties"].as_object().into_iter();
        names.extend(properties.flat_map(|properties| properties.keys().cloned()));
    }
    (std::fs::read_to_string(path).unwrap(), names)
}

/// Returns true if the guide has a name in code type, alone or after the field that holds it.
fn is_in_guide(guide: &str, name: &str) -> bool {
    let ends = ["`", "[]`", "[]."];
    ends.iter()
        .any(|end| ["`", "."].iter().any(|start| guide.contains(&format!("{start}{name}{end}"))))
}

#[test]
fn the_guide_names_every_field() {
    for schema in [SCHEMA, "export.schema.json"] {
        let (guide, names) = guide_and_field_names(schema);
        let missing = names.iter().filter(|name| !is_in_guide(&guide, name));
        let missing: Vec<&String> = missing.collect();
        assert_eq!(missing, [""; 0], "{schema}");
    }
    let (guide, _) = guide_and_field_names(SCHEMA);
    assert!(!is_in_guide(&guide, "name_that_is_nowhere"));
}

#[test]
fn the_guide_names_every_word() {
    let (guide, _) = guide_and_field_names(SCHEMA);
    let components = words("/$defs/component").into_iter().flatten();
    let models = words("/$defs/job/properties/model").into_iter().flatten();
    let endings = words("/$defs/run/properties/ended").into_iter().flatten();
    let classes = words("/$defs/failure/properties/class").into_iter().flatten();
    let phases = words("/$defs/phase/properties/name").into_iter().flatten();
    let figures = words("/$defs/figure").into_iter().flatten();
    let words = components.chain(models).chain(endings).chain(classes);
    for word in words.chain(phases).chain(figures) {
        assert!(is_in_guide(&guide, &word), "{word}");
    }
}

#[test]
fn the_example_of_the_guide_keeps_to_the_schema() {
    let (guide, _) = guide_and_field_names(SCHEMA);
    let (_, rest) = guide.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    assert_eq!(complaints(&schema(SCHEMA), &example), [""; 0]);
    assert_eq!(unbalanced_jobs(&example), [""; 0]);
}
