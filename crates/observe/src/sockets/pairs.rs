//! Connections of an observed program, each seen from both ends at one moment.
//!
//! They show why a database session waits for its client: the next request may be in the server's
//! socket, the last answer may be in the program's socket, or both sockets are empty and the
//! program has nothing to send. A session is matched to its connection by the client's address and
//! port, as the server reports them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::connection::Family;
use super::limits::{MOST, MOST_ENDS, MOST_PORTS};
use super::netlink::{Diagnostics, DumpLimit};
use super::{Connection, UNUSED_EVERY, tcp, unix};
use crate::environment::Root;
use crate::process::{Holder, is_same_path};
use crate::scope::{Scope, ServerLocation};

/// Minimum silence on a connection that counts as a pause, in milliseconds. The kernel's ticks are
/// up to 4 ms apart on most machines, so an apparent silence of one tick may be none.
const SILENCE_MS: u32 = 8;

/// Number of samples between two readings of the program's open files.
const HELD_EVERY: u32 = 50;

/// Number of samples between two readings of all connections, for which the kernel searches all of
/// its tables.
const ALL_EVERY: u32 = 10;

/// Maximum number of connections of the program that are read one by one between two readings of
/// all connections.
const ONE_BY_ONE: usize = 24;

/// The smallest address in the order of addresses.
const LEAST: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Number of samples between two readings of all connections while a session's connection is
/// unknown.
const NEW_EVERY: u32 = 3;

/// Connections of a program to the servers of a scope.
#[derive(Debug)]
pub(crate) struct Pairs {
    ports: Vec<(u16, bool)>,
    paths: Vec<PathBuf>,
    holder: Holder,
    /// The program's sockets; `None` if its open files cannot be read.
    held: Option<HashSet<u32>>,
    /// Client sockets that existed when the program's open files were read.
    known: HashSet<u32>,
    looks: u32,
    /// Number of readings of all connections.
    reads: u32,
    /// Sample at which the program's open files were last read.
    held_at: u32,
    looks_since_all: u32,
    used: [bool; 2],
    diagnostics: Option<Diagnostics>,
    last: SocketSnapshot,
}

/// The client of a session over TCP, as the server reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionClient {
    /// `None` if the server shows a name.
    address: Option<IpAddr>,
    port: u16,
}

/// Addresses of both ends of a TCP connection, ordered by the client's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ends {
    client_port: u16,
    client: IpAddr,
    server: SocketAddr,
}

/// Owner of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The observed program.
    Program,
    /// Another program.
    Others,
    /// The owner is unknown.
    Unknown,
}

/// Data that waits on a connection at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// True if there is a request that the server has not read.
    pub(crate) request: bool,
    /// True if there is an answer that the program has not read.
    pub(crate) answer: bool,
    /// True if one side has bytes that it has not sent yet.
    pub(crate) unsent: bool,
    /// True if no data was sent or received for longer than a kernel tick; `None` if unknown.
    pub(crate) is_silent: Option<bool>,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    /// TCP connection; `None` for a Unix socket.
    connection: Option<Connection>,
    inode: u32,
    receive_queue: u32,
    send_queue: u32,
    silence_ms: Option<u32>,
}

/// Both ends of a connection; `None` for an end that is not on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pair {
    client: Option<End>,
    server: Option<End>,
}

/// All connections at one moment.
#[derive(Debug, Default)]
pub(crate) struct SocketSnapshot {
    pairs: BTreeMap<Ends, Pair>,
    /// True if no session's address is that of a client socket: addresses are translated on the way
    /// to the server.
    is_translated: bool,
    /// Connections over Unix sockets, which have no ports.
    local: Vec<Pair>,
    /// The program's sockets; `None` if unknown.
    held: Option<HashSet<u32>>,
    /// Sockets whose owner is known.
    known: HashSet<u32>,
    /// True if the last reading of all connections was complete.
    is_complete: bool,
    /// True if all connections were read at this sample.
    is_fresh: bool,
}

