//! Whom to look at.

use std::path::PathBuf;

use base::Nanos;

/// How often a sample of each source is taken, if nobody says otherwise.
pub const PERIOD: Nanos = Nanos::from_secs(1);

/// The setting of a record that has the command of a program that was watched.
pub const COMMAND: &str = "observe.command";

/// The one that says how it ended.
pub const ENDED: &str = "observe.command.ended";

/// What a watch looks at beside the machine that it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// How often a sample of each source is taken.
    pub every: Nanos,
    /// The process whose tree sends the requests; `None` is this process.
    pub generator: Option<u32>,
    /// Where the database's processes are to be found.
    pub servers: Vec<Whereabouts>,
}

/// Where a process of the database is to be found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    /// It listens on this port of TCP.
    Port(u16),
    /// It is on another machine and listens on this port there: only the sockets to it are here.
    Elsewhere(u16),
    /// It listens on this socket of the file system.
    Socket(PathBuf),
    /// It has this number.
    Process(u32),
    /// It is in the generator's own process, on threads whose names begin so.
    Threads(&'static str),
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { every: PERIOD, generator: None, servers: Vec::new() }
    }
}
