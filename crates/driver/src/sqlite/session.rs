//! SQLite sessions, as run by the threads of connections.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use base::{Clock, Field, Monotonic, Nanos, Rows, Stamp, Value, Values};
use record::environment::{SERVER, UNKNOWN};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::{Null, ValueRef};
use rusqlite::{Batch, Connection, FileControl, PrepFlags, Row, Statement};

use super::busy_timeout::BusyWaits;
use super::counters::ConnectionCounts;
use super::faults::{
    fault, interrupted, is_about_text, statement_count_error, wrong_number_of_values,
};
use super::messages::{Command, ConnectionMailbox, Response};
use super::options::SYNCHRONOUS;
use crate::table::TableReader;
use crate::{Error, Reply, Step, Table, Work};

/// Interval at which an active connection checks that its file has not been moved or removed.
/// SQLite would continue with a removed file, and lose all writes, until the last descriptor of the
/// file is closed.
const CHECK_INTERVAL: Nanos = Nanos::from_secs(1);

/// An open connection with its prepared statements. Used only by the thread of the connection.
pub(super) struct Session<'c> {
    connection: &'c Connection,
    path: &'c Path,
    mailbox: &'c ConnectionMailbox,
    waits: BusyWaits,
    statements: Vec<Statement<'c>>,
    brackets: TransactionStatements<'c>,
    counted: ConnectionCounts,
    /// Time of the next check of the file and of the next update of the shared counters.
    next_check: Stamp,
}

/// The statements that begin and end transactions.
struct TransactionStatements<'c> {
    begin: Statement<'c>,
    begin_immediate: Statement<'c>,
    commit: Statement<'c>,
    rollback: Statement<'c>,
}

impl<'c> Session<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        path: &'c Path,
        mailbox: &'c ConnectionMailbox,
        waits: BusyWaits,
        counted: ConnectionCounts,
    ) -> Result<Session<'c>, Error> {
        Ok(Session {
            connection,
            path,
            mailbox,
            waits,
            statements: Vec::new(),
            brackets: TransactionStatements {
                begin: prepare(connection, "begin")?,
                begin_immediate: prepare(connection, "begin immediate")?,
                commit: prepare(connection, "commit")?,
                rollback: prepare(connection, "rollback")?,
            },
            counted,
            next_check: Stamp::ZERO,
        })
    }

    pub(super) fn execute(&mut self, command: Command) -> Response {
        match command {
            Command::Run(mut work) => {
                let outcome = self.run(&mut work);
                Response::Finished(work, outcome)
            }
            Command::Prepare(text) => Response::Prepared(self.prepare(&text)),
            Command::Query(text) => Response::Table(query(self.connection, &text)),
            Command::Settings => Response::Settings(settings(self.connection)),
        }
    }

    fn prepare(&mut self, text: &str) -> Result<usize, Error> {
        let statement = prepare(self.connection, text)?;
        let placeholders = statement.parameter_count();
        self.statements.push(statement);
        Ok(placeholders)
    }

    /// Runs a request. The time of the request begins when this thread starts to run it, and ends
    /// with the last step or, after an error, with the end of the rollback.
    fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        self.waits.take();
        let begun = Monotonic.now();
        self.check_file(begun)?;
        work.reply.sent.get_or_insert(begun);
        let outcome = self.run_steps(begun, work);
        work.reply.busy_waits += self.waits.take();
        match outcome {
            Ok(done) => {
                work.reply.done = done;
                Ok(())
            }
            Err(error) => {
                let error = self.roll_back(error);
                work.reply.done = Monotonic.now();
                Err(error)
            }
        }
    }

    /// Runs all steps and returns the time at which the last one ended. One clock reading is the
    /// end of a step and the beginning of the next.
    fn run_steps(&mut self, begun: Stamp, work: &mut Work) -> Result<Stamp, Error> {
        let Work { steps, values, reply, capture, .. } = work;
        let mut at = begun;
        for &step in steps.iter() {
            if self.mailbox.is_abandoned() {
                return Err(interrupted());
            }
            let rows = self.run_step(step, steps, values, &mut ResultSink { reply, capture })?;
            let done = Monotonic.now();
            if matches!(step, Step::Execute { .. } | Step::ExecuteText { .. }) {
                reply.add_statement(done.since(at), rows);
            }
            at = done;
        }
        Ok(at)
    }

    /// Runs a step. Returns the number of rows that it returned or changed.
    fn run_step(
        &mut self,
        step: Step,
        steps: &[Step],
        values: &Values,
        answered: &mut ResultSink<'_>,
    ) -> Result<u64, Error> {
        match step {
            Step::Begin if self.writes(steps, values) => {
                complete(&mut self.brackets.begin_immediate).map(|()| 0)
            }
            Step::Begin => complete(&mut self.brackets.begin).map(|()| 0),
            Step::Commit => complete(&mut self.brackets.commit).map(|()| 0),
            Step::Execute { statement, first, count } => {
                let parameters = Parameters::new(values, first, count);
                let statement = &mut self.statements[statement.index()];
                let outcome = execute(self.connection, statement, parameters, answered);
                self.counted.add(statement);
                outcome
            }
            Step::ExecuteText { text } => {
                let text = values.text_at(text);
                let mut statement = prepare(self.connection, text)?;
                answered.reply.bytes_sent += text.len() as u64;
                let none = Parameters::new(values, 0, 0);
                let outcome = execute(self.connection, &mut statement, none, answered);
                self.counted.add(&statement);
                outcome
            }
        }
    }

    /// Returns true if a request writes. A writing transaction takes the lock at its beginning,
    /// where it can wait for the lock. If it took the lock later, it could fail at once, because
    /// the data read before may be outdated.
    fn writes(&self, steps: &[Step], values: &Values) -> bool {
        steps.iter().any(|step| match *step {
            Step::Begin | Step::Commit => false,
            Step::Execute { statement, .. } => !self.statements[statement.index()].readonly(),
            // A text that cannot be prepared yet, because an earlier step creates its table, is
            // assumed to write.
            Step::ExecuteText { text } => {
                let text = values.text_at(text);
                prepare(self.connection, text).map_or(true, |statement| !statement.readonly())
            }
        })
    }

    /// Rolls back the transaction that an error has left open, if any.
    fn roll_back(&mut self, error: Error) -> Error {
        if self.connection.is_autocommit() {
            return error;
        }
        match complete(&mut self.brackets.rollback) {
            Ok(()) => error,
            Err(second) => error.without_rollback(second.message()),
        }
    }

    fn check_file(&mut self, now: Stamp) -> Result<(), Error> {
        if now < self.next_check {
            return Ok(());
        }
        self.next_check = now + CHECK_INTERVAL;
        self.counted.report();
        let mut moved = 0;
        self.connection
            .file_control(Some(c"main"), FileControl::HasMoved(&mut moved))
            .map_err(fault)?;
        if moved == 0 {
            return Ok(());
        }
        Err(Error::disconnect(format!(
            "the database file `{}` was removed or replaced while it was in use",
            self.path.display()
        )))
    }
}