impl Pairs {
    /// Creates the reader for the program of a scope; `None` if no program is observed.
    pub(crate) fn of(scope: &Scope) -> Option<Pairs> {
        let mut pairs = Pairs {
            ports: Vec::new(),
            paths: Vec::new(),
            holder: Holder::of(scope.generator?),
            held: None,
            known: HashSet::new(),
            looks: 0,
            reads: 0,
            held_at: 0_u32.wrapping_sub(HELD_EVERY),
            looks_since_all: ALL_EVERY,
            last: SocketSnapshot::default(),
            used: [false; 2],
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

    /// Reads the program's connections, or all connections if such a reading is due. It is due
    /// earlier if the client of a session is not known yet. Connections that cannot be read are
    /// left out.
    pub(crate) fn look(&mut self, root: &Root, clients: &[SessionClient]) -> &SocketSnapshot {
        self.looks = self.looks.wrapping_add(1);
        self.looks_since_all += 1;
        let is_new = clients.iter().any(|client| self.last.of(*client).next().is_none());
        let due = if is_new { NEW_EVERY } else { ALL_EVERY };
        let is_few = self.last.of_program().count() <= ONE_BY_ONE;
        let is_all = self.looks_since_all >= due || !is_few || !self.last.is_complete;
        let read = if is_all { self.read_all() } else { self.read_again() };
        if read.is_err() {
            // Close the socket: the rest of this answer would be taken for the next answer.
            self.diagnostics = None;
            self.last = SocketSnapshot::default();
        } else if is_all {
            self.looks_since_all = 0;
            self.find_owners(root);
        }
        let is_foreign = |client: &SessionClient| !self.last.has_address_of(*client);
        self.last.is_translated = !clients.is_empty() && clients.iter().all(is_foreign);
        &self.last
    }

    /// Reads the program's open files, if such a reading is due.
    fn find_owners(&mut self, root: &Root) {
        let snapshot = &mut self.last;
        let clients = snapshot.pairs.values().chain(&snapshot.local).filter_map(|pair| pair.client);
        let clients: HashSet<u32> = clients.map(|end| end.inode).collect();
        let has_new = clients.iter().any(|inode| !self.known.contains(inode));
        if has_new || self.looks.wrapping_sub(self.held_at) >= HELD_EVERY {
            self.held_at = self.looks;
            self.held = self.holder.sockets(root);
            self.known = clients;
        }
        snapshot.held.clone_from(&self.held);
        snapshot.known.clone_from(&self.known);
    }

    /// Reads the connections of the program.
    fn read_again(&mut self) -> io::Result<()> {
        let Some(diagnostics) = &mut self.diagnostics else { return Ok(()) };
        let SocketSnapshot { pairs, held, is_fresh, .. } = &mut self.last;
        *is_fresh = false;
        let is_held = |pair: &Pair| is_held(pair, held.as_ref());
        for pair in pairs.values_mut().filter(|pair| is_held(pair)) {
            for end in [&mut pair.client, &mut pair.server] {
                let Some(connection) = end.and_then(|end| end.connection) else { continue };
                let message = diagnostics.request_one(&tcp::request_for(&connection))?;
                let now = message.and_then(tcp::connection).filter(|it| it.is_established);
                *end = now.as_ref().map(End::of);
            }
        }
        if !self.paths.is_empty() {
            self.read_local()?;
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
        let numbers: Vec<u16> = self.ports.iter().map(|(port, _)| *port).take(MOST_PORTS).collect();
        let is_due = self.reads.is_multiple_of(UNUSED_EVERY) || self.used == [false; 2];
        self.reads = self.reads.wrapping_add(1);
        let families = Family::ALL.into_iter().zip(&mut self.used);
        for (family, used) in families.filter(|(_, used)| is_due || **used) {
            if numbers.is_empty() {
                break;
            }
            *used = false;
            diagnostics.ask(&tcp::request(family, &numbers), |message| {
                let Some(connection) = tcp::connection(message) else { return DumpLimit::No };
                *used = true;
                snapshot.see(&connection, &self.ports);
                if snapshot.pairs.len() < MOST { DumpLimit::No } else { DumpLimit::Yes }
            })?;
        }
        snapshot.finish();
        self.last = snapshot;
        if !self.paths.is_empty() {
            self.read_local()?;
        }
        Ok(())
    }

    /// Reads the connections over Unix sockets.
    fn read_local(&mut self) -> io::Result<()> {
        let Some(diagnostics) = &mut self.diagnostics else { return Ok(()) };
        let mut ends = Vec::new();
        diagnostics.ask(&unix::request(), |message| {
            ends.extend(unix::end(message));
            if ends.len() < MOST_ENDS { DumpLimit::No } else { DumpLimit::Yes }
        })?;
        let paths = &self.paths;
        let is_server =
            |path: &std::path::Path| paths.iter().any(|server| is_same_path(server, path));
        self.last.see_local(&ends, is_server);
        Ok(())
    }
}

/// Returns true if the client's end of a connection is one of these sockets.
fn is_held(pair: &Pair, held: Option<&HashSet<u32>>) -> bool {
    pair.client.zip(held).is_some_and(|(end, held)| held.contains(&end.inode))
}

impl SessionClient {
    /// Creates the client from the address or name and the port that a server reports; `None`
    /// without a port, as over a Unix socket.
    pub(crate) fn shown(host: &str, port: &str) -> Option<SessionClient> {
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        Some(SessionClient { address, port: port.parse().ok()? })
    }
}

impl Ends {
    /// Returns the smallest possible connection with this port and address of the client.
    fn least(client_port: u16, client: IpAddr) -> Ends {
        Ends { client_port, client, server: SocketAddr::new(LEAST, 0) }
    }

    /// Returns the addresses of a connection, given its end at the client.
    fn of_client(&Connection { local, remote, .. }: &Connection) -> Ends {
        Ends { client_port: local.port(), client: local.ip(), server: remote }
    }

    /// Returns the addresses of a connection, given its end at the server.
    fn of_server(&Connection { local, remote, .. }: &Connection) -> Ends {
        Ends { client_port: remote.port(), client: remote.ip(), server: local }
    }

    fn have_client_of(&self, other: &Ends) -> bool {
        (self.client_port, self.client) == (other.client_port, other.client)
    }
}

impl End {
    fn of(connection: &Connection) -> End {
        let Connection { inode, receive_queue, send_queue, counted, .. } = *connection;
        let times = [counted.since_sent_ms, counted.since_received_ms];
        let silence_ms = times.into_iter().flatten().min();
        let connection = Some(*connection);
        End { connection, inode, receive_queue, send_queue, silence_ms }
    }
}

impl Pair {
    fn waiting(&self) -> Waiting {
        let ends = || [self.client, self.server].into_iter().flatten();
        // Only the server's end also has the time at which its kernel was given data to send.
        let silence_ms = ends().filter_map(|end| end.silence_ms).min();
        Waiting {
            request: self.server.is_some_and(|end| end.receive_queue > 0),
            answer: self.client.is_some_and(|end| end.receive_queue > 0),
            unsent: ends().any(|end| end.send_queue > 0),
            is_silent: silence_ms.map(|ms| ms >= SILENCE_MS),
        }
    }
}

impl SocketSnapshot {
    fn see(&mut self, connection: &Connection, ports: &[(u16, bool)]) {
        let end = Some(End::of(connection));
        if ports.contains(&(connection.local.port(), true)) {
            self.pairs.entry(Ends::of_server(connection)).or_default().server = end;
        } else if ports.iter().any(|(port, _)| *port == connection.remote.port()) {
            self.pairs.entry(Ends::of_client(connection)).or_default().client = end;
        }
    }

    /// Ends a reading of all connections.
    fn finish(&mut self) {
        self.is_complete = self.pairs.len() < MOST;
        self.is_fresh = true;
        if self.is_complete {
            self.join_translated();
        }
    }

    /// Joins the two ends of a connection whose client uses a different address of the server than
    /// the server itself: one that is translated on the way, such as the address of a service.
    /// Several such connections with the same address and port of the client cannot be
    /// distinguished.
    fn join_translated(&mut self) {
        let lacks_end = |pair: &Pair| pair.client.is_none() || pair.server.is_none();
        let single: Vec<(Ends, Pair)> = (self.pairs.iter())
            .filter(|(_, pair)| lacks_end(pair))
            .map(|(ends, pair)| (*ends, *pair))
            .collect();
        for same in single.chunk_by(|(one, _), (other, _)| one.have_client_of(other)) {
            let ([
                (of_client, Pair { client: Some(_), .. }),
                (of_server, Pair { server: Some(server), .. }),
            ]
            | [
                (of_server, Pair { server: Some(server), .. }),
                (of_client, Pair { client: Some(_), .. }),
            ]) = same
            else {
                continue;
            };
            self.pairs.remove(of_server);
            self.pairs.entry(*of_client).or_default().server = Some(*server);
        }
    }

    fn see_local(&mut self, ends: &[unix::End], is_server: impl Fn(&std::path::Path) -> bool) {
        let end = |end: &unix::End| End {
            connection: None,
            inode: end.inode,
            receive_queue: end.queues.0,
            // The other end counts the bytes that were sent and not read.
            send_queue: 0,
            silence_ms: None,
        };
        let [clients, servers] = unix::sides(ends, is_server);
        let clients: HashMap<u32, End> = clients.iter().map(|it| (it.inode, end(it))).collect();
        let pairs = servers.iter().map(|server| Pair {
            client: clients.get(&server.peer).copied(),
            server: Some(end(server)),
        });
        self.local = pairs.collect();
    }

    /// Iterates over the TCP connections of the program.
    fn of_program(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.values().filter(|pair| is_held(pair, self.held.as_ref()))
    }

    /// Iterates over the connections that may belong to this client. There are several if its
    /// server does not show the client's address, or if the client has the same address at several
    /// servers.
    fn of(&self, client: SessionClient) -> impl Iterator<Item = &Pair> {
        let SessionClient { address, port } = client;
        let address = address.filter(|_| !self.is_translated);
        let is_it = move |ends: &Ends| {
            ends.client_port == port && address.is_none_or(|address| ends.client == address)
        };
        let first = Ends::least(port, address.unwrap_or(LEAST));
        self.pairs.range(first..).take_while(move |(ends, _)| is_it(ends)).map(|(_, pair)| pair)
    }

    /// Returns true if a connection has the client's address, or if that address is unknown.
    fn has_address_of(&self, client: SessionClient) -> bool {
        client.address.is_none_or(|address| {
            let first = Ends::least(client.port, address);
            let next = self.pairs.range(first..).next();
            next.is_some_and(|(it, _)| it.have_client_of(&first))
        })
    }

    /// Returns the owner of this client's connection; a `client` of `None` stands for a Unix
    /// socket.
    pub(crate) fn owner(&self, client: Option<SessionClient>) -> Owner {
        let Some(held) = &self.held else { return Owner::Unknown };
        let owner = |pair: &Pair| {
            // If the client's end is not on this machine, the client is on another machine.
            let Some(end) = pair.client else { return Owner::Others };
            match (held.contains(&end.inode), self.known.contains(&end.inode)) {
                (true, _) => Owner::Program,
                (false, true) => Owner::Others,
                (false, false) => Owner::Unknown,
            }
        };
        match client {
            Some(client) => {
                let mut owners = self.of(client).map(owner).peekable();
                match owners.peek() {
                    Some(_) => common(owners).unwrap_or(Owner::Unknown),
                    // The connection has ended, or is that of another machine to a remote server.
                    None if self.is_complete && self.is_fresh => Owner::Others,
                    None => Owner::Unknown,
                }
            }
            None => {
                let mut local = self.local.iter();
                if local.any(|pair| is_held(pair, Some(held))) {
                    Owner::Program
                } else if self.of_program().next().is_some() {
                    Owner::Others
                } else {
                    Owner::Unknown
                }
            }
        }
    }

    /// Returns the data that waits on the connection of a session; `None` if unknown. Connections
    /// over Unix sockets cannot be matched to sessions: the result is known only if it is the same
    /// for all of them.
    pub(crate) fn waiting(&self, client: Option<SessionClient>) -> Option<Waiting> {
        match client {
            Some(client) => common(self.of(client).map(Pair::waiting)),
            None => common(self.local.iter().map(Pair::waiting)),
        }
    }
}

/// Returns the value that all items have; `None` if they differ, or if there are none.
fn common<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|next| next == first).then_some(first)
}

#[cfg(test)]
impl SocketSnapshot {
    /// Returns a snapshot of one connection whose server has this many bytes to read.
    pub(crate) fn planted(client_port: u16, receive_queue: u32) -> SocketSnapshot {
        let end = |receive_queue| {
            Some(End { connection: None, inode: 1, receive_queue, send_queue: 0, silence_ms: None })
        };
        let pair = Pair { client: end(0), server: end(receive_queue) };
        let (held, known) = (Some([1].into()), [1].into());
        let client = Ipv4Addr::LOCALHOST.into();
        let ends = Ends { client_port, client, server: SocketAddr::new(client, 3_306) };
        SocketSnapshot { pairs: [(ends, pair)].into(), held, known, ..SocketSnapshot::default() }
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

    fn pairs(generator: u32, port: u16) -> Pairs {
        let servers = vec![ServerLocation::Port(port)];
        Pairs::of(&Scope { generator: Some(generator), servers, ..Scope::default() })
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
        let seen = |ours: &mut Pairs| {
            let snapshot = ours.look(&Root::system(), &[peer]);
            assert_eq!(snapshot.owner(Some(peer)), Owner::Program);
            let Waiting { request, answer, .. } =
                snapshot.waiting(Some(peer)).expect("its sockets");
            (request, answer)
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
        let owner = pairs(child.id(), address.port()).look(&Root::system(), &[]).owner(peer);
        let none = pairs(u32::MAX, address.port()).look(&Root::system(), &[]).owner(peer);
        let gone = pairs(std::process::id(), 1).look(&Root::system(), &[]).owner(peer);
        child.kill().expect("an end");
        child.wait().expect("an end");
        assert_eq!((owner, none, gone), (Owner::Others, Owner::Unknown, Owner::Others));
    }

    /// Returns one end of a connection, with `receive_queue` bytes that its process has not read.
    fn end(inode: u32, [local, remote]: [&str; 2], receive_queue: u32) -> Connection {
        let address = |text: &str| text.parse::<SocketAddr>().expect("an address");
        Connection {
            key: [0; 40],
            family: Family::Six,
            identity: [0; 48],
            is_established: true,
            inode,
            local: address(local),
            remote: address(remote),
            receive_queue,
            send_queue: 0,
            counted: ConnectionCounters::default(),
        }
    }

    /// Returns a snapshot of connections to servers at port 5432 of this machine and at port 5433
    /// of another one. The program holds socket 1.
    fn snapshot(ends: &[Connection]) -> SocketSnapshot {
        let (held, known) = (Some([1].into()), (1..10).collect());
        let mut all = SocketSnapshot { held, known, ..SocketSnapshot::default() };
        ends.iter().for_each(|end| all.see(end, &[(5_432, true), (5_433, false)]));
        all.finish();
        all
    }

    fn shown(host: &str, port: u16) -> Option<SessionClient> {
        SessionClient::shown(host, &port.to_string())
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
            (all.owner(client), all.waiting(client).map(|waiting| waiting.request))
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
        // The address of the service is less than the server's in one case, and greater in the
        // other.
        for service in ["10.0.0.0:5432", "10.96.0.10:5432"] {
            let client = || end(1, ["10.0.0.1:40001", service], 0);
            let server = || end(5, ["10.0.0.1:5432", "10.0.0.1:40001"], 8);
            let of = |ends: &[Connection]| {
                let (all, client) = (snapshot(ends), shown("10.0.0.1", 40_001));
                (all.owner(client), all.waiting(client).map(|waiting| waiting.request))
            };
            assert_eq!(of(&[client(), server()]), (Owner::Program, Some(true)), "{service}");
            let other = end(1, ["10.0.0.1:40001", "10.0.0.7:5433"], 0);
            assert_eq!(of(&[client(), server(), other]), (Owner::Unknown, None), "{service}");
        }
        // The ends of two clients are not joined.
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
        let snapshot = ours.look(&Root::system(), &[]);
        let ends: Vec<_> = snapshot.pairs.iter().collect();
        let [(Ends { client: address, .. }, Pair { client: Some(_), server: Some(_) })] = ends[..]
        else {
            panic!("{ends:?}")
        };
        assert_eq!(*address, client.local_addr().expect("an address").ip());
    }

    /// Returns the state of a pair whose ends have been silent for this many milliseconds.
    fn silent(client_ms: u32, server_ms: u32) -> Waiting {
        let end = |inode, ms| {
            let connection = None;
            Some(End { connection, inode, receive_queue: 0, send_queue: 0, silence_ms: Some(ms) })
        };
        Pair { client: end(1, client_ms), server: end(2, server_ms) }.waiting()
    }

    #[test]
    fn silence_longer_than_a_tick_is_a_pause() {
        assert_eq!(silent(8, 12).is_silent, Some(true));
        assert_eq!(silent(8, 4).is_silent, Some(false));
        assert_eq!(Pair::default().waiting().is_silent, None);
    }

    #[test]
    fn unix_sockets_are_summed() {
        let of = |queues: [u32; 2]| {
            let end = |receive_queue| End {
                connection: None,
                inode: 1,
                receive_queue,
                send_queue: 0,
                silence_ms: None,
            };
            let pair = |queue| Pair { server: Some(end(queue)), client: None };
            let snapshot =
                SocketSnapshot { local: queues.map(pair).to_vec(), ..SocketSnapshot::default() };
            snapshot.waiting(None).map(|waiting| waiting.request)
        };
        assert_eq!([of([0, 0]), of([5, 5]), of([0, 5])], [Some(false), Some(true), None]);
        assert_eq!(SocketSnapshot::default().waiting(None), None);
        assert_eq!(SocketSnapshot::default().waiting(shown("localhost", 1)), None);
    }
}
