//! The path to a server, and the limits that the machine sets for connections.
//!
//! [`read`] resolves the server's name and asks the system for the address of this machine from
//! which packets to the server would leave. If there is a network in between, it times a few
//! connects. It times no connect over loopback or a Unix socket, because a connect would only
//! disturb the server.

use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use base::{Clock, Endpoint, HostPort, Monotonic, Nanos, Stamp, Target, TargetKind};
use record::environment::{NONE, NetworkPath, UNKNOWN, host, network};

use super::fact::Fact;
use super::root::Root;
use crate::scope::ServerLocation;

/// Maximum number of connects to one server that are timed; the result is their median.
const CONNECT_COUNT: usize = 5;

/// Time limit for one connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Time, from the first connect to a target on, in which several connects to one server are timed.
/// After it, each remaining server is timed with a single connect.
const REPEATED_CONNECTS_TIMEOUT: Nanos = Nanos::from_secs(2);

/// Time, from the first connect to a target on, after which no further connect begins. The
/// remaining servers are not timed.
const ALL_CONNECTS_TIMEOUT: Nanos = Nanos::from_secs(4);

/// Maximum number of servers of a target that are measured.
const MAX_MEASURED_SERVERS: usize = 16;

pub(super) fn facts(root: &Root) -> [Fact; 3] {
    let sysctl = |name: &str| root.line(&format!("proc/sys/net/{name}"));
    [
        (host::PORTS_EPHEMERAL, sysctl("ipv4/ip_local_port_range").as_deref().and_then(ports)),
        (host::TCP_CONGESTION_CONTROL, sysctl("ipv4/tcp_congestion_control")),
        (host::TCP_REUSE_WAITING_PORTS, sysctl("ipv4/tcp_tw_reuse")),
    ]
}

/// Parses the range of local ports for outgoing connections: the first and the last port.
fn ports(line: &str) -> Option<String> {
    let mut words = line.split_whitespace().map(str::parse::<u16>);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(first)), Some(Ok(last)), None) => Some(format!("{first}-{last}")),
        (_, _, _) => None,
    }
}

/// Reads the path to a target: [`network::PATH`] and [`network::ROUND_TRIP`]. Each has a value for
/// every PostgreSQL or MySQL server of the target, up to 16 servers, in the order of the URL. Empty
/// for a target without such servers.
pub fn read(target: &Target) -> Vec<(String, String)> {
    let Some(port) = default_port(target.kind) else { return Vec::new() };
    let Endpoint::Network { addresses, .. } = &target.endpoint else { return Vec::new() };
    let measured_paths = match target.option("socket") {
        Some(_) => vec![MeasuredPath::SOCKET],
        None => {
            let begun = Monotonic.now();
            let limited = addresses.iter().take(MAX_MEASURED_SERVERS);
            limited.map(|address| measure_path(address, port, begun)).collect()
        }
    };
    let list = |value: fn(&MeasuredPath) -> String| {
        measured_paths.iter().map(value).collect::<Vec<_>>().join(", ")
    };
    vec![
        (network::PATH.to_owned(), list(|measured| measured.path.name().to_owned())),
        (network::ROUND_TRIP.to_owned(), list(MeasuredPath::round_trip)),
    ]
}

/// Returns the locations of a target's PostgreSQL or MySQL servers, up to 16 servers; empty for a
/// target without such servers.
pub fn server_locations(target: &Target) -> Vec<ServerLocation> {
    let Some(default_port) = default_port(target.kind) else { return Vec::new() };
    let Endpoint::Network { addresses, .. } = &target.endpoint else { return Vec::new() };
    if let Some(socket) = target.option("socket") {
        return vec![ServerLocation::Socket(socket.into())];
    }
    let place = |address: &HostPort| {
        let port = address.port.unwrap_or(default_port);
        match resolve_path(address, port).0.is_here() {
            true => ServerLocation::Port(port),
            false => ServerLocation::Elsewhere(port),
        }
    };
    addresses.iter().take(MAX_MEASURED_SERVERS).map(place).collect()
}