/// Prepares the only statement of a text, for many executions.
fn prepare<'c>(connection: &'c Connection, text: &str) -> Result<Statement<'c>, Error> {
    let several = || statement_count_error("several statements");
    let statement = connection
        .prepare_with_flags(text, PrepFlags::SQLITE_PREPARE_PERSISTENT)
        .map_err(|error| match error {
            rusqlite::Error::MultipleStatement => several(),
            // The error may be about text after a valid first statement.
            error if is_about_text(&error) => match Batch::new(connection, text).next() {
                Ok(Some(_)) => several(),
                Ok(None) | Err(_) => fault(error),
            },
            error => fault(error),
        })?;
    // A text without a statement prepares to an empty statement, which has neither columns nor
    // text. Reading the text costs a copy, so this check is the last one.
    if statement.column_count() == 0 && statement.readonly() && statement.expanded_sql().is_none() {
        return Err(statement_count_error("no statement"));
    }
    Ok(statement)
}

/// The values of one step.
#[derive(Clone, Copy)]
struct Parameters<'a> {
    all: &'a Values,
    items: &'a [Value],
}

impl<'a> Parameters<'a> {
    fn new(all: &'a Values, first: u32, count: u32) -> Parameters<'a> {
        let items = &all.items()[first as usize..][..count as usize];
        Parameters { all, items }
    }
}

/// Runs a statement that takes no values and returns no rows.
fn complete(statement: &mut Statement<'_>) -> Result<(), Error> {
    statement.raw_execute().map(|_| ()).map_err(fault)
}

/// Destination of a statement's results.
struct ResultSink<'a> {
    reply: &'a mut Reply,
    capture: &'a mut Rows,
}

/// Runs a statement to its last row and adds the bytes of its rows to the reply. Returns the number
/// of rows that the statement returned or changed. Captures the rows if they are wanted: all rows,
/// or none if the statement fails before its last row.
fn execute(
    connection: &Connection,
    statement: &mut Statement<'_>,
    parameters: Parameters<'_>,
    answered: &mut ResultSink<'_>,
) -> Result<u64, Error> {
    let before = answered.capture.mark();
    let outcome = step_through(connection, statement, parameters, answered);
    if outcome.is_err() {
        answered.capture.truncate(before);
    }
    outcome
}

fn step_through(
    connection: &Connection,
    statement: &mut Statement<'_>,
    parameters: Parameters<'_>,
    ResultSink { reply, capture }: &mut ResultSink<'_>,
) -> Result<u64, Error> {
    bind(statement, parameters, reply)?;
    let changes_before = connection.total_changes();
    let returns_rows = statement.column_count() > 0;
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next().map_err(fault)? {
        count += 1;
        reply.bytes_received += row_bytes(row)?;
        if capture.is_wanted() {
            copy_row(row, capture)?;
        }
    }
    // SQLite's number of changes belongs to the last statement that could change rows: a statement
    // such as `create table` leaves it unchanged.
    if !returns_rows && connection.total_changes() != changes_before {
        count += connection.changes();
    }
    Ok(count)
}

/// Size counted for an integer or a real, in bytes.
const NUMBER: u64 = 8;

