//! A simulated server that speaks the protocols of real ones.
//!
//! It carries no statement out: each is answered after the service time of a [`sim::Config`], at
//! once with `sim:null`, with rows of one column whose value is 1. Any user is let in, with any
//! password and without TLS. It holds many thousands of connections on one thread, and costs less
//! per request than the clients that are measured against it.
//!
//! Run it in a process of its own (`testbed-host sim:null postgres`), or a client's CPU time is
//! counted together with the server's.

mod mysql;
mod postgres;
mod statement;

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;

use base::{Clock, Nanos, Seed};
use rt::{Rt, Source, Timer, Wait, run_real};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sim::{Config, Fate, Hints, Refusal};

use crate::Kind;

/// How much is read at once. One buffer serves all connections.
const READ: usize = 64 << 10;

/// The longest message of a client that is kept until it is whole.
const LONGEST_MESSAGE: usize = 64 << 20;

/// A service time that is none: the simulation takes at least a nanosecond.
const AT_ONCE: Nanos = Nanos(1);

/// How long nobody is accepted when there is no file descriptor left.
const OUT_OF_FILES: Nanos = Nanos::from_millis(10);

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Whose protocol is spoken.
    pub kind: Kind,
    /// How long statements take, and what goes wrong, from the server's start on.
    pub config: Config,
    /// What the service times are drawn from.
    pub seed: Seed,
    /// Whether the thread spins until an answer is due, for answers that are at most a microsecond
    /// late at the price of a busy processor; see [`rt::Wait::Spin`].
    pub spin: bool,
    /// The processor that the thread is bound to.
    pub cpu: Option<usize>,
}

impl Simulation {
    /// A server that answers at once.
    pub fn at_once(kind: Kind) -> Simulation {
        let config = Config::new(sim::Service::Constant(Nanos::ZERO), None);
        Simulation { kind, config, seed: Seed(1), spin: false, cpu: None }
    }
}

/// Serves whoever connects, on this thread, until `end` can be read from or is closed.
///
/// # Errors
/// The operating system grants no runtime, or the listener cannot be used.
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
            read: RefCell::new(vec![0; READ].into_boxed_slice()),
        });
        let listener = Source::new(&host.rt, listener)?;
        let end = Source::new(&host.rt, end)?;
        let accepting = host.rt.spawn(accept(Rc::clone(&host), listener));
        // Whatever comes, or the other side's end.
        poll_fn(|context| end.poll_read(context, &mut [0])).await?;
        drop(accepting);
        Ok(())
    })?
}

/// Serves on a free port of 127.0.0.1, whose address is the first line of the output, until the
/// input ends: with whoever started this process, however that one ends.
///
/// # Errors
/// There is no port, or as [`serve`].
pub fn host(simulation: &Simulation) -> io::Result<()> {
    allow_many_files();
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let (end, ended) = UnixStream::pair()?;
    let mut out = io::stdout();
    writeln!(out, "{}", listener.local_addr()?).and_then(|()| out.flush())?;
    std::thread::Builder::new().name("input".to_owned()).spawn(move || {
        // An input that cannot be read has ended.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        drop(end);
    })?;
    serve(listener, simulation, ended)
}

/// Raises the limit of open files as far as it may be: each connection is one.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // Whoever may not raise it keeps what he has.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// A simulated server on a thread of this process, for tests. Dropped, it ends.
pub struct WireServer {
    address: SocketAddr,
    end: Option<UnixStream>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl WireServer {
    /// Starts it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// There is no port, or no thread.
    pub fn start(simulation: Simulation) -> io::Result<WireServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (end, ended) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("wire-server".to_owned())
            .spawn(move || serve(listener, &simulation, ended))?;
        Ok(WireServer { address, end: Some(end), thread: Some(thread) })
    }

    /// Where it listens.
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

/// What all connections share.
struct Host {
    rt: Rt,
    kind: Kind,
    server: RefCell<sim::Server>,
    read: RefCell<Box<[u8]>>,
}

async fn accept(host: Rc<Host>, listener: Source<TcpListener>) {
    loop {
        match poll_fn(|context| rt::poll_accept(&host.rt, &listener, context)).await {
            Ok(stream) => {
                drop(host.rt.spawn(attend(Rc::clone(&host), stream)));
            }
            // Out of file descriptors, most likely: others may be closed soon.
            Err(_) => host.rt.sleep(OUT_OF_FILES).await,
        }
    }
}

/// One connection from its beginning to its end.
async fn attend(host: Rc<Host>, stream: Source<TcpStream>) {
    // A client that has gone away again is none.
    if stream.get().set_nodelay(true).is_err() {
        return;
    }
    let connected = host.server.borrow_mut().connect(host.rt.now());
    let session = match connected {
        Ok(session) => session,
        // A real server says why; whoever is away says nothing.
        Err(Refusal::Away | Refusal::Denied(_) | Refusal::TooMany) => return,
    };
    let connect_time = host.server.borrow().connect_time();
    if connect_time > Nanos::ZERO {
        host.rt.sleep(connect_time).await;
    }
    let protocol = match host.kind {
        Kind::Postgres => Protocol::Postgres(postgres::Session::new()),
        Kind::Mariadb | Kind::Mysql => Protocol::Mysql(mysql::Session::new()),
    };
    let (kept, out) = (Vec::new(), Vec::new());
    let mut connection =
        Connection { host: &host, stream, session, protocol, due: None, kept, out };
    // However it ends, there is nobody to tell.
    let _ = connection.run().await;
    host.server.borrow_mut().close(session);
}

/// A protocol's session.
enum Protocol {
    Postgres(postgres::Session),
    Mysql(mysql::Session),
}

/// What a session wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// More bytes.
    Bytes,
    /// The answer to the statement that it has just read.
    Statement,
    /// The end of the connection.
    End,
}

