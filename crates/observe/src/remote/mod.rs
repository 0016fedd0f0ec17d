//! Observation of another machine by an `assay` that runs there.
//!
//! [`RemoteWatch`] starts `assay observe --stdio` there over the user's own ssh, measures the
//! offset between the two clocks, and reports the remote samples with the name of the machine in
//! front, at times of this machine. No port is opened on either machine. The remote program ends
//! when its input ends, so it ends with this process in every case. [`serve()`] is the remote side.
//!
//! A failure is reported as missing, once, with a remedy: the run continues.

mod clock;
mod host;
mod protocol;
mod serve;
mod ssh;

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Stamp};
use record::metric;
use record::{ComponentKind, ObservedComponent};

use self::clock::{ClockExchange, Reference};
pub use self::host::RemoteHost;
use self::protocol::{RemoteMessage, RemoteRequest, VERSION, plain};
pub use self::serve::{scope, serve};
use self::ssh::{Connection, Event, RemoteFailure, SshExit};
use crate::sample::{Sample, SeriesLimit};
use crate::scope::Scope;

/// Name of the ssh program, which is found in the `PATH`.
const SSH: &str = "ssh";

/// Maximum number of lines that are queued.
const QUEUE: usize = 64;

/// Maximum number of lines that a login may write before the remote program starts.
const MOST_NOISE: usize = 64;

/// Number of requests to the remote clock; the answer with the shortest round trip is used.
const CLOCK_REQUESTS: u64 = 8;

/// Time after which the remote clock is read again: two clocks drift by up to 0.1 ms per second.
const CLOCK_PERIOD: Nanos = Nanos::from_secs(30);

/// Multiple of the fastest round trip above which a new answer is not used, because an older one is
/// more accurate.
const SLOW: u64 = 2;

/// Minimum clock offset that is reported, in seconds.
const FAR_APART_S: f64 = 1.0;

/// Time limits for messages of the remote program.
#[derive(Clone, Copy, Debug)]
struct BoundedWait {
    /// Longest time until the remote program's greeting, and until each answer of its clock.
    greeting: Nanos,
    /// Time without a sample after which the silence is reported.
    silence: Nanos,
    /// Longest time until the last sample.
    farewell: Nanos,
}

impl BoundedWait {
    fn with(every: Nanos) -> BoundedWait {
        BoundedWait {
            greeting: Nanos::from_secs(15),
            silence: (every * 3).max(Nanos::from_secs(5)),
            farewell: Nanos::from_secs(2),
        }
    }
}

/// The thread that observes another machine during a run.
pub struct RemoteWatch {
    events: SyncSender<Event>,
    thread: JoinHandle<()>,
}

impl RemoteWatch {
    /// Starts the thread, without waiting for ssh. The thread calls `on_sample` with each remote
    /// sample and its time since `zero`. The scope sets the sampling interval, and the port on
    /// which the database listens on the remote machine.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn begin(
        zero: Stamp,
        host: RemoteHost,
        scope: Scope,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<RemoteWatch> {
        let bounds = BoundedWait::with(scope.every);
        RemoteWatch::begin_by(OsStr::new(SSH), zero, host, scope, bounds, on_sample)
    }

    fn begin_by(
        program: &OsStr,
        zero: Stamp,
        host: RemoteHost,
        scope: Scope,
        bounds: BoundedWait,
        on_sample: impl Fn(Nanos, Sample) + Send + 'static,
    ) -> io::Result<RemoteWatch> {
        let (events, received) = sync_channel(QUEUE);
        let (program, sender) = (program.to_owned(), events.clone());
        let thread = std::thread::Builder::new().name("watch-remote".to_owned());
        let thread = thread.spawn(move || {
            let opened = Connection::open(&program, &host, &scope, sender);
            let opened = opened.map_err(RemoteFailure::NotStarted);
            let (failure, parting) = match opened {
                Err(failure) => (Some(failure), SshExit::default()),
                Ok(connection) => {
                    let name = &host.host;
                    let mut talk = Conversation {
                        zero,
                        name,
                        bounds,
                        connection,
                        received,
                        series: SeriesLimit::default(),
                        on_sample: &on_sample,
                    };
                    let failure = talk.hold().err();
                    // If the thread is still reading, it finds the channel closed, and ends.
                    drop(talk.received);
                    (failure, talk.connection.close())
                }
            };
            if let Some(failure) = failure {
                let mut sample = Sample::default();
                sample.missing(&host.host, ssh::why(&failure, &host, &parting));
                on_sample(Monotonic.now().since(zero), sample);
            }
        })?;
        Ok(RemoteWatch { events, thread })
    }

