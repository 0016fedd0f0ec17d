//! A server that follows its protocol until it misbehaves.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use testbed::Kind;

use crate::support::wait_until;

/// A replacement for some of a server's answers.
#[derive(Clone)]
pub(crate) struct FaultyAnswer {
    /// The bytes to send.
    pub(crate) bytes: Vec<u8>,
    /// True if the server then closes the connection; otherwise it stays silent.
    pub(crate) hangs_up: bool,
}

/// A request that a server refuses; the server grants all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RefusedRequest {
    /// Every login.
    Login,
    /// Statements that contain this text.
    Statement(&'static str),
}

/// The endless answer of a server, which it sends until the client closes the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EndlessAnswer {
    /// No bytes at all.
    Silence,
    /// Notices, one after the other.
    Notices,
    /// Rows, one after the other.
    Rows,
    /// Rows of 15 MiB.
    LongRows,
    /// Two rows, and then silence.
    SomeRows,
}

/// The answer of a proxy to a request for TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TlsAnswer {
    /// The answer of the server behind the proxy.
    OfServer,
    /// A refusal.
    Refusal,
    /// Consent, followed by clear text.
    ClearText,
}

/// Messages of a PostgreSQL client that have this type and contain this text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedMessage(pub(crate) u8, pub(crate) &'static str);

/// One in this many answers is replaced.
const REPLACED_EVERY: u64 = 40;

/// A server that accepts every login and answers every statement with "done", or misbehaves. The
/// server lives as long as the process.
pub(crate) struct FaultyServer {
    port: u16,
    answers: Arc<AtomicU64>,
}

impl FaultyServer {
    /// Starts a server that replaces some answers.
    pub(crate) fn start(kind: Kind, answer: FaultyAnswer) -> FaultyServer {
        FaultyServer::serving(move |stream, answers| {
            let _ = serve_client(stream, kind, &answer, answers);
        })
    }

    /// Starts a server that refuses some requests with this message.
    pub(crate) fn refusing(
        kind: Kind,
        refuses: RefusedRequest,
        words: &'static str,
    ) -> FaultyServer {
        FaultyServer::serving(move |stream, _| {
            let _ = match kind {
                Kind::Postgres => refuse_in_postgres(stream, refuses, words),
                Kind::Mariadb | Kind::Mysql => refuse_in_mysql(stream, refuses, words),
            };
        })
    }

