//! Connections of an observed program, each seen from both ends at one moment.
//!
//! The two ends show why a database session waits for its client. The next request may be in the
//! server's socket, or the last answer in the program's socket. If both sockets are empty, the
//! program has nothing to send. A session is matched to its connection by the client's address and
//! port, as the server reports them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::connection::Family;
use super::limits::{MAX_CONNECTIONS, MAX_PORTS, MAX_UNIX_SOCKETS};
use super::netlink::{Diagnostics, DumpControl};
use super::{Connection, UNUSED_FAMILY_EVERY, tcp, unix};
use crate::environment::Root;
use crate::process::{SocketHolder, is_same_path};
use crate::scope::{Scope, ServerLocation};

/// Minimum time without data on a connection that counts as a pause, in milliseconds. The kernel's
/// ticks are up to 4 ms apart on most machines, so a time of one tick may in fact be zero.
const SILENCE_MS: u32 = 8;

/// Number of samples after which the program's open files are read again even if it has no new
/// connections.
const OWNERS_READ_EVERY: u32 = 50;

/// Number of samples after which all connections are read again. The kernel searches all of its
/// tables for such a reading.
const FULL_READ_EVERY: u32 = 10;

/// Maximum number of the program's connections that are read one by one, between two readings of
/// all connections.
const MAX_REREAD_CONNECTIONS: usize = 24;

/// The smallest address in the order of addresses.
const UNSPECIFIED_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Number of samples after which all connections are read again while the connection of some
/// session is unknown.
const UNKNOWN_CLIENT_READ_EVERY: u32 = 3;

/// Connections of a program to the servers of a scope.
#[derive(Debug)]
pub(crate) struct SocketPairs {
    ports: Vec<(u16, bool)>,
    paths: Vec<PathBuf>,
    holder: SocketHolder,
    /// The program's sockets; `None` if its open files cannot be read.
    held_sockets: Option<HashSet<u32>>,
    /// Client sockets that existed when the program's open files were last read.
    known_sockets: HashSet<u32>,
    sample_count: u32,
    /// Number of readings of all connections so far.
    full_reads: u32,
    /// Sample at which the program's open files were last read.
    owners_read_at: u32,
    samples_since_full_read: u32,
    used_families: [bool; 2],
    diagnostics: Option<Diagnostics>,
    snapshot: SocketSnapshot,
}

/// The client of a session over TCP, as the server reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionClient {
    /// Address of the client; `None` if the server shows a name instead.
    address: Option<IpAddr>,
    port: u16,
}

/// Addresses of both ends of a TCP connection, ordered by the client's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ConnectionAddresses {
    client_port: u16,
    client: IpAddr,
    server: SocketAddr,
}

/// Owner of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The observed program.
    Program,
    /// Another program, here or on another machine. Also assumed if the connection has ended.
    Others,
    /// The owner is unknown.
    Unknown,
}

/// The places in which data waits on a connection, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitingData {
    /// True if there is a request that the server has not read.
    pub(crate) has_unread_request: bool,
    /// True if there is an answer that the program has not read.
    pub(crate) has_unread_answer: bool,
    /// True if one side has bytes that it has not sent yet.
    pub(crate) has_unsent_bytes: bool,
    /// True if no data has been sent or received for at least [`SILENCE_MS`]; `None` if unknown.
    pub(crate) is_silent: Option<bool>,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SocketEnd {
    /// The TCP connection as this end sees it; `None` for a Unix socket.
    connection: Option<Connection>,
    inode: u32,
    receive_queue: u32,
    send_queue: u32,
    silence_ms: Option<u32>,
}

/// Both ends of a connection; `None` for an end that is not on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SocketPair {
    client: Option<SocketEnd>,
    server: Option<SocketEnd>,
}

/// All connections to the servers of a scope at one moment.
#[derive(Debug, Default)]
pub(crate) struct SocketSnapshot {
    pairs: BTreeMap<ConnectionAddresses, SocketPair>,
    /// True if no session has the address of a client socket, which means that addresses are
    /// translated on the way to the server.
    is_translated: bool,
    /// Connections over Unix sockets, which have no ports.
    unix_pairs: Vec<SocketPair>,
    /// The program's sockets; `None` if unknown.
    held_sockets: Option<HashSet<u32>>,
    /// Client sockets whose owner is known: the observed program, or another program.
    known_sockets: HashSet<u32>,
    /// True if the last reading of all connections was complete.
    is_complete: bool,
    /// True if all connections were read for this sample.
    is_fresh: bool,
}

