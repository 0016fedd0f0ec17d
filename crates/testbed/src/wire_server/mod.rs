//! A simulated server that speaks the protocols of real ones.
//!
//! The server executes no statements. It answers each statement after the service time of a
//! [`sim::Config`] or, with `sim:null`, at once. The answer to a query has rows of one column whose
//! value is 1, a query about the server itself has an empty result, and any other statement
//! succeeds; configured faults take the place of answers. Any user can log in, with any password
//! and without TLS. The server holds many thousands of connections on one thread, and costs less
//! per request than the clients that are measured against it.
//!
//! Run the server in a separate process (`testbed-host sim:null postgres`): otherwise its CPU time
//! is counted as the client's.

mod mysql;
mod postgres;
mod session_need;
mod statement;

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;

use base::{Clock, Endpoint, Nanos, Seed, Target};
use rt::{ReadyFd, Rt, Timer, Wait, run_real};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sim::{AnswerKind, Config, Hints, Refusal};

use crate::Kind;
use session_need::SessionNeed;

/// Size of the read buffer, in bytes. All connections share one buffer.
const READ_BUFFER_BYTES: usize = 64 << 10;

/// Maximum length of a client's incomplete message, in bytes.
const LONGEST_MESSAGE: usize = 64 << 20;

/// Longest service time of an answer that is sent at once. The simulation takes at least a
/// nanosecond for each answer.
const LONGEST_IMMEDIATE_ANSWER: Nanos = Nanos(1);

/// Pause before accepting again when no file descriptor is left.
const ACCEPT_RETRY_DELAY: Nanos = Nanos::from_millis(10);

/// Configuration of a simulated server.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The database whose protocol is spoken.
    pub kind: Kind,
    /// Service times and faults. The times of faults count from the start of the server.
    pub config: Config,
    /// Seed of the service times.
    pub seed: Seed,
    /// True if the thread spins until an answer is due. Answers are then at most a microsecond
    /// late, at the price of a busy processor; see [`rt::Wait::Spin`].
    pub spin: bool,
    /// Processor that the thread is bound to.
    pub cpu: Option<usize>,
}

impl Simulation {
    /// Reads a configuration: a `sim:` URL, and words that name a protocol (`postgres` or
    /// `mariadb`) and optionally the processor.
    ///
    /// # Errors
    /// The error names the part that is missing or wrong.
    pub fn parse(target: &Target, words: &[&str]) -> Result<Simulation, String> {
        let Endpoint::Named(name) = &target.endpoint else {
            return Err("expected the kind of the simulated server after `sim:`".to_owned());
        };
        let config = Config::from_options(name, &target.options);
        let config = config.map_err(|error| error.to_string())?;
        let kind = match words.first() {
            Some(&"postgres") => Kind::Postgres,
            Some(&"mariadb") => Kind::Mariadb,
            _ => return Err("expected a protocol: postgres or mariadb".to_owned()),
        };
        let cpu = words.get(1).map(|text| text.parse()).transpose();
        let cpu = cpu.map_err(|_| "expected the number of a processor")?;
        Ok(Simulation { config, cpu, ..Simulation::at_once(kind) })
    }

    /// Returns the configuration of a server that answers at once.
    pub fn at_once(kind: Kind) -> Simulation {
        let config = Config::new(sim::Service::Constant(Nanos::ZERO), None);
        Simulation { kind, config, seed: Seed(1), spin: false, cpu: None }
    }
}

/// Serves clients on this thread until `end` is readable or closed.
///
/// # Errors
/// The executor cannot be started, or the listener cannot be used.
pub fn serve(listener: TcpListener, simulation: &Simulation, end: UnixStream) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    end.set_nonblocking(true)?;
    let wait = if simulation.spin { Wait::Spin } else { Wait::WakeEarly };
    let options = rt::Options { cpu: simulation.cpu, wait };
    run_real(&options, |rt| async move {
        let mut server = sim::Server::new(simulation.config.clone(), simulation.seed);
        server.time_zero(rt.now());
        let host = Rc::new(Host {
            rt,
            kind: simulation.kind,
            server: RefCell::new(server),
            read: RefCell::new(vec![0; READ_BUFFER_BYTES].into_boxed_slice()),
        });
        let listener = ReadyFd::new(&host.rt, listener)?;
        let end = ReadyFd::new(&host.rt, end)?;
        let accepting = host.rt.spawn(accept(Rc::clone(&host), listener));
        // Ready when a byte arrives, or when the other side is closed.
        poll_fn(|context| end.poll_read(context, &mut [0])).await?;
        drop(accepting);
        Ok(())
    })?
}

