//! The remote machine that is observed, and the ways in which ssh names it.

/// A machine that is reached by ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteHost {
    /// Login name; `None` for ssh's default.
    pub user: Option<String>,
    /// Name or address of the machine. It is the prefix of the names of the machine's components.
    pub host: String,
    /// Port of the machine's ssh server; `None` for ssh's default.
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

    /// Returns a command with which the user can connect to the machine.
    pub(super) fn ssh_command(&self) -> String {
        match self.port {
            Some(port) => format!("ssh -p {port} {}", self.login()),
            None => format!("ssh {}", self.login()),
        }
    }

    /// Returns the name of the machine in ssh's list of known hosts (sshd(8), "SSH_KNOWN_HOSTS FILE
    /// FORMAT").
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
