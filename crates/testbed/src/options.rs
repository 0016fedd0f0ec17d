//! Options of a private server.

use std::path::{Path, PathBuf};

use base::Nanos;

use crate::{Cpus, Problem};

/// The kinds of database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    Mariadb,
    /// MySQL.
    Mysql,
}

impl Kind {
    /// Returns the name in a `testbed:` URL.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::Mariadb => "mariadb",
            Kind::Mysql => "mysql",
        }
    }
}

/// Authentication method of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// PostgreSQL: SCRAM-SHA-256, with channel binding if there is TLS.
    Scram,
    /// PostgreSQL: a salted MD5.
    Md5,
    /// PostgreSQL: the password in clear text.
    Password,
    /// PostgreSQL: none. Any user that reaches the port can log in, so it is for tests only.
    Trust,
    /// MariaDB: `mysql_native_password`.
    Native,
    /// MariaDB: `client_ed25519`.
    Ed25519,
    /// MySQL: `caching_sha2_password`.
    Sha2,
}

impl Auth {
    fn kind(self) -> Kind {
        match self {
            Auth::Scram | Auth::Md5 | Auth::Password | Auth::Trust => Kind::Postgres,
            Auth::Native | Auth::Ed25519 => Kind::Mariadb,
            Auth::Sha2 => Kind::Mysql,
        }
    }
}

/// TLS of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// No TLS.
    Off,
    /// TLS for clients that request it.
    Server,
    /// TLS and a client certificate required for all TCP connections.
    Mutual,
}

/// Rights of the user in a server's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Rights of a database owner who may also create databases and read all of the server's
    /// statistics. On PostgreSQL, the user may also end sessions and write checkpoints. On MariaDB
    /// and MySQL, the user may also flush tables and logs and read the replication stream, and on
    /// MariaDB change some settings of replication. The user can neither run programs nor access
    /// files: workload files may come from anybody, and the server of a `testbed:` URL executes
    /// their statements under the account of the person who runs Assay.
    Ordinary,
    /// All rights: for tests and measurements, whose statements are trusted.
    All,
}

/// A pooler between the client and PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// pgbouncer, with its default `pool_mode = session`. Prepared statements need that mode
    /// before version 1.21 (Debian 12 has 1.18).
    Pgbouncer,
    /// pgpool-II.
    Pgpool {
        /// In-memory query cache, if it is on.
        cache: Option<Cache>,
    },
}

/// Query cache of pgpool-II.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// Time to live of a cached answer, rounded up to seconds; `None` is unlimited. An answer is
    /// removed earlier if a statement through pgpool changes a table on which it depends.
    pub ttl: Option<Nanos>,
}

/// Options with which a server is started.
///
/// ```
/// use testbed::{Auth, Options};
///
/// let options = Options::postgres().set("synchronous_commit", "off").auth(Auth::Md5);
/// assert_eq!(options.settings, [("synchronous_commit".to_owned(), "off".to_owned())]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Kind of server.
    pub kind: Kind,
    /// Settings by name, in order. Other settings keep the server's own default.
    pub settings: Vec<(String, String)>,
    /// Rights of the user in the server's URL.
    pub rights: Rights,
    /// Authentication method of the server.
    pub auth: Auth,
    /// TLS of the server.
    pub tls: Tls,
    /// Pooler, if any. Clients then use its port and socket.
    pub via: Option<Via>,
    /// Settings of the pooler.
    pub via_settings: Vec<(String, String)>,
    /// Processors to which the server is bound; all if `None`. A pooler is not bound.
    pub cpus: Option<Cpus>,
    /// Library loaded into the server before all others (ld.so(8), `LD_PRELOAD`): for tests in
    /// which the server's system calls misbehave.
    pub preload: Option<PathBuf>,
}

impl Options {
    /// Returns the options of a PostgreSQL server with its defaults.
    pub fn postgres() -> Options {
        Options::new(Kind::Postgres)
    }

    /// Returns the options of a MariaDB server with its defaults.
    pub fn mariadb() -> Options {
        Options::new(Kind::Mariadb)
    }

    /// Returns the options of a MySQL server with its defaults.
    pub fn mysql() -> Options {
        Options::new(Kind::Mysql)
    }

    /// Returns the options of a server of this kind with its defaults, whose user has all rights.
    pub fn new(kind: Kind) -> Options {
        let auth = match kind {
            Kind::Postgres => Auth::Scram,
            Kind::Mariadb => Auth::Native,
            Kind::Mysql => Auth::Sha2,
        };
        Options {
            kind,
            settings: Vec::new(),
            rights: Rights::All,
            auth,
            tls: Tls::Off,
            via: None,
            via_settings: Vec::new(),
            cpus: None,
            preload: None,
        }
    }

    /// Binds the server to processors.
    pub fn cpus(mut self, cpus: Cpus) -> Options {
        self.cpus = Some(cpus);
        self
    }

    /// Sets a library to load before all others.
    pub fn preload(mut self, library: &Path) -> Options {
        self.preload = Some(library.to_owned());
        self
    }

    /// Adds a setting of the server.
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the rights of the user.
    pub fn rights(mut self, rights: Rights) -> Options {
        self.rights = rights;
        self
    }

    /// Sets the authentication method.
    pub fn auth(mut self, auth: Auth) -> Options {
        self.auth = auth;
        self
    }

    /// Sets the TLS mode.
    pub fn tls(mut self, tls: Tls) -> Options {
        self.tls = tls;
        self
    }

    /// Adds a pooler.
    pub fn via(mut self, via: Via) -> Options {
        self.via = Some(via);
        self
    }

