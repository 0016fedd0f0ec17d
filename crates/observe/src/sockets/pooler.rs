//! A pooler between an observed program and the database: the process that accepts the program's
//! connections and has its own connections to servers.
//!
//! The target's URL may be that of the pooler or that of the database. In both cases, the program's
//! connections lead to a port on this machine on which a process other than a database listens.
//! This process is a pooler if it has connections of its own: to the target or, if the target's
//! port is its own, to any server.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use record::ComponentKind;
use record::metric::pooler;

use super::connection::{Connection, Family, LastTransfer};
use super::limits::{MAX_CONNECTIONS, MAX_PORTS, MAX_UNIX_SOCKETS};
use super::netlink::{Diagnostics, DumpControl};
use super::{tcp, unix};
use crate::environment::Root;
use crate::process::SocketHolder;
use crate::process::proxies::{Listener, listener};
use crate::sample::Sample;
use crate::scope::ServerLocation;

/// Maximum number of samples between two searches. A search reads the open files of many processes.
const LONGEST_PAUSE: u32 = 16;

/// The search for the pooler of an observed program.
#[derive(Debug)]
pub(super) struct PoolerSearch {
    found: Option<Pooler>,
    /// Number of samples until the next search, and number of samples between that search and the
    /// one after it.
    next_search: (u32, u32),
}

/// A pooler, and its connections to servers at the last sample.
#[derive(Debug)]
struct Pooler {
    name: String,
    holder: SocketHolder,
    /// Port at which the pooler accepts connections.
    port: u16,
    /// Ports of the servers to which the pooler connects.
    servers: Vec<u16>,
    now: OutgoingConnections,
}

/// Connections of a process to servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OutgoingConnections {
    /// Remote ports of the connections over TCP.
    ports: Vec<u16>,
    /// Number of connections that wait for an answer; `None` if the kernel does not report it.
    working: Option<usize>,
    /// Number of connections over Unix sockets.
    unix_sockets: usize,
}

/// Connections of the machine at one moment: those over Unix sockets, and those over TCP (all, or
/// those with certain ports).
#[derive(Debug, Default)]
struct MachineSockets {
    tcp: Vec<Connection>,
    unix: Vec<unix::UnixSocket>,
}

/// Returns the locations on this machine to which sockets are connected. Sockets that were accepted
/// at one of the ports are left out. The list is empty if the kernel does not list sockets.
pub(crate) fn servers_behind(sockets: &HashSet<u32>, ports: &[u16]) -> Vec<ServerLocation> {
    let Ok(mut diagnostics) = Diagnostics::open() else { return Vec::new() };
    let read = MachineSockets::read(&mut diagnostics, &Family::ALL, tcp::request_for_all);
    read.map_or_else(|_| Vec::new(), |all| all.servers_behind(sockets, ports))
}

impl PoolerSearch {
    /// Creates a search that has found no pooler yet.
    pub(super) fn new() -> PoolerSearch {
        PoolerSearch { found: None, next_search: (0, 1) }
    }

    /// Returns the port at which the pooler accepts connections, if it was found.
    pub(super) fn port(&self) -> Option<u16> {
        self.found.as_ref().map(|pooler| pooler.port)
    }

    /// Reads the connections of the pooler, or searches for it if a search is due. `held` are the
    /// program's sockets, and `targets` the ports of the target.
    ///
    /// # Errors
    /// The kernel does not list sockets.
    pub(super) fn search_or_read(
        &mut self,
        diagnostics: &mut Diagnostics,
        root: &Root,
        held: &HashSet<u32>,
        targets: &[u16],
    ) -> io::Result<()> {
        if held.is_empty() {
            return Ok(());
        }
        if let Some(pooler) = &mut self.found {
            let sockets = pooler.holder.sockets(root).unwrap_or_default();
            let numbers: Vec<u16> = pooler.servers.iter().copied().take(MAX_PORTS).collect();
            let request = |family| tcp::request(family, &numbers);
            let families = if numbers.is_empty() { &[][..] } else { &Family::ALL };
            let read = MachineSockets::read(diagnostics, families, request)?;
            pooler.now = read.outgoing(&sockets, pooler.port);
            return Ok(());
        }
        let (left, pause) = self.next_search;
        if left > 0 {
            self.next_search.0 = left - 1;
            return Ok(());
        }
        self.next_search = (pause, (pause * 2).min(LONGEST_PAUSE));
        let read = MachineSockets::read(diagnostics, &Family::ALL, tcp::request_for_all)?;
        self.found = read.servers_of(held).into_iter().find_map(|port| {
            let Listener { pid, name } = listener(root, port)?;
            let mut holder = SocketHolder::of(pid);
            let sockets = holder.sockets(root)?;
            let now = read.outgoing(&sockets, port);
            let is_the_target = targets.contains(&port);
            let leads_there = now.ports.iter().any(|port| targets.contains(port))
                || read.is_local_to(&sockets, targets);
            let is_used = now.count() > 0 && (is_the_target || leads_there);
            let mut servers = now.ports.clone();
            servers.sort_unstable();
            servers.dedup();
            is_used.then_some(Pooler { name, holder, port, servers, now })
        });
        Ok(())
    }

