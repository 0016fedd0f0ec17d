//! A program that hosts a server for as long as its input is open.
//!
//! `testbed-host testbed:postgres` starts the server of the URL, and prints one line: the URL to
//! connect to (without the password), the id of the server's first process, and the path of its
//! folder.
//!
//! `testbed-host sim:null postgres` (or `mariadb`) serves a simulation with the protocol of that
//! database, and prints the address. With a third argument, the number of a processor, the server
//! is bound to that processor.

use std::io::{Read, Write};
use std::process::ExitCode;

use base::{Target, TargetKind};
use testbed::wire_server::{self, Simulation};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match host(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "testbed-host: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn host(arguments: &[&str]) -> Result<(), String> {
    let [url, rest @ ..] = arguments else {
        return Err("expected a `testbed:` or `sim:` URL".to_owned());
    };
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    match target.kind {
        TargetKind::Sim => simulate(&target, rest),
        TargetKind::Testbed | TargetKind::Sqlite | TargetKind::Postgres | TargetKind::Mysql => {
            start(&target)
        }
    }
}

/// Hosts the private server of a `testbed:` URL. For a URL of any other kind, returns the error
/// with which the testbed refuses it.
fn start(target: &Target) -> Result<(), String> {
    let (server, reached) = testbed::start(target).map_err(|problem| problem.to_string())?;
    let (pid, folder) = (server.pid().unwrap_or_default(), server.folder().display());
    print_line(&format!("{reached} {pid} {folder}"))?;
    wait_for_end_of_input()
}

fn simulate(target: &Target, words: &[&str]) -> Result<(), String> {
    let simulation = Simulation::parse(target, words)?;
    wire_server::serve_until_input_ends(&simulation).map_err(|error| error.to_string())
}

fn print_line(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

fn wait_for_end_of_input() -> Result<(), String> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).map(drop).map_err(|error| error.to_string())
}