fn bind(
    statement: &mut Statement<'_>,
    Parameters { all, items }: Parameters<'_>,
    reply: &mut Reply,
) -> Result<(), Error> {
    let wanted = statement.parameter_count();
    if wanted != items.len() {
        return Err(wrong_number_of_values(items.len(), wanted));
    }
    for (place, item) in items.iter().enumerate() {
        // SQLite counts placeholders from 1.
        let place = place + 1;
        let bytes = match *item {
            Value::Null => statement.raw_bind_parameter(place, Null).map(|()| 0),
            Value::Int(number) => statement.raw_bind_parameter(place, number).map(|()| NUMBER),
            Value::Real(number) => statement.raw_bind_parameter(place, number).map(|()| NUMBER),
            Value::Text(text) => {
                let text = all.resolve(text);
                let length = text.len() as u64;
                statement.raw_bind_parameter(place, text).map(|()| length)
            }
        };
        reply.bytes_sent += bytes.map_err(fault)?;
    }
    Ok(())
}

/// Returns the size of a row's values, in bytes.
fn row_bytes(row: &Row<'_>) -> Result<u64, Error> {
    let mut bytes = 0;
    for column in 0..row.as_ref().column_count() {
        bytes += match row.get_ref(column).map_err(fault)? {
            ValueRef::Null => 0,
            ValueRef::Integer(_) | ValueRef::Real(_) => NUMBER,
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
        };
    }
    Ok(bytes)
}

/// Copies the values of a row to the captured rows.
fn copy_row(row: &Row<'_>, capture: &mut Rows) -> Result<(), Error> {
    for column in 0..row.as_ref().column_count() {
        capture.push(match row.get_ref(column).map_err(fault)? {
            ValueRef::Null => Field::Null,
            ValueRef::Integer(number) => Field::Int(number),
            ValueRef::Real(number) => Field::Real(number),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Field::Bytes(bytes),
        });
    }
    capture.end_row();
    Ok(())
}

/// Runs an SQL query and returns its rows, with all values as text.
fn query(connection: &Connection, text: &str) -> Result<Table, Error> {
    let mut statement = prepare(connection, text)?;
    let mut table = TableReader::default();
    for column in 0..statement.column_count() {
        table.push_column(column_name(&statement, column).as_bytes());
    }
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(fault)? {
        let columns = 0..row.as_ref().column_count();
        let values = columns.map(|column| row.get_ref(column).map(as_text));
        let values = values.collect::<rusqlite::Result<Vec<_>>>().map_err(fault)?;
        let values = values.iter().map(|value| Ok(value.as_ref().map(String::as_bytes)));
        let Ok(()) = table.push_row::<Infallible>(values);
    }
    Ok(table.into_table())
}

/// Returns the name of a column; `?` if it is not valid text. A file can hold such names, and the
/// binding panics on them.
fn column_name(statement: &Statement<'_>, column: usize) -> String {
    let name = AssertUnwindSafe(|| statement.column_name(column).map(str::to_owned));
    match catch_unwind(name) {
        Ok(Ok(name)) => name,
        Ok(Err(_)) | Err(_) => "?".to_owned(),
    }
}

/// Returns a value as text: reals with enough digits to be exact, blobs as SQL literals. `None` for
/// NULL.
fn as_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(format!("{number:?}")),
        ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            Some(format!("X'{digits}'"))
        }
    }
}

/// Returns the current value of a pragma. For `synchronous`, which SQLite reports as a number, the
/// result is the corresponding word of [`SYNCHRONOUS`].
pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<String> {
    let text = connection.query_row(&format!("pragma {name}"), [], |row| {
        row.get_ref(0).map(|value| as_text(value).unwrap_or_default())
    })?;
    let word = match name {
        "synchronous" => text.parse().ok().and_then(|number: usize| SYNCHRONOUS.get(number)),
        _ => None,
    };
    Ok(word.map_or(text, |word| (*word).to_owned()))
}

/// Pragmas that affect results: durability, memory, locking, integrity.
const PRAGMAS: [&str; 10] = [
    "journal_mode",
    "synchronous",
    "wal_autocheckpoint",
    "page_size",
    "cache_size",
    "mmap_size",
    "locking_mode",
    "foreign_keys",
    "auto_vacuum",
    "encoding",
];

fn settings(connection: &Connection) -> Vec<(String, String)> {
    let read = |name: &str| pragma(connection, name).ok();
    let unknown = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
    let pages: Option<u64> = read("page_count").and_then(|count| count.parse().ok());
    let page_size: Option<u64> = read("page_size").and_then(|size| size.parse().ok());
    let bytes = pages.zip(page_size).and_then(|(count, size)| count.checked_mul(size));
    let mut settings = vec![
        (SERVER.to_owned(), format!("SQLite {}", rusqlite::version())),
        ("isolation".to_owned(), "serializable".to_owned()),
    ];
    settings.extend(PRAGMAS.map(|name| (name.to_owned(), unknown(read(name)))));
    settings.push(("database_bytes".to_owned(), unknown(bytes.map(|bytes| bytes.to_string()))));
    settings
}