    /// Adds the readings of the pooler to a sample.
    pub(super) fn report(&self, sample: &mut Sample) {
        let Some(Pooler { name, now, .. }) = &self.found else { return };
        let kind = ComponentKind::Pooler(name.clone());
        sample.read(&kind, pooler::SESSIONS, now.count() as f64);
        if let Some(working) = now.working.filter(|_| now.unix_sockets == 0) {
            sample.read(&kind, pooler::WORKING, working as f64);
        }
    }
}

impl OutgoingConnections {
    fn count(&self) -> usize {
        self.ports.len() + self.unix_sockets
    }
}

impl MachineSockets {
    fn read(
        diagnostics: &mut Diagnostics,
        families: &[Family],
        request: impl Fn(Family) -> Vec<u8>,
    ) -> io::Result<MachineSockets> {
        let mut read = MachineSockets::default();
        for family in families {
            diagnostics.dump(&request(*family), |message| {
                read.tcp.extend(tcp::parse_connection(message));
                if read.tcp.len() < MAX_CONNECTIONS {
                    DumpControl::Continue
                } else {
                    DumpControl::Stop
                }
            })?;
        }
        diagnostics.dump(&unix::request(), |message| {
            read.unix.extend(unix::parse_socket(message));
            if read.unix.len() < MAX_UNIX_SOCKETS {
                DumpControl::Continue
            } else {
                DumpControl::Stop
            }
        })?;
        Ok(read)
    }

    /// Returns the ports of this machine to which a program is connected, the ones with most
    /// connections first.
    fn servers_of(&self, held: &HashSet<u32>) -> Vec<u16> {
        let ends: HashSet<(SocketAddr, SocketAddr)> =
            self.tcp.iter().map(|it| (it.local, it.remote)).collect();
        let is_here = |it: &&Connection| ends.contains(&(it.remote, it.local));
        let ours = self.tcp.iter().filter(|it| held.contains(&it.inode)).filter(is_here);
        let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
        ours.for_each(|it| *counts.entry(it.remote.port()).or_default() += 1);
        let mut ports: Vec<(u16, usize)> = counts.into_iter().collect();
        ports.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        ports.into_iter().take(MAX_PORTS).map(|(port, _)| port).collect()
    }

    /// Returns the connections to servers among the sockets of a process. Connections that the
    /// process accepted at `port` are left out.
    fn outgoing(&self, sockets: &HashSet<u32>, port: u16) -> OutgoingConnections {
        let is_its = |it: &&Connection| sockets.contains(&it.inode) && it.local.port() != port;
        let tcp: Vec<&Connection> = self.tcp.iter().filter(is_its).collect();
        let awaits = tcp
            .iter()
            .map(|it| Some(usize::from(it.counters.last_transfer()? == LastTransfer::Awaiting)));
        OutgoingConnections {
            working: awaits.sum(),
            ports: tcp.iter().map(|it| it.remote.port()).collect(),
            unix_sockets: self.unix_peer_paths(sockets, is_of_a_database).count(),
        }
    }

    /// Returns, for the connections of a process over Unix sockets, the paths at the other end that
    /// are wanted.
    fn unix_peer_paths(
        &self,
        sockets: &HashSet<u32>,
        is_wanted: impl Fn(&Path) -> bool,
    ) -> impl Iterator<Item = &Path> {
        let paths = self.unix.iter().filter_map(|end| Some((end.inode, end.path.as_deref()?)));
        let paths: HashMap<u32, &Path> = paths.collect();
        self.unix.iter().filter_map(move |end| {
            let is_its = sockets.contains(&end.inode) && !sockets.contains(&end.peer);
            let path = paths.get(&end.peer).copied()?;
            (is_its && is_wanted(path)).then_some(path)
        })
    }

    /// Returns the locations on this machine to which sockets are connected. Sockets that were
    /// accepted at one of the ports are left out.
    fn servers_behind(&self, sockets: &HashSet<u32>, ports: &[u16]) -> Vec<ServerLocation> {
        let ends: HashSet<(SocketAddr, SocketAddr)> =
            self.tcp.iter().map(|it| (it.local, it.remote)).collect();
        let leads_here = |it: &&Connection| {
            let is_accepted = ports.contains(&it.local.port());
            sockets.contains(&it.inode) && !is_accepted && ends.contains(&(it.remote, it.local))
        };
        let remote = self.tcp.iter().filter(leads_here).map(|it| it.remote.port());
        let remote: BTreeSet<u16> = remote.collect();
        let local: BTreeSet<&Path> = self.unix_peer_paths(sockets, is_of_a_database).collect();
        let remote = remote.into_iter().map(ServerLocation::Port);
        let local = local.into_iter().map(|path| ServerLocation::Socket(path.to_owned()));
        remote.chain(local).take(MAX_PORTS).collect()
    }

