//! The simulated server at the end of a route, in a separate process.
//!
//! In the process of the load generator, the server's thread would count as processor use of the
//! load generator, and every stall of the load generator would also be a stall of the server.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testbed::Kind;
use testbed::wire_server::{Simulation, serve_until_input_ends};

/// The subcommand with which the program starts itself as the simulated server.
pub const WIRE_SERVER_COMMAND: &str = "wire-server";

/// Serves a simulated database that answers at once, in the given protocol (`postgres`, `mariadb`),
/// until standard input ends. Prints the address of the server as the first line of the output.
///
/// # Errors
/// The protocol is unknown, or no port is available.
pub fn serve(protocol: &str) -> io::Result<()> {
    let kind = [Kind::Postgres, Kind::Mariadb].into_iter().find(|kind| kind.name() == protocol);
    let unknown = || io::Error::other(format!("there is no protocol `{protocol}`"));
    serve_until_input_ends(&Simulation::at_once(kind.ok_or_else(unknown)?))
}

/// A simulated server in a child process; dropping it ends the child. The child also ends if this
/// process dies in any way, because the child's standard input is then closed.
pub(super) struct Simulated {
    process: Child,
    pub(super) address: SocketAddr,
}

impl Simulated {
    pub(super) fn start(program: &Path, kind: Kind) -> io::Result<Simulated> {
        let mut command = Command::new(program);
        command.args([WIRE_SERVER_COMMAND, kind.name()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C must reach only the calibrating process, which then ends the server.
        command.process_group(0);
        let mut process = command.spawn()?;
        match address(&mut process) {
            Ok(address) => Ok(Simulated { process, address }),
            Err(error) => {
                end(&mut process);
                Err(error)
            }
        }
    }
}

fn address(process: &mut Child) -> io::Result<SocketAddr> {
    let mut line = String::new();
    if let Some(output) = process.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    let odd = |_| io::Error::other("it does not print its address");
    line.trim().parse().map_err(odd)
}

fn end(process: &mut Child) {
    // The process may already have ended by itself.
    let _ = process.kill();
    let _ = process.wait();
}

impl Drop for Simulated {
    fn drop(&mut self) {
        end(&mut self.process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_that_is_not_a_server_is_reported() {
        let error = Simulated::start(Path::new("/bin/true"), Kind::Postgres).err().unwrap();
        assert_eq!(error.to_string(), "it does not print its address");
        assert!(Simulated::start(Path::new("/no/such/program"), Kind::Postgres).is_err());
    }

    #[test]
    fn an_unknown_protocol_is_refused() {
        assert!(serve("oracle").unwrap_err().to_string().contains("`oracle`"));
    }
}
