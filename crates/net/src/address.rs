//! Addresses of servers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Endpoint, NodeId, Target, is_local_host};

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

impl Address {
    /// Returns true if the server is on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Address::Tcp(host, _) => is_local_host(host),
            Address::Unix(_) => true,
        }
    }

    /// Returns the host name that a server's certificate must have.
    pub fn host(&self) -> &str {
        match self {
            Address::Tcp(host, _) => host,
            Address::Unix(_) => "localhost",
        }
    }
}

/// The servers of a target, used in rotation. Clones share the rotation.
#[derive(Clone, Debug)]
pub struct Addresses {
    all: Arc<[Address]>,
    next: Arc<AtomicUsize>,
}

impl Addresses {
    /// Returns the addresses in a URL, with `port` as the default port. If `socket` is given, it is
    /// used instead of them.
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

    /// Returns all addresses as text, or an empty list if there is only one.
    pub fn list_if_several(&self) -> Vec<String> {
        match &*self.all {
            [] | [_] => Vec::new(),
            several => several.iter().map(Address::to_string).collect(),
        }
    }

    /// Returns the identifier of the next server in the rotation, and advances the rotation.
    pub fn next_node(&self) -> NodeId {
        NodeId((self.next.fetch_add(1, Ordering::Relaxed) % self.all.len().max(1)) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(url: &str, socket: Option<&str>) -> Vec<String> {
        let target = Target::parse(url).expect("a URL");
        let addresses = Addresses::of(&target, 5432, socket.map(PathBuf::from));
        (0..3).map(|_| addresses.all()[addresses.next_node().index()].to_string()).collect()
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
    fn servers_are_distinguished_where_there_are_several() {
        let several = |url: &str, socket: Option<&str>| {
            let target = Target::parse(url).expect("a URL");
            Addresses::of(&target, 5432, socket.map(PathBuf::from)).list_if_several()
        };
        assert_eq!(several("postgres://a,b:6000/d", None), ["a:5432", "b:6000"]);
        assert_eq!(several("postgres://a/d", None), [""; 0]);
        assert_eq!(several("postgres://a,b/d", Some("/s")), [""; 0]);
    }

    #[test]
    fn addresses_of_this_machine_are_local() {
        for (host, is_local) in
            [("127.0.0.1", true), ("::1", true), ("localhost", true), ("10.0.0.1", false)]
        {
            assert_eq!(Address::Tcp(host.to_owned(), 1).is_local(), is_local, "{host}");
        }
        assert!(Address::Unix(PathBuf::from("/s")).is_local());
    }
}
