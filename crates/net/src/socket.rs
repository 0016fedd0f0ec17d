//! Sockets, and the connection of a socket to a server.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::pin::pin;

use base::{Class, Code, Nanos};
use rt::{ReadyFd, Rt, connect, connect_unix, within};

use crate::address::Address;
use crate::error::Error;
use crate::lookup::resolve;

/// A connected TCP or Unix domain socket.
pub type Socket = ReadyFd<OwnedFd>;

/// The hosts to try, among those to which a name resolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// All hosts, until one accepts the connection. `within` is divided equally among them, so a
    /// host that does not answer leaves time for the others.
    Any {
        /// The time limit for all hosts together. It applies neither to the lookup of the name nor
        /// to a Unix domain socket.
        within: Nanos,
    },
    /// Only this host, because the connection concerns a session there.
    Exactly(SocketAddr),
}

/// Connects a socket to the server at an address.
///
/// # Errors
/// Class `Disconnect`; `TooManyConnections` if this process may not open more files.
pub(crate) async fn connect_to(rt: &Rt, address: &Address, host: Host) -> Result<Socket, Error> {
    let connected = match (address, host) {
        (Address::Unix(path), _) => connect_unix(rt, path).await,
        (Address::Tcp(..), Host::Exactly(peer)) => connect(rt, peer).await,
        (Address::Tcp(name, port), Host::Any { within }) => {
            connect_tcp(rt, (name, *port), within).await
        }
    };
    connected.map_err(|error| unreachable(address, &error))
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

fn unreachable(address: &Address, error: &io::Error) -> Error {
    // The numbers of `ENFILE` and `EMFILE` on Linux and the BSDs.
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
            ": no server has created it; start it, or name another"
        }
        (io::ErrorKind::PermissionDenied, Address::Unix(_)) => ": this user may not use it",
        _ => "",
    };
    Error::disconnect(format!("cannot connect to {address}: {error}{remedy}"))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rt::{Options, run_real};

    use super::*;

    /// A name may resolve to a different host each time, but a request about a session must reach
    /// the host of that session.
    #[test]
    fn known_peer_is_reached_without_name_lookup() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let peer = listener.local_addr().expect("an address");
        let elsewhere = Address::Tcp("no.such.host.invalid".to_owned(), 1);
        let socket = run_real(&Options::default(), async |rt| {
            let socket = connect_to(&rt, &elsewhere, Host::Exactly(peer)).await;
            socket.map(|socket| socket.peer())
        });
        assert_eq!(socket.expect("a runtime"), Ok(Some(peer)));
    }

    /// If one host of a name does not respond, the other hosts must still be tried.
    #[test]
    fn unresponsive_host_uses_only_its_share_of_the_time() {
        let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).expect("a port"));
        let all = listeners.each_ref().map(|one| one.local_addr().expect("an address"));
        // The backlog has room for only one connection, which is `_first`.
        rustix::net::listen(&listeners[0], 0).expect("a shorter queue");
        let _first = TcpStream::connect(all[0]).expect("room for one");
        let connected = run_real(&Options::default(), async |rt| {
            let limit = Nanos::from_millis(400);
            connect_first(&rt, &all, limit).await.map(drop)
        });
        connected.expect("a runtime").expect("the second host answers");
    }
}
