//! Sessions: sending commands and reading replies.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, ready};

use base::{Clock, NodeId, Secrets, Stamp, Value, Values};
use net::Channel;
use rt::Rt;
use wire_mysql::{
    Capabilities, Command, Execute, Parameter, Replies, ReplyKind, Session, Status, file_data,
    file_end,
};

use super::answer::{Answer, Columns, FullReply, OutcomeSink, StatementOutcome};
use super::config::ServiceConfig;
use super::faults;
use super::file::AllowedFiles;
use super::login::Shared;
use crate::activity_counters::OwnTraffic;
use crate::service::unread_answer;
use crate::session_ids::{KnownSession, SessionId, SessionIds};
use crate::table::TableReader;
use crate::{Error, Reply, Step, Table, Work};

/// Statement that commits the open transaction and turns autocommit on again.
pub(super) const AUTOCOMMIT_ON: &str = "set autocommit = 1";

/// A session with a server of MySQL or MariaDB.
pub struct MysqlConnection {
    pub(super) shared: Shared,
    pub(super) line: ServerLine,
    /// Index of the address of the session's server.
    pub(super) node: NodeId,
    pub(super) statements: Vec<Statement>,
    /// Columns of unprepared statements.
    pub(super) columns: Columns,
    /// True if the server sends the columns of a statement only once.
    pub(super) sends_columns_once: bool,
    /// True if the server accepts files.
    pub(super) takes_files: bool,
    /// True if the server has requested rows of the current load.
    pub(super) has_sent_rows: bool,
    pub(super) is_in_transaction: bool,
    /// True if autocommit is off because of a [pipelined transaction](super::chain).
    pub(super) is_autocommit_off: bool,
    pub(super) known_session: KnownSession,
    pub(super) version: String,
    /// Reason why the answer to an earlier statement could not be read to its end. A caller may
    /// have ignored it; the next statement reports it.
    pub(super) unreadable: Option<Error>,
}

/// A prepared statement, or the text of one that cannot be prepared.
pub(super) enum Statement {
    Prepared {
        execute: Execute,
        /// The kind of its replies.
        kind: ReplyKind,
        columns: Columns,
        /// The text, if it loads a file; otherwise empty.
        loads: Box<str>,
    },
    /// A statement that has no placeholders and that the server cannot prepare.
    Text(Box<str>),
}

impl Statement {
    pub(super) fn values(&self) -> usize {
        match self {
            Statement::Prepared { execute, .. } => execute.parameters(),
            Statement::Text(_) => 0,
        }
    }
}

/// A command that was appended, and the state that its reply needs.
pub(super) struct PendingCommand<'a> {
    line: &'a mut ServerLine,
    columns: &'a mut Columns,
    allowed_files: AllowedFiles<'a>,
}

/// The connection to the server, with its expected replies.
pub(super) struct ServerLine {
    pub(super) rt: Rt,
    pub(super) channel: Channel,
    pub(super) replies: Replies,
}

impl ServerLine {
    /// Appends a text command to the data to be sent next.
    pub(super) fn append_query(&mut self, text: &str) -> Result<(), Error> {
        let sequence = Command::Query(text.as_bytes()).append(self.channel.out());
        self.expect(ReplyKind::Text, sequence)
    }

    #[inline]
    pub(super) fn expect(&mut self, kind: ReplyKind, sequence: u8) -> Result<(), Error> {
        let expected = self.replies.expect(kind, sequence);
        expected.map_err(|error| faults::malformed_message(self.channel.address(), &error))
    }

    /// Sends the appended commands and reads until all of them are answered. Returns the time at
    /// which the last byte was read; failures of commands are in the sink.
    ///
    /// # Errors
    /// The session is over.
    #[inline]
    async fn exchange<S: OutcomeSink>(
        &mut self,
        sink: &mut S,
        allowed_files: AllowedFiles<'_>,
        reply: &mut Reply,
    ) -> Result<Stamp, Error> {
        loop {
            let read_at = self.send_and_read(sink, reply).await?;
            if let Some(sequence) = self.replies.wanted_file() {
                self.send_file(sequence, sink.outcome(), allowed_files, reply).await?;
            }
            if self.replies.is_idle() {
                return Ok(read_at);
            }
        }
    }

