//! A relay between client and server that simulates network faults.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::thread::JoinHandle;

use base::{Clock, Monotonic, Nanos, Stamp};
use rt::{ReadyFd, Rt, run_real};

use crate::Problem;
use crate::launch::with_a_free_port;

/// Maximum number of bytes read at once.
const READ_BUFFER_BYTES: usize = 64 << 10;

/// Direction of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// A relay on its own thread. Dropping the value ends the relay and its connections.
///
/// Delay, bandwidth and stalls apply to all connections in both directions, and take effect with
/// the next bytes.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    control: UnixStream,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// State shared by the relay's thread and its owner.
#[derive(Default)]
struct Shared {
    faults: Mutex<Faults>,
    to_server: AtomicU64,
    to_client: AtomicU64,
}

/// Active faults.
#[derive(Clone, Copy, Default)]
struct Faults {
    delay: Nanos,
    /// Limit in bytes per second, for each direction of each connection.
    bandwidth: Option<u64>,
    stalled_until: Stamp,
    /// Direction and number of bytes left until the connection that carries the last of them is
    /// cut.
    cut: Option<(Direction, u64)>,
}

impl Shared {
    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counter(&self, direction: Direction) -> &AtomicU64 {
        match direction {
            Direction::ToServer => &self.to_server,
            Direction::ToClient => &self.to_client,
        }
    }

    /// Returns the number of `bytes` that may pass, and true if the connection is cut after them.
    fn admit(&self, direction: Direction, bytes: usize) -> (usize, bool) {
        let mut faults = self.faults();
        let Some((way, left)) = faults.cut.filter(|(way, _)| *way == direction) else {
            return (bytes, false);
        };
        let left_then = left.saturating_sub(bytes as u64);
        faults.cut = (left_then > 0).then_some((way, left_then));
        match usize::try_from(left) {
            Ok(left) if left <= bytes => (left, true),
            _ => (bytes, false),
        }
    }
}

/// Commands from the owner to the relay's thread.
const REFUSE: u8 = b'r';
const ACCEPT: u8 = b'a';
const CUT: u8 = b'c';

