//! Tests of `assay selftest`: its output, its exit codes, and that planted faults are noticed.

use serde_json::Value;

use crate::example::assert_matches_schema;
use crate::support::{CommandResult, TestFolder};

fn selftest(options: &[&str]) -> CommandResult {
    let mut args = vec!["selftest", "--quiet"];
    args.extend(options);
    TestFolder::new().assay(&args)
}

/// Returns the document of a self-test, after validating it against its schema.
fn document(options: &[&str]) -> Value {
    let mut options = options.to_vec();
    options.push("--json");
    let document = selftest(&options).expect(0).json();
    assert_matches_schema("schemas/selftest.schema.json", &document);
    assert_eq!(document["passed"], document["total"]);
    document
}

fn list<'a>(document: &'a Value, key: &str) -> &'a Vec<Value> {
    document[key].as_array().unwrap()
}

#[test]
fn every_oracle_is_green_in_virtual_time_and_the_document_says_what_the_table_says() {
    let table = selftest(&["--quick"]).expect(0);
    assert_eq!(table.stderr, "");
    let document = document(&["--quick"]);
    let findings = list(&document, "findings");
    let last = format!("{0} of {0} numbers passed", findings.len());
    assert_eq!(table.stdout.lines().last(), Some(last.as_str()));
    assert!(findings.iter().all(|finding| finding["passed"] == true));
    for (oracle, row) in findings.iter().zip(table.stdout.lines().skip(1)) {
        let named = [&oracle["oracle"], &oracle["quantity"]].map(|word| word.as_str().unwrap());
        assert!(named.iter().all(|word| row.contains(word)) && row.ends_with("PASS"), "{row}");
    }
    for oracle in ["O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8", "stall", "backlog"] {
        let is_it = |finding: &&Value| finding["oracle"].as_str().unwrap().starts_with(oracle);
        assert!(findings.iter().any(|finding| is_it(&finding)), "{oracle}");
    }
    assert_eq!((&document["virtual"], &document["depth"]), (&true.into(), &"quick".into()));
}

#[test]
fn every_planted_fault_is_noticed() {
    let document = document(&["--quick", "--mutations"]);
    let mutations = list(&document, "mutations");
    assert_eq!(mutations.len(), 10);
    for mutation in mutations {
        assert_eq!(mutation["passed_without"], true, "{mutation:#}");
        assert!(!list(mutation, "noticed_by").is_empty(), "{mutation:#}");
    }
}

/// Returns true if a number failed because it was too high: other use of the machine makes times
/// longer, and never shorter.
fn is_late(finding: &Value) -> bool {
    finding["passed"] == false
        && finding["unit"] == "ms"
        && finding["deviation_percent"].as_f64().is_some_and(|deviation| deviation > 0.0)
}

#[test]
fn both_protocols_agree_with_theory_and_with_their_twins_in_real_time() {
    // A real fault occurs in every attempt; interference by other programs does not.
    let document = std::iter::repeat_with(|| selftest(&["--real", "--quick", "--json"]).json())
        .take(3)
        .find(|document| !list(document, "findings").iter().any(is_late))
        .expect("three runs in which answers were too late");
    assert_matches_schema("schemas/selftest.schema.json", &document);
    assert_eq!(document["passed"], document["total"], "{document:#}");
    let findings = list(&document, "findings");
    for oracle in ["PostgreSQL", "PostgreSQL, twin", "MySQL", "MySQL, twin"] {
        let oracle = format!("O3 M/D/1, {oracle}");
        assert!(findings.iter().any(|finding| finding["oracle"] == oracle), "{oracle}");
    }
    assert_eq!((&document["virtual"], &document["depth"]), (&false.into(), &Value::Null));
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    selftest(&["--real", "--mutations"]).refuses(&["--real", "--mutations"]);
}
