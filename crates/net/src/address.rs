//! Addresses of servers, and connecting to one.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Class, Code, Endpoint, Nanos, Target};
use rt::{Rt, Source, connect, connect_unix, within};
use tokio::sync::oneshot;

use crate::error::Error;

/// A connected TCP or Unix domain socket.
pub type Socket = Source<OwnedFd>;

/// The address that a server listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A port of a host, given by name or IP address.
    Tcp(String, u16),
    /// A Unix domain socket.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "the socket `{}`", path.display()),
        }
    }
}

/// The hosts to try among those that a name resolves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The first one that answers. `within` is divided equally among all of them, so that one host
    /// without an answer does not keep the others from being tried.
    Any {
        /// The time for all of them.
        within: Nanos,
    },
    /// Exactly this host: a session with it exists.
    This(SocketAddr),
}

impl Address {
    /// Returns true if the server is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Tcp(host, _) => match host.parse::<IpAddr>() {
                Ok(ip) => ip.is_loopback(),
                Err(_) => host == "localhost",
            },
            Address::Unix(_) => true,
        }
    }

    /// Returns the host name to expect in a certificate.
    pub fn host(&self) -> &str {
        match self {
            Address::Tcp(host, _) => host,
            Address::Unix(_) => "localhost",
        }
    }

    /// Connects a socket.
    ///
    /// # Errors
    /// Class `Disconnect`; `TooManyConnections` if this process may not open more files.
    pub(crate) async fn connect(&self, rt: &Rt, host: Host) -> Result<Socket, Error> {
        let connected = match (self, host) {
            (Address::Unix(path), _) => connect_unix(rt, path).await,
            (Address::Tcp(..), Host::This(peer)) => connect(rt, peer).await,
            (Address::Tcp(name, port), Host::Any { within }) => {
                connect_tcp(rt, (name, *port), within).await
            }
        };
        connected.map_err(|error| unreachable(self, &error))
    }
}

async fn connect_tcp(rt: &Rt, (host, port): (&str, u16), limit: Nanos) -> io::Result<Socket> {
    connect_first(rt, &resolve(host, port).await?, limit).await
}

async fn connect_first(rt: &Rt, all: &[SocketAddr], limit: Nanos) -> io::Result<Socket> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let share = Nanos(limit.0 / all.len().max(1) as u64);
    for address in all {
        match within(rt, share, pin!(connect(rt, *address))).await {
            Some(Ok(socket)) => return Ok(socket),
            Some(Err(error)) => failed = error,
            None => failed = io::ErrorKind::TimedOut.into(),
        }
    }
    Err(failed)
}

/// Returns the addresses of a host, in the order in which to try them.
///
/// The lookup blocks and therefore runs on a thread of its own. It is repeated for each connection,
/// as the host may move.
async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let (sender, receiver) = oneshot::channel();
    let name = host.to_owned();
    std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // The caller may have given up.
        let _ = sender.send(found);
    })?;
    receiver.await.unwrap_or_else(|_| Err(io::Error::other("looking up the name failed")))
}

fn unreachable(address: &Address, error: &io::Error) -> Error {
    // `ENFILE` and `EMFILE` on Linux and the BSDs.
    if matches!(error.raw_os_error(), Some(23 | 24)) {
        let message = format!("cannot connect to {address}: {error}; raise `ulimit -n`");
        return Error::new(Class::TooManyConnections, Code::new("too-many-files"), message);
    }
    let remedy = match (error.kind(), address) {
        (io::ErrorKind::ConnectionRefused, _) => {
            ": no server listens there; start it, or name another"
        }
        (io::ErrorKind::TimedOut, _) => "; `connect-timeout=` allows more",
        (io::ErrorKind::NotFound, Address::Unix(_)) => {
            ": no server has made it; start it, or name another"
        }
        (io::ErrorKind::PermissionDenied, Address::Unix(_)) => ": this user may not use it",
        _ => "",
    };
    Error::disconnect(format!("cannot connect to {address}: {error}{remedy}"))
}

/// The servers of a target, used in rotation.
#[derive(Clone, Debug)]
pub struct Addresses {
    all: Arc<[Address]>,
    next: Arc<AtomicUsize>,
}

