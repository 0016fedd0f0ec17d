//! The faulty server in MySQL's protocol. It claims to be MariaDB.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};

use wire_mysql::{
    Answers, Capabilities, ClientHello, ColumnDefinition, ColumnType, Command, ErrPacket, Field,
    HEADER, Handshake, Header, Negotiated, OkPacket, Prepared, StatementId, Status, WANTED, packet,
};

use super::{
    EndlessAnswer, FaultyAnswer, FaultyRequest, LARGE, LONG_TEXT, MESSAGES, RefusedRequest,
    Request, has_rows, keep_silent, read_to_end, repeat,
};
use crate::support::wait_until;

/// Replaces some answers.
pub(super) fn replace_some(
    stream: TcpStream,
    answer: &FaultyAnswer,
    count: &AtomicU64,
) -> io::Result<()> {
    let mut session = Session::log_in(stream)?;
    loop {
        let asked = session.next()?;
        if answer.replaces(&asked, &mut session.stream, count)? {
            return Ok(());
        }
        session.grant(&asked)?;
    }
}

/// Refuses some requests with this message.
pub(super) fn refuse(stream: TcpStream, refuses: RefusedRequest, words: &str) -> io::Result<()> {
    let mut session = Session::greet(stream)?;
    let error = |code, sqlstate| ErrPacket { code, sqlstate, message: words.as_bytes() };
    if refuses == RefusedRequest::Login {
        return session.answer(2, |answers| answers.error(&error(1045, Some(*b"28000"))));
    }
    session.welcome()?;
    loop {
        let asked = session.next()?;
        let is_refused = match Command::decode(&asked) {
            Ok(Command::Query(text) | Command::Prepare(text)) => refuses.matches(text),
            _ => false,
        };
        match is_refused {
            true => session.answer(1, |answers| answers.error(&error(1064, Some(*b"42000"))))?,
            false => session.grant(&asked)?,
        }
    }
}

/// Grants requests until one matches `asked`; the answer to that one has no end.
pub(super) fn answer_endlessly(
    stream: TcpStream,
    asked: FaultyRequest,
    endless_answer: EndlessAnswer,
    count: &AtomicU64,
) -> io::Result<()> {
    let mut session = Session::log_in(stream)?;
    let is_text = session.grant_until(asked)?;
    count.fetch_add(1, Ordering::Relaxed);
    let agreed = session.agreed;
    let mut out = Vec::new();
    match endless_answer {
        EndlessAnswer::Silence => return read_to_end(&mut session.stream),
        EndlessAnswer::UnreadData => {
            session.answer(1, |answers| answers.file(b"data"))?;
            keep_silent();
        }
        EndlessAnswer::ShortMessages => {
            let status = Status::AUTOCOMMIT | Status::MORE_RESULTS_EXISTS;
            let mut sequence = session.begin_rows()?;
            session.answer(sequence, |answers| {
                answers.end_of_rows(status, 0);
                sequence = answers.sequence();
            })?;
            let mut answers = begin_answer(&mut out, agreed, sequence);
            for _ in 0..MESSAGES {
                answers.ok(&OkPacket { status, ..OkPacket::default() });
            }
            return repeat(&mut session.stream, &out);
        }
        EndlessAnswer::Rows
        | EndlessAnswer::LongRows
        | EndlessAnswer::SomeRows
        | EndlessAnswer::LargeRows => {}
    }
    let sequence = session.begin_rows()?;
    let rows = |number, value: &[u8]| {
        let mut out = Vec::new();
        let mut answers = begin_answer(&mut out, agreed, sequence);
        (0..number).for_each(|_| append_row(&mut answers, is_text, value));
        out
    };
    match endless_answer {
        EndlessAnswer::LongRows => send_long_rows(&mut session.stream, is_text, sequence),
        EndlessAnswer::SomeRows => {
            session.stream.write_all(&rows(2, b"1"))?;
            read_to_end(&mut session.stream)
        }
        EndlessAnswer::LargeRows => {
            let rows = rows(2, &LONG_TEXT[..LARGE]);
            session.stream.write_all(&rows[..rows.len() - 1])?;
            read_to_end(&mut session.stream)
        }
        _ => repeat(&mut session.stream, &rows(MESSAGES, b"1")),
    }
}

fn send_long_rows(stream: &mut TcpStream, is_text: bool, sequence: u8) -> io::Result<()> {
    let mut sequence = sequence;
    loop {
        stream.write_all(&long_row_head(is_text, sequence, LONG_TEXT.len()))?;
        stream.write_all(&LONG_TEXT)?;
        sequence = sequence.wrapping_add(1);
    }
}

/// Returns the beginning of a packet with a row of one text of `length` bytes, without the text
/// itself. The length takes three bytes.
fn long_row_head(is_text: bool, sequence: u8, length: usize) -> Vec<u8> {
    let [a, b, c, ..] = length.to_le_bytes();
    // A row of a binary result begins with a zero byte and the bits of the values that are NULL.
    let before: &[u8] = if is_text { &[] } else { &[0, 0] };
    let head = [before, &[0xfd, a, b, c]].concat();
    let header = Header { length: head.len() + length, sequence };
    [&header.encode()[..], &head].concat()
}

