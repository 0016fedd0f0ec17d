//! A server that says what it is told to say, whatever it is asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

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
}

impl Impostor {
    /// Plays the acts in order and hangs up behind them.
    pub(crate) fn new(acts: Vec<Act>) -> Impostor {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let thread = std::thread::spawn(move || {
            if let Ok((stream, _)) = listener.accept() {
                play(stream, acts);
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
        if let Some(thread) = self.thread.take() {
            thread.join().expect("no panic");
        }
    }
}

fn play(mut stream: TcpStream, acts: Vec<Act>) {
    let mut heard = [0; 64 << 10];
    for act in acts {
        match act {
            Act::Hear => drop(stream.read(&mut heard)),
            // The other side may hang up at any time.
            Act::Say(bytes) => drop(stream.write_all(&bytes)),
            Act::Wait => while stream.read(&mut heard).is_ok_and(|count| count > 0) {},
        }
    }
}