impl SocketPairs {
    /// Creates the reader for the program of a scope; `None` if no program is observed.
    pub(crate) fn of(scope: &Scope) -> Option<SocketPairs> {
        let mut pairs = SocketPairs {
            ports: Vec::new(),
            paths: Vec::new(),
            holder: SocketHolder::of(scope.generator?),
            held_sockets: None,
            known_sockets: HashSet::new(),
            sample_count: 0,
            full_reads: 0,
            owners_read_at: 0_u32.wrapping_sub(OWNERS_READ_EVERY),
            samples_since_full_read: FULL_READ_EVERY,
            snapshot: SocketSnapshot::default(),
            used_families: [false; 2],
            diagnostics: None,
        };
        for place in &scope.servers {
            match place {
                ServerLocation::Port(port) => pairs.ports.push((*port, true)),
                ServerLocation::Elsewhere(port) => pairs.ports.push((*port, false)),
                ServerLocation::Socket(path) => pairs.paths.push(path.clone()),
                ServerLocation::Process(_) | ServerLocation::Threads(_) => {}
            }
        }
        Some(pairs)
    }

    /// Reads the program's connections, or all connections if such a reading is due. A reading of
    /// all connections is due earlier while the connection of a session is not known. Connections
    /// that cannot be read are left out.
    pub(crate) fn read_snapshot(
        &mut self,
        root: &Root,
        clients: &[SessionClient],
    ) -> &SocketSnapshot {
        self.sample_count = self.sample_count.wrapping_add(1);
        self.samples_since_full_read += 1;
        let is_new = clients.iter().any(|client| self.snapshot.pairs_of(*client).next().is_none());
        let due = if is_new { UNKNOWN_CLIENT_READ_EVERY } else { FULL_READ_EVERY };
        let is_few = self.snapshot.program_pairs().count() <= MAX_REREAD_CONNECTIONS;
        let is_all = self.samples_since_full_read >= due || !is_few || !self.snapshot.is_complete;
        let read = if is_all { self.read_all() } else { self.reread() };
        if read.is_err() {
            // Close the socket; otherwise the rest of this answer would be taken for the next
            // answer.
            self.diagnostics = None;
            self.snapshot = SocketSnapshot::default();
        } else if is_all {
            self.samples_since_full_read = 0;
            self.find_owners(root);
        }
        let is_foreign = |client: &SessionClient| !self.snapshot.has_address_of(*client);
        self.snapshot.is_translated = !clients.is_empty() && clients.iter().all(is_foreign);
        &self.snapshot
    }

    /// Reads the program's open files, if such a reading is due.
    fn find_owners(&mut self, root: &Root) {
        let snapshot = &mut self.snapshot;
        let clients =
            snapshot.pairs.values().chain(&snapshot.unix_pairs).filter_map(|pair| pair.client);
        let clients: HashSet<u32> = clients.map(|end| end.inode).collect();
        let has_new = clients.iter().any(|inode| !self.known_sockets.contains(inode));
        if has_new || self.sample_count.wrapping_sub(self.owners_read_at) >= OWNERS_READ_EVERY {
            self.owners_read_at = self.sample_count;
            self.held_sockets = self.holder.sockets(root);
            self.known_sockets = clients;
        }
        snapshot.held_sockets.clone_from(&self.held_sockets);
        snapshot.known_sockets.clone_from(&self.known_sockets);
    }

    /// Reads the known connections of the program again.
    fn reread(&mut self) -> io::Result<()> {
        let Some(diagnostics) = &mut self.diagnostics else { return Ok(()) };
        let SocketSnapshot { pairs, held_sockets, is_fresh, .. } = &mut self.snapshot;
        *is_fresh = false;
        let is_held = |pair: &SocketPair| is_held(pair, held_sockets.as_ref());
        for pair in pairs.values_mut().filter(|pair| is_held(pair)) {
            for end in [&mut pair.client, &mut pair.server] {
                let Some(connection) = end.and_then(|end| end.connection) else { continue };
                let message = diagnostics.request_one(&tcp::request_for(&connection))?;
                let now = message.and_then(tcp::parse_connection).filter(|it| it.is_established);
                *end = now.as_ref().map(SocketEnd::of);
            }
        }
        if !self.paths.is_empty() {
            self.read_unix_sockets()?;
        }
        Ok(())
    }

