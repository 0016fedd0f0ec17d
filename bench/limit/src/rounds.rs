//! The request loop: wait, read, compare, send.
//!
//! The wait is edge-triggered: the kernel reports new bytes once. A request with a short reply
//! costs one read, one send and a share of a wait, and no allocation. A reply that does not arrive
//! in one read is read until the socket has no more bytes.

use std::fmt;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};

use crate::link::Transport;
use crate::options::Options;
use crate::request::{Match, Request};
use limit::arguments::Failure;

/// Largest number of events per wait.
const EVENTS: usize = 256;

/// Longest time during which no connection receives a reply.
const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// The cost of the loop.
pub(crate) struct Outcome {
    requests: u64,
    elapsed: Duration,
    user: Duration,
    system: Duration,
    peak_rss: u64,
}

/// Formats the result as one line of JSON.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{\"requests\":{},\"elapsed_us\":{},\"user_us\":{},\"system_us\":{},\"peak_rss\":{}}}",
            self.requests,
            self.elapsed.as_micros(),
            self.user.as_micros(),
            self.system.as_micros(),
            self.peak_rss
        )
    }
}

/// A connection with its request and the bytes of an incomplete reply.
pub(crate) struct LoopConnection<W> {
    transport: W,
    request: Request,
    partial: Vec<u8>,
}

/// Runs the loop on all connections for the length in the options.
pub(crate) fn run<W: Transport>(
    connections: &mut [LoopConnection<W>],
    options: &Options,
) -> Result<Outcome, Failure> {
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, connection) in connections.iter().enumerate() {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&poll, connection.transport.socket(), data, flags)?;
    }
    let mut rows = Rows { state: 0x9E37_79B9_7F4A_7C15, rows: options.rows };
    let mut events = Vec::with_capacity(EVENTS);
    let mut buffer = vec![0; 65_536];
    let before = getrusage(UsageWho::RUSAGE_SELF)?;
    let began = now()?;
    let end = began + options.length;
    for connection in &mut *connections {
        connection.send(rows.next())?;
    }
    let mut requests = 0;
    let mut at = began;
    while at < end {
        events.clear();
        if epoll::wait(&poll, spare_capacity(&mut events), Some(&PATIENCE))? == 0 {
            return Err("no reply came for 10 s".into());
        }
        for event in &events {
            let connection = &mut connections[event.data.u64() as usize];
            if connection.receive(&mut buffer)? {
                connection.send(rows.next())?;
                requests += 1;
            }
        }
        at = now()?;
    }
    let after = getrusage(UsageWho::RUSAGE_SELF)?;
    let between = |later: nix::sys::time::TimeVal, earlier: nix::sys::time::TimeVal| {
        Duration::from_micros((later - earlier).num_microseconds().unsigned_abs())
    };
    Ok(Outcome {
        requests,
        elapsed: at - began,
        user: between(after.user_time(), before.user_time()),
        system: between(after.system_time(), before.system_time()),
        peak_rss: peak_rss(),
    })
}

impl<W: Transport> LoopConnection<W> {
    /// Creates a connection without a request in flight.
    pub(crate) fn new(transport: W, request: Request) -> LoopConnection<W> {
        LoopConnection { transport, request, partial: Vec::new() }
    }

    #[inline]
    fn send(&mut self, row: u32) -> std::io::Result<()> {
        self.transport.send(self.request.for_row(row))
    }

    /// Reads from the connection until a reply is complete or no more bytes have arrived. Returns
    /// true if a reply is complete.
    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<bool, Failure> {
        let length = self.transport.receive(buffer)?;
        let bytes = &buffer[..length];
        if self.partial.is_empty() && self.request.compare(bytes) == Match::Complete {
            return Ok(true);
        }
        self.receive_rest(buffer, length)
    }

    /// Takes the first `length` bytes of the buffer, and reads further ones.
    #[cold]
    fn receive_rest(&mut self, buffer: &mut [u8], mut length: usize) -> Result<bool, Failure> {
        while length > 0 {
            self.partial.extend_from_slice(&buffer[..length]);
            match self.request.compare(&self.partial) {
                Match::Partial => length = self.transport.receive(buffer)?,
                Match::Complete => {
                    self.partial.clear();
                    return Ok(true);
                }
                Match::Wrong => {
                    let text = String::from_utf8_lossy(&self.partial);
                    return Err(format!("a reply unlike the first one: {text:?}").into());
                }
            }
        }
        Ok(false)
    }
}

/// Random ids: the upper half of each number of SplitMix64, scaled to the range by multiplication.
struct Rows {
    state: u64,
    rows: u32,
}

impl Rows {
    #[inline]
    fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * u64::from(self.rows)) >> 32) as u32 + 1
    }
}

/// Returns the time since an arbitrary moment, at the resolution of the kernel's tick, which is
/// enough to end the loop.
fn now() -> nix::Result<Duration> {
    // Use the C library, which finds the vDSO under valgrind too.
    Ok(clock_gettime(ClockId::CLOCK_MONOTONIC_COARSE)?.into())
}

/// Returns the peak resident memory of this process, in bytes.
fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::os::fd::BorrowedFd;

    use super::*;
    use crate::request::Id;

    /// Pieces of replies, one per read. An empty piece is a socket without bytes.
    struct Pieces(VecDeque<&'static [u8]>);

    impl Transport for Pieces {
        fn socket(&self) -> BorrowedFd<'_> {
            unreachable!("these pieces have no socket")
        }

        fn send(&mut self, _request: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let piece = self.0.pop_front().ok_or(io::ErrorKind::UnexpectedEof)?;
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[test]
    fn long_reply_is_read_until_the_socket_has_no_more_bytes() {
        let request = Request::new(b"987654".to_vec(), Id::Digits6, b"head-body-tail").unwrap();
        let pieces: [&[u8]; 5] = [b"head", b"-body", b"", b"-tail", b"head-body-tail"];
        let mut connection = LoopConnection::new(Pieces(pieces.into()), request);
        let mut buffer = [0; 20];
        let mut left = || (connection.receive(&mut buffer).unwrap(), connection.transport.0.len());
        assert_eq!([left(), left(), left()], [(false, 2), (true, 1), (true, 0)]);
    }

    #[test]
    fn all_rows_are_requested() {
        let mut rows = Rows { state: 1, rows: 10 };
        let mut seen = [0_u32; 10];
        (0..1_000).for_each(|_| seen[rows.next() as usize - 1] += 1);
        assert!(seen.iter().all(|times| (50..200).contains(times)), "{seen:?}");
    }
}
