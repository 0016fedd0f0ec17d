//! Observation of the database and of machines during a run.

use std::fmt;

use base::Nanos;

/// The settings of `[observe]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observe {
    /// Time between two samples.
    pub every: Nanos,
    /// True if the database's own statistics are sampled, over a separate session.
    pub database: bool,
    /// Ids of the database's processes on this machine; if empty, they are found by its port.
    pub processes: Vec<u32>,
    /// Other machines to observe.
    pub hosts: Vec<RemoteHost>,
}

impl Default for Observe {
    fn default() -> Observe {
        let every = Observe::EVERY;
        Observe { every, database: true, processes: Vec::new(), hosts: Vec::new() }
    }
}

impl Observe {
    /// The default time between two samples.
    pub const EVERY: Nanos = Nanos::from_secs(1);

    /// The shortest and the longest time between two samples.
    pub const ENDS: (Nanos, Nanos) = (Nanos::from_millis(100), Nanos::from_secs(60));
}

/// A machine reached by ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteHost {
    /// User name; `None` for the default of ssh.
    pub user: Option<String>,
    /// Host name or address.
    pub host: String,
    /// Port of the machine's ssh server; `None` for the default of ssh.
    pub port: Option<u16>,
}

impl RemoteHost {
    /// Parses `ssh://USER@HOST:PORT`; only the host is required.
    ///
    /// # Errors
    /// Returns the problem, as the second half of a sentence that begins with the text.
    pub fn parse(text: &str) -> Result<RemoteHost, String> {
        let form = "write for example `ssh://postgres@db1`";
        let Some(rest) = text.strip_prefix("ssh://") else {
            return Err(format!("is not a host that is reached by ssh: {form}"));
        };
        let (user, place) = match rest.split_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, rest),
        };
        let (host, port) = host_and_port(place.strip_suffix('/').unwrap_or(place));
        if user.is_some_and(|user| user.contains(':')) {
            return Err("has a password, which ssh cannot take from a URL: set up a key".to_owned());
        }
        // Neither the user nor the host may look like an option to ssh, or like a second word to a
        // shell.
        let is_plain = |word: &str| {
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-:%".contains(c);
            !word.is_empty() && !word.starts_with('-') && word.chars().all(is_allowed)
        };
        if !is_plain(host) || user.is_some_and(|user| !is_plain(user)) {
            return Err(format!("names no host: {form}"));
        }
        let port = port.map(|port| match port.parse() {
            Ok(0) | Err(_) => Err(format!("has no port from 1 to 65535 after its host: {form}")),
            Ok(port) => Ok(port),
        });
        let (user, host) = (user.map(str::to_owned), host.to_owned());
        Ok(RemoteHost { user, host, port: port.transpose()? })
    }
}

/// Splits a host from its port; an IPv6 address is in brackets.
fn host_and_port(place: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        // Text after the address is a port only after a colon. Without one, the port is empty,
        // which `parse` refuses.
        let port = rest.strip_prefix(':').unwrap_or_default();
        return (address, (!rest.is_empty()).then_some(port));
    }
    match place.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    }
}

impl fmt::Display for RemoteHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.host.contains(':') {
            true => write!(f, "[{}]", self.host)?,
            false => f.write_str(&self.host)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_round_trips() {
        for text in [
            "ssh://db1",
            "ssh://u@db1",
            "ssh://u@db1:2222",
            "ssh://[::1]:22",
            "ssh://[fe80::1%eth0]",
        ] {
            assert_eq!(RemoteHost::parse(text).unwrap().to_string(), text);
        }
        let host = RemoteHost::parse("ssh://postgres@db1.example.net:2222/").unwrap();
        assert_eq!(
            (host.user.as_deref(), host.host.as_str()),
            (Some("postgres"), "db1.example.net")
        );
        assert_eq!(host.port, Some(2222));
    }

    #[test]
    fn host_that_ssh_would_misread_is_refused() {
        for (text, words) in [
            ("db1", "ssh://postgres@db1"),
            ("ssh://", "names no host"),
            ("ssh://u@", "names no host"),
            ("ssh://-oProxyCommand=x", "names no host"),
            ("ssh://-l@db1", "names no host"),
            ("ssh://db1; rm", "names no host"),
            ("ssh://u:p@db1", "has a password"),
            ("ssh://db1:0", "no port"),
            ("ssh://db1:ssh", "no port"),
            ("ssh://db1:70000", "no port"),
            ("ssh://[::1]22", "no port"),
        ] {
            let error = RemoteHost::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
