//! A session of PostgreSQL's protocol, without I/O.

use std::collections::VecDeque;

use base::Code;
use wire_postgres::backend::{self, Column, ParameterStatus};
use wire_postgres::frontend::{Bind, Message, Parse};
use wire_postgres::{
    BackendKey, Format, LoginProgress, Object, Oid, ServerAuth, ServerLogin, SslAnswer,
    TransactionStatus, WireError, answer_ssl,
};

use super::session_need::SessionNeed;
use super::statement::{Cast, StatementKind, parameter_casts, statements};

/// Parameters that the server reports before the first statement.
const SETTINGS: [(&str, &str); 6] = [
    ("server_version", "15.0 (simulated)"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, MDY"),
    ("integer_datetimes", "on"),
    ("standard_conforming_strings", "on"),
];

/// The state of a session from its first byte on.
pub(super) struct Session {
    /// State of the login; `None` after it.
    login: Option<ServerLogin<'static>>,
    status: TransactionStatus,
    /// Prepared statements by name. A load generator uses few, for which a list is faster than a
    /// hash map.
    prepared: Vec<(Box<[u8]>, Statement)>,
    /// Portals by name.
    portals: Vec<(Box<[u8]>, Portal)>,
    /// Statements of a Query message that have not been served yet.
    waiting: VecDeque<StatementKind>,
    /// The statement that is being served.
    served: Option<ServedStatement>,
    /// True if all messages except Terminate are skipped until the next Sync, because of an error
    /// in the extended protocol.
    has_failed: bool,
}

#[derive(Clone)]
struct Statement {
    kind: StatementKind,
    parameters: Vec<Oid>,
}

#[derive(Clone, Copy)]
struct Portal {
    kind: StatementKind,
    format: Format,
}

/// The statement that is being served; the variant is the message that requested it.
#[derive(Clone, Copy)]
enum ServedStatement {
    /// As text, with Query.
    Text(StatementKind),
    /// With Execute.
    Portal(Portal),
}

impl Session {
    pub(super) fn new() -> Session {
        Session {
            login: Some(ServerLogin::new(ServerAuth::Trust)),
            status: TransactionStatus::Idle,
            prepared: Vec::new(),
            portals: Vec::new(),
            waiting: VecDeque::new(),
            served: None,
            has_failed: false,
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
        if let Some(kind) = self.waiting.pop_front() {
            self.served = Some(ServedStatement::Text(kind));
            return Ok((0, SessionNeed::Statement));
        }
        loop {
            let rest = &bytes[used..];
            if self.login.is_some() {
                let (read, next) = self.read_login(rest, out)?;
                used += read;
                match next {
                    Some(next) => return Ok((used, next)),
                    None => continue,
                }
            }
            let Some((message, read)) = Message::decode(rest)? else {
                return Ok((used, SessionNeed::Bytes));
            };
            used += read;
            if let Some(next) = self.message(message, out)? {
                return Ok((used, next));
            }
        }
    }

    /// Processes messages of the login. Returns the number of bytes used, and the next need of the
    /// session; `None` if the login is complete, or if `bytes` may contain more messages.
    fn read_login(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<SessionNeed>), WireError> {
        let Some(login) = &mut self.login else { return Ok((0, None)) };
        let (used, progress) = login.read(bytes, out)?;
        let next = match progress {
            LoginProgress::NeedsBytes => Some(SessionNeed::Bytes),
            LoginProgress::TlsRequested | LoginProgress::GssRequested => {
                answer_ssl(out, SslAnswer::Refused);
                None
            }
            LoginProgress::CancelRequested(_) | LoginProgress::LoginRejected => {
                Some(SessionNeed::End)
            }
            LoginProgress::Authenticated => {
                self.login = None;
                for (name, value) in SETTINGS {
                    let (name, value) = (name.as_bytes(), value.as_bytes());
                    backend::parameter_status(out, ParameterStatus { name, value })?;
                }
                backend::backend_key_data(out, BackendKey { process: 1, secret: 1 });
                backend::ready_for_query(out, self.status);
                None
            }
        };
        Ok((used, next))
    }

    fn message(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<SessionNeed>, WireError> {
        match message {
            Message::Terminate => return Ok(Some(SessionNeed::End)),
            Message::Sync => {
                self.has_failed = false;
                backend::ready_for_query(out, self.status);
            }
            Message::Flush | Message::Password(_) => {}
            // There is never a COPY in progress.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => {}
            _ if self.has_failed => {}
            Message::Query(text) => return self.query(text, out),
            Message::Parse(parse) => self.parse(&parse, out),
            Message::Bind(bind) => self.bind(&bind, out)?,
            Message::Describe(object, name) => self.describe(object, name, out)?,
            Message::Execute { portal, .. } => match find(&self.portals, portal) {
                Some(portal) => {
                    self.served = Some(ServedStatement::Portal(*portal));
                    return Ok(Some(SessionNeed::Statement));
                }
                None => self.fail(out, "34000", "portal does not exist")?,
            },
            Message::Close(object, name) => {
                match object {
                    Object::Statement => self.prepared.retain(|(known, _)| **known != *name),
                    Object::Portal => self.portals.retain(|(known, _)| **known != *name),
                }
                backend::close_complete(out);
            }
        }
        Ok(None)
    }

    fn query(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<Option<SessionNeed>, WireError> {
        self.waiting.extend(statements(text).into_iter().map(StatementKind::classify));
        match self.waiting.pop_front() {
            Some(kind) => {
                self.served = Some(ServedStatement::Text(kind));
                Ok(Some(SessionNeed::Statement))
            }
            None => {
                backend::empty_query_response(out);
                backend::ready_for_query(out, self.status);
                Ok(None)
            }
        }
    }

    /// Prepares a statement. Its parameters have the types that the client names or casts to, and
    /// are otherwise text, which can carry any value.
    fn parse(&mut self, parse: &Parse<'_>, out: &mut Vec<u8>) {
        let mut parameters: Vec<Oid> = parameter_casts(parse.text)
            .into_iter()
            .map(|cast| match cast {
                Cast::None => Oid::TEXT,
                Cast::Int4 => Oid::INT4,
                Cast::Int8 => Oid::INT8,
                Cast::Float8 => Oid::FLOAT8,
            })
            .collect();
        for (place, oid) in parse.types.iter().enumerate() {
            match parameters.get_mut(place) {
                Some(_) if oid == Oid::UNSPECIFIED => {}
                Some(parameter) => *parameter = oid,
                None => parameters.push(oid),
            }
        }
        let statement = Statement { kind: StatementKind::classify(parse.text), parameters };
        insert(&mut self.prepared, parse.statement, statement);
        backend::parse_complete(out);
    }

    fn bind(&mut self, bind: &Bind<'_>, out: &mut Vec<u8>) -> Result<(), WireError> {
        let Some(Statement { kind, .. }) = find(&self.prepared, bind.statement) else {
            return self.fail(out, "26000", "prepared statement does not exist");
        };
        let format = bind.results.iter().next().unwrap_or_default();
        insert(&mut self.portals, bind.portal, Portal { kind: *kind, format });
        backend::bind_complete(out);
        Ok(())
    }

    fn describe(
        &mut self,
        object: Object,
        name: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let (kind, format) = match object {
            Object::Statement => {
                let Some(statement) = find(&self.prepared, name) else {
                    return self.fail(out, "26000", "prepared statement does not exist");
                };
                backend::parameter_description(out, statement.parameters.iter().copied())?;
                (statement.kind, Format::Text)
            }
            Object::Portal => {
                let Some(portal) = find(&self.portals, name) else {
                    return self.fail(out, "34000", "portal does not exist");
                };
                (portal.kind, portal.format)
            }
        };
        match kind.has_rows() {
            true => columns(out, format),
            false => {
                backend::no_data(out);
                Ok(())
            }
        }
    }

    /// Answers the statement that was read last.
    pub(super) fn answer(&mut self, rows: u64, out: &mut Vec<u8>) -> Result<(), WireError> {
        let Some(served) = self.served.take() else { return Ok(()) };
        let (kind, format) = match served {
            ServedStatement::Text(kind) => (kind, Format::Text),
            ServedStatement::Portal(portal) => (portal.kind, portal.format),
        };
        let is_text = matches!(served, ServedStatement::Text(_));
        if is_text && kind.has_rows() {
            columns(out, format)?;
        }
        self.complete(kind, format, rows, out)?;
        if is_text && self.waiting.is_empty() {
            backend::ready_for_query(out, self.status);
        }
        Ok(())
    }

    fn complete(
        &mut self,
        kind: StatementKind,
        format: Format,
        rows: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        match kind {
            // By far the most frequent case: a tag that needs no formatting.
            StatementKind::Query if rows == 1 => {
                row(out, format)?;
                backend::command_complete(out, "SELECT 1")
            }
            StatementKind::Query => {
                for _ in 0..rows {
                    row(out, format)?;
                }
                backend::command_complete(out, format!("SELECT {rows}"))
            }
            StatementKind::Settings => backend::command_complete(out, "SELECT 0"),
            StatementKind::Change(tag) => backend::command_complete(out, format!("{tag}{rows}")),
            StatementKind::Begin => {
                self.status = TransactionStatus::Active;
                backend::command_complete(out, "BEGIN")
            }
            StatementKind::End(tag) => {
                self.status = TransactionStatus::Idle;
                backend::command_complete(out, tag)
            }
            StatementKind::Other(tag) => backend::command_complete(out, tag),
            StatementKind::Empty => {
                backend::empty_query_response(out);
                Ok(())
            }
        }
    }

    /// Refuses the statement that was read last.
    pub(super) fn refuse(&mut self, code: Code, out: &mut Vec<u8>) -> Result<(), WireError> {
        let is_text = matches!(self.served.take(), Some(ServedStatement::Text(_)));
        self.fail(out, code.as_str(), "the simulated server returned an error")?;
        if is_text {
            self.waiting.clear();
            self.has_failed = false;
            backend::ready_for_query(out, self.status);
        }
        Ok(())
    }

    fn fail(&mut self, out: &mut Vec<u8>, code: &str, why: &str) -> Result<(), WireError> {
        if self.status == TransactionStatus::Active {
            self.status = TransactionStatus::Failed;
        }
        self.has_failed = true;
        let fields = [(b'S', "ERROR"), (b'V', "ERROR"), (b'C', code), (b'M', why)];
        backend::error_response(out, fields)
    }
}

/// Returns an item by its name, by a linear search, because there are few.
fn find<'t, T>(things: &'t [(Box<[u8]>, T)], name: &[u8]) -> Option<&'t T> {
    things.iter().find(|(known, _)| **known == *name).map(|(_, thing)| thing)
}

fn insert<T>(things: &mut Vec<(Box<[u8]>, T)>, name: &[u8], thing: T) {
    match things.iter_mut().find(|(known, _)| **known == *name) {
        Some((_, place)) => *place = thing,
        None => things.push((name.into(), thing)),
    }
}

fn columns(out: &mut Vec<u8>, format: Format) -> Result<(), WireError> {
    let column = Column {
        name: b"answer",
        table: Oid(0),
        number: 0,
        type_oid: Oid::INT4,
        type_size: 4,
        modifier: -1,
        format,
    };
    backend::row_description(out, [column])
}

fn row(out: &mut Vec<u8>, format: Format) -> Result<(), WireError> {
    let value: &[u8] = match format {
        Format::Text => b"1",
        Format::Binary => &[0, 0, 0, 1],
    };
    backend::data_row(out, [Some(value)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_after_an_error_is_skipped_until_sync() {
        let execute_unknown_portal = b"E\0\0\0\x0ax\0\0\0\0\0";
        let (query, sync) = (b"Q\0\0\0\x0dselect 1\0", b"S\0\0\0\x04");
        let mut session = Session { login: None, ..Session::new() };
        let mut out = Vec::new();
        let failing = [&execute_unknown_portal[..], query, sync].concat();
        let need = session.next(&failing, &mut out).unwrap();
        assert_eq!(need, (failing.len(), SessionNeed::Bytes));
        assert!(out.starts_with(b"E") && out.ends_with(b"Z\0\0\0\x05I"), "{out:?}");
        let need = session.next(query, &mut out).unwrap();
        assert_eq!(need, (query.len(), SessionNeed::Statement));
    }
}
