//! Counts the false alarms of the checks in valid runs, and prints a table of them.
//!
//! `alarms [RUNS]` makes about so many runs in virtual time, 1,000 unless it is told otherwise. It
//! fails if there are more false alarms than the guide allows.

use std::io::Write as _;
use std::process::ExitCode;

use bench::alarms::{Alarms, SHAPES, alarms};

/// Of a thousand runs, how many a check may object to, and how many may be objected to at all.
const BY_CHECK: u64 = 6;
const AT_ALL: u64 = 50;

fn main() -> ExitCode {
    match count() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "alarms: {error}");
            ExitCode::FAILURE
        }
    }
}

fn count() -> Result<bool, Box<dyn std::error::Error>> {
    let wanted: u64 = std::env::args().nth(1).map_or(Ok(1_000), |runs| runs.parse())?;
    let Alarms { runs, flagged, by_check, objections } =
        alarms(wanted.div_ceil(SHAPES.len() as u64))?;
    let mut out = std::io::stdout().lock();
    for objection in &objections {
        writeln!(out, "{objection}")?;
    }
    writeln!(out, "\n| check | false alarms in {runs} valid runs |\n| --- | --: |")?;
    for (check, count) in &by_check {
        writeln!(out, "| {check} | {count} |")?;
    }
    writeln!(out, "| runs with any | {flagged} |")?;
    let allowed = |of_a_thousand: u64| (of_a_thousand * runs).div_ceil(1_000);
    Ok(flagged <= allowed(AT_ALL) && by_check.values().all(|count| *count <= allowed(BY_CHECK)))
}
