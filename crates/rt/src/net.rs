//! Sockets: connecting, accepting, reading and writing.

use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::task::{Context, Poll};

use base::Nanos;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};

use crate::{Direction, ReadyFd, Rt};

/// Delay before another attempt to connect to a Unix socket whose listener's queue is full.
const NO_ROOM: Nanos = Nanos::from_millis(1);

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Connects to an address. Sets `TCP_NODELAY`: a request is one write, which must not wait for
/// further bytes or for the acknowledgement of earlier ones.
///
/// # Errors
/// The connection is refused, the address is unreachable, or this process has reached its limit of
/// open files.
pub async fn connect<S>(rt: &Rt, address: SocketAddr) -> io::Result<ReadyFd<S>>
where
    S: AsFd + From<OwnedFd>,
{
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, FLAGS, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    sockopt::set_tcp_nodelay(&socket, true)?;
    let socket = ReadyFd::new(rt, S::from(socket))?;
    let is_connected = |stream: &S| match sockopt::socket_error(stream)? {
        Ok(()) => Ok(()),
        Err(error) => Err(error.into()),
    };
    poll_fn(|context| socket.poll_io(Direction::Write, context, is_connected)).await?;
    Ok(socket)
}

/// Connects to a Unix socket. While the queue of its listener is full, tries again, without a time
/// limit.
///
/// # Errors
/// The socket does not exist or has no listener, its path is too long, or this process has reached
/// its limit of open files.
pub async fn connect_unix<S>(rt: &Rt, path: &Path) -> io::Result<ReadyFd<S>>
where
    S: AsFd + From<OwnedFd>,
{
    let address = SocketAddrUnix::new(path)?;
    let socket: OwnedFd =
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
    while let Err(error) = rustix::net::connect(&socket, &address) {
        match error {
            Errno::AGAIN => rt.sleep(NO_ROOM).await,
            error => return Err(error.into()),
        }
    }
    ReadyFd::new(rt, S::from(socket))
}

/// Polls for the next connection to a listener.
///
/// # Errors
/// Errors of `accept(2)`, for example if this process has reached its limit of open files.
pub fn poll_accept(
    rt: &Rt,
    listener: &ReadyFd<TcpListener>,
    context: &mut Context<'_>,
) -> Poll<io::Result<ReadyFd<TcpStream>>> {
    let accepted = listener.poll_io(Direction::Read, context, TcpListener::accept);
    accepted.map(|accepted| {
        let (stream, _) = accepted?;
        stream.set_nonblocking(true)?;
        ReadyFd::new(rt, stream)
    })
}

