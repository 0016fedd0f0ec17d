//! A database that answers at once: the time of a request is the generator's own cost.

use base::{Clock, Dialect, Nanos};
use record::environment::SERVER;
use rt::Rt;

use crate::{Connection, Driver, Error, PreparedId, Step, Table, Work};

/// The driver of `sim:null`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

/// A connection without a server.
pub struct NullConnection {
    rt: Rt,
    prepared: usize,
}

impl Driver for Null {
    type Connection = NullConnection;

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn stores_data(&self) -> bool {
        false
    }

    /// Returns 0: no connection uses a file.
    fn files(&self) -> u32 {
        0
    }

    async fn connect(&self, rt: &Rt) -> Result<NullConnection, Error> {
        Ok(NullConnection { rt: rt.clone(), prepared: 0 })
    }
}

impl Connection for NullConnection {
    async fn prepare(&mut self, _text: &str) -> Result<PreparedId, Error> {
        let id = PreparedId::nth(self.prepared)?;
        self.prepared += 1;
        Ok(id)
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let sent = self.rt.now();
        if self.rt.is_virtual() {
            // In virtual time, an answer that takes no time would let a closed client run forever
            // without the clock advancing.
            self.rt.sleep(Nanos(1)).await;
        }
        let done = self.rt.now();
        work.reply.sent = Some(sent);
        work.reply.done = done;
        for step in &work.steps {
            if matches!(step, Step::Execute { .. } | Step::ExecuteText { .. }) {
                work.reply.add_statement(done.since(sent), 1);
            }
        }
        Ok(())
    }

    async fn query_text(&mut self, _sql: &str) -> Result<Table, Error> {
        Ok(Table::default())
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        vec![(SERVER.to_owned(), "null: answers at once".to_owned())]
    }

    async fn close(self) {}

    fn abandon(self) {}
}
