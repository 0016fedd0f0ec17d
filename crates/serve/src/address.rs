//! Addresses to listen on, and the names under which they may be requested.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// An address to listen on: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenAddress {
    /// Name or IP address of the host.
    pub(crate) host: String,
    /// Port; for 0, the system chooses a free one.
    pub(crate) port: u16,
}

/// The error of a text that is not a [`ListenAddress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressError;

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected HOST:PORT, such as `127.0.0.1:8600` or `[::1]:8600`")
    }
}

impl std::error::Error for AddressError {}

impl FromStr for ListenAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<ListenAddress, AddressError> {
        match split(text) {
            Some((host, Some(port))) => Ok(ListenAddress { host: host.to_owned(), port }),
            Some((_, None)) | None => Err(AddressError),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// The range of machines that can reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// This machine.
    Loopback,
    /// This machine, and others over a network.
    Network,
}

/// The values of `Host` that a server answers to.
///
/// Another site can make a name of its own lead to this server (DNS rebinding), but the browser
/// then sends that name. IP addresses, `localhost` and the name to listen on are therefore safe.
/// The port is not compared: through a forwarded port the browser sends a different one.
#[derive(Clone, Debug)]
pub(crate) struct HostNames {
    pub(crate) range: Range,
    pub(crate) name: String,
}

impl HostNames {
    /// Returns true if a value of `Host` names this server.
    pub(crate) fn contains(&self, host: &str) -> bool {
        let Some((name, _)) = split(host) else { return false };
        match (name.parse::<IpAddr>(), self.range) {
            (Ok(number), Range::Loopback) => number.is_loopback(),
            (Ok(_), Range::Network) => true,
            (Err(_), _) => {
                name.eq_ignore_ascii_case("localhost") || name.eq_ignore_ascii_case(&self.name)
            }
        }
    }
}

/// Splits `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT` into host and port; `None` if the text has
/// a different form.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            match port {
                "" => (host, None),
                port => (host, Some(port.strip_prefix(':')?)),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port = match port {
        Some(port) if is_port(port) => Some(port.parse().ok()?),
        Some(_) => return None,
        None => None,
    };
    let is_name = !host.is_empty() && !host.contains(['/', '@', ' ', '\\', '#', '?']);
    is_name.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_a_host_and_a_port() {
        for (text, host, port) in [
            ("127.0.0.1:8600", "127.0.0.1", 8600),
            ("localhost:0", "localhost", 0),
            ("[::1]:80", "::1", 80),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port));
            assert_eq!(address.to_string(), text);
        }
        for text in ["", "8600", "localhost", ":8600", "a:b", "a:+1", "a:70000", "::1:80", "[::1]"]
        {
            assert_eq!(text.parse::<ListenAddress>(), Err(AddressError), "{text}");
        }
    }

    #[test]
    fn only_host_names_of_this_machine_are_accepted() {
        let names = |range, name: &str| HostNames { range, name: name.to_owned() };
        let here = names(Range::Loopback, "127.0.0.1");
        for host in ["127.0.0.1:8600", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8600"] {
            assert!(here.contains(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8600",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "192.0.2.1:8600",
            "user@127.0.0.1",
            "[::1",
            "127.0.0.1:x",
        ] {
            assert!(!here.contains(host), "{host}");
        }
        let everywhere = names(Range::Network, "bench1");
        for host in ["192.0.2.1:8600", "[2001:db8::1]:8600", "Bench1:8600", "localhost:8600"] {
            assert!(everywhere.contains(host), "{host}");
        }
        assert!(!everywhere.contains("bench1.evil.example"));
    }
}
