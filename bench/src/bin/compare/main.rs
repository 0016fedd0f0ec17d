//! What does a request cost the client, beside other load generators?
//!
//! `compare` runs every load generator in turn against the same servers, table and statement,
//! round by round, so that a machine whose speed drifts drifts for all of them alike.
//! `syscalls`, `instructions`, `open`, `memory` and `load` are further measures. Each prints its
//! table; `--write` also puts it into `docs/performance.md` and the raw numbers into
//! `bench/results/`. `goals` measures nothing: it says which goals the results that are kept meet.
//!
//! One program runs at a time. Its processor time is what the kernel counts for children that have
//! ended, all threads together; its memory is the peak that `/proc` tells while it runs. Connecting
//! and preparing are taken off: right before each run the program also runs for one request per
//! connection, and what counts is the difference, in processor time, in requests and in seconds.

mod cells;
mod child;
mod counts;
mod figures;
mod goals;
mod load;
mod machine;
mod memory;
mod open;
mod options;
mod parse;
mod publish;
mod rounds;
mod runners;
mod servers;
mod tables;

use std::fmt;
use std::process::ExitCode;

use crate::options::{Measure, Options};
use crate::servers::Servers;

/// Why something cannot be measured, for people.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Options::parse(&arguments).and_then(|options| measure(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(format!("compare: {failure}"));
            ExitCode::from(2)
        }
    }
}

fn measure(options: &Options) -> Result<(), Failure> {
    match options.measure {
        Measure::Rounds => rounds::measure(options, &Servers::real(options)?),
        Measure::Syscalls => counts::syscalls(options, &Servers::real(options)?),
        Measure::Instructions => counts::instructions(options, &Servers::real(options)?),
        Measure::Open => open::measure(options, &Servers::simulated(options)?),
        Measure::Memory => memory::measure(options, &Servers::real(options)?),
        Measure::Load => load::measure(options, &Servers::real(options)?),
        Measure::Goals => goals::measure(options),
    }
}

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "this is the program's one way to speak")]
fn say(line: impl fmt::Display) {
    println!("{line}");
}

/// Prints a line about the work.
#[expect(clippy::print_stderr, reason = "this is the program's one way to complain")]
fn complain(line: impl fmt::Display) {
    eprintln!("{line}");
}
