//! Starting and ending servers of any kind.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::Nanos;
use rustix::process::Signal;

use crate::Problem;
use crate::folder::{Folder, random_hex};
use crate::process::{Process, redirect_output, tail};

/// Maximum time until a server is ready.
const LONGEST_START: Nanos = Nanos::from_secs(120);

/// Maximum time for a server to end before it is killed.
const LONGEST_STOP: Nanos = Nanos::from_secs(30);

/// Maximum number of ports tried: a free port may be taken before the server binds it.
const MOST_PORT_TRIES: usize = 5;

/// Range of ports, below those that Linux assigns to outgoing connections. A server that is stopped
/// for a while can therefore get its port back.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// A signal that ends a server.
pub(crate) struct StopSignal {
    pub(crate) signal: Signal,
    /// Name of the signal for setpriv(1) and kill(1).
    pub(crate) name: &'static str,
}

impl StopSignal {
    /// Ends a process with this signal; kills it if it does not end in time.
    pub(crate) fn stop(&self, mut process: Process, folder: &mut Folder) {
        process.thaw();
        process.signal(self.signal);
        if process.wait(LONGEST_STOP).is_none() {
            process.kill();
        }
        folder.unregister_process(process.pid());
    }
}

/// The parameters for starting a server.
pub(crate) struct Launch {
    /// Name of the program, for messages.
    pub(crate) name: &'static str,
    /// Signal that ends the server if this process is gone.
    pub(crate) stop_signal: StopSignal,
    /// Path of the server's log.
    pub(crate) log: PathBuf,
}

impl Launch {
    /// Starts a server and waits until it is ready. `is_ready` gets the server's process id, and
    /// the part of its log that was written since the start.
    pub(crate) fn run(
        &self,
        mut command: Command,
        folder: &mut Folder,
        mut is_ready: impl FnMut(u32, &str) -> bool,
    ) -> Result<Process, Problem> {
        let before = std::fs::metadata(&self.log).map_or(0, |data| data.len());
        redirect_output(&mut command, &self.log)?;
        let failed = format!("start {}", self.name);
        let mut process = Process::start(command).map_err(Problem::system(failed))?;
        let pid = process.pid();
        folder.register_process(pid, self.stop_signal.name);
        let is_ready = || is_ready(pid, &log_after(&self.log, before));
        let outcome = process.wait_until_ready(LONGEST_START, is_ready);
        let Err(has_ended) = outcome else { return Ok(process) };
        process.kill();
        folder.unregister_process(pid);
        let (program, output) = (self.name.to_owned(), tail(&log_after(&self.log, before)));
        Err(match has_ended {
            true => Problem::Ended { program, output },
            false => Problem::Slow { program, limit: LONGEST_START, output },
        })
    }
}

/// Returns the text of a log after its first `before` bytes.
fn log_after(log: &Path, before: u64) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let new = bytes.get(usize::try_from(before).unwrap_or(usize::MAX)..).unwrap_or_default();
    String::from_utf8_lossy(new).into_owned()
}

/// Calls `start` with a free port, and again with another one if the port was taken in the
/// meantime; at most five times in all.
pub(crate) fn with_a_free_port<T>(
    mut start: impl FnMut(u16) -> Result<T, Problem>,
) -> Result<T, Problem> {
    for _ in 1..MOST_PORT_TRIES {
        match start(free_port()?) {
            Err(problem) if problem.is_port_taken() => {}
            outcome => return outcome,
        }
    }
    start(free_port()?)
}

/// Returns a free port of 127.0.0.1.
fn free_port() -> Result<u16, Problem> {
    for _ in 0..1_000 {
        let random = u16::from_str_radix(&random_hex(2)?, 16).unwrap_or_default();
        let port = PORTS.start + random % (PORTS.end - PORTS.start);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    let (first, last) = (PORTS.start, PORTS.end - 1);
    Err(Problem::refused(format!("no port of 127.0.0.1 from {first} to {last} is free")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_port_is_tried_if_one_was_taken_in_the_meantime() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let taken = taken.local_addr().unwrap().port();
        let bind =
            |port| TcpListener::bind(("127.0.0.1", port)).map_err(Problem::system("bind a port"));
        let mut tried = 0;
        let bound = with_a_free_port(|port| {
            tried += 1;
            bind(if tried == 1 { taken } else { port })
        });
        assert!(bound.is_ok(), "{bound:?}");
        assert_eq!(tried, 2);
    }
}
