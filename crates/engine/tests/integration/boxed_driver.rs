//! A driver of any type behind one type: the engine is compiled once for all tests, instead of once
//! for each driver that a test plants a fault in.

use std::pin::Pin;

use base::{Dialect, NodeId, Stamp, Values};
use driver::{Batches, Connection, Count, Driver, Error, Insert, Method, PreparedId, Table, Work};
use rt::Rt;

/// A driver of any type.
pub(crate) struct BoxedDriver(Box<dyn ErasedDriver>);

/// A connection of [`BoxedDriver`].
pub(crate) struct BoxedConnection(Box<dyn ErasedConnection>);

type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// [`Driver`] with futures of one type.
trait ErasedDriver: Send {
    fn copy(&self) -> Box<dyn ErasedDriver>;
    fn dialect(&self) -> Dialect;
    fn stores_data(&self) -> bool;
    fn nodes(&self) -> Vec<String>;
    fn files(&self) -> u32;
    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error>;
    fn has_activity_counters(&self) -> bool;
    fn counters(&self) -> Vec<(&'static str, u64)>;
    fn connect<'a>(&'a self, rt: &'a Rt) -> BoxedFuture<'a, Result<BoxedConnection, Error>>;
    fn time_zero(&self, zero: Stamp);
}

/// [`Connection`] with futures of one type.
trait ErasedConnection {
    fn prepare<'a>(&'a mut self, text: &'a str) -> BoxedFuture<'a, Result<PreparedId, Error>>;
    fn await_session(&mut self) -> BoxedFuture<'_, Result<(), Error>>;
    fn parameters(&self, statement: PreparedId) -> Option<usize>;
    fn node(&self) -> NodeId;
    fn identify(&mut self) -> BoxedFuture<'_, ()>;
    fn run<'a>(&'a mut self, work: &'a mut Work) -> BoxedFuture<'a, Result<(), Error>>;
    fn load<'a>(
        &'a mut self,
        into: &'a Insert<'_>,
        method: Method,
        batches: ErasedBatches<'a>,
    ) -> BoxedFuture<'a, Result<(), Error>>;
    fn query_text<'a>(&'a mut self, sql: &'a str) -> BoxedFuture<'a, Result<Table, Error>>;
    fn settings(&mut self) -> BoxedFuture<'_, Vec<(String, String)>>;
    fn facts(&mut self) -> BoxedFuture<'_, Vec<(String, String)>>;
    fn activity_counters(&mut self) -> BoxedFuture<'_, Result<Vec<Count>, String>>;
    fn close(self: Box<Self>) -> BoxedFuture<'static, ()>;
    fn abandon(self: Box<Self>);
}

/// Batches of any type.
struct ErasedBatches<'a>(&'a mut dyn Batches);

impl BoxedDriver {
    pub(crate) fn new(driver: impl Driver) -> BoxedDriver {
        BoxedDriver(Box::new(driver))
    }
}

impl Clone for BoxedDriver {
    fn clone(&self) -> BoxedDriver {
        BoxedDriver(self.0.copy())
    }
}

impl Driver for BoxedDriver {
    type Connection = BoxedConnection;

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }

    fn stores_data(&self) -> bool {
        self.0.stores_data()
    }

    fn nodes(&self) -> Vec<String> {
        self.0.nodes()
    }

    fn files(&self) -> u32 {
        self.0.files()
    }

    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error> {
        self.0.check_load(into, method)
    }

    fn has_activity_counters(&self) -> bool {
        self.0.has_activity_counters()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.0.counters()
    }

    async fn connect(&self, rt: &Rt) -> Result<BoxedConnection, Error> {
        self.0.connect(rt).await
    }

    fn time_zero(&self, zero: Stamp) {
        self.0.time_zero(zero);
    }
}

