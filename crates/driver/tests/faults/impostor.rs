//! A server that says what it is told to say, whatever it is asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Answers one connection, then ends.
pub(crate) struct Impostor {
    port: u16,
    thread: Option<JoinHandle<()>>,
}

/// What it does next.
pub(crate) enum Act {
    /// Waits until something is asked.
    Hear,
    /// Says these bytes.
    Say(Vec<u8>),
    /// Says nothing until the other side hangs up.
    Wait,
    /// Hears until this is the last that was said.
    HearTo(&'static [u8]),
    /// Neither hears nor says anything until the test allows it.
    Pause(Receiver<()>),
}

impl Impostor {
    /// Plays the acts in order and hangs up behind them.
    pub(crate) fn new(acts: Vec<Act>) -> Impostor {
        Impostor::playing(|scene| {
            for act in acts {
                match act {
                    Act::Hear => drop(scene.hear()),
                    Act::Say(bytes) => scene.say(&bytes),
                    Act::Wait => scene.wait(),
                    Act::HearTo(end) => scene.hear_to(end),
                    // A test that has failed allows nothing any more.
                    Act::Pause(allowed) => drop(allowed.recv()),
                }
            }
        })
    }

    /// Answers as `play` does, and hangs up behind it.
    pub(crate) fn playing(play: impl FnOnce(&mut Scene) + Send + 'static) -> Impostor {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let thread = std::thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                play(&mut Scene { line: Some(Line::Plain(stream)) });
            }
        });
        Impostor { port, thread: Some(thread) }
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        // Whoever was never asked is asked now.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let Some(thread) = self.thread.take() else { return };
        let played = thread.join();
        // One panic is told, a second one would hide the first.
        if !std::thread::panicking() {
            played.expect("no panic");
        }
    }
}

/// The impostor's end of a connection. The other side may hang up at any time.
pub(crate) struct Scene {
    /// `None` only while TLS begins.
    line: Option<Line>,
}

enum Line {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Scene {
    /// What is said next; empty if nothing is.
    pub(crate) fn hear(&mut self) -> Vec<u8> {
        let mut heard = vec![0; 64 << 10];
        let count = self.line().read(&mut heard).unwrap_or(0);
        heard.truncate(count);
        heard
    }

    /// The next so many bytes and no more; fewer if the other side hangs up.
    pub(crate) fn hear_exactly(&mut self, count: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        // What came before it hung up is heard.
        let _ = self.line().take(count as u64).read_to_end(&mut heard);
        heard
    }

    /// All until something that ends with these bytes, or until the other side hangs up.
    fn hear_to(&mut self, end: &[u8]) {
        let mut last = Vec::new();
        while !last.ends_with(end) {
            let heard = self.hear();
            if heard.is_empty() {
                return;
            }
            last.extend(heard);
            last.drain(..last.len().saturating_sub(end.len()));
        }
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        let line = self.line();
        let _ = line.write_all(bytes).and_then(|()| line.flush());
    }

    /// The same. Returns whether there is somebody who takes it.
    pub(crate) fn says(&mut self, bytes: &[u8]) -> bool {
        let line = self.line();
        line.write_all(bytes).and_then(|()| line.flush()).is_ok()
    }

    pub(crate) fn wait(&mut self) {
        while !self.hear().is_empty() {}
    }

    /// Goes on with TLS. Its first words are exchanged with the next that are said or heard.
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
