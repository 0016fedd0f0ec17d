//! Connections between the two sides, as the kernel reports them: the bytes in their queues, and
//! the reasons why data was not sent.
//!
//! The kernel reports each connection ([`tcp`], [`unix`]) in answer to a request ([`netlink`]). The
//! side of a socket follows from its ports: if the local port is that of the server, the socket is
//! on the server's side. In a run, other sockets that are connected to this port are on the
//! generator's side. For a server on this machine, only sockets that lead to this machine count;
//! otherwise, only those that lead to another one. The counters of connections are added up at
//! every sample; the sums include connections that have ended.

mod connection;
mod limits;
mod netlink;
mod pairs;
mod pooler;
mod tcp;
mod unix;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use record::metric::sockets;
use record::{ComponentKind, MeasuredSide};

use self::connection::{Connection, ConnectionCounters, Family, LastTransfer};
use self::limits::{MAX_CONNECTIONS, MAX_PORTS, MAX_UNIX_SOCKETS};
use self::netlink::{Diagnostics, DumpControl};
pub(crate) use self::pairs::{Owner, SessionClient, SocketPairs, SocketSnapshot, WaitingData};
use self::pooler::PoolerSearch;
pub(crate) use self::pooler::servers_behind;
use crate::environment::Root;
use crate::process::{SocketHolder, is_same_path};
use crate::sample::{Sample, Sampler};
use crate::scope::{Scope, ServerLocation};

/// Number of samples after which an address family without connections is requested again, while
/// the other family has some. The requests are rare because the kernel searches all of its tables
/// for each request.
const UNUSED_FAMILY_EVERY: u32 = 8;

/// Connections of one side, with the sums of their counters.
#[derive(Debug, Default)]
struct SideConnections {
    /// Latest counters of the open connections.
    open_connections: HashMap<[u8; 40], OpenConnectionCounters>,
    /// Sums over all connections, including those that have ended.
    sum: CumulativeCounters,
    round_trip_least: Option<u32>,
    /// State at the last sample.
    now: SideState,
}

/// Counters of an open connection.
#[derive(Clone, Copy, Debug)]
struct OpenConnectionCounters {
    /// Counters at the last sample.
    last: CumulativeCounters,
    /// Number of segments with data that the connection had sent when it was first seen.
    sent_at_first: Option<u64>,
}

/// Counters that grow during a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CumulativeCounters {
    busy: Option<u64>,
    receiver_limited: Option<u64>,
    buffer_limited: Option<u64>,
    retransmits: Option<u64>,
    /// Numbers of segments with data.
    data_sent: Option<u64>,
    data_received: Option<u64>,
    /// Numbers of bytes that the other side acknowledged, and of bytes received from it.
    bytes_sent: Option<u64>,
    bytes_received: Option<u64>,
}

/// State of one side's connections at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
struct SideState {
    connections: usize,
    receive_queue: u64,
    send_queue: u64,
    with_receive_queue: usize,
    with_send_queue: usize,
    /// Number of connections on which data was last sent and nothing has been received since;
    /// `None` if this is unknown for at least one connection.
    awaiting: Option<usize>,
    /// Number of connections in use on which data was last sent and last received in the same tick
    /// of the kernel.
    in_one_tick: usize,
    round_trips: Vec<u32>,
}

impl SideState {
    fn add(&mut self, receive_queue: u32, send_queue: u32) {
        self.connections += 1;
        self.receive_queue += u64::from(receive_queue);
        self.send_queue += u64::from(send_queue);
        self.with_receive_queue += usize::from(receive_queue > 0);
        self.with_send_queue += usize::from(send_queue > 0);
    }
}

impl CumulativeCounters {
    fn of(counters: &ConnectionCounters) -> CumulativeCounters {
        let ConnectionCounters { busy, receiver_limited, buffer_limited, retransmits, .. } =
            *counters;
        let ConnectionCounters { data_sent, data_received, bytes_sent, bytes_received, .. } =
            *counters;
        CumulativeCounters {
            busy,
            receiver_limited,
            buffer_limited,
            retransmits,
            data_sent,
            data_received,
            bytes_sent,
            bytes_received,
        }
    }

