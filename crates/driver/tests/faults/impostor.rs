//! A scripted server: it sends prescribed bytes, whatever the client sends.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A server that plays a script on one connection, then ends.
pub(crate) struct ScriptedServer {
    port: u16,
    thread: Option<JoinHandle<()>>,
}

/// A step of a script.
pub(crate) enum ScriptStep {
    /// Waits for bytes from the client.
    Receive,
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends nothing until the client closes the connection.
    Wait,
    /// Reads until the input ends with these bytes.
    ReadUntil(&'static [u8]),
    /// Tells the test that this step is reached, then neither reads nor sends until the test allows
    /// it.
    Pause { reaching: SyncSender<()>, allowed: Receiver<()> },
}

impl ScriptedServer {
    /// Starts a server that performs the steps in order and then closes the connection.
    pub(crate) fn new(acts: Vec<ScriptStep>) -> ScriptedServer {
        ScriptedServer::playing(|connection| {
            for act in acts {
                match act {
                    ScriptStep::Receive => drop(connection.receive()),
                    ScriptStep::Send(bytes) => connection.send(&bytes),
                    ScriptStep::Wait => connection.wait(),
                    ScriptStep::ReadUntil(end) => connection.read_until(end),
                    // If the test has failed, it no longer receives from or sends to these
                    // channels.
                    ScriptStep::Pause { reaching, allowed } => {
                        let _ = reaching.send(());
                        let _ = allowed.recv();
                    }
                }
            }
        })
    }

    /// Starts a server that runs `play` and then closes the connection.
    pub(crate) fn playing(
        play: impl FnOnce(&mut ScriptedConnection) + Send + 'static,
    ) -> ScriptedServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let thread = std::thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                play(&mut ScriptedConnection { line: Some(Line::Plain(stream)) });
            }
        });
        ScriptedServer { port, thread: Some(thread) }
    }

    /// Returns the port that the server listens on.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        // The server may still wait for its first connection: this one ends that wait.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let Some(thread) = self.thread.take() else { return };
        let played = thread.join();
        // A second panic would hide the first.
        if !std::thread::panicking() {
            played.expect("no panic");
        }
    }
}

/// The server's end of a connection. The client may close it at any time.
pub(crate) struct ScriptedConnection {
    /// The connection; `None` only while TLS starts.
    line: Option<Line>,
}

enum Line {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl ScriptedConnection {
    /// Returns the next bytes; empty at the end.
    pub(crate) fn receive(&mut self) -> Vec<u8> {
        let mut received = vec![0; 64 << 10];
        let count = self.line().read(&mut received).unwrap_or(0);
        received.truncate(count);
        received
    }

    /// Reads exactly `count` bytes; fewer if the client closes the connection.
    pub(crate) fn read_exactly(&mut self, count: usize) -> Vec<u8> {
        let mut received = Vec::new();
        // Bytes read before an error are kept.
        let _ = self.line().take(count as u64).read_to_end(&mut received);
        received
    }

    /// Reads until the input ends with these bytes, or the client closes the connection.
    fn read_until(&mut self, end: &[u8]) {
        let mut last = Vec::new();
        while !last.ends_with(end) {
            let received = self.receive();
            if received.is_empty() {
                return;
            }
            last.extend(received);
            last.drain(..last.len().saturating_sub(end.len()));
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let line = self.line();
        let _ = line.write_all(bytes).and_then(|()| line.flush());
    }

    /// Sends bytes. Returns true if the client accepts them.
    pub(crate) fn send_if_open(&mut self, bytes: &[u8]) -> bool {
        let line = self.line();
        line.write_all(bytes).and_then(|()| line.flush()).is_ok()
    }

    pub(crate) fn wait(&mut self) {
        while !self.receive().is_empty() {}
    }

    /// Switches to TLS. The handshake happens with the next bytes sent or read.
    pub(crate) fn start_tls(&mut self, config: &Arc<ServerConfig>) {
        self.line = match self.line.take() {
            Some(Line::Plain(stream)) => {
                let session = ServerConnection::new(Arc::clone(config)).expect("a configuration");
                Some(Line::Tls(Box::new(StreamOwned::new(session, stream))))
            }
            line => line,
        };
    }

    fn line(&mut self) -> &mut dyn ReadWrite {
        match self.line.as_mut().expect("it is there but while TLS begins") {
            Line::Plain(stream) => stream,
            Line::Tls(stream) => &mut **stream,
        }
    }
}

trait ReadWrite: Read + Write {}

impl<T: Read + Write> ReadWrite for T {}