    /// Reads all connections of the machine to the servers' ports.
    fn read_all(&mut self) -> io::Result<()> {
        let mut snapshot = SocketSnapshot::default();
        let diagnostics = match &mut self.diagnostics {
            Some(diagnostics) => diagnostics,
            none => none.insert(Diagnostics::open()?),
        };
        let numbers: Vec<u16> = self.ports.iter().map(|(port, _)| *port).take(MAX_PORTS).collect();
        let is_due =
            self.full_reads.is_multiple_of(UNUSED_FAMILY_EVERY) || self.used_families == [false; 2];
        self.full_reads = self.full_reads.wrapping_add(1);
        let families = Family::ALL.into_iter().zip(&mut self.used_families);
        for (family, used) in families.filter(|(_, used)| is_due || **used) {
            if numbers.is_empty() {
                break;
            }
            *used = false;
            diagnostics.dump(&tcp::request(family, &numbers), |message| {
                let Some(connection) = tcp::parse_connection(message) else {
                    return DumpControl::Continue;
                };
                *used = true;
                snapshot.add_connection(&connection, &self.ports);
                if snapshot.pairs.len() < MAX_CONNECTIONS {
                    DumpControl::Continue
                } else {
                    DumpControl::Stop
                }
            })?;
        }
        snapshot.finish();
        self.snapshot = snapshot;
        if !self.paths.is_empty() {
            self.read_unix_sockets()?;
        }
        Ok(())
    }

    /// Reads the connections over Unix sockets.
    fn read_unix_sockets(&mut self) -> io::Result<()> {
        let Some(diagnostics) = &mut self.diagnostics else { return Ok(()) };
        let mut ends = Vec::new();
        diagnostics.dump(&unix::request(), |message| {
            ends.extend(unix::parse_socket(message));
            if ends.len() < MAX_UNIX_SOCKETS { DumpControl::Continue } else { DumpControl::Stop }
        })?;
        let paths = &self.paths;
        let is_server =
            |path: &std::path::Path| paths.iter().any(|server| is_same_path(server, path));
        self.snapshot.add_unix_pairs(&ends, is_server);
        Ok(())
    }
}

/// Returns true if the client's end of a connection is one of these sockets.
fn is_held(pair: &SocketPair, held_sockets: Option<&HashSet<u32>>) -> bool {
    pair.client.zip(held_sockets).is_some_and(|(end, held)| held.contains(&end.inode))
}

impl SessionClient {
    /// Returns the client for the address or name, and the port, that a server reports; `None`
    /// without a port, as over a Unix socket.
    pub(crate) fn from_reported(host: &str, port: &str) -> Option<SessionClient> {
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        Some(SessionClient { address, port: port.parse().ok()? })
    }
}

impl ConnectionAddresses {
    /// Returns the smallest connection, in the order of [`ConnectionAddresses`], with this port and
    /// address of the client.
    fn lower_bound(client_port: u16, client: IpAddr) -> ConnectionAddresses {
        ConnectionAddresses { client_port, client, server: SocketAddr::new(UNSPECIFIED_ADDRESS, 0) }
    }

    /// Returns the addresses of a connection that is seen from the client.
    fn of_client(&Connection { local, remote, .. }: &Connection) -> ConnectionAddresses {
        ConnectionAddresses { client_port: local.port(), client: local.ip(), server: remote }
    }

    /// Returns the addresses of a connection that is seen from the server.
    fn of_server(&Connection { local, remote, .. }: &Connection) -> ConnectionAddresses {
        ConnectionAddresses { client_port: remote.port(), client: remote.ip(), server: local }
    }

    fn has_same_client(&self, other: &ConnectionAddresses) -> bool {
        (self.client_port, self.client) == (other.client_port, other.client)
    }
}

impl SocketEnd {
    fn of(connection: &Connection) -> SocketEnd {
        let Connection { inode, receive_queue, send_queue, counters, .. } = *connection;
        let times = [counters.since_sent_ms, counters.since_received_ms];
        let silence_ms = times.into_iter().flatten().min();
        let connection = Some(*connection);
        SocketEnd { connection, inode, receive_queue, send_queue, silence_ms }
    }
}