    /// Adds the growth of a connection's counters to the sums.
    fn add(&mut self, now: CumulativeCounters, before: CumulativeCounters) {
        let add = |sum: &mut Option<u64>, now: Option<u64>, before: Option<u64>| {
            if let Some(now) = now {
                let grown = now.saturating_sub(before.unwrap_or(0));
                *sum = Some(sum.unwrap_or(0).saturating_add(grown));
            }
        };
        add(&mut self.busy, now.busy, before.busy);
        add(&mut self.receiver_limited, now.receiver_limited, before.receiver_limited);
        add(&mut self.buffer_limited, now.buffer_limited, before.buffer_limited);
        add(&mut self.retransmits, now.retransmits, before.retransmits);
        add(&mut self.data_sent, now.data_sent, before.data_sent);
        add(&mut self.data_received, now.data_received, before.data_received);
        add(&mut self.bytes_sent, now.bytes_sent, before.bytes_sent);
        add(&mut self.bytes_received, now.bytes_received, before.bytes_received);
    }
}

impl SideConnections {
    /// Starts a sample, and returns the counters of the last sample.
    fn begin_sample(&mut self) -> HashMap<[u8; 40], OpenConnectionCounters> {
        self.now = SideState { awaiting: Some(0), ..SideState::default() };
        std::mem::take(&mut self.open_connections)
    }

    /// Adds a connection; `before` has the counters of the last sample.
    fn add_connection(
        &mut self,
        connection: &Connection,
        before: &HashMap<[u8; 40], OpenConnectionCounters>,
    ) {
        let Connection { key, receive_queue, send_queue, counters, .. } = connection;
        self.now.add(*receive_queue, *send_queue);
        let before = before.get(key);
        let sent_at_first = before.map_or(counters.data_sent, |known| known.sent_at_first);
        let transfer = counters.last_transfer();
        let awaits = transfer.map(|transfer| usize::from(transfer == LastTransfer::Awaiting));
        self.now.awaiting = self.now.awaiting.zip(awaits).map(|(all, one)| all + one);
        // A connection that has not been used since it was first seen does not count.
        let is_used = counters.data_sent > sent_at_first;
        self.now.in_one_tick += usize::from(is_used && transfer == Some(LastTransfer::OneTick));
        self.now.round_trips.extend(counters.round_trip);
        let least = [self.round_trip_least, counters.round_trip_least];
        self.round_trip_least = least.into_iter().flatten().min();
        let now = CumulativeCounters::of(counters);
        self.sum.add(now, before.map(|known| known.last).unwrap_or_default());
        self.open_connections.insert(*key, OpenConnectionCounters { last: now, sent_at_first });
    }

    /// Retains the counters of connections that an incomplete sample did not reach. The next sample
    /// continues from them.
    fn keep_unread(&mut self, before: HashMap<[u8; 40], OpenConnectionCounters>) {
        for (key, known) in before {
            self.open_connections.entry(key).or_insert(known);
        }
    }

    fn report(&self, side: MeasuredSide, sample: &mut Sample) {
        let kind = ComponentKind::Sockets(side);
        let now = &self.now;
        sample.read(&kind, sockets::CONNECTIONS, now.connections as f64);
        sample.read(&kind, sockets::RECEIVE_QUEUE, now.receive_queue as f64);
        sample.read(&kind, sockets::SEND_QUEUE, now.send_queue as f64);
        sample.read(&kind, sockets::WITH_RECEIVE_QUEUE, now.with_receive_queue as f64);
        sample.read(&kind, sockets::WITH_SEND_QUEUE, now.with_send_queue as f64);
        if let Some(awaiting) = now.awaiting.filter(|_| side == MeasuredSide::Generator) {
            sample.read(&kind, sockets::AWAITING, awaiting as f64);
            sample.read(&kind, sockets::IN_ONE_TICK, now.in_one_tick as f64);
        }
        let times = [
            (sockets::BUSY, self.sum.busy),
            (sockets::RECEIVER_LIMITED, self.sum.receiver_limited),
            (sockets::BUFFER_LIMITED, self.sum.buffer_limited),
            (sockets::ROUND_TRIP, mean(&now.round_trips)),
            (sockets::ROUND_TRIP_LEAST, self.round_trip_least.map(u64::from)),
        ];
        for (metric, micros) in times {
            if let Some(micros) = micros {
                sample.read(&kind, metric, micros as f64 / 1e6);
            }
        }
        for (metric, sum) in [
            (sockets::RETRANSMITS, self.sum.retransmits),
            (sockets::DATA_SENT, self.sum.data_sent),
            (sockets::DATA_RECEIVED, self.sum.data_received),
            (sockets::BYTES_SENT, self.sum.bytes_sent),
            (sockets::BYTES_RECEIVED, self.sum.bytes_received),
        ] {
            if let Some(sum) = sum {
                sample.read(&kind, metric, sum as f64);
            }
        }
    }
}

