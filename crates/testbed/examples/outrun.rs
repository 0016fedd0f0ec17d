//! A measurement of the requests that the simulated wire server answers per second of its CPU time.
//!
//! `cargo run --release -p testbed --example outrun -- ADDRESS PID [CONNECTIONS] [REQUESTS]`
//! executes a prepared statement over PostgreSQL's protocol, by default 2,000,000 times on 64
//! connections, with one statement in flight on each. The server, which has the process id PID, is
//! a `testbed-host sim:null postgres`. The example prints the rate and the CPU time of both sides.
//! The CPU time is meaningful even on a busy machine.

use std::io::{Read, Write};
use std::net::TcpStream;

use base::{Clock, Monotonic};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// Bind, Execute and Sync of the statement `s` with one value, and no result format.
const REQUEST: &[u8] = b"B\0\0\0\x12\0s\0\0\0\0\x01\0\0\0\x017\0\0\
    E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";

/// ReadyForQuery, outside of a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, pid, rest @ ..] = arguments.as_slice() else {
        return Err("usage: outrun ADDRESS PID [CONNECTIONS] [REQUESTS]".into());
    };
    let number = |at: usize, default: u64| rest.get(at).map_or(Ok(default), |text| text.parse());
    let (connections, requests) = (number(0, 64)?, number(1, 2_000_000)?);
    let poll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut streams = Vec::new();
    for place in 0..connections {
        let stream = open_session(address)?;
        epoll::add(&poll, &stream, EventData::new_u64(place), EventFlags::IN)?;
        streams.push(stream);
    }
    let before = (Monotonic.now(), cpu_s(pid)?, cpu_s("self")?);
    for stream in &mut streams {
        stream.write_all(REQUEST)?;
    }
    let (mut answered, mut bytes) = (0, vec![0; 4_096]);
    let mut events = Vec::with_capacity(256);
    while answered < requests {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let Event { data, .. } = *event;
            let stream = &mut streams[usize::try_from(data.u64())?];
            let length = stream.read(&mut bytes)?;
            if !bytes[..length].ends_with(READY) {
                return Err("half an answer, or the end".into());
            }
            answered += 1;
            stream.write_all(REQUEST)?;
        }
    }
    let took_s = Monotonic.now().since(before.0).as_secs_f64();
    let (server_s, client_s) = (cpu_s(pid)? - before.1, cpu_s("self")? - before.2);
    let answered = answered as f64;
    let mut out = std::io::stdout();
    writeln!(out, "{:.0}/s at {connections} connections", answered / took_s)?;
    writeln!(out, "server {:.2} us of CPU per request", server_s / answered * 1e6)?;
    writeln!(out, "{:.0} requests per second of the server's CPU", answered / server_s)?;
    writeln!(out, "client {:.2} us of CPU per request", client_s / answered * 1e6)?;
    Ok(())
}

/// Opens a session and prepares its statement.
fn open_session(address: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(b"\0\0\0\x10\0\x03\0\0user\0a\0\0")?;
    until_ready(&mut stream)?;
    stream.write_all(b"P\0\0\0\x17s\0select $1::int\0\0\0S\0\0\0\x04")?;
    until_ready(&mut stream)?;
    Ok(stream)
}

fn until_ready(stream: &mut TcpStream) -> std::io::Result<()> {
    let (mut received, mut bytes) = (Vec::new(), [0; 1_024]);
    while !received.ends_with(READY) {
        let length = stream.read(&mut bytes)?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        received.extend_from_slice(&bytes[..length]);
    }
    Ok(())
}

/// Returns the CPU time of a process so far, in seconds; Linux counts hundredths (proc(5)).
fn cpu_s(pid: &str) -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process")?;
    let ticks = |at: usize| fields.split_whitespace().nth(at).unwrap_or("0").parse::<f64>();
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
