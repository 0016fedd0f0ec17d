//! Tests of the report of side effects: the traffic before, during and after an intermittent job.

use serde_json::Value;

use crate::example::assert_valid;
use crate::support::{MM1, TestFolder};

/// Traffic for 90 s, and a clean-up of 800 requests from second 30 on. Each of them occupies the
/// server for 20 ms, so the clean-up ends before second 50.
const WITH_CLEAN_UP: &str = "
duration = 90s
[read]
query = select 1
rate = 100
[clean-up]
query = delete from t /* sim: service=20ms */
start = 30s
count = 800
";

/// Returns the side effects of the only intermittent job of a run in virtual time.
fn side_effects(place: &TestFolder, url: &str) -> Value {
    let summary = place.run_virtually(url, &[]).expect(0).json();
    assert_valid(&summary);
    let side_effects = summary["side_effects"].as_array().unwrap();
    assert_eq!(side_effects.len(), 1, "{side_effects:?}");
    side_effects[0].clone()
}

/// Returns the names of the parts of the window.
fn names(side_effects: &Value) -> Vec<&str> {
    let phases = side_effects["phases"].as_array().unwrap().iter();
    phases.map(|phase| phase["name"].as_str().unwrap()).collect()
}

#[test]
fn side_effects_of_a_clean_up_and_their_end_are_reported() {
    let place = TestFolder::with(WITH_CLEAN_UP);
    let shown = side_effects(&place, MM1);
    assert_eq!((&shown["job"], &shown["reference"]), (&"clean-up".into(), &"before".into()));
    assert_eq!(names(&shown), ["before", "during", "after"]);
    assert_eq!(shown["phases"][0]["stretches"][0]["end_s"], 30.0);
    let [before, during, after] = [0, 1, 2].map(|phase| {
        let read = &shown["phases"][phase]["jobs"][0];
        assert_eq!(read["name"], "read");
        &read["response_ms"]["p50"]
    });
    let number = |estimate: &Value, place: &str| estimate.pointer(place).unwrap().as_f64().unwrap();
    assert!(number(during, "/ci95/0") > 5.0 * number(before, "/ci95/1"), "{before} {during}");
    assert!(number(after, "/ci95/0") < number(before, "/ci95/1"), "{before} {after}");
    let changes = shown["changes"].as_array().unwrap();
    let of = |figure: &str| changes.iter().find(|change| change["figure"] == figure);
    let p50 = of("response_ms.p50").unwrap();
    assert_eq!((&p50["from"], &p50["to"]), (&before["value"], &during["value"]));
    assert_eq!(of("throughput_per_s"), None, "open traffic comes all the same");
    assert!(changes.iter().all(|change| change["phase"] == "during"), "{changes:?}");
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(text.contains("\n[read] beside [clean-up]\n"), "{text}");
    assert!(text.contains("\n  during, not before  mean "), "{text}");
}

#[test]
fn harmless_clean_up_has_no_side_effects() {
    let place = TestFolder::with(WITH_CLEAN_UP);
    let shown = side_effects(&place, "sim:mmc?servers=unlimited&service=1ms");
    assert_eq!(names(&shown), ["before", "during", "after"]);
    assert_eq!(shown["changes"], Value::Array(Vec::new()));
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(text.contains("\n  figures with intervals differ by no more than chance"), "{text}");
}

/// The job sends a request every 20 s, which occupies the server for 500 ms.
#[test]
fn timetable_phases_are_its_active_seconds() {
    let timetable = WITH_CLEAN_UP.replace("start = 30s\ncount = 800", "every = 20s");
    let place = TestFolder::with(&timetable.replace("20ms */", "500ms */"));
    let shown = side_effects(&place, MM1);
    assert_eq!(names(&shown), ["before", "during", "between", "after"]);
    let starts: Vec<&Value> = shown["phases"][1]["stretches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stretch| &stretch["start_s"])
        .collect();
    assert_eq!(starts, [20.0, 40.0, 60.0, 80.0]);
    let response = &shown["phases"][1]["jobs"][0]["response_ms"];
    assert_eq!(response["p99"]["ci95"], Value::Null, "four seconds are too short");
    assert!(response["p99"]["value"].as_f64().unwrap() > 300.0, "{response}");
}

#[test]
fn traffic_alone_has_no_side_effects() {
    let traffic = WITH_CLEAN_UP.split("[clean-up]").next().unwrap();
    let place = TestFolder::with(traffic);
    let summary = place.run_virtually(MM1, &[]).expect(0).json();
    assert_eq!(summary["side_effects"], Value::Array(Vec::new()));
    let text = place.assay(&["report", "r.assay", "--full"]).expect(0).stdout;
    assert!(!text.contains("beside"), "{text}");
}