impl Connection for BoxedConnection {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        self.0.prepare(text).await
    }

    async fn await_session(&mut self) -> Result<(), Error> {
        self.0.await_session().await
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        self.0.parameters(statement)
    }

    fn node(&self) -> NodeId {
        self.0.node()
    }

    async fn identify(&mut self) {
        self.0.identify().await;
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.0.run(work).await
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        self.0.load(into, method, ErasedBatches(batches)).await
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        self.0.query_text(sql).await
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        self.0.settings().await
    }

    async fn facts(&mut self) -> Vec<(String, String)> {
        self.0.facts().await
    }

    async fn activity_counters(&mut self) -> Result<Vec<Count>, String> {
        self.0.activity_counters().await
    }

    async fn close(self) {
        self.0.close().await;
    }

    fn abandon(self) {
        self.0.abandon();
    }
}

impl<D: Driver> ErasedDriver for D {
    fn copy(&self) -> Box<dyn ErasedDriver> {
        Box::new(self.clone())
    }

    fn dialect(&self) -> Dialect {
        Driver::dialect(self)
    }

    fn stores_data(&self) -> bool {
        Driver::stores_data(self)
    }

    fn nodes(&self) -> Vec<String> {
        Driver::nodes(self)
    }

    fn files(&self) -> u32 {
        Driver::files(self)
    }

    fn check_load(&self, into: &Insert<'_>, method: Method) -> Result<(), Error> {
        Driver::check_load(self, into, method)
    }

    fn has_activity_counters(&self) -> bool {
        Driver::has_activity_counters(self)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        Driver::counters(self)
    }

    fn connect<'a>(&'a self, rt: &'a Rt) -> BoxedFuture<'a, Result<BoxedConnection, Error>> {
        Box::pin(async move { Ok(BoxedConnection(Box::new(Driver::connect(self, rt).await?))) })
    }

    fn time_zero(&self, zero: Stamp) {
        Driver::time_zero(self, zero);
    }
}

impl<C: Connection> ErasedConnection for C {
    fn prepare<'a>(&'a mut self, text: &'a str) -> BoxedFuture<'a, Result<PreparedId, Error>> {
        Box::pin(Connection::prepare(self, text))
    }

    fn await_session(&mut self) -> BoxedFuture<'_, Result<(), Error>> {
        Box::pin(Connection::await_session(self))
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        Connection::parameters(self, statement)
    }

    fn node(&self) -> NodeId {
        Connection::node(self)
    }

    fn identify(&mut self) -> BoxedFuture<'_, ()> {
        Box::pin(Connection::identify(self))
    }

    fn run<'a>(&'a mut self, work: &'a mut Work) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(Connection::run(self, work))
    }

    fn load<'a>(
        &'a mut self,
        into: &'a Insert<'_>,
        method: Method,
        mut batches: ErasedBatches<'a>,
    ) -> BoxedFuture<'a, Result<(), Error>> {
        Box::pin(async move { Connection::load(self, into, method, &mut batches).await })
    }

    fn query_text<'a>(&'a mut self, sql: &'a str) -> BoxedFuture<'a, Result<Table, Error>> {
        Box::pin(Connection::query_text(self, sql))
    }

    fn settings(&mut self) -> BoxedFuture<'_, Vec<(String, String)>> {
        Box::pin(Connection::settings(self))
    }

    fn facts(&mut self) -> BoxedFuture<'_, Vec<(String, String)>> {
        Box::pin(Connection::facts(self))
    }

    fn activity_counters(&mut self) -> BoxedFuture<'_, Result<Vec<Count>, String>> {
        Box::pin(Connection::activity_counters(self))
    }

    fn close(self: Box<Self>) -> BoxedFuture<'static, ()> {
        Box::pin(Connection::close(*self))
    }

    fn abandon(self: Box<Self>) {
        Connection::abandon(*self);
    }
}

impl Batches for ErasedBatches<'_> {
    fn next_batch(&mut self) -> bool {
        self.0.next_batch()
    }

    fn next_row(&mut self, values: &mut Values) -> bool {
        self.0.next_row(values)
    }

    fn committed(&mut self, rows: u64, bytes: u64) {
        self.0.committed(rows, bytes);
    }

    fn is_ascii(&self) -> bool {
        self.0.is_ascii()
    }

    fn falls_back(&mut self, why: &Error) {
        self.0.falls_back(why);
    }
}
