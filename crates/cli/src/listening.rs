//! Servers of pages: their addresses, and the complaint about an address that cannot be used.

use std::io::{self, ErrorKind};

use report::{FIGURES_SCRIPT_SOURCE, LIVE_SCRIPT_SOURCE, STYLE_SOURCE};
use serve::{Limits, ListenAddress, Policy, Script, Server, Settings, Token};

use crate::complain::Complaint;

/// The pages that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServedPages {
    /// The records of a folder, to which notes may be added.
    Records,
    /// The records of a folder, to which no notes may be added.
    ReadOnlyRecords,
    /// A run in progress.
    Run,
    /// The metrics of a run in progress. Their address has no token, because a monitoring system is
    /// configured with a fixed address.
    Metrics,
}

impl ServedPages {
    /// Returns the option that names the address.
    fn option(self) -> &'static str {
        match self {
            ServedPages::Records | ServedPages::ReadOnlyRecords => "--listen",
            ServedPages::Run => "--serve",
            ServedPages::Metrics => "--metrics",
        }
    }

    /// Returns the script that the served pages may contain.
    fn script(self) -> Option<Script> {
        match self {
            ServedPages::Records | ServedPages::ReadOnlyRecords => {
                Some(Script { source: FIGURES_SCRIPT_SOURCE, may_connect: false })
            }
            ServedPages::Run => Some(Script { source: LIVE_SCRIPT_SOURCE, may_connect: true }),
            ServedPages::Metrics => None,
        }
    }

    /// Returns the maximum number of simultaneous connections. The maximum is low during a run,
    /// because serving pages takes processor time from the load generator.
    fn connections(self) -> usize {
        match self {
            ServedPages::Records | ServedPages::ReadOnlyRecords => Limits::default().connections,
            ServedPages::Run => 16,
            ServedPages::Metrics => 4,
        }
    }

    /// Returns the clause of the warning about a public address that names the rights of users on
    /// other machines.
    fn warning(self) -> &'static str {
        match self {
            ServedPages::Records => {
                "everyone who has the address with its token can read all records and add notes"
            }
            ServedPages::ReadOnlyRecords => {
                "everyone who has the address with its token can read all records"
            }
            ServedPages::Run => "everyone who has the address with its token can watch the run",
            ServedPages::Metrics => "everyone there can read the metrics, without a token",
        }
    }
}

/// Listens at an address, and warns if other machines can reach it.
///
/// # Errors
/// The address is in use, not of this machine, not known, or needs more rights; or the kernel gives
/// no random token.
pub(crate) fn bind(listen: &ListenAddress, served: ServedPages) -> Result<Server, Complaint> {
    let token = (served != ServedPages::Metrics).then(Token::random).transpose();
    let token = token.map_err(|error| {
        Complaint::new(format!("cannot draw a token from the kernel: {error}"))
            .help("allow the system call `getrandom`, which a sandbox may forbid")
    })?;
    let policy = Policy { style: Some(STYLE_SOURCE), script: served.script() };
    let limits = Limits { connections: served.connections(), ..Limits::default() };
    let takes_forms = served == ServedPages::Records;
    let settings = Settings { listen: listen.clone(), limits, token, policy, takes_forms };
    let option = served.option();
    let server = Server::bind(settings).map_err(|error| cannot_listen(listen, option, &error))?;
    if !server.is_local() {
        let warning = served.warning();
        let sentence = format!(
            "{option}: other machines can reach `{listen}`: {warning}, and the connection is not \
             encrypted"
        );
        let help = "127.0.0.1 is for this machine alone; from another one, forward the port: `ssh \
                    -L 8600:127.0.0.1:8600 HOST`";
        Complaint::warning(sentence).help(help).print();
    }
    Ok(server)
}

fn cannot_listen(listen: &ListenAddress, option: &str, error: &io::Error) -> Complaint {
    let (reason, help) = match error.kind() {
        ErrorKind::AddrInUse => (
            "another program listens there".to_owned(),
            "end that program, or take a free port with 127.0.0.1:0",
        ),
        ErrorKind::AddrNotAvailable => (
            "it is not an address of this machine".to_owned(),
            "name an address of this machine, such as 127.0.0.1",
        ),
        ErrorKind::PermissionDenied => {
            ("it needs more rights".to_owned(), "name a port from 1024 to 65535")
        }
        _ => (error.to_string(), "name an address of this machine, such as 127.0.0.1"),
    };
    Complaint::new(format!("{option}: cannot listen at `{listen}`: {reason}")).help(help)
}