    /// Sends the appended commands.
    #[inline]
    pub(super) async fn send(&mut self, reply: &mut Reply) {
        reply.bytes_sent += self.channel.out().len() as u64;
        self.channel.flush().await;
    }

    /// Sends the appended commands and reads the next replies. Returns the time of the read.
    ///
    /// A single future sends and reads, because each further one would be polled twice for each
    /// request.
    ///
    /// # Errors
    /// The session is over.
    #[inline]
    pub(super) fn send_and_read<S: OutcomeSink>(
        &mut self,
        sink: &mut S,
        reply: &mut Reply,
    ) -> impl Future<Output = Result<Stamp, Error>> {
        reply.bytes_sent += self.channel.out().len() as u64;
        let mut read_before = Stamp::ZERO;
        poll_fn(move |context| {
            let flushed = self.channel.poll_flush(context);
            if self.channel.unread().is_empty() {
                ready!(flushed);
                if self.replies.is_idle() {
                    // All replies were read while the commands were still being sent.
                    return Poll::Ready(Ok(read_before));
                }
                ready!(self.channel.poll_receive(context))?;
            }
            let read_at = self.rt.now();
            let used = match self.replies.read(self.channel.unread(), sink) {
                Ok(used) => used,
                Err(error) => {
                    return Poll::Ready(Err(faults::malformed_message(
                        self.channel.address(),
                        &error,
                    )));
                }
            };
            reply.bytes_received += used as u64;
            self.channel.consume(used, 0);
            sink.note_read(read_at);
            if flushed.is_pending() {
                // Replies must not accumulate during a long send.
                read_before = read_at;
                return Poll::Pending;
            }
            Poll::Ready(Ok(read_at))
        })
    }

    /// Sends the file that the server requests. If the statement does not name the file, or if no
    /// part of it can be read, sends an empty file, which does not end the session.
    ///
    /// # Errors
    /// Part of the file was sent and the rest cannot be read: only ending the session keeps the
    /// server from taking the part for the whole.
    #[cold]
    async fn send_file(
        &mut self,
        sequence: u8,
        outcome: &mut StatementOutcome,
        allowed_files: AllowedFiles<'_>,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let wanted = outcome.file.take().unwrap_or_default();
        let mut sequence = sequence;
        match allowed_files.open(&wanted) {
            Err(error) => outcome.file_error = Some(error),
            Ok(mut pieces) => {
                let first = sequence;
                loop {
                    match pieces.next().await {
                        Ok(Some(piece)) if !self.channel.is_broken() => {
                            sequence = file_data(self.channel.out(), sequence, &piece);
                            self.send(reply).await;
                        }
                        Ok(_) => break,
                        Err(error) if sequence == first => {
                            outcome.file_error = Some(error);
                            break;
                        }
                        Err(error) => return Err(Error::disconnect(error.message())),
                    }
                }
            }
        }
        self.end_file(sequence, reply).await
    }

    /// Marks the end of the file.
    pub(super) async fn end_file(&mut self, sequence: u8, reply: &mut Reply) -> Result<(), Error> {
        let answer = file_end(self.channel.out(), sequence);
        self.send(reply).await;
        let sent = self.replies.file_sent(answer);
        sent.map_err(|error| faults::malformed_message(self.channel.address(), &error))
    }
}

impl MysqlConnection {
    /// Returns the counters of Assay's own traffic outside of requests, over all sessions.
    pub(super) fn own_traffic(&self) -> &OwnTraffic {
        &self.shared.config.service.own_traffic
    }

    pub(super) fn session_ids(&self) -> &SessionIds {
        &self.shared.config.service.session_ids[self.node.index()]
    }

    pub(super) fn config(&self) -> &Arc<ServiceConfig> {
        &self.shared.config
    }

