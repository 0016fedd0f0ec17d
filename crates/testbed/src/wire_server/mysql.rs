//! A session of MySQL's protocol, without I/O.

use base::Code;
use wire_mysql::{
    Answers, Capabilities, ClientHello, ColumnDefinition, ColumnType, Command, ErrPacket,
    ErrorKind, Field, Handshake, Negotiated, OkPacket, Payloads, Prepared, StatementId, Status,
    WireError, packet,
};

use super::session_need::SessionNeed;
use super::statement::{StatementKind, count_question_marks};

/// Capabilities of the server, without those specific to MariaDB.
const OFFERED: Capabilities = Capabilities(
    Capabilities::PROTOCOL_41.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA.0
        | Capabilities::CONNECT_WITH_DB.0
        | Capabilities::CONNECT_ATTRS.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::DEPRECATE_EOF.0,
);

/// Id of utf8mb4_general_ci.
const COLLATION: u8 = 45;

/// Id of the collation of non-text values.
const BINARY: u16 = 63;

/// The announced authentication method. Its result is not checked.
const METHOD: &[u8] = b"mysql_native_password";

/// The state of a session from its first byte on.
pub(super) struct Session {
    payloads: Payloads,
    stage: Stage,
    status: Status,
    /// Prepared statements by id; id 1 is the first.
    prepared: Vec<Option<Statement>>,
    /// The statement that is being served, and the sequence number of its answer's first packet.
    served: Option<(ServedStatement, u8)>,
}

/// Progress of the session.
#[derive(Clone, Copy)]
enum Stage {
    /// Before the server's greeting.
    New,
    /// After the server's greeting.
    Greeted,
    /// After the login.
    LoggedIn(Negotiated),
}

#[derive(Clone, Copy)]
struct Statement {
    kind: StatementKind,
    parameters: u16,
}

#[derive(Clone, Copy)]
enum ServedStatement {
    Text(StatementKind),
    Prepared(StatementKind),
}

impl Session {
    pub(super) fn new() -> Session {
        Session {
            payloads: Payloads::new(),
            stage: Stage::New,
            status: Status::AUTOCOMMIT,
            prepared: Vec::new(),
            served: None,
        }
    }

    /// Processes bytes until a statement is complete or more bytes are needed, and appends replies
    /// to `out`. Returns the number of bytes used, and the next need of the session.
    pub(super) fn next(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, SessionNeed), WireError> {
        let mut used = 0;
        loop {
            if matches!(self.stage, Stage::New) {
                self.greet(out);
            }
            // The buffer is taken out of the session, because the payload borrows from the buffer
            // while the session changes.
            let mut payloads = std::mem::take(&mut self.payloads);
            let taken = payloads.next(&bytes[used..])?;
            let (sequence, is_whole) = (taken.sequence, taken.payload.is_some());
            used += taken.used;
            let next = match taken.payload {
                Some(payload) => self.payload(payload, sequence, out)?,
                None => Some(SessionNeed::Bytes),
            };
            if is_whole {
                payloads.expect(match self.stage {
                    Stage::New | Stage::Greeted => sequence,
                    Stage::LoggedIn(_) => 0,
                });
            }
            self.payloads = payloads;
            if let Some(next) = next {
                return Ok((used, next));
            }
        }
    }

    fn greet(&mut self, out: &mut Vec<u8>) {
        let handshake = Handshake {
            server_version: b"10.11.0-MariaDB-simulated",
            thread_id: 1,
            nonce: *b"01234567890123456789",
            offered: OFFERED,
            collation: COLLATION,
            status: self.status,
            method: METHOD,
        };
        let sequence = packet(out, 0, |out| handshake.encode(out));
        self.payloads.expect(sequence);
        self.stage = Stage::Greeted;
    }

