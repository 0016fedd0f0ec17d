//! Tests of the false alarms of a machine: A/A experiments in real time store them, and later
//! experiments cite them.

use analyze::compare::FalsePositives;
use lab::calibrate::{AaResult, Machine, Store};

use crate::example::assert_matches_schema;
use crate::support::TestFolder;

fn place(duration: &str) -> TestFolder {
    let place = TestFolder::new();
    let workload = "url = sim:mm1?service=1ms\n[read]\nquery = select 1\nconcurrency = 2\n";
    place.write("read.ini", format!("duration = {duration}\n{workload}"));
    let aa = "[question]\nask = ?\nworkload = read.ini\ndesign = aa\nrounds = 12\n[arm same]\n";
    place.write("aa.ini", aa);
    let question = "[question]\nask = ?\nworkload = read.ini\nrounds = 6\n[arm fast]\n[arm slow]\n\
                    option.service = 2ms\n";
    place.write("slower.ini", question);
    place
}

fn store(place: &TestFolder) -> Store {
    Store::new(place.at("state/assay"))
}

#[test]
fn virtual_experiment_counts_its_false_alarms_and_stores_none() {
    let place = place("5s");
    let line = ["run", "aa.ini", "--virtual", "--out", "r.assay", "--quiet"];
    let ran = place.assay(&line).expect(0);
    let words = "of 2 comparisons of throughput(read) between equal arms found a difference; pairs";
    assert!(
        ran.stdout_line().contains(" A/A: ") && ran.stdout_line().contains(words),
        "{}",
        ran.stdout
    );
    let document = place.assay(&["report", "r.assay", "--json"]).expect(0).json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    assert_eq!(document["false_alarms"]["comparisons"], 2);
    assert_eq!(document["false_alarms"]["experiments"], serde_json::Value::Null);
    assert!(!place.at("state").exists());
}

#[test]
fn false_alarms_in_real_time_are_stored_unless_the_experiment_is_invalid() {
    let place = place("300ms");
    let ran = place.assay(&["run", "aa.ini", "--out", "r.assay", "--quiet"]);
    let stored = store(&place).aa_results(&Machine::here()).unwrap();
    match ran.code {
        0 => {
            assert_eq!(stored.len(), 1);
            let only = &stored[0];
            assert_eq!((only.target.as_str(), only.workload.as_str()), ("sim:mm1", "read.ini"));
            assert_eq!((only.metric.as_str(), only.counted.comparisons), ("throughput(read)", 2));
        }
        code => assert_eq!((code, stored.len()), (3, 0), "{ran:?}"),
    }
}

#[test]
fn later_answers_in_real_time_cite_the_rate_of_the_machine() {
    let place = place("300ms");
    let result = |target: &str, rejections| AaResult {
        taken: "2026-11-25T08:00:00Z".to_owned(),
        workload: "read.ini".to_owned(),
        target: target.to_owned(),
        metric: "throughput(read)".to_owned(),
        spread: 0.01,
        counted: FalsePositives { comparisons: 10, rejections },
    };
    for (target, rejections) in [("sim:mm1", 0), ("sim:mm1", 1), ("postgres", 9)] {
        store(&place).add_aa_result(&Machine::here(), result(target, rejections)).unwrap();
    }
    let ran = place.assay(&["run", "slower.ini", "--out", "r.assay", "--quiet"]);
    let words = "A/A: 1 of 20 comparisons between equal arms found a difference, in 2 A/A \
                 experiments with sim:mm1 on this machine (the latest on 2026-11-25) ";
    assert!(ran.stdout_line().contains(words), "{ran:?}");
    std::fs::remove_dir_all(place.at("state")).unwrap();
    let again = place.assay(&["report", "r.assay"]);
    assert_eq!((again.code, again.stdout), (ran.code, ran.stdout));
    store(&place).add_aa_result(&Machine::here(), result("sim:mm1", 1)).unwrap();
    let line = ["run", "slower.ini", "--virtual", "--out", "v.assay", "--quiet"];
    let ran = place.assay(&line).expect(0);
    assert!(!ran.stdout.contains("A/A"), "{}", ran.stdout);
}

#[test]
fn damaged_rates_of_the_machine_are_ignored_with_a_warning() {
    let place = place("300ms");
    let machine = Machine::here();
    let result = AaResult {
        taken: "2026-11-25T08:00:00Z".to_owned(),
        workload: "read.ini".to_owned(),
        target: "sim:mm1".to_owned(),
        metric: "throughput(read)".to_owned(),
        spread: 0.01,
        counted: FalsePositives { comparisons: 1, rejections: 0 },
    };
    let file = store(&place).add_aa_result(&machine, result).unwrap();
    std::fs::write(&file, "{").unwrap();
    let ran = place.assay(&["run", "slower.ini", "--out", "r.assay", "--quiet"]);
    assert!(ran.stderr.contains("is ignored: it is damaged"), "{ran:?}");
    assert!(!ran.stdout.contains("A/A"), "{ran:?}");
}
