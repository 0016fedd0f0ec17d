//! Which server is wanted.

use std::path::{Path, PathBuf};

use base::Nanos;

use crate::Problem;

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
    /// Its name in a `testbed:` URL.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::Mariadb => "mariadb",
            Kind::Mysql => "mysql",
        }
    }
}

/// How the server makes sure of who logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// PostgreSQL: SCRAM-SHA-256, bound to the channel where there is TLS.
    Scram,
    /// PostgreSQL: a salted MD5.
    Md5,
    /// PostgreSQL: the password in clear text.
    Password,
    /// PostgreSQL: not at all. Any user is let in who reaches the port: for tests.
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

/// Whether the server offers TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// No.
    Off,
    /// To who asks for it.
    Server,
    /// Over TCP nothing else is accepted, and only from a client with a certificate.
    Mutual,
}

/// The rights of the user that the URL of a server names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Those of the owner of a database who may also see all of the server's statistics. It can
    /// neither run programs nor reach files: a `testbed:` URL runs the statements of workload
    /// files, which may come from anybody, on a server that runs as the user.
    Ordinary,
    /// All: for tests and measurements, whose statements are our own.
    All,
}

/// What stands between the client and PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// pgbouncer, with its default `pool_mode = session`. Prepared statements need that mode
    /// before version 1.21 (Debian 12 has 1.18).
    Pgbouncer,
    /// pgpool-II.
    Pgpool {
        /// Its query cache in memory, if it is on.
        cache: Option<Cache>,
    },
}

/// How long pgpool-II keeps the answers to queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// For so long, rounded up to seconds, or until a statement through pgpool changes a table;
    /// `None` until the latter.
    pub ttl: Option<Nanos>,
}

/// What a server is started with.
///
/// ```
/// use testbed::{Auth, Options};
///
/// let options = Options::postgres().set("synchronous_commit", "off").auth(Auth::Md5);
/// assert_eq!(options.settings, [("synchronous_commit".to_owned(), "off".to_owned())]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which server.
    pub kind: Kind,
    /// Its settings by name, in order. What is not named keeps the server's own default.
    pub settings: Vec<(String, String)>,
    /// The rights of the user that the server's URL names.
    pub rights: Rights,
    /// How the server makes sure of who logs in.
    pub auth: Auth,
    /// Whether it offers TLS.
    pub tls: Tls,
    /// What stands in between, and has the port and the socket that clients use.
    pub via: Option<Via>,
    /// The settings of what stands in between.
    pub via_settings: Vec<(String, String)>,
    /// A library that is loaded into the server before all others (ld.so(8), `LD_PRELOAD`): for
    /// tests in which its system calls are to behave badly.
    pub preload: Option<PathBuf>,
}

impl Options {
    /// A PostgreSQL server with its defaults.
    pub fn postgres() -> Options {
        Options::new(Kind::Postgres)
    }

    /// A MariaDB server with its defaults.
    pub fn mariadb() -> Options {
        Options::new(Kind::Mariadb)
    }

    /// A MySQL server with its defaults.
    pub fn mysql() -> Options {
        Options::new(Kind::Mysql)
    }

    /// A server of this kind with its defaults, whose user may do everything.
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
            preload: None,
        }
    }

    /// With a library that is loaded before all others.
    pub fn preload(mut self, library: &Path) -> Options {
        self.preload = Some(library.to_owned());
        self
    }

    /// With a setting of the server.
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With other rights of the user.
    pub fn rights(mut self, rights: Rights) -> Options {
        self.rights = rights;
        self
    }

    /// With another way to log in.
    pub fn auth(mut self, auth: Auth) -> Options {
        self.auth = auth;
        self
    }

    /// With TLS.
    pub fn tls(mut self, tls: Tls) -> Options {
        self.tls = tls;
        self
    }

    /// With something in between.
    pub fn via(mut self, via: Via) -> Options {
        self.via = Some(via);
        self
    }

    /// With a setting of what stands in between.
    pub fn set_via(mut self, name: &str, value: &str) -> Options {
        self.via_settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With at most so many connections.
    pub fn max_connections(self, most: u32) -> Options {
        self.set("max_connections", &most.to_string())
    }

    /// Finds what no server can be started with; whether a setting exists is the server's to say.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let mut mistakes = Vec::new();
        if self.auth.kind() != self.kind {
            let (auth, kind) = (self.auth, self.kind.name());
            mistakes.push(format!("a {kind} server knows no login by {auth:?}"));
        }
        if self.kind != Kind::Postgres && self.via.is_some() {
            mistakes.push("poolers stand in front of PostgreSQL only: leave `via` out".to_owned());
        }
        if self.tls == Tls::Mutual && self.via.is_some() {
            mistakes.push("a pooler asks no client for its certificate".to_owned());
        }
        if self.via.is_none() && !self.via_settings.is_empty() {
            mistakes.push("`via.NAME` sets what stands in between, and nothing does".to_owned());
        }
        let own: &[&[&str]] = match self.kind {
            Kind::Postgres => &[&POSTGRES_OWN],
            Kind::Mariadb => &[&MARIADB_OWN],
            Kind::Mysql => &[&MARIADB_OWN, &MYSQL_OWN],
        };
        mistakes.extend(mistaken("server", own, &self.settings));
        mistakes.extend(mistaken("via", &[&VIA_OWN], &self.via_settings));
        if mistakes.is_empty() { Ok(()) } else { Err(Problem::Refused(mistakes)) }
    }
}

/// What is wrong with settings of one kind.
fn mistaken(group: &str, own: &[&[&str]], settings: &[(String, String)]) -> Vec<String> {
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
            .then(|| format!("`{group}.{name}` is chosen by the testbed itself: leave it out"))
    };
    settings.iter().filter_map(mistake).collect()
}

/// The settings of the poolers without which the testbed would not find them.
const VIA_OWN: [&str; 26] = [
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

/// The settings of PostgreSQL without which the testbed would not find its server.
const POSTGRES_OWN: [&str; 13] = [
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

/// The same of MariaDB.
const MARIADB_OWN: [&str; 20] = [
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

/// The settings that MySQL has beyond these.
const MYSQL_OWN: [&str; 7] = [
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
    fn all_mistakes_are_told_at_once() {
        let options = Options::postgres()
            .set("a b", "1")
            .set("port", "1")
            .set("jit", "\0")
            .auth(Auth::Native);
        check(
            &options,
            "a postgres server knows no login by Native\n\
             `server.a b` does not name a setting\n\
             `server.port` is chosen by the testbed itself: leave it out\n\
             the value of `server.jit` has more than one line",
        );
    }

    #[test]
    fn a_setting_may_not_look_like_another_argument() {
        check(&Options::mariadb().set("--user", "x"), "`server.--user` does not name a setting");
        check(&Options::mariadb().set("", "x"), "`server.` does not name a setting");
        check(
            &Options::mariadb().set("Bind-Address", "*"),
            "`server.Bind-Address` is chosen by the testbed itself: leave it out",
        );
        assert!(Options::mariadb().set("innodb-flush-log-at-trx-commit", "0").check().is_ok());
    }
}
