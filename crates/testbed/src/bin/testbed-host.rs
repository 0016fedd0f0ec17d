//! Hosts a server for as long as its input is open.
//!
//! `testbed-host testbed:postgres` starts what the URL asks for, and prints one line: the URL by
//! which it is reached, without the password, the number of the server's first process, and the
//! path of its folder.
//!
//! `testbed-host sim:null postgres` (or `mariadb`) serves a simulation by the protocol of that
//! database, and prints the address. With a third argument it is bound to that processor.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use base::{Endpoint, Target, TargetKind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sim::Config;
use testbed::Kind;
use testbed::wire_server::{Simulation, serve};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match host(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            let _ = writeln!(std::io::stderr(), "testbed-host: {words}");
            ExitCode::FAILURE
        }
    }
}

fn host(arguments: &[String]) -> Result<(), String> {
    let [url, rest @ ..] = arguments else { return Err("which URL?".to_owned()) };
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    match target.kind {
        TargetKind::Sim => simulate(&target, rest),
        TargetKind::Testbed | TargetKind::Sqlite | TargetKind::Postgres | TargetKind::Mysql => {
            start(&target)
        }
    }
}

/// A real server; the testbed itself refuses what is none.
fn start(target: &Target) -> Result<(), String> {
    let (server, reached) = testbed::start(target).map_err(|problem| problem.to_string())?;
    let (pid, folder) = (server.pid().unwrap_or_default(), server.folder().display());
    say(&format!("{reached} {pid} {folder}"))?;
    until_the_input_ends()
}

fn simulate(target: &Target, rest: &[String]) -> Result<(), String> {
    let Endpoint::Named(name) = &target.endpoint else { return Err("sim: what?".to_owned()) };
    let config = Config::from_options(name, &target.options).map_err(|error| error.to_string())?;
    let kind = match rest.first().map(String::as_str) {
        Some("postgres") => Kind::Postgres,
        Some("mariadb") => Kind::Mariadb,
        _ => return Err("by which protocol? postgres or mariadb".to_owned()),
    };
    let cpu = match rest.get(1).map(|text| text.parse()) {
        None => None,
        Some(Ok(cpu)) => Some(cpu),
        Some(Err(_)) => return Err("which processor?".to_owned()),
    };
    let simulation = Simulation { config, cpu, ..Simulation::at_once(kind) };
    let said = |error: std::io::Error| error.to_string();
    allow_many_files();
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(said)?;
    let (end, ended) = UnixStream::pair().map_err(said)?;
    say(&listener.local_addr().map_err(said)?.to_string())?;
    std::thread::spawn(move || {
        let _ = until_the_input_ends();
        drop(end);
    });
    serve(listener, &simulation, ended).map_err(said)
}

/// Raises the limit of open files as far as it may be: each connection is one.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // Whoever may not raise it keeps what he has.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn say(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| error.to_string())
}

fn until_the_input_ends() -> Result<(), String> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).map(drop).map_err(|error| error.to_string())
}
