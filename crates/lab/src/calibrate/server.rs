//! The simulated server at the end of a way, in a process of its own: in this one its thread would
//! be counted, and paused, together with the load generator.

use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testbed::Kind;
use testbed::wire_server::{Simulation, host};

/// The word with which the program calls itself to be that server.
pub const SERVER: &str = "wire-server";

/// Is the server that answers at once, by the protocol of a database (`postgres`, `mariadb`), until
/// the input ends. Its address is the first line of the output.
///
/// # Errors
/// There is no such protocol, or no port.
pub fn serve(protocol: &str) -> io::Result<()> {
    let kind = [Kind::Postgres, Kind::Mariadb].into_iter().find(|kind| kind.name() == protocol);
    let unknown = || io::Error::other(format!("there is no protocol `{protocol}`"));
    host(&Simulation::at_once(kind.ok_or_else(unknown)?))
}

/// A server that is served by another process. Dropped, it ends; and so it does if this process
/// ends in whichever way, because its input does.
pub(super) struct Simulated {
    process: Child,
    pub(super) address: SocketAddr,
}

impl Simulated {
    pub(super) fn start(program: &Path, kind: Kind) -> io::Result<Simulated> {
        let mut command = Command::new(program);
        command.args([SERVER, kind.name()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A Ctrl-C is for the one who measures, who then ends it.
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
    let odd = |_| io::Error::other("it does not say its address");
    line.trim().parse().map_err(odd)
}

fn end(process: &mut Child) {
    // One that has ended by itself cannot be ended.
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
    fn a_program_that_is_no_server_is_said_so() {
        let error = Simulated::start(Path::new("/bin/true"), Kind::Postgres).err().unwrap();
        assert_eq!(error.to_string(), "it does not say its address");
        assert!(Simulated::start(Path::new("/no/such/program"), Kind::Postgres).is_err());
    }

    #[test]
    fn an_unknown_protocol_is_refused() {
        assert!(serve("oracle").unwrap_err().to_string().contains("`oracle`"));
    }
}