fn mean(micros: &[u32]) -> Option<u64> {
    let count = u64::try_from(micros.len()).ok().filter(|count| *count > 0)?;
    Some(micros.iter().map(|micros| u64::from(*micros)).sum::<u64>() / count)
}

/// Sampler of the sockets between both sides.
#[derive(Debug)]
pub(crate) struct Sockets {
    /// Ports of the servers, each with true if the server is on this machine.
    ports: Vec<(u16, bool)>,
    paths: Vec<PathBuf>,
    /// The observed program, if it is not this process. Its sockets must be known, because other
    /// programs may use the same servers.
    holder: Option<SocketHolder>,
    /// True once the program's sockets could be read. If they cannot be read later, the program has
    /// ended and has none.
    were_sockets_read: bool,
    /// The pooler that the observed program may use.
    pooler: PoolerSearch,
    diagnostics: Option<Diagnostics>,
    generator: SideConnections,
    server: SideConnections,
    /// One value per address family, true if it had connections at the last request.
    used_families: [bool; 2],
    sample_count: u32,
}

impl Sockets {
    /// Creates the sampler for the servers of a scope.
    pub(crate) fn of(scope: &Scope) -> Sockets {
        let mut sockets = Sockets {
            ports: Vec::new(),
            paths: Vec::new(),
            holder: scope.generator.map(SocketHolder::of),
            were_sockets_read: false,
            pooler: PoolerSearch::new(),
            diagnostics: None,
            generator: SideConnections::default(),
            server: SideConnections::default(),
            used_families: [false; 2],
            sample_count: 0,
        };
        for place in &scope.servers {
            match place {
                ServerLocation::Port(port) => sockets.ports.push((*port, true)),
                ServerLocation::Elsewhere(port) => sockets.ports.push((*port, false)),
                ServerLocation::Socket(path) => sockets.paths.push(path.clone()),
                ServerLocation::Process(_) | ServerLocation::Threads(_) => {}
            }
        }
        sockets.ports.sort_unstable();
        sockets.ports.dedup();
        sockets
    }

    /// Reads all connections, and returns `DumpControl::Stop` if there are too many.
    fn read(&mut self, root: &Root) -> io::Result<DumpControl> {
        let held_sockets = self.holder.as_mut().and_then(|holder| holder.sockets(root));
        self.were_sockets_read |= held_sockets.is_some();
        if let Some(held_sockets) = &held_sockets {
            self.find_pooler(root, held_sockets)?;
        }
        let held_sockets = held_sockets.or_else(|| self.were_sockets_read.then(HashSet::new));
        let (generators, servers) = (self.generator.begin_sample(), self.server.begin_sample());
        let read = self.read_with_pooler(&generators, &servers, held_sockets.as_ref());
        if !matches!(read, Ok(DumpControl::Continue)) {
            self.generator.keep_unread(generators);
            self.server.keep_unread(servers);
        }
        read
    }

    /// Searches for a pooler between the observed program and the target. If the pooler has been
    /// found before, reads its connections instead.
    fn find_pooler(&mut self, root: &Root, held_sockets: &HashSet<u32>) -> io::Result<()> {
        let diagnostics = opened(&mut self.diagnostics)?;
        let targets: Vec<u16> = self.ports.iter().map(|(port, _)| *port).collect();
        self.pooler.search_or_read(diagnostics, root, held_sockets, &targets)
    }