    /// Starts a server that sends these bytes to every client, and nothing more.
    pub(crate) fn sending(bytes: &'static [u8]) -> FaultyServer {
        FaultyServer::serving(move |mut stream, _| {
            let _ = stream.write_all(bytes);
            // Returns when the client closes the connection.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        })
    }

    /// Starts a proxy in front of the PostgreSQL server at a port of this machine. `tls` is the
    /// proxy's answer to requests for TLS.
    pub(crate) fn proxy(port: u16, tls: &Arc<Mutex<TlsAnswer>>) -> FaultyServer {
        let tls = Arc::clone(tls);
        FaultyServer::serving(move |stream, _| {
            let answer = *tls.lock().unwrap();
            let _ = pass_on(stream, port, answer);
        })
    }

    /// Starts a PostgreSQL server whose answer to some messages never ends.
    pub(crate) fn endless(asked: MatchedMessage, endless_answer: EndlessAnswer) -> FaultyServer {
        FaultyServer::serving(move |stream, answers| {
            let _ = answer_endlessly_in_postgres(stream, asked, endless_answer, answers);
        })
    }

    /// Starts a PostgreSQL server that answers some messages with one row of `length` bytes. It
    /// completes no answer before it has sent the rows of `clients` answers.
    pub(crate) fn answering_together(
        asked: MatchedMessage,
        clients: u64,
        length: usize,
    ) -> FaultyServer {
        let row = text_row(length);
        FaultyServer::serving(move |stream, answers| {
            let _ = answer_together(stream, asked, &row, (clients, answers));
        })
    }

    /// Waits until an endless answer has begun.
    #[track_caller]
    pub(crate) fn wait_for_answer(&self) {
        wait_until("a request", || self.answers.load(Ordering::Relaxed) > 0);
    }

    fn serving(serve: impl Fn(TcpStream, &AtomicU64) + Send + Sync + 'static) -> FaultyServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (serve, answers) = (Arc::new(serve), Arc::new(AtomicU64::new(0)));
        let given = Arc::clone(&answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, given) = (Arc::clone(&serve), Arc::clone(&given));
                std::thread::spawn(move || serve(stream, &given));
            }
        });
        FaultyServer { port, answers }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Answers a client until one side closes the connection.
fn serve_client(
    mut stream: TcpStream,
    kind: Kind,
    answer: &FaultyAnswer,
    answers: &AtomicU64,
) -> std::io::Result<()> {
    let mut room = [0; 4_096];
    let mut next = |stream: &mut TcpStream| -> std::io::Result<Vec<u8>> {
        match stream.read(&mut room)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => Ok(room[..count].to_vec()),
        }
    };
    match kind {
        Kind::Postgres => {
            next(&mut stream)?;
            stream.write_all(WELCOME)?;
        }
        Kind::Mariadb | Kind::Mysql => {
            stream.write_all(&greeting())?;
            next(&mut stream)?;
            stream.write_all(&ok_packet(2))?;
        }
    }
    loop {
        let asked = next(&mut stream)?;
        // The setup reads settings with statements of its own, which are not measured.
        let is_measured = asked.windows(8).any(|part| part == b"select 1");
        if is_measured
            && answers.fetch_add(1, Ordering::Relaxed) % REPLACED_EVERY == REPLACED_EVERY - 1
        {
            stream.write_all(&answer.bytes)?;
            if answer.hangs_up {
                return Ok(());
            }
            std::io::copy(&mut stream, &mut std::io::sink())?;
        }
        match kind {
            Kind::Postgres => stream.write_all(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I")?,
            Kind::Mariadb | Kind::Mysql => stream.write_all(&ok_packet(1))?,
        }
    }
}

/// Answers each message of PostgreSQL's protocol by its type, until the client closes the
/// connection.
fn refuse_in_postgres(
    mut stream: TcpStream,
    refuses: RefusedRequest,
    words: &str,
) -> std::io::Result<()> {
    let error = |severity: &str, state: &str| {
        let fields = format!("S{severity}\0V{severity}\0C{state}\0M{words}\0\0");
        message(b'E', fields.as_bytes())
    };
    first_packet(&mut stream)?;
    if refuses == RefusedRequest::Login {
        return stream.write_all(&error("FATAL", "28P01"));
    }
    stream.write_all(WELCOME)?;
    let mut has_failed = false;
    loop {
        let (kind, text) = next_message(&mut stream)?;
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
        stream.write_all(&answer)?;
    }
}

/// Answers each message of PostgreSQL's protocol, until one matches `asked` or the client closes
/// the connection.
fn answer_endlessly_in_postgres(
    mut stream: TcpStream,
    asked: MatchedMessage,
    endless_answer: EndlessAnswer,
    answers: &AtomicU64,
) -> std::io::Result<()> {
    first_packet(&mut stream)?;
    stream.write_all(WELCOME)?;
    loop {
        let (kind, text) = next_message(&mut stream)?;
        if kind == asked.0 && RefusedRequest::Statement(asked.1).matches(&text) {
            break;
        }
        stream.write_all(&grant(kind))?;
    }
    answers.fetch_add(1, Ordering::Relaxed);
    let (first, again) = match endless_answer {
        EndlessAnswer::Silence => {
            return std::io::copy(&mut stream, &mut std::io::sink()).map(drop);
        }
        EndlessAnswer::Notices => {
            (Vec::new(), message(b'N', b"SNOTICE\0C00000\0Mcareful\0\0").repeat(4_096))
        }
        EndlessAnswer::Rows => (text_column(), text_row(1).repeat(4_096)),
        EndlessAnswer::LongRows => (text_column(), text_row(15 << 20)),
        EndlessAnswer::SomeRows => {
            stream.write_all(&[text_column(), text_row(1).repeat(2)].concat())?;
            return std::io::copy(&mut stream, &mut std::io::sink()).map(drop);
        }
    };
    stream.write_all(&first)?;
    loop {
        stream.write_all(&again)?;
    }
}

/// Answers each message of PostgreSQL's protocol; those that match `asked` are answered with a row.
/// Such an answer is completed only after `number` answers have begun.
fn answer_together(
    mut stream: TcpStream,
    asked: MatchedMessage,
    row: &[u8],
    (number, answers): (u64, &AtomicU64),
) -> std::io::Result<()> {
    first_packet(&mut stream)?;
    stream.write_all(WELCOME)?;
    loop {
        let (kind, text) = next_message(&mut stream)?;
        if kind != asked.0 || !RefusedRequest::Statement(asked.1).matches(&text) {
            stream.write_all(&grant(kind))?;
            continue;
        }
        stream.write_all(&text_column())?;
        stream.write_all(row)?;
        answers.fetch_add(1, Ordering::Relaxed);
        wait_until("the other clients", || answers.load(Ordering::Relaxed) >= number);
        stream.write_all(&[message(b'C', b"SELECT 1\0"), grant(b'S')].concat())?;
    }
}

/// Returns the description of rows with one column of the type text.
fn text_column() -> Vec<u8> {
    message(b'T', b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0")
}

/// Returns a row with a text of `length` bytes.
fn text_row(length: usize) -> Vec<u8> {
    let head = [&[0, 1][..], &(length as u32).to_be_bytes()].concat();
    message(b'D', &[head, vec![b'1'; length]].concat())
}

/// The end of PostgreSQL's request for TLS (protocol manual, "SSLRequest").
const SSL_REQUEST: [u8; 4] = [0x04, 0xd2, 0x16, 0x2f];

/// Passes a session on to the server. A request for TLS is answered here, unless `tls` is
/// `OfServer`.
fn pass_on(mut client: TcpStream, port: u16, tls: TlsAnswer) -> std::io::Result<()> {
    let mut first = [0; 8];
    client.read_exact(&mut first)?;
    match tls {
        TlsAnswer::Refusal if first.ends_with(&SSL_REQUEST) => return client.write_all(b"N"),
        TlsAnswer::ClearText if first.ends_with(&SSL_REQUEST) => {
            client.write_all(b"S")?;
            // The beginning of the client's handshake.
            client.read_exact(&mut first)?;
            client.write_all(WELCOME)?;
            return std::io::copy(&mut client, &mut std::io::sink()).map(drop);
        }
        TlsAnswer::OfServer | TlsAnswer::Refusal | TlsAnswer::ClearText => {}
    }
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    server.write_all(&first)?;
    let (mut answers, mut to_client) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut answers, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Both);
    });
    std::io::copy(&mut client, &mut server)?;
    server.shutdown(Shutdown::Both)
}

