//! The facts that are judged before a run.

use base::Nanos;
use record::environment::{NetworkPath, ProcessorShares, known, network};

/// Lateness of short sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lateness {
    /// Number of sleeps.
    pub count: usize,
    /// Lateness that 99 of 100 sleeps did not exceed.
    pub p99: Nanos,
    /// Largest lateness.
    pub max: Nanos,
}

impl Lateness {
    /// Summarises some sleeps; `None` if there are none.
    pub fn of(mut late: Vec<Nanos>) -> Option<Lateness> {
        late.sort();
        let max = *late.last()?;
        let rank = (late.len() * 99).div_ceil(100);
        Some(Lateness { count: late.len(), p99: late[rank.max(1) - 1], max })
    }
}

/// Data that is read before a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoctorInput {
    /// Facts of this machine.
    pub host: Vec<(String, String)>,
    /// Use of the processors while this program was idle.
    pub processors: Option<ProcessorShares>,
    /// Lateness of short sleeps.
    pub timer: Option<Lateness>,
    /// The servers to be measured that were reached.
    pub servers: Vec<Server>,
    /// The servers to be measured that could not be reached.
    pub unreached: Vec<UnreachedServer>,
}

/// Data about a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Host and port of the server; `None` if the target has only one.
    pub host: Option<String>,
    /// Facts about the path to the server; empty if there is none.
    pub network: Vec<(String, String)>,
    /// Settings of the server.
    pub settings: Vec<(String, String)>,
}

/// A server that could not be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreachedServer {
    /// Host and port of the server; `None` if the target has only one.
    pub host: Option<String>,
    /// The reason, without secrets.
    pub reason: String,
}

impl DoctorInput {
    pub(super) fn fact(&self, name: &str) -> Option<&str> {
        known(&self.host, name)
    }

    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.fact(name)?.parse().ok()
    }
}

impl Server {
    /// Returns true if the server is on this machine; `None` if that is unknown.
    pub(super) fn is_here(&self) -> Option<bool> {
        let path = known(&self.network, network::PATH)?;
        let is_here = |name: &str| NetworkPath::ALL.iter().any(|p| p.name() == name && p.is_here());
        Some(path.split(", ").any(is_here))
    }
}
