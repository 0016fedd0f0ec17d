//! The observer's session, in which every wait has a time limit. The watch, to which the session
//! belongs, is the [`DatabaseWatch`](super::DatabaseWatch).

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Class, Clock, Code, Nanos, NodeId, Stamp};
use driver::{Connection, Error, SessionId, Table};
use rt::{Rt, unless_fired};

use crate::sample::Sample;

/// Time between two checks, during a wait, that the watch is not over. It is longer than the time
/// between two samples, so the wait for the next sample needs no additional wake-up.
const POLL_INTERVAL: Nanos = Nanos::from_millis(200);

/// Time limit for an answer before the watch is over.
const ANSWER_TIMEOUT: Nanos = Nanos::from_secs(10);

/// Time limit for all outstanding answers together, once the watch is over.
const FINAL_ANSWERS_TIMEOUT: Nanos = Nanos::from_millis(1_000);

/// Time limit for closing the session.
const CLOSE_TIMEOUT: Nanos = Nanos::from_millis(500);

/// Reason why there is no answer.
#[derive(Debug)]
pub(super) enum QueryFailure {
    /// The end of the watch ended the wait.
    Over,
    /// The database refused this statement; it may accept others.
    Refused(Error),
    /// The session is broken, for this reason.
    Broken(String),
}

/// Reason why a session ended.
pub(super) enum SessionEnd {
    /// The watch is over.
    Over,
    /// The session broke, for this reason. Another session may be opened later.
    Broken(String),
    /// No session can be used, for this reason.
    Unusable(String),
}

impl From<QueryFailure> for SessionEnd {
    fn from(failure: QueryFailure) -> SessionEnd {
        match failure {
            QueryFailure::Over => SessionEnd::Over,
            QueryFailure::Refused(error) => SessionEnd::Unusable(error.to_string()),
            QueryFailure::Broken(why) => SessionEnd::Broken(why),
        }
    }
}

/// Waits that have a time limit and also end when the watch is over.
#[derive(Clone)]
pub(super) struct BoundedWait {
    rt: Rt,
    is_over: Arc<AtomicBool>,
    /// Deadline for the last answers; `None` until the thread notices that the watch is over.
    deadline: std::rc::Rc<std::cell::Cell<Option<Stamp>>>,
}

impl BoundedWait {
    pub(super) fn new(rt: Rt, is_over: Arc<AtomicBool>) -> BoundedWait {
        BoundedWait { rt, is_over, deadline: std::rc::Rc::default() }
    }

    /// Returns true if the watch is over.
    pub(super) fn is_over(&self) -> bool {
        self.final_deadline().is_some()
    }

    /// Returns the deadline for the last answers; `None` during the watch.
    fn final_deadline(&self) -> Option<Stamp> {
        if self.deadline.get().is_none() && self.is_over.load(Ordering::Relaxed) {
            self.deadline.set(Some(self.rt.now() + FINAL_ANSWERS_TIMEOUT));
        }
        self.deadline.get()
    }

    /// Waits until the given time, or until the watch is over.
    pub(super) async fn pause_until(&self, at: Stamp) {
        while !self.is_over() && self.rt.now() < at {
            self.rt.sleep_until(at.min(self.rt.now() + POLL_INTERVAL)).await;
        }
    }

    /// Waits for a future until the time limit. Once the watch is over, waits only until the
    /// deadline for the last answers.
    pub(super) async fn wait_for<T>(
        &self,
        future: impl Future<Output = T>,
    ) -> Result<T, QueryFailure> {
        let late = self.rt.now() + ANSWER_TIMEOUT;
        let (mut future, timer) = (pin!(future), self.rt.timer());
        loop {
            timer.arm(self.rt.now() + POLL_INTERVAL);
            if let Some(output) = unless_fired(Pin::new(&mut future), &timer).await {
                return Ok(output);
            }
            let now = self.rt.now();
            if self.final_deadline().is_some_and(|end| now >= end) {
                return Err(QueryFailure::Over);
            }
            if now >= late {
                return Err(QueryFailure::Broken(format!("no answer within {ANSWER_TIMEOUT}")));
            }
        }
    }
}

/// A session with the database, and the queries that the database has refused in it.
pub(super) struct SampledSession<C> {
    connection: C,
    bounds: BoundedWait,
    /// Queries that were refused in this session.
    refused: BTreeSet<&'static str>,
    /// True if an answer is outstanding.
    is_answer_outstanding: bool,
}

/// A query and its purpose.
#[derive(Clone, Copy)]
pub(super) struct Query<'q> {
    /// Name that is reported as missing if there is no answer.
    pub(super) what: &'static str,
    /// The text of the statement.
    pub(super) sql: &'q str,
    /// Remedy for a refusal; may be empty.
    pub(super) remedy: &'q str,
}