    /// Reads all connections, also those to a pooler, given the last counters of both sides. If the
    /// sockets of the generator are known, only these count for its side.
    fn read_with_pooler(
        &mut self,
        generators: &HashMap<[u8; 40], OpenConnectionCounters>,
        servers: &HashMap<[u8; 40], OpenConnectionCounters>,
        held_sockets: Option<&HashSet<u32>>,
    ) -> io::Result<DumpControl> {
        let diagnostics = opened(&mut self.diagnostics)?;
        let mut left = MAX_CONNECTIONS;
        let mut control = DumpControl::Continue;
        let mut numbers: Vec<u16> = self.ports.iter().map(|(port, _)| *port).collect();
        numbers.extend(self.pooler.port().filter(|port| !numbers.contains(port)));
        numbers.truncate(MAX_PORTS);
        let here = |port: u16| self.ports.contains(&(port, true));
        let is_run = self.holder.is_none();
        // In a run, the addresses of the servers are not compared: they may change, because the
        // name of a server is looked up for each connection.
        let is_to_server = |connection: &Connection| {
            let port = connection.remote.port();
            match is_run {
                true => self.ports.contains(&(port, connection.is_local())),
                false => numbers.contains(&port) && is_ours(held_sockets, connection.inode),
            }
        };
        let is_due = self.sample_count.is_multiple_of(UNUSED_FAMILY_EVERY)
            || self.used_families == [false; 2];
        self.sample_count = self.sample_count.wrapping_add(1);
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
                let Some(rest) = left.checked_sub(1) else {
                    control = DumpControl::Stop;
                    return DumpControl::Stop;
                };
                left = rest;
                *used = true;
                if here(connection.local.port()) {
                    self.server.add_connection(&connection, servers);
                } else if is_to_server(&connection) {
                    self.generator.add_connection(&connection, generators);
                }
                DumpControl::Continue
            })?;
        }
        self.read_unix_sockets(held_sockets)?;
        Ok(control)
    }

    /// Reads the connections over the Unix sockets of the servers. If the sockets of the generator
    /// are known, only these count for its side.
    fn read_unix_sockets(&mut self, held_sockets: Option<&HashSet<u32>>) -> io::Result<()> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let diagnostics = opened(&mut self.diagnostics)?;
        let mut ends = Vec::new();
        diagnostics.dump(&unix::request(), |message| {
            ends.extend(unix::parse_socket(message));
            if ends.len() < MAX_UNIX_SOCKETS { DumpControl::Continue } else { DumpControl::Stop }
        })?;
        let is_server =
            |path: &std::path::Path| self.paths.iter().any(|server| is_same_path(server, path));
        let [clients, at_server] = unix::split_by_side(&ends, is_server);
        let ours = clients.iter().filter(|end| is_ours(held_sockets, end.inode));
        ours.for_each(|end| self.generator.now.add(end.queues.0, end.queues.1));
        // The kernel reports no times for Unix sockets.
        self.generator.now.awaiting = None;
        at_server.iter().for_each(|end| self.server.now.add(end.queues.0, end.queues.1));
        Ok(())
    }
}

/// Returns the socket for diagnostics, and opens it before its first use.
fn opened(diagnostics: &mut Option<Diagnostics>) -> io::Result<&mut Diagnostics> {
    Ok(match diagnostics {
        Some(diagnostics) => diagnostics,
        none => none.insert(Diagnostics::open()?),
    })
}

/// Returns true if a socket is one of the generator's, or if these are not known.
fn is_ours(held_sockets: Option<&HashSet<u32>>, inode: u32) -> bool {
    held_sockets.is_none_or(|held_sockets| held_sockets.contains(&inode))
}