/// Answers requests that match `asked` with a row of `length` bytes. Such an answer is completed
/// only after `number` answers have begun.
pub(super) fn answer_together(
    stream: TcpStream,
    asked: FaultyRequest,
    length: usize,
    (number, count): (u64, &AtomicU64),
) -> io::Result<()> {
    let mut session = Session::log_in(stream)?;
    loop {
        let is_text = session.grant_until(asked)?;
        let sequence = session.begin_rows()?;
        session.stream.write_all(&long_row_head(is_text, sequence, length))?;
        session.stream.write_all(&LONG_TEXT[..length])?;
        count.fetch_add(1, Ordering::Relaxed);
        wait_until("the other clients", || count.load(Ordering::Relaxed) >= number);
        let sequence = sequence.wrapping_add(1);
        session.answer(sequence, |answers| answers.end_of_rows(Status::AUTOCOMMIT, 0))?;
    }
}

/// A session of a client.
struct Session {
    stream: TcpStream,
    agreed: Negotiated,
    /// Texts of the prepared statements; the id of the first is 1.
    statements: Vec<Vec<u8>>,
}

impl Session {
    /// Greets a client and reads its login.
    fn greet(mut stream: TcpStream) -> io::Result<Session> {
        let offered = WANTED | Capabilities::CONNECT_WITH_DB | Capabilities::LOCAL_FILES;
        let greeting = Handshake {
            server_version: b"5.5.5-10.11.0-MariaDB-faulty",
            thread_id: 7,
            nonce: [b'1'; 20],
            offered,
            collation: 45,
            status: Status::AUTOCOMMIT,
            method: b"mysql_native_password",
        };
        let mut out = Vec::new();
        packet(&mut out, 0, |out| greeting.encode(out));
        stream.write_all(&out)?;
        let login = next_payload(&mut stream)?;
        let Ok(ClientHello::Response(response)) = ClientHello::decode(&login) else {
            return Err(ErrorKind::InvalidData.into());
        };
        let agreed = response.negotiated_with(offered);
        Ok(Session { stream, agreed, statements: Vec::new() })
    }

    /// Accepts the login.
    fn welcome(&mut self) -> io::Result<()> {
        self.answer(2, |answers| answers.ok(&done()))
    }

    fn log_in(stream: TcpStream) -> io::Result<Session> {
        let mut session = Session::greet(stream)?;
        session.welcome()?;
        Ok(session)
    }

    /// Reads the next command.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        next_payload(&mut self.stream)
    }

    /// Sends an answer, or a part of one that begins with packet `sequence`.
    fn answer(&mut self, sequence: u8, write: impl FnOnce(&mut Answers<'_>)) -> io::Result<()> {
        let mut out = Vec::new();
        write(&mut begin_answer(&mut out, self.agreed, sequence));
        self.stream.write_all(&out)
    }

    /// Sends the description of rows with one column of the type text. Returns the sequence number
    /// of the first row.
    fn begin_rows(&mut self) -> io::Result<u8> {
        let mut sequence = 1;
        self.answer(sequence, |answers| {
            answers.columns(&[column()], false);
            sequence = answers.sequence();
        })?;
        Ok(sequence)
    }

    /// Answers a command with "done".
    fn grant(&mut self, command: &[u8]) -> io::Result<()> {
        match Command::decode(command) {
            Ok(Command::Quit) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(Command::Close(_)) => Ok(()),
            Ok(Command::Prepare(text)) => {
                self.statements.push(text.to_vec());
                let parameters = text.iter().filter(|byte| **byte == b'?').count();
                let columns: &[ColumnDefinition<'_>] =
                    if has_rows(text) { &[column()] } else { &[] };
                let prepared = Prepared {
                    id: StatementId(self.statements.len() as u32),
                    columns: columns.len() as u16,
                    parameters: parameters as u16,
                    warnings: 0,
                };
                self.answer(1, |answers| {
                    answers.prepared(&prepared, &vec![column(); parameters], columns);
                })
            }
            _ => self.answer(1, |answers| answers.ok(&done())),
        }
    }

    /// Grants commands until one matches `asked`. Returns true if the statement of that command was
    /// sent as text.
    fn grant_until(&mut self, asked: FaultyRequest) -> io::Result<bool> {
        loop {
            let payload = self.next()?;
            let command = Command::decode(&payload);
            let request = match &command {
                Ok(Command::Query(text)) => Some(Request::Text(text)),
                Ok(Command::Prepare(text)) => Some(Request::Preparation(text)),
                Ok(Command::Execute(execute)) => {
                    let text = self.statements.get(execute.id.0 as usize - 1);
                    text.map(|text| Request::Execution(text))
                }
                _ => None,
            };
            if request.is_some_and(|request| asked.matches(&request)) {
                return Ok(matches!(command, Ok(Command::Query(_))));
            }
            self.grant(&payload)?;
        }
    }
}

fn begin_answer(out: &mut Vec<u8>, agreed: Negotiated, sequence: u8) -> Answers<'_> {
    Answers::new(out, agreed, sequence)
}

fn append_row(answers: &mut Answers<'_>, is_text: bool, value: &[u8]) {
    match is_text {
        true => answers.text_row([Some(value)]),
        false => answers.binary_row([Field::Bytes(value)]),
    }
}

fn done() -> OkPacket<'static> {
    OkPacket { status: Status::AUTOCOMMIT, ..OkPacket::default() }
}

fn column() -> ColumnDefinition<'static> {
    ColumnDefinition::computed(b"n", ColumnType::VAR_STRING, 45)
}

/// Reads the content of the next packet.
fn next_payload(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = [0; HEADER];
    stream.read_exact(&mut head)?;
    let mut content = vec![0; Header::decode(head).length];
    stream.read_exact(&mut content)?;
    Ok(content)
}