impl Protocol {
    fn next(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> io::Result<(usize, Next)> {
        match self {
            Protocol::Postgres(session) => session.next(bytes, out).map_err(io::Error::other),
            Protocol::Mysql(session) => session.next(bytes, out).map_err(io::Error::other),
        }
    }

    fn answer(&mut self, fate: Fate, out: &mut Vec<u8>) -> io::Result<()> {
        match (self, fate) {
            (_, Fate::Disconnected) => Err(io::ErrorKind::ConnectionAborted.into()),
            (Protocol::Postgres(session), Fate::Completed { rows }) => {
                session.answer(rows, out).map_err(io::Error::other)
            }
            (Protocol::Postgres(session), Fate::Failed(_, code)) => {
                session.refuse(code, out).map_err(io::Error::other)
            }
            (Protocol::Mysql(session), Fate::Completed { rows }) => {
                session.answer(rows, out);
                Ok(())
            }
            (Protocol::Mysql(session), Fate::Failed(_, code)) => {
                session.refuse(code, out);
                Ok(())
            }
        }
    }
}

/// One client's connection.
struct Connection<'h> {
    host: &'h Host,
    stream: Source<TcpStream>,
    session: sim::Session,
    protocol: Protocol,
    /// The answer to the statement that was read last, if it takes time.
    due: Option<sim::Answer>,
    /// The beginning of a message whose rest has yet to come.
    kept: Vec<u8>,
    /// What is to be sent. It is given back when it is empty and large: ten thousand idle
    /// connections shall cost little.
    out: Vec<u8>,
}

/// What is kept of an empty buffer.
const SPARE: usize = 4 << 10;

impl Connection<'_> {
    async fn run(&mut self) -> io::Result<()> {
        // The server of MySQL speaks first.
        let (_, mut next) = self.protocol.next(&[], &mut self.out)?;
        let mut timer = None;
        let mut pending = Vec::new();
        loop {
            match next {
                Next::End => return self.flush().await,
                Next::Bytes => {
                    self.flush().await?;
                    next = self.read(&mut pending).await?;
                }
                Next::Statement => next = self.serve(&mut pending, &mut timer).await?,
            }
        }
    }

    /// Waits for bytes and reads them up to the first statement that takes time. What stands
    /// behind that is left in `pending`.
    async fn read(&mut self, pending: &mut Vec<u8>) -> io::Result<Next> {
        poll_fn(|context| self.poll_read(context, pending)).await
    }

    fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        pending: &mut Vec<u8>,
    ) -> Poll<io::Result<Next>> {
        let host = self.host;
        let mut scratch = host.read.borrow_mut();
        match ready!(self.stream.poll_read(context, &mut scratch))? {
            0 => Poll::Ready(Ok(Next::End)),
            count => Poll::Ready(self.take(&scratch[..count], pending)),
        }
    }

    /// Takes what was read. Usually nothing is kept, and the bytes are used where they are.
    fn take(&mut self, fresh: &[u8], pending: &mut Vec<u8>) -> io::Result<Next> {
        if self.kept.is_empty() {
            let (used, next) = self.advance(fresh)?;
            if used < fresh.len() {
                let rest = if next == Next::Statement { pending } else { &mut self.kept };
                rest.extend_from_slice(&fresh[used..]);
            }
            return Ok(next);
        }
        if self.kept.len() + fresh.len() > LONGEST_MESSAGE {
            return Err(io::Error::other("a message that is too long"));
        }
        let mut whole = std::mem::take(&mut self.kept);
        whole.extend_from_slice(fresh);
        let (used, next) = self.advance(&whole)?;
        whole.drain(..used);
        *(if next == Next::Statement { pending } else { &mut self.kept }) = whole;
        Ok(next)
    }

    /// Reads messages and answers statements as long as that takes no time. Returns how many bytes
    /// were used.
    fn advance(&mut self, bytes: &[u8]) -> io::Result<(usize, Next)> {
        let mut used = 0;
        let now = self.host.rt.now();
        loop {
            let (read, next) = self.protocol.next(&bytes[used..], &mut self.out)?;
            used += read;
            if next != Next::Statement {
                return Ok((used, next));
            }
            let mut server = self.host.server.borrow_mut();
            let answer = server.arrive(self.session, now, &Hints::default());
            if answer.at.since(now) > AT_ONCE {
                self.due = Some(answer);
                return Ok((used, next));
            }
            self.protocol.answer(answer.fate, &mut self.out)?;
        }
    }

    /// Answers a statement when it is due, and goes on with what came behind it.
    async fn serve(
        &mut self,
        pending: &mut Vec<u8>,
        timer: &mut Option<Timer>,
    ) -> io::Result<Next> {
        self.flush().await?;
        if let Some(answer) = self.due.take() {
            let timer = timer.get_or_insert_with(|| self.host.rt.timer());
            timer.arm(answer.at);
            timer.fired().await;
            self.protocol.answer(answer.fate, &mut self.out)?;
        }
        let (used, next) = self.advance(pending)?;
        pending.drain(..used);
        if next != Next::Statement {
            self.kept = std::mem::take(pending);
        }
        Ok(next)
    }

    /// Sends what was answered.
    async fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.out.len() {
            let rest = &self.out[sent..];
            sent += poll_fn(|context| self.stream.poll_write(context, rest)).await?;
        }
        self.out.clear();
        if self.out.capacity() > SPARE {
            self.out.shrink_to(SPARE);
        }
        Ok(())
    }
}
