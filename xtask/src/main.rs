//! Checks and generators of the source tree.
//!
//! `cargo run -p xtask --` takes one of these commands:
//!
//! * `tidy` checks the dependencies between crates and the house style.
//! * `gate` checks the size, the instructions per request and the memory of the release build.
//! * `docs` writes the parts of the guide that are generated from tables.
//! * `test COMMAND` runs the tests, and the command alongside them.
//!
//! All but `docs` are part of `make test`.

mod docs;
mod gate;
mod suite;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::check(&root()),
        ["gate"] => gate::check(&root()),
        ["docs"] => docs::write(&root()),
        ["test", beside @ ..] => suite::run(&root(), beside),
        _ => Err(vec!["usage: cargo run -p xtask -- tidy|gate|docs|test [COMMAND]".to_owned()]),
    };
    match outcome {
        Ok(summary) => {
            print_to_stderr(&summary);
            ExitCode::SUCCESS
        }
        Err(complaints) => {
            complaints.iter().for_each(|complaint| print_to_stderr(complaint));
            ExitCode::FAILURE
        }
    }
}

/// Returns the root of the checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

#[expect(clippy::print_stderr, reason = "the only function that prints to standard error")]
fn print_to_stderr(line: &str) {
    eprintln!("{line}");
}
