//! Sessions: sending requests and reading answers.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use base::{Clock, NodeId, Stamp, Value, Values};
use net::Channel;
use rt::Rt;
use wire_postgres::{
    BackendKey, Cycle, Object, OwnedReport, Replies, Session, Template, TransactionStatus,
    Value as Parameter, frontend,
};

use super::answer::{Answer, FullReply, OutcomeSink, StatementOutcome};
use super::faults;
use super::login::Shared;
use crate::activity_counters::OwnTraffic;
use crate::service::{Service, unread_answer};
use crate::session_ids::{KnownSession, SessionId, SessionIds};
use crate::table::TableReader;
use crate::{Error, PreparedId, Reply, Step, Table, Work};

/// A prepared statement, or an execution of the unnamed statement, which may include its Parse.
pub(super) struct Statement {
    pub(super) template: Template,
    /// The messages of an execution, with the number of columns of its rows if that is known.
    pub(super) cycle: Cycle,
}

/// A session with a PostgreSQL server.
pub struct PostgresConnection {
    pub(super) shared: Shared,
    pub(super) rt: Rt,
    pub(super) channel: Channel,
    /// Index of the address of the session's server.
    pub(super) node: NodeId,
    pub(super) replies: Replies,
    pub(super) statements: Vec<Statement>,
    /// Transaction status at the last answer.
    status: TransactionStatus,
    /// True if the last messages sent are an execution and its Sync. A server that waits for COPY
    /// data ignores that Sync.
    is_execution: bool,
    /// True if the server has requested rows of the current load.
    pub(super) has_sent_rows: bool,
    /// The key for cancel requests; some poolers give none.
    pub(super) key: Option<BackendKey>,
    /// The session, if it has an id.
    pub(super) known_session: Option<KnownSession>,
    pub(super) version: String,
    /// Reason why the answer to an earlier statement could not be read to its end. A caller may
    /// have ignored it; the next statement reports it.
    pub(super) unreadable: Option<Error>,
}

impl PostgresConnection {
    /// Returns the counters of Assay's own traffic outside of requests, over all sessions.
    pub(super) fn own_traffic(&self) -> &OwnTraffic {
        &self.shared.service.own_traffic
    }

    pub(super) fn session_ids(&self) -> &SessionIds {
        &self.shared.service.session_ids[self.node.index()]
    }

    pub(super) fn service(&self) -> &Arc<Service> {
        &self.shared.service
    }

    /// Returns true if every message sent has been answered.
    pub(super) fn replies_are_complete(&self) -> bool {
        self.replies.is_idle()
    }

    /// Records that the last of a COPY's data has been sent, or is about to be.
    pub(super) fn end_copy(&mut self) {
        self.replies.end_copy();
    }

    pub(super) fn rt(&self) -> &Rt {
        &self.rt
    }

    /// Takes over a new session and sets the mode that literals in texts rely on.
    pub(super) async fn begin(
        shared: Shared,
        rt: Rt,
        node: NodeId,
        (channel, session): (Channel, Session),
    ) -> Result<PostgresConnection, Error> {
        let escapes = session.setting("standard_conforming_strings") == Some("off");
        let version = session.setting("server_version").unwrap_or("unknown").to_owned();
        let id = session.key.and_then(|key| u64::try_from(key.process).ok()).map(SessionId);
        let known_session = id.map(|id| shared.service.session_ids[node.index()].add(id));
        let mut connection = PostgresConnection {
            shared,
            rt,
            channel,
            node,
            replies: Replies::new(),
            statements: Vec::new(),
            status: TransactionStatus::Idle,
            is_execution: false,
            has_sent_rows: false,
            key: session.key,
            known_session,
            version,
            unreadable: None,
        };
        connection.own_traffic().logged_in();
        if escapes {
            // Literals are written with single backslashes, so a backslash must not be an escape.
            connection.query_short("set standard_conforming_strings = on").await?;
        }
        Ok(connection)
    }

    /// Appends a step to the data to be sent next. The step is answered separately.
    #[inline]
    fn append(&mut self, step: Step, values: &Values) -> Result<(), Error> {
        match step {
            Step::Execute { statement, first, count } => {
                self.append_execution(statement, &values.items()[range(first, count)], values)?;
                self.append_sync(self.statements[statement.index()].cycle);
                self.is_execution = true;
                Ok(())
            }
            Step::ExecuteText { text } => self.append_query(values.text_at(text)),
            Step::Begin => self.append_query("begin"),
            Step::Commit => self.append_query("commit"),
        }
    }

