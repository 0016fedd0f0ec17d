//! Infrastructure of the cases: running them, using a driver, and reporting findings.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use base::{Clock, Nanos, Placeholders, Value};
use rt::{Options, Rt, run_real, run_virtual};

use super::{Fixture, Refused, StoringFixture};
use crate::{Connection, Driver, Error, PreparedId, Step, Table, Work};

/// The result of a case.
pub type Verdict = Result<(), Finding>;

/// A description of a driver's misbehaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding(String);

impl Finding {
    pub(super) fn new(what: impl Into<String>) -> Finding {
        Finding(what.into())
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Finding {}

impl From<Error> for Finding {
    fn from(error: Error) -> Finding {
        Finding(format!("there should be no error, and there is: {error}"))
    }
}

/// Returns a finding with the given message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(Finding::new(format!($($words)+)));
        }
    };
}
pub(super) use ensure;

/// Time limit of a case, to detect a driver whose answer never comes.
const LONGEST_CASE: Nanos = Nanos::from_secs(60);

/// Runs a case on the machine's clock.
///
/// # Errors
/// The misbehaviour of the driver.
///
/// # Panics
/// If the operating system grants no runtime.
pub fn in_real_time<F: Fixture>(
    fixture: &F,
    case: impl AsyncFnOnce(CaseContext<'_, F>) -> Verdict,
) -> Verdict {
    let options = Options::default();
    run_real(&options, |rt| supervise(fixture, rt, case)).expect("the system grants a runtime")
}

/// Runs a case in virtual time.
///
/// # Errors
/// The misbehaviour of the driver.
pub fn in_virtual_time<F: Fixture>(
    fixture: &F,
    case: impl AsyncFnOnce(CaseContext<'_, F>) -> Verdict,
) -> Verdict {
    run_virtual(|rt| supervise(fixture, rt, case))
        .unwrap_or_else(|deadlock| Err(Finding::new(deadlock.to_string())))
}

async fn supervise<F: Fixture>(
    fixture: &F,
    rt: Rt,
    case: impl AsyncFnOnce(CaseContext<'_, F>) -> Verdict,
) -> Verdict {
    let mut verdict = pin!(case(CaseContext { fixture, rt: rt.clone() }));
    let timer = rt.timer();
    timer.arm(rt.now() + LONGEST_CASE);
    poll_fn(|context| match verdict.as_mut().poll(context) {
        Poll::Ready(verdict) => Poll::Ready(verdict),
        Poll::Pending => timer.poll_fired(context).map(|()| {
            let what = format!("the driver keeps its caller waiting for {LONGEST_CASE}");
            Err(Finding::new(what))
        }),
    })
    .await
}

/// Runs two futures to completion; `first` is polled first.
pub(super) async fn join<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let mut results = (None, None);
    poll_fn(|context| {
        if results.0.is_none() {
            results.0 = ready(first.as_mut().poll(context));
        }
        if results.1.is_none() {
            results.1 = ready(second.as_mut().poll(context));
        }
        match (results.0.take(), results.1.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            unfinished => {
                results = unfinished;
                Poll::Pending
            }
        }
    })
    .await
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Starts a future and drops it, finished or not, when `other` has completed.
pub(super) async fn drop_after<T>(future: impl Future, other: impl Future<Output = T>) -> T {
    let (mut future, mut other) = (pin!(future), pin!(other));
    let mut is_over = false;
    poll_fn(|context| {
        is_over = is_over || future.as_mut().poll(context).is_ready();
        other.as_mut().poll(context)
    })
    .await
}

/// A fixture and a runtime, passed to each case.
pub struct CaseContext<'a, F> {
    /// The fixture.
    pub fixture: &'a F,
    /// The clock and the task spawner.
    pub rt: Rt,
}

/// The connection type of a fixture's driver.
pub(super) type ConnectionOf<F> = <<F as Fixture>::Driver as Driver>::Connection;

/// Name of the table in which the cases keep data.
pub(super) const TABLE: &str = "kept";

/// Names of the columns of [`TABLE`].
pub(super) const COLUMNS: [&str; 4] = ["id", "number", "ratio", "words"];

impl<F: Fixture> CaseContext<'_, F> {
    pub(super) async fn connect(&self) -> Result<ConnectionOf<F>, Error> {
        self.fixture.driver().connect(&self.rt).await
    }

    /// Returns the text of a statement in which each `?` is replaced with the placeholder of this
    /// database.
    pub(super) fn sql(&self, text: &str) -> String {
        match self.fixture.driver().dialect().placeholders() {
            Placeholders::Question => text.to_owned(),
            Placeholders::Dollar => {
                let mut parts = text.split('?');
                let mut out = parts.next().unwrap_or_default().to_owned();
                for (place, part) in parts.enumerate() {
                    out.push_str(&format!("${}{part}", place + 1));
                }
                out
            }
        }
    }

    /// Connects, runs a statement that returns `rows` rows, and checks that the reply counts them
    /// all.
    pub(super) async fn check_returns(&self, rows: u32) -> Verdict {
        let mut connection = self.connect().await?;
        let statement = connection.prepare(&self.fixture.returning(rows)).await?;
        let work = run_steps(&mut connection, [execute(statement)]).await?;
        ensure!(
            work.reply.rows == u64::from(rows),
            "{rows} rows are returned and {} counted",
            work.reply.rows
        );
        connection.close().await;
        Ok(())
    }
}

impl<F: StoringFixture> CaseContext<'_, F> {
    /// Connects, and creates the table with one row: 1, 0, NULL, NULL.
    pub(super) async fn with_table(&self) -> Result<ConnectionOf<F>, Error> {
        let mut connection = self.connect().await?;
        let [integer, real, text] =
            [self.fixture.integer(), self.fixture.real(), self.fixture.text()];
        let [id, number, ratio, words] = COLUMNS;
        let create = format!(
            "create table {TABLE} ({id} {integer} primary key, {number} {integer}, \
             {ratio} {real}, {words} {text})"
        );
        connection.query_text(&create).await?;
        let row = format!("insert into {TABLE} ({id}, {number}) values (1, 0)");
        connection.query_text(&row).await?;
        Ok(connection)
    }

    /// Prepares a statement whose text has `?` for each placeholder.
    pub(super) async fn prepare(
        &self,
        connection: &mut ConnectionOf<F>,
        text: &str,
    ) -> Result<PreparedId, Error> {
        connection.prepare(&self.sql(text)).await
    }

    /// Prepares the insertion of an id and a number.
    pub(super) async fn prepare_insert(
        &self,
        connection: &mut ConnectionOf<F>,
    ) -> Result<PreparedId, Error> {
        let [id, number, ..] = COLUMNS;
        let text = format!("insert into {TABLE} ({id}, {number}) values (?, ?)");
        self.prepare(connection, &text).await
    }

    /// Prepares `update … set number = ? where id = 1`.
    pub(super) async fn prepare_update(
        &self,
        connection: &mut ConnectionOf<F>,
    ) -> Result<PreparedId, Error> {
        let text = format!("update {TABLE} set number = ? where id = 1");
        self.prepare(connection, &text).await
    }
}

