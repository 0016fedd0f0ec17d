//! The machine that is observed, and its names for ssh.

/// A machine that is reached by ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteHost {
    /// Login name; `None` leaves it to ssh.
    pub user: Option<String>,
    /// Its name or address, which is the prefix of its components' names.
    pub host: String,
    /// Port of its ssh server; `None` leaves it to ssh.
    pub port: Option<u16>,
    /// Name of the remote program.
    pub command: String,
}

impl RemoteHost {
    /// Default name of the remote program.
    pub const COMMAND: &str = "assay";

    /// Creates a host with a name and defaults for the rest.
    pub fn named(host: &str) -> RemoteHost {
        let (host, command) = (host.to_owned(), RemoteHost::COMMAND.to_owned());
        RemoteHost { user: None, host, port: None, command }
    }

    /// Returns the command with which users can connect themselves.
    pub(super) fn ssh_command(&self) -> String {
        match self.port {
            Some(port) => format!("ssh -p {port} {}", self.login()),
            None => format!("ssh {}", self.login()),
        }
    }

    /// Returns the machine's entry in ssh's list of keys (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").
    pub(super) fn in_known_hosts(&self) -> String {
        match self.port {
            Some(port) => format!("'[{}]:{port}'", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns the destination for ssh: `user@host`, or `host`.
    pub(super) fn login(&self) -> String {
        match &self.user {
            Some(user) => format!("{user}@{}", self.host),
            None => self.host.clone(),
        }
    }
}
