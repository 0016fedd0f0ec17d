//! The faulty server in PostgreSQL's protocol.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    EndlessAnswer, FaultyAnswer, FaultyRequest, LARGE, LONG_TEXT, MESSAGES, RefusedRequest,
    Request, TlsAnswer, has_rows, keep_silent, read_to_end, repeat,
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
        let (kind, text) = session.next()?;
        if kind == b'Q' && answer.replaces(&text, &mut session.stream, count)? {
            return Ok(());
        }
        session.stream.write_all(&grant(kind))?;
    }
}

/// Refuses some requests with this message.
pub(super) fn refuse(
    mut stream: TcpStream,
    refuses: RefusedRequest,
    words: &str,
) -> io::Result<()> {
    let error = |severity: &str, state: &str| {
        let fields = format!("S{severity}\0V{severity}\0C{state}\0M{words}\0\0");
        message(b'E', fields.as_bytes())
    };
    if refuses == RefusedRequest::Login {
        first_packet(&mut stream)?;
        return stream.write_all(&error("FATAL", "28P01"));
    }
    let mut session = Session::log_in(stream)?;
    let mut has_failed = false;
    loop {
        let (kind, text) = session.next()?;
        let is_refused = matches!(kind, b'Q' | b'P') && refuses.matches(&text);
        let answer = match kind {
            b'X' => return Ok(()),
            b'Q' if is_refused => [error("ERROR", "42601"), grant(b'S')].concat(),
            b'S' => {
                has_failed = false;
                grant(kind)
            }
            b'Q' => grant(kind),
            _ if has_failed => Vec::new(),
            b'P' if is_refused => {
                has_failed = true;
                error("ERROR", "42601")
            }
            _ => grant(kind),
        };
        session.stream.write_all(&answer)?;
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
    let columns = session.grant_until(asked)?.before_rows();
    count.fetch_add(1, Ordering::Relaxed);
    let mut stream = session.stream;
    match endless_answer {
        EndlessAnswer::Silence => read_to_end(&mut stream),
        EndlessAnswer::ShortMessages => {
            repeat(&mut stream, &message(b'N', b"SNOTICE\0C00000\0Mcareful\0\0").repeat(MESSAGES))
        }
        EndlessAnswer::Rows => {
            stream.write_all(&columns)?;
            repeat(&mut stream, &text_row(b"1").repeat(MESSAGES))
        }
        EndlessAnswer::LongRows => {
            stream.write_all(&columns)?;
            loop {
                stream.write_all(&row_head(LONG_TEXT.len()))?;
                stream.write_all(&LONG_TEXT)?;
            }
        }
        EndlessAnswer::SomeRows => {
            stream.write_all(&[columns, text_row(b"1").repeat(2)].concat())?;
            read_to_end(&mut stream)
        }
        EndlessAnswer::LargeRows => {
            let rows = [columns, text_row(&LONG_TEXT[..LARGE]).repeat(2)].concat();
            stream.write_all(&rows[..rows.len() - 1])?;
            read_to_end(&mut stream)
        }
        EndlessAnswer::UnreadData => {
            // CopyInResponse: text, one column, itself in text.
            stream.write_all(&message(b'G', b"\0\0\x01\0\0"))?;
            keep_silent();
        }
    }
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
        let found = session.grant_until(asked)?;
        let stream = &mut session.stream;
        stream.write_all(&found.before_rows())?;
        stream.write_all(&row_head(length))?;
        stream.write_all(&LONG_TEXT[..length])?;
        count.fetch_add(1, Ordering::Relaxed);
        wait_until("the other clients", || count.load(Ordering::Relaxed) >= number);
        stream.write_all(&[message(b'C', b"SELECT 1\0"), found.after_rows()].concat())?;
    }
}

/// The end of PostgreSQL's request for TLS (protocol manual, "SSLRequest").
const SSL_REQUEST: [u8; 4] = [0x04, 0xd2, 0x16, 0x2f];

