//! A simulated server that speaks a database's protocol. It runs in a process of its own: its
//! instructions and its time do not count as the client's.

use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A process that runs a simulated server until its standard input is closed.
#[derive(Debug)]
pub struct SimulatedServer {
    child: Child,
    /// The host on which it listens.
    pub host: String,
    /// The port on which it listens.
    pub port: u16,
}

impl SimulatedServer {
    /// Starts the server of a `sim:` URL with the protocol of `postgres` or `mariadb`, bound to the
    /// last processor.
    ///
    /// # Errors
    /// Fails if the program is not built or does not print its address.
    pub fn start(url: &str, kind: &str) -> io::Result<SimulatedServer> {
        let program = std::env::current_exe()?.with_file_name("bench");
        let mut command = Command::new(&program);
        command.args(["host", url, kind, &last_processor()?.to_string()]);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let child = child.map_err(|error| {
            let program = program.display();
            io::Error::other(format!("{program}: {error}: cargo build --profile dist -p bench"))
        })?;
        let mut server = SimulatedServer { child, host: String::new(), port: 0 };
        let mut line = String::new();
        if let Some(out) = &mut server.child.stdout {
            BufReader::new(out).read_line(&mut line)?;
        }
        let place = line
            .trim()
            .rsplit_once(':')
            .and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
        let silent = || io::Error::other("the simulated server does not say where it listens");
        (server.host, server.port) = place.ok_or_else(silent)?;
        Ok(server)
    }
}

/// Returns the processor that the server is bound to: the last one, to leave the first to the
/// client.
fn last_processor() -> io::Result<usize> {
    Ok(rt::processors()?.last().copied().unwrap_or(0))
}

impl Drop for SimulatedServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // The server ends when its input is closed.
        let _ = self.child.wait();
    }
}
