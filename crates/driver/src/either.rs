//! A driver that dispatches to one of two others, for runs whose jobs use targets of different
//! kinds.
//!
//! An enum instead of boxed futures: the extra cost per request is one branch. Nesting it gives any
//! number of kinds.

use base::{Dialect, NodeId, Stamp};
use rt::Rt;

use crate::{Batches, Connection, Count, Driver, Error, Insert, Method, PreparedId, Table, Work};

/// A driver or a connection of one of two kinds.
#[derive(Clone, Debug)]
pub enum Either<A, B> {
    /// The first kind.
    Left(A),
    /// The second kind.
    Right(B),
}

impl<A: Driver, B: Driver> Driver for Either<A, B> {
    type Connection = Either<A::Connection, B::Connection>;

    fn dialect(&self) -> Dialect {
        match self {
            Either::Left(driver) => driver.dialect(),
            Either::Right(driver) => driver.dialect(),
        }
    }

    fn keeps_data(&self) -> bool {
        match self {
            Either::Left(driver) => driver.keeps_data(),
            Either::Right(driver) => driver.keeps_data(),
        }
    }

    fn nodes(&self) -> Vec<String> {
        match self {
            Either::Left(driver) => driver.nodes(),
            Either::Right(driver) => driver.nodes(),
        }
    }

    fn files(&self) -> u32 {
        match self {
            Either::Left(driver) => driver.files(),
            Either::Right(driver) => driver.files(),
        }
    }

    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error> {
        match self {
            Either::Left(driver) => driver.check_load(into, method),
            Either::Right(driver) => driver.check_load(into, method),
        }
    }

    fn has_activity_counters(&self) -> bool {
        match self {
            Either::Left(driver) => driver.has_activity_counters(),
            Either::Right(driver) => driver.has_activity_counters(),
        }
    }

    async fn connect(&self, rt: &Rt) -> Result<Self::Connection, Error> {
        match self {
            Either::Left(driver) => driver.connect(rt).await.map(Either::Left),
            Either::Right(driver) => driver.connect(rt).await.map(Either::Right),
        }
    }

    fn time_zero(&self, zero: Stamp) {
        match self {
            Either::Left(driver) => driver.time_zero(zero),
            Either::Right(driver) => driver.time_zero(zero),
        }
    }
}

impl<A: Connection, B: Connection> Connection for Either<A, B> {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        match self {
            Either::Left(connection) => connection.prepare(text).await,
            Either::Right(connection) => connection.prepare(text).await,
        }
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        match self {
            Either::Left(connection) => connection.await_session().await,
            Either::Right(connection) => connection.await_session().await,
        }
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        match self {
            Either::Left(connection) => connection.parameters(statement),
            Either::Right(connection) => connection.parameters(statement),
        }
    }

    fn node(&self) -> NodeId {
        match self {
            Either::Left(connection) => connection.node(),
            Either::Right(connection) => connection.node(),
        }
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        match self {
            Either::Left(connection) => connection.run(work).await,
            Either::Right(connection) => connection.run(work).await,
        }
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        match self {
            Either::Left(connection) => connection.load(into, method, batches).await,
            Either::Right(connection) => connection.load(into, method, batches).await,
        }
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        match self {
            Either::Left(connection) => connection.query_text(sql).await,
            Either::Right(connection) => connection.query_text(sql).await,
        }
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        match self {
            Either::Left(connection) => connection.settings().await,
            Either::Right(connection) => connection.settings().await,
        }
    }

    async fn facts(&mut self) -> Vec<(String, String)> {
        match self {
            Either::Left(connection) => connection.facts().await,
            Either::Right(connection) => connection.facts().await,
        }
    }

    async fn account(&mut self) -> Result<Vec<Count>, String> {
        match self {
            Either::Left(connection) => connection.account().await,
            Either::Right(connection) => connection.account().await,
        }
    }

    async fn close(self) {
        match self {
            Either::Left(connection) => connection.close().await,
            Either::Right(connection) => connection.close().await,
        }
    }

    fn abandon(self) {
        match self {
            Either::Left(connection) => connection.abandon(),
            Either::Right(connection) => connection.abandon(),
        }
    }
}