impl Relay {
    /// Starts a relay to a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// No port is free, or no thread can be started.
    pub fn start(server: SocketAddr) -> Result<Relay, Problem> {
        let failed = || "start a relay".to_owned();
        let listener = with_a_free_port(|port| {
            TcpListener::bind(("127.0.0.1", port)).map_err(Problem::system(failed()))
        })?;
        let address = listener.local_addr().map_err(Problem::system(failed()))?;
        let (control, control_end) = UnixStream::pair().map_err(Problem::system(failed()))?;
        let shared = Arc::new(Shared::default());
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || relay(listener, server, of_thread, control_end))
            .map_err(Problem::system(failed()))?;
        Ok(Relay { address, shared, control, thread: Some(thread) })
    }

    /// Returns the address that the relay listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of bytes that have passed in a direction, over all connections.
    pub fn bytes_passed(&self, direction: Direction) -> u64 {
        self.shared.counter(direction).load(Relaxed)
    }

    /// Delays bytes by `span`. Further bytes wait meanwhile: at most 64 KiB are in transit, in each
    /// direction of each connection.
    pub fn set_delay(&self, span: Nanos) {
        self.shared.faults().delay = span;
    }

    /// Limits the traffic in each direction of each connection, in bytes per second; `None` is
    /// unlimited.
    pub fn set_bandwidth(&self, bytes_per_s: Option<u64>) {
        self.shared.faults().bandwidth = bytes_per_s;
    }

    /// Holds back all traffic for `span`, beginning now.
    pub fn stall(&self, span: Nanos) {
        self.shared.faults().stalled_until = Monotonic.now() + span;
    }

    /// Passes `bytes` more bytes in a direction, counted over all connections, and then cuts the
    /// connection that carried the last of them, even within a packet. Other connections stay.
    ///
    /// # Panics
    /// If `bytes` is 0: see [`Relay::cut`].
    pub fn cut_after(&self, direction: Direction, bytes: u64) {
        assert!(bytes > 0, "a connection is cut behind a byte");
        self.shared.faults().cut = Some((direction, bytes));
    }

    /// Cuts all connections now.
    pub fn cut(&self) {
        self.send(CUT);
    }

    /// Refuses new connections from now on, as a machine without a listener does.
    pub fn refuse_connections(&self) {
        self.send(REFUSE);
    }

    /// Accepts new connections again.
    pub fn accept_connections(&self) {
        self.send(ACCEPT);
    }

    /// Sends a command to the thread and waits until it has been executed.
    fn send(&self, what: u8) {
        let mut done = [0];
        let control_end = (&self.control).write_all(&[what]);
        control_end.and_then(|()| (&self.control).read_exact(&mut done)).expect("the relay runs");
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.control.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn relay(
    listener: TcpListener,
    server: SocketAddr,
    shared: Arc<Shared>,
    control_end: UnixStream,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    control_end.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    run_real(&rt::Options::default(), |rt| async move {
        let control_end = ReadyFd::new(&rt, control_end)?;
        let links = Rc::new(RefCell::new(Vec::new()));
        let context = RelayContext { rt, server, shared, links };
        let mut listener = Some(ReadyFd::new(&context.rt, listener)?);
        loop {
            match next_event(&context.rt, &control_end, listener.as_ref()).await? {
                RelayEvent::Client(client) => {
                    drop(context.rt.spawn(context.clone().connect(client)));
                    continue;
                }
                RelayEvent::End => return Ok(()),
                RelayEvent::Command(REFUSE) => {
                    if let Some(listener) = listener.take() {
                        stop_listening(listener.get())?;
                    }
                }
                RelayEvent::Command(ACCEPT) => {
                    if listener.is_none() {
                        let reopened = TcpListener::bind(address)?;
                        reopened.set_nonblocking(true)?;
                        listener = Some(ReadyFd::new(&context.rt, reopened)?);
                    }
                }
                RelayEvent::Command(_) => context.cut(),
            }
            poll_fn(|context| control_end.poll_write(context, &[0])).await?;
        }
    })?
}

/// Ends listening at once. A program that is just being started by another thread may hold a copy
/// of the socket, which would accept connections after this one is closed.
fn stop_listening(listener: &TcpListener) -> io::Result<()> {
    Ok(rustix::net::shutdown(listener, rustix::net::Shutdown::Both)?)
}

/// An event that the relay waits for.
enum RelayEvent {
    Client(ReadyFd<TcpStream>),
    Command(u8),
    End,
}

async fn next_event(
    rt: &Rt,
    control_end: &ReadyFd<UnixStream>,
    listener: Option<&ReadyFd<TcpListener>>,
) -> io::Result<RelayEvent> {
    poll_fn(|context| {
        let mut command = [0];
        match control_end.poll_read(context, &mut command) {
            Poll::Ready(Ok(0)) => return Poll::Ready(Ok(RelayEvent::End)),
            Poll::Ready(Ok(_)) => return Poll::Ready(Ok(RelayEvent::Command(command[0]))),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => {}
        }
        match listener {
            Some(listener) => rt::poll_accept(rt, listener, context).map_ok(RelayEvent::Client),
            None => Poll::Pending,
        }
    })
    .await
}

/// State shared by all connections.
#[derive(Clone)]
struct RelayContext {
    rt: Rt,
    server: SocketAddr,
    shared: Arc<Shared>,
    links: Rc<RefCell<Vec<Weak<Link>>>>,
}

/// A connection: second handles to both of its sockets, for cutting it from outside.
struct Link([TcpStream; 2]);

impl Link {
    fn cut(&self) {
        for side in &self.0 {
            // The side may have ended by itself.
            let _ = side.shutdown(Shutdown::Both);
        }
    }
}

impl RelayContext {
    async fn connect(self, client: ReadyFd<TcpStream>) {
        // If the server cannot be reached, the client's connection is closed.
        let Ok(server) = rt::connect(&self.rt, self.server).await else { return };
        let (Ok(one), Ok(other)) = (duplicate(&client), duplicate(&server)) else { return };
        let (client, server) = (Rc::new(client), Rc::new(server));
        let link = Rc::new(Link([one, other]));
        let mut links = self.links.borrow_mut();
        links.retain(|link| link.strong_count() > 0);
        links.push(Rc::downgrade(&link));
        let up = (Rc::clone(&link), Rc::clone(&client), Rc::clone(&server), Direction::ToServer);
        let down = (link, server, client, Direction::ToClient);
        for (link, from, to, direction) in [up, down] {
            let (context, rt) = (self.clone(), self.rt.clone());
            drop(rt.spawn(async move {
                let mut pass = Forwarder { context: &context, from, to, direction };
                match pass.run().await {
                    // One side has ended its stream, but may still read.
                    Ok(true) => drop(pass.to.get().shutdown(Shutdown::Write)),
                    Ok(false) | Err(_) => link.cut(),
                }
            }));
        }
    }

    /// Cuts all connections.
    fn cut(&self) {
        for link in self.links.borrow_mut().drain(..) {
            if let Some(link) = link.upgrade() {
                link.cut();
            }
        }
    }
}

/// Returns a second handle to a connection, after setting `TCP_NODELAY`: the relay must not add
/// delays of its own.
fn duplicate(stream: &ReadyFd<TcpStream>) -> io::Result<TcpStream> {
    stream.get().set_nodelay(true)?;
    stream.get().try_clone()
}

/// One direction of a connection.
struct Forwarder<'r> {
    context: &'r RelayContext,
    from: Rc<ReadyFd<TcpStream>>,
    to: Rc<ReadyFd<TcpStream>>,
    direction: Direction,
}