impl SocketPair {
    fn waiting(&self) -> WaitingData {
        let ends = || [self.client, self.server].into_iter().flatten();
        // Only the server's end has the time at which the server gave data to its kernel.
        let silence_ms = ends().filter_map(|end| end.silence_ms).min();
        WaitingData {
            has_unread_request: self.server.is_some_and(|end| end.receive_queue > 0),
            has_unread_answer: self.client.is_some_and(|end| end.receive_queue > 0),
            has_unsent_bytes: ends().any(|end| end.send_queue > 0),
            is_silent: silence_ms.map(|ms| ms >= SILENCE_MS),
        }
    }
}

impl SocketSnapshot {
    fn add_connection(&mut self, connection: &Connection, ports: &[(u16, bool)]) {
        let end = Some(SocketEnd::of(connection));
        if ports.contains(&(connection.local.port(), true)) {
            self.pairs.entry(ConnectionAddresses::of_server(connection)).or_default().server = end;
        } else if ports.iter().any(|(port, _)| *port == connection.remote.port()) {
            self.pairs.entry(ConnectionAddresses::of_client(connection)).or_default().client = end;
        }
    }

    /// Ends a reading of all connections.
    fn finish(&mut self) {
        self.is_complete = self.pairs.len() < MAX_CONNECTIONS;
        self.is_fresh = true;
        if self.is_complete {
            self.join_translated();
        }
    }

    /// Joins the two ends of a connection if the client knows the server by a different address
    /// than the server itself does. Such an address, for example that of a service, is translated
    /// on the way. If several of these connections have the same address and port of the client,
    /// they cannot be distinguished.
    fn join_translated(&mut self) {
        let lacks_end = |pair: &SocketPair| pair.client.is_none() || pair.server.is_none();
        let single: Vec<(ConnectionAddresses, SocketPair)> = (self.pairs.iter())
            .filter(|(_, pair)| lacks_end(pair))
            .map(|(ends, pair)| (*ends, *pair))
            .collect();
        for same in single.chunk_by(|(one, _), (other, _)| one.has_same_client(other)) {
            let ([
                (of_client, SocketPair { client: Some(_), .. }),
                (of_server, SocketPair { server: Some(server), .. }),
            ]
            | [
                (of_server, SocketPair { server: Some(server), .. }),
                (of_client, SocketPair { client: Some(_), .. }),
            ]) = same
            else {
                continue;
            };
            self.pairs.remove(of_server);
            self.pairs.entry(*of_client).or_default().server = Some(*server);
        }
    }

    fn add_unix_pairs(
        &mut self,
        ends: &[unix::UnixSocket],
        is_server: impl Fn(&std::path::Path) -> bool,
    ) {
        let end = |end: &unix::UnixSocket| SocketEnd {
            connection: None,
            inode: end.inode,
            receive_queue: end.queues.0,
            // Bytes that were sent and not read are counted at the other end.
            send_queue: 0,
            silence_ms: None,
        };
        let [clients, servers] = unix::split_by_side(ends, is_server);
        let clients: HashMap<u32, SocketEnd> =
            clients.iter().map(|it| (it.inode, end(it))).collect();
        let pairs = servers.iter().map(|server| SocketPair {
            client: clients.get(&server.peer).copied(),
            server: Some(end(server)),
        });
        self.unix_pairs = pairs.collect();
    }

    /// Iterates over the TCP connections of the program.
    fn program_pairs(&self) -> impl Iterator<Item = &SocketPair> {
        self.pairs.values().filter(|pair| is_held(pair, self.held_sockets.as_ref()))
    }

    /// Iterates over the connections that may belong to this client. There may be several if the
    /// server does not show the client's address, or if the client uses the same address and port
    /// for several servers.
    fn pairs_of(&self, client: SessionClient) -> impl Iterator<Item = &SocketPair> {
        let SessionClient { address, port } = client;
        let address = address.filter(|_| !self.is_translated);
        let is_it = move |ends: &ConnectionAddresses| {
            ends.client_port == port && address.is_none_or(|address| ends.client == address)
        };
        let first = ConnectionAddresses::lower_bound(port, address.unwrap_or(UNSPECIFIED_ADDRESS));
        self.pairs.range(first..).take_while(move |(ends, _)| is_it(ends)).map(|(_, pair)| pair)
    }

