//! Drivers with planted faults.
//!
//! Each fault is one that a real driver could have. A case that does not find the fault planted for
//! it proves nothing when it passes.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base::{Class, Code, Dialect, Nanos, Stamp, Value, Values};
use driver::conformance::{Fixture, Refused, StoringFixture};
use driver::{
    Batches, Connection, Driver, Error, Insert, Method, PreparedId, Reply, Step, Table, Work,
};
use record::StatementSet;
use rt::Rt;

/// A fault of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    AcceptsWhatIsRejected,
    MisclassifiesErrors,
    CapturesNothing,
    CountsBeginAndCommitAsStatements,
    CountsIdsFromOne,
    ForgetsBytes,
    ForgetsNames,
    ForgetsPlaceholders,
    ForgetsRows,
    ForgetsSettings,
    IgnoresDuplicates,
    LosesRows,
    IgnoresTexts,
    IgnoresTransactions,
    KeepsAbandonedConnections,
    KeepsOldRows,
    LimitsConnections,
    SavesEmptyTextAsNull,
    SwallowsErrors,
    SwapsStamps,
    IgnoresLocks,
}

/// A fault, and a part of the message of the finding that identifies this fault.
pub(crate) struct Planted {
    pub(crate) fault: Defect,
    pub(crate) found: &'static str,
}

/// Returns the fault planted for a case.
pub(crate) fn planted_for(case: &str) -> Planted {
    use Defect::*;
    let (fault, found) = match case {
        "a_connection_opens_works_and_closes" => (ForgetsRows, "0 counted"),
        "ids_count_from_zero_in_the_order_of_preparation" => (CountsIdsFromOne, "got the id"),
        "the_stamps_lie_within_the_call" => (SwapsStamps, "not in this order"),
        "every_statement_has_a_time_and_no_other_step" => {
            (CountsBeginAndCommitAsStatements, "2 statements have 4 times")
        }
        "rows_are_counted" => (ForgetsRows, "0 counted"),
        "statements_with_rows_are_reported" => (ForgetsRows, "[] are reported"),
        "reply_counts_one_run_only" => (KeepsOldRows, "the same request is counted as"),
        "a_text_is_run_like_a_statement" => (IgnoresTexts, "1 text with 1 rows"),
        "settings_have_the_server_and_each_name_once" => (ForgetsSettings, "no setting is called"),
        "many_connections_work_at_the_same_time" => (LimitsConnections, "no more connections"),
        "rejected_statement_leaves_connection_usable" => {
            (AcceptsWhatIsRejected, "should fail and does not")
        }
        "failing_statement_ends_request_and_leaves_connection_usable" => {
            (SwallowsErrors, "should fail and does not")
        }
        "lost_connection_has_class_disconnect" => {
            (MisclassifiesErrors, "is an error of class server")
        }
        "abandoned_request_leaves_other_connections_usable" => {
            (KeepsAbandonedConnections, "no more connections")
        }
        "values_round_trip" => (SavesEmptyTextAsNull, "\"\" does not come back"),
        "literals_round_trip" => (IgnoresTexts, "comes back from its literal as"),
        "bytes_are_counted" => (ForgetsBytes, "0 bytes are counted"),
        "requested_rows_are_captured" => (CapturesNothing, "and [] captured"),
        "affected_rows_are_counted" => (ForgetsRows, "changes 3 rows and 0 are counted"),
        "placeholders_are_counted_when_prepared" => (ForgetsPlaceholders, "says None"),
        "a_wrong_number_of_values_is_an_error" => (SwallowsErrors, "takes 0 values"),
        "two_statements_in_one_text_are_refused" => (AcceptsWhatIsRejected, "is prepared"),
        "a_query_as_text_returns_names_and_values" => (ForgetsNames, "are called []"),
        "a_duplicate_key_is_a_violated_constraint" => (MisclassifiesErrors, "class server"),
        "every_load_method_writes_every_row" => (LosesRows, "by `auto` gives [2605.0"),
        "a_load_fills_columns_of_any_name" => (LosesRows, "gives [248.0"),
        "a_load_treats_duplicates_as_requested" => (IgnoresDuplicates, "of a duplicate"),
        "a_load_keeps_the_batches_before_one_that_fails" => (LosesRows, "are reported as"),
        "refused_load_leaves_connection_usable" => (SwallowsErrors, "ends as Ok(())"),
        "an_error_rolls_the_whole_transaction_back" => (IgnoresTransactions, "3 rows are left"),
        "a_transaction_sent_at_once_is_one_transaction" => (IgnoresTransactions, "rows are left"),
        "transaction_is_visible_after_commit" => (IgnoresTransactions, "an open transaction shows"),
        "writers_wait_for_each_other" => (IgnoresLocks, "ever seen waiting"),
        "lock_timeout_is_a_conflict" => (IgnoresTransactions, "is granted"),
        "abandoned_transaction_releases_its_locks" => {
            (KeepsAbandonedConnections, "database is locked")
        }
        "many_connections_write_at_the_same_time" => (LimitsConnections, "no more connections"),
        other => panic!("no fault is planted for {other}"),
    };
    Planted { fault, found }
}

