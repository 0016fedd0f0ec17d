//! A server that follows its protocol until it misbehaves.

mod mysql;
mod postgres;

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

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

/// A request that a server answers in a faulty way; the server grants all others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FaultyRequest {
    /// Statements that contain this text, sent as text or executed after their preparation.
    Statement(&'static str),
    /// The preparation of statements that contain this text.
    Preparation(&'static str),
    /// The execution of prepared statements that contain this text.
    Execution(&'static str),
}

/// A request of a client, with the text of its statement.
enum Request<'a> {
    Text(&'a [u8]),
    Preparation(&'a [u8]),
    Execution(&'a [u8]),
}

/// The endless answer of a server, which it sends until the client closes the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EndlessAnswer {
    /// No bytes at all.
    Silence,
    /// Messages without rows, one after the other: notices of PostgreSQL, or results of MySQL that
    /// are followed by another result.
    ShortMessages,
    /// Rows, one after the other.
    Rows,
    /// Rows of 15 MiB.
    LongRows,
    /// Two rows, and then silence.
    SomeRows,
    /// Two rows of 60,000 bytes, the second of which lacks its end, and then silence.
    LargeRows,
    /// A request for the data of a load, none of which is read.
    UnreadData,
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

/// One in this many answers is replaced.
const REPLACED_EVERY: u64 = 40;

/// Number of short messages that are sent together. A multiple of 256, after which the sequence
/// numbers of MySQL's packets repeat.
const MESSAGES: usize = 4_096;

/// Length of the value of a large row, in bytes.
const LARGE: usize = 60_000;

/// The value of a long row.
static LONG_TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| vec![b'1'; 15 << 20]);

/// A server that accepts every login and answers every statement with "done", or misbehaves. The
/// server lives as long as the process.
pub(crate) struct FaultyServer {
    kind: Option<Kind>,
    port: u16,
    answers: Arc<AtomicU64>,
}

impl FaultyServer {
    /// Starts a server that replaces some answers.
    pub(crate) fn start(kind: Kind, answer: FaultyAnswer) -> FaultyServer {
        FaultyServer::of_kind(kind, move |stream, answers| match kind {
            Kind::Postgres => postgres::replace_some(stream, &answer, answers),
            Kind::Mariadb | Kind::Mysql => mysql::replace_some(stream, &answer, answers),
        })
    }

    /// Starts a server that refuses some requests with this message.
    pub(crate) fn refusing(
        kind: Kind,
        refuses: RefusedRequest,
        words: &'static str,
    ) -> FaultyServer {
        FaultyServer::of_kind(kind, move |stream, _| match kind {
            Kind::Postgres => postgres::refuse(stream, refuses, words),
            Kind::Mariadb | Kind::Mysql => mysql::refuse(stream, refuses, words),
        })
    }

    /// Starts a server that sends these bytes to every client, and nothing more.
    pub(crate) fn sending(bytes: &'static [u8]) -> FaultyServer {
        FaultyServer::serving(None, move |mut stream, _| {
            stream.write_all(bytes)?;
            read_to_end(&mut stream)
        })
    }

    /// Starts a proxy in front of the PostgreSQL server at a port of this machine. `tls` is the
    /// proxy's answer to requests for TLS.
    pub(crate) fn proxy(port: u16, tls: &Arc<Mutex<TlsAnswer>>) -> FaultyServer {
        let tls = Arc::clone(tls);
        FaultyServer::of_kind(Kind::Postgres, move |stream, _| {
            let answer = *tls.lock().unwrap();
            postgres::pass_on(stream, port, answer)
        })
    }

    /// Starts a server whose answer to some requests never ends.
    pub(crate) fn endless(
        kind: Kind,
        asked: FaultyRequest,
        endless_answer: EndlessAnswer,
    ) -> FaultyServer {
        FaultyServer::of_kind(kind, move |stream, answers| match kind {
            Kind::Postgres => postgres::answer_endlessly(stream, asked, endless_answer, answers),
            Kind::Mariadb | Kind::Mysql => {
                mysql::answer_endlessly(stream, asked, endless_answer, answers)
            }
        })
    }

    /// Starts a server that answers some requests with one row of `length` bytes. The server
    /// completes no answer before it has sent the rows of `clients` answers.
    pub(crate) fn answering_together(
        kind: Kind,
        asked: FaultyRequest,
        clients: u64,
        length: usize,
    ) -> FaultyServer {
        FaultyServer::of_kind(kind, move |stream, answers| match kind {
            Kind::Postgres => postgres::answer_together(stream, asked, length, (clients, answers)),
            Kind::Mariadb | Kind::Mysql => {
                mysql::answer_together(stream, asked, length, (clients, answers))
            }
        })
    }

    /// Waits until an endless answer has begun.
    #[track_caller]
    pub(crate) fn wait_for_answer(&self) {
        wait_until("a request", || self.answers.load(Ordering::Relaxed) > 0);
    }

    fn of_kind(
        kind: Kind,
        serve: impl Fn(TcpStream, &AtomicU64) -> io::Result<()> + Send + Sync + 'static,
    ) -> FaultyServer {
        FaultyServer::serving(Some(kind), serve)
    }

    fn serving(
        kind: Option<Kind>,
        serve: impl Fn(TcpStream, &AtomicU64) -> io::Result<()> + Send + Sync + 'static,
    ) -> FaultyServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (serve, answers) = (Arc::new(serve), Arc::new(AtomicU64::new(0)));
        let given = Arc::clone(&answers);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, given) = (Arc::clone(&serve), Arc::clone(&given));
                // An error ends the connection.
                std::thread::spawn(move || serve(stream, &given));
            }
        });
        FaultyServer { kind, port, answers }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns a URL for a user without a password.
    pub(crate) fn url(&self) -> String {
        let scheme = match self.kind.expect("a server that speaks a protocol") {
            Kind::Postgres => "postgres",
            Kind::Mariadb | Kind::Mysql => "mysql",
        };
        format!("{scheme}://ann@{}/shop", self.address())
    }
}

