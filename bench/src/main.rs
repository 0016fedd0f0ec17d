//! Measures the cost of Assay itself.
//!
//! `make bench` runs every measure in interleaved rounds and prints medians with their spread, with
//! the machine and the commit; the program `values` does the same for the generated values.
//!
//! * `bench gate CASE N` runs one case with a fixed number of requests, to count its instructions.
//! * `bench gate merge-run N` moves a run N times into the record of an experiment, and
//!   `bench gate check-jobs N` checks a file of N jobs, for the same purpose.
//! * `bench host URL PROTOCOL [PROCESSOR]` is the simulated server of other cases and programs.
//! * `memory`, `replay`, `check` and `input` measure memory, and `merge` measures the time to move
//!   a run into the record of an experiment.

mod cases;
mod merge;
mod output;
mod rounds;

use std::error::Error;
use std::process::ExitCode;

use base::Target;
use testbed::wire_server::{self, Simulation};

use crate::cases::{Case, GATES};
use crate::output::print_line;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => rounds::measure(5),
        ["rounds", count] => match count.parse() {
            Ok(count) => rounds::measure(count),
            Err(_) => return usage(),
        },
        ["gate", "merge-run", runs] => match runs.parse() {
            Ok(runs) => drop(merge::times(runs)),
            Err(_) => return usage(),
        },
        ["gate", "check-jobs", jobs] => match jobs.parse() {
            Ok(jobs) => rounds::check_jobs(jobs),
            Err(_) => return usage(),
        },
        ["gate", case, requests] => match (gate(case), requests.parse()) {
            (Some(case), Ok(requests)) => drop(case.run(requests)),
            _ => return usage(),
        },
        ["host", url, words @ ..] => match host(url, words) {
            Ok(()) => {}
            Err(error) => {
                print_line(format!("bench: {error}"));
                return ExitCode::FAILURE;
            }
        },
        ["memory", requests] => match requests.parse() {
            Ok(requests) => cases::memory(requests),
            Err(_) => return usage(),
        },
        ["replay", lines] => match lines.parse() {
            Ok(lines) => cases::replay(lines),
            Err(_) => return usage(),
        },
        ["check", path] => cases::check(path),
        ["input"] => rounds::input(),
        ["merge"] => merge::print(),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn gate(name: &str) -> Option<Case> {
    GATES.into_iter().find(|(known, _)| *known == name).map(|(_, case)| case)
}

/// Runs a simulated server until standard input is closed.
fn host(url: &str, words: &[&str]) -> Result<(), Box<dyn Error>> {
    let simulation = Simulation::parse(&Target::parse(url)?, words)?;
    Ok(wire_server::serve_until_input_ends(&simulation)?)
}

fn usage() -> ExitCode {
    print_line("usage: bench [rounds N | gate CASE REQUESTS | gate merge-run RUNS |");
    print_line("              gate check-jobs JOBS | memory REQUESTS | replay LINES |");
    print_line("              check FILE | input | merge | host URL postgres|mariadb [PROCESSOR]]");
    ExitCode::from(2)
}
