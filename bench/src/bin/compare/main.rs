//! Compares the client-side cost of a request across load generators.
//!
//! `compare` runs every load generator in turn against the same servers, table and statement, round
//! by round: a drift of the machine's speed then affects all of them alike. `syscalls`,
//! `instructions`, `open`, `memory` and `load` are further measures. Each prints its table;
//! `--write` also puts it into `docs/performance.md` and the raw numbers into `bench/results/`.
//! `goals` measures nothing: it prints which goals the stored results meet.
//!
//! One program runs at a time. Its processor time is the kernel's count for terminated children,
//! over all threads; its memory is the peak in `/proc` while it runs. The cost of connecting and
//! preparing is subtracted: right before each run, the program also runs for one request per
//! connection, and the result is the difference of the two runs in processor time, requests and
//! seconds.

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
mod output;
mod parse;
mod publish;
mod rounds;
mod runner;
mod runners;
mod servers;
mod tables;

use std::process::ExitCode;

use crate::options::{Measure, Options};
use crate::output::{Failure, print_to_stderr};
use crate::servers::Servers;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Options::parse(&arguments).and_then(|options| measure(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            print_to_stderr(format!("compare: {failure}"));
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
        Measure::Goals => return goals::measure(options),
    }?;
    if options.write { goals::refresh() } else { Ok(()) }
}
