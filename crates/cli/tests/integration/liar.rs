//! A server that speaks its protocol until it does not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use testbed::Kind;

/// What it does in place of every so many answers.
#[derive(Clone)]
pub(crate) struct Lie {
    /// What it says.
    pub(crate) bytes: Vec<u8>,
    /// Whether it then hangs up, or says nothing more.
    pub(crate) hangs_up: bool,
}

/// Every this many answers one is a lie.
const EVERY: u64 = 40;

/// Lets everybody in and answers every text with "done", or lies. It lives as long as the process.
pub(crate) struct Liar {
    port: u16,
}

impl Liar {
    /// One that lies now and then.
    pub(crate) fn start(kind: Kind, lie: Lie) -> Liar {
        Liar::serving(move |stream, answers| {
            let _ = converse(stream, kind, &lie, answers);
        })
    }

    /// One that says this to everybody who comes, and nothing more.
    pub(crate) fn babbling(bytes: &'static [u8]) -> Liar {
        Liar::serving(move |mut stream, _| {
            let _ = stream.write_all(bytes);
            // Until the other side hangs up.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        })
    }

    fn serving(serve: impl Fn(TcpStream, &AtomicU64) + Send + Sync + 'static) -> Liar {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (serve, answers) = (Arc::new(serve), Arc::new(AtomicU64::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (serve, answers) = (Arc::clone(&serve), Arc::clone(&answers));
                std::thread::spawn(move || serve(stream, &answers));
            }
        });
        Liar { port }
    }

    pub(crate) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Until one side hangs up.
fn converse(
    mut stream: TcpStream,
    kind: Kind,
    lie: &Lie,
    answers: &AtomicU64,
) -> std::io::Result<()> {
    let mut room = [0; 4_096];
    let mut next = |stream: &mut TcpStream| -> std::io::Result<Vec<u8>> {
        match stream.read(&mut room)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => Ok(room[..count].to_vec()),
        }
    };
    match kind {
        Kind::Postgres => {
            next(&mut stream)?;
            // AuthenticationOk and ReadyForQuery.
            stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")?;
        }
        Kind::Mariadb | Kind::Mysql => {
            stream.write_all(&greeting())?;
            next(&mut stream)?;
            stream.write_all(&done(2))?;
        }
    }
    loop {
        let asked = next(&mut stream)?;
        // Setup asks for settings, which are no part of what is measured.
        let is_measured = asked.windows(8).any(|part| part == b"select 1");
        if is_measured && answers.fetch_add(1, Ordering::Relaxed) % EVERY == EVERY - 1 {
            stream.write_all(&lie.bytes)?;
            if lie.hangs_up {
                return Ok(());
            }
            std::io::copy(&mut stream, &mut std::io::sink())?;
        }
        match kind {
            Kind::Postgres => stream.write_all(b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I")?,
            Kind::Mariadb | Kind::Mysql => stream.write_all(&done(1))?,
        }
    }
}

/// MySQL's handshake (protocol manual, "Protocol::HandshakeV10").
fn greeting() -> Vec<u8> {
    // LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
    const CAPABILITIES: u32 = 0x0008_a209;
    let [a, b, c, d] = CAPABILITIES.to_le_bytes();
    let payload = [
        &b"\x0a5.7.0-liar\0\x07\0\0\x0001234567\0"[..],
        &[a, b, 45, 2, 0, c, d, 21],
        &[0; 10],
        b"012345678901\0mysql_native_password\0",
    ]
    .concat();
    packet(0, &payload)
}

/// MySQL's OK packet.
fn done(sequence: u8) -> Vec<u8> {
    packet(sequence, b"\0\0\0\x02\0\0\0")
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    [&[payload.len() as u8, 0, 0, sequence], payload].concat()
}