/// Reading and writing, without the C library: its calls are cancellation points, which cost atomic
/// operations before and after each call as soon as there is a second thread.
impl<T: AsFd> ReadyFd<T> {
    /// Reads the bytes that have arrived. `Ready` with 0 means the end of the stream. A stream that
    /// keeps filling `room` is `Pending` from time to time, which lets timers and other tasks run.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    pub fn poll_read(&self, context: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let receive = |inner: &T| Ok(rustix::net::recv(inner, &mut *room, RecvFlags::empty())?.0);
        let read = self.poll_io(Direction::Read, context, receive);
        if let Poll::Ready(Ok(count)) = read {
            match count < room.len() {
                true => self.mark_drained(Direction::Read),
                false => self.note_full_read(),
            }
        }
        read
    }

    /// Writes as many bytes as there is room for.
    ///
    /// # Errors
    /// The connection is lost.
    #[inline]
    pub fn poll_write(&self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let send = |inner: &T| Ok(rustix::net::send(inner, bytes, SendFlags::NOSIGNAL)?);
        self.poll_io(Direction::Write, context, send)
    }

    /// Shuts the connection down in both directions. Bytes that have arrived can still be read.
    pub fn shut_down(&self) {
        // Fails only if the connection is already lost.
        let _ = rustix::net::shutdown(self.get(), rustix::net::Shutdown::Both);
    }

    /// Returns the socket as a plain file descriptor, for use by another thread.
    ///
    /// # Errors
    /// This process has reached its limit of open files.
    pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
        self.get().as_fd().try_clone_to_owned()
    }

    /// Returns the peer's address; `None` if it is not an IP address or there is no peer.
    pub fn peer(&self) -> Option<SocketAddr> {
        rustix::net::getpeername(self.get()).ok()??.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::*;
    use crate::{Options, run_real, within, yield_now};

    async fn read(socket: &ReadyFd<TcpStream>, room: &mut [u8]) -> io::Result<usize> {
        poll_fn(|context| socket.poll_read(context, room)).await
    }

    async fn write(socket: &ReadyFd<TcpStream>, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|context| socket.poll_write(context, bytes)).await
    }

    fn on_loopback<T>(
        test: impl AsyncFnOnce(Rt, ReadyFd<TcpStream>, ReadyFd<TcpStream>) -> T,
    ) -> T {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        run_real(&Options::default(), |rt| async move {
            let listener = ReadyFd::new(&rt, listener).unwrap();
            let client = connect(&rt, address).await.unwrap();
            let accepted = poll_fn(|context| poll_accept(&rt, &listener, context)).await;
            test(rt.clone(), client, accepted.unwrap()).await
        })
        .unwrap()
    }

    #[test]
    fn bytes_arrive_in_order_and_then_the_end() {
        on_loopback(async |rt, client, server| {
            let received = Rc::new(RefCell::new(Vec::new()));
            let listening = rt.spawn({
                let received = Rc::clone(&received);
                async move {
                    let mut room = [0; 1_000];
                    loop {
                        match read(&server, &mut room).await.unwrap() {
                            0 => return,
                            count => received.borrow_mut().extend_from_slice(&room[..count]),
                        }
                    }
                }
            });
            // More than the sockets' buffers hold: writing must wait for the reader.
            let sent: Vec<u8> = (0..8_000_000_u32).map(|byte| byte as u8).collect();
            let mut rest = &sent[..];
            while !rest.is_empty() {
                let count = write(&client, rest).await.unwrap();
                rest = &rest[count..];
            }
            drop(client);
            listening.await;
            assert!(*received.borrow() == sent);
        });
    }

    /// Counts the bytes of a stream. The buffer holds one byte, so every read fills it.
    fn read_bytes(rt: &Rt, socket: ReadyFd<TcpStream>) -> Rc<Cell<usize>> {
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        drop(rt.spawn(async move {
            while let Ok(1..) = read(&socket, &mut [0]).await {
                counted.set(counted.get() + 1);
            }
        }));
        count
    }

    #[test]
    fn endless_stream_leaves_turns_to_other_tasks() {
        on_loopback(async |rt, client, server| {
            write(&client, &[1; 10_000]).await.unwrap();
            let count = read_bytes(&rt, server);
            let mut before = 0;
            while before < 10_000 {
                yield_now().await;
                let now = count.get();
                assert!(now - before < 100, "{} reads in one turn", now - before);
                before = now;
            }
        });
    }

    #[test]
    fn endless_streams_do_not_hold_up_timers() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let read = run_real(&Options::default(), |rt| async move {
            let listener = ReadyFd::new(&rt, listener).unwrap();
            let (mut clients, mut counts) = (Vec::new(), Vec::new());
            // There are more connections than tasks that the executor polls between two polls of
            // the kernel.
            for _ in 0..40 {
                let client = connect::<TcpStream>(&rt, address).await.unwrap();
                let server = poll_fn(|context| poll_accept(&rt, &listener, context)).await.unwrap();
                assert_eq!(write(&client, &[1; 20_000]).await.unwrap(), 20_000);
                clients.push(client);
                counts.push(read_bytes(&rt, server));
            }
            rt.sleep(Nanos(1)).await;
            counts.iter().map(|count| count.get()).sum::<usize>()
        });
        let read = read.unwrap();
        assert!(read < 400_000, "{read} of 800,000 bytes were read before a timer fired");
    }

    #[test]
    fn end_of_stream_is_seen_after_a_short_read() {
        on_loopback(async |rt, client, server| {
            write(&client, b"last words").await.unwrap();
            drop(client);
            // Both the bytes and the end have arrived before the first read.
            rt.sleep(Nanos::from_millis(20)).await;
            let mut room = [0; 100];
            assert_eq!(read(&server, &mut room).await.unwrap(), 10);
            let end = within(&rt, Nanos::from_secs(10), read(&server, &mut room)).await;
            assert!(matches!(end, Some(Ok(0))), "{end:?}");
        });
    }

    #[test]
    fn connecting_without_a_listener_is_refused() {
        // The system never assigns this port to a socket without a port of its own.
        let unused = SocketAddr::from(([127, 0, 0, 1], 1));
        let refused = run_real(&Options::default(), |rt| async move {
            connect::<TcpStream>(&rt, unused).await.err().map(|error| error.kind())
        });
        assert_eq!(refused.unwrap(), Some(io::ErrorKind::ConnectionRefused));
        let missing = run_real(&Options::default(), |rt| async move {
            let path = Path::new("/no/such/socket");
            connect_unix::<TcpStream>(&rt, path).await.err().map(|error| error.kind())
        });
        assert_eq!(missing.unwrap(), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn released_socket_slot_ignores_events_of_its_last_owner() {
        on_loopback(async |rt, client, server| {
            write(&client, b"for somebody else").await.unwrap();
            drop(server);
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            listener.set_nonblocking(true).unwrap();
            let listener = ReadyFd::new(&rt, listener).unwrap();
            let nobody = poll_fn(|context| poll_accept(&rt, &listener, context));
            assert!(within(&rt, Nanos::from_millis(50), nobody).await.is_none());
        });
    }
}
