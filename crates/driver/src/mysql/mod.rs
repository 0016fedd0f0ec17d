//! The driver of MySQL, MariaDB and servers that speak their protocol.
//!
//! [`wire_mysql`] encodes and decodes the protocol, and [`net`] transports the bytes.
//! This module contains the rest: the commands of a request ([`session`], [`chain`]), the sinks for
//! replies ([`answer`]), access to files ([`mod@file`]), loading rows ([`load`]), and the
//! classification of errors ([`faults`]).

mod activity_counters;
mod answer;
mod chain;
mod config;
mod connection;
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

use base::{Dialect, Stamp, Target};
use confine::Files;
use net::CancelService;
use rt::Rt;

use crate::service::AwaitedGreeting;
use crate::{Driver, Error, Insert, Login, Method, SessionIds};

use config::{KIND, KeyOption, ServiceConfig, read_option};
use login::Shared;
pub use session::MysqlConnection;

/// The driver of `mysql:` URLs.
#[derive(Clone, Debug)]
pub struct Mysql {
    shared: Shared,
}

impl Mysql {
    /// Checks a URL. Opens no connection, and reads none of the files that the URL names.
    ///
    /// # Errors
    /// The problem with the URL.
    pub fn check(target: &Target) -> Result<(), Error> {
        let mut key = KeyOption::Unset;
        KIND.check(target, |given| read_option(given, &mut key)).map(|_| ())
    }

    /// Returns the password file `~/.my.cnf` if it has a password for any host, which a server of
    /// the URL would receive unless `ASSAY_PASSWORD` is set.
    ///
    /// `None` if the file has no such password, if the URL contains a password, or if all servers
    /// of the URL are on this machine.
    pub fn password_file_for_any_host(target: &Target) -> Option<PathBuf> {
        KIND.password_file_for_any_host(target)
    }

    /// Returns the reason why an existing `~/.my.cnf` is not read for the URL, and a remedy; `None`
    /// if it is read, or if the password comes from the URL or the environment.
    pub fn reason_for_ignored_password_file(target: &Target) -> Option<String> {
        KIND.reason_for_ignored_file(target)
    }

    /// Creates the driver for a URL without connecting. `files` opens the files that statements
    /// load (`LOAD DATA LOCAL INFILE`).
    ///
    /// # Errors
    /// The problem with the URL, or with a file that it names.
    pub fn open(target: &Target, files: impl Into<Files>) -> Result<Mysql, Error> {
        let mut key = KeyOption::Unset;
        let service = KIND.open(target, |given| read_option(given, &mut key))?;
        let config = ServiceConfig { service, key: key.read()?, files: files.into() };
        let shared = Shared { config: Arc::new(config), cancels: CancelService::new() };
        Ok(Mysql { shared })
    }

    /// Returns the login at the first server of the URL, for other programs.
    pub fn login(&self) -> Option<Login> {
        self.shared.config.service.login()
    }
}

impl Driver for Mysql {
    type Connection = MysqlConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Mysql
    }

    fn stores_data(&self) -> bool {
        true
    }

    fn has_activity_counters(&self) -> bool {
        true
    }

    fn nodes(&self) -> Vec<String> {
        self.shared.config.service.addresses.list_if_several()
    }

    fn check_load(&self, _into: &Insert<'_>, method: Method) -> Result<(), Error> {
        load::check(method)
    }

    fn time_zero(&self, _zero: Stamp) {
        self.shared.config.service.end_opening();
    }

    fn session_ids(&self) -> Vec<SessionIds> {
        self.shared.config.service.session_ids.clone()
    }

    fn session_name(&self) -> Option<&str> {
        Some(&self.shared.config.service.user)
    }

    async fn connect(&self, rt: &Rt) -> Result<MysqlConnection, Error> {
        let service = &self.shared.config.service;
        let node = service.addresses.next_node();
        let silence = AwaitedGreeting::default();
        let session = async {
            let (channel, session) =
                login::log_in(rt, &self.shared.config, node, None, &silence).await?;
            MysqlConnection::begin(self.shared.clone(), rt.clone(), node, (channel, session)).await
        };
        let connected = service.await_greeting(rt, node, &silence, session).await;
        connected.map_err(|error| error.of_node(node))
    }
}
