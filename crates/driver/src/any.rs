//! A driver of any kind, behind one type: a run's targets may be of different kinds, and the engine
//! is compiled once instead of once for each kind.
//!
//! An enum instead of boxed futures: the extra cost per request is one branch.

use std::path::Path;

use base::{Dialect, NodeId, Stamp};
use rt::Rt;

use crate::{
    Batches, Connection, Count, Driver, Error, Insert, Login, Method, Mysql, Null, Postgres,
    PreparedId, Programs, SessionId, SessionIds, Simulated, Sqlite, Table, Work,
};

/// A driver of any kind.
#[derive(Clone, Debug)]
pub enum AnyDriver {
    /// `sim:null`.
    Null(Null),
    /// Any other `sim:` URL.
    Simulated(Simulated),
    /// SQLite.
    Sqlite(Sqlite),
    /// Jobs that run programs.
    Programs(Programs),
    /// PostgreSQL's protocol.
    Postgres(Postgres),
    /// MySQL's protocol.
    Mysql(Mysql),
}

/// A connection of an [`AnyDriver`].
pub enum AnyConnection {
    /// A connection of [`Null`].
    Null(<Null as Driver>::Connection),
    /// A connection of [`Simulated`].
    Simulated(<Simulated as Driver>::Connection),
    /// A connection of [`Sqlite`].
    Sqlite(<Sqlite as Driver>::Connection),
    /// A connection of [`Programs`].
    Programs(<Programs as Driver>::Connection),
    /// A connection of [`Postgres`].
    Postgres(<Postgres as Driver>::Connection),
    /// A connection of [`Mysql`].
    Mysql(<Mysql as Driver>::Connection),
}

/// Evaluates an expression for the driver or connection that the enum holds.
macro_rules! within {
    ($any:expr, $name:ident => $work:expr) => {
        match $any {
            Self::Null($name) => $work,
            Self::Simulated($name) => $work,
            Self::Sqlite($name) => $work,
            Self::Programs($name) => $work,
            Self::Postgres($name) => $work,
            Self::Mysql($name) => $work,
        }
    };
}

/// Implements the conversion of a driver into an [`AnyDriver`].
macro_rules! is_any {
    ($($kind:ident),*) => {
        $(impl From<$kind> for AnyDriver {
            fn from(driver: $kind) -> AnyDriver {
                AnyDriver::$kind(driver)
            }
        })*
    };
}

is_any!(Null, Simulated, Sqlite, Programs, Postgres, Mysql);

impl AnyDriver {
    /// Returns the login for the first server of the URL, for use by other programs; `None` if the
    /// target needs no login.
    pub fn login(&self) -> Option<Login> {
        match self {
            AnyDriver::Postgres(driver) => driver.login(),
            AnyDriver::Mysql(driver) => driver.login(),
            AnyDriver::Null(_)
            | AnyDriver::Simulated(_)
            | AnyDriver::Sqlite(_)
            | AnyDriver::Programs(_) => None,
        }
    }

    /// Returns the path of the database file, for use by other programs; `None` for any database
    /// but SQLite.
    pub fn database_file(&self) -> Option<&Path> {
        match self {
            AnyDriver::Sqlite(driver) => Some(driver.path()),
            AnyDriver::Null(_)
            | AnyDriver::Simulated(_)
            | AnyDriver::Programs(_)
            | AnyDriver::Postgres(_)
            | AnyDriver::Mysql(_) => None,
        }
    }
}

impl Driver for AnyDriver {
    type Connection = AnyConnection;

    fn dialect(&self) -> Dialect {
        within!(self, driver => driver.dialect())
    }

    fn stores_data(&self) -> bool {
        within!(self, driver => driver.stores_data())
    }

    fn nodes(&self) -> Vec<String> {
        within!(self, driver => driver.nodes())
    }

    fn files(&self) -> u32 {
        within!(self, driver => driver.files())
    }

    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error> {
        within!(self, driver => driver.check_load(into, method))
    }

    fn has_activity_counters(&self) -> bool {
        within!(self, driver => driver.has_activity_counters())
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        within!(self, driver => driver.counters())
    }

    fn session_ids(&self) -> Vec<SessionIds> {
        within!(self, driver => driver.session_ids())
    }

    fn session_name(&self) -> Option<&str> {
        within!(self, driver => driver.session_name())
    }

    async fn connect(&self, rt: &Rt) -> Result<AnyConnection, Error> {
        Ok(match self {
            AnyDriver::Null(driver) => AnyConnection::Null(driver.connect(rt).await?),
            AnyDriver::Simulated(driver) => AnyConnection::Simulated(driver.connect(rt).await?),
            AnyDriver::Sqlite(driver) => AnyConnection::Sqlite(driver.connect(rt).await?),
            AnyDriver::Programs(driver) => AnyConnection::Programs(driver.connect(rt).await?),
            AnyDriver::Postgres(driver) => AnyConnection::Postgres(driver.connect(rt).await?),
            AnyDriver::Mysql(driver) => AnyConnection::Mysql(driver.connect(rt).await?),
        })
    }

    fn time_zero(&self, zero: Stamp) {
        within!(self, driver => driver.time_zero(zero));
    }
}

impl Connection for AnyConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        within!(self, connection => connection.prepare(text).await)
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        within!(self, connection => connection.await_session().await)
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        within!(self, connection => connection.parameters(statement))
    }

    fn node(&self) -> NodeId {
        within!(self, connection => connection.node())
    }

    fn session_id(&self) -> Option<SessionId> {
        within!(self, connection => connection.session_id())
    }

    async fn identify(&mut self) {
        within!(self, connection => connection.identify().await);
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        within!(self, connection => connection.run(work).await)
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        within!(self, connection => connection.load(into, method, batches).await)
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        within!(self, connection => connection.query_text(sql).await)
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        within!(self, connection => connection.settings().await)
    }

    async fn facts(&mut self) -> Vec<(String, String)> {
        within!(self, connection => connection.facts().await)
    }

    async fn activity_counters(&mut self) -> Result<Vec<Count>, String> {
        within!(self, connection => connection.activity_counters().await)
    }

    async fn close(self) {
        within!(self, connection => connection.close().await);
    }

    fn abandon(self) {
        within!(self, connection => connection.abandon());
    }
}
