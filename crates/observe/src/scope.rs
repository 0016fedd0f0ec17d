//! The processes and sockets that a watch observes.

use std::path::PathBuf;

use base::Nanos;

/// Default time between two samples of a source.
pub const PERIOD: Nanos = Nanos::from_secs(1);

/// The subjects of a watch, in addition to the machine on which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Time between two samples of each source.
    pub every: Nanos,
    /// Root process of the process tree that sends the requests; `None` means this process.
    pub generator: Option<u32>,
    /// Locations of the database's processes.
    pub servers: Vec<ServerLocation>,
    /// The user's means to name processes of the database.
    pub server_option: ServerOption,
    /// Locations of the databases of further targets, which are not observed.
    pub other_targets: Vec<ServerLocation>,
}

/// The user's means to name processes of the database by their process ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOption {
    /// The key `pid` in the section `[observe]` of a workload file.
    Key,
    /// The option `--server` of `assay observe`.
    Argument,
    /// None: an `assay` on another machine chooses the processes by their port.
    None,
}

/// Location of the database's processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLocation {
    /// A process that listens on this TCP port.
    Port(u16),
    /// A server on another machine that listens on this port. On this machine, there are only the
    /// sockets that are connected to it.
    Elsewhere(u16),
    /// A process that listens on this Unix socket.
    Socket(PathBuf),
    /// The process with this id.
    Process(u32),
    /// Threads of the generator's own process whose names begin with this prefix.
    Threads(&'static str),
}

impl Default for Scope {
    fn default() -> Scope {
        Scope {
            every: PERIOD,
            generator: None,
            servers: Vec::new(),
            server_option: ServerOption::Key,
            other_targets: Vec::new(),
        }
    }
}
