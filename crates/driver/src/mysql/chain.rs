//! Pipelined transactions.
//!
//! A server continues after a command that fails. Therefore all statements are sent at once, and
//! the commit only after all of them have succeeded. Autocommit is off during the transaction: if a
//! deadlock ends the transaction, the statements after the deadlock are in a new one, which can be
//! rolled back.
//!
//! A long transaction may be sent in several parts: the first begins it, and the last commits it.

use std::iter::repeat_n;
use std::slice::Iter;

use base::{Clock, Nanos, Secrets, Stamp};
use record::StatementSet;
use wire_mysql::{ColumnDefinition, ErrPacket, Refusal, ResultEnd, Sink, WireError};

use super::answer::{Columns, OutcomeSink, StatementOutcome};
use super::session::{AUTOCOMMIT_ON, MysqlConnection, ServerLine, Statement, error_of};
use super::{faults, script};
use crate::{Error, Reply, Step, Work};

/// Maximum number of statements sent at once. The statements of a longer transaction are sent one
/// by one.
const MOST_STEPS: usize = 10_000;

/// Statement that turns autocommit off.
const AUTOCOMMIT_OFF: &str = "set autocommit = 0";

/// The steps of a chain: a pipelined transaction, or one part of it.
#[derive(Clone, Copy)]
struct Chain<'a> {
    begins: bool,
    inner: &'a [Step],
    commits: bool,
}

impl Chain<'_> {
    fn of(steps: &[Step]) -> Chain<'_> {
        let (begins, steps) = match steps {
            [Step::Begin, rest @ ..] => (true, rest),
            steps => (false, steps),
        };
        match steps {
            [inner @ .., Step::Commit] => Chain { begins, inner, commits: true },
            inner => Chain { begins, inner, commits: false },
        }
    }
}

/// The sink for the replies to a chain.
struct PipelineSink<'a> {
    statements: &'a mut [Statement],
    /// Columns of unprepared statements.
    texts: &'a mut Columns,
    /// Steps whose replies are not complete, without the leading [`AUTOCOMMIT_OFF`].
    steps: Iter<'a, Step>,
    wants_columns: bool,
    /// True until the command that begins the transaction is answered.
    is_first: bool,
    /// Number of statements answered without an error, up to the first error.
    answered: usize,
    /// Number of rows of the statements that `answered` counts.
    rows: u64,
    /// The statements with rows, also those of the earlier parts of the transaction.
    with_rows: StatementSet,
    began: Stamp,
    /// Times of the statements in the earlier parts of the transaction, then those of this part.
    /// The time of a statement runs from the `began` of its part until the statement is answered.
    times: Vec<Nanos>,
    /// Number of answers whose times were added.
    noted: usize,
    outcome: StatementOutcome,
}

impl PipelineSink<'_> {
    /// Returns the columns of the statement that is being answered.
    fn columns(&mut self) -> &mut Columns {
        match self.steps.as_slice().first() {
            Some(Step::Execute { statement, .. }) if !self.is_first => {
                match &mut self.statements[statement.index()] {
                    Statement::Prepared { columns, .. } => columns,
                    Statement::Text(_) => self.texts,
                }
            }
            _ => self.texts,
        }
    }
}

impl Sink for PipelineSink<'_> {
    #[inline]
    fn wants_columns(&self) -> bool {
        self.wants_columns
    }

    #[inline]
    fn columns(&mut self, _count: u64, is_known: bool) {
        if !is_known && self.wants_columns {
            PipelineSink::columns(self).clear();
        }
    }

    fn column(&mut self, column: &ColumnDefinition<'_>) -> Result<(), WireError> {
        PipelineSink::columns(self).push(column);
        Ok(())
    }

    #[inline]
    fn result(&mut self, result: ResultEnd) {
        self.outcome.add(&result);
    }

    #[cold]
    fn error(&mut self, error: &ErrPacket<'_>) {
        if let Some(Step::Execute { statement, .. }) = self.steps.as_slice().first()
            && let Statement::Prepared { execute, .. } = &mut self.statements[statement.index()]
        {
            // The server may have refused before it read the parameter types.
            execute.rebind();
        }
        self.outcome.fail(error);
    }

    #[inline]
    fn end(&mut self) {
        let rows = std::mem::take(&mut self.outcome.rows);
        if self.is_first {
            self.is_first = false;
            return;
        }
        self.steps.next();
        if self.outcome.error.is_none() {
            let index = self.times.len() + self.answered - self.noted;
            self.with_rows.insert_if(index, rows > 0);
            self.rows = self.rows.saturating_add(rows);
            self.answered += 1;
        }
    }
}