/// Returns the number in the row with this id, as text; `None` if it is null or there is no such
/// row.
pub(super) async fn number(
    connection: &mut impl Connection,
    id: i64,
) -> Result<Option<String>, Error> {
    let query = format!("select number from {TABLE} where id = {id}");
    let table = connection.query_text(&query).await?;
    Ok(table.single().map(str::to_owned))
}

/// Returns the number of rows in the table.
pub(super) async fn count(connection: &mut impl Connection) -> Result<String, Error> {
    let table: Table = connection.query_text(&format!("select count(*) from {TABLE}")).await?;
    Ok(table.single().unwrap_or("nothing").to_owned())
}

/// Returns the step that executes a statement without values.
pub(super) fn execute(statement: PreparedId) -> Step {
    Step::Execute { statement, first: 0, count: 0 }
}

/// Builds work with these steps and the values that the steps refer to.
pub(super) fn work(steps: impl IntoIterator<Item = Step>, values: &[Value]) -> Work {
    let mut work = Work::default();
    work.steps.extend(steps);
    for value in values {
        work.values.push(*value);
    }
    work
}

/// Returns the step that executes a statement with `count` values from index `first` on.
pub(super) fn execute_with(statement: PreparedId, first: u32, count: u32) -> Step {
    Step::Execute { statement, first, count }
}

/// Runs steps without values and returns the work with its reply.
pub(super) async fn run_steps(
    connection: &mut impl Connection,
    steps: impl IntoIterator<Item = Step>,
) -> Result<Work, Error> {
    let mut work = work(steps, &[]);
    connection.run(&mut work).await?;
    Ok(work)
}

/// Returns a finding unless an attempt failed with the expected error.
pub(super) fn expect_refused<T>(attempt: Result<T, Error>, expected: &Refused) -> Verdict {
    let Refused { text, class, code, words } = expected;
    let Err(error) = attempt else {
        return Err(Finding::new(format!("`{text}` should fail and does not")));
    };
    ensure!(
        error.class() == *class,
        "`{text}` fails with class {} instead of {class}: {error}",
        error.class()
    );
    ensure!(
        error.code().as_str() == *code,
        "`{text}` fails with code {} instead of {code}",
        error.code()
    );
    ensure!(
        error.message().contains(words),
        "the message does not repeat the database's words `{words}`: {error}"
    );
    Ok(())
}
