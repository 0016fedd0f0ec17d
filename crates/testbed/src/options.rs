//! Which server is wanted.

use crate::Problem;

/// The kinds of database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// PostgreSQL.
    Postgres,
    /// MariaDB.
    Mariadb,
}

impl Kind {
    /// Its name in a `testbed:` URL.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Postgres => "postgres",
            Kind::Mariadb => "mariadb",
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
    /// PostgreSQL: not at all. Whoever reaches the port is superuser: for tests.
    Trust,
    /// MariaDB: `mysql_native_password`.
    Native,
    /// MariaDB: `client_ed25519`.
    Ed25519,
}

impl Auth {
    fn kind(self) -> Kind {
        match self {
            Auth::Scram | Auth::Md5 | Auth::Password | Auth::Trust => Kind::Postgres,
            Auth::Native | Auth::Ed25519 => Kind::Mariadb,
        }
    }
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
    /// How the server makes sure of who logs in.
    pub auth: Auth,
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

    /// A server of this kind with its defaults.
    pub fn new(kind: Kind) -> Options {
        let auth = match kind {
            Kind::Postgres => Auth::Scram,
            Kind::Mariadb => Auth::Native,
        };
        Options { kind, settings: Vec::new(), auth }
    }

    /// With a setting of the server.
    pub fn set(mut self, name: &str, value: &str) -> Options {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With another way to log in.
    pub fn auth(mut self, auth: Auth) -> Options {
        self.auth = auth;
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
        let settings = self.settings.iter();
        mistakes.extend(settings.filter_map(|(name, value)| self.mistake(name, value)));
        if mistakes.is_empty() { Ok(()) } else { Err(Problem::Refused(mistakes)) }
    }

    /// What is wrong with a setting, if something is.
    fn mistake(&self, name: &str, value: &str) -> Option<String> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        if !begins || !name.bytes().all(is_word) {
            return Some(format!("`server.{name}` does not name a setting"));
        }
        if value.contains('\0') {
            return Some(format!("the value of `server.{name}` holds a zero byte"));
        }
        let plain = name.to_ascii_lowercase().replace('-', "_");
        let own: &[&str] = match self.kind {
            Kind::Postgres => &POSTGRES_OWN,
            Kind::Mariadb => &MARIADB_OWN,
        };
        own.contains(&plain.as_str())
            .then(|| format!("`server.{name}` is chosen by the testbed itself: leave it out"))
    }
}

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
             the value of `server.jit` holds a zero byte",
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