    /// Returns the passwords of the login.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.shared.config.service.secrets
    }

    pub(super) fn is_mariadb(&self) -> bool {
        self.version.contains("MariaDB")
    }

    /// Takes over a new session and sets the modes that statements rely on.
    pub(super) async fn begin(
        shared: Shared,
        rt: Rt,
        node: NodeId,
        (channel, session): (Channel, Session),
    ) -> Result<MysqlConnection, Error> {
        let Session { agreed, thread_id, server_version, status } = session;
        let ids = &shared.config.service.session_ids[node.index()];
        let known_session = ids.add(SessionId(thread_id.into()));
        let mut connection = MysqlConnection {
            shared,
            line: ServerLine { rt, channel, replies: Replies::new(agreed) },
            node,
            statements: Vec::new(),
            columns: Columns::default(),
            sends_columns_once: agreed.has(Capabilities::CACHE_METADATA),
            takes_files: agreed.has(Capabilities::LOCAL_FILES),
            has_sent_rows: false,
            is_in_transaction: false,
            is_autocommit_off: false,
            known_session,
            version: String::from_utf8_lossy(&server_version).into_owned(),
            unreadable: None,
        };
        if !status.contains(Status::AUTOCOMMIT) {
            connection.query_short("set session autocommit = 1").await?;
        }
        if status.contains(Status::NO_BACKSLASH_ESCAPES) {
            // Literals are written with doubled backslashes, so a backslash must be an escape.
            let mode = "replace(@@session.sql_mode, 'NO_BACKSLASH_ESCAPES', '')";
            connection.query_short(&format!("set session sql_mode = {mode}")).await?;
        }
        Ok(connection)
    }

    /// Appends a step to the data to be sent next.
    #[inline]
    pub(super) fn append<'a>(
        &'a mut self,
        step: Step,
        values: &'a Values,
    ) -> Result<PendingCommand<'a>, Error> {
        let MysqlConnection { shared, line, statements, columns, is_autocommit_off, .. } = self;
        let allow = |statement| AllowedFiles { statement, files: &shared.config.files };
        let text = match step {
            Step::Execute { statement, first, count } => {
                let given = &values.items()[first as usize..][..count as usize];
                match &mut statements[statement.index()] {
                    Statement::Prepared { execute, kind, columns, loads } => {
                        let given = given.iter().map(|value| parameter(*value, values));
                        let sequence = execute
                            .append(line.channel.out(), given)
                            .map_err(|_| faults::wrong_value_count(count, execute.parameters()))?;
                        line.expect(*kind, sequence)?;
                        return Ok(PendingCommand { line, columns, allowed_files: allow(loads) });
                    }
                    Statement::Text(_) if count > 0 => {
                        return Err(faults::wrong_value_count(count, 0));
                    }
                    Statement::Text(text) => &**text,
                }
            }
            Step::ExecuteText { text } => values.text_at(text),
            Step::Begin => "begin",
            Step::Commit if *is_autocommit_off => AUTOCOMMIT_ON,
            Step::Commit => "commit",
        };
        line.append_query(text)?;
        Ok(PendingCommand { line, columns, allowed_files: allow(text) })
    }

    /// Runs the steps one by one; each is sent when the previous one is answered.
    pub(super) async fn run_steps(&mut self, work: &mut Work) -> Result<(), Error> {
        let Work { steps, values, reply, capture, .. } = work;
        let are_columns_sent_once = self.sends_columns_once;
        // One clock reading is the end of a step and the beginning of the next.
        let mut at = self.line.rt.now();
        for &step in steps.iter() {
            let before = capture.mark();
            let PendingCommand { line, columns, allowed_files } = self.append(step, values)?;
            reply.sent.get_or_insert(at);
            let outcome = StatementOutcome::default();
            let mut answer = Answer { capture, columns, are_columns_sent_once, count: 0, outcome };
            let done = line.exchange(&mut answer, allowed_files, reply).await?;
            reply.done = done;
            let outcome = answer.outcome;
            if outcome.error.is_some() || outcome.file_error.is_some() {
                capture.truncate(before);
                return Err(self.failed(step, outcome));
            }
            self.note_status(outcome.status);
            if matches!(step, Step::Execute { .. } | Step::ExecuteText { .. }) {
                reply.add_statement(done.since(at), outcome.rows);
            } else if step == Step::Commit {
                self.is_autocommit_off = false;
            }
            at = done;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn note_status(&mut self, status: Option<Status>) {
        if let Some(status) = status {
            self.is_in_transaction = status.contains(Status::IN_TRANSACTION);
        }
    }

    /// Returns the error of a step, and resets the statement.
    #[cold]
    fn failed(&mut self, step: Step, outcome: StatementOutcome) -> Error {
        self.note_status(outcome.status);
        if let Step::Execute { statement, .. } = step
            && let Statement::Prepared { execute, .. } = &mut self.statements[statement.index()]
        {
            // The server may have refused before it read the parameter types.
            execute.rebind();
        }
        error_of(outcome, self.secrets())
            .unwrap_or_else(|| Error::disconnect("an error without a message"))
    }

    /// Rolls back the transaction that an error has left open, if any.
    #[cold]
    pub(super) async fn roll_back(&mut self, error: Error, reply: &mut Reply) -> Error {
        if error.class().ends_connection() || !self.is_in_transaction {
            // The error may belong to a later step than the last answered one.
            reply.done = reply.done.max(self.line.rt.now());
            return error;
        }
        let ended = self.ask_text("rollback", reply).await;
        reply.done = self.line.rt.now();
        match ended {
            Ok(_) => error,
            Err(second) => error.without_rollback(second.message()),
        }
    }

    /// Sends a text command. Returns the time at which the last byte was read, and the reply.
    pub(super) async fn ask_text(
        &mut self,
        text: &str,
        reply: &mut Reply,
    ) -> Result<(Stamp, FullReply), Error> {
        self.line.append_query(text)?;
        self.ask(text, reply).await
    }

    /// Sends the appended commands and returns the complete reply, whose rows are expected to be
    /// few. `text` is the statement: the server may request only a file that it names.
    pub(super) async fn ask(
        &mut self,
        text: &str,
        reply: &mut Reply,
    ) -> Result<(Stamp, FullReply), Error> {
        let table = self.short_table();
        self.ask_for(table, text, reply).await
    }

    /// Returns a reader for the result of a statement that the driver itself needs.
    pub(super) fn short_table(&self) -> TableReader {
        TableReader::short(&self.shared.config.service.short_tables)
    }

    /// Runs a statement that the driver itself needs, and whose result is expected to be short.
    pub(super) async fn query_short(&mut self, sql: &str) -> Result<Table, Error> {
        let table = self.short_table();
        self.query(sql, table).await
    }

    /// Runs a text; `table` holds its result.
    pub(super) async fn query(&mut self, sql: &str, table: TableReader) -> Result<Table, Error> {
        if !self.line.replies.is_idle() {
            let address = self.line.channel.address();
            return Err(self.unreadable.clone().unwrap_or_else(|| unread_answer(address)));
        }
        self.own_traffic().count_text();
        self.line.append_query(sql)?;
        let answer = self.ask_for(table, sql, &mut Reply::default()).await;
        if let Err(error) = &answer
            && !self.line.replies.is_idle()
        {
            self.unreadable = Some(error.clone());
        }
        let (_, whole) = answer?;
        Ok(whole.table.into_table())
    }

    /// Sends the appended commands and returns the complete reply. `table` holds the rows; the
    /// server may request only a file that the statement `text` names.
    async fn ask_for(
        &mut self,
        table: TableReader,
        text: &str,
        reply: &mut Reply,
    ) -> Result<(Stamp, FullReply), Error> {
        let config = Arc::clone(&self.shared.config);
        let allowed_files = AllowedFiles { statement: text, files: &config.files };
        let mut whole = FullReply::read_by(table);
        let done = self.line.exchange(&mut whole, allowed_files, reply).await?;
        self.note_status(whole.outcome.status);
        match error_of(std::mem::take(&mut whole.outcome), &config.service.secrets) {
            None => Ok((done, whole)),
            Some(error) => Err(error),
        }
    }
}

/// Returns the error of a statement; `None` if it succeeded. An error in reading our file takes
/// precedence: the server's complaint about the missing file is only a consequence. Secrets are
/// removed from the server's message.
pub(super) fn error_of(outcome: StatementOutcome, secrets: &Secrets) -> Option<Error> {
    outcome.file_error.or_else(|| outcome.error.map(|refusal| faults::fault(&refusal, secrets)))
}

#[inline]
fn parameter(value: Value, texts: &Values) -> Parameter<'_> {
    match value {
        Value::Null => Parameter::Null,
        Value::Int(number) => Parameter::Int(number),
        Value::Real(number) => Parameter::Double(number),
        Value::Text(text) => Parameter::Text(texts.resolve(text).as_bytes()),
    }
}
