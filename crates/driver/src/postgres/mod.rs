//! The driver of PostgreSQL and servers that speak its protocol.
//!
//! [`wire_postgres`] encodes and decodes the protocol, and [`net`] transports the
//! bytes. This module contains the rest: the messages of a request ([`session`]), the sinks for
//! answers ([`answer`]), and the classification of errors ([`faults`]).

mod activity_counters;
mod answer;
mod connection;
mod facts;
mod faults;
mod load;
mod login;
mod prepare;
mod session;
mod settings;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Dialect, Stamp, Target, UrlOption};
use net::{CancelService, PasswordFile};
use rt::Rt;
use wire_postgres::Format;

use crate::service::{LOGGING_IN, ServiceKind};
use crate::{Driver, Error, Insert, Login, Method, SessionIds};

use login::Shared;
pub use session::PostgresConnection;

const KIND: ServiceKind = ServiceKind {
    name: "PostgreSQL",
    port: 5432,
    password_file: PasswordFile::PgPass,
    options: &["results"],
};

/// The driver of `postgres:` URLs.
#[derive(Clone, Debug)]
pub struct Postgres {
    shared: Shared,
}

impl Postgres {
    /// Checks a URL. Opens no connection, and reads none of the files that the URL names.
    ///
    /// # Errors
    /// The problem with the URL.
    pub fn check(target: &Target) -> Result<(), Error> {
        let mut results = Format::Text;
        KIND.check(target, |given| read_option(given, &mut results)).map(|_| ())
    }

    /// Returns the password file `~/.pgpass` if a line with the host `*` has the password that a
    /// server of the URL would receive unless `ASSAY_PASSWORD` is set.
    ///
    /// `None` if there is no such line, if the URL contains a password, or if all servers of the
    /// URL are on this machine.
    pub fn password_file_for_any_host(target: &Target) -> Option<PathBuf> {
        KIND.password_file_for_any_host(target)
    }

    /// Returns the reason why an existing `~/.pgpass` is not read for the URL, and a remedy; `None`
    /// if it is read, or if the password comes from the URL or the environment.
    pub fn reason_for_ignored_password_file(target: &Target) -> Option<String> {
        KIND.reason_for_ignored_file(target)
    }

    /// Creates the driver for a URL without connecting.
    ///
    /// # Errors
    /// The problem with the URL, or with a file that it names.
    pub fn open(target: &Target) -> Result<Postgres, Error> {
        let mut results = Format::Text;
        let service = KIND.open(target, |given| read_option(given, &mut results))?;
        let (service, cancels) = (Arc::new(service), CancelService::new());
        Ok(Postgres { shared: Shared { service, results, cancels } })
    }

    /// Returns the login at the first server of the URL, for other programs.
    pub fn login(&self) -> Option<Login> {
        self.shared.service.login()
    }
}

fn read_option(given: UrlOption<'_>, results: &mut Format) -> Result<(), Error> {
    *results = match given.word(&["text", "binary"])? {
        "binary" => Format::Binary,
        _ => Format::Text,
    };
    Ok(())
}

impl Driver for Postgres {
    type Connection = PostgresConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn stores_data(&self) -> bool {
        true
    }

    fn has_activity_counters(&self) -> bool {
        true
    }

    fn nodes(&self) -> Vec<String> {
        self.shared.service.addresses.list_if_several()
    }

    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error> {
        load::check(into, method)
    }

    fn time_zero(&self, _zero: Stamp) {
        self.shared.service.end_opening();
    }

    fn session_ids(&self) -> Vec<SessionIds> {
        self.shared.service.session_ids.clone()
    }

    fn session_name(&self) -> Option<&str> {
        Some(&self.shared.service.options.application_name)
    }

    async fn connect(&self, rt: &Rt) -> Result<PostgresConnection, Error> {
        let node = self.shared.service.addresses.next_node();
        let session = async {
            let session = login::log_in(rt, &self.shared.service, node).await?;
            PostgresConnection::begin(self.shared.clone(), rt.clone(), node, session).await
        };
        let connected = self.shared.service.in_time(rt, node, LOGGING_IN, session).await;
        connected.map_err(|error| error.of_node(node))
    }
}
