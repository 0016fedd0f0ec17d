//! Mutation tests: no contents of a file may cause a panic.

use base::{Dialect, Draw, Seed, SourceText, Stream, Values, WallTime};
use workload::feed::Group;
use workload::{Generator, JobOrPart, Overrides, RowGenerator};

use crate::corpus::files;

/// Number of mutants per file.
const MUTANTS: u64 = 150;

/// Fragments with a meaning to the parser.
const PIECES: &[&str] = &[
    "${",
    "}",
    "$${",
    "'",
    "\"",
    "`",
    "$$",
    "--",
    "/*",
    "*/",
    ";",
    " ; ",
    "\\",
    "\\\n",
    "\n",
    "\r",
    "[",
    "]",
    "=",
    ",",
    ":",
    "(",
    ")",
    "raw(",
    "uniform(",
    "zipf(",
    "text(",
    "pick(",
    "permute(",
    "1e18",
    "9223372036854775807",
    "-",
    "0",
    "0.0",
    "10ms",
    "1h",
    "k",
    "M",
    "%",
    "é",
    "\u{feff}",
    "\u{0}",
    "[params]",
    "[load t]",
    "[setup]",
    "query = ",
    "let = a: ",
    "rate = ",
    "every = ",
    "slo = p99 < ",
    "rows = ",
    "columns = a: ",
    "think = ",
    "#",
];

#[test]
fn mutated_files_cause_no_panic() {
    for (place, (name, bytes)) in files().into_iter().enumerate() {
        for number in 0..MUTANTS {
            let mut draw = Stream::new(Seed(place as u64), "mutation", &name).draw(number);
            let mut mutant = bytes.clone();
            for _ in 0..=draw.below(4) {
                mutate(&mut mutant, &mut draw);
            }
            answer(&mutant, &name);
        }
    }
}

/// Changes a file at one position.
pub(crate) fn mutate(bytes: &mut Vec<u8>, draw: &mut Draw) {
    let mut place = |bytes: &Vec<u8>| draw.below(bytes.len() as u64 + 1) as usize;
    let (one, other) = (place(bytes), place(bytes));
    let (start, end) = (one.min(other), one.max(other).min(one.min(other) + 40));
    match draw.below(5) {
        0 => drop(bytes.drain(start..end)),
        1 => {
            let copy = bytes[start..end].to_vec();
            bytes.splice(one..one, copy);
        }
        2 => {
            if let Some(byte) = bytes.get_mut(one) {
                *byte ^= 1 << draw.below(8);
            }
        }
        3 => bytes.truncate(one),
        _ => {
            let piece = PIECES[draw.below(PIECES.len() as u64) as usize];
            bytes.splice(one..one, piece.bytes());
        }
    }
}

/// Runs every operation on a file.
fn answer(bytes: &[u8], name: &str) {
    let Ok(text) = workload::decode(bytes) else {
        return;
    };
    let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
    let source = SourceText { name: name.to_owned(), text };
    for diagnostic in &diagnostics {
        let shown = diagnostic.render(&source, false);
        assert!(!shown.is_empty());
    }
    let Some(plan) = plan else {
        return;
    };
    let printed = plan.to_text();
    let again = workload::plan(&printed, &Overrides::default()).0;
    let again = again.unwrap_or_else(|| panic!("{}\n{printed}", source.text));
    assert_eq!(again.as_printed(), plan.as_printed(), "{}\n{printed}", source.text);
    let mut values = Values::new();
    for either in plan.jobs_and_parts() {
        let mut generator = match either {
            JobOrPart::Job(job) => Generator::new(job, WallTime::EPOCH, Dialect::Postgres),
            JobOrPart::Part(_, part) => {
                Generator::of_part(part, WallTime::EPOCH, Dialect::Postgres)
            }
        };
        for number in [0, 1, u64::MAX] {
            values.clear();
            generator.fill(number, Group::NONE, &mut values);
            generator.think(number, 0);
        }
    }
    for load in &plan.loads {
        values.clear();
        RowGenerator::new(load, WallTime::EPOCH).fill(7, &mut values);
    }
}
