//! Database drivers.
//!
//! A [`Driver`] opens [`Connection`]s. A connection runs [`Work`]: the statements of one request
//! with their values, inside or outside a transaction. The trait is deliberately small: pacing,
//! queueing, retries and timeouts belong to the engine, and every driver passes the same suite,
//! [`conformance`].
//!
//! The engine is generic over the driver, which saves a boxed future and a task per request. A
//! connection timestamps the first byte it sends and the last byte it reads with the run's clock;
//! any higher layer would measure its own delays as well.

mod account;
pub mod conformance;
mod either;
mod error;
mod facts;
mod known;
mod load;
mod mailbox;
mod mysql;
mod null;
mod postgres;
mod processors;
mod programs;
mod service;
mod simulated;
mod sqlite;
mod table;
mod work;

pub use account::Count;
pub use either::Either;
pub use error::Error;
pub use facts::DATABASE;
pub use load::{Batches, Duplicates, Insert, Method};
pub use mysql::{Mysql, MysqlConnection};
pub use null::Null;
pub use postgres::{Postgres, PostgresConnection};
pub use programs::{ProgramConnection, Programs};
pub use simulated::Simulated;
pub use sqlite::{Sqlite, SqliteConnection};
pub use table::Table;
pub use work::{Reply, StatementId, Step, Work};

use std::future::Future;

use base::{Dialect, Stamp};
use rt::Rt;

/// A database of one kind at one address.
pub trait Driver: Clone + Send + 'static {
    /// The type of its connections.
    type Connection: Connection;

    /// Returns the SQL dialect of the database.
    fn dialect(&self) -> Dialect;

    /// Returns true if written data can be read back; false for servers that only simulate time.
    fn keeps_data(&self) -> bool;

    /// Returns the addresses of the servers in index order if connections rotate among several
    /// servers; otherwise an empty list.
    fn nodes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the maximum number of files that a connection keeps open in the operating system.
    fn files(&self) -> u32 {
        1
    }

    /// Checks that rows can be loaded with this method.
    ///
    /// # Errors
    /// This database does not have the method, or cannot treat duplicates as requested.
    fn check_load(&self, _into: &Insert<'_>, method: Method) -> Result<(), Error> {
        match method {
            Method::Auto | Method::Insert => Ok(()),
            Method::Copy | Method::LoadData => Err(load::no_method("this target", method)),
        }
    }

    /// Returns true if the server keeps [activity counters](Connection::account).
    fn has_activity_counters(&self) -> bool {
        false
    }

    /// Returns statement counters, summed over all connections, of a database that runs in this
    /// process: names and values that only grow. Other databases are
    /// [queried](Connection::query_text) for theirs.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Class `TooManyConnections` if the server is full, `Disconnect` if it cannot be reached,
    /// `Statement` if it refuses the login or the database.
    fn connect(&self, rt: &Rt) -> impl Future<Output = Result<Self::Connection, Error>>;

    /// Sets time zero of the run. From then on, a networked server that does not answer a new
    /// session counts as unreachable and no longer as [full](Connection::await_session).
    fn time_zero(&self, _zero: Stamp) {}
}

/// A session with the database. Used by one task at a time.
pub trait Connection: Sized + 'static {
    /// Prepares a statement.
    ///
    /// The ids of a connection count from 0 in the order of preparation, which gives a plan's
    /// statements the same ids on every connection.
    ///
    /// # Errors
    /// Class `Statement` if the database rejects it.
    fn prepare(&mut self, text: &str) -> impl Future<Output = Result<StatementId, Error>>;

    /// Waits until the server has answered a first statement: a pooler may accept a client without
    /// having a session for it.
    ///
    /// # Errors
    /// Class `TooManyConnections` with [`Code::NO_SESSION`](base::Code::NO_SESSION) if no answer
    /// arrives within the connect timeout, the server has answered other sessions, and [time
    /// zero](Driver::time_zero) is not set; `Disconnect` if no answer arrives otherwise.
    fn await_session(&mut self) -> impl Future<Output = Result<(), Error>> {
        std::future::ready(Ok(()))
    }

    /// Returns the number of values that a prepared statement takes; `None` if the database does
    /// not report it.
    ///
    /// No round trip is needed, so mistakes in a workload are found before the run.
    fn parameters(&self, _statement: StatementId) -> Option<usize> {
        None
    }

    /// Returns the index of the [server](Driver::nodes) it is connected to.
    fn node(&self) -> usize {
        0
    }

    /// Runs the steps of a request in order and fills in [`Work::reply`], which the caller has
    /// reset.
    ///
    /// The first error ends the request; an open transaction is rolled back before this returns. A
    /// transaction that is begun and not committed stays open in the next run.
    ///
    /// If the future is dropped before it is ready, the connection can only be abandoned and the
    /// content of `work` is lost.
    ///
    /// # Errors
    /// The error of the database. After a class that [ends the
    /// connection](base::Class::ends_connection) the connection is of no further use.
    fn run(&mut self, work: &mut Work) -> impl Future<Output = Result<(), Error>>;

    /// Writes all rows of `batches` into a table, one transaction per batch, with a method that has
    /// been [checked](Driver::check_load).
    ///
    /// # Errors
    /// The error of the database; the batch that it refers to is not written.
    fn load(
        &mut self,
        into: &Insert<'_>,
        _method: Method,
        batches: &mut impl Batches,
    ) -> impl Future<Output = Result<(), Error>> {
        load::insert_rows(
            self,
            into.columns.len(),
            1,
            |rows| into.text(load::InsertWords::PLAIN, rows),
            batches,
        )
    }

    /// Runs one statement as text and returns its result as text.
    ///
    /// For setup, loading, settings and observers, never for measured requests. The part of an
    /// answer beyond [`Table::LIMIT`] [is missing](Table::is_cut).
    ///
    /// # Errors
    /// The error of the database.
    fn query_text(&mut self, sql: &str) -> impl Future<Output = Result<Table, Error>>;

    /// Returns the server's version and the settings that its numbers depend on (durability,
    /// isolation, memory), by name; a setting that cannot be read is `unknown`.
    fn settings(&mut self) -> impl Future<Output = Vec<(String, String)>>;

    /// Returns further facts about the server, by names that begin with [`DATABASE`]: settings that
    /// differ from their defaults, replication, sizes.
    ///
    /// A fact that cannot be read is `unknown`. Secrets are never included.
    fn facts(&mut self) -> impl Future<Output = Vec<(String, String)>> {
        std::future::ready(Vec::new())
    }

    /// Returns the server's own activity counters, for a
    /// [driver](Driver::has_activity_counters) whose server keeps them.
    ///
    /// The driver's other sessions have been closed before. Waits up to two seconds until the
    /// counters include their activity.
    ///
    /// # Errors
    /// The reason, in words, why they cannot be read.
    fn account(&mut self) -> impl Future<Output = Result<Vec<Count>, String>> {
        std::future::ready(Err("this database does not count its commits or statements".to_owned()))
    }

    /// Closes the session in an orderly way.
    fn close(self) -> impl Future<Output = ()>;

    /// Ends a session whose statement has not been answered: asks the server to cancel the
    /// statement, without waiting for the outcome.
    fn abandon(self);
}