    /// Adds a setting of the pooler.
    pub fn set_via(mut self, name: &str, value: &str) -> Options {
        self.via_settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the maximum number of connections.
    pub fn max_connections(self, most: u32) -> Options {
        self.set("max_connections", &most.to_string())
    }

    /// Checks for options that contradict each other, and for settings that are malformed or that
    /// the testbed itself sets. Unknown settings are left for the server to report.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let mut mistakes = Vec::new();
        if self.auth.kind() != self.kind {
            let (auth, kind) = (self.auth, self.kind.name());
            mistakes.push(format!("a {kind} server has no login by {auth:?}"));
        }
        if self.kind != Kind::Postgres && self.via.is_some() {
            mistakes.push("only PostgreSQL can have a pooler: leave `via` out".to_owned());
        }
        if self.tls == Tls::Mutual && self.via.is_some() {
            mistakes.push("a pooler requests no client certificates".to_owned());
        }
        if self.via.is_none() && !self.via_settings.is_empty() {
            mistakes.push(
                "`via.NAME` sets an option of the pooler, but the URL has no `via`".to_owned(),
            );
        }
        let objection = self.cpus.as_ref().and_then(Cpus::objection);
        mistakes.extend(objection.map(|why| format!("`cpus`: {why}")));
        let own: &[&[&str]] = match self.kind {
            Kind::Postgres => &[&RESERVED_POSTGRES_SETTINGS],
            Kind::Mariadb => &[&RESERVED_MARIADB_SETTINGS],
            Kind::Mysql => &[&RESERVED_MARIADB_SETTINGS, &RESERVED_MYSQL_SETTINGS],
        };
        mistakes.extend(setting_mistakes("server", own, &self.settings));
        mistakes.extend(setting_mistakes("via", &[&RESERVED_POOLER_SETTINGS], &self.via_settings));
        if mistakes.is_empty() { Ok(()) } else { Err(Problem::Refused(mistakes)) }
    }
}

/// Returns the mistakes in a group of settings. `own` are the names that the testbed itself sets,
/// with underscores in place of hyphens.
fn setting_mistakes(group: &str, own: &[&[&str]], settings: &[(String, String)]) -> Vec<String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let mistake = |(name, value): &(String, String)| {
        let plain = name.to_ascii_lowercase().replace('-', "_");
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        if !begins || !name.bytes().all(is_word) {
            return Some(format!("`{group}.{name}` does not name a setting"));
        }
        if value.contains(['\0', '\n', '\r']) {
            return Some(format!("the value of `{group}.{name}` has more than one line"));
        }
        own.iter()
            .any(|names| names.contains(&plain.as_str()))
            .then(|| format!("`{group}.{name}` is set by Assay itself: leave it out"))
    };
    settings.iter().filter_map(mistake).collect()
}

/// Settings of the poolers that the testbed needs to control.
const RESERVED_POOLER_SETTINGS: [&str; 26] = [
    "auth_file",
    "auth_type",
    "backend_flag0",
    "backend_hostname0",
    "backend_port0",
    "client_tls_cert_file",
    "client_tls_key_file",
    "enable_pool_hba",
    "listen_addr",
    "listen_addresses",
    "listen_port",
    "logdir",
    "logfile",
    "memory_cache_enabled",
    "memqcache_expire",
    "memqcache_oiddir",
    "pcp_listen_addresses",
    "pcp_socket_dir",
    "pid_file_name",
    "pidfile",
    "pool_passwd",
    "port",
    "socket_dir",
    "ssl_cert",
    "ssl_key",
    "unix_socket_dir",
];

/// Settings of PostgreSQL that the testbed needs to control.
const RESERVED_POSTGRES_SETTINGS: [&str; 13] = [
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "port",
    "ssl",
    "ssl_ca_file",
    "ssl_cert_file",
    "ssl_key_file",
    "unix_socket_directories",
    "unix_socket_permissions",
];

/// Settings of MariaDB that the testbed needs to control; they apply to MySQL as well.
const RESERVED_MARIADB_SETTINGS: [&str; 20] = [
    "basedir",
    "bind_address",
    "bootstrap",
    "datadir",
    "defaults_extra_file",
    "defaults_file",
    "init_file",
    "log_error",
    "pid_file",
    "port",
    "secure_file_priv",
    "skip_grant_tables",
    "skip_name_resolve",
    "skip_networking",
    "socket",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "tmpdir",
    "user",
];

/// Further settings of MySQL that the testbed needs to control.
const RESERVED_MYSQL_SETTINGS: [&str; 7] = [
    "admin_address",
    "daemonize",
    "initialize",
    "initialize_insecure",
    "mysqlx",
    "mysqlx_port",
    "mysqlx_socket",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(options: &Options, complaint: &str) {
        assert_eq!(options.check().map_err(|problem| problem.to_string()), Err(complaint.into()));
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let options = Options::postgres()
            .set("a b", "1")
            .set("port", "1")
            .set("jit", "\0")
            .auth(Auth::Native);
        check(
            &options,
            "a postgres server has no login by Native\n\
             `server.a b` does not name a setting\n\
             `server.port` is set by Assay itself: leave it out\n\
             the value of `server.jit` has more than one line",
        );
    }

    #[test]
    fn a_setting_may_not_look_like_another_argument() {
        check(&Options::mariadb().set("--user", "x"), "`server.--user` does not name a setting");
        check(&Options::mariadb().set("", "x"), "`server.` does not name a setting");
        check(
            &Options::mariadb().set("Bind-Address", "*"),
            "`server.Bind-Address` is set by Assay itself: leave it out",
        );
        assert!(Options::mariadb().set("innodb-flush-log-at-trx-commit", "0").check().is_ok());
    }
}
