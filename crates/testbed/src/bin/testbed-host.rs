//! Hosts a private server for as long as its input is open.
//!
//! `testbed-host testbed:postgres` starts what the URL asks for, and prints one line: the URL by
//! which it is reached, without the password, the number of the server's first process, and the
//! path of its folder. It ends when its input does.

use std::io::{Read, Write};
use std::process::ExitCode;

use base::Target;

fn main() -> ExitCode {
    match host(&std::env::args().nth(1).unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            let _ = writeln!(std::io::stderr(), "testbed-host: {words}");
            ExitCode::FAILURE
        }
    }
}

fn host(url: &str) -> Result<(), String> {
    let target = Target::parse(url).map_err(|error| error.to_string())?;
    let (server, reached) = testbed::start(&target).map_err(|problem| problem.to_string())?;
    let (pid, folder) = (server.pid().unwrap_or_default(), server.folder().display());
    let mut out = std::io::stdout();
    let said = writeln!(out, "{reached} {pid} {folder}").and_then(|()| out.flush());
    let mut input = Vec::new();
    let heard = std::io::stdin().read_to_end(&mut input);
    said.and(heard).map(drop).map_err(|error| error.to_string())
}