    /// Returns true if a process is connected to a Unix socket of a server with one of these ports.
    fn is_local_to(&self, sockets: &HashSet<u32>, targets: &[u16]) -> bool {
        let is_wanted = |path: &Path| targets.iter().any(|port| is_of_port(path, *port));
        self.unix_peer_paths(sockets, is_wanted).next().is_some()
    }
}

/// Prefix of the file names of PostgreSQL's sockets. The port follows it.
const POSTGRES: &str = ".s.PGSQL.";

/// Returns true if a path may belong to a socket of PostgreSQL, MySQL or MariaDB. The last two use
/// names such as `mysqld.sock`.
fn is_of_a_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(POSTGRES) || path.extension().is_some_and(|it| it == "sock")
}

/// Returns true if a path belongs to PostgreSQL's socket for a port.
fn is_of_port(path: &Path, port: u16) -> bool {
    path.file_name().is_some_and(|name| *name == *format!("{POSTGRES}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::connection::ConnectionCounters;

    /// Returns a connection between two ports. `since_ms` are the times since data was last sent
    /// and last received, in milliseconds.
    fn connection(inode: u32, ports: [u16; 2], since_ms: [u32; 2]) -> Connection {
        let message = tcp::tests::message(ports[0], ports[1], inode, 0);
        let read = tcp::parse_connection(&message).expect("a connection");
        let [sent, received] = since_ms.map(Some);
        let counters = ConnectionCounters {
            since_sent_ms: sent,
            since_received_ms: received,
            since_acknowledged_ms: received,
            ..ConnectionCounters::default()
        };
        Connection { counters, ..read }
    }

    /// Returns the sockets of a machine on which a program (sockets 1 and 2) uses a pooler (10 to
    /// 12) at port 6432; the pooler's own connection (12) leads to a server (20) at port 5432.
    fn pooled() -> MachineSockets {
        let tcp = vec![
            connection(1, [40_001, 6_432], [5, 90]),
            connection(2, [40_002, 6_432], [5, 90]),
            connection(10, [6_432, 40_001], [90, 5]),
            connection(11, [6_432, 40_002], [90, 5]),
            connection(12, [50_001, 5_432], [4, 80]),
            connection(20, [5_432, 50_001], [80, 4]),
            // A connection to another machine.
            connection(3, [40_003, 443], [5, 90]),
        ];
        MachineSockets { tcp, unix: Vec::new() }
    }

    #[test]
    fn server_connections_of_a_pooler_are_distinguished_from_its_clients() {
        let all = pooled();
        assert_eq!(all.servers_of(&[1, 2, 3].into()), [6_432]);
        let outgoing = all.outgoing(&[10, 11, 12].into(), 6_432);
        assert_eq!(
            outgoing,
            OutgoingConnections { ports: vec![5_432], working: Some(1), unix_sockets: 0 }
        );
        let behind = all.servers_behind(&[10, 11, 12].into(), &[6_432]);
        assert_eq!(behind, [ServerLocation::Port(5_432)]);
        // Of a connection to another machine, only one end is on this machine.
        assert_eq!(all.servers_behind(&[3].into(), &[]), []);
    }

    #[test]
    fn connections_of_a_pooler_over_unix_sockets_are_known_by_their_path() {
        let end = |inode, peer, path: Option<&str>| unix::UnixSocket {
            inode,
            peer,
            path: path.map(Into::into),
            queues: (0, 0),
        };
        let unix = vec![
            end(13, 21, None),
            end(21, 13, Some("/run/.s.PGSQL.5432")),
            end(14, 22, None),
            end(22, 14, Some("/run/systemd/journal/stdout")),
        ];
        let all = MachineSockets { unix, ..MachineSockets::default() };
        let sockets: HashSet<u32> = [13, 14].into();
        assert_eq!(all.outgoing(&sockets, 6_432).count(), 1);
        let behind = all.servers_behind(&sockets, &[6_432]);
        assert_eq!(behind, [ServerLocation::Socket("/run/.s.PGSQL.5432".into())]);
        assert!(all.is_local_to(&sockets, &[5_432]) && !all.is_local_to(&sockets, &[5_433]));
        assert!(is_of_a_database(Path::new("/run/mysqld/mysqld.sock")));
    }

    #[test]
    fn search_for_a_pooler_is_repeated_ever_more_seldom() {
        let mut search = PoolerSearch::new();
        let mut diagnostics = Diagnostics::open().expect("a socket");
        let planted = crate::environment::tests::TestRoot::new();
        let mut searched = Vec::new();
        for round in 0..40 {
            if search.next_search.0 == 0 {
                searched.push(round);
            }
            search
                .search_or_read(&mut diagnostics, &planted.root, &[u32::MAX].into(), &[])
                .expect("an answer");
        }
        assert_eq!(searched, [0, 2, 5, 10, 19, 36]);
        assert_eq!(search.port(), None);
        let mut sample = Sample::default();
        search.report(&mut sample);
        assert_eq!(sample, Sample::default());
    }
}
