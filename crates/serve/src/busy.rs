//! The answer to a connection for which there is no thread.

use std::io::{self, Write};
use std::net::TcpStream;

use crate::policy::Policy;
use crate::response::{Response, Status};

/// Refuses a connection without waiting for its request or for the viewer to read the answer.
pub(crate) fn refuse(stream: &mut TcpStream, policy: &Policy) -> io::Result<()> {
    let reason = "too many connections are open: try again";
    let response = Response::refusal(Status::Unavailable, reason);
    // The thread that accepts the other connections calls this, so it writes only as much as the
    // socket takes at once.
    stream.set_nonblocking(true)?;
    stream.write_all(&response.bytes(false, policy))
}