/// AuthenticationOk and ReadyForQuery.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// Reads the first packet of a PostgreSQL client.
fn first_packet(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    body(stream, u32::from_be_bytes(length)).map(drop)
}

/// Reads the type and the content of the next message.
fn next_message(stream: &mut TcpStream) -> std::io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let [kind, length @ ..] = head;
    Ok((kind, body(stream, u32::from_be_bytes(length))?))
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

/// Reads the content of a message; `length` is in bytes and includes the four bytes of the length
/// itself.
fn body(stream: &mut TcpStream, length: u32) -> std::io::Result<Vec<u8>> {
    let mut body = vec![0; length.saturating_sub(4) as usize];
    stream.read_exact(&mut body)?;
    Ok(body)
}

fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len() as u32 + 4;
    [&[kind][..], &length.to_be_bytes(), content].concat()
}

/// Answers each command of MySQL's protocol, until the client closes the connection.
fn refuse_in_mysql(
    mut stream: TcpStream,
    refuses: RefusedRequest,
    words: &str,
) -> std::io::Result<()> {
    let error = |sequence, code: u16, state: &str| {
        let [low, high] = code.to_le_bytes();
        let head = [&[0xff, low, high, b'#'][..], state.as_bytes()].concat();
        packet(sequence, &[&head, words.as_bytes()].concat())
    };
    stream.write_all(&greeting())?;
    command(&mut stream)?;
    if refuses == RefusedRequest::Login {
        return stream.write_all(&error(2, 1045, "28000"));
    }
    stream.write_all(&ok_packet(2))?;
    loop {
        let asked = command(&mut stream)?;
        let answer = match asked.first() {
            // The commands are 1 COM_QUIT, 3 COM_QUERY and 22 COM_STMT_PREPARE; COM_STMT_CLOSE has
            // no answer.
            Some(1) | None => return Ok(()),
            Some(3 | 22) if refuses.matches(&asked) => error(1, 1064, "42000"),
            Some(22) => packet(1, b"\0\x01\0\0\0\0\0\0\0\0\0\0"),
            Some(25) => Vec::new(),
            Some(_) => ok_packet(1),
        };
        stream.write_all(&answer)?;
    }
}

/// Reads the content of the next packet.
fn command(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let [a, b, c, _] = head;
    let mut content = vec![0; u32::from_le_bytes([a, b, c, 0]) as usize];
    stream.read_exact(&mut content)?;
    Ok(content)
}

impl RefusedRequest {
    fn matches(self, asked: &[u8]) -> bool {
        match self {
            RefusedRequest::Login => false,
            RefusedRequest::Statement(part) => {
                let part = part.as_bytes();
                asked.windows(part.len()).any(|text| text.eq_ignore_ascii_case(part))
            }
        }
    }
}

/// Returns MySQL's handshake (protocol manual, "Protocol::HandshakeV10").
fn greeting() -> Vec<u8> {
    // LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
    const CAPABILITIES: u32 = 0x0008_a209;
    let [a, b, c, d] = CAPABILITIES.to_le_bytes();
    let payload = [
        &b"\x0a5.7.0-liar\0\x07\0\0\x0001234567\0"[..],
        &[a, b, 45, 2, 0, c, d, 21],
        &[0; 10],
        b"012345678901\0mysql_native_password\0",
    ]
    .concat();
    packet(0, &payload)
}

/// Returns MySQL's OK packet.
fn ok_packet(sequence: u8) -> Vec<u8> {
    packet(sequence, b"\0\0\0\x02\0\0\0")
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    [&[payload.len() as u8, 0, 0, sequence], payload].concat()
}
