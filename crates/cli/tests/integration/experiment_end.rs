//! Checks of experiments in real time that hold on a machine of any speed.
//!
//! Other work on the machine may make runs INVALID, and so leave an experiment without an answer.
//! The record then states the reason; an answer that is missing without a reason is a fault.

use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::support::{CommandResult, TestFolder, number};

/// Largest number of times that a round is repeated.
const MOST_REPEATS: u64 = 2;

/// Checks the record `r.assay` of an experiment of this many rounds that ended by itself: all of
/// its runs were executed, and its declared metrics are compared, unless the record says why not.
/// `ran` is the result of the command that printed the answer. Returns the document of the record.
#[track_caller]
pub(crate) fn assert_ended(place: &TestFolder, ran: &CommandResult, rounds: usize) -> Value {
    let report = place.assay(&["report", "r.assay", "--json"]);
    assert_eq!(report.code, ran.code, "{} {} {}", report.stderr, ran.stdout, ran.stderr);
    let document = report.json();
    assert_matches_schema("schemas/experiment.schema.json", &document);
    if assert_all_runs_executed(&document, rounds) {
        assert_compared(place, &document, rounds);
    }
    let lacks_metric = declared_metrics(&document).any(|row| row["verdict"] == "not-compared");
    let is_invalid = document["verdict"] == "INVALID" || lacks_metric;
    assert_eq!(ran.code, if is_invalid { 3 } else { 0 }, "{document:#}");
    document
}

/// Checks that an experiment has executed all runs of this number of rounds. Returns false if it
/// gave up a round after the maximum number of attempts.
#[track_caller]
pub(crate) fn assert_all_runs_executed(document: &Value, rounds: usize) -> bool {
    match document["state"].as_str() {
        Some("complete") => {}
        Some("instrument-failed") => {
            assert_exhausted(document);
            return false;
        }
        _ => panic!("it did not end by itself: {document:#}"),
    }
    let arms = document["arms"].as_array().unwrap().len();
    assert_eq!(counted_runs(document).count(), rounds * arms, "{document:#}");
    let looks = document["looks"].as_array().unwrap();
    assert_eq!(looks.last().unwrap()["pairs"], rounds, "{document:#}");
    true
}

/// Checks that the load generator or the machine failed in a run of the last round of an
/// experiment, and that this round was repeated as often as allowed. The allowed number depends on
/// the repetitions of other rounds.
#[track_caller]
pub(crate) fn assert_exhausted(document: &Value) {
    assert_eq!(document["state"], "instrument-failed", "{document:#}");
    let runs = document["runs"].as_array().unwrap();
    let last = runs.last().unwrap();
    let is_last = |run: &&Value| ["round", "attempt"].iter().all(|key| run[key] == last[key]);
    let mut of_last = runs.iter().filter(is_last);
    assert!(of_last.any(|run| run["verdict"] == "INVALID"), "{document:#}");
    let is_other = |run: &Value| run["state"] == "repeated" && run["round"] != last["round"];
    assert!(last["attempt"] == MOST_REPEATS || runs.iter().any(is_other), "{document:#}");
}

fn counted_runs(document: &Value) -> impl Iterator<Item = &Value> {
    document["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "counts")
}

/// Returns the comparisons of the declared metrics, which the answer is about.
fn declared_metrics(document: &Value) -> impl Iterator<Item = &Value> {
    let rows = document["comparison"].as_array().unwrap().iter();
    rows.filter(|row| row["exploratory"] == false)
}

/// Checks that every declared metric is compared, unless a run of the arm or of its baseline is
/// INVALID or has completed nothing.
#[track_caller]
fn assert_compared(place: &TestFolder, document: &Value, rounds: usize) {
    assert!(declared_metrics(document).count() > 0, "{document:#}");
    for row in declared_metrics(document) {
        let is_of_row = |run: &&Value| run["arm"] == row["arm"] || run["arm"] == row["baseline"];
        let mut own = counted_runs(document).filter(is_of_row);
        let is_explained = match row["reason"].as_str() {
            None => row["pairs"] == rounds && row["change_percent"].is_number(),
            Some("runs of the arm or its baseline are INVALID") => {
                own.any(|run| run["verdict"] == "INVALID")
            }
            Some("a value is 0 and has no ratio to another") => has_empty_run(place),
            Some(_) => false,
        };
        assert!(is_explained, "{row:#} {document:#}");
    }
}

/// Returns true if a run that counts has completed no request.
fn has_empty_run(place: &TestFolder) -> bool {
    let empty = "select count(*) from figure join run using (run) \
                 where state = 'counts' and metric = 'throughput' and value = 0";
    number(&place.at("r.assay"), empty) > 0
}