    /// Appends the execution of a statement. The server answers once a Sync follows.
    #[inline]
    fn append_execution(
        &mut self,
        statement: PreparedId,
        given: &[Value],
        texts: &Values,
    ) -> Result<(), Error> {
        let Statement { template, .. } = &self.statements[statement.index()];
        let given = given.iter().map(|value| parameter(*value, texts));
        template.fill(self.channel.out(), given).map_err(|error| faults::unencodable_value(&error))
    }

    /// Appends the Sync after messages of the extended protocol.
    #[inline]
    fn append_sync(&mut self, cycle: Cycle) {
        frontend::sync(self.channel.out());
        self.replies.expect(cycle);
    }

    /// Appends a step that is answered together with later steps, and adds it to `cycle`.
    fn append_link(&mut self, step: Step, values: &Values, cycle: &mut Cycle) -> Result<(), Error> {
        let text = match step {
            Step::Execute { statement, first, count } => {
                *cycle = cycle.followed_by(self.statements[statement.index()].cycle);
                return self.append_execution(
                    statement,
                    &values.items()[range(first, count)],
                    values,
                );
            }
            Step::ExecuteText { text } => values.text_at(text),
            Step::Begin => "begin",
            Step::Commit => "commit",
        };
        let link = Cycle::STATEMENT.with_text(text).parse();
        *cycle = cycle.followed_by(match step {
            Step::Begin | Step::Commit => link.without_copy(),
            Step::Execute { .. } | Step::ExecuteText { .. } => link,
        });
        let results = self.shared.results;
        let out = self.channel.out();
        frontend::parse(out, "", text, [])
            .and_then(|()| frontend::bind(out, "", "", [], [], [results]))
            .and_then(|()| frontend::execute(out, "", 0))
            .map_err(|error| faults::unencodable_text(&error))
    }

    pub(super) fn append_query(&mut self, text: &str) -> Result<(), Error> {
        frontend::query(self.channel.out(), text)
            .map_err(|error| faults::unencodable_text(&error))?;
        self.replies.expect(Cycle::QUERY.with_text(text));
        self.is_execution = false;
        Ok(())
    }

