//! Poolers between clients and PostgreSQL.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::Secret;
use rustix::process::Signal;

use crate::folder::{Folder, change_owner, write_private};
use crate::instance::{DATABASE, Instance, USER};
use crate::launch::{Launch, StopSignal, with_a_free_port};
use crate::options::Via;
use crate::postgres;
use crate::process::{Process, run};
use crate::programs::{Program, Source, clean_command};
use crate::{Options, Problem};

const PGBOUNCER: Program = Program { name: "pgbouncer", source: Source::Package("pgbouncer") };
const PGPOOL: Program = Program { name: "pgpool", source: Source::Package("pgpool2") };

/// Name of the pooler's log file.
pub(crate) const LOG: &str = "pooler.log";

/// pgbouncer before version 1.23: "immediate shutdown". Later versions first wait until all clients
/// have disconnected.
const STOP_PGBOUNCER: StopSignal = StopSignal { signal: Signal::TERM, name: "TERM" };

/// pgpool: "fast shutdown", which releases its shared memory.
const STOP_PGPOOL: StopSignal = StopSignal { signal: Signal::INT, name: "INT" };

/// A pooler in front of a server. Dropping the value does not end the pooler.
pub(crate) struct Pooler {
    via: Via,
    pub(crate) port: u16,
    pub(crate) process: Process,
}

/// The parameters for starting a pooler.
pub(crate) struct PoolerLaunch<'a> {
    pub(crate) via: Via,
    pub(crate) options: &'a Options,
    pub(crate) instance: &'a Instance,
    pub(crate) password: &'a Secret,
}

