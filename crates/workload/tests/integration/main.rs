//! The crate as its users see it: files in, diagnostics and plans out.

mod capacity;
mod corpus;
mod dbbench;
mod experiments;
mod expressions;
mod files;
mod generators;
mod lines;
mod literals;
mod memory;
mod mixes;
mod mutation;
mod overrides;
mod pacing;
mod plans;
mod print_back;
mod questions;
mod rates;
mod requests;
mod round_trip;
mod saturate;
mod secrets;
mod sections;
mod size;
mod statements;
mod sweeps;
mod targets;
mod threshold;
mod unset;
mod values;

use std::collections::BTreeMap;

use base::{Diagnostic, Severity, SourceText};
use workload::{Overrides, Plan};

/// Checks all diagnostics of a file, as displayed to a user.
fn check(input: &str, expected: &str) {
    check_with(&Overrides::default(), input, expected);
}

/// Returns the files that the examples in the table of keys name, and a file of values.
fn files() -> BTreeMap<String, Vec<u8>> {
    let script = b"select 1;\n".to_vec();
    let mut files: BTreeMap<String, Vec<u8>> =
        ["schema.sql", "transfer.sql"].map(|name| (name.to_owned(), script.clone())).into();
    files.insert("words.csv".to_owned(), b"word,kind\nhaste,noun\nslow,adjective\n".to_vec());
    files
}

/// Checks the diagnostics of a file, with options of the command line.
fn check_with(overrides: &Overrides, input: &str, expected: &str) {
    let input = input.strip_prefix('\n').unwrap_or(input);
    let (plan, diagnostics) = workload::plan(input, overrides);
    let shown = render(input, &diagnostics);
    assert_eq!(shown, expected.trim_matches('\n'), "{input}");
    let sound = diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Warning);
    assert_eq!(plan.is_some(), sound, "{input}");
}

/// Renders all diagnostics as text.
fn render(input: &str, diagnostics: &[Diagnostic]) -> String {
    let source = SourceText { name: "mail.ini".into(), text: input.into() };
    let shown: Vec<String> =
        diagnostics.iter().map(|diagnostic| diagnostic.render(&source, false)).collect();
    shown.join("\n\n")
}

/// Returns the plan of a file without errors.
fn plan(input: &str) -> Plan {
    plan_with(&Overrides::default(), input)
}

/// Returns the plan of a file without errors, with options of the command line.
fn plan_with(overrides: &Overrides, input: &str) -> Plan {
    let (plan, diagnostics) = workload::plan_in(input, overrides, &files());
    plan.unwrap_or_else(|| panic!("{}", render(input, &diagnostics)))
}