    /// Returns true if the client of a connection has this client's address and port, or if this
    /// client's address is unknown.
    fn has_address_of(&self, client: SessionClient) -> bool {
        client.address.is_none_or(|address| {
            let first = ConnectionAddresses::lower_bound(client.port, address);
            let next = self.pairs.range(first..).next();
            next.is_some_and(|(it, _)| it.has_same_client(&first))
        })
    }

    /// Returns the owner of this client's connection; a `client` of `None` stands for a Unix
    /// socket.
    pub(crate) fn owner(&self, client: Option<SessionClient>) -> Owner {
        let Some(held_sockets) = &self.held_sockets else { return Owner::Unknown };
        let owner = |pair: &SocketPair| {
            // If the client's end of the connection is not on this machine, neither is the client.
            let Some(end) = pair.client else { return Owner::Others };
            match (held_sockets.contains(&end.inode), self.known_sockets.contains(&end.inode)) {
                (true, _) => Owner::Program,
                (false, true) => Owner::Others,
                (false, false) => Owner::Unknown,
            }
        };
        match client {
            Some(client) => {
                let mut owners = self.pairs_of(client).map(owner).peekable();
                match owners.peek() {
                    Some(_) => common_value(owners).unwrap_or(Owner::Unknown),
                    // The connection has ended, or it connects another machine to a remote server.
                    None if self.is_complete && self.is_fresh => Owner::Others,
                    None => Owner::Unknown,
                }
            }
            None => {
                let mut local = self.unix_pairs.iter();
                if local.any(|pair| is_held(pair, Some(held_sockets))) {
                    Owner::Program
                } else if self.program_pairs().next().is_some() {
                    Owner::Others
                } else {
                    Owner::Unknown
                }
            }
        }
    }

    /// Returns the places in which data waits on the connection of a session; `None` if unknown.
    /// Connections over Unix sockets cannot be matched to sessions, so for them the result is known
    /// only if it is the same for all.
    pub(crate) fn waiting(&self, client: Option<SessionClient>) -> Option<WaitingData> {
        match client {
            Some(client) => common_value(self.pairs_of(client).map(SocketPair::waiting)),
            None => common_value(self.unix_pairs.iter().map(SocketPair::waiting)),
        }
    }
}

/// Returns the value that all items have in common; `None` if items differ, or if there are none.
fn common_value<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|next| next == first).then_some(first)
}

#[cfg(test)]
impl SocketSnapshot {
    /// Returns a snapshot of one connection whose server has this many bytes to read.
    pub(crate) fn with_one_connection(client_port: u16, receive_queue: u32) -> SocketSnapshot {
        let end = |receive_queue| {
            Some(SocketEnd {
                connection: None,
                inode: 1,
                receive_queue,
                send_queue: 0,
                silence_ms: None,
            })
        };
        let pair = SocketPair { client: end(0), server: end(receive_queue) };
        let (held_sockets, known_sockets) = (Some([1].into()), [1].into());
        let client = Ipv4Addr::LOCALHOST.into();
        let ends =
            ConnectionAddresses { client_port, client, server: SocketAddr::new(client, 3_306) };
        SocketSnapshot {
            pairs: [(ends, pair)].into(),
            held_sockets,
            known_sockets,
            ..SocketSnapshot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::sockets::ConnectionCounters;

    impl SessionClient {
        fn of(address: SocketAddr) -> SessionClient {
            SessionClient { address: Some(address.ip()), port: address.port() }
        }
    }

    fn pairs(generator: u32, port: u16) -> SocketPairs {
        let servers = vec![ServerLocation::Port(port)];
        SocketPairs::of(&Scope { generator: Some(generator), servers, ..Scope::default() })
            .expect("a program")
    }

    #[test]
    fn session_waits_for_its_program_when_no_socket_holds_anything() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut client = TcpStream::connect(address).expect("a connection");
        let (mut server, peer) = listener.accept().expect("its other end");
        let peer = SessionClient::of(peer);
        let mut ours = pairs(std::process::id(), address.port());
        let seen = |ours: &mut SocketPairs| {
            let snapshot = ours.read_snapshot(&Root::system(), &[peer]);
            assert_eq!(snapshot.owner(Some(peer)), Owner::Program);
            let WaitingData { has_unread_request, has_unread_answer, .. } =
                snapshot.waiting(Some(peer)).expect("its sockets");
            (has_unread_request, has_unread_answer)
        };
        assert_eq!(seen(&mut ours), (false, false));
        client.write_all(b"select 1").expect("a request");
        assert_eq!(seen(&mut ours), (true, false));
        server.read_exact(&mut [0; 8]).expect("the request");
        server.write_all(b"one").expect("an answer");
        assert_eq!(seen(&mut ours), (false, true));
        client.read_exact(&mut [0; 3]).expect("the answer");
        assert_eq!(seen(&mut ours), (false, false));
    }

    #[test]
    fn session_of_another_program_is_recognised_by_its_address() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = TcpStream::connect(address).expect("a connection");
        let peer = Some(SessionClient::of(client.local_addr().expect("its address")));
        let mut child =
            std::process::Command::new("sleep").arg("60").spawn().expect("another program");
        let owner =
            pairs(child.id(), address.port()).read_snapshot(&Root::system(), &[]).owner(peer);
        let none = pairs(u32::MAX, address.port()).read_snapshot(&Root::system(), &[]).owner(peer);
        let gone = pairs(std::process::id(), 1).read_snapshot(&Root::system(), &[]).owner(peer);
        child.kill().expect("an end");
        child.wait().expect("an end");
        assert_eq!((owner, none, gone), (Owner::Others, Owner::Unknown, Owner::Others));
    }