impl PoolerLaunch<'_> {
    /// Starts the pooler and waits until a client reaches the server through it.
    pub(crate) fn start(&self, folder: &mut Folder) -> Result<Pooler, Problem> {
        let place = self.folder();
        if !place.is_dir() {
            std::fs::create_dir(&place)
                .map_err(Problem::system(format!("make {}", place.display())))?;
            change_owner(&place, &self.instance.account)?;
        }
        self.write("pgpass", &format!("*:*:*:{USER}:{}\n", self.password.expose()))?;
        with_a_free_port(|port| self.start_on(port, folder))
    }

    /// Returns the folder of the pooler's files and its socket. PostgreSQL's own socket is in the
    /// parent folder.
    fn folder(&self) -> PathBuf {
        self.instance.path.join("via")
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, Problem> {
        let path = self.folder().join(name);
        write_private(&path, text, &self.instance.account)?;
        Ok(path)
    }

    fn start_on(&self, port: u16, folder: &mut Folder) -> Result<Pooler, Problem> {
        let (name, command) = match self.via {
            Via::Pgbouncer => ("pgbouncer", self.pgbouncer(port)?),
            Via::Pgpool { .. } => ("pgpool", self.pgpool(port)?),
        };
        let (stop_signal, log) = (self.via.stop_signal(), self.instance.path.join(LOG));
        let launch = Launch { name, stop_signal, log };
        let process = launch.run(command, folder, |_, _| self.answers(port))?;
        Ok(Pooler { via: self.via, port, process })
    }

    /// Returns true if a client gets an answer from the server through the pooler.
    fn answers(&self, port: u16) -> bool {
        if !socket_of(self.instance, port).exists() {
            return false;
        }
        self.client(port).and_then(|client| run("psql", client, "SELECT 1")).is_ok()
    }

    fn client(&self, port: u16) -> Result<Command, Problem> {
        let mut command = clean_command(&postgres::psql()?);
        command.env("PGPASSFILE", self.folder().join("pgpass")).arg("-h").arg(self.folder());
        command.arg("-p").arg(port.to_string()).args(["-X", "-U", USER, "-d", DATABASE]);
        Ok(command)
    }

    /// Returns the command of pgbouncer after writing its settings (pgbouncer(5)). Pgbouncer logs
    /// in to the server with the password in its file of users, by any method that the server
    /// requires.
    fn pgbouncer(&self, port: u16) -> Result<Command, Problem> {
        let program = PGBOUNCER.find()?;
        let users = format!("\"{USER}\" \"{}\"\n", self.password.expose());
        let users = self.write("users.txt", &users)?;
        let Instance { path, port: server_port, .. } = self.instance;
        let mut text = format!(
            "[databases]\n* = host='{}' port={server_port}\n\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir = {}\n\
             auth_type = scram-sha-256\nauth_file = {}\n",
            path.display(),
            self.folder().display(),
            users.display()
        );
        if let Some(tls) = &self.instance.certificates {
            let _ = write!(
                text,
                "client_tls_sslmode = allow\nclient_tls_key_file = {}\n\
                 client_tls_cert_file = {}\n",
                tls.server_key.display(),
                tls.server.display()
            );
        }
        for (name, value) in &self.options.via_settings {
            let _ = writeln!(text, "{name} = {value}");
        }
        let settings = self.write("pgbouncer.ini", &text)?;
        let mut command = self.instance.account.command(&program, STOP_PGBOUNCER.name);
        command.arg(settings).current_dir(self.folder());
        Ok(command)
    }

    /// Returns the command of pgpool after writing its settings (pgpool.conf of pgpool-II 4.3).
    /// Pgpool never gives up its only server, because the server may be killed and come back.
    ///
    /// The settings describe the server as the primary of a streaming replication without replicas.
    /// With `sr_check_period = 0`, pgpool does not check that. In the mode `raw`, pgpool would
    /// begin a transaction of its own when a writing statement is prepared, and roll it back at the
    /// end of the session.
    fn pgpool(&self, port: u16) -> Result<Command, Problem> {
        let program = PGPOOL.find()?;
        let own = self.folder();
        let users = self.write("users", &format!("{USER}:TEXT{}\n", self.password.expose()))?;
        let rules = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n";
        let rules = self.write("pool_hba.conf", rules)?;
        let control = self.write("pcp.conf", "")?;
        let mut settings = vec![
            ("backend_clustering_mode", "streaming_replication".to_owned()),
            ("sr_check_period", "0".to_owned()),
            ("listen_addresses", "127.0.0.1".to_owned()),
            ("port", port.to_string()),
            ("socket_dir", own.display().to_string()),
            ("pcp_listen_addresses", String::new()),
            ("pcp_socket_dir", own.display().to_string()),
            ("backend_hostname0", self.instance.path.display().to_string()),
            ("backend_port0", self.instance.port.to_string()),
            ("backend_flag0", "ALWAYS_PRIMARY|DISALLOW_TO_FAILOVER".to_owned()),
            ("enable_pool_hba", "on".to_owned()),
            ("pool_passwd", users.display().to_string()),
            ("pid_file_name", own.join("pgpool.pid").display().to_string()),
            ("logdir", own.display().to_string()),
        ];
        settings.extend(self.cache_settings());
        if let Some(tls) = &self.instance.certificates {
            settings.push(("ssl", "on".to_owned()));
            settings.push(("ssl_key", tls.server_key.display().to_string()));
            settings.push(("ssl_cert", tls.server.display().to_string()));
        }
        let mut text = String::new();
        let chosen = self.options.via_settings.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in settings.iter().map(|(name, value)| (*name, value)).chain(chosen) {
            let _ = writeln!(text, "{name} = '{}'", value.replace('\'', "''"));
        }
        let text = self.write("pgpool.conf", &text)?;
        let mut command = self.instance.account.command(&program, STOP_PGPOOL.name);
        command.arg("-n").arg("-f").arg(text).arg("-a").arg(rules).arg("-F").arg(control);
        command.current_dir(own);
        Ok(command)
    }

    /// Returns the settings of pgpool's in-memory query cache.
    fn cache_settings(&self) -> Vec<(&'static str, String)> {
        let Via::Pgpool { cache: Some(cache) } = self.via else { return Vec::new() };
        let folder = self.folder().display().to_string();
        let mut settings =
            vec![("memory_cache_enabled", "on".to_owned()), ("memqcache_oiddir", folder)];
        if let Some(ttl) = cache.ttl {
            // In whole seconds; zero would mean "forever".
            let seconds = ttl.0.div_ceil(1_000_000_000).max(1);
            settings.push(("memqcache_expire", seconds.to_string()));
        }
        settings
    }
}

impl Pooler {
    /// Returns the signal that ends the pooler.
    pub(crate) fn stop_signal(&self) -> StopSignal {
        self.via.stop_signal()
    }
}

impl Via {
    fn stop_signal(self) -> StopSignal {
        match self {
            Via::Pgbouncer => STOP_PGBOUNCER,
            Via::Pgpool { .. } => STOP_PGPOOL,
        }
    }
}

/// Returns the path of a pooler's socket.
pub(crate) fn socket_of(instance: &Instance, port: u16) -> PathBuf {
    Path::new(&instance.path).join("via").join(format!(".s.PGSQL.{port}"))
}
