//! How do I ask this database?
//!
//! A [`Driver`] opens [`Connection`]s; a connection runs [`Work`]: the statements of one request
//! with their values, in and outside of a transaction. The trait is small on purpose: pacing,
//! queueing, retries and timeouts are the engine's, and every driver passes the one suite in
//! [`conformance`].
//!
//! The engine is generic over the driver, so that a request costs no boxed future and no task. A
//! connection stamps the first byte that it sends and the last byte that it reads with the run's
//! clock; nothing above it could do so truthfully.

mod account;
pub mod conformance;
mod either;
mod error;
mod facts;
mod given;
mod load;
mod mailbox;
mod mysql;
mod net;
mod null;
mod postgres;
mod processors;
mod programs;
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

/// A kind of database at a certain place.
pub trait Driver: Clone + Send + 'static {
    /// Its connections.
    type Connection: Connection;

    /// Which SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// Whether what is written can be read again: false for servers that only simulate time.
    fn keeps_data(&self) -> bool;

    /// The addresses of its servers, in the order of their numbers, if they are several whose
    /// connections take turns; else none.
    fn nodes(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many files of the operating system a connection has open at most.
    fn files(&self) -> u32 {
        1
    }

    /// Makes sure that rows can be loaded in this way.
    ///
    /// # Errors
    /// This database has no such method, or cannot treat duplicates in the way that is asked for.
    fn check_load(&self, _into: &Insert<'_>, method: Method) -> Result<(), Error> {
        match method {
            Method::Auto | Method::Insert => Ok(()),
            Method::Copy | Method::LoadData => Err(load::no_method("this target", method)),
        }
    }

    /// Whether its server keeps an [account](Connection::account) of what it did.
    fn keeps_account(&self) -> bool {
        false
    }

    /// What a database in this very process has counted of the statements of all connections: names
    /// and sums that only grow. Others are [asked](Connection::query_text).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Class `TooManyConnections` if the server is full, `Disconnect` if it cannot be reached,
    /// `Statement` if it refuses the login or the database.
    fn connect(&self, rt: &Rt) -> impl Future<Output = Result<Self::Connection, Error>>;

    /// Says when time zero is. From then on a server on a network that does not answer a new
    /// session is away, and no longer [full](Connection::await_session).
    fn time_zero(&self, _zero: Stamp) {}
}

/// A session with the database. Used by one task at a time.
pub trait Connection: Sized + 'static {
    /// Prepares a statement. The ids of a connection count from 0 in the order of preparation, so
    /// that a plan's statements have the same ids on each of its connections.
    ///
    /// # Errors
    /// Class `Statement` if the database rejects it.
    fn prepare(&mut self, text: &str) -> impl Future<Output = Result<StatementId, Error>>;

    /// Waits until the server has answered a first statement: a pooler may let a client in and have
    /// no session for it.
    ///
    /// # Errors
    /// Class `TooManyConnections` with [`Code::NO_SESSION`](base::Code::NO_SESSION) if there is no
    /// answer within the time that a connection may take, the server has answered others, and
    /// [time zero](Driver::time_zero) is not set; `Disconnect` if there is none otherwise.
    fn await_session(&mut self) -> impl Future<Output = Result<(), Error>> {
        std::future::ready(Ok(()))
    }

    /// How many values a prepared statement takes; `None` if the database does not say. Known
    /// without asking it again, so that a workload's mistake is found before the run.
    fn parameters(&self, _statement: StatementId) -> Option<usize> {
        None
    }

    /// Which of [several servers](Driver::nodes) it is connected to.
    fn node(&self) -> usize {
        0
    }

    /// Runs the steps of a request in order and fills in [`Work::reply`], which the caller has
    /// reset. The first error ends it; an open transaction is then rolled back before this
    /// returns. A transaction that is begun and not committed is still open in the next run.
    ///
    /// If the future is dropped before it is ready, the connection can only be abandoned and the
    /// content of `work` is lost.
    ///
    /// # Errors
    /// What the database said. After a class that [ends the connection]
    /// (base::Class::ends_connection) the connection is of no further use.
    fn run(&mut self, work: &mut Work) -> impl Future<Output = Result<(), Error>>;

    /// Writes all rows of `batches` into a table, each batch in a transaction of its own, in a way
    /// that [was checked](Driver::check_load).
    ///
    /// # Errors
    /// What the database said; the batch that it was about is not written.
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

    /// Runs one statement as text and returns what it returns as text: for setup, loading,
    /// settings and observers, never for what is measured. Of an answer that is longer than
    /// [`Table::LIMIT`] the rest [is missing](Table::is_cut).
    ///
    /// # Errors
    /// What the database said.
    fn query_text(&mut self, sql: &str) -> impl Future<Output = Result<Table, Error>>;

    /// The server's version and the settings that decide what its numbers mean (durability,
    /// isolation, memory), by name; what cannot be read is `unknown`.
    fn settings(&mut self) -> impl Future<Output = Vec<(String, String)>>;

    /// What is known of the server beyond its settings, by names that begin with
    /// [`DATABASE`]: what differs from its defaults, replication, sizes. What
    /// cannot be read is `unknown`; a secret is never among them.
    fn facts(&mut self) -> impl Future<Output = Vec<(String, String)>> {
        std::future::ready(Vec::new())
    }

    /// The server's own account of what it did until now, by a [driver](Driver::keeps_account)
    /// whose server keeps one. Waits up to two seconds until what other sessions of the driver did
    /// is in it; they have been closed before.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn account(&mut self) -> impl Future<Output = Result<Vec<Count>, String>> {
        std::future::ready(Err("this database keeps no account of what it did".to_owned()))
    }

    /// Ends the session in an orderly way.
    fn close(self) -> impl Future<Output = ()>;

    /// Ends a session whose statement has not been answered: tells the server to stop working on
    /// it, without waiting for that.
    fn abandon(self);
}