impl FaultyAnswer {
    /// Sends this answer in place of the proper answer to one in [`REPLACED_EVERY`] measured
    /// statements. Returns false if the statement is to be answered as usual.
    fn replaces(
        &self,
        asked: &[u8],
        stream: &mut TcpStream,
        answers: &AtomicU64,
    ) -> io::Result<bool> {
        // The setup reads settings, and a new session executes `select 1`, with statements of their
        // own, which are not measured.
        let is_measured = contains(asked, "select 1 as n");
        if !is_measured
            || answers.fetch_add(1, Ordering::Relaxed) % REPLACED_EVERY != REPLACED_EVERY - 1
        {
            return Ok(false);
        }
        stream.write_all(&self.bytes)?;
        if !self.hangs_up {
            read_to_end(stream)?;
        }
        Ok(true)
    }
}

impl RefusedRequest {
    fn matches(self, text: &[u8]) -> bool {
        match self {
            RefusedRequest::Login => false,
            RefusedRequest::Statement(part) => contains(text, part),
        }
    }
}

impl FaultyRequest {
    fn matches(self, request: &Request<'_>) -> bool {
        match (self, request) {
            (FaultyRequest::Statement(part), Request::Text(text) | Request::Execution(text))
            | (FaultyRequest::Preparation(part), Request::Preparation(text))
            | (FaultyRequest::Execution(part), Request::Execution(text)) => contains(text, part),
            _ => false,
        }
    }
}

/// Returns true if `text` contains `part`, in upper or lower case.
fn contains(text: &[u8], part: &str) -> bool {
    let part = part.as_bytes();
    part.is_empty() || text.windows(part.len()).any(|text| text.eq_ignore_ascii_case(part))
}

/// Returns true if a statement is described as one that returns rows.
fn has_rows(text: &[u8]) -> bool {
    text.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"select"))
}

/// Reads until the client closes the connection.
fn read_to_end(stream: &mut TcpStream) -> io::Result<()> {
    io::copy(stream, &mut io::sink()).map(drop)
}

/// Sends some bytes again and again, until the client closes the connection.
fn repeat(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    loop {
        stream.write_all(bytes)?;
    }
}

/// Neither reads nor sends, until the process ends.
fn keep_silent() -> ! {
    loop {
        std::thread::park();
    }
}
