//! The parts of a private server that are specific to PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::Command;

use postgres_protocol::password;
use rustix::process::Signal;

use crate::instance::{DATABASE, Instance, USER};
use crate::launch::StopSignal;
use crate::options::{Auth, Tls};
use crate::process::run;
use crate::programs::{Program, Source, Suite, clean_command};
use crate::{Options, Problem, Rights};

/// The package of the server.
const SERVER: Source = Source::Package("postgresql");

/// The server and its programs. Debian installs each version in its own folder.
const SUITE: Suite = Suite {
    server: Program { name: "postgres", source: SERVER },
    variable: "ASSAY_POSTGRES",
    versions: Some("/usr/lib/postgresql"),
};

/// The owner of the cluster. This user logs in without a password, but only over the socket, and
/// only the server's own account and root can enter the folder of the socket.
const OWNER: &str = "postgres";

/// Accounts that run the server if this process is root, in order of preference.
pub(crate) const ACCOUNTS: [&str; 2] = ["postgres", "nobody"];

/// "Fast": sessions are aborted, a checkpoint is written.
pub(crate) const STOP: StopSignal = StopSignal { signal: Signal::INT, name: "INT" };

/// "Immediate": nothing is written, for data that is discarded. Shared memory is released.
pub(crate) const DISCARD: StopSignal = StopSignal { signal: Signal::QUIT, name: "QUIT" };

/// Returns the path of the socket. Clients based on libpq take the folder of this path instead.
pub(crate) fn socket(instance: &Instance) -> PathBuf {
    instance.path.join(format!(".s.PGSQL.{}", instance.port))
}

/// Returns the path of the server program.
pub(crate) fn program() -> Result<PathBuf, Problem> {
    SUITE.find_server()
}

/// Initializes an empty cluster. The cluster sorts texts by their bytes, which is the same on every
/// machine.
pub(crate) fn initialise(instance: &Instance) -> Result<(), Problem> {
    let initdb = SUITE.find(Program { name: "initdb", source: SERVER })?;
    let mut command = instance.account.command(&initdb, "KILL");
    command.arg("-D").arg(instance.data()).current_dir(&instance.path);
    command.args(["-U", OWNER, "-A", "trust", "-E", "UTF8", "--no-locale"]);
    command.args(["--no-sync", "--no-instructions"]);
    run("initdb", command, "").map(drop)
}

/// Writes the rules by which clients log in.
pub(crate) fn configure(instance: &Instance, options: &Options) -> Result<(), Problem> {
    let path = instance.data().join("pg_hba.conf");
    std::fs::write(&path, host_rules(options))
        .map_err(Problem::system(format!("write {}", path.display())))
}

/// Returns the rules of `pg_hba.conf` for the options.
fn host_rules(options: &Options) -> String {
    let method = match options.auth {
        Auth::Md5 => "md5",
        Auth::Password => "password",
        Auth::Trust => "trust",
        Auth::Scram | Auth::Native | Auth::Ed25519 | Auth::Sha2 => "scram-sha-256",
    };
    let (host, certificate) = match options.tls {
        Tls::Off | Tls::Server => ("host", ""),
        Tls::Mutual => ("hostssl", " clientcert=verify-ca"),
    };
    format!(
        "local all {OWNER} trust\n\
         host all {OWNER} all reject\n\
         local all all {method}\n\
         {host} all all 127.0.0.1/32 {method}{certificate}\n"
    )
}

/// Returns the command that starts the server.
pub(crate) fn server(instance: &Instance, options: &Options) -> Result<Command, Problem> {
    let mut command = instance.account.command(&program()?, DISCARD.name);
    command.arg("-D").arg(instance.data()).arg("-k").arg(&instance.path);
    command.arg("-p").arg(instance.port.to_string()).args(["-c", "listen_addresses=127.0.0.1"]);
    if let Some(tls) = &instance.certificates {
        let mut set = |name: &str, path: &Path| {
            command.arg("-c").arg(format!("{name}={}", path.display()));
        };
        set("ssl_cert_file", &tls.server);
        set("ssl_key_file", &tls.server_key);
        set("ssl_ca_file", &tls.authority);
        command.args(["-c", "ssl=on"]);
    }
    for (name, value) in &options.settings {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    if let Some(library) = &options.preload {
        command.env("LD_PRELOAD", library);
    }
    Ok(command)
}

/// Returns true if the server accepts sessions, according to the last line of its `postmaster.pid`,
/// for which `pg_ctl` waits as well.
pub(crate) fn is_ready(instance: &Instance, pid: u32) -> bool {
    let text = std::fs::read_to_string(instance.data().join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first() == Some(&pid.to_string().as_str()) && lines.last() == Some(&"ready")
}

/// Returns the path of the client program.
pub(crate) fn psql() -> Result<PathBuf, Problem> {
    SUITE.find(Program { name: "psql", source: Source::Package("postgresql-client") })
}

/// Returns the command that starts the client program and logs in as the superuser of the cluster.
pub(crate) fn client(instance: &Instance, database: &str) -> Result<Command, Problem> {
    let mut command = clean_command(&psql()?);
    command.args(["-X", "-q", "-A", "-t", "-F", "\t", "-P", "null=NULL", "-v", "ON_ERROR_STOP=1"]);
    command.arg("-h").arg(&instance.path).arg("-p").arg(instance.port.to_string());
    command.args(["-U", OWNER, "-d", database, "-f", "-"]);
    Ok(command)
}

/// A database that every cluster has.
pub(crate) const FIRST_DATABASE: &str = "postgres";

/// Returns the statements that create the user and the database. They contain only the password's
/// verifier, which keeps the password out of statement logs.
pub(crate) fn create_user_sql(options: &Options, password: &str) -> String {
    let verifier = match options.auth {
        Auth::Md5 => password::md5(password.as_bytes(), USER),
        Auth::Scram | Auth::Password | Auth::Trust | Auth::Native | Auth::Ed25519 | Auth::Sha2 => {
            password::scram_sha_256(password.as_bytes())
        }
    };
    let (attribute, more) = match options.rights {
        Rights::All => ("SUPERUSER", String::new()),
        Rights::Ordinary => ("CREATEDB", ordinary(options)),
    };
    format!(
        "CREATE ROLE {USER} LOGIN {attribute} PASSWORD '{verifier}';\n\
         CREATE DATABASE {DATABASE} OWNER {USER};\n{more}"
    )
}

/// Roles of a user who may observe the server, end sessions and write checkpoints (PostgreSQL
/// manual, "Predefined Roles"). Older servers lack some of them. None of them gives access to files
/// or programs.
const ROLES: &str = "'pg_monitor', 'pg_signal_backend', 'pg_checkpoint'";

/// The extension that the observer reads. Only a superuser can install it, and it collects
/// statistics only on a server that has loaded its library at the start.
const STATEMENTS: &str = "pg_stat_statements";

/// Returns the statements that grant an ordinary user's rights.
fn ordinary(options: &Options) -> String {
    let is_loaded = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("shared_preload_libraries") && value.contains(STATEMENTS)
    };
    let extension = match options.settings.iter().any(is_loaded) {
        true => format!("\\connect {DATABASE}\nCREATE EXTENSION {STATEMENTS};\n"),
        false => String::new(),
    };
    format!(
        "SELECT format('GRANT %I TO {USER}', rolname) FROM pg_roles \
         WHERE rolname IN ({ROLES}) \\gexec\n{extension}"
    )
}