/// Error codes of temporary refusals: a statement that was cancelled or exceeded its time limit,
/// and a lack of memory or disk space (PostgreSQL's manual, appendix A; MariaDB's and MySQL's lists
/// of errors).
const TRANSIENT_CODES: [&str; 7] = ["57014", "53000", "53100", "53200", "1969", "3024", "1317"];

fn is_transient(error: &Error) -> bool {
    error.class() == Class::Conflict || TRANSIENT_CODES.contains(&error.code().as_str())
}

impl<C: Connection> SampledSession<C> {
    pub(super) fn new(connection: C, bounds: BoundedWait) -> SampledSession<C> {
        SampledSession {
            connection,
            bounds,
            refused: BTreeSet::new(),
            is_answer_outstanding: false,
        }
    }

    /// Returns the id that the server gave to the session at the login; `None` if it gave none.
    pub(super) fn id(&self) -> Option<SessionId> {
        self.connection.session_id()
    }

    /// Returns the server to which the session is connected, as one of the servers of the target.
    pub(super) fn node(&self) -> NodeId {
        self.connection.node()
    }

    /// Runs one statement and returns its rows.
    pub(super) async fn query(&mut self, sql: &str) -> Result<Table, QueryFailure> {
        self.is_answer_outstanding = true;
        let answer = self.bounds.wait_for(self.connection.query_text(sql)).await?;
        self.is_answer_outstanding = false;
        match answer {
            Ok(table) if table.is_cut => Err(QueryFailure::Refused(Error::new(
                Class::Statement,
                Code::RESULTS,
                format!("the answer takes more than {} MiB", Table::LIMIT >> 20),
            ))),
            Ok(table) => Ok(table),
            Err(error) if error.class().ends_connection() => {
                Err(QueryFailure::Broken(error.to_string()))
            }
            Err(error) => Err(QueryFailure::Refused(error)),
        }
    }

    /// Runs an optional query; `None` if it is refused. A refusal is reported as missing data, and
    /// the query is not repeated unless the refusal is temporary.
    pub(super) async fn query_or_report_missing(
        &mut self,
        question: Query<'_>,
        sample: &mut Sample,
    ) -> Result<Option<Table>, QueryFailure> {
        let Query { what, sql, remedy } = question;
        if self.refused.contains(what) {
            return Ok(None);
        }
        match self.query(sql).await {
            Ok(table) => Ok(Some(table)),
            Err(QueryFailure::Refused(error)) if is_transient(&error) => {
                sample.missing(what, format!("for a while: {error}"));
                Ok(None)
            }
            Err(QueryFailure::Refused(error)) => {
                self.refused.insert(what);
                let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
                sample.missing(what, format!("{error}{remedy}"));
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Runs a query that may be refused; `None` if it is refused. The refusal is not reported.
    pub(super) async fn query_unless_refused(
        &mut self,
        sql: &str,
    ) -> Result<Option<Table>, QueryFailure> {
        match self.query(sql).await {
            Ok(table) => Ok(Some(table)),
            Err(QueryFailure::Refused(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Closes the session, or abandons it if it is broken or an answer is outstanding.
    pub(super) async fn finish(self, is_broken: bool) {
        if self.is_answer_outstanding || is_broken {
            self.connection.abandon();
            return;
        }
        // A session that does not close in time ends with its connection.
        let _ = rt::within(&self.bounds.rt, CLOSE_TIMEOUT, self.connection.close()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_real_time<T>(task: impl AsyncFnOnce(Rt) -> T) -> T {
        rt::run_real(&rt::Options::default(), |rt| task(rt)).expect("a runtime")
    }

    #[test]
    fn query_that_timed_out_is_repeated() {
        let refused = |class, code| is_transient(&Error::new(class, base::Code::new(code), "no"));
        assert!(refused(Class::Server, "57014") && refused(Class::Statement, "3024"));
        assert!(refused(Class::Conflict, "40P01"));
        for code in ["42501", "42P01", "1227", ""] {
            assert!(!refused(Class::Statement, code) && !refused(Class::Server, code), "{code}");
        }
    }

    #[test]
    fn waiting_ends_soon_after_the_observation() {
        in_real_time(async |rt| {
            let bounds = BoundedWait::new(rt.clone(), Arc::new(AtomicBool::new(true)));
            let begun = rt.now();
            bounds.pause_until(begun + Nanos::from_secs(60)).await;
            let never = bounds.wait_for(std::future::pending::<()>()).await;
            assert!(matches!(never, Err(QueryFailure::Over)));
            assert!(rt.now().since(begun) >= FINAL_ANSWERS_TIMEOUT);
            assert!(matches!(bounds.wait_for(async { 7 }).await, Ok(7)));
        });
    }
}