/// Returns the default port of a server, which is used if the URL names none.
fn default_port(kind: TargetKind) -> Option<u16> {
    match kind {
        TargetKind::Postgres => Some(5_432),
        TargetKind::Mysql => Some(3_306),
        TargetKind::Sqlite | TargetKind::Sim | TargetKind::Testbed => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MeasuredPath {
    path: NetworkPath,
    /// Median of the connect times.
    connect: Option<Nanos>,
}

impl MeasuredPath {
    const SOCKET: MeasuredPath = MeasuredPath { path: NetworkPath::Socket, connect: None };

    fn round_trip(&self) -> String {
        match (self.path, self.connect) {
            (NetworkPath::Socket | NetworkPath::Loopback | NetworkPath::SameHost, _) => {
                NONE.to_owned()
            }
            (NetworkPath::RemoteV4 | NetworkPath::RemoteV6 | NetworkPath::Unknown, None) => {
                UNKNOWN.to_owned()
            }
            (
                NetworkPath::RemoteV4 | NetworkPath::RemoteV6 | NetworkPath::Unknown,
                Some(connect),
            ) => (connect.0 / 1_000).to_string(),
        }
    }
}

fn measure_path(address: &HostPort, default_port: u16, begun: Stamp) -> MeasuredPath {
    let (path, server) = resolve_path(address, address.port.unwrap_or(default_port));
    let server = server.filter(|_| !path.is_here());
    MeasuredPath { path, connect: server.and_then(|server| connect_time(server, begun)) }
}

/// Returns the path to a server, and the server's address if its name could be resolved.
fn resolve_path(address: &HostPort, port: u16) -> (NetworkPath, Option<SocketAddr>) {
    let place = (address.host.as_str(), port);
    let resolved = place.to_socket_addrs().ok().and_then(|mut found| found.next());
    match resolved {
        Some(server) => (NetworkPath::between(local_address(server), server.ip()), Some(server)),
        None => (NetworkPath::Unknown, None),
    }
}

/// Returns the address from which packets to a server would leave. Connecting a datagram socket
/// selects the address without sending anything.
fn local_address(server: SocketAddr) -> Option<IpAddr> {
    let any = match server {
        SocketAddr::V4(_) => "0.0.0.0:0",
        SocketAddr::V6(_) => "[::]:0",
    };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(server).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

/// Returns the median of a few connect times, each of which is one round trip; `None` if a connect
/// fails, or if there is no time left for one. `begun` is the time of the first connect to the
/// target.
fn connect_time(server: SocketAddr, begun: Stamp) -> Option<Nanos> {
    let mut times = Vec::with_capacity(CONNECT_COUNT);
    while times.len() < CONNECT_COUNT {
        let limit = if times.is_empty() { ALL_CONNECTS_TIMEOUT } else { REPEATED_CONNECTS_TIMEOUT };
        let now = Monotonic.now();
        if now >= begun + limit {
            break;
        }
        TcpStream::connect_timeout(&server, CONNECT_TIMEOUT).ok()?;
        times.push(Monotonic.now().since(now));
    }
    times.sort();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    fn facts_of(url: &str) -> [String; 2] {
        let facts = read(&Target::parse(url).unwrap());
        let names: Vec<&str> = facts.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, [network::PATH, network::ROUND_TRIP], "{url}");
        [facts[0].1.clone(), facts[1].1.clone()]
    }

    #[test]
    fn a_server_of_this_machine_has_no_network_before_it() {
        assert_eq!(facts_of("postgres://127.0.0.1:1/d"), ["loopback", "none"]);
        assert_eq!(facts_of("mysql://[::1]:1/d"), ["loopback", "none"]);
        assert_eq!(facts_of("mysql://db1/d?socket=/run/s"), ["socket", "none"]);
        let both = facts_of("postgres://127.0.0.1,127.0.0.2/d");
        assert_eq!(both, ["loopback, loopback", "none, none"]);
    }

    #[test]
    fn server_processes_are_searched_at_its_listening_socket() {
        let found = |url: &str| server_locations(&Target::parse(url).unwrap());
        assert_eq!(found("postgres://127.0.0.1/d"), [ServerLocation::Port(5_432)]);
        assert_eq!(found("mysql://[::1]:33/d"), [ServerLocation::Port(33)]);
        let socket = ServerLocation::Socket("/run/s".into());
        assert_eq!(found("mysql://h/d?socket=/run/s"), [socket]);
        assert_eq!(found("mysql://192.0.2.1/d"), [ServerLocation::Elsewhere(3_306)]);
        assert_eq!(found("sqlite:a.db"), []);
    }

    #[test]
    fn targets_without_a_server_have_no_network_path() {
        for url in ["sqlite:a.db", "sqlite:", "sim:mm1", "testbed:postgres"] {
            assert_eq!(read(&Target::parse(url).unwrap()), [], "{url}");
        }
    }

    #[test]
    fn connect_time_is_measured_or_unknown() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        assert!(connect_time(server, Stamp::NEVER).is_some_and(|time| time > Nanos::ZERO));
        // The time for connects is over.
        assert_eq!(connect_time(server, Stamp::ZERO), None);
        drop(listener);
        assert_eq!(connect_time(server, Stamp::NEVER), None);
        let unknown = MeasuredPath { path: NetworkPath::RemoteV6, connect: None };
        assert_eq!(unknown.round_trip(), UNKNOWN);
        let known =
            MeasuredPath { path: NetworkPath::RemoteV4, connect: Some(Nanos::from_micros(250)) };
        assert_eq!(known.round_trip(), "250");
    }

    #[test]
    fn the_range_of_ports_is_two_numbers() {
        assert_eq!(ports("32768\t60999").as_deref(), Some("32768-60999"));
        for odd in ["", "1", "1 2 3", "a b", "1 65536"] {
            assert_eq!(ports(odd), None, "{odd}");
        }
        let planted = TestRoot::new().with("proc/sys/net/ipv4/ip_local_port_range", "1024 65535\n");
        assert_eq!(facts(&planted.root)[0].1.as_deref(), Some("1024-65535"));
    }
}