    /// Stops all watches and the programs on the other machines. When this returns, everything read
    /// until now has been reported. This takes a few seconds at most, even if no machine answers.
    pub fn end_all(watches: Vec<RemoteWatch>) {
        // A watch that has ended by itself has closed its channel.
        watches.iter().for_each(|watch| drop(watch.events.send(Event::Over)));
        // A panic in a thread has been printed already and does not affect the run.
        watches.into_iter().for_each(|watch| drop(watch.thread.join()));
    }
}

/// Result of waiting for a line.
enum Incoming {
    RemoteMessage(Stamp, RemoteMessage),
    Other(String),
    Nothing,
    Over,
}

/// A conversation with the program on another machine.
struct Conversation<'a, T> {
    zero: Stamp,
    name: &'a str,
    bounds: BoundedWait,
    connection: Connection,
    received: Receiver<Event>,
    series: SeriesLimit,
    on_sample: &'a T,
}

impl<T: Fn(Nanos, Sample)> Conversation<'_, T> {
    /// Runs the conversation from the greeting to the last sample.
    fn hold(&mut self) -> Result<(), RemoteFailure> {
        self.greet()?;
        let echo = self.compare_clocks()?;
        self.connection.ask(RemoteRequest::Begin);
        self.report_offset(echo);
        self.listen(echo)
    }

    fn receive(&self, until: Stamp) -> Result<Incoming, RemoteFailure> {
        let wait = Duration::from_nanos(until.since(Monotonic.now()).0);
        match self.received.recv_timeout(wait) {
            Ok(Event::Line(at, line)) => Ok(match RemoteMessage::parse(&line) {
                Some(said) => Incoming::RemoteMessage(at, said),
                None => Incoming::Other(plain(&String::from_utf8_lossy(&line))),
            }),
            Ok(Event::TooLong) => Err(RemoteFailure::Malformed("a line without an end".to_owned())),
            Ok(Event::Over) => Ok(Incoming::Over),
            Err(RecvTimeoutError::Timeout) => Ok(Incoming::Nothing),
            Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => {
                Err(RemoteFailure::Ended(Monotonic.now().since(self.zero)))
            }
        }
    }

    /// Waits for the remote program's greeting. Lines that the login writes before the greeting are
    /// skipped.
    fn greet(&mut self) -> Result<(), RemoteFailure> {
        let until = Monotonic.now() + self.bounds.greeting;
        let mut noise = String::new();
        for _ in 0..MOST_NOISE {
            match self.receive(until) {
                Ok(Incoming::RemoteMessage(
                    _,
                    RemoteMessage::Greeting { version: VERSION, .. },
                )) => return Ok(()),
                Ok(Incoming::RemoteMessage(_, RemoteMessage::Greeting { version, .. })) => {
                    return Err(RemoteFailure::Version(version));
                }
                Ok(Incoming::RemoteMessage(..)) => {}
                Ok(Incoming::Other(line)) => noise = line,
                Ok(Incoming::Nothing) => return Err(RemoteFailure::Silent(self.bounds.greeting)),
                Ok(Incoming::Over) => return Err(RemoteFailure::TooLate),
                Err(RemoteFailure::Ended(_)) => return Err(RemoteFailure::NotReached),
                Err(failure) => return Err(failure),
            }
        }
        Err(RemoteFailure::NotAssay(noise))
    }

    fn compare_clocks(&mut self) -> Result<ClockExchange, RemoteFailure> {
        let mut fastest = self.echo(0)?;
        for number in 1..CLOCK_REQUESTS {
            let echo = self.echo(number)?;
            if echo.delay() < fastest.delay() {
                fastest = echo;
            }
        }
        Ok(fastest)
    }

    fn echo(&mut self, asked: u64) -> Result<ClockExchange, RemoteFailure> {
        let sent = Monotonic.now();
        self.connection.ask(RemoteRequest::Ping(asked));
        match self.receive(sent + self.bounds.greeting)? {
            Incoming::RemoteMessage(back, RemoteMessage::Pong { number, clock })
                if number == asked =>
            {
                Ok(ClockExchange { sent, back, clock })
            }
            Incoming::RemoteMessage(..) => {
                Err(RemoteFailure::Malformed("an answer to nothing".to_owned()))
            }
            Incoming::Other(line) => Err(RemoteFailure::Malformed(line)),
            Incoming::Nothing => Err(RemoteFailure::Silent(self.bounds.greeting)),
            Incoming::Over => Err(RemoteFailure::TooLate),
        }
    }

    fn report_offset(&mut self, echo: ClockExchange) {
        let offset_s = echo.offset_s(Reference::now());
        let mut sample = Sample::default();
        sample.read(&ComponentKind::Host, metric::host::CLOCK_OFFSET, offset_s);
        if offset_s.abs() > FAR_APART_S {
            let side = if offset_s > 0.0 { "ahead of" } else { "behind" };
            let why = format!(
                "it is {:.1} s {side} the clock here; times were corrected by that; use NTP on \
                 both",
                offset_s.abs()
            );
            sample.missing("clock", why);
        }
        self.report_sample(echo.back, sample);
    }

    /// Reports the samples until the watch is over.
    fn listen(&mut self, mut echo: ClockExchange) -> Result<(), RemoteFailure> {
        let (mut asked, mut was_silent) =
            (ClockRequest { number: CLOCK_REQUESTS, sent: Monotonic.now() }, false);
        let (mut least, mut is_awaited) = (echo.delay(), false);
        loop {
            match self.receive(Monotonic.now() + self.bounds.silence)? {
                Incoming::RemoteMessage(at, RemoteMessage::Sample { at: there, sample }) => {
                    self.report_sample(echo.stamp(there, self.zero, at), sample);
                    if at.since(asked.sent) >= CLOCK_PERIOD {
                        asked = ClockRequest { number: asked.number + 1, sent: Monotonic.now() };
                        is_awaited = true;
                        self.connection.ask(RemoteRequest::Ping(asked.number));
                    }
                }
                Incoming::RemoteMessage(back, RemoteMessage::Pong { number, clock }) => {
                    let newest = ClockExchange { sent: asked.sent, back, clock };
                    if is_awaited && number == asked.number && newest.delay() <= least * SLOW {
                        least = least.min(newest.delay());
                        echo = newest;
                        self.report_offset(echo);
                    }
                    is_awaited = false;
                }
                Incoming::RemoteMessage(_, RemoteMessage::Greeting { .. }) => {
                    return Err(RemoteFailure::Malformed("another greeting".to_owned()));
                }
                Incoming::Other(line) => return Err(RemoteFailure::Malformed(line)),
                Incoming::Nothing if !was_silent => {
                    was_silent = true;
                    self.report_silence();
                }
                Incoming::Nothing => {}
                Incoming::Over => {
                    self.part(echo);
                    return Ok(());
                }
            }
        }
    }

    fn report_silence(&self) {
        let mut sample = Sample::default();
        let (at, silence) = (Monotonic.now().since(self.zero), self.bounds.silence);
        let why = format!(
            "nothing came from it for {silence}, until {:.1} s into the run: machine or network \
             were overloaded or away",
            at.as_secs_f64()
        );
        sample.missing(self.name, why);
        (self.on_sample)(at, sample);
    }

    /// Receives the last sample, which the remote program sends when its input ends.
    fn part(&mut self, echo: ClockExchange) {
        self.connection.close_input();
        let until = Monotonic.now() + self.bounds.farewell;
        loop {
            match self.receive(until) {
                Ok(Incoming::RemoteMessage(at, RemoteMessage::Sample { at: there, sample })) => {
                    self.report_sample(echo.stamp(there, self.zero, at), sample);
                }
                Ok(Incoming::RemoteMessage(..) | Incoming::Other(_) | Incoming::Over) => {}
                Ok(Incoming::Nothing) | Err(_) => return,
            }
        }
    }

    /// Reports a remote sample under the name of the machine.
    fn report_sample(&mut self, at: Stamp, mut sample: Sample) {
        self.series.apply(&mut sample);
        for reading in &mut sample.readings {
            if let Some(ObservedComponent { kind, .. }) =
                ObservedComponent::parse(&reading.series.component)
            {
                let there = ObservedComponent { place: Some(self.name.to_owned()), kind };
                reading.series.component = there.to_string();
            }
        }
        for missing in &mut sample.missing {
            missing.what = format!("{}/{}", self.name, missing.what);
        }
        (self.on_sample)(at.since(self.zero), sample);
    }
}

/// Last request to the remote clock.
struct ClockRequest {
    number: u64,
    sent: Stamp,
}

#[cfg(test)]
mod tests;