impl OutcomeSink for PipelineSink<'_> {
    fn outcome(&mut self) -> &mut StatementOutcome {
        &mut self.outcome
    }

    #[inline]
    fn note_read(&mut self, at: Stamp) {
        let new = self.answered - self.noted;
        self.times.extend(repeat_n(at.since(self.began), new));
        self.noted = self.answered;
    }
}

impl ServerLine {
    /// Sends a chain and reads until all of it is answered.
    ///
    /// # Errors
    /// The session is over.
    async fn exchange_links(
        &mut self,
        links: &mut PipelineSink<'_>,
        reply: &mut Reply,
        secrets: &Secrets,
    ) -> Result<(), Error> {
        while !self.replies.is_idle() {
            let read = self.send_and_read(links, reply).await;
            let report = &mut links.outcome.error;
            reply.done = read.map_err(|lost| server_error_or(report.take(), lost, secrets))?;
            if self.replies.wanted_file().is_some() {
                return Err(faults::protocol_violation(self.channel.address(), "it wants a file"));
            }
        }
        Ok(())
    }
}

impl MysqlConnection {
    /// Returns true if the steps of a request can be sent at once.
    ///
    /// The steps must be one transaction, or the next part of an open one. Each statement must have
    /// as many values as parameters. No statement may load a file, or return rows that are to be
    /// captured.
    pub(super) fn is_pipelined_transaction(&self, work: &Work) -> bool {
        if !work.is_pipelined || work.capture.is_wanted() {
            return false;
        }
        let Chain { begins, inner, commits: _ } = Chain::of(&work.steps);
        begins != self.is_autocommit_off
            && inner.len() <= MOST_STEPS
            && inner.iter().all(|step| self.is_chain_step(*step, work))
    }

    fn is_chain_step(&self, step: Step, work: &Work) -> bool {
        match step {
            Step::Begin | Step::Commit => false,
            Step::ExecuteText { text } => !script::may_load(work.values.text_at(text)),
            Step::Execute { statement, count, .. } => match &self.statements[statement.index()] {
                Statement::Text(text) => count == 0 && !script::may_load(text),
                Statement::Prepared { execute, loads, .. } => {
                    execute.parameters() == count as usize && loads.is_empty()
                }
            },
        }
    }

    /// Runs the steps of a [chain](Self::is_pipelined_transaction).
    pub(super) async fn run_chain(&mut self, work: &mut Work) -> Result<(), Error> {
        let reply = &mut work.reply;
        let began = self.line.rt.now();
        let Chain { begins, inner, commits } = Chain::of(&work.steps);
        if begins {
            self.line.append_query(AUTOCOMMIT_OFF)?;
            self.is_autocommit_off = true;
        }
        for &step in inner {
            self.append(step, &work.values)?;
        }
        reply.sent.get_or_insert(began);
        self.is_in_transaction = true;
        let mut links = PipelineSink {
            statements: &mut self.statements,
            texts: &mut self.columns,
            steps: inner.iter(),
            wants_columns: self.sends_columns_once,
            is_first: begins,
            answered: 0,
            rows: 0,
            with_rows: reply.with_rows,
            began,
            times: std::mem::take(&mut reply.statements),
            noted: 0,
            outcome: StatementOutcome::default(),
        };
        let secrets = &self.shared.config.service.secrets;
        let read = self.line.exchange_links(&mut links, reply, secrets).await;
        (reply.statements, reply.with_rows) = (links.times, links.with_rows);
        read?;
        reply.rows = reply.rows.saturating_add(links.rows);
        match error_of(links.outcome, secrets) {
            None if commits => self.release(reply).await,
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Turns autocommit on again, which commits an open transaction.
    async fn release(&mut self, reply: &mut Reply) -> Result<(), Error> {
        let (done, _) = self.ask_text(AUTOCOMMIT_ON, reply).await?;
        self.is_autocommit_off = false;
        reply.done = done;
        Ok(())
    }

    /// Rolls back a chain that has failed, and turns autocommit on again.
    #[cold]
    pub(super) async fn roll_chain_back(&mut self, error: Error, reply: &mut Reply) -> Error {
        let error = self.roll_back(error, reply).await;
        if error.class().ends_connection() {
            return error;
        }
        let released = self.release(reply).await;
        reply.done = self.line.rt.now();
        match released {
            Ok(()) => error,
            Err(second) => error.without_rollback(second.message()),
        }
    }
}

/// Returns the error that a server sent just before it closed the connection or, if it sent none,
/// `lost`.
#[cold]
fn server_error_or(said: Option<Box<Refusal>>, lost: Error, secrets: &Secrets) -> Error {
    said.map_or(lost, |refusal| faults::fault(&refusal, secrets).as_disconnect())
}