    /// Returns one end of a connection, with `receive_queue` bytes that its process has not read.
    fn end(inode: u32, [local, remote]: [&str; 2], receive_queue: u32) -> Connection {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        Connection {
            key: [0; 40],
            family: Family::V6,
            identity: [0; 48],
            is_established: true,
            inode,
            local: address(local),
            remote: address(remote),
            receive_queue,
            send_queue: 0,
            counters: ConnectionCounters::default(),
        }
    }

    /// Returns a snapshot of connections to two servers: at port 5432 of this machine, and at port
    /// 5433 of another machine. The program holds socket 1.
    fn snapshot(ends: &[Connection]) -> SocketSnapshot {
        let (held_sockets, known_sockets) = (Some([1].into()), (1..10).collect());
        let mut all = SocketSnapshot { held_sockets, known_sockets, ..SocketSnapshot::default() };
        ends.iter().for_each(|end| all.add_connection(end, &[(5_432, true), (5_433, false)]));
        all.finish();
        all
    }

    fn shown(host: &str, port: u16) -> Option<SessionClient> {
        SessionClient::from_reported(host, &port.to_string())
    }

    #[test]
    fn clients_with_the_same_port_are_distinguished_by_their_addresses() {
        let all = snapshot(&[
            end(1, ["127.0.0.1:40001", "127.0.0.1:5432"], 0),
            end(5, ["127.0.0.1:5432", "127.0.0.1:40001"], 0),
            end(2, ["[::1]:40001", "[::1]:5432"], 0),
            end(6, ["[::1]:5432", "[::1]:40001"], 8),
            // The client of this connection is on another machine.
            end(7, ["10.0.0.1:5432", "10.0.0.2:40001"], 9),
        ]);
        let of = |host| {
            let client = shown(host, 40_001);
            (all.owner(client), all.waiting(client).map(|waiting| waiting.has_unread_request))
        };
        assert_eq!(of("127.0.0.1"), (Owner::Program, Some(false)));
        assert_eq!(of("::ffff:127.0.0.1"), (Owner::Program, Some(false)));
        assert_eq!(of("::1"), (Owner::Others, Some(true)));
        assert_eq!(of("10.0.0.2"), (Owner::Others, Some(true)));
        assert_eq!(of("10.0.0.3"), (Owner::Others, None));
        // MySQL shows the same name for both clients.
        assert_eq!(of("localhost"), (Owner::Unknown, None));
    }

    #[test]
    fn client_of_two_servers_with_one_port_has_two_connections() {
        let all = snapshot(&[
            end(1, ["127.0.0.1:40001", "127.0.0.1:5432"], 0),
            end(5, ["127.0.0.1:5432", "127.0.0.1:40001"], 8),
            end(1, ["127.0.0.1:40001", "10.0.0.1:5433"], 0),
        ]);
        let client = shown("127.0.0.1", 40_001);
        assert_eq!((all.owner(client), all.waiting(client)), (Owner::Program, None));
    }