    /// Sends the appended messages and reads until all of them are answered. Returns the time at
    /// which the last byte was read; failures of commands are in the sink.
    ///
    /// # Errors
    /// The session is over.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        sink: &mut impl OutcomeSink,
        reply: &mut Reply,
    ) -> impl Future<Output = Result<Stamp, Error>> {
        self.exchange_step_by_step(sink, reply, |_| ())
    }

    /// Sends the appended messages and reads until all of them are answered, like `exchange`. After
    /// each read, calls `note` with the outcome so far.
    ///
    /// A single future sends and reads, because each further one would be polled twice for each
    /// request.
    #[inline]
    fn exchange_step_by_step(
        &mut self,
        sink: &mut impl OutcomeSink,
        reply: &mut Reply,
        mut note: impl FnMut(&StatementOutcome),
    ) -> impl Future<Output = Result<Stamp, Error>> {
        reply.bytes_sent += self.channel.out().len() as u64;
        poll_fn(move |context| self.poll_exchange(context, sink, reply, &mut note))
    }

    #[inline]
    fn poll_exchange(
        &mut self,
        context: &mut Context<'_>,
        sink: &mut impl OutcomeSink,
        reply: &mut Reply,
        note: &mut impl FnMut(&StatementOutcome),
    ) -> Poll<Result<Stamp, Error>> {
        let mut is_stamped = false;
        loop {
            let flushed = self.channel.poll_flush(context);
            if !self.channel.unread().is_empty() {
                if !is_stamped {
                    // These bytes arrived during a long send.
                    sink.outcome().read_at = self.rt.now();
                }
                self.read(sink, reply)?;
                note(sink.outcome());
            }
            ready!(flushed);
            if self.replies.is_idle() {
                return Poll::Ready(Ok(sink.outcome().read_at));
            }
            if sink.outcome().wants_data {
                self.refuse_data(sink.outcome());
                is_stamped = false;
            } else if let Err(error) = ready!(self.channel.poll_receive(context)) {
                return Poll::Ready(Err(self.server_error_or(sink.outcome(), error)));
            } else {
                sink.outcome().read_at = self.rt.now();
                is_stamped = true;
            }
        }
    }

    /// Parses the received bytes.
    ///
    /// # Errors
    /// They violate the protocol.
    #[inline]
    pub(super) fn read(
        &mut self,
        sink: &mut impl OutcomeSink,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let used = match self.replies.read(self.channel.unread(), sink) {
            Ok(used) => used,
            Err(error) => return Err(faults::malformed_message(self.channel.address(), &error)),
        };
        reply.bytes_received += used as u64;
        self.channel.consume(used, self.replies.needed());
        if let Some(status) = sink.outcome().status {
            self.status = status;
        }
        Ok(())
    }

    /// Reads and parses the available bytes without waiting.
    ///
    /// # Errors
    /// The end of the stream, or a violation of the protocol.
    pub(super) async fn read_available(
        &mut self,
        sink: &mut impl OutcomeSink,
    ) -> Result<(), Error> {
        let came = poll_fn(|context| match self.channel.poll_receive(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(())),
        });
        let lost = came.await.err();
        self.read(sink, &mut Reply::default())?;
        lost.map_or(Ok(()), |error| Err(self.server_error_or(sink.outcome(), error)))
    }

    /// Waits for more bytes.
    ///
    /// # Errors
    /// The end of the stream: the server's last error, if it sent one.
    #[inline]
    pub(super) async fn receive(&mut self, sink: &mut impl OutcomeSink) -> Result<(), Error> {
        match self.channel.receive().await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.server_error_or(sink.outcome(), error)),
        }
    }

    /// Refuses a statement's request for COPY data, which a job does not have. Chapter "COPY
    /// Operations".
    #[cold]
    fn refuse_data(&mut self, outcome: &mut StatementOutcome) {
        outcome.wants_data = false;
        let reason = "a job has no data to copy: use a [load] section";
        // Cannot fail: the reason has no zero byte.
        let _ = frontend::copy_fail(self.channel.out(), reason);
        if self.is_execution {
            frontend::sync(self.channel.out());
        }
    }

    /// Runs the steps one by one; each is sent when the previous one is answered.
    pub(super) async fn run_steps(&mut self, work: &mut Work) -> Result<(), Error> {
        let Work { steps, values, reply, capture, .. } = work;
        // One clock reading is the end of a step and the beginning of the next.
        let mut at = self.rt.now();
        for &step in steps.iter() {
            self.append(step, values)?;
            reply.sent.get_or_insert(at);
            let before = capture.mark();
            let outcome = StatementOutcome::default();
            let mut answer = Answer { capture, complete_rows: before, outcome };
            let done = self.exchange(&mut answer, reply).await?;
            reply.done = done;
            if let Some(report) = answer.outcome.error {
                answer.capture.truncate(before);
                return Err(self.fault(&report));
            }
            if answer.outcome.completed > 1 {
                let text = match step {
                    Step::ExecuteText { text } => values.text_at(text),
                    Step::Execute { .. } | Step::Begin | Step::Commit => "",
                };
                self.check_completions(text, answer.outcome.completed)?;
            }
            if matches!(step, Step::Execute { .. } | Step::ExecuteText { .. }) {
                reply.add_statement(done.since(at), answer.outcome.rows);
            }
            at = done;
        }
        Ok(())
    }

    /// Runs the steps of a transaction, or of a part of one, in a pipeline: they are sent together,
    /// and the server skips the steps after a step that fails. Chapter "Pipelining".
    pub(super) async fn run_chain(&mut self, work: &mut Work) -> Result<(), Error> {
        let Work { steps, values, reply, capture, .. } = work;
        let sent = self.rt.now();
        let mut cycle = Cycle::SYNC;
        for &step in steps.iter() {
            self.append_link(step, values, &mut cycle)?;
        }
        self.append_sync(cycle);
        // A COPY within the transaction is ended by the next message, at the latest by that of the
        // commit.
        self.is_execution = false;
        reply.sent.get_or_insert(sent);
        let (complete_rows, outcome) = (capture.mark(), StatementOutcome::default());
        let mut answer = Answer { capture, complete_rows, outcome };
        let (mut times, mut with_rows) = (std::mem::take(&mut reply.statements), reply.with_rows);
        let (mut steps, mut answered) = (steps.iter().zip(0..), 0);
        let note = |outcome: &StatementOutcome| {
            for (step, index) in steps.by_ref().take((outcome.completed - answered) as usize) {
                if matches!(step, Step::Execute { .. } | Step::ExecuteText { .. }) {
                    let has_rows = outcome.with_rows.contains(index);
                    with_rows.insert_if(times.len(), has_rows);
                    times.push(outcome.read_at.since(sent));
                }
            }
            answered = outcome.completed;
        };
        let ended = self.exchange_step_by_step(&mut answer, reply, note).await;
        (reply.statements, reply.with_rows) = (times, with_rows);
        reply.done = ended?;
        reply.rows = reply.rows.saturating_add(answer.outcome.rows);
        match answer.outcome.error {
            None => Ok(()),
            Some(report) => {
                answer.capture.truncate(answer.complete_rows);
                Err(self.fault(&report))
            }
        }
    }

    /// Rolls back the transaction that an error has left open, if any.
    #[cold]
    pub(super) async fn roll_back(&mut self, error: Error, reply: &mut Reply) -> Error {
        // Discard the messages that were appended before a value turned out not to fit its
        // parameter.
        self.channel.out().clear();
        if error.class().ends_connection() || self.status == TransactionStatus::Idle {
            // The error may belong to a later step than the last answered one.
            reply.done = reply.done.max(self.rt.now());
            return error;
        }
        let mut whole = FullReply::read_by(self.short_table());
        let ended = match self.append_query("rollback") {
            Ok(()) => self.exchange(&mut whole, reply).await,
            Err(second) => Err(second),
        };
        let ended = ended.and_then(|_| self.check_completions("rollback", whole.outcome.completed));
        reply.done = self.rt.now();
        match (ended, whole.outcome.error) {
            (Ok(_), None) => error,
            (Err(second), _) => error.without_rollback(second.message()),
            (Ok(_), Some(second)) => {
                error.without_rollback(&self.service().secrets.hide(&second.message))
            }
        }
    }

    /// Returns a reader for the result of a statement that the driver itself needs.
    pub(super) fn short_table(&self) -> TableReader {
        TableReader::short(&self.shared.service.short_tables)
    }

    /// Runs a statement that the driver itself needs, and whose result is expected to be short.
    pub(super) async fn query_short(&mut self, sql: &str) -> Result<Table, Error> {
        let table = self.short_table();
        self.query(sql, table).await
    }

    /// Runs a text; `table` holds its result.
    pub(super) async fn query(&mut self, sql: &str, table: TableReader) -> Result<Table, Error> {
        if !self.replies.is_idle() {
            let address = self.channel.address();
            return Err(self.unreadable.clone().unwrap_or_else(|| unread_answer(address)));
        }
        self.append_query(sql)?;
        let answer = self.ask(sql, table).await;
        if let Err(error) = &answer
            && !self.replies.is_idle()
        {
            self.unreadable = Some(error.clone());
        }
        let table = answer?.table.into_table();
        self.own_traffic().count_text();
        Ok(table)
    }

    /// Sends the appended query or extended-protocol messages and returns the complete answer.
    /// `text` is the text in these messages, and `table` holds the rows of the answer.
    pub(super) async fn ask(&mut self, text: &str, table: TableReader) -> Result<FullReply, Error> {
        let mut whole = FullReply::read_by(table);
        self.exchange(&mut whole, &mut Reply::default()).await?;
        match whole.outcome.error.take() {
            None => self.check_completions(text, whole.outcome.completed).map(|()| whole),
            Some(report) => Err(self.fault(&report)),
        }
    }

    /// Checks that the server has completed no more commands than a text has statements.
    ///
    /// Fewer completions are not noticed: the statements in the text of every request would have to
    /// be counted, and not every semicolon ends a statement (strings, comments, function bodies,
    /// rules).
    ///
    /// # Errors
    /// The server has completed more commands.
    #[inline]
    pub(super) fn check_completions(&self, text: &str, completed: u32) -> Result<(), Error> {
        match completed {
            0 | 1 => Ok(()),
            several if several as usize <= most_statements(text) => Ok(()),
            _ => Err(faults::surplus_completion(self.channel.address())),
        }
    }

    /// Converts a server's error report into an error without the passwords of the login.
    #[cold]
    pub(super) fn fault(&self, report: &OwnedReport) -> Error {
        faults::fault(report, &self.service().secrets)
    }

    /// Returns the error that a server sent just before it closed the connection or, if it sent
    /// none, the error for the lost connection.
    #[cold]
    fn server_error_or(&self, outcome: &mut StatementOutcome, lost: net::Error) -> Error {
        match outcome.error.take() {
            None => lost.into(),
            Some(report) => self.fault(&report).as_disconnect(),
        }
    }

    pub(super) fn append_preparation(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let out = self.channel.out();
        let appended = frontend::parse(out, name, text, []);
        let appended = appended.and_then(|()| frontend::describe(out, Object::Statement, name));
        if let Err(error) = appended {
            out.clear();
            return Err(faults::unencodable_text(&error));
        }
        self.append_sync(Cycle::SYNC.parse().describe(Object::Statement));
        Ok(())
    }
}

/// Returns the greatest number of statements that a text can have: one more than the semicolons
/// before its end.
#[cold]
fn most_statements(text: &str) -> usize {
    let is_end = |last: char| last == ';' || last.is_whitespace();
    text.trim_end_matches(is_end).matches(';').count() + 1
}

/// Returns the range of `count` indexes from `first` on.
#[inline]
fn range(first: u32, count: u32) -> Range<usize> {
    first as usize..(first + count) as usize
}

#[inline]
pub(super) fn parameter(value: Value, texts: &Values) -> Parameter<'_> {
    match value {
        Value::Null => Parameter::Null,
        Value::Int(number) => Parameter::Int(number),
        Value::Real(number) => Parameter::Real(number),
        Value::Text(text) => Parameter::Text(texts.resolve(text)),
    }
}