/// Serves on a free port of 127.0.0.1 and prints the address as the first line of output. Ends when
/// standard input is closed, and therefore when the process that started this one ends in any way.
///
/// # Errors
/// No port is free, or the address cannot be printed; otherwise as for [`serve`].
pub fn serve_until_input_ends(simulation: &Simulation) -> io::Result<()> {
    allow_many_files();
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let (end, ended) = UnixStream::pair()?;
    let mut out = io::stdout();
    writeln!(out, "{}", listener.local_addr()?).and_then(|()| out.flush())?;
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        // A failure to read the input counts as its end.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        drop(end);
    })?;
    serve(listener, simulation, ended)
}

/// Raises the limit of open files to its maximum, because each connection is one file.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // On failure the current limit stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// A simulated server on a thread of this process, for tests. Dropping the value ends the server.
pub struct WireServer {
    address: SocketAddr,
    end: Option<UnixStream>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl WireServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn start(simulation: Simulation) -> io::Result<WireServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (end, ended) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("wire-server".to_owned())
            .spawn(move || serve(listener, &simulation, ended))?;
        Ok(WireServer { address, end: Some(end), thread: Some(thread) })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// State shared by all connections.
struct Host {
    rt: Rt,
    kind: Kind,
    server: RefCell<sim::Server>,
    read: RefCell<Box<[u8]>>,
}

async fn accept(host: Rc<Host>, listener: ReadyFd<TcpListener>) {
    loop {
        match poll_fn(|context| rt::poll_accept(&host.rt, &listener, context)).await {
            Ok(stream) => {
                drop(host.rt.spawn(serve_connection(Rc::clone(&host), stream)));
            }
            // Most likely there is no free file descriptor; connections may be closed soon.
            Err(_) => host.rt.sleep(ACCEPT_RETRY_DELAY).await,
        }
    }
}

/// Serves one connection from its beginning to its end.
async fn serve_connection(host: Rc<Host>, stream: ReadyFd<TcpStream>) {
    // Setting the option fails if the client is already gone.
    if stream.get().set_nodelay(true).is_err() {
        return;
    }
    let connected = host.server.borrow_mut().connect(host.rt.now());
    let session = match connected {
        Ok(session) => session,
        // A real server that can be reached would send the reason. This one only closes the
        // connection.
        Err(Refusal::Unreachable | Refusal::Denied(_) | Refusal::TooMany) => return,
    };
    let connect_time = host.server.borrow().connect_time();
    if connect_time > Nanos::ZERO {
        host.rt.sleep(connect_time).await;
    }
    let protocol = match host.kind {
        Kind::Postgres => Protocol::Postgres(postgres::Session::new()),
        Kind::Mariadb | Kind::Mysql => Protocol::Mysql(mysql::Session::new()),
    };
    let mut connection = Connection {
        host: &host,
        stream,
        session,
        protocol,
        pending_answer: None,
        incomplete: Vec::new(),
        out: Vec::new(),
    };
    // An error ends the connection, and is not reported.
    let _ = connection.run().await;
    host.server.borrow_mut().close(session);
}

/// A session of one of the protocols.
enum Protocol {
    Postgres(postgres::Session),
    Mysql(mysql::Session),
}

impl Protocol {
    fn next(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<(usize, SessionNeed)> {
        match self {
            Protocol::Postgres(session) => session.next(bytes, out).map_err(io::Error::other),
            Protocol::Mysql(session) => session.next(bytes, out).map_err(io::Error::other),
        }
    }

    fn answer(&mut self, kind: AnswerKind, out: &mut Vec<u8>) -> io::Result<()> {
        match (self, kind) {
            (_, AnswerKind::Disconnected) => Err(io::ErrorKind::ConnectionAborted.into()),
            (Protocol::Postgres(session), AnswerKind::Completed { rows }) => {
                session.answer(rows, out).map_err(io::Error::other)
            }
            (Protocol::Postgres(session), AnswerKind::Failed(_, code)) => {
                session.refuse(code, out).map_err(io::Error::other)
            }
            (Protocol::Mysql(session), AnswerKind::Completed { rows }) => {
                session.answer(rows, out);
                Ok(())
            }
            (Protocol::Mysql(session), AnswerKind::Failed(_, code)) => {
                session.refuse(code, out);
                Ok(())
            }
        }
    }
}

/// A client's connection.
struct Connection<'h> {
    host: &'h Host,
    stream: ReadyFd<TcpStream>,
    session: sim::Session,
    protocol: Protocol,
    /// The answer to the statement that was read last, if the answer takes time.
    pending_answer: Option<sim::Answer>,
    /// Beginning of an incomplete message.
    incomplete: Vec<u8>,
    /// Bytes to be sent. A large buffer is released when it is empty, to keep ten thousand idle
    /// connections cheap.
    out: Vec<u8>,
}

/// Capacity that an empty buffer retains, in bytes.
const RETAINED_CAPACITY: usize = 4 << 10;

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        // A MySQL server speaks first.
        let (_, mut next) = self.protocol.next(&[], &mut self.out)?;
        let mut timer = None;
        let mut pending = Vec::new();
        loop {
            match next {
                SessionNeed::End => return self.flush().await,
                SessionNeed::Bytes => {
                    self.flush().await?;
                    next = self.read(&mut pending).await?;
                }
                SessionNeed::Statement => {
                    next = self.answer_when_due(&mut pending, &mut timer).await?;
                }
            }
        }
    }

    /// Waits for bytes and processes them up to the first statement that takes time. Bytes after
    /// that statement are left in `pending`.
    async fn read(&mut self, pending: &mut Vec<u8>) -> io::Result<SessionNeed> {
        poll_fn(|context| self.poll_read(context, pending)).await
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        pending: &mut Vec<u8>,
    ) -> Poll<io::Result<SessionNeed>> {
        let host = self.host;
        let mut scratch = host.read.borrow_mut();
        match ready!(self.stream.poll_read(context, &mut scratch))? {
            0 => Poll::Ready(Ok(SessionNeed::End)),
            count => Poll::Ready(self.process_read(&scratch[..count], pending)),
        }
    }

    /// Processes the bytes read. Usually there is no incomplete message, and the bytes are
    /// processed without a copy.
    fn process_read(&mut self, fresh: &[u8], pending: &mut Vec<u8>) -> io::Result<SessionNeed> {
        if self.incomplete.is_empty() {
            let (used, next) = self.advance(fresh)?;
            if used < fresh.len() {
                let is_statement = next == SessionNeed::Statement;
                let rest = if is_statement { pending } else { &mut self.incomplete };
                rest.extend_from_slice(&fresh[used..]);
            }
            return Ok(next);
        }
        if self.incomplete.len() + fresh.len() > LONGEST_MESSAGE {
            return Err(io::Error::other("a message that is too long"));
        }
        let mut whole = std::mem::take(&mut self.incomplete);
        whole.extend_from_slice(fresh);
        let (used, next) = self.advance(&whole)?;
        whole.drain(..used);
        *(if next == SessionNeed::Statement { pending } else { &mut self.incomplete }) = whole;
        Ok(next)
    }

    /// Reads messages and answers statements as long as no answer takes time. Returns the number of
    /// bytes used, and the next need of the session.
    fn advance(&mut self, bytes: &[u8]) -> io::Result<(usize, SessionNeed)> {
        let mut used = 0;
        let now = self.host.rt.now();
        loop {
            let (read, next) = self.protocol.next(&bytes[used..], &mut self.out)?;
            used += read;
            if next != SessionNeed::Statement {
                return Ok((used, next));
            }
            let mut server = self.host.server.borrow_mut();
            let answer = server.arrive(self.session, now, &Hints::default());
            if answer.at.since(now) > LONGEST_IMMEDIATE_ANSWER {
                self.pending_answer = Some(answer);
                return Ok((used, next));
            }
            self.protocol.answer(answer.kind, &mut self.out)?;
        }
    }

    /// Sends the answer to a statement when the answer is due, and continues with the bytes after
    /// the statement.
    async fn answer_when_due(
        &mut self,
        pending: &mut Vec<u8>,
        timer: &mut Option<Timer>,
    ) -> io::Result<SessionNeed> {
        self.flush().await?;
        if let Some(answer) = self.pending_answer.take() {
            let timer = timer.get_or_insert_with(|| self.host.rt.timer());
            timer.arm(answer.at);
            timer.fired().await;
            self.protocol.answer(answer.kind, &mut self.out)?;
        }
        let (used, next) = self.advance(pending)?;
        pending.drain(..used);
        if next != SessionNeed::Statement {
            self.incomplete = std::mem::take(pending);
        }
        Ok(next)
    }

    /// Sends the bytes in `out`.
    async fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.out.len() {
            let rest = &self.out[sent..];
            sent += poll_fn(|context| self.stream.poll_write(context, rest)).await?;
        }
        self.out.clear();
        if self.out.capacity() > RETAINED_CAPACITY {
            self.out.shrink_to(RETAINED_CAPACITY);
        }
        Ok(())
    }
}
