//! One connection: a request, its answer, and the end.
//!
//! Each connection carries one request: pages load nothing else, and a connection that stays open
//! would hold a thread.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use base::Nanos;

use crate::deadline::Deadline;
use crate::events::EventSource;
use crate::head::Head;
use crate::response::{Answer, Response, Status, head_of_events};
use crate::site::Site;

/// Longest head, in bytes.
const LONGEST_HEAD: usize = 16 << 10;

/// Most bytes that are read and dropped after an answer.
const MOST_DROPPED: usize = 256 << 10;

/// Longest time for them.
const DROPPING: Nanos = Nanos::from_secs(1);

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;

/// Reads a request and answers it.
///
/// # Errors
/// The viewer has gone, or is too slow to read the answer.
pub(crate) fn serve(stream: &mut TcpStream, site: &Site) -> io::Result<()> {
    let (answer, is_head) = match read_head(stream, Deadline::after(site.limits.head))? {
        None => return Ok(()),
        Some(Err(refusal)) => (refusal.into(), false),
        Some(Ok(head)) => (site.answer(&head), head.method == "HEAD"),
    };
    match answer {
        Answer::Page(response) => {
            let bytes = response.bytes(is_head, &site.policy);
            write(stream, &bytes, Deadline::after(site.limits.answer))?;
        }
        Answer::Events(source) => events(stream, site, (!is_head).then_some(source))?,
    }
    end(stream)
}

/// Sends events until their source ends; the head alone without one.
fn events(
    stream: &mut TcpStream,
    site: &Site,
    source: Option<Box<dyn EventSource>>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let head = head_of_events(&site.policy);
    write(stream, head.as_bytes(), Deadline::after(site.limits.answer))?;
    let Some(mut source) = source else { return Ok(()) };
    while let Some(event) = source.next() {
        write(stream, event.text().as_bytes(), Deadline::after(site.limits.answer))?;
    }
    Ok(())
}

/// Refuses a connection for which there is no thread.
pub(crate) fn refuse(stream: &mut TcpStream, site: &Site) -> io::Result<()> {
    let reason = "too many connections are open: try again";
    let response = Response::refusal(Status::Unavailable, reason);
    // This thread accepts the others: what the socket takes at once must do.
    stream.set_nonblocking(true)?;
    stream.write_all(&response.bytes(false, &site.policy))
}

/// Reads the head of a request; `None` if the viewer has gone without sending one.
fn read_head(
    stream: &mut TcpStream,
    deadline: Deadline,
) -> io::Result<Option<Result<Head, Response>>> {
    let mut bytes = Vec::with_capacity(4 << 10);
    loop {
        let mut piece = [0u8; 4 << 10];
        let room = (LONGEST_HEAD - bytes.len()).min(piece.len());
        let read = match deadline.left() {
            Some(left) => {
                stream.set_read_timeout(Some(left))?;
                stream.read(&mut piece[..room])
            }
            None => Err(ErrorKind::TimedOut.into()),
        };
        match read {
            Ok(0) => return Ok(None),
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let reason = "the request did not arrive in time";
                return Ok(Some(Err(Response::refusal(Status::RequestTimeout, reason))));
            }
            Err(error) => return Err(error),
        }
        match Head::parse(&bytes) {
            Ok(Some(head)) => return Ok(Some(Ok(head))),
            Err(refusal) => return Ok(Some(Err(refusal))),
            Ok(None) if bytes.len() == LONGEST_HEAD => return Ok(Some(Err(too_long(&bytes)))),
            Ok(None) => {}
        }
    }
}

fn too_long(bytes: &[u8]) -> Response {
    match bytes.contains(&b'\n') {
        true => Response::refusal(Status::HeadTooLarge, "the head of the request is too long"),
        false => Response::refusal(Status::UriTooLong, "the address is too long"),
    }
}

fn write(stream: &mut TcpStream, bytes: &[u8], deadline: Deadline) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let left = deadline.left().ok_or(ErrorKind::TimedOut)?;
        stream.set_write_timeout(Some(left))?;
        match stream.write(&rest[..rest.len().min(PIECE)]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends a connection. Bytes that the viewer still sends are read: closing with unread ones would
/// reset the connection, and the answer could be lost.
fn end(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Deadline::after(DROPPING);
    let mut piece = [0u8; 4 << 10];
    let mut dropped = 0;
    while dropped < MOST_DROPPED {
        let Some(left) = deadline.left() else { break };
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece)? {
            0 => break,
            read => dropped += read,
        }
    }
    Ok(())
}