/// A fixture whose driver has a fault.
pub(crate) struct FaultyFixture<F> {
    fixture: F,
    fault: Defect,
    open: Arc<AtomicUsize>,
}

impl<F> FaultyFixture<F> {
    /// Plants a fault in a fixture's driver.
    pub(crate) fn new(fixture: F, fault: Defect) -> FaultyFixture<F> {
        FaultyFixture { fixture, fault, open: Arc::default() }
    }

    fn planted<D>(&self, driver: D) -> FaultyDriver<D> {
        FaultyDriver { driver, fault: self.fault, open: Arc::clone(&self.open) }
    }
}

impl<F: Fixture> Fixture for FaultyFixture<F> {
    type Driver = FaultyDriver<F::Driver>;

    fn driver(&self) -> Self::Driver {
        self.planted(self.fixture.driver())
    }

    fn returning(&self, rows: u32) -> String {
        self.fixture.returning(rows)
    }

    fn rejected(&self) -> Refused {
        self.fixture.rejected()
    }

    fn failing(&self) -> Refused {
        self.fixture.failing()
    }

    fn endless(&self) -> String {
        self.fixture.endless()
    }

    fn sever(&self) -> String {
        self.fixture.sever()
    }
}

impl<F: StoringFixture> StoringFixture for FaultyFixture<F> {
    fn integer(&self) -> &'static str {
        self.fixture.integer()
    }

    fn real(&self) -> &'static str {
        self.fixture.real()
    }

    fn text(&self) -> &'static str {
        self.fixture.text()
    }

    fn with_short_lock_timeout(&self) -> Self::Driver {
        self.planted(self.fixture.with_short_lock_timeout())
    }

    fn counts_lock_waits(&self) -> bool {
        self.fixture.counts_lock_waits()
    }
}

/// A driver with a fault.
#[derive(Clone)]
pub(crate) struct FaultyDriver<D> {
    driver: D,
    fault: Defect,
    /// Number of open connections.
    open: Arc<AtomicUsize>,
}

/// Maximum number of connections of a driver with the fault `LimitsConnections`.
const LIMIT: usize = 8;

impl<D: Driver> Driver for FaultyDriver<D> {
    type Connection = FaultyConnection<D::Connection>;

    fn dialect(&self) -> Dialect {
        self.driver.dialect()
    }

    fn stores_data(&self) -> bool {
        self.driver.stores_data()
    }

    async fn connect(&self, rt: &Rt) -> Result<Self::Connection, Error> {
        let limit = match self.fault {
            Defect::LimitsConnections => LIMIT,
            // An abandoned connection is kept, which leaves no room for the next one.
            Defect::KeepsAbandonedConnections if !self.driver.stores_data() => 1,
            _ => usize::MAX,
        };
        let open = self.open.fetch_add(1, Ordering::Relaxed);
        let token = Token(Arc::clone(&self.open));
        if open >= limit {
            return Err(Error::disconnect("no more connections"));
        }
        Ok(FaultyConnection {
            connection: self.driver.connect(rt).await?,
            fault: self.fault,
            old_rows: 0,
            prepared: 0,
            _token: token,
        })
    }
}

/// A guard that counts an open connection until the guard is dropped.
struct Token(Arc<AtomicUsize>);

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection with a fault.
pub(crate) struct FaultyConnection<C> {
    connection: C,
    fault: Defect,
    old_rows: u64,
    prepared: u16,
    _token: Token,
}