impl Forwarder<'_> {
    /// Passes bytes until the sender ends its stream (`true`) or the connection is cut (`false`).
    async fn run(&mut self) -> io::Result<bool> {
        let mut bytes = vec![0; READ_BUFFER_BYTES];
        loop {
            let length = self.read(&mut bytes).await?;
            if length == 0 {
                return Ok(true);
            }
            let arrived = self.context.rt.now();
            let (admitted, is_cut) = self.context.shared.admit(self.direction, length);
            self.wait(arrived, admitted).await;
            self.write(&bytes[..admitted]).await?;
            let counter = self.context.shared.counter(self.direction);
            counter.fetch_add(admitted as u64, Relaxed);
            if is_cut {
                return Ok(false);
            }
        }
    }

    /// Waits until bytes that arrived at `arrived` are due at the other side: after the delay, the
    /// time that they take at the bandwidth, and stalls.
    async fn wait(&self, arrived: Stamp, bytes: usize) {
        let Faults { delay, bandwidth, .. } = *self.context.shared.faults();
        let travel = bandwidth.map_or(0, |per_s| bytes as u64 * 1_000_000_000 / per_s.max(1));
        let due = arrived + delay + Nanos(travel);
        if due > arrived {
            self.context.rt.sleep_until(due).await;
        }
        // A stall may begin while another one lasts.
        loop {
            let until = self.context.shared.faults().stalled_until;
            if until <= self.context.rt.now() {
                return;
            }
            self.context.rt.sleep_until(until).await;
        }
    }

    async fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        poll_fn(|context| self.from.poll_read(context, bytes)).await
    }

    async fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = poll_fn(|context| self.to.poll_write(context, bytes)).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_of_a_closed_listener_accepts_nothing() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let copy = listener.try_clone().unwrap();
        stop_listening(&listener).unwrap();
        drop(listener);
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        // The relay listens again on the same port while the copy exists.
        let again = TcpListener::bind(address).unwrap();
        TcpStream::connect(address).unwrap();
        drop((copy, again));
    }
}