impl Sampler for Sockets {
    fn sample(&mut self, root: &Root, sample: &mut Sample) {
        if self.ports.is_empty() && self.paths.is_empty() {
            return;
        }
        match self.read(root) {
            Ok(DumpControl::Continue) => {}
            Ok(DumpControl::Stop) => {
                let why = format!("there are more than {MAX_CONNECTIONS} connections");
                return sample.missing("sockets", why);
            }
            Err(error) => {
                // Close the socket; otherwise the rest of this answer would be taken for the next
                // answer.
                self.diagnostics = None;
                let why = format!("the kernel does not list sockets (sock_diag): {error}");
                return sample.missing("sockets", why);
            }
        }
        self.generator.report(MeasuredSide::Generator, sample);
        self.pooler.report(sample);
        if !self.paths.is_empty() || self.ports.iter().any(|(_, is_here)| *is_here) {
            self.server.report(MeasuredSide::Server, sample);
        }
        if !self.paths.is_empty() {
            sample.missing("sockets busy", "Unix sockets have queues and no times");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    fn value(sample: &Sample, component: &str, metric: &str) -> Option<f64> {
        let of =
            |r: &&record::Reading| r.series.component == component && r.series.metric == metric;
        sample.readings.iter().find(of).map(|reading| reading.value)
    }

    fn take_sample(sockets: &mut Sockets) -> Sample {
        let mut sample = Sample::default();
        sockets.sample(&Root::system(), &mut sample);
        sample
    }

    fn scope(servers: Vec<ServerLocation>) -> Scope {
        Scope { servers, ..Scope::default() }
    }

    #[test]
    fn connections_of_an_observed_program_count() {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("an address");
        let _client = TcpStream::connect(address).expect("a connection");
        let servers = vec![ServerLocation::Port(address.port())];
        let mut child =
            std::process::Command::new("sleep").arg("60").spawn().expect("another program");
        let by = |generator| {
            let mut sockets = Sockets::of(&Scope { generator, ..scope(servers.clone()) });
            value(&take_sample(&mut sockets), "sockets generator", "connections")
        };
        let found = (by(Some(std::process::id())), by(Some(child.id())), by(None));
        child.kill().expect("an end");
        child.wait().expect("an end");
        assert_eq!(found, (Some(1.0), Some(0.0), Some(1.0)));
    }

    #[test]
    fn incomplete_sample_counts_nothing_twice() {
        let connection = |number: u8, busy: u64| Connection {
            key: [number; 40],
            family: Family::V4,
            identity: [0; 48],
            is_established: true,
            inode: 1,
            local: ([127, 0, 0, 1], 1).into(),
            remote: ([127, 0, 0, 1], 2).into(),
            receive_queue: 0,
            send_queue: 0,
            counters: ConnectionCounters { busy: Some(busy), ..ConnectionCounters::default() },
        };
        let mut end = SideConnections::default();
        let before = end.begin_sample();
        for number in 1..=2 {
            end.add_connection(&connection(number, 100), &before);
        }
        let before = end.begin_sample();
        end.add_connection(&connection(1, 110), &before);
        end.keep_unread(before);
        let before = end.begin_sample();
        for number in 1..=2 {
            end.add_connection(&connection(number, 120), &before);
        }
        assert_eq!(end.sum.busy, Some(240));
    }

    #[test]
    fn unread_bytes_show_in_the_receive_queue_of_the_server() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            client.write_all(&[7; 1_000]).unwrap();
            server.peek(&mut [0]).unwrap();
            let mut sockets = Sockets::of(&scope(vec![ServerLocation::Port(port)]));
            let sample = take_sample(&mut sockets);
            assert_eq!(sample.missing, [], "{address}");
            for side in ["sockets generator", "sockets server"] {
                assert_eq!(value(&sample, side, "connections"), Some(1.0), "{side} {sample:?}");
            }
            assert_eq!(value(&sample, "sockets server", "receive-queue"), Some(1_000.0));
            assert_eq!(value(&sample, "sockets server", "with-receive-queue"), Some(1.0));
            assert_eq!(value(&sample, "sockets generator", "receive-queue"), Some(0.0));
            let round_trip = value(&sample, "sockets generator", "round-trip");
            assert!(round_trip.is_some_and(|s| s > 0.0 && s < 1.0), "{sample:?}");
            server.read_exact(&mut [0; 1_000]).unwrap();
            assert_eq!(
                value(&take_sample(&mut sockets), "sockets server", "receive-queue"),
                Some(0.0)
            );
        }
    }

