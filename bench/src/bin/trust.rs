//! Can the judgements be trusted? Prints the tables of the guide: false alarms, faults that are
//! noticed, and intervals that hold the truth.
//!
//! `trust [RUNS]` makes about so many valid runs in virtual time, 1,000 unless it is told
//! otherwise, and others in proportion. It fails if a table is worse than the guide allows.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use bench::trust::alarms::{Alarms, SHAPES, alarms};
use bench::trust::coverage::coverage;
use bench::trust::sensitivity::sensitivity;

/// Of a thousand runs, how many a check may object to, and how many may be objected to at all.
const BY_CHECK: u64 = 6;
const AT_ALL: u64 = 50;

/// For how many valid runs one is made with each fault, and one for each interval.
const FAULTY: u64 = 10;
const COVERED: u64 = 3;

/// How many requests a run has whose intervals are looked at, of 300 runs; never fewer than make a
/// p99.
const REQUESTS: u64 = 400_000;

fn main() -> ExitCode {
    match tables() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "trust: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables() -> Result<bool, Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(1_000), |runs| runs.parse())?;
    let mut out = std::io::stdout().lock();
    let silent = write_alarms(&mut out, runs)?;
    let sharp = write_sensitivity(&mut out, runs.div_ceil(FAULTY))?;
    // 1,000 valid runs stand beside 300 of these.
    let covered = write_coverage(&mut out, (runs * 9 / 10).div_ceil(COVERED).max(1))?;
    Ok(silent && sharp && covered)
}

fn write_alarms(out: &mut impl Write, wanted: u64) -> Result<bool, Box<dyn Error>> {
    let Alarms { runs, flagged, by_check, objections } =
        alarms(wanted.div_ceil(SHAPES.len() as u64))?;
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

fn write_sensitivity(out: &mut impl Write, runs: u64) -> Result<bool, Box<dyn Error>> {
    let found = sensitivity(runs)?;
    writeln!(out, "\n| fault | noticed in {runs} runs | by |\n| --- | --: | --- |")?;
    for it in &found {
        let by: Vec<String> = it.by.iter().map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(out, "| {} | {} | {} |", it.fault, it.noticed, by.join(", "))?;
    }
    Ok(found.iter().all(|it| it.is_good()))
}

fn write_coverage(out: &mut impl Write, runs: u64) -> Result<bool, Box<dyn Error>> {
    let found = coverage(runs, REQUESTS)?;
    writeln!(out, "\n| system | quantile | intervals in {runs} runs | hold the truth |")?;
    writeln!(out, "| --- | --- | --: | --: |")?;
    for it in &found {
        let (given, percent) = (it.given, it.percent());
        writeln!(out, "| {} | {} | {given} | {percent:.1} % |", it.system, it.quantile)?;
    }
    Ok(found.iter().all(|it| it.is_good()))
}