impl Addresses {
    /// Returns the addresses in a URL, with `port` as the default; a `socket` replaces them.
    pub fn of(target: &Target, port: u16, socket: Option<PathBuf>) -> Addresses {
        let all = match (socket, &target.endpoint) {
            (Some(path), _) => vec![Address::Unix(path)],
            (None, Endpoint::Network { addresses, .. }) => addresses
                .iter()
                .map(|given| Address::Tcp(given.host.clone(), given.port.unwrap_or(port)))
                .collect(),
            (None, Endpoint::Temporary | Endpoint::File(_) | Endpoint::Named(_)) => Vec::new(),
        };
        Addresses { all: all.into(), next: Arc::new(AtomicUsize::new(0)) }
    }

    /// Returns all addresses, in order.
    pub fn all(&self) -> &[Address] {
        &self.all
    }

    /// Returns all addresses as text if there are several, otherwise an empty list.
    pub fn several(&self) -> Vec<String> {
        match &*self.all {
            [] | [_] => Vec::new(),
            several => several.iter().map(Address::to_string).collect(),
        }
    }

    /// Returns the index of the next address in the rotation.
    pub fn take_turn(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) % self.all.len().max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rt::{Options, run_real};

    use super::*;

    fn addresses(url: &str, socket: Option<&str>) -> Vec<String> {
        let target = Target::parse(url).expect("a URL");
        let addresses = Addresses::of(&target, 5432, socket.map(PathBuf::from));
        (0..3).map(|_| addresses.all()[addresses.take_turn()].to_string()).collect()
    }

    #[test]
    fn hosts_take_turns_with_their_own_ports() {
        assert_eq!(
            addresses("postgres://a,[::1]:6000/d", None),
            ["a:5432", "[::1]:6000", "a:5432"]
        );
        assert_eq!(addresses("postgres:///d", None)[0], "localhost:5432");
        assert_eq!(addresses("postgres://a,b/d", Some("/s"))[1], "the socket `/s`");
    }

    #[test]
    fn servers_are_told_apart_where_there_are_several() {
        let several = |url: &str, socket: Option<&str>| {
            let target = Target::parse(url).expect("a URL");
            Addresses::of(&target, 5432, socket.map(PathBuf::from)).several()
        };
        assert_eq!(several("postgres://a,b:6000/d", None), ["a:5432", "b:6000"]);
        assert_eq!(several("postgres://a/d", None), [""; 0]);
        assert_eq!(several("postgres://a,b/d", Some("/s")), [""; 0]);
    }

    #[test]
    fn what_is_on_this_machine_is_local() {
        for (host, is_local) in
            [("127.0.0.1", true), ("::1", true), ("localhost", true), ("10.0.0.1", false)]
        {
            assert_eq!(Address::Tcp(host.to_owned(), 1).is_local(), is_local, "{host}");
        }
        assert!(Address::Unix(PathBuf::from("/s")).is_local());
    }

    /// A name may resolve to another host each time; a request about a session must not reach a
    /// host that the session is not on.
    #[test]
    fn known_peer_is_reached_without_name_lookup() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let peer = listener.local_addr().expect("an address");
        let elsewhere = Address::Tcp("no.such.host.invalid".to_owned(), 1);
        let socket = run_real(&Options::default(), async |rt| {
            let socket = elsewhere.connect(&rt, Host::This(peer)).await;
            socket.map(|socket| socket.peer())
        });
        assert_eq!(socket.expect("a runtime"), Ok(Some(peer)));
    }

    /// One unresponsive host of a name must not keep the others from being tried.
    #[test]
    fn a_host_that_does_not_answer_has_only_its_part_of_the_time() {
        let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
        let all = listeners.each_ref().map(|one| one.local_addr().expect("an address"));
        // A backlog with room for one connection, and that one taken.
        rustix::net::listen(&listeners[0], 0).expect("a shorter queue");
        let _first = TcpStream::connect(all[0]).expect("room for one");
        let connected = run_real(&Options::default(), async |rt| {
            let limit = Nanos::from_millis(400);
            connect_first(&rt, &all, limit).await.map(drop)
        });
        connected.expect("a runtime").expect("the second host answers");
    }
}
