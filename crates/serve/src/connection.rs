//! The handling of one connection: a request, its answer, and the end of the connection.
//!
//! Each connection carries one request. Further requests are rare, because a page loads nothing
//! except the events of a run in progress, and an idle connection would hold a thread.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use base::Nanos;

use crate::deadline::Deadline;
use crate::events::EventSource;
use crate::head::Head;
use crate::response::{Answer, Response, Status, event_stream_head};
use crate::route::{Fields, Route};
use crate::site::{OpenConnection, Site};

/// Maximum length of a head, in bytes.
const LONGEST_HEAD: usize = 16 << 10;

/// Maximum number of bytes that are read and dropped after an answer.
const MOST_DROPPED: usize = 256 << 10;

/// Maximum time for reading the dropped bytes.
const LONGEST_DROPPING: Nanos = Nanos::from_secs(1);

/// Maximum number of bytes in one write.
const LONGEST_WRITE: usize = 64 << 10;

/// Reads a request and answers it.
///
/// # Errors
/// The viewer has gone, is too slow to read the answer, or does not close the connection after it.
pub(crate) fn serve(stream: &mut TcpStream, open: &OpenConnection) -> io::Result<()> {
    let site = open.site();
    let mut reader = RequestReader::new(stream, Deadline::after(site.limits.request));
    let (answer, is_head) = match reader.head()? {
        None => return Ok(()),
        Some(Err(refusal)) => (refusal.into(), false),
        Some(Ok(head)) => {
            let answer = match site.route(&head) {
                Err(refusal) => refusal.into(),
                Ok(_) if !open.mark_admitted() => return Ok(()),
                Ok(route) => answer(&mut reader, &head, &route, site)?,
            };
            (answer, head.method == "HEAD")
        }
    };
    match answer {
        Answer::Page(response) => {
            let bytes = response.bytes(is_head, &site.policy);
            write(stream, &bytes, Deadline::after(site.limits.answer))?;
        }
        Answer::Events(source) => send_events(stream, site, (!is_head).then_some(source))?,
    }
    close(stream)
}

/// Sends events until their source ends; without a source, sends only the head.
fn send_events(
    stream: &mut TcpStream,
    site: &Site,
    source: Option<Box<dyn EventSource>>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let head = event_stream_head(&site.policy);
    write(stream, head.as_bytes(), Deadline::after(site.limits.answer))?;
    let Some(mut source) = source else { return Ok(()) };
    while let Some(event) = source.next() {
        write(stream, event.text().as_bytes(), Deadline::after(site.limits.answer))?;
    }
    Ok(())
}

/// Returns the answer to a request for a route. The body of a form is read here, after the route is
/// known to accept a form.
fn answer(
    reader: &mut RequestReader<'_>,
    head: &Head,
    route: &Route,
    site: &Site,
) -> io::Result<Answer> {
    if !head.is_post() {
        return Ok(site.pages().answer(route));
    }
    Ok(match reader.form(head)? {
        Ok(fields) => site.pages().accept_form(route, &fields),
        Err(refusal) => refusal.into(),
    })
}

/// A request that arrives in pieces.
struct RequestReader<'s> {
    stream: &'s mut TcpStream,
    deadline: Deadline,
    /// Bytes that have arrived so far.
    bytes: Vec<u8>,
}

/// The result of waiting for bytes.
enum Arrival {
    Bytes,
    /// The viewer sends no more.
    End,
    Late,
}

impl RequestReader<'_> {
    fn new(stream: &mut TcpStream, deadline: Deadline) -> RequestReader<'_> {
        RequestReader { stream, deadline, bytes: Vec::with_capacity(4 << 10) }
    }

    /// Reads the head, or returns the refusal of the request; `None` if the viewer has gone before
    /// the end of the head.
    fn head(&mut self) -> io::Result<Option<Result<Head, Response>>> {
        loop {
            match self.read_more(LONGEST_HEAD)? {
                Arrival::Bytes => {}
                Arrival::End => return Ok(None),
                Arrival::Late => return Ok(Some(Err(request_timeout()))),
            }
            match Head::parse(&self.bytes) {
                Ok(Some(head)) => return Ok(Some(Ok(head))),
                Err(refusal) => return Ok(Some(Err(refusal))),
                Ok(None) if self.bytes.len() == LONGEST_HEAD => {
                    return Ok(Some(Err(too_long(&self.bytes))));
                }
                Ok(None) => {}
            }
        }
    }

    /// Reads the fields of a form. Its length was limited when the head was parsed.
    fn form(&mut self, head: &Head) -> io::Result<Result<Fields, Response>> {
        let refused = |status, reason| Ok(Err(Response::refusal(status, reason)));
        let Some(length) = head.body_length else {
            return refused(Status::LengthRequired, "the form has no declared length");
        };
        if !head.is_form {
            let reason = "the body is not a form of a page of this server";
            return refused(Status::UnsupportedMediaType, reason);
        }
        let end = head.length + length;
        while self.bytes.len() < end {
            match self.read_more(end)? {
                Arrival::Bytes => {}
                Arrival::End => return refused(Status::BadRequest, "the form is cut off"),
                Arrival::Late => return Ok(Err(request_timeout())),
            }
        }
        let text = std::str::from_utf8(&self.bytes[head.length..end]).ok();
        match text.and_then(Fields::parse) {
            Some(fields) => Ok(Ok(fields)),
            None => refused(Status::BadRequest, "a field of the form cannot be decoded"),
        }
    }

    /// Waits until further bytes have arrived and appends them to `bytes`, which then contains at
    /// most `most` bytes.
    fn read_more(&mut self, most: usize) -> io::Result<Arrival> {
        let mut piece = [0u8; 4 << 10];
        let room = most.saturating_sub(self.bytes.len()).min(piece.len());
        loop {
            let read = match self.deadline.left() {
                Some(left) => {
                    self.stream.set_read_timeout(Some(left))?;
                    self.stream.read(&mut piece[..room])
                }
                None => Err(ErrorKind::TimedOut.into()),
            };
            match read {
                Ok(0) => return Ok(Arrival::End),
                Ok(read) => {
                    self.bytes.extend_from_slice(&piece[..read]);
                    return Ok(Arrival::Bytes);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Ok(Arrival::Late),
                    _ => return Err(error),
                },
            }
        }
    }
}

fn request_timeout() -> Response {
    Response::refusal(Status::RequestTimeout, "the request did not arrive in time")
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
        match stream.write(&rest[..rest.len().min(LONGEST_WRITE)]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends a connection. Bytes that the viewer still sends are read and dropped, for a limited time:
/// closing a connection with unread bytes would reset it, and the answer could be lost.
fn close(stream: &mut TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Deadline::after(LONGEST_DROPPING);
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
