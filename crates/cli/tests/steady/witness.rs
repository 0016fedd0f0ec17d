//! A reference probe that shows changes of the machine: it repeatedly sends a byte to a thread and
//! back.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use base::{Clock, Monotonic, Nanos};

/// Interval between two round trips, the same as in the job of the run.
const ROUND_TRIP_INTERVAL: Nanos = Nanos(3_333_000);

/// Number of round trips per span of five seconds.
const SPAN_ROUND_TRIPS: usize = 1500;

/// Maximum ratio of the medians of two spans on an undisturbed machine; also the limit of the check
/// `drift`.
const MAX_STEADY_RATIO: f64 = 1.05;

/// A probe that is independent of the database and of the run.
pub(crate) struct ReferenceProbe {
    over: SyncSender<()>,
    asks: JoinHandle<Vec<Nanos>>,
}

/// The median round-trip times of consecutive spans.
#[derive(Debug)]
pub(crate) struct Machine {
    medians: Vec<Nanos>,
}

impl ReferenceProbe {
    pub(crate) fn begin() -> ReferenceProbe {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        for end in [&near, &far] {
            end.set_nodelay(true).unwrap();
        }
        thread::spawn(move || echo(far));
        let (over, asked_to_end) = mpsc::sync_channel(1);
        let asks = thread::spawn(move || ask(near, &asked_to_end));
        ReferenceProbe { over, asks }
    }

    pub(crate) fn end(self) -> Machine {
        self.over.send(()).unwrap();
        let mut times = self.asks.join().unwrap();
        let medians = times.chunks_exact_mut(SPAN_ROUND_TRIPS).map(median).collect();
        Machine { medians }
    }
}

impl Machine {
    /// Returns true if the same work took longer in one span than in another.
    pub(crate) fn changed(&self) -> bool {
        let least = self.medians.iter().min();
        let greatest = self.medians.iter().max();
        least.zip(greatest).is_some_and(|(least, greatest)| {
            greatest.as_secs_f64() > MAX_STEADY_RATIO * least.as_secs_f64()
        })
    }
}

fn median(span: &mut [Nanos]) -> Nanos {
    let middle = span.len() / 2;
    *span.select_nth_unstable(middle).1
}

/// Sends every byte back until the other end is closed.
fn echo(mut end: TcpStream) {
    let mut byte = [0];
    while end.read_exact(&mut byte).and_then(|()| end.write_all(&byte)).is_ok() {}
}

fn ask(mut end: TcpStream, over: &Receiver<()>) -> Vec<Nanos> {
    let mut times = Vec::new();
    let mut byte = [0];
    loop {
        let sent = Monotonic.now();
        end.write_all(&byte).unwrap();
        end.read_exact(&mut byte).unwrap();
        let time = Monotonic.now().since(sent);
        times.push(time);
        let pause = ROUND_TRIP_INTERVAL.0.saturating_sub(time.0);
        if over.recv_timeout(Duration::from_nanos(pause)) != Err(RecvTimeoutError::Timeout) {
            return times;
        }
    }
}

#[test]
fn a_machine_changed_if_a_span_took_longer_than_another() {
    let machine = |medians: [u64; 3]| {
        let medians = medians.into_iter().map(Nanos).collect();
        Machine { medians }
    };
    assert!(!machine([100, 104, 101]).changed());
    assert!(machine([100, 106, 101]).changed());
    assert!(machine([106, 101, 100]).changed());
}
