//! The request loop: wait, read, compare, send.
//!
//! It is edge-triggered: the kernel reports new bytes once and one read takes them all. A request
//! costs one read, one send and a share of a wait, and no allocation.

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

    /// Reads from the connection. Returns true if a reply is complete.
    #[inline]
    fn receive(&mut self, buffer: &mut [u8]) -> Result<bool, Failure> {
        let length = self.transport.receive(buffer)?;
        let bytes = &buffer[..length];
        if self.partial.is_empty() && self.request.compare(bytes) == Match::Complete {
            return Ok(true);
        }
        self.receive_part(bytes)
    }

    #[cold]
    fn receive_part(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        self.partial.extend_from_slice(bytes);
        match self.request.compare(&self.partial) {
            Match::Partial => Ok(false),
            Match::Complete => {
                self.partial.clear();
                Ok(true)
            }
            Match::Wrong => {
                let text = String::from_utf8_lossy(&self.partial);
                Err(format!("a reply unlike the first one: {text:?}").into())
            }
        }
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
    use super::*;

    #[test]
    fn all_rows_are_requested() {
        let mut rows = Rows { state: 1, rows: 10 };
        let mut seen = [0_u32; 10];
        (0..1_000).for_each(|_| seen[rows.next() as usize - 1] += 1);
        assert!(seen.iter().all(|times| (50..200).contains(times)), "{seen:?}");
    }
}
