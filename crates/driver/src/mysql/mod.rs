//! The driver of MySQL, MariaDB and servers that speak their protocol.
//!
//! [`wire_mysql`] encodes and decodes the protocol, and [`net`] transports the bytes.
//! This module contains the rest: the commands of a request ([`session`], [`chain`]), the sinks for
//! replies ([`answer`]), access to files ([`mod@file`]), loading rows ([`load`]), and the
//! classification of errors ([`faults`]).

mod account;
mod answer;
mod chain;
mod facts;
mod faults;
mod file;
mod load;
mod login;
mod script;
mod session;
mod settings;
mod temporal;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Dialect, Stamp, Target, UrlOption};
use confine::Files;
use net::{CancelService, PasswordFile};
use rt::Rt;

use crate::service::{AwaitedGreeting, Kind, Service};
use crate::{Driver, Error, Insert, Method};

use login::Kill;
pub use session::MysqlConnection;

const KIND: Kind = Kind {
    name: "MySQL",
    port: 3306,
    passwords: PasswordFile::MyCnf,
    options: &["server-public-key"],
};

/// The driver of `mysql:` URLs.
#[derive(Clone, Debug)]
pub struct Mysql {
    site: Arc<Site>,
    cancels: CancelService<Kill>,
}

/// State shared by all connections.
#[derive(Debug)]
struct Site {
    service: Service,
    key: TrustedKey,
    /// Access to the files that statements load.
    files: Files,
}

/// The server keys that may encrypt a password on a connection that others can read.
#[derive(Clone, Debug)]
enum TrustedKey {
    /// Any key from a server on this machine, where no attacker is in between.
    Near,
    /// Any key.
    Any,
    /// Exactly this key, in PEM.
    Known(Vec<u8>),
}

/// The option `server-public-key` as written.
enum KeyOption {
    Near,
    Ask,
    File(PathBuf),
}

impl Mysql {
    /// Checks a URL without reading the files it names or connecting.
    ///
    /// # Errors
    /// The problem with the URL.
    pub fn check(target: &Target) -> Result<(), Error> {
        let mut key = KeyOption::Near;
        KIND.check(target, |given| read_option(given, &mut key)).map(|_| ())
    }

    /// Returns the password file, `~/.my.cnf`, that would give a server of the URL a password not
    /// bound to its host.
    ///
    /// `None` if there is no such password, the URL contains one, or its servers are on this
    /// machine.
    pub fn password_file_for_any_host(target: &Target) -> Option<PathBuf> {
        KIND.password_file_for_any_host(target)
    }

    /// Creates the driver for a URL without connecting. `files` opens the files that statements
    /// load (`LOAD DATA LOCAL INFILE`).
    ///
    /// # Errors
    /// The problem with the URL, or with a file that it names.
    pub fn open(target: &Target, files: impl Into<Files>) -> Result<Mysql, Error> {
        let mut key = KeyOption::Near;
        let service = KIND.open(target, |given| read_option(given, &mut key))?;
        let site = Site { service, key: key.read()?, files: files.into() };
        Ok(Mysql { site: Arc::new(site), cancels: CancelService::new() })
    }
}

fn read_option(given: UrlOption<'_>, key: &mut KeyOption) -> Result<(), Error> {
    *key = match given.value {
        "ask" => KeyOption::Ask,
        _ => KeyOption::File(given.path()?),
    };
    Ok(())
}

impl KeyOption {
    fn read(self) -> Result<TrustedKey, Error> {
        let path = match self {
            KeyOption::Near => return Ok(TrustedKey::Near),
            KeyOption::Ask => return Ok(TrustedKey::Any),
            KeyOption::File(path) => path,
        };
        let file = path.display();
        let pem = std::fs::read(&path).map_err(|error| {
            Error::url(format!("cannot read `{file}` of the option `server-public-key`: {error}"))
        })?;
        if !String::from_utf8_lossy(&pem).contains("PUBLIC KEY-----") {
            return Err(Error::url(format!(
                "`{file}` of the option `server-public-key` holds no public key in PEM; the server \
                 shows its own by `show status like 'Caching_sha2_password_rsa_public_key'`"
            )));
        }
        Ok(TrustedKey::Known(pem))
    }
}

impl Driver for Mysql {
    type Connection = MysqlConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn keeps_data(&self) -> bool {
        true
    }

    fn has_activity_counters(&self) -> bool {
        true
    }

    fn nodes(&self) -> Vec<String> {
        self.site.service.addresses.several()
    }

    fn check_load(&self, _into: &Insert<'_>, method: Method) -> Result<(), Error> {
        load::check(method)
    }

    fn time_zero(&self, _zero: Stamp) {
        self.site.service.end_opening();
    }

    async fn connect(&self, rt: &Rt) -> Result<MysqlConnection, Error> {
        let service = &self.site.service;
        let place = service.addresses.take_turn();
        let silence = AwaitedGreeting::default();
        let session = async {
            let (channel, session) = login::log_in(rt, &self.site, place, None, &silence).await?;
            MysqlConnection::begin(self.clone(), rt.clone(), place, (channel, session)).await
        };
        let connected = service.greeted_in_time(rt, place, &silence, session).await;
        connected.map_err(|error| error.of_node(place))
    }
}