    #[test]
    fn a_full_window_shows_as_time_limited_by_the_receiver() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_server, _) = listener.accept().unwrap();
        client.set_nonblocking(true).unwrap();
        let mut sockets = Sockets::of(&scope(vec![ServerLocation::Port(port)]));
        let limited = |sample: &Sample| {
            let of = |metric| value(sample, "sockets generator", metric).unwrap();
            of("receiver-limited") + of("buffer-limited")
        };
        // The data is not read, so the window fills up and remains full.
        let full = (0..1_000_000).any(|_| {
            let _ = client.write(&[7; 65_536]);
            let sample = take_sample(&mut sockets);
            limited(&sample) > 0.0
        });
        assert!(full);
        let sample = take_sample(&mut sockets);
        assert!(value(&sample, "sockets generator", "send-queue").is_some_and(|bytes| bytes > 0.0));
    }

    /// Expects a connection of another program to a server of this machine not to count, although
    /// the target on another machine has the same port.
    #[test]
    fn connection_on_this_machine_does_not_lead_to_a_server_elsewhere() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let address = listener.local_addr().unwrap();
            let _client = TcpStream::connect(address).unwrap();
            let _server = listener.accept().unwrap();
            let here = ServerLocation::Port(address.port());
            let elsewhere = ServerLocation::Elsewhere(address.port());
            let check = |servers: Vec<ServerLocation>, expected: [Option<f64>; 2]| {
                let sample = take_sample(&mut Sockets::of(&scope(servers)));
                let sides = ["sockets generator", "sockets server"];
                let counts = sides.map(|side| value(&sample, side, "connections"));
                assert_eq!(counts, expected, "{address}");
            };
            check(vec![elsewhere.clone()], [Some(0.0), None]);
            check(vec![here.clone()], [Some(1.0), Some(1.0)]);
            check(vec![elsewhere, here], [Some(1.0), Some(1.0)]);
        }
    }

    #[test]
    fn unix_sockets_have_queues() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        let _server = listener.accept().unwrap();
        client.write_all(&[7; 500]).unwrap();
        let mut sockets = Sockets::of(&scope(vec![ServerLocation::Socket(path)]));
        let sample = take_sample(&mut sockets);
        assert_eq!(value(&sample, "sockets server", "receive-queue"), Some(500.0), "{sample:?}");
        assert_eq!(value(&sample, "sockets generator", "connections"), Some(1.0));
        assert_eq!(value(&sample, "sockets generator", "with-receive-queue"), Some(0.0));
    }

    #[test]
    fn address_family_used_later_is_noticed() {
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = four.local_addr().unwrap().port();
        let Ok(six) = TcpListener::bind(("::1", port)) else { return };
        let _first = TcpStream::connect(four.local_addr().unwrap()).unwrap();
        let mut sockets = Sockets::of(&scope(vec![ServerLocation::Port(port)]));
        let count = |sockets: &mut Sockets| {
            value(&take_sample(sockets), "sockets generator", "connections").unwrap()
        };
        assert_eq!(count(&mut sockets), 1.0);
        let _second = TcpStream::connect(six.local_addr().unwrap()).unwrap();
        let counts: Vec<f64> = (0..=UNUSED_FAMILY_EVERY).map(|_| count(&mut sockets)).collect();
        assert_eq!((counts.first(), counts.last()), (Some(&1.0), Some(&2.0)));
    }

    #[test]
    fn sums_never_decrease_when_connections_end() {
        let mut end = SideConnections::default();
        let see = |end: &mut SideConnections, inodes: &[(u32, u64)]| {
            let before = end.begin_sample();
            for (inode, busy) in inodes {
                let message = tcp::tests::message(1, 2, *inode, *busy);
                end.add_connection(&tcp::parse_connection(&message).unwrap(), &before);
            }
            (end.now.connections, end.sum.busy)
        };
        assert_eq!(see(&mut end, &[(1, 10), (2, 20)]), (2, Some(30)));
        assert_eq!(see(&mut end, &[(2, 25)]), (1, Some(35)));
        assert_eq!(see(&mut end, &[(2, 25), (3, 4)]), (2, Some(39)));
        // A new connection with the key of an ended one is counted from zero.
        assert_eq!(see(&mut end, &[(2, 3)]), (1, Some(39)));
        assert_eq!(mean(&end.now.round_trips), Some(150));
        assert_eq!(see(&mut end, &[]), (0, Some(39)));
    }

    #[test]
    fn other_ports_are_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // Ports that the kernel never assigns to other sockets.
        let unused = 2;
        let mut ports = vec![ServerLocation::Port(unused); 3];
        ports.push(ServerLocation::Elsewhere(unused - 1));
        let sample = take_sample(&mut Sockets::of(&scope(ports)));
        assert_eq!(value(&sample, "sockets server", "connections"), Some(0.0), "{sample:?}");
        assert_eq!(take_sample(&mut Sockets::of(&scope(vec![]))), Sample::default());
    }
}