/// Passes a session on to the server. A request for TLS is answered here, unless `tls` is
/// `OfServer`.
pub(super) fn pass_on(mut client: TcpStream, port: u16, tls: TlsAnswer) -> io::Result<()> {
    let mut first = [0; 8];
    client.read_exact(&mut first)?;
    match tls {
        TlsAnswer::Refusal if first.ends_with(&SSL_REQUEST) => return client.write_all(b"N"),
        TlsAnswer::ClearText if first.ends_with(&SSL_REQUEST) => {
            client.write_all(b"S")?;
            // The beginning of the client's handshake.
            client.read_exact(&mut first)?;
            client.write_all(WELCOME)?;
            return read_to_end(&mut client);
        }
        TlsAnswer::OfServer | TlsAnswer::Refusal | TlsAnswer::ClearText => {}
    }
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    server.write_all(&first)?;
    let (mut answers, mut to_client) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = io::copy(&mut answers, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    io::copy(&mut client, &mut server)?;
    server.shutdown(Shutdown::Both)
}

/// AuthenticationOk and ReadyForQuery.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// A session of a client.
struct Session {
    stream: TcpStream,
    /// Texts of the prepared statements, by name.
    statements: HashMap<Vec<u8>, Vec<u8>>,
    /// Text of the statement that is bound.
    bound: Vec<u8>,
}

/// The form in which a statement was sent.
#[derive(Clone, Copy)]
enum StatementForm {
    Text,
    Prepared,
}

impl Session {
    fn log_in(mut stream: TcpStream) -> io::Result<Session> {
        first_packet(&mut stream)?;
        stream.write_all(WELCOME)?;
        Ok(Session { stream, statements: HashMap::new(), bound: Vec::new() })
    }

    /// Reads the type of the next message, and the text of its statement, if it has one.
    fn next(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let (kind, content) = next_message(&mut self.stream)?;
        let text_of = |name: &[u8]| self.statements.get(name).cloned().unwrap_or_default();
        let text = match kind {
            b'Q' => content,
            b'P' => {
                let (name, rest) = split_string(&content);
                let text = split_string(rest).0.to_vec();
                self.statements.insert(name.to_vec(), text.clone());
                text
            }
            b'B' => {
                let (_portal, rest) = split_string(&content);
                self.bound = text_of(split_string(rest).0);
                Vec::new()
            }
            b'D' => text_of(split_string(content.get(1..).unwrap_or_default()).0),
            b'E' => self.bound.clone(),
            _ => Vec::new(),
        };
        Ok((kind, text))
    }

    /// Grants messages until one matches `asked`. Returns the form in which the statement of that
    /// message was sent.
    fn grant_until(&mut self, asked: FaultyRequest) -> io::Result<StatementForm> {
        loop {
            let (kind, text) = self.next()?;
            let request = match kind {
                b'Q' => Some(Request::Text(&text)),
                b'P' => Some(Request::Preparation(&text)),
                b'E' => Some(Request::Execution(&text)),
                _ => None,
            };
            if request.is_some_and(|request| asked.matches(&request)) {
                let is_text = kind == b'Q';
                return Ok(if is_text { StatementForm::Text } else { StatementForm::Prepared });
            }
            let granted = match kind {
                b'D' if has_rows(&text) => [message(b't', b"\0\0"), text_column()].concat(),
                _ => grant(kind),
            };
            self.stream.write_all(&granted)?;
        }
    }
}

impl StatementForm {
    /// Returns the message before the rows; a prepared statement was described before.
    fn before_rows(self) -> Vec<u8> {
        match self {
            StatementForm::Text => text_column(),
            StatementForm::Prepared => Vec::new(),
        }
    }

    /// Returns the message after the end of a statement that no Sync follows.
    fn after_rows(self) -> Vec<u8> {
        match self {
            StatementForm::Text => grant(b'S'),
            StatementForm::Prepared => Vec::new(),
        }
    }
}

/// Returns the description of rows with one column of the type text.
fn text_column() -> Vec<u8> {
    message(b'T', b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0")
}

/// Returns a row of this text.
fn text_row(text: &[u8]) -> Vec<u8> {
    [&row_head(text.len()), text].concat()
}

/// Returns the beginning of a row with a text of `length` bytes, without the text itself.
fn row_head(length: usize) -> Vec<u8> {
    // The lengths of the message and of the text, and the number of columns.
    let whole = (4 + 2 + 4 + length as u32).to_be_bytes();
    [b"D", &whole[..], &[0, 1], &(length as u32).to_be_bytes()].concat()
}

/// Reads the first packet of a client.
fn first_packet(stream: &mut TcpStream) -> io::Result<()> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    body(stream, u32::from_be_bytes(length)).map(drop)
}

/// Reads the type and the content of the next message.
fn next_message(stream: &mut TcpStream) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    Ok((kind, body(stream, u32::from_be_bytes(length))?))
}

/// Reads the content of a message; `length` is in bytes and includes the four bytes of the length
/// itself.
fn body(stream: &mut TcpStream, length: u32) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length.saturating_sub(4) as usize];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// Splits a text at its first zero byte.
fn split_string(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

/// Returns the answer that grants a message of this type.
fn grant(kind: u8) -> Vec<u8> {
    match kind {
        b'Q' => [message(b'C', b"DO\0"), grant(b'S')].concat(),
        b'S' => message(b'Z', b"I"),
        b'P' => message(b'1', b""),
        b'D' => [message(b't', b"\0\0"), message(b'n', b"")].concat(),
        b'B' => message(b'2', b""),
        b'E' => message(b'C', b"DO\0"),
        b'C' => message(b'3', b""),
        _ => Vec::new(),
    }
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len() as u32 + 4;
    [&[kind][..], &length.to_be_bytes(), content].concat()
}
