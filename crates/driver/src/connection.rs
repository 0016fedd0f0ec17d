//! The traits that every database implements, and loading with inserts, which works on every
//! connection.

use std::future::Future;

use base::{Dialect, NodeId, Stamp, Values};
use rt::Rt;

use crate::activity_counters::Count;
use crate::error::Error;
use crate::load::{self, Batches, Insert, Method};
use crate::session_ids::{SessionId, SessionIds};
use crate::table::Table;
use crate::work::{PreparedId, Step, Work};

/// Size of the generated values, in bytes, above which they are sent before more are generated.
const MOST_BYTES_HELD: usize = 16 << 20;

/// A database of one kind, at the address or addresses of a URL.
pub trait Driver: Clone + Send + 'static {
    /// The type of the connections that it opens.
    type Connection: Connection;

    /// Returns the SQL dialect of the database.
    fn dialect(&self) -> Dialect;

    /// Returns true if written data can be read back; false for simulated servers and programs.
    fn stores_data(&self) -> bool;

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
            Method::Copy | Method::LoadData => Err(load::unsupported_method("this target", method)),
        }
    }

    /// Returns true if the server keeps [activity counters](Connection::activity_counters).
    fn has_activity_counters(&self) -> bool {
        false
    }

    /// Returns statement counters of a database that runs in this process, summed over all
    /// connections: their names and their values, which only grow. Other databases are
    /// [queried](Connection::query_text) for their counters.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Returns the ids that the servers give to this driver's sessions, by [`NodeId`]; empty if the
    /// database has no sessions that other clients could see. [`Connection::identify`] determines
    /// which server, or which pooler, gave the ids.
    fn session_ids(&self) -> Vec<SessionIds> {
        Vec::new()
    }

    /// Returns the name under which the servers show this driver's sessions to other clients:
    /// PostgreSQL's `application_name`, or the user of MySQL and MariaDB. `None` for other
    /// databases.
    fn session_name(&self) -> Option<&str> {
        None
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Class `TooManyConnections` if the server is full or this process cannot open more files or
    /// start more threads, `Disconnect` if the server cannot be reached, `Statement` if the server
    /// refuses the login or the database.
    fn connect(&self, rt: &Rt) -> impl Future<Output = Result<Self::Connection, Error>>;

    /// Sets time zero of the run. From then on, a new session that a networked server does not
    /// answer fails with class [`Disconnect`](Connection::await_session), never with
    /// `TooManyConnections`: the caller must decide whether the server is full. A simulated server
    /// counts the times of its faults from time zero.
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
    fn prepare(&mut self, text: &str) -> impl Future<Output = Result<PreparedId, Error>>;

    /// Waits until the server has answered a first statement: a pooler may accept a client without
    /// having a session for it.
    ///
    /// # Errors
    /// No answer arrives within the connect timeout. The class is `TooManyConnections`, with
    /// [`Code::NO_SESSION`](base::Code::NO_SESSION), if the server has answered other sessions and
    /// [time zero](Driver::time_zero) is not set; otherwise it is `Disconnect`, with
    /// [`Error::is_unanswered`].
    fn await_session(&mut self) -> impl Future<Output = Result<(), Error>> {
        std::future::ready(Ok(()))
    }

    /// Returns the number of values that a prepared statement takes; `None` if the database does
    /// not report it.
    ///
    /// The number is known since the preparation, so a wrong number of values in a workload is
    /// found before the run.
    fn parameters(&self, _statement: PreparedId) -> Option<usize> {
        None
    }

    /// Returns the index of the [server](Driver::nodes) to which this connection leads.
    fn node(&self) -> NodeId {
        NodeId::default()
    }

    /// Returns the id of the session, as the server or a pooler in between gave it at the login;
    /// `None` if neither gave one.
    fn session_id(&self) -> Option<SessionId> {
        None
    }

    /// Records with [`Driver::session_ids`] which server this connection leads to, and whether a
    /// pooler in between gave the session's id. A server that does not answer within the connect
    /// timeout stays unknown.
    fn identify(&mut self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Runs the steps of a request in order and fills in [`Work::reply`], which the caller has
    /// reset.
    ///
    /// The first error ends the request; an open transaction is rolled back before this returns. A
    /// transaction that the steps begin and do not commit is still open in the next call.
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
    /// The error of the database; the batch that caused the error is not written.
    fn load(
        &mut self,
        into: &Insert<'_>,
        _method: Method,
        batches: &mut impl Batches,
    ) -> impl Future<Output = Result<(), Error>> {
        insert_rows(
            self,
            into.columns.len(),
            1,
            |rows| into.text(load::InsertSyntax::PLAIN, rows),
            batches,
        )
    }

    /// Runs one statement as text and returns its result as text.
    ///
    /// For setup, loading, settings and observers, never for measured requests. An answer beyond
    /// [`Table::LIMIT`] [is cut](Table::is_cut).
    ///
    /// # Errors
    /// The error of the database.
    fn query_text(&mut self, sql: &str) -> impl Future<Output = Result<Table, Error>>;

    /// Returns the server's version and the settings that affect its performance (durability,
    /// isolation, memory), by name; a setting that cannot be read is `unknown`.
    fn settings(&mut self) -> impl Future<Output = Vec<(String, String)>>;

    /// Returns further facts about the server, by names that begin with
    /// [`DATABASE`](record::environment::DATABASE): settings that somebody has set, replication,
    /// sizes.
    ///
    /// A fact that cannot be read is `unknown`. Secrets are never included.
    fn facts(&mut self) -> impl Future<Output = Vec<(String, String)>> {
        std::future::ready(Vec::new())
    }

    /// Returns the server's own activity counters, for a
    /// [driver](Driver::has_activity_counters) whose server keeps them.
    ///
    /// The caller has closed the driver's other sessions. Waits until the counters include the
    /// activity of these sessions, for at most about three seconds.
    ///
    /// # Errors
    /// The reason, in words, why the counters cannot be read.
    fn activity_counters(&mut self) -> impl Future<Output = Result<Vec<Count>, String>> {
        std::future::ready(Err("this database does not count its commits or statements".to_owned()))
    }

    /// Closes the session in an orderly way.
    fn close(self) -> impl Future<Output = ()>;

    /// Ends a session whose statement has not been answered: requests cancellation of the
    /// statement, without waiting for the outcome.
    fn abandon(self);
}

/// Writes all batches with inserts of `at_once` rows, and single-row inserts for the remainder.
/// `text` returns the statement for a number of rows.
pub(crate) async fn insert_rows<C: Connection>(
    connection: &mut C,
    columns: usize,
    at_once: usize,
    text: impl Fn(usize) -> String,
    batches: &mut impl Batches,
) -> Result<(), Error> {
    let one = InsertIds::prepared(connection.prepare(&text(1)).await?);
    let many = match at_once {
        0 | 1 => one,
        _ => InsertIds::prepared(connection.prepare(&text(at_once)).await?),
    };
    Inserts { one, many, at_once: at_once.max(1), columns }.write(connection, batches).await
}

/// The ids of an insert statement.
#[derive(Clone, Copy)]
pub(crate) struct InsertIds {
    /// The id for the first execution in a piece of rows. This execution may also parse the text.
    pub(crate) first: PreparedId,
    /// The id for each further execution in the same piece.
    pub(crate) further: PreparedId,
}

impl InsertIds {
    /// Returns the ids of a statement that stays prepared.
    fn prepared(id: PreparedId) -> InsertIds {
        InsertIds { first: id, further: id }
    }

    /// Returns the id for the execution with this index in a piece.
    fn nth(self, index: usize) -> PreparedId {
        if index == 0 { self.first } else { self.further }
    }
}

/// Statements that insert one row and many rows.
pub(crate) struct Inserts {
    pub(crate) one: InsertIds,
    pub(crate) many: InsertIds,
    /// Number of rows of `many`, at least 1.
    pub(crate) at_once: usize,
    /// Number of values of a row.
    pub(crate) columns: usize,
}

/// Rows of a batch that are sent together.
struct Piece {
    rows: usize,
    /// True if the batch ends with these rows.
    is_last: bool,
}

impl Inserts {
    /// Writes all batches, each in a transaction.
    ///
    /// A batch may be larger than memory. A batch that exceeds [`MOST_BYTES_HELD`] is therefore
    /// sent in several pieces within its transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut impl Connection,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        let mut work = Work { is_pipelined: true, ..Work::default() };
        while batches.next_batch() {
            let (mut rows, mut bytes) = (0, 0);
            loop {
                work.values.clear();
                work.reply.reset();
                work.steps.clear();
                let piece = self.take_piece(batches, &mut work.values);
                if rows == 0 {
                    work.steps.push(Step::Begin);
                }
                self.append(piece.rows, &mut work.steps);
                if piece.is_last {
                    work.steps.push(Step::Commit);
                }
                connection.run(&mut work).await?;
                rows += piece.rows as u64;
                bytes += work.reply.bytes_sent;
                if piece.is_last {
                    break;
                }
            }
            batches.committed(rows, bytes);
        }
        Ok(())
    }

    /// Generates the next rows of a batch: all remaining rows, or as many as may be held in memory.
    fn take_piece(&self, batches: &mut impl Batches, values: &mut Values) -> Piece {
        let mut rows = 0_usize;
        loop {
            let held = values.text_bytes() + size_of_val(values.items());
            if rows > 0 && held >= MOST_BYTES_HELD && rows.is_multiple_of(self.at_once) {
                return Piece { rows, is_last: false };
            }
            if !batches.next_row(values) {
                return Piece { rows, is_last: true };
            }
            rows += 1;
        }
    }

    /// Appends the steps that insert `rows` rows.
    fn append(&self, rows: usize, steps: &mut Vec<Step>) {
        let Inserts { one, many, at_once, columns } = *self;
        let whole = rows / at_once;
        let execute = |statement: PreparedId, first: usize, rows: usize| Step::Execute {
            statement,
            first: (first * columns) as u32,
            count: (rows * columns) as u32,
        };
        steps.extend((0..whole).map(|chunk| execute(many.nth(chunk), chunk * at_once, at_once)));
        let remainder = (whole * at_once..rows).enumerate();
        steps.extend(remainder.map(|(index, row)| execute(one.nth(index), row, 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Batches of rows, each row with a single text.
    struct Texts {
        rows: usize,
        bytes: usize,
    }

    impl Batches for Texts {
        fn next_batch(&mut self) -> bool {
            self.rows > 0
        }

        fn next_row(&mut self, values: &mut Values) -> bool {
            let Some(left) = self.rows.checked_sub(1) else { return false };
            self.rows = left;
            values.push_text(|out| out.extend(std::iter::repeat_n('x', self.bytes)));
            true
        }

        fn committed(&mut self, _rows: u64, _bytes: u64) {}

        fn is_ascii(&self) -> bool {
            true
        }
    }

    #[test]
    fn piece_begins_with_the_first_execution_of_each_statement() {
        let one = InsertIds { first: PreparedId(0), further: PreparedId(1) };
        let many = InsertIds { first: PreparedId(2), further: PreparedId(3) };
        let inserts = Inserts { one, many, at_once: 3, columns: 2 };
        let expected = [(2, 0, 6), (3, 6, 6), (0, 12, 2), (1, 14, 2)]
            .map(|(id, first, count)| Step::Execute { statement: PreparedId(id), first, count });
        let mut steps = Vec::new();
        inserts.append(8, &mut steps);
        assert_eq!(steps, expected);
    }

    #[test]
    fn large_batch_is_held_in_pieces() {
        let ids = InsertIds::prepared(PreparedId(0));
        let inserts = Inserts { one: ids, many: ids, at_once: 100, columns: 1 };
        let mut batches = Texts { rows: 1_950, bytes: 100_000 };
        let mut pieces = Vec::new();
        loop {
            let mut values = Values::new();
            let Piece { rows, is_last } = inserts.take_piece(&mut batches, &mut values);
            assert!(values.text_bytes() < MOST_BYTES_HELD + 100 * 100_000);
            let mut steps = Vec::new();
            inserts.append(rows, &mut steps);
            pieces.push((rows, steps.len()));
            if is_last {
                break;
            }
        }
        assert_eq!(pieces, [(200, 2); 9].into_iter().chain([(150, 51)]).collect::<Vec<_>>());
    }
}