    fn payload(
        &mut self,
        payload: &[u8],
        sequence: u8,
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionNeed>, WireError> {
        match self.stage {
            Stage::New => Ok(None),
            Stage::Greeted => match ClientHello::decode(payload)? {
                // TLS was not offered.
                ClientHello::Ssl(_) => Ok(Some(SessionNeed::End)),
                ClientHello::Response(response) => {
                    let agreed = response.negotiated_with(OFFERED);
                    self.stage = Stage::LoggedIn(agreed);
                    self.ok(&mut Answers::new(out, agreed, sequence), 0);
                    Ok(None)
                }
            },
            Stage::LoggedIn(agreed) => {
                let mut answers = Answers::new(out, agreed, sequence);
                match Command::decode(payload) {
                    Ok(command) => Ok(self.command(&command, sequence, &mut answers)),
                    Err(error) if error.kind == ErrorKind::Unsupported => {
                        fail(&mut answers, 1047, *b"08S01", b"unknown command");
                        Ok(None)
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    fn command(
        &mut self,
        command: &Command<'_>,
        sequence: u8,
        answers: &mut Answers<'_>,
    ) -> Option<SessionNeed> {
        match command {
            Command::Quit => return Some(SessionNeed::End),
            Command::Query(text) => {
                let kind = StatementKind::classify(text);
                self.served = Some((ServedStatement::Text(kind), sequence));
                return Some(SessionNeed::Statement);
            }
            Command::Execute(execute) => match self.statement(execute.id) {
                Some(statement) => {
                    self.served = Some((ServedStatement::Prepared(statement.kind), sequence));
                    return Some(SessionNeed::Statement);
                }
                None => fail(answers, 1243, *b"HY000", b"unknown prepared statement"),
            },
            Command::Prepare(text) => self.prepare(text, answers),
            Command::Close(id) => {
                if let Some(place) = self.prepared.get_mut((id.0 as usize).wrapping_sub(1)) {
                    *place = None;
                }
            }
            Command::ResetConnection => {
                self.prepared.clear();
                self.status = Status::AUTOCOMMIT;
                self.ok(answers, 0);
            }
            Command::Ping | Command::InitDatabase(_) | Command::Reset(_) => self.ok(answers, 0),
            Command::BulkExecute(_) => fail(answers, 1047, *b"08S01", b"unknown command"),
        }
        None
    }

    fn statement(&self, id: StatementId) -> Option<Statement> {
        self.prepared.get((id.0 as usize).wrapping_sub(1)).copied().flatten()
    }

    fn prepare(&mut self, text: &[u8], answers: &mut Answers<'_>) {
        let (kind, parameters) = (StatementKind::classify(text), count_question_marks(text));
        let statement = Statement { kind, parameters };
        self.prepared.push(Some(statement));
        let id = StatementId(u32::try_from(self.prepared.len()).unwrap_or(u32::MAX));
        let columns: &[ColumnDefinition<'_>] =
            if statement.kind.has_rows() { &[column(b"answer")] } else { &[] };
        let parameters = vec![column(b"?"); usize::from(statement.parameters)];
        let prepared = Prepared {
            id,
            columns: u16::from(statement.kind.has_rows()),
            parameters: statement.parameters,
            warnings: 0,
        };
        answers.prepared(&prepared, &parameters, columns);
    }

    fn ok(&self, answers: &mut Answers<'_>, affected_rows: u64) {
        answers.ok(&OkPacket { affected_rows, status: self.status, ..OkPacket::default() });
    }

    /// Answers the statement that was read last.
    pub(super) fn answer(&mut self, rows: u64, out: &mut Vec<u8>) {
        let (Some((served, sequence)), Stage::LoggedIn(agreed)) = (self.served.take(), self.stage)
        else {
            return;
        };
        let mut answers = Answers::new(out, agreed, sequence);
        let (ServedStatement::Text(kind) | ServedStatement::Prepared(kind)) = served;
        let rows = match kind {
            StatementKind::Query => rows,
            StatementKind::Settings => 0,
            StatementKind::Change(_) => return self.ok(&mut answers, rows),
            StatementKind::Begin => {
                self.status = Status::AUTOCOMMIT | Status::IN_TRANSACTION;
                return self.ok(&mut answers, 0);
            }
            StatementKind::End(_) => {
                self.status = Status::AUTOCOMMIT;
                return self.ok(&mut answers, 0);
            }
            StatementKind::Other(_) => return self.ok(&mut answers, 0),
            StatementKind::Empty => return fail(&mut answers, 1065, *b"42000", b"Query was empty"),
        };
        answers.columns(&[column(b"answer")], false);
        for _ in 0..rows {
            match served {
                ServedStatement::Text(_) => answers.text_row([Some(b"1".as_slice())]),
                ServedStatement::Prepared(_) => answers.binary_row([Field::Int(1)]),
            }
        }
        answers.end_of_rows(self.status, 0);
    }

    /// Refuses the statement that was read last.
    pub(super) fn refuse(&mut self, code: Code, out: &mut Vec<u8>) {
        let (Some((_, sequence)), Stage::LoggedIn(agreed)) = (self.served.take(), self.stage)
        else {
            return;
        };
        let number = code.as_str().parse().unwrap_or(1_105);
        let mut answers = Answers::new(out, agreed, sequence);
        fail(&mut answers, number, *b"HY000", b"the simulated server returned an error");
    }
}

fn fail(answers: &mut Answers<'_>, code: u16, sqlstate: [u8; 5], message: &[u8]) {
    answers.error(&ErrPacket { code, sqlstate: Some(sqlstate), message });
}

fn column(name: &[u8]) -> ColumnDefinition<'_> {
    ColumnDefinition::computed(name, ColumnType::LONGLONG, BINARY)
}
