//! Names of the settings and facts that a record holds about the surroundings of a run.
//!
//! `observe` reads the facts, `lab` writes them, and `analyze` and `report` look them up; all take
//! their names from here. A fact is a name, such as `host.cpu.governor`, and a value.

use std::net::IpAddr;

/// Value of a fact that cannot be read.
pub const UNKNOWN: &str = "unknown";

/// Value of a fact that does not apply: a limit that is not set, no hypervisor.
pub const NONE: &str = "none";

/// Value of a setting of a server that may hold a secret.
pub const HIDDEN_SETTING: &str = "hidden";

/// Prefix of the settings that name components that could not be observed; their values are the
/// reasons.
pub const MISSING: &str = "observe.missing.";

/// Prefix of the names of facts about this program and its arguments.
pub const ASSAY: &str = "assay.";

/// Name of the fact that holds the label of a run, as given on the command line.
pub const LABEL: &str = "assay.label";

/// Prefix of the names of facts about the configuration of the load generator.
pub const GENERATOR: &str = "generator.";

/// Name of the fact that holds the mean time of a request to the null server, measured just before
/// the run, in nanoseconds.
pub const CANARY: &str = "generator.canary_ns";

/// Name of the fact that holds the time between the end of the previous trial of a capacity search
/// and this one, in nanoseconds.
pub const BEFORE_TRIAL: &str = "generator.before_trial_ns";

/// Prefix of the names of facts about the machine.
pub const HOST: &str = "host.";

/// Prefix of the names of facts about the path to a server.
pub const NETWORK: &str = "network.";

/// Prefix of the names of facts about the load generator's own cost here, as measured by `assay
/// calibrate`.
pub const CALIBRATION: &str = "calibration.";

/// Prefix of the names of facts about a server, after the name of its target if that has one.
pub const DATABASE: &str = "database.";

/// Prefix of the names of the settings of a server that differ from their defaults, after
/// [`DATABASE`].
pub const SETTING: &str = "setting.";

/// Prefix of the names of the facts that hold the defaults of these settings, after [`DATABASE`].
pub const DEFAULT: &str = "default.";

/// Name of the fact that holds the kind of path to the server.
pub const NETWORK_PATH: &str = "network.path";

/// Name of the fact that holds the round trip time to the server.
pub const ROUND_TRIP: &str = "network.round_trip_us";

/// Setting that holds the command of an observed program.
pub const COMMAND: &str = "observe.command";

/// Setting that says how the observed program ended.
pub const COMMAND_ENDED: &str = "observe.command.ended";

/// Returns true if a setting of a record is a fact of the environment, and not one of the settings
/// that every server reports.
pub fn is_environment_fact(name: &str) -> bool {
    [HOST, NETWORK, CALIBRATION].iter().any(|begin| name.starts_with(begin))
        || of_database(name).is_some()
}

/// Returns the name of a fact about a server without [`DATABASE`] and the name of its target.
pub fn of_database(name: &str) -> Option<&str> {
    let of_named = || name.split_once('.')?.1.strip_prefix(DATABASE);
    name.strip_prefix(DATABASE).or_else(of_named)
}

/// Returns the value of a fact by its name; `None` if it is unknown or missing.
pub fn known<'a>(facts: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let (_, value) = facts.iter().find(|(known, _)| known == name)?;
    (value != UNKNOWN).then_some(value.as_str())
}

/// The kind of path between this process and a server: a value of [`NETWORK_PATH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkPath {
    /// A Unix socket of this machine.
    Socket,
    /// The loopback of this machine.
    Loopback,
    /// Another address of this machine.
    SameHost,
    /// An IPv4 network.
    RemoteV4,
    /// An IPv6 network.
    RemoteV6,
    /// Unknown: the server's name has no address.
    Unknown,
}

impl NetworkPath {
    /// All kinds.
    pub const ALL: [NetworkPath; 6] = [
        NetworkPath::Socket,
        NetworkPath::Loopback,
        NetworkPath::SameHost,
        NetworkPath::RemoteV4,
        NetworkPath::RemoteV6,
        NetworkPath::Unknown,
    ];

    /// Returns the name used in records.
    pub fn name(self) -> &'static str {
        match self {
            NetworkPath::Socket => "socket",
            NetworkPath::Loopback => "loopback",
            NetworkPath::SameHost => "same host",
            NetworkPath::RemoteV4 => "remote IPv4",
            NetworkPath::RemoteV6 => "remote IPv6",
            NetworkPath::Unknown => UNKNOWN,
        }
    }

    /// Returns true if the server is on this machine.
    pub fn is_here(self) -> bool {
        match self {
            NetworkPath::Socket | NetworkPath::Loopback | NetworkPath::SameHost => true,
            NetworkPath::RemoteV4 | NetworkPath::RemoteV6 | NetworkPath::Unknown => false,
        }
    }

    /// Returns the path to `server` if packets to it leave from `local`.
    pub fn between(local: Option<IpAddr>, server: IpAddr) -> NetworkPath {
        let server = server.to_canonical();
        match server {
            _ if server.is_loopback() => NetworkPath::Loopback,
            _ if local.map(|local| local.to_canonical()) == Some(server) => NetworkPath::SameHost,
            IpAddr::V4(_) => NetworkPath::RemoteV4,
            IpAddr::V6(_) => NetworkPath::RemoteV6,
        }
    }
}

/// Shares of the processors' time in a period, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorShares {
    /// Share in which processors worked.
    pub busy: f64,
    /// Share stolen by the hypervisor.
    pub stolen: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_depends_on_local_and_remote_address() {
        let check = |local: Option<&str>, server: &str, expected: NetworkPath| {
            let local = local.map(|local| local.parse().unwrap());
            let found = NetworkPath::between(local, server.parse().unwrap());
            assert_eq!(found, expected, "{server}");
        };
        check(None, "127.8.8.8", NetworkPath::Loopback);
        check(Some("10.0.0.1"), "::ffff:127.0.0.1", NetworkPath::Loopback);
        check(Some("10.0.0.1"), "10.0.0.1", NetworkPath::SameHost);
        check(Some("10.0.0.1"), "10.0.0.2", NetworkPath::RemoteV4);
        check(None, "2001:db8::1", NetworkPath::RemoteV6);
    }

    #[test]
    fn settings_of_servers_are_not_facts_of_the_environment() {
        for fact in ["host.kernel", "network.copy.path", "calibration.taken", "a.database.size"] {
            assert!(is_environment_fact(fact), "{fact}");
        }
        for setting in ["fsync", "copy.fsync", "generator.spin", "observe.command"] {
            assert!(!is_environment_fact(setting), "{setting}");
        }
    }
}
