//! The parts of a private server that MySQL and MariaDB share.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use crate::instance::{DATABASE, Instance, USER};
use crate::launch::StopSignal;
use crate::options::{Options, Rights, Tls};

/// Accounts that run the server if this process is root, in order of preference.
pub(crate) const ACCOUNTS: [&str; 2] = ["mysql", "nobody"];

/// Orderly shutdown: sessions are ended and data is flushed.
pub(crate) const STOP: StopSignal = StopSignal { signal: Signal::TERM, name: "TERM" };

/// Shutdown that discards the data; the server has nothing outside of its folder.
pub(crate) const DISCARD: StopSignal = StopSignal { signal: Signal::KILL, name: "KILL" };

/// A database that every server has.
pub(crate) const FIRST_DATABASE: &str = "mysql";

/// Returns the path of the socket.
pub(crate) fn socket(instance: &Instance) -> PathBuf {
    instance.path.join("mysqld.sock")
}

/// Returns true if the log since the start shows that the server accepts sessions.
pub(crate) fn is_ready(log: &str) -> bool {
    log.contains("ready for connections")
}

/// Adds the options of a start: addresses, certificates, the settings of the user, and the library
/// to load before all others.
pub(crate) fn add_options(command: &mut Command, instance: &Instance, options: &Options) {
    command.arg(format!("--socket={}", socket(instance).display()));
    command.arg(format!("--port={}", instance.port));
    command.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
    command.arg(format!("--pid-file={}", instance.path.join("mysqld.pid").display()));
    if let Some(tls) = &instance.certificates {
        command.arg(format!("--ssl-cert={}", tls.server.display()));
        command.arg(format!("--ssl-key={}", tls.server_key.display()));
        command.arg(format!("--ssl-ca={}", tls.authority.display()));
    }
    for (name, value) in &options.settings {
        command.arg(format!("--{name}={value}"));
    }
    if let Some(library) = &options.preload {
        command.env("LD_PRELOAD", library);
    }
}

/// Adds the options of a client program: the socket, the user and the database.
pub(crate) fn add_client_options(
    command: &mut Command,
    instance: &Instance,
    user: &str,
    database: &str,
) {
    command.args(["--no-defaults", "--batch", "--skip-column-names"]);
    command.arg(format!("--socket={}", socket(instance).display()));
    command.arg(format!("--user={user}")).arg(database);
}

/// Returns the end of the statement that creates the user: the requirement of a client certificate,
/// or nothing if none is required.
pub(crate) fn required_certificate(options: &Options) -> &'static str {
    match options.tls {
        Tls::Off | Tls::Server => "",
        Tls::Mutual => " REQUIRE X509",
    }
}

/// Returns the statements that grant the user's rights.
///
/// An ordinary user gets the privileges `ordinary` on the server, may read the database
/// `performance_schema`, and has all privileges on databases whose names begin with the name of the
/// testbed's database. With all privileges on any database, the user could become an administrator
/// through the database `mysql`.
pub(crate) fn grants(rights: Rights, ordinary: &str) -> String {
    match rights {
        Rights::All => format!("GRANT ALL PRIVILEGES ON *.* TO {USER}@'%' WITH GRANT OPTION;\n"),
        Rights::Ordinary => format!(
            "GRANT {ordinary} ON *.* TO {USER}@'%';\n\
             GRANT SELECT ON performance_schema.* TO {USER}@'%';\n\
             GRANT ALL PRIVILEGES ON `{DATABASE}%`.* TO {USER}@'%';\n"
        ),
    }
}