    #[test]
    fn ends_with_a_translated_address_of_the_server_are_one_connection() {
        // The address of the service is smaller than the server's address in one case, and greater
        // in the other.
        for service in ["10.0.0.0:5432", "10.96.0.10:5432"] {
            let client = || end(1, ["10.0.0.1:40001", service], 0);
            let server = || end(5, ["10.0.0.1:5432", "10.0.0.1:40001"], 8);
            let of = |ends: &[Connection]| {
                let (all, client) = (snapshot(ends), shown("10.0.0.1", 40_001));
                (all.owner(client), all.waiting(client).map(|waiting| waiting.has_unread_request))
            };
            assert_eq!(of(&[client(), server()]), (Owner::Program, Some(true)), "{service}");
            let other = end(1, ["10.0.0.1:40001", "10.0.0.7:5433"], 0);
            assert_eq!(of(&[client(), server(), other]), (Owner::Unknown, None), "{service}");
        }
        // These are ends of connections of two different clients, so they are not joined.
        let all = snapshot(&[
            end(1, ["10.0.0.1:40001", "10.0.0.7:5433"], 0),
            end(5, ["10.0.0.1:5432", "10.0.0.2:40001"], 8),
        ]);
        let owners = ["10.0.0.1", "10.0.0.2"].map(|host| all.owner(shown(host, 40_001)));
        assert_eq!(owners, [Owner::Program, Owner::Others]);
    }

    #[test]
    fn client_behind_translated_addresses_is_found_by_its_port() {
        let all = || snapshot(&[end(1, ["10.0.0.1:40001", "192.0.2.7:5433"], 0)]);
        let of = |is_translated| {
            SocketSnapshot { is_translated, ..all() }.owner(shown("198.51.100.1", 40_001))
        };
        assert_eq!([of(true), of(false)], [Owner::Program, Owner::Others]);
        assert!(all().has_address_of(shown("10.0.0.1", 40_001).expect("a client")));
        assert!(!all().has_address_of(shown("198.51.100.1", 40_001).expect("a client")));
    }

    #[test]
    fn client_of_ipv4_and_its_server_on_a_socket_of_ipv6_are_one_connection() {
        let Ok(listener) = TcpListener::bind("[::]:0") else { return };
        let port = listener.local_addr().expect("an address").port();
        let client = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let _server = listener.accept().expect("its other end");
        let mut ours = pairs(std::process::id(), port);
        let snapshot = ours.read_snapshot(&Root::system(), &[]);
        let ends: Vec<_> = snapshot.pairs.iter().collect();
        let [(addresses, SocketPair { client: Some(_), server: Some(_) })] = ends[..] else {
            panic!("{ends:?}")
        };
        assert_eq!(addresses.client, client.local_addr().expect("an address").ip());
    }

    /// Returns the state of a connection whose ends have had no data for this many milliseconds.
    fn silent(client_ms: u32, server_ms: u32) -> WaitingData {
        let end = |inode, ms| {
            let connection = None;
            Some(SocketEnd {
                connection,
                inode,
                receive_queue: 0,
                send_queue: 0,
                silence_ms: Some(ms),
            })
        };
        SocketPair { client: end(1, client_ms), server: end(2, server_ms) }.waiting()
    }

    #[test]
    fn silence_longer_than_a_tick_is_a_pause() {
        assert_eq!(silent(8, 12).is_silent, Some(true));
        assert_eq!(silent(8, 4).is_silent, Some(false));
        assert_eq!(SocketPair::default().waiting().is_silent, None);
    }

    #[test]
    fn unix_sockets_are_summed() {
        let of = |queues: [u32; 2]| {
            let end = |receive_queue| SocketEnd {
                connection: None,
                inode: 1,
                receive_queue,
                send_queue: 0,
                silence_ms: None,
            };
            let pair = |queue| SocketPair { server: Some(end(queue)), client: None };
            let snapshot = SocketSnapshot {
                unix_pairs: queues.map(pair).to_vec(),
                ..SocketSnapshot::default()
            };
            snapshot.waiting(None).map(|waiting| waiting.has_unread_request)
        };
        assert_eq!([of([0, 0]), of([5, 5]), of([0, 5])], [Some(false), Some(true), None]);
        assert_eq!(SocketSnapshot::default().waiting(None), None);
        assert_eq!(SocketSnapshot::default().waiting(shown("localhost", 1)), None);
    }
}