thread_local! {
    /// Connections kept after being abandoned, until the test ends.
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

impl<C: Connection> Connection for FaultyConnection<C> {
    async fn prepare(&mut self, text: &str) -> Result<PreparedId, Error> {
        let id = match self.connection.prepare(text).await {
            Ok(id) => id,
            Err(_) if self.fault == Defect::AcceptsWhatIsRejected => PreparedId(self.prepared),
            Err(error) => return Err(self.blame(error)),
        };
        self.prepared += 1;
        Ok(match self.fault {
            Defect::CountsIdsFromOne => PreparedId(id.0 + 1),
            _ => id,
        })
    }

    fn parameters(&self, statement: PreparedId) -> Option<usize> {
        match self.fault {
            Defect::ForgetsPlaceholders => None,
            _ => self.connection.parameters(statement),
        }
    }

    async fn run(&mut self, work: &mut Work) -> Result<(), Error> {
        let steps = work.steps.clone();
        let is_bracket = |step: &Step| matches!(step, Step::Begin | Step::Commit);
        match self.fault {
            Defect::IgnoresTransactions => work.steps.retain(|step| !is_bracket(step)),
            Defect::IgnoresTexts => {
                work.steps.retain(|step| !matches!(step, Step::ExecuteText { .. }))
            }
            Defect::SavesEmptyTextAsNull => work.values = without_empty_texts(&work.values),
            _ => {}
        }
        let outcome = self.connection.run(work).await;
        work.steps = steps;
        let brackets = work.steps.iter().filter(|step| is_bracket(step)).count();
        self.spoil(&mut work.reply, brackets);
        if self.fault == Defect::CapturesNothing {
            work.capture.clear();
        }
        match outcome {
            Err(_) if self.fault == Defect::SwallowsErrors => Ok(()),
            outcome => outcome.map_err(|error| self.blame(error)),
        }
    }

    async fn load(
        &mut self,
        into: &Insert<'_>,
        method: Method,
        batches: &mut impl Batches,
    ) -> Result<(), Error> {
        let duplicates = match self.fault {
            Defect::IgnoresDuplicates => driver::Duplicates::Ignore,
            _ => into.duplicates,
        };
        let into = Insert { duplicates, ..*into };
        let outcome = match self.fault {
            Defect::LosesRows => self.connection.load(&into, method, &mut Short(batches)).await,
            _ => self.connection.load(&into, method, batches).await,
        };
        match self.fault {
            Defect::SwallowsErrors => Ok(()),
            _ => outcome,
        }
    }

    async fn query_text(&mut self, sql: &str) -> Result<Table, Error> {
        let mut table = self.connection.query_text(sql).await?;
        if self.fault == Defect::ForgetsNames {
            table.columns.clear();
        }
        Ok(table)
    }

    async fn settings(&mut self) -> Vec<(String, String)> {
        match self.fault {
            Defect::ForgetsSettings => Vec::new(),
            _ => self.connection.settings().await,
        }
    }

    async fn close(self) {
        self.connection.close().await;
    }

    fn abandon(self) {
        match self.fault {
            Defect::KeepsAbandonedConnections => KEPT.with_borrow_mut(|kept| {
                kept.push(Box::new(self));
            }),
            _ => self.connection.abandon(),
        }
    }
}

/// Batches that each lack their first row.
struct Short<'a, B>(&'a mut B);

impl<B: Batches> Batches for Short<'_, B> {
    fn next_batch(&mut self) -> bool {
        self.0.next_batch() && {
            self.0.next_row(&mut Values::new());
            true
        }
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
}

impl<C> FaultyConnection<C> {
    fn blame(&self, error: Error) -> Error {
        match self.fault {
            Defect::MisclassifiesErrors => {
                Error::new(Class::Server, Code::new("?"), error.message())
            }
            _ => error,
        }
    }

    fn spoil(&mut self, reply: &mut Reply, brackets: usize) {
        match self.fault {
            Defect::CountsBeginAndCommitAsStatements => {
                reply.statements.extend(std::iter::repeat_n(Nanos(1), brackets));
            }
            Defect::ForgetsBytes => (reply.bytes_sent, reply.bytes_received) = (0, 0),
            Defect::ForgetsRows => {
                (reply.rows, reply.with_rows) = (0, StatementSet::default());
            }
            Defect::KeepsOldRows => {
                reply.rows += self.old_rows;
                self.old_rows = reply.rows;
            }
            Defect::SwapsStamps => {
                let sent = reply.sent.unwrap_or(Stamp::ZERO);
                (reply.sent, reply.done) = (Some(reply.done), sent);
            }
            Defect::IgnoresLocks => reply.busy_waits = 0,
            _ => {}
        }
    }
}

fn without_empty_texts(values: &Values) -> Values {
    let mut copy = Values::new();
    for value in values.items() {
        match *value {
            Value::Text(text) => match values.resolve(text) {
                "" => copy.push(Value::Null),
                text => copy.push_text(|buffer| buffer.push_str(text)),
            },
            other => copy.push(other),
        }
    }
    copy
}
